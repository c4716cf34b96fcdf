package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Calls that become expressions: elementary functions, and opaque functions, which compute strings
// and errors without side effects.

// mathNot holds the functions of package math that make floats of bits, which have no derivative.
var mathNot = wordSet(`Float32frombits Float64frombits`)

// mathPairs holds the functions of package math with two results, see [ir.Call.Expand].
var mathPairs = wordSet(`Frexp Lgamma Modf Sincos`)

// wordSet returns the set of the words of s.
func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// isMath reports whether fn is a function of package math, math/cmplx or rt with a known derivative.
func isMath(fn *types.Func) bool {
	name := elementary(fn)
	if name == "" || fn.Pkg().Path() == "math" && mathNot[fn.Name()] {
		return false
	}
	_, _, ok := ir.Elementary(name)
	return ok || name == dim || mathPairs[fn.Name()] || complexParts[name]
}

// dim is lowered to math.Max(0, x-y).
const dim = "math.Dim"

// complexParts holds the functions of package math/cmplx that are not holomorphic. They are lowered to functions of the
// two parts, as that package computes them.
var complexParts = map[string]bool{"cmplx.Abs": true, "cmplx.Phase": true, polar: true, "cmplx.Rect": true}

// polar has two results, see [ir.Call.Expand].
const polar = "cmplx.Polar"

// ofParts lowers a call of a function in complexParts with one result.
func (l *lowerer) ofParts(x ast.Node, m *ir.Math) ir.Expr {
	for i, a := range m.Args { // arguments are read twice
		if _, ok := a.(*ir.Const); !ok && (ir.VarOf(a) == nil || ir.VarOf(a).Kind == ir.Global) {
			m.Args[i] = l.temp(x, "z", a.Type(), a).Load()
		}
	}
	float := ir.Typed{T: types.Typ[types.Float64]}
	of := func(name string, args ...ir.Expr) ir.Expr { return &ir.Math{Typed: float, Name: name, Args: args} }
	switch m.Name {
	case "cmplx.Abs":
		return of("math.Hypot", ir.RealOf(m.Args[0]), ir.ImagOf(m.Args[0]))
	case "cmplx.Phase":
		return of("math.Atan2", ir.ImagOf(m.Args[0]), ir.RealOf(m.Args[0]))
	}
	r, angle := m.Args[0], m.Args[1]
	return ir.ComplexOf(m.T, ir.NewBinary(float.T, token.MUL, r, of("math.Cos", angle)),
		ir.NewBinary(float.T, token.MUL, r, of("math.Sin", angle)))
}

// math lowers a call of an elementary function.
func (l *lowerer) math(x *ast.CallExpr, fn *types.Func, t types.Type) ir.Expr {
	args, _ := l.arguments(x, x.Args, fn.Signature(), nil)
	return l.mathOf(x, fn, args, t)
}

// mathOf returns the value of an elementary function.
func (l *lowerer) mathOf(x ast.Node, fn *types.Func, args []ir.Expr, t types.Type) ir.Expr {
	m := &ir.Math{Typed: ir.Typed{T: t}, Name: elementary(fn), Args: args}
	if complexParts[m.Name] {
		return l.ofParts(x, m)
	}
	if m.Name == dim && len(m.Args) == 2 {
		zero := &ir.Const{Typed: m.Typed, Val: constant.MakeInt64(0)}
		m.Name, m.Args = "math.Max", []ir.Expr{zero,
			&ir.Binary{Typed: m.Typed, Op: token.SUB, X: m.Args[0], Y: m.Args[1]}}
	}
	return m
}

// opaque maps paths of packages to the functions without side effects that compute strings, errors
// and bools; nil means all functions. The paths are single words, as [ir.Opaque] requires.
var opaque = map[string]map[string]bool{
	"errors":  wordSet("Is Join New Unwrap"),
	"fmt":     wordSet("Errorf Sprint Sprintf Sprintln"),
	"strconv": nil,
	"strings": nil,
}

// isOpaque reports whether a call of fn becomes an opaque expression.
func isOpaque(fn *types.Func) bool {
	if fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return false
	}
	names, ok := opaque[fn.Pkg().Path()]
	sig := fn.Signature()
	if !ok || names != nil && !names[fn.Name()] || sig.Results().Len() != 1 || sig.TypeParams().Len() > 0 {
		return false
	}
	// Numbers and slices could carry derivatives.
	if t := sig.Results().At(0).Type(); !ir.IsString(t) && !types.IsInterface(t) && basic(t)&types.IsBoolean == 0 {
		return false
	}
	for i := range sig.Params().Len() {
		if isFuncType(sig.Params().At(i).Type()) {
			return false
		}
	}
	return true
}

// opaqueCall lowers a call of an opaque function.
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

// escape quotes s as literal text of a format.
func escape(s string) string { return strings.ReplaceAll(s, "%", "%%") }
