package program

import (
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// JVPOptions configures JVP.
type JVPOptions struct {
	// Lanes is the width of vector mode, the number of tangents; 0 means 1.
	Lanes int
	// Strong represents structural zeros as -0; see the package comment. Structural zeros of the input xdot must be
	// given as -0.
	Strong bool
	// Signed keeps them as -0 in ydot too, so that it can be the xdot of another program in strong mode. Otherwise -0
	// becomes 0 there.
	Signed bool
	// Captured also propagates tangents of the group "captured".
	Captured bool
}

// JVP returns p with its tangents (forward mode). Its inputs are those of p and the group "xdot" (and "captureddot");
// its outputs are those of p and the group "ydot". In vector mode, lane j of component i of xdot and ydot is element
// i·Lanes + j.
//
// A run costs that of p and, per lane, one to three times that of the statements of p that depend on the inputs.
func JVP(p *Program, o JVPOptions) *Program {
	k := int32(max(o.Lanes, 1))
	f := newPusher(derive(p), p, k, o.Strong)
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if s.Op != Input || s.K > 0 && !o.Captured {
			continue
		}
		name := "xdot"
		if s.K > 0 {
			name = p.Ins[s.K].Name + "dot"
		}
		f.set(s, f.input(name, int(s.N*k)))
	}
	f.sweep()
	f.p.Outs = append(f.p.Outs, p.Outs...)
	f.p.Result = append(f.p.Result, p.Result...)
	out := make([]int32, 0, len(p.Result)*int(k))
	for _, s := range p.Result {
		for j := range k {
			if t := f.tan[s]; t >= 0 {
				out = append(out, t+j)
			} else {
				out = append(out, f.zero(o.Strong))
			}
		}
	}
	f.output("ydot", f.result(out, o.Strong && !o.Signed))
	return f.p
}

// A pusher propagates tangents through src.
type pusher struct {
	*builder
	src    *Program // the primal program
	k      int32    // width of vector mode
	strong bool
	tan    []int32 // slot of src → first of the k slots of its tangent, -1 for a structural zero
}

// newPusher returns a pusher of p that appends to b. All tangents are structural zeros.
func newPusher(b *builder, p *Program, k int32, strong bool) *pusher {
	return &pusher{builder: b, src: p, k: k, strong: strong, tan: slices.Repeat([]int32{-1}, int(p.Slots))}
}

// sweep propagates the tangents of the inputs through all statements.
func (f *pusher) sweep() {
	for i := range f.src.Stmts {
		f.step(i)
	}
}

// step appends the tangent of statement i.
func (f *pusher) step(i int) {
	s := f.src.Stmts[i]
	switch {
	case s.Op == Input, s.Op == Param, s.Op == Const, s.Op.Guard():
	case s.Op == Sum:
		f.sum(&s)
	case s.Op == Call:
		f.call(&s)
	default:
		f.elementary(&s)
	}
}

// set records that the tangents of the lanes of s are in consecutive slots from t on.
func (f *pusher) set(s *Stmt, t int32) {
	for l := range s.N {
		f.tan[s.D+l] = t + l*f.k
	}
}

// tangent returns the tangents of the n addresses of o, over n·k lanes. ok is false if all are structurally zero.
func (f *pusher) tangent(o Operand, n int32) (t Operand, ok bool) {
	if n == 1 || o.Stride == 0 && f.k == 1 {
		r := f.tan[f.src.at(o, 0)]
		if n == 1 {
			return Run(r), r >= 0
		}
		return Slot(r), r >= 0
	}
	slots := make([]int32, 0, n*f.k)
	for l := range n {
		r := f.tan[f.src.at(o, l)]
		ok = ok || r >= 0
		for j := range f.k {
			if r < 0 {
				slots = append(slots, -1)
			} else {
				slots = append(slots, r+j)
			}
		}
	}
	if !ok {
		return Operand{}, false
	}
	zero := int32(-1)
	for i, s := range slots {
		if s < 0 {
			if zero < 0 {
				zero = f.zero(f.strong)
			}
			slots[i] = zero
		}
	}
	return f.gather(slots), true
}

