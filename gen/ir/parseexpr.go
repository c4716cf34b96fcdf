package ir

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
)

// Typing of parsed Go expressions. Constants without a type take it from their context, which
// follows the rules of the printer in printexpr.go: whatever that prints is read back as the same
// expression.

// expr returns x as a typed expression. An untyped constant gets type want, or its default type if
// want is nil.
func (p *parser) expr(x ast.Expr, want types.Type) Expr {
	if val, text, def, ok := p.constant(x); ok {
		if want == nil {
			want = def
		}
		return p.newConst(x, val, text, want)
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.expr(x.X, want)
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		at := p.place(x)
		return &Load{Typed{at.Type()}, at}
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			at := p.place(x.X)
			return &Addr{Typed{types.NewPointer(at.Type())}, at}
		}
		switch x.Op {
		case token.ADD, token.SUB, token.NOT, token.XOR:
		default:
			p.failAt(x, "no operator "+x.Op.String())
		}
		y := p.expr(x.X, want)
		return &Unary{Typed{y.Type()}, x.Op, y}
	case *ast.BinaryExpr:
		return p.binary(x, want)
	case *ast.SliceExpr:
		return p.slice(x)
	case *ast.CompositeLit:
		return p.literal(x)
	case *ast.TypeAssertExpr:
		if x.Type == nil {
			break
		}
		return &Convert{Typed{p.typ(x.Type)}, p.expr(x.X, nil)}
	case *ast.CallExpr:
		return p.callExpr(x, want)
	}
	p.failAt(x, "not an expression")
	return nil
}

// binary types an operation. If one operand needs the type of the other, the other is typed first.
func (p *parser) binary(x *ast.BinaryExpr, want types.Type) Expr {
	boolean := types.Typ[types.Bool]
	switch {
	case x.Op == token.SHL || x.Op == token.SHR:
		a := p.expr(x.X, want)
		return &Binary{Typed{a.Type()}, x.Op, a, p.expr(x.Y, types.Typ[types.Uint])}
	case isLogic(x.Op):
		return &Binary{Typed{boolean}, x.Op, p.expr(x.X, boolean), p.expr(x.Y, boolean)}
	case isComparison(x.Op):
		want = nil
	}
	var a, b Expr
	if !p.selfTyped(x.X) && p.selfTyped(x.Y) {
		b = p.expr(x.Y, nil)
		a = p.expr(x.X, b.Type())
	} else {
		a = p.expr(x.X, want)
		b = p.expr(x.Y, a.Type())
	}
	if isComparison(x.Op) {
		return &Binary{Typed{boolean}, x.Op, a, b}
	}
	return &Binary{Typed{a.Type()}, x.Op, a, b}
}

// selfTyped is the function [selfTyped] for parsed expressions: it reports whether x has a type
// without regard to its context.
func (p *parser) selfTyped(x ast.Expr) bool {
	if _, _, _, ok := p.constant(x); ok {
		return false
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.selfTyped(x.X)
	case *ast.UnaryExpr:
		return x.Op == token.NOT || x.Op == token.AND || p.selfTyped(x.X)
	case *ast.BinaryExpr:
		switch {
		case x.Op == token.SHL || x.Op == token.SHR:
			return p.selfTyped(x.X)
		case isLogic(x.Op) || isComparison(x.Op):
			return true
		}
		return p.selfTyped(x.X) || p.selfTyped(x.Y)
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.Ident); ok && (f.Name == "min" || f.Name == "max") {
			for _, a := range x.Args {
				if p.selfTyped(a) {
					return true
				}
			}
			return false
		}
	}
	return true
}

