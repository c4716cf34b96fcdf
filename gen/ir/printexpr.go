package ir

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// The printer of expressions. A constant is printed without its type if the context implies the
// same type when the text is parsed, and as a conversion otherwise.

// expr returns the text of e in a context of type want, nil if the context implies no type.
func (p *printer) expr(e Expr, want types.Type) string { return p.prec(e, want, 0) }

// prec returns the text of e as an operand of an operator of precedence outer, in parentheses if
// necessary: 0 for no operator, unary for a unary one, postfix for a selection.
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
		if !selfTyped(e.X) && e.Op != token.NOT {
			x = expectedType(e.T, want)
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
	case *TypeTest:
		s = "typeis[" + p.typ(e.Of) + "](" + p.expr(e.X, nil) + ")"
	case *Unbox:
		s = "unboxto[" + p.typ(e.T) + "](" + p.expr(e.X, nil) + ")"
	case *Box:
		s = "boxto[" + p.typ(e.T) + "](" + p.expr(e.X, nil) + ")"
	case *Convert:
		if IsAssertion(e) {
			s = p.prec(e.X, nil, postfix) + ".(" + p.typ(e.T) + ")"
			break
		}
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

// explicit is a context whose type no expression has, so every constant is printed with its type.
var explicit types.Type = types.NewTuple()

// operands returns the contexts of the operands of e: a constant takes its type from the other
// operand.
func (p *printer) operands(e *Binary, want types.Type) (x, y types.Type) {
	switch {
	case e.Op == token.SHL || e.Op == token.SHR:
		if !selfTyped(e.X) {
			return expectedType(e.T, want), types.Typ[types.Uint]
		}
		return e.T, types.Typ[types.Uint]
	case isLogic(e.Op):
		return e.T, e.T
	case isComparison(e.Op):
		switch {
		case selfTyped(e.X):
			return nil, typeOf(e.X)
		case selfTyped(e.Y):
			return typeOf(e.Y), nil
		}
		return explicit, typeOf(e.X)
	case selfTyped(e.X) || selfTyped(e.Y):
		return e.T, e.T
	}
	return expectedType(e.T, want), e.T
}

// expectedType returns the context of a constant of type t in one of type want: t if they are the
// same, otherwise explicit.
func expectedType(t, want types.Type) types.Type {
	if same(t, want) {
		return t
	}
	return explicit
}

// mathArgs returns the arguments of an elementary function. One of min and max that is typed
// without its context determines the type of the constants.
func (p *printer) mathArgs(e *Math, want types.Type) []string {
	params, _, _ := Elementary(e.Name)
	list := make([]string, len(e.Args))
	known := false
	for _, x := range e.Args {
		known = known || selfTyped(x)
	}
	for i, x := range e.Args {
		switch {
		case i < len(params):
			list[i] = p.expr(x, params[i])
		case e.Name != "min" && e.Name != "max": // real, imag or complex
			list[i] = p.expr(x, explicit)
		case known || i > 0:
			list[i] = p.expr(x, e.T)
		default:
			list[i] = p.expr(x, expectedType(e.T, want))
		}
	}
	return list
}

// selfTyped reports whether the text of e has a type without regard to its context, as that of an
// untyped constant does not. [parser.selfTyped] decides the same for parsed text.
func selfTyped(e Expr) bool {
	switch e := e.(type) {
	case *Const:
		return e.Val == nil && !nilable(e.T)
	case *Unary:
		return e.Op == token.NOT || selfTyped(e.X)
	case *Binary:
		switch {
		case e.Op == token.SHL || e.Op == token.SHR:
			return selfTyped(e.X)
		case isLogic(e.Op) || isComparison(e.Op):
			return true
		}
		return selfTyped(e.X) || selfTyped(e.Y)
	case *Math:
		if e.Name != "min" && e.Name != "max" {
			return true
		}
		for _, x := range e.Args {
			if selfTyped(x) {
				return true
			}
		}
		return false
	}
	return true
}

// isLogic reports whether op is && or ||, whose operands are bools.
func isLogic(op token.Token) bool { return op == token.LAND || op == token.LOR }

// isComparison reports whether op compares its operands, with a bool as the result.
func isComparison(op token.Token) bool {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

// typeOf returns the type of e, nil if e is nil.
func typeOf(e Expr) types.Type {
	if e == nil {
		return nil
	}
	return e.Type()
}

// typeCall returns a type before the parenthesis of a conversion, parenthesised if Go requires it.
func (p *printer) typeCall(t types.Type) string {
	s := p.typ(t)
	switch {
	case strings.HasPrefix(s, "*"), strings.HasPrefix(s, "func"), strings.HasPrefix(s, "chan"),
		strings.HasPrefix(s, "<-"):
		return "(" + s + ")"
	}
	return s
}

// bounds returns the brackets of a slice expression.
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

// literal returns a composite literal, with keys for structs and if elements are missing.
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
			list[i] = p.expr(x, Step{-1, x}.typeFrom(e.T))
		default:
			list[i] = strconv.Itoa(key) + ": " + p.expr(x, Step{-1, x}.typeFrom(e.T))
		}
	}
	return p.typ(e.T) + "{" + strings.Join(list, ", ") + "}"
}

