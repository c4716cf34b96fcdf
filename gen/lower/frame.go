package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The state of lowering one function, and the lowering of declarations: signatures, bodies,
// emission of statements.

// A lowerer translates one function body into e.f. Inlined bodies have lowerers of their own that
// share its output.
type lowerer struct {
	// p is the program, shared by all lowerers.
	p *Program
	// e collects the refusals and calls of the specialization being lowered.
	e *specialization
	// f is e.f, the function that statements are added to.
	f *ir.Func
	d *decl // declaration that contains the source
	// info and facts belong to the declaration d.
	info  *types.Info
	facts *facts
	// subst maps type parameters of d to type arguments, nil if d is not generic.
	subst *substitution
	// names generates names that are unique in f. Inlined bodies share it.
	names *namer

	// env maps variables of the source to places or known functions.
	env map[types.Object]*binding
	out *ir.Block // current block
	// jumps are the statements that break and continue may refer to, innermost last.
	jumps   []jump
	exit    target    // target of return statements
	results []*ir.Var // variables that return assigns
	label   string    // label of the next statement, empty without one
	// as is the dynamic type of the only result, see specializeResult, or nil.
	as     types.Type
	nested bool // elements of composite literals may be literals, as in the initialiser of a variable
	// addressed holds the variables whose address the emitted code takes.
	addressed        map[*ir.Var]bool
	topLevel         []ast.Stmt      // statements of the outermost block of the body
	deferred         []*deferredCall // calls to be performed at exits, in the order of the statements
	prologue         ir.Block        // declarations that the body begins with
	reassignedParams []*types.Var    // parameters of known dynamic type that are assigned again
	functionParams   []*types.Var    // parameters that are known functions

	// inlining is shared with the lowerers of bodies inlined into f.
	inlining   *inlineState
	enclosing  []ast.Node // declarations and literals being inlined, outermost first
	copyNumber int        // number of the inlined copy, 0 for a function of its own
}

// A target is a label, with the number of pending loops over functions around its statement: a
// leave from deeper inside must set their variables on the way.
type target struct {
	label *ir.Label
	depth int
}

// A binding is the meaning of a name of the source: a place or a known function.
type binding struct {
	place *ir.Place
	// value is the known function of a variable of function type; place is nil then.
	value *funcValue
	// outcome is the known value of a variable that holds the outcome of a type assertion and is assigned once, or nil.
	outcome *ir.Const
	// dynamicType is the known dynamic type of a variable of interface type, nil if it is not
	// known; place has that type.
	dynamicType types.Type
	// alternatives are the expressions that are assigned to a variable of function type, with their indices in value, a
	// choice.
	alternatives map[ast.Expr]int
	// types are the keys of the types that are assigned to an interface variable, with their indices in value.
	types map[string]int
}

// A jump is a statement that break or continue may refer to.
type jump struct {
	name      string // label in the source, or empty
	brk, cont target // targets; a nil label means that the statement has none
}

// lowerer returns a lowerer for the declaration d with type arguments s. It records d as a source
// of e.
func (p *Program) lowerer(e *specialization, d *decl, s *substitution) *lowerer {
	d.findFacts()
	e.sources = append(e.sources, d)
	names := newNamer()
	for name := range d.facts.packages {
		names.n.Reserve(name)
	}
	return &lowerer{
		p: p, e: e, f: e.f, d: d, info: d.pkg.TypesInfo, facts: d.facts, subst: s,
		names: names, env: map[types.Object]*binding{}, addressed: map[*ir.Var]bool{},
		inlining: &inlineState{home: d.pkg, facts: []*facts{d.facts}, packages: maps.Clone(d.facts.packages)},
	}
}

// pos returns the position of n.
func (l *lowerer) pos(n ast.Node) token.Position { return l.p.fset.Position(n.Pos()) }

// at returns the position of n for a statement.
func (l *lowerer) at(n ast.Node) ir.At { return ir.At{Pos: l.pos(n)} }

