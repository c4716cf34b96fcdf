package ode

import (
	"cmp"
	"math"
	"slices"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/page"
)

// An Event is a function of the state, the parameters and the time whose zeros are of interest. It is made by
// [NewEvent].
type Event struct {
	// Direction selects the zeros: with a positive one those where the function increases along the solution, with a
	// negative one those where it decreases, with 0 both.
	Direction int
	// Terminal ends the solution at the first of these zeros. Otherwise they are noted in Solution.Crossed.
	Terminal bool

	prep *nabla.GradientPrep
}

// NewEvent returns an event for the zeros of g, a function of the state, then the parameters, then the time, as the
// right-hand side is. y0 and p have their lengths; b computes the gradient that the derivatives of a solution need
// which a terminal event ends.
func NewEvent[F nabla.ScalarFunc](g F, b nabla.Backend, y0, p []float64) (*Event, error) {
	z := append(append(append([]float64(nil), y0...), p...), 0)
	prep, err := nabla.PrepareGradient(g, b, z)
	if err != nil {
		return nil, err
	}
	return &Event{prep: prep}, nil
}

// A Crossing is a zero of an event.
type Crossing struct {
	Event int // its index in Settings.Events
	T     float64
	Y     []float64
}

// A GrazingError says that the function of a terminal event is nearly constant along the solution where it is zero: the
// time of the zero has no derivative.
type GrazingError struct {
	T    float64
	Rate float64 // its derivative along the solution
}

func (e *GrazingError) Error() string {
	return page.Namef("ode.GrazingError",
		"ode: the event at t = %v has the rate %.3g along the solution, so that its time has no "+
			"derivative; use an event that the solution crosses", e.T, e.Rate)
}

// A watch finds events in steps.
type watch struct {
	before []float64 // the values of the events before the step
	after  []float64
	y      []float64
}

// watch returns the state of the events at the start of a solution.
func (q *Problem) watch(s *Solution) (*watch, error) {
	w := &q.events
	if len(w.before) != len(q.set.Events) {
		*w = watch{make([]float64, len(q.set.Events)), make([]float64, len(q.set.Events)), make([]float64, q.n)}
	}
	return w, w.values(w.before, q, s.T, s.Y)
}

// values writes the values of the events at (t, y) to dst.
func (w *watch) values(dst []float64, q *Problem, t float64, y []float64) error {
	for i := range q.set.Events {
		v, err := q.event(i, t, y)
		if err != nil {
			return err
		}
		dst[i] = v
	}
	return nil
}

// event returns the value of event i at (t, y).
func (q *Problem) event(i int, t float64, y []float64) (float64, error) {
	copy(q.rhs.z, y)
	q.rhs.z[q.n+q.m] = t
	return q.set.Events[i].prep.Value(q.rhs.z)
}

// accept adds the step of the given size that has just been taken to s, up to a terminal event if there is one. ends
// says that it ends at the time stop.
func (w *watch) accept(q *Problem, s *Solution, size float64, ends bool, stop float64) (done bool, err error) {
	if err := w.values(w.after, q, s.T+size, q.ctl.y1); err != nil {
		return false, err
	}
	first, at := -1, math.Inf(1) // the first terminal event, as a part of the step
	noted := len(s.Crossed)
	for i, e := range q.set.Events {
		a, b := w.before[i], w.after[i]
		if !(a < 0 && b >= 0 && e.Direction >= 0 || a > 0 && b <= 0 && e.Direction <= 0) {
			continue
		}
		theta, err := w.locate(q, s, i, size)
		if err != nil {
			return false, err
		}
		if e.Terminal {
			if theta < at {
				first, at = i, theta
			}
			continue
		}
		w.note(s, i, theta, size, q)
	}
	s.Crossed = slices.DeleteFunc(s.Crossed, func(c Crossing) bool { // the terminal event comes before it
		return (c.T-s.T)/size > at
	})
	slices.SortStableFunc(s.Crossed[noted:], func(a, b Crossing) int {
		return cmp.Compare((a.T-s.T)/size, (b.T-s.T)/size)
	})
	if first >= 0 {
		return true, w.finish(q, s, first, at*size)
	}
	q.record(s, size, ends, stop)
	w.before, w.after = w.after, w.before
	q.reached(s)
	return false, nil
}

// record adds the last step to s.
func (q *Problem) record(s *Solution, size float64, ends bool, stop float64) {
	s.trail.add(s.T, size, s.Y)
	copy(s.Y, q.ctl.y1)
	s.Steps++
	q.step.next(accepted)
	t := s.T + size
	if ends && t != stop { // by rounding
		t = stop
		q.step.next(restarted)
	}
	s.T = t
}

