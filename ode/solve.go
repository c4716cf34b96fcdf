package ode

import (
	"math"
	"sort"
)

// A Solution is the result of a Problem. It uses the memory of its problem: calls of its methods and of those of
// the problem must not overlap. It stays valid after further solutions of the problem into others.
type Solution struct {
	T        float64     // where the solution ended
	Y        []float64   // the state there
	Times    []float64   // those of Settings.Times that were reached
	States   [][]float64 // the states there
	Steps    int         // accepted steps
	Rejected int         // steps that were repeated with a smaller size
	Values   int         // evaluations of the right-hand side
	Crossed  []Crossing  // events, in their order

	q     *Problem
	y0, p []float64
	trail trail
	ends  []int   // the number of steps before each of States
	ended int     // the event that ended it, or -1
	pace  float64 // the mean rate of that event in the last step
}

// Solve computes the solution from the state y0 at t0 to t1, which may be before t0, for the parameters p. It writes to
// dst, whose memory is used again, and allocates a Solution if dst is nil.
//
// The error is a *StepError, *LimitError, *NonFiniteError, *StopError or an error of the right-hand side or an event;
// the solution beside it is what was computed before, and its derivatives are available. For a *LengthError or a
// *SettingError it is nil.
func (q *Problem) Solve(dst *Solution, y0, p []float64, t0, t1 float64) (*Solution, error) {
	switch {
	case len(y0) != q.n:
		return nil, &LengthError{"y0", len(y0), q.n}
	case len(p) != q.m:
		return nil, &LengthError{"p", len(p), q.m}
	case t0-t0 != 0 || t1-t1 != 0:
		return nil, &SettingError{"the interval", [2]float64{t0, t1}, "two finite times"}
	}
	before := t0
	for _, t := range q.set.Times {
		if !(min(before, t1) <= t && t <= max(before, t1)) {
			return nil, &SettingError{"Settings.Times", q.set.Times,
				"times in the order of the solution, within the interval"}
		}
		before = t
	}
	dst = q.begin(dst, y0, p, t0)
	err := q.ctl.run(q, dst, t0, t1)
	dst.Values = q.rhs.values
	return dst, err
}

// begin makes dst the solution at the start, allocated if nil.
func (q *Problem) begin(dst *Solution, y0, p []float64, t0 float64) *Solution {
	if dst == nil {
		dst = new(Solution)
	}
	dst.q = q
	dst.T, dst.Steps, dst.Rejected, dst.ended = t0, 0, 0, -1
	dst.Y = append(dst.Y[:0], y0...)
	dst.y0 = append(dst.y0[:0], y0...)
	dst.p = append(dst.p[:0], p...)
	dst.ends, dst.Times, dst.Crossed = dst.ends[:0], dst.Times[:0], dst.Crossed[:0]
	dst.trail.begin(q.n, q.set.Bytes)
	q.rhs.values = 0
	q.rhs.load(p)
	return dst
}

// follow is Solve with the steps of a solution of another problem over the same interval, which no event has ended.
func (q *Problem) follow(dst *Solution, y0, p []float64, of *Solution, t0 float64) (*Solution, error) {
	dst = q.begin(dst, y0, p, t0)
	if q.ctl.y1 == nil {
		q.ctl.y1, q.ctl.e = make([]float64, q.n), make([]float64, q.n)
	}
	q.step.next(restarted)
	q.reached(dst)
	for i := range of.Steps {
		size, end := of.trail.h[i], of.T
		if i+1 < of.Steps {
			end = of.trail.t[i+1]
		}
		if err := q.step.take(q.ctl.y1, nil, dst.T, size, dst.Y); err != nil {
			return dst, err
		}
		q.record(dst, size, true, end)
		q.reached(dst)
	}
	dst.Values = q.rhs.values
	return dst, nil
}

// A control chooses step sizes by the proportional-integral controller of Gustafsson, as DOPRI5 does.
type control struct {
	y1, e    []float64
	last     float64 // the error of the last accepted step, at least 1e-4
	rejected bool    // the last step was
	attempts int
}