// declaration lowers a declared function for function values, one for each parameter.
func (l *lowerer) declaration(n *ast.FuncDecl, values []*funcValue) {
	if !l.checkSource(n) {
		return
	}
	sig := l.d.fn.Signature()
	if r := sig.Recv(); r != nil {
		l.f.Recv = true
		l.param(r, "recv")
	}
	l.badDirectives(n)
	if l.signature(sig, values) {
		l.body(n.Body)
	}
}

// checkSource reports whether a function has a body without errors, and refuses it otherwise.
func (l *lowerer) checkSource(n *ast.FuncDecl) bool {
	what := "function " + l.f.Name
	if len(l.enclosing) > 0 {
		what = "function " + baseName(l.d.fn)
	}
	if why, ok := l.p.broken[l.pos(n).Filename]; ok {
		l.refuse(n, what, "its file does not parse: "+why, "")
		return false
	}
	bad := false
	for _, err := range l.d.pkg.TypeErrors {
		// Soft errors, such as unused variables, do not affect the meaning of the function.
		if !err.Soft && n.Pos() <= err.Pos && err.Pos < n.End() {
			l.e.refusals = append(l.e.refusals,
				&Refusal{l.p.fset.Position(err.Pos), l.f.Name, what, "it has an error: " + err.Msg, ""})
			bad = true
		}
	}
	if n.Body == nil && !bad {
		l.refuse(n, what, "it has no body: it is written in assembly or linked from elsewhere", remedyRule)
		return false
	}
	return !bad
}

// param adds a parameter for o; name is used if o has none.
func (l *lowerer) param(o *types.Var, name string) *ir.Var {
	if o.Name() != "" && o.Name() != "_" {
		name = o.Name()
	}
	v := &ir.Var{Name: l.names.fresh(name), Type: l.subst.apply(o.Type()), Kind: ir.Param, Object: o,
		Pos: l.p.fset.Position(o.Pos())}
	l.f.Params = append(l.f.Params, v)
	l.env[o] = &binding{place: &ir.Place{Root: v}}
	return v
}

// signature adds parameters and results. Parameters of function type are replaced by the captured
// variables of the functions. It reports whether all functions are known.
func (l *lowerer) signature(sig *types.Signature, values []*funcValue) bool {
	n := sig.Params().Len()
	var bound []*types.Var
	var known []*funcValue
	ok := true
	for i := range n {
		o := sig.Params().At(i)
		if i < len(values) && values[i] != nil && (values[i].table != nil || values[i].dynamic != nil) {
			bound, known = append(bound, o), append(known, values[i])
			continue
		}
		if !isFuncType(l.subst.apply(o.Type())) {
			v := l.param(o, fmt.Sprintf("p%d", i))
			if i < len(values) && values[i] != nil {
				v.Type = values[i].dynamicType
				l.env[o].dynamicType = v.Type
				if l.facts.assigned[o] > 0 || l.facts.byReference(o) {
					l.reassignedParams = append(l.reassignedParams, o) // its dynamic type is known only until then
				}
			}
			continue
		}
		if i >= len(values) || values[i] == nil {
			l.e.refusals = append(l.e.refusals, &Refusal{l.p.fset.Position(o.Pos()), l.f.Name, "parameter " + o.Name(),
				"the function passed for it is not known",
				"differentiate a function that calls this one with a declared function or a closure"})
			ok = false
			continue
		}
		bound, known = append(bound, o), append(known, values[i])
	}
	// With captured variables after it, the variadic parameter is an ordinary slice.
	l.f.Variadic = sig.Variadic() && len(bound) == 0
	// Captured variables become parameters after all others, in the order in which calls append
	// them.
	for i, o := range bound {
		l.env[o] = &binding{value: l.inherit(known[i])}
	}
	l.functionParams = bound
	for i := range sig.Results().Len() {
		o := sig.Results().At(i)
		name := "r"
		if o.Name() != "" && o.Name() != "_" {
			name = o.Name()
		}
		v := &ir.Var{Name: l.names.fresh(name), Type: l.subst.apply(o.Type()), Kind: ir.Result, Object: o,
			Pos: l.p.fset.Position(o.Pos())}
		if l.as != nil {
			v.Type = l.as
		}
		l.f.Results = append(l.f.Results, v)
		l.env[o] = &binding{place: &ir.Place{Root: v}}
	}
	return ok
}

