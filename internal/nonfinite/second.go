package nonfinite

import (
	"math"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// Second derivatives in forward over reverse mode: the derivatives of all numbers along an input are followed forward,
// and the cotangents with their derivatives along that input backward.

// structural is a derivative that is zero because there is no dependence.
var structural = math.Copysign(0, -1)

// A bend is a cotangent with its derivative along an input and, if that is not finite, the operation that made it so.
type bend struct {
	bar, dot float64
	blame    cause
}

// A cause is a term of the derivative of a cotangent that is not finite though its factors are.
type cause struct {
	id       int32   // result of the operation
	arg      int32   // operand whose cotangent has the term
	other    int32   // operand whose derivative is a factor; -1 if it is not told or the term has none
	out, tan float64 // cotangent of the result, or its derivative if other is -1; derivative of operand other
}

// second returns the operation at which a second derivative of an output first stopped being finite, or nil. Values and
// first derivatives are finite.
func (o *observer) second(name string, ys []engine.Real) (found *Finding, err error) {
	defer func() { engine.Recovered(name, recover(), &err) }()
	dots := make([]float64, o.n+1+len(o.ops))
	bends := make([]bend, len(dots))
	for i := range o.n {
		o.push(dots, i)
		for k, y := range ys {
			if y.ID == 0 || core.IsStructuralZero(dots[y.ID]) {
				continue
			}
			if j, c := o.pull(bends, dots, y.ID); c != nil {
				f := &Finding{Output: k, Derivative: true, Second: true, Input: j, Input2: i, Arg: int(c.arg),
					Arg2: int(c.other), Cotangent: c.out, Tangent: c.tan}
				return o.describe(f, c.id), nil
			}
		}
	}
	return nil, nil
}

// push sets dots to the derivatives of all numbers with respect to an input.
func (o *observer) push(dots []float64, input int) {
	for i := range dots[:o.n+1] {
		dots[i] = structural
	}
	dots[input+1] = 1
	for k := 0; k < len(o.ops); k++ {
		e, id := &o.ops[k], o.n+1+k
		switch {
		case e.call > 0:
			c := &o.calls[e.call-1]
			copy(dots[id:], core.PushCall(c.rule, c.x, c.y, at(dots, c.args)))
			k += len(c.y) - 1
		case core.IsStructuralZero(dots[e.a]) && core.IsStructuralZero(dots[e.b]):
			dots[id] = structural
		case e.op.Choice():
			if dots[id] = dots[e.a]; rules.Chosen(e.op, e.av, e.bv) == 1 {
				dots[id] = dots[e.b]
			}
		default:
			dots[id] = core.Push(e.op, core.Dual{V: e.av, D: dots[e.a]}, core.Dual{V: e.bv, D: dots[e.b]}, e.v)
		}
	}
}

// at returns the elements of list with the given numbers.
func at(list []float64, ids []int32) []float64 {
	out := make([]float64, len(ids))
	for i, id := range ids {
		out[i] = list[id]
	}
	return out
}

// pull computes the cotangents for the output with the given number, and their derivatives along the input that dots
// belong to. It returns the first input whose second derivative is not finite, and the cause.
func (o *observer) pull(bends []bend, dots []float64, output int32) (int, *cause) {
	for i := range bends {
		bends[i] = bend{bar: structural, dot: structural}
	}
	bends[output].bar = 1
	for id := int(output); id > o.n; id-- {
		e := &o.ops[id-o.n-1]
		if e.call > 0 {
			c := &o.calls[e.call-1]
			o.pullCall(c, bends, dots)
			id = int(c.first)
			continue
		}
		b := &bends[id]
		if core.IsStructuralZero(b.bar) {
			continue
		}
		if e.op.Choice() {
			to, arg := e.a, int32(0)
			if rules.Chosen(e.op, e.av, e.bv) == 1 {
				to, arg = e.b, 1
			}
			bends[to].add(b, cause{int32(id), arg, -1, b.dot, 0}, b.bar, b.dot)
			continue
		}
		for i, a := range []int32{e.a, e.b}[:e.op.Arity()] {
			if a == 0 || rules.Partial(e.op, i) == nil {
				continue
			}
			x, y := core.Dual{V: e.av, D: dots[e.a]}, core.Dual{V: e.bv, D: dots[e.b]}
			bar := e.times(b.bar, i) + 0
			dot := core.PullAlong(e.op, i, x, y, core.Dual{V: e.v, D: dots[id]}, core.Dual{V: b.bar, D: b.dot})
			c := cause{}
			if !finite(dot) && finite(b.dot) {
				c = e.cause(int32(id), i, x, y, b)
			}
			bends[a].add(b, c, bar, dot)
		}
	}
	for j := range o.n {
		if b := &bends[j+1]; !finite(b.dot) {
			return j, &b.blame
		}
	}
	return 0, nil
}

// only returns the value v with the derivative d if is is set.
func only(is bool, v, d float64) core.Dual {
	if is {
		return core.Dual{V: v, D: d}
	}
	return core.Dual{V: v, D: structural}
}

// cause returns the term of the derivative of a cotangent that is not finite: with the derivative of operand x or y, or
// with that of the cotangent of the result, in the contribution to operand arg.
func (e *op) cause(id int32, arg int, x, y core.Dual, b *bend) cause {
	for k, d := range [2]core.Dual{x, y} {
		if core.IsStructuralZero(d.D) {
			continue
		}
		x, y := only(k == 0, x.V, d.D), only(k == 1, y.V, d.D)
		v := core.Dual{V: e.v, D: core.Push(e.op, x, y, e.v)}
		if !finite(core.PullAlong(e.op, arg, x, y, v, core.Dual{V: b.bar, D: structural})) {
			return cause{id, int32(arg), int32(k), b.bar, d.D}
		}
	}
	return cause{id, int32(arg), -1, b.dot, 0}
}

// add adds bar and dot, of an operation whose result has the cotangent from, to those of an operand. c is to blame if
// dot is not finite.
func (b *bend) add(from *bend, c cause, bar, dot float64) {
	was := finite(b.dot)
	b.bar += bar
	b.dot += dot
	switch {
	case finite(b.dot) || !was:
	case !finite(from.dot):
		b.blame = from.blame
	default:
		b.blame = c
	}
}

// pullCall adds the contributions of the outputs of a call to the cotangents of its arguments and their derivatives.
func (o *observer) pullCall(c *call, bends []bend, dots []float64) {
	m := len(c.y)
	bar, dot := make([]float64, m), make([]float64, m)
	from, zero := &bend{}, true
	for i := range bar {
		b := &bends[int(c.first)+i]
		bar[i], dot[i] = b.bar, b.dot
		zero = zero && core.IsStructuralZero(b.bar)
		if finite(from.dot) && !finite(b.dot) {
			from = b
		}
	}
	if zero {
		return
	}
	w := make([]float64, m)
	for i, v := range bar {
		w[i] = v + 0
	}
	xbar := make([]float64, len(c.x))
	c.rule.VJP(xbar, c.x, c.y, w)
	xdot := at(dots, c.args)
	xbardot := core.PullAlongCall(c.rule, c.x, c.y, bar, xdot, dots[c.first:][:m], dot)
	for j, a := range c.args {
		if a == 0 {
			continue
		}
		why := cause{}
		if !finite(xbardot[j]) && finite(from.dot) && finite(bends[a].dot) {
			why = c.cause(j, bar, dot, xdot)
		}
		bends[a].add(from, why, xbar[j]+0, xbardot[j])
	}
}

// cause is [op.cause] for the contribution to argument arg of a rule, whose outputs have the cotangents bar with the
// derivatives dot.
func (c *call) cause(arg int, bar, dot, xdot []float64) cause {
	one := func(v []float64) float64 { // if there is one output
		if len(v) == 1 {
			return v[0]
		}
		return 0
	}
	alone, none := make([]float64, len(xdot)), make([]float64, len(dot))
	for i := range alone {
		alone[i] = structural
	}
	for i := range none {
		none[i] = structural
	}
	for k, d := range xdot {
		if core.IsStructuralZero(d) {
			continue
		}
		alone[k] = d
		ydot := core.PushCall(c.rule, c.x, c.y, alone)
		if !finite(core.PullAlongCall(c.rule, c.x, c.y, bar, alone, ydot, none)[arg]) {
			return cause{c.first, int32(arg), int32(k), one(bar), d}
		}
		alone[k] = structural
	}
	return cause{c.first, int32(arg), -1, one(dot), 0}
}
