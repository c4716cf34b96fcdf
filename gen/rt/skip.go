package rt

import "github.com/nabla-ad/nabla/internal/core"

// Skip is 0, and counts. Generated code calls it where it leaves a product of a zero
// cotangent or tangent and a derivative that is not finite out. That is right if nothing
// has reached the zero, and if something has the product is NaN; which it is, numbers do
// not say.
func Skip() float64 { return core.Skip() }

// Skipped is how often Skip was called, by all goroutines: where it is the same before
// and after a call of generated code, that has left nothing out. Where it is not, a
// derivative may be 0 that is NaN by the convention of package rules; an engine, called at
// the same point, knows.
func Skipped() uint64 { return core.Skipped() }
