package program

import (
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// VJPOptions configures VJP.
type VJPOptions struct {
	// Lanes is the width of vector mode, the number of cotangents; 0 means 1.
	Lanes int
	// Unit fixes the seed of a program with one output to 1 instead of making it an input, so that the result is the
	// gradient.
	Unit bool
	// Strong represents structural zeros as -0; see the package comment.
	Strong bool
	// Signed keeps them as -0 in the cotangents of the inputs too, so that these can be the seeds of another program in
	// strong mode. Otherwise -0 becomes 0 there.
	Signed bool
	// Captured also computes cotangents of the group "captured".
	Captured bool
}

// VJP returns p with its reverse sweep. Its inputs are those of p and, unless Unit is set, the seeds "ybar"; its
// outputs are those of p and the group "xbar", the cotangents of the inputs of group 0, and "capturedbar" if asked for.
// In vector mode, lane j of component i of ybar and xbar is element i·Lanes + j.
//
// A run costs that of p and, per lane, one to four times that of the statements of p that depend on the inputs.
func VJP(p *Program, o VJPOptions) *Program {
	k := int32(max(o.Lanes, 1))
	v := newReverser(derive(p), p, k, o.Strong, o.Captured)
	v.p.Outs = append(v.p.Outs, p.Outs...) // outputs of p stay outputs
	v.p.Result = append(v.p.Result, p.Result...)
	if o.Unit {
		one := v.ones(k)
		for _, s := range p.Result {
			v.push(s, one, false)
		}
	} else {
		ybar := v.input("ybar", len(p.Result)*int(k))
		for i, s := range p.Result {
			v.push(s, ybar+int32(i)*k, false)
		}
	}
	v.sweep()
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if s.Op != Input || s.K > 0 && !o.Captured {
			continue
		}
		g := v.lanesAdjoint(i, s, o.Strong)
		name := p.Ins[s.K].Name + "bar"
		if s.K == 0 {
			name = "xbar"
		}
		v.output(name, v.result(g, o.Strong && !o.Signed))
	}
	return v.p
}

// ones returns the first of n contiguous slots that hold 1.
func (b *builder) ones(n int32) int32 {
	if n == 1 {
		return b.constant(1)
	}
	at := int32(len(b.p.Consts))
	for range n {
		b.p.Consts = append(b.p.Consts, 1)
	}
	return b.add(Stmt{Op: Const, N: n, K: at})
}

// A reverser runs the reverse sweep. It collects, for each slot of src, a linked list of contributions to its
// cotangent, each a run of k slots. Contributions that cover all lanes of a statement are in a list per statement
// instead. They are added when the sweep reaches the statement.
type reverser struct {
	*builder
	src    *Program // the primal program
	k      int32    // width of vector mode
	strong bool
	on     []bool  // slot → it depends on an input
	own    []int32 // slot → statement that writes it
	head   []int32 // slot → index+1 of its newest contribution in list
	full   []int32 // statement → index+1 of its newest contribution in fulls
	list   []entry
	fulls  []fullEntry
	plus   []int32 // scratch
	minus  []int32
	cone   *cone // if not nil, collects the statements and slots reached
}

// An entry is one contribution: the first slot of the run, or its complement ^run for the negative of it, so that the
// signs of Sub and Neg take no statement before the contributions are added. next is the index+1 of the next older
// entry.
type entry struct{ run, next int32 }

// fullEntry is a contribution to all lanes of a statement, or its negative.
type fullEntry struct {
	g    Operand // over N·k lanes
	neg  bool
	next int32
}

// newReverser returns a reverser of p without contributions, which appends to b. With captured set, the group
// "captured" counts among the inputs.
func newReverser(b *builder, p *Program, k int32, strong, captured bool) *reverser {
	return &reverser{
		builder: b, src: p, k: k, strong: strong, on: p.depends(captured), own: p.owners(),
		head: make([]int32, p.Slots), full: make([]int32, len(p.Stmts)), list: make([]entry, 0, 2*len(p.Stmts)),
	}
}

