package nabla_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// fuse is a context that is cancelled when it has been asked so often.
type fuse struct {
	context.Context
	left atomic.Int64
}

func newFuse(n int) *fuse {
	f := &fuse{Context: context.Background()}
	f.left.Store(int64(n))
	return f
}

func (f *fuse) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// cancelledOps are operators whose preparation is cancelled below.
var cancelledOps = []struct {
	name    string
	prepare func(b nabla.Backend, x []float64) (call func(x []float64) error, err error)
}{
	{"gradient", func(b nabla.Backend, x []float64) (func(x []float64) error, error) {
		p, err := nabla.PrepareGradient(meshEnergy, b, x)
		return func(x []float64) error { _, err := p.Gradient(nil, x); return err }, err
	}},
	{"HVP", func(b nabla.Backend, x []float64) (func(x []float64) error, error) {
		p, err := nabla.PrepareHVP(meshEnergy, b, x)
		return func(x []float64) error { _, err := p.HVP(nil, x, x); return err }, err
	}},
	{"Jacobian", func(b nabla.Backend, x []float64) (func(x []float64) error, error) {
		p, err := nabla.PrepareJacobian(meshForces, b, x)
		return func(x []float64) error { _, err := p.Jacobian(nil, x); return err }, err
	}},
	{"Hessian", func(b nabla.Backend, x []float64) (func(x []float64) error, error) {
		p, err := nabla.PrepareHessian(meshEnergy, b, x)
		return func(x []float64) error { _, err := p.Hessian(nil, x); return err }, err
	}},
	{"diagonal", func(b nabla.Backend, x []float64) (func(x []float64) error, error) {
		p, err := nabla.PrepareHessianDiagonal(meshEnergy, b, x)
		return func(x []float64) error { _, err := p.HessianDiagonal(nil, x); return err }, err
	}},
	{"weighted Hessian", func(b nabla.Backend, x []float64) (func(x []float64) error, error) {
		p, err := nabla.PrepareWeightedHessian(meshForces, b, x)
		return func(x []float64) error { _, err := p.Hessian(nil, x, x); return err }, err
	}},
}

// meshForces has an output for each input, of it and its neighbours on a grid.
func meshForces(x []nabla.Real) []nabla.Real {
	y := make([]nabla.Real, len(x))
	for i := range x {
		l, r := x[(i+1)%len(x)], x[(i+37)%len(x)]
		y[i] = nabla.Sin(x[i].Mul(l)).Add(nabla.Exp(r.Mul(x[i]).Scale(0.01)))
		if x[i].Less(nabla.Const(-100)) {
			y[i] = y[i].Mul(l)
		}
	}
	return y
}

func meshEnergy(x []nabla.Real) nabla.Real { return nabla.Sum(meshForces(x)...) }

func meshPoint(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.1 + float64(i%13)/7
	}
	return x
}

// TestCancelAnywhere: a preparation that is cancelled at any of the points at which it checks ends
// there, with an error that says so. One that is not cancelled returns a working object, regardless
// of the context later.
func TestCancelAnywhere(t *testing.T) {
	x := meshPoint(120)
	compiled := reversediff.Backend{Compile: true}
	so := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled}
	for _, b := range []nabla.Backend{
		compiled, tracker.Backend{}, so,
		nabla.AutoSparse{Dense: compiled},
		nabla.AutoSparse{Dense: so},
		nabla.AutoSparse{Dense: tracker.Backend{}, Workers: 2, Detector: sparsity.Recorded{}},
		nabla.AutoSparse{Dense: forwarddiff.Backend{}, Decompression: coloring.Substitution,
			Detector: sparsity.Local{}},
		nabla.AutoSparse{Dense: nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: compiled}},
		finitediff.Backend{},
	} {
		for _, op := range cancelledOps {
			sparse, isSparse := b.(nabla.AutoSparse)
			if testing.Short() && sparse.Workers == 0 { // the others say nothing about races
				continue
			}
			if !isSparse && (op.name == "diagonal" || op.name == "weighted Hessian") {
				continue
			}
			never := newFuse(math.MaxInt)
			if _, err := op.prepare(nabla.Preparation{Backend: b, Context: never}, x); err != nil {
				t.Errorf("%s by %s: %v", op.name, b.Name(), err)
				continue
			}
			asked := int(math.MaxInt - never.left.Load())
			if asked < 1 || asked < 2 && strings.Contains(b.Name(), "compile") {
				t.Errorf("%s by %s: asked %d times", op.name, b.Name(), asked)
			}
			for _, at := range longtest.Sample([]int{0, asked / 4, asked / 2, 3 * asked / 4, asked - 1}, 2) {
				f := newFuse(at)
				_, err := op.prepare(nabla.Preparation{Backend: b, Context: f}, x)
				if at == asked-1 && err == nil && sparse.Workers > 1 && f.left.Load() >= 0 {
					continue // by the turns that workers take they may ask once less
				}
				var ce *nabla.CanceledError
				if !errors.Is(err, context.Canceled) || !errors.As(err, &ce) || ce.Stage == "" {
					t.Errorf("%s by %s, cancelled at %d of %d: %v", op.name, b.Name(), at, asked, err)
				}
			}
			ctx, cancel := context.WithCancel(context.Background())
			call, err := op.prepare(nabla.Preparation{Backend: b, Context: ctx}, x)
			cancel()
			other := slices.Clone(x)
			other[7] = -200 // another branch
			for _, x := range [][]float64{x, other} {
				var pe *nabla.PatternError
				if err := cmpErr(err, call, x); err != nil && !errors.As(err, &pe) {
					t.Errorf("%s by %s, cancelled afterwards: %v", op.name, b.Name(), err)
				}
			}
		}
	}
}

