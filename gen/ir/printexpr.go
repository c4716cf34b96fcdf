package ir

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// expr is e where a value of type want is expected, nil where anything may stand. A
// constant of another type shows its type.
func (p *printer) expr(e Expr, want types.Type) string { return p.prec(e, want, 0) }

// prec is e as an operand of an operator of a precedence: 0 for none, unary for a unary
// one, postfix if something is selected of it.
func (p *printer) prec(e Expr, want types.Type, outer int) string {
	inner := postfix
	var s string
	switch e := e.(type) {
	case nil:
		return "?"
	case *Const:
		return p.constant(e, want)
	case *Load:
		s = p.place(e.P)
		if strings.HasPrefix(s, "*") {
			inner = unary
		}
	case *Unary:
		inner = unary
		x := e.T
		if !evident(e.X) && e.Op != token.NOT {
			x = context(e.T, want)
		}
		s = p.prec(e.X, x, unary)
		switch e.X.(type) {
		case *Const, *Unary:
			s = "(" + s + ")" // -1 is a constant, and -- another token
		}
		s = e.Op.String() + s
	case *Binary:
		inner = e.Op.Precedence()
		x, y := p.operands(e, want)
		s = p.prec(e.X, x, inner) + " " + e.Op.String() + " " + p.prec(e.Y, y, inner+1)
	case *Math:
		s = e.Name + "(" + strings.Join(p.mathArgs(e, want), ", ") + ")"
	case *Convert:
		s = p.typeCall(e.T) + "(" + p.expr(e.X, explicit) + ")"
	case *Len:
		s = "len("
		if e.Cap {
			s = "cap("
		}
		s += p.expr(e.X, nil) + ")"
	case *Slice:
		s = p.prec(e.X, nil, postfix) + p.bounds(e.Lo, e.Hi, e.Max)
	case *SliceAt:
		s = p.path(e.P, true) + p.bounds(e.Lo, e.Hi, e.Max)
	case *Addr:
		inner = unary
		s = "&" + p.place(e.P)
	case *Make:
		s = "make(" + p.typ(e.T) + ", " + p.expr(e.N, types.Typ[types.Int])
		if e.Cap != nil {
			s += ", " + p.expr(e.Cap, types.Typ[types.Int])
		}
		s += ")"
	case *New:
		s = "new(" + p.typ(pointee(e.T)) + ")"
	case *Literal:
		s = p.literal(e)
	case *Opaque:
		s = "opaque[" + p.typ(e.T) + "](" + strconv.Quote(e.Format)
		for _, x := range e.Args {
			s += ", " + p.expr(x, nil)
		}
		s += ")"
	default:
		return fmt.Sprintf("?%T", e)
	}
	if inner < outer {
		return "(" + s + ")"
	}
	return s
}

// Precedences above those of binary operators.
const (
	unary   = token.UnaryPrec
	postfix = token.HighestPrec
)

// explicit is a type that no expression has: a constant shows its type.
var explicit types.Type = types.NewTuple()

// operands are the types expected of the operands of e.
func (p *printer) operands(e *Binary, want types.Type) (x, y types.Type) {
	switch {
	case e.Op == token.SHL || e.Op == token.SHR:
		if !evident(e.X) {
			return context(e.T, want), types.Typ[types.Uint]
		}
		return e.T, types.Typ[types.Uint]
	case isLogic(e.Op):
		return e.T, e.T
	case isComparison(e.Op):
		switch {
		case evident(e.X):
			return nil, typeOf(e.X)
		case evident(e.Y):
			return typeOf(e.Y), nil
		}
		return explicit, typeOf(e.X)
	case evident(e.X) || evident(e.Y):
		return e.T, e.T
	}
	return context(e.T, want), e.T
}

// context is the type expected of a constant of type t that gets its type from want.
func context(t, want types.Type) types.Type {
	if same(t, want) {
		return t
	}
	return explicit
}

