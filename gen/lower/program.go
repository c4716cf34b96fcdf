package lower

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The program: packages indexed for lowering, and the specializations made of their functions.
// Refusals are kept per specialization and collected over the call graph.

// Options configure a program. The zero value is usable.
type Options struct {
	// Rules maps full names, such as path.Func or (*path.T).Method, to rules. Calls of these
	// functions are not differentiated through their source.
	Rules map[string]*ir.Rule
	// NoLibrary disables the library derivatives, see package library.
	NoLibrary bool
	// CanGenerate reports whether code can be generated in a package. In other packages, functions that
	// refer to unexported objects are refused. Nil means the main module and the packages passed to
	// New.
	CanGenerate func(path string) bool
	// NeverAssigned holds package-level variables of interface type, as path.Name, that are never assigned
	// after their declaration. Their methods can be called if their dynamic type has no fields.
	NeverAssigned map[string]bool
	// Begin, if it is not nil, is called before a function is lowered.
	Begin func(f *ir.Func)
}

// A Program holds indexed packages and the functions lowered so far. It is not safe for concurrent
// use.
type Program struct {
	// fset is the file set of all packages.
	fset *token.FileSet
	opts Options
	// requested are the packages passed to New, ordered by ID.
	requested []*packages.Package
	initial   map[types.Object]types.Type // types of the initial values of package-level variables
	// decls maps functions, generic ones uninstantiated, to their declarations.
	decls map[*types.Func]*decl
	// dirs maps packages to their directives in the order of the source.
	dirs map[*packages.Package][]Directive
	// specializations maps keys, see keys.go, to functions lowered or in progress.
	specializations map[string]*specialization
	identities      identities
	taken           map[[2]string]bool // paths of packages and names of functions in use
	// globals maps package-level variables to their ir.Vars, so that each has one in the program.
	globals map[types.Object]*ir.Var
	broken  map[string]string // file → syntax error
	done    map[*ir.Func]bool // functions whose body is complete

	// ruleOf maps functions to their //nabla:rule directives.
	ruleOf map[*types.Func]*Directive
	// rules maps functions to their rules, nil for functions looked up without success.
	rules map[*types.Func]*resolvedRule
	// noRules maps functions to the arguments of their //nabla:norule directives: the full names of functions and
	// tables whose rules calls in them do not obey.
	noRules map[*types.Func][]string
	// tables, tableRules and usedRules hold tables of rules, see tables.go.
	tables     map[*packages.Package]*ruleTables
	tableRules map[*tableEntry]*resolvedRule
	usedRules  map[*packages.Package][]UsedRule
	// pendingRules are the rules in use whose derivatives resolve has not lowered yet.
	pendingRules    []*resolvedRule
	loaded          map[string]*packages.Package // loaded packages by path
	libraryPackages map[string]*packages.Package // library derivatives by name, nil if ill-typed
	instances       map[*types.Func]*types.Func  // instances for float64 of generic functions with a library derivative
	// passive holds the functions with the directive //nabla:passive.
	passive       map[*types.Func]bool
	stubs         map[string]bool             // stubs of generated files
	checkpoints   map[ast.Node]*ir.Checkpoint // requested checkpointing of loops
	indexed       map[*packages.Package]bool  // not those of the standard library
	converted     *conversions                // computed on demand
	carriersNoted bool
	boxed         map[*ir.Func]*ir.Func      // functions with Unbox and Box, see carriers.go
	stored        map[string]*storedFunction // by the format of the expressions that make values of them
	storedCalls   map[*ir.Rule]storedCallee  // the callees of calls of values in memory
	flow          *functionFlow              // on demand
	// results holds where results of calls go, by package, on demand.
	results map[*packages.Package]*resultFlow
	// forwarded holds the uses of functions that are passed as a parameter, on demand.
	forwarded    map[*types.Var][]Use
	reaching     map[*packages.Package]bool // whether packages import package nabla, on demand
	functionVars map[*types.Func]*ir.Var    // declared functions as values
	readTables   map[*types.Var]bool        // parameters with tables of functions that are only read or not, on demand
	declared     []*decl                    // decls in the order of their positions, on demand
	// declarationSites holds the ranges of declarations by file, made of the first sitesOf of them, on demand.
	declarationSites map[string][]declarationSite
	sitesOf          int
	// initialisers and writtenVars describe package variables, computed on demand; homes are the lowerers of
	// initialisers.
	initialisers map[types.Object]initialiser
	writtenVars  map[types.Object]bool
	homes        map[string]*lowerer
	// portables are the forms in Go of functions in assembly, by package and name, on demand.
	portables map[*packages.Package]map[string]*decl
	// sites caches the declaration sites of packages, computed on demand.
	sites map[*packages.Package]map[types.Object]declSite

	own       map[*types.Package]bool // packages in which code can be generated
	copies    map[types.Object]*globalCopy
	usages    map[*packages.Package]*usage // computed on demand
	writtenAt map[types.Object]string      // variable → how it may be written, empty if it is not

	// functionIn maps package variables with a function literal to the functions they stand for, variableOf these to
	// the variables.
	functionIn map[*types.Var]*types.Func
	variableOf map[*types.Func]*types.Var
}

