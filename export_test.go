package nabla

import (
	"time"

	"github.com/nabla-ad/nabla/engine"
)

// FunctionForTest is the engine's view of f.
func FunctionForTest(f any, x []float64) (*engine.Function, error) {
	return functionOf("test", f, x, wantAny)
}

// ChooseForTest is Choose with another clock.
func ChooseForTest(now func() time.Time, f any, x []float64, candidates ...Backend) (*Choice, error) {
	c := realChooser
	c.now = now
	return c.choose(f, x, candidates)
}

// LargestCliqueForTest is what Choose takes for the majority.
var LargestCliqueForTest = largestClique
