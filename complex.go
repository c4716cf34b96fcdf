package nabla

import (
	"math"

	"github.com/nabla-ad/nabla/internal/core"
)

// Complex numbers over Reals. All functions are compositions of functions of Reals, so every engine has them and their
// derivatives of all orders; the formulas neither branch nor cancel, as W. Kahan, "Branch cuts for complex elementary
// functions", in: The State of the Art in Numerical Analysis, 1987, has them. Branches are selected by Where, so that a
// recording is valid in all of them.

// Complex is a complex number that can be differentiated: a pair of Reals. Its zero value is the constant 0.
//
// Derivatives are those with respect to the two parts. The gradient of a real function of z is the pair ∂/∂Re and
// ∂/∂Im: that of |z|² is 2z. A holomorphic function f has the pushforward f'(z)·ż and the pullback conj(f'(z))·w̄, as
// pairs of parts.
//
// Functions have the branch cuts and principal values of package math/cmplx. Their values may differ from those of
// that package by rounding. A result of arguments that are infinite or NaN, or of a division by 0, has infinite or NaN
// parts, which are not always those of Go.
type Complex struct{ Re, Im Real }

// ComplexConst returns the number z as a constant, which is not differentiated.
func ComplexConst(z complex128) Complex {
	re, im := core.Parts(z)
	return Complex{Const(re), Const(im)}
}

// Rect returns the complex number with absolute value r and phase theta.
func Rect(r, theta Real) Complex { return Complex{r.Mul(Cos(theta)), r.Mul(Sin(theta))} }

// Polar returns the absolute value and the phase of z.
func (z Complex) Polar() (r, theta Real) { return z.Abs(), z.Phase() }

// Abs returns |z|. Its derivative at 0 is 0.
func (z Complex) Abs() Real { return Hypot(z.Re, z.Im) }

// Abs2 returns |z|².
func (z Complex) Abs2() Real { return z.Re.Sq().Add(z.Im.Sq()) }

// Phase returns the angle of z, from -π to π.
func (z Complex) Phase() Real { return Atan2(z.Im, z.Re) }

// Conj returns the conjugate of z.
func (z Complex) Conj() Complex { return Complex{z.Re, z.Im.Neg()} }

// Add returns z + w.
func (z Complex) Add(w Complex) Complex { return Complex{z.Re.Add(w.Re), z.Im.Add(w.Im)} }

// Sub returns z - w.
func (z Complex) Sub(w Complex) Complex { return Complex{z.Re.Sub(w.Re), z.Im.Sub(w.Im)} }

// Mul returns z·w.
func (z Complex) Mul(w Complex) Complex {
	return Complex{z.Re.Mul(w.Re).Sub(z.Im.Mul(w.Im)), z.Re.Mul(w.Im).Add(z.Im.Mul(w.Re))}
}

// Div returns z / w. It divides by |w| twice, so that no intermediate result overflows.
func (z Complex) Div(w Complex) Complex {
	h := w.Abs()
	u, v := w.Re.Div(h), w.Im.Div(h)
	return Complex{z.Re.Mul(u).Add(z.Im.Mul(v)).Div(h), z.Im.Mul(u).Sub(z.Re.Mul(v)).Div(h)}
}

// Inv returns 1/z.
func (z Complex) Inv() Complex {
	h := z.Abs()
	return Complex{z.Re.Div(h).Div(h), z.Im.Div(h).Div(h).Neg()}
}

// Neg returns -z.
func (z Complex) Neg() Complex { return Complex{z.Re.Neg(), z.Im.Neg()} }

// Sq returns z².
func (z Complex) Sq() Complex {
	return Complex{z.Re.Sub(z.Im).Mul(z.Re.Add(z.Im)), z.Re.Mul(z.Im).Scale(2)}
}

// Scale returns c·z.
func (z Complex) Scale(c float64) Complex { return Complex{z.Re.Scale(c), z.Im.Scale(c)} }

