package nabla_test

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// rungeKutta is a step of the classical Runge-Kutta method for the Lorenz system with the parameters σ, ρ and β and the
// step size h, the last parameter.
func rungeKutta(s *nabla.ScanStep) {
	h := s.Params[3]
	rate := func(u [3]nabla.Real) [3]nabla.Real {
		return [3]nabla.Real{
			s.Params[0].Mul(u[1].Sub(u[0])),
			u[0].Mul(s.Params[1].Sub(u[2])).Sub(u[1]),
			u[0].Mul(u[1]).Sub(s.Params[2].Mul(u[2])),
		}
	}
	along := func(u, k [3]nabla.Real, h nabla.Real) (v [3]nabla.Real) {
		for i := range v {
			v[i] = u[i].Add(h.Mul(k[i]))
		}
		return v
	}
	u := [3]nabla.Real(s.State)
	k1 := rate(u)
	k2 := rate(along(u, k1, h.Scale(0.5)))
	k3 := rate(along(u, k2, h.Scale(0.5)))
	k4 := rate(along(u, k3, h))
	for i := range u {
		s.Next[i] = u[i].Add(h.Div(nabla.Const(6)).Mul(k1[i].Add(k2[i].Scale(2)).Add(k3[i].Scale(2)).Add(k4[i])))
	}
}

// lorenzPoint is a first state of the Lorenz system with the parameters that have its name.
var lorenzPoint = []float64{1, 1, 1, 10, 28, 8. / 3}

// lorenzLoop returns a function of the state and the parameters after n steps to the time 5, and of the last state
// alone.
func lorenzLoop(run nabla.ScanFunc, n int) func(x []nabla.Real) nabla.Real {
	return func(x []nabla.Real) nabla.Real {
		params := append(append([]nabla.Real{}, x[3:]...), nabla.Const(5/float64(n)))
		last, _ := run(n, x[:3], params, nil)
		return last[0].Mul(last[1]).Add(last[2].Sq())
	}
}

