package difftest

import (
	"fmt"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/engine"
)

// valueJVP is the tangent of ValueJVP, whose value is compared with y.
func (c *ruleChecker) valueJVP(out, x, y, d []float64) {
	v := make([]float64, len(y))
	engine.Unwrite(v)
	c.r.ValueJVP(v, out, x, d)
	c.sameValue("ValueJVP", v, x, y)
}

// valueVJP is the pullback of ValueVJP, whose value is compared with y. As in an engine, it has memory of its own.
func (c *ruleChecker) valueVJP(out, x, y, d []float64) {
	v := make([]float64, len(y))
	engine.Unwrite(v)
	pull := c.r.ValueVJP(v, x)
	c.sameValue("ValueVJP", v, x, y)
	was := slices.Clone(v)
	pull(out, d)
	if i := differs(was, v); i >= 0 {
		panic(fmt.Sprintf("its pullback writes to y, which it may only read: element %d was %v and is %v", i, was[i],
			v[i]))
	}
}

// sameValue panics unless v, the value by a function of the rule, is y, the value at c.x. Values at other points are
// not compared.
func (c *ruleChecker) sameValue(name string, v, x, y []float64) {
	if i := engine.Unwritten(v); i >= 0 {
		panic(fmt.Sprintf("it does not write output %d of %d to y", i, len(v)))
	}
	if len(y) == 0 || len(c.y) == 0 || differs(x, c.x) >= 0 || differs(y, c.y) >= 0 {
		return
	}
	if i := differs(v, y); i >= 0 {
		panic(fmt.Sprintf("%s has the value y[%d] = %v, and Value %v; let both compute it alike, bit for bit", name, i,
			v[i], y[i]))
	}
}

// checkKept requires that a pullback of ValueVJP gives the same numbers when it is called again, and after another one
// has been made at another point and called.
func (c *ruleChecker) checkKept() {
	if c.r.ValueVJP == nil || c.reported["panic ValueVJP"] || c.reported["ValueVJP wrong"] {
		return
	}
	n, name := len(c.x), "the pullback of ValueVJP"
	makeAt := func(x []float64) (pull func(xbar, ybar []float64), ok bool) {
		ok = c.callRecovered("ValueVJP", func() { pull = c.r.ValueVJP(make([]float64, c.m), slices.Clone(x)) })
		return pull, ok
	}
	first, ok := makeAt(c.x)
	if !ok {
		return
	}
	seed := zigzag(c.m)
	var want []float64
	check := func(why string) bool {
		xbar, ybar := make([]float64, n), slices.Clone(seed)
		if !c.callRecovered(name, func() { first(xbar, ybar) }) {
			return false
		}
		if want == nil {
			want = xbar
			return true
		}
		got := slices.Clone(xbar)
		for i := range xbar { // a pullback that keeps its arguments meets these
			xbar[i] = math.Float64frombits(poison)
		}
		for i := range ybar {
			ybar[i] = math.Float64frombits(poison)
		}
		if i := differs(want, got); i >= 0 {
			c.failf(name+" kept", "%s gives %v and then %v as its result %d for the same ybar%s; it must depend "+
				"on x and ybar alone", name, want[i], got[i], i, why)
			return false
		}
		return true
	}
	for range 2 {
		if !check("") {
			return
		}
	}
	other, ok := makeAt(c.perturbed(c.x))
	if !ok || !check(" after ValueVJP has been called at another point") {
		return
	}
	if c.callRecovered(name, func() { other(make([]float64, n), zigzag(c.m)) }) {
		check(" after the pullback of another point has been called")
	}
}
