package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// lowerer lowers one function.
type lowerer struct {
	p     *Program
	e     *entry
	f     *ir.Func
	d     *decl // the declaration the source stands in
	info  *types.Info
	facts *facts
	subst *substitution
	names *namer

	env       map[types.Object]*binding
	out       *ir.Block // what statements are appended to
	jumps     []jump
	exit      target    // of return
	results   []*ir.Var // that return assigns to
	label     string    // of the statement that comes next
	addressed map[*ir.Var]bool
	unknown   []*types.Var // parameters that become variables of interface type

	nest   *nest
	around []ast.Node // the functions whose bodies this one stands in for calls of them
	number int        // tells apart the copies of a body, 0 for a function of its own
}

// target is a label and how many loops over functions have to be told on the way to it
// from where the function begins.
type target struct {
	label *ir.Label
	depth int
}

// binding is what a name of the source stands for: a place or a known function.
type binding struct {
	place *ir.Place
	value *funcValue
	// dynamic is the type of what a variable of interface type holds, where it is known;
	// place is of that type then.
	dynamic types.Type
}

// jump is what break and continue can mean.
type jump struct {
	name      string // in the source
	brk, cont target // no label: there is none
}

func (p *Program) lowerer(e *entry, d *decl, s *substitution) *lowerer {
	d.findFacts()
	e.sources = append(e.sources, d)
	names := newNamer()
	for name := range d.facts.packages {
		names.n.Reserve(name)
	}
	return &lowerer{
		p: p, e: e, f: e.f, d: d, info: d.pkg.TypesInfo, facts: d.facts, subst: s,
		names: names, env: map[types.Object]*binding{}, addressed: map[*ir.Var]bool{},
		nest: &nest{home: d.pkg, facts: []*facts{d.facts}, packages: maps.Clone(d.facts.packages)},
	}
}

func (l *lowerer) pos(n ast.Node) token.Position { return l.p.fset.Position(n.Pos()) }
func (l *lowerer) at(n ast.Node) ir.At           { return ir.At{Pos: l.pos(n)} }

