package nabla_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
)

// TestBatchesAgreeWithSingleProducts holds that a batch of any number of columns, in any order of sizes, is
// that many single products, and that bad batches are refused.
func TestBatchesAgreeWithSingleProducts(t *testing.T) {
	x := []float64{0.3, 1.2, -0.7}
	f := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{nabla.Sin(x[0].Mul(x[1])), x[2].Div(x[0]), x[1], nabla.Exp(x[2]).Mul(x[0])}
	}
	loss := func(x []nabla.Real) nabla.Real { return nabla.Dot(f(x), f(x)) }
	for _, b := range allEngines {
		push, e1 := nabla.PreparePushforward(f, b, x)
		pull, e2 := nabla.PreparePullback(f, b, x)
		hvp, e3 := nabla.PrepareHVP(loss, b, x)
		if err := errors.Join(e1, e2, e3); err != nil {
			t.Fatal(err)
		}
		linear, e1 := push.At(x)
		hessian, e2 := hvp.At(x)
		if err := errors.Join(e1, e2); err != nil {
			t.Fatal(err)
		}
		type batch = func(dst *mat.Dense, x []float64, V *mat.Dense) (*mat.Dense, error)
		at := func(f func(dst, V *mat.Dense) (*mat.Dense, error)) batch {
			return func(dst *mat.Dense, x []float64, V *mat.Dense) (*mat.Dense, error) {
				if len(x) != 3 {
					return nil, &nabla.ShapeError{} // it has no such argument
				}
				return f(dst, V)
			}
		}
		for _, c := range []struct {
			name  string
			batch batch
			one   func(dst, x, v []float64) ([]float64, error)
			in, m int
		}{
			{"pushforward", push.PushforwardBatch, push.Pushforward, 3, 4},
			{"pullback", pull.PullbackBatch, pull.Pullback, 4, 3},
			{"HVP", hvp.HVPBatch, hvp.HVP, 3, 3},
			{"LinearOp.Apply", at(linear.ApplyBatch), push.Pushforward, 3, 4},
			{"LinearOp.Transpose", at(linear.TransposeBatch), pull.Pullback, 4, 3},
			{"HessianOp.Apply", at(hessian.ApplyBatch), hvp.HVP, 3, 3},
		} {
			for _, k := range []int{1, 5, 2, 20, 13, 1, 40} {
				wide := mat.NewDense(c.in, k+3, nil)
				wide.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(3*i + j)) }, wide)
				V := wide.Slice(0, c.in, 2, 2+k).(*mat.Dense) // a window, to try strides
				got, err := c.batch(nil, x, V)
				if err != nil {
					t.Errorf("%s of %d columns with %s: %v", c.name, k, b.Name(), err)
					continue
				}
				for j := range k {
					want, err := c.one(nil, x, mat.Col(nil, j, V))
					if err != nil {
						t.Fatal(err)
					}
					for i, w := range want {
						if g := got.At(i, j); math.Abs(g-w) > 1e-6*(1+math.Abs(w)) {
							t.Errorf("%s with %s: column %d of %d: %v, want %v", c.name, b.Name(), j, k,
								mat.Col(nil, j, got), want)
							break
						}
					}
				}
			}
			var se *nabla.ShapeError
			var ae *nabla.AliasError
			V := mat.NewDense(c.in, 2, nil)
			if _, err := c.batch(nil, x, mat.NewDense(c.in+1, 2, nil)); !errors.As(err, &se) {
				t.Errorf("%s with %s, rows of V: %v", c.name, b.Name(), err)
			}
			if _, err := c.batch(mat.NewDense(c.m, 3, nil), x, V); !errors.As(err, &se) {
				t.Errorf("%s with %s, columns of dst: %v", c.name, b.Name(), err)
			}
			if _, err := c.batch(nil, x[:2], V); !errors.As(err, &se) {
				t.Errorf("%s with %s, x: %v", c.name, b.Name(), err)
			}
			if c.in == c.m {
				if _, err := c.batch(V, x, V); !errors.As(err, &ae) {
					t.Errorf("%s with %s, dst is V: %v", c.name, b.Name(), err)
				}
			}
			if m, err := c.batch(nil, x, nil); err != nil || !m.IsEmpty() {
				t.Errorf("%s with %s, no columns: %v, %v", c.name, b.Name(), m, err)
			}
			if _, err := c.batch(new(mat.Dense), x, V); err != nil {
				t.Errorf("%s with %s into an empty matrix: %v", c.name, b.Name(), err)
			}
		}
	}
}

// TestValuesBesideMatrices: the forms of Jacobians and Hessians with values return what those without do, and the value
// and gradient of the function.
func TestValuesBesideMatrices(t *testing.T) {
	x := []float64{0.3, 1.2, -0.7}
	f := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{nabla.Sin(x[0].Mul(x[1])), x[2].Sq(), x[1]}
	}
	loss := func(x []nabla.Real) nabla.Real { return x[0].Mul(x[1]).Add(nabla.Exp(x[2])) }
	value := []float64{math.Sin(x[0] * x[1]), x[2] * x[2], x[1]}
	grad := []float64{x[1], x[0], math.Exp(x[2])}
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, nabla.AutoSparse{Dense: forwarddiff.Backend{}}} {
		j, e1 := nabla.PrepareJacobian(f, b, x)
		h, e2 := nabla.PrepareHessian(loss, b, x)
		if err := errors.Join(e1, e2); err != nil {
			t.Fatal(err)
		}
		jac, e1 := j.Dense(nil, x)
		hess, e2 := h.Dense(nil, x)
		y, jac2, e3 := j.ValueAndDense(nil, nil, x)
		v, g, hess2, e4 := h.ValueGradientAndDense(nil, nil, x)
		if err := errors.Join(e1, e2, e3, e4); err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(jac, jac2) || !mat.Equal(hess, hess2) {
			t.Errorf("%s: %v and %v, %v and %v", b.Name(), jac, jac2, hess, hess2)
		}
		check := func(y []float64, v float64, g []float64) {
			t.Helper()
			if !floats.EqualApprox(y, value, 1e-15) || math.Abs(v-(x[0]*x[1]+math.Exp(x[2]))) > 1e-15 ||
				!floats.EqualApprox(g, grad, 1e-15) {
				t.Errorf("%s: %v, %v, %v", b.Name(), y, v, g)
			}
		}
		check(y, v, g)
		if _, sparse := b.(nabla.AutoSparse); !sparse {
			var ue *nabla.UnsupportedError
			if _, _, err := j.ValueAndSparse(nil, nil, x); !errors.As(err, &ue) {
				t.Errorf("%s: %v", b.Name(), err)
			}
			continue
		}
		y, sj, e1 := j.ValueAndSparse(nil, nil, x)
		v, g, sh, e2 := h.ValueGradientAndSparse(nil, nil, x)
		if err := errors.Join(e1, e2); err != nil {
			t.Fatal(err)
		}
		check(y, v, g)
		if !mat.Equal(jac, sj) || !mat.Equal(hess, sh) {
			t.Errorf("%s: %v and %v, %v and %v", b.Name(), jac, sj, hess, sh)
		}
	}
}
