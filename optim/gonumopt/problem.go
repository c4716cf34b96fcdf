// Package gonumopt makes problems for gonum's optimize package of functions that package nabla differentiates: value,
// gradient and exact Hessian from one preparation. It is a package of its own because gonum/optimize requires
// golang.org/x/tools; package optim, with solvers for other problems, does not.
package gonumopt

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/nabla-ad/nabla"
)

// Problem returns f as a problem for gonum's optimize.Minimize, with Func, Grad, Hess and Status, for points of the
// length of x0. The gradient is prepared on b at once, the Hessian when it is first asked for, so that methods without
// Hessians do not pay for it:
//
//	p, err := gonumopt.Problem(f, nil, x0)
//	result, err := optimize.Minimize(p, x0, nil, &optimize.Newton{})
//
// gonum asks for value, gradient and Hessian at a point one after the other. They are computed together: a gradient or
// a Hessian brings the value along, and Func computes the gradient too if it predicts from the last points that gonum
// will ask for it, which it does not for a NelderMead. A result is passed on once; a second request computes it again.
//
// The functions may be called by several goroutines, as with Settings.Concurrent: each works with a clone. If f returns
// an error or panics, Func returns NaN, Grad and Hess write NaN, and Status returns the first error with the status
// optimize.Failure, which ends the run; Minimize returns that error, also from later runs. A struct bound to f must not
// change during a run; after a change make a new Problem.
//
// An error of Problem is one of [nabla.PrepareGradient].
func Problem[F nabla.ScalarFunc](f F, b nabla.Backend, x0 []float64) (optimize.Problem, error) {
	g, err := nabla.PrepareGradient(f, b, x0)
	if err != nil {
		return optimize.Problem{}, err
	}
	x0 = slices.Clone(x0)
	p := &problem{n: len(x0), gradAt: newPredictor()}
	p.hessian = func() (*nabla.HessianPrep, error) { return nabla.PrepareHessian(f, b, x0) }
	p.workers = []*worker{{gradient: g, x: make([]float64, p.n), g: make([]float64, p.n)}}
	p.free = slices.Clone(p.workers)
	return optimize.Problem{Func: p.value, Grad: p.grad, Hess: p.hess, Status: p.status}, nil
}

// A problem has the workers that compute the functions of an optimize.Problem.
type problem struct {
	n       int
	hessian func() (*nabla.HessianPrep, error) // prepares it

	// world is held for reading by evaluations, and for writing while prepared objects are made: neither a preparation
	// nor Clone may run beside a call that uses the same bound struct.
	world   sync.RWMutex
	workers []*worker // all of them, guarded by world

	mu      sync.Mutex // guards the rest
	free    []*worker
	gradAt  predictor // whether the gradient is asked for at points whose value was
	hessRow int       // points in a row at which the Hessian was asked for
	err     error     // the first error
}

// A worker has prepared objects for one goroutine, and the results at the last point that were not asked for yet.
type worker struct {
	gradient *nabla.GradientPrep
	hessian  *nabla.HessianPrep // nil until some worker needs one
	x        []float64          // the point
	visited  bool               // x is a point
	has      parts              // results that wait: y, g and h
	asked    parts              // results passed on
	y        float64
	g        []float64
	h        *mat.SymDense
}

// parts is a set of the results at a point.
type parts uint8

const (
	value parts = 1 << iota
	gradient
	hessian
)

// A predictor predicts a yes or no from the outcomes before it, as processors do for branches (Yeh and Patt 1991): each
// pair of last outcomes has a saturating counter. It learns to alternate, as a line search does whose first step is
// always too long. A counter rises by 1 and falls by 2, so that it predicts a yes if more than two thirds of the
// outcomes are: a gradient in vain costs twice the value that it saves.
type predictor struct {
	counters [4]int8 // yes from 2
	last     uint8   // the two last outcomes, as bits
}

func newPredictor() predictor { return predictor{counters: [4]int8{1, 1, 1, 1}} }

func (p *predictor) yes() bool { return p.counters[p.last] >= 2 }

func (p *predictor) add(yes bool) {
	c := &p.counters[p.last]
	if p.last = p.last << 1 & 3; yes {
		*c = min(*c+1, 3)
		p.last |= 1
	} else {
		*c = max(*c-2, 0)
	}
}

