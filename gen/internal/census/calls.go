package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Calls as users write them. A function with parameters of interface types has no derivative by itself, since interface
// values have no shadows; but a user passes a *mat.Dense for a mat.Matrix, a function literal for a function, and
// computes with the elements of a matrix that is returned. For each exported function this makes one that does so.

// preferred are the types that are passed for interfaces with several implementations. Others get the first in the
// source of the package of the interface, or of the function.
var preferred = map[string]string{
	root + "mat.Matrix": "Dense", root + "mat.Vector": "VecDense", root + "mat.Symmetric": "SymDense",
	root + "mat.Triangular": "TriDense", root + "mat.Diagonal": "DiagDense", root + "mat.Banded": "BandDense",
	root + "mat.RawVectorer": "VecDense", root + "mat.RawMatrixer": "Dense", "math/rand/v2.Source": "PCG",
}

// callable reports whether another package can call a function.
func callable(fn *types.Func) bool {
	if r := fn.Signature().Recv(); r != nil {
		t := r.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		n, ok := types.Unalias(t).(*types.Named)
		return ok && n.Obj().Exported() && fn.Exported()
	}
	return fn.Exported()
}

// A callWriter writes the source of functions that call others.
type callWriter struct {
	text    strings.Builder
	imports map[string]string // names by path
}

// qualify returns the name of a package in the source.
func (w *callWriter) qualify(p *types.Package) string { return w.importName(p.Path(), p.Name()) }

// importName returns the name of the package with the given path in the source.
func (w *callWriter) importName(path, base string) string {
	name := w.imports[path]
	if name == "" {
		name = fmt.Sprintf("%s%d", base, len(w.imports))
		w.imports[path] = name
	}
	return name
}

func (w *callWriter) typeText(t types.Type) string { return types.TypeString(t, w.qualify) }

// implementation returns the type that is passed for an interface type t in calls of fn, nil if there is none.
func implementation(t types.Type, fn *types.Func) types.Type {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return nil
	}
	var scopes []*types.Scope
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
		s := n.Obj().Pkg().Scope()
		if o := s.Lookup(preferred[n.Obj().Pkg().Path()+"."+n.Obj().Name()]); o != nil {
			return types.NewPointer(o.Type())
		}
		scopes = append(scopes, s)
	}
	for _, s := range append(scopes, fn.Pkg().Scope()) {
		var found []*types.TypeName
		for _, name := range s.Names() {
			o, ok := s.Lookup(name).(*types.TypeName)
			if ok && o.Exported() && !o.IsAlias() && !types.IsInterface(o.Type()) && activity.HasFloats(o.Type()) &&
				types.Implements(types.NewPointer(o.Type()), i) {
				found = append(found, o)
			}
		}
		if len(found) > 0 {
			o := slices.MinFunc(found, func(a, b *types.TypeName) int { return int(a.Pos() - b.Pos()) })
			if types.Implements(o.Type(), i) {
				return o.Type()
			}
			return types.NewPointer(o.Type())
		}
	}
	return nil
}

// literal returns a function literal of a type whose results depend on its numbers and on the variable scale, "" if it
// has results or parameters of other kinds than numbers.
func (w *callWriter) literal(t *types.Signature) string {
	isFloat := func(t types.Type) bool { return types.Identical(t.Underlying(), types.Typ[types.Float64]) }
	isSlice := func(t types.Type) bool {
		return types.Identical(t.Underlying(), types.NewSlice(types.Typ[types.Float64]))
	}
	var params, terms []string
	loops := ""
	for i := range t.Params().Len() {
		p := t.Params().At(i).Type()
		name := fmt.Sprintf("a%d", i)
		params = append(params, name+" "+w.typeText(p))
		switch {
		case isFloat(p):
			terms = append(terms, "float64("+name+")")
		case isSlice(p):
			loops += "for _, e := range " + name + " {\nsum += e * e\n}\n"
			terms = append(terms, "sum")
		default:
			return ""
		}
	}
	if t.Results().Len() != 1 || !isFloat(t.Results().At(0).Type()) || t.Variadic() || len(terms) == 0 {
		return ""
	}
	return fmt.Sprintf("func(%s) %s {\nsum := 0.0\n_ = sum\n%sreturn %s(scale * (%s))\n}", strings.Join(params, ", "),
		w.typeText(t.Results().At(0).Type()), loops, w.typeText(t.Results().At(0).Type()), strings.Join(terms, " + "))
}

