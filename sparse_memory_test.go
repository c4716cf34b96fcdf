package nabla_test

import (
	"errors"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
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

// TestManyColors: as many products as there are columns take the memory of a few.
func TestManyColors(t *testing.T) {
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

// TestTooLargeMatrices: a dense matrix beyond the limit is a LimitError that says how large
// it is and how to go on, of every engine, and one within the limit is none.
func TestTooLargeMatrices(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 33_000
	x := make([]float64, n)
	squares := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, len(x))
		for i := range x {
			y[i] = x[i].Sq()
		}
		return y
	}
	sum := func(x []nabla.Real) nabla.Real { return nabla.Dot(x, x) }
	rev := reversediff.Backend{Compile: true}
	for _, e := range []nabla.Backend{
		finitediff.Backend{}, forwarddiff.Backend{}, reversediff.Backend{}, rev, tracker.Backend{},
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: rev},
		nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: tracker.Backend{}},
		nabla.AutoSparse{Dense: forwarddiff.Backend{}},
	} {
		check := func(what string, err error) {
			var le *nabla.LimitError
			if !errors.As(err, &le) || int64(le.Bytes) != min(int64(8)*n*n, math.MaxInt) ||
				!strings.Contains(err.Error(), strconv.Itoa(le.Bytes>>20)+" MiB") ||
				!strings.Contains(err.Error(), "33000×33000") {
				t.Errorf("%s by %s: %v", what, e.Name(), err)
			}
		}
		j, err := nabla.PrepareJacobian(squares, e, x)
		if err != nil {
			t.Fatal(err)
		}
		_, err = j.Dense(nil, x)
		check("Jacobian", err)
		_, err = j.Dense(new(mat.Dense), x)
		check("Jacobian", err)
		if e.Name() == "sparse(forwarddiff)" { // forward over forward takes minutes
			continue
		}
		h, err := nabla.PrepareHessian(sum, e, x)
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.Dense(nil, x)
		check("Hessian", err)
		w, err := nabla.PrepareWeightedHessian(squares, e, x)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Hessian(nil, x, x)
		check("weighted Hessian", err)
	}
	small := x[:100]
	for _, c := range []struct {
		memory int64
		ok     bool
	}{{8 * 100 * 100, true}, {8*100*100 - 1, false}, {0, true}} {
		_, err := nabla.Jacobian(squares, nabla.Policy{Backend: forwarddiff.Backend{}, Memory: c.memory}, small)
		if (err == nil) != c.ok {
			t.Errorf("limit %d: %v", c.memory, err)
		}
	}
	if _, err := nabla.Jacobian(squares, nabla.Policy{Backend: rev, Memory: -1},
		small); !errors.Is(err, nabla.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := nabla.Jacobian(squares, nabla.Policy{Backend: rev, Memory: math.MaxInt64}, small); err != nil {
		t.Error(err)
	}
}

// TestPlansHaveLimits: memory that grows with the entries of a pattern, or with the operations of a
// recording, stays within Policy.Memory or is a LimitError of the preparation.
func TestPlansHaveLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 700
	x := make([]float64, n)
	dense := func(x []nabla.Real) nabla.Real { return nabla.Dot(x, x).Sq() }
	jacobian := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, len(x))
		s := nabla.Dot(x, x)
		for i := range y {
			y[i] = s.Mul(x[i])
		}
		return y
	}
	long := func(x []nabla.Real) nabla.Real {
		y := x[0]
		for i := range 100_000 {
			y = nabla.Sin(y).Mul(x[i%len(x)])
		}
		return y
	}
	so := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}
	limited := func(b nabla.Backend, bytes int64) nabla.Backend { return nabla.Policy{Backend: b, Memory: bytes} }
	for _, c := range []struct {
		name    string
		prepare func(memory int64) error
		memory  int64
	}{
		{"Hessian", func(m int64) error {
			_, err := nabla.PrepareHessian(dense, nabla.AutoSparse{Dense: limited(so, m)}, x)
			return err
		}, 16 << 20},
		{"Jacobian", func(m int64) error {
			_, err := nabla.PrepareJacobian(jacobian, nabla.AutoSparse{Dense: limited(forwarddiff.Backend{}, m)}, x)
			return err
		}, 16 << 20},
		{"no detector", func(m int64) error {
			_, err := nabla.PrepareJacobian(jacobian,
				nabla.AutoSparse{Dense: limited(forwarddiff.Backend{}, m), Detector: sparsity.None{}}, x)
			return err
		}, 16 << 20},
		{"gradient", func(m int64) error {
			_, err := nabla.PrepareGradient(long, limited(reversediff.Backend{Compile: true}, m), x)
			return err
		}, 4 << 20},
		{"HVP", func(m int64) error { _, err := nabla.PrepareHVP(long, limited(so, m), x); return err }, 4 << 20},
	} {
		var le *nabla.LimitError
		if err := c.prepare(c.memory); !errors.As(err, &le) || int64(le.Bytes) <= c.memory || le.Memory != c.memory {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := c.prepare(1 << 32); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLimitWords: the memory that a LimitError of a recording names is about that which
// preparing takes at the limit.
func TestLimitWords(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const ops = 60_000
	f := func(x []nabla.Real) nabla.Real {
		y := x[0]
		for i := range ops / 2 {
			y = nabla.Sin(y).Mul(x[i%len(x)])
		}
		return y
	}
	x := []float64{1, 2, 3, 4}
	for _, c := range []struct {
		name    string
		prepare func(limit int) error
	}{
		{"gradient", func(limit int) error {
			_, err := nabla.PrepareGradient(f, reversediff.Backend{Compile: true, Limit: limit}, x)
			return err
		}},
		{"HVP", func(limit int) error {
			_, err := nabla.PrepareHVP(f, reversediff.Backend{Compile: true, Limit: limit}, x)
			return err
		}},
	} {
		var le *nabla.LimitError
		if err := c.prepare(ops - 10); !errors.As(err, &le) || !le.Derived {
			t.Fatalf("%s: %v", c.name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := c.prepare(ops + 10); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		// At most half of the allocated memory is in use at the same time.
		if took := int(after.TotalAlloc-before.TotalAlloc) / 2; took > 5*le.Bytes || 5*took < le.Bytes {
			t.Errorf("%s: %d MiB in words, about %d MiB in fact", c.name, le.Bytes>>20, took>>20)
		}
	}
}
