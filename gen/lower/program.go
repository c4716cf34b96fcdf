package lower

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Options of a program. The zero value will do.
type Options struct {
	// Rules are functions whose derivative is written by hand, by their full name, such as
	// path.Func or (*path.T).Method. Calls of them are not looked into.
	Rules map[string]*ir.Rule
	// NoShipped leaves out the rules that come with nabla, see package kernels.
	NoShipped bool
	// Own says whether code can be written next to the functions of a package. Where it
	// cannot, functions that touch what is not exported are refused. Nil stands for the
	// main module and the packages that were asked for.
	Own func(path string) bool
	// Fixed are package variables of interface type, as path.Name, that hold what they are
	// declared with: nobody assigns to them. Their methods can be called then, provided
	// that they belong to a type without fields.
	Fixed map[string]bool
	// Begin, if it is not nil, is called before a function is lowered.
	Begin func(f *ir.Func)
}

// Program is what functions are lowered from.
type Program struct {
	fset    *token.FileSet
	opts    Options
	asked   []*packages.Package
	initial map[types.Object]types.Type // of what package variables are declared with
	decls   map[*types.Func]*decl
	dirs    map[*packages.Package][]Directive
	entries map[string]*entry
	taken   map[string]bool // names of functions
	globals map[types.Object]*ir.Var
	broken  map[string]string // by file: why it does not parse
	done    map[*ir.Func]bool // have a body

	ruleOf     map[*types.Func]*Directive
	rules      map[*types.Func]*written
	unresolved []*written
	loaded     map[string]*packages.Package // by path
	shippedIn  map[string]*packages.Package // packages of rules by their name, nil for a bad one
	instances  map[*types.Func]*types.Func  // of generic functions with a shipped rule
	passive    map[*types.Func]bool
	stubs      map[string]bool             // files that stand for generated ones
	marks      map[ast.Node]*ir.Checkpoint // of loops
	indexed    map[*packages.Package]bool  // those of the standard library are not
	sites      map[*packages.Package]map[types.Object]site
}

// longestKey bounds the instances of a function. Only those that lead to ever new ones
// come near it.
const longestKey = 2000

// decl is where a function is declared.
type decl struct {
	fn    *types.Func
	node  *ast.FuncDecl
	pkg   *packages.Package
	own   bool
	facts *facts // of the body, found when they are needed

	generated bool // a stub of what is generated
}

// entry is a function that has been lowered or is about to be.
type entry struct {
	f        *ir.Func
	refusals Refusals
	calls    []calling
	sources  []*decl // that it was lowered from
	foreign  bool    // nothing can be generated where it is declared
}

// calling is a call of a function that is lowered too.
type calling struct {
	*entry
	at token.Position
}

// New indexes packages that [Load] has loaded.
func New(pkgs []*packages.Package, opts Options) *Program {
	p := &Program{
		opts: opts, asked: slices.Clone(pkgs), initial: map[types.Object]types.Type{},
		decls: map[*types.Func]*decl{}, dirs: map[*packages.Package][]Directive{},
		entries: map[string]*entry{}, taken: map[string]bool{},
		globals: map[types.Object]*ir.Var{}, broken: map[string]string{}, done: map[*ir.Func]bool{},
		ruleOf: map[*types.Func]*Directive{}, rules: map[*types.Func]*written{},
		loaded: map[string]*packages.Package{}, shippedIn: map[string]*packages.Package{},
		instances: map[*types.Func]*types.Func{}, passive: map[*types.Func]bool{}, stubs: map[string]bool{},
		marks:   map[ast.Node]*ir.Checkpoint{},
		indexed: map[*packages.Package]bool{}, sites: map[*packages.Package]map[types.Object]site{},
	}
	slices.SortFunc(p.asked, func(a, b *packages.Package) int { return strings.Compare(a.ID, b.ID) })
	asked := map[*packages.Package]bool{}
	for _, pkg := range pkgs {
		asked[pkg] = true
		p.fset = pkg.Fset
	}
	packages.Visit(p.asked, nil, func(pkg *packages.Package) {
		p.loaded[pkg.PkgPath] = pkg
		own := asked[pkg] || pkg.Module != nil && pkg.Module.Main
		if opts.Own != nil {
			own = opts.Own(pkg.PkgPath)
		}
		for _, e := range pkg.Errors {
			if name, _, ok := strings.Cut(e.Pos, ":"); ok && e.Kind == packages.ParseError {
				p.broken[name] = e.Msg
			}
		}
		if pkg.Module == nil && !lowerable(pkg.PkgPath) && !asked[pkg] {
			return // of the standard library
		}
		p.indexed[pkg] = pkg.Module != nil || asked[pkg]
		for _, in := range pkg.TypesInfo.InitOrder {
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
				p.decls[fn] = &decl{fn: fn, node: d, pkg: pkg, own: own, generated: p.Generated(fn)}
			}
		}
	}
}

