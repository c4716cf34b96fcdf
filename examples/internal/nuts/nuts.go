// Package nuts draws samples of densities by the No-U-Turn sampler of Hoffman and Gelman (2014) in the multinomial form
// of Betancourt (2017), which Stan has: the step size adapts by dual averaging, and the scales of the unknowns are
// those of the first half of the draws.
package nuts

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// A Density computes the logarithm of a density, up to a constant, and its gradient at x, which it writes to gradient.
// Each chain needs one of its own.
type Density func(gradient, x []float64) (float64, error)

// A Chain is the draws of one chain.
type Chain struct {
	Draws     [][]float64
	Gradients int // evaluations of the density
	Divergent int // trajectories that left the region in which the step size is small enough
}

// target is the acceptance that the step size is adapted to.
const target = 0.8

// A sampler is the state of a chain.
type sampler struct {
	density   Density
	rng       *rand.Rand
	inverse   []float64 // of the masses: variances of the unknowns
	step      float64
	gradients int
	err       error
}

// A state is a point of a trajectory.
type state struct {
	x, momentum, gradient []float64
	value                 float64
}

// Sample draws n samples after as many for adaptation, from start.
func Sample(density Density, start []float64, n int, seed uint64) (*Chain, error) {
	s := &sampler{density: density, rng: newRand(seed), inverse: make([]float64, len(start)), step: 1}
	for i := range s.inverse {
		s.inverse[i] = 1
	}
	now := state{x: start}
	s.evaluate(&now)
	s.firstStep(now)
	c := new(Chain)
	adapt := newAveraging(s.step)
	var window [][]float64
	for k := range 2 * n {
		next, accepted, divergent := s.transition(now)
		if s.err != nil {
			c.Gradients = s.gradients
			return c, s.err
		}
		now = next
		if k >= n {
			c.Draws = append(c.Draws, now.x)
			if divergent {
				c.Divergent++
			}
			continue
		}
		s.step = adapt.update(accepted)
		window = append(window, now.x)
		// Scales come from windows that double, so that draws far from the typical set are forgotten.
		if k == n/8 || k == n/4 || k == n/2 || k == n*7/8 {
			s.scales(window)
			window = nil
			s.firstStep(now)
			adapt = newAveraging(s.step)
		}
		if k == n-1 {
			s.step = adapt.final()
		}
	}
	c.Gradients = s.gradients
	return c, nil
}

// scales sets the inverse masses to the variances of draws, shrunk a little towards a small number as Stan does.
func (s *sampler) scales(draws [][]float64) {
	count := float64(len(draws))
	column := make([]float64, len(draws))
	for i := range s.inverse {
		for k, d := range draws {
			column[k] = d[i]
		}
		s.inverse[i] = (count*stat.Variance(column, nil) + 5e-3) / (count + 5)
	}
}

func (s *sampler) evaluate(p *state) {
	p.gradient = make([]float64, len(p.x))
	var err error
	p.value, err = s.density(p.gradient, p.x)
	s.gradients++
	if err != nil && s.err == nil {
		s.err = err
	}
	if math.IsNaN(p.value) {
		p.value = math.Inf(-1)
	}
}

// leapfrog returns the point one step of size step after p.
func (s *sampler) leapfrog(p state, step float64) state {
	momentum := floats.AddScaledTo(make([]float64, len(p.x)), p.momentum, step/2, p.gradient)
	q := state{x: make([]float64, len(p.x)), momentum: momentum}
	for i, v := range p.x {
		q.x[i] = v + step*s.inverse[i]*momentum[i]
	}
	s.evaluate(&q)
	floats.AddScaled(momentum, step/2, q.gradient)
	return q
}

