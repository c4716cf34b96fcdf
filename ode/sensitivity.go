package ode

import "github.com/nabla-ad/nabla/gen/rt/checkpoint"

// A segment is memory for states between those of a trail.
type segment struct {
	states [][]float64
	at     []int // the steps of the states that are in use
}

// get returns the memory of state k.
func (g *segment) get(n, k int) []float64 {
	for len(g.states) <= k {
		g.states = append(g.states, make([]float64, n))
	}
	return g.states[k]
}

// Pushforward carries tangents along a solution of q: that of the initial state in ydot, which becomes that of the
// final one, and that of the parameters in pdot. If states is not nil, its elements become the tangents of
// Solution.States.
//
// If an event has ended the solution, the tangent of its time is in tdot, else it is 0: times that are given are
// constants. It takes one pushforward of f for each evaluation of the solution.
func (q *Problem) Pushforward(ydot, pdot []float64, s *Solution, states [][]float64) (tdot float64, err error) {
	if err := q.lengths(s, ydot, pdot, states); err != nil {
		return 0, err
	}
	q.rhs.load(s.p)
	c, err := q.closing(s)
	if err != nil {
		return 0, err
	}
	k := 0
	out := func(i int) {
		for ; k < len(s.ends) && s.ends[k] == i; k++ {
			if states != nil {
				copy(states[k], ydot)
			}
		}
	}
	out(0)
	y := q.seg.get(q.n, 0)
	copy(y, s.y0)
	for i := range s.Steps {
		if err := q.step.push(ydot, pdot, s.trail.t[i], s.trail.h[i], y); err != nil {
			return 0, err
		}
		out(i + 1)
		if i+1 == s.Steps {
			break
		}
		if (i+1)%s.trail.stride == 0 {
			copy(y, s.trail.state(i+1))
		} else if err := q.advance(s, y, i, i+1); err != nil {
			return 0, err
		}
	}
	if c != nil {
		tdot = c.push(ydot, pdot)
	}
	return tdot, nil
}

// Pullback goes back through a solution of q. It writes to y0bar and pbar the gradients by the initial state and the
// parameters of ybar·Y + tbar·T + Σ states[k]·States[k]; states may be nil. ybar may be y0bar. T depends on them if an
// event has ended the solution.
//
// It takes one evaluation and one pullback of f for each evaluation of the solution, and more evaluations if not all
// states are kept; see Settings.Bytes.
func (q *Problem) Pullback(y0bar, pbar []float64, s *Solution, ybar []float64, tbar float64,
	states [][]float64) error {
	if err := q.lengths(s, y0bar, pbar, states); err != nil {
		return err
	}
	if len(ybar) != q.n {
		return &LengthError{"ybar", len(ybar), q.n}
	}
	q.rhs.load(s.p)
	c, err := q.closing(s)
	if err != nil {
		return err
	}
	copy(y0bar, ybar)
	clear(pbar)
	if c != nil {
		c.pull(y0bar, pbar, tbar)
	}
	k := len(s.ends) - 1
	in := func(i int) {
		for ; k >= 0 && s.ends[k] == i; k-- {
			for j := range y0bar {
				if states != nil {
					y0bar[j] += states[k][j]
				}
			}
		}
	}
	in(s.Steps)
	return q.backward(s, func(i int, y []float64) error {
		err := q.step.pull(y0bar, pbar, s.trail.t[i], s.trail.h[i], y)
		in(i)
		return err
	})
}

func (q *Problem) lengths(s *Solution, y, p []float64, states [][]float64) error {
	switch {
	case s == nil || s.q == nil || s.q.n != q.n || s.q.m != q.m:
		return ErrSolution
	case len(y) != q.n:
		return &LengthError{"the vector of the initial state", len(y), q.n}
	case len(p) != q.m:
		return &LengthError{"the vector of the parameters", len(p), q.m}
	case states != nil && len(states) != len(s.ends):
		return &LengthError{"states", len(states), len(s.ends)}
	}
	for _, v := range states {
		if len(v) != q.n {
			return &LengthError{"an element of states", len(v), q.n}
		}
	}
	return nil
}

// backward calls visit for all steps of s, from the last to the first, with the states before them.
func (q *Problem) backward(s *Solution, visit func(i int, y []float64) error) error {
	end := s.Steps
	for end > 0 {
		at := (end - 1) / s.trail.stride * s.trail.stride
		if err := q.span(s, at, end, visit); err != nil {
			return err
		}
		end = at
	}
	return nil
}

// span is backward for the steps from base, whose state is kept, to end. Other states are computed again from
// snapshots, by the schedule of package checkpoint.
func (q *Problem) span(s *Solution, base, end int, visit func(i int, y []float64) error) error {
	g := &q.seg
	g.at = append(g.at[:0], base)
	copy(g.get(q.n, 1), s.trail.state(base))
	for end > base {
		top := len(g.at) - 1
		at := g.at[top]
		y := g.get(q.n, 0)
		copy(y, g.get(q.n, 1+top))
		for {
			free := s.trail.limit - len(g.at)
			to := checkpoint.Next(at, end, free, 1)
			if to == at {
				break
			}
			if err := q.advance(s, y, at, to); err != nil {
				return err
			}
			if at = to; free > 0 {
				copy(g.get(q.n, 1+len(g.at)), y)
				g.at = append(g.at, at)
			}
		}
		if err := visit(at, y); err != nil {
			return err
		}
		end = at
		if top := len(g.at) - 1; top > 0 && g.at[top] == at {
			g.at = g.at[:top]
		}
	}
	return nil
}

// advance changes y from the state before step from to that before step to.
func (q *Problem) advance(s *Solution, y []float64, from, to int) error {
	for i := from; i < to; i++ {
		q.step.next(restarted)
		if err := q.step.take(q.ctl.y1, nil, s.trail.t[i], s.trail.h[i], y); err != nil {
			return err
		}
		copy(y, q.ctl.y1)
	}
	return nil
}
