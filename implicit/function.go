package implicit

import (
	"math"
	"slices"
	"sync"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/lifted"
	"github.com/nabla-ad/nabla/linalg"
)

// A Solver writes the solution for the parameters p to x, which holds the start. It must not change p or keep either.
// Several goroutines call it at once if several use the function.
type Solver func(x, p []float64) error

// Settings of a function. The zero value, like nil, selects the defaults.
type Settings struct {
	// Name is that of the function in messages.
	Name string
	// Tolerance bounds the correction that Newton's method would make to an unknown, relative to the largest unknown or
	// 1; 0 means 1e-6. It is a bound for the error of derivatives too, up to a factor of the problem.
	Tolerance float64
	// Start is where the solver starts; nil means 0.
	Start []float64
	// MatrixFree solves linear systems by GMRES, for [Minimizer] by conjugate gradients, over products with the
	// derivative of the equations, to a relative residual of 1e-12. A singular derivative is then an error only where
	// the systems have no solution.
	MatrixFree bool
}

// A Function is the solution of equations as a function of their parameters. All of its methods may be called by
// several goroutines at once if that holds for the equations and the solver.
type Function struct {
	set   Settings
	n, m  int
	solve Solver
	// symmetric says that the derivative of the equations by the unknowns is a Hessian of a minimum.
	symmetric bool
	first     *worker // cloned for others
	// tangent writes ẋ over Reals for x, p and ṗ. Nil for functions that are tangents themselves.
	tangent func(xdot, x, p, pdot []nabla.Real)

	mu   sync.Mutex
	free []*worker
}

// Root returns the function p ↦ x with F(x, p) = 0 for n unknowns. p has the length of the parameters, and f is
// evaluated at the start and p when its derivatives are prepared on b; nil selects an engine. f has n outputs.
func Root[F nabla.VectorFunc](f F, b nabla.Backend, n int, p []float64, solve Solver, s *Settings) (*Function, error) {
	return newFunction("Root", f, b, n, p, solve, s, false)
}

// FixedPoint returns the function p ↦ x with x = G(x, p); see [Root]. g must have n outputs.
func FixedPoint[F nabla.VectorFunc](g F, b nabla.Backend, n int, p []float64, solve Solver, s *Settings) (*Function,
	error) {
	over := lifted.Vector(g, b)
	f := func(z []nabla.Real) []nabla.Real {
		y := over(z)
		r := make([]nabla.Real, len(y))
		for i := range y {
			if i < n {
				r[i] = z[i].Sub(y[i])
			}
		}
		return r
	}
	return newFunction("FixedPoint", f, lifted.Outer(g, b), n, p, solve, s, false)
}

// Minimizer returns the function p ↦ x that minimises φ(x, p) over x; see [Root]. The equations are that the gradient
// is zero, and the Hessian must be positive definite at the solution, or derivatives are a *[NotMinimumError].
func Minimizer[F nabla.ScalarFunc](phi F, b nabla.Backend, n int, p []float64, solve Solver, s *Settings) (*Function,
	error) {
	gradient := nabla.GradientFunc(phi, b)
	f := func(z []nabla.Real) []nabla.Real { return gradient(z)[:n] }
	return newFunction("Minimizer", f, lifted.Outer(phi, b), n, p, solve, s, true)
}

// LinearSolve returns the function p ↦ x with F(x, p) = 0 for an f that is linear in the n unknowns x, such as
// A(p)·x - b(p); see [Root]. The solution is computed with the derivative of f by x, which is A.
func LinearSolve[F nabla.VectorFunc](f F, b nabla.Backend, n int, p []float64, s *Settings) (*Function, error) {
	return newFunction("LinearSolve", f, b, n, p, nil, s, false)
}

