package nabla_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
	"github.com/nabla-ad/nabla/sparse"
)

// wave is Σ sin(x[i])·x[i+1], and branches at points that differ.
func wave(x []nabla.Real) nabla.Real {
	s := nabla.Const(0)
	for i := range len(x) - 1 {
		s = s.Add(nabla.Sin(x[i]).Mul(x[i+1]))
	}
	if x[0].Less(nabla.Const(0)) {
		return s.Neg()
	}
	return s
}

// waveGradient returns the value and the gradient of wave.
func waveGradient(x []float64) (y float64, g []float64) {
	g = make([]float64, len(x))
	for i := range len(x) - 1 {
		sin, cos := math.Sincos(x[i])
		y += sin * x[i+1]
		g[i] += cos * x[i+1]
		g[i+1] += sin
	}
	if x[0] < 0 {
		y = -y
		for i := range g {
			g[i] = -g[i]
		}
	}
	return y, g
}

// bent is x ↦ (x[0]·x[1], x[1]·x[2], …).
func bent(x []nabla.Real) []nabla.Real {
	y := make([]nabla.Real, len(x)-1)
	for i := range y {
		y[i] = x[i].Mul(x[i+1])
	}
	return y
}

// points returns k points of n numbers, with k numbers that are not used between them.
func points(k, n int) *mat.Dense {
	X := mat.NewDense(k, n+1, nil).Slice(0, k, 0, n).(*mat.Dense)
	X.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(3*i+7*j)) + 0.1 }, X)
	return X
}

func manyBackends() []nabla.Backend {
	list := []nabla.Backend{nil, finitediff.Backend{}, finitediff.Adaptive{}, forwarddiff.Backend{Workers: 2, Chunk: 1},
		nabla.AutoSparse{Dense: compiled}, nabla.Policy{Backend: compiled, FixedCaptures: true}}
	return append(list, engines.Branching()...)
}

func nameOf(b nabla.Backend) string {
	if b == nil {
		return "nil"
	}
	return b.Name()
}

// TestGradientMany compares gradients at many points, on several numbers of workers, with closed forms.
func TestGradientMany(t *testing.T) {
	X := points(37, 5)
	for _, b := range manyBackends() {
		for _, workers := range []int{0, 1, 2, 5} {
			p, err := nabla.PrepareGradientMany(wave, b, X.RawRowView(0), workers)
			if err != nil {
				t.Fatal(nameOf(b), err)
			}
			if want := workers; want > 0 && p.Workers() != want {
				t.Errorf("%d workers, want %d", p.Workers(), want)
			}
			for range 2 {
				y, g, err := p.ValueAndGradientMany(context.Background(), nil, nil, X)
				if err != nil {
					t.Fatal(nameOf(b), err)
				}
				alone, err := p.Clone().GradientMany(context.Background(), new(mat.Dense), X)
				if err != nil || !mat.EqualApprox(alone, g, 1e-12) {
					t.Errorf("%s: without values %v, %v", nameOf(b), alone, err)
				}
				for i := range 37 {
					value, gradient := waveGradient(X.RawRowView(i))
					if math.Abs(y[i]-value) > 1e-12 {
						t.Errorf("%s, point %d: value %v, want %v", nameOf(b), i, y[i], value)
					}
					within(t, "many", orAuto(b), g.RawRowView(i), gradient, 1e-7)
				}
			}
		}
		g, err := nabla.GradientMany(wave, b, X)
		if err != nil {
			t.Fatal(nameOf(b), err)
		}
		_, want := waveGradient(X.RawRowView(36))
		within(t, "unprepared", orAuto(b), g.RawRowView(36), want, 1e-7)
	}
}

func orAuto(b nabla.Backend) nabla.Backend {
	if b == nil {
		return nabla.Auto{}
	}
	return b
}