// body lowers a function body after its signature.
func (l *lowerer) body(b *ast.BlockStmt) {
	l.f.Exit = &ir.Label{Name: l.names.fresh("exit")}
	l.exit, l.results = target{l.f.Exit, 0}, l.f.Results
	l.out = &l.f.Body
	// A parameter of known dynamic type that is assigned again is copied to a variable of its
	// interface type, which is used instead.
	for _, o := range l.reassignedParams {
		p := l.env[o].place
		t := l.subst.apply(o.Type())
		v := l.temp(b, o.Name(), t, &ir.Convert{Typed: ir.Typed{T: t}, X: ir.LoadOf(p, p.Root.Type)})
		l.env[o] = &binding{place: &ir.Place{Root: v}}
	}
	l.topLevel = b.List
	for _, o := range l.functionParams {
		v := l.env[o]
		switch {
		case l.facts.assigned[o] == 0 && !l.facts.byReference(o) || v.value.table != nil:
		case v.value.dynamic != nil:
			t := l.subst.apply(o.Type())
			l.declare(b, o, l.interfaceValue(b, v.value, t))
		default:
			if !l.declareChoice(b, o, v.value) {
				l.declare(b, o, l.functionExpr(b, v.value, l.subst.apply(o.Type())))
			}
		}
	}
	l.stmts(b.List)
	l.runDeferred(b)
	l.f.Body = append(l.prologue, l.f.Body...)
	// A final return is redundant.
	if n := len(l.f.Body); n > 0 {
		if s, ok := l.f.Body[n-1].(*ir.Leave); ok && s.L == l.f.Exit {
			l.f.Body = l.f.Body[:n-1]
		}
	}
}

// emit appends a statement to the current block, unless it is unreachable.
func (l *lowerer) emit(s ir.Stmt) {
	if !l.unreachable() {
		*l.out = append(*l.out, s)
	}
}

// unreachable reports whether the end of the current block is unreachable.
func (l *lowerer) unreachable() bool { return terminates(*l.out) }

// terminates reports whether b ends with a leave or a panic.
func terminates(b ir.Block) bool {
	if len(b) == 0 {
		return false
	}
	switch b[len(b)-1].(type) {
	case *ir.Leave, *ir.Panic:
		return true
	}
	return false
}

// block returns the statements that f emits.
func (l *lowerer) block(f func()) ir.Block {
	var b ir.Block
	out := l.out
	l.out = &b
	f()
	l.out = out
	return b
}

// temp declares a variable that is not in the source, initialised to e, and returns it.
func (l *lowerer) temp(n ast.Node, name string, t types.Type, e ir.Expr) *ir.Var {
	v := &ir.Var{Name: l.names.fresh(name), Type: t, Pos: l.pos(n)}
	l.emit(&ir.Let{At: l.at(n), V: v, E: e})
	return v
}

// local returns a new local variable for o, which is not declared or bound yet.
func (l *lowerer) local(o types.Object) *ir.Var {
	return &ir.Var{Name: l.names.fresh(o.Name()), Type: l.subst.apply(o.Type()), Object: o,
		Pos: l.p.fset.Position(o.Pos())}
}

// bind makes o refer to v.
func (l *lowerer) bind(o types.Object, v *ir.Var) {
	l.env[o] = &binding{place: &ir.Place{Root: v}}
}
