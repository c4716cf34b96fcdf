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

// Expressions over Reals become calls of methods and functions of package nabla. A constant
// operand, which carries no derivative, is passed as a number to methods that take one.

// isReal reports whether t is ir.Real or ir.Complex.
func isReal(t types.Type) bool { return types.Identical(t, ir.Real) || types.Identical(t, ir.Complex) }

// real returns the text of an expression over Reals, or with a Real as an operand, and its
// precedence; "" if e is none.
func (p *printer) real(e ir.Expr) (string, int) {
	switch e := e.(type) {
	case *ir.Const:
		if isReal(e.T) {
			return p.nabla(constName(e.T)) + "(" + p.numberText(e) + ")", postfix
		}
	case *ir.Unary:
		// !(x != y) is x.Equal(y).
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
			return p.nabla(constName(e.T)) + "(" + p.numberText(e) + ")", postfix
		case isReal(e.X.Type()):
			return p.realValue(e), postfix
		}
	case *ir.Binary:
		if isReal(e.X.Type()) {
			return p.binaryReal(e)
		}
	case *ir.Math:
		for _, a := range e.Args {
			if isReal(a.Type()) {
				if e.Name == ir.ComplexName { // precedence 0, for parentheses before a block
					re, im := p.expr(e.Args[0], nil), p.expr(e.Args[1], nil)
					return p.nabla("Complex") + "{Re: " + re + ", Im: " + im + "}", 0
				}
				return p.mathReal(e), postfix
			}
		}
	}
	return "", 0
}

// constName returns the function of package nabla that makes a constant of type t.
func constName(t types.Type) string {
	if ir.IsComplex(t) {
		return "ComplexConst"
	}
	return "Const"
}

// nabla returns a name of package nabla.
func (p *printer) nabla(name string) string {
	return p.qualified(types.NewPackage(ir.RealPath, "nabla"), name)
}

// isNumber reports whether e, a Real, is a number that carries no derivative.
func isNumber(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		return true
	case *ir.Convert:
		return !isReal(e.X.Type())
	}
	return false
}

