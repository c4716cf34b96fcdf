package elementary_test

import (
	"go/types"
	"math"
	"math/cmplx"
	"testing"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
)

// holomorphic returns the derivative of a function of complex numbers with respect to argument i as a function in the
// representation: the tangent for the tangent 1 of the argument, and the cotangent for the seed 1.
func holomorphic(t *testing.T, name string, i int) func(args ...complex128) (tangent, cotangent complex128) {
	t.Helper()
	number := types.Typ[types.Complex128]
	f := &ir.Func{Name: "partial", Exit: &ir.Label{Name: "exit"}}
	params, _, ok := ir.Elementary(name)
	if !ok {
		t.Fatalf("no function %s", name)
	}
	r := &elementary.Rule{Type: number, Name: func(e ir.Expr) ir.Expr {
		named := &ir.Var{Name: "t" + string(rune('a'+len(f.Body))), Type: e.Type()}
		f.Body = append(f.Body, &ir.Let{V: named, E: e})
		return named.Load()
	}}
	for k := range params {
		v := &ir.Var{Name: "z" + string(rune('0'+k)), Type: number, Kind: ir.Param}
		f.Params, r.Args = append(f.Params, v), append(r.Args, v.Load())
	}
	r.Value = r.Name(&ir.Math{Typed: ir.Typed{T: number}, Name: name, Args: r.Args})
	p := r.HolomorphicPartial(name, i)
	for k, e := range []ir.Expr{p.ScaleTangent(ir.FloatConst(number, 1)), p.ScaleCotangent(ir.FloatConst(number, 1))} {
		v := &ir.Var{Name: "r" + string(rune('0'+k)), Type: number, Kind: ir.Result}
		f.Results = append(f.Results, v)
		f.Body = append(f.Body, &ir.Set{P: v.Place(), E: ir.NegateIf(e, p.Minus)})
	}
	if err := ir.Check(f); err != nil {
		t.Fatalf("%s: %v\n%v", name, err, f)
	}
	return func(args ...complex128) (tangent, cotangent complex128) {
		var list []any
		for _, z := range args {
			list = append(list, z)
		}
		out, err := new(ir.Machine).Eval(f, ir.ValuesOf(list...))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return ir.As[complex128](out[0]), ir.As[complex128](out[1])
	}
}

// derivatives are the functions of package math/cmplx with their derivatives in other forms than those of package
// elementary: in terms of exponentials, logarithms or each other.
var derivatives = map[string]struct{ f, d func(z complex128) complex128 }{
	"cmplx.Exp":   {cmplx.Exp, cmplx.Exp},
	"cmplx.Log":   {cmplx.Log, func(z complex128) complex128 { return cmplx.Exp(-cmplx.Log(z)) }},
	"cmplx.Log10": {cmplx.Log10, func(z complex128) complex128 { return 1 / z / complex(math.Ln10, 0) }},
	"cmplx.Sqrt":  {cmplx.Sqrt, func(z complex128) complex128 { return cmplx.Exp(-cmplx.Log(z)/2) / 2 }},
	"cmplx.Sin":   {cmplx.Sin, func(z complex128) complex128 { return (cmplx.Exp(1i*z) + cmplx.Exp(-1i*z)) / 2 }},
	"cmplx.Cos":   {cmplx.Cos, func(z complex128) complex128 { return (cmplx.Exp(-1i*z) - cmplx.Exp(1i*z)) / 2i }},
	"cmplx.Tan":   {cmplx.Tan, func(z complex128) complex128 { return 1 + cmplx.Tan(z)*cmplx.Tan(z) }},
	"cmplx.Cot":   {cmplx.Cot, func(z complex128) complex128 { return -1 - cmplx.Cot(z)*cmplx.Cot(z) }},
	"cmplx.Sinh":  {cmplx.Sinh, func(z complex128) complex128 { return (cmplx.Exp(z) + cmplx.Exp(-z)) / 2 }},
	"cmplx.Cosh":  {cmplx.Cosh, func(z complex128) complex128 { return (cmplx.Exp(z) - cmplx.Exp(-z)) / 2 }},
	"cmplx.Tanh":  {cmplx.Tanh, func(z complex128) complex128 { return 1 - cmplx.Tanh(z)*cmplx.Tanh(z) }},
	"cmplx.Asin":  {cmplx.Asin, func(z complex128) complex128 { return 1 / cmplx.Cos(cmplx.Asin(z)) }},
	"cmplx.Acos":  {cmplx.Acos, func(z complex128) complex128 { return -1 / cmplx.Sin(cmplx.Acos(z)) }},
	"cmplx.Atan":  {cmplx.Atan, func(z complex128) complex128 { return 1 / (1 + z*z) }},
	"cmplx.Asinh": {cmplx.Asinh, func(z complex128) complex128 { return 1 / cmplx.Cosh(cmplx.Asinh(z)) }},
	"cmplx.Acosh": {cmplx.Acosh, func(z complex128) complex128 { return 1 / cmplx.Sinh(cmplx.Acosh(z)) }},
	"cmplx.Atanh": {cmplx.Atanh, func(z complex128) complex128 { return 1 / (1 - z*z) }},
}

