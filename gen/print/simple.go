package print

import (
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Statements without blocks as Go source.

// simple prints a statement without blocks.
func (p *printer) simple(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		p.let(s)
	case *ir.Set:
		p.set(s)
	case *ir.Add:
		p.add(s)
	case *ir.Call:
		p.call(s, "=")
	case *ir.Append:
		of := s.S.Type().Underlying().(*types.Slice).Elem()
		list := []string{p.expr(s.S, nil)}
		for _, e := range s.Elems {
			if s.Spread {
				list = append(list, p.expr(e, nil)+"...")
			} else {
				list = append(list, p.expr(e, of))
			}
		}
		if len(list) == 1 {
			if to := p.place(s.P); to != list[0] {
				p.line("%s = %s", to, list[0])
			}
			return
		}
		p.line("%s = %s(%s)", p.place(s.P), p.builtin("append"), strings.Join(list, ", "))
	case *ir.Copy:
		to := ""
		if s.N != nil {
			to = p.name(s.N) + " = "
		}
		p.line("%s%s(%s, %s)", to, p.builtin("copy"), p.expr(s.Dst, nil), p.expr(s.Src, nil))
	case *ir.Clear:
		p.line("%s(%s)", p.builtin("clear"), p.expr(s.S, nil))
	case *ir.Batch:
		args := []string{p.expr(s.Dst, nil)}
		for _, e := range s.Args {
			args = append(args, p.expr(e, nil))
		}
		p.line("%s(%s)", p.runtime(strings.TrimPrefix(s.Name, "math.")), strings.Join(args, ", "))
	case *ir.Panic:
		p.line("%s(%s)", p.builtin("panic"), p.expr(s.E, nil))
	default:
		p.refuse("statement %T", s)
	}
}

// set prints an assignment, with op= if the target is the left operand of the right side.
func (p *printer) set(s *ir.Set) {
	if s.P.Root == blank {
		p.line("_ = %s", p.expr(s.E, nil))
		return
	}
	if p.storeVector(s) {
		return
	}
	to := p.place(s.P)
	if b, ok := s.E.(*ir.Binary); ok && !isReal(b.T) && !isVector(b.T) && b.Op.Precedence() > token.EQL.Precedence() {
		if l, ok := b.X.(*ir.Load); ok && p.place(l.P) == to && !constantExpr(b.X) {
			// The text of the right operand is cut from that of the operation, which may have made
			// it a run-time value.
			if text := p.binary(b); strings.HasPrefix(text, to+" "+b.Op.String()+" ") {
				p.line("%s %s= %s", to, b.Op, p.unparen(b.Y, strings.TrimPrefix(text, to+" "+b.Op.String()+" ")))
				return
			}
		}
	}
	e := p.expr(s.E, s.P.Type())
	if to != e {
		p.line("%s = %s", to, e)
	} else if mayPanic(s.E) { // vet reports self-assignment as a mistake
		p.line("_ = %s", e)
	}
}

// unparen returns the text of an operand without the parentheses it needs as such.
func (p *printer) unparen(e ir.Expr, text string) string {
	if b, ok := e.(*ir.Binary); ok && text == "("+p.binary(b)+")" {
		return text[1 : len(text)-1]
	}
	return text
}

// add prints an addition, as a subtraction if the operand is negated.
func (p *printer) add(s *ir.Add) {
	to, t := p.place(s.P), s.P.Type()
	if isReal(t) {
		p.addReal(s)
		return
	}
	if u, ok := s.E.(*ir.Unary); ok && u.Op == token.SUB && !constantExpr(u.X) {
		p.line("%s -= %s", to, p.expr(u.X, t))
		return
	}
	if u, ok := s.E.(*ir.Unary); ok && u.Op == token.SUB && positive(u.X) {
		p.line("%s -= %s", to, p.expr(u.X, t))
		return
	}
	e := p.expr(s.E, t)
	switch {
	case e == "1" && ir.HasInfo(t, types.IsInteger):
		p.line("%s++", to)
	case e == "-1" && ir.HasInfo(t, types.IsInteger):
		p.line("%s--", to)
	default:
		p.line("%s += %s", to, e)
	}
}

// let prints the declaration of a variable, with its type if the value does not imply it.
func (p *printer) let(s *ir.Let) {
	name := p.name(s.V)
	if s.E == nil {
		p.line("var %s %s", name, p.typ(s.V.Type))
		return
	}
	if c, ok := s.E.(*ir.Const); ok && c.Val == nil {
		p.line("var %s %s", name, p.typ(s.V.Type))
		return
	}
	// says reports whether the text of the value implies the type of the variable.
	says := types.Identical(s.E.Type(), s.V.Type)
	switch e := s.E.(type) {
	case *ir.Opaque:
		says = false
	case *ir.Binary:
		says = says && (!ir.HasInfo(e.T, types.IsBoolean) || types.Identical(e.T, types.Typ[types.Bool]))
	}
	if says {
		p.line("%s := %s", name, p.expr(s.E, nil))
		return
	}
	p.line("var %s %s = %s", name, p.typ(s.V.Type), p.expr(s.E, s.V.Type))
}