// push adds run, negated if neg is set, to the contributions of slot.
func (v *reverser) push(slot, run int32, neg bool) {
	if neg {
		run = ^run
	}
	v.list = append(v.list, entry{run, v.head[slot]})
	v.head[slot] = int32(len(v.list))
	if v.cone != nil {
		v.cone.reach(v.own[slot])
		v.cone.slots = append(v.cone.slots, slot)
	}
}

// lane returns the run of the cotangent of slot, or of its negative if neg is set. ok is false if there are no
// contributions. They are added from the last use of the slot to the first, negative ones separately.
func (v *reverser) lane(slot int32) (run int32, neg, ok bool) {
	h := v.head[slot]
	if h == 0 {
		return 0, false, false
	}
	plus, minus := v.plus[:0], v.minus[:0]
	for ; h != 0; h = v.list[h-1].next {
		if r := v.list[h-1].run; r >= 0 {
			plus = append(plus, r)
		} else {
			minus = append(minus, ^r)
		}
	}
	v.plus, v.minus = plus, minus
	switch {
	case len(minus) == 0:
		return v.total(plus), false, true
	case len(plus) == 0:
		return v.total(minus), true, true
	}
	return v.op2(rules.Sub, v.k, Run(v.total(plus)), Run(v.total(minus))), false, true
}

// total adds the runs, given newest first, from the oldest to the newest. The oldest contribution is that of the last
// use, since the sweep runs backward. It modifies runs.
func (v *reverser) total(runs []int32) int32 {
	slices.Reverse(runs)
	if len(runs) > 2 && v.k == 1 {
		return v.add(Stmt{Op: Sum, N: 1, K: int32(len(runs)), A: v.gather(runs)})
	}
	sum := runs[0]
	for _, r := range runs[1:] {
		sum = v.op2(rules.Add, v.k, Run(sum), Run(r))
	}
	return sum
}

// plain returns g over n lanes, negated if neg is set. g must have no structural zeros if it is.
func (v *reverser) plain(g Operand, neg bool, n int32) Operand {
	switch {
	case !neg:
		return g
	case g.Stride == 0:
		return Slot(v.op1(rules.Neg, 1, g))
	}
	return Run(v.op1(rules.Neg, n, g))
}

// lanesAdjoint returns the slots of the cotangents of the lanes of statement i, k per lane. Lanes without contributions
// get a zero, -0 if signed is set.
func (v *reverser) lanesAdjoint(i int, s *Stmt, signed bool) []int32 {
	out := make([]int32, 0, s.N*v.k)
	g, neg, ok := v.adjoint(i, s)
	g = v.plain(g, neg, s.N*v.k)
	for l := range s.N * v.k {
		if !ok {
			out = append(out, v.zero(signed))
		} else {
			out = append(out, v.p.at(g, l))
		}
	}
	return out
}

// adjoint returns the cotangent of statement i over its N·k lanes, or its negative if neg is set. ok is false if there
// are no contributions. The k lanes of a lane that has contributions are contiguous.
func (v *reverser) adjoint(i int, s *Stmt) (g Operand, neg, ok bool) {
	if s.N == 1 {
		r, neg, ok := v.lane(s.D)
		return Run(r), neg, ok
	}
	g, neg, ok = v.lanes(s)
	for h := v.full[i]; h != 0; h = v.fulls[h-1].next {
		c := v.fulls[h-1]
		switch {
		case !ok:
			g, neg, ok = c.g, c.neg, true
		case neg == c.neg:
			g = Run(v.op2(rules.Add, s.N*v.k, g, c.g))
		case neg:
			g, neg = Run(v.op2(rules.Sub, s.N*v.k, c.g, g)), false
		default:
			g = Run(v.op2(rules.Sub, s.N*v.k, g, c.g))
		}
	}
	return g, neg, ok
}

