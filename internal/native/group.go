package native

import (
	"maps"
	"slices"
)

// A group is a loop over the lanes of statements that have as many, a vector at a time. Lanes that are left after the
// last whole vector are computed with those before them once more, which gives the same results.
type group struct {
	n       int32
	lanes   int32   // of a vector; set by prepare
	item    int     // its number
	code    []Instr // over values
	where   []Operand
	defined []bool            // value → the group computes it
	known   map[Operand]int32 // a place → its value
	steps   []int32           // of the index registers
	columns map[int32]bool    // first slots of the results
	list    bool              // operands at a distance are listed
	sums    []accumulation
	bases   []int32    // the first slots of the results, ascending
	keep    []bool     // value → it is stored
	beside  [][2]int32 // value → those in the slots behind and before its own, if the lanes are apart, or -1
}

// An accumulation is the sum, in their order, of the lanes of a result of the group, with a few other terms before and
// after.
type accumulation struct {
	d, column   int32   // the slot of the sum, and the first one of the result
	first, last []int32 // slots of the terms up to lane 3, and of those after the last lane
}

const (
	mostAround = 4 // terms after the lanes, and before lane 3 apart from lanes
	mostSums   = 3 // accumulations of a group
)

func newGroup(s *Stmt, item int) *group {
	return &group{n: s.N, item: item, known: map[Operand]int32{}, columns: map[int32]bool{}}
}

// groupIndices is the number of index registers that a group may have: the last one holds slots from the list.
const groupIndices = len(indexRegisters) - 1

// step returns the distance, in halves of a slot, by which the index of an operand moves on for a lane; 0 if it needs
// no index. Elements of the list have half the bytes of a slot.
func (o Operand) step() int32 {
	if o.Stride == Gather {
		return 1
	}
	return 2 * o.Stride
}

// apart reports whether the lanes of o are in slots that are not next to each other, at equal distances.
func (o Operand) apart() bool { return o.Stride != Gather && o.Stride != 0 && o.Stride != 1 }

// add adds s, and reports whether it could: if it has as many lanes, and reads results of the group in the same lane
// only.
func (w *group) add(g *laneGenerator, s *Stmt) bool {
	if s.N != w.n || len(w.code) >= mostBody {
		return false
	}
	ops, count := s.operandsOf()
	if s.Terms > 0 { // an operand for each term
		return w.addSum(g, s)
	}
	steps := w.steps
	listed := len(g.list)
	stores := s.Op == Store || s.Op == Output
	if stores { // where the lanes go is like an operand
		ops[count] = s.B
		count++
	}
	for k, o := range ops[:count] {
		if !(stores && k > 0) && !w.readable(g, o) {
			return false
		}
		if w.list && o.apart() {
			column := make([]int32, s.N)
			for l := range column {
				column[l] = o.at(g.list, int32(l))
			}
			o = g.listed(column)
			ops[k] = o
		}
		steps = with(steps, o.step())
	}
	if s.Op.defines() {
		steps = with(steps, 2)
	}
	if len(steps) > groupIndices {
		g.list = g.list[:listed]
		return false
	}
	w.steps = steps
	c := Instr{Op: s.Op}
	switch {
	case stores:
		c.D = w.fresh(ops[1])
		count--
	case s.Op.guard():
		c.D = s.D
	}
	for k, to := range []*int32{&c.A, &c.B, &c.C}[:count] {
		*to = w.value(ops[k])
	}
	if s.Op.defines() {
		c.D = w.result(s)
	}
	w.code = append(w.code, c)
	return true
}

// with returns steps with one more, unless it is 0 or among them.
func with(steps []int32, s int32) []int32 {
	if s == 0 || slices.Contains(steps, s) {
		return steps
	}
	return append(slices.Clip(steps), s)
}

