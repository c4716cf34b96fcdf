package rt

import "github.com/nabla-ad/nabla/internal/core"

// Skip returns 0 and counts the call. Generated code calls it in place of the product of a zero
// cotangent or tangent and a derivative that is not finite. 0 is correct for a structural zero; for
// a computed zero the product would be NaN. Values alone do not distinguish the two.
func Skip() float64 { return core.Skip() }

// Skipped returns the number of calls of Skip, by all goroutines. If it is unchanged by a call of
// generated code, no product was left out. Otherwise a derivative may be 0 that is NaN by the
// convention of package rules; an engine called at the same point determines it.
func Skipped() uint64 { return core.Skipped() }
