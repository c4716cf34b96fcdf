package nabla

import "github.com/nabla-ad/nabla/engine"

// FunctionForTest is the engine's view of f.
func FunctionForTest(f any, x []float64) (*engine.Function, error) {
	return functionOf("test", f, x, wantAny)
}