func cmpErr(err error, call func(x []float64) error, x []float64) error {
	if err != nil {
		return err
	}
	return call(x)
}

// TestCancelIsPrompt: a slow preparation ends soon after its context, in each of its stages.
func TestCancelIsPrompt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	x := meshPoint(6000)
	b := nabla.AutoSparse{Dense: nabla.SecondOrder{Outer: forwarddiff.Backend{},
		Inner: reversediff.Backend{Compile: true}}}
	start := time.Now()
	seen := map[string]bool{}
	for range 8 { // each stops at the beginning of another stage
		ctx, cancel := context.WithCancelCause(context.Background())
		stopped := ""
		var at time.Time
		why := errors.New("enough")
		_, err := nabla.PrepareHessian(meshEnergy,
			nabla.Preparation{Backend: b, Context: ctx, Progress: func(p nabla.Progress) {
				if stopped == "" && !seen[p.Stage] {
					stopped, seen[p.Stage], at = p.Stage, true, time.Now()
					cancel(why)
				}
			}}, x)
		took := time.Since(at)
		cancel(nil)
		if stopped == "" {
			if err != nil {
				t.Error(err)
			}
			break
		}
		var ce *nabla.CanceledError
		if !errors.Is(err, context.Canceled) || !errors.Is(err, why) || !errors.As(err, &ce) || ce.Op != "Hessian" {
			t.Errorf("cancelled during %s: %v", stopped, err)
		}
		if took > time.Second {
			t.Errorf("cancelled during %s: ended after %v", stopped, took)
		}
	}
	for _, stage := range []string{"recording", "detection", "colouring", "derivation", "products"} {
		if !seen[stage] {
			t.Errorf("no stage %s, of %v", stage, seen)
		}
	}
	t.Log(seen, time.Since(start))
}

// TestProgress: stages come with done between 0 and total, and the callback runs in the
// goroutine that prepares unless there are workers.
func TestProgress(t *testing.T) {
	x := meshPoint(3000)
	var stages []string
	last := map[string]int{}
	b := nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}}
	p, err := nabla.PrepareHessian(meshEnergy, &nabla.Preparation{Backend: b, Progress: func(p nabla.Progress) {
		if p.Op != "Hessian" || p.Done < 0 || p.Total > 0 && p.Done > p.Total {
			t.Errorf("%+v", p)
		}
		if len(stages) == 0 || stages[len(stages)-1] != p.Stage {
			stages = append(stages, p.Stage)
		}
		last[p.Stage] = p.Done
	}}, x)
	if err != nil || len(stages) < 3 || stages[0] != "recording" || !slices.Contains(stages, "detection") {
		t.Errorf("%v, %v", stages, err)
	}
	n := len(stages)
	if _, err := p.Hessian(nil, x); err != nil || len(stages) != n {
		t.Errorf("progress of a call: %v, %v", stages[n:], err)
	}
	q := p.Clone()
	if _, err := q.Hessian(nil, x); err != nil || len(stages) == n {
		t.Errorf("no progress of a clone, %v", err)
	}
	if got := (nabla.Preparation{Backend: b}).Name(); got != b.Name() {
		t.Error(got)
	}
	runtime.KeepAlive(p)
}

// TestResizeCancelled: an object whose Resize was cancelled stays as it was.
func TestResizeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := nabla.Preparation{Backend: nabla.AutoSparse{Dense: tracker.Backend{}}, Context: ctx}
	p, err := nabla.PrepareJacobian(meshForces, b, meshPoint(50))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.Resize(meshPoint(60)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if j, err := p.Jacobian(nil, meshPoint(50)); err != nil {
		t.Error(err)
	} else if r, _ := j.Dims(); r != 50 {
		t.Error(r)
	}
}

func ExamplePreparation() {
	squares := func(x []nabla.Real) nabla.Real { return nabla.Dot(x, x) }
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b := nabla.Preparation{Backend: reversediff.Backend{Compile: true}, Context: ctx}
	p, err := nabla.PrepareGradient(squares, b, []float64{1, 2, 3})
	if err != nil {
		panic(err)
	}
	g, err := p.Gradient(nil, []float64{1, 2, 3})
	fmt.Println(g, err)

	cancel()
	_, err = nabla.PrepareGradient(squares, b, []float64{1, 2, 3})
	fmt.Println(errors.Is(err, context.Canceled), err)
	// Output:
	// [2 4 6] <nil>
	// true nabla: Gradient: the preparation was cancelled during recording: context canceled; prepare again with another context (nabla.CanceledError)
}
