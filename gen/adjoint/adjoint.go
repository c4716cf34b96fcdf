// Package adjoint builds, from a function in the form of package ir, the one that
// computes its values and then, backwards, what they depend on: the reverse sweep.
//
// # How memory is treated
//
// A slice or a pointer that leads to numbers with derivatives has a shadow of its own
// type, made, cut, stored and passed on just as it is, so that two slices overlap where
// their shadows do and no alias has to be known. The shadow holds the adjoints. A number
// that is a variable has its adjoint in a variable of the reverse sweep.
//
// # How the reverse sweep finds what it reads
//
// It runs the statements backwards and undoes what the function overwrote, so that at
// every point the variables have the values that they had there. Undone is only what the
// rest of the reverse sweep reads: the old value of a place is kept where it is written
// if that version is read by what is reversed later. A variable that is written once, by
// something that costs next to nothing, is computed again instead. Conditions, bounds,
// numbers of iterations and the places that loops were left from are variables like all
// others, so nothing special is done for them.
package adjoint

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Options choose among adjoints that compute the same. The zero value is the fastest.
type Options struct {
	KeepAll bool // keep the old value of every place that is written
	NoRerun bool // compute nothing again
	NoFuse  bool // run forward and reverse sweep of loops apart
	// NoPrivate takes no array for one that each iteration of a fused loop has for itself.
	NoPrivate bool
	NoCover   bool // notice no loop that sets all elements of an array
	NoInverse bool // keep old integers that the new ones tell
	NoOrder   bool // run loops of the reverse sweep from the last iteration to the first
	NoRecycle bool // make memory anew in each call
	NoLocals  bool // keep all old values on stacks
	NoFrames  bool // keep each on a stack of its own
	NoInline  bool // inline no calls
	// NoSimplify takes functions as they are, and leaves adjoints as they are built.
	NoSimplify bool
	// Overlap says that arguments may overlap each other.
	Overlap bool
}

// Program builds the adjoints of functions that call each other.
type Program struct {
	opts       Options
	activity   *activity.Program
	normalized map[*ir.Func]*normalForm
	segments   map[*ir.Func]*segment // functions that run iterations of a loop
	builders   map[spec]*builder
	created    []*builder
	purity     map[*ir.Func]bool
	work       *Workspace
	cellOf     func(t types.Type) any // what tells cells of memory apart
	// plain is what is called for a function without derivatives. Whoever gets an adjoint may
	// change what it calls, and prepared functions must stay.
	primalFunc func(g *normalForm) *ir.Func
	matter     Options // the switches that would have changed something
}

// New returns an empty Program. Its workspace is a type of package pkg.
func New(pkg *types.Package, name string, o Options) *Program {
	var cells ir.Cells
	return &Program{
		opts: o, activity: activity.New(), normalized: map[*ir.Func]*normalForm{}, segments: map[*ir.Func]*segment{},
		builders: map[spec]*builder{}, purity: map[*ir.Func]bool{},
		work: newWorkspace(pkg, name), cellOf: func(t types.Type) any { return cells.Of(t) },
		primalFunc: func(g *normalForm) *ir.Func { return g.source },
	}
}

// Workspace is what the adjoints keep their values in.
func (p *Program) Workspace() *Workspace { return p.work }

// Adjoint is what is built of a function.
//
// The parameters of Func are those of the function; a shadow for each one that Shadows
// names; a seed for each result that Seeds names; and the workspace, a pointer. The
// results are those of the function and the adjoint of each parameter that Bars names.
//
// Shadows have the same lengths and capacities as their parameters and overlap as they
// do; adjoints are added to what they hold, and what they hold at first for memory that
// the function writes is the seed of what it writes there. Parameters must not overlap
// each other, but for [Options].Overlap. What the parameters and results lead to is at
// the end what the function leaves there.
type Adjoint struct {
	Func                 *ir.Func
	Facts                *activity.Facts
	Shadows, Seeds, Bars activity.Mask
	// Plan is what is kept, computed again and fused, in the order of the function.
	Remarks []Remark
	// Matter are the options that would change Func: with others set it would be the same.
	Matter Options
}

// Error says what has no adjoint.
type Error struct {
	Func, What string
	Pos        token.Position // of the statement, if it is known
	Remedy     string         // the way round, if it is not that of all
}

func (e *Error) Error() string {
	s := fmt.Sprintf("no adjoint of %s: %s", e.Func, e.What)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}