// numbers returns statements that add the numbers that the variable v of type t leads to to the variable sum, "" if
// that takes fields that are not exported.
func (w *callWriter) numbers(v string, t types.Type, depth int) string {
	if depth > 4 {
		return ""
	}
	if o, _, _ := types.LookupFieldOrMethod(t, false, nil, "At"); o != nil {
		if fn, ok := o.(*types.Func); ok && fn.Signature().Params().Len() == 2 &&
			types.Identical(fn.Signature().Results().At(0).Type(), types.Typ[types.Float64]) {
			return fmt.Sprintf("for i := range first(%s.Dims()) {\nfor j := range second(%s.Dims()) {\nsum += "+
				"float64(1+i+2*j) * %s.At(i, j)\n}\n}\n", v, v, v)
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.Float64 {
			return "sum += float64(" + v + ")\n"
		}
	case *types.Slice:
		if in := w.numbers("e"+v, u.Elem(), depth+1); in != "" {
			return fmt.Sprintf("for _, e%s := range %s {\n%s}\n", v, v, in)
		}
	case *types.Pointer:
		s, ok := u.Elem().Underlying().(*types.Struct)
		if ok {
			return w.fields(v, s, depth)
		}
	case *types.Struct:
		return w.fields(v, u, depth)
	}
	return ""
}

// fields is numbers for the exported fields of v.
func (w *callWriter) fields(v string, s *types.Struct, depth int) (text string) {
	for f := range s.Fields() {
		if !f.Exported() {
			continue
		}
		name := fmt.Sprintf("%s%s%d", v, f.Name(), depth)
		if in := w.numbers(name, f.Type(), depth+1); in != "" {
			text += fmt.Sprintf("%s := %s.%s\n%s", name, v, f.Name(), in)
		}
	}
	return text
}

// call writes the function with the given name that calls fn, and reports whether it differs from fn.
func (w *callWriter) call(name string, fn *types.Func) bool {
	sig := fn.Signature()
	var params, args, makes []string
	changed, scale := false, false
	param := func(text string) string {
		p := fmt.Sprintf("p%d", len(params))
		params = append(params, p+" "+text)
		return p
	}
	setup := ""
	add := func(t types.Type) {
		name := fmt.Sprintf("m%d", len(makes))
		if text, arg, ok := w.make(name, t, param); ok {
			setup += text
			args = append(args, arg)
			makes = append(makes, w.numbers(name, types.NewPointer(deref(t)), 0))
			changed = true
			return
		}
		args = append(args, param(w.typeText(t)))
	}
	pass := func(t types.Type) bool {
		if f, ok := t.Underlying().(*types.Signature); ok {
			text := w.literal(f)
			if text == "" {
				return false
			}
			args = append(args, text)
			changed, scale = true, true
			return true
		}
		if to := implementation(t, fn); to != nil {
			t, changed = to, true
		}
		add(t)
		return true
	}
	if r := sig.Recv(); r != nil {
		add(r.Type())
	}
	dots := ""
	for i, v := range slices.Collect(sig.Params().Variables()) {
		if sig.Variadic() && i == sig.Params().Len()-1 {
			elem := v.Type().(*types.Slice).Elem()
			if implementation(elem, fn) == nil {
				add(v.Type())
				dots = "..."
				continue
			}
			pass(elem)
			pass(elem)
			continue
		}
		if !pass(v.Type()) {
			return false
		}
	}
	var lhs, taken, results, out []string
	for i, v := range slices.Collect(sig.Results().Variables()) {
		t, r := v.Type(), fmt.Sprintf("r%d", i)
		lhs = append(lhs, r)
		_, interfaced := t.Underlying().(*types.Interface)
		if ir.HasRefs(t) && activity.HasFloats(t) && !types.Identical(t, types.NewSlice(types.Typ[types.Float64])) ||
			interfaced && !types.Identical(t, types.Universe.Lookup("error").Type()) {
			if text := w.numbers(r, t, 0); text != "" {
				changed = true
				taken = append(taken, text)
				continue
			}
		}
		results, out = append(results, r), append(out, w.typeText(t))
	}
	if !changed {
		return false
	}
	if scale {
		params = append(params, "scale float64")
	}
	f := w.qualify(fn.Pkg()) + "." + fn.Name()
	if sig.Recv() != nil {
		f, args = strings.TrimPrefix(args[0], "&")+"."+fn.Name(), args[1:]
	}
	taken = append(taken, strings.Join(makes, ""))
	if strings.Join(taken, "") == "" {
		taken = nil
	}
	if len(taken) > 0 {
		results, out = append([]string{"sum"}, results...), append([]string{"float64"}, out...)
	}
	fmt.Fprintf(&w.text, "\nfunc %s(%s) (%s) {\n%s", name, strings.Join(params, ", "), strings.Join(out, ", "),
		setup)
	if len(lhs) > 0 {
		fmt.Fprint(&w.text, strings.Join(lhs, ", "), " := ")
	}
	fmt.Fprintf(&w.text, "%s(%s%s)\n", f, strings.Join(args, ", "), dots)
	if len(taken) > 0 {
		fmt.Fprintf(&w.text, "sum := 0.0\n%s", strings.Join(taken, ""))
	}
	fmt.Fprintf(&w.text, "return %s\n}\n", strings.Join(results, ", "))
	return true
}

// addCalls adds the callers of functions to the package u, and returns them by function.
func addCalls(u *packages.Package, funcs []*types.Func, all importer) (map[*types.Func]*types.Func, error) {
	w := &callWriter{imports: map[string]string{}}
	names := map[*types.Func]string{}
	for _, fn := range funcs {
		if !callable(fn) {
			continue
		}
		if name := fmt.Sprintf("Call%d", len(names)); w.call(name, fn) {
			names[fn] = name
		}
	}
	matName := w.importName(root+"mat", "mat")
	text := "package " + u.Name + "\n"
	for path, name := range w.imports {
		text += fmt.Sprintf("import %s %q\n", name, path)
	}
	text += "\nfunc first(a, _ int) int { return a }\n\nfunc second(_, b int) int { return b }\n" +
		strings.ReplaceAll(definite, "MAT", matName) + w.text.String()
	f, err := parser.ParseFile(u.Fset, u.PkgPath+"/calls.go", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	u.TypesInfo = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
	conf := types.Config{Importer: all, GoVersion: "go1.26", Error: func(error) {}} // unused imports
	checked, err := conf.Check(u.PkgPath, u.Fset, []*ast.File{f}, u.TypesInfo)
	if err != nil && !strings.Contains(err.Error(), "and not used") {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	u.Types, u.Syntax = checked, []*ast.File{f}
	out := map[*types.Func]*types.Func{}
	for fn, name := range names {
		if out[fn], _ = checked.Scope().Lookup(name).(*types.Func); out[fn] == nil {
			return nil, fmt.Errorf("no %s for %s", name, fn.FullName())
		}
	}
	return out, nil
}
