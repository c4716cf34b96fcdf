package nabla_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
)

// TestDestinationAfterPanic: the destination of a call that panicked is not written to by the next call, whose
// destination has another layout.
func TestDestinationAfterPanic(t *testing.T) {
	bad := false
	cube := nabla.Rule{
		Name: "cube",
		Value: func(y, x []float64) {
			if bad {
				panic("not now")
			}
			y[0] = x[0] * x[0] * x[0]
		},
		VJP: func(xbar, x, y, ybar []float64) { xbar[0] = 3 * x[0] * x[0] * ybar[0] },
		JVP: func(ydot, x, y, xdot []float64) { ydot[0] = 3 * x[0] * x[0] * xdot[0] },
	}.Func()
	const n = 4
	f := nabla.InPlace(n, func(y, x []nabla.Real) {
		for i := range y {
			y[i] = cube(x[i])[0].Mul(x[0]).Add(x[(i+1)%n].Mul(x[(i+2)%n]).Mul(x[(i+3)%n]).Mul(x[i]))
		}
	})
	x := []float64{1.5, 2, 3, 4}
	p, err := nabla.PrepareJacobian(f, nabla.Policy{Backend: reversediff.Backend{Compile: true}, NoStaleCheck: true}, x)
	if err != nil {
		t.Fatal(err)
	}
	whole := mat.NewDense(n, n, nil)
	bad = true
	if _, err := p.Dense(whole, x); err == nil {
		t.Fatal("no error")
	} else if e := (*nabla.PanicError)(nil); !errors.As(err, &e) {
		t.Fatalf("got %v, want a PanicError", err)
	}
	bad = false
	whole.Zero()
	part := mat.NewDense(n, n+1, nil).Slice(0, n, 0, n).(*mat.Dense)
	if _, err := p.Dense(part, x); err != nil {
		t.Fatal(err)
	}
	if mat.Norm(whole, 1) != 0 {
		t.Errorf("the next call wrote to the destination of the one before:\n%v", mat.Formatted(whole))
	}
	want, err := nabla.Jacobian(f, reversediff.Backend{}, x)
	if err != nil || !mat.EqualApprox(part, want, 1e-12) {
		t.Errorf("got\n%v\nwant\n%v, %v", mat.Formatted(part), want, err)
	}
}
