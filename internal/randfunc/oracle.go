package randfunc

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// An Oracle holds the value and the derivatives of a program at a point, computed without any engine, and bounds on the
// deviation of other orders of operations.
type Oracle struct {
	Y      []float64
	Grad   [][]float64 // by output
	Hess   [][]float64 // by output, n×n
	Scale  [][]float64 // Σ |∂| over all paths: rounding errors are multiples of it
	Scale2 [][]float64 // the same for second derivatives
	Err    []float64   // approximate bound on the rounding error of the value
	Smooth bool        // no nested derivative
	Big    bool        // a factor is so large that another order of products may overflow
}

// Oracle evaluates p at x.
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

// A dual is a number with first and second derivatives. If depends is false, a derivative is a structural zero. All
// slices are nil for a constant. gradAbs and hessAbs are sums of the magnitudes of the terms of grad and hess.
type dual struct {
	v             float64
	bound         float64 // bound on the error of v
	depends       []bool
	grad, gradAbs []float64
	hess, hessAbs []float64
}

// An oracle is the algebra of duals with n inputs.
type oracle struct {
	n int
	// a nested derivative was evaluated
	inner bool
	// see [Oracle.Big]
	big bool
}

// hugeFactor is so far from overflow that a few factors of its size do not overflow.
const hugeFactor = 1e50

// eps is the distance from 1 to the next float64.
const eps = 0x1p-52

// zero returns v with all derivatives structurally zero.
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

// variable returns input i with the value v.
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

// apply applies op by the chain rule, to second order.
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
		if op == rules.Div && i == 1 && v[1] != 0 && math.IsInf(1/v[1], 0) { // a factor of p[1], whose product may be 0
			g.big = true
		}
		if (op == rules.Mod || op == rules.Remainder) && math.Abs(v[0]) > 1e8*math.Abs(v[1]) { // jumps everywhere
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

// add adds p times the derivatives of a to out.
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

// second adds the second partial derivative with respect to arguments i and j to out.
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

// valueOf returns op of plain numbers.
func valueOf(op rules.Op, a []float64) float64 {
	switch len(a) {
	case 1:
		return rules.Value1(op, a[0])
	case 2:
		return rules.Value2(op, a[0], a[1])
	}
	return rules.Value3(op, a[0], a[1], a[2])
}

// partial returns partial derivative i of op at a, where the value is v.
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

// A lineDual is a number on a line: value, derivative along it, and the derivative with all signs positive.
type lineDual struct {
	value, deriv, derivAbs float64
	depends                bool
}

// eval evaluates the derivative expression e along a line.
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

// applyLine returns op of numbers on a line, by the chain rule.
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

// grad evaluates a nested derivative: its value is a gradient, its derivative a row of a Hessian. Its second
// derivatives are not computed.
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

// box evaluates a function that is differentiated separately. Its zeros are computed, not structural, since its
// dependences are not visible from outside.
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