// readable reports whether a statement may read o: one result of the group, lane by lane, or slots that are computed
// before the group.
func (w *group) readable(g *laneGenerator, o Operand) bool {
	if o.Stride == 1 && w.columns[o.Base] {
		return true
	}
	for l := range w.n {
		if !w.before(g, o.at(g.list, l)) {
			return false
		}
		if o.Stride == 0 {
			break
		}
	}
	return true
}

// before reports whether a slot has its value before the group.
func (w *group) before(g *laneGenerator, slot int32) bool { return int(g.writer[slot]) <= w.item }

// value returns the value of an operand.
func (w *group) value(o Operand) int32 {
	id, ok := w.known[o]
	if !ok {
		id = w.fresh(o)
		w.known[o] = id
	}
	return id
}

// fresh returns a new value that is at o, or is put there if it loses its register.
func (w *group) fresh(o Operand) int32 {
	w.where, w.defined = append(w.where, o), append(w.defined, false)
	return int32(len(w.where) - 1)
}

// result returns the value of the result of s.
func (w *group) result(s *Stmt) int32 {
	id := w.value(Operand{s.D, 1})
	w.defined[id], w.columns[s.D] = true, true
	return id
}

// addSum is add for a sum of few terms.
func (w *group) addSum(g *laneGenerator, s *Stmt) bool {
	terms := make([]Operand, s.Terms)
	steps := with(w.steps, 2)
	listed := len(g.list)
	column := make([]int32, s.N)
	for t := range terms {
		for l := range column {
			column[l] = s.A.at(g.list, int32(l)*s.Terms+int32(t))
		}
		if terms[t] = g.operand(column); w.list && terms[t].apart() {
			terms[t] = g.listed(column)
		}
		if !w.readable(g, terms[t]) {
			g.list = g.list[:listed]
			return false
		}
		steps = with(steps, terms[t].step())
	}
	if len(steps) > groupIndices {
		g.list = g.list[:listed]
		return false
	}
	w.steps = steps
	sum := w.value(terms[0])
	for t, o := range terms[1:] {
		c := Instr{Op: Add, A: sum, B: w.value(o)}
		if t+2 == len(terms) {
			c.D = w.result(s)
		} else {
			c.D = w.fresh(Operand{s.D, 1})
			w.defined[c.D] = true
		}
		w.code = append(w.code, c)
		sum = c.D
	}
	if len(terms) == 1 {
		w.code = append(w.code, Instr{Op: Move, A: sum, D: w.result(s)})
	}
	return true
}

// operand returns the operand that reads slots, which it lists if they are at unequal distances.
func (g *laneGenerator) operand(slots []int32) Operand {
	stride := int32(0)
	if len(slots) > 1 {
		stride = slots[1] - slots[0]
	}
	for l := 1; l < len(slots); l++ {
		if slots[l]-slots[l-1] != stride {
			return g.listed(slots)
		}
	}
	return Operand{slots[0], stride}
}

// listed returns the operand that reads slots from the list, to which it adds them.
func (g *laneGenerator) listed(slots []int32) Operand {
	o := Operand{int32(len(g.list)), Gather}
	g.list = append(g.list, slots...)
	return o
}

func (w *group) reads(g *laneGenerator, visit func(slot int32)) {
	for id, o := range w.where {
		if w.defined[id] { // stores are among the others: no item writes where they do
			continue
		}
		if o.Stride == 0 {
			visit(o.Base)
			continue
		}
		for l := range w.n {
			visit(o.at(g.list, l))
		}
	}
	for _, sum := range w.sums {
		for _, slots := range [][]int32{sum.first, sum.last} {
			for _, s := range slots {
				visit(s)
			}
		}
	}
}