// TestJacobianMany compares Jacobians at many points with closed forms, dense ones and sparse ones.
func TestJacobianMany(t *testing.T) {
	const k, n = 23, 6
	X := points(k, n)
	for _, b := range manyBackends() {
		for _, workers := range []int{1, 3} {
			p, err := nabla.PrepareJacobianMany(bent, b, X.RawRowView(0), workers)
			if err != nil {
				t.Fatal(nameOf(b), err)
			}
			var y *mat.Dense
			var js []mat.Matrix
			for range 2 { // the second call writes to the results of the first
				if y, js, err = p.ValueAndJacobianMany(context.Background(), y, js, X); err != nil {
					t.Fatal(nameOf(b), err)
				}
				for i := range k {
					x, want := X.RawRowView(i), mat.NewDense(n-1, n, nil)
					for r := range n - 1 {
						want.Set(r, r, x[r+1])
						want.Set(r, r+1, x[r])
						if math.Abs(y.At(i, r)-x[r]*x[r+1]) > 1e-12 {
							t.Errorf("%s, point %d: value %v", nameOf(b), i, y.RawRowView(i))
						}
					}
					if !mat.EqualApprox(js[i], want, 1e-7) {
						t.Errorf("%s, point %d: %v, want %v", nameOf(b), i, mat.Formatted(js[i]), mat.Formatted(want))
					}
				}
			}
			if _, is := b.(nabla.AutoSparse); is {
				if _, is = js[0].(*sparse.CSC); !is || p.Plan() == nil {
					t.Errorf("a %T with an AutoSparse, plan %v", js[0], p.Plan())
				}
			}
		}
		js, err := nabla.JacobianMany(bent, b, X)
		if err != nil || len(js) != k || math.Abs(js[k-1].At(0, 0)-X.At(k-1, 1)) > 1e-7 {
			t.Errorf("%s: unprepared: %v", nameOf(b), err)
		}
	}
}

// fragile fails at points whose first number is 7 or more.
func fragile(x []nabla.Real) (nabla.Real, error) {
	if x[0].GreaterEq(nabla.Const(7)) {
		return nabla.Real{}, errors.New("too large")
	}
	return nabla.Dot(x, x), nil
}

