package elementary

import (
	"go/constant"
	"go/token"
	"math"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Derivatives of functions of complex numbers, in the representation. A complex number is a pair of real numbers: the
// tangent of z is the pair of the tangents of its parts, and the cotangent of z is ∂/∂Re z + i·∂/∂Im z. Both are
// complex numbers. A holomorphic function f has the tangent f'(z)·ż and adds conj(f'(z))·w̄ to the cotangent of z, with
// the cotangent w̄ of f(z). The other functions are expressed by real, imag, complex and the conjugate, which are
// linear.
//
// The formulas avoid cancellation next to singular points, and their branch cuts are those of the functions, also for
// signed zeros: 1 - z² is the product of 1-z and 1+z, whose imaginary parts are -Im z and Im z exactly (W. Kahan,
// "Branch cuts for complex elementary functions", in: The State of the Art in Numerical Analysis, 1987).

// IsLinear reports whether the function of e is linear over the real numbers: real, imag, complex, the conjugate, and
// graft. Its tangent is the function of the tangents of its arguments, but for graft the tangent of the second.
func IsLinear(e *ir.Math) bool {
	switch e.Name {
	case ir.RealName, ir.ImagName, ir.ComplexName, ir.ConjName, ir.GraftName:
		return true
	}
	return false
}

// LinearCotangent returns the cotangent of argument i of e, whose function is linear, for the cotangent t of its value.
// If the function is complex, t may be read twice.
func LinearCotangent(e *ir.Math, i int, t ir.Expr) ir.Expr {
	switch e.Name {
	case ir.RealName:
		return ir.ComplexOf(e.Args[0].Type(), t, zero(e.T))
	case ir.ImagName:
		return ir.ComplexOf(e.Args[0].Type(), zero(e.T), t)
	case ir.ConjName:
		return ir.Conj(t)
	}
	part := ir.RealOf(t)
	if i == 1 {
		part = ir.ImagOf(t)
	}
	return ir.ConvertTo(e.Args[i].Type(), part)
}

// IsHolomorphic reports whether name is a function of complex numbers with a rule in this package.
func IsHolomorphic(name string) bool { return holomorphic[name] != nil }

// HolomorphicPartial returns the complex derivative of the function with a name with respect to argument i.
func (r *Rule) HolomorphicPartial(name string, i int) *Product {
	p := &Product{typed: ir.Typed{T: r.Type}}
	p.Minus, p.factors = holomorphic[name](formula{r}, i)
	for k := range p.factors {
		p.factors[k].e = r.Name(p.factors[k].e)
	}
	return p
}

// A formula builds the expressions of complex derivatives.
type formula struct{ r *Rule }

// z returns the first argument.
func (f formula) z() ir.Expr { return f.r.Args[0] }

// call returns a function of complex numbers.
func (f formula) call(name string, args ...ir.Expr) ir.Expr {
	return &ir.Math{Typed: ir.Typed{T: f.r.Type}, Name: "cmplx." + name, Args: args}
}

// parts returns the complex number re + i·im.
func (f formula) parts(re, im ir.Expr) ir.Expr { return ir.ComplexOf(f.r.Type, re, im) }

// real returns a + s·Re z, and imag the same of the imaginary part, for s = 1 or -1.
func (f formula) real(a float64, s int) ir.Expr { return offset(a, s, ir.RealOf(f.z())) }
func (f formula) imag(a float64, s int) ir.Expr { return offset(a, s, ir.ImagOf(f.z())) }

func offset(a float64, s int, x ir.Expr) ir.Expr {
	t := x.Type()
	switch {
	case a == 0 && s > 0:
		return x
	case a == 0:
		return &ir.Unary{Typed: ir.Typed{T: t}, Op: token.SUB, X: x}
	case s > 0:
		return ir.NewBinary(t, token.ADD, ir.FloatConst(t, a), x)
	}
	return ir.NewBinary(t, token.SUB, ir.FloatConst(t, a), x)
}

// plus returns 1+z, minus 1-z, and plusI and minusI return 1+iz and 1-iz.
func (f formula) plus() ir.Expr   { return f.parts(f.real(1, 1), f.imag(0, 1)) }
func (f formula) minus() ir.Expr  { return f.parts(f.real(1, -1), f.imag(0, -1)) }
func (f formula) plusI() ir.Expr  { return f.parts(f.imag(1, -1), f.real(0, 1)) }
func (f formula) minusI() ir.Expr { return f.parts(f.imag(1, 1), f.real(0, -1)) }

// times and over return a product of factors, or of their reciprocals, without a minus sign.
func times(list ...ir.Expr) (minus bool, out []factor) {
	for _, e := range list {
		out = append(out, factor{e: e})
	}
	return false, out
}

func over(list ...ir.Expr) (minus bool, out []factor) {
	for _, e := range list {
		out = append(out, factor{e: e, inv: true})
	}
	return false, out
}

// negated returns a product with a minus sign.
func negated(_ bool, out []factor) (bool, []factor) { return true, out }

// A partial returns the derivative of a function with respect to argument i as a product.
type partial func(f formula, i int) (minus bool, factors []factor)

// holomorphic has the derivatives of the functions of package math/cmplx, from DLMF, chapter 4.
var holomorphic = map[string]partial{
	"cmplx.Exp": func(f formula, _ int) (bool, []factor) { return times(f.r.Value) },
	"cmplx.Log": func(f formula, _ int) (bool, []factor) { return over(f.z()) },
	"cmplx.Log10": func(f formula, _ int) (bool, []factor) {
		return false, []factor{{e: f.r.number(math.Log10E)}, {e: f.z(), inv: true}}
	},
	"cmplx.Sqrt": func(f formula, _ int) (bool, []factor) {
		return false, []factor{{e: f.r.number(0.5)}, {e: f.r.Value, inv: true}}
	},
	"cmplx.Pow": func(f formula, i int) (bool, []factor) {
		y := f.r.Args[1]
		switch {
		case i == 1:
			return times(f.call("Log", f.z()), f.r.Value)
		case isZero(y):
			return times(f.r.number(0))
		}
		return times(y, f.call("Pow", f.z(), ir.NewBinary(f.r.Type, token.SUB, y, f.r.number(1))))
	},
	"cmplx.Sin":  func(f formula, _ int) (bool, []factor) { return times(f.call("Cos", f.z())) },
	"cmplx.Cos":  func(f formula, _ int) (bool, []factor) { return negated(times(f.call("Sin", f.z()))) },
	"cmplx.Sinh": func(f formula, _ int) (bool, []factor) { return times(f.call("Cosh", f.z())) },
	"cmplx.Cosh": func(f formula, _ int) (bool, []factor) { return times(f.call("Sinh", f.z())) },
	// 1 + tan² would cancel far from the real axis, and the square of the cosine overflow.
	"cmplx.Tan":  func(f formula, _ int) (bool, []factor) { return f.overSquare("Cos") },
	"cmplx.Tanh": func(f formula, _ int) (bool, []factor) { return f.overSquare("Cosh") },
	"cmplx.Cot":  func(f formula, _ int) (bool, []factor) { return negated(f.overSquare("Sin")) },
	"cmplx.Asin": func(f formula, _ int) (bool, []factor) {
		return over(f.call("Sqrt", f.minus()), f.call("Sqrt", f.plus()))
	},
	"cmplx.Acos": func(f formula, _ int) (bool, []factor) {
		return negated(over(f.call("Sqrt", f.minus()), f.call("Sqrt", f.plus())))
	},
	"cmplx.Asinh": func(f formula, _ int) (bool, []factor) {
		return over(f.call("Sqrt", f.minusI()), f.call("Sqrt", f.plusI()))
	},
	"cmplx.Acosh": func(f formula, _ int) (bool, []factor) {
		return over(f.call("Sqrt", f.parts(f.real(-1, 1), f.imag(0, 1))), f.call("Sqrt", f.plus()))
	},
	"cmplx.Atan":  func(f formula, _ int) (bool, []factor) { return over(f.minusI(), f.plusI()) },
	"cmplx.Atanh": func(f formula, _ int) (bool, []factor) { return over(f.minus(), f.plus()) },
}

// overSquare returns the reciprocal of the square of a function.
func (f formula) overSquare(name string) (bool, []factor) {
	c := f.r.Name(f.call(name, f.z()))
	return over(c, c)
}

// isZero reports whether e is the constant 0.
func isZero(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && (c.Val == nil || constant.Sign(c.Val) == 0)
}
