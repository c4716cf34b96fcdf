package nabla_test

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/problems"
)

// connected returns a function of n numbers whose n outputs depend on all of them.
func connected(n int) func(y, x []nabla.Real) {
	return func(y, x []nabla.Real) {
		for i := range y {
			var s nabla.Real
			for j, v := range x {
				s = s.Add(v.Scale(math.Sin(float64(i*n + j))))
			}
			y[i] = nabla.Tanh(s)
		}
	}
}

// sameDense compares a dense derivative by several workers with that by one, bit for bit, at three points.
func sameDense(t *testing.T, what string, one, several func(dst *mat.Dense, x []float64) error, x []float64) {
	t.Helper()
	for range 3 {
		a, b := new(mat.Dense), new(mat.Dense)
		if err := errors.Join(one(a, x), several(b, x)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !mat.Equal(a, b) {
			t.Errorf("%s: the workers disagree", what)
		}
		x[0]++
	}
}

// TestPolicyWorkers: dense Jacobians and Hessians have the same bits with any number of workers.
func TestPolicyWorkers(t *testing.T) {
	const n = 45
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.01 * float64(i%7)
	}
	compiled := reversediff.Backend{Compile: true}
	prepare := func(b nabla.Backend) func(dst *mat.Dense, x []float64) error {
		p, err := nabla.PrepareJacobian(nabla.InPlace(n, connected(n)), b, x)
		if err != nil {
			t.Fatal(err)
		}
		return func(dst *mat.Dense, x []float64) error {
			_, _, err := p.ValueAndDense(nil, dst, x)
			return err
		}
	}
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, forwarddiff.Hyper{}, reversediff.Backend{}, compiled,
		tracker.Backend{}, finitediff.Backend{}} {
		sameDense(t, b.Name(), prepare(b), prepare(nabla.Policy{Backend: b, Workers: 3}), x)
	}
	grid := problems.T4(16)
	code := func(b nabla.Backend) func(dst *mat.Dense, x []float64) error {
		p, err := nabla.PrepareJacobian(grid.Bound, b, grid.Select(0).X)
		if err != nil {
			t.Fatal(err)
		}
		return func(dst *mat.Dense, x []float64) error {
			_, _, err := p.ValueAndDense(nil, dst, x)
			return err
		}
	}
	for _, b := range []nabla.Backend{source.Forward{}, source.Reverse{}} {
		sameDense(t, b.Name(), code(b), code(nabla.Policy{Backend: b, Workers: 3}), grid.Select(0).X)
	}
	hessian := func(b nabla.Backend) func(dst *mat.Dense, x []float64) error {
		p, err := nabla.PrepareHessian(problems.RosenbrockPlain, b, make([]float64, 300))
		if err != nil {
			t.Fatal(err)
		}
		return func(dst *mat.Dense, x []float64) error {
			value, grad, h, err := p.ValueGradientAndDense(nil, nil, x)
			if err != nil {
				return err
			}
			rows := mat.NewDense(302, 300, nil)
			rows.Slice(0, 300, 0, 300).(*mat.Dense).Copy(h)
			rows.SetRow(300, grad)
			rows.Set(301, 0, value)
			dst.CloneFrom(rows)
			return nil
		}
	}
	for _, b := range []nabla.Backend{source.Reverse{}, forwarddiff.Hyper{}, compiled,
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{}}} {
		sameDense(t, b.Name(), hessian(b), hessian(nabla.Policy{Backend: b, Workers: 2}),
			problems.T3(300).Select(0).X)
	}
}

// TestPolicyWorkersFail: a panic in a worker is the error of the call, and the next call works.
func TestPolicyWorkersFail(t *testing.T) {
	const n = 60
	var calls, bad atomic.Int64
	bad.Store(math.MaxInt64)
	f := nabla.InPlace(n, func(y, x []nabla.Real) {
		if calls.Add(1) >= bad.Load() {
			panic("no more")
		}
		connected(n)(y, x)
	})
	x := make([]float64, n)
	p, err := nabla.PrepareJacobian(f, nabla.Policy{Backend: forwarddiff.Backend{Chunk: 4}, Workers: 2}, x)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := p.Dense(nil, x); err != nil {
			t.Fatal(err)
		}
		bad.Store(calls.Load() + 7)
		_, err := p.Dense(nil, x)
		if e := (*nabla.PanicError)(nil); !errors.As(err, &e) || e.Value != "no more" {
			t.Fatalf("got %v, want a PanicError", err)
		}
		bad.Store(math.MaxInt64)
	}
	_, err = nabla.PrepareJacobian(f, nabla.Policy{Backend: forwarddiff.Backend{}, Workers: -1}, x)
	if !errors.Is(err, nabla.ErrUnsupported) || !strings.Contains(err.Error(), "Policy.Workers is -1") {
		t.Errorf("Workers: -1: got %v", err)
	}
}