// maxKeyLength bounds the keys of specializations. Only infinite families of them reach it.
const maxKeyLength = 2000

// A decl is the declaration of a function.
type decl struct {
	fn   *types.Func
	node *ast.FuncDecl
	pkg  *packages.Package
	// canGenerate reports whether code can be generated in its package.
	canGenerate bool
	facts       *facts // facts about the body, computed on demand

	generated bool // declared in a stub of a generated file
	// ruled is the rule that the function is a derivative of, which calls of its function obey; nil if it is none.
	ruled    *resolvedRule
	original bool // its own source is lowered even if another is differentiated in its place, see substitute
}

// A specialization is a function lowered, or being lowered, for one calling context.
type specialization struct {
	// f is the function. Recursive calls refer to it while its Body is still incomplete.
	f *ir.Func
	// rewritten is f as a function to be differentiated, with slot maps in it and the functions that it calls; nil if
	// that was not asked for.
	rewritten *ir.Func
	// refusals holds the reasons why f itself cannot be lowered. allRefusals adds those of its callees.
	refusals Refusals
	// calls are the calls of lowered functions in f.
	calls []callSite
	// compared are the functions that values made by other code may be, whose source goes into generated code as well.
	compared []*specialization
	sources  []*decl // declarations it was lowered from, inlined ones included
	foreign  bool    // no code can be generated in the package that declares it
	// storesFunctions is set if f has function values in memory.
	storesFunctions bool
}

// A callSite is a call of a lowered function.
type callSite struct {
	*specialization
	at token.Position
}

// New indexes packages that [Load] returned, and their imports.
func New(pkgs []*packages.Package, opts Options) *Program {
	p := &Program{
		opts: opts, requested: slices.Clone(pkgs), initial: map[types.Object]types.Type{},
		decls: map[*types.Func]*decl{}, dirs: map[*packages.Package][]Directive{},
		specializations: map[string]*specialization{}, taken: map[[2]string]bool{},
		globals: map[types.Object]*ir.Var{}, broken: map[string]string{}, done: map[*ir.Func]bool{},
		ruleOf: map[*types.Func]*Directive{}, noRules: map[*types.Func][]string{},
		rules:  map[*types.Func]*resolvedRule{},
		loaded: map[string]*packages.Package{}, libraryPackages: map[string]*packages.Package{},
		instances: map[*types.Func]*types.Func{}, passive: map[*types.Func]bool{}, stubs: map[string]bool{},
		checkpoints: map[ast.Node]*ir.Checkpoint{},
		indexed:     map[*packages.Package]bool{}, sites: map[*packages.Package]map[types.Object]declSite{},
		own: map[*types.Package]bool{}, copies: map[types.Object]*globalCopy{}, usages: map[*packages.Package]*usage{},
		writtenAt: map[types.Object]string{}, functionIn: map[*types.Var]*types.Func{},
		variableOf: map[*types.Func]*types.Var{},
	}
	slices.SortFunc(p.requested, func(a, b *packages.Package) int { return strings.Compare(a.ID, b.ID) })
	asked := map[*packages.Package]bool{}
	for _, pkg := range pkgs {
		asked[pkg] = true
		p.fset = pkg.Fset
	}
	// Visit is post-order: imports are indexed before the packages that import them.
	packages.Visit(p.requested, nil, func(pkg *packages.Package) {
		p.loaded[pkg.PkgPath] = pkg
		own := asked[pkg] || pkg.Module != nil && pkg.Module.Main
		if opts.CanGenerate != nil {
			own = opts.CanGenerate(pkg.PkgPath)
		}
		for _, e := range pkg.Errors {
			if name, _, ok := strings.Cut(e.Pos, ":"); ok && e.Kind == packages.ParseError {
				p.broken[name] = e.Msg
			}
		}
		if pkg.Module == nil && !lowerable(pkg.PkgPath) && !asked[pkg] {
			return // of the standard library
		}
		if declarationsOnly(pkg) {
			return
		}
		p.indexed[pkg] = pkg.Module != nil || asked[pkg]
		p.own[pkg.Types] = own
		for _, in := range pkg.TypesInfo.InitOrder {
			// Types of initial values are needed for Options.NeverAssigned only.
			if len(in.Lhs) == 1 {
				p.initial[in.Lhs[0]] = pkg.TypesInfo.TypeOf(in.Rhs)
			}
		}
		for _, f := range pkg.Syntax {
			name := p.fset.Position(f.Package).Filename
			if len(f.Comments) > 0 && IsOutput(name, []byte(f.Comments[0].List[0].Text)) {
				p.stubs[name] = true
			}
			for _, d := range p.directives(pkg, f) {
				p.dirs[pkg] = append(p.dirs[pkg], d)
				if d.Name == "passive" && d.Func != nil {
					p.passive[d.Func] = true
				}
			}
		}
		p.ruleDirectives(pkg)
		p.declare(pkg, own)
		p.variableDirectives(pkg)
	})
	return p
}

