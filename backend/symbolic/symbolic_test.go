package symbolic_test

import (
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/sparsity"
)

// branching compares its argument.
func branching(x []nabla.Real) nabla.Real {
	if x[0].Less(x[1]) { // the line of the refusal
		return x[0].Sq()
	}
	return x[1].Sq()
}

// TestRefusal: a function that compares numbers is refused with the line, by every operator and as the inner of two
// engines, and the same function with Where is not.
func TestRefusal(t *testing.T) {
	source, err := os.ReadFile("symbolic_test.go")
	if err != nil {
		t.Fatal(err)
	}
	line := 1 + strings.Count(string(source[:strings.Index(string(source), "// the line of the refusal")]), "\n")
	x := []float64{1, 2}
	b := symbolic.Backend{}
	for name, prepare := range map[string]func() error{
		"gradient": func() error { _, err := nabla.PrepareGradient(branching, b, x); return err },
		"hessian":  func() error { _, err := nabla.PrepareHessian(branching, b, x); return err },
		"hvp":      func() error { _, err := nabla.PrepareHVP(branching, b, x); return err },
		"sparse hessian": func() error {
			_, err := nabla.PrepareHessian(branching, nabla.AutoSparse{Dense: b}, x)
			return err
		},
		"over": func() error {
			_, err := nabla.PrepareHessian(branching, nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: b}, x)
			return err
		},
		"outer": func() error {
			_, err := nabla.PrepareHessian(branching,
				nabla.SecondOrder{Outer: b, Inner: reversediff.Backend{Compile: true}}, x)
			return err
		},
		"jacobian": func() error {
			_, err := nabla.PrepareJacobian(func(x []nabla.Real) []nabla.Real {
				return []nabla.Real{branching(x)}
			}, b, x)
			return err
		},
	} {
		err := prepare()
		var branch *symbolic.BranchError
		var pattern *sparsity.BranchError
		switch {
		case !errors.As(err, &branch) || !errors.As(err, &pattern) || !errors.Is(err, nabla.ErrUnsupported):
			t.Errorf("%s: %v", name, err)
		case branch.Line != line || !strings.HasSuffix(branch.File, "symbolic_test.go") || branch.Call != "Real.Less":
			t.Errorf("%s: %v, want line %d", name, err, line)
		case !strings.Contains(err.Error(), "nabla.Where"):
			t.Errorf("%s: %v has no remedy", name, err)
		}
	}
	where := func(x []nabla.Real) nabla.Real {
		return nabla.Where(nabla.Lt(x[0], x[1]), x[0].Sq(), x[1].Sq())
	}
	p, err := nabla.PrepareGradient(where, b, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2][]float64{{{1, 2}, {2, 0}}, {{3, 2}, {0, 4}}} {
		if g, err := p.Gradient(nil, c[0]); err != nil || g[0] != c[1][0] || g[1] != c[1][1] {
			t.Errorf("%v, %v, want %v", g, err, c[1])
		}
	}
	if p.Recordings() != 1 {
		t.Errorf("%d recordings", p.Recordings())
	}
}

