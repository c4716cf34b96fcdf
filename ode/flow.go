package ode

import (
	"sync"

	"github.com/nabla-ad/nabla"
)

// Flow returns the solution from t0 to t1 as a function over Reals of the initial state and the parameters. Its results
// are the states at Settings.Times, one after the other, or the state at the end if there are none. Any engine may
// differentiate functions that call it: the derivatives are those of [Problem.Pushforward] and [Problem.Pullback], and
// second ones are differences of these, with about ten digits. The derivative by the initial time or the end is not
// computed.
//
// Goroutines may call the function side by side if they may call the right-hand side: each call has a clone of q. An
// error of the solution ends the calling function, and the operator that differentiates it returns it.
func (q *Problem) Flow(t0, t1 float64) func(y0, p []nabla.Real) []nabla.Real {
	w := &flow{q: q, t0: t0, t1: t1}
	call := w.rule().Func()
	return func(y0, p []nabla.Real) []nabla.Real {
		return call(append(append(make([]nabla.Real, 0, len(y0)+len(p)), y0...), p...)...)
	}
}

// Rule returns [Problem.Flow] as a rule, a function of the initial state followed by the parameters.
func (q *Problem) Rule(t0, t1 float64) nabla.Rule { return (&flow{q: q, t0: t0, t1: t1}).rule() }

// A flow is a solution with its derivatives as a rule.
type flow struct {
	q      *Problem
	t0, t1 float64
	mu     sync.Mutex
	free   []*solved
}

// A solved is a clone of the problem with a solution of it.
type solved struct {
	q          *Problem
	s          *Solution
	ybar, last []float64
	states     [][]float64
}

func (w *flow) rule() nabla.Rule {
	return nabla.Rule{
		Name: "ode.Flow",
		Out:  func(int) int { return w.outputs() },
		Value: func(y, x []float64) {
			u := w.solve(x)
			u.results(y)
			w.give(u)
		},
		ValueJVP: func(y, ydot, x, xdot []float64) {
			u := w.solve(x)
			u.results(y)
			n := u.q.n
			copy(u.ybar, xdot)
			_, err := u.q.Pushforward(u.ybar, append([]float64(nil), xdot[n:]...), u.s, u.states)
			if err != nil {
				panic(err)
			}
			if len(u.states) == 0 {
				copy(ydot, u.ybar)
			}
			for k, v := range u.states {
				copy(ydot[k*n:], v)
			}
			w.give(u)
		},
		ValueVJP: func(y, x []float64) func(xbar, ybar []float64) {
			u := w.solve(x)
			u.results(y)
			return u.pullback
		},
	}
}

func (w *flow) outputs() int { return w.q.n * max(1, len(w.q.set.Times)) }

// solve returns a clone that has solved the problem for x.
func (w *flow) solve(x []float64) *solved {
	w.mu.Lock()
	var u *solved
	if k := len(w.free); k > 0 {
		u, w.free = w.free[k-1], w.free[:k-1]
	}
	w.mu.Unlock()
	n := w.q.n
	if len(x) != n+w.q.m {
		panic(&LengthError{"the initial state and the parameters", len(x), n + w.q.m})
	}
	var err error
	if u == nil {
		u = &solved{ybar: make([]float64, n), last: make([]float64, n)}
		w.mu.Lock() // a clone reads the problem
		u.q, err = w.q.Clone()
		w.mu.Unlock()
		for range w.q.set.Times {
			u.states = append(u.states, make([]float64, n))
		}
	}
	if err == nil {
		u.s, err = u.q.Solve(u.s, x[:n], x[n:], w.t0, w.t1)
	}
	if err == nil && len(u.s.Times) < len(u.states) {
		err = &RangeError{w.q.set.Times[len(u.s.Times)], w.t0, u.s.T} // an event has ended the solution before
	}
	if err != nil {
		panic(err)
	}
	return u
}

func (w *flow) give(u *solved) {
	w.mu.Lock()
	w.free = append(w.free, u)
	w.mu.Unlock()
}

// results writes the states at the times, or at the end, to y.
func (u *solved) results(y []float64) {
	if len(u.states) == 0 {
		copy(y, u.s.Y)
	}
	for k := range u.states {
		copy(y[k*u.q.n:], u.s.States[k])
	}
}

// pullback adds the product of the cotangent ybar of the results to xbar.
func (u *solved) pullback(xbar, ybar []float64) {
	n := u.q.n
	clear(u.last)
	if len(u.states) == 0 {
		copy(u.last, ybar)
	}
	for k, v := range u.states {
		copy(v, ybar[k*n:])
	}
	pbar := make([]float64, u.q.m)
	if err := u.q.Pullback(u.ybar, pbar, u.s, u.last, 0, u.states); err != nil {
		panic(err)
	}
	for i, v := range u.ybar {
		xbar[i] += v
	}
	for i, v := range pbar {
		xbar[n+i] += v
	}
}