// declare indexes the functions of a package.
func (p *Program) declare(pkg *packages.Package, own bool) {
	for _, f := range pkg.Syntax {
		for _, d := range f.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if fn, ok := pkg.TypesInfo.Defs[d.Name].(*types.Func); ok {
				p.decls[fn] = &decl{fn: fn, node: d, pkg: pkg, canGenerate: own, generated: p.Generated(fn)}
			}
		}
	}
}

// Directives returns the directives in the packages passed to New, in the order of the source.
func (p *Program) Directives() (out []Directive) {
	for _, pkg := range p.requested {
		out = append(out, p.dirs[pkg]...)
	}
	slices.SortStableFunc(out, func(a, b Directive) int { return comparePositions(a.Pos, b.Pos) })
	return out
}

// Generated reports whether an object is declared in a generated file.
func (p *Program) Generated(o types.Object) bool {
	return p.IsStub(p.fset.Position(o.Pos()).Filename)
}

// IsStub reports whether the file name was replaced by a stub.
func (p *Program) IsStub(name string) bool { return p.stubs[name] }

// Lookup returns the function or method name, as F or T.Method, of a package passed to New, or nil.
func (p *Program) Lookup(pkgPath, name string) *types.Func {
	for _, pkg := range p.requested {
		if pkg.PkgPath != pkgPath {
			continue
		}
		typ, method, ok := strings.Cut(name, ".")
		obj := pkg.Types.Scope().Lookup(typ)
		if !ok {
			fn, _ := obj.(*types.Func)
			return fn
		}
		if obj == nil {
			return nil
		}
		fn, _, _ := types.LookupFieldOrMethod(obj.Type(), true, pkg.Types, method)
		f, _ := fn.(*types.Func)
		return f
	}
	return nil
}

// Lines returns the number of lines in the declaration of fn, 0 if its source is not known.
func (p *Program) Lines(fn *types.Func) int {
	if fn == nil || p.decls[fn.Origin()] == nil {
		return 0
	}
	n := p.decls[fn.Origin()].node
	return p.fset.Position(n.End()).Line - p.fset.Position(n.Pos()).Line + 1
}

// Func lowers fn for type arguments targs, and all its callees. For a function with a rule the
// result calls the rule. Repeated calls return the same function. The error is of type [Refusals]
// and includes the refusals of all functions reachable from fn.
func (p *Program) Func(fn *types.Func, targs ...types.Type) (*ir.Func, error) {
	if fn == nil {
		return nil, errors.New("lower: no function")
	}
	fn = fn.Origin()
	d := p.decls[fn]
	if d == nil {
		return nil, Refusals{{p.fset.Position(fn.Pos()), fn.FullName(), "function " + fn.FullName(),
			"its source is not available", remedyRule}}
	}
	p.noteCarriers()
	var e *specialization
	if w := p.ruleIn(fn, d); w != nil {
		e = p.ruleWrapper(fn, w)
	} else {
		e = p.specialize(d, targs, nil)
	}
	if e == nil {
		return nil, errors.New("lower: infinitely many type arguments")
	}
	// Rules in use are completed only here: while a function is lowered, those of its callees may
	// not be.
	p.resolve()
	f, all := p.whole(e)
	if len(all) > 0 {
		return nil, all.sorted()
	}
	p.resolve() // rules of functions that fields may hold
	return f, nil
}