// accumulate adds the sum s of many terms to the group, and reports whether it could.
func (w *group) accumulate(g *laneGenerator, s *Stmt) bool {
	if len(w.sums) == mostSums || s.Terms < w.n || s.Terms > w.n+2*mostAround || w.n < 2*lanes {
		return false
	}
	term := func(t int32) int32 { return s.A.at(g.list, t) }
	// The last lane is among the last terms: from it follow the column, and which term is lane 3.
	for after := range int32(mostAround + 1) {
		column := term(s.Terms-1-after) - (w.n - 1)
		lane3 := s.Terms - 1 - after - (w.n - lanes)
		if !w.columns[column] || lane3 < 0 || lane3 >= lanes+mostAround {
			continue
		}
		sum := accumulation{d: s.D, column: column}
		found := int32(0)
		for t := range s.Terms {
			slot := term(t)
			switch {
			case t > lane3 && t < s.Terms-after:
				if slot != column+lanes+t-lane3-1 {
					return false
				}
				continue
			case t <= lane3 && slot == column+found && found < lanes:
				found++
			case !w.before(g, slot):
				return false
			}
			if t <= lane3 {
				sum.first = append(sum.first, slot)
			} else {
				sum.last = append(sum.last, slot)
			}
		}
		w.sums = append(w.sums, sum)
		w.code = append(w.code, Instr{Op: accumulate, A: w.known[Operand{column, 1}], D: int32(len(w.sums) - 1)})
		return true
	}
	return false
}

func (w *group) prepare(g *laneGenerator) {
	for _, o := range w.where {
		g.span(o, w.n)
	}
	w.beside = make([][2]int32, len(w.where))
	for id, o := range w.where {
		for side, d := range [2]int32{1, -1} {
			other, ok := w.known[Operand{o.Base + d, o.Stride}]
			if w.beside[id][side] = -1; ok && o.apart() {
				w.beside[id][side] = other
			}
		}
	}
	w.bases = slices.Sorted(maps.Keys(w.columns))
	w.keep = make([]bool, len(w.where))
	for d := range w.columns {
		w.keep[w.known[Operand{d, 1}]] = slices.Contains(g.a.whole.keep[d:d+w.n], true)
	}
	w.lanes = lanes
	switch {
	case g.width > 0 && g.width <= w.n:
		w.lanes = g.width
	case g.width == 0 && w.faster():
		w.lanes = mostLanes
	}
}

// Numbers of instructions that take as long as loading or storing a vector whose lanes are apart, and as adding its
// lanes to a sum.
const costApart, costSum = 4, 6

// faster reports whether the loop is faster with the largest vectors. They save half of the instructions, but not of
// those for lanes that are loaded, stored or added one by one. Where these are most of the time, large vectors are
// slower: the processor begins fewer iterations at a time. And they save nothing if many lanes are computed twice.
func (w *group) faster() bool {
	if w.n < 2*mostLanes || 5*vectors(w.n, mostLanes) >= 3*vectors(w.n, lanes) {
		return false
	}
	halved, rest := len(w.code), costSum*len(w.sums)
	for id, o := range w.where {
		switch {
		case w.defined[id] && !w.keep[id], o.Stride == 0:
		case o.Stride == 1:
			halved++
		case w.beside[id] != [2]int32{-1, -1}: // two at a time
			rest += costApart / 2
		default:
			rest += costApart
		}
	}
	return halved > rest
}

// vectors returns the number of vectors of some lanes that n lanes need.
func vectors(n, lanes int32) int32 { return (n + lanes - 1) / lanes }

func (w *group) length() (n, most int32) {
	return w.n, max(2*w.lanes, turnOf/max(1, int32(len(w.code)))/w.lanes*w.lanes)
}

func (w *group) last(g *laneGenerator, from, to int32, visit func(slot int32)) {
	for id, o := range w.where {
		if w.defined[id] {
			continue
		}
		a, b := o.at(g.list, from), o.at(g.list, to-1)
		if o.Stride != Gather && o.Stride >= 0 && g.column(a) >= 0 && g.column(a) == g.column(b) {
			visit(b)
			continue
		}
		for l := from; l < to; l++ {
			visit(o.at(g.list, l))
		}
	}
	for _, sum := range w.sums {
		for _, slots := range [][]int32{sum.first, sum.last} {
			for _, s := range slots {
				visit(s)
			}
		}
	}
}

