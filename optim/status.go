package optim

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/internal/page"
)

// A Status tells why a solver ended. The numbers from 1 are the values of info of MINPACK's lmder.
type Status int

const (
	// Stopped means that an error ended the run: of the function, of the context or of Progress.
	Stopped Status = iota
	// CostConverged means that the actual and the predicted relative reduction of the cost are at most FTol.
	CostConverged
	// StepConverged means that the relative change of the unknowns is at most XTol.
	StepConverged
	// CostAndStepConverged means that both of these hold.
	CostAndStepConverged
	// GradientConverged means that the gradient is at most GTol, in the measure that the settings of the solver name.
	GradientConverged
	// EvaluationLimit means that MaxEvaluations were made: the solver has not converged.
	EvaluationLimit
	// CostPrecision means that FTol is too small: rounding errors permit no further reduction of the cost.
	CostPrecision
	// StepPrecision means that XTol is too small: rounding errors permit no better approximation.
	StepPrecision
	// GradientPrecision means that GTol is too small: the gradient is zero up to rounding errors.
	GradientPrecision
)

var statusText = []string{"stopped by an error", "the cost converged", "the step converged",
	"cost and step converged", "the gradient converged", "limit of evaluations reached",
	"the cost is at the limit of precision", "the step is at the limit of precision",
	"the gradient is at the limit of precision"}

func (s Status) String() string {
	if s < 0 || int(s) >= len(statusText) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusText[s]
}

// Converged reports whether the result is a solution: all but Stopped and EvaluationLimit.
func (s Status) Converged() bool {
	return s > Stopped && s <= GradientPrecision && s != EvaluationLimit
}

// A ConvergenceError reports that a solver reached its limit of evaluations. The result beside it is the best point.
type ConvergenceError struct {
	Op          string
	Evaluations int
	Cost        float64 // at the best point
}

func (e *ConvergenceError) Error() string {
	return page.Namef("optim.ConvergenceError",
		"optim: %s: not converged after %d evaluations, with the cost %.6g; start from the result "+
			"again, raise MaxEvaluations, or scale the unknowns", e.Op, e.Evaluations, e.Cost)
}

// A NonFiniteError reports a NaN or an infinity among the values or the derivatives of the function.
type NonFiniteError struct {
	Op    string
	What  string // "residual", "value", "gradient" or "Jacobian"
	Index int    // of the residual, of the component of the gradient, or of the row of the Jacobian
	Value float64
	X     []float64 // the point
}

func (e *NonFiniteError) Error() string {
	return page.Namef("optim.NonFiniteError",
		"optim: %s: %s %d is %v; nabla.Trace(f, x) at the point X of this error finds the operation, "+
			"another start or bounds avoid it", e.Op, e.What, e.Index, e.Value)
}

// A SettingError reports a setting, or an argument, that the solver does not accept.
type SettingError struct {
	Op, Setting string
	Got, Want   string
}

func (e *SettingError) Error() string {
	return page.Namef("optim.SettingError", "optim: %s: %s is %s, want %s", e.Op, e.Setting, e.Got, e.Want)
}

// An UnderdeterminedError reports that a function has fewer residuals than unknowns.
type UnderdeterminedError struct{ Residuals, Unknowns int }

func (e *UnderdeterminedError) Error() string {
	return page.Namef("optim.UnderdeterminedError",
		"optim: LeastSquares: %d residuals do not determine %d unknowns; add residuals, such as small "+
			"multiples of the unknowns", e.Residuals, e.Unknowns)
}

// A RankError reports that the Jacobian at the solution has linearly dependent columns, so that there is no covariance.
// The rank is numerical, of columns with norm 1; that of a sparse Jacobian is an upper bound if it is near the number
// of unknowns.
type RankError struct{ Rank, Unknowns int }

func (e *RankError) Error() string {
	return page.Namef("optim.RankError",
		"optim: LeastSquares: the Jacobian has rank %d for %d unknowns, so there is no covariance; "+
			"remove unknowns or leave Covariance unset", e.Rank, e.Unknowns)
}

// A DescentError reports that no step decreases the function, however short, though the gradient at the point of the
// result beside it says that some do.
type DescentError struct {
	Op           string
	GradientNorm float64 // its largest element
}

func (e *DescentError) Error() string {
	return page.Namef("optim.DescentError",
		"optim: %s: no step decreases the function, whose gradient is %.3g; raise GTol if that is a "+
			"rounding error, compare the derivatives with finite differences, or smooth the kinks",
		e.Op, e.GradientNorm)
}

// A StopError reports that the context or Progress ended a run. It unwraps to the error of the context, or to that of
// Progress.
type StopError struct {
	Op          string
	Evaluations int
	Err         error
}

func (e *StopError) Error() string {
	by := "Progress"
	if errors.Is(e.Err, context.Canceled) || errors.Is(e.Err, context.DeadlineExceeded) {
		by = "the context"
	}
	return page.Namef("optim.StopError",
		"optim: %s: stopped by %s after %d evaluations: %v", e.Op, by, e.Evaluations, e.Err)
}

// Unwrap returns the reason.
func (e *StopError) Unwrap() error { return e.Err }

// An Iteration is a point that a solver has accepted.
type Iteration struct {
	Number      int       // from 0, the start
	Evaluations int       // of the function
	X           []float64 // belongs to the solver: valid during the call, not to be changed
	Cost        float64   // the value, or half the sum of squares
	Gradient    float64   // the measure that is compared with GTol
	Damping     float64   // the Levenberg–Marquardt parameter, or the radius of the trust region
}

// A run has the parts that all solvers share.
type run struct {
	op          string
	context     context.Context
	progress    func(Iteration) error
	evaluations int
	limit       int
}

// check returns an error if the context is done.
func (r *run) check() error {
	if r.context == nil {
		return nil
	}
	if err := r.context.Err(); err != nil {
		return &StopError{r.op, r.evaluations, err}
	}
	return nil
}

// report passes an iteration to Progress, and checks the context.
func (r *run) report(it Iteration) error {
	if err := r.check(); err != nil || r.progress == nil {
		return err
	}
	it.Evaluations = r.evaluations
	if err := r.progress(it); err != nil {
		return &StopError{r.op, r.evaluations, err}
	}
	return nil
}

// tolerance returns the tolerance that a setting t stands for: the default for 0, and -1, which no measure is below,
// for a negative one.
func tolerance(op, name string, t, byDefault float64) (float64, error) {
	switch {
	case math.IsNaN(t) || math.IsInf(t, 0):
		return 0, &SettingError{op, name, fmt.Sprint(t), "a finite number"}
	case t == 0:
		return byDefault, nil
	case t < 0:
		return -1, nil
	}
	return t, nil
}

// nonFinite returns the index of the first element that is NaN or infinite, -1 if there is none.
func nonFinite(v []float64) int {
	for i, a := range v {
		if a-a != 0 {
			return i
		}
	}
	return -1
}

const eps = 0x1p-52 // the distance from 1 to the next number

var rootEps = math.Sqrt(eps)
