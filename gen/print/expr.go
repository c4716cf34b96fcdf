package print

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Expressions as Go source. The tree of an expression is kept, since it determines rounding and
// fusing. Constant operands are a difficulty: Go evaluates constant expressions exactly and rejects
// some, so operations on constants only are printed with operands that are run-time values.

// Precedences above those of binary operators.
const (
	unary   = token.UnaryPrec
	postfix = token.HighestPrec
)

// expr returns the text of e in a context of type want, nil if the text must imply its type.
func (p *printer) expr(e ir.Expr, want types.Type) string { return p.prec(e, want, 0) }

// prec returns the text of e as an operand of an operator of precedence outer.
func (p *printer) prec(e ir.Expr, want types.Type, outer int) string {
	s, inner := p.text(e, want)
	if inner < outer {
		return "(" + s + ")"
	}
	return s
}

// text returns the text of e and the precedence of its outermost operator.
func (p *printer) text(e ir.Expr, want types.Type) (string, int) {
	if s, prec := p.real(e); s != "" {
		return s, prec
	}
	if s := p.vector(e); s != "" {
		return s, postfix
	}
	switch e := e.(type) {
	case *ir.Const:
		return p.constant(e, want)
	case *ir.Load:
		s := p.place(e.P)
		if strings.HasPrefix(s, "*") {
			return s, unary
		}
		return s, postfix
	case *ir.Unary:
		x := ""
		if e.Op == token.SUB && positive(e.X) && ir.HasInfo(e.T, types.IsFloat) {
			x = p.expr(e.X, want)                 // a negative constant
			if strings.ContainsAny(x[:1], "+-") { // the source has it as a negation
				x = "(" + x + ")"
			}
		} else if constantExpr(e.X) {
			x = p.runtimeValue(e.X)
		} else if x = p.prec(e.X, e.T, unary); strings.ContainsAny(x[:1], "+-^&*") {
			x = "(" + x + ")"
		}
		return e.Op.String() + x, unary
	case *ir.Binary:
		if parts := comparedParts(e); parts != nil {
			e = parts
		}
		return p.binary(e), e.Op.Precedence()
	case *ir.Math:
		return p.math(e), postfix
	case *ir.TypeTest:
		p.refuseHidden(e.Of)
		return p.runtime("Is") + "[" + p.typ(e.Of) + "](" + p.expr(e.X, nil) + ")", postfix
	case *ir.Unbox:
		t := e.T.Underlying().(*types.Pointer).Elem()
		p.refuseHidden(t)
		return p.runtime("Unbox") + "[" + p.typ(t) + "](" + p.expr(e.X, nil) + ")", postfix
	case *ir.Box:
		p.refuseHidden(e.X.Type())
		return p.typeCall(e.T) + "(*" + p.prec(e.X, nil, unary) + ")", postfix
	case *ir.Convert:
		if ir.IsAssertion(e) {
			p.refuseHidden(e.T)
			return p.prec(e.X, nil, postfix) + ".(" + p.typ(e.T) + ")", postfix
		}
		if s := p.convertHidden(e); s != "" {
			return s, unary
		}
		t := p.typeCall(e.T)
		// The compiler would reject a constant that overflows or loses digits in the conversion.
		if constantExpr(e.X) && !exact(e.X, e.T) {
			return t + "(" + p.runtimeValue(e.X) + ")", postfix
		}
		return t + "(" + p.expr(e.X, nil) + ")", postfix
	case *ir.Len:
		if e.Cap {
			return p.builtin("cap") + "(" + p.expr(e.X, nil) + ")", postfix
		}
		return p.builtin("len") + "(" + p.expr(e.X, nil) + ")", postfix
	case *ir.Slice:
		return p.prec(e.X, nil, postfix) + p.bounds(e.Lo, e.Hi, e.Max), postfix
	case *ir.SliceAt:
		return p.path(e.P, true) + p.bounds(e.Lo, e.Hi, e.Max), postfix
	case *ir.Addr:
		if n := len(e.P.Path); n > 0 && e.P.Path[n-1].IsDeref() { // &*x is x
			return p.place(&ir.Place{Root: e.P.Root, Path: e.P.Path[:n-1]}), postfix
		}
		return "&" + p.place(e.P), unary
	case *ir.Make:
		s := p.builtin("make") + "(" + p.typ(e.T) + ", " + p.index(e.N, -1)
		if e.Cap != nil {
			s += ", " + p.index(e.Cap, -1)
			// The compiler rejects constants out of order, for which make must panic at run time.
			if n, c := number(e.N), number(e.Cap); constantExpr(e.N) && constantExpr(e.Cap) && (n < 0 || c < n) {
				s = p.builtin("make") + "(" + p.typ(e.T) + ", " + p.runtimeValue(e.N) + ", " + p.index(e.Cap, -1)
			}
		}
		return s + ")", postfix
	case *ir.New:
		return p.builtin("new") + "(" + p.typ(e.T.Underlying().(*types.Pointer).Elem()) + ")", postfix
	case *ir.Literal:
		s := p.literal(e)
		if strings.HasPrefix(s, "*") {
			return s, unary
		}
		return s, postfix
	case *ir.Opaque:
		return p.opaque(e)
	}
	p.refuse("expression %T", e)
	return "", 0
}

