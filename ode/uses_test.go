package ode_test

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/ode"
)

// reaction is a chain of cells with diffusion z[2n] and a stiff reaction of rate z[2n+1] between two substances.
func reaction(n int) func(z []nabla.Real) []nabla.Real {
	return func(z []nabla.Real) []nabla.Real {
		dy := make([]nabla.Real, 2*n)
		for i := range n {
			u, v := z[i], z[n+i]
			flow := nabla.Const(0)
			if i > 0 {
				flow = flow.Add(z[i-1].Sub(u))
			}
			if i+1 < n {
				flow = flow.Add(z[i+1].Sub(u))
			}
			exchange := z[2*n+1].Mul(u.Mul(u).Sub(v))
			dy[i] = flow.Mul(z[2*n]).Sub(exchange)
			dy[n+i] = exchange
		}
		return dy
	}
}

// TestSparse: with a sparse Jacobian Rodas takes the same steps, and has the same derivatives, as with a dense one.
func TestSparse(t *testing.T) {
	const n = 8
	y0, p := make([]float64, 2*n), []float64{3, 200}
	for i := range n {
		y0[i] = math.Sin(float64(i)) + 1.2
	}
	var want []float64
	var steps int
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, nabla.AutoSparse{Dense: forwarddiff.Backend{}}} {
		q, err := ode.Prepare(reaction(n), b, y0, p, &ode.Settings{Method: ode.Rodas, Relative: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		s, err := q.Solve(nil, y0, p, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		bar, ybar := make([]float64, 2*n+2), make([]float64, 2*n)
		for i := range ybar {
			ybar[i] = math.Cos(float64(i))
		}
		if err := q.Pullback(bar[:2*n], bar[2*n:], s, ybar, 0, nil); err != nil {
			t.Fatal(err)
		}
		got := append(append([]float64(nil), s.Y...), bar...)
		if want == nil {
			want, steps = got, s.Steps
			continue
		}
		if s.Steps != steps {
			t.Errorf("%d steps, dense %d", s.Steps, steps)
		}
		for i, v := range got {
			if math.Abs(v-want[i]) > 1e-9*max(1, math.Abs(want[i])) {
				t.Errorf("element %d is %v, dense %v", i, v, want[i])
			}
		}
	}
}

// A medium is data of a right-hand side.
type medium struct{ Friction nabla.Real }

// TestBound: changes of a bound struct between solutions are seen, in all derivatives.
func TestBound(t *testing.T) {
	f := func(z []nabla.Real, m *medium) []nabla.Real {
		return []nabla.Real{z[1], z[2].Mul(z[0]).Neg().Sub(m.Friction.Mul(z[1]))}
	}
	y0, p := []float64{1, 0.5}, []float64{2}
	for _, b := range []nabla.Backend{nil, forwarddiff.Backend{}, reversediff.Backend{Compile: true}} {
		for _, m := range methods {
			in := &medium{nabla.Const(0.1)}
			q, err := ode.Prepare(nabla.Bind(f, in), b, y0, p, &ode.Settings{Method: m})
			if err != nil {
				t.Fatal(err)
			}
			call := q.Flow(0, 2)
			flow := func(x []nabla.Real) nabla.Real { return call(x[:2], x[2:])[0] }
			for _, friction := range []float64{0.1, 0.8, 0.3} {
				in.Friction = nabla.Const(friction)
				s, err := q.Solve(nil, y0, p, 0, 2)
				if err != nil {
					t.Fatal(err)
				}
				xbar := make([]float64, 3)
				if err := q.Pullback(xbar[:2], xbar[2:], s, []float64{1, 0}, 0, nil); err != nil {
					t.Fatal(err)
				}
				xdot := []float64{0, 0, 1}
				if _, err := q.Pushforward(xdot[:2], xdot[2:], s, nil); err != nil {
					t.Fatal(err)
				}
				g, err := nabla.Gradient(flow, tracker.Backend{}, append(append([]float64(nil), y0...), p...))
				if err != nil {
					t.Fatal(err)
				}
				const h = 1e-3
				at := func(d float64) float64 { return oscillator(1, 0.5, 2+d, friction, 2) }
				want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
				for what, got := range map[string]float64{"cotangent": xbar[2], "tangent": xdot[0], "flow": g[2]} {
					if math.Abs(got-want) > 1e-6 {
						t.Errorf("%v, %v, friction %v: %s %v, want %v", b, m, friction, what, got, want)
					}
				}
			}
		}
	}
}

// TestFlowUses: goroutines share a flow that events end, and errors of the solution are those of the operator.
func TestFlowUses(t *testing.T) {
	y0, p := []float64{3, 0}, []float64{9.81}
	ground, err := ode.NewEvent(func(z []nabla.Real) nabla.Real { return z[0] }, nil, y0, p)
	if err != nil {
		t.Fatal(err)
	}
	ground.Terminal = true
	q, err := ode.Prepare(fall, nil, y0, p, &ode.Settings{Events: []*ode.Event{ground}})
	if err != nil {
		t.Fatal(err)
	}
	flow := q.Flow(0, 10)
	var group sync.WaitGroup
	for k := range 4 {
		group.Go(func() {
			for i := range 5 {
				height := 1 + float64(i+k)
				g, err := nabla.Gradient(func(x []nabla.Real) nabla.Real { return flow(x[:2], x[2:])[1] },
					tracker.Backend{}, []float64{height, 0, 9.81})
				if want := -math.Sqrt(9.81 / 2 / height); err != nil || math.Abs(g[0]-want) > 1e-6 {
					t.Errorf("from %v: %v, want %v, error %v", height, g, want, err)
				}
			}
		})
	}
	group.Wait()

	square := func(z []nabla.Real) []nabla.Real { return []nabla.Real{z[0].Sq()} }
	q, err = ode.Prepare(square, nil, []float64{1}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	infinite := q.Flow(0, 2)
	_, err = nabla.Gradient(func(x []nabla.Real) nabla.Real { return infinite(x, nil)[0] }, nil, []float64{1})
	if !errors.As(err, new(*ode.StepError)) {
		t.Errorf("error %v, want a StepError", err)
	}
}

// TestAllocations: a solution that is computed again allocates nothing, nor do its derivatives.
func TestAllocations(t *testing.T) {
	y0, p := []float64{1, 0.5}, []float64{2, 0.3}
	q, err := ode.Prepare(nabla.InPlace(2, func(dy, z []nabla.Real) {
		dy[0], dy[1] = z[1], z[2].Mul(z[0]).Neg().Sub(z[3].Mul(z[1]))
	}), reversediff.Backend{Compile: true}, y0, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := q.Solve(nil, y0, p, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	y0bar, pbar, ybar := make([]float64, 2), make([]float64, 2), []float64{1, 0}
	n := testing.AllocsPerRun(10, func() {
		_, e1 := q.Solve(s, y0, p, 0, 2)
		if e2 := q.Pullback(y0bar, pbar, s, ybar, 0, nil); e1 != nil || e2 != nil {
			t.Fatal(e1, e2)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