func (p *printer) mathArgs(e *Math, want types.Type) []string {
	params, _, _ := Elementary(e.Name)
	list := make([]string, len(e.Args))
	known := false
	for _, x := range e.Args {
		known = known || evident(x)
	}
	for i, x := range e.Args {
		switch {
		case i < len(params):
			list[i] = p.expr(x, params[i])
		case known || i > 0:
			list[i] = p.expr(x, e.T)
		default:
			list[i] = p.expr(x, context(e.T, want))
		}
	}
	return list
}

// evident reports whether the text of e says its type without help from around it, as
// that of a constant does not. [evidentText] finds the same in text.
func evident(e Expr) bool {
	switch e := e.(type) {
	case *Const:
		return e.Val == nil && !nilable(e.T)
	case *Unary:
		return e.Op == token.NOT || evident(e.X)
	case *Binary:
		switch {
		case e.Op == token.SHL || e.Op == token.SHR:
			return evident(e.X)
		case isLogic(e.Op) || isComparison(e.Op):
			return true
		}
		return evident(e.X) || evident(e.Y)
	case *Math:
		if e.Name != "min" && e.Name != "max" {
			return true
		}
		for _, x := range e.Args {
			if evident(x) {
				return true
			}
		}
		return false
	}
	return true
}

func isLogic(op token.Token) bool { return op == token.LAND || op == token.LOR }

