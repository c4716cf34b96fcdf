package ir

import (
	"go/token"
	"go/types"
	"math"
	"math/cmplx"
)

// pairFuncs maps the names of functions of packages math and math/cmplx with two results to their evaluation.
var pairFuncs = map[string]func([]Value) []Value{
	"math.Sincos": func(a []Value) []Value {
		s, c := math.Sincos(a[0].float())
		return []Value{floatValue(s), floatValue(c)}
	},
	"cmplx.Polar": func(a []Value) []Value {
		r, angle := cmplx.Polar(a[0].complex())
		return []Value{floatValue(r), floatValue(angle)}
	},
	"math.Modf": func(a []Value) []Value {
		i, f := math.Modf(a[0].float())
		return []Value{floatValue(i), floatValue(f)}
	},
	"math.Lgamma": func(a []Value) []Value {
		l, sign := math.Lgamma(a[0].float())
		return []Value{floatValue(l), intValue(int64(sign))}
	},
	"math.Frexp": func(a []Value) []Value {
		f, e := math.Frexp(a[0].float())
		return []Value{floatValue(f), intValue(int64(e))}
	},
}

// Expand returns statements equivalent to a call of a function of package math or math/cmplx with two results, in
// terms of elementary functions, which have rules. The integer results of Frexp and Lgamma remain a
// passive call. It returns nil for other calls, and for an argument that is not a variable or
// constant, since that would be evaluated twice, or that a result overwrites. New variables get
// names from names, the namer of the function that contains the call.
func (s *Call) Expand(names *Namer) []Stmt {
	if s.Callee.Rule == nil || len(s.Args) != 1 || len(s.Results) != 2 {
		return nil
	}
	x := s.Args[0]
	switch e := x.(type) {
	case *Const:
	case *Load:
		for _, r := range s.Results {
			if len(e.P.Path) > 0 || e.P.Root == r {
				return nil
			}
		}
	default:
		return nil
	}
	typed := Typed{types.Typ[types.Float64]}
	of := func(name string, args ...Expr) Expr { return &Math{Typed: typed, Name: name, Args: args} }
	first, second := s.Results[0], s.Results[1]
	var out []Stmt
	set := func(v *Var, e Expr) {
		if v != nil {
			out = append(out, &Set{At: s.At, P: v.Place(), E: e})
		}
	}
	rest := func(v *Var) {
		if v != nil {
			rule := *s.Callee.Rule
			rule.Passive = true
			out = append(out, &Call{At: s.At, Results: []*Var{nil, v}, Callee: &Callee{Rule: &rule}, Args: s.Args})
		}
	}
	switch s.Callee.Rule.Name {
	case "math.Sincos":
		set(first, of("math.Sin", x))
		set(second, of("math.Cos", x))
	case "cmplx.Polar":
		set(first, of("math.Hypot", RealOf(x), ImagOf(x)))
		set(second, of("math.Atan2", ImagOf(x), RealOf(x)))
	case "math.Modf":
		whole := of("math.Trunc", x)
		set(first, whole)
		set(second, of("math.Copysign", &Binary{Typed: typed, Op: token.SUB, X: x, Y: whole}, x))
	case "math.Lgamma":
		rest(second)
		set(first, of("rules.lgamma", x))
	case "math.Frexp":
		if second == nil { // the fraction is computed from the exponent
			second = &Var{Name: names.Name("exp"), Type: types.Typ[types.Int], Pos: s.Pos}
			out = append(out, &Let{At: s.At, V: second})
		}
		rest(second)
		set(first, of("math.Ldexp", x, &Unary{Typed: Typed{second.Type}, Op: token.SUB, X: second.Load()}))
	default:
		return nil
	}
	return out
}
