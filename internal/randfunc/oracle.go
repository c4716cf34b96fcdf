package randfunc

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// An Oracle holds the value and the first and second derivatives of a program at a point, computed in forward mode by
// code that shares only package rules with the engines, and bounds on the rounding errors. An engine that adds and
// multiplies in another order may differ within these bounds.
type Oracle struct {
	Y      []float64   // the outputs
	Grad   [][]float64 // gradient of each output
	Hess   [][]float64 // Hessian of each output, n×n by rows
	Scale  [][]float64 // Grad with magnitudes of all terms: rounding errors of Grad are small multiples of eps·Scale
	Scale2 [][]float64 // the same for Hess
	Err    []float64   // approximate bound on the rounding error of each output
	Smooth bool        // no nested derivative was evaluated; otherwise Hess lacks terms
	Big    bool        // a factor is so large or small that products in another order may overflow or underflow
}

// Oracle evaluates p and its derivatives at x. It allocates several n×n matrices for each operation.
func (p *Prog) Oracle(x []float64) *Oracle {
	n := len(x)
	g := &oracle{n: n}
	in := make([]dual, n)
	for i, v := range x {
		in[i] = g.variable(v, i)
	}
	y := make([]dual, p.M)
	run[dual](g, p, y, in, nil)
	o := &Oracle{Smooth: !g.inner, Big: g.big}
	for _, v := range y {
		if v.grad == nil {
			c := g.zero(v.v)
			c.bound = v.bound
			v = c
		}
		o.Y = append(o.Y, v.v)
		o.Grad = append(o.Grad, v.grad)
		o.Hess = append(o.Hess, v.hess)
		o.Scale = append(o.Scale, v.gradAbs)
		o.Scale2 = append(o.Scale2, v.hessAbs)
		o.Err = append(o.Err, v.bound)
	}
	return o
}

// A dual is a number with its gradient and Hessian with respect to the n inputs. All slices are nil for a number that
// depends on no input. depends[k] is false if the number does not depend on input k, so that the derivative is a
// structural zero: its product with an infinite factor is 0. gradAbs and hessAbs hold the sums of the magnitudes of the
// terms whose sums are grad and hess. Hessians are stored by rows.
type dual struct {
	v             float64
	bound         float64 // bound on the error of v
	depends       []bool
	grad, gradAbs []float64
	hess, hessAbs []float64
}

// An oracle is the algebra of duals with n inputs.
type oracle struct {
	n     int
	inner bool // a nested derivative was evaluated
	big   bool // see [Oracle.Big]
}

// hugeFactor bounds the magnitudes of partial derivatives from above, and its reciprocal bounds them from below, where
// products of a few of them neither overflow nor underflow.
const hugeFactor = 1e50

// eps is the distance from 1 to the next float64.
const eps = 0x1p-52

// zero returns a dual with the value v and all derivatives structurally zero.
func (g *oracle) zero(v float64) dual {
	n := g.n
	return dual{
		v:       v,
		depends: make([]bool, n),
		grad:    make([]float64, n),
		gradAbs: make([]float64, n),
		hess:    make([]float64, n*n),
		hessAbs: make([]float64, n*n),
	}
}

// variable returns the dual of input i with the value v.
func (g *oracle) variable(v float64, i int) dual {
	x := g.zero(v)
	x.depends[i], x.grad[i], x.gradAbs[i] = true, 1, 1
	return x
}

func (g *oracle) constant(c float64) dual        { return dual{v: c} }
func (g *oracle) value(a dual) float64           { return a.v }
func (g *oracle) toInt(a dual) int               { return int(a.v) }
func (g *oracle) compare(c Cond, a, b dual) bool { return decide(c, a.v, b.v, 0, 0) }

func (g *oracle) where(c Cond, a, b, yes, no dual) dual {
	if c == NaN {
		c = NotLt
	}
	if decide(c, a.v, b.v, yes.v, no.v) {
		return yes
	}
	return no
}

func (g *oracle) composite(*Stmt, []dual) (dual, bool) { return dual{}, false }