// TestBranchLater: a function that compares numbers only after its struct has changed is refused in the call.
func TestBranchLater(t *testing.T) {
	type data struct{ Branch bool }
	d := &data{}
	f := nabla.Bind(func(x []nabla.Real, d *data) nabla.Real {
		if d.Branch {
			return branching(x)
		}
		return x[0].Mul(x[1])
	}, d)
	p, err := nabla.PrepareGradient(f, symbolic.Backend{}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if g, err := p.Gradient(nil, []float64{3, 4}); err != nil || g[0] != 4 {
		t.Error(g, err)
	}
	d.Branch = true
	var branch *symbolic.BranchError
	if _, err = p.Gradient(nil, []float64{3, 4}); !errors.As(err, &branch) || branch.Line == 0 {
		t.Error(err)
	}
	d.Branch = false
	if g, err := p.Gradient(nil, []float64{3, 5}); err != nil || g[0] != 5 {
		t.Error(g, err)
	}
}

// TestStale: captured data that changes is found.
func TestStale(t *testing.T) {
	k := 2.0
	f := func(x []nabla.Real) nabla.Real { return x[0].Sq().Scale(k) }
	p, err := nabla.PrepareGradient(f, symbolic.Backend{}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	wrong, stale := 0, false
	for call := range 20 {
		if call == 5 {
			k = 3
		}
		g, err := p.Gradient(nil, []float64{2})
		switch {
		case errors.Is(err, nabla.ErrStale):
			stale = true
		case err != nil:
			t.Fatal(err)
		case g[0] != 4*k:
			wrong++
		}
	}
	if wrong > 0 && !stale {
		t.Errorf("%d wrong derivatives and no error", wrong)
	}
	if g, err := p.Gradient(nil, []float64{2}); err != nil || g[0] != 12 {
		t.Error(g, err)
	}
}

// TestRulesOfUsers: a function that calls a custom rule is differentiated by sweeps.
func TestRulesOfUsers(t *testing.T) {
	rule := nabla.Rule{
		Name:  "cube",
		Value: func(y, x []float64) { y[0] = x[0] * x[0] * x[0] },
		VJPReal: func(xbar, x, y, ybar []nabla.Real) {
			xbar[0] = x[0].Sq().Scale(3).Mul(ybar[0])
		},
	}
	cube := rule.Func()
	f := func(x []nabla.Real) nabla.Real { return nabla.Sin(cube(x[0].Mul(x[1]))[0]) }
	x := []float64{0.7, 1.1}
	got, err := nabla.Hessian(f, symbolic.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	want, err := nabla.Hessian(func(x []nabla.Real) nabla.Real {
		p := x[0].Mul(x[1])
		return nabla.Sin(p.Sq().Mul(p))
	}, forwarddiff.Hyper{}, x)
	if err != nil || !mat.EqualApprox(got, want, 1e-12) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestSingular: what a selected value does not depend on has derivative 0, also where it meets an infinite factor.
func TestSingular(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real {
		root := nabla.Where(nabla.Lt(nabla.Const(0), x[0]), nabla.Sqrt(x[0]), nabla.Const(0))
		return []nabla.Real{root.Mul(x[1]), root.Add(x[1].Sq())}
	}
	j, err := nabla.Jacobian(f, symbolic.Backend{}, []float64{0, 3})
	if err != nil || !mat.Equal(j, mat.NewDense(2, 2, []float64{0, 0, 0, 6})) {
		t.Errorf("%v, %v", j, err)
	}
	g := func(x []nabla.Real) nabla.Real { return nabla.Sqrt(x[0]).Mul(x[1]) }
	grad, err := nabla.Gradient(g, symbolic.Backend{}, []float64{0, 3})
	if err != nil || !math.IsInf(grad[0], 1) || grad[1] != 0 {
		t.Errorf("%v, %v", grad, err)
	}
}

// TestClones: clones run in parallel.
func TestClones(t *testing.T) {
	p, err := nabla.PrepareJacobian(differences, symbolic.Backend{}, make([]float64, 8))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for k := range 4 {
		c := p.Clone()
		wg.Go(func() {
			x := make([]float64, 8)
			for i := range 200 {
				x[1] = float64(k*1000 + i)
				j, err := c.Dense(nil, x)
				if err != nil || j.At(0, 1) != 2*x[1] {
					t.Errorf("%v, %v", j, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestChoose: the engine is a candidate like others, and one that refuses a function is reported.
func TestChoose(t *testing.T) {
	c, err := nabla.Choose(chained, []float64{0.1, 0.2, 0.3}, symbolic.Backend{}, forwarddiff.Backend{})
	if err != nil || len(c.Rows) != 2 {
		t.Fatal(c, err)
	}
	c, err = nabla.Choose(branching, []float64{0.1, 0.2}, symbolic.Backend{}, forwarddiff.Backend{})
	if err != nil || c.Backend.Name() != "forwarddiff" || !strings.Contains(c.String(), "symbolic") {
		t.Error(c, err)
	}
}

func TestName(t *testing.T) {
	if s := (symbolic.Backend{Exact: true, Limit: 7}).Name(); s != "symbolic(exact, limit=7)" {
		t.Error(s)
	}
	var limit *nabla.LimitError
	if _, err := nabla.Gradient(chained, symbolic.Backend{Limit: 3}, make([]float64, 9)); !errors.As(err, &limit) {
		t.Error(err)
	}
}
