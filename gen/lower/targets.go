package lower

import (
	"go/ast"
	"go/build/constraint"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Directive is a comment //nabla:name in the source.
type Directive struct {
	Name string // differentiate, passive, rule, checkpoint
	Args string // what stands behind it
	Pos  token.Position
	Func *types.Func // whose declaration it stands on, or nil
	In   *types.Package
	Bad  *Refusal // of a checkpoint that says nothing of a loop, or nothing that is known
}

// directives are those of a file.
func (p *Program) directives(pkg *packages.Package, f *ast.File) (out []Directive) {
	owner := map[*ast.CommentGroup]*types.Func{}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Doc != nil {
			owner[d.Doc], _ = pkg.TypesInfo.Defs[d.Name].(*types.Func)
		}
	}
	loops := p.loops(f)
	for _, g := range f.Comments {
		for _, c := range g.List {
			text, ok := strings.CutPrefix(c.Text, "//nabla:")
			if !ok {
				continue
			}
			name, args, _ := strings.Cut(text, " ")
			switch name {
			case "differentiate", "passive", "rule", "checkpoint":
				d := Directive{name, strings.TrimSpace(args), p.fset.Position(c.Pos()), owner[g], pkg.Types, nil}
				if name == "checkpoint" {
					d.Bad = p.checkpoint(d, loops[p.fset.Position(g.End()).Line+1])
				}
				out = append(out, d)
			}
		}
	}
	return out
}

// Target is a function that is to be differentiated.
type Target struct {
	Func     *types.Func
	TypeArgs []types.Type // of a generic function or of its receiver
	Pos      token.Position
	Operator string         // the operator it is passed to, empty for a directive
	In       *types.Package // where the directive or the operator stands
	// where is the build constraint of the files that ask for it, nil for every build.
	where constraint.Expr
}

// Targets are the functions to be differentiated in the packages that were asked for:
// those with a directive and those that are passed to a function of package nabla, each
// once for each of these packages, in the order of the source.
func (p *Program) Targets() []Target {
	var out []Target
	seen := map[string]int{}
	add := func(t Target) {
		key := t.In.Path() + " " + instanceKey(t.Func, t.TypeArgs)
		i, ok := seen[key]
		if !ok {
			seen[key] = len(out)
			out = append(out, t)
			return
		}
		if have := out[i].where; have != nil && t.where != nil {
			out[i].where = &constraint.OrExpr{X: have, Y: t.where}
		} else {
			out[i].where = nil
		}
	}
	for _, pkg := range p.asked {
		for _, d := range p.dirs[pkg] {
			if d.Name == "differentiate" && d.Func != nil && !isGeneric(d.Func) {
				add(Target{Func: d.Func, Pos: d.Pos, In: pkg.Types})
			}
		}
		for _, f := range pkg.Syntax {
			where := p.fileConstraint(f)
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, t := range p.passed(pkg, call) {
						t.where = where
						add(t)
					}
				}
				return true
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Target) int { return comparePositions(a.Pos, b.Pos) })
	return out
}

// AtHome reports whether fn is a target in the package that declares it, and whether that
// package is of the main module. It may be one that was not asked for.
func (p *Program) AtHome(fn *types.Func) (target, own bool) {
	d := p.decls[fn.Origin()]
	if d == nil {
		return false, false
	}
	for _, dir := range p.dirs[d.pkg] {
		target = target || dir.Name == "differentiate" && dir.Func == fn
	}
	for _, f := range d.pkg.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && !target {
				for _, t := range p.passed(d.pkg, call) {
					target = target || t.Func == fn
				}
			}
			return !target
		})
	}
	return target, d.own
}

const nablaPath = "github.com/nabla-ad/nabla"

// operator is the function of package nabla that a call calls, nil for other calls.
func operator(pkg *packages.Package, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	var id *ast.Ident
	switch x := fun.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	}
	if id == nil {
		return nil
	}
	op, ok := pkg.TypesInfo.Uses[id].(*types.Func)
	if !ok || op.Pkg() == nil || op.Pkg().Path() != nablaPath || op.Pkg() == pkg.Types {
		return nil
	}
	return op
}

// passed are the functions over floats that a call of an operator names.
func (p *Program) passed(pkg *packages.Package, call *ast.CallExpr) (out []Target) {
	op := operator(pkg, call)
	if op == nil {
		return nil
	}
	for _, arg := range call.Args {
		fn, targs := staticFunc(pkg.TypesInfo, arg)
		if fn == nil || !p.overFloats(fn, targs) {
			continue
		}
		out = append(out,
			Target{Func: fn, TypeArgs: targs, Pos: p.fset.Position(arg.Pos()), Operator: op.Name(), In: pkg.Types})
	}
	return out
}

// overFloats says whether a function may be differentiated as it stands: its source is
// here, and it has floats among its arguments. Functions over Reals have none that are
// exported and are left to the engines.
func (p *Program) overFloats(fn *types.Func, targs []types.Type) bool {
	d := p.decls[fn.Origin()]
	if d == nil {
		return false
	}
	s := substitutionOf(fn, targs)
	sig := fn.Signature()
	floats := false
	visit := func(t types.Type) {
		if isReal(s.of(t)) {
			return
		}
		floats = floats || hasFloats(s.of(t))
	}
	if r := sig.Recv(); r != nil {
		visit(r.Type())
	}
	for i := range sig.Params().Len() {
		visit(sig.Params().At(i).Type())
	}
	for i := range sig.Params().Len() {
		if isReal(s.of(sig.Params().At(i).Type())) {
			return false
		}
	}
	return floats
}

// isReal says whether t is built of nabla's numbers.
func isReal(t types.Type) bool {
	found := false
	walkType(t, map[types.Type]bool{}, func(u types.Type) {
		n, ok := u.(*types.Named)
		if ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == nablaPath &&
			(n.Obj().Name() == "Real" || n.Obj().Name() == "Vec") {
			found = true
		}
	})
	return found
}

// staticFunc is the declared function that e names, with its type arguments: F, pkg.F,
// F[T], T.Method or (*T).Method.
func staticFunc(info *types.Info, e ast.Expr) (*types.Func, []types.Type) {
	e = ast.Unparen(e)
	var id *ast.Ident
	switch x := e.(type) {
	case *ast.IndexExpr:
		return staticFunc(info, x.X)
	case *ast.IndexListExpr:
		return staticFunc(info, x.X)
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		if s := info.Selections[x]; s != nil {
			if s.Kind() != types.MethodExpr || len(s.Index()) != 1 || types.IsInterface(s.Recv()) {
				return nil, nil
			}
			fn := s.Obj().(*types.Func)
			if isPointer(s.Recv()) != isPointer(fn.Signature().Recv().Type()) {
				return nil, nil
			}
			return fn, receiverArgs(s.Recv())
		}
		id = x.Sel
	default:
		return nil, nil
	}
	fn, ok := info.Uses[id].(*types.Func)
	if !ok {
		return nil, nil
	}
	var targs []types.Type
	if inst, ok := info.Instances[id]; ok {
		for i := range inst.TypeArgs.Len() {
			targs = append(targs, inst.TypeArgs.At(i))
		}
	}
	return fn, targs
}