// TestPointError: of several points that fail the first is named, with any number of workers, and the object works
// afterwards.
func TestPointError(t *testing.T) {
	const k = 400
	X := mat.NewDense(k, 2, nil)
	for i := range k {
		if i >= 123 {
			X.Set(i, 0, 7+float64(i%3))
		}
	}
	for _, b := range engines.Branching() {
		for _, workers := range []int{1, 2, 7} {
			p, err := nabla.PrepareGradientMany(fragile, b, []float64{1, 2}, workers)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				g, err := p.GradientMany(context.Background(), nil, X)
				var point *nabla.PointError
				var returned *nabla.ReturnedError
				if !errors.As(err, &point) || point.Point != 123 || !errors.As(err, &returned) || g != nil {
					t.Fatalf("%s on %d workers: %v, want point 123", b.Name(), workers, err)
				}
				if !strings.Contains(err.Error(), "GradientMany: point 123: ") {
					t.Errorf("message %q", err)
				}
			}
			if g, err := p.GradientMany(context.Background(), nil, X.Slice(0, 100, 0, 2).(*mat.Dense)); err != nil {
				t.Errorf("after an error: %v, %v", g, err)
			}
		}
	}
	bad := func(x []nabla.Real) []nabla.Real {
		if x[0].Greater(nabla.Const(0)) {
			panic("positive")
		}
		return x
	}
	_, err := nabla.JacobianMany(bad, forwarddiff.Backend{}, mat.NewDense(3, 1, []float64{-1, -1, 1}))
	var point *nabla.PointError
	var panicked *nabla.PanicError
	if !errors.As(err, &point) || point.Point != 2 || !errors.As(err, &panicked) {
		t.Errorf("a panic at point 2: %v", err)
	}
	exits := func(x []nabla.Real) nabla.Real {
		if x[0].Greater(nabla.Const(0)) {
			runtime.Goexit()
		}
		return x[0]
	}
	p, err := nabla.PrepareGradientMany(exits, forwarddiff.Backend{}, []float64{-1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { // the first worker is the goroutine of the caller, and may end
		err := errors.New("the caller's goroutine ended")
		defer func() { done <- err }()
		_, err2 := p.GradientMany(context.Background(), nil, mat.NewDense(2, 1, []float64{1, 1}))
		err = err2
	}()
	if err := <-done; err == nil {
		t.Error("no error although workers ended")
	}
}

// TestManyCancellation: the context ends a call, with progress and without, and the next call is complete.
func TestManyCancellation(t *testing.T) {
	X := points(300, 3)
	for _, workers := range []int{1, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		var calls atomic.Int64
		last := 0
		b := nabla.Preparation{Backend: forwarddiff.Backend{}, Progress: func(s nabla.Progress) {
			if s.Stage != "points" {
				return
			}
			if s.Op != "GradientMany" || s.Total != 300 || s.Done < last {
				t.Errorf("progress %+v after %d", s, last)
			}
			last = s.Done
		}}
		f := func(x []nabla.Real) nabla.Real {
			if calls.Add(1) == 100 {
				cancel()
			}
			return nabla.Dot(x, x)
		}
		p, err := nabla.PrepareGradientMany(f, b, X.RawRowView(0), workers)
		if err != nil {
			t.Fatal(err)
		}
		var cancelled *nabla.CanceledError
		g, err := p.GradientMany(ctx, nil, X)
		if !errors.As(err, &cancelled) || !errors.Is(err, context.Canceled) || g != nil {
			t.Errorf("%d workers: %v", workers, err)
		}
		if n := calls.Load(); n > 150 {
			t.Errorf("%d workers: %d calls of the function", workers, n)
		}
		last = 0
		if _, err := p.GradientMany(context.Background(), nil, X); err != nil || last != 300 {
			t.Errorf("%d workers: %d points reported, %v", workers, last, err)
		}
		b.Context = ctx
		if _, err := nabla.GradientMany(f, b, X); !errors.As(err, &cancelled) {
			t.Errorf("unprepared: %v", err)
		}
		p, err = nabla.PrepareGradientMany(f, nabla.Preparation{Progress: func(s nabla.Progress) {
			if s.Stage == "points" && s.Done > 0 {
				panic("in the callback")
			}
		}}, X.RawRowView(0), workers)
		if err != nil {
			t.Fatal(err)
		}
		var panicked *nabla.PanicError
		if _, err := p.GradientMany(context.Background(), nil, X); !errors.As(err, &panicked) {
			t.Errorf("a panic of the callback: %v", err)
		}
	}
}

// TestManyArguments: lengths, shared memory and several goroutines are errors, and no points are no error.
func TestManyArguments(t *testing.T) {
	ctx := context.Background()
	X := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	g, err := nabla.PrepareGradientMany(wave, compiled, []float64{1, 2}, 2)
	if err != nil {
		t.Fatal(err)
	}
	j, err := nabla.PrepareJacobianMany(bent, compiled, []float64{1, 2}, 2)
	if err != nil {
		t.Fatal(err)
	}
	one := mat.NewDense(1, 2, nil)
	shape, alias := new(*nabla.ShapeError), new(*nabla.AliasError)
	gradient := func(y []float64, dst, X *mat.Dense) error {
		_, _, err := g.ValueAndGradientMany(ctx, y, dst, X)
		return err
	}
	jacobian := func(y *mat.Dense, dst []mat.Matrix, X *mat.Dense) error {
		_, _, err := j.ValueAndJacobianMany(ctx, y, dst, X)
		return err
	}
	for _, c := range []struct {
		name string
		err  error
		as   any
	}{
		{"long points", gradient(nil, nil, mat.NewDense(3, 3, nil)), shape},
		{"few rows", gradient(nil, mat.NewDense(2, 2, nil), X), shape},
		{"few values", gradient(make([]float64, 2), nil, X), shape},
		{"dst is X", gradient(nil, X, X), alias},
		{"y in X", gradient(X.RawMatrix().Data[:3], nil, X), alias},
		{"few Jacobians", jacobian(nil, make([]mat.Matrix, 2), X), shape},
		{"long points", jacobian(nil, nil, mat.NewDense(3, 1, nil)), shape},
		{"one Jacobian twice", jacobian(nil, []mat.Matrix{one, nil, one}, X), alias},
		{"a Jacobian in X", jacobian(nil, []mat.Matrix{nil, X.Slice(0, 1, 0, 2), nil}, X), alias},
		{"y in X", jacobian(X.Slice(0, 3, 0, 1).(*mat.Dense), nil, X), alias},
		{"resized", g.Resize(make([]float64, 0)), new(*nabla.PanicError)},
	} {
		if !errors.As(c.err, c.as) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	if y, dst, err := g.ValueAndGradientMany(ctx, nil, nil, nil); err != nil || len(y) != 0 || !dst.IsEmpty() {
		t.Errorf("no points: %v, %v, %v", y, dst, err)
	}
	if dst, err := nabla.JacobianMany(bent, nil, new(mat.Dense)); err != nil || len(dst) != 0 {
		t.Errorf("no points: %v, %v", dst, err)
	}
	if err := gradient(nil, nil, X); err != nil {
		t.Errorf("after errors: %v", err)
	}
	if err := g.Resize(make([]float64, 5)); err != nil {
		t.Fatal(err)
	}
	if err := gradient(nil, nil, points(9, 5)); err != nil || g.Workers() != 2 {
		t.Errorf("resized: %v, %d workers", err, g.Workers())
	}
	failingResize(t)
	var inside error
	var busy *nabla.GradientManyPrep
	busy, err = nabla.PrepareGradientMany(func(x []nabla.Real) nabla.Real {
		if busy != nil {
			_, inside = busy.GradientMany(ctx, nil, mat.NewDense(1, 1, nil))
			_, err = busy.Clone().GradientMany(ctx, nil, mat.NewDense(1, 1, nil))
		}
		return x[0]
	}, forwarddiff.Backend{}, []float64{1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, e := busy.GradientMany(ctx, nil, mat.NewDense(1, 1, nil)); e != nil || !errors.Is(inside, nabla.ErrBusy) ||
		!errors.Is(err, nabla.ErrBusy) {
		t.Errorf("%v; a call inside of a call: %v; of a clone: %v", e, inside, err)
	}
}

// TestManyBoundStruct: each worker has its own copy of the bound struct, and Rebind concerns all.
func TestManyBoundStruct(t *testing.T) {
	type data struct {
		W       nabla.Vec
		Scratch nabla.Scratch
	}
	f := nabla.Bind(func(x []nabla.Real, d *data) nabla.Real {
		s := d.Scratch.Reals()
		for i := range x {
			s[i] = x[i].Sq().Mul(d.W.At(i))
		}
		return nabla.Sum(s...)
	}, &data{nabla.VecOf([]float64{1, 2}), nabla.NewScratch(2)})
	X := points(64, 2)
	for _, b := range engines.Exact() {
		p, err := nabla.PrepareGradientMany(f, b, X.RawRowView(0), 3)
		if err != nil {
			t.Fatal(b.Name(), err)
		}
		for _, w := range [][]float64{{1, 2}, {-3, 5}} {
			if err := p.Rebind(&data{nabla.VecOf(w), nabla.NewScratch(2)}); err != nil {
				t.Fatal(err)
			}
			g, err := p.GradientMany(context.Background(), nil, X)
			if err != nil {
				t.Fatal(b.Name(), err)
			}
			for i := range 64 {
				want := []float64{2 * w[0] * X.At(i, 0), 2 * w[1] * X.At(i, 1)}
				within(t, "bound", b, g.RawRowView(i), want, 1e-12)
			}
		}
	}
}

// TestManyAllocations: a call allocates nothing per point.
func TestManyAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates")
	}
	for _, workers := range []int{1, 2} {
		for _, b := range []nabla.Backend{forwarddiff.Backend{}, compiled} {
			perCall := func(k int) float64 {
				X := points(k, 4)
				square := nabla.InPlace(1, func(y, x []nabla.Real) { y[0] = nabla.Dot(x, x) })
				g, err := nabla.PrepareGradientMany(square, b, X.RawRowView(0), workers)
				if err != nil {
					t.Fatal(err)
				}
				pair := nabla.InPlace(2, func(y, x []nabla.Real) { y[0], y[1] = x[0], x[1].Sq() })
				j, err := nabla.PrepareJacobianMany(pair, b, X.RawRowView(0), workers)
				if err != nil {
					t.Fatal(err)
				}
				dst, js := mat.NewDense(k, 4, nil), make([]mat.Matrix, k)
				y := make([]float64, k)
				return testing.AllocsPerRun(20, func() {
					_, _, e1 := g.ValueAndGradientMany(context.Background(), y, dst, X)
					_, e2 := j.JacobianMany(context.Background(), js, X)
					if e1 != nil || e2 != nil {
						t.Fatal(e1, e2)
					}
				})
			}
			few, more := perCall(10), perCall(500)
			// Goroutines that begin in a call allocate, and how many begin depends on the time it takes.
			if limit := few + float64(10*(workers-1)); more > limit || workers == 1 && more > 0 {
				t.Errorf("%s on %d workers: %v allocations for 500 points, %v for 10", b.Name(), workers, more, few)
			}
		}
	}
}

// BenchmarkGradientMany is the time of gradients at many points, in relation to a loop over a prepared gradient. With
// few points, the time until a second core begins is a part of it.
func BenchmarkGradientMany(b *testing.B) {
	const n = 30
	for _, e := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}} {
		e = nabla.Policy{Backend: e, FixedCaptures: true}
		for _, k := range []int{2000, 50000} {
			X, dst := points(k, n), mat.NewDense(k, n, nil)
			one, err := nabla.PrepareGradient(wave, e, X.RawRowView(0))
			if err != nil {
				b.Fatal(err)
			}
			for _, workers := range []int{1, 2} {
				p, err := nabla.PrepareGradientMany(wave, e, X.RawRowView(0), workers)
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%s/points=%d/workers=%d", e.Name(), k, workers), func(b *testing.B) {
					timingtest.Ratio(b, func() {
						if _, err := p.GradientMany(context.Background(), dst, X); err != nil {
							b.Fatal(err)
						}
					}, func() {
						for i := range k {
							if _, err := one.Gradient(dst.RawRowView(i), X.RawRowView(i)); err != nil {
								b.Fatal(err)
							}
						}
					})
				})
			}
		}
	}
}

