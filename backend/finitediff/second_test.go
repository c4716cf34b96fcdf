package finitediff

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/rules"
)

// bowl is exp(x0·x1) + x2²·sin(x0) + log(1 + x3²).
func bowl(y, x []engine.Real) {
	s := op2(rules.Add, op1(rules.Exp, op2(rules.Mul, x[0], x[1])),
		op2(rules.Mul, op1(rules.Sq, x[2]), op1(rules.Sin, x[0])))
	y[0] = op2(rules.Add, s, op1(rules.Log1p, op1(rules.Sq, x[3])))
}

// bowlAt is its value, gradient and Hessian by hand.
func bowlAt(x []float64) (y float64, g [4]float64, h [4][4]float64) {
	a, b, c, d := x[0], x[1], x[2], x[3]
	e, s, co, q := math.Exp(a*b), math.Sin(a), math.Cos(a), 1+d*d
	y = e + c*c*s + math.Log1p(d*d)
	g = [4]float64{b*e + c*c*co, a * e, 2 * c * s, 2 * d / q}
	h[0] = [4]float64{b*b*e - c*c*s, e + a*b*e, 2 * c * co, 0}
	h[1] = [4]float64{h[0][1], a * a * e, 0, 0}
	h[2] = [4]float64{h[0][2], 0, 2 * s, 0}
	h[3] = [4]float64{0, 0, 0, 2/q - 4*d*d/(q*q)}
	return y, g, h
}

// secondOrder is the error that second derivatives may have for functions of unit
// scale: its order times a constant for the size of the fourth derivatives.
func secondOrder(m Method) float64 {
	if m == Complex {
		return 30 * cbrtEps * cbrtEps
	}
	return 30 * sqrtEps
}

