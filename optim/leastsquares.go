package optim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// A Method is a method for nonlinear least squares.
type Method int

const (
	// LevenbergMarquardt limits the steps by a damping of the unknowns. With a dense Jacobian and without bounds it is
	// MINPACK's lmder (Moré 1978): a trust region scaled by the norms of the columns, whose parameter solves the
	// secular equation of a QR factorisation with pivoting. With bounds, or with a sparse Jacobian, the damping follows
	// the gain of the last step (Nielsen 1999), and the step is searched along the projected arc of Bertsekas (1982).
	LevenbergMarquardt Method = iota
	// GaussNewton minimises the linear model and searches along its solution, or along the projected arc, without
	// damping. It is fast near solutions with small residuals. If columns of the Jacobian are dependent, unknowns keep
	// their values.
	GaussNewton
)

func (m Method) String() string {
	switch m {
	case LevenbergMarquardt:
		return "Levenberg–Marquardt"
	case GaussNewton:
		return "Gauss–Newton"
	}
	return fmt.Sprintf("Method(%d)", int(m))
}

// A LinearSolver is a method for the linear least-squares problems of a sparse Jacobian.
type LinearSolver int

const (
	// AutoSolver is DirectSolver, unless the factors have many more entries than the Jacobian, and IterativeSolver
	// otherwise. It depends on the pattern of the Jacobian alone.
	AutoSolver LinearSolver = iota
	// DirectSolver factorises the augmented system [δI J; Jᵀ -δI] in an order with little fill, once in each iteration.
	// Memory and time depend on the fill; ill-conditioned problems, such as bundle adjustment, need it.
	DirectSolver
	// IterativeSolver is [LSMR], to a precision that grows towards the solution. It needs no memory beside a few
	// vectors.
	IterativeSolver
)

func (s LinearSolver) String() string {
	switch s {
	case AutoSolver:
		return "automatic"
	case DirectSolver:
		return "direct"
	case IterativeSolver:
		return "iterative"
	}
	return fmt.Sprintf("LinearSolver(%d)", int(s))
}

// LeastSquaresSettings are the settings of [LeastSquares]. The zero value has the defaults, those of MINPACK's lmder1.
// A tolerance of 0 means the default; a negative one turns its test off.
type LeastSquaresSettings struct {
	Method Method
	// FTol is the relative reduction of the sum of squares, actual and predicted, at which the solver ends: 1.5e-8, the
	// square root of the precision of float64, by default.
	FTol float64
	// XTol is the relative size of the step, scaled, at which the solver ends: 1.5e-8 by default.
	XTol float64
	// GTol is the cosine of the angle between the residuals and any column of the Jacobian at which the solver ends.
	// The default is 0, which is reached only at points where the gradient vanishes exactly. With bounds, components of
	// the gradient that point out of the box do not count.
	GTol float64
	// MaxEvaluations is the limit of evaluations of the residuals: 100·(n+1) by default.
	MaxEvaluations int
	// Factor limits the first step of a dense problem without bounds to this multiple of the scaled norm of x: 100 by
	// default. Values between 0.1 and 100 are useful.
	Factor float64
	// Scale has positive factors of the unknowns. By default it has the norms of the columns of the Jacobian, which
	// grow with it during the run.
	Scale []float64
	// Lower and Upper are bounds of the unknowns; infinite ones do not bind, nil means none. The start is projected to
	// them. An upper bound must be above the lower one.
	Lower, Upper []float64
	// Covariance asks for (JᵀJ)⁻¹ at the solution. Bounds that hold with equality do not change it. With a sparse
	// Jacobian the condition number of J, with columns of norm 1, must be below about 1e7.
	Covariance bool
	// LinearSolver selects how the linear problems of a sparse Jacobian are solved.
	LinearSolver LinearSolver
	// Context, unless nil, ends the run when it is done; it is checked before each evaluation.
	Context context.Context
	// Progress, unless nil, is called with the start and each point that is accepted. An error ends the run.
	Progress func(Iteration) error
}

