package ode

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/lifted"
)

// A Problem is a differential equation that is prepared for solution. It is for one goroutine at a time, and so are its
// solutions; see Clone. If the right-hand side is bound to a struct by nabla.Bind, the caller may change the struct
// between solutions; derivatives of a solution are computed before that.
type Problem struct {
	set  Settings
	n, m int // the numbers of states and parameters
	rhs  rhs
	step stepper
	seg  segment
	ctl  control

	events watch

	// tangent prepares the equation of the state and a tangent of it, whose parameters are those of the equation and a
	// tangent of them.
	tangent func() (*Problem, error)
}

// rhs is the right-hand side as a function of z, the states, the parameters and the time.
type rhs struct {
	n, m    int
	z, zbar []float64
	push    *nabla.PushforwardPrep
	pull    *nabla.PullbackPrep
	pushing func() (*nabla.PushforwardPrep, error) // prepares push
	values  int                                    // evaluations

	// along computes the right-hand side of a tangent's equation: it is the pushforward of that of the state, which
	// takes z and v, the state, parameters and time and a tangent of them. Nil for other equations.
	along *nabla.PushforwardPrep
	v     []float64
}

// A stepper computes steps of a method, and their derivatives.
type stepper interface {
	// order is that of the error estimate plus 1.
	order() float64
	// next says what the next step is to the last one.
	next(f following)
	// take computes a step of size h from y at t, with the state after it in y1 and the estimated error in e, unless e
	// is nil. The parameters are in the right-hand side.
	take(y1, e []float64, t, h float64, y []float64) error
	// at writes the state at the part θ of the last step to dst.
	at(dst []float64, theta float64)
	// push carries the tangents of the state, in ydot, and of the parameters, in pdot, over a step of size h from y at
	// t.
	push(ydot, pdot []float64, t, h float64, y []float64) error
	// pull carries the cotangent of the state, in ybar, back over that step, and adds that of the parameters to pbar.
	pull(ybar, pbar []float64, t, h float64, y []float64) error
	clone(r *rhs) (stepper, error)
}

// following is what a step is to the one before.
type following int

const (
	restarted following = iota // unrelated
	accepted                   // from its end
	repeated                   // from its beginning
)

// Prepare prepares the equation whose right-hand side is f, with derivatives by b; nil selects an engine. y0 and p have
// the lengths of the state and of the parameters, and f is evaluated there. f is a function of the state, then the
// parameters, then the time, and has an output for each element of the state; see the package's documentation. settings
// may be nil.
func Prepare[F nabla.VectorFunc](f F, b nabla.Backend, y0, p []float64, settings *Settings) (*Problem, error) {
	set, err := settings.check()
	if err != nil {
		return nil, err
	}
	q := &Problem{set: set, n: len(y0), m: len(p)}
	q.rhs = rhs{n: q.n, m: q.m, z: make([]float64, q.n+q.m+1), zbar: make([]float64, q.n+q.m+1)}
	z := q.rhs.z
	copy(z, y0)
	copy(z[q.n:], p)
	if q.rhs.pull, err = nabla.PreparePullback(f, b, z); err != nil {
		return nil, err
	}
	out, err := q.rhs.pull.Value(nil, z)
	if err != nil {
		return nil, err
	}
	if len(out) != q.n {
		return nil, &LengthError{"the right-hand side", len(out), q.n}
	}
	at := append([]float64(nil), z...)
	q.rhs.pushing = func() (*nabla.PushforwardPrep, error) { return nabla.PreparePushforward(f, b, at) }
	switch set.Method {
	case DormandPrince:
		q.step = newExplicit(&q.rhs)
	case Rodas:
		if q.step, err = newRosenbrock(&q.rhs, f, b, at); err != nil {
			return nil, err
		}
	}
	q.tangent = func() (*Problem, error) { return prepareTangent(q, f, b, at) }
	return q, nil
}

