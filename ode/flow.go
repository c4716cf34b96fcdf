package ode

import (
	"slices"
	"sync"

	"github.com/nabla-ad/nabla"
)

// Flow returns the solution from t0 to t1 as a function over Reals of the initial state and the parameters. Its results
// are the states at Settings.Times, one after the other, or the state at the end if there are none. Any engine may
// differentiate functions that call it: the derivatives are those of [Problem.Pushforward] and [Problem.Pullback], and
// second ones the same for the equations of the states and a tangent of them, with the same steps. Third ones, and
// second ones with events, are differences, with about ten digits. The derivative by the initial time or the end is not
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
	of     *flow // the flow whose tangents this one has, and whose steps it takes; nil if there is none
	mu     sync.Mutex
	free   []*solved
}

// A solved is a clone of the problem with a solution of it.
type solved struct {
	q          *Problem
	s          *Solution
	at         []float64 // the initial state and the parameters of the solution; nil if there is none
	ybar, last []float64
	pbar       []float64
	states     [][]float64
}

func (w *flow) rule() nabla.Rule {
	r := nabla.Rule{
		Name: "ode.Flow",
		Out:  func(int) int { return w.outputs() },
		Value: func(y, x []float64) {
			u := w.solve(x)
			u.results(y)
			w.give(u)
		},
		JVP: func(ydot, x, y, xdot []float64) {
			u := w.solved(x)
			u.pushforward(ydot, xdot)
			w.give(u)
		},
		VJP: func(xbar, x, y, ybar []float64) {
			u := w.solved(x)
			u.pullback(xbar, ybar)
			w.give(u)
		},
	}
	if len(w.q.set.Events) == 0 && w.of == nil {
		s := newSecond(w)
		r.JVPReal, r.VJPReal = s.tangent, s.pullback
	}
	return r
}

func (w *flow) outputs() int { return w.q.n * max(1, len(w.q.set.Times)) }

// solved returns a clone with the solution for x: that of the last call of Value with x, or a new one.
func (w *flow) solved(x []float64) *solved {
	w.mu.Lock()
	for i := len(w.free) - 1; i >= 0; i-- {
		if u := w.free[i]; u.at != nil && slices.Equal(u.at, x) {
			w.free = slices.Delete(w.free, i, i+1)
			w.mu.Unlock()
			return u
		}
	}
	w.mu.Unlock()
	return w.solve(x)
}

// solve returns a clone that solves the problem for x. No other keeps a solution for x: a struct that the right-hand
// side is bound to may have changed.
func (w *flow) solve(x []float64) *solved {
	n := w.q.n
	if len(x) != n+w.q.m {
		panic(&LengthError{"the initial state and the parameters", len(x), n + w.q.m})
	}
	u, err := w.take(x)
	switch {
	case err != nil:
	case w.of == nil:
		u.s, err = u.q.Solve(u.s, x[:n], x[n:], w.t0, w.t1)
	default: // of the states without the tangents
		v := w.of.solved(append(append([]float64(nil), x[:n/2]...), x[n:n+w.q.m/2]...))
		u.s, err = u.q.follow(u.s, x[:n], x[n:], v.s, w.t0)
		w.of.give(v)
	}
	if err == nil && len(u.s.Times) < len(u.states) {
		err = &RangeError{w.q.set.Times[len(u.s.Times)], w.t0, u.s.T} // an event has ended the solution before
	}
	if err != nil {
		panic(err)
	}
	u.at = append(u.at[:0], x...)
	return u
}

// take returns a clone without a solution.
func (w *flow) take(x []float64) (u *solved, err error) {
	w.mu.Lock()
	defer w.mu.Unlock() // a clone reads the problem
	for _, u := range w.free {
		if slices.Equal(u.at, x) {
			u.at = nil
		}
	}
	if k := len(w.free); k > 0 {
		u, w.free = w.free[k-1], w.free[:k-1]
		u.at = nil
		return u, nil
	}
	n := w.q.n
	u = &solved{ybar: make([]float64, n), last: make([]float64, n), pbar: make([]float64, w.q.m)}
	u.q, err = w.q.Clone()
	for range w.q.set.Times {
		u.states = append(u.states, make([]float64, n))
	}
	return u, err
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

// pushforward writes the product of the derivative of the results with xdot to ydot.
func (u *solved) pushforward(ydot, xdot []float64) {
	n := u.q.n
	copy(u.ybar, xdot)
	if _, err := u.q.Pushforward(u.ybar, append(u.pbar[:0], xdot[n:]...), u.s, u.states); err != nil {
		panic(err)
	}
	if len(u.states) == 0 {
		copy(ydot, u.ybar)
	}
	for k, v := range u.states {
		copy(ydot[k*n:], v)
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
	if err := u.q.Pullback(u.ybar, u.pbar, u.s, u.last, 0, u.states); err != nil {
		panic(err)
	}
	for i, v := range u.ybar {
		xbar[i] += v
	}
	for i, v := range u.pbar {
		xbar[n+i] += v
	}
}