// TestHolomorphic compares the derivatives of functions of one complex number with other formulas, in all quadrants,
// and with differences in the directions of both axes.
func TestHolomorphic(t *testing.T) {
	for name, want := range derivatives {
		if !elementary.IsHolomorphic(name) {
			t.Errorf("%s has no derivative", name)
			continue
		}
		d := holomorphic(t, name, 0)
		for _, z := range []complex128{0.7 + 0.4i, -0.6 + 1.3i, -1.7 - 0.2i, 2.5 - 0.8i, 0.1 - 0.3i, 3 + 2i} {
			got, bar := d(z)
			if e := cmplx.Abs(got - want.d(z)); e > 2e-14*cmplx.Abs(got) {
				t.Errorf("the derivative of %s at %v is %v, want %v", name, z, got, want.d(z))
			}
			if cmplx.Abs(bar-cmplx.Conj(got)) > 1e-15*cmplx.Abs(got) {
				t.Errorf("the cotangent of %s at %v is %v, want the conjugate of %v", name, z, bar, got)
			}
			for _, h := range []complex128{1e-5, 1e-5i} {
				if q := (want.f(z+h) - want.f(z-h)) / (2 * h); cmplx.Abs(got-q) > 1e-8*cmplx.Abs(got)+1e-9 {
					t.Errorf("the derivative of %s at %v is %v, and %v by differences", name, z, got, q)
				}
			}
		}
	}
}

// TestHolomorphicPow does the same with the power.
func TestHolomorphicPow(t *testing.T) {
	base, exponent := holomorphic(t, "cmplx.Pow", 0), holomorphic(t, "cmplx.Pow", 1)
	for _, z := range []complex128{0.7 + 0.4i, -0.6 + 1.3i, -1.7 - 0.2i} {
		for _, y := range []complex128{2, -1.5 + 0.5i, 0.25i} {
			p := cmplx.Exp(y * cmplx.Log(z))
			if got, bar := base(z, y); cmplx.Abs(got-y*p/z) > 1e-14*cmplx.Abs(got) ||
				cmplx.Abs(bar-cmplx.Conj(got)) > 1e-15*cmplx.Abs(got) {
				t.Errorf("the derivative of %v to the power of %v is %v, want %v", z, y, got, y*p/z)
			}
			if got, _ := exponent(z, y); cmplx.Abs(got-p*cmplx.Log(z)) > 1e-14*cmplx.Abs(got) {
				t.Errorf("the derivative with respect to the exponent is %v, want %v", got, p*cmplx.Log(z))
			}
		}
	}
	for _, tt := range []struct{ y, want complex128 }{{1, 1}, {2, 0}, {3, 0}} {
		if got, _ := base(0, tt.y); got != tt.want {
			t.Errorf("the derivative of z to the power of %v at 0 is %v, want %v", tt.y, got, tt.want)
		}
	}
}

// TestHolomorphicAccurate looks at points next to singular ones, far from the axes and on branch cuts. The values
// follow from the distance to the singular point, which is exact.
func TestHolomorphicAccurate(t *testing.T) {
	near := 0x1p-30 + 0x1p-32i
	zero := math.Copysign(0, -1)
	for _, tt := range []struct {
		name    string
		z, want complex128
	}{
		{"cmplx.Asin", 1 + near, 1 / cmplx.Sqrt(-near*(2+near))},
		{"cmplx.Acos", 1 + near, -1 / cmplx.Sqrt(-near*(2+near))},
		{"cmplx.Acosh", 1 + near, 1 / cmplx.Sqrt(near*(2+near))},
		{"cmplx.Atanh", 1 + near, -1 / (near * (2 + near))},
		{"cmplx.Atan", 1i + near, 1 / (near * (2i + near))},
		{"cmplx.Atan", 1e200, 0},
		{"cmplx.Asinh", 1i + near, 1 / cmplx.Sqrt(near*(2i+near))},
		{"cmplx.Tan", 2 + 30i, 4 * cmplx.Exp(2i*(2+30i))},
		{"cmplx.Tanh", 30 + 2i, 4 * cmplx.Exp(-2*(30+2i))},
		{"cmplx.Cot", 2 + 30i, 4 * cmplx.Exp(2i*(2+30i))},
		{"cmplx.Tan", 2 + 1000i, 0},
		{"cmplx.Tanh", -1000 + 1i, 0},
		{"cmplx.Asin", 2, complex(0, 1/math.Sqrt(3))},
		{"cmplx.Asin", complex(2, zero), complex(0, -1/math.Sqrt(3))},
		{"cmplx.Asin", complex(-2, 0), complex(0, -1/math.Sqrt(3))},
		{"cmplx.Asinh", complex(0, 2), complex(1/math.Sqrt(3), 0) * -1i},
		{"cmplx.Sqrt", complex(-4, zero), 0.25i},
		{"cmplx.Sqrt", complex(-4, 0), -0.25i},
	} {
		if got, _ := holomorphic(t, tt.name, 0)(tt.z); !(cmplx.Abs(got-tt.want) <= 1e-14*cmplx.Abs(tt.want)+1e-300) {
			t.Errorf("the derivative of %s at %v is %v, want %v", tt.name, tt.z, got, tt.want)
		}
	}
}