// numberText returns such a number as a float64 or complex128.
func (p *printer) numberText(e ir.Expr) string {
	f64 := types.Typ[types.Float64]
	if ir.IsComplex(e.Type()) {
		f64 = types.Typ[types.Complex128]
	}
	switch e := e.(type) {
	case *ir.Const:
		s := p.expr(&ir.Const{Typed: ir.Typed{T: f64}, Val: e.Val, Text: e.Text}, f64)
		if x, err := parser.ParseExpr(s); err == nil {
			if in, ok := x.(*ast.ParenExpr); ok { // no parentheses are needed in an argument
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

// operandReal returns a Real as the receiver of a method.
func (p *printer) operandReal(e ir.Expr) string { return p.prec(e, nil, postfix) }

// method returns the call of a method of x with the argument y.
func (p *printer) method(x ir.Expr, name string, y ir.Expr) string {
	return p.operandReal(x) + "." + name + "(" + p.expr(y, nil) + ")"
}

// realValue returns the value of a Real as a number of another type.
func (p *printer) realValue(e *ir.Convert) string {
	t := e.T.Underlying().(*types.Basic)
	x := p.operandReal(e.X)
	switch {
	case t.Kind() == types.Int:
		x += ".Int()"
	case t.Info()&types.IsInteger != 0:
		// Trunc is recorded, so the replay is valid for all values that truncate to the same
		// integer.
		x = p.nabla("Trunc") + "(" + p.expr(e.X, nil) + ").Value()"
	default:
		x += ".Value()"
	}
	if types.Identical(e.T, types.Typ[types.Float64]) || types.Identical(e.T, types.Typ[types.Int]) ||
		types.Identical(e.T, types.Typ[types.Complex128]) {
		return x
	}
	return p.typeCall(e.T) + "(" + x + ")"
}

// realMethods maps operators to methods of nabla.Real.
var realMethods = map[token.Token]string{
	token.ADD: "Add", token.SUB: "Sub", token.QUO: "Div",
	token.LSS: "Less", token.LEQ: "LessEq", token.GTR: "Greater", token.GEQ: "GreaterEq", token.EQL: "Equal",
}

// binaryReal returns an operation on Reals and its precedence, with the methods for constants where
// one operand is a number.
func (p *printer) binaryReal(e *ir.Binary) (string, int) {
	x, y := e.X, e.Y
	if isNumber(x) && !isNumber(y) && (e.Op == token.ADD || e.Op == token.MUL) {
		x, y = y, x // addition and multiplication are commutative in IEEE arithmetic
	}
	switch e.Op {
	case token.NEQ:
		return "!" + p.method(x, "Equal", y), unary
	case token.MUL:
		s := p.operandReal(x)
		if isNumber(y) && !ir.IsComplex(e.X.Type()) {
			return s + ".Scale(" + p.numberText(y) + ")", postfix
		}
		// The product of an expression with itself is a square, for which there is a cheaper rule.
		if by := p.operandReal(y); by != s {
			return s + ".Mul(" + p.unparenDeref(y, by) + ")", postfix
		}
		return s + ".Sq()", postfix
	case token.ADD:
		if isNumber(y) && !ir.IsComplex(e.X.Type()) {
			return p.operandReal(x) + ".AddConst(" + p.numberText(y) + ")", postfix
		}
	case token.SUB:
		// x - c is the same number as x + (-c) in IEEE arithmetic.
		if positive(y) && !ir.IsComplex(e.X.Type()) {
			if c := p.numberText(y); !strings.ContainsAny(c, " (") {
				return p.operandReal(x) + ".AddConst(-" + c + ")", postfix
			}
		}
	case token.QUO:
		if isOne(x) {
			return p.operandReal(y) + ".Inv()", postfix
		}
	}
	name, ok := realMethods[e.Op]
	if !ok {
		p.refuse("the operator %v on Reals", e.Op)
	}
	return p.method(x, name, y), postfix
}

// unparenDeref returns the text of an operand without the parentheses around a dereference, which
// an argument does not need.
func (p *printer) unparenDeref(e ir.Expr, text string) string {
	if _, ok := e.(*ir.Load); ok && strings.HasPrefix(text, "(*") && strings.HasSuffix(text, ")") {
		return text[1 : len(text)-1]
	}
	return text
}

// isOne reports whether e is the constant 1.
func isOne(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && c.Val != nil && constant.Compare(c.Val, token.EQL, constant.MakeInt64(1))
}

// addReal prints an addition to a Real, as a subtraction if the operand is negated.
func (p *printer) addReal(s *ir.Add) {
	here := &ir.Load{Typed: ir.Typed{T: s.P.Type()}, P: s.P}
	op, e := token.ADD, s.E
	if u, ok := e.(*ir.Unary); ok && u.Op == token.SUB {
		op, e = token.SUB, u.X
	}
	p.line("%s = %s", p.place(s.P), p.expr(&ir.Binary{Typed: here.Typed, Op: op, X: here, Y: e}, nil))
}

// mathReal returns a call of an elementary function of Reals.
func (p *printer) mathReal(e *ir.Math) string {
	if e.Name == "min" || e.Name == "max" {
		return p.minMax(e)
	}
	switch e.Name {
	case ir.RealName:
		return p.operandReal(e.Args[0]) + ".Re"
	case ir.ImagName:
		return p.operandReal(e.Args[0]) + ".Im"
	}
	if name, ok := strings.CutPrefix(e.Name, "cmplx."); ok {
		return p.operandReal(e.Args[0]) + "." + name + "(" + p.reals(e.Args[1:]) + ")"
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
		if isNumber(e.Args[1]) {
			return p.operandReal(e.Args[0]) + ".PowConst(" + p.numberText(e.Args[1]) + ")"
		}
	case "Nextafter32", "Float32bits", "Float64bits":
		p.refuse("function %s of Reals", e.Name)
	}
	return p.nabla(name) + "(" + p.reals(e.Args) + ")"
}

// reals returns arguments, of which some may be integers.
func (p *printer) reals(args []ir.Expr) string {
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = p.expr(a, types.Typ[types.Int])
	}
	return strings.Join(list, ", ")
}

// minMax returns the builtin min or max of Reals. Of NaN and an infinity the builtins return NaN,
// but math.Min, and so nabla.Min, does not; with one constant and one other operand the difference
// cannot occur.
func (p *printer) minMax(e *ir.Math) string {
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