// MulReal returns r·z.
func (z Complex) MulReal(r Real) Complex { return Complex{z.Re.Mul(r), z.Im.Mul(r)} }

// timesI returns i·z, and overI z/i.
func (z Complex) timesI() Complex { return Complex{z.Im.Neg(), z.Re} }
func (z Complex) overI() Complex  { return Complex{z.Im, z.Re.Neg()} }

// Equal reports whether z == w. A recording is valid while the outcomes of its comparisons are the same.
func (z Complex) Equal(w Complex) bool { return z.Re.Equal(w.Re) && z.Im.Equal(w.Im) }

// IsInf reports whether one of the parts is infinite.
func (z Complex) IsInf() bool { return z.Re.IsInf(0) || z.Im.IsInf(0) }

// IsNaN reports whether one of the parts is NaN and neither is infinite.
func (z Complex) IsNaN() bool { return !z.IsInf() && (z.Re.IsNaN() || z.Im.IsNaN()) }

// Value returns z as a plain number, which leaves the trace; see [Real.Value].
func (z Complex) Value() complex128 { return complex(z.Re.Value(), z.Im.Value()) }

// String formats the value like (1+2i).
func (z Complex) String() string {
	im := z.Im.String()
	if im[0] != '-' && im[0] != '+' {
		im = "+" + im
	}
	return "(" + z.Re.String() + im + "i)"
}

// Exp returns e to the power of z.
func (z Complex) Exp() Complex { return Rect(Exp(z.Re), z.Im) }

// Log returns the natural logarithm of z, with an imaginary part from -π to π.
func (z Complex) Log() Complex { return Complex{Log(z.Abs()), z.Phase()} }

// Log10 returns the decimal logarithm of z.
func (z Complex) Log10() Complex { return Complex{Log10(z.Abs()), z.Phase().Scale(math.Log10E)} }

// Sqrt returns the square root of z whose real part is not negative. Its derivative at 0 is infinite or NaN.
func (z Complex) Sqrt() Complex {
	// One of the parts is a root of a sum of two numbers of one sign, the other the quotient of Im z and twice that.
	right := Le(Real{}, z.Re)
	re := Where(right, z.Re, z.Re.Neg())
	big := Sqrt(re.Scale(0.5).Add(z.Abs().Scale(0.5)))
	small := Where(Eq(big, Real{}), z.Im, z.Im.Div(big.Scale(2)))
	sign := Copysign(Const(1), z.Im)
	return Complex{Where(right, big, small.Mul(sign)), Where(right, small, big.Mul(sign))}
}

// Pow returns z to the power of w, and 1 for w = 0. If w is a constant integer from -64 to 64, it is computed by
// multiplication, which has derivatives at 0; otherwise they are NaN there.
func (z Complex) Pow(w Complex) Complex {
	plain := w.Im.id == 0 && w.Im.v == 0 // a real exponent
	if n := int(w.Re.v); plain && w.Re.id == 0 && float64(n) == w.Re.v && -64 <= n && n <= 64 {
		return z.powInt(n)
	}
	abs, phase := z.Polar()
	r, theta := Pow(abs, w.Re), phase.Mul(w.Re)
	if !plain {
		r = r.Mul(Exp(w.Im.Mul(phase).Neg()))
		theta = theta.Add(XLogY(w.Im, abs))
	}
	return Rect(r, theta)
}

// powInt returns z to the power of n by squaring.
func (z Complex) powInt(n int) Complex {
	if n < 0 {
		return z.powInt(-n).Inv()
	}
	out, empty := ComplexConst(1), true
	for ; n > 0; n /= 2 {
		switch {
		case n%2 == 0:
		case empty:
			out, empty = z, false
		default:
			out = out.Mul(z)
		}
		if n > 1 {
			z = z.Sq()
		}
	}
	return out
}

// Sin returns the sine of z.
func (z Complex) Sin() Complex {
	return Complex{Sin(z.Re).Mul(Cosh(z.Im)), Cos(z.Re).Mul(Sinh(z.Im))}
}

