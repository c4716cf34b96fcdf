package nabla_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
)

// complexFunctions has the functions of [nabla.Complex] beside those of package math/cmplx, and their derivatives.
var complexFunctions = []struct {
	name string
	f    func(z nabla.Complex) nabla.Complex
	want func(z complex128) complex128
	d    func(z complex128) complex128
}{
	{"Exp", nabla.Complex.Exp, cmplx.Exp, cmplx.Exp},
	{"Log", nabla.Complex.Log, cmplx.Log, func(z complex128) complex128 { return 1 / z }},
	{"Log10", nabla.Complex.Log10, cmplx.Log10, func(z complex128) complex128 { return math.Log10E / z }},
	{"Sqrt", nabla.Complex.Sqrt, cmplx.Sqrt, func(z complex128) complex128 { return 0.5 / cmplx.Sqrt(z) }},
	{"Inv", nabla.Complex.Inv, func(z complex128) complex128 { return 1 / z },
		func(z complex128) complex128 { return -1 / (z * z) }},
	{"Sq", nabla.Complex.Sq, func(z complex128) complex128 { return z * z },
		func(z complex128) complex128 { return 2 * z }},
	{"Sin", nabla.Complex.Sin, cmplx.Sin, cmplx.Cos},
	{"Cos", nabla.Complex.Cos, cmplx.Cos, func(z complex128) complex128 { return -cmplx.Sin(z) }},
	{"Tan", nabla.Complex.Tan, cmplx.Tan, func(z complex128) complex128 { return 1 / (cmplx.Cos(z) * cmplx.Cos(z)) }},
	{"Cot", nabla.Complex.Cot, cmplx.Cot, func(z complex128) complex128 { return -1 / (cmplx.Sin(z) * cmplx.Sin(z)) }},
	{"Sinh", nabla.Complex.Sinh, cmplx.Sinh, cmplx.Cosh},
	{"Cosh", nabla.Complex.Cosh, cmplx.Cosh, cmplx.Sinh},
	{"Tanh", nabla.Complex.Tanh, cmplx.Tanh,
		func(z complex128) complex128 { return 1 / (cmplx.Cosh(z) * cmplx.Cosh(z)) }},
	{"Asin", nabla.Complex.Asin, cmplx.Asin, func(z complex128) complex128 { return 1 / cmplx.Cos(cmplx.Asin(z)) }},
	{"Acos", nabla.Complex.Acos, cmplx.Acos, func(z complex128) complex128 { return -1 / cmplx.Sin(cmplx.Acos(z)) }},
	{"Atan", nabla.Complex.Atan, cmplx.Atan, func(z complex128) complex128 { return 1 / (1 + z*z) }},
	{"Asinh", nabla.Complex.Asinh, cmplx.Asinh,
		func(z complex128) complex128 { return 1 / cmplx.Cosh(cmplx.Asinh(z)) }},
	{"Acosh", nabla.Complex.Acosh, cmplx.Acosh,
		func(z complex128) complex128 { return 1 / cmplx.Sinh(cmplx.Acosh(z)) }},
	{"Atanh", nabla.Complex.Atanh, cmplx.Atanh, func(z complex128) complex128 { return 1 / (1 - z*z) }},
	{"cube", func(z nabla.Complex) nabla.Complex { return z.Pow(nabla.ComplexConst(3)) },
		func(z complex128) complex128 { return z * z * z }, func(z complex128) complex128 { return 3 * z * z }},
	{"power", func(z nabla.Complex) nabla.Complex { return z.Pow(nabla.ComplexConst(-5)) },
		func(z complex128) complex128 { return cmplx.Pow(z, -5) },
		func(z complex128) complex128 { return -5 * cmplx.Pow(z, -6) }},
	{"real power", func(z nabla.Complex) nabla.Complex { return z.Pow(nabla.ComplexConst(0.3)) },
		func(z complex128) complex128 { return cmplx.Pow(z, 0.3) },
		func(z complex128) complex128 { return 0.3 * cmplx.Pow(z, -0.7) }},
	{"complex power", func(z nabla.Complex) nabla.Complex { return z.Pow(nabla.ComplexConst(0.3 - 1.2i)) },
		func(z complex128) complex128 { return cmplx.Pow(z, 0.3-1.2i) },
		func(z complex128) complex128 { return (0.3 - 1.2i) * cmplx.Pow(z, -0.7-1.2i) }},
	{"exponential", func(z nabla.Complex) nabla.Complex { return nabla.ComplexConst(2 + 1i).Pow(z) },
		func(z complex128) complex128 { return cmplx.Pow(2+1i, z) },
		func(z complex128) complex128 { return cmplx.Log(2+1i) * cmplx.Pow(2+1i, z) }},
	{"quotient", func(z nabla.Complex) nabla.Complex { return z.Div(z.Sub(nabla.ComplexConst(2i)).Neg()) },
		func(z complex128) complex128 { return z / (2i - z) },
		func(z complex128) complex128 { return 2i / ((2i - z) * (2i - z)) }},
	{"product", func(z nabla.Complex) nabla.Complex { return z.Scale(3).Mul(z.Add(nabla.ComplexConst(1i))) },
		func(z complex128) complex128 { return 3 * z * (z + 1i) },
		func(z complex128) complex128 { return 6*z + 3i }},
}