// constantExpr reports whether Go might treat the text of e as a constant expression, which it
// evaluates exactly, rejects if it overflows, and in which it has no negative zero.
func constantExpr(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		_, basic := e.T.Underlying().(*types.Basic)
		return basic
	case *ir.Convert:
		return constantExpr(e.X)
	case *ir.Unary:
		return constantExpr(e.X)
	case *ir.Len:
		_, slice := e.X.Type().Underlying().(*types.Slice)
		return !slice
	}
	return false // binary operations have at least one operand that is a run-time value
}

// runtimeValue returns a constant as an operand that the compiler treats as a run-time value.
func (p *printer) runtimeValue(e ir.Expr) string {
	return p.runtime("Value") + "(" + p.expr(e, nil) + ")"
}

// runtime returns the name of a function of package rt.
func (p *printer) runtime(name string) string {
	return p.qualified(types.NewPackage(runtimePath, "rt"), name)
}

// exact reports whether a constant converts to t without a change of value.
func exact(e ir.Expr, t types.Type) bool {
	c, ok := e.(*ir.Const)
	if !ok {
		return false
	}
	if c.Val == nil || !ir.HasInfo(t, types.IsNumeric) {
		return !ir.HasInfo(t, types.IsInteger) || c.Val == nil
	}
	i := constant.ToInt(c.Val)
	if i.Kind() != constant.Int {
		return false
	}
	n, ok := constant.Int64Val(i)
	return ok && (n == int64(int8(n)) && n >= 0 || n == int64(int16(n)) && ir.HasInfo(t, types.IsFloat))
}

// binary returns the text of an operation. A constant operand takes its type from the other
// operand.
func (p *printer) binary(e *ir.Binary) string {
	prec := e.Op.Precedence()
	x, y := e.X, e.Y
	op := " " + e.Op.String() + " "
	shift := e.Op == token.SHL || e.Op == token.SHR
	switch {
	// Two constants would be folded exactly, and a negative shift count rejected.
	case shift && constantExpr(y) && (constantExpr(x) || !positive(y)), constantExpr(x) && constantExpr(y):
		return p.runtimeValue(x) + op + p.runtimeValue(y)
	case shift && constantExpr(x): // the type of x would otherwise come from the context
		return p.typ(x.Type()) + "(" + p.expr(x, x.Type()) + ")" + op + p.prec(y, types.Typ[types.Uint], prec+1)
	case shift:
		return p.prec(x, nil, prec) + op + p.prec(y, types.Typ[types.Uint], prec+1)
	case e.Op == token.LAND || e.Op == token.LOR:
		return p.prec(x, e.T, prec) + op + p.prec(y, e.T, prec+1)
	// The compiler rejects a division by the constant zero, which must panic at run time.
	case (e.Op == token.QUO || e.Op == token.REM) && ir.IsInteger(e.T) &&
		constantExpr(y) && !positive(y):
		return p.prec(x, nil, prec) + op + p.runtimeValue(y)
	}
	return p.prec(x, y.Type(), prec) + op + p.prec(y, x.Type(), prec+1)
}

// comparedParts returns the comparison of a complex variable with itself, which tests for NaN, as comparisons of both
// parts, and nil for other operations. Checkers report the first as a mistake.
func comparedParts(e *ir.Binary) *ir.Binary {
	if e.Op != token.EQL && e.Op != token.NEQ || !ir.IsComplex(e.X.Type()) || !ir.Equal(e.X, e.Y) {
		return nil
	}
	op := token.LAND
	if e.Op == token.NEQ {
		op = token.LOR
	}
	re, im := ir.RealOf(e.X), ir.ImagOf(e.X)
	return &ir.Binary{Typed: e.Typed, Op: op, X: ir.NewBinary(e.T, e.Op, re, re), Y: ir.NewBinary(e.T, e.Op, im, im)}
}

// positive reports whether e is a positive constant.
func positive(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && c.Val != nil && constant.Sign(c.Val) > 0
}

// math returns the text of a call of an elementary function.
func (p *printer) math(e *ir.Math) string {
	if e.Name == ir.GraftName { // at precedence 0
		return "(" + p.expr(e.Args[0], e.T) + ")"
	}
	params, _, _ := ir.Elementary(e.Name)
	list := make([]string, len(e.Args))
	all := true
	for i, x := range e.Args {
		want := e.T
		switch {
		case i < len(params):
			want = params[i]
		case e.Name == ir.ComplexName:
			want = e.Args[0].Type()
		case e.Name == ir.RealName || e.Name == ir.ImagName:
			want = nil
		}
		list[i] = p.expr(x, want)
		all = all && constantExpr(x)
	}
	var name string
	switch {
	case len(params) == 0 && len(list) > 0: // min, max, real, imag or complex
		name = p.builtin(e.Name)
		if all {
			list[0] = p.runtimeValue(e.Args[0])
		}
	case strings.HasPrefix(e.Name, "math."):
		name = p.qualified(types.NewPackage("math", "math"), e.Name[len("math."):])
	case strings.HasPrefix(e.Name, "cmplx."):
		name = p.qualified(types.NewPackage("math/cmplx", "cmplx"), e.Name[len("cmplx."):])
	case strings.HasPrefix(e.Name, "rules."):
		s := e.Name[len("rules."):]
		name = p.runtime(strings.ToUpper(s[:1]) + s[1:])
	default:
		p.refuse("function %s", e.Name)
	}
	return name + "(" + strings.Join(list, ", ") + ")"
}