// constant returns the value, spelling and default type of x if x is a constant without a
// conversion.
func (p *parser) constant(x ast.Expr) (v constant.Value, text string, def types.Type, ok bool) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		text, ok = complexText(x)
		if !ok {
			return nil, "", nil, false
		}
		if v, def = literalValue(text); v == nil {
			p.failAt(x, "no constant of this kind")
		}
		return v, text, def, true
	case *ast.BasicLit:
		v, def = literalValue(x.Value)
		if v == nil {
			p.failAt(x, "no constant of this kind")
		}
		return v, x.Value, def, true
	case *ast.UnaryExpr:
		if lit, isLit := x.X.(*ast.BasicLit); isLit && x.Op == token.SUB {
			if v, def = literalValue("-" + lit.Value); v == nil {
				p.failAt(x, "no constant of this kind")
			}
			return v, "-" + lit.Value, def, true
		}
	case *ast.Ident:
		switch x.Name {
		case "true", "false":
			return constant.MakeBool(x.Name == "true"), "", types.Typ[types.Bool], true
		case "nil":
			return nil, "", nil, true
		}
	case *ast.SelectorExpr:
		if id, isID := x.X.(*ast.Ident); isID && p.vars[id.Name] == nil {
			if c, isConst := p.object(x).(*types.Const); isConst {
				return c.Val(), id.Name + "." + x.Sel.Name, types.Default(c.Type()), true
			}
		}
	case *ast.CallExpr:
		f, isID := x.Fun.(*ast.Ident)
		if !isID || f.Name != "text" || len(x.Args) != 2 {
			return
		}
		lit, isLit := x.Args[0].(*ast.BasicLit)
		if !isLit || lit.Kind != token.STRING {
			p.failAt(x, "not text(\"text\", value)")
		}
		text, _ = strconv.Unquote(lit.Value)
		if v, _, def, ok = p.constant(x.Args[1]); !ok {
			p.failAt(x.Args[1], "not a constant")
		}
		return v, text, def, true
	}
	return
}

// complexText returns the text of a constant complex number, (re+imi), and reports whether x is one.
func complexText(x *ast.ParenExpr) (string, bool) {
	b, ok := x.X.(*ast.BinaryExpr)
	if !ok {
		return "", false
	}
	im, ok := b.Y.(*ast.BasicLit)
	if !ok || im.Kind != token.IMAG {
		return "", false
	}
	sign, re := "", b.X
	if u, ok := re.(*ast.UnaryExpr); ok && u.Op == token.SUB {
		sign, re = "-", u.X
	}
	lit, ok := re.(*ast.BasicLit)
	if !ok {
		return "", false
	}
	return "(" + sign + lit.Value + b.Op.String() + im.Value + ")", true
}

// newConst returns a constant of type t, which must be able to represent it. The spelling is
// dropped if printing would reproduce it.
func (p *parser) newConst(x ast.Node, v constant.Value, text string, t types.Type) Expr {
	if t == nil {
		p.failAt(x, "nil without a type")
	}
	if v == nil && !nilable(t) {
		p.failAt(x, "nil is no "+typeText(t))
	}
	if err := constantFits(v, t); err != "" {
		p.failAt(x, err)
	}
	if v != nil {
		if s, _ := valueText(v, t); s == text {
			text = ""
		}
	}
	return &Const{Typed{t}, v, text}
}

// callExpr types a call: of a builtin, an elementary function, opaque or a conversion.
func (p *parser) callExpr(x *ast.CallExpr, want types.Type) Expr {
	if x.Ellipsis.IsValid() {
		p.failAt(x, "... in an expression")
	}
	switch f := x.Fun.(type) {
	case *ast.Ident:
		if e := p.builtinExpr(x, f.Name, want); e != nil {
			return e
		}
	case *ast.SelectorExpr:
		if id, ok := f.X.(*ast.Ident); ok {
			name := id.Name + "." + f.Sel.Name
			if params, result, ok := Elementary(name); ok {
				p.wantArgs(x, len(params), len(params))
				e := &Math{Typed: Typed{result}, Name: name}
				for i, a := range x.Args {
					e.Args = append(e.Args, p.expr(a, params[i]))
				}
				return e
			}
		}
	case *ast.IndexExpr:
		if id, ok := f.X.(*ast.Ident); ok && id.Name == "opaque" {
			return p.opaque(x, p.typ(f.Index))
		}
		if id, ok := f.X.(*ast.Ident); ok && id.Name == "typeis" {
			p.wantArgs(x, 1, 1)
			return &TypeTest{Typed{types.Typ[types.Bool]}, p.expr(x.Args[0], nil), p.typ(f.Index)}
		}
		if id, ok := f.X.(*ast.Ident); ok && (id.Name == "boxto" || id.Name == "unboxto") {
			p.wantArgs(x, 1, 1)
			t, e := Typed{p.typ(f.Index)}, p.expr(x.Args[0], nil)
			if id.Name == "boxto" {
				return &Box{t, e}
			}
			return &Unbox{t, e}
		}
	}
	t := p.tryType(x.Fun)
	if t == nil {
		p.failAt(x, "not a function of an expression or a type")
	}
	p.wantArgs(x, 1, 1)
	if v, text, _, ok := p.constant(x.Args[0]); ok {
		return p.newConst(x, v, text, t)
	}
	return &Convert{Typed{t}, p.expr(x.Args[0], nil)}
}

