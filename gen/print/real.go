package print

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Expressions over Reals are calls of methods and functions of package nabla. An operand
// that is a constant there, as it carries no derivatives, is passed as the number where a
// method takes one.

func isReal(t types.Type) bool { return types.Identical(t, ir.Real) }

// real is an expression over Reals, or of them, and the precedence of its operator; empty
// if e is none.
func (p *printer) real(e ir.Expr) (string, int) {
	switch e := e.(type) {
	case *ir.Const:
		if isReal(e.T) {
			return p.nabla("Const") + "(" + p.float(e) + ")", postfix
		}
	case *ir.Unary:
		if not, ok := e.X.(*ir.Binary); ok && e.Op == token.NOT && not.Op == token.NEQ && isReal(not.X.Type()) {
			return p.method(not.X, "Equal", not.Y), postfix
		}
		switch {
		case !isReal(e.T):
		case e.Op == token.ADD:
			return p.text(e.X, nil)
		default:
			return p.operandReal(e.X) + ".Neg()", postfix
		}
	case *ir.Convert:
		switch {
		case isReal(e.T) && isReal(e.X.Type()):
			return p.text(e.X, nil)
		case isReal(e.T):
			return p.nabla("Const") + "(" + p.float(e) + ")", postfix
		case isReal(e.X.Type()):
			return p.escape(e), postfix
		}
	case *ir.Binary:
		if isReal(e.X.Type()) {
			return p.binaryReal(e)
		}
	case *ir.Math:
		for _, a := range e.Args {
			if isReal(a.Type()) {
				return p.mathReal(e), postfix
			}
		}
	}
	return "", 0
}

// nabla is a name of package nabla.
func (p *printer) nabla(name string) string {
	return p.qualified(types.NewPackage(ir.RealPath, "nabla"), name)
}

// plain reports whether e, a Real, is a number that carries no derivatives.
func plain(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		return true
	case *ir.Convert:
		return !isReal(e.X.Type())
	}
	return false
}

// float is such a number as a float64.
func (p *printer) float(e ir.Expr) string {
	f64 := types.Typ[types.Float64]
	switch e := e.(type) {
	case *ir.Const:
		s := p.expr(&ir.Const{Typed: ir.Typed{T: f64}, Val: e.Val, Text: e.Text}, f64)
		if x, err := parser.ParseExpr(s); err == nil {
			if in, ok := x.(*ast.ParenExpr); ok { // an argument needs none
				return s[in.X.Pos()-1 : in.X.End()-1]
			}
		}
		return s
	case *ir.Convert:
		if types.Identical(e.X.Type(), f64) {
			return p.expr(e.X, f64)
		}
		return p.expr(&ir.Convert{Typed: ir.Typed{T: f64}, X: e.X}, f64)
	}
	p.refuse("expression %T", e)
	return ""
}

// operandReal is a Real in front of a method.
func (p *printer) operandReal(e ir.Expr) string { return p.prec(e, nil, postfix) }

func (p *printer) method(x ir.Expr, name string, y ir.Expr) string {
	return p.operandReal(x) + "." + name + "(" + p.expr(y, nil) + ")"
}

// escape is the value of a Real as a number of another type.
func (p *printer) escape(e *ir.Convert) string {
	t := e.T.Underlying().(*types.Basic)
	x := p.operandReal(e.X)
	switch {
	case t.Kind() == types.Int:
		x += ".Int()"
	case t.Info()&types.IsInteger != 0:
		// The guard holds for all numbers that come out the same.
		x = p.nabla("Trunc") + "(" + p.expr(e.X, nil) + ").Value()"
	default:
		x += ".Value()"
	}
	if types.Identical(e.T, types.Typ[types.Float64]) || types.Identical(e.T, types.Typ[types.Int]) {
		return x
	}
	return p.typeCall(e.T) + "(" + x + ")"
}

var realMethods = map[token.Token]string{
	token.ADD: "Add", token.SUB: "Sub", token.QUO: "Div",
	token.LSS: "Less", token.LEQ: "LessEq", token.GTR: "Greater", token.GEQ: "GreaterEq", token.EQL: "Equal",
}

