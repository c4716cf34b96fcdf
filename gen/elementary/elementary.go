// Package elementary expresses the derivatives of elementary functions, which package rules states as formulas, in the
// intermediate representation. Packages tangent and adjoint use it.
package elementary

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/rules"
)

// Op returns the operation with a rule for the function of an [ir.Math]: one of package math such as math.Sin, or one
// of package rules such as rules.sign, which occurs in derivatives.
func Op(name string) (rules.Op, bool) {
	if name == "math.Nextafter32" {
		return rules.Nextafter, true
	}
	return rules.Lookup(strings.ToLower(name[strings.IndexByte(name, '.')+1:]))
}

// Name returns the name of the function of package math that an operation is or, if there is none, its name in package
// rules.
func Name(op rules.Op) string {
	if name, ok := strings.CutPrefix(rules.Info(op).Value, "math."); ok {
		if i := strings.IndexByte(name, '('); i > 0 {
			return "math." + name[:i]
		}
	}
	return "rules." + op.String()
}

// Skip returns 0 as a number of type t, by a call that the generated code counts. It replaces the product of a zero
// cotangent or tangent and a partial derivative that is not finite (a strong zero): the zero may be structural, so that
// the product is 0, or computed, so that the product is NaN.
func Skip(t types.Type) ir.Expr {
	var e ir.Expr = &ir.Math{Typed: ir.Typed{T: types.Typ[types.Float64]}, Name: ir.SkipName}
	switch {
	case ir.IsComplex(t):
		e = ir.ComplexOf(t, e, zero(e.Type()))
	case !types.Identical(t, e.Type()):
		e = &ir.Convert{Typed: ir.Typed{T: t}, X: e}
	}
	return e
}

// IsSkip reports whether e is an expression that Skip returned, negated or converted or not.
func IsSkip(e ir.Expr) bool {
	switch x := e.(type) {
	case *ir.Unary:
		return IsSkip(x.X)
	case *ir.Convert:
		return IsSkip(x.X)
	case *ir.Math:
		return x.Name == ir.SkipName || x.Name == ir.ComplexName && IsSkip(x.Args[0])
	}
	return false
}

// Bounded reports whether the partial derivatives of an operation are finite for all finite arguments: none is singular
// and none overflows.
func Bounded(op rules.Op) bool { return bounded[op] }

var bounded = map[rules.Op]bool{
	rules.Sin: true, rules.Cos: true, rules.Tan: true, rules.Atan: true, rules.Tanh: true, rules.Asinh: true,
	rules.Erf: true, rules.Erfc: true, rules.J0: true, rules.J1: true, rules.Abs: true, rules.Sign: true,
	rules.Floor: true, rules.Ceil: true, rules.Trunc: true, rules.Round: true, rules.RoundToEven: true,
	rules.Hypot: true, rules.Copysign: true, rules.FMA: true, rules.Logb: true, rules.GammaSign: true,
	rules.Nextafter: true,
}

// Linear returns the function of e, applied to t instead of the first argument, if it is linear in that argument and
// has no other active one, and nil otherwise. That is its tangent, and its adjoint. A product with the partial
// derivative could overflow where the function does not: that of Ldexp(x, n) is 2ⁿ.
func Linear(e *ir.Math, t ir.Expr) ir.Expr {
	if e.Name != "math.Ldexp" {
		return nil
	}
	return &ir.Math{Typed: e.Typed, Name: e.Name, Args: []ir.Expr{t, e.Args[1]}}
}

// A Rule is the context in which partial derivatives are expressed: the arguments of an operation, which must be
// variables or constants, and its value, likewise.
type Rule struct {
	Type  types.Type
	Args  []ir.Expr
	Value ir.Expr
	// Name assigns an expression to a new variable, unless it is one, and returns it.
	Name func(ir.Expr) ir.Expr
}

// A Product is a partial derivative as the factors of its formula in package rules; if Minus is set, it is the negated
// product.
type Product struct {
	Minus   bool
	typed   ir.Typed
	factors []factor
}

// A factor multiplies by e or, if inv is set, divides by it.
type factor struct {
	e   ir.Expr
	inv bool // divide by e
}

// Partial returns the derivative of op with respect to argument i. Factors that are used more than once are variables.
// So are the factors of all operations that are not Bounded, since Finite reads them.
func (r *Rule) Partial(op rules.Op, i int) *Product {
	steps, minus := rules.Steps(op, i)
	p := &Product{Minus: minus, typed: ir.Typed{T: r.Type}, factors: make([]factor, len(steps))}
	texts := make([]string, len(steps))
	for k, s := range steps {
		texts[k] = s.String()
		if j := slices.Index(texts[:k], texts[k]); j >= 0 {
			p.factors[j].e = r.Name(p.factors[j].e)
			p.factors[k] = p.factors[j]
			continue
		}
		f := factor{inv: s.Kind == rules.Call && s.Op == rules.Inv}
		if f.inv {
			s = s.Args[0]
		}
		f.e = r.Expr(s)
		if !Bounded(op) {
			f.e = r.Name(f.e)
		}
		p.factors[k] = f
	}
	return p
}

// ScaleCotangent returns the cotangent t, of the type of the rule, times the factors from first to last, or their
// conjugates if they are complex.
func (p *Product) ScaleCotangent(t ir.Expr) ir.Expr {
	for _, f := range p.factors {
		t = p.times(t, factor{ir.Conj(f.e), f.inv})
	}
	return t
}

// ScaleTangent returns the tangent t times the factors from last to first.
func (p *Product) ScaleTangent(t ir.Expr) ir.Expr {
	for k := len(p.factors) - 1; k >= 0; k-- {
		t = p.times(t, p.factors[k])
	}
	return t
}