// split returns a function of complex numbers as one of the parts, and join the parts of a result as a number.
func split(f func(z nabla.Complex) nabla.Complex) func(y, x []nabla.Real) {
	return func(y, x []nabla.Real) {
		w := f(nabla.Complex{Re: x[0], Im: x[1]})
		y[0], y[1] = w.Re, w.Im
	}
}

func join(x []float64) complex128 { return complex(x[0], x[1]) }

// nearComplex reports whether two numbers differ by a relative error of at most tol.
func nearComplex(a, b complex128, tol float64) bool {
	return cmplx.Abs(a-b) <= tol*(cmplx.Abs(b)+1e-300)
}

// TestComplexFunctions compares values and derivatives in all quadrants and on both axes.
func TestComplexFunctions(t *testing.T) {
	dx, dy := []float64{0.75, -0.5}, []float64{-1.25, 2}
	points := []complex128{
		0.7 + 0.4i, -0.6 + 1.3i, -1.7 - 0.2i, 2.5 - 0.8i, 0.1 - 0.3i, 3 + 2i, 0.5, -0.25, 0.75i, -0.3i,
	}
	for _, tt := range complexFunctions {
		f := nabla.InPlace(2, split(tt.f))
		for _, z := range points {
			x := []float64{real(z), imag(z)}
			for _, b := range []nabla.Backend{
				forwarddiff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{},
			} {
				y, d, err := nabla.ValueAndPushforward(f, b, x, dx)
				if err != nil {
					t.Fatal(tt.name, err)
				}
				if !nearComplex(join(y), tt.want(z), 1e-14) {
					t.Errorf("%s of %v is %v, want %v", tt.name, z, join(y), tt.want(z))
				}
				if want := tt.d(z) * join(dx); !nearComplex(join(d), want, 3e-13) {
					t.Errorf("%T: the pushforward of %s at %v is %v, want %v", b, tt.name, z, join(d), want)
				}
				d, err = nabla.Pullback(f, b, x, dy)
				if want := cmplx.Conj(tt.d(z)) * join(dy); err != nil || !nearComplex(join(d), want, 3e-13) {
					t.Errorf("%T: the pullback of %s at %v is %v, want %v (%v)", b, tt.name, z, join(d), want, err)
				}
			}
			// The Hessian of the real part has the parts of f'' as its entries.
			h, err := nabla.Hessian(func(x []nabla.Real) nabla.Real {
				return tt.f(nabla.Complex{Re: x[0], Im: x[1]}).Re
			}, nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{}}, x)
			if err != nil {
				t.Fatal(tt.name, err)
			}
			const step = 1e-5
			second := (tt.d(z+step) - tt.d(z-step)) / (2 * step)
			for _, e := range []struct{ got, want float64 }{
				{h.At(0, 0), real(second)}, {h.At(1, 1), -real(second)}, {h.At(0, 1), -imag(second)},
			} {
				if !(math.Abs(e.got-e.want) <= 1e-7*(1+cmplx.Abs(second))) {
					t.Errorf("a second derivative of %s at %v is %v, want %v", tt.name, z, e.got, e.want)
				}
			}
		}
	}
}

