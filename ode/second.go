package ode

import (
	"slices"
	"sync"

	"github.com/nabla-ad/nabla"
)

// Second derivatives of a solution are first derivatives of the solution together with a tangent of it, with the same
// steps. A second has that flow, and the derivative of the pullback as a rule of its own.
type second struct {
	w    *flow
	once sync.Once
	both *flow // of the states and their tangents; see Problem.tangent
	err  error

	// The flow with tangents and the pullback as functions over Reals.
	along func(x ...nabla.Real) []nabla.Real
	back  func(x ...nabla.Real) []nabla.Real
}

func newSecond(w *flow) *second {
	s := &second{w: w}
	s.back = s.adjoint().Func()
	return s
}

// flow returns the flow with tangents.
func (s *second) flow() *flow {
	s.once.Do(func() {
		s.w.mu.Lock() // as in take
		defer s.w.mu.Unlock()
		var q *Problem
		if q, s.err = s.w.q.tangent(); s.err == nil {
			s.both = &flow{q: q, t0: s.w.t0, t1: s.w.t1, of: s.w}
			s.along = s.both.rule().Func()
		}
	})
	if s.err != nil {
		panic(s.err)
	}
	return s.both
}

// together returns the state with its tangent and the parameters with theirs, as the flow with tangents takes them, for
// n states.
func together[T any](n int, x, xdot []T) []T { return slices.Concat(x[:n], xdot[:n], x[n:], xdot[n:]) }

// tangent writes the product of the derivative with xdot to ydot.
func (s *second) tangent(ydot, x, _, xdot []nabla.Real) {
	n := s.w.q.n
	s.flow()
	out := s.along(together(n, x, xdot)...)
	for k := range len(ydot) / n {
		copy(ydot[k*n:(k+1)*n], out[(2*k+1)*n:])
	}
}

// pullback adds the product of the transposed derivative with ybar to xbar.
func (s *second) pullback(xbar, x, _, ybar []nabla.Real) {
	for i, v := range s.back(slices.Concat(x, ybar)...) {
		xbar[i] = xbar[i].Add(v)
	}
}

// adjoint returns the pullback as a rule: a function of x and ybar.
func (s *second) adjoint() nabla.Rule {
	w := s.w
	n, m, out := w.q.n, w.q.m, w.outputs()
	// mixed adds to xbar the gradient by x of the product of the derivative with xdot and ybar, and of that of y with
	// ydotbar, unless it is nil.
	mixed := func(xbar, x, xdot, ybar, ydotbar []float64) {
		both := s.flow()
		u := both.solved(together(n, x, xdot))
		seed, grad := make([]float64, 2*out), make([]float64, 2*(n+m))
		for k := range out / n {
			copy(seed[(2*k+1)*n:], ybar[k*n:(k+1)*n])
			if ydotbar != nil {
				copy(seed[2*k*n:], ydotbar[k*n:(k+1)*n])
			}
		}
		u.pullback(grad, seed)
		both.give(u)
		for i := range n {
			xbar[i] += grad[i]
		}
		for i := range m {
			xbar[n+i] += grad[2*n+i]
		}
	}
	return nabla.Rule{
		Name: "the pullback of ode.Flow",
		Out:  func(int) int { return n + m },
		Value: func(y, x []float64) {
			u := w.solved(x[:n+m])
			clear(y)
			u.pullback(y, x[n+m:])
			w.give(u)
		},
		JVP: func(ydot, x, y, xdot []float64) {
			clear(ydot)
			mixed(ydot, x[:n+m], xdot[:n+m], x[n+m:], xdot[n+m:])
		},
		VJP: func(xbar, x, y, ybar []float64) {
			at, weights := x[:n+m], x[n+m:]
			mixed(xbar, at, ybar, weights, nil)
			u := w.solved(at)
			product := make([]float64, out)
			u.pushforward(product, ybar)
			w.give(u)
			for i, v := range product {
				xbar[n+m+i] += v
			}
		},
	}
}