// A LeastSquaresResult is a result of [LeastSquares].
type LeastSquaresResult struct {
	X         []float64 // the best point
	Residuals []float64 // f(X)
	Cost      float64   // ½·Σ fᵢ(X)²
	// GradientNorm is the largest element of Jᵀf at X, without components that point out of the bounds.
	GradientNorm float64
	// Covariance is (JᵀJ)⁻¹ at X if it was asked for. Times 2·Cost/(m-n) it is the usual estimate of the covariance of
	// the unknowns for m residuals of equal variance; see [LeastSquaresResult.StandardErrors]. It has all elements for
	// a dense Jacobian, in a *mat.SymDense. For a sparse one it is a *sparse.SymCSC with those at the entries of JᵀJ,
	// of pairs of unknowns that are in a residual together; its At returns 0 for all others.
	Covariance  mat.Symmetric
	Iterations  int // accepted steps
	Evaluations int // of the residuals
	// Jacobians is the number of evaluations of the Jacobian, one of which may be at the solution, for GradientNorm and
	// Covariance.
	Jacobians int
	Status    Status
}

// LeastSquares minimises ½·Σ fᵢ(x)² from x0, with the Jacobian of f on the backend b. Settings may be nil. The function
// has at least as many residuals as x has elements.
//
// If the Jacobian is sparse, with a [nabla.AutoSparse] or chosen by a nil backend for large sparse problems, the linear
// problems are solved by a factorisation of package direct or by [LSMR]; see [LinearSolver].
//
// An error other than one of the arguments and the preparation comes with a result that has the best point: a
// *[ConvergenceError] after MaxEvaluations, a *[DescentError], a *[NonFiniteError] for residuals that are not finite, a
// *[StopError] of the context or Progress, a *[RankError] if there is no covariance, and errors of f, such as a
// *[nabla.PanicError]. Trial points at which residuals are not finite are rejected, and an error only if the run ends
// beside one where neither the gradient nor the residuals are small.
//
// For a small problem that is solved once, the preparation of a compiled engine costs more than the run:
// forwarddiff.Backend{} has nearly none.
//
// A run prepares the Jacobian once and allocates its memory at the start: for m residuals and n unknowns about 2·m·n
// numbers with a dense Jacobian, and 3·m·n with bounds.
func LeastSquares[F nabla.VectorFunc](f F, b nabla.Backend, x0 []float64,
	s *LeastSquaresSettings) (*LeastSquaresResult, error) {
	l, err := newLeastSquares(x0, s)
	if err != nil {
		return nil, err
	}
	if l.prep, err = nabla.PrepareJacobian(f, b, l.x); err != nil {
		return nil, err
	}
	return l.solve()
}

// leastSquares is a run of LeastSquares.
type leastSquares struct {
	run
	set              LeastSquaresSettings
	ftol, xtol, gtol float64
	factor           float64
	box              box
	prep             *nabla.JacobianPrep
	m, n             int
	model            model // the Jacobian
	at               []float64

	x, r       []float64 // the best point and its residuals
	norm       float64   // of r
	initial    float64   // of r at the start
	trial, rt  []float64 // another point with its residuals
	grad       []float64
	scale      []float64
	jacobians  int
	iterations int
	badTrial   *NonFiniteError // of the last trial point with residuals that are not finite
	badAt      int             // its number
}

