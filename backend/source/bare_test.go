package source_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

func bowl(x []float64) float64 { return x[0] * x[0] }

// bowlCalls are the calls of bowl's code: with the value, and without.
var bowlCalls []string

func init() {
	register(bowl, nabla.Generated{New: func() nabla.Code {
		return nabla.Code{
			Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
				bowlCalls = append(bowlCalls, "value")
				y[0], xbar[0] = bowl(x), 2*x[0]*ybar[0]
				return 1
			},
			Gradient: func(xbar, x []float64, _ any) {
				bowlCalls = append(bowlCalls, "bare")
				xbar[0] = 2 * x[0]
			},
			AdjointTangent: func(y, xbar, xbardot, x, xdot, ybar []float64, _ any) int {
				bowlCalls = append(bowlCalls, "value")
				y[0], xbar[0], xbardot[0] = bowl(x), 2*x[0]*ybar[0], 2*xdot[0]*ybar[0]
				return 1
			},
			HVP: func(hv, x, v []float64, _ any) {
				bowlCalls = append(bowlCalls, "bare")
				hv[0] = 2 * v[0]
			},
		}
	}})
}

// bare are the calls of code that eight operators without the value make, and one with it.
func bare(check bool) []string {
	if check {
		// Code that is compared at x computes the value nearby too.
		return []string{"value", "value", "value", "value", "bare", "value", "value", "bare", "bare", "bare", "value",
			"value", "value"}
	}
	return append(slices.Repeat([]string{"bare"}, 8), "value")
}

// TestBare: the value is computed where it is asked for or compared with the function's,
// at calls 1, 2, 4 and 8.
func TestBare(t *testing.T) {
	for _, check := range []bool{true, false} {
		p, err := nabla.PrepareGradient(bowl, nabla.Policy{Backend: source.Reverse{}, NoStaleCheck: !check},
			[]float64{1})
		if err != nil {
			t.Fatal(err)
		}
		bowlCalls = nil
		for i := range 8 {
			if g, err := p.Gradient(nil, []float64{float64(i)}); err != nil || g[0] != 2*float64(i) {
				t.Errorf("call %d: %v, %v", i, g, err)
			}
		}
		if _, _, err := p.ValueAndGradient(nil, []float64{1}); err != nil {
			t.Error(err)
		}
		if want := bare(check); !slices.Equal(bowlCalls, want) {
			t.Errorf("%s, want %s", fmt.Sprint(bowlCalls), fmt.Sprint(want))
		}
	}
}

// TestBareHVP is TestBare for products with the Hessian.
func TestBareHVP(t *testing.T) {
	for _, check := range []bool{true, false} {
		p, err := nabla.PrepareHVP(bowl, nabla.Policy{Backend: source.Reverse{}, NoStaleCheck: !check}, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		bowlCalls = nil
		for i := range 8 {
			if hv, err := p.HVP(nil, []float64{float64(i)}, []float64{3}); err != nil || hv[0] != 6 {
				t.Errorf("call %d: %v, %v", i, hv, err)
			}
		}
		if y, g, hv, err := p.ValueGradientAndHVP(nil, nil, []float64{5}, []float64{3}); err != nil || y != 25 ||
			g[0] != 10 || hv[0] != 6 {
			t.Error(y, g, hv, err)
		}
		if want := bare(check); !slices.Equal(bowlCalls, want) {
			t.Errorf("%s, want %s", fmt.Sprint(bowlCalls), fmt.Sprint(want))
		}
	}
}

// TestBareColumns: of several products only the first comes with the value that is asked
// for.
func TestBareColumns(t *testing.T) {
	p, err := nabla.PrepareHVP(bowl, nabla.Policy{Backend: source.Reverse{}, NoStaleCheck: true}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	bowlCalls = nil
	hv, err := p.HVPBatch(nil, []float64{1}, mat.NewDense(1, 3, []float64{1, -1, 2}))
	if err != nil || !slices.Equal(hv.RawRowView(0), []float64{2, -2, 4}) ||
		!slices.Equal(bowlCalls, []string{"bare", "bare", "bare"}) {
		t.Error(hv, err, bowlCalls)
	}
}

func fragile(x []float64) float64 { return 3 * x[0] }

func init() {
	register(fragile, nabla.Generated{New: func() nabla.Code {
		return nabla.Code{
			Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
				y[0], xbar[0] = fragile(x), 3*ybar[0]
				return 1
			},
			Gradient: func(xbar, x []float64, _ any) { xbar[int(x[0])] = 3 },
		}
	}})
}

// TestBarePanics: a panic of code without the value is an error as any other one, and the
// next call is none the worse for it.
func TestBarePanics(t *testing.T) {
	p, err := nabla.PrepareGradient(fragile, nabla.Policy{Backend: source.Reverse{}, NoStaleCheck: true}, []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var panicked *nabla.PanicError
		if _, err := p.Gradient(nil, []float64{1}); !errors.As(err, &panicked) ||
			panicked.Function != "source_test.fragile" {
			t.Errorf("got %v, want a PanicError of the function", err)
		}
		if g, err := p.Gradient(nil, []float64{0}); err != nil || g[0] != 3 {
			t.Errorf("%v, %v", g, err)
		}
	}
}
