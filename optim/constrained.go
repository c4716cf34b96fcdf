package optim

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/page"
)

// ConstrainedSettings are the settings of [Constrained]. The zero value has the defaults.
type ConstrainedSettings struct {
	// Lower and Upper are bounds of the unknowns, and ConstraintLower and ConstraintUpper bounds of the constraints,
	// with an element for each. Infinite ones do not bind, nil slices of bounds of the unknowns neither. A constraint
	// with equal bounds is an equation; if both slices are nil, all constraints are equations with 0.
	Lower, Upper                     []float64
	ConstraintLower, ConstraintUpper []float64
	// GTol is the largest element of the gradient of the Lagrangian, without components that point out of the bounds,
	// at which the solver ends, relative to that of the objective at the start if it exceeds 1 there: 1e-7 by default.
	GTol float64
	// CTol is the largest violation of a constraint at the solution: 1e-8 by default.
	CTol float64
	// MaxEvaluations is the limit of evaluations of the function: 5000 by default.
	MaxEvaluations int
	// Context, unless nil, ends the run when it is done.
	Context context.Context
	// Progress, unless nil, is called with each point that is accepted, whose Cost is the augmented Lagrangian and
	// whose Damping is the shift of its Hessian. An error ends the run. X has the unknowns, and then a slack for each
	// constraint that is no equation.
	Progress func(Iteration) error
}

// A ConstrainedResult is a result of [Constrained].
type ConstrainedResult struct {
	X           []float64 // the last point
	Value       float64   // of the objective
	Constraints []float64 // values of the constraints
	// Multipliers has a number for each constraint: at a solution the gradient of the objective is the sum of those of
	// the constraints times their multipliers, except for unknowns at bounds. A multiplier is the derivative of the
	// minimum with respect to the bound of its constraint that holds with equality, and 0 if none does.
	Multipliers  []float64
	Violation    float64 // the largest, of a constraint
	GradientNorm float64 // the measure that is compared with GTol
	Penalty      float64 // the last penalty parameter
	Outer        int     // minimisations of augmented Lagrangians
	Evaluations  int     // of the function alone
	Derivatives  int     // evaluations of the Jacobian
	Hessians     int     // evaluations of the Hessian of the Lagrangian
	Status       Status
}

// An InfeasibleError reports that the constraints could not be satisfied: the point of the result beside it has the
// least violation near it, or the constraints are dependent.
type InfeasibleError struct{ Violation, Penalty float64 }

func (e *InfeasibleError) Error() string {
	return page.Namef("optim.InfeasibleError",
		"optim: Constrained: constraints are violated by %.3g with the penalty parameter "+
			"%.3g; start nearer to a point that satisfies them, or look for constraints that contradict each other",
		e.Violation, e.Penalty)
}

// Constrained minimises output 0 of f from x0 subject to bounds of its other outputs, the constraints, and of the
// unknowns. It minimises a sequence of augmented Lagrangians within the bounds, by the method of [Bounded], with
// estimates of the multipliers and a penalty parameter that follow the violation of the constraints, as LANCELOT does
// (Conn, Gould and Toint 1991); constraints that are no equations get bounded slacks.
//
// f is prepared twice on b, for Jacobians and as a [nabla.PrepareKKT], from which the Hessian of the Lagrangian comes
// with the Jacobian. Matrices are dense: the cost of an iteration is that of n+s unknowns for s slacks, cubed. Settings
// may be nil.
//
// An error other than one of the arguments and the preparation comes with a result: an *[InfeasibleError], a
// *[ConvergenceError] after MaxEvaluations, a *[NonFiniteError], a *[DescentError], a *[StopError], and errors of f.
func Constrained[F nabla.VectorFunc](f F, b nabla.Backend, x0 []float64,
	s *ConstrainedSettings) (*ConstrainedResult, error) {
	l := &lagrangian{n: len(x0)}
	if s != nil {
		l.set = *s
	}
	d, err := l.newDescent(x0)
	if err != nil {
		return nil, err
	}
	if l.prep, err = nabla.PrepareJacobian(f, b, x0); err != nil {
		return nil, err
	}
	if err := l.size(d); err != nil {
		return nil, err
	}
	if l.kkt, err = nabla.PrepareKKT(f, b, x0); err != nil {
		return nil, err
	}
	return l.solve(d)
}

// A lagrangian is the augmented Lagrangian f - λᵀh + μ/2·‖h‖² of the unknowns and slacks z, with h = c - s or c - l.
type lagrangian struct {
	set          ConstrainedSettings
	n, m         int // unknowns, constraints
	ctol         float64
	prep         *nabla.JacobianPrep
	kkt          *nabla.KKTPrep
	lower, upper []float64 // of the constraints
	slack        []int     // the index in z of the slack of each constraint, 0 for an equation
	multipliers  []float64
	penalty      float64

	y, h, w []float64  // outputs, h, and the weights of the outputs in the gradient
	jac     *mat.Dense // of all outputs
	hess    *mat.SymDense
}

