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
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestDenseMatrixBeyondMemoryLimit: a dense matrix beyond the limit is a LimitError that says how large
// it is and how to go on, of every engine, and one within the limit is none.
func TestDenseMatrixBeyondMemoryLimit(t *testing.T) {
	longtest.Skip(t, "a function of 33 000 outputs")
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
	for _, e := range longtest.Sample([]nabla.Backend{
		finitediff.Backend{}, forwarddiff.Backend{}, reversediff.Backend{}, rev, tracker.Backend{},
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: rev},
		nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: tracker.Backend{}},
		nabla.AutoSparse{Dense: forwarddiff.Backend{}},
	}, 3) {
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

// TestPreparationWithinMemoryLimit: memory that grows with the entries of a pattern, or with the operations of a
// recording, stays within Policy.Memory or is a LimitError of the preparation.
func TestPreparationWithinMemoryLimit(t *testing.T) {
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
		for i := range 25_000 {
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
		}, 1 << 20},
		{"HVP", func(m int64) error { _, err := nabla.PrepareHVP(long, limited(so, m), x); return err }, 1 << 20},
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

// TestLimitErrorNamesMemory: the memory that a LimitError of a recording names is about that which
// preparing takes at the limit.
func TestLimitErrorNamesMemory(t *testing.T) {
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

func TestRecordLimit(t *testing.T) {
	long := func(x []nabla.Real) nabla.Real {
		y := x[0]
		for y.Less(nabla.Const(1e6)) {
			y = y.AddConst(1)
		}
		return y
	}
	for _, b := range []nabla.Backend{
		reversediff.Backend{Limit: 10000}, reversediff.Backend{Compile: true, Limit: 10000},
		tracker.Backend{Limit: 10000}, forwarddiff.Backend{Limit: 10000},
	} {
		p, err := nabla.PrepareGradient(long, b, []float64{2e6})
		if err != nil {
			t.Fatal(err)
		}
		var le *nabla.LimitError
		if _, err := p.Gradient(nil, []float64{0}); !errors.As(err, &le) || le.Limit != 10000 ||
			!strings.Contains(err.Error(), "10000 operations") {
			if b != (forwarddiff.Backend{Limit: 10000}) { // adding a constant takes no memory there
				t.Errorf("%s: %v", b.Name(), err)
			}
		}
		if g, err := p.Gradient(nil, []float64{2e6}); err != nil || g[0] != 1 {
			t.Errorf("%s after: %v, %v", b.Name(), g, err)
		}
	}
}

// TestNegativeRecordLimit: a limit below zero is refused by every engine that has one.
func TestNegativeRecordLimit(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return x[0] }
	for _, b := range []nabla.Backend{
		reversediff.Backend{Limit: -1}, reversediff.Backend{Compile: true, Limit: -1}, tracker.Backend{Limit: -1},
		forwarddiff.Backend{Limit: -1},
	} {
		for _, b := range []nabla.Backend{b, nabla.SecondOrder{Outer: b, Inner: forwarddiff.Backend{}},
			nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: b}} {
			if _, err := nabla.HVP(f, b, []float64{1}, []float64{1}); !errors.Is(err, nabla.ErrUnsupported) ||
				!strings.Contains(err.Error(), "Limit of -1") {
				t.Errorf("%s: %v", b.Name(), err)
			}
		}
	}
}

// TestRecordLimitOfInnerEngine checks that the limit of the inner engine bounds the recordings of
// second-order operators, from above and below.
func TestRecordLimitOfInnerEngine(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		s := x[0]
		for range 1000 {
			s = nabla.Sin(s)
		}
		return s
	}
	for _, outer := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{}, tracker.Backend{}} {
		for _, in := range []struct{ small, large nabla.Backend }{
			{reversediff.Backend{Limit: 100}, reversediff.Backend{Limit: 5000}},
			{reversediff.Backend{Compile: true, Limit: 100}, reversediff.Backend{Compile: true, Limit: 5000}},
			{tracker.Backend{Limit: 100}, tracker.Backend{Limit: 5000}},
			{forwarddiff.Backend{Limit: 100}, forwarddiff.Backend{Limit: 5000}},
		} {
			var limit *nabla.LimitError
			b := nabla.SecondOrder{Outer: outer, Inner: in.small}
			if _, err := nabla.HVP(f, b, []float64{1}, []float64{1}); !errors.As(err, &limit) || limit.Limit != 100 {
				t.Errorf("%s: %v, want a limit of 100", b.Name(), err)
			}
			b.Inner = in.large
			if _, err := nabla.HVP(f, b, []float64{1}, []float64{1}); err != nil {
				t.Errorf("%s: %v", b.Name(), err)
			}
		}
	}
}
