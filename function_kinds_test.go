package nabla_test

import (
	"errors"
	"math"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
)

// tolerances of first and of second derivatives for every backend.
var shapeBackends = []struct {
	b         nabla.Backend
	tol, tol2 float64
}{
	{finitediff.Backend{}, 1e-6, 1e-3},
	{forwarddiff.Backend{}, 1e-13, 1e-10},
	{reversediff.Backend{}, 1e-13, 1e-10},
	{reversediff.Backend{Compile: true}, 1e-13, 1e-10},
	{tracker.Backend{}, 1e-13, 1e-10},
	{nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}, 1e-13, 1e-10},
}

func alike(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	for i, w := range want {
		if len(got) != len(want) || !(math.Abs(got[i]-w) <= tol*math.Max(1, math.Abs(w))) {
			t.Errorf("%s = %v, want %v", what, got, want)
			return
		}
	}
}

type batch struct {
	X   nabla.Vec
	C   nabla.Real
	Buf nabla.Scratch
}

// sq is x ↦ x², as a rule of which engines know the pullback only.
var sq = nabla.Rule{
	Name:  "sq",
	Value: func(y, x []float64) { y[0] = x[0] * x[0] },
	VJP:   func(xbar, x, y, ybar []float64) { xbar[0] += 2 * x[0] * ybar[0] },
}.Func()

// ridge is C·(X·w)² + w0³, whose Hessian is 2C·X·Xᵀ and 6·w0.
func ridge(w []nabla.Real, b *batch) nabla.Real {
	buf := b.Buf.Reals()
	for i := range w {
		buf[0] = buf[0].Add(b.X.At(i).Mul(w[i]))
	}
	return b.C.Mul(sq(buf[0])[0]).Add(w[0].PowConst(3))
}

func ridgeWant(w, x []float64, c float64) (g []float64, h *mat.SymDense) {
	s := x[0]*w[0] + x[1]*w[1]
	g = []float64{2*c*s*x[0] + 3*w[0]*w[0], 2 * c * s * x[1]}
	return g, mat.NewSymDense(2, []float64{2*c*x[0]*x[0] + 6*w[0], 2 * c * x[0] * x[1], 0, 2 * c * x[1] * x[1]})
}

func TestBoundRuleOnEveryBackend(t *testing.T) {
	w := []float64{0.5, -1.5}
	for _, e := range shapeBackends {
		t.Run(e.b.Name(), func(t *testing.T) {
			data := []float64{1, 2}
			b := &batch{X: nabla.VecOf(data), C: nabla.Const(3), Buf: nabla.NewScratch(1)}
			f := nabla.Bind(ridge, b)
			gp, err := nabla.PrepareGradient(f, e.b, w)
			if err != nil {
				t.Fatal(err)
			}
			hp, err := nabla.PrepareHessian(f, e.b, w)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				g, err := gp.Gradient(nil, w)
				if err != nil {
					t.Fatal(err)
				}
				_, hg, h, err := hp.ValueGradientAndHessian(nil, nil, w)
				if err != nil {
					t.Fatal(err)
				}
				wantG, wantH := ridgeWant(w, data, b.C.Value())
				alike(t, "gradient", g, wantG, e.tol)
				alike(t, "gradient beside the Hessian", hg, wantG, e.tol2)
				for i := range 2 {
					for j := range 2 {
						alike(t, "Hessian", []float64{h.At(i, j)}, []float64{wantH.At(i, j)}, e.tol2)
					}
				}
				data[0] -= 1.5
				b.C = b.C.AddConst(-1)
			}
			var wg sync.WaitGroup
			for k := range 2 {
				p := gp.Clone()
				own := &batch{X: nabla.VecOf([]float64{float64(k), 1}), C: nabla.Const(2), Buf: nabla.NewScratch(1)}
				if err := p.Rebind(own); err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					g, err := p.Gradient(nil, w)
					if err != nil {
						t.Error(err)
						return
					}
					want, _ := ridgeWant(w, []float64{float64(k), 1}, 2)
					alike(t, "gradient of a clone", g, want, e.tol)
				})
			}
			wg.Wait()
			var fe *nabla.FuncError
			if err := gp.Rebind(new(int)); !errors.As(err, &fe) {
				t.Errorf("Rebind: error %v, want a *FuncError", err)
			}
		})
	}
}

type parts[T any] struct {
	W []T
	B T
	K int
}

func TestStructOnEveryBackend(t *testing.T) {
	s := &parts[float64]{W: []float64{1, 2}, B: 3, K: 2}
	f, layout, err := nabla.Struct(func(p *parts[nabla.Real]) nabla.Real {
		return nabla.Dot(p.W, p.W).Mul(p.B).Scale(float64(p.K))
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range shapeBackends {
		g, err := nabla.Gradient(f, e.b, layout.Flatten(nil, s))
		if err != nil {
			t.Fatal(err)
		}
		d := new(parts[float64])
		layout.Unflatten(d, g)
		alike(t, e.b.Name(), append(d.W, d.B), []float64{12, 24, 10}, e.tol)
	}
}

func TestInPlaceOnEveryBackend(t *testing.T) {
	type clock struct{ T nabla.Real }
	c := &clock{}
	f := nabla.BindInPlace(2, func(y, x []nabla.Real, c *clock) {
		y[0] = x[0].Mul(x[1]).Mul(c.T)
		y[1] = nabla.Sin(y[0])
	}, c)
	x := []float64{0.5, 2}
	for _, e := range shapeBackends {
		p, err := nabla.PrepareJacobian(f, e.b, x)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			c.T = nabla.Const(float64(k))
			j, err := p.Dense(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			s := math.Cos(float64(k)) * float64(k)
			alike(t, e.b.Name(), j.RawMatrix().Data, []float64{2 * float64(k), 0.5 * float64(k), 2 * s, 0.5 * s}, e.tol)
		}
	}
}
