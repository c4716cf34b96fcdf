package program

import (
	"cmp"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// A recording has the operations of each iteration of a loop again. Where they are the same ones, an operation of the
// body becomes one statement with a lane for each iteration, so that what follows, differentiation above all, takes the
// time of the body and not that of all iterations. Results of one iteration that the next one reads do not prevent
// this, unless an operation depends on its own result of an iteration before: such operations stay as they are, one
// after the other, and the rest of the body is computed before them or after them. A sum over the iterations is one
// ordered Sum.
//
// The order of the operations in a loop changes, their operands do not, so that all results keep their bits.

// rollFrom is the number of records from which loops are looked for.
var rollFrom = 1 << 8

// A roller finds the loops of a recording.
type roller struct {
	recs   []core.Record
	first  int           // id of the first record
	bodies map[int]*body // start of a loop → its body
	sums   []*iterated   // the sums over iterations
}

// roll appends the whole recording, with loops as statements of many lanes. It reports false, and appends nothing, if
// there are no loops.
func (c *converter) roll() bool {
	l := &roller{first: c.r.NIn + c.r.NParam + 1, bodies: map[int]*body{}}
	if len(c.r.Chunks) == 1 {
		l.recs = c.r.Chunks[0]
	} else {
		l.recs = make([]core.Record, 0, c.r.Len)
		for _, chunk := range c.r.Chunks {
			l.recs = append(l.recs, chunk...)
		}
	}
	codes, parts := l.codes()
	marks := &nester{codes: codes, third: l.third, take: func(s stretch, end int) (stretch, bool, int) {
		c.p.step()
		return l.aligned(s, end)
	}}
	loops := marks.nested(c.r.Runs, l.first, parts)
	loops = append(loops, stretches(codes, without(parts, loops), l.loop, c.p.step)...)
	if len(loops) == 0 {
		return false
	}
	slices.SortFunc(loops, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	c.loops = l
	c.begin()
	at := 0
	for _, s := range loops {
		c.flat(l.recs[at:s.start])
		c.rolled(s)
		at = s.end()
	}
	c.flat(l.recs[at:])
	return true
}

// codes returns the operation of each record, and the parts between calls of custom rules, which are in no loop.
func (l *roller) codes() (codes []byte, parts []gap) {
	codes = make([]byte, len(l.recs))
	from := 0
	for i, r := range l.recs {
		op := r.Op &^ core.OutcomeBit
		codes[i] = byte(op)
		if op == core.OpCall {
			parts = append(parts, gap{from, i - int(r.B)}) // without the arguments
		}
		if op == core.OpCall || op == core.OpCallOut {
			from = i + 1
		}
	}
	return codes, append(parts, gap{from, len(l.recs)})
}

// sampled has the numbers of iterations from which it is told whether a stretch is a loop: of some more than there have
// to be, and of no more.
var sampled = [...]int{2 * leastIterations, leastIterations}

// loop is a taker. Iterations begin where fewest results pass from one to the next.
func (l *roller) loop(s stretch, end int) (loop stretch, ok bool, next int) {
	s.start += l.phase(s)
	return l.aligned(s, end)
}

// aligned is loop for a stretch that begins with an iteration. Less than half of the operations of a loop depend on
// themselves. It ends before a sum begins again, and where more operations depend on themselves: one over time steps
// becomes a loop for each of them.
func (l *roller) aligned(s stretch, end int) (loop stretch, ok bool, next int) {
	s.count = (end - s.start) / s.period
	if s.count < leastIterations {
		return s, false, end
	}
	next = end
	for _, n := range sampled {
		b := l.newBody(s)
		count := min(n, s.count)
		b.scan(l, 0, count, nil)
		b.count = count
		alone, _, first := b.alone(l)
		if 2*alone >= s.period {
			continue
		}
		// Twice as many iterations are looked at each time: a loop that ends soon must not take the time of all.
		changes := 0
		for count = min(count, first); count == b.count && count < s.count; {
			b.count = min(2*count, s.count)
			_, _, until := b.alone(l)
			now := b.scan(l, count, until, func() bool {
				changes++
				alone, short, _ := b.alone(l)
				return changes <= mostChanges && 2*(alone+short) < s.period
			})
			if count = now; now < until { // without the dependencies of the iteration after the last one
				b = l.newBody(s)
				b.scan(l, 0, now, nil)
				b.count = now
				_, _, count = b.alone(l)
				break
			}
		}
		if count < s.count {
			next = s.start + count*s.period
		}
		if count >= leastIterations {
			s.count, b.count = count, count
			l.bodies[s.start] = b
			return s, true, max(next, s.end())
		}
		if next > s.start {
			return s, false, next
		}
	}
	b := l.newBody(s) // the start may be within a step in time, and the next one begins soon
	b.count = leastIterations
	if now := b.scan(l, 0, b.count, func() bool {
		alone, short, _ := b.alone(l)
		return 2*(alone+short) < s.period
	}); now >= leastShift && now < leastIterations {
		next = s.start + now*s.period
	}
	return s, false, next
}

// leastShift is the number of iterations after which a loop is sought again, if they do not depend on each other. Of
// many that do, none is a loop.
const leastShift = 4

// mostChanges is the number of iterations of a loop that may add dependencies to those of the first ones.
const mostChanges = 64

// phase returns the offset in a period of s at which fewest results of the operations before it are read behind it. It
// is never between an operation and its third operand.
func (l *roller) phase(s stretch) int {
	p := s.period
	crossing := make([]int, p) // differences
	from := s.start + s.count/2*p
	for i := from; i < from+p; i++ {
		l.operands(i, func(a uint32) {
			if a&core.ConstBit != 0 {
				return
			}
			if def := int(a) - l.first; def > i-p && def >= s.start {
				cross(crossing, def-s.start, i-s.start)
			}
		})
	}
	best, least, passing := 0, math.MaxInt, 0
	for k, d := range crossing {
		passing += d
		if before := s.start + (k+p-1)%p; l.recs[before].Op == core.OpArg {
			continue
		}
		if passing < least {
			best, least = k, passing
		}
	}
	return best
}

// cross adds one to the offsets behind that of the position def up to that of the position use, less than a period
// later.
func cross(crossing []int, def, use int) {
	p := len(crossing)
	from, to := (def+1)%p, use%p
	crossing[from]++
	if to+1 < p {
		crossing[to+1]--
	}
	if from > to {
		crossing[0]++
	}
}

// operands calls do for the operands of record i that refer to numbers or constants, without the third one of an
// operation, which a record of its own has.
func (l *roller) operands(i int, do func(a uint32)) {
	r := &l.recs[i]
	switch op := r.Op &^ core.OutcomeBit; {
	case op < uint32(rules.NumOps):
		do(r.A)
		if rules.Op(op).Arity() > 1 {
			do(r.B)
		}
	case op == core.OpArg:
		do(r.A)
	case op >= core.OpGuardLt:
		do(r.A)
		do(r.B)
	}
}

// A body has the dependencies among the operations of a loop.
type body struct {
	stretch
	reads  [][]int32  // operation → the other ones whose results it reads, of any iteration
	itself []bool     // operation → it reads its own results
	last   [][2]int32 // operation → the distance of its operands to the iteration that was seen last
	order  [][]int32  // the operations that depend on each other, each group after those that it reads
	read   []bool     // group → another one reads its results
}

// newBody returns that of s, without dependencies.
func (l *roller) newBody(s stretch) *body {
	p := s.period
	b := &body{stretch: s, reads: make([][]int32, p), itself: make([]bool, p), last: make([][2]int32, p)}
	for j := range b.last {
		b.last[j] = [2]int32{math.MinInt32, math.MinInt32}
		if l.third(s.start + j) {
			b.edge(int32(j), int32(j-1))
		}
	}
	return b
}

// scan adds the dependencies of iterations from from to before to on those before them. It calls changed, unless that
// is nil, after an iteration with new ones, and stops if the result is false. It returns that iteration, or to.
func (b *body) scan(l *roller, from, to int, changed func() bool) int {
	p := b.period
	origin := l.first + b.start
	for i := from; i < to; i++ {
		at := i * p
		grown := false
		for j := range p {
			k := 0
			l.operands(b.start+at+j, func(a uint32) {
				if id := int(a); a&core.ConstBit == 0 && id >= origin {
					if d := int32(id - origin - at); b.last[j][k] != d {
						b.last[j][k] = d
						grown = b.edge(int32(j), int32((id-origin)%p)) || grown
					}
				}
				k++
			})
		}
		if grown && changed != nil && !changed() {
			return i
		}
	}
	return to
}

// alone orders the operations, and returns the number of those that depend on themselves and are no sums over the
// iterations, the number of those that are sums over a few, and the first iteration in which a sum begins again.
func (b *body) alone(l *roller) (alone, short, first int) {
	b.group()
	first = b.count
	for g, nodes := range b.order {
		if len(nodes) == 1 && !b.itself[nodes[0]] {
			continue
		}
		switch n := b.adds(l, g); {
		case n == 0:
			alone += len(nodes)
		case n < leastIterations:
			short += len(nodes)
			first = min(first, n)
		default:
			first = min(first, n)
		}
	}
	return alone, short, first
}

// group sets order and read.
func (b *body) group() {
	b.order = components(b.reads)
	of := make([]int32, b.period) // operation → its group
	for g, nodes := range b.order {
		for _, j := range nodes {
			of[j] = int32(g)
		}
	}
	b.read = make([]bool, len(b.order))
	for j, reads := range b.reads {
		for _, k := range reads {
			if of[j] != of[k] {
				b.read[of[k]] = true
			}
		}
	}
}

// edge adds that operation j reads results of operation k, and reports whether that is new.
func (b *body) edge(j, k int32) bool {
	switch {
	case j == k && !b.itself[j]:
		b.itself[j] = true
	case j != k && !slices.Contains(b.reads[j], k):
		b.reads[j] = append(b.reads[j], k)
	default:
		return false
	}
	return true
}

// third reports whether record i is an operation with three operands.
func (l *roller) third(i int) bool {
	op := l.recs[i].Op
	return op < uint32(rules.NumOps) && rules.Op(op).Arity() == 3
}

// adds returns the number of iterations in which group g adds numbers to the result of the iteration before, or
// subtracts them, one after the other, and nothing else in the loop reads the results; 0 if it never does.
func (b *body) adds(l *roller, g int) int {
	if b.read[g] {
		return 0
	}
	nodes := b.order[g]
	origin := l.first + b.start
	before := nodes[len(nodes)-1] - int32(b.period)
	count := b.count
	for _, j := range nodes {
		at := b.start + int(j)
		op := rules.Op(l.recs[at].Op)
		first := b.first(l, j, before)
		if op != rules.Add && (op != rules.Sub || !first) {
			return 0
		}
		for i := range count {
			r := l.recs[at+i*b.period]
			own, other := r.A, r.B
			if !first {
				own, other = other, own
			}
			id := origin + i*b.period + int(before)
			if id >= origin && own != uint32(id) || l.among(other, origin, b.period, nodes) {
				count = i
				break
			}
		}
		before = j
	}
	return count
}

// among reports whether a is a result of nodes.
func (l *roller) among(a uint32, origin, period int, nodes []int32) bool {
	if a&core.ConstBit != 0 || int(a) < origin {
		return false
	}
	_, ok := slices.BinarySearch(nodes, int32((int(a)-origin)%period))
	return ok
}

// first reports whether operation j of the second iteration reads the result of operation before as its first operand.
func (b *body) first(l *roller, j, before int32) bool {
	origin := b.start + b.period
	return l.recs[origin+int(j)].A == uint32(l.first+origin+int(before))
}

// rolled appends the loop s.
func (c *converter) rolled(s stretch) {
	b := c.loops.bodies[s.start]
	lane := make([]int32, s.count)
	for g, nodes := range b.order {
		j := nodes[0]
		switch {
		case len(nodes) == 1 && !b.itself[j]:
			c.lanes(b, int(j), lane)
		case b.adds(c.loops, g) == b.count:
			c.sum(b, nodes, lane)
		default:
			c.carried(b, nodes)
		}
	}
	c.id += s.period * s.count
}

// carried appends the operations of nodes iteration by iteration.
func (c *converter) carried(b *body, nodes []int32) {
	l := c.loops
	id := c.id
	for i := range b.count {
		for _, j := range nodes {
			at := b.start + i*b.period + int(j)
			if l.recs[at].Op == core.OpArg {
				continue
			}
			if l.third(at) {
				c.args = append(c.args[:0], c.operand(l.recs[at-1].A))
			}
			c.id = l.first + at
			c.flat(l.recs[at : at+1])
		}
	}
	c.id = id
}

// lanes appends operation j of all iterations as one statement. lane is memory for its slots.
func (c *converter) lanes(b *body, j int, lane []int32) {
	l := c.loops
	at := b.start + j
	n := int32(b.count)
	op := l.recs[at].Op &^ core.OutcomeBit
	slots := c.slot[l.first+at:]
	switch {
	case op == core.OpArg:
		return
	case op == core.OpCapture:
		for i := range b.count {
			slots[i*b.period] = c.captured + int32(l.recs[at+i*b.period].A)
		}
		return
	}
	s := Stmt{Op: Op(op), N: n}
	guard := op >= core.OpGuardLt
	if guard {
		s.Op = guardOp(op)
	}
	s.A = c.column(b, at, false, lane)
	if s.Op.Arity() > 1 {
		s.B = c.column(b, at, true, lane)
	}
	if s.Op.Arity() > 2 {
		s.C = c.column(b, at-1, false, lane)
	}
	if guard {
		s.C.Base = int32(len(c.p.Outcomes))
		for i := range b.count {
			c.p.Outcomes = append(c.p.Outcomes, outcome(l.recs[at+i*b.period]))
		}
		c.add(s)
		return
	}
	step := int32(1)
	if s.A.Stride == 0 && s.B.Stride == 0 && s.C.Stride == 0 { // the same in all iterations
		s.N, step = 1, 0
	}
	d := c.add(s)
	for i := range b.count {
		slots[i*b.period] = d
		d += step
	}
}

// column returns operand A of a record, or B if second is set, over all iterations. The record is that of the first
// one.
func (c *converter) column(b *body, at int, second bool, lane []int32) Operand {
	l := c.loops
	operand := func(i int) uint32 {
		if r := &l.recs[at+i*b.period]; second {
			return r.B
		} else {
			return r.A
		}
	}
	constants := 0
	for i := range lane {
		constants += int(operand(i) >> 31)
	}
	if constants < len(lane) {
		for i := range lane {
			lane[i] = c.operand(operand(i))
		}
		return c.gather(lane)
	}
	value := func(i int) float64 { return c.r.Consts[operand(i)&^core.ConstBit] }
	same := true
	bits := math.Float64bits(value(0))
	for i := 1; i < len(lane) && same; i++ {
		same = math.Float64bits(value(i)) == bits
	}
	if same {
		return Slot(c.operand(operand(0)))
	}
	k := int32(len(c.p.Consts))
	for i := range lane {
		c.p.Consts = append(c.p.Consts, value(i))
	}
	return Run(c.add(Stmt{Op: Const, N: int32(len(lane)), K: k}))
}

// An iterated is a sum over the iterations of a loop. Only the last result has a slot, until another one is asked for.
type iterated struct {
	terms Operand // the initial value and the terms
	n     int     // additions
	id    func(k int) uint32
}

// sum appends the sum over all iterations that nodes compute.
func (c *converter) sum(b *body, nodes []int32, lane []int32) {
	l := c.loops
	m := len(nodes)
	list := make([]int32, 1+m*b.count)
	before := nodes[m-1] - int32(b.period)
	for t, j := range nodes {
		at := b.start + int(j)
		first := b.first(l, j, before)
		before = j
		if t == 0 {
			if first {
				list[0] = c.operand(l.recs[at].A)
			} else {
				list[0] = c.operand(l.recs[at].B)
			}
		}
		terms := c.column(b, at, first, lane)
		if rules.Op(l.recs[at].Op) == rules.Sub {
			if terms.Stride == 0 {
				terms = Slot(c.op1(rules.Neg, 1, terms))
			} else {
				terms = Run(c.op1(rules.Neg, int32(b.count), terms))
			}
		}
		for i := range b.count {
			list[1+i*m+t] = c.p.at(terms, int32(i))
		}
	}
	s := &iterated{terms: c.gather(list), n: m * b.count, id: func(k int) uint32 {
		return uint32(l.first + b.start + k/m*b.period + int(nodes[k%m]))
	}}
	d := c.add(Stmt{Op: Sum, N: 1, K: int32(len(list)), A: s.terms})
	l.sums = append(l.sums, s)
	for k := range s.n - 1 {
		c.slot[s.id(k)] = ^int32(len(l.sums) - 1)
	}
	c.slot[s.id(s.n-1)] = d
}

// unroll appends an addition for each partial sum.
func (s *iterated) unroll(c *converter) {
	d := c.p.at(s.terms, 0)
	for k := range s.n - 1 {
		d = c.op2(rules.Add, 1, Slot(d), Slot(c.p.at(s.terms, int32(k+1))))
		c.slot[s.id(k)] = d
	}
}