// Cos returns the cosine of z.
func (z Complex) Cos() Complex {
	return Complex{Cos(z.Re).Mul(Cosh(z.Im)), Sin(z.Re).Mul(Sinh(z.Im)).Neg()}
}

// Tan returns the tangent of z.
func (z Complex) Tan() Complex { return z.timesI().Tanh().overI() }

// Cot returns the cotangent of z.
func (z Complex) Cot() Complex { return z.Tan().Inv() }

// Sinh returns the hyperbolic sine of z.
func (z Complex) Sinh() Complex {
	return Complex{Sinh(z.Re).Mul(Cos(z.Im)), Cosh(z.Re).Mul(Sin(z.Im))}
}

// Cosh returns the hyperbolic cosine of z.
func (z Complex) Cosh() Complex {
	return Complex{Cosh(z.Re).Mul(Cos(z.Im)), Sinh(z.Re).Mul(Sin(z.Im))}
}

// Tanh returns the hyperbolic tangent of z.
func (z Complex) Tanh() Complex {
	// With T = tanh(Re z) and t = tan(Im z) it is (T + it)/(1 + iTt), of which nothing overflows. 1 - T² cancels.
	th, t := Tanh(z.Re), Tan(z.Im)
	e := Exp(Where(Le(Real{}, z.Re), z.Re, z.Re.Neg()).Scale(-2))
	sech2 := e.Scale(4).Div(e.AddConst(1).Sq())
	d := th.Mul(t).Sq().AddConst(1)
	return Complex{th.Mul(t.Sq().AddConst(1)).Div(d), t.Mul(sech2).Div(d)}
}

// roots returns the square roots of 1-z and 1+z. Next to ±1 the distance to it is exact.
func (z Complex) roots() (s, t Complex) {
	s = Complex{Const(1).Sub(z.Re), z.Im.Neg()}.Sqrt()
	return s, Complex{z.Re.AddConst(1), z.Im}.Sqrt()
}

// Asin returns the arcsine of z.
func (z Complex) Asin() Complex {
	s, t := z.roots()
	return Complex{
		Atan2(z.Re, s.Re.Mul(t.Re).Sub(s.Im.Mul(t.Im))),
		Asinh(s.Re.Mul(t.Im).Sub(s.Im.Mul(t.Re))),
	}
}

// Acos returns the arccosine of z.
func (z Complex) Acos() Complex {
	s, t := z.roots()
	return Complex{Atan2(s.Re, t.Re).Scale(2), Asinh(t.Re.Mul(s.Im).Sub(t.Im.Mul(s.Re)))}
}

// Atan returns the arctangent of z.
func (z Complex) Atan() Complex { return z.timesI().Atanh().overI() }

// Asinh returns the inverse hyperbolic sine of z.
func (z Complex) Asinh() Complex { return z.timesI().Asin().overI() }

// Acosh returns the inverse hyperbolic cosine of z.
func (z Complex) Acosh() Complex {
	s, t := Complex{z.Re.AddConst(-1), z.Im}.Sqrt(), Complex{z.Re.AddConst(1), z.Im}.Sqrt()
	return Complex{Asinh(s.Re.Mul(t.Re).Add(s.Im.Mul(t.Im))), Atan2(s.Im, t.Re).Scale(2)}
}

// Atanh returns the inverse hyperbolic tangent of z.
func (z Complex) Atanh() Complex {
	// The real part is odd in Re z, and log1p cancels for a negative one.
	right := Le(Real{}, z.Re)
	x := Where(right, z.Re, z.Re.Neg())
	far := Const(1).Sub(x)
	re := Log1p(x.Scale(4).Div(far.Sq().Add(z.Im.Sq()))).Scale(0.25)
	im := Atan2(z.Im.Scale(2), far.Mul(x.AddConst(1)).Sub(z.Im.Sq())).Scale(0.5)
	return Complex{Where(right, re, re.Neg()), im}
}