func isComparison(op token.Token) bool {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

func typeOf(e Expr) types.Type {
	if e == nil {
		return nil
	}
	return e.Type()
}

// typeCall is a type in front of a parenthesis.
func (p *printer) typeCall(t types.Type) string {
	s := p.typ(t)
	switch {
	case strings.HasPrefix(s, "*"), strings.HasPrefix(s, "func"), strings.HasPrefix(s, "chan"),
		strings.HasPrefix(s, "<-"):
		return "(" + s + ")"
	}
	return s
}

func (p *printer) bounds(lo, hi, max Expr) string {
	s := "["
	if lo != nil {
		s += p.expr(lo, types.Typ[types.Int])
	}
	s += ":"
	if hi != nil {
		s += p.expr(hi, types.Typ[types.Int])
	}
	if max != nil {
		s += ":" + p.expr(max, types.Typ[types.Int])
	}
	return s + "]"
}

func (p *printer) literal(e *Literal) string {
	list := make([]string, len(e.Elems))
	st, _ := e.T.Underlying().(*types.Struct)
	plain := st == nil && (isArray(e.T) || e.Len == len(e.Elems))
	for i, k := range e.Keys {
		plain = plain && k == i
	}
	for i, x := range e.Elems {
		key := -1
		if i < len(e.Keys) {
			key = e.Keys[i]
		}
		switch {
		case st != nil && key >= 0 && key < st.NumFields():
			list[i] = st.Field(key).Name() + ": " + p.expr(x, st.Field(key).Type())
		case st != nil:
			list[i] = "?: " + p.expr(x, nil)
		case plain:
			list[i] = p.expr(x, Step{-1, x}.from(e.T))
		default:
			list[i] = strconv.Itoa(key) + ": " + p.expr(x, Step{-1, x}.from(e.T))
		}
	}
	return p.typ(e.T) + "{" + strings.Join(list, ", ") + "}"
}

// place is a place in Go's syntax: a pointer is followed without a star by a field or an
// index of an array.
func (p *printer) place(at *Place) string { return p.path(at, false) }

// path is place; with sliced, bounds follow, before which a pointer to an array needs
// no star either.
func (p *printer) path(at *Place, sliced bool) string {
	if at == nil || at.Root == nil {
		return "?"
	}
	s := p.root(at.Root)
	t := at.Root.Type
	star := false // s begins with a star
	suffix := func(x string) {
		if star {
			s = "(" + s + ")"
			star = false
		}
		s += x
	}
	for i, step := range at.Path {
		next := step.from(t)
		switch {
		case next == nil && step.isIndex():
			suffix(".#[" + p.expr(step.Index, nil) + "]")
		case next == nil:
			suffix(".#" + strconv.Itoa(step.Field))
		case step.Field >= 0:
			suffix("." + t.Underlying().(*types.Struct).Field(step.Field).Name())
		case step.isIndex():
			suffix("[" + p.expr(step.Index, types.Typ[types.Int]) + "]")
		case i+1 < len(at.Path) && at.Path[i+1].from(next) != nil && !at.Path[i+1].IsDeref() && elem(next) == nil &&
			!isString(next):
		case i+1 == len(at.Path) && sliced && isArray(next):
		default:
			s = "*" + s
			star = true
		}
		t = next
	}
	if sliced {
		suffix("")
	}
	return s
}

func (p *printer) root(v *Var) string {
	if g, ok := v.Object.(*types.Var); ok && v.Kind == Global && g.Pkg() != nil {
		return p.qualifier(g.Pkg()) + "." + g.Name()
	}
	return v.Name
}

// constant is a constant where want is expected.
func (p *printer) constant(c *Const, want types.Type) string {
	if c.T == nil {
		return "?"
	}
	if c.Val == nil && !nilable(c.T) {
		return "zero(" + p.typ(c.T) + ")"
	}
	s, def := p.value(c)
	if same(c.T, want) || want == nil && def != nil && types.Identical(c.T, def) {
		return s
	}
	return p.typeCall(c.T) + "(" + s + ")"
}

// value is a constant without its type, and the type that it has where none is expected.
func (p *printer) value(c *Const) (text string, def types.Type) {
	if c.Val == nil {
		return "nil", nil
	}
	s, def := valueText(c.Val, c.T)
	if c.Text == "" || c.Text == s {
		return s, def
	}
	if v, d := literalValue(c.Text); v != nil && equalAs(v, c.Val, c.T) {
		return c.Text, d
	}
	if pkg, name, ok := strings.Cut(c.Text, "."); ok && token.IsIdentifier(pkg) && token.IsIdentifier(name) &&
		!p.locals[pkg] {
		return c.Text, nil
	}
	return "text(" + strconv.Quote(c.Text) + ", " + s + ")", nil
}

// valueText is a value as a literal, the shortest that gives it in its type.
func valueText(v constant.Value, t types.Type) (text string, def types.Type) {
	switch v.Kind() {
	case constant.Bool:
		return strconv.FormatBool(constant.BoolVal(v)), types.Typ[types.Bool]
	case constant.String:
		return strconv.Quote(constant.StringVal(v)), types.Typ[types.String]
	}
	if IsFloat(t) {
		x, _ := constant.Float64Val(constant.ToFloat(v))
		bits := 64
		if basic(t).Kind() == types.Float32 {
			f, _ := constant.Float32Val(constant.ToFloat(v))
			x, bits = float64(f), 32
		}
		text = strconv.FormatFloat(x, 'g', -1, bits)
	} else if i := constant.ToInt(v); i.Kind() == constant.Int {
		text = i.ExactString()
	} else {
		text = v.ExactString()
	}
	if strings.ContainsAny(text, ".e") {
		return text, types.Typ[types.Float64]
	}
	return text, types.Typ[types.Int]
}

// literalValue is the value of a literal, with a sign or without, nil of other text, and
// its default type.
func literalValue(text string) (constant.Value, types.Type) {
	bare, negative := strings.CutPrefix(text, "-")
	toks, err := scan(bare)
	if err != nil || len(toks) != 1 || toks[0].off != 0 {
		return nil, nil
	}
	kinds := map[token.Token]types.BasicKind{token.INT: types.Int, token.FLOAT: types.Float64, token.CHAR: types.Rune,
		token.STRING: types.String}
	kind, ok := kinds[toks[0].tok]
	if !ok || len(toks[0].lit) != len(bare) || negative && kind == types.String {
		return nil, nil
	}
	v := constant.MakeFromLiteral(bare, toks[0].tok, 0)
	if v.Kind() == constant.Unknown {
		return nil, nil
	}
	if negative {
		v = constant.UnaryOp(token.SUB, v, 0)
	}
	return v, types.Typ[kind]
}

// equalAs reports whether two constants are one value of type t.
func equalAs(a, b constant.Value, t types.Type) bool {
	x, _ := valueText(a, t)
	y, _ := valueText(b, t)
	return a.Kind() != constant.Unknown && x == y
}
