package engine_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/engine"
)

// central is an engine of central differences with one step, so short that it fits here; finitediff has better ones.
type central struct{ Step float64 }

func (c central) Name() string { return "central" }

func (c central) PreparePushforward(f *engine.Function, x []float64, _ int) (engine.Pushforward, error) {
	_, m := f.Dims()
	return &centralPush{c, f, make([]float64, len(x)), make([]float64, m), make([]float64, m)}, nil
}

type centralPush struct {
	central
	f                *engine.Function
	at, above, below []float64
}

func (p *centralPush) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	for j := range xdot.B {
		for _, side := range []struct {
			sign float64
			y    []float64
		}{{1, p.above}, {-1, p.below}} {
			for i := range p.at {
				p.at[i] = x[i] + side.sign*p.Step*xdot.Row(i)[j]
			}
			if err := p.f.Value(side.y, p.at); err != nil {
				return err
			}
		}
		for i := range p.above {
			ydot.Row(i)[j] = (p.above[i] - p.below[i]) / (2 * p.Step)
		}
	}
	return p.f.Value(y, x)
}

// An engine implements one operator; package nabla derives the others from it.
func Example() {
	f := func(x []float64) []float64 { return []float64{x[0] * x[1], math.Sin(x[1])} }
	j, err := nabla.Jacobian(f, central{1e-5}, []float64{3, 0})
	fmt.Printf("%.4f %v\n", mat.Formatted(j), err)
	g, err := nabla.Gradient(func(x []float64) float64 { return x[0] * x[0] * x[1] }, central{1e-5}, []float64{3, 2})
	fmt.Printf("%.4f %v\n", g, err)
	// Output:
	// ⎡0.0000  3.0000⎤
	// ⎣0.0000  1.0000⎦ <nil>
	// [12.0000 9.0000] <nil>
}
