package nabla_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
)

// TestSecondGoroutineGetsErrBusy holds that the second one gets ErrBusy: the
// function itself lets the test in while a call is under way.
func TestSecondGoroutineGetsErrBusy(t *testing.T) {
	eachOperator(t, func(t *testing.T, op operator, b nabla.Backend) {
		entered, leave := make(chan bool, 1), make(chan bool)
		var wait atomic.Bool
		f := scalarFunc(func(x []nabla.Real) nabla.Real {
			if x[0].Less(nabla.Const(0)) && wait.CompareAndSwap(true, false) {
				entered <- true
				<-leave
			}
			return product(x)
		})
		x, v := []float64{1, 2}, tangentFor(op, 2)
		p, err := op.prepare(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		wait.Store(true)
		done := make(chan error)
		go func() { done <- p(nil, []float64{-1, 2}, v) }()
		select {
		case <-entered:
		case err := <-done:
			t.Fatalf("the function was not run: %v", err)
		}
		for range 3 {
			if err := p(nil, x, v); !errors.Is(err, nabla.ErrBusy) {
				t.Errorf("second goroutine: %v", err)
			}
		}
		leave <- true
		if err := <-done; err != nil {
			t.Errorf("first goroutine: %v", err)
		}
		if err := p(nil, x, v); err != nil {
			t.Errorf("after: %v", err)
		}
	})
}

// TestCallInsideACallGetsErrBusy holds that a function that calls the prepared object that is
// running it gets ErrBusy, not a deadlock.
func TestCallInsideACallGetsErrBusy(t *testing.T) {
	for _, b := range allEngines {
		var p *nabla.GradientPrep
		var inside error
		f := func(x []nabla.Real) nabla.Real {
			if p != nil && inside == nil {
				_, inside = p.Gradient(nil, []float64{1})
			}
			if x[0].Less(nabla.Const(0)) {
				return x[0].Neg()
			}
			return x[0].Sq()
		}
		q, err := nabla.PrepareGradient(f, b, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		p = q
		if g, err := p.Gradient(nil, []float64{-2}); err != nil || math.Abs(g[0]+1) > 1e-6 ||
			!errors.Is(inside, nabla.ErrBusy) {
			t.Errorf("%s: %v, %v, inside %v", b.Name(), g, err, inside)
		}
	}
}

// TestClonesComputeSideBySide holds that clones compute side by side, and that many goroutines in one
// object get either the right answer or ErrBusy. Run it with -race.
func TestClonesComputeSideBySide(t *testing.T) {
	x := []float64{0.4, 0.2, 0.7}
	for _, b := range append(allEngines, nabla.Backend(forwarddiff.Backend{Chunk: 1, Workers: 2}),
		finitediff.Backend{Workers: 2}) {
		g, err := nabla.PrepareGradient(chained, b, x)
		if err != nil {
			t.Fatal(err)
		}
		h, err := nabla.PrepareHessian(chained, b, x)
		if err != nil {
			t.Fatal(err)
		}
		at := func(k int) []float64 { return []float64{x[0] + float64(k%3)/4, x[1] - float64(k%2)/3, x[2]} }
		var want [6][]float64
		var wantH [6]mat.Symmetric
		for k := range want {
			if want[k], err = g.Gradient(nil, at(k)); err != nil {
				t.Fatal(err)
			}
			if wantH[k], err = h.Hessian(nil, at(k)); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		var busy atomic.Int64
		var gs [6]*nabla.GradientPrep
		var hs [6]*nabla.HessianPrep
		for w := range gs { // an object that is in use cannot be cloned
			gs[w], hs[w] = g.Clone(), h.Clone()
		}
		for w := range 6 {
			gc, hc := gs[w], hs[w]
			wg.Go(func() {
				for k := range 18 {
					k += w
					got, err := gc.Gradient(nil, at(k))
					if err != nil {
						t.Errorf("%s: %v", b.Name(), err)
						return
					}
					for i := range got {
						if math.Abs(got[i]-want[k%6][i]) > 1e-9*math.Abs(want[k%6][i]) {
							t.Errorf("%s at %v: %v, want %v", b.Name(), at(k), got, want[k%6])
						}
					}
					hess, err := hc.Hessian(nil, at(k))
					if err != nil || !mat.EqualApprox(hess, wantH[k%6], 1e-9) {
						t.Errorf("Hessian with %s at %v: %v, %v", b.Name(), at(k), hess, err)
					}
					if got, err = g.Gradient(nil, at(k)); errors.Is(err, nabla.ErrBusy) {
						busy.Add(1)
					} else if err != nil || math.Abs(got[0]-want[k%6][0]) > 1e-9*math.Abs(want[k%6][0]) {
						t.Errorf("shared object with %s: %v, %v", b.Name(), got, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestDifferentiateWithFromGoroutines shares a black box between clones.
func TestDifferentiateWithFromGoroutines(t *testing.T) {
	box := nabla.DifferentiateWith(func(x []float64) float64 { return x[0] * x[0] * x[1] }, finitediff.Backend{})
	f := func(x []nabla.Real) nabla.Real { return nabla.Sin(box(x)) }
	for _, b := range firstOrder {
		p, err := nabla.PrepareGradient(f, b, []float64{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			c := p.Clone()
			wg.Go(func() {
				for k := range 20 {
					x := []float64{1 + float64(k)/40, 0.5}
					g, err := c.Gradient(nil, x)
					want := math.Cos(x[0]*x[0]*x[1]) * x[0] * x[0]
					if err != nil || math.Abs(g[1]-want) > 1e-6 {
						t.Errorf("%s: %v, want %v, %v", b.Name(), g, want, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestCloneOfBusyObject holds that a clone that could not be made says why.
func TestCloneOfBusyObject(t *testing.T) {
	var p, clone *nabla.GradientPrep
	f := func(x []nabla.Real) nabla.Real {
		if p != nil && clone == nil {
			clone = p.Clone()
		}
		return x[0].Sq()
	}
	q, err := nabla.PrepareGradient(f, forwarddiff.Backend{}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	p = q
	if _, err := p.Gradient(nil, []float64{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := clone.Gradient(nil, []float64{1}); !errors.Is(err, nabla.ErrBusy) ||
		!strings.Contains(err.Error(), "Clone was called") {
		t.Errorf("%v", err)
	}
}

// TestResizeWhileCalled checks that a call and a Resize in two goroutines return ErrBusy or run one
// after the other, and that neither reads memory that the other writes.
func TestResizeWhileCalled(t *testing.T) {
	f := func(x []nabla.Real) []nabla.Real { return []nabla.Real{nabla.Dot(x, x), x[0]} }
	g := func(x []nabla.Real) nabla.Real { return nabla.Dot(x, x) }
	b, x := forwarddiff.Backend{}, []float64{1, 2}
	j, err1 := nabla.PrepareJacobian(f, b, x)
	h, err2 := nabla.PrepareHessian(g, b, x)
	push, err3 := nabla.PreparePushforward(f, b, x)
	pull, err4 := nabla.PreparePullback(f, b, x)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for name, op := range map[string]struct{ call, resize func() error }{
		"Jacobian": {func() error { _, err := j.Jacobian(nil, x); return err }, func() error { return j.Resize(x) }},
		"Dense":    {func() error { _, err := j.Dense(nil, x); return err }, func() error { return j.Resize(x) }},
		"Hessian": {func() error { _, _, _, err := h.ValueGradientAndHessian(nil, nil, x); return err },
			func() error { return h.Resize(x) }},
		"Pushforward": {func() error { _, err := push.Pushforward(nil, x, x); return err },
			func() error { return push.Resize(x) }},
		"Pullback": {func() error { _, err := pull.Pullback(nil, x, x); return err },
			func() error { return pull.Resize(x) }},
	} {
		var wg sync.WaitGroup
		for _, do := range []func() error{op.call, op.resize} {
			wg.Go(func() {
				for range 200 {
					if err := do(); err != nil && !errors.Is(err, nabla.ErrBusy) {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		wg.Wait()
	}
}