// run takes steps from t0 to t1.
func (c *control) run(q *Problem, s *Solution, t0, t1 float64) error {
	if c.y1 == nil {
		c.y1, c.e = make([]float64, q.n), make([]float64, q.n)
	}
	c.last, c.rejected, c.attempts = 1e-4, false, 0
	q.step.next(restarted)
	if q.reached(s); t0 == t1 {
		return nil
	}
	h, err := c.first(q, s, t1)
	if err != nil {
		return err
	}
	w, err := q.watch(s)
	if err != nil {
		return err
	}
	for s.T != t1 {
		if err := q.interrupted(s.T); err != nil {
			return err
		}
		stop := q.stop(s, t1)
		size, ends := h, false
		if math.Abs(1.01*size) >= math.Abs(stop-s.T) {
			size, ends = stop-s.T, true
		}
		if c.attempts++; c.attempts > q.set.MaxSteps {
			return &LimitError{s.T, t1, q.set.MaxSteps}
		}
		if !ends && math.Abs(size) <= 16*0x1p-52*math.Abs(s.T) || size == 0 {
			return &StepError{s.T, size}
		}
		norm := math.Inf(1)
		if err := q.step.take(c.y1, c.e, s.T, size, s.Y); err == nil {
			norm = c.norm(q, s.Y)
		} else if err != errSingular {
			return err
		}
		next, accepted := c.resize(q, size, norm)
		if !accepted {
			s.Rejected++
			q.step.next(repeated)
			h = next
			continue
		}
		if done, err := w.accept(q, s, size, ends, stop); err != nil || done {
			return err
		}
		if !ends || math.Abs(next) < math.Abs(h) {
			h = next
		}
		if math.Abs(h) > q.set.LargestStep {
			h = math.Copysign(q.set.LargestStep, h)
		}
	}
	return nil
}

// norm is the root of the mean of the squares of the estimated errors over the tolerances.
func (c *control) norm(q *Problem, y []float64) float64 {
	sum := 0.0
	for i, e := range c.e {
		r := e / (q.set.Absolute + q.set.Relative*max(math.Abs(y[i]), math.Abs(c.y1[i])))
		sum += r * r
		if c.y1[i]-c.y1[i] != 0 {
			return math.Inf(1)
		}
	}
	if sum != sum {
		return math.Inf(1)
	}
	return math.Sqrt(sum / float64(max(1, len(c.e))))
}

// resize returns the size of the next step after one of size h with the given error, and whether that is accepted.
func (c *control) resize(q *Problem, h, norm float64) (float64, bool) {
	const safety, beta = 0.9, 0.04
	if math.IsInf(norm, 1) {
		c.rejected = true
		return h / 10, false
	}
	power := math.Pow(norm, 1/q.step.order()-0.75*beta)
	if norm > 1 {
		c.rejected = true
		return h / min(5, power/safety), false
	}
	factor := max(0.1, min(5, power/math.Pow(c.last, beta)/safety))
	c.last = max(norm, 1e-4)
	next := h / factor
	if c.rejected && math.Abs(next) > math.Abs(h) {
		next = h
	}
	c.rejected = false
	return next, true
}

// first returns the size of the first step, by the algorithm of Hairer, Nørsett and Wanner, II.4.
func (c *control) first(q *Problem, s *Solution, t1 float64) (float64, error) {
	span := t1 - s.T
	limit := min(math.Abs(span), q.set.LargestStep)
	if q.set.FirstStep > 0 {
		return math.Copysign(min(q.set.FirstStep, limit), span), nil
	}
	f0 := c.e
	if err := q.rhs.value(f0, s.T, s.Y); err != nil {
		return 0, err
	}
	if err := finite(f0, s.T); err != nil {
		return 0, err
	}
	scaled := func(v []float64) float64 {
		sum := 0.0
		for i, x := range v {
			r := x / (q.set.Absolute + q.set.Relative*math.Abs(s.Y[i]))
			sum += r * r
		}
		return math.Sqrt(sum / float64(max(1, len(v))))
	}
	d0, d1 := scaled(s.Y), scaled(f0)
	h := 0.01 * d0 / d1
	if d0 < 1e-5 || d1 < 1e-5 {
		h = 1e-6
	}
	h = min(h, limit)
	for i, v := range s.Y {
		c.y1[i] = v + math.Copysign(h, span)*f0[i]
	}
	f1 := c.y1
	if err := q.rhs.value(f1, s.T+math.Copysign(h, span), c.y1); err != nil {
		return 0, err
	}
	for i := range f1 {
		f1[i] -= f0[i]
	}
	d2 := scaled(f1) / h
	next := math.Pow(0.01/max(d1, d2), 1/q.step.order())
	if max(d1, d2) <= 1e-15 {
		next = max(1e-6, h*1e-3)
	}
	if next != next { // the right-hand side is not finite after the step of Euler
		next = h / 100
	}
	return math.Copysign(min(100*h, next, limit), span), nil
}

