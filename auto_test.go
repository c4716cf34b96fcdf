package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/sparse"
)

// neighbours is Σ (xᵢ₊₁ - xᵢ²)², whose Hessian is tridiagonal.
func neighbours(x []nabla.Real) nabla.Real {
	s := nabla.Const(0)
	for i := range len(x) - 1 {
		s = s.Add(x[i+1].Sub(x[i].Sq()).Sq())
	}
	return s
}

// neighboursHessian is the Hessian of neighbours at x.
func neighboursHessian(x []float64) *mat.SymDense {
	h := mat.NewSymDense(len(x), nil)
	for i := range len(x) - 1 {
		h.SetSym(i, i, h.At(i, i)+12*x[i]*x[i]-4*x[i+1])
		h.SetSym(i, i+1, -4*x[i])
		h.SetSym(i+1, i+1, h.At(i+1, i+1)+2)
	}
	return h
}

// coupled is (Σ xᵢ)³, whose Hessian is full.
func coupled(x []nabla.Real) nabla.Real { return nabla.Sum(x...).PowConst(3) }

// halves has an output for each input and its successor, the half of their product.
func halves(x []nabla.Real) []nabla.Real {
	y := make([]nabla.Real, len(x))
	for i := range y {
		y[i] = x[i].Mul(x[(i+1)%len(x)]).Scale(0.5)
	}
	return y
}

func ramp(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 + 0.01*float64(i)
	}
	return x
}

// TestAutoSelects: which engine serves which function and operator.
func TestAutoSelects(t *testing.T) {
	sphere := problems.RosenbrockPlain // with generated code
	for _, c := range []struct {
		name string
		make func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error)
		want string
	}{
		{"gradient over Reals", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareGradient(neighbours, b, ramp(5))
		}, "reversediff(compile)"},
		{"pushforward over Reals", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PreparePushforward(halves, b, ramp(5))
		}, "forwarddiff"},
		{"small Jacobian", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareJacobian(halves, b, ramp(5))
		}, "reversediff(compile)"},
		{"sparse Jacobian", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareJacobian(halves, b, ramp(100))
		}, "sparse(reversediff(compile))"},
		{"sparse Hessian", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareHessian(neighbours, b, ramp(100))
		}, "sparse(reversediff(compile))"},
		{"sparse weighted Hessian", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareWeightedHessian(halves, b, ramp(100))
		}, "sparse(reversediff(compile))"},
		{"full Hessian", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareHessian(coupled, b, ramp(100))
		}, "reversediff(compile)"},
		{"large full Hessian", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareHessian(coupled, b, ramp(200))
		}, "forwarddiff over reversediff(compile)"},
		{"diagonal", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareHessianDiagonal(neighbours, b, ramp(100))
		}, "reversediff(compile)"},
		{"gradient with code", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareGradient(sphere, b, ramp(5))
		}, "source(reverse)"},
		{"pushforward with code", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PreparePushforward(sphere, b, ramp(5))
		}, "source(forward)"},
		{"Hessian with code", func(b nabla.Backend) (interface{ Explain() nabla.Explanation }, error) {
			return nabla.PrepareHessian(sphere, b, ramp(5))
		}, "source(reverse)"},
	} {
		for _, b := range []nabla.Backend{nil, nabla.Auto{}, &nabla.Auto{}, nabla.Preparation{}} {
			p, err := c.make(b)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if e := p.Explain(); e.Backend.Name() != c.want || len(e.Why) == 0 ||
				!strings.Contains(e.String(), e.Operator+" of "+e.Function+" by "+c.want) {
				t.Errorf("%s on %T: got\n%v\nwant %s", c.name, b, e, c.want)
			}
		}
		dense, err := c.make(nabla.Auto{Dense: true})
		if err != nil || strings.HasPrefix(dense.Explain().Backend.Name(), "sparse") {
			t.Errorf("%s, dense: %v, %v", c.name, dense.Explain(), err)
		}
		if p, err := c.make(forwarddiff.Backend{}); err != nil || p.Explain().Backend.Name() != "forwarddiff" ||
			p.Explain().Why != nil {
			t.Errorf("%s on forwarddiff: %v, %v", c.name, p.Explain(), err)
		}
	}
}

