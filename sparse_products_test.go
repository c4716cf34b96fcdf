package nabla_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestStreamedProducts: products that are decompressed some at a time give the same
// matrices, values and gradients as all together, at compared calls and others, and wrong
// patterns are found.
func TestStreamedProducts(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, len(x))
		for i := range x {
			y[i] = x[i].Mul(x[(i+1)%len(x)]).Mul(x[0])
		}
		if x[1].Less(nabla.Const(0)) {
			y[3] = y[3].Mul(x[9])
		}
		y[2] = nabla.Dot(x, x)
		return y
	}
	s := func(x []nabla.Real) nabla.Real { return nabla.Sum(f(x)...) }
	x := make([]float64, 40)
	for i := range x {
		x[i] = 1 + float64(i%7)
	}
	for _, b := range sparseExact {
		if b.Decompression == coloring.Substitution {
			continue
		}
		compute := func() (all []float64) {
			j, err := nabla.PrepareJacobian(f, b, x)
			if err != nil {
				t.Fatal(err)
			}
			h, err := nabla.PrepareHessian(s, b, x)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				y, a, err := j.ValueAndJacobian(nil, nil, x)
				if err != nil {
					t.Fatal(err)
				}
				v, g, b, err := h.ValueGradientAndHessian(nil, nil, x)
				if err != nil {
					t.Fatal(err)
				}
				all = append(append(append(append(append(all, y...), elements(a)...), v), g...), elements(b)...)
			}
			at := append([]float64(nil), x...)
			at[1] = -1
			for range 3 {
				var pe *nabla.PatternError
				if _, err := j.Jacobian(nil, at); !errors.As(err, &pe) {
					t.Errorf("%s: Jacobian: %v", b.Name(), err)
				}
				if _, err := h.Hessian(nil, at); !errors.As(err, &pe) {
					t.Errorf("%s: Hessian: %v", b.Name(), err)
				}
			}
			return all
		}
		want := compute()
		restore := nabla.StreamForTest(1)
		got := compute()
		restore()
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: number %d is %v streamed and %v otherwise", b.Name(), i, got[i], want[i])
				break
			}
		}
	}
}

// TestManyGroupsTakeLittleMemory: as many products as there are columns take the memory of a few.
func TestManyGroupsTakeLittleMemory(t *testing.T) {
	longtest.Serial(t)
	const n = 4000 // all seeds and products would take 256 MB
	f := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, len(x))
		for i := range x {
			y[i] = x[i].Sq()
		}
		return y
	}
	for _, e := range []nabla.Backend{forwarddiff.Backend{}, tracker.Backend{}} {
		b := nabla.AutoSparse{Dense: nabla.Policy{Backend: e, Memory: 64 << 20}, Coloring: coloring.None{}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := nabla.PrepareJacobian(f, b, make([]float64, n))
		runtime.ReadMemStats(&after)
		if err != nil || p.Plan().Products() != n {
			t.Fatal(p.Plan(), err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; e.Name() == "tracker" && took > 1<<30 ||
			e.Name() != "tracker" && took > 64<<20 {
			t.Errorf("%s: took %d MiB", b.Name(), took>>20)
		}
	}
}
