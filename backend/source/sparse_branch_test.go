package source_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
)

// A gate is the bound struct of functions with two branches.
type gate struct {
	Mode int
	Rate float64
}

func gated(x []float64, g *gate) float64 {
	if g.Mode != 0 || x[0] < 0 {
		return x[0]*x[0] + g.Rate*x[1]*x[2]
	}
	return g.Rate * x[0] * x[1]
}

func gatedExact(x []float64, p any) exact {
	g := p.(*gate)
	if g.Mode != 0 || x[0] < 0 {
		return exact{[]float64{gated(x, g)}, []float64{2 * x[0], g.Rate * x[2], g.Rate * x[1]},
			[]float64{2, 0, 0, 0, 0, g.Rate, 0, g.Rate, 0}}
	}
	return exact{[]float64{gated(x, g)}, []float64{g.Rate * x[1], g.Rate * x[0], 0},
		[]float64{0, g.Rate, 0, g.Rate, 0, 0, 0, 0, 0}}
}

func gatedReal(y, x []nabla.Real, p any) int {
	g := p.(*gate)
	if g.Mode != 0 || x[0].Less(nabla.Const(0)) {
		y[0] = x[0].Sq().Add(x[1].Mul(x[2]).Scale(g.Rate))
	} else {
		y[0] = x[0].Mul(x[1]).Scale(g.Rate)
	}
	return 1
}

// moded does not branch on its inputs.
func moded(x []float64, g *gate) float64 {
	if g.Mode != 0 {
		return x[0]*x[0] + g.Rate*x[1]*x[2]
	}
	return g.Rate * x[0] * x[1]
}

func modedReal(y, x []nabla.Real, p any) int {
	g := p.(*gate)
	if g.Mode != 0 {
		y[0] = x[0].Sq().Add(x[1].Mul(x[2]).Scale(g.Rate))
	} else {
		y[0] = x[0].Mul(x[1]).Scale(g.Rate)
	}
	return 1
}

func modedExact(x []float64, p any) exact {
	return gatedExact([]float64{math.Abs(x[0]), x[1], x[2]}, p)
}

func init() {
	register(gated, nabla.Generated{New: codeOf(gatedExact), Traced: gatedReal})
	register(moded, nabla.Generated{New: codeOf(modedExact), Traced: modedReal})
}

// TestSparseOtherWays: generated code keeps no recording, and still a matrix is right or
// there is an error where the function takes a branch, or reads a field, that its pattern
// was not found with, in whichever call.
func TestSparseOtherWays(t *testing.T) {
	h := sparsity.Banded(3, 3, 2, 2)
	for name, f := range map[string]func([]float64, *gate) float64{"branch": gated, "field": moded} {
		for _, b := range []nabla.AutoSparse{
			{Dense: source.Reverse{}},
			{Dense: source.Forward{}},
			{Dense: source.Reverse{}, Decompression: coloring.Substitution},
			{Dense: source.Reverse{}, Workers: 2},
			{Dense: nabla.SecondOrder{Outer: source.Forward{}, Inner: source.Reverse{}}},
			{Dense: source.Reverse{}, Detector: sparsity.Known{H: h}},
		} {
			for first := 1; first <= 17; first++ {
				g := &gate{Rate: 2}
				p, err := nabla.PrepareHessian(nabla.Bind(f, g), b, []float64{1, 2, 3})
				if err != nil {
					t.Fatalf("%s: %v", b.Name(), err)
				}
				for n := 1; n < first+8; n++ {
					x := []float64{float64(n), -2, 3}
					g.Rate = float64(n)
					g.Mode = 0
					if second := n >= first && n < first+4; second && name == "field" {
						g.Mode = 1
					} else if second {
						x[0] = -x[0]
					}
					want := mat.NewDense(3, 3, gatedExact(x, g).hess)
					got, err := p.Hessian(nil, x)
					var pe *nabla.PatternError
					switch {
					case err != nil && (n < first || n >= first+4 || b.Detector != nil || !errors.As(err, &pe)):
						t.Errorf("%s of %s, first at %d: call %d: %v", name, b.Name(), first, n, err)
					case err == nil && !mat.EqualApprox(got, want, 1e-12):
						t.Errorf("%s of %s, first at %d: call %d: %v, want %v", name, b.Name(), first, n,
							mat.Formatted(got), mat.Formatted(want))
					}
				}
			}
		}
	}
}