// lanes returns the sum of the contributions to single lanes of s, over N·k lanes, or its negative if neg is set. ok is
// false if there are none. Neighbours with as many contributions are added by one statement.
func (v *reverser) lanes(s *Stmt) (g Operand, neg, ok bool) {
	w := &laneSums{ends: make([]laneEnds, s.N)}
	for l := range s.N {
		for _, minus := range []bool{false, true} {
			at := len(w.runs)
			for h := v.head[s.D+l]; h != 0; h = v.list[h-1].next {
				switch r := v.list[h-1].run; {
				case minus && r < 0:
					w.runs = append(w.runs, ^r)
				case !minus && r >= 0:
					w.runs = append(w.runs, r)
				}
			}
			slices.Reverse(w.runs[at:])
			if minus {
				w.ends[l].minus = int32(len(w.runs))
			} else {
				w.ends[l].plus = int32(len(w.runs))
			}
		}
	}
	if len(w.runs) == 0 {
		return Operand{}, false, false
	}
	neg = w.negative()
	slots := make([]int32, 0, s.N*v.k)
	zero := int32(-1)
	for l := int32(0); l < s.N; {
		plus, minus := w.counts(l)
		end := l + 1
		for ; end < s.N; end++ {
			if a, b := w.counts(end); a != plus || b != minus {
				break
			}
		}
		var sum Operand
		switch {
		case plus == 0 && minus == 0:
			if zero < 0 {
				zero = v.zero(v.strong)
			}
			sum = Slot(zero)
		case minus == 0:
			sum = v.sums(w, l, end, 0, plus)
		case plus == 0:
			sum = v.plain(v.sums(w, l, end, 0, minus), !neg, (end-l)*v.k)
		default:
			a, b := v.sums(w, l, end, 0, plus), v.sums(w, l, end, plus, minus)
			sum = Run(v.op2(rules.Sub, (end-l)*v.k, a, b))
		}
		for i := range (end - l) * v.k {
			slots = append(slots, v.p.at(sum, i))
		}
		l = end
	}
	return v.gather(slots), neg, true
}

// laneSums has the contributions to lanes, end to end: the positive ones of a lane, oldest first, and then the negative
// ones.
type laneSums struct {
	runs []int32
	ends []laneEnds
}

// laneEnds has the positions behind the positive and the negative contributions to a lane.
type laneEnds struct{ plus, minus int32 }

// start returns the position of the first contribution to a lane.
func (w *laneSums) start(l int32) int32 {
	if l == 0 {
		return 0
	}
	return w.ends[l-1].minus
}

// counts returns the numbers of contributions to a lane.
func (w *laneSums) counts(l int32) (plus, minus int32) {
	return w.ends[l].plus - w.start(l), w.ends[l].minus - w.ends[l].plus
}

// negative reports whether all lanes have negative contributions and none has positive ones.
func (w *laneSums) negative() bool {
	for l := range w.ends {
		if plus, minus := w.counts(int32(l)); plus > 0 || minus == 0 {
			return false
		}
	}
	return true
}

// mostAdditions is the number of contributions from which they are added by a Sum, which lists them all.
const mostAdditions = 8

// sums returns the sums of n contributions to each of the lanes from l to before end, from number first on.
func (v *reverser) sums(w *laneSums, l, end, first, n int32) Operand {
	lanes := (end - l) * v.k
	slots := make([]int32, 0, lanes*n)
	if n > mostAdditions || lanes == 1 && n > 2 {
		for ; l < end; l++ {
			runs := w.runs[w.start(l)+first:][:n]
			for j := range v.k {
				for _, r := range runs {
					slots = append(slots, r+j)
				}
			}
		}
		return Run(v.add(Stmt{Op: Sum, N: lanes, K: n, A: v.gather(slots)}))
	}
	var sum Operand
	for t := range n {
		slots = slots[:0]
		for i := l; i < end; i++ {
			for j := range v.k {
				slots = append(slots, w.runs[w.start(i)+first+t]+j)
			}
		}
		term := v.gather(slots)
		if t == 0 {
			sum = term
		} else {
			sum = Run(v.op2(rules.Add, lanes, sum, term))
		}
	}
	return sum
}

