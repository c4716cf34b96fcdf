package nabla

import (
	"math"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/backend/tracker"
)

// TestBlackBoxWritesAllOutputs: a box writes its gradient and the tangent of that over
// whatever it finds, as a Custom promises.
func TestBlackBoxWritesAllOutputs(t *testing.T) {
	f := func(x []Real) Real { return x[0].Sq().Mul(x[1]) }
	box := &boxValue{&blackBox{f: f, b: tracker.Backend{}}}
	x, w := []float64{3, 5}, 2.0
	xw, dirty := append(slices.Clone(x), w), []float64{math.NaN(), 7}
	rule := box.Cotangent(2)
	rule.Value(dirty, xw)
	if want := []float64{2 * 2 * 3 * 5, 2 * 9}; !slices.Equal(dirty, want) {
		t.Errorf("value %v, want %v", dirty, want)
	}
	dirty[0], dirty[1] = math.NaN(), 7
	rule.JVP(dirty, xw, nil, []float64{1, 0, 1}) // w·∂²f/∂x₀ + ∇f
	if want := []float64{2*2*5 + 30, 2*2*3 + 9}; !slices.Equal(dirty, want) {
		t.Errorf("tangent %v, want %v", dirty, want)
	}
}
