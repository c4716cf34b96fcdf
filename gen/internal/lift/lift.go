// Package lift makes declared functions of function literals and method values, for which no code can be generated
// (lambda lifting): the variables that a literal captures become fields of a struct, which nabla.Bind binds.
package lift

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

// A Request is a function value that is passed to an operator of package nabla.
type Request struct {
	Pkg      *packages.Package
	File     *ast.File
	Call     *ast.CallExpr
	Arg      ast.Expr
	Operator string
	Read     func(name string) ([]byte, error) // returns the contents of a source file
}

// A Change is the rewriting of the source for a Request.
type Change struct {
	File  string // name of the source file
	Decls string // the new declarations, formatted; empty for a method of a pointer to a struct
	// Define is the statement that replaces the declaration of the variable with the function value, empty if it is in
	// the call or the variable remains.
	Define string
	Call   string // the expression that replaces the function value at the call

	name    string // of the new function
	edits   []edit
	imports map[string]string // path → name, of packages that the declarations need
}

// An edit replaces the bytes of the source between two offsets.
type edit struct {
	from, to int
	text     string
}

// A Refusal is the reason why a function value cannot be lifted.
type Refusal struct {
	Pos    token.Position
	Reason string
}

func (r *Refusal) Error() string { return r.Pos.String() + ": " + r.Reason }

// A lifter makes the Change for one Request.
type lifter struct {
	Request
	info    *types.Info
	text    []byte // of the source file
	parents map[ast.Node]ast.Node
	top     ast.Decl // the declaration that contains the function value
	used    map[string]bool
	change  *Change

	name, data string // the new function and the new struct type
	param      string // the new parameter
	captures   []*capture
	constants  []string // declarations of local constants that the literal uses
}

// A capture is a variable that a literal refers to, and its uses in the literal.
type capture struct {
	v         *types.Var
	uses      []*ast.Ident
	reference bool // the struct has a pointer to it, since it may change after the literal is made
}

// Of returns the change that lifts the function value of a request. The error is a *Refusal.
func Of(r Request) (c *Change, err error) {
	l := &lifter{Request: r, info: r.Pkg.TypesInfo, parents: map[ast.Node]ast.Node{}, used: map[string]bool{}}
	name := r.Pkg.Fset.PositionFor(r.File.Pos(), false).Filename
	if l.text, err = r.Read(name); err != nil {
		return nil, err
	}
	l.change = &Change{File: name, imports: map[string]string{}}
	l.index()
	defer func() {
		if v := recover(); v != nil {
			refusal, ok := v.(*Refusal)
			if !ok {
				panic(v)
			}
			c, err = nil, refusal
		}
	}()
	l.lift()
	return l.change, nil
}

// refuse ends the lifting.
func (l *lifter) refuse(n ast.Node, f string, args ...any) {
	panic(&Refusal{l.Pkg.Fset.Position(n.Pos()), fmt.Sprintf(f, args...)})
}

// index finds the parents of all nodes of the file, the names in the package and the enclosing declaration.
func (l *lifter) index() {
	var stack []ast.Node
	ast.Inspect(l.File, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			l.parents[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		return true
	})
	for _, f := range l.Pkg.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				l.used[id.Name] = true
			}
			return true
		})
	}
	for _, d := range l.File.Decls {
		if d.Pos() <= l.Arg.Pos() && l.Arg.End() <= d.End() {
			l.top = d
		}
	}
}

// lift completes the change.
func (l *lifter) lift() {
	if _, explicit := ast.Unparen(l.Call.Fun).(*ast.IndexExpr); explicit {
		l.refuse(l.Call, "the operator is instantiated explicitly")
	}
	switch x := ast.Unparen(l.Arg).(type) {
	case *ast.FuncLit:
		l.names("")
		l.free(x)
		if len(l.captures) == 0 {
			l.replace(l.Arg, l.name)
			l.change.Call = l.name
		} else {
			l.operate(l.Call, l.Arg, "&"+l.value(nil))
		}
		l.declare(x)
	case *ast.SelectorExpr:
		l.method(x)
	case *ast.Ident:
		l.variable(x)
	default:
		l.refuse(x, "it is no function literal")
	}
}

