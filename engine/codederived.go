package engine

import (
	"cmp"

	"github.com/nabla-ad/nabla/internal/core"
)

// This file builds the generated code of derived functions (gradient, pushforward, weighted sum) from that of the
// function they derive from. A zero in a direction is a structural zero: along and core.Seeds keep it from turning
// infinite partials into NaN. An output count that changes between calls ends the call in same.

// derive returns the generated code of a function called name, which from builds from the code of g for n inputs. It
// returns nil if g is nil. order is the largest order of derivatives of g that from needs: if that is 2, the reason why
// g has no second derivatives is the reason for whatever is missing.
func (g *Generated) derive(name string, n, order int, from func(c Code) Code) *Generated {
	if g == nil {
		return nil
	}
	d := &Generated{Name: name, Refused: g.Refused, RefusedTangent: g.RefusedTangent, RefusedSecond: g.RefusedSecond,
		RefusedTraced: g.RefusedTraced, New: func() Code { return from(g.Code(n)) }}
	if order == 2 {
		d.Refused = cmp.Or(g.RefusedSecond, g.Refused)
		d.RefusedTangent = cmp.Or(g.RefusedSecond, g.RefusedTangent)
	}
	return d
}

// GradientCode returns the generated code of x ↦ (∇f(x), f(x)), nil if f has none: the derivatives of ∇f are products
// of the Hessian, by the tangent of the adjoint of f. The gradient is that of the same sweep. A backend whose gradients
// differ from it passes plain, which writes n+1 outputs over plain numbers: the code then takes the gradient from
// plain, and value and derivatives from the sweep.
func GradientCode(f *Function, plain func(y, x []float64) error) *Generated {
	n, _ := f.Dims()
	return f.Generated().derive("gradient of "+f.Name(), n, 2, func(c Code) Code {
		return gradientCode(c, n).withValues(n+1, n, plain)
	})
}

// PushforwardCode returns the generated code of (x, v) ↦ (J(x)·v, f(x)), nil if f has none. plain is as for
// [GradientCode]; it writes 2m outputs, of which the code takes J·v.
func PushforwardCode(f *Function, plain func(y, x []float64) error) *Generated {
	n, m := f.Dims()
	return f.Generated().derive("pushforward of "+f.Name(), n, 2, func(c Code) Code {
		return pushforwardCode(c, n, m).withValues(2*m, m, plain)
	})
}

// withValues returns c with the first k of m outputs replaced by those of plain, and c itself if plain is nil. An error
// of plain ends the call in a core.Abort.
func (c Code) withValues(m, k int, plain func(y, x []float64) error) Code {
	if plain == nil {
		return c
	}
	values := make([]float64, m)
	replace := func(y, x []float64) {
		if err := plain(values, x); err != nil {
			panic(core.Abort{Err: err})
		}
		copy(y[:k], values)
	}
	var w Code
	if f := c.Tangent; f != nil {
		w.Tangent = func(y, ydot, x, xdot []float64, p any) int {
			outputs := f(y, ydot, x, xdot, p)
			replace(y, x)
			return outputs
		}
	}
	if f := c.Adjoint; f != nil {
		w.Adjoint = func(y, xbar, x, ybar []float64, p any) int {
			outputs := f(y, xbar, x, ybar, p)
			replace(y, x)
			return outputs
		}
	}
	return w
}

// gradientCode returns the code of x ↦ (∇f(x), f(x)) for f of n inputs. Tangent and Adjoint are set, and only if c has
// AdjointTangent: the Jacobian of the gradient is the Hessian, which is symmetric, so that its products with tangents
// and with cotangents are those of AdjointTangent.
func gradientCode(c Code, n int) Code {
	if c.AdjointTangent == nil {
		return Code{}
	}
	one := make([]float64, 1)
	product := func(y, hv, x, v []float64, p any) {
		one[0] = core.Seed(1)
		same(c.AdjointTangent(y[n:], y[:n:n], hv, x, v, one, p), 1)
	}
	return Code{
		Tangent: func(y, ydot, x, xdot []float64, p any) int {
			product(y, ydot[:n:n], x, xdot, p)
			ydot[n] = along(y[:n], xdot)
			return n + 1
		},
		Adjoint: func(y, xbar, x, ybar []float64, p any) int {
			product(y, xbar, x, ybar[:n:n], p)
			if weight := ybar[n]; weight != 0 {
				for i, d := range y[:n] {
					xbar[i] += weight * d
				}
			}
			return n + 1
		},
	}
}

