package source

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/vector"
)

// Generated code cannot distinguish structural zeros, which must be strong, from computed ones, whose product with an
// infinite partial derivative is NaN. It omits all such products and counts them in core.Skipped. If a call has omitted
// some, the code runs twice more: unchanged, and with seeds marked by NaN. Products that the marked run omits too
// involve structural zeros; if both runs omit equally many, the result is right. Otherwise, or if the result has a NaN,
// the derivative of the form over Reals, which knows its structural zeros, replaces it. Without that form the code runs
// once more with NaN for the omitted products. An element that is NaN in this run and depends on the seeds becomes NaN
// if no omitted product was a structural zero; otherwise the call fails.

// A settler holds the state to check derivatives for omitted products. Its fields are allocated when they are first
// needed and kept.
type settler struct {
	skipped uint64 // core.Skipped before the call
	push    engine.Pushforward
	pull    engine.Pullback
	second  engine.Pushforward
	y, ydot []float64
	in, v   []float64
	work    []float64 // result of the form over Reals, which may still fail
	off     bool      // the form over Reals does not exist or is too long to record

	x, seeds      []float64 // arguments of the call
	value, marks  []float64 // scratch of repeated runs
	other, reach  []float64 // derivatives of the unchanged and of the marked run
	plain, marked core.SkipPass
	filled        core.SkipPass
}

// A judged is a computation of derivatives that can be repeated.
type judged interface {
	// again runs the code once more and writes the derivatives to out. The seeds are marked by NaN if mark is set.
	again(out []float64, mark bool)
	// ask replaces out by the derivatives of the form over Reals, if there is one.
	ask(out []float64)
	// element describes out[i] for errors.
	element(i int) string
}

// begin must be called before the code whose results sure checks.
func (r *runner) begin() { r.settler.skipped = core.Skipped() }

// sure reports whether the derivatives in out follow the convention: the code has omitted no product, and there is no
// NaN that the form over Reals might replace.
func (r *runner) sure(out []float64) bool {
	return core.Skipped() == r.settler.skipped && (r.settler.off || !vector.AnyNaN(out))
}

// settle corrects the derivatives out, which j has computed, so that they follow the convention, or returns an
// *engine.UnsupportedError if they are unknown.
func (r *runner) settle(out []float64, j judged) error {
	s := &r.settler
	doubt := false
	if core.Skipped() != s.skipped { // by this call or by a concurrent one
		s.room(r, len(out))
		s.run(&s.plain, j, s.other)
		s.run(&s.marked, j, s.reach)
		doubt = s.plain.Skips != s.marked.Skips
	}
	if !doubt && (s.off || !vector.AnyNaN(out)) {
		return nil
	}
	if !s.off {
		j.ask(out)
	}
	if !doubt || !s.off {
		return nil
	}
	s.run(&s.filled, j, s.other)
	for i, v := range s.other {
		switch {
		case v == v || out[i] != out[i] || s.reach[i] == s.reach[i]:
		case s.marked.Skips == 0: // no omitted product was a structural zero
			out[i] = math.NaN()
		default:
			return r.unsettled(j.element(i))
		}
	}
	return nil
}

// room allocates memory for repeated runs with k derivatives.
func (s *settler) room(r *runner, k int) {
	if cap(s.other) < k {
		s.other, s.reach = make([]float64, k), make([]float64, k)
	}
	s.other, s.reach = s.other[:k], s.reach[:k]
	if s.value == nil {
		s.value, s.marks = make([]float64, r.m), make([]float64, max(r.n, r.m))
		s.marked.Mark, s.filled.Fill = true, true
	}
}

// run repeats the code in pass p.
func (s *settler) run(p *core.SkipPass, j judged, out []float64) {
	p.Begin()
	defer p.End()
	j.again(out, p.Mark)
}

// unsettled returns the error for an element that depends on omitted products of which some are 0 and some NaN.
func (r *runner) unsettled(element string) error {
	e := &engine.UnsupportedError{
		What: fmt.Sprintf(
			"%s: %s at this x: an infinite derivative is multiplied by zero, and the generated code cannot "+
				"tell whether it is 0 or NaN",
			r.gen.Name,
			element,
		),
		Remedy: "write the function without the singular operation, as with math.Hypot for a " +
			"square root of squares, or over nabla.Real, whose engines can tell",
	}
	if why := r.gen.RefusedTraced; why != "" {
		e.What += "; it has no form over nabla.Real: " + why
	}
	return e
}

// function returns f with the policy that its form over Reals is recorded with: only NoStaleCheck is kept, so no
// assumption of the user about branches holds.
func (r *runner) function() *engine.Function {
	return r.f.With(r.n, r.m, engine.Policy{NoStaleCheck: r.f.Policy().NoStaleCheck})
}

// try replaces out by the result of f. If f fails, out stays unchanged and the form over Reals is not used again.
func (s *settler) try(out []float64, f func(out []float64) error) {
	if cap(s.work) < len(out) {
		s.work = make([]float64, len(out))
	}
	s.work = s.work[:len(out)]
	if err := f(s.work); err != nil {
		s.off = true
		return
	}
	copy(out, s.work)
}

// forth writes J·xdot to ydot, from the form over Reals.
func (r *runner) forth(ydot, x, xdot []float64) {
	s := &r.settler
	s.try(ydot, func(out []float64) (err error) {
		if s.push == nil {
			s.y = make([]float64, r.m)
			if s.push, err = engine.CompilePushforward(r.function(), x, 1, 0); err != nil {
				return err
			}
		}
		return s.push.Pushforward(s.y, engine.Column(out), x, engine.Column(xdot))
	})
}

// back writes Jᵀ·ybar to xbar, from the form over Reals.
func (r *runner) back(xbar, x, ybar []float64) {
	s := &r.settler
	s.try(xbar, func(out []float64) (err error) {
		if s.pull == nil {
			s.y = make([]float64, r.m)
			if s.pull, err = engine.CompilePullback(r.function(), x, 1, 0); err != nil {
				return err
			}
		}
		return s.pull.Pullback(s.y, engine.Column(out), x, engine.Column(ybar))
	})
}

// bend writes the gradient of output i to xbar, unless that is nil, and the product of its Hessian with xdot to
// xbardot. The function has one output, or one input with xdot = 1.
func (r *runner) bend(xbar, xbardot, x, xdot []float64, i int) {
	s := &r.settler
	s.try(xbardot, func(out []float64) (err error) {
		if s.second == nil {
			if err := r.makeSecond(x); err != nil {
				return err
			}
		}
		copy(s.in, x)
		copy(s.v, xdot)
		if err := s.second.Pushforward(s.y, engine.Column(s.ydot), s.in, engine.Column(s.v)); err != nil {
			return err
		}
		copy(out, s.ydot[i:])
		copy(xbar, s.y[i:])
		return nil
	})
}

// makeSecond compiles the tangent of the gradient or, for several outputs, of the pushforward along 1.
func (r *runner) makeSecond(x []float64) (err error) {
	s := &r.settler
	var g *engine.Function
	if r.m == 1 {
		g, err = engine.GradientFunction(r.function(), Reverse{}, true)
	} else {
		g, err = engine.PushforwardFunction(r.function(), Reverse{}, true)
	}
	if err != nil {
		return err
	}
	n, m := g.Dims()
	s.in, s.v, s.y, s.ydot = make([]float64, n), make([]float64, n), make([]float64, m), make([]float64, m)
	copy(s.in, x)
	if r.m > 1 {
		s.in[1] = 1
	}
	s.second, err = engine.CompilePushforward(g, s.in, 1, 0)
	return err
}
