package gonumopt

import (
	"gonum.org/v1/gonum/optimize"

	"github.com/nabla-ad/nabla/sums"
)

// Objective returns o, a sum over data, as a problem for gonum's optimize.Minimize, with Func, Grad, Hess and Status.
// An error of a pass over the data ends the run with the status optimize.Failure, and Minimize returns it; the sum so
// far is in o.Last(), and the best point in the result of Minimize.
//
//	o := sums.NewObjective(ctx, sums.NewLocal(term, data, nil), false)
//	result, err := optimize.Minimize(gonumopt.Objective(o), x0, nil, &optimize.LBFGS{})
func Objective(o *sums.Objective) optimize.Problem {
	return optimize.Problem{Func: o.Func, Grad: o.Grad, Hess: o.Hess, Status: func() (optimize.Status, error) {
		if err := o.Err(); err != nil {
			return optimize.Failure, err
		}
		return optimize.NotTerminated, nil
	}}
}
