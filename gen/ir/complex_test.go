package ir_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// TestComplex reads complex constants and operations, writes them again, and evaluates them.
func TestComplex(t *testing.T) {
	const text = `func f(z complex128, w complex64, x float64) (r complex128, s complex64, y float64, ok bool) exit {
	let c complex128 = (1.5-2e-05i)
	c += -((0+2i)) * z
	r = c / (-3+0.25i) + complex128(w) - complex(x, float64(2)) * 4
	s = w * (0-1i)
	y = real(z) * imag(z)
	ok = z == r || cmplx.IsNaN(c)
	r = cmplx.Conj(cmplx.Pow(r, 2)) + complex(y, x)
}
`
	funcs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := funcs[0].String(); got != text {
		t.Errorf("written as\n%s", got)
	}
	if err := ir.Check(funcs[0]); err != nil {
		t.Fatal(err)
	}
	z, w, x := 0.5+2i, complex64(1-3i), 0.75
	out, err := new(ir.Machine).Eval(funcs[0], ir.ValuesOf(z, w, x))
	if err != nil {
		t.Fatal(err)
	}
	c := 1.5 - 2e-05i + -2i*z
	r := c/(-3+0.25i) + complex128(w) - complex(x, 2)*4
	r *= r
	r = complex(real(r), -imag(r)) + complex(real(z)*imag(z), x)
	got := ir.As[complex128](out[0])
	if d := got - r; real(d)*real(d)+imag(d)*imag(d) > 1e-24 || ir.As[complex64](out[1]) != w*-1i ||
		ir.As[float64](out[2]) != 1 || ir.As[bool](out[3]) {
		t.Errorf("got %v, %v, %v, %v; want %v", got, ir.As[complex64](out[1]), ir.As[float64](out[2]),
			ir.As[bool](out[3]), r)
	}
}
