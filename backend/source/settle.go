package source

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/gen/rt"
)

// Generated code does not know a zero that nothing has reached from one that numbers
// make, and only the first may swallow an infinite derivative. Where it meets one, or
// where a NaN comes out, the form over Reals is asked, as other engines are: those know.

// A settler computes derivatives from the form over Reals. What it needs is made when it
// is first asked, and kept.
type settler struct {
	skipped uint64 // rt.Skipped before the call
	push    engine.Pushforward
	pull    engine.Pullback
	second  engine.Pushforward
	y, ydot []float64
	in, v   []float64
	off     bool // there is no such form, or it is too long to record
}

// begin is called before the code is run whose results sure judges.
func (r *runner) begin() { r.settler.skipped = rt.Skipped() }

// sure reports whether the derivatives in out are what they are for all engines.
func (r *runner) sure(out []float64) bool {
	return r.settler.off || rt.Skipped() == r.settler.skipped && !anyNaN(out)
}

// function is what to record of f: always, whatever was taken to hold of its branch.
func (r *runner) function() *engine.Function {
	return r.f.With(r.n, r.m, engine.Policy{NoStaleCheck: r.f.Policy().NoStaleCheck})
}

// try keeps out as it is where f fails, here and from now on.
func (s *settler) try(out []float64, f func(out []float64) error) {
	work := make([]float64, len(out))
	if err := f(work); err != nil {
		s.off = true
		return
	}
	copy(out, work)
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
