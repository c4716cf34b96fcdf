package program

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// A partial is the derivative of a statement with respect to one operand: the product of its factors, in the order in
// which a cotangent is multiplied by them. It is valid until the builder makes the next one.
type partial struct {
	neg     bool // the product is negated
	factors []factor
}

// A factor is an operand over the lanes of a statement.
type factor struct {
	inv bool // divide by val instead of multiplying
	// zero reports that val may itself be a structural zero: the partial of MulZ with respect to its second operand is
	// the first, and that of DivZ has its value.
	zero bool
	val  Operand
}

// partial appends the statements that compute the derivative of s with respect to operand i. ok is false if the
// derivative is structurally zero. With strong set, a quotient of several factors is in range for subnormal divisors
// too: see scaled.
func (b *builder) partial(s *Stmt, i int, strong bool) (p partial, ok bool) {
	op := rules.Op(s.Op)
	if rules.Partial(op, i) == nil {
		return partial{}, false
	}
	steps, neg := rules.Steps(op, i)
	p.neg = neg
	p.factors = b.factors[:0]
	for k, e := range steps {
		f := factor{zero: op.Strong() && i == 1 && k == 0}
		if e.Kind == rules.Call && e.Op == rules.Inv {
			f.inv = true
			e = e.Args[0]
			if strong && k > 0 {
				scale := scaleOf(e)
				p.factors = slices.Insert(p.factors, 0, factor{val: b.expr(scale, s)})
				e = call(rules.Mul, e, scale)
			}
		}
		f.val = b.expr(e, s)
		p.factors = append(p.factors, f)
	}
	b.factors = p.factors
	return p, true
}

// scaleOf returns an expression for a power of two by which a divisor e and the number that is divided are multiplied:
// 1 unless e is subnormal. The reciprocal of a subnormal number may overflow although its product with the other
// factors does not, and the derivative of a derivative multiplies in the opposite order, so that no order serves both.
// The number is scaled first and divided last, and the other factors are between.
func scaleOf(e *rules.Expr) *rules.Expr {
	subnormal := call(rules.Lt, call(rules.Abs, e), number(0x1p-1022))
	return call(rules.Select, subnormal, number(0x1p54), number(1))
}

func call(op rules.Op, args ...*rules.Expr) *rules.Expr {
	return &rules.Expr{Kind: rules.Call, Op: op, Args: args}
}

func number(x float64) *rules.Expr { return &rules.Expr{Kind: rules.Num, Num: x} }

// repeat widens all factors of p from n lanes to n·k, each lane k times in a row.
func (p *partial) repeat(b *builder, n, k int32) {
	for i := range p.factors {
		p.factors[i].val = b.repeat(p.factors[i].val, n, k)
	}
}

// expr appends the statements that compute e, an expression over the operands and the value of s.
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
	if uniform { // equal in all lanes: compute it once
		t.N = 1
		return Slot(b.add(t))
	}
	return Run(b.add(t))
}

// back returns the cotangent g times p over n lanes. It applies the factors in order, and forth, for tangents, in the
// opposite order: then intermediate products do not overflow or underflow if the result does not; see package rules.
// With strong set, g and the result may hold structural zeros.
func (b *builder) back(g Operand, p partial, n int32, strong bool) Operand {
	for _, f := range p.factors {
		g = b.product(g, f, n, strong)
	}
	return b.signed(g, p.neg, n, strong)
}

// forth returns the tangent t times p over n lanes. See back.
func (b *builder) forth(t Operand, p partial, n int32, strong bool) Operand {
	if strong { // a tangent divided by a subnormal number may be infinite although the result is 0
		return b.back(t, p, n, strong)
	}
	for i := len(p.factors) - 1; i >= 0; i-- {
		t = b.product(t, p.factors[i], n, strong)
	}
	return b.signed(t, p.neg, n, strong)
}

// signed returns g over n lanes, negated if neg is set.
func (b *builder) signed(g Operand, neg bool, n int32, strong bool) Operand {
	switch {
	case !neg:
		return g
	case strong:
		return Run(b.op2(rules.MulZ, n, g, Slot(b.constant(-1))))
	}
	return Run(b.op1(rules.Neg, n, g))
}

// product returns g·f over n lanes.
func (b *builder) product(g Operand, f factor, n int32, strong bool) Operand {
	switch {
	case strong && f.zero:
		return Run(b.op3(rules.Select, n, b.structural(g, n), Run(b.op2(rules.MulZ, n, g, f.val)),
			Run(b.op2(rules.MulZ, n, f.val, g))))
	case strong && f.inv:
		return Run(b.op2(rules.DivZ, n, g, f.val))
	case strong:
		return Run(b.op2(rules.MulZ, n, g, f.val))
	case f.inv:
		return Run(b.op2(rules.Div, n, g, f.val))
	}
	return Run(b.op2(rules.Mul, n, g, f.val))
}

// structural returns an operand that is 1 in the lanes of g that hold a structural zero and 0 in the others.
func (b *builder) structural(g Operand, n int32) Operand {
	// MulZ of any other number and +Inf is infinite or NaN.
	inf := Slot(b.constant(math.Inf(1)))
	return Run(b.op2(rules.Eq, n, Run(b.op2(rules.MulZ, n, g, inf)), Slot(b.constant(0))))
}

// strongResult converts the m slots from out on, derivatives from a custom rule, to the form of strong mode and returns
// their first slot. Rules do not distinguish structural zeros: the results become structural zeros if all n lanes of g
// at stride k are structural zeros, and otherwise -0 becomes +0.
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

// shifted returns o without its first j addresses.
func shifted(o Operand, j int32) Operand {
	if o.Stride == Gather {
		o.Base += j
	} else {
		o.Base += j * o.Stride
	}
	return o
}

// repeat returns operand o of n lanes with each lane k times in a row.
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

// zero returns the slot of a zero derivative: -0 if strong is set, otherwise 0.
func (b *builder) zero(strong bool) int32 {
	if strong {
		return b.constant(math.Copysign(0, -1))
	}
	return b.constant(0)
}

// result returns slots for use as outputs. In strong mode +0 is added, so that no structural zero (-0) leaves the
// program.
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

// depends reports for each slot whether it is varied: whether it depends on inputs of group 0 or, if all is set, of any
// group. It is one forward pass in program order.
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
		case s.Op.Elementary() && !rules.Op(s.Op).Differentiable():
		case s.Op == Call && core.IsPassive(p.Customs[s.K]):
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
