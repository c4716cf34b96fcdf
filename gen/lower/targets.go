package lower

import (
	"go/ast"
	"go/build/constraint"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Targets: the functions to differentiate, found by directives and by calls of nabla's operators.

// A Directive is a comment //nabla:name in the source.
type Directive struct {
	Name string // one of DirectiveNames, or another word; the whole comment if it has a space after the slashes
	Args string // text after the name
	Pos  token.Position
	Func *types.Func // function on whose declaration it is, or nil
	Var  *types.Var  // package variable on whose declaration it is, or nil; Func is the function in it if that is known
	In   *types.Package
	Bad  *Refusal // refusal of an invalid checkpoint directive, or nil

	argsPos token.Position
}

// DirectiveNames are the names of the directives that have a meaning.
var DirectiveNames = []string{"differentiate", "passive", "rule", "norule", "checkpoint"}

// A Word is a word of the arguments of a directive.
type Word struct {
	Text string
	Pos  token.Position
}

// Words returns the arguments of a directive, which spaces separate.
func (d Directive) Words() (list []Word) {
	at := 0
	for _, text := range strings.Fields(d.Args) {
		at += strings.Index(d.Args[at:], text)
		list = append(list, Word{Text: text, Pos: d.argsPos}.from(at))
		at += len(text)
	}
	return list
}

// Split divides w into the parts between the separators sep.
func (w Word) Split(sep string) (list []Word) {
	at := 0
	for text := range strings.SplitSeq(w.Text, sep) {
		list = append(list, Word{Text: text, Pos: w.Pos}.from(at))
		at += len(text) + len(sep)
	}
	return list
}

// from returns w with its position moved by n bytes.
func (w Word) from(n int) Word {
	w.Pos.Column += n
	w.Pos.Offset += n
	return w
}

// spaced matches comments that would be directives without the space.
var spaced = regexp.MustCompile(`^// +nabla:(differentiate|passive|rule|norule|checkpoint)\b`)

// directives returns the directives of a file.
func (p *Program) directives(pkg *packages.Package, f *ast.File) (out []Directive) {
	owner := map[*ast.CommentGroup]*types.Func{}
	variable := map[*ast.CommentGroup]*types.Var{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				owner[d.Doc], _ = pkg.TypesInfo.Defs[d.Name].(*types.Func)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				s, ok := s.(*ast.ValueSpec)
				if !ok || len(s.Names) != 1 {
					continue
				}
				v, _ := pkg.TypesInfo.Defs[s.Names[0]].(*types.Var)
				if s.Doc != nil {
					variable[s.Doc] = v
				} else if d.Doc != nil && len(d.Specs) == 1 {
					variable[d.Doc] = v
				}
			}
		}
	}
	loops := p.loops(f)
	for _, g := range f.Comments {
		for _, c := range g.List {
			text, ok := strings.CutPrefix(c.Text, "//nabla:")
			if !ok {
				if name := spaced.FindString(c.Text); name != "" {
					out = append(out, Directive{Name: name, Pos: p.fset.Position(c.Pos()), In: pkg.Types})
				}
				continue
			}
			name, args := text, ""
			if i := strings.IndexAny(text, " \t"); i >= 0 {
				name, args = text[:i], text[i:]
			}
			pos := p.fset.Position(c.Pos())
			d := Directive{Name: name, Args: strings.TrimSpace(args), Pos: pos, Func: owner[g], Var: variable[g],
				In: pkg.Types}
			space := len(args) - len(strings.TrimLeft(args, " \t"))
			d.argsPos = Word{Pos: pos}.from(len("//nabla:") + len(name) + space).Pos
			if name == "checkpoint" {
				d.Bad = p.checkpoint(d, loops[p.fset.Position(g.End()).Line+1])
			}
			out = append(out, d)
		}
	}
	return out
}

// A Target is a function to be differentiated.
type Target struct {
	Func     *types.Func
	TypeArgs []types.Type // type arguments of the function or its receiver
	Pos      token.Position
	Operator string         // operator that it is passed to, empty for a directive
	In       *types.Package // package that contains the directive or the call
	// Passed is the first target that a call of an operator in package In makes of a function with a directive, or nil.
	Passed *Target
	// Uses are the calls of operators in package In that get the function.
	Uses []Use
	// where is the build constraint of the files that request it, nil for every build.
	where constraint.Expr
}