func (w *group) generate(g *laneGenerator, from, to int32) {
	g.room(int((to-from)/w.lanes) * len(w.code))
	w.loop(g, from, to)
}

// loop translates the loop over some lanes. If there are accumulations, the bodies for the first vector of all and
// for the last ones, if these are no whole vector, are apart: not all of their lanes are added.
func (w *group) loop(g *laneGenerator, from, to int32) {
	a := g.a
	a.e.setLanes(w.lanes)
	a.e.upper = true
	v := newValues(len(w.where), make([]bool, len(w.where)))
	v.places = make([]place, len(w.where))
	for id, o := range w.where {
		p := place{slot: o.Base, stride: o.Stride, index: w.index(o.step())}
		if o.Stride == Gather {
			p.slot += from
		} else {
			p.slot += from * o.Stride
		}
		v.places[id] = p
	}
	copy(v.keep, w.keep)
	v.beside = w.beside
	a.v = &v
	strides := make([]int32, len(w.steps)) // distances in slots, for a vector
	for k, s := range w.steps {
		strides[k] = s * w.lanes / 2
	}
	body := func(add func(k, r int8)) {
		a.clear()
		for i := range v.reg {
			v.reg[i], v.first[i] = -1, never
		}
		a.fixed = 1 << spareOf(w.lanes)
		for k := range w.sums {
			a.fixed |= 1 << w.register(k)
		}
		a.sum = add
		a.scan(w.code)
	}
	n := to - from
	a.e.begin(int(n/w.lanes), len(strides))
	if len(w.sums) == 0 {
		if n%w.lanes > 0 {
			a.e.count(restRegister, 1)
		}
		start := len(a.e.buf)
		body(nil)
		a.e.next(start, strides)
		if n%w.lanes > 0 {
			a.e.again(start, strides, n-w.lanes)
		}
		return
	}
	iterations := int(n / w.lanes)
	if from == 0 {
		body(func(k, r int8) {
			sum := &w.sums[k]
			for t, slot := range sum.first {
				lane := slot - sum.column
				if lane < 0 || lane >= w.lanes {
					lane = -1
				}
				a.e.term(w.register(int(k)), r, lane, slot, t == 0)
			}
			for lane := int32(lanes); lane < w.lanes; lane++ {
				a.e.term(w.register(int(k)), r, lane, 0, false)
			}
		})
		a.e.move(strides)
		iterations--
	} else {
		a.e.setLanes(1)
		for k, sum := range w.sums {
			a.e.load(w.register(k), place{slot: sum.d})
		}
		a.e.setLanes(w.lanes)
	}
	if iterations > 0 {
		a.e.count(countRegister, iterations)
		start := len(a.e.buf)
		body(func(k, r int8) {
			for lane := range w.lanes {
				a.e.term(w.register(int(k)), r, lane, 0, false)
			}
		})
		a.e.next(start, strides)
	}
	if rest := n % w.lanes; rest > 0 {
		a.e.set(strides, n-w.lanes)
		body(func(k, r int8) {
			for lane := w.lanes - rest; lane < w.lanes; lane++ {
				a.e.term(w.register(int(k)), r, lane, 0, false)
			}
		})
	}
	a.e.setLanes(1)
	for k, sum := range w.sums {
		if to == w.n {
			for _, slot := range sum.last {
				a.e.term(w.register(k), 0, -1, slot, false)
			}
		}
		a.e.store(w.register(k), place{slot: sum.d})
	}
}

// register returns the register of an accumulation.
func (w *group) register(k int) int8 { return spareOf(w.lanes) - 1 - int8(k) }

// index returns the number of the index register for a step, +1; 0 if there is none.
func (w *group) index(step int32) int8 { return int8(slices.Index(w.steps, step) + 1) }
