package reversediff_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"gonum.org/v1/gonum/mat"
)

// TestRowOfAnotherOutput holds that a row of a Jacobian sees nothing of an infinite
// or undefined derivative of another output.
func TestRowOfAnotherOutput(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{nabla.Y1(x[0]), nabla.Sqrt(x[0]), x[0].Scale(3)}
	}
	for _, b := range []reversediff.Backend{{}, {Compile: true}} {
		j, err := nabla.Jacobian(f, b, []float64{0})
		if err != nil {
			t.Fatal(err)
		}
		if got := mat.Row(nil, 2, j)[0]; got != 3 {
			t.Errorf("%s: derivative of 3x at 0 is %v", b.Name(), got)
		}
	}
}

// TestBranchNotTaken holds that the gradient of a Where sees nothing of an infinite
// derivative of the value that was not chosen, though the value shows no NaN.
func TestBranchNotTaken(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		return nabla.Where(nabla.Lt(nabla.Const(0), x[0]), nabla.Sqrt(x[0]), x[0].Scale(3))
	}
	for _, b := range []reversediff.Backend{{}, {Compile: true}} {
		p, err := nabla.PrepareGradient(f, b, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Gradient(nil, []float64{0})
		if err != nil {
			t.Fatal(err)
		}
		if g[0] != 3 {
			t.Errorf("%s: derivative is %v, want 3", b.Name(), g[0])
		}
	}
}
