package nabla_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/program"
)

// cubeAndSine is x0³·x1 + sin(x2).
func cubeAndSine(x []nabla.Real) nabla.Real {
	return x[0].Sq().Mul(x[0]).Mul(x[1]).Add(nabla.Sin(x[2]))
}

func valueOf(t *testing.T, r *nabla.Recorded, err error, x ...float64) []float64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	y, err := r.Value(nil, x)
	if err != nil {
		t.Fatalf("%s at %v: %v", r.Name(), x, err)
	}
	return y
}

func allNear(t *testing.T, what string, got, want []float64) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range got {
		ok = ok && (math.Abs(got[i]-want[i]) <= 1e-13*(1+math.Abs(want[i])))
	}
	if !ok {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestRecordedDerivatives(t *testing.T) {
	r, err := nabla.Record(cubeAndSine, []float64{1, 1, 1})
	allNear(t, "value", valueOf(t, r, err, 2, 3, 0.5), []float64{24 + math.Sin(0.5)})
	grad := []float64{36, 8, math.Cos(0.5)}
	hess := []float64{36, 12, 0, 12, 0, 0, 0, 0, -math.Sin(0.5)}
	g, err := r.Gradient()
	allNear(t, "gradient", valueOf(t, g, err, 2, 3, 0.5), grad)
	j, err := r.Jacobian()
	allNear(t, "Jacobian", valueOf(t, j, err, 2, 3, 0.5), grad)
	h, err := r.Hessian()
	allNear(t, "Hessian", valueOf(t, h, err, 2, 3, 0.5), hess)
	gj, err := g.Jacobian()
	allNear(t, "Jacobian of gradient", valueOf(t, gj, err, 2, 3, 0.5), hess)
	hv, err := r.HVP()
	allNear(t, "HVP", valueOf(t, hv, err, 2, 3, 0.5, 1, 10, 100), []float64{156, 12, -100 * math.Sin(0.5)})
	pf, err := r.Pushforward()
	allNear(t, "pushforward", valueOf(t, pf, err, 2, 3, 0.5, 1, 10, 0), []float64{116})
	pb, err := g.Pullback()
	allNear(t, "pullback of gradient", valueOf(t, pb, err, 2, 3, 0.5, 0, 1, 0), hess[3:6])
	// The pushforward is a function of the point and the direction, in which it is linear.
	pg, err := pf.Gradient()
	allNear(t, "gradient of pushforward", valueOf(t, pg, err, 2, 3, 0.5, 1, 10, 0), append([]float64{156, 12, 0},
		grad...))

	sh, err := r.SparseHessian()
	allNear(t, "sparse Hessian", valueOf(t, sh, err, 2, 3, 0.5), []float64{36, 12, 12, -math.Sin(0.5)})
	if p := sh.Pattern(); !slices.Equal(p.ColPtr(), []int{0, 2, 3, 4}) || !slices.Equal(p.RowIndex(), []int{0, 1, 0,
		2}) {
		t.Errorf("columns %v, rows %v", p.ColPtr(), p.RowIndex())
	}
	sj, err := g.SparseJacobian()
	allNear(t, "sparse Jacobian", valueOf(t, sj, err, 2, 3, 0.5), []float64{36, 12, 12, -math.Sin(0.5)})
}

// A recorded function is passed to operators, also to those of second order, and inside of other functions.
func TestRecordedIsAFunction(t *testing.T) {
	x := []float64{2, 3, 0.5}
	r, err := nabla.Record(cubeAndSine, x)
	if err != nil {
		t.Fatal(err)
	}
	grad, err := r.Gradient()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range allEngines {
		g, err := nabla.Gradient(r, b, x)
		if errors.Is(err, nabla.ErrUnsupported) && strings.Contains(b.Name(), "source") { // runs generated code only
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		within(t, "gradient", b, g, []float64{36, 8, math.Cos(0.5)}, 1e-12)
		jac, err := nabla.PrepareJacobian(grad, b, x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		j, err := jac.Dense(nil, x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		within(t, "Jacobian of the gradient", b, j.RawMatrix().Data,
			[]float64{36, 12, 0, 12, 0, 0, 0, 0, -math.Sin(0.5)}, 1e-12)
	}
	number, err := nabla.Record(func(x nabla.Real) nabla.Real { return nabla.Exp(x) }, []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	d, err := nabla.Derivative(number, nil, 1.0)
	if err != nil || math.Abs(d-math.E) > 1e-15 {
		t.Errorf("derivative of exp at 1: %v, %v", d, err)
	}
}

// Where the function takes another branch there is an error and no number.
func TestRecordedGuards(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		if x[0].Less(nabla.Const(1)) {
			return x[0].Sq()
		}
		return x[1]
	}
	r, err := nabla.Record(f, []float64{0, 5})
	allNear(t, "value", valueOf(t, r, err, 0.5, 0), []float64{0.25})
	g, err := r.Gradient()
	allNear(t, "gradient", valueOf(t, g, err, 0.5, 0), []float64{1, 0})
	for _, r := range []*nabla.Recorded{r, g} {
		if r.Guards() != 1 {
			t.Errorf("%s has %d guards", r.Name(), r.Guards())
		}
		y, err := r.Value(nil, []float64{2, 5})
		var e *nabla.GuardError
		if y != nil || !errors.As(err, &e) || !errors.Is(err, nabla.ErrGuard) || e.Guards != 1 {
			t.Errorf("%s: %v, %v", r.Name(), y, err)
		}
		for _, b := range allEngines {
			if y, err := nabla.Jacobian(r, b, []float64{2, 5}); r == g && !errors.As(err, &e) &&
				!errors.Is(err, nabla.ErrUnsupported) {
				t.Errorf("%s with %s: %v, %v", r.Name(), b.Name(), y, err)
			}
		}
	}
}

// An infinite partial derivative does not reach what does not depend on it.
func TestRecordedStructuralZeros(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		return nabla.Where(nabla.Lt(nabla.Const(0), x[0]), nabla.Sqrt(x[0]), nabla.Const(0)).Add(x[1].Sq())
	}
	r, err := nabla.Record(f, []float64{1, 1})
	g, err2 := r.Gradient()
	allNear(t, "gradient", valueOf(t, g, errors.Join(err, err2), 0, 3), []float64{0, 6})
	h, err := r.Hessian()
	allNear(t, "Hessian", valueOf(t, h, err, 0, 3), []float64{0, 0, 0, 2})
	allNear(t, "strong Hessian", valueOf(t, h.Strong(), nil, 0, 3), []float64{0, 0, 0, 2})
	b := reversediff.Backend{Compile: true}
	j, err := nabla.Jacobian(g, b, []float64{0, 3})
	if err != nil {
		t.Fatal(err)
	}
	allNear(t, "Jacobian of the gradient", mat.DenseCopyOf(j).RawMatrix().Data, []float64{0, 0, 0, 2})
}

func TestRecordedKinds(t *testing.T) {
	type data struct{ A nabla.Vec }
	values := []float64{3, 4}
	bound := nabla.Bind(func(x []nabla.Real, d *data) nabla.Real { return d.A.At(0).Mul(x[0]).Add(d.A.At(1)) },
		&data{nabla.VecOf(values)})
	r, err := nabla.Record(bound, []float64{1})
	values[0] = 100 // the recording has the values of its time
	allNear(t, "bound", valueOf(t, r, err, 2), []float64{10})
	r, err = nabla.Record(nabla.InPlace(2, func(y, x []nabla.Real) { y[0], y[1] = x[0].Neg(), x[0].Sq() }),
		[]float64{1})
	allNear(t, "in place", valueOf(t, r, err, 3), []float64{-3, 9})
	r, err = nabla.Record(func(x nabla.Real) []nabla.Real { return []nabla.Real{x, nabla.Sin(x)} }, []float64{1})
	allNear(t, "curve", valueOf(t, r, err, 3), []float64{3, math.Sin(3)})
	again, err := nabla.Record(r, []float64{1})
	allNear(t, "recorded again", valueOf(t, again, err, 3), []float64{3, math.Sin(3)})
	if _, err := r.Gradient(); !errors.As(err, new(*nabla.ShapeError)) {
		t.Errorf("gradient of two outputs: %v", err)
	}
	rule := nabla.Rule{Name: "square", Value: func(y, x []float64) { y[0] = x[0] * x[0] },
		JVP: func(ydot, x, y, xdot []float64) { ydot[0] = 2 * x[0] * xdot[0] }}
	r, err = nabla.Record(func(x []nabla.Real) nabla.Real { return rule.Func()(x...)[0] }, []float64{1})
	g, err2 := r.Gradient()
	allNear(t, "gradient of a rule", valueOf(t, g, errors.Join(err, err2), 3), []float64{6})
}

func TestRecordedMistakes(t *testing.T) {
	r, err := nabla.Record(cubeAndSine, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	var shape *nabla.ShapeError
	var alias *nabla.AliasError
	var mistake *nabla.FuncError
	if _, err := r.Value(nil, []float64{1}); !errors.As(err, &shape) {
		t.Errorf("short x: %v", err)
	}
	if _, err := r.Value(make([]float64, 2), []float64{1, 2, 3}); !errors.As(err, &shape) {
		t.Errorf("long dst: %v", err)
	}
	x := []float64{1, 2, 3}
	if _, err := r.Value(x[:1], x); !errors.As(err, &alias) {
		t.Errorf("overlap: %v", err)
	}
	if _, err := nabla.Record(func(x []float64) float64 { return x[0] }, x); !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("black box: %v", err)
	}
	for _, r := range []*nabla.Recorded{nil, {}} {
		if _, err := nabla.Gradient(r, nil, x); !errors.As(err, &mistake) {
			t.Errorf("%v: %v", r == nil, err)
		}
	}
	for _, text := range []string{"", "%0 = input x\n%1:2 = param 0\nout y [%1]",
		"%0 = input x\n%1 = input x\nout y [%1]",
		"%0 = input x\nout y [%7]"} {
		p, err := program.Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nabla.RecordedOf("f", p); !errors.As(err, &mistake) {
			t.Errorf("%q: %v", text, err)
		}
	}
	p, err := program.Parse("%0 = input x\n%1 = input z\n%2 = mul %0 %1\nout y [%2]\nout w [%0]", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err = nabla.RecordedOf("f", p)
	allNear(t, "a program", valueOf(t, r, err, 3, 5), []float64{15, 3})
	j, err := r.Jacobian()
	allNear(t, "its Jacobian", valueOf(t, j, err, 3, 5), []float64{5, 3, 1, 0})
}

func TestRecordedIsShared(t *testing.T) {
	r, err := nabla.Record(cubeAndSine, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.Gradient()
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for k := range 4 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(k), 0))
			for range 100 {
				x := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
				got, err := g.Value(nil, x)
				if want := 3 * x[0] * x[0] * x[1]; err != nil || math.Abs(got[0]-want) > 1e-14 {
					t.Errorf("at %v: %v, %v", x, got, err)
				}
			}
		})
	}
	wait.Wait()
	dst, x := make([]float64, 3), []float64{1, 2, 3}
	if n := testing.AllocsPerRun(100, func() { _, _ = g.Value(dst, x) }); n > 0 {
		t.Errorf("a call allocates %v times", n)
	}
}