// TestComplexParts differentiates the functions that are not holomorphic.
func TestComplexParts(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		z := nabla.Complex{Re: x[0], Im: x[1]}
		r, theta := z.Polar()
		w := nabla.Rect(r.Sq(), theta.Scale(2)).Mul(z.Conj()).MulReal(x[0]) // |z|²·z·Re z
		return w.Re.Add(w.Abs2()).Add(z.Abs()).Add(w.Phase().Scale(3))
	}
	x := []float64{0.75, 1.25}
	a, b := x[0], x[1]
	r := a*a + b*b
	want := []float64{
		2*a*a*a + 2*a*r + 2*a*r*r*r + 6*a*a*a*r*r + a/math.Sqrt(r) - 3*b/r,
		2*a*a*b + 6*a*a*b*r*r + b/math.Sqrt(r) + 3*a/r,
	}
	for _, backend := range []nabla.Backend{
		forwarddiff.Backend{}, reversediff.Backend{}, tracker.Backend{}, finitediff.Backend{},
	} {
		g, err := nabla.Gradient(f, backend, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range g {
			if math.Abs(g[i]-want[i]) > 1e-7*math.Abs(want[i]) {
				t.Errorf("%T: derivative %d is %v, want %v", backend, i, g[i], want[i])
			}
		}
	}
}

// TestComplexAccurate looks at points next to singular ones, far away, at zeros of either sign and on branch cuts.
func TestComplexAccurate(t *testing.T) {
	near, zero := 0x1p-30+0x1p-32i, math.Copysign(0, -1)
	root := cmplx.Sqrt(2*near) * (1 - near/12) // the inverse hyperbolic cosine of 1 + near
	for _, tt := range []struct {
		name          string
		f             func(z nabla.Complex) nabla.Complex
		z, want, d    complex128
		valueTol, tol float64
	}{
		{"Sqrt", nabla.Complex.Sqrt, -4, 2i, -0.25i, 1e-15, 1e-15},
		{"Sqrt", nabla.Complex.Sqrt, complex(-4, zero), -2i, 0.25i, 1e-15, 1e-15},
		{"Sqrt", nabla.Complex.Sqrt, -1e10 + 1e-10i, 5e-16 + 1e5i, -0.5e-5i, 1e-15, 1e-15},
		{"Asin", nabla.Complex.Asin, 1 + near, cmplx.Asin(1 + near), 1 / cmplx.Sqrt(-near*(2+near)), 1e-9, 1e-14},
		{"Acos", nabla.Complex.Acos, 1 + near, -1i * root,
			-1 / cmplx.Sqrt(-near*(2+near)), 1e-14, 1e-14},
		{"Acosh", nabla.Complex.Acosh, 1 + near, root,
			1 / cmplx.Sqrt(near*(2+near)), 1e-14, 1e-14},
		{"Atanh", nabla.Complex.Atanh, 1 + near, (cmplx.Log(2+near) - cmplx.Log(-near)) / 2, -1 / (near * (2 + near)),
			1e-14, 1e-14},
		{"Tanh", nabla.Complex.Tanh, 30 + 2i, 1, 4 * cmplx.Exp(-2*(30+2i)), 1e-15, 1e-13},
		{"Tanh", nabla.Complex.Tanh, -1000 + 1i, -1, 0, 1e-15, 0},
		{"Tan", nabla.Complex.Tan, 2 + 1000i, 1i, 0, 1e-15, 0},
		{"Div", func(z nabla.Complex) nabla.Complex { return z.Div(nabla.ComplexConst(1e300 + 1e300i)) },
			1e300 + 1e300i, 1, 0.5e-300 - 0.5e-300i, 1e-15, 1e-15},
		{"Pow", func(z nabla.Complex) nabla.Complex { return z.Pow(nabla.ComplexConst(2)) }, 0, 0, 0, 0, 0},
		{"Pow", func(z nabla.Complex) nabla.Complex { return z.Pow(nabla.ComplexConst(0)) }, 0, 1, 0, 0, 0},
		{"Sqrt", func(z nabla.Complex) nabla.Complex { return z.Sub(nabla.ComplexConst(1)).Sqrt() }, 1, 0, cmplx.NaN(),
			0, 0},
	} {
		x := []float64{real(tt.z), imag(tt.z)}
		y, d, err := nabla.ValueAndPushforward(nabla.InPlace(2, split(tt.f)), forwarddiff.Backend{}, x, []float64{1, 0})
		if err != nil {
			t.Fatal(err)
		}
		if got := join(y); !(cmplx.Abs(got-tt.want) <= tt.valueTol*cmplx.Abs(tt.want)) {
			t.Errorf("%s of %v is %v, want %v", tt.name, tt.z, got, tt.want)
		}
		if got := join(d); !(cmplx.Abs(got-tt.d) <= tt.tol*cmplx.Abs(tt.d)) && !cmplx.IsNaN(tt.d) {
			t.Errorf("the derivative of %s at %v is %v, want %v", tt.name, tt.z, got, tt.d)
		}
	}
}