func (p *Product) times(t ir.Expr, f factor) ir.Expr {
	op := token.MUL
	if f.inv {
		op = token.QUO
	}
	return &ir.Binary{Typed: p.typed, Op: op, X: t, Y: f.e}
}

// Finite returns the condition that all factors are finite, so that 0 times the product is 0, or nil if they are
// constants.
func (p *Product) Finite() (cond ir.Expr) {
	for k, f := range p.factors {
		if _, ok := f.e.(*ir.Const); ok || slices.Contains(p.factors[:k], f) {
			continue
		}
		c := Finite(f.e)
		if f.inv {
			c = Nonzero(f.e)
		}
		if cond == nil {
			cond = c
		} else {
			cond = ir.NewBinary(types.Typ[types.Bool], token.LAND, cond, c)
		}
	}
	return cond
}

// Finite returns the condition that e, a variable or constant, is neither infinite nor NaN, and so are both parts of a
// complex number: x-x is 0 only for finite x.
func Finite(e ir.Expr) ir.Expr {
	return eachPart(e, func(x ir.Expr) ir.Expr {
		return ir.Compare(token.EQL, ir.NewBinary(x.Type(), token.SUB, x, x), zero(x.Type()))
	})
}

// Nonzero returns the condition that e is neither 0 nor NaN.
func Nonzero(e ir.Expr) ir.Expr {
	if ir.IsComplex(e.Type()) {
		number := eachPart(e, func(x ir.Expr) ir.Expr { return ir.Compare(token.EQL, x, x) })
		return ir.Compare(token.LAND, ir.Compare(token.NEQ, e, zero(e.Type())), number)
	}
	return ir.Compare(token.LOR, ir.Compare(token.GTR, e, zero(e.Type())), ir.Compare(token.LSS, e, zero(e.Type())))
}

// eachPart returns the condition on the real number e, or the conjunction of those on the parts of a complex number.
func eachPart(e ir.Expr, cond func(x ir.Expr) ir.Expr) ir.Expr {
	if !ir.IsComplex(e.Type()) {
		return cond(e)
	}
	return ir.Compare(token.LAND, cond(ir.RealOf(e)), cond(ir.ImagOf(e)))
}

func zero(t types.Type) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeFloat64(0)}
}

var arithmetic = map[rules.Op]token.Token{rules.Add: token.ADD, rules.Sub: token.SUB, rules.Mul: token.MUL,
	rules.Div: token.QUO}

// Expr returns the expression of a rule in the intermediate representation.
func (r *Rule) Expr(e *rules.Expr) ir.Expr {
	switch e.Kind {
	case rules.Num:
		return r.number(e.Num)
	case rules.ArgX:
		return r.Args[0]
	case rules.ArgY:
		return r.Args[1]
	case rules.ArgZ:
		return r.Args[2]
	case rules.ArgV:
		return r.Value
	}
	typed := ir.Typed{T: r.Type}
	args := make([]ir.Expr, len(e.Args))
	for i, a := range e.Args {
		if n := r.integerOrder(e.Op, i, a); n != nil {
			return &ir.Math{Typed: typed, Name: map[rules.Op]string{rules.Jn: "math.Jn", rules.Yn: "math.Yn"}[e.Op],
				Args: []ir.Expr{n, r.Expr(e.Args[1])}}
		}
		args[i] = r.Expr(a)
	}
	if tok, ok := arithmetic[e.Op]; ok {
		return &ir.Binary{Typed: typed, Op: tok, X: args[0], Y: args[1]}
	}
	switch e.Op {
	case rules.Neg:
		if u, ok := args[0].(*ir.Unary); ok && u.Op == token.SUB {
			return u.X
		}
		return &ir.Unary{Typed: typed, Op: token.SUB, X: args[0]}
	case rules.Inv:
		return &ir.Binary{Typed: typed, Op: token.QUO, X: r.number(1), Y: args[0]}
	case rules.Sq:
		a := r.Name(args[0])
		return &ir.Binary{Typed: typed, Op: token.MUL, X: a, Y: a}
	}
	return &ir.Math{Typed: typed, Name: Name(e.Op), Args: args}
}

// integerOrder returns argument i of a Bessel function as an expression of type int, or nil if it is not its order:
// math.Jn takes an int where the operation takes a whole number.
func (r *Rule) integerOrder(op rules.Op, i int, e *rules.Expr) ir.Expr {
	if i > 0 || op != rules.Jn && op != rules.Yn {
		return nil
	}
	typed := ir.Typed{T: types.Typ[types.Int]}
	switch tok := arithmetic[e.Op]; {
	case e.Kind == rules.Num:
		return &ir.Const{Typed: typed, Val: constant.MakeInt64(int64(e.Num))}
	case e.Kind == rules.ArgX && types.Identical(r.Args[0].Type(), typed.T):
		return r.Args[0]
	case e.Kind == rules.Call && (tok == token.ADD || tok == token.SUB):
		x, y := r.integerOrder(op, i, e.Args[0]), r.integerOrder(op, i, e.Args[1])
		if x == nil || y == nil {
			return nil
		}
		a, okx := x.(*ir.Const)
		b, oky := y.(*ir.Const)
		if okx && oky && a.Val != nil {
			return &ir.Const{Typed: typed, Val: constant.BinaryOp(a.Val, tok, b.Val)}
		}
		return &ir.Binary{Typed: typed, Op: tok, X: x, Y: y}
	}
	return nil
}

func (r *Rule) number(v float64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: r.Type}, Val: constant.MakeFloat64(v)}
}