// source returns the source between two positions.
func (l *lifter) source(from, to token.Pos) string {
	return string(l.text[l.offset(from):l.offset(to)])
}

func (l *lifter) offset(p token.Pos) int { return l.Pkg.Fset.PositionFor(p, false).Offset }

func (l *lifter) replace(n ast.Node, text string) {
	l.change.edits = append(l.change.edits, edit{l.offset(n.Pos()), l.offset(n.End()), text})
}

// names chooses the names of the new declarations, after the enclosing function and the variable of the literal.
func (l *lifter) names(variable string) {
	base := "function"
	if d, ok := l.top.(*ast.FuncDecl); ok {
		base = strings.ToLower(d.Name.Name[:1]) + d.Name.Name[1:] + "Func"
		if variable != "" {
			base = strings.TrimSuffix(base, "Func") + strings.ToUpper(variable[:1]) + variable[1:]
		}
	}
	free := func(name string) bool { // also as the beginning of the names of derivatives
		for used := range l.used {
			if strings.HasPrefix(used, name) {
				return false
			}
		}
		return true
	}
	l.name = base
	for i := 2; !free(l.name); i++ {
		l.name = fmt.Sprint(base, i)
	}
	l.change.name, l.data = l.name, l.name+"Data"
}

// choose chooses the name of the new parameter, which the source at n does not mention.
func (l *lifter) choose(n ast.Node) {
	used := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	for _, name := range []string{"d", "data", "captured", l.data} {
		if l.param = name; !used[name] {
			break
		}
	}
}

// bindable refuses functions of types that nabla.Bind, or nabla.BindInPlace, does not take.
func (l *lifter) bindable(n ast.Node, t types.Type) {
	sig := t.Underlying().(*types.Signature)
	out := sig.Results().Len()
	if out > 0 && sig.Results().At(out-1).Type() == types.Universe.Lookup("error").Type() {
		out--
	}
	slice := types.NewSlice(types.Typ[types.Float64])
	in := sig.Params().Len()
	for v := range sig.Params().Variables() {
		if !types.Identical(v.Type(), slice) {
			l.refuse(n, "nabla.Bind takes functions of a []float64, and this is of type %s; write it over a slice",
				types.TypeString(t, (*types.Package).Name))
		}
	}
	if l.Operator == "InPlace" && in == 2 && out == 0 || l.Operator != "InPlace" && in == 1 && out == 1 {
		return
	}
	l.refuse(n, "nabla.Bind takes no %s", types.TypeString(t, (*types.Package).Name))
}

// operate replaces an argument of an operator by the bound function. struct is an expression for the pointer to the
// struct.
func (l *lifter) operate(call *ast.CallExpr, arg ast.Expr, pointer string) {
	if strings.HasPrefix(l.Operator, "Bind") {
		l.refuse(arg, "it has a bound struct already; make its captured variables fields of that")
	}
	if last := call.Args[len(call.Args)-1]; strings.HasPrefix(l.Operator, "Struct") && arg != last {
		name := "Bind" + l.Operator
		l.replace(operatorName(call), name)
		l.replace(arg, l.name)
		at := l.offset(last.End())
		l.change.edits = append(l.change.edits, edit{at, at, ", " + pointer})
		l.change.Call = l.nabla(name) + "(" + l.source(call.Args[0].Pos(), arg.Pos()) + l.name +
			l.source(arg.End(), last.End()) + ", " + pointer + ")"
		return
	}
	l.bindable(arg, l.info.TypeOf(arg))
	if l.Operator == "InPlace" {
		l.replace(operatorName(call), "BindInPlace")
		l.replace(arg, l.name+", "+pointer)
		outputs := l.source(call.Args[0].Pos(), call.Args[0].End())
		l.change.Call = l.nabla("BindInPlace") + "(" + outputs + ", " + l.name + ", " + pointer + ")"
		return
	}
	l.change.Call = l.nabla("Bind") + "(" + l.name + ", " + pointer + ")"
	l.replace(arg, l.change.Call)
}

