package finitediff

import (
	"errors"
	"math"
	"math/cmplx"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

var cmplx1 = map[rules.Op]func(complex128) complex128{
	rules.Neg: func(z complex128) complex128 { return -z }, rules.Inv: func(z complex128) complex128 { return 1 / z },
	rules.Sq: func(z complex128) complex128 { return z * z }, rules.Sqrt: cmplx.Sqrt,
	rules.Cbrt: func(z complex128) complex128 {
		if real(z) < 0 {
			return -cmplx.Pow(-z, 1.0/3)
		}
		return cmplx.Pow(z, 1.0/3)
	},
	rules.Exp: cmplx.Exp, rules.Exp2: func(z complex128) complex128 { return cmplx.Pow(2, z) },
	rules.Expm1: func(z complex128) complex128 { return cmplx.Exp(z) - 1 },
	rules.Log:   cmplx.Log, rules.Log2: func(z complex128) complex128 { return cmplx.Log(z) / math.Ln2 },
	rules.Log10: cmplx.Log10,
	rules.Log1p: func(z complex128) complex128 { return cmplx.Log(1 + z) },
	rules.Sin:   cmplx.Sin, rules.Cos: cmplx.Cos, rules.Tan: cmplx.Tan, rules.Asin: cmplx.Asin, rules.Acos: cmplx.Acos,
	rules.Atan: cmplx.Atan,
	rules.Sinh: cmplx.Sinh, rules.Cosh: cmplx.Cosh, rules.Tanh: cmplx.Tanh, rules.Asinh: cmplx.Asinh,
	rules.Acosh: cmplx.Acosh, rules.Atanh: cmplx.Atanh,
	rules.Logistic: func(z complex128) complex128 { return 1 / (1 + cmplx.Exp(-z)) },
	rules.Softplus: func(z complex128) complex128 { return cmplx.Log(1 + cmplx.Exp(z)) },
	rules.SechSq:   func(z complex128) complex128 { return 1 / (cmplx.Cosh(z) * cmplx.Cosh(z)) },
	rules.Abs: func(z complex128) complex128 {
		if real(z) < 0 {
			return -z
		}
		return z
	},
}

var cmplx2 = map[rules.Op]func(z, w complex128) complex128{
	rules.Add: func(z, w complex128) complex128 { return z + w },
	rules.Sub: func(z, w complex128) complex128 { return z - w },
	rules.Mul: func(z, w complex128) complex128 { return z * w },
	rules.Div: func(z, w complex128) complex128 { return z / w },
	rules.Pow: cmplx.Pow, rules.Hypot: func(z, w complex128) complex128 { return cmplx.Sqrt(z*z + w*w) },
	rules.Atan2:     func(z, w complex128) complex128 { return -1i * cmplx.Log((w+1i*z)/cmplx.Sqrt(w*w+z*z)) },
	rules.XLogY:     func(z, w complex128) complex128 { return z * cmplx.Log(w) },
	rules.LogAddExp: func(z, w complex128) complex128 { return cmplx.Log(cmplx.Exp(z) + cmplx.Exp(w)) },
}

func closeTo(z, w complex128, tol float64) bool { return cmplx.Abs(z-w) <= tol*(1+cmplx.Abs(w)) }

// TestComplexFunctionsAreThoseOfCmplx compares at imaginary parts that are not
// small: the functions are complex functions and not linearisations.
func TestComplexFunctionsAreThoseOfCmplx(t *testing.T) {
	parts := []float64{-2.5, -0.75, -0.3, 0.25, 0.8, 1.5, 4}
	seen := 0
	for op, f := range cmplx1 {
		for _, a := range parts {
			if v := rules.Value1(op, a); v != v {
				continue // outside the domain
			}
			for _, b := range []float64{-0.4, -0.01, 0.03, 0.5} {
				z := complex(a, b)
				seen++
				if got, want := complex1(op, z), f(z); !closeTo(got, want, 1e-13) {
					t.Errorf("%v(%v) = %v, want %v", op, z, got, want)
				}
			}
		}
	}
	for op, f := range cmplx2 {
		for _, a := range parts {
			for _, c := range parts {
				for _, im := range [][2]float64{{0.1, 0}, {0, -0.2}, {-0.15, 0.05}} {
					z, w := complex(a, im[0]), complex(c, im[1])
					if v := rules.Value2(op, a, c); v != v || (op == rules.Pow && a < 0) {
						continue
					}
					seen++
					if got, want := complex2(op, z, w), f(z, w); !closeTo(got, want, 1e-13) {
						t.Errorf("%v(%v, %v) = %v, want %v", op, z, w, got, want)
					}
				}
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d points were compared", seen)
	}
}

// TestTinyImaginaryPartsGiveThePartials is the use of every op: the real part is
// the value bit for bit, where that is not 0, and the imaginary part the rule table's derivative.
func TestTinyImaginaryPartsGiveThePartials(t *testing.T) {
	xs := []float64{-700, -20, -2.5, -1, -0.75, -1e-8, 0, 1e-12, 0.25, 0.8, 1, 1.5, 4, 35, 720, 1e8}
	const h = 1e-30
	check := func(name string, got complex128, v, d float64) {
		t.Helper()
		if re := real(got); re != v && v == v && !(v == 0 && math.Abs(re) <= h*h*1.1) {
			t.Errorf("%s: real part %v, want %v", name, re, v)
		}
		im := imag(got) / h
		if im != d && !(im != im && d != d) && !(math.Abs(im-d) <= 1e-14*math.Abs(d)+1e-270) {
			t.Errorf("%s: derivative %v, want %v", name, im, d)
		}
	}
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		for _, x := range xs {
			switch op.Arity() {
			case 1:
				v := rules.Value1(op, x)
				check(op.String(), complex1(op, complex(x, h)), v, rules.Partial1(op, x, v))
			case 2:
				if op.Choice() {
					continue
				}
				for _, y := range xs {
					if order := op == rules.Jn || op == rules.Yn || op == rules.Polygamma; order && (x < 0 || x > 4) {
						continue
					}
					v := rules.Value2(op, x, y)
					dx, dy := rules.PartialX2(op, x, y, v), rules.PartialY2(op, x, y, v)
					check(op.String()+" dx", complex2(op, complex(x, h), complex(y, 0)), v, dx)
					check(op.String()+" dy", complex2(op, complex(x, 0), complex(y, h)), v, dy)
				}
			}
		}
	}
	if got := complex3(rules.FMA, 2+1e-30i, 3+2e-30i, 1+5e-30i); real(got) != 7 || far(imag(got)-12e-30, 1e-44) {
		t.Errorf("fma: %v", got)
	}
	if got := complex2(rules.Max, 2+1e-30i, 3+2e-30i); got != 3+2e-30i {
		t.Errorf("max: %v", got)
	}
	if got := complex3(rules.Select, 0, 3+2e-30i, 1+5e-30i); got != 1+5e-30i {
		t.Errorf("select: %v", got)
	}
}

// branchy is x² below 1 and x³ from there on, with a guard.
func branchy(y, x []engine.Real) {
	below := x[0].V < 1
	if x[0].ID != 0 {
		core.Compare(core.OpGuardLt, x[0], num(1), below)
	}
	if y[0] = op1(rules.Sq, x[0]); !below {
		y[0] = op2(rules.Mul, y[0], x[0])
	}
}

func TestComplexStepRecordsAgainWhereTheBranchChanges(t *testing.T) {
	f := traced(1, 1, branchy)
	p, err := Backend{Method: Complex}.PrepareGradient(f, []float64{0.5})
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, 1)
	for i, c := range []struct {
		x, want float64
		records int
	}{{0.5, 1, 1}, {0.75, 1.5, 1}, {2, 12, 2}, {3, 27, 2}, {0.25, 0.5, 3}} {
		if _, err := p.ValueAndGradient(g, []float64{c.x}); err != nil {
			t.Fatal(err)
		}
		if r := p.(engine.Recorder).Recordings(); g[0] != c.want || r != c.records {
			t.Errorf("call %d: %v after %d recordings, want %v after %d", i, g[0], r, c.want, c.records)
		}
	}
	p, err = Backend{Method: Complex}.PrepareGradient(f.With(1, 1, engine.Policy{FailOnGuard: true}), []float64{0.5})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.ValueAndGradient(g, []float64{2}); !errors.Is(err, engine.ErrGuard) {
		t.Errorf("FailOnGuard: %v", err)
	}
}

func TestComplexStepNoticesStaleRecordings(t *testing.T) {
	scale := 2.0
	f := traced(1, 1, func(y, x []engine.Real) { y[0] = op2(rules.Mul, num(scale), x[0]) })
	b := Backend{Method: Complex}
	p, err := b.PrepareGradient(f, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.PrepareGradient(f.With(1, 1, engine.Policy{FailOnGuard: true}), []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	scale = 5
	g := make([]float64, 1)
	if y, err := p.ValueAndGradient(g, []float64{1}); err != nil || y != 5 || g[0] != 5 {
		t.Errorf("value %v, derivative %v, %v", y, g, err)
	}
	if _, err := q.ValueAndGradient(g, []float64{1}); !errors.Is(err, engine.ErrStale) {
		t.Errorf("FailOnGuard: %v", err)
	}
}

// product is a custom rule for x0·x1 that may panic.
type product struct{ panics bool }

func (product) Name() string                   { return "product" }
func (product) Outputs(int) int                { return 1 }
func (product) Value(y, x []float64)           { y[0] = x[0] * x[1] }
func (product) VJP(xbar, x, _, ybar []float64) { xbar[0] += ybar[0] * x[1]; xbar[1] += ybar[0] * x[0] }
func (product) Tangent(int) core.Custom        { return nil }
func (product) Cotangent(int) core.Custom      { return nil }
func (p product) JVP(ydot, x, _, xdot []float64) {
	if p.panics {
		panic("no rule")
	}
	ydot[0] = x[0]*xdot[1] + x[1]*xdot[0]
}

func TestComplexStepThroughCustomRules(t *testing.T) {
	for _, panics := range []bool{false, true} {
		f := traced(2, 1, func(y, x []engine.Real) {
			y[0] = op1(rules.Exp, core.Call(product{panics}, []engine.Real{op1(rules.Sin, x[0]), x[1]})[0])
		})
		p, err := Backend{Method: Complex, Workers: 2}.PrepareGradient(f, []float64{0.5, 2})
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, 2)
		y, err := p.ValueAndGradient(g, []float64{0.5, 2})
		if panics {
			var pe *engine.PanicError
			if !errors.As(err, &pe) {
				t.Errorf("got %v", err)
			}
			continue
		}
		s, c := math.Sincos(0.5)
		if err != nil || far(g[0]-2*c*y, 1e-14) || far(g[1]-s*y, 1e-14) {
			t.Errorf("gradient %v, %v", g, err)
		}
	}
}
