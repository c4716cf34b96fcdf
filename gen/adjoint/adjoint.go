package adjoint

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Options configure a Program. The zero value is right for functions whose arguments share no memory.
type Options struct {
	// Overlap permits arguments that share memory. The adjoints are slower.
	Overlap bool
	// Unsimplified leaves out all passes of package simplify, inlining too. The code shows each statement with its
	// adjoint, at a multiple of the run time.
	Unsimplified bool
}

// A Program builds the adjoints of functions that may call each other, and caches their shared data: normal forms,
// activity, specialisations of callees, and the workspace. It is not safe for concurrent use. After an error it may
// hold half-built specialisations and must be discarded.
type Program struct {
	overlap         bool         // arguments may share memory
	disabled        optimization // set by tests, and by Options.Unsimplified
	activity        *activity.Program
	normalized      map[*ir.Func]*normalForm // source function → its normal form
	segments        map[*ir.Func]*segment    // function of an outlined loop → its description
	aliasings       []*aliasing              // each once
	specializations map[spec]*specialization // the cache of specialisations
	created         []*specialization        // the specialisations in the order of their creation
	purity          map[*ir.Func]bool        // function → writes only its own variables; see pure
	work            *Workspace               // the workspace of all adjoints
	// CellOf returns the key under which memory cells of type t are told apart from others of their alias class. Tests
	// replace it.
	cellOf func(t types.Type) any
	// PrimalFunc returns the function that an adjoint calls for a passive callee: the source, not its normal form,
	// since a caller of Of may modify the functions that an adjoint calls. Tests replace it.
	primalFunc func(g *normalForm) *ir.Func
	// OnApplicable, set by tests, is called with each optimization that is possible at some place.
	onApplicable func(o optimization)
}

// New returns an empty Program. Its workspace is declared in pkg under the given name; functions of other packages that
// pkg cannot refer to are not inlined.
func New(pkg *types.Package, name string, o Options) *Program {
	var cells ir.Cells
	var disabled optimization
	if o.Unsimplified {
		disabled = simplification
	}
	return &Program{
		overlap: o.Overlap, disabled: disabled, activity: activity.New(),
		normalized: map[*ir.Func]*normalForm{}, segments: map[*ir.Func]*segment{},
		specializations: map[spec]*specialization{}, purity: map[*ir.Func]bool{},
		work: newWorkspace(pkg, name), cellOf: func(t types.Type) any { return cells.Representative(t) },
		primalFunc: func(g *normalForm) *ir.Func { return g.source },
	}
}

// Workspace returns the struct type in which all adjoints of p record values. It grows with each call of Of.
func (p *Program) Workspace() *Workspace { return p.work }

// An Adjoint is the generated adjoint of a function.
//
// Func has these parameters, in this order: those of the primal; a shadow for each parameter in Shadows; a seed for
// each result in Seeds; a pointer to the workspace. Its results are those of the primal, followed by the cotangent of
// each parameter in Bars.
//
// A shadow must have the length and capacity of its parameter, and overlap with other shadows as the parameters do.
// Cotangents are added to it. For memory that the primal writes, its contents on entry are the seed of the final
// contents. Parameters must not overlap each other unless [Options].Overlap is set. Memory reachable from parameters
// and results is left as the primal leaves it.
type Adjoint struct {
	Func    *ir.Func        // both sweeps
	Facts   *activity.Facts // the activity of the primal's variables
	Shadows activity.Mask   // parameters of the primal with a shadow
	Seeds   activity.Mask   // results of the primal with a seed
	Bars    activity.Mask   // parameters of the primal whose cotangent is a result
	// the decisions about recording, recomputation, fusion and checkpointing, in the order of the source
	Remarks []Remark
}

// An Error reports a construct that has no adjoint.
type Error struct {
	Func   string         // the function that contains it
	What   string         // the construct
	Pos    token.Position // of the statement, if known
	Remedy string         // how to rewrite it, or empty
}

// Error returns the message without the position, which callers print in their own form.
func (e *Error) Error() string {
	s := fmt.Sprintf("no adjoint of %s: %s", e.Func, e.What)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}