// owners maps each slot to the statement that writes it.
func (p *Program) owners() []int32 {
	own := make([]int32, p.Slots)
	for i := range p.Stmts {
		s := &p.Stmts[i]
		for l := range s.Width() {
			own[s.D+l] = int32(i)
		}
	}
	return own
}

// route adds g, or its negative, to the contributions of the slots that o reads, of which one depends on an input or
// more. g is the cotangent of the n addresses of o, k lanes each.
func (v *reverser) route(o Operand, n int32, g Operand, neg bool) {
	if o.Stride == 1 && n > 1 && v.routeAll(o, n, g, neg) {
		return
	}
	if o.Stride == 0 && n > 1 && v.k == 1 {
		v.push(o.Base, v.add(Stmt{Op: Sum, N: 1, K: n, A: g}), neg)
		return
	}
	for l := range n {
		if slot := v.src.at(o, l); v.on[slot] {
			v.push(slot, v.p.at(g, l*v.k), neg)
		}
	}
}

// routeAll is route for an o that reads exactly the lanes of one statement. It reports false and does nothing
// otherwise.
func (v *reverser) routeAll(o Operand, n int32, g Operand, neg bool) bool {
	i := v.own[o.Base]
	s := &v.src.Stmts[i]
	if s.D != o.Base || s.N != n {
		return false
	}
	v.fulls = append(v.fulls, fullEntry{g, neg, v.full[i]})
	v.full[i] = int32(len(v.fulls))
	if v.cone != nil {
		v.cone.reach(i)
	}
	return true
}

// anyOn reports whether one of the n addresses of o depends on an input.
func (v *reverser) anyOn(o Operand, n int32) bool {
	for l := range n {
		if v.on[v.src.at(o, l)] {
			return true
		}
		if o.Stride == 0 {
			break
		}
	}
	return false
}

// sweep runs all statements in reverse.
func (v *reverser) sweep() {
	for i := len(v.src.Stmts) - 1; i >= 0; i-- {
		v.step(i)
	}
}

// step propagates the cotangent of statement i to its operands.
func (v *reverser) step(i int) {
	s := v.src.Stmts[i] // a copy: expr keeps no pointer to it
	switch {
	case s.Op == Input, s.Op == Param, s.Op == Const, s.Op.Guard():
		return
	case s.N == 1 && !v.on[s.D]:
		return
	case s.wide() && v.full[i] == 0: // lanes without contributions have a structural zero
		for from := int32(0); from < s.N; from++ {
			end := from
			for end < s.N && v.head[s.D+end] != 0 {
				end++
			}
			if end > from {
				part := s.part(from, end-from)
				g, neg, _ := v.adjoint(i, &part)
				v.propagate(&part, g, neg)
				from = end
			}
		}
		return
	}
	g, neg, ok := v.adjoint(i, &s)
	if !ok {
		return
	}
	v.propagate(&s, g, neg)
}

// propagate propagates the cotangent g of s, or its negative if neg is set, to its operands.
func (v *reverser) propagate(s *Stmt, g Operand, neg bool) {
	switch s.Op {
	case Sum:
		v.sum(s, g, neg)
	case Call:
		v.call(s, v.plain(g, neg, s.N*v.k))
	default:
		v.elementary(s, g, neg)
	}
}

// sum propagates the cotangent of each lane to all of its terms.
func (v *reverser) sum(s *Stmt, g Operand, neg bool) {
	if s.N == 1 && v.k == 1 && s.A.Stride == 1 && s.K > 1 && v.routeAll(s.A, s.K, Slot(v.p.at(g, 0)), neg) {
		return
	}
	for l := range s.N {
		run := v.p.at(g, l*v.k)
		for t := range s.K {
			if slot := v.src.at(s.A, l*s.K+t); v.on[slot] {
				v.push(slot, run, neg)
			}
		}
	}
}