// prepareTangent prepares the equation of q together with that of a tangent, ẏ' = ∂f/∂y·ẏ + ∂f/∂p·ṗ. at is a point of
// f. The steps of both methods commute with differentiation: those of this equation have the tangents that Pushforward
// computes.
func prepareTangent[F nabla.VectorFunc](q *Problem, f F, b nabla.Backend, at []float64) (*Problem, error) {
	n, m := q.n, q.m
	value, product := lifted.Vector(f, b), nabla.PushforwardFunc(f, b)
	both := func(z []nabla.Real) []nabla.Real { // of y, ẏ, p, ṗ, t
		y, ydot, p, pdot, t := z[:n], z[n:2*n], z[2*n:2*n+m], z[2*n+m:2*(n+m)], z[2*(n+m)]
		x := append(append(append(make([]nabla.Real, 0, n+m+1), y...), p...), t)
		v := append(append(append(make([]nabla.Real, 0, n+m+1), ydot...), pdot...), nabla.Const(0))
		return append(append(make([]nabla.Real, 0, 2*n), value(x)...), product(x, v)...)
	}
	set := q.set
	set.Events, set.Context, set.Progress, set.LargestStep = nil, nil, nil, 0 // of the solution whose steps it takes
	states := append(append([]float64(nil), at[:n]...), make([]float64, n)...)
	parameters := append(append([]float64(nil), at[n:n+m]...), make([]float64, m)...)
	c, err := Prepare(both, lifted.Outer(f, b), states, parameters, &set)
	if err != nil {
		return nil, err
	}
	c.rhs.along, err = nabla.PreparePushforward(f, b, at)
	c.rhs.v = make([]float64, n+m+1)
	return c, err
}

// Clone returns a problem for use in another goroutine.
func (q *Problem) Clone() (*Problem, error) {
	c := &Problem{set: q.set, n: q.n, m: q.m, tangent: q.tangent}
	c.set.Events = slices.Clone(q.set.Events)
	for i, e := range c.set.Events {
		own := *e
		own.prep = e.prep.Clone()
		c.set.Events[i] = &own
	}
	c.rhs = rhs{n: q.n, m: q.m, z: make([]float64, len(q.rhs.z)), zbar: make([]float64, len(q.rhs.z)),
		pull: q.rhs.pull.Clone(), pushing: q.rhs.pushing}
	if q.rhs.push != nil {
		c.rhs.push = q.rhs.push.Clone()
	}
	if q.rhs.along != nil {
		c.rhs.along, c.rhs.v = q.rhs.along.Clone(), make([]float64, len(q.rhs.v))
	}
	var err error
	c.step, err = q.step.clone(&c.rhs)
	return c, err
}

// load sets the parameters.
func (r *rhs) load(p []float64) { copy(r.z[r.n:], p) }

// value writes the right-hand side at (t, y) to dst.
func (r *rhs) value(dst []float64, t float64, y []float64) error {
	copy(r.z, y)
	r.z[r.n+r.m] = t
	r.values++
	if r.along == nil {
		_, err := r.pull.Value(dst, r.z)
		return err
	}
	n, m := r.n/2, r.m/2
	p := r.z[r.n : r.n+r.m]
	copy(r.v, y[n:])
	copy(r.v[n:], p[m:])
	z := r.zbar[:n+m+1]
	copy(z, y[:n])
	copy(z[n:], p[:m])
	z[n+m] = t
	_, _, err := r.along.ValueAndPushforward(dst[:n:n], dst[n:], z, r.v)
	return err
}

// pullback adds the products of the cotangent w with the Jacobian at (t, y) to ybar and pbar.
func (r *rhs) pullback(ybar, pbar []float64, t float64, y, w []float64) error {
	copy(r.z, y)
	r.z[r.n+r.m] = t
	if _, err := r.pull.Pullback(r.zbar, r.z, w); err != nil {
		return err
	}
	for i := range ybar {
		ybar[i] += r.zbar[i]
	}
	for i := range pbar {
		pbar[i] += r.zbar[r.n+i]
	}
	return nil
}

// pushforward writes the product of the Jacobian at (t, y) with the tangents of state and parameters to dst, and the
// right-hand side to f.
func (r *rhs) pushforward(f, dst []float64, t float64, y, ydot, pdot []float64) (err error) {
	if r.push == nil {
		if r.push, err = r.pushing(); err != nil {
			return err
		}
	}
	copy(r.z, y)
	r.z[r.n+r.m] = t
	copy(r.zbar, ydot)
	copy(r.zbar[r.n:], pdot)
	r.zbar[r.n+r.m] = 0
	_, _, err = r.push.ValueAndPushforward(f, dst, r.z, r.zbar)
	return err
}

// finite returns a *NonFiniteError if an element of f, the right-hand side at t, is not finite.
func finite(f []float64, t float64) error {
	for i, v := range f {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &NonFiniteError{t, i, v}
		}
	}
	return nil
}
