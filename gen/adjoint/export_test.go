package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// LendPrepared introduces a mistake: adjoints call the normal forms that p works with, which callers may modify.
func (p *Program) LendPrepared() {
	p.primalFunc = func(g *normalForm) *ir.Func { return g.f }
}

// NameCells introduces a mistake: memory of types with different names is taken to be disjoint.
func (p *Program) NameCells() {
	p.cellOf = func(t types.Type) any { return types.TypeString(t, nil) }
}

// An Optimization is a set of optimizations.
type Optimization = optimization

// Optimizations maps names to single optimizations.
var Optimizations = map[string]Optimization{
	"selective recording": selectiveRecording,
	"recomputation":       recomputation,
	"fusion":              fusion,
	"privatization":       privatization,
	"array kills":         arrayKills,
	"inversion":           inversion,
	"reordering":          reordering,
	"buffer reuse":        bufferReuse,
	"local storage":       localStorage,
	"record storage":      recordStorage,
	"inlining":            inlining,
	"simplification":      simplification,
}

// The optimizations that tests name.
const (
	ArrayKills       = arrayKills
	AllOptimizations = Optimization(allOptimizations)
)

// Disable disables optimizations of p, which has built no adjoint yet.
func (p *Program) Disable(o Optimization) { p.disabled |= o }

// Applicable returns the set to which p adds the optimizations that are possible for the adjoints it builds from now
// on. Disabling only others does not change them. It holds from the beginning those that change almost every adjoint.
func (p *Program) Applicable() *Optimization {
	set := selectiveRecording | simplification
	p.onApplicable = func(o optimization) { set |= o }
	return &set
}