// Targets returns the functions to be differentiated in the packages passed to New: those with a
// directive and those passed to a function of package nabla, once for each of these packages, in
// the order of the source.
func (p *Program) Targets() []Target {
	var out []Target
	seen := map[string]int{}
	add := func(t Target) {
		key := t.In.Path() + " " + p.instanceKey(t.Func, t.TypeArgs)
		i, ok := seen[key]
		if !ok {
			seen[key] = len(out)
			out = append(out, t)
			return
		}
		if out[i].Operator == "" && out[i].Passed == nil && t.Operator != "" {
			out[i].Passed = &t
		}
		out[i].Uses = append(out[i].Uses, t.Uses...)
		// A target requested in several files is generated if any of them is part of the build.
		if have := out[i].where; have != nil && t.where != nil {
			out[i].where = &constraint.OrExpr{X: have, Y: t.where}
		} else {
			out[i].where = nil
		}
	}
	for _, pkg := range p.requested {
		for _, d := range p.dirs[pkg] {
			if d.Name == "differentiate" && d.Func != nil && !isGeneric(d.Func) {
				add(Target{Func: d.Func, Pos: d.Pos, In: pkg.Types})
			}
		}
		for _, f := range pkg.Syntax {
			where := p.fileConstraint(f)
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, t := range p.passedFunctions(pkg, call) {
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

// IsTarget reports whether fn is a target in the package that declares it, and whether code can be
// generated in that package, which need not be one passed to New.
func (p *Program) IsTarget(fn *types.Func) (target, own bool) {
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
				for _, t := range p.passedFunctions(d.pkg, call) {
					target = target || t.Func == fn
				}
			}
			return !target
		})
	}
	return target, d.canGenerate
}

// nablaPath is the path of the module and of its root package, which declares the operators.
const nablaPath = "github.com/nabla-ad/nabla"

// operator returns the function of package nabla that a call calls, nil for other calls.
func operator(pkg *packages.Package, call *ast.CallExpr) *types.Func {
	op := calledFunc(pkg, call)
	if op == nil || op.Pkg() == nil || op.Pkg().Path() != nablaPath || op.Pkg() == pkg.Types {
		return nil
	}
	return op
}

// calledFunc returns the declared function or method that a call calls, uninstantiated; nil for other calls.
func calledFunc(pkg *packages.Package, call *ast.CallExpr) *types.Func {
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
	fn, _ := pkg.TypesInfo.Uses[id].(*types.Func)
	return fn
}

// passedFunctions returns the functions over floats among the arguments of a call of an operator, or of a function that
// passes its parameter on to one.
func (p *Program) passedFunctions(pkg *packages.Package, call *ast.CallExpr) (out []Target) {
	op := operator(pkg, call)
	for i, arg := range call.Args {
		fn, targs := p.passedFunction(pkg, arg)
		if fn == nil || !p.overFloats(fn, targs) {
			continue
		}
		t := Target{Func: fn, TypeArgs: targs, Pos: p.fset.Position(arg.Pos()), In: pkg.Types}
		if op != nil {
			t.Operator, t.Uses = op.Name(), p.uses(pkg, call, op)
		} else if t.Uses = p.forwards(calledFunc(pkg, call), i); len(t.Uses) > 0 {
			t.Operator = t.Uses[0].Operator
		} else {
			continue
		}
		out = append(out, t)
	}
	return out
}

// overFloats reports whether a function can be differentiated as it is: it has source and floats
// among its parameters. Functions over Reals are left to the engines.
func (p *Program) overFloats(fn *types.Func, targs []types.Type) bool {
	d := p.decls[fn.Origin()]
	if d == nil {
		return false
	}
	s := substitutionOf(fn, targs)
	sig := fn.Signature()
	floats := false
	visit := func(t types.Type) {
		if isReal(s.apply(t)) {
			return
		}
		floats = floats || hasFloats(s.apply(t))
	}
	if r := sig.Recv(); r != nil {
		visit(r.Type())
	}
	for i := range sig.Params().Len() {
		visit(sig.Params().At(i).Type())
	}
	for i := range sig.Params().Len() {
		if isReal(s.apply(sig.Params().At(i).Type())) {
			return false
		}
	}
	return floats
}

// isReal reports whether t contains nabla's numbers.
func isReal(t types.Type) bool {
	found := false
	ir.WalkType(t, func(u types.Type) {
		n, ok := u.(*types.Named)
		if ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == nablaPath &&
			(n.Obj().Name() == "Real" || n.Obj().Name() == "Vec") {
			found = true
		}
	})
	return found
}

// staticFunc returns the declared function that e names, with its type arguments: F, pkg.F, F[T],
// T.Method or (*T).Method.
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
