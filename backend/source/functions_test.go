package source_test

import (
	"math"

	"github.com/nabla-ad/nabla"
)

// The functions of the tests, one in each shape, with code written by hand.

// exact is the value, the Jacobian row by row, and the second derivatives ∂²yᵢ/∂xⱼ∂xₖ
// of a function at one point.
type exact struct{ y, jac, hess []float64 }

// codeOf makes all of a function's code from closed forms.
func codeOf(at func(x []float64, p any) exact) func() nabla.Code {
	times := func(dst, a, v []float64) {
		for i := range dst {
			dst[i] = 0
			for j, x := range v {
				dst[i] += a[i*len(v)+j] * x
			}
		}
	}
	back := func(dst, a, w []float64) {
		for j := range dst {
			dst[j] = 0
			for i, x := range w {
				dst[j] += a[i*len(dst)+j] * x
			}
		}
	}
	return func() nabla.Code {
		return nabla.Code{
			Tangent: func(y, ydot, x, xdot []float64, p any) int {
				e := at(x, p)
				if len(e.y) != len(y) {
					return len(e.y)
				}
				copy(y, e.y)
				times(ydot, e.jac, xdot)
				return len(e.y)
			},
			Adjoint: func(y, xbar, x, ybar []float64, p any) int {
				e := at(x, p)
				if len(e.y) != len(y) {
					return len(e.y)
				}
				copy(y, e.y)
				back(xbar, e.jac, ybar)
				return len(e.y)
			},
			AdjointTangent: func(y, xbar, xbardot, x, xdot, ybar []float64, p any) int {
				e, n := at(x, p), len(x)
				copy(y, e.y)
				back(xbar, e.jac, ybar)
				sum := make([]float64, n*n)
				for i, w := range ybar {
					for k := range sum {
						sum[k] += w * e.hess[i*n*n+k]
					}
				}
				times(xbardot, sum, xdot)
				return len(e.y)
			},
		}
	}
}

// codeOf4 is codeOf with pullbacks of four cotangents, one by one.
func codeOf4(at func(x []float64, p any) exact) func() nabla.Code {
	return func() nabla.Code {
		c := codeOf(at)()
		c.Adjoint4 = func(y []float64, xbar [][4]float64, x []float64, ybar [][4]float64, p any) (outputs int) {
			own, one, out := make([]float64, len(x)), make([]float64, len(ybar)), make([]float64, len(x))
			for k := range 4 {
				copy(own, x)
				for i := range ybar {
					one[i] = ybar[i][k]
				}
				outputs = c.Adjoint(y, out, own, one, p)
				for i := range xbar {
					xbar[i][k] = out[i]
				}
			}
			return outputs
		}
		return c
	}
}

// bell is x·exp(-x²), from a number to a number.
func bell(x float64) float64 { return x * math.Exp(-x*x) }

// helix is a curve.
func helix(t float64) []float64 { return []float64{math.Cos(t), math.Sin(t), t * t} }

// valley is Rosenbrock's function of any number of inputs.
func valley(x []float64) float64 {
	s := 0.0
	for i := 1; i < len(x); i++ {
		a, b := 1-x[i-1], x[i]-x[i-1]*x[i-1]
		s += a*a + 100*b*b
	}
	return s
}

func valleyTangent(y, ydot, x, xdot []float64, _ any) int {
	s, sdot := 0.0, 0.0
	for i := 1; i < len(x); i++ {
		a, b := 1-x[i-1], x[i]-x[i-1]*x[i-1]
		adot, bdot := -xdot[i-1], xdot[i]-2*x[i-1]*xdot[i-1]
		s += a*a + 100*b*b
		sdot += 2*a*adot + 200*b*bdot
	}
	y[0], ydot[0] = s, sdot
	return 1
}

func valleyTangent4(y []float64, ydot [][4]float64, x []float64, xdot [][4]float64, _ any) int {
	s, sdot := 0.0, [4]float64{}
	for i := 1; i < len(x); i++ {
		a, b := 1-x[i-1], x[i]-x[i-1]*x[i-1]
		s += a*a + 100*b*b
		for k := range sdot {
			adot, bdot := -xdot[i-1][k], xdot[i][k]-2*x[i-1]*xdot[i-1][k]
			sdot[k] += 2*a*adot + 200*b*bdot
		}
	}
	y[0], ydot[0] = s, sdot
	return 1
}

func valleyAdjoint(y, xbar, x, ybar []float64, _ any) int {
	s := 0.0
	clear(xbar)
	for i := 1; i < len(x); i++ {
		a, b := 1-x[i-1], x[i]-x[i-1]*x[i-1]
		s += a*a + 100*b*b
		xbar[i] += 200 * b * ybar[0]
		xbar[i-1] -= (2*a + 400*b*x[i-1]) * ybar[0]
	}
	y[0] = s
	return 1
}

func valleyAdjointTangent(y, xbar, xbardot, x, xdot, ybar []float64, _ any) int {
	clear(xbardot)
	for i := 1; i < len(x); i++ {
		b := x[i] - x[i-1]*x[i-1]
		adot, bdot := -xdot[i-1], xdot[i]-2*x[i-1]*xdot[i-1]
		xbardot[i] += 200 * bdot * ybar[0]
		xbardot[i-1] -= (2*adot + 400*bdot*x[i-1] + 400*b*xdot[i-1]) * ybar[0]
	}
	return valleyAdjoint(y, xbar, x, ybar, nil)
}

// ring is yᵢ = xᵢ²·xᵢ₊₁, from numbers to as many.
func ring(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v * v * x[(i+1)%len(x)]
	}
	return y
}