func (p *printer) binaryReal(e *ir.Binary) (string, int) {
	x, y := e.X, e.Y
	if plain(x) && !plain(y) && (e.Op == token.ADD || e.Op == token.MUL) {
		x, y = y, x // the same number, as far as IEEE arithmetic tells
	}
	switch e.Op {
	case token.NEQ:
		return "!" + p.method(x, "Equal", y), unary
	case token.MUL:
		s := p.operandReal(x)
		if plain(y) {
			return s + ".Scale(" + p.float(y) + ")", postfix
		}
		if by := p.operandReal(y); by != s {
			return s + ".Mul(" + p.bare(y, by) + ")", postfix
		}
		return s + ".Sq()", postfix
	case token.ADD:
		if plain(y) {
			return p.operandReal(x) + ".AddConst(" + p.float(y) + ")", postfix
		}
	case token.SUB:
		if positive(y) {
			if c := p.float(y); !strings.ContainsAny(c, " (") {
				return p.operandReal(x) + ".AddConst(-" + c + ")", postfix
			}
		}
	case token.QUO:
		if one(x) {
			return p.operandReal(y) + ".Inv()", postfix
		}
	}
	name, ok := realMethods[e.Op]
	if !ok {
		p.refuse("the operator %v on Reals", e.Op)
	}
	return p.method(x, name, y), postfix
}

// bare is the text of an operand without the parentheses that it needs as one: those
// around what a pointer points to.
func (p *printer) bare(e ir.Expr, text string) string {
	if _, ok := e.(*ir.Load); ok && strings.HasPrefix(text, "(*") && strings.HasSuffix(text, ")") {
		return text[1 : len(text)-1]
	}
	return text
}

func one(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && c.Val != nil && constant.Compare(c.Val, token.EQL, constant.MakeInt64(1))
}

// addReal prints an addition, as a subtraction where what is added is negated.
func (p *printer) addReal(s *ir.Add) {
	here := &ir.Load{Typed: ir.Typed{T: s.P.Type()}, P: s.P}
	op, e := token.ADD, s.E
	if u, ok := e.(*ir.Unary); ok && u.Op == token.SUB {
		op, e = token.SUB, u.X
	}
	p.line("%s = %s", p.place(s.P), p.expr(&ir.Binary{Typed: here.Typed, Op: op, X: here, Y: e}, nil))
}

// mathReal is a function of package math over Reals.
func (p *printer) mathReal(e *ir.Math) string {
	if e.Name == "min" || e.Name == "max" {
		return p.least(e)
	}
	name, ok := strings.CutPrefix(e.Name, "math.")
	if !ok {
		p.refuse("function %s of Reals", e.Name)
	}
	switch name {
	case "IsNaN", "Signbit":
		return p.operandReal(e.Args[0]) + "." + name + "()"
	case "IsInf":
		return p.operandReal(e.Args[0]) + ".IsInf(" + p.expr(e.Args[1], types.Typ[types.Int]) + ")"
	case "Pow":
		if plain(e.Args[1]) {
			return p.operandReal(e.Args[0]) + ".PowConst(" + p.float(e.Args[1]) + ")"
		}
	case "Nextafter32", "Float32bits", "Float64bits":
		p.refuse("function %s of Reals", e.Name)
	}
	return p.nabla(name) + "(" + p.reals(e.Args) + ")"
}

// reals are arguments, integers among them.
func (p *printer) reals(args []ir.Expr) string {
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = p.expr(a, types.Typ[types.Int])
	}
	return strings.Join(list, ", ")
}

// least is the builtin min or max. It gives NaN for NaN and an infinity, which math.Min
// does not, and so nabla.Min; where there is one number besides a constant, that cannot
// be.
func (p *printer) least(e *ir.Math) string {
	if len(e.Args) == 1 {
		return p.operandReal(e.Args[0])
	}
	var consts int
	for _, a := range e.Args {
		if _, ok := a.(*ir.Const); ok {
			consts++
		}
	}
	name := map[string][2]string{"min": {"Min", "Least"}, "max": {"Max", "Greatest"}}[e.Name]
	if len(e.Args) == 2 && consts > 0 {
		return p.nabla(name[0]) + "(" + p.reals(e.Args) + ")"
	}
	return p.nabla(name[1]) + "(" + p.reals(e.Args) + ")"
}