// pushforwardCode returns the code of (x, v) ↦ (J(x)·v, f(x)) for f of n inputs and m outputs, n+n inputs and m+m
// outputs in all. Tangent takes m calls of c.AdjointTangent. It needs c.AdjointTangent; Adjoint also needs c.Adjoint
// and c.Tangent.
func pushforwardCode(c Code, n, m int) Code {
	if c.AdjointTangent == nil {
		return Code{}
	}
	bar, bardot, ybar := make([]float64, n), make([]float64, n), make([]float64, m)
	fy, marks := make([]float64, m), make([]float64, n)
	w := Code{
		// The tangent of output i of J(x)·v along (xdot, vdot) is
		// (J·vdot)ᵢ + xdotᵀ·∇²fᵢ·v.
		Tangent: func(y, ydot, x, xdot []float64, p any) int {
			clear(ybar)
			v := core.Seeds(marks, x[n:])
			for i := range m {
				ybar[i] = core.Seed(1)
				same(c.AdjointTangent(fy, bar, bardot, x[:n:n], v, ybar, p), m)
				ybar[i] = 0
				y[i] = along(bar, v)
				ydot[i] = along(bar, xdot[n:]) + along(bardot, xdot[:n])
				ydot[m+i] = along(bar, xdot[:n])
			}
			copy(y[m:], fy)
			return 2 * m
		},
	}
	if c.Adjoint == nil || c.Tangent == nil {
		return w
	}
	// For cotangents (a, b), xbar = d/dt Jᵀ(x+t·v)·a + Jᵀ·b and vbar = Jᵀ·a.
	w.Adjoint = func(y, xbar, x, ybar []float64, p any) int {
		v := core.Seeds(marks, x[n:])
		same(c.AdjointTangent(y[m:], xbar[n:], xbar[:n:n], x[:n:n], v, ybar[:m:m], p), m)
		same(c.Tangent(fy, y[:m:m], x[:n:n], v, p), m)
		if zero(ybar[m:]) {
			return 2 * m
		}
		same(c.Adjoint(fy, bar, x[:n:n], ybar[m:], p), m)
		for i, v := range bar {
			xbar[i] += v
		}
		return 2 * m
	}
	return w
}

// weightedCode returns the code of (x, w) ↦ Σ wᵢ·fᵢ(x) for f of n inputs and m outputs, which has n+m inputs and one
// output.
func weightedCode(c Code, n, m int) Code {
	fy, fydot, w := make([]float64, m), make([]float64, m), make([]float64, m)
	scaled := func(a float64, v []float64) []float64 {
		for i, x := range v {
			w[i] = a * x
		}
		return w
	}
	var g Code
	if c.Tangent != nil {
		g.Tangent = func(y, ydot, x, xdot []float64, p any) int {
			same(c.Tangent(fy, fydot, x[:n:n], xdot[:n:n], p), m)
			y[0], ydot[0] = dot(x[n:], fy), dot(x[n:], fydot)+along(fy, xdot[n:])
			return 1
		}
	}
	if c.Adjoint == nil {
		return g
	}
	g.Adjoint = func(y, xbar, x, ybar []float64, p any) int {
		same(c.Adjoint(fy, xbar[:n:n], x[:n:n], scaled(ybar[0], x[n:]), p), m)
		y[0] = dot(x[n:], fy)
		for i, v := range fy {
			xbar[n+i] = ybar[0] * v
		}
		return 1
	}
	if c.AdjointTangent == nil || c.Tangent == nil {
		return g
	}
	bar := make([]float64, n)
	g.AdjointTangent = func(y, xbar, xbardot, x, xdot, ybar []float64, p any) int {
		same(c.AdjointTangent(fy, xbar[:n:n], xbardot[:n:n], x[:n:n], xdot[:n:n], scaled(ybar[0], x[n:]), p), m)
		same(c.Tangent(fy, fydot, x[:n:n], xdot[:n:n], p), m)
		for i := range w {
			xbar[n+i], xbardot[n+i] = ybar[0]*fy[i], ybar[0]*fydot[i]
		}
		y[0] = dot(x[n:], fy)
		if zero(xdot[n:]) {
			return 1
		}
		for i, v := range xdot[n:] { // a weight with zero tangent is a structural zero: no ±0 times ybar
			if w[i] = 0; v != 0 {
				w[i] = ybar[0] * v
			}
		}
		same(c.Adjoint(fy, bar, x[:n:n], w, p), m)
		for i, v := range bar {
			xbardot[i] += v
		}
		return 1
	}
	return g
}

// same panics with a core.Abort that holds a *ShapeError if got, the number of outputs of a call of generated code, is
// not want.
func same(got, want int) {
	if got != want {
		panic(core.Abort{Err: &ShapeError{Op: "generated code", Arg: "outputs of f", Got: got, Want: want}})
	}
}

// along returns the product of the derivatives d with the direction v. A zero in v is a strong zero: the product is 0
// even if the derivative is infinite or NaN.
func along(d, v []float64) float64 {
	s := 0.0
	for i, x := range v {
		if x != 0 {
			s += d[i] * x
		}
	}
	return s
}

// dot returns the inner product of a and b, summed in order.
func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// zero reports whether all elements of v are 0.
func zero(v []float64) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}