// note adds a crossing at the part theta of the last step.
func (w *watch) note(s *Solution, i int, theta, size float64, q *Problem) {
	y := make([]float64, q.n)
	q.step.at(y, theta)
	s.Crossed = append(s.Crossed, Crossing{i, s.T + theta*size, y})
}

// locate returns the part of the last step at which event i is zero, by the Illinois form of regula falsi on the dense
// output, safeguarded by bisection.
func (w *watch) locate(q *Problem, s *Solution, i int, size float64) (float64, error) {
	lo, hi, a, b := 0.0, 1.0, w.before[i], w.after[i]
	for k := range 200 {
		if b == 0 {
			return hi, nil
		}
		mid := (lo*b - hi*a) / (b - a)
		if k%4 == 3 || !(lo < mid && mid < hi) {
			mid = lo + (hi-lo)/2
		}
		if mid <= lo || mid >= hi {
			break
		}
		q.step.at(w.y, mid)
		v, err := q.event(i, s.T+mid*size, w.y)
		if err != nil {
			return 0, err
		}
		if (v < 0) == (a < 0) && v != 0 {
			lo, a = mid, v
			b /= 2
		} else {
			hi, b = mid, v
			a /= 2
		}
	}
	return hi, nil
}

// finish ends s at event i with a step of about the given size: secants make the function zero where that step ends.
func (w *watch) finish(q *Problem, s *Solution, i int, size float64) error {
	lastSize, lastValue := 0.0, w.before[i]
	s.pace = math.Abs(lastValue / size)
	for range 10 {
		q.step.next(restarted)
		if err := q.step.take(q.ctl.y1, nil, s.T, size, s.Y); err != nil {
			return err
		}
		v, err := q.event(i, s.T+size, q.ctl.y1)
		if err != nil {
			return err
		}
		next := size - v*(size-lastSize)/(v-lastValue)
		if v == 0 || next == size || next-next != 0 || math.Abs(next-size) > 0.1*math.Abs(size) {
			break
		}
		if lastSize, lastValue = size, v; math.Abs(next-size) <= 4*0x1p-52*max(math.Abs(s.T), math.Abs(size)) {
			break
		}
		size = next
	}
	q.record(s, size, false, 0)
	s.Crossed = append(s.Crossed, Crossing{i, s.T, append([]float64(nil), s.Y...)})
	s.ended = i
	return nil
}

// A closing is what a terminal event adds to derivatives of a solution: the time of its end depends on the data.
type closing struct {
	f, g []float64 // the right-hand side and the gradient of the event at the end
	rate float64   // of the event along the solution
}

// closing returns that of s, nil if no event has ended it.
func (q *Problem) closing(s *Solution) (*closing, error) {
	if s.ended < 0 {
		return nil, nil
	}
	c := &closing{f: make([]float64, q.n), g: make([]float64, q.n+q.m+1)}
	if err := q.rhs.value(c.f, s.T, s.Y); err != nil {
		return nil, err
	}
	copy(q.rhs.z, s.Y)
	q.rhs.z[q.n+q.m] = s.T
	if _, err := q.set.Events[s.ended].prep.Gradient(c.g, q.rhs.z); err != nil {
		return nil, err
	}
	c.rate = c.g[q.n+q.m]
	for i, f := range c.f {
		c.rate += c.g[i] * f
	}
	// Where the function touches zero, the rate is of the size of the root of the rounding errors.
	if !(math.Abs(c.rate) > 1e-6*s.pace) {
		return nil, &GrazingError{s.T, c.rate}
	}
	return c, nil
}

// push changes the tangent of the state at a fixed time to that at the event, and returns the tangent of its time.
func (c *closing) push(ydot, pdot []float64) (tdot float64) {
	for i, v := range ydot {
		tdot -= c.g[i] * v
	}
	for i, v := range pdot {
		tdot -= c.g[len(ydot)+i] * v
	}
	tdot /= c.rate
	for i, f := range c.f {
		ydot[i] += tdot * f
	}
	return tdot
}

// pull is the transpose of push, for a cotangent tbar of the time.
func (c *closing) pull(ybar, pbar []float64, tbar float64) {
	for i, f := range c.f {
		tbar += ybar[i] * f
	}
	tbar /= c.rate
	for i := range ybar {
		ybar[i] -= tbar * c.g[i]
	}
	for i := range pbar {
		pbar[i] -= tbar * c.g[len(ybar)+i]
	}
}