func TestHessianAndHVP(t *testing.T) {
	f := traced(4, 1, bowl)
	x := []float64{0.5, -1, 1.5, 0.75}
	inf := math.Inf(1)
	corner := &Bounds{Lower: []float64{0.5, -2, 1.5, -inf}, Upper: []float64{2, -1, 1.6, 0.75}}
	tight := &Bounds{Lower: []float64{0.5 - 1e-5, -1 - 2e-5, 1.5, 0.7},
		Upper: []float64{0.5 + 1e-5, -1 + 1e-5, 1.5 + 3e-5, 0.8}}
	y, g, h := bowlAt(x)
	tangents := [][]float64{{1, 2, -1, 3}, {0, 0, 1, 0}, {0, 0, 0, 0}, {1e-210, 2e-210, 0, 1e-210}, {-1, 1, -1, 1}}
	v := engine.NewBlock(4, len(tangents))
	for l, c := range tangents {
		for i := range c {
			v.Row(i)[l] = c[i]
		}
	}
	for m := Central; m < numMethods; m++ {
		for _, bounds := range []*Bounds{nil, corner, tight} {
			b := Backend{Method: m, Bounds: bounds}
			tol := secondOrder(m)
			if bounds == corner {
				tol *= 10 // one-sided formulas
			}
			if bounds == tight {
				// The step is a tenth of the default.
				tol = 1e-4
				if m == Complex {
					tol = 1e-9
				}
			}
			p, err := b.PrepareHessian(f, x)
			if err != nil {
				t.Fatal(err)
			}
			grad, hess := make([]float64, 4), engine.NewBlock(4, 4)
			for range 2 { // a second call is as the first
				got, err := p.ValueGradientAndHessian(grad, hess, x)
				if err != nil {
					t.Fatal(err)
				}
				if got != y {
					t.Errorf("%s: value %v, want %v", b.Name(), got, y)
				}
				for i := range x {
					if far(grad[i]-g[i], tol) {
						t.Errorf("%s: gradient %v, want %v", b.Name(), grad, g)
					}
					for j := range x {
						if a := hess.Row(i)[j]; !(math.Abs(a-h[i][j]) <= tol) {
							t.Errorf("%s: H[%d,%d] = %v, want %v, off by %.2g > %.2g", b.Name(), i, j, a, h[i][j],
								a-h[i][j], tol)
						}
						if hess.Row(i)[j] != hess.Row(j)[i] {
							t.Errorf("%s: not symmetric", b.Name())
						}
					}
				}
			}
			q, err := b.PrepareHVP(f, x, v.B)
			if err != nil {
				t.Fatal(err)
			}
			hv := engine.NewBlock(4, v.B)
			clear(grad)
			if _, err := q.ValueGradientAndHVP(grad, hv, x, v); err != nil {
				t.Fatal(err)
			}
			one := engine.NewBlock(4, 1)
			for l, c := range tangents {
				if _, err := q.ValueGradientAndHVP(nil, one, x, engine.Column(c)); err != nil {
					t.Fatal(err)
				}
				for i := range x {
					want, size := 0.0, 0.0
					for j := range c {
						want += h[i][j] * c[j]
						size = max(size, math.Abs(c[j]))
					}
					if got := hv.Row(i)[l]; !(math.Abs(got-want) <= 10*tol*size) {
						t.Errorf("%s: (H·%v)[%d] = %v, want %v, off by %.2g > %.2g", b.Name(), c, i, got, want,
							got-want, 10*tol*size)
					}
					if one.Data[i] != hv.Row(i)[l] {
						t.Errorf("%s: tangent %v alone gives %v, in a batch %v", b.Name(), c, one.Data[i], hv.Row(i)[l])
					}
					if l == 0 && far(grad[i]-g[i], 10*tol) {
						t.Errorf("%s: HVP's gradient %v, want %v", b.Name(), grad, g)
					}
				}
			}
			// The gradient comes with a tangent that does not move too, and with none.
			clear(grad)
			if _, err := q.ValueGradientAndHVP(grad, one, x, engine.NewBlock(4, 1)); err != nil {
				t.Fatal(err)
			}
			other := make([]float64, 4)
			if _, err := q.ValueGradientAndHVP(other, engine.NewBlock(4, 0), x, engine.NewBlock(4, 0)); err != nil {
				t.Fatal(err)
			}
			for i := range g {
				if far(grad[i]-g[i], tol) || other[i] != grad[i] || one.Data[i] != 0 {
					t.Errorf("%s: gradients %v, %v, want %v", b.Name(), grad, other, g)
				}
			}
		}
	}
}