// sum appends the tangent of a Sum: the sum of the tangents of its terms.
func (f *pusher) sum(s *Stmt) {
	n := s.N * s.K
	t, ok := f.tangent(s.A, n)
	if !ok {
		return
	}
	if f.k == 1 {
		if s.N == 1 { // omit terms with structurally zero tangents
			slots := make([]int32, 0, n)
			for l := range n {
				if r := f.tan[f.src.at(s.A, l)]; r >= 0 {
					slots = append(slots, r)
				}
			}
			if len(slots) == 1 {
				f.tan[s.D] = slots[0]
				return
			}
			f.set(s, f.add(Stmt{Op: Sum, N: 1, K: int32(len(slots)), A: f.gather(slots)}))
			return
		}
		f.set(s, f.add(Stmt{Op: Sum, N: s.N, K: s.K, A: t}))
		return
	}
	// Lane (l, j) adds tangents j of the terms of lane l.
	slots := make([]int32, 0, n*f.k)
	for l := range s.N {
		for j := range f.k {
			for i := range s.K {
				slots = append(slots, f.p.at(t, (l*s.K+i)*f.k+j))
			}
		}
	}
	f.set(s, f.add(Stmt{Op: Sum, N: s.N * f.k, K: s.K, A: f.gather(slots)}))
}

// elementary appends the tangent of an elementary statement: Σ partial·tangent over its operands.
func (f *pusher) elementary(s *Stmt) {
	n := s.N * f.k
	op := rules.Op(s.Op)
	if op.Choice() {
		c, yes, no := f.chooser(s, op, f.strong)
		ty, oky := f.tangent(yes, s.N)
		tn, okn := f.tangent(no, s.N)
		if !oky && !okn {
			return
		}
		if !oky {
			ty = Slot(f.zero(f.strong))
		}
		if !okn {
			tn = Slot(f.zero(f.strong))
		}
		f.set(s, f.op3(rules.Select, n, f.repeat(c, s.N, f.k), ty, tn))
		return
	}
	sum, have := Operand{}, false
	for i, o := range s.Operands() {
		t, ok := f.tangent(o, s.N)
		if !ok {
			continue
		}
		p, ok := f.partial(s, i, f.strong)
		if !ok {
			continue
		}
		p.repeat(f.builder, s.N, f.k)
		switch {
		case !have:
			sum = f.forth(t, p, n, f.strong)
		case p.neg && !f.strong:
			p.neg = false
			sum = Run(f.op2(rules.Sub, n, sum, f.forth(t, p, n, false)))
		default:
			sum = Run(f.op2(rules.Add, n, sum, f.forth(t, p, n, f.strong)))
		}
		have = true
	}
	if !have {
		return
	}
	for l := range s.N { // if the tangent already exists as contiguous runs, no new slots are needed
		if f.k > 1 && f.p.at(sum, l*f.k+1) != f.p.at(sum, l*f.k)+1 {
			f.set(s, f.add(Stmt{Op: Sum, N: n, K: 1, A: sum}))
			return
		}
		f.tan[s.D+l] = f.p.at(sum, l*f.k)
	}
}

// call appends the tangent of a call of a custom rule: one call of the rule's tangent per lane, or the operations of an
// inlined one.
func (f *pusher) call(s *Stmt) {
	n := s.B.Base
	c := f.src.Customs[s.K]
	if core.IsPassive(c) {
		return
	}
	t, ok := f.tangent(s.A, n)
	if !ok {
		return
	}
	switch c := c.(type) {
	case core.Inlined:
		if f.inlineCall(s, c, t) {
			return
		}
	case core.Recordable:
		if q := f.src.recorded(c, n); q != nil {
			f.spliceCall(s, q, t)
			return
		}
	}
	rule := f.customIndex(f.src.Customs[s.K].Tangent(int(n)))
	first := make([]int32, f.k)
	for j := range f.k {
		args := make([]int32, 0, 2*n)
		for l := range n {
			args = append(args, f.src.at(s.A, l))
		}
		for l := range n {
			args = append(args, f.p.at(t, l*f.k+j))
		}
		first[j] = f.add(Stmt{Op: Call, N: s.N, K: rule, A: f.gather(args), B: Operand{Base: 2 * n}})
		if f.strong && s.N > 0 {
			first[j] = f.strongResult(first[j], s.N, shifted(t, j), n, f.k)
		}
	}
	for l := range s.N {
		slots := make([]int32, f.k)
		for j := range f.k {
			slots[j] = first[j] + l
		}
		run := slots[0]
		if f.k > 1 {
			run = f.add(Stmt{Op: Sum, N: f.k, K: 1, A: f.gather(slots)})
		}
		f.tan[s.D+l] = run
	}
}

// customIndex adds c to the custom rules of the program and returns its index.
func (b *builder) customIndex(c Custom) int32 {
	b.p.Customs = append(b.p.Customs, c)
	return int32(len(b.p.Customs) - 1)
}