func newFunction[F nabla.VectorFunc](kind string, f F, b nabla.Backend, n int, p []float64, solve Solver, s *Settings,
	symmetric bool) (*Function, error) {
	w := &Function{n: n, m: len(p), solve: solve, symmetric: symmetric}
	if s != nil {
		w.set = *s
	}
	if w.set.Name == "" {
		w.set.Name = kind
	}
	if w.set.Tolerance == 0 {
		w.set.Tolerance = 1e-6
	}
	if w.set.Start == nil {
		w.set.Start = make([]float64, max(0, n))
	}
	if n < 1 {
		return nil, &SettingError{w.set.Name, "the number of unknowns", n, "1 or more"}
	}
	if solve == nil && kind != "LinearSolve" && kind != "" {
		return nil, &SettingError{w.set.Name, "the solver", nil, "a function, or LinearSolve for linear equations"}
	}
	if len(w.set.Start) != n {
		return nil, &LengthError{w.set.Name, "Settings.Start", len(w.set.Start), n}
	}
	if !(w.set.Tolerance > 0) {
		return nil, &SettingError{w.set.Name, "Tolerance", w.set.Tolerance, "a positive number"}
	}
	z := append(append([]float64(nil), w.set.Start...), p...)
	first, err := newWorker(w, f, b, z)
	if err != nil {
		return nil, err
	}
	w.first = first
	if kind == "" {
		return w, nil
	}
	product := nabla.PushforwardFunc(f, b)
	if first.dense() && n <= 50 {
		w.tangent = w.denseTangent(product)
		return w, nil
	}
	solution := sync.OnceValues(func() (*Function, error) { return newTangent(w, product, lifted.Outer(f, b), z) })
	w.tangent = func(xdot, x, p, pdot []nabla.Real) {
		t := must(solution())
		copy(xdot, t.Real()(append(append(append(make([]nabla.Real, 0, n+2*w.m), x...), p...), pdot...)))
	}
	return w, nil
}

// denseTangent solves for the tangent by operations on matrices of Reals, which have derivatives of any order.
func (w *Function) denseTangent(product func(z, v []nabla.Real) []nabla.Real) func(xdot, x, p, pdot []nabla.Real) {
	return func(xdot, x, p, pdot []nabla.Real) {
		z := append(append(make([]nabla.Real, 0, w.n+w.m), x...), p...)
		a := linalg.New(w.n, w.n)
		for j := range w.n {
			unit := make([]nabla.Real, w.n+w.m)
			unit[j] = nabla.Const(1)
			for i, v := range product(z, unit) {
				a.Set(i, j, v)
			}
		}
		rhs := product(z, append(make([]nabla.Real, w.n), pdot...))
		for i := range rhs {
			rhs[i] = rhs[i].Neg()
		}
		copy(xdot, linalg.SolveVec(a, rhs))
	}
}

// newTangent returns the function (x, p, ṗ) ↦ ẋ, whose equations are those of w along the tangent. Its own derivatives
// are exact, and differences of these beyond.
func newTangent(w *Function, product func(z, v []nabla.Real) []nabla.Real, b nabla.Backend, z []float64) (*Function,
	error) {
	n, m := w.n, w.m
	equations := func(t []nabla.Real) []nabla.Real { // of ẋ, x, p, ṗ
		return product(t[n:2*n+m], append(append(make([]nabla.Real, 0, n+m), t[:n]...), t[2*n+m:]...))
	}
	s := w.set
	s.Name, s.Start = "the tangent of "+s.Name, nil
	return newFunction("", equations, b, n, append(append([]float64(nil), z...), make([]float64, m)...), nil, &s, false)
}

// Dims returns the numbers of unknowns and parameters.
func (w *Function) Dims() (n, m int) { return w.n, w.m }

// Solve writes the solution for p to x, which holds the start of the solver, and returns it; a nil x is allocated, and
// the start is Settings.Start. Only [NonFiniteError] is found here: whether the solution is one is checked for
// derivatives.
func (w *Function) Solve(x, p []float64) ([]float64, error) {
	if x == nil {
		x = append([]float64(nil), w.set.Start...)
	}
	if err := w.lengths("x", x, p); err != nil {
		return nil, err
	}
	if w.solve == nil {
		u, err := w.take(x, p)
		if err != nil {
			return nil, err
		}
		defer w.give(u)
		return x, u.linear(x, p)
	}
	if err := w.solve(x, p); err != nil {
		return x, &SolverError{w.set.Name, err}
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return x, &NonFiniteError{w.set.Name, "unknown", i, v}
		}
	}
	return x, nil
}