// wantArgs fails unless the call has between least and most arguments.
func (p *parser) wantArgs(x *ast.CallExpr, least, most int) {
	if n := len(x.Args); n < least || n > most {
		p.failAt(x, "wrong number of arguments")
	}
}

// builtinExpr types a call of a builtin function or of a word of the text form. It returns nil for
// other names.
func (p *parser) builtinExpr(x *ast.CallExpr, name string, want types.Type) Expr {
	integer := types.Typ[types.Int]
	switch name {
	case "len", "cap":
		p.wantArgs(x, 1, 1)
		return &Len{Typed{integer}, p.expr(x.Args[0], nil), name == "cap"}
	case "min", "max":
		p.wantArgs(x, 1, 1<<20)
		return p.minMax(x, name, want)
	case "make":
		p.wantArgs(x, 2, 3)
		e := &Make{Typed: Typed{p.typ(x.Args[0])}, N: p.expr(x.Args[1], integer)}
		if len(x.Args) > 2 {
			e.Cap = p.expr(x.Args[2], integer)
		}
		return e
	case "new":
		p.wantArgs(x, 1, 1)
		return &New{Typed{types.NewPointer(p.typ(x.Args[0]))}}
	case GraftName:
		p.wantArgs(x, 2, 2)
		return p.minMax(x, name, want)
	case RealName, ImagName:
		p.wantArgs(x, 1, 1)
		z := p.expr(x.Args[0], nil)
		if !IsComplex(z.Type()) {
			p.failAt(x, "not of a complex number")
		}
		return &Math{Typed{PartType(z.Type())}, name, []Expr{z}}
	case ComplexName:
		p.wantArgs(x, 2, 2)
		re, im := p.expr(x.Args[0], nil), p.expr(x.Args[1], nil)
		if !IsFloat(re.Type()) {
			p.failAt(x, "not of floats")
		}
		return &Math{Typed{complexType(re.Type())}, name, []Expr{re, im}}
	case "zero":
		p.wantArgs(x, 1, 1)
		return &Const{Typed: Typed{p.typ(x.Args[0])}}
	}
	return nil
}

// minMax types min and max: constants among the arguments take the type of another argument.
func (p *parser) minMax(x *ast.CallExpr, name string, want types.Type) Expr {
	e := &Math{Name: name, Args: make([]Expr, len(x.Args))}
	first := 0
	for i, a := range x.Args {
		if p.selfTyped(a) {
			first, want = i, nil
			break
		}
	}
	e.Args[first] = p.expr(x.Args[first], want)
	e.T = e.Args[first].Type()
	for i, a := range x.Args {
		if i != first {
			e.Args[i] = p.expr(a, e.T)
		}
	}
	return e
}

// opaque types opaque[T]("format", args…), whose format is a string literal.
func (p *parser) opaque(x *ast.CallExpr, t types.Type) Expr {
	if len(x.Args) == 0 {
		p.failAt(x, "missing format")
	}
	lit, ok := x.Args[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		p.failAt(x.Args[0], "the format is not a string")
	}
	e := &Opaque{Typed: Typed{t}}
	e.Format, _ = strconv.Unquote(lit.Value)
	for _, a := range x.Args[1:] {
		e.Args = append(e.Args, p.expr(a, nil))
	}
	return e
}

// slice types a slice expression: a SliceAt of an array or of a pointer to one, otherwise a Slice.
func (p *parser) slice(x *ast.SliceExpr) Expr {
	bound := func(b ast.Expr) Expr {
		if b == nil {
			return nil
		}
		return p.expr(b, types.Typ[types.Int])
	}
	lo, hi, max := bound(x.Low), bound(x.High), bound(x.Max)
	if p.isPlace(x.X) {
		at := p.place(x.X)
		t := at.Type()
		if e := pointee(t); e != nil && isArray(e) {
			at.Path = append(at.Path, DerefStep())
			t = e
		}
		if a, ok := t.Underlying().(*types.Array); ok {
			return &SliceAt{Typed{types.NewSlice(a.Elem())}, at, lo, hi, max}
		}
		return &Slice{Typed{t}, &Load{Typed{t}, at}, lo, hi, max}
	}
	e := p.expr(x.X, nil)
	return &Slice{Typed{e.Type()}, e, lo, hi, max}
}