// failingResize: if a worker cannot be prepared for another size, all keep the old one.
func failingResize(t *testing.T) {
	t.Helper()
	var runs, allowed atomic.Int64
	allowed.Store(math.MaxInt64)
	f := func(x []nabla.Real) nabla.Real {
		if len(x) == 5 && runs.Add(1) > allowed.Load() {
			panic("on purpose")
		}
		return x[0].Sq()
	}
	b := reversediff.Backend{Compile: true}
	if _, err := nabla.PrepareGradient(f, b, make([]float64, 5)); err != nil {
		t.Fatal(err)
	}
	allowed.Store(runs.Swap(0)) // those of the first worker
	g, err := nabla.PrepareGradientMany(f, b, make([]float64, 2), 3)
	if err != nil {
		t.Fatal(err)
	}
	var panicked *nabla.PanicError
	if err := g.Resize(make([]float64, 5)); !errors.As(err, &panicked) {
		t.Errorf("a worker that cannot be resized: %v", err)
	}
	if _, err := g.GradientMany(t.Context(), nil, points(9, 2)); err != nil || g.Workers() != 3 {
		t.Errorf("after a resize that failed: %v, %d workers", err, g.Workers())
	}
}

// TestGoexitInClones: a function that ends the goroutine while clones are made ends the preparation with an error.
func TestGoexitInClones(t *testing.T) {
	prepare := func(workers int, limit int64) (calls int64, err error) {
		var count atomic.Int64
		_, err = nabla.PrepareGradientMany(func(x []nabla.Real) nabla.Real {
			if count.Add(1) > limit {
				runtime.Goexit()
			}
			return x[0].Sq()
		}, compiled, []float64{1}, workers)
		return count.Load(), err
	}
	calls, err := prepare(1, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	var panicked *nabla.PanicError
	if _, err := prepare(3, calls); !errors.As(err, &panicked) {
		t.Errorf("clones end their goroutines: %v", err)
	}
}