// Pushforward writes the tangent of the solution x for p along the tangent pdot to dst, and returns it; nil is
// allocated.
func (w *Function) Pushforward(dst, x, p, pdot []float64) ([]float64, error) {
	w.forget(p)
	return w.push(dst, x, p, pdot)
}

// push is Pushforward, with the derivative of the equations that a worker has for x and p since the last solution.
func (w *Function) push(dst, x, p, pdot []float64) ([]float64, error) {
	if dst == nil {
		dst = make([]float64, w.n)
	}
	if err := w.lengths("x", x, p); err != nil {
		return nil, err
	}
	if err := w.lengths("dst", dst, pdot); err != nil {
		return nil, err
	}
	u, err := w.take(x, p)
	if err != nil {
		return nil, err
	}
	defer w.give(u)
	if err := u.at(x, p); err != nil {
		return nil, err
	}
	return dst, u.push(dst, pdot)
}

// Pullback writes the gradient by p of xbar·x, for the solution x for p, to dst, and returns it; nil is allocated.
func (w *Function) Pullback(dst, x, p, xbar []float64) ([]float64, error) {
	w.forget(p)
	if dst == nil {
		dst = make([]float64, w.m)
	}
	clear(dst)
	return dst, w.pull(dst, x, p, xbar)
}

// pull adds the gradient to pbar; see push.
func (w *Function) pull(pbar, x, p, xbar []float64) error {
	if err := w.lengths("x", x, p); err != nil {
		return err
	}
	if err := w.lengths("xbar", xbar, pbar); err != nil {
		return err
	}
	u, err := w.take(x, p)
	if err != nil {
		return err
	}
	defer w.give(u)
	if err := u.at(x, p); err != nil {
		return err
	}
	return u.pull(pbar, xbar)
}

func (w *Function) lengths(arg string, x, p []float64) error {
	if len(x) != w.n {
		return &LengthError{w.set.Name, arg, len(x), w.n}
	}
	if len(p) != w.m {
		return &LengthError{w.set.Name, "the vector of the parameters", len(p), w.m}
	}
	return nil
}

// Real returns the solution as a function over Reals of the parameters. Errors end the function that calls it, and the
// operator that differentiates it returns them.
func (w *Function) Real() func(p []nabla.Real) []nabla.Real {
	call := w.Rule().Func()
	return func(p []nabla.Real) []nabla.Real { return call(p...) }
}

// Rule returns the function as a rule for the engines, with exact derivatives of any order for up to
// 50 unknowns, and of second order otherwise.
func (w *Function) Rule() nabla.Rule {
	r := nabla.Rule{
		Name: w.set.Name,
		Out:  func(int) int { return w.n },
		Value: func(y, p []float64) {
			w.forget(p)
			copy(y, w.set.Start)
			must(w.Solve(y, p))
		},
		JVP: func(ydot, p, y, pdot []float64) { must(w.push(ydot, y, p, pdot)) },
		VJP: func(pbar, p, y, ybar []float64) { must(y, w.pull(pbar, y, p, ybar)) },
	}
	if w.tangent != nil {
		r.JVPReal = func(ydot, p, y, pdot []nabla.Real) { w.tangent(ydot, y, p, pdot) }
	}
	return r
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// take returns a worker, if possible one that has the derivative of the equations at (x, p).
func (w *Function) take(x, p []float64) (*worker, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := len(w.free) - 1
	for i, u := range w.free {
		if u.has(x, p) {
			k = i
		}
	}
	if k < 0 {
		return w.first.clone(), nil
	}
	u := w.free[k]
	w.free = slices.Delete(w.free, k, k+1)
	return u, nil
}

// forget makes workers compute derivatives of the equations for p again: data that the equations are bound to may have
// changed since.
func (w *Function) forget(p []float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.free {
		if slices.Equal(u.z[w.n:], p) {
			u.known = false
		}
	}
}

func (w *Function) give(u *worker) {
	w.mu.Lock()
	w.free = append(w.free, u)
	w.mu.Unlock()
}
