package nabla_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/sparse"
)

// rooted has the outputs s·x₀²·x₁, √x₀ and x₁³, where s is the bound Scale. At x₀ = 0 the derivatives of the second are
// infinite.
func rooted(x []nabla.Real, c *constraints) []nabla.Real {
	return []nabla.Real{x[0].Sq().Mul(x[1]).Mul(c.Scale), nabla.Sqrt(x[0]), x[1].Sq().Mul(x[1])}
}

// rootedWant returns values, Jacobian and Hessians of rooted, by rows.
func rootedWant(x []float64, s float64) (y, jac []float64, hess [3][]float64) {
	a, b := x[0], x[1]
	y = []float64{s * a * a * b, math.Sqrt(a), b * b * b}
	jac = []float64{2 * s * a * b, s * a * a, 0.5 / math.Sqrt(a), 0, 0, 3 * b * b}
	hess[0] = []float64{2 * s * b, 2 * s * a, 2 * s * a, 0}
	hess[1] = []float64{-0.25 / (a * math.Sqrt(a)), 0, 0, 0}
	hess[2] = []float64{0, 0, 0, 6 * b}
	return y, jac, hess
}

// TestOutput: every operator differentiates one output, also where the derivatives of another are infinite.
func TestOutput(t *testing.T) {
	scaled := nabla.Bind(rooted, &constraints{Scale: nabla.Const(3)})
	for _, b := range engines.Exact() {
		for _, x := range [][]float64{{0.5, 2}, {0, 2}} {
			_, jac, hess := rootedWant(x, 3)
			for _, i := range []int{0, 2} {
				f := nabla.Output(scaled, i)
				g, err := nabla.Gradient(f, b, x)
				if want := jac[2*i : 2*i+2]; err != nil || !floats.EqualApprox(g, want, 1e-12) {
					t.Errorf("%s: gradient of output %d at %v: %v, %v, want %v", b.Name(), i, x, g, err, want)
				}
				h, err := nabla.Hessian(f, b, x)
				if err != nil || !floats.EqualApprox(elements(h), hess[i], 1e-12) {
					t.Errorf("%s: Hessian of output %d at %v: %v, %v, want %v", b.Name(), i, x, h, err, hess[i])
				}
				d, err := nabla.Pushforward(f, b, x, []float64{1, -1})
				if want := jac[2*i] - jac[2*i+1]; err != nil || math.Abs(d[0]-want) > 1e-12 {
					t.Errorf("%s: pushforward of output %d at %v: %v, %v, want %v", b.Name(), i, x, d, err, want)
				}
			}
		}
	}
}

// TestOutputErrors: there is an output, and a function with outputs.
func TestOutputErrors(t *testing.T) {
	x := []float64{1, 2}
	f := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0], x[1]} }
	var shape *nabla.ShapeError
	for _, i := range []int{-1, 2} {
		if _, err := nabla.Gradient(nabla.Output(f, i), forwarddiff.Backend{}, x); !errors.As(err, &shape) {
			t.Errorf("output %d: %v", i, err)
		}
	}
	var fe *nabla.FuncError
	if _, err := nabla.Gradient(nabla.Output((*nabla.Func)(nil), 0), nil, x); !errors.As(err, &fe) {
		t.Errorf("of a nil *Func: %v", err)
	}
	if _, err := nabla.Jacobian(nabla.Output(f, 0), nil, x); !errors.As(err, &fe) {
		t.Errorf("a Jacobian: %v", err)
	}
	number := nabla.Output(nabla.Output(f, 0), 0)
	if _, err := nabla.Gradient(number, nil, x); !errors.As(err, &fe) {
		t.Errorf("an output of an output: %v", err)
	}
	r, err := nabla.Record(f, x)
	if err != nil {
		t.Fatal(err)
	}
	if g, err := nabla.Gradient(nabla.Output(r, 1), forwarddiff.Backend{}, x); err != nil || g[0] != 0 || g[1] != 1 {
		t.Errorf("of a recorded function: %v, %v", g, err)
	}
}