// newLeastSquares checks the settings and returns a run without its function.
func newLeastSquares(x0 []float64, s *LeastSquaresSettings) (*leastSquares, error) {
	const op = "LeastSquares"
	l := &leastSquares{n: len(x0)}
	if s != nil {
		l.set = *s
	}
	s = &l.set
	l.run = run{op: op, context: s.Context, progress: s.Progress, limit: s.MaxEvaluations}
	var errs [4]error
	l.ftol, errs[0] = tolerance(op, "FTol", s.FTol, rootEps)
	l.xtol, errs[1] = tolerance(op, "XTol", s.XTol, rootEps)
	l.gtol, errs[2] = tolerance(op, "GTol", s.GTol, 0)
	l.box, errs[3] = newBox(op, s.Lower, s.Upper, l.n)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	refuse := func(setting string, got any, want string) (*leastSquares, error) {
		return nil, &SettingError{op, setting, fmt.Sprint(got), want}
	}
	if l.n == 0 {
		return refuse("len(x0)", 0, "at least one unknown")
	}
	if i := nonFinite(x0); i >= 0 {
		return nil, &NonFiniteError{op, "unknown", i, x0[i], slices.Clone(x0)}
	}
	if s.Method != LevenbergMarquardt && s.Method != GaussNewton {
		return refuse("Method", s.Method, "LevenbergMarquardt or GaussNewton")
	}
	if s.LinearSolver < AutoSolver || s.LinearSolver > IterativeSolver {
		return refuse("LinearSolver", s.LinearSolver, "AutoSolver, DirectSolver or IterativeSolver")
	}
	if l.limit == 0 {
		l.limit = 100 * (l.n + 1)
	} else if l.limit < 0 {
		return refuse("MaxEvaluations", l.limit, "a positive number, or 0 for the default")
	}
	switch l.factor = s.Factor; {
	case s.Factor == 0:
		l.factor = 100
	case !(s.Factor > 0) || math.IsInf(s.Factor, 0):
		return refuse("Factor", s.Factor, "a positive number, or 0 for the default")
	}
	if s.Scale != nil && len(s.Scale) != l.n {
		return refuse("len(Scale)", len(s.Scale), fmt.Sprintf("%d, the number of unknowns", l.n))
	}
	for i, v := range s.Scale {
		if !(v > 0) || math.IsInf(v, 0) {
			return refuse(fmt.Sprintf("Scale[%d]", i), v, "a positive number")
		}
	}
	l.x, l.trial, l.grad = slices.Clone(x0), make([]float64, l.n), make([]float64, l.n)
	l.box.project(l.x)
	l.scale = slices.Clone(s.Scale)
	return l, nil
}

// solve runs the solver with the function in l.prep.
func (l *leastSquares) solve() (*LeastSquaresResult, error) {
	l.m, _ = l.prep.Dims()
	if l.m < l.n {
		return nil, &UnderdeterminedError{l.m, l.n}
	}
	l.r, l.rt = make([]float64, l.m), make([]float64, l.m)
	if l.prep.Plan() == nil {
		l.model = newDense(l.m, l.n)
	} else {
		l.model = newSparse(l.m, l.n, l.set.LinearSolver)
	}
	status, err := Stopped, l.evaluate(l.r, l.x)
	if err != nil {
		return nil, err
	}
	l.norm = floats.Norm(l.r, 2)
	l.initial = l.norm
	if nonFinite(l.r) >= 0 {
		err = l.bad(l.r, l.x)
	} else if math.IsInf(l.norm, 0) {
		err = &NonFiniteError{l.op, "norm of the residuals", 0, l.norm, slices.Clone(l.x)}
	} else if d, ok := l.model.(*dense); ok && l.set.Method == LevenbergMarquardt && !l.box.bounded() {
		status, err = l.lmder(d)
	} else {
		status, err = l.projected()
	}
	return l.result(status, err)
}

// result returns the result with the best point.
func (l *leastSquares) result(status Status, err error) (*LeastSquaresResult, error) {
	res := &LeastSquaresResult{X: l.x, Residuals: l.r, Cost: l.norm * l.norm / 2, GradientNorm: math.NaN(),
		Iterations: l.iterations}
	if err == nil && status == EvaluationLimit {
		err = &ConvergenceError{l.op, l.evaluations, res.Cost}
	}
	if limit := (*ConvergenceError)(nil); err == nil || errors.As(err, &limit) {
		e := l.jacobian()
		if e == nil {
			l.model.transposed(l.grad, l.r)
			res.GradientNorm = 0
			for i := range l.grad {
				res.GradientNorm = max(res.GradientNorm, math.Abs(l.box.gradient(i, l.x, l.grad)))
			}
			if l.set.Covariance && err == nil {
				res.Covariance, err = l.model.covariance()
			}
		} else if err == nil {
			status, err = Stopped, e
		}
	} else {
		status = Stopped
	}
	res.Status, res.Evaluations, res.Jacobians = status, l.evaluations, l.jacobians
	return res, err
}

