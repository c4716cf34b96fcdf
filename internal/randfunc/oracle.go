package randfunc

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// An Oracle is the value and the derivatives of a program at a point, computed
// without any engine, number by number, and bounds on how far another order of
// operations may end from them.
type Oracle struct {
	Y      []float64
	Grad   [][]float64 // by output
	Hess   [][]float64 // by output, n×n
	Scale  [][]float64 // Σ |∂| over all paths: rounding errors are multiples of it
	Scale2 [][]float64 // the same for second derivatives
	Err    []float64   // bound on the rounding error of the value, roughly
	Smooth bool        // no derivative inside
	Big    bool        // a factor so large that another order of products may overflow
}

// Oracle computes p at x.
func (p *Prog) Oracle(x []float64) *Oracle {
	n := len(x)
	g := &oracle{n: n}
	in := make([]num, n)
	for i, v := range x {
		in[i] = g.variable(v, i)
	}
	y := make([]num, p.M)
	run[num](g, p, y, in, nil)
	o := &Oracle{Smooth: !g.inner, Big: g.big}
	for _, v := range y {
		if v.t == nil {
			c := g.zero(v.v)
			c.e = v.e
			v = c
		}
		o.Y = append(o.Y, v.v)
		o.Grad = append(o.Grad, v.t)
		o.Hess = append(o.Hess, v.h)
		o.Scale = append(o.Scale, v.a)
		o.Scale2 = append(o.Scale2, v.ah)
		o.Err = append(o.Err, v.e)
	}
	return o
}

// num is a number with derivatives. Where on is false a derivative is a
// structural zero. All slices are nil for a constant.
type num struct {
	v     float64
	e     float64 // bound on the error of v
	on    []bool
	t, a  []float64
	h, ah []float64
}

type oracle struct {
	n     int
	inner bool
	big   bool
}

// tooBig is far enough from overflow for a few factors.
const tooBig = 1e50

const eps = 0x1p-52

func (g *oracle) zero(v float64) num {
	n := g.n
	return num{v: v, on: make([]bool, n), t: make([]float64, n), a: make([]float64, n), h: make([]float64, n*n),
		ah: make([]float64, n*n)}
}

func (g *oracle) variable(v float64, i int) num {
	x := g.zero(v)
	x.on[i], x.t[i], x.a[i] = true, 1, 1
	return x
}

func (g *oracle) konst(c float64) num           { return num{v: c} }
func (g *oracle) value(a num) float64           { return a.v }
func (g *oracle) toInt(a num) int               { return int(a.v) }
func (g *oracle) compare(c Cond, a, b num) bool { return decide(c, a.v, b.v, 0, 0) }

func (g *oracle) where(c Cond, a, b, yes, no num) num {
	if c == NaN {
		c = NotLt
	}
	if decide(c, a.v, b.v, yes.v, no.v) {
		return yes
	}
	return no
}

func (g *oracle) composite(*Stmt, []num) (num, bool) { return num{}, false }

// apply is the chain rule, to second order.
func (g *oracle) apply(op rules.Op, args []num) num {
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
		if args[i].t == nil || rules.Partial(op, i) == nil {
			continue
		}
		active = true
		p[i] = partial(op, i, v[:len(args)], value)
		g.add(&out, &args[i], p[i], op)
		out.e += math.Abs(p[i]) * args[i].e
		if q := math.Abs(p[i]); q > tooBig && !math.IsInf(q, 1) || q != 0 && q < 1/tooBig {
			g.big = true
		}
		if op == rules.Div && i == 1 && v[1] != 0 && math.IsInf(1/v[1], 0) { // a factor of p[1], which may be 0
			g.big = true
		}
		if (op == rules.Mod || op == rules.Remainder) && math.Abs(v[0]) > 1e8*math.Abs(v[1]) { // jumps everywhere
			g.big = true
		}
	}
	out.e += 4 * eps * math.Abs(value)
	if !active {
		return num{v: value, e: out.e}
	}
	for i := range args {
		for j := range args {
			if args[i].t == nil || args[j].t == nil || rules.Partial(op, i) == nil {
				continue
			}
			g.second(&out, op, i, j, args, value)
		}
	}
	return out
}

// add adds p times the derivatives of a.
func (g *oracle) add(out, a *num, p float64, op rules.Op) {
	for k := range g.n {
		if !a.on[k] {
			continue
		}
		if op == rules.Add { // a sum has no factors
			out.t[k] += a.t[k]
		} else {
			out.t[k] += p * a.t[k]
		}
		out.on[k] = true
		out.a[k] += math.Abs(p) * a.a[k]
	}
	for k := range a.h {
		if a.ah[k] != 0 {
			out.h[k] += p * a.h[k]
			out.ah[k] += math.Abs(p) * a.ah[k]
		}
	}
}

