package nabla_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
)

// TestRebindWorkers: an engine that clones the function for goroutines of its own
// reads the struct that was bound last in all of them; a clone of the prepared
// object goes on with its own.
func TestRebindWorkers(t *testing.T) {
	type context struct{ A nabla.Real }
	f := func(x []nabla.Real, c *context) nabla.Real {
		var s nabla.Real
		for _, v := range x {
			s = s.Add(v.Mul(c.A))
		}
		return s
	}
	x := []float64{1, 2, 3, 4, 5, 6}
	for _, b := range []nabla.Backend{forwarddiff.Backend{Chunk: 1, Workers: 3}, finitediff.Backend{Workers: 3}} {
		p, err := nabla.PrepareGradient(nabla.Bind(f, &context{nabla.Const(2)}), b, x)
		if err != nil {
			t.Fatal(err)
		}
		q := p.Clone()
		if err := p.Rebind(&context{nabla.Const(7)}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			p    *nabla.GradientPrep
			want float64
		}{{p, 7}, {q, 2}, {p.Clone(), 7}} {
			g, err := c.p.Gradient(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range g {
				if d := v - c.want; d < -1e-6 || d > 1e-6 {
					t.Errorf("%s: component %d is %v, want %v", b.Name(), i, v, c.want)
				}
			}
		}
	}
}