// elementary propagates the cotangent g of s to its operands.
func (v *reverser) elementary(s *Stmt, g Operand, neg bool) {
	n := s.N * v.k
	if op := rules.Op(s.Op); op.Choice() {
		v.choice(s, v.plain(g, neg, n), op)
		return
	}
	for j, o := range s.Operands() {
		if !v.anyOn(o, s.N) {
			continue
		}
		p, ok := v.partial(s, j, v.strong)
		if !ok {
			continue
		}
		p.repeat(v.builder, s.N, v.k)
		minus := neg
		if !v.strong { // in strong mode negation must preserve structural zeros; see signed
			minus = neg != p.neg
			p.neg = false
		}
		v.route(o, s.N, v.back(g, p, n, v.strong), minus)
	}
}

// choice propagates g to the operand that Select, Max or Min chose, and a structural zero to the other.
func (v *reverser) choice(s *Stmt, g Operand, op rules.Op) {
	n := s.N * v.k
	c, yes, no := v.chooser(s, op, v.strong)
	c = v.repeat(c, s.N, v.k)
	zero := Slot(v.zero(v.strong))
	if v.anyOn(yes, s.N) {
		v.route(yes, s.N, Run(v.op3(rules.Select, n, c, g, zero)), false)
	}
	if v.anyOn(no, s.N) {
		v.route(no, s.N, Run(v.op3(rules.Select, n, c, zero, g)), false)
	}
}

// chooser returns the condition under which a choice takes its operand yes: Max and Min choose the first argument if it
// equals the value; see rules.Chosen. The condition examines NaN values in strong mode only, since a NaN value makes
// the engine run the strong program anyway.
func (b *builder) chooser(s *Stmt, op rules.Op, strong bool) (c, yes, no Operand) {
	if op == rules.Select {
		return s.A, s.B, s.C
	}
	if strong {
		v, one := Run(s.D), Slot(b.constant(1))
		number := Run(b.op2(rules.Eq, s.N, v, v))
		equal := Run(b.op2(rules.Eq, s.N, v, s.A))
		nan := Run(b.op2(rules.Sub, s.N, one, Run(b.op2(rules.Eq, s.N, s.A, s.A))))
		return Run(b.op3(rules.Select, s.N, number, equal, nan)), s.A, s.B
	}
	return Run(b.op2(rules.Eq, s.N, Run(s.D), s.A)), s.A, s.B
}

// call propagates g, the cotangents of the outputs of a custom rule, to its inputs, by one call of the rule's cotangent
// per lane, or by the operations of an inlined one.
func (v *reverser) call(s *Stmt, g Operand) {
	n := s.B.Base
	switch c := v.src.Customs[s.K].(type) {
	case core.Passive:
		return
	case core.Inlined:
		if v.inlineCall(s, c, g) {
			return
		}
	case core.Recordable:
		if q := v.src.recorded(c, n); q != nil {
			v.spliceCall(s, q, g)
			return
		}
	}
	rule := v.customIndex(v.src.Customs[s.K].Cotangent(int(n)))
	first := make([]int32, v.k)
	for j := range v.k {
		args := make([]int32, 0, n+s.N)
		for l := range n {
			args = append(args, v.src.at(s.A, l))
		}
		for l := range s.N {
			args = append(args, v.p.at(g, l*v.k+j))
		}
		first[j] = v.add(Stmt{Op: Call, N: n, K: rule, A: v.gather(args), B: Operand{Base: n + s.N}})
		if v.strong {
			first[j] = v.strongResult(first[j], n, shifted(g, j), s.N, v.k)
		}
	}
	for l := range n {
		slot := v.src.at(s.A, l)
		if !v.on[slot] {
			continue
		}
		slots := make([]int32, v.k)
		for j := range v.k {
			slots[j] = first[j] + l
		}
		run := slots[0]
		if v.k > 1 {
			run = v.add(Stmt{Op: Sum, N: v.k, K: 1, A: v.gather(slots)})
		}
		v.push(slot, run, false)
	}
}
