package nabla_test

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/internal/problems"
)

// insides are the backends that differentiate inside, with their errors.
func insides() map[string]inside {
	all := map[string]inside{"nil": {nil, 1e-10}}
	for _, b := range orders {
		all[b.Name()] = inside{b, 1e-10}
	}
	for _, b := range []nabla.Backend{nabla.AutoSparse{Dense: compiled}, source.Forward{}, source.Reverse{},
		nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: compiled}} {
		all[b.Name()] = inside{b, 1e-10}
	}
	all["finitediff"] = inside{finitediff.Backend{}, 1e-5}
	return all
}

type inside struct {
	b   nabla.Backend
	tol float64
}

// outsides are the engines that differentiate the result.
var outsides = []nabla.Backend{forwarddiff.Backend{}, compiled, reversediff.Backend{}}

// TestHVPAndHessianFunc differentiates a function of the Hessian of z ↦ z0³·z1 + c·z0·z1², with the captured c = x1,
// and products with it: with H = (6ab, 3a²+2cb; ·, 2ca) at (a, b), c = b outside.
func TestHVPAndHessianFunc(t *testing.T) {
	a, b := 0.7, -1.3
	for name, in := range insides() {
		f := func(c nabla.Real) func(z []nabla.Real) nabla.Real {
			return func(z []nabla.Real) nabla.Real {
				return z[0].Sq().Mul(z[0]).Mul(z[1]).Add(c.Mul(z[0]).Mul(z[1].Sq()))
			}
		}
		hessian := func(x []nabla.Real) nabla.Real { // 6ab + 10·(3a²+2b²) + 100·2ab
			h := nabla.HessianFunc(f(x[1]), in.b)(x)
			if len(h) != 2 || len(h[0]) != 2 || h[0][1].String() != h[1][0].String() {
				t.Fatalf("%s: %v", name, h)
			}
			return h[0][0].Add(h[0][1].Scale(10)).Add(h[1][1].Scale(100))
		}
		product := func(x []nabla.Real) nabla.Real { // H·(b, 2): first 6ab² + 2(3a²+2b²), second (3a²+2b²)b + 4ab
			hv := nabla.HVPFunc(f(x[1]), in.b)(x, []nabla.Real{x[1], nabla.Const(2)})
			return hv[0].Add(hv[1].Scale(3))
		}
		for _, outer := range outsides {
			y, g, err := nabla.ValueAndGradient(hessian, outer, []float64{a, b})
			checkNested(t, outer.Name()+" outside "+name+", Hessian", in.tol, err, y, 6*a*b+10*(3*a*a+2*b*b)+200*a*b,
				g, 6*b+60*a+200*b, 6*a+40*b+200*a)
			y, g, err = nabla.ValueAndGradient(product, outer, []float64{a, b})
			checkNested(t, outer.Name()+" outside "+name+", product", in.tol, err, y,
				6*a*b*b+2*(3*a*a+2*b*b)+3*((3*a*a+2*b*b)*b+4*a*b),
				g, 6*b*b+12*a+3*(6*a*b+4*b), 12*a*b+8*b+3*(3*a*a+6*b*b+4*a))
		}
	}
}

func checkNested(t *testing.T, what string, tol float64, err error, y, wantY float64, g []float64, want ...float64) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if math.Abs(y-wantY) > tol*100 {
		t.Errorf("%s: value %v, want %v", what, y, wantY)
	}
	for i := range want {
		if math.Abs(g[i]-want[i]) > 1e3*tol {
			t.Errorf("%s: gradient %v, want %v", what, g, want)
		}
	}
}

// TestJacobianFunc differentiates a function of Jacobians with few and with many rows. Rows of zeros at an infinite
// derivative stay zeros.
func TestJacobianFunc(t *testing.T) {
	for name, in := range insides() {
		for _, outer := range outsides {
			wide := func(x []nabla.Real) nabla.Real {
				j := nabla.JacobianFunc(func(z []nabla.Real) []nabla.Real { // (ac, 2b) and zeros
					return []nabla.Real{z[0].Mul(z[0]).Mul(x[2]), z[1].Sq()}
				}, in.b)(x)
				if len(j) != 2 || len(j[1]) != 3 {
					t.Fatalf("%s: %v", name, j)
				}
				return j[0][0].Add(j[1][1].Scale(5)).Add(j[0][2])
			}
			x := []float64{0.7, -1.3, 2}
			y, g, err := nabla.ValueAndGradient(wide, outer, x)
			checkNested(t, outer.Name()+" outside "+name+", wide", in.tol, err, y, 2*x[0]*x[2]+10*x[1],
				g, 2*x[2], 10, 2*x[0])
			tall := func(x []nabla.Real) nabla.Real {
				j := nabla.JacobianFunc(func(z []nabla.Real) []nabla.Real {
					return []nabla.Real{z[0].Mul(z[1]), nabla.Sin(z[0]), z[1].Sq()}
				}, in.b)(x)
				if len(j) != 3 || len(j[0]) != 2 {
					t.Fatalf("%s: %v", name, j)
				}
				return j[0][0].Mul(j[1][0]).Add(j[2][1]) // b·cos a + 2b
			}
			y, g, err = nabla.ValueAndGradient(tall, outer, x[:2])
			s, c := math.Sincos(x[0])
			checkNested(t, outer.Name()+" outside "+name+", tall", in.tol, err, y, x[1]*c+2*x[1], g, -x[1]*s, c+2)
		}
		if name == "finitediff" {
			continue
		}
		root := func(x []nabla.Real) nabla.Real {
			j := nabla.JacobianFunc(func(z []nabla.Real) []nabla.Real {
				return []nabla.Real{nabla.Sqrt(z[0]), z[1].Sq()}
			}, in.b)(x)
			return j[1][0].Add(j[1][1]).Add(j[0][1])
		}
		y, g, err := nabla.ValueAndGradient(root, compiled, []float64{0, 3})
		checkNested(t, name+", at an infinite derivative", 1e-12, err, y, 6, g, 0, 2)
	}
}

