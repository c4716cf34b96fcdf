package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// mathNot are functions of package math that give floats without a derivative that could
// be told: numbers out of bits.
var mathNot = words(`Float32frombits Float64frombits`)

// mathPairs are those with two results, of which [ir.Call.Expand] knows more.
var mathPairs = words(`Frexp Lgamma Modf Sincos`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// isMath says whether fn is a function of package math, or of the same kind, that may be
// called.
func isMath(fn *types.Func) bool {
	name := elementary(fn)
	if name == "" || fn.Pkg().Path() == "math" && mathNot[fn.Name()] {
		return false
	}
	_, _, ok := ir.Elementary(name)
	return ok || name == dim || mathPairs[fn.Name()]
}

// dim is a function that is written as another one.
const dim = "math.Dim"

func (l *lowerer) math(x *ast.CallExpr, fn *types.Func, t types.Type) ir.Expr {
	m := &ir.Math{Typed: ir.Typed{T: t}, Name: elementary(fn)}
	m.Args, _ = l.arguments(x, x.Args, fn.Signature(), nil)
	if m.Name == dim && len(m.Args) == 2 {
		zero := &ir.Const{Typed: m.Typed, Val: constant.MakeInt64(0)}
		m.Name, m.Args = "math.Max", []ir.Expr{zero,
			&ir.Binary{Typed: m.Typed, Op: token.SUB, X: m.Args[0], Y: m.Args[1]}}
	}
	return m
}

// opaque are functions without effects that give strings, errors and the like: by
// package, all or those that are named. The packages have paths of one word, see
// [ir.Opaque].
var opaque = map[string]map[string]bool{
	"errors":  words("Is Join New Unwrap"),
	"fmt":     words("Errorf Sprint Sprintf Sprintln"),
	"strconv": nil,
	"strings": nil,
}

// isOpaque says whether a call of fn can stand in an opaque expression.
func isOpaque(fn *types.Func) bool {
	if fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return false
	}
	names, ok := opaque[fn.Pkg().Path()]
	sig := fn.Signature()
	if !ok || names != nil && !names[fn.Name()] || sig.Results().Len() != 1 || sig.TypeParams().Len() > 0 {
		return false
	}
	if t := sig.Results().At(0).Type(); !isString(t) && !types.IsInterface(t) && basic(t)&types.IsBoolean == 0 {
		return false
	}
	for i := range sig.Params().Len() {
		if isFuncType(sig.Params().At(i).Type()) {
			return false
		}
	}
	return true
}

func (l *lowerer) opaqueCall(x *ast.CallExpr, fn *types.Func, t types.Type) ir.Expr {
	o := &ir.Opaque{Typed: ir.Typed{T: t}}
	var marks []string
	for i, a := range x.Args {
		e := l.expr(a)
		if !isFuncType(e.Type()) {
			mark := "%v"
			if x.Ellipsis.IsValid() && i == len(x.Args)-1 {
				mark = "%v..."
			}
			o.Args, marks = append(o.Args, e), append(marks, mark)
		}
	}
	o.Format = escape(fn.Pkg().Path()+"."+fn.Name()) + "(" + strings.Join(marks, ", ") + ")"
	return o
}

// escape makes text part of a format.
func escape(s string) string { return strings.ReplaceAll(s, "%", "%%") }