// TestComplexValue looks at the functions that do not return numbers of a trace.
func TestComplexValue(t *testing.T) {
	z := nabla.ComplexConst(1.5 - 2i)
	if z.Value() != 1.5-2i || z.String() != "(1.5-2i)" || z.Conj().String() != "(1.5+2i)" ||
		nabla.ComplexConst(cmplx.Inf()).String() != "(+Inf+Infi)" {
		t.Errorf("%v, %v", z.Value(), z)
	}
	if !z.Equal(z) || z.Equal(z.Conj()) || z.IsNaN() || z.IsInf() {
		t.Error("wrong comparison")
	}
	nan := nabla.ComplexConst(cmplx.NaN())
	inf := nabla.Complex{Re: nabla.Const(math.NaN()), Im: nabla.Const(math.Inf(-1))}
	if !nan.IsNaN() || nan.IsInf() || nan.Equal(nan) || inf.IsNaN() || !inf.IsInf() {
		t.Error("wrong special values")
	}
}

// filter has complex parameters as fields, elements and behind a pointer.
type filter[T, C any] struct {
	Gain  T
	Pole  C
	Zeros []C
	Taps  [2]C
	Next  *C
	Name  string
}

// TestComplexStruct differentiates with respect to the parts of complex numbers in structs.
func TestComplexStruct(t *testing.T) {
	response := func(f *filter[nabla.Real, nabla.Complex]) nabla.Real {
		h := nabla.Complex{Re: f.Gain}.Div(f.Pole)
		for _, z := range f.Zeros {
			h = h.Mul(z.Sub(nabla.ComplexConst(1i)))
		}
		return h.Add(f.Taps[0].Mul(f.Taps[1])).Mul(f.Next.Conj()).Abs2()
	}
	plain := func(f *filter[float64, complex128]) float64 {
		h := complex(f.Gain, 0) / f.Pole
		for _, z := range f.Zeros {
			h *= z - 1i
		}
		h = (h + f.Taps[0]*f.Taps[1]) * cmplx.Conj(*f.Next)
		return real(h)*real(h) + imag(h)*imag(h)
	}
	next := 0.5 - 1.5i
	s := &filter[float64, complex128]{Gain: 2, Pole: 1 + 0.5i, Zeros: []complex128{0.25 + 2i, -1i}, Next: &next,
		Taps: [2]complex128{1.5i, 0.75}, Name: "band pass"}
	f, layout, err := nabla.Struct(response, s)
	if err != nil {
		t.Fatal(err)
	}
	if n := layout.Len(); n != 13 || layout.Name(1) != "Pole.Re" || layout.Name(6) != "Zeros[1].Im" {
		t.Errorf("%d numbers, %s, %s", n, layout.Name(1), layout.Name(6))
	}
	x := layout.Flatten(nil, s)
	g, err := nabla.Gradient(f, reversediff.Backend{Compile: true}, x)
	if err != nil {
		t.Fatal(err)
	}
	p, same, err := nabla.StructPlain(plain, s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := nabla.Gradient(p, finitediff.Backend{}, same.Flatten(nil, s))
	if err != nil || len(want) != len(g) {
		t.Fatal(err, len(want))
	}
	for i := range g {
		if math.Abs(g[i]-want[i]) > 1e-7*(1+math.Abs(want[i])) {
			t.Errorf("derivative with respect to %s is %v, want %v", layout.Name(i), g[i], want[i])
		}
	}
	// A gradient has the type of the struct: that of |z|² points away from 0.
	out := *s
	layout.Unflatten(&out, g)
	if out.Pole != complex(g[1], g[2]) || out.Taps[1] != complex(g[9], g[10]) || *out.Next != complex(g[11], g[12]) {
		t.Errorf("the gradient is %v", out)
	}
}