// whole returns the function of e as it is differentiated: with slot maps in it and the functions that it calls, or the
// refusals of e and of all reachable functions.
func (p *Program) whole(e *specialization) (*ir.Func, Refusals) {
	if all := e.allRefusals(); len(all) > 0 || e.rewritten != nil {
		return e.rewritten, all
	}
	funcs := sortedFuncs(e.reachable())
	f, before, all := p.rewriteFunctions(e, funcs)
	if len(all) > 0 {
		return nil, all
	}
	others := slices.DeleteFunc(funcs, func(g *ir.Func) bool { return before[g] }) // of rules
	if f, all = p.rewriteMaps(f, slices.AppendSeq(slices.Clone(others), maps.Keys(ir.Reachable(f)))); len(all) == 0 {
		list := slices.AppendSeq(slices.Clone(others), maps.Keys(ir.Reachable(f)))
		f = p.rewriteUnions(f, list)
		f, all = p.rewriteScratch(f, others)
		if len(all) == 0 {
			f = p.boxCarriers(f)
		}
	}
	if len(all) == 0 && f != e.f {
		list := slices.Collect(maps.Keys(ir.Reachable(f)))
		slices.SortFunc(list, func(a, b *ir.Func) int { return strings.Compare(a.Name, b.Name) })
		all = numbersFromText(list)
	}
	if len(all) > 0 {
		return nil, all
	}
	e.rewritten = f
	return f, nil
}

// reachable returns the functions reachable in the call graph from e, including e.
func (e *specialization) reachable() map[*specialization]bool {
	reached := map[*specialization]bool{}
	var visit func(e *specialization)
	visit = func(e *specialization) {
		if reached[e] {
			return
		}
		reached[e] = true
		for _, c := range e.calls {
			visit(c.specialization)
		}
	}
	visit(e)
	return reached
}

// allRefusals returns the refusals of e and of all reachable functions. Those in foreign functions
// are combined into one at each call that enters foreign code.
func (e *specialization) allRefusals() (all Refusals) {
	reached := e.reachable()
	for c := range reached {
		if e.foreign || !c.foreign {
			all = append(all, c.refusals...)
		}
		for _, to := range c.calls {
			if e.foreign || c.foreign || !to.foreign {
				continue
			}
			if inside := to.foreignRefusals(); len(inside) > 0 {
				all = append(all, foreignRefusal(c, to, inside))
			}
		}
	}
	if len(all) == 0 {
		all = numbersFromText(sortedFuncs(reached)) // assumes that all functions are lowered
	}
	return all.sorted()
}

// isWhole reports whether e is lowered and needs no rewriting as in [Program.whole].
func (e *specialization) isWhole() bool {
	for c := range e.reachable() {
		if c.storesFunctions {
			return false
		}
	}
	return len(e.allRefusals()) == 0 && !e.hasReferenceMaps() && len(writtenGlobals(sortedFuncs(e.reachable()))) == 0
}