// literal types a composite literal. Elements of arrays and slices without a key follow the one
// before.
func (p *parser) literal(x *ast.CompositeLit) Expr {
	if x.Type == nil {
		p.failAt(x, "a literal without its type")
	}
	t := p.typ(x.Type)
	e := &Literal{Typed: Typed{t}}
	st, _ := t.Underlying().(*types.Struct)
	of := Step{-1, &Const{}}.typeFrom(t)
	if st == nil && (of == nil || IsString(t)) {
		p.failAt(x, "a literal of a type that has none")
	}
	next := 0
	for _, y := range x.Elts {
		kv, keyed := y.(*ast.KeyValueExpr)
		switch {
		case st != nil:
			id, ok := (*ast.Ident)(nil), false
			if keyed {
				id, ok = kv.Key.(*ast.Ident)
			}
			if !ok {
				p.failAt(y, "not field: value")
			}
			if next = fieldNamed(st, id.Name); next < 0 {
				p.failAt(id, "no field "+id.Name)
			}
			e.Elems = append(e.Elems, p.expr(kv.Value, st.Field(next).Type()))
		case keyed:
			lit, ok := kv.Key.(*ast.BasicLit)
			if !ok || lit.Kind != token.INT {
				p.failAt(kv.Key, "not an index")
			}
			n, err := strconv.ParseInt(lit.Value, 0, 31)
			if err != nil {
				p.failAt(kv.Key, "not an index")
			}
			next = int(n)
			e.Elems = append(e.Elems, p.expr(kv.Value, of))
		default:
			e.Elems = append(e.Elems, p.expr(y, of))
		}
		e.Keys = append(e.Keys, next)
		if next++; ElemOf(t) != nil && next > e.Len {
			e.Len = next
		}
	}
	return e
}

// fieldNamed returns the index of the field with a name, or -1.
func fieldNamed(st *types.Struct, name string) int {
	for i := range st.NumFields() {
		if st.Field(i).Name() == name {
			return i
		}
	}
	return -1
}

// isPlace reports whether x has the form of a place rather than of another expression.
func (p *parser) isPlace(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.isPlace(x.X)
	case *ast.Ident:
		return p.vars[x.Name] != nil
	case *ast.SelectorExpr:
		if p.isPlace(x.X) {
			return true
		}
		_, ok := p.object(x).(*types.Var)
		return ok
	case *ast.IndexExpr:
		return p.isPlace(x.X)
	case *ast.StarExpr:
		return p.isPlace(x.X)
	}
	return false
}

// place returns the place that x denotes. Its type is never nil.
func (p *parser) place(x ast.Expr) *Place {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.place(x.X)
	case *ast.Ident:
		if v := p.vars[x.Name]; v != nil {
			return v.Place()
		}
		p.failAt(x, "no variable "+x.Name)
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok && p.vars[id.Name] == nil {
			return p.global(x)
		}
		at := p.follow(x.X, isStruct)
		st, ok := at.Type().Underlying().(*types.Struct)
		if !ok {
			p.failAt(x, "a field of a value that is not a struct")
		}
		i := fieldNamed(st, x.Sel.Name)
		if i < 0 {
			p.failAt(x.Sel, "no field "+x.Sel.Name)
		}
		at.Path = append(at.Path, FieldStep(i))
		return at
	case *ast.IndexExpr:
		at := p.follow(x.X, isArray)
		at.Path = append(at.Path, IndexStep(p.expr(x.Index, types.Typ[types.Int])))
		if at.Type() == nil {
			p.failAt(x, "an element of a value without elements")
		}
		return at
	case *ast.StarExpr:
		at := p.place(x.X)
		at.Path = append(at.Path, DerefStep())
		if at.Type() == nil {
			p.failAt(x, "a dereference of a value that is not a pointer")
		}
		return at
	}
	p.failAt(x, "not a place")
	return nil
}

// follow returns the place that x denotes, dereferenced if it is a pointer to a type that satisfies
// to.
func (p *parser) follow(x ast.Expr, to func(types.Type) bool) *Place {
	at := p.place(x)
	if e := pointee(at.Type()); e != nil && to(e) {
		at.Path = append(at.Path, DerefStep())
	}
	return at
}

// global returns the place of a package-level variable, or of a declared function as a value, which has one Var per
// function.
func (p *parser) global(x *ast.SelectorExpr) *Place {
	g := p.object(x)
	switch g.(type) {
	case *types.Var, *types.Func:
	default:
		p.failAt(x, "no such variable")
	}
	name := g.Pkg().Name() + "." + g.Name()
	key := "global " + g.Pkg().Path() + "." + g.Name()
	if p.vars[key] == nil {
		p.vars[key] = &Var{Name: name, Type: g.Type(), Kind: Global, Object: g}
	}
	return p.vars[key].Place()
}