// declaration lowers a function that is declared.
func (l *lowerer) declaration(n *ast.FuncDecl, values []*funcValue) {
	if !l.sound(n) {
		return
	}
	if !l.d.own {
		l.unexported(n)
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

// sound refuses a function that has an error or no body.
func (l *lowerer) sound(n *ast.FuncDecl) bool {
	what := "function " + l.f.Name
	if len(l.around) > 0 {
		what = "function " + baseName(l.d.fn)
	}
	if why, ok := l.p.broken[l.pos(n).Filename]; ok {
		l.refuse(n, what, "its file does not parse: "+why, "")
		return false
	}
	bad := false
	for _, err := range l.d.pkg.TypeErrors {
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

// param adds a parameter.
func (l *lowerer) param(o *types.Var, name string) *ir.Var {
	if o.Name() != "" && o.Name() != "_" {
		name = o.Name()
	}
	v := &ir.Var{Name: l.names.fresh(name), Type: l.subst.of(o.Type()), Kind: ir.Param, Object: o,
		Pos: l.p.fset.Position(o.Pos())}
	l.f.Params = append(l.f.Params, v)
	l.env[o] = &binding{place: &ir.Place{Root: v}}
	return v
}

// signature adds parameters and results. Parameters of function type are replaced by what
// the functions capture.
func (l *lowerer) signature(sig *types.Signature, values []*funcValue) bool {
	n := sig.Params().Len()
	var bound []*types.Var
	var known []*funcValue
	ok := true
	for i := range n {
		o := sig.Params().At(i)
		if !isFuncType(l.subst.of(o.Type())) {
			v := l.param(o, fmt.Sprintf("p%d", i))
			if i < len(values) && values[i] != nil {
				v.Type = values[i].dynamic
				l.env[o].dynamic = v.Type
				if l.facts.assigned[o] > 0 || l.facts.byReference(o) {
					l.unknown = append(l.unknown, o) // it holds something else later on
				}
			}
			continue
		}
		if i >= len(values) || values[i] == nil {
			l.e.refusals = append(l.e.refusals, &Refusal{l.p.fset.Position(o.Pos()), l.f.Name, "parameter " + o.Name(),
				"the function it stands for is not known",
				"differentiate a function that calls this one with a declared function or a closure"})
			ok = false
			continue
		}
		bound, known = append(bound, o), append(known, values[i])
	}
	l.f.Variadic = sig.Variadic() && len(bound) == 0
	for i, o := range bound {
		l.env[o] = &binding{value: l.inherit(known[i])}
	}
	for i := range sig.Results().Len() {
		o := sig.Results().At(i)
		name := "r"
		if o.Name() != "" && o.Name() != "_" {
			name = o.Name()
		}
		v := &ir.Var{Name: l.names.fresh(name), Type: l.subst.of(o.Type()), Kind: ir.Result, Object: o,
			Pos: l.p.fset.Position(o.Pos())}
		l.f.Results = append(l.f.Results, v)
		l.env[o] = &binding{place: &ir.Place{Root: v}}
	}
	return ok
}

func (l *lowerer) body(b *ast.BlockStmt) {
	l.f.Exit = &ir.Label{Name: l.names.fresh("exit")}
	l.exit, l.results = target{l.f.Exit, 0}, l.f.Results
	l.out = &l.f.Body
	for _, o := range l.unknown {
		p := l.env[o].place
		t := l.subst.of(o.Type())
		v := l.temp(b, o.Name(), t, &ir.Convert{Typed: ir.Typed{T: t}, X: load(p, p.Root.Type)})
		l.env[o] = &binding{place: &ir.Place{Root: v}}
	}
	l.stmts(b.List)
	// The end of the function is where a last return goes to anyhow.
	if n := len(l.f.Body); n > 0 {
		if s, ok := l.f.Body[n-1].(*ir.Leave); ok && s.L == l.f.Exit {
			l.f.Body = l.f.Body[:n-1]
		}
	}
}

// unexported refuses a function of a package where no code can be written, if the code
// would have to name what that package, or an internal one, keeps for itself.
func (l *lowerer) unexported(n ast.Node) {
	seen := map[types.Object]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := l.info.Uses[id]
		if o == nil || seen[o] || l.p.nameable(o) {
			return true
		}
		kind := ""
		switch o := o.(type) {
		case *types.Var:
			switch {
			case o.IsField():
				kind = "field"
			case o.Parent() == o.Pkg().Scope():
				kind = "variable"
			}
		case *types.TypeName:
			if o.Parent() == o.Pkg().Scope() {
				kind = "type"
			}
		}
		if kind != "" {
			seen[o] = true
			why, remedy := "nothing can be generated there", remedyRule
			if len(l.around) > 0 {
				why, remedy = "it is put into a function of package "+
					l.nest.home.PkgPath, "range over the function in the package that declares it"
			}
			reason := "package " + o.Pkg().Path() + " does not export it, and " + why
			if o.Exported() {
				reason = "package " + o.Pkg().Path() + " is internal, and " + why
			}
			l.refuse(id, kind+" "+o.Name(), reason, remedy)
		}
		return true
	})
}

// nameable reports whether a package that code is generated for can name an object of
// another one.
func (p *Program) nameable(o types.Object) bool {
	return slices.ContainsFunc(p.asked, func(pkg *packages.Package) bool {
		return o.Pkg() == nil || o.Pkg() != pkg.Types && ir.Names(o, pkg.PkgPath)
	})
}

// emit appends a statement, unless it cannot be reached.
func (l *lowerer) emit(s ir.Stmt) {
	if !l.dead() {
		*l.out = append(*l.out, s)
	}
}

// dead says whether the end of the current block cannot be reached.
func (l *lowerer) dead() bool { return leaves(*l.out) }

func leaves(b ir.Block) bool {
	if len(b) == 0 {
		return false
	}
	switch b[len(b)-1].(type) {
	case *ir.Leave, *ir.Panic:
		return true
	}
	return false
}

// block is what f emits.
func (l *lowerer) block(f func()) ir.Block {
	var b ir.Block
	out := l.out
	l.out = &b
	f()
	l.out = out
	return b
}

// temp declares a variable that is not in the source.
func (l *lowerer) temp(n ast.Node, name string, t types.Type, e ir.Expr) *ir.Var {
	v := &ir.Var{Name: l.names.fresh(name), Type: t, Pos: l.pos(n)}
	l.emit(&ir.Let{At: l.at(n), V: v, E: e})
	return v
}

// local makes a variable of the source without declaring it yet.
func (l *lowerer) local(o types.Object) *ir.Var {
	return &ir.Var{Name: l.names.fresh(o.Name()), Type: l.subst.of(o.Type()), Object: o,
		Pos: l.p.fset.Position(o.Pos())}
}

func (l *lowerer) bind(o types.Object, v *ir.Var) {
	l.env[o] = &binding{place: &ir.Place{Root: v}}
}

func load(p *ir.Place, t types.Type) *ir.Load { return &ir.Load{Typed: ir.Typed{T: t}, P: p} }
func loadVar(v *ir.Var) *ir.Load              { return load(&ir.Place{Root: v}, v.Type) }