func ringExact(x []float64, _ any) exact {
	n := len(x)
	e := exact{ring(x), make([]float64, n*n), make([]float64, n*n*n)}
	for i, v := range x {
		j := (i + 1) % n
		e.jac[i*n+i] += 2 * v * x[j]
		e.jac[i*n+j] += v * v
		h := e.hess[i*n*n:]
		h[i*n+i] += 2 * x[j]
		h[i*n+j] += 2 * v
		h[j*n+i] += 2 * v
	}
	return e
}

// swirl has two inputs and three outputs, in place, and uses its x as a workspace.
func swirl(y, x []float64) {
	y[2] = x[1] * x[1]
	y[0] = x[0] * x[1]
	x[0] = math.Sin(x[0])
	y[1] = x[0]
}

func swirlExact(x []float64, _ any) exact {
	s, c := math.Sincos(x[0])
	e := exact{
		[]float64{x[0] * x[1], s, x[1] * x[1]},
		[]float64{x[1], x[0], c, 0, 0, 2 * x[1]},
		[]float64{0, 1, 1, 0, -s, 0, 0, 0, 0, 0, 0, 2},
	}
	x[0] = math.NaN() // as generated code may
	return e
}

// table is the data of a least-squares fit.
type table struct {
	rows   [][]float64
	y      []float64
	Weight float64
}

// fit is Σ Weight·(rowᵢ·w - yᵢ)².
func fit(w []float64, t *table) float64 {
	s := 0.0
	for i, r := range t.rows {
		d := -t.y[i]
		for j, v := range r {
			d += v * w[j]
		}
		s += t.Weight * d * d
	}
	return s
}

// Residuals is rowᵢ·w - yᵢ, and Loss is fit, as methods.
func (t *table) Residuals(w []float64) []float64 {
	out := make([]float64, len(t.rows))
	for i, r := range t.rows {
		out[i] = -t.y[i]
		for j, v := range r {
			out[i] += v * w[j]
		}
	}
	return out
}

func (t *table) Loss(w []float64) float64 { return fit(w, t) }

func residualsExact(w []float64, p any) exact {
	t := p.(*table)
	e := exact{y: t.Residuals(w), hess: make([]float64, len(t.rows)*len(w)*len(w))}
	for _, r := range t.rows {
		e.jac = append(e.jac, r...)
	}
	return e
}

func fitExact(w []float64, p any) exact {
	t, n := p.(*table), len(w)
	e := exact{[]float64{0}, make([]float64, n), make([]float64, n*n)}
	for i, r := range t.Residuals(w) {
		e.y[0] += t.Weight * r * r
		for j, v := range t.rows[i] {
			e.jac[j] += 2 * t.Weight * r * v
			for k, u := range t.rows[i] {
				e.hess[j*n+k] += 2 * t.Weight * v * u
			}
		}
	}
	return e
}

type rates struct{ A, B float64 }

// lotka is two species, in place, with a struct.
func lotka(dy, y []float64, r *rates) {
	dy[0] = r.A*y[0] - y[0]*y[1]
	dy[1] = y[0]*y[1] - r.B*y[1]
}

func lotkaExact(y []float64, p any) exact {
	r := p.(*rates)
	dy := make([]float64, 2)
	lotka(dy, y, r)
	return exact{dy, []float64{r.A - y[1], -y[0], y[1], y[0] - r.B}, []float64{0, -1, -1, 0, 0, 1, 1, 0}}
}

// cubes is a generic function.
func cubes[T ~float64](x []T) T {
	var s T
	for _, v := range x {
		s += v * v * v
	}
	return s
}

type metres float64

func cubesExact(x []float64, _ any) exact {
	n := len(x)
	e := exact{[]float64{cubes(x)}, make([]float64, n), make([]float64, n*n)}
	for i, v := range x {
		e.jac[i], e.hess[i*n+i] = 3*v*v, 6*v
	}
	return e
}

func register(f any, g nabla.Generated) {
	g.Version = nabla.CodeVersion
	nabla.Register(f, g)
}

func init() {
	register(bell, nabla.Generated{New: codeOf(func(x []float64, _ any) exact {
		t, e := x[0], math.Exp(-x[0]*x[0])
		return exact{[]float64{t * e}, []float64{(1 - 2*t*t) * e}, []float64{(4*t*t*t - 6*t) * e}}
	})})
	register(helix, nabla.Generated{New: codeOf(func(x []float64, _ any) exact {
		s, c := math.Sincos(x[0])
		return exact{[]float64{c, s, x[0] * x[0]}, []float64{-s, c, 2 * x[0]}, []float64{-c, -s, 2}}
	})})
	register(valley, nabla.Generated{New: func() nabla.Code {
		return nabla.Code{
			Tangent: valleyTangent, Tangent4: valleyTangent4, Adjoint: valleyAdjoint,
			AdjointTangent: valleyAdjointTangent,
		}
	}})
	register(ring, nabla.Generated{New: codeOf4(ringExact)})
	register(swirl, nabla.Generated{New: codeOf4(swirlExact), WritesX: true})
	register(fit, nabla.Generated{New: codeOf(fitExact)})
	register((*table).Loss, nabla.Generated{New: codeOf(fitExact)})
	register((*table).Residuals, nabla.Generated{New: codeOf4(residualsExact)})
	register(lotka, nabla.Generated{New: codeOf(lotkaExact)})
	register(cubes[float64], nabla.Generated{New: codeOf(cubesExact)})
}
