package reversediff_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/longtest"
	"gonum.org/v1/gonum/mat"
)

// TestTallJacobian holds that the Jacobian of a long function of few inputs takes
// about as many runs as it has inputs: with one for every few outputs this test
// would take minutes.
func TestTallJacobian(t *testing.T) {
	const m = 1 << 17
	f := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, m)
		for i := range y {
			y[i] = nabla.Sin(x[i%3].Mul(x[1]).AddConst(float64(i)))
		}
		return y
	}
	x := []float64{1, 2, 3}
	b := reversediff.Backend{Compile: true}
	p, err := nabla.PrepareJacobian(f, b, x)
	if err != nil {
		t.Fatal(err)
	}
	for range longtest.Cases(0, 2, 2, 3) { // at the second point the recording is replayed
		x[2]++
		got, err := p.Dense(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := nabla.Jacobian(f, forwarddiff.Backend{}, x)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(got, want, 1e-14) {
			t.Error("the Jacobian differs from that of forward mode")
		}
	}
	if p.Recordings() != 1 {
		t.Errorf("%d recordings, want 1", p.Recordings())
	}
}
