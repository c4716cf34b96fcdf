// Package elementary writes the derivatives of elementary functions, which package rules
// has, in the form that derivatives are made in.
package elementary

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/rules"
)

// Op is the operation with a rule that the function of an [ir.Math] is: math.Sin, or
// rules.sign, which derivatives have.
func Op(name string) (rules.Op, bool) {
	return rules.Lookup(strings.ToLower(name[strings.IndexByte(name, '.')+1:]))
}

// Name is the function of package math that an operation is, or the one of package rules.
func Name(op rules.Op) string {
	if name, ok := strings.CutPrefix(rules.Info(op).Value, "math."); ok {
		if i := strings.IndexByte(name, '('); i > 0 {
			return "math." + name[:i]
		}
	}
	return "rules." + op.String()
}

// Bounded reports whether the partial derivatives of an operation are finite wherever its
// arguments are: none is singular and none overflows.
func Bounded(op rules.Op) bool { return bounded[op] }

var bounded = map[rules.Op]bool{
	rules.Sin: true, rules.Cos: true, rules.Tan: true, rules.Atan: true, rules.Tanh: true, rules.Asinh: true,
	rules.Erf: true, rules.Erfc: true, rules.J0: true, rules.J1: true, rules.Abs: true, rules.Sign: true,
	rules.Floor: true, rules.Ceil: true, rules.Trunc: true, rules.Round: true, rules.RoundToEven: true,
	rules.Hypot: true, rules.Copysign: true, rules.FMA: true,
}

// Rule is what an expression of a rule is written for: a function of arguments that cost
// nothing to read again, with a value that does not either.
type Rule struct {
	Type  types.Type
	Args  []ir.Expr
	Value ir.Expr
	// Name gives an expression a name, if it costs anything to compute it again.
	Name func(ir.Expr) ir.Expr
}

var arithmetic = map[rules.Op]token.Token{rules.Add: token.ADD, rules.Sub: token.SUB, rules.Mul: token.MUL, rules.Div: token.QUO}

// Expr is an expression of a rule in the form.
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
	args := make([]ir.Expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = r.Expr(a)
	}
	typed := ir.Typed{T: r.Type}
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

func (r *Rule) number(v float64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: r.Type}, Val: constant.MakeFloat64(v)}
}