// operatorName returns the identifier of the function that is called.
func operatorName(call *ast.CallExpr) *ast.Ident {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return sel.Sel
	}
	id, _ := ast.Unparen(call.Fun).(*ast.Ident)
	return id
}

// nabla returns the name of a function of package nabla as the file refers to it.
func (l *lifter) nabla(name string) string {
	if sel, ok := ast.Unparen(l.Call.Fun).(*ast.SelectorExpr); ok {
		return l.source(sel.X.Pos(), sel.X.End()) + "." + name
	}
	return name
}

// value returns the composite literal of the new struct.
func (l *lifter) value(given map[string]string) string {
	var fields []string
	for _, c := range l.captures {
		v := cmp.Or(given[c.v.Name()], c.v.Name())
		if c.reference {
			v = "&" + v
		}
		fields = append(fields, c.v.Name()+": "+v)
	}
	return l.data + "{" + strings.Join(fields, ", ") + "}"
}

// declare adds the declarations of the struct and of the function that a literal becomes.
func (l *lifter) declare(lit *ast.FuncLit) {
	l.choose(lit)
	body := l.body(lit)
	if len(l.constants) > 0 {
		body = "{\n" + strings.Join(l.constants, "\n") + "\n" + strings.TrimPrefix(body, "{")
	}
	params := strings.TrimSuffix(strings.TrimSpace(l.source(lit.Type.Params.Opening+1, lit.Type.Params.Closing)), ",")
	if f := lit.Type.Params.List; len(f) > 0 && len(f[0].Names) == 0 {
		var list []string
		for _, field := range f {
			list = append(list, "_ "+l.source(field.Pos(), field.End()))
		}
		params = strings.Join(list, ", ")
	}
	l.write(params, l.source(lit.Type.Params.End(), lit.Body.Lbrace), body)
}

// write adds the declarations behind that of the enclosing function.
func (l *lifter) write(params, results, body string) {
	var b strings.Builder
	if len(l.captures) > 0 {
		fmt.Fprintf(&b, "// %s holds the data of %s.\ntype %s struct {\n", l.data, l.name, l.data)
		for _, c := range l.captures {
			star := ""
			if c.reference {
				star = "*"
			}
			fmt.Fprintf(&b, "%s %s%s\n", c.v.Name(), star, l.typeText(c))
		}
		b.WriteString("}\n\n")
		params += ", " + l.param + " *" + l.data
	}
	fmt.Fprintf(&b, "// %s is passed to %s.\nfunc %s(%s)%s%s\n", l.name, l.nabla(l.Operator), l.name, params, results,
		body)
	l.change.Decls = b.String()
	if text, err := format.Source([]byte(l.change.Decls)); err == nil {
		l.change.Decls = string(text)
	}
	at := l.offset(l.top.End())
	if i := bytes.IndexByte(l.text[at:], '\n'); i >= 0 {
		at += i
	} else {
		at = len(l.text)
	}
	l.change.edits = append(l.change.edits, edit{at, at, "\n\n" + strings.TrimRight(l.change.Decls, "\n")})
}

// body returns the body of a literal, with fields of the new parameter in place of the captured variables.
func (l *lifter) body(lit *ast.FuncLit) string {
	var edits []edit
	for _, c := range l.captures {
		for _, id := range c.uses {
			text := l.param + "." + c.v.Name()
			_, pointer := c.v.Type().Underlying().(*types.Pointer)
			if sel, ok := l.parents[id].(*ast.SelectorExpr); c.reference && (!ok || sel.X != id || pointer) {
				text = "(*" + text + ")"
			}
			edits = append(edits, edit{l.offset(id.Pos()), l.offset(id.End()), text})
		}
	}
	from := l.offset(lit.Body.Lbrace)
	for i := range edits {
		edits[i].from -= from
		edits[i].to -= from
	}
	text, _ := apply(l.text[from:l.offset(lit.Body.End())], edits)
	return string(text)
}

