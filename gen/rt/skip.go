package rt

import "sync/atomic"

var skipped atomic.Uint64

// Skip is 0, and counts. Generated code calls it where it leaves a product of a zero
// cotangent or tangent and a derivative that is not finite out. That is right if nothing
// has reached the zero, and if something has the product is NaN; which it is, numbers do
// not say.
func Skip() float64 {
	skipped.Add(1)
	return 0
}

// Skipped is how often Skip was called, by all goroutines: where it is the same before
// and after a call of generated code, that has left nothing out.
func Skipped() uint64 { return skipped.Load() }