func TestSecondDerivativesOfNothing(t *testing.T) {
	f := traced(0, 1, func(y, x []engine.Real) { y[0] = num(3) })
	for _, m := range []Method{Central, Complex} {
		p, err := Backend{Method: m}.PrepareHessian(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if y, err := p.ValueGradientAndHessian(nil, engine.NewBlock(0, 0), nil); y != 3 || err != nil {
			t.Error(y, err)
		}
		q, err := Backend{Method: m}.PrepareHVP(f, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		if y, err := q.ValueGradientAndHVP([]float64{}, engine.NewBlock(0, 2), nil, engine.NewBlock(0, 2)); y != 3 ||
			err != nil {
			t.Error(y, err)
		}
	}
}

// TestNothingIsEvaluatedOutsideBounds lets f panic there, at random points in
// random boxes and on their faces.
func TestNothingIsEvaluatedOutsideBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 4
	for trial := range 300 {
		lo, hi, x := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			scale := math.Pow(10, float64(rng.IntN(12)-6))
			lo[i] = rng.NormFloat64() * scale
			hi[i] = lo[i] + scale*math.Pow(10, -float64(rng.IntN(7)))*rng.Float64()
			switch rng.IntN(4) {
			case 0:
				x[i] = lo[i]
			case 1:
				x[i] = hi[i]
			default:
				x[i] = min(max(lo[i]+(hi[i]-lo[i])*rng.Float64(), lo[i]), hi[i])
			}
		}
		f := plain(n, 1, func(y, x []float64) {
			y[0] = 0
			for i, v := range x {
				if v < lo[i] || v > hi[i] {
					t.Fatalf("trial %d: f called with x[%d] = %v outside [%v, %v]", trial, i, v, lo[i], hi[i])
				}
				y[0] += v * float64(i+1)
			}
		})
		dir := make([]float64, n)
		for i := range dir {
			dir[i] = rng.NormFloat64()
		}
		for _, m := range []Method{Central, Forward, Backward} {
			b := Backend{Method: m, Bounds: &Bounds{lo, hi}}
			p, err := b.PreparePushforward(f, x, 1)
			if err != nil {
				t.Fatal(err)
			}
			y, ydot := make([]float64, 1), make([]float64, 1)
			if err := p.Pushforward(y, engine.Column(ydot), x, engine.Column(dir)); err != nil {
				t.Fatal(err)
			}
			_, jac := jacobianOf(t, b, f, x)
			// The function is linear: rounding over the step is all the error.
			tol := 0.0
			for i := range x {
				tolJ := 0.0
				for k := range x {
					tolJ += 16 * epsilon * math.Abs(x[k]) * n / min(cbrtEps/64, (hi[i]-lo[i])/4)
				}
				if m == Central {
					tol += tolJ * math.Abs(dir[i])
				} else {
					tol += 4 * tolJ * math.Abs(dir[i]) * cbrtEps / sqrtEps
				}
				if got := jac.Data[i]; !(math.Abs(got-float64(i+1)) <= tol/math.Abs(dir[i])+1e-6) {
					t.Errorf("trial %d: %v: column %d is %v", trial, m, i, got)
				}
			}
			h, err := b.PrepareHessian(f, x)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.ValueGradientAndHessian(dir[:0], engine.NewBlock(n, n), x); err != nil {
				t.Fatal(err)
			}
			q, err := b.PrepareHVP(f, x, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := q.ValueGradientAndHVP(make([]float64, n), engine.NewBlock(n, 1), x,
				engine.Column(dir)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFixedComponentsAndPointsOutside(t *testing.T) {
	f := plain(2, 1, func(y, x []float64) { y[0] = x[0] * x[1] })
	b := Backend{Bounds: &Bounds{Lower: []float64{1, 0}, Upper: []float64{1, 5}}}
	_, jac := jacobianOf(t, b, f, []float64{1, 2})
	if !math.IsNaN(jac.Data[0]) || far(jac.Data[1]-1, 1e-9) {
		t.Errorf("gradient %v, want [NaN 1]", jac.Data)
	}
	calls := f.Calls()
	p, err := b.PrepareGradient(f, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.ValueAndGradient(make([]float64, 2), []float64{1, 7})
	if e, ok := err.(*BoundsError); !ok || e.Index != 1 || e.X != 7 || e.Upper != 5 {
		t.Errorf("outside: %v", err)
	}
	if f.Calls() != calls {
		t.Error("f was evaluated outside")
	}
}

// TestLanesInNarrowBoxes: a tangent gives the same in every lane where the box leaves less
// room than the step takes.
func TestLanesInNarrowBoxes(t *testing.T) {
	f := traced(4, 1, bowl)
	x := []float64{0.5, -1, 1.5, 0.75}
	for _, room := range []float64{1e-5, 3e-5, 1e-4, 3e-4, 1e-3} {
		lo, hi := make([]float64, 4), make([]float64, 4)
		for i := range x {
			lo[i], hi[i] = x[i]-room, x[i]+room
		}
		q, err := Backend{Bounds: &Bounds{lo, hi}}.PrepareHVP(f, x, 2)
		if err != nil {
			t.Fatal(err)
		}
		v, hv := engine.Block{N: 4, B: 2, Stride: 2, Data: []float64{1, 1, 2, 2, -1, -1, 3, 3}}, engine.NewBlock(4, 2)
		if _, err := q.ValueGradientAndHVP(nil, hv, x, v); err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if r := hv.Row(i); r[0] != r[1] {
				t.Errorf("room %v: component %d is %v and %v", room, i, r[0], r[1])
			}
		}
	}
}
