package source

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
)

// Generated code does not know a zero that nothing has reached from one that numbers
// make, and only the first may swallow an infinite derivative. It counts what it leaves
// out, and where it has left something out it runs twice more, as it is and with NaN for
// its seeds. The second run leaves out what nothing reaches; if that is all, the result
// stands. If not, or where a NaN comes out, the form over Reals is asked, as other engines
// are: those know. Without such a form the code runs once more with NaN for what it leaves
// out, and what comes out as NaN is.

// A settler makes sure of derivatives. What it needs is made when it is first asked, and
// kept.
type settler struct {
	skipped uint64 // core.Skipped before the call
	push    engine.Pushforward
	pull    engine.Pullback
	second  engine.Pushforward
	y, ydot []float64
	in, v   []float64
	work    []float64 // what is asked for, while it may still fail
	off     bool      // there is no such form, or it is too long to record

	x, seeds      []float64 // of the call
	value, marks  []float64 // for another run
	other, reach  []float64 // its derivatives
	plain, marked core.SkipPass
	filled        core.SkipPass
}

// A judged result can be computed again.
type judged interface {
	// again runs the code once more, with its seeds marked or as they are.
	again(out []float64, mark bool)
	// ask computes it from the form over Reals.
	ask(out []float64)
	// element says what out[i] is.
	element(i int) string
}

// begin is called before the code is run whose results sure judges.
func (r *runner) begin() { r.settler.skipped = core.Skipped() }

// sure reports whether the derivatives in out are what they are for all engines.
func (r *runner) sure(out []float64) bool {
	return core.Skipped() == r.settler.skipped && (r.settler.off || !anyNaN(out))
}

// settle makes sure of the derivatives out, which j has computed.
func (r *runner) settle(out []float64, j judged) error {
	s := &r.settler
	doubt := false
	if core.Skipped() != s.skipped { // by this call or by others
		s.room(r, len(out))
		s.run(&s.plain, j, s.other)
		s.run(&s.marked, j, s.reach)
		doubt = s.plain.Skips != s.marked.Skips
	}
	if !doubt && (s.off || !anyNaN(out)) {
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
		case s.marked.Skips == 0: // whatever was left out has been reached
			out[i] = math.NaN()
		default:
			return r.unsettled(j.element(i))
		}
	}
	return nil
}

// room makes s ready to run code with k derivatives again.
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

// run runs code again in a pass.
func (s *settler) run(p *core.SkipPass, j judged, out []float64) {
	p.Begin()
	defer p.End()
	j.again(out, p.Mark)
}

// unsettled is the error where some of what was left out is NaN, some is 0, and which of
// them an element meets is not known.
func (r *runner) unsettled(element string) error {
	e := &engine.UnsupportedError{
		What: fmt.Sprintf("%s: %s at this x: an infinite derivative meets a zero, and the generated code cannot "+
			"tell whether it is 0 or NaN",
			r.gen.Name, element),
		Remedy: "write the function so that it does not compute what is singular there, as with math.Hypot for a " +
			"square root of squares, or over nabla.Real, whose engines can tell",
	}
	if why := r.gen.RefusedTraced; why != "" {
		e.What += "; it has no form over nabla.Real: " + why
	}
	return e
}

// function is what to record of f: always, whatever was taken to hold of its branch.
func (r *runner) function() *engine.Function {
	return r.f.With(r.n, r.m, engine.Policy{NoStaleCheck: r.f.Policy().NoStaleCheck})
}

// try keeps out as it is where f fails, here and from now on.
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

// forth writes J·xdot to ydot.
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

// back writes Jᵀ·ybar to xbar.
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

// bend writes the gradient of output i, where xbar is not nil, and the product of its
// Hessian with xdot. There is one output or one input, and then xdot is 1.
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

// makeSecond makes the tangent of the gradient or, for several outputs, of the
// pushforward of 1.
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

// anyNaN reports whether v has a NaN. Sums find none in most of the cases, at a fraction
// of the cost of looking at each; eight of them do not wait for each other.
func anyNaN(v []float64) bool {
	var a, b, c, d, e, f, g, h float64
	n := len(v) &^ 7
	for i := 0; i < n; i += 8 {
		w := v[i : i+8 : i+8]
		a, b, c, d = a+w[0], b+w[1], c+w[2], d+w[3]
		e, f, g, h = e+w[4], f+w[5], g+w[6], h+w[7]
	}
	for _, x := range v[n:] {
		a += x
	}
	if a += b + c + d + e + f + g + h; a-a == 0 {
		return false
	}
	for _, x := range v {
		if x != x {
			return true
		}
	}
	return false
}