func TestHessians(t *testing.T) {
	for _, b := range secondOrderBackends() {
		tol := 1e-12
		if _, ok := b.(finitediff.Backend); ok || b.Name() == "sparse(finitediff)" {
			tol = 1e-3
		}
		f := nabla.Bind(rooted, &constraints{Scale: nabla.Const(3)})
		p, err := nabla.PrepareHessians(f, b, []float64{1, 1})
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		check := func(what string, p *nabla.HessiansPrep, jac *mat.Dense, dst []mat.Symmetric, x []float64, s float64) {
			t.Helper()
			wantY, wantJ, wantH := rootedWant(x, s)
			y, j, all, err := p.ValueJacobianAndHessians(nil, jac, dst, x)
			if err != nil {
				t.Errorf("%s: %s: %v", b.Name(), what, err)
				return
			}
			if !floats.EqualApprox(y, wantY, tol) || !floats.EqualApprox(elements(j), wantJ, tol) {
				t.Errorf("%s: %s: value %v and Jacobian %v, want %v and %v", b.Name(), what, y, elements(j), wantY,
					wantJ)
			}
			for i, h := range all {
				if !floats.EqualApprox(elements(h), wantH[i], tol) {
					t.Errorf("%s: %s: Hessian %d is %v, want %v", b.Name(), what, i, elements(h), wantH[i])
				}
				if _, ok := h.(*sparse.SymCSC); dst == nil && ok != (len(p.Plans()) == 3) {
					t.Errorf("%s: %s: Hessian %d is a %T, plans %v", b.Name(), what, i, h, p.Plans())
				}
			}
		}
		x := []float64{0.5, 2}
		for range 3 {
			check("allocated", p, nil, nil, x, 3)
		}
		dst := []mat.Symmetric{mat.NewSymDense(2, nil), nil, mat.NewSymDense(2, nil)}
		check("given", p, mat.NewDense(3, 2, nil), dst, x, 3)
		check("given again", p, nil, dst, x, 3)
		q := p.Clone()
		if err := p.Rebind(&constraints{Scale: nabla.Const(-1)}); err != nil {
			t.Errorf("%s: %v", b.Name(), err)
		}
		check("rebound", p, nil, nil, x, -1)
		check("clone", q, nil, nil, x, 3)
		var shape *nabla.ShapeError
		if _, err := p.Hessians(make([]mat.Symmetric, 2), x); !errors.As(err, &shape) {
			t.Errorf("%s: two destinations: %v", b.Name(), err)
		}
		var alias *nabla.AliasError
		one := mat.NewSymDense(2, nil)
		if _, err := p.Hessians([]mat.Symmetric{one, nil, one}, x); !errors.As(err, &alias) {
			t.Errorf("%s: one destination twice: %v", b.Name(), err)
		}
		if tol > 1e-10 {
			continue
		}
		all, err := p.Hessians(nil, []float64{0, 2})
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		_, _, want := rootedWant([]float64{0, 2}, -1)
		for _, i := range []int{0, 2} {
			if !floats.EqualApprox(elements(all[i]), want[i], tol) {
				t.Errorf("%s: beside an infinite derivative Hessian %d is %v, want %v", b.Name(), i, elements(all[i]),
					want[i])
			}
		}
	}
}

func TestGradientWithAux(t *testing.T) {
	list := append(engines.Exact(), finitediff.Backend{}, nil,
		nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: reversediff.Backend{}},
		nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}})
	for _, b := range list {
		name, tol := "nil", 1e-12
		if b != nil {
			name = b.Name()
		}
		_, differences := b.(finitediff.Backend)
		if differences {
			tol = 1e-6
		}
		p, err := nabla.PrepareGradientWithAux(nabla.Bind(rooted, &constraints{Scale: nabla.Const(3)}), b,
			[]float64{1, 1})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		grad, aux := make([]float64, 2), make([]float64, 2)
		for _, x := range [][]float64{{0.5, 2}, {0, 2}, {3, -1}} {
			if differences && x[0] == 0 {
				continue
			}
			wantY, wantJ, _ := rootedWant(x, 3)
			y, _, _, err := p.GradientWithAux(grad, aux, x)
			if err != nil || math.Abs(y-wantY[0]) > tol || !floats.EqualApprox(grad, wantJ[:2], tol) ||
				!floats.EqualApprox(aux, wantY[1:], tol) {
				t.Errorf("%s at %v: %v, %v, %v, %v, want %v and %v", name, x, y, grad, aux, err, wantY, wantJ[:2])
			}
		}
		if err := p.Rebind(&constraints{Scale: nabla.Const(2)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if y, _, _, err := p.Clone().GradientWithAux(nil, nil, []float64{1, 5}); err != nil || y != 10 {
			t.Errorf("%s: rebound and cloned: %v, %v", name, y, err)
		}
		var alias *nabla.AliasError
		if _, _, _, err := p.GradientWithAux(grad, grad, []float64{1, 5}); !errors.As(err, &alias) {
			t.Errorf("%s: one destination twice: %v", name, err)
		}
		x := []float64{0.5, 2}
		if n := testing.AllocsPerRun(10, func() { p.GradientWithAux(grad, aux, x) }); isCompiled(b) && n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	empty := func(x []nabla.Real) []nabla.Real { return nil }
	var shape *nabla.ShapeError
	if _, err := nabla.PrepareGradientWithAux(empty, nil, []float64{1}); !errors.As(err, &shape) {
		t.Errorf("without outputs: %v", err)
	}
}

// isCompiled reports whether b is the compiled engine of recordings, whose calls do not allocate.
func isCompiled(b nabla.Backend) bool {
	r, ok := b.(reversediff.Backend)
	return ok && r.Compile
}
