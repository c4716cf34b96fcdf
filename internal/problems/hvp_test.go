package problems

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/source"
)

// TestHVPBuild compares Hessian-vector products that do not compute value and gradient with those of dual numbers over
// the traced form, which is independent code.
func TestHVPBuild(t *testing.T) {
	sameProducts(t, "T1", SumSquaresPlain, T1(50))
	sameProducts(t, "T2", DiffSquaresPlain, T2(50))
	sameProducts(t, "T3", RosenbrockPlain, T3(50))
	sameProducts(t, "T7", T7().Bound, T7())
}

func sameProducts[F nabla.ScalarFunc](t *testing.T, name string, f F, p *Problem) {
	t.Helper()
	x := p.Cases[0].X
	v := make([]float64, len(x))
	for i := range v {
		v[i] = float64(i%7) - 3
	}
	of := func(b nabla.Backend) []float64 {
		p, err := nabla.PrepareHVP(f, b, x)
		if err != nil {
			t.Fatal(name, err)
		}
		hv, err := p.HVP(nil, x, v)
		if err != nil {
			t.Fatal(name, err)
		}
		return hv
	}
	got := of(nabla.Policy{Backend: source.Reverse{}, NoStaleCheck: true})
	want := of(nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: forwarddiff.Backend{}})
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
			t.Errorf("%s: component %d is %v, want %v", name, i, got[i], want[i])
		}
	}
}