func (g *oracle) second(out *num, op rules.Op, i, j int, args []num, v float64) {
	d := make([]line, len(args))
	for k := range args {
		d[k].v = args[k].v
	}
	d[j].d, d[j].a, d[j].on = 1, 1, true
	e := rules.Partial(op, i)
	r := eval(e, d, lineApply(op, d))
	if !r.on {
		return
	}
	for k := range g.n {
		for l := range g.n {
			if args[i].on[k] && args[j].on[l] {
				out.h[k*g.n+l] += r.d * args[i].t[k] * args[j].t[l]
				out.ah[k*g.n+l] += r.a * args[i].a[k] * args[j].a[l]
			}
		}
	}
}

func valueOf(op rules.Op, a []float64) float64 {
	switch len(a) {
	case 1:
		return rules.Value1(op, a[0])
	case 2:
		return rules.Value2(op, a[0], a[1])
	}
	return rules.Value3(op, a[0], a[1], a[2])
}

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

// line is a number on a line: value, derivative, and the derivative with all
// signs positive.
type line struct {
	v, d, a float64
	on      bool
}

// eval is the derivative expression e along a line.
func eval(e *rules.Expr, args []line, v line) line {
	switch e.Kind {
	case rules.Num:
		return line{v: e.Num}
	case rules.ArgX:
		return args[0]
	case rules.ArgY:
		return args[1]
	case rules.ArgZ:
		return args[2]
	case rules.ArgV:
		return v
	}
	a := make([]line, len(e.Args))
	for i := range a {
		a[i] = eval(e.Args[i], args, v)
	}
	return lineApply(e.Op, a)
}

func lineApply(op rules.Op, args []line) line {
	a := make([]float64, len(args))
	for i := range a {
		a[i] = args[i].v
	}
	r := line{v: valueOf(op, a)}
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
		if !args[i].on || rules.Partial(op, i) == nil {
			continue
		}
		p := partial(op, i, a, r.v)
		r.d += p * args[i].d
		r.a += math.Abs(p) * args[i].a
		r.on = true
	}
	return r
}

// grad is a derivative inside: its value is a gradient, its derivative a row of a
// Hessian. Second derivatives of it are not known here.
func (g *oracle) grad(s *Stmt, a, caps []num) num {
	g.inner = true
	all := append(append([]num(nil), a...), caps...)
	in := &oracle{n: len(all)}
	x := make([]num, len(all))
	for i := range all {
		x[i] = in.variable(all[i].v, i)
	}
	y := make([]num, 1)
	run[num](in, s.Sub, y, x[:len(a)], x[len(a):])
	r := y[0]
	if r.t == nil || !r.on[s.K] {
		return num{}
	}
	out := g.zero(r.t[s.K])
	out.e = 1e-13 * r.a[s.K]
	g.big = g.big || in.big
	for j := range all {
		h, ah := r.h[s.K*in.n+j], r.ah[s.K*in.n+j]
		out.e += ah * all[j].e
		if all[j].t == nil || ah == 0 {
			continue
		}
		for k := range g.n {
			if all[j].on[k] {
				out.t[k] += h * all[j].t[k]
				out.a[k] += ah * all[j].a[k]
				out.on[k] = true
			}
		}
	}
	return out
}

// box is the function itself, but what it does not depend on is not seen from
// outside: its zeros are no structural ones.
func (g *oracle) box(s *Stmt, a []num) num {
	y := make([]num, 1)
	run[num](g, s.Sub, y, a, nil)
	r := g.zero(y[0].v)
	r.e = y[0].e
	active := false
	for k := range g.n {
		for i := range a {
			r.on[k] = r.on[k] || a[i].t != nil && a[i].on[k]
		}
		active = active || r.on[k]
	}
	if !active {
		return num{v: r.v, e: r.e}
	}
	if y[0].t != nil {
		copy(r.t, y[0].t)
		copy(r.a, y[0].a)
		copy(r.h, y[0].h)
		copy(r.ah, y[0].ah)
	}
	for k := range g.n {
		for i := range a {
			if a[i].t != nil && a[i].on[k] {
				r.a[k] += 0 * a[i].a[k] // a zero that meets an infinity is seen
			}
		}
	}
	for i := range a {
		for k := range a[i].ah {
			r.ah[k] += 0 * a[i].ah[k]
		}
	}
	return r
}