// place returns a place in Go's syntax: a field or an index of an array follows a pointer without a
// star.
func (p *printer) place(at *Place) string { return p.path(at, false) }

// path is place; if sliced is set, bounds follow, before which a pointer to an array needs no star
// either.
func (p *printer) path(at *Place, sliced bool) string {
	if at == nil || at.Root == nil {
		return "?"
	}
	s := p.root(at.Root)
	t := at.Root.Type
	star := false // whether s begins with a star
	suffix := func(x string) {
		if star {
			s = "(" + s + ")"
			star = false
		}
		s += x
	}
	for i, step := range at.Path {
		next := step.typeFrom(t)
		switch {
		case next == nil && step.isIndex():
			suffix(".#[" + p.expr(step.Index, nil) + "]")
		case next == nil:
			suffix(".#" + strconv.Itoa(step.Field))
		case step.Field >= 0:
			suffix("." + t.Underlying().(*types.Struct).Field(step.Field).Name())
		case step.isIndex():
			suffix("[" + p.expr(step.Index, types.Typ[types.Int]) + "]")
		case i+1 < len(at.Path) && at.Path[i+1].typeFrom(next) != nil && !at.Path[i+1].IsDeref() &&
			ElemOf(next) == nil &&
			!IsString(next):
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

// root returns the name of a variable, qualified if it is package-level.
func (p *printer) root(v *Var) string {
	if g := v.Object; v.Kind == Global && g != nil && g.Pkg() != nil {
		return p.qualifier(g.Pkg()) + "." + g.Name()
	}
	return v.Name
}

// constant returns a constant in a context of type want, with a conversion unless its type is
// implied.
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

// value returns a constant without its type, and the type it has in a context without one.
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

// valueText returns a value as the shortest literal with that value in type t, and the default type
// of the literal.
func valueText(v constant.Value, t types.Type) (text string, def types.Type) {
	switch v.Kind() {
	case constant.Bool:
		return strconv.FormatBool(constant.BoolVal(v)), types.Typ[types.Bool]
	case constant.String:
		return strconv.Quote(constant.StringVal(v)), types.Typ[types.String]
	}
	if IsComplex(t) && constant.Sign(constant.Imag(v)) == 0 {
		v, t = constant.Real(v), PartType(t)
	}
	if IsComplex(t) {
		re, _ := valueText(constant.Real(v), PartType(t))
		im, _ := valueText(constant.Imag(v), PartType(t))
		if !strings.HasPrefix(im, "-") {
			im = "+" + im
		}
		return "(" + re + im + "i)", types.Typ[types.Complex128]
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

// literalValue returns the value and the default type of a literal, possibly negative; nil if text
// is none. That of a complex number is written (re+imi), with both parts.
func literalValue(text string) (constant.Value, types.Type) {
	if inner, ok := strings.CutPrefix(text, "("); ok {
		if inner, ok = strings.CutSuffix(inner, "i)"); !ok {
			return nil, nil
		}
		for i := len(inner) - 1; i > 0; i-- {
			if inner[i] != '+' && inner[i] != '-' || inner[i-1] == 'e' {
				continue
			}
			re, _ := literalValue(inner[:i])
			im, _ := literalValue(strings.TrimPrefix(inner[i:], "+"))
			if re == nil || im == nil {
				return nil, nil
			}
			return constant.BinaryOp(re, token.ADD, constant.MakeImag(im)), types.Typ[types.Complex128]
		}
		return nil, nil
	}
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

// equalAs reports whether two constants are the same value of type t.
func equalAs(a, b constant.Value, t types.Type) bool {
	x, _ := valueText(a, t)
	y, _ := valueText(b, t)
	return a.Kind() != constant.Unknown && x == y
}