// Directives are the directives in the packages that were asked for, in the order of the
// source.
func (p *Program) Directives() (out []Directive) {
	for _, pkg := range p.asked {
		out = append(out, p.dirs[pkg]...)
	}
	slices.SortStableFunc(out, func(a, b Directive) int { return comparePositions(a.Pos, b.Pos) })
	return out
}

// Generated reports whether an object is declared in a file that generated code goes to.
func (p *Program) Generated(o types.Object) bool {
	return p.IsStub(p.fset.Position(o.Pos()).Filename)
}

// IsStub reports whether a file is one that generated code goes to.
func (p *Program) IsStub(name string) bool { return p.stubs[name] }

// Lookup is the function or method name, as F or T.Method, of a package that was asked
// for; nil if there is none.
func (p *Program) Lookup(pkgPath, name string) *types.Func {
	for _, pkg := range p.asked {
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

// Func lowers fn, whose type arguments targs are, and all that it calls. A function that
// has a rule is one that calls it. The result is
// the same at every call. The error is of type [Refusals] and has those of all functions
// that fn reaches.
func (p *Program) Func(fn *types.Func, targs ...types.Type) (*ir.Func, error) {
	if fn == nil {
		return nil, errors.New("lower: no function")
	}
	fn = fn.Origin()
	d := p.decls[fn]
	if d == nil {
		return nil, Refusals{{p.fset.Position(fn.Pos()), fn.FullName(), "function " + fn.FullName(),
			"its source is not here", remedyRule}}
	}
	var e *entry
	if w := p.rule(fn); w != nil {
		e = p.called(fn, w)
	} else {
		e = p.entry(d, targs, nil)
	}
	if e == nil {
		return nil, errors.New("lower: type arguments without end")
	}
	p.resolve()
	if all := e.reaches(); len(all) > 0 {
		return nil, all.sorted()
	}
	return e.f, nil
}

// reached are the functions that e calls, e among them.
func (e *entry) reached() map[*entry]bool {
	reached := map[*entry]bool{}
	var visit func(e *entry)
	visit = func(e *entry) {
		if reached[e] {
			return
		}
		reached[e] = true
		for _, c := range e.calls {
			visit(c.entry)
		}
	}
	visit(e)
	return reached
}

// reaches are the refusals of e and of all that it calls. Those in a package that is not
// one's own are one at each call that leads there.
func (e *entry) reaches() (all Refusals) {
	reached := e.reached()
	for c := range reached {
		if e.foreign || !c.foreign {
			all = append(all, c.refusals...)
		}
		for _, to := range c.calls {
			if e.foreign || c.foreign || !to.foreign {
				continue
			}
			if inside := to.inside(); len(inside) > 0 {
				all = append(all, abroad(c, to, inside))
			}
		}
	}
	if len(all) == 0 {
		all = writtenGlobals(sortedFuncs(reached))
	}
	return all.sorted()
}

// inside are the refusals of a foreign function and of those that it calls.
func (e *entry) inside() (all Refusals) {
	seen := map[*entry]bool{}
	var visit func(e *entry)
	visit = func(e *entry) {
		if !e.foreign || seen[e] {
			return
		}
		seen[e] = true
		all = append(all, e.refusals...)
		for _, c := range e.calls {
			visit(c.entry)
		}
	}
	visit(e)
	return all.sorted()
}

// abroad is the refusal of a call by from whose function cannot be followed.
func abroad(from *entry, to calling, inside Refusals) *Refusal {
	name := to.f.Name
	if fn := to.f.Object; fn != nil {
		name = fn.FullName()
	}
	first := inside[0]
	file := filepath.Base(filepath.Dir(first.Pos.Filename)) + "/" + filepath.Base(first.Pos.Filename)
	reason := fmt.Sprintf("its source cannot be followed: %s: %s (%s:%d)", first.What, first.Reason, file,
		first.Pos.Line)
	var more []string
	for _, r := range inside[1:] {
		if r.What != first.What && !slices.Contains(more, r.What) {
			more = append(more, r.What)
		}
	}
	const some = 3
	if n := len(more) - some; n > 0 {
		more = append(more[:some], fmt.Sprintf("%d more", n))
	}
	if len(more) > 0 {
		reason += ", and so of " + strings.Join(more, ", ")
	}
	return &Refusal{Pos: to.at, Func: from.f.Name, What: "call of " + name, Reason: reason, Remedy: remedyRule}
}

// typeKey tells apart types, also those of one name that are declared in functions.
func typeKey(t types.Type) string {
	key := types.TypeString(t, nil)
	walkType(t, map[types.Type]bool{}, func(u types.Type) {
		if n, ok := u.(*types.Named); ok && isLocal(n.Obj()) {
			key += "@" + strconv.Itoa(int(n.Obj().Pos())) + types.TypeString(n.Underlying(), nil)
		}
	})
	return key
}

// instanceKey tells apart what is lowered from one declaration.
func instanceKey(fn *types.Func, targs []types.Type) string {
	key := fn.FullName()
	if fn.Name() == "init" || fn.Name() == "_" {
		key += "@" + strconv.Itoa(int(fn.Pos()))
	}
	for _, t := range targs {
		key += "[" + typeKey(t) + "]"
	}
	return key
}

// entry is the instance of a declaration for type arguments and for function values, one
// for each parameter, nil where it is no function; nil if there would be no end of them.
func (p *Program) entry(d *decl, targs []types.Type, values []*funcValue) *entry {
	key := instanceKey(d.fn, targs)
	name := baseName(d.fn)
	suffix := ""
	for _, t := range targs {
		suffix += "_" + mangle(typeText(t))
	}
	for i, v := range values {
		if v != nil {
			key += "(" + strconv.Itoa(i) + " " + v.key() + ")"
			suffix += "_" + v.name()
		}
	}
	if e := p.entries[key]; e != nil {
		return e
	}
	if len(key) > longestKey {
		return nil
	}
	e := &entry{f: &ir.Func{Name: p.functionName(name + suffix), Object: d.fn, Pos: p.fset.Position(d.node.Pos()),
		Passive: p.passive[d.fn]}, foreign: !d.own}
	p.entries[key] = e
	p.contained(e, d, func() { p.lowerer(e, d, substitutionOf(d.fn, targs)).declaration(d.node, values) })
	p.done[e.f] = true
	return e
}

// contained lowers a function. A panic on the way is a mistake of nabla gen, for which the
// function is refused, and no other that does not call it.
func (p *Program) contained(e *entry, d *decl, do func()) {
	defer func() {
		if r := recover(); r != nil {
			e.refusals = append(e.refusals, &Refusal{
				p.fset.Position(d.node.Pos()), e.f.Name, "function " + e.f.Name,
				fmt.Sprintf("nabla gen made a mistake while it read it: %v", r),
				"write it in another way, and report the mistake with it",
			})
		}
	}()
	if p.opts.Begin != nil {
		p.opts.Begin(e.f)
	}
	do()
}

// global is the variable of a package.
func (p *Program) global(obj *types.Var) *ir.Var {
	v := p.globals[obj]
	if v == nil {
		v = &ir.Var{Name: obj.Pkg().Name() + "." + obj.Name(), Type: obj.Type(), Kind: ir.Global, Object: obj,
			Pos: p.fset.Position(obj.Pos())}
		p.globals[obj] = v
	}
	return v
}