// call prints a call whose results are assigned by op.
func (p *printer) call(s *ir.Call, op string) {
	var results []string
	some := false
	for _, v := range s.Results {
		if v == nil {
			results = append(results, "_")
			continue
		}
		some = true
		results = append(results, p.name(v))
	}
	if f := s.Callee.Func; f != nil && p.file.names[f] != "" && len(results) == len(f.Results) {
		results = errorLast(results, f.Results)
	}
	head := ""
	if some {
		head = strings.Join(results, ", ") + " " + op + " "
	}
	if f := s.Callee.Func; f != nil {
		var params []types.Type
		for _, v := range f.Params {
			params = append(params, v.Type)
		}
		if name, ok := p.file.names[f]; ok {
			p.line("%s%s(%s)", head, name, p.args(s.Args, params, f.Variadic))
			return
		}
		if f.Object == nil {
			p.refuse("a call of %s", f.Name)
		}
		p.line("%s%s", head, p.object(f.Object, s.Args, params))
		return
	}
	if s.Callee.Rule.Operation != nil {
		p.operation(s, op)
		return
	}
	// A rule is called under the name of its function.
	o := s.Callee.Rule.Object
	if o != nil && o.Pkg() != nil && o.Name() == "MakeMap" && len(s.Args) == 0 && s.Callee.Rule.Passive {
		t := o.Signature().Results().At(0).Type() // which Go cannot infer
		p.line("%s%s[%s]()", head, p.qualified(o.Pkg(), o.Name()), p.typ(t))
		return
	}
	if s.Callee.Rule.Calls != nil {
		p.line("%s%s(%s, %s)", head, p.qualified(o.Pkg(), o.Name()), p.expr(s.Args[0], nil), p.funcLiteral(s))
		return
	}
	if o != nil && !p.visible(o) {
		p.refuse("a call of %s, which package %s does not export; functions with rules and their derivatives are "+
			"exported where other packages call them", s.Callee.Rule.Name, o.Pkg().Path())
	}
	// go vet reports calls whose results would have been all that they are for.
	if n := 0; head == "" && o != nil && s.Callee.Rule.Passive {
		if n = o.Signature().Results().Len(); n > 0 && (!s.Callee.Rule.Effects || o.Name() == "String") {
			head = strings.Repeat("_, ", n-1) + "_ = "
		}
	}
	if o == nil || o.Signature().TypeParams().Len() > 0 || o.Signature().RecvTypeParams().Len() > 0 {
		p.refuse("a call of %s, which cannot be named", s.Callee.Rule.Name)
	}
	if p.hidden(o.Signature().Params()) || p.hidden(o.Signature().Results()) {
		p.refuse("a call of %s, whose types package %s does not export", s.Callee.Rule.Name, o.Pkg().Path())
	}
	var params []types.Type
	if r := o.Signature().Recv(); r != nil {
		params = append(params, r.Type())
	}
	for v := range o.Signature().Params().Variables() {
		params = append(params, v.Type())
	}
	p.line("%s%s", head, p.object(o, s.Args, params))
}

// funcLiteral returns a function literal that calls the function that the rule of s calls. It refers to the variables
// among the arguments of s.
func (p *printer) funcLiteral(s *ir.Call) string {
	f := s.Callee.Rule.Calls
	own := len(f.Params) - (len(s.Args) - 1)
	names := map[string]bool{}
	var captured []string
	for _, a := range s.Args[1:] {
		text := p.expr(a, nil)
		captured, names[text] = append(captured, text), true
	}
	var params, args []string
	for _, v := range f.Params[:own] {
		name := v.Name
		for names[name] {
			name += "1"
		}
		names[name] = true
		params, args = append(params, name), append(args, name)
	}
	list := strings.Join(params, ", ") + " " + p.typ(f.Params[0].Type) // all of one type
	args = append(args, captured...)
	call := ""
	if name, ok := p.file.names[f]; ok {
		call = name + "(" + strings.Join(args, ", ") + ")"
	} else if o := f.Object; o != nil && o.Signature().Recv() == nil {
		call = p.qualified(o.Pkg(), o.Name()) + "(" + strings.Join(args, ", ") + ")"
	} else {
		p.refuse("a function value of %s", f.Name)
	}
	return "func(" + list + ") " + p.typ(f.Results[0].Type) + " { return " + call + " }"
}

// object returns a call of a function or a method of the source.
func (p *printer) object(o *types.Func, args []ir.Expr, params []types.Type) string {
	sig := o.Signature()
	if len(args) != len(params) {
		p.refuse("a call of %s with %d arguments", o.FullName(), len(args))
	}
	if o.Pkg() == nil && sig.Recv() == nil { // print or println
		return o.Name() + "(" + p.args(args, params, false) + ")"
	}
	if sig.Recv() == nil {
		return p.qualified(o.Pkg(), o.Name()) + "(" + p.args(args, params, sig.Variadic()) + ")"
	}
	recv := ""
	if a, ok := args[0].(*ir.Addr); ok { // Go takes the address
		recv = p.place(a.P)
	} else {
		recv = p.prec(args[0], nil, postfix)
	}
	return recv + "." + o.Name() + "(" + p.args(args[1:], params[1:], sig.Variadic()) + ")"
}

// args returns the arguments of a call.
func (p *printer) args(args []ir.Expr, params []types.Type, variadic bool) string {
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = p.expr(a, params[i])
	}
	if n := len(list) - 1; variadic {
		if c, ok := args[n].(*ir.Const); ok && c.Val == nil {
			return strings.Join(list[:n], ", ")
		}
		list[n] += "..."
	}
	return strings.Join(list, ", ")
}