// apply returns op of args with derivatives by the chain rule to second order. An argument that op chooses, as Max
// does, is returned with its derivatives.
func (g *oracle) apply(op rules.Op, args []dual) dual {
	var v [3]float64
	for i := range args {
		v[i] = args[i].v
	}
	value := valueOf(op, v[:len(args)])
	if op.Choice() {
		c := args[rules.Chosen(op, v[0], v[1])]
		c.v = value
		return c
	}
	out := g.zero(value)
	active := false
	var p [3]float64
	for i := range args {
		if args[i].grad == nil || rules.Partial(op, i) == nil {
			continue
		}
		active = true
		p[i] = partial(op, i, v[:len(args)], value)
		g.add(&out, &args[i], p[i], op)
		out.bound += math.Abs(p[i]) * args[i].bound
		if q := math.Abs(p[i]); q > hugeFactor && !math.IsInf(q, 1) || q != 0 && q < 1/hugeFactor {
			g.big = true
		}
		if op == rules.Div && i == 1 && v[1] != 0 && math.IsInf(1/v[1], 0) { // p[1] has the factor 1/v[1]
			g.big = true
		}
		if (op == rules.Mod || op == rules.Remainder) && math.Abs(v[0]) > 1e8*math.Abs(v[1]) { // dense jumps
			g.big = true
		}
	}
	out.bound += 4 * eps * math.Abs(value)
	if !active {
		return dual{v: value, bound: out.bound}
	}
	for i := range args {
		for j := range args {
			if args[i].grad == nil || args[j].grad == nil || rules.Partial(op, i) == nil {
				continue
			}
			g.second(&out, op, i, j, args, value)
		}
	}
	return out
}

// add adds p times the first and second derivatives of a to those of out, where p is the partial derivative of op with
// respect to a.
func (g *oracle) add(out, a *dual, p float64, op rules.Op) {
	for k := range g.n {
		if !a.depends[k] {
			continue
		}
		if op == rules.Add { // a sum has no factors
			out.grad[k] += a.grad[k]
		} else {
			out.grad[k] += p * a.grad[k]
		}
		out.depends[k] = true
		out.gradAbs[k] += math.Abs(p) * a.gradAbs[k]
	}
	for k := range a.hess {
		if a.hessAbs[k] != 0 {
			out.hess[k] += p * a.hess[k]
			out.hessAbs[k] += math.Abs(p) * a.hessAbs[k]
		}
	}
}

// second adds to the Hessian of out the terms with ∂²op/∂aᵢ∂aⱼ, times the gradients of arguments i and j. The second
// partial derivative is the derivative of the expression of ∂op/∂aᵢ along argument j.
func (g *oracle) second(out *dual, op rules.Op, i, j int, args []dual, v float64) {
	d := make([]lineDual, len(args))
	for k := range args {
		d[k].value = args[k].v
	}
	d[j].deriv, d[j].derivAbs, d[j].depends = 1, 1, true
	e := rules.Partial(op, i)
	r := eval(e, d, applyLine(op, d))
	if !r.depends {
		return
	}
	for k := range g.n {
		for l := range g.n {
			if args[i].depends[k] && args[j].depends[l] {
				out.hess[k*g.n+l] += r.deriv * args[i].grad[k] * args[j].grad[l]
				out.hessAbs[k*g.n+l] += r.derivAbs * args[i].gradAbs[k] * args[j].gradAbs[l]
			}
		}
	}
}

// valueOf returns op of the numbers a.
func valueOf(op rules.Op, a []float64) float64 {
	switch len(a) {
	case 1:
		return rules.Value1(op, a[0])
	case 2:
		return rules.Value2(op, a[0], a[1])
	}
	return rules.Value3(op, a[0], a[1], a[2])
}

// partial returns the partial derivative of op with respect to argument i at a, where op has the value v.
func partial(op rules.Op, i int, a []float64, v float64) float64 {
	switch {
	case len(a) == 1:
		return rules.Partial1(op, a[0], v)
	case len(a) == 2 && i == 0:
		return rules.PartialX2(op, a[0], a[1], v)
	case len(a) == 2:
		return rules.PartialY2(op, a[0], a[1], v)
	}
	return []float64{a[1], a[0], 1}[i] // FMA
}

// A lineDual is a value that depends on one variable, with the derivative with respect to it. derivAbs is the sum of
// the magnitudes of the terms whose sum is deriv. depends is false if deriv is a structural zero.
type lineDual struct {
	value, deriv, derivAbs float64
	depends                bool
}