// method lifts a method value.
func (l *lifter) method(x *ast.SelectorExpr) {
	s := l.info.Selections[x]
	if s == nil || s.Kind() != types.MethodVal {
		l.refuse(x, "it is no method value")
	}
	recv := l.source(x.X.Pos(), x.X.End())
	t := l.info.TypeOf(x.X)
	pointer, isPointer := types.Unalias(t).(*types.Pointer)
	_, byPointer := types.Unalias(s.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer)
	of := t
	if isPointer {
		of = pointer.Elem()
	}
	named, _ := types.Unalias(of).(*types.Named)
	if byPointer && named != nil && len(s.Index()) == 1 && l.Operator != "InPlace" {
		if _, ok := named.Underlying().(*types.Struct); ok {
			l.bindable(x, l.info.TypeOf(x))
			if !isPointer {
				recv = "&" + recv
			}
			l.change.Call = l.nabla("BindMethod") + "((*" + l.typeName(x, of) + ")." + x.Sel.Name + ", " + recv + ")"
			l.replace(x, l.change.Call)
			return
		}
	}
	switch { // the receiver is evaluated where the method value is
	case len(s.Index()) > 1:
		l.refuse(x, "%s is a method of an embedded field; select the field", x.Sel.Name)
	case byPointer && !isPointer:
		t, recv = types.NewPointer(t), "&"+recv
	case !byPointer && isPointer && !types.IsInterface(of):
		t, recv = of, "*"+recv
	}
	l.names("")
	l.choose(x.Sel)
	sig := l.info.TypeOf(x).(*types.Signature)
	l.captures = []*capture{{v: types.NewVar(x.Pos(), l.Pkg.Types, "receiver", t)}}
	l.operate(l.Call, l.Arg, "&"+l.value(map[string]string{"receiver": recv}))
	params, args := "x []float64", "x"
	if sig.Params().Len() == 2 {
		params, args = "y, x []float64", "y, x"
	}
	results, body := "", "{ "
	switch sig.Results().Len() {
	case 0:
	case 1:
		results, body = " "+sig.Results().At(0).Type().String()+" ", "{ return "
	default:
		results, body = " ("+sig.Results().At(0).Type().String()+", error) ", "{ return "
	}
	l.write(params, results, body+l.param+".receiver."+x.Sel.Name+"("+args+") }")
}