// newDescent checks the settings that do not depend on the number of constraints.
func (l *lagrangian) newDescent(x0 []float64) (*descent, error) {
	const op = "Constrained"
	s := &l.set
	d, err := newDescent(op, x0, &MinimizeSettings{MaxEvaluations: s.MaxEvaluations, Context: s.Context,
		Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	if s.MaxEvaluations == 0 {
		d.limit = 5000
	}
	for _, t := range []struct {
		to           *float64
		name         string
		got, initial float64
	}{{&d.gtol, "GTol", s.GTol, 1e-7}, {&l.ctol, "CTol", s.CTol, 1e-8}} {
		if !(t.got >= 0) || math.IsInf(t.got, 0) {
			return nil, &SettingError{op, t.name, fmt.Sprint(t.got), "a positive number, or 0 for the default"}
		}
		if *t.to = t.got; t.got == 0 {
			*t.to = t.initial
		}
	}
	d.box, err = newBox(op, s.Lower, s.Upper, l.n)
	return d, err
}

// size checks the bounds of the constraints and adds the slacks to d.
func (l *lagrangian) size(d *descent) error {
	outputs, _ := l.prep.Dims()
	if outputs == 0 {
		return &SettingError{d.op, "f", "a function without outputs", "an objective, and then the constraints"}
	}
	l.m = outputs - 1
	l.lower, l.upper = make([]float64, l.m), make([]float64, l.m)
	given := l.set.ConstraintLower != nil || l.set.ConstraintUpper != nil
	for _, side := range []struct {
		name     string
		to, from []float64
		none     float64
	}{{"ConstraintLower", l.lower, l.set.ConstraintLower, math.Inf(-1)},
		{"ConstraintUpper", l.upper, l.set.ConstraintUpper, math.Inf(1)}} {
		if side.from != nil && len(side.from) != l.m {
			return &SettingError{d.op, "len(" + side.name + ")", fmt.Sprint(len(side.from)),
				fmt.Sprintf("%d, the number of constraints", l.m)}
		}
		for j := range side.to {
			if given {
				side.to[j] = side.none
			}
			if side.from != nil {
				side.to[j] = side.from[j]
			}
		}
	}
	z := slices.Clone(d.res.X)
	low, high := make([]float64, l.n), make([]float64, l.n)
	for i := range z {
		low[i], high[i] = d.box.at(i)
	}
	l.slack = make([]int, l.m)
	for j, a := range l.lower {
		b := l.upper[j]
		if !(a <= b) || math.IsInf(a, 1) || math.IsInf(b, -1) {
			return &SettingError{d.op, fmt.Sprintf("bounds of constraint %d", j), fmt.Sprintf("[%v, %v]", a, b),
				"a lower bound that is at most the upper one"}
		}
		if a < b {
			l.slack[j] = len(z)
			z, low, high = append(z, 0), append(low, a), append(high, b)
		}
	}
	d.box = box{low, high}
	k := len(z)
	d.res.X, d.res.Gradient, d.trial, d.next = z, make([]float64, k), make([]float64, k), make([]float64, k)
	l.multipliers, l.h = make([]float64, l.m), make([]float64, l.m)
	l.y, l.w = make([]float64, outputs), make([]float64, outputs)
	l.jac, l.hess = mat.NewDense(outputs, l.n, nil), mat.NewSymDense(l.n, nil)
	return nil
}

// combine computes h and the weights of the outputs from the outputs y at z, and returns the augmented Lagrangian.
func (l *lagrangian) combine(z []float64) float64 {
	value := l.y[0]
	l.w[0] = 1
	for j, c := range l.y[1:] {
		h := c - l.lower[j]
		if at := l.slack[j]; at > 0 {
			h = c - z[at]
		}
		l.h[j] = h
		l.w[j+1] = l.penalty*h - l.multipliers[j]
		value += (l.penalty/2*h - l.multipliers[j]) * h
	}
	return value
}

// Value implements derivatives.
func (l *lagrangian) Value(z []float64) (float64, error) {
	if _, err := l.prep.Value(l.y, z[:l.n]); err != nil {
		return 0, err
	}
	return l.combine(z), nil
}

// ValueAndGradient implements derivatives.
func (l *lagrangian) ValueAndGradient(dst, z []float64) (float64, []float64, error) {
	if _, _, err := l.prep.ValueAndDense(l.y, l.jac, z[:l.n]); err != nil {
		return 0, nil, err
	}
	value := l.combine(z)
	clear(dst)
	for i, w := range l.w {
		floats.AddScaled(dst[:l.n], w, l.jac.RawRowView(i))
	}
	for j, at := range l.slack {
		if at > 0 {
			dst[at] = -l.w[j+1]
		}
	}
	return value, dst, nil
}

// hessian writes the Hessian at z, H(w) + μ·JᵀJ with the rows and columns of the slacks, to dst.
func (l *lagrangian) hessian(dst *mat.SymDense, z []float64) error {
	if _, err := l.prep.Value(l.y, z[:l.n]); err != nil {
		return err
	}
	l.combine(z)
	if _, _, err := l.kkt.KKT(l.jac, l.hess, z[:l.n], l.w); err != nil {
		return err
	}
	dst.Zero()
	for i := range l.n {
		for k := i; k < l.n; k++ {
			v := l.hess.At(i, k)
			for j := 1; j <= l.m; j++ {
				v += l.penalty * l.jac.At(j, i) * l.jac.At(j, k)
			}
			dst.SetSym(i, k, v)
		}
	}
	for j, at := range l.slack {
		if at > 0 {
			for i := range l.n {
				dst.SetSym(i, at, -l.penalty*l.jac.At(j+1, i))
			}
			dst.SetSym(at, at, l.penalty)
		}
	}
	return nil
}

// solve runs the outer iteration (Nocedal and Wright 2006, algorithm 17.4): after a minimisation to the tolerance grad,
// the multipliers are updated if the violation is at most feasible, and the penalty parameter is increased otherwise.
func (l *lagrangian) solve(d *descent) (*ConstrainedResult, error) {
	res := &ConstrainedResult{Value: math.NaN(), Violation: math.NaN(), GradientNorm: math.NaN()}
	finish := func(s Status, err error) (*ConstrainedResult, error) {
		if res.Status = s; err != nil && s != EvaluationLimit {
			res.Status = Stopped
		}
		res.X, res.Multipliers, res.Penalty = slices.Clone(d.res.X[:l.n]), l.multipliers, l.penalty
		res.Evaluations, res.Derivatives, res.Hessians = d.evaluations, d.res.Gradients, d.res.Hessians
		return res, err
	}
	d.prep = l
	z := d.res.X
	d.box.project(z)
	if err := d.refresh(); err != nil { // the objective and its gradient, as the penalty is 0
		return finish(Stopped, err)
	}
	z = d.res.X
	for j, at := range l.slack { // the best slacks
		if at > 0 {
			z[at] = min(max(l.y[j+1], l.lower[j]), l.upper[j])
		}
	}
	l.combine(z)
	gtol := d.gtol * max(1, floats.Norm(d.res.Gradient, math.Inf(1)))
	// The first penalty parameter of Birgin and Martínez (2014) balances objective and constraints.
	l.penalty = 10 * max(1, math.Abs(l.y[0])) / max(1, floats.Dot(l.h, l.h)/2)
	l.penalty = min(max(l.penalty, 1e-6), 1e6)
	goal := func() (grad, feasible float64) {
		p := max(l.penalty, 10)
		return max(gtol, 1/p), max(l.ctol, math.Pow(p, -0.1))
	}
	grad, feasible := goal()
	newton := newFreeNewton(len(z))
	for {
		res.Outer++
		d.gtol = grad
		if err := d.refresh(); err != nil {
			return finish(Stopped, err)
		}
		status, err := d.bounded(newton, l.hessian)
		if err != nil {
			return finish(Stopped, err)
		}
		if _, err := l.Value(d.res.X); err != nil {
			return finish(Stopped, err)
		}
		res.Value, res.Constraints = l.y[0], append(res.Constraints[:0], l.y[1:]...)
		res.GradientNorm = d.res.GradientNorm
		res.Violation = 0
		for _, h := range l.h {
			res.Violation = max(res.Violation, math.Abs(h))
		}
		if status == EvaluationLimit {
			return finish(status, &ConvergenceError{d.op, d.evaluations, res.Value})
		}
		if res.Violation <= feasible {
			for j, h := range l.h {
				l.multipliers[j] -= l.penalty * h
			}
			// Where rounding errors end a minimisation, its gradient is as small as it gets.
			if res.Violation <= l.ctol && (res.GradientNorm <= gtol || status != GradientConverged) {
				return finish(status, nil)
			}
			p := max(l.penalty, 10)
			grad, feasible = max(gtol, grad/p), max(l.ctol, feasible/math.Pow(p, 0.9))
			continue
		}
		if l.penalty > 1e14 {
			return finish(Stopped, &InfeasibleError{res.Violation, l.penalty})
		}
		l.penalty *= 10
		grad, feasible = goal()
	}
}