// TestScanMemory computes the gradient of many steps of the Lorenz system with respect to the state and the parameters,
// and a product with the Hessian, in a heap that is bounded, and compares them with those of forward mode, which keeps
// no states. The recording of a million steps would take gigabytes.
func TestScanMemory(t *testing.T) {
	longtest.Serial(t)
	n := longtest.Cases(0, 1_000, 5_000, 1_000_000)
	f := lorenzLoop(nabla.Scan{Step: rungeKutta}.Func(), n)
	v := []float64{1, -1, 0.5, 0.25, 2, -0.5}
	line := func(h nabla.Real) nabla.Real {
		x := make([]nabla.Real, len(v))
		for i := range x {
			x[i] = h.Scale(v[i]).AddConst(lorenzPoint[i])
		}
		return f(x)
	}
	slope, err := nabla.Derivative(line, forwarddiff.Backend{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	curvature, err := nabla.SecondDerivative(line, forwarddiff.Hyper{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{60 << 20, 64 << 10} {
		g := lorenzLoop(nabla.Scan{Step: rungeKutta, Memory: memory}.Func(), n)
		var got, product []float64
		most := peak(func() {
			if got, err = nabla.Gradient(g, reversediff.Backend{}, lorenzPoint); err == nil && memory > 1<<20 {
				product, err = nabla.HVP(g, tracker.Backend{}, lorenzPoint, v)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d steps with %d KiB of snapshots: %d KiB of heap more", n, memory>>10, most>>10)
		if most > uint64(memory)+4<<20 {
			t.Errorf("%d steps take %d bytes of heap, want at most %d and 4 MiB", n, most, memory)
		}
		if along := dotOf(got, v); math.Abs(along-slope) > 1e-8*math.Abs(slope) {
			t.Errorf("the derivative along v with %d bytes is %v, that of forward mode %v", memory, along, slope)
		}
		if product == nil {
			continue
		}
		if along := dotOf(product, v); math.Abs(along-curvature) > 1e-7*math.Abs(curvature) {
			t.Errorf("the second derivative along v is %v, that of forward mode %v", along, curvature)
		}
	}
}

func dotOf(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// peak returns by how many bytes the heap grows at most while f runs, garbage that has not been collected included.
func peak(f func()) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-stop:
				return
			default:
				time.Sleep(time.Millisecond)
			}
		}
	}()
	f()
	stop <- true
	<-done
	return most - before
}

// TestScanAllocs: prepared gradients, Jacobians and Hessian-vector products of functions that call a loop do not
// allocate.
func TestScanAllocs(t *testing.T) {
	run := nabla.Scan{Step: lorenz, Memory: 200}.Func()
	f := func(x []nabla.Real) nabla.Real {
		last, _ := run(50, x[:3], x[3:], nil)
		return last[0].Mul(last[2])
	}
	b := nabla.Policy{Backend: reversediff.Backend{Compile: true}, FixedCaptures: true, NoStaleCheck: true}
	g, err := nabla.PrepareGradient(f, b, lorenzPoint)
	if err != nil {
		t.Fatal(err)
	}
	h, err := nabla.PrepareHVP(f, b, lorenzPoint)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 6)
	for name, call := range map[string]func() error{
		"gradient": func() error { _, err := g.Gradient(dst, lorenzPoint); return err },
		"product":  func() error { _, err := h.HVP(dst, lorenzPoint, lorenzPoint); return err },
	} {
		if err := call(); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(10, func() { err = call() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
	}
}

// TestScanInParallel calls clones of one prepared object, which share a loop, in several goroutines.
func TestScanInParallel(t *testing.T) {
	c := scanCases["branches"]
	c.s.Memory = 8 * 2 * 3
	for _, b := range []nabla.Backend{reversediff.Backend{Compile: true}, tracker.Backend{}} {
		p, err := nabla.PrepareGradient(c.sum(c.s.Func()), b, c.x)
		if err != nil {
			t.Fatal(err)
		}
		q, err := nabla.PrepareGradient(c.sum(unrolled(c.s)), b, c.x)
		if err != nil {
			t.Fatal(err)
		}
		at := func(k int) []float64 { return []float64{float64(k%7) / 7.5, 0.2 + float64(k%5)/10} }
		want := make([][]float64, 35)
		for k := range want {
			if want[k], err = q.Gradient(nil, at(k)); err != nil {
				t.Fatal(err)
			}
		}
		var group sync.WaitGroup
		for w := range 4 {
			clone := p.Clone()
			group.Go(func() {
				for k := w; k < len(want); k++ {
					g, err := clone.Gradient(nil, at(k))
					if err != nil {
						t.Error(err)
						return
					}
					for i, v := range want[k] {
						if math.Abs(g[i]-v) > 1e-11*(1+math.Abs(v)) {
							t.Errorf("point %v: gradient %v, want %v", at(k), g, want[k])
						}
					}
				}
			})
		}
		group.Wait()
	}
}

// BenchmarkScan compares gradients of loops with those of unrolled loops, in the time of an evaluation over untraced
// Reals: with all states kept, with 20 snapshots, and unrolled.
func BenchmarkScan(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		for _, c := range []struct {
			name string
			run  nabla.ScanFunc
		}{
			{"all", nabla.Scan{Step: rungeKutta}.Func()},
			{"snapshots=20", nabla.Scan{Step: rungeKutta, Memory: 20 * 32}.Func()},
			{"unrolled", unrolled(nabla.Scan{Step: rungeKutta})},
		} {
			for _, e := range []nabla.Backend{reversediff.Backend{Compile: true}, tracker.Backend{}} {
				b.Run(fmt.Sprintf("n=%d/%s/%s", n, c.name, e.Name()), func(b *testing.B) {
					fixed := nabla.Policy{Backend: e, FixedCaptures: true, NoStaleCheck: true}
					g, err := nabla.PrepareGradient(lorenzLoop(c.run, n), fixed, lorenzPoint)
					if err != nil {
						b.Fatal(err)
					}
					dst := make([]float64, 6)
					for b.Loop() {
						if _, err := g.Gradient(dst, lorenzPoint); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