// stop returns the next time at which a step ends.
func (q *Problem) stop(s *Solution, t1 float64) float64 {
	if k := len(s.Times); k < len(q.set.Times) {
		return q.set.Times[k]
	}
	return t1
}

// reached notes the state if the solution is at one of the times.
func (q *Problem) reached(s *Solution) {
	for len(s.Times) < len(q.set.Times) && q.set.Times[len(s.Times)] == s.T {
		k := len(s.Times)
		if k == len(s.States) {
			s.States = append(s.States, make([]float64, q.n))
		}
		copy(s.States[k], s.Y)
		s.Times = append(s.Times, s.T)
		s.ends = append(s.ends, s.Steps)
	}
}

func (q *Problem) interrupted(t float64) error {
	if ctx := q.set.Context; ctx != nil && ctx.Err() != nil {
		return &StopError{t, ctx.Err()}
	}
	if q.set.Progress != nil {
		if err := q.set.Progress(t); err != nil {
			return &StopError{t, err}
		}
	}
	return nil
}

// A trail has the steps of a solution, and the states before some of them.
type trail struct {
	t, h   []float64 // of the steps
	stride int       // a state is kept for each multiple of stride
	limit  int       // the number of states that may be kept
	n      int
	states []float64 // of the steps 0, stride, 2·stride, …
}

func (r *trail) begin(n, bytes int) {
	r.t, r.h, r.states = r.t[:0], r.h[:0], r.states[:0]
	r.n, r.stride, r.limit = n, 1, max(2, bytes/(16*max(1, n))) // half of the memory is for going backwards
}

// add appends a step of size h from y at t.
func (r *trail) add(t, h float64, y []float64) {
	i := len(r.t)
	r.t, r.h = append(r.t, t), append(r.h, h)
	if i%r.stride != 0 {
		return
	}
	if kept := i / r.stride; kept == r.limit {
		for k := 0; 2*k < kept; k++ { // every other state goes
			copy(r.states[k*r.n:(k+1)*r.n], r.states[2*k*r.n:])
		}
		r.stride *= 2
		r.states = r.states[:(kept+1)/2*r.n]
		if i%r.stride != 0 {
			return
		}
	}
	r.states = append(r.states, y...)
}

// state returns the state that is kept before step i, a multiple of the stride.
func (r *trail) state(i int) []float64 { return r.states[i/r.stride*r.n:][:r.n] }

// At writes the state at t, between the start and the end of the solution, to dst and returns it; dst is allocated if
// nil. Within a step it is the method's dense output. The step is computed once more if the last call was for another
// one.
func (s *Solution) At(dst []float64, t float64) ([]float64, error) {
	if s.q == nil {
		return nil, ErrSolution
	}
	if dst == nil {
		dst = make([]float64, s.q.n)
	}
	if len(dst) != s.q.n {
		return nil, &LengthError{"dst", len(dst), s.q.n}
	}
	from := s.T
	if s.Steps > 0 {
		from = s.trail.t[0]
	}
	forward := s.T >= from
	if !(min(from, s.T) <= t && t <= max(from, s.T)) {
		return nil, &RangeError{t, from, s.T}
	}
	if t == s.T {
		copy(dst, s.Y)
		return dst, nil
	}
	i := sort.Search(s.Steps, func(i int) bool {
		if forward {
			return s.trail.t[i] > t
		}
		return s.trail.t[i] < t
	}) - 1
	if err := s.load(i); err != nil {
		return nil, err
	}
	s.q.step.at(dst, (t-s.trail.t[i])/s.trail.h[i])
	return dst, nil
}

// load computes step i once more, so that the method's dense output is that of it.
func (s *Solution) load(i int) error {
	q := s.q
	q.rhs.load(s.p)
	at := i / s.trail.stride * s.trail.stride
	y := q.seg.get(q.n, 0)
	copy(y, s.trail.state(at))
	for ; ; at++ {
		q.step.next(restarted)
		if err := q.step.take(q.ctl.y1, nil, s.trail.t[at], s.trail.h[at], y); err != nil || at == i {
			return err
		}
		copy(y, q.ctl.y1)
	}
}
