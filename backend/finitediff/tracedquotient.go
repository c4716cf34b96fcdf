package finitediff

import (
	"math"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// The difference quotients over Reals. They are the formulas of nodes, operation
// for operation, so that a replayed program gives the numbers that the engine
// gives. Steps are computed from rules.Finite(x), which carries no derivative.

func constant(v float64) engine.Real { return engine.Real{V: v} }

func add(a, b engine.Real) engine.Real { return core.Apply2(rules.Add, a, b) }
func sub(a, b engine.Real) engine.Real { return core.Apply2(rules.Sub, a, b) }
func mul(a, b engine.Real) engine.Real { return core.Apply2(rules.Mul, a, b) }
func div(a, b engine.Real) engine.Real { return core.Apply2(rules.Div, a, b) }

// fixed returns x without its derivative.
func fixed(x engine.Real) engine.Real { return core.Apply1(rules.Finite, x) }

// tracedStep returns the step over Reals.
func (s *settings) tracedStep(x engine.Real) engine.Real {
	return core.Apply2(rules.Max, mul(constant(s.rel), core.Apply1(rules.Abs, fixed(x))), constant(s.abs))
}

// pin makes a recording hold for the present value of x only.
func pin(x engine.Real) {
	if x.ID != 0 {
		core.Escape(core.OpGuardBits, x, x.V)
	}
}

// stays makes a recording hold only where lo <= x <= hi, as it is now.
func (s *settings) stays(i int, x engine.Real) {
	if !s.bounded || x.ID == 0 {
		return
	}
	lo, hi := s.box(i)
	core.Compare(core.OpGuardLe, x, constant(hi), true)
	core.Compare(core.OpGuardLe, constant(lo), x, true)
}

// clamped returns x with its derivative; a value that rounding moved out of the box is replaced by that of the face.
func (s *settings) clamped(i int, x engine.Real) engine.Real {
	if lo, hi := s.box(i); x.V > hi {
		x = add(x, constant(hi-x.V))
	} else if x.V < lo {
		x = add(x, constant(lo-x.V))
	}
	return x
}

// A tracedNodes is a nodes over Reals: p and q move with x, the widths do not.
type tracedNodes struct {
	nodes
	xp, xq engine.Real // p and q
	width  engine.Real // the denominator of the quotient
}

// regular reports whether d has the nodes of step h without bounds.
func (d *nodes) regular(h float64) bool {
	p := d.x + h
	return p != d.x && d.p == p && (d.kind == onePoint || d.kind == twoPoint && d.q == d.x+(d.x-p))
}

// tracedComponent returns the nodes in component i over Reals.
func (s *settings) tracedComponent(i int, x engine.Real) tracedNodes {
	t := tracedNodes{nodes: s.component(i, x.V)}
	h := s.tracedStep(x)
	if s.method == Backward {
		h = core.Apply1(rules.Neg, h)
	}
	if !t.regular(h.V) {
		pin(x)
		t.xp = s.clamped(i, add(x, constant(t.p-t.x)))
		t.xq = s.clamped(i, add(x, constant(t.q-t.x)))
		t.width = constant(t.denominator())
		return t
	}
	x0 := fixed(x)
	p := add(x0, h)
	t.xp = add(x, h)
	s.stays(i, t.xp)
	if t.kind == onePoint {
		t.xq = x
		t.width = sub(p, x0)
		return t
	}
	back := sub(x0, p)
	t.xq = add(x, back)
	s.stays(i, t.xq)
	t.width = sub(p, add(x0, back))
	return t
}

// denominator returns the denominator of the quotient.
func (d *nodes) denominator() float64 {
	switch d.kind {
	case onePoint:
		return d.p - d.x
	case twoPoint:
		return d.p - d.q
	}
	a, b := d.p-d.x, d.q-d.x
	return b * (b/a - 1)
}

// over returns the quotient over Reals.
func (t *tracedNodes) over(fp, fq, fx engine.Real) engine.Real {
	switch t.kind {
	case onePoint:
		return div(sub(fp, fx), t.width)
	case twoPoint:
		return div(sub(fp, fq), t.width)
	}
	r := (t.q - t.x) / (t.p - t.x)
	return div(sub(mul(constant(r*r), sub(fp, fx)), sub(fq, fx)), t.width)
}

// tracedCall evaluates f at several points over Reals.
type tracedCall struct {
	s      *settings
	f      *engine.Function
	c      engine.Context
	x, at  []engine.Real
	yp, yq []engine.Real
	yx     []engine.Real // f(x), nil until it is needed
	arg    []engine.Real // passed to f, which may write to it
}

func (s *settings) newTracedCall(f *engine.Function, x []engine.Real, c engine.Context) *tracedCall {
	n, m := f.Dims()
	return &tracedCall{s: s, f: f, c: c, x: x, at: append(make([]engine.Real, 0, n), x...),
		yp: make([]engine.Real, m), yq: make([]engine.Real, m), arg: make([]engine.Real, n)}
}

// evaluate writes f(x) to y.
func (t *tracedCall) evaluate(y, x []engine.Real) error {
	copy(t.arg, x)
	return t.f.Within(y, t.arg, t.c)
}

// needs evaluates f(x) where d uses it.
func (t *tracedCall) needs(d *nodes) error {
	if t.yx != nil || d.kind == twoPoint {
		return nil
	}
	t.yx = make([]engine.Real, len(t.yp))
	return t.evaluate(t.yx, t.x)
}

func (t *tracedCall) fx(i int) engine.Real {
	if t.yx == nil {
		return engine.Real{}
	}
	return t.yx[i]
}

// column evaluates f at the nodes in component j, to yp and yq.
func (t *tracedCall) column(j int) (tracedNodes, error) {
	d := t.s.tracedComponent(j, t.x[j])
	if err := t.needs(&d.nodes); err != nil {
		return d, err
	}
	t.at[j] = d.xp
	err := t.evaluate(t.yp, t.at)
	if err == nil && d.kind != onePoint {
		t.at[j] = d.xq
		err = t.evaluate(t.yq, t.at)
	}
	t.at[j] = t.x[j]
	return d, err
}

// tracedGradient computes the gradient over Reals. The context c has been entered.
func (s *settings) tracedGradient(f *engine.Function, y, x []engine.Real, c engine.Context) error {
	if err := s.insideTraced(x); err != nil {
		return err
	}
	t := s.newTracedCall(f, x, c)
	for j := range x {
		d, err := t.column(j)
		if err != nil {
			return err
		}
		y[j] = d.over(t.yp[0], t.yq[0], t.fx(0))
	}
	return nil
}

func (s *settings) insideTraced(x []engine.Real) error {
	if !s.bounded {
		return nil
	}
	v := make([]float64, len(x))
	for i, r := range x {
		v[i] = r.V
	}
	return s.inside(v)
}

// plainPushforward computes the quotient along v over plain numbers, with the nodes of tracedPushforward.
func (s *settings) plainPushforward(w *worker, y0, y, xv []float64) error {
	n := len(w.x)
	x, v := xv[:n], xv[n:]
	if err := s.inside(x); err != nil {
		return err
	}
	d, columns := s.directionNodes(x, v)
	if d.kind != twoPoint || columns {
		copy(w.x, x)
		if err := w.f.Value(y0, w.x); err != nil {
			return err
		}
	}
	if columns {
		return s.byColumns(w, y, y0, x, v, 1)
	}
	s.move(w.x, x, d.p, v)
	if err := w.f.Value(w.yp, w.x); err != nil {
		return err
	}
	if d.kind != onePoint {
		s.move(w.x, x, d.q, v)
		if err := w.f.Value(w.yq, w.x); err != nil {
			return err
		}
	}
	for i := range y {
		y[i] = d.quotient(w.yp[i], w.yq[i], y0[i])
	}
	return nil
}

// directionNodes returns the nodes along v, and reports in columns whether the bounds leave no room for them.
func (s *settings) directionNodes(x, v []float64) (d nodes, columns bool) {
	h := s.along(x, v)
	back, ahead := s.room(x, v)
	return s.method.nodes(0, h, -back, ahead), s.bounded && max(back, ahead) < h/8
}

// tracedPushforward computes J·v over Reals.
func (s *settings) tracedPushforward(f *engine.Function, y, xv []engine.Real, c engine.Context) error {
	n := len(xv) / 2
	x, v := xv[:n], xv[n:]
	if err := s.insideTraced(x); err != nil {
		return err
	}
	values := make([]float64, 2*n)
	for i, r := range xv {
		values[i] = r.V
	}
	t := s.newTracedCall(f, x, c)
	d, columns := s.directionNodes(values[:n], values[n:])
	h := constant(largestStep)
	for i := range x {
		h = core.Apply2(rules.Min, h, div(s.tracedStep(x[i]), core.Apply1(rules.Abs, fixed(v[i]))))
	}
	if s.method == Backward {
		h = core.Apply1(rules.Neg, h)
	}
	if columns {
		return t.byColumns(y, v)
	}
	along := tracedNodes{nodes: d}
	p, q := h, core.Apply1(rules.Neg, h)
	regular := d.regular(h.V)
	if regular {
		along.width = p
		if d.kind == twoPoint {
			along.width = sub(p, q)
		}
	} else {
		for _, r := range xv {
			pin(r)
		}
		p, q = constant(d.p), constant(d.q)
		along.width = constant(d.denominator())
	}
	if err := t.needs(&d); err != nil {
		return err
	}
	if err := t.along(t.yp, p, v, regular); err != nil {
		return err
	}
	if d.kind != onePoint {
		if err := t.along(t.yq, q, v, regular); err != nil {
			return err
		}
	}
	for i := range y {
		y[i] = along.over(t.yp[i], t.yq[i], t.fx(i))
	}
	return nil
}

// along evaluates f at x + h·v.
func (t *tracedCall) along(y []engine.Real, h engine.Real, v []engine.Real, guarded bool) error {
	for i := range t.at {
		t.at[i] = t.x[i]
		if v[i].V == 0 && v[i].ID == 0 {
			continue
		}
		t.at[i] = add(t.x[i], mul(h, v[i]))
		if guarded && t.at[i].V-t.at[i].V == 0 {
			t.at[i] = t.s.clamped(i, t.at[i])
			t.s.stays(i, t.at[i])
		} else if !math.IsNaN(t.at[i].V) && t.s.bounded {
			t.at[i] = t.s.clamped(i, t.at[i])
		}
	}
	return t.evaluate(y, t.at)
}

// byColumns computes J·v as a sum of columns.
func (t *tracedCall) byColumns(y, v []engine.Real) error {
	for i := range y {
		y[i] = engine.Real{}
	}
	for j := range v {
		pin(t.x[j])
		pin(v[j])
	}
	for j, vj := range v {
		if vj.V == 0 && vj.ID == 0 {
			continue
		}
		d, err := t.column(j)
		if err != nil {
			return err
		}
		for i := range y {
			y[i] = add(y[i], mul(d.over(t.yp[i], t.yq[i], t.fx(i)), vj))
		}
	}
	return nil
}
