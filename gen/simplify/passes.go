package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The stages. The package comment has the same lists in a table; a test compares them.
var (
	// Inlining comes first, as it brings constant bounds and copies to the others. Copies runs before Scalars, so that
	// aggregates that are only copies need no scalars, and after it, for the scalars.
	primalStage = stage{name: "Primal", passes: []pass{
		inlinePass, clonesPass, unrollPass, copiesPass, scalarsPass, copiesPass,
	}}
	bodyStage = stage{name: "Body", passes: []pass{
		clonesPass, unrollPass, copiesPass, scalarsPass, copiesPass,
	}}
	// Increments needs the scalars, and Windows the accumulations that Increments has merged. Cut comes last of the
	// loop passes, because it renames the slices that the others compare.
	adjointStage = stage{name: "Adjoint", passes: []pass{
		copiesPass, scalarsPass, invariantsPass, incrementsPass, windowsPass, promotePass, rebasePass,
		cutPass, copiesPass,
	}}
	deadCodeStage = stage{name: "DeadCode", passes: []pass{sinkPass, nilChecksPass, deadPass, checksPass}, repeat: true}
	pruneStage    = stage{name: "Prune", passes: []pass{deadCodePass, copiesPass, deadCodePass}}
)

// A stage is a list of passes that a function goes through at one point of the generation. If repeat is set, the list
// is run until its last pass reports that it changed nothing.
type stage struct {
	name   string
	passes []pass
	repeat bool
}

// run applies the passes of s to the function in c.
func (s stage) run(c *context) {
	for changed := true; changed; changed = changed && s.repeat {
		for _, p := range s.passes {
			changed = p.run(c)
		}
	}
}

// A context holds the function that passes rewrite and their arguments. Those that a stage does not set are nil.
type context struct {
	f         *ir.Func
	pkg       *types.Package     // the package of the generated code
	distinct  bool               // no two parameters lead to the same memory
	workspace *ir.Var            // the parameter that leads to the tape
	adjoint   func(*ir.Var) bool // reports whether a variable holds cotangents or leads to them
	trusted   func(*ir.Var) bool // reports whether loads through a variable cannot panic
	unshared  map[*ir.Var]*ir.Var
}

// A pass is a transformation with the name of the exported function that applies it alone. Its run reports whether it
// changed the function; only the last pass of a repeated stage has to.
type pass struct {
	name string
	run  func(c *context) bool
}

var (
	inlinePass     = pass{"Inline", func(c *context) bool { Inline(c.f, c.pkg); return false }}
	clonesPass     = pass{"Clones", func(c *context) bool { Clones(c.f); return false }}
	unrollPass     = pass{"Unroll", func(c *context) bool { Unroll(c.f); return false }}
	copiesPass     = pass{"Copies", func(c *context) bool { Copies(c.f); return false }}
	scalarsPass    = pass{"Scalars", func(c *context) bool { c.scalars(); return false }}
	invariantsPass = pass{"Invariants", func(c *context) bool { Invariants(c.f); return false }}
	incrementsPass = pass{"Increments", func(c *context) bool {
		increments(c.f, c.distinct, c.workspace, c.adjoint)
		return false
	}}
	windowsPass = pass{"Windows", func(c *context) bool {
		windows(c.f, c.distinct, c.workspace, c.adjoint, c.unshared)
		return false
	}}
	promotePass = pass{"Promote", func(c *context) bool {
		promote(c.f, c.distinct, c.workspace, c.adjoint)
		return false
	}}
	rebasePass    = pass{"Rebase", func(c *context) bool { Rebase(c.f); return false }}
	cutPass       = pass{"Cut", func(c *context) bool { Cut(c.f); return false }}
	sinkPass      = pass{"Sink", func(c *context) bool { Sink(c.f); return false }}
	nilChecksPass = pass{"NilChecks", func(c *context) bool { NilChecks(c.f); return false }}
	deadPass      = pass{"Dead", func(c *context) bool { return DeadWith(c.f, c.trusted) }}
	deadCodePass  = pass{"DeadCode", func(c *context) bool { deadCodeStage.run(c); return false }}
	checksPass    = pass{"Checks", func(c *context) bool { return Checks(c.f, c.trusted) }}
)

// scalars applies [Scalars] and extends c.adjoint to the scalars: each holds cotangents if the aggregate did.
func (c *context) scalars() {
	trees := scalars(c.f, c.pkg)
	adjoint := c.adjoint
	if adjoint == nil || len(trees) == 0 {
		return
	}
	scalarAdjoint := map[*ir.Var]bool{}
	for v, t := range trees {
		t.eachScalar(nil, func(w *ir.Var, _ []ir.Step) { scalarAdjoint[w] = adjoint(v) })
	}
	c.adjoint = func(v *ir.Var) bool { return scalarAdjoint[v] || adjoint(v) }
}

// Primal applies the passes for a function that is to be differentiated. Pkg is the package of the generated code,
// which must be able to name all that is inlined and replaced by scalars; nil if every name is allowed.
func Primal(f *ir.Func, pkg *types.Package) { primalStage.run(&context{f: f, pkg: pkg}) }

// Body applies the passes of [Primal] except Inline.
func Body(f *ir.Func, pkg *types.Package) { bodyStage.run(&context{f: f, pkg: pkg}) }

// Adjoint applies the passes for a generated adjoint. Distinct means that no two parameters lead to the same memory,
// except that slices and pointers loaded from the tape, which the parameter workspace leads to unless it is nil, may
// alias anything. Adjoint reports whether a variable holds cotangents or leads to them; only sums of cotangents are
// reordered. If adjoint is nil, all variables do. Two slice variables with different values in unshared have no memory
// in common where a loop begins that uses both.
func Adjoint(f *ir.Func, pkg *types.Package, distinct bool, workspace *ir.Var, adjoint func(*ir.Var) bool,
	unshared map[*ir.Var]*ir.Var) {
	adjointStage.run(&context{f: f, pkg: pkg, distinct: distinct, workspace: workspace, adjoint: adjoint,
		unshared: unshared})
}

// DeadCode eliminates dead code from f. A dead computation that may panic is reduced to the operands that may panic,
// which can make more code dead, so [Dead] and [Checks] alternate until Checks reduces nothing. Accesses to memory
// reachable from trusted variables are known not to panic; a nil trusted trusts none.
func DeadCode(f *ir.Func, trusted func(v *ir.Var) bool) {
	deadCodeStage.run(&context{f: f, trusted: trusted})
}

// Prune applies the passes for a generated derivative that returns only some of the results it computes: dead-code
// elimination, which leaves copies, and elimination again after their propagation. Trusted is that of [DeadCode].
func Prune(f *ir.Func, trusted func(v *ir.Var) bool) {
	pruneStage.run(&context{f: f, trusted: trusted})
}