// Adapted returns the packages of other modules, and of the standard library, whose source went into f: those of the
// functions that f calls and of the variables that it has copies of. They are ordered by path.
func (p *Program) Adapted(f *ir.Func) (list []*packages.Package) {
	for _, e := range p.specializations {
		if e.f != f && e.rewritten != f {
			continue
		}
		reached := e.reachable()
		for c := range e.reachable() {
			for _, to := range c.compared {
				maps.Copy(reached, to.reachable())
			}
		}
		for c := range reached {
			for _, d := range c.sources {
				path := d.pkg.PkgPath
				if p.own[d.pkg.Types] || path == nablaPath || strings.HasPrefix(path, nablaPath+"/") {
					continue
				}
				if !slices.Contains(list, d.pkg) {
					list = append(list, d.pkg)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	return list
}

// foreignRefusals returns the refusals of a foreign function and the foreign functions it calls, those of fewer calls
// first: the constructs that are nearest to the call that the user can change.
func (e *specialization) foreignRefusals() (all Refusals) {
	list := []*specialization{e}
	seen := map[*specialization]bool{e: true}
	for i := 0; i < len(list); i++ { // breadth first
		all = append(all, slices.Clone(list[i].refusals).sorted()...)
		for _, c := range list[i].calls {
			if c.foreign && !seen[c.specialization] {
				seen[c.specialization] = true
				list = append(list, c.specialization)
			}
		}
	}
	return all
}

// foreignRefusal returns the refusal of a call in from of a foreign function that has refusals.
func foreignRefusal(from *specialization, to callSite, inside Refusals) *Refusal {
	name := to.f.Name
	if fn := to.f.Object; fn != nil {
		name = fn.FullName()
	}
	first := inside[0]
	reason := fmt.Sprintf("its source cannot be differentiated: %s: %s (%s)", first.What, first.Reason,
		position(first.Pos))
	// The constructs next to the call, each with its position. Those behind them often concern the same.
	const some = 3
	told := []string{first.What}
	var more []string
	for _, r := range inside[1:] {
		if len(told) < some && !slices.Contains(told, r.What) {
			told = append(told, r.What)
			more = append(more, fmt.Sprintf("%s (%s)", r.What, position(r.Pos)))
		}
	}
	if len(more) > 0 {
		reason += ", and so of " + strings.Join(more, ", ")
	}
	return &Refusal{Pos: to.at, Func: from.f.Name, What: "call of " + name, Reason: reason, Remedy: remedyRule}
}

// specialize returns the specialization of a declaration for type arguments and function values,
// one for each parameter and nil for other parameters. It returns nil if the key exceeds
// maxKeyLength, as in polymorphic recursion.
func (p *Program) specialize(d *decl, targs []types.Type, values []*funcValue) *specialization {
	return p.specializeResult(d, targs, values, nil)
}

// specializeResult is like specialize, for a function whose only result, of an interface type, always has the dynamic
// type result: the specialization returns a value of that type. A nil result stands for the type that is declared.
func (p *Program) specializeResult(d *decl, targs []types.Type, values []*funcValue,
	result types.Type) *specialization {
	if s := p.substitute(d); s != d {
		if d.fn.Signature().Recv() != nil && values != nil {
			values = append([]*funcValue{nil}, values...) // the receiver is a parameter
		}
		d = s
	}
	key := p.instanceKey(d.fn, targs)
	name := baseName(d.fn)
	suffix := ""
	for _, t := range targs {
		suffix += "_" + mangle(typeText(t))
	}
	for i, v := range values {
		if v != nil {
			key += "(" + strconv.Itoa(i) + " " + v.key(p) + ")"
			suffix += "_" + v.name()
		}
	}
	if result != nil {
		key += " " + p.typeKey(result)
		suffix += "_as_" + mangle(typeText(result))
	}
	if e := p.specializations[key]; e != nil {
		return e
	}
	if len(key) > maxKeyLength {
		return nil
	}
	f := p.function(d.fn.Pkg(), name+suffix, p.fset.Position(d.node.Pos()))
	f.Object, f.Passive = d.fn, p.passive[d.fn]
	e := &specialization{f: f, foreign: !d.canGenerate}
	p.specializations[key] = e
	p.recoverRefusal(e, d, func() {
		l := p.lowerer(e, d, substitutionOf(d.fn, targs))
		l.as = result
		l.declaration(d.node, values)
	})
	p.done[e.f] = true
	return e
}

// recoverRefusal runs do, which lowers e. A panic is a mistake of nabla gen: it becomes a refusal
// of this function, so that functions that do not call it are not affected.
func (p *Program) recoverRefusal(e *specialization, d *decl, do func()) {
	defer func() {
		if r := recover(); r != nil {
			e.refusals = append(e.refusals, &Refusal{
				p.fset.Position(d.node.Pos()), e.f.Name, "function " + e.f.Name,
				fmt.Sprintf("internal error of nabla gen while it read it: %v", r),
				"report it with the function; code written in another way may avoid it",
			})
		}
	}()
	if p.opts.Begin != nil {
		p.opts.Begin(e.f)
	}
	do()
}

// global returns the variable for a package-level variable, one per program.
func (p *Program) global(obj *types.Var) *ir.Var {
	v := p.globals[obj]
	if v == nil {
		v = &ir.Var{Name: obj.Pkg().Name() + "." + obj.Name(), Type: obj.Type(), Kind: ir.Global, Object: obj,
			Pos: p.fset.Position(obj.Pos())}
		p.globals[obj] = v
	}
	return v
}