// take returns a worker for a call at x that wants part, one that has the results at x if there is one. It is taken
// until give. Results to compute along with part are in more.
func (p *problem) take(part parts, x []float64) (w *worker, more parts) {
	p.mu.Lock()
	if len(p.free) == 0 {
		p.mu.Unlock()
		w = p.grow()
		p.mu.Lock()
	} else {
		at := len(p.free) - 1
		for i, c := range p.free {
			if c.visited && same(c.x, x) {
				at = i
				break
			}
		}
		w = p.free[at]
		p.free = slices.Delete(p.free, at, at+1)
	}
	defer p.mu.Unlock()
	if w.visited && same(w.x, x) && w.asked&part == 0 {
		return w, 0
	}
	if w.visited && w.asked&(value|gradient) != 0 {
		if w.asked&value != 0 {
			p.gradAt.add(w.asked&(gradient|hessian) != 0)
		}
		if w.asked&hessian != 0 {
			p.hessRow++
		} else {
			p.hessRow = 0
		}
	}
	w.visited, w.has, w.asked = true, 0, 0
	copy(w.x, x)
	switch {
	case p.hessRow >= p.n && p.hessRow > 0:
		// By the rule of succession a Hessian is asked for here with probability (r+1)/(r+2) after r requests in a row.
		// If it is, computing it now saves a gradient; if not, it costs about n of them.
		more = value | gradient | hessian
	case p.gradAt.yes():
		more = value | gradient
	}
	return w, more
}

// grow returns a new worker, taken, a clone of the first.
func (p *problem) grow() *worker {
	p.world.Lock()
	defer p.world.Unlock()
	first := p.workers[0]
	w := &worker{gradient: first.gradient.Clone(), x: make([]float64, p.n), g: make([]float64, p.n)}
	if first.hessian != nil {
		w.hessian = first.hessian.Clone()
	}
	p.workers = append(p.workers, w)
	return w
}

// prepareHessian gives every worker a Hessian, unless w has one.
func (p *problem) prepareHessian(w *worker) error {
	p.world.RLock()
	prepared := w.hessian != nil
	p.world.RUnlock()
	if prepared {
		return nil
	}
	p.world.Lock()
	defer p.world.Unlock()
	if p.workers[0].hessian != nil {
		return nil
	}
	h, err := p.hessian()
	if err != nil {
		return err
	}
	p.workers[0].hessian = h
	for _, w := range p.workers[1:] {
		w.hessian = h.Clone()
	}
	return nil
}

// give returns w to the free workers and keeps the first error.
func (p *problem) give(w *worker, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		w.visited, w.has = false, 0
		if p.err == nil {
			p.err = err
		}
	}
	p.free = append(p.free, w)
}

func (p *problem) status() (optimize.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return optimize.Failure, p.err
	}
	return optimize.NotTerminated, nil
}

func (p *problem) value(x []float64) (y float64) {
	var err error
	w, more := p.take(value, x)
	defer func() { p.give(w, err) }()
	if err = p.compute(w, value, more, nil, x); err != nil {
		return math.NaN()
	}
	return w.y
}

func (p *problem) grad(grad, x []float64) {
	var err error
	w, more := p.take(gradient, x)
	defer func() { p.give(w, err) }()
	if err = p.compute(w, gradient, more&^hessian, nil, x); err != nil {
		for i := range grad {
			grad[i] = math.NaN()
		}
		return
	}
	copy(grad, w.g)
}

func (p *problem) hess(hess *mat.SymDense, x []float64) {
	var err error
	w, _ := p.take(hessian, x)
	defer func() { p.give(w, err) }()
	if w.has&hessian != 0 {
		hess.CopySym(w.h)
		w.has &^= hessian
		w.asked |= hessian
		return
	}
	if err = p.compute(w, hessian, 0, hess, x); err != nil {
		for i := range p.n {
			for j := i; j < p.n; j++ {
				hess.SetSym(i, j, math.NaN())
			}
		}
	}
}

// compute computes part at x in w, and the parts more, unless part waits. A Hessian is written to hess, and to w.h if
// it is one of more.
func (p *problem) compute(w *worker, part, more parts, hess *mat.SymDense, x []float64) (err error) {
	if len(x) != p.n {
		return &nabla.ShapeError{Op: "Problem", Arg: "len(x)", Got: len(x), Want: p.n}
	}
	wanted := part | more
	if wanted&hessian != 0 {
		if err := p.prepareHessian(w); err != nil {
			return err
		}
	}
	p.world.RLock()
	defer p.world.RUnlock()
	switch {
	case w.has&part != 0:
	case more&hessian != 0:
		if w.h == nil {
			w.h = mat.NewSymDense(p.n, nil)
		}
		if w.y, _, _, err = w.hessian.ValueGradientAndDense(w.g, w.h, x); err == nil {
			w.has = value | gradient | hessian
		}
	case part == hessian && w.asked&gradient != 0:
		_, err = w.hessian.Dense(hess, x)
	case part == hessian:
		if w.y, _, _, err = w.hessian.ValueGradientAndDense(w.g, hess, x); err == nil {
			w.has |= (value | gradient) &^ w.asked
		}
	case wanted&gradient != 0:
		if w.y, _, err = w.gradient.ValueAndGradient(w.g, x); err == nil {
			w.has |= (value | gradient) &^ w.asked
		}
	default:
		w.y, err = w.gradient.Value(x)
	}
	w.has &^= part
	w.asked |= part
	return err
}

// same reports whether a and b have equal elements, bit by bit.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(v, w float64) bool { return math.Float64bits(v) == math.Float64bits(w) })
}