// eval evaluates e, the expression of a partial derivative of an operation with the arguments args and the result v.
func eval(e *rules.Expr, args []lineDual, v lineDual) lineDual {
	switch e.Kind {
	case rules.Num:
		return lineDual{value: e.Num}
	case rules.ArgX:
		return args[0]
	case rules.ArgY:
		return args[1]
	case rules.ArgZ:
		return args[2]
	case rules.ArgV:
		return v
	}
	a := make([]lineDual, len(e.Args))
	for i := range a {
		a[i] = eval(e.Args[i], args, v)
	}
	return applyLine(e.Op, a)
}

// applyLine returns op of args, with the derivative by the chain rule.
func applyLine(op rules.Op, args []lineDual) lineDual {
	a := make([]float64, len(args))
	for i := range a {
		a[i] = args[i].value
	}
	r := lineDual{value: valueOf(op, a)}
	if op.Choice() {
		i := 2
		switch {
		case op != rules.Select:
			i = rules.Chosen(op, a[0], a[1])
		case a[0] != 0:
			i = 1
		}
		r = args[i]
		return r
	}
	for i := range args {
		if !args[i].depends || rules.Partial(op, i) == nil {
			continue
		}
		p := partial(op, i, a, r.value)
		r.deriv += p * args[i].deriv
		r.derivAbs += math.Abs(p) * args[i].derivAbs
		r.depends = true
	}
	return r
}

// grad returns the component s.K of the gradient of s.Sub at a, with captured numbers caps, and its gradient: a row of
// the Hessian of s.Sub times the gradients of a and caps. The Hessian of the result would need third derivatives of
// s.Sub; it is left at zero, and g.inner is set.
func (g *oracle) grad(s *Stmt, a, caps []dual) dual {
	g.inner = true
	all := append(append([]dual(nil), a...), caps...)
	in := &oracle{n: len(all)}
	x := make([]dual, len(all))
	for i := range all {
		x[i] = in.variable(all[i].v, i)
	}
	y := make([]dual, 1)
	run[dual](in, s.Sub, y, x[:len(a)], x[len(a):])
	r := y[0]
	if r.grad == nil || !r.depends[s.K] {
		return dual{}
	}
	out := g.zero(r.grad[s.K])
	out.bound = 1e-13 * r.gradAbs[s.K]
	g.big = g.big || in.big
	for j := range all {
		h, ah := r.hess[s.K*in.n+j], r.hessAbs[s.K*in.n+j]
		out.bound += ah * all[j].bound
		if all[j].grad == nil || ah == 0 {
			continue
		}
		for k := range g.n {
			if all[j].depends[k] {
				out.grad[k] += h * all[j].grad[k]
				out.gradAbs[k] += ah * all[j].gradAbs[k]
				out.depends[k] = true
			}
		}
	}
	return out
}

// box returns s.Sub of a. If an argument depends on an input, so does the result: the trace of the engine does not see
// inside, so that zeros of the inner derivative are computed numbers, and their product with an infinite derivative of
// an argument is NaN.
func (g *oracle) box(s *Stmt, a []dual) dual {
	y := make([]dual, 1)
	run[dual](g, s.Sub, y, a, nil)
	r := g.zero(y[0].v)
	r.bound = y[0].bound
	active := false
	for k := range g.n {
		for i := range a {
			r.depends[k] = r.depends[k] || a[i].grad != nil && a[i].depends[k]
		}
		active = active || r.depends[k]
	}
	if !active {
		return dual{v: r.v, bound: r.bound}
	}
	if y[0].grad != nil {
		copy(r.grad, y[0].grad)
		copy(r.gradAbs, y[0].gradAbs)
		copy(r.hess, y[0].hess)
		copy(r.hessAbs, y[0].hessAbs)
	}
	for k := range g.n {
		for i := range a {
			if a[i].grad != nil && a[i].depends[k] {
				r.gradAbs[k] += 0 * a[i].gradAbs[k] // 0 times infinity must be NaN
			}
		}
	}
	for i := range a {
		for k := range a[i].hessAbs {
			r.hessAbs[k] += 0 * a[i].hessAbs[k]
		}
	}
	return r
}