// TestAutoInComposites: nil and Auto are engines in every composite.
func TestAutoInComposites(t *testing.T) {
	x := ramp(40)
	want := neighboursHessian(x)
	for _, c := range []struct {
		b    nabla.Backend
		want string
	}{
		{nabla.AutoSparse{}, "sparse(reversediff(compile))"},
		{nabla.SecondOrder{}, "forwarddiff over reversediff(compile)"},
		{nabla.SecondOrder{Outer: reversediff.Backend{}}, "reversediff over reversediff(compile)"},
		{nabla.SecondOrder{Inner: forwarddiff.Backend{}}, "forwarddiff over forwarddiff"},
		{nabla.AutoSparse{Dense: nabla.SecondOrder{Inner: nabla.Auto{}}},
			"sparse(forwarddiff over reversediff(compile))"},
		{nabla.MixedMode{}, "mixed(forwarddiff, reversediff(compile))"},
		{nabla.Policy{Backend: nabla.SecondOrder{}, NoStaleCheck: true},
			"(forwarddiff over reversediff(compile))+nostalecheck"},
		{nabla.Policy{OnGuard: nabla.Fail}, "sparse(reversediff(compile))+fail"},
	} {
		p, err := nabla.PrepareHessian(neighbours, c.b, x)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		h, err := p.Dense(nil, x)
		if got := p.Explain().Backend.Name(); err != nil || got != c.want || !mat.EqualApprox(h, want, 1e-12) {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}

// TestAutoMatrices: a destination of either type works with the selected engine, prepared or not, in the original and
// in a clone, and a length that suits another engine selects it.
func TestAutoMatrices(t *testing.T) {
	x := ramp(100)
	p, err := nabla.PrepareHessian(neighbours, nil, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*nabla.HessianPrep{p, p.Clone()} {
		h, err := p.Hessian(nil, x)
		if _, isSparse := h.(*sparse.SymCSC); err != nil || !isSparse ||
			!mat.EqualApprox(h, neighboursHessian(x), 1e-12) {
			t.Errorf("a %T, %v", h, err)
		}
		if h, err = p.Hessian(mat.NewSymDense(100, nil), x); err != nil ||
			!mat.EqualApprox(h, neighboursHessian(x), 1e-12) {
			t.Errorf("into a dense matrix: %v", err)
		}
	}
	small := x[:3]
	if err := p.Resize(small); err != nil {
		t.Fatal(err)
	}
	h, err := p.Hessian(nil, small)
	if name := p.Explain().Backend.Name(); err != nil || name != "reversediff(compile)" || p.Plan() != nil ||
		!mat.EqualApprox(h, neighboursHessian(small), 1e-12) {
		t.Errorf("resized: %s, %v, %v", name, h, err)
	}
	h, err = nabla.Hessian(neighbours, nil, x)
	if _, isSparse := h.(*sparse.SymCSC); err != nil || isSparse || !mat.EqualApprox(h, neighboursHessian(x), 1e-12) {
		t.Errorf("one call: a %T, %v", h, err)
	}
	x = ramp(300)
	h, err = nabla.Hessian(neighbours, nil, x)
	if _, isSparse := h.(*sparse.SymCSC); err != nil || !isSparse || !mat.EqualApprox(h, neighboursHessian(x), 1e-12) {
		t.Errorf("one large call: a %T, %v", h, err)
	}
}

func blackBox(x []float64) float64 { return x[0] * math.Sin(x[1]) }

// TestAutoIsExact: without code and without Reals there are only differences, which Auto does not take unasked.
func TestAutoIsExact(t *testing.T) {
	x := []float64{2, 3}
	for _, b := range []nabla.Backend{nil, nabla.Auto{Dense: true}, nabla.SecondOrder{}, nabla.AutoSparse{}} {
		_, err := nabla.PrepareHessian(blackBox, b, x)
		var unsupported *nabla.UnsupportedError
		if !errors.As(err, &unsupported) || !strings.Contains(unsupported.What, "blackBox") ||
			!strings.Contains(unsupported.Remedy, "go tool nabla gen") ||
			!strings.Contains(unsupported.Remedy, "Auto{Approximate: true}") {
			t.Errorf("%v: %v", b, err)
		}
	}
	p, err := nabla.PrepareGradient(blackBox, nabla.Auto{Approximate: true}, x)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Gradient(nil, x)
	if e := p.Explain(); err != nil || math.Abs(g[1]-2*math.Cos(3)) > 1e-8 || e.Backend != (finitediff.Backend{}) ||
		!strings.Contains(e.String(), "differences are allowed") {
		t.Error(g, err, e)
	}
}

// TestAutoYields: an engine that cannot compute the operator gives way to the next, and the explanation says so.
func TestAutoYields(t *testing.T) {
	long := func(x []nabla.Real) nabla.Real { // no more fits into a recording
		s := x[0]
		for range 3 << 20 {
			s = s.Add(x[0]).Sub(x[0]).Add(x[1]).Sub(x[1])
		}
		return s.Mul(x[1])
	}
	longtest.Skip(t, "a recording of 10⁷ operations")
	p, err := nabla.PrepareGradient(long, nil, []float64{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Gradient(nil, []float64{2, 3})
	e := p.Explain()
	if err != nil || !slices.Equal(g, []float64{3, 2}) || e.Backend.Name() != "forwarddiff" || len(e.Why) != 2 ||
		!strings.Contains(e.Why[0], "not reversediff(compile): ") {
		t.Error(g, err, e)
	}
}

// TestAutoOfFailingFunctions: the errors of the function, and of what is passed, are those of an engine.
func TestAutoOfFailingFunctions(t *testing.T) {
	fails := errors.New("out of range")
	f := func([]nabla.Real) (nabla.Real, error) { return nabla.Real{}, fails }
	if _, err := nabla.PrepareHessian(f, nil, ramp(100)); !errors.Is(err, fails) {
		t.Error(err)
	}
	panics := func([]nabla.Real) nabla.Real { panic("mine") }
	var panicked *nabla.PanicError
	if _, err := nabla.PrepareHessian(panics, nil, ramp(100)); !errors.As(err, &panicked) || panicked.Value != "mine" {
		t.Error(err)
	}
	if _, err := nabla.Gradient(neighbours, (*nabla.Auto)(nil), ramp(2)); !errors.Is(err, nabla.ErrUnsupported) {
		t.Error(err)
	}
}

// TestAutoInside: nil is an engine for nested derivatives, functions with an engine of their own, choices and
// detectors.
func TestAutoInside(t *testing.T) {
	x := []float64{1.5, 2.5}
	want, err := nabla.Gradient(neighbours, forwarddiff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(x []nabla.Real) nabla.Real{
		"GradientFunc":      func(x []nabla.Real) nabla.Real { return nabla.GradientFunc(neighbours, nil)(x)[0] },
		"DifferentiateWith": nabla.DifferentiateWith(neighbours, nil),
	} {
		for _, b := range append(engines.Exact(), nil) {
			g, err := nabla.Gradient(f, b, x)
			exact := want
			if name == "GradientFunc" {
				h := neighboursHessian(x)
				exact = []float64{h.At(0, 0), h.At(0, 1)}
			}
			if err != nil || math.Abs(g[0]-exact[0]) > 1e-11 || math.Abs(g[1]-exact[1]) > 1e-11 {
				t.Errorf("%s: %v, %v, want %v", name, g, err, exact)
			}
		}
	}
	if c, err := nabla.Choose(neighbours, x, nil, finitediff.Backend{}); err != nil || c.Rows[0].Err != nil ||
		c.Rows[1].Err != nil {
		t.Error(c, err)
	}
	if p, err := nabla.JacobianSparsity(halves, nabla.DenseDetector{}, x); err != nil || p.NNZ() != 4 {
		t.Error(p, err)
	}
}

func ExampleAuto() {
	f := func(x []nabla.Real) nabla.Real { return nabla.Dot(x, x) }
	prep, err := nabla.PrepareGradient(f, nil, []float64{1, 2}) // nil is nabla.Auto{}
	if err != nil {
		panic(err)
	}
	fmt.Println(prep.Gradient(nil, []float64{1, 2}))
	fmt.Println(prep.Explain().Backend.Name())
	// Output:
	// [2 4] <nil>
	// reversediff(compile)
}
