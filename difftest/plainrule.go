package difftest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// CheckPlainRule checks a rule that is declared for plain functions too, by
//
//	//nabla:rule rule=myRule
//	//nabla:differentiate
//	func my(y, x []float64)
//
// in both worlds: r with [CheckRule], and f, which is my or a function that calls it, of type func(y, x []float64) or
// func(x []float64) float64, with each backend. f must return the same numbers as r.Value, and have the derivatives of
// r: its first derivatives are compared with those of r, and its second derivatives with differences of the first
// derivatives of r. Backends are those for generated code and those that record.
func CheckPlainRule(t T, r nabla.Rule, f any, backends []nabla.Backend, points ...[]float64) {
	t.Helper()
	CheckRule(t, r, points...)
	p := plainFunction(f)
	if p == nil {
		t.Errorf("rule %s: the function is a %T, want a func(y, x []float64) or a func(x []float64) float64", r.Name, f)
		return
	}
	if r.Value == nil || r.JVP == nil && r.VJP == nil && r.ValueJVP == nil && r.ValueVJP == nil {
		return // CheckRule has reported that, or generated code has no derivatives of it
	}
	for _, x := range points {
		c := &ruleChecker{t: t, r: r, x: slices.Clone(x), reported: map[string]bool{}}
		c.label = fmt.Sprintf("the function of rule %s at %v", r.Name, x)
		c.checkPlain(p, backends)
	}
}

// A plainRule is a function for plain numbers of one of the types that CheckPlainRule takes.
type plainRule struct {
	value func(y, x []float64)
	// jacobian and hessian return derivatives of f with m outputs, the second ones weighted.
	jacobian func(b nabla.Backend, m int, x []float64) (mat.Matrix, error)
	hessian  func(b nabla.Backend, x, w []float64) (mat.Symmetric, error)
}

// plainFunction returns f in the form that is checked, nil if it has another type.
func plainFunction(f any) *plainRule {
	switch f := f.(type) {
	case func(y, x []float64):
		return &plainRule{f,
			func(b nabla.Backend, m int, x []float64) (mat.Matrix, error) {
				return nabla.Jacobian(nabla.InPlace(m, f), b, x)
			},
			func(b nabla.Backend, x, w []float64) (mat.Symmetric, error) {
				return nabla.WeightedHessian(nabla.InPlace(len(w), f), b, x, w)
			},
		}
	case func(x []float64) float64:
		return &plainRule{func(y, x []float64) { y[0] = f(x) },
			func(b nabla.Backend, _ int, x []float64) (mat.Matrix, error) {
				g, err := nabla.Gradient(f, b, x)
				if err != nil {
					return nil, err
				}
				return mat.NewDense(1, len(x), g), nil
			},
			func(b nabla.Backend, x, w []float64) (mat.Symmetric, error) {
				h, err := nabla.Hessian(f, b, x)
				if err != nil {
					return nil, err
				}
				var s mat.SymDense
				s.ScaleSym(w[0], h)
				return &s, nil
			},
		}
	}
	return nil
}

// checkPlain compares f with the rule at the point.
func (c *ruleChecker) checkPlain(f *plainRule, backends []nabla.Backend) {
	if !c.checkOut() {
		return
	}
	value := form{name: "Value", forward: true, call: func(out, x, _, _ []float64) { c.r.Value(out, x) }}
	first, ok := c.run(value, c.x, nil, nil)
	if !ok {
		return
	}
	c.y = first.out
	y := make([]float64, c.m)
	if !c.callRecovered("it", func() { f.value(y, slices.Clone(c.x)) }) {
		return
	}
	for i, v := range y {
		if math.Float64bits(v) != math.Float64bits(c.y[i]) {
			c.failf("value", "its result %d is %v, and Value gives %v; let it call Value", i, v, c.y[i])
			return
		}
	}
	g := c.forms()[0]
	jac, ok := c.jacobian(g)
	if !ok {
		return
	}
	w := zigzag(c.m)
	hessian, off := c.weightedHessian(g, w)
	for _, b := range backends {
		c.checkDerivatives(f, b, g.name, jac, hessian, off, w)
	}
}

// weightedHessian returns the derivatives of Jᵀ·w by differences of the first derivatives g, row by row, and their
// errors.
func (c *ruleChecker) weightedHessian(g form, w []float64) (h, off []float64) {
	n := len(c.x)
	h, off = make([]float64, n*n), make([]float64, n*n)
	for j, v := range c.x {
		d, e, ok := slope(n, step(v), func(dst []float64, at float64) bool {
			p := *c
			p.x, p.y = slices.Clone(c.x), make([]float64, c.m)
			p.x[j] = v + at
			if !c.callRecovered("Value", func() { c.r.Value(p.y, slices.Clone(p.x)) }) {
				return false
			}
			jac, ok := p.jacobian(g)
			for k := range dst {
				dst[k] = 0
				for i, a := range w {
					if ok {
						dst[k] += a * jac[i*n+k]
					}
				}
			}
			return ok
		})
		for k := range n {
			off[k*n+j] = math.Inf(1)
			if ok {
				h[k*n+j], off[k*n+j] = d[k], e[k]
			}
		}
	}
	return h, off
}

// checkDerivatives compares the derivatives of f by a backend with jac, which name computes, and hessian, which has
// errors of about off.
func (c *ruleChecker) checkDerivatives(f *plainRule, b nabla.Backend, name string, jac, hessian, off, w []float64) {
	n := len(c.x)
	got, err := f.jacobian(b, c.m, slices.Clone(c.x))
	if err != nil {
		c.failf("first by "+b.Name(), "no derivatives by %s: %v", b.Name(), err)
		return
	}
	for i := range c.m {
		size := 0.0
		for j := range n {
			size = max(size, math.Abs(jac[i*n+j]))
		}
		for j := range n {
			if a, want := got.At(i, j), jac[i*n+j]; !(math.Abs(a-want) <= 1e-12*size) {
				c.failf("first by "+b.Name(), "%s has ∂y[%d]/∂x[%d] = %v, and %s gives %v; give the function the "+
					"directive //nabla:rule rule= with this rule, and run nabla gen", b.Name(), i, j, a, name, want)
				return
			}
		}
	}
	second, err := f.hessian(b, slices.Clone(c.x), slices.Clone(w))
	if err != nil {
		c.failf("second by "+b.Name(), "no second derivatives by %s: %v", b.Name(), err)
		return
	}
	size := 0.0
	for _, v := range hessian {
		size = max(size, math.Abs(v))
	}
	for i := range n {
		for j := range n {
			a, want, e := second.At(i, j), hessian[i*n+j], off[i*n+j]
			if math.IsInf(e, 1) {
				c.failf("differences", "differences of %s find no second derivatives, so that nothing is compared "+
					"with them; choose a point where the rule is smooth", name)
				return
			}
			if !(math.Abs(a-want) <= agreement*size+10*e) {
				c.failf("second by "+b.Name(), "%s has the second derivative %v with respect to x[%d] and x[%d], and "+
					"differences of %s give %v", b.Name(), a, i, j, name, want)
				return
			}
		}
	}
}