// variable lifts the literal in a local variable that is assigned once.
func (l *lifter) variable(x *ast.Ident) {
	o, _ := l.info.Uses[x].(*types.Var)
	var def ast.Node
	var value ast.Expr
	var uses []*ast.Ident
	ast.Inspect(l.top, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if id, ok := n.Lhs[0].(*ast.Ident); ok && len(n.Lhs) == 1 && len(n.Rhs) == 1 && l.info.Defs[id] == o {
				def, value = n, n.Rhs[0]
			}
		case *ast.ValueSpec:
			if len(n.Names) == 1 && len(n.Values) == 1 && n.Type == nil && l.info.Defs[n.Names[0]] == o {
				def, value = n, n.Values[0]
			}
		case *ast.Ident:
			if l.info.Uses[n] == o {
				uses = append(uses, n)
			}
		}
		return true
	})
	lit, _ := ast.Unparen(value).(*ast.FuncLit)
	if sel, ok := ast.Unparen(value).(*ast.SelectorExpr); ok && l.info.Selections[sel] != nil {
		l.refuse(x, "%s holds a method value; pass that to %s without the variable", x.Name, l.nabla(l.Operator))
	}
	if o == nil || lit == nil {
		l.refuse(x, "%s is not declared with a function literal alone", x.Name)
	}
	for _, id := range uses {
		if l.assigned(id) {
			l.refuse(id, "%s is assigned, so the function in it is not known", x.Name)
		}
	}
	l.names(x.Name)
	l.free(lit)
	if len(l.captures) == 0 {
		l.replace(lit, l.name)
		l.change.Call = x.Name + " := " + l.name
		l.declare(lit)
		return
	}
	bound := x.Name + "Data"
	for i := 2; l.used[bound]; i++ {
		bound = fmt.Sprint(x.Name, "Data", i)
	}
	define := bound + " := &" + l.value(nil)
	if spec, ok := def.(*ast.ValueSpec); ok {
		l.replace(spec, bound+" = &"+l.value(nil))
	} else {
		l.replace(def, define)
	}
	for _, id := range uses {
		call, ok := l.parents[id].(*ast.CallExpr)
		switch {
		case ok && call.Fun == id:
			l.replace(id, l.name)
			l.change.edits = append(l.change.edits, edit{l.offset(call.Rparen), l.offset(call.Rparen), ", " + bound})
		case ok && l.operator(call) != "":
			l.Operator = l.operator(call)
			l.operate(call, id, bound)
		default:
			l.refuse(id, "%s is used in another way than as an argument of an operator or in a call", x.Name)
		}
	}
	l.change.Define = define
	l.declare(lit)
}

// operator returns the name of the function of package nabla that a call calls, "" for other calls.
func (l *lifter) operator(call *ast.CallExpr) string {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	own, ok2 := ast.Unparen(l.Call.Fun).(*ast.SelectorExpr)
	if !ok || !ok2 {
		return ""
	}
	a, b := l.info.Uses[sel.Sel], l.info.Uses[own.Sel]
	if a == nil || b == nil || a.Pkg() != b.Pkg() {
		return ""
	}
	return a.Name()
}

// Apply returns the contents of the changed files. Of changes that overlap or declare the same name, only the first is
// made. read returns the contents of a source file.
func Apply(changes []*Change, read func(name string) ([]byte, error)) (map[string][]byte, error) {
	files, byFile := map[string][]byte{}, map[string][]*Change{}
	var made []*Change
	for _, c := range changes {
		if !slices.ContainsFunc(made, c.overlaps) {
			made, byFile[c.File] = append(made, c), append(byFile[c.File], c)
		}
	}
	for name, list := range byFile {
		text, err := read(name)
		if err != nil {
			return nil, err
		}
		var edits []edit
		imports := map[string]string{}
		for _, c := range list {
			edits = append(edits, c.edits...)
			for path, as := range c.imports {
				imports[path] = as
			}
		}
		out, err := apply(text, edits)
		if err != nil {
			return nil, err
		}
		if files[name], err = formatted(out, imports); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// overlaps reports whether two changes replace the same source, or declare the same name.
func (c *Change) overlaps(d *Change) bool {
	if c.File != d.File {
		return c.name != "" && c.name == d.name
	}
	for _, e := range c.edits {
		for _, f := range d.edits {
			if e.from < f.to && f.from < e.to || e == f {
				return true
			}
		}
	}
	return c.name != "" && c.name == d.name
}

// apply returns text with the edits, of which those at equal offsets keep their order.
func apply(text []byte, edits []edit) ([]byte, error) {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.from < at {
			return nil, fmt.Errorf("two changes of the same source")
		}
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...), nil
}

// formatted returns a file in the format of gofmt, with further imports.
func formatted(text []byte, imports map[string]string) ([]byte, error) {
	if len(imports) == 0 {
		return format.Source(text)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for path, name := range imports {
		astutil.AddNamedImport(fset, f, name, path)
	}
	var b bytes.Buffer
	if err := format.Node(&b, fset, f); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
