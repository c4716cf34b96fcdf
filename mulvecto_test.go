package nabla_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
)

// mulVecTo is the method that gonum's iterative solvers ask of an operator.
type mulVecTo interface {
	Dims() (r, c int)
	MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector)
}

var _, _ mulVecTo = (*nabla.LinearOp)(nil), (*nabla.HessianOp)(nil)

// notRaw is a vector that does not show its data.
type notRaw struct{ mat.Vector }

// TestMulVecTo compares MulVecTo with Apply and Transpose, for destinations and arguments of every form that gonum
// permits: empty, with an increment, the same vector, parts of one matrix, and without raw data.
func TestMulVecTo(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{x[0].Mul(x[1]), nabla.Sin(x[1].Mul(x[2])), x[2].Sq()}
	}
	sum := func(x []nabla.Real) nabla.Real { return nabla.Sum(f(x)...) }
	x := []float64{0.3, -1.2, 0.7}
	for _, b := range allEngines {
		linear, err := nabla.Linearize(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		prep, err := nabla.PrepareHVP(sum, b, x)
		if err != nil {
			t.Fatal(err)
		}
		hess, err := prep.At(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name  string
			op    mulVecTo
			trans bool
			apply func(dst, v []float64) ([]float64, error)
		}{
			{"LinearOp", linear, false, linear.Apply}, {"LinearOp, transposed", linear, true, linear.Transpose},
			{"HessianOp", hess, false, hess.Apply}, {"HessianOp, transposed", hess, true, hess.Apply},
		} {
			v := []float64{1, -2, 0.5}
			want, err := c.apply(nil, v)
			if err != nil {
				t.Fatal(err)
			}
			if r, k := c.op.Dims(); r != 3 || k != 3 {
				t.Errorf("%s of %s: dimensions %d, %d", c.name, b.Name(), r, k)
			}
			both := func() (m *mat.Dense) { // v in column 1
				m = mat.NewDense(3, 2, nil)
				m.SetCol(1, v)
				return m
			}
			m, own := both(), mat.NewVecDense(3, slices.Clone(v))
			same := both()
			for form, p := range map[string]struct {
				dst *mat.VecDense
				x   mat.Vector
			}{
				"empty":           {new(mat.VecDense), mat.NewVecDense(3, v)},
				"columns":         {m.ColView(0).(*mat.VecDense), m.ColView(1)},
				"one column":      {same.ColView(1).(*mat.VecDense), same.ColView(1)},
				"one vector":      {own, own},
				"without data":    {mat.NewVecDense(3, nil), notRaw{mat.NewVecDense(3, v)}},
				"transposed view": {mat.NewVecDense(3, nil), mat.NewVecDense(3, v).TVec()},
			} {
				c.op.MulVecTo(p.dst, c.trans, p.x)
				for i, w := range want {
					if got := p.dst.AtVec(i); !(math.Abs(got-w) <= 1e-12*max(1, math.Abs(w))) {
						t.Errorf("%s of %s, %s: element %d is %v, want %v", c.name, b.Name(), form, i, got, w)
					}
				}
			}
			if !slices.Equal(mat.Col(nil, 1, m), v) {
				t.Errorf("%s of %s changes its argument", c.name, b.Name())
			}
			for _, lengths := range [][2]int{{3, 2}, {2, 3}, {4, 4}} {
				if v := panicOf(func() {
					c.op.MulVecTo(mat.NewVecDense(lengths[0], nil), c.trans, mat.NewVecDense(lengths[1], nil))
				}); v != mat.ErrShape {
					t.Errorf("%s, lengths %v: panic %v, want %v", c.name, lengths, v, mat.ErrShape)
				}
			}
		}
	}
	// An error of the function is the panic.
	broken := errors.New("broken")
	fail := false
	prep, err := nabla.PrepareHVP(func(x []nabla.Real) (nabla.Real, error) {
		if fail {
			return nabla.Real{}, broken
		}
		return x[0].Sq(), nil
	}, forwarddiff.Backend{}, x[:1])
	if err != nil {
		t.Fatal(err)
	}
	op, err := prep.At(x[:1])
	if err != nil {
		t.Fatal(err)
	}
	fail = true
	v := panicOf(func() { op.MulVecTo(new(mat.VecDense), false, mat.NewVecDense(1, nil)) })
	if err, _ := v.(error); !errors.Is(err, broken) {
		t.Errorf("panic %v, want the error of the function", v)
	}
}

// panicOf returns the value that f panics with.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// TestValueAlone compares the values alone with those that come with derivatives, after changes of the bound struct and
// between derivatives, and has the errors.
func TestValueAlone(t *testing.T) {
	type model struct{ Weight nabla.Real }
	m := &model{nabla.Const(2)}
	f := nabla.Bind(func(x []nabla.Real, m *model) []nabla.Real {
		return []nabla.Real{m.Weight.Mul(nabla.Exp(x[0])), x[1].Mul(x[0])}
	}, m)
	for _, b := range allEngines {
		x := []float64{0.5, -2}
		jac, err := nabla.PrepareJacobian(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		grad, err := nabla.PrepareGradient(nabla.Output(f, 0), b, x)
		if err != nil {
			t.Fatal(err)
		}
		if r, c := jac.Dims(); r != 2 || c != 2 {
			t.Errorf("dimensions %d, %d", r, c)
		}
		for _, w := range []float64{2, -3} {
			m.Weight = nabla.Const(w)
			x[0] += 0.25
			y, err := jac.Value(nil, x)
			if want := []float64{w * math.Exp(x[0]), x[0] * x[1]}; err != nil || !slices.Equal(y, want) {
				t.Errorf("%s: %v, %v, want %v", b.Name(), y, err, want)
			}
			if v, err := grad.Value(x); err != nil || v != y[0] {
				t.Errorf("%s: %v, %v, want %v", b.Name(), v, err, y[0])
			}
			if v, _, err := grad.ValueAndGradient(nil, x); err != nil || math.Abs(v-y[0]) > 1e-14*math.Abs(v) {
				t.Errorf("%s: %v with a gradient, %v alone, %v", b.Name(), v, y[0], err)
			}
		}
		var shape *nabla.ShapeError
		var alias *nabla.AliasError
		if _, err := grad.Value(x[:1]); !errors.As(err, &shape) {
			t.Errorf("a point of length 1: %v", err)
		}
		if _, err := jac.Value(make([]float64, 3), x); !errors.As(err, &shape) {
			t.Errorf("a value of length 3: %v", err)
		}
		if _, err := jac.Value(x, x); !errors.As(err, &alias) {
			t.Errorf("a value in place of the point: %v", err)
		}
	}
}
