package program

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// A factor is a partial derivative with respect to one operand of a statement, as
// operand patterns over its lanes.
type factor struct {
	one bool // the partial is 1
	neg bool // multiply by -val, or by -1 where one is set
	inv bool // divide by val instead
	// zero says that val may be a structural zero itself: the partial of MulZ with
	// respect to its second operand is the first.
	zero bool
	val  Operand
}

// partial writes the statements for the derivative of s with respect to its
// operand i and returns it; ok is false where it is structurally zero.
func (b *builder) partial(s *Stmt, i int) (f factor, ok bool) {
	e := rules.Partial(rules.Op(s.Op), i)
	if e == nil {
		return factor{}, false
	}
	f.zero = s.Op == Op(rules.MulZ) && i == 1
	if e.Kind == rules.Call && e.Op == rules.Neg {
		f.neg = true
		e = e.Args[0]
	}
	switch {
	case e.Kind == rules.Num && (e.Num == 1 || e.Num == -1):
		f.one = true
		f.neg = f.neg != (e.Num == -1)
	case e.Kind == rules.Call && e.Op == rules.Inv:
		f.inv = true
		f.val = b.expr(e.Args[0], s)
	default:
		f.val = b.expr(e, s)
	}
	return f, true
}

// expr writes the statements for e, an expression over the operands of s.
func (b *builder) expr(e *rules.Expr, s *Stmt) Operand {
	switch e.Kind {
	case rules.Num:
		return Slot(b.constant(e.Num))
	case rules.ArgX:
		return s.A
	case rules.ArgY:
		return s.B
	case rules.ArgZ:
		return s.C
	case rules.ArgV:
		return Run(s.D)
	}
	t := Stmt{Op: Op(e.Op), N: s.N}
	ops := [3]*Operand{&t.A, &t.B, &t.C}
	uniform := true
	for i, a := range e.Args {
		*ops[i] = b.expr(a, s)
		uniform = uniform && ops[i].Stride == 0
	}
	if uniform { // the same in all lanes: compute it once
		t.N = 1
		return Slot(b.add(t))
	}
	return Run(b.add(t))
}

// product is the operand g·f over n lanes. Where strong is set, g may hold
// structural zeros and so may the result.
func (b *builder) product(g Operand, f factor, n int32, strong bool) Operand {
	switch {
	case f.one:
	case strong && f.zero:
		g = Run(b.op3(rules.Select, n, b.structural(g, n), Run(b.op2(rules.MulZ, n, g, f.val)), Run(b.op2(rules.MulZ, n, f.val, g))))
	case strong:
		v := f.val
		if f.inv {
			v = b.wide(b.op1(rules.Inv, b.lanesOf(n, v), v), n, v)
		}
		g = Run(b.op2(rules.MulZ, n, g, v))
	case f.inv:
		g = Run(b.op2(rules.Div, n, g, f.val))
	default:
		g = Run(b.op2(rules.Mul, n, g, f.val))
	}
	if f.neg {
		if strong {
			return Run(b.op2(rules.MulZ, n, g, Slot(b.constant(-1))))
		}
		return Run(b.op1(rules.Neg, n, g))
	}
	return g
}

// structural is 1 in the lanes of g where it is a structural zero and 0 elsewhere.
func (b *builder) structural(g Operand, n int32) Operand {
	// Every other number times +Inf is infinite or NaN.
	inf := Slot(b.constant(math.Inf(1)))
	return Run(b.op2(rules.Eq, n, Run(b.op2(rules.MulZ, n, g, inf)), Slot(b.constant(0))))
}

// strongResult is the m slots from out on, results of a derivative of a custom
// rule, as strong mode writes them: structural zeros where all of the n lanes from
// g on are, in steps of k, and no -0 otherwise. A rule knows nothing of structural
// zeros.
func (b *builder) strongResult(out, m int32, g Operand, n, k int32) int32 {
	all := int32(-1)
	for l := range n {
		is := b.structural(Slot(b.p.at(g, l*k)), 1).Base
		if all >= 0 {
			is = b.op2(rules.Mul, 1, Slot(all), Slot(is))
		}
		all = is
	}
	out = b.op2(rules.MulZ, m, Slot(b.constant(1)), Run(out))
	if all < 0 {
		return out
	}
	return b.op3(rules.Select, m, Slot(all), Slot(b.zero(true)), Run(out))
}

// shifted is o without its first j addresses.
func shifted(o Operand, j int32) Operand {
	if o.Stride == Gather {
		o.Base += j
	} else {
		o.Base += j * o.Stride
	}
	return o
}

// lanesOf is the number of lanes to compute for something that reads v alone.
func (b *builder) lanesOf(n int32, v Operand) int32 {
	if v.Stride == 0 {
		return 1
	}
	return n
}

// wide is the operand over n lanes of a statement computed over lanesOf(n, v).
func (b *builder) wide(slot, n int32, v Operand) Operand {
	if v.Stride == 0 {
		return Slot(slot)
	}
	return Run(slot)
}

// repeat is operand o of n lanes with every lane k times in a row.
func (b *builder) repeat(o Operand, n, k int32) Operand {
	if k == 1 || o.Stride == 0 || n == 1 {
		if n == 1 {
			return Slot(b.p.at(o, 0))
		}
		return o
	}
	slots := make([]int32, 0, n*k)
	for l := range n {
		s := b.p.at(o, l)
		for range k {
			slots = append(slots, s)
		}
	}
	return b.gather(slots)
}

// zero is the slot of a zero derivative.
func (b *builder) zero(strong bool) int32 {
	if strong {
		return b.constant(math.Copysign(0, -1))
	}
	return b.constant(0)
}

// result is slots as outputs: in strong mode with +0 added, so that a structural
// zero leaves the program as a plain one.
func (b *builder) result(slots []int32, strong bool) []int32 {
	n := int32(len(slots))
	if !strong || n == 0 {
		return slots
	}
	d := b.op2(rules.Add, n, b.gather(slots), Slot(b.constant(0)))
	out := make([]int32, n)
	for i := range out {
		out[i] = d + int32(i)
	}
	return out
}

// depends marks the slots that depend on the inputs of group 0 and, where all is
// set, of the other groups too.
func (p *Program) depends(all bool) []bool {
	on := make([]bool, p.Slots)
	for i := range p.Stmts {
		s := &p.Stmts[i]
		live := false
		switch {
		case s.Op == Input:
			live = s.K == 0 || all
		case s.Op.Guard():
			continue
		case s.Op.Elementary() && !differentiable(rules.Op(s.Op)):
		default:
			if s.N > 1 && s.Op.Elementary() {
				for l := range s.N {
					for _, o := range s.Operands() {
						if on[p.at(o, l)] {
							on[s.D+l] = true
							break
						}
					}
				}
				continue
			}
			for _, o := range s.Operands() {
				for l := range s.terms() {
					if on[p.at(o, l)] {
						live = true
						break
					}
				}
			}
		}
		if live {
			for l := range s.N {
				on[s.D+l] = true
			}
		}
	}
	return on
}

// differentiable reports whether op has a derivative at all.
func differentiable(op rules.Op) bool {
	if op.Choice() {
		return true
	}
	for i := range op.Arity() {
		if rules.Partial(op, i) != nil {
			return true
		}
	}
	return false
}