// evaluate writes the residuals at x to r.
func (l *leastSquares) evaluate(r, x []float64) error {
	if err := l.check(); err != nil {
		return err
	}
	l.evaluations++
	_, err := l.prep.Value(r, x)
	return err
}

// try evaluates l.rt at l.trial and returns its norm, NaN if a residual is not finite.
func (l *leastSquares) try() (float64, error) {
	if err := l.evaluate(l.rt, l.trial); err != nil {
		return 0, err
	}
	if nonFinite(l.rt) >= 0 {
		l.badTrial, l.badAt = l.bad(l.rt, l.trial), l.evaluations
		return math.NaN(), nil
	}
	return floats.Norm(l.rt, 2), nil
}

// accept makes the trial point, whose residuals have the norm given, the best point.
func (l *leastSquares) accept(norm float64) {
	l.x, l.trial = l.trial, l.x
	l.r, l.rt = l.rt, l.r
	l.norm = norm
	l.iterations++
}

// bad returns the error for residuals r at x that are not finite.
func (l *leastSquares) bad(r, x []float64) *NonFiniteError {
	i := nonFinite(r)
	return &NonFiniteError{l.op, "residual", i, r[i], slices.Clone(x)}
}

// jacobian evaluates the Jacobian at l.x, unless the model has it.
func (l *leastSquares) jacobian() error {
	if l.at != nil && same(l.at, l.x) {
		return nil
	}
	if err := l.check(); err != nil {
		return err
	}
	l.jacobians++
	l.at = append(l.at[:0], l.x...)
	if err := l.model.update(l.prep, l.x); err != nil {
		l.at = nil
		return err
	}
	if row, v := l.model.nonFinite(); row >= 0 {
		l.at = nil
		return &NonFiniteError{l.op, "element of the Jacobian in row", row, v, slices.Clone(l.x)}
	}
	return nil
}

// end returns the result of a run that ends with the status s where the gradient is gnorm, after a step that was
// accepted or not. If neither the gradient nor the residuals are small, the steps may be short for other reasons than a
// solution: it is an error if a trial point shortly before had residuals that are not finite, as the function is not
// defined beyond, and if the last step was rejected, as the Jacobian promises a decrease that is not there.
func (l *leastSquares) end(s Status, gnorm float64, accepted bool) (Status, error) {
	switch {
	case gnorm <= 1e-5 || l.norm <= rootEps*l.initial:
	case l.badTrial != nil && l.evaluations-l.badAt < 10:
		return Stopped, l.badTrial
	case !accepted && gnorm > 1e-3: // ends with large residuals leave about 1e-5
		return Stopped, &DescentError{l.op, gnorm * l.norm}
	}
	return s, nil
}

// reached returns the status for the relative reductions of the sum of squares and for a relative step, with MINPACK's
// tests, Stopped if none holds.
func (l *leastSquares) reached(actual, predicted, ratio, step float64, gradient float64) Status {
	cost := func(tol float64) bool { return math.Abs(actual) <= tol && predicted <= tol && ratio <= 2 }
	switch c, s := cost(l.ftol), step <= l.xtol; {
	case c && s:
		return CostAndStepConverged
	case c:
		return CostConverged
	case s:
		return StepConverged
	case l.evaluations >= l.limit:
		return EvaluationLimit
	case cost(eps):
		return CostPrecision
	case step <= eps:
		return StepPrecision
	case gradient <= eps:
		return GradientPrecision
	}
	return Stopped
}

// same reports whether a and b have equal elements, bit by bit.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(v, w float64) bool { return math.Float64bits(v) == math.Float64bits(w) })
}