// TestNestedOfNothing: no inputs and no outputs are no errors.
func TestNestedOfNothing(t *testing.T) {
	none := func(x []nabla.Real) []nabla.Real { return nil }
	one := func(x []nabla.Real) nabla.Real { return nabla.Const(1) }
	for _, b := range exact {
		if j := nabla.JacobianFunc(none, b)([]nabla.Real{nabla.Const(1)}); len(j) != 0 {
			t.Errorf("%s: %v", b.Name(), j)
		}
		if h, hv := nabla.HessianFunc(one, b)(nil), nabla.HVPFunc(one, b)(nil, nil); len(h) != 0 || len(hv) != 0 {
			t.Errorf("%s: %v %v", b.Name(), h, hv)
		}
	}
}

// TestNestedPlain: plain functions have derivatives inside by differences at constants, and by generated code anywhere;
// otherwise the error is typed.
func TestNestedPlain(t *testing.T) {
	black := func(z []float64) float64 { return z[0] * z[0] * z[1] }
	pair := func(z []float64) []float64 { return []float64{z[0] * z[1], z[0]} }
	at := []nabla.Real{nabla.Const(2), nabla.Const(3)}
	at1 := []nabla.Real{nabla.Const(1), nabla.Const(0)}
	f := func(x []nabla.Real) nabla.Real {
		h, j := nabla.HessianFunc(black, finitediff.Backend{})(at), nabla.JacobianFunc(pair, finitediff.Backend{})(at)
		return x[0].Mul(h[0][0].Add(nabla.HVPFunc(black, finitediff.Backend{})(at, at1)[1]).Add(j[0][1]))
	}
	g, err := nabla.Gradient(f, compiled, []float64{1}) // 6 + 4 + 2
	if err != nil || math.Abs(g[0]-12) > 1e-4 {
		t.Errorf("at constants: %v, %v", g, err)
	}
	differences := finitediff.Backend{}
	for name, f := range map[string]func(x []nabla.Real) nabla.Real{
		"HessianFunc":  func(x []nabla.Real) nabla.Real { return nabla.HessianFunc(black, differences)(x)[0][0] },
		"HVPFunc":      func(x []nabla.Real) nabla.Real { return nabla.HVPFunc(black, differences)(x, x)[0] },
		"JacobianFunc": func(x []nabla.Real) nabla.Real { return nabla.JacobianFunc(pair, differences)(x)[0][0] },
		"another engine": func(x []nabla.Real) nabla.Real {
			return nabla.HessianFunc(black, forwarddiff.Backend{})(at)[0][0].Mul(x[0])
		},
	} {
		for _, b := range exact {
			var unsupported *nabla.UnsupportedError
			_, err := nabla.Gradient(f, b, []float64{2, 3})
			if !errors.As(err, &unsupported) || unsupported.Remedy == "" {
				t.Errorf("%s in %s: %v", name, b.Name(), err)
			}
		}
	}
	var shape *nabla.ShapeError
	_, err = nabla.Gradient(func(x []nabla.Real) nabla.Real {
		return nabla.HVPFunc(func(z []nabla.Real) nabla.Real { return z[0] }, compiled)(x, x[:1])[0]
	}, compiled, []float64{1, 2})
	if !errors.As(err, &shape) {
		t.Errorf("a short vector: %v", err)
	}
}

// TestNestedCode: plain functions with generated code have derivatives inside at any numbers.
func TestNestedCode(t *testing.T) {
	x := []float64{0.7, -1.3, 0.4}
	for _, in := range []nabla.Backend{nil, source.Reverse{}, source.Forward{}, forwarddiff.Backend{}} {
		trace := func(x []nabla.Real) nabla.Real {
			h := nabla.HessianFunc(problems.RosenbrockPlain, in)(x)
			hv := nabla.HVPFunc(problems.RosenbrockPlain, in)(x, x)
			return h[0][0].Add(h[1][1]).Add(nabla.Dot(hv, x))
		}
		same := func(x []nabla.Real) nabla.Real {
			h := nabla.HessianFunc(problems.Rosenbrock, compiled)(x)
			s := h[0][0].Add(h[1][1])
			for i := range x {
				for j := range x {
					s = s.Add(h[i][j].Mul(x[i]).Mul(x[j]))
				}
			}
			return s
		}
		for _, outer := range outsides {
			y, g, err := nabla.ValueAndGradient(trace, outer, x)
			want, grad, err2 := nabla.ValueAndGradient(same, outer, x)
			if err2 != nil {
				t.Fatal(err2)
			}
			checkNested(t, outer.Name()+" outside "+nameOf(in), 1e-11, err, y, want, g, grad...)
		}
	}
}