// energy is the negative logarithm of the joint density of point and momentum.
func (s *sampler) energy(p state) float64 {
	kinetic := 0.0
	for i, m := range p.momentum {
		kinetic += s.inverse[i] * m * m / 2
	}
	return kinetic - p.value
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func (s *sampler) kick(p state) state {
	p.momentum = make([]float64, len(p.x))
	for i := range p.momentum {
		p.momentum[i] = s.rng.NormFloat64() / math.Sqrt(s.inverse[i])
	}
	return p
}

// firstStep doubles or halves the step size until the acceptance of one step crosses the target.
func (s *sampler) firstStep(p state) {
	direction := 0.0
	for range 50 {
		q := s.kick(p)
		change := s.energy(q) - s.energy(s.leapfrog(q, s.step))
		d := 1.0
		if !(change > math.Log(target)) {
			d = -1
		}
		if direction != 0 && d != direction {
			return
		}
		direction = d
		s.step *= math.Pow(2, d)
	}
}

// A tree is a part of a trajectory: its ends, the sum of the momenta, the point drawn from it and its weight.
type tree struct {
	left, right, draw state
	sum               []float64
	logWeight         float64
	accepted          float64 // the sum of the acceptances of its points
	points            int
	divergent, turned bool
}

// transition returns the next point of the chain after p, the mean acceptance on the trajectory, and whether it
// diverged.
func (s *sampler) transition(p state) (next state, accepted float64, divergent bool) {
	p = s.kick(p)
	start := s.energy(p)
	t := tree{left: p, right: p, draw: p, sum: append([]float64(nil), p.momentum...)}
	sumAccepted, points := 0.0, 0
	for depth := range 10 {
		var grown tree
		forward := s.rng.IntN(2) == 0
		if forward {
			grown = s.build(t.right, depth, 1, start)
		} else {
			grown = s.build(t.left, depth, -1, start)
		}
		sumAccepted, points = sumAccepted+grown.accepted, points+grown.points
		if s.err != nil || grown.divergent {
			divergent = grown.divergent
			break
		}
		if grown.turned {
			break
		}
		if math.Log(s.rng.Float64()) < grown.logWeight-t.logWeight { // favours the new part
			t.draw = grown.draw
		}
		t = s.join(t, grown, forward)
		if t.turned {
			break
		}
	}
	return t.draw, sumAccepted / float64(max(1, points)), divergent
}

// build returns a tree of 2^depth points from p on, in the direction sign. start is the energy where the trajectory
// began.
func (s *sampler) build(p state, depth int, sign, start float64) tree {
	if depth == 0 {
		q := s.leapfrog(p, sign*s.step)
		change := start - s.energy(q)
		if math.IsNaN(change) {
			change = math.Inf(-1)
		}
		return tree{left: q, right: q, draw: q, sum: append([]float64(nil), q.momentum...), logWeight: change,
			accepted: math.Min(1, math.Exp(change)), points: 1, divergent: change < -1000}
	}
	a := s.build(p, depth-1, sign, start)
	if a.divergent || a.turned || s.err != nil {
		return a
	}
	end := a.right
	if sign < 0 {
		end = a.left
	}
	b := s.build(end, depth-1, sign, start)
	accepted, points := a.accepted+b.accepted, a.points+b.points
	if b.divergent || b.turned || s.err != nil {
		b.accepted, b.points = accepted, points
		return b
	}
	draw := a.draw
	total := logAdd(a.logWeight, b.logWeight)
	if math.Log(s.rng.Float64()) < b.logWeight-total {
		draw = b.draw
	}
	t := s.join(a, b, sign > 0)
	t.draw, t.accepted, t.points = draw, accepted, points
	return t
}

// join returns the tree of a and of b, which follows a if forward is set and precedes it otherwise. It keeps the draw
// of a.
func (s *sampler) join(a, b tree, forward bool) tree {
	if !forward {
		a.left, a.right, b.left, b.right = b.left, b.right, a.left, a.right
	}
	sum := floats.AddTo(make([]float64, len(a.sum)), a.sum, b.sum)
	t := tree{left: a.left, right: b.right, draw: a.draw, sum: sum, logWeight: logAdd(a.logWeight, b.logWeight)}
	// The whole, and each part with the next point of the other, must still move apart.
	early, late := a.sum, b.sum
	if !forward {
		early, late = b.sum, a.sum
	}
	t.turned = s.turns(sum, t.left, t.right) ||
		s.turns(floats.AddTo(make([]float64, len(sum)), early, b.left.momentum), t.left, b.left) ||
		s.turns(floats.AddTo(make([]float64, len(sum)), late, a.right.momentum), a.right, t.right)
	return t
}

// turns reports whether the ends p and q of a trajectory with the given sum of momenta approach each other.
func (s *sampler) turns(sum []float64, p, q state) bool {
	first, last := 0.0, 0.0
	for i, v := range sum {
		first += v * s.inverse[i] * p.momentum[i]
		last += v * s.inverse[i] * q.momentum[i]
	}
	return first <= 0 || last <= 0
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// An averaging adapts the step size by Nesterov's dual averaging.
type averaging struct {
	mu, error, mean float64
	count           float64
}

func newAveraging(step float64) *averaging { return &averaging{mu: math.Log(10 * step)} }

// update returns the next step size after a trajectory with the given acceptance.
func (a *averaging) update(accepted float64) float64 {
	a.count++
	weight := 1 / (a.count + 10)
	a.error = (1-weight)*a.error + weight*(target-accepted)
	logStep := a.mu - math.Sqrt(a.count)/0.05*a.error
	weight = math.Pow(a.count, -0.75)
	a.mean = weight*logStep + (1-weight)*a.mean
	return math.Exp(logStep)
}

func (a *averaging) final() float64 { return math.Exp(a.mean) }
