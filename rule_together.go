package nabla

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
)

// The functions of a rule that compute a value together with a derivative, and what engines keep of them.

// Joins implements core.Joint.
func (c *ruleCall) Joins() bool { return c.r.ValueJVP != nil }

// ValueJVP implements core.Joint.
func (c *ruleCall) ValueJVP(y, ydot, x, xdot []float64) {
	m := len(y)
	both := make([]float64, 2*m)
	c.call("ValueJVP", &c.together, func(out, x, _, xdot []float64) {
		c.r.ValueJVP(out[:m:m], out[m:], x, xdot)
	}, false, both, x, nil, xdot)
	copy(y, both)
	copy(ydot, both[m:])
}

// Pulls implements core.Pullable.
func (c *ruleCall) Pulls() bool { return c.r.ValueVJP != nil }

// Identity implements core.Pullable.
func (c *ruleCall) Identity() any { return c }

// kept returns the identity of c if it keeps pullbacks, nil if it does not.
func (c *ruleCall) kept() any {
	if c.Pulls() {
		return c
	}
	return nil
}

// A rulePullback is a pullback that ValueVJP has returned. The rule has memory of its own, which is compared with that
// of the engine after each call.
type rulePullback struct {
	c          *ruleCall
	f          func(xbar, ybar []float64)
	x, y       []float64
	ownX, ownY []float64 // those of the rule
}

// ValueVJP implements core.Pullable.
func (c *ruleCall) ValueVJP(y, x []float64) core.Pullback { return c.keep(y, x) }

// keep is ValueVJP with a result whose arguments need not be on the heap.
func (c *ruleCall) keep(y, x []float64) *rulePullback {
	defer c.caught("ValueVJP")
	n, m := len(x), len(y)
	all := make([]float64, 2*(n+m))
	p := &rulePullback{c: c, x: all[:n:n], y: all[n : n+m : n+m], ownX: all[n+m : 2*n+m : 2*n+m], ownY: all[2*n+m:]}
	copy(p.x, x)
	copy(p.ownX, x)
	engine.Unwrite(p.ownY)
	p.f = c.r.ValueVJP(p.ownY, p.ownX)
	c.unchanged("ValueVJP", "x", p.x, p.ownX)
	c.written("ValueVJP", p.ownY)
	if p.f == nil {
		c.broken("ValueVJP", "returns no pullback; return a function that adds the derivative times ybar to xbar")
	}
	copy(p.y, p.ownY)
	copy(y, p.ownY)
	return p
}

// Point implements core.Pullback.
func (p *rulePullback) Point() []float64 { return p.x }

// pullbackName names a pullback in messages.
const pullbackName = "the pullback of ValueVJP"

// Pull implements core.Pullback.
func (p *rulePullback) Pull(xbar, ybar []float64) {
	p.c.call(pullbackName, &p.c.pullback, func(out, _, _, d []float64) { p.f(out, d) }, true, xbar, nil, nil, ybar)
	p.c.unchanged(pullbackName, "x", p.x, p.ownX)
	p.c.unchanged(pullbackName, "y", p.y, p.ownY)
}

// Of implements core.Cotangent.
func (t *cotangentRule) Of() any {
	if p, ok := t.of.(core.Pullable); ok && p.Pulls() {
		return p.Identity()
	}
	return nil
}

// ValueBy implements core.Cotangent.
func (t *cotangentRule) ValueBy(p core.Pullback, y, xw []float64) { pullTo(p, y, xw[t.n:]) }

// Of implements core.Cotangent.
func (r *realRule) Of() any { return r.of }

// ValueBy implements core.Cotangent.
func (r *realRule) ValueBy(p core.Pullback, y, xw []float64) { pullTo(p, y, xw[len(p.Point()):]) }

// pullTo writes Jᵀ·w to y.
func pullTo(p core.Pullback, y, w []float64) {
	clear(y)
	if !allZero(w) {
		p.Pull(y, w)
	}
}

// pushAt writes J(x)·v to dst. The value at x is not known.
func pushAt(dst []float64, c core.Custom, x, v []float64) {
	y := lentMemory(c.Outputs(len(x)))
	defer giveBackValue(y)
	if j, ok := c.(core.Joint); ok && j.Joins() {
		j.ValueJVP(y, dst, x, v)
		return
	}
	c.Value(y, x)
	c.JVP(dst, x, y, v)
}

// pullAt adds J(x)ᵀ·w to dst. The value at x is not known.
func pullAt(dst []float64, c core.Custom, x, w []float64) {
	y := lentMemory(c.Outputs(len(x)))
	defer giveBackValue(y)
	if p, ok := c.(core.Pullable); ok && p.Pulls() {
		p.ValueVJP(y, x).Pull(dst, w)
		return
	}
	c.Value(y, x)
	c.VJP(dst, x, y, w)
}
