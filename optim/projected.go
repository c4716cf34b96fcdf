package optim

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// An arc is a search along x(α) = P(x + α·p), the projected arc of Bertsekas (1982), for a sufficient decrease.
type arc struct {
	box   box
	x, p  []float64
	g     []float64
	free  []bool
	trial []float64
}

// decrease is the fraction of the predicted decrease that a point on the arc must have: σ of Bertsekas.
const decrease = 1e-4

// at stores x(α) in the trial point and returns the decrease that the slope along the arc predicts, which is positive.
func (a *arc) at(alpha float64) (predicted float64) {
	floats.AddScaledTo(a.trial, a.x, alpha, a.p)
	a.box.project(a.trial)
	for i, f := range a.free {
		if f {
			predicted -= alpha * a.g[i] * a.p[i]
		} else {
			predicted += a.g[i] * (a.x[i] - a.trial[i])
		}
	}
	return predicted
}

// direct stores in p the direction of the unknowns that are not free: along the negative gradient, as far as a bound
// is.
func (a *arc) direct() {
	for i, f := range a.free {
		if !f {
			l, u := a.box.at(i)
			if a.g[i] > 0 {
				a.p[i] = l - a.x[i]
			} else {
				a.p[i] = u - a.x[i]
			}
		}
	}
}

// The damping starts small, since large Jacobians may have small singular values that matter, and is at least
// poorDamping after a direction along which no point decreases the function.
const (
	startDamping = 1e-6
	poorDamping  = 1e-3
)

// projected runs the two-metric projection method of Bertsekas (1982) with the matrix JᵀJ + λD² in place of the
// Hessian. Unknowns near a bound beyond which the negative gradient points move to it, the others along the damped
// Gauss–Newton direction; λ is 0 with GaussNewton and follows the gain otherwise (Nielsen 1999). Without bounds it is a
// damped Gauss–Newton method with a line search. After four points on the arc without a sufficient decrease, the
// direction is computed again with more damping: ever shorter steps along a poor direction would end the run.
func (l *leastSquares) projected() (Status, error) {
	n := l.n
	scale, growing := l.scale, l.scale == nil
	if growing {
		scale = make([]float64, n)
	}
	norms, s, js, scaled := make([]float64, n), make([]float64, n), make([]float64, l.m), make([]float64, n)
	a := arc{box: l.box, p: make([]float64, n), g: l.grad, free: make([]bool, n)}
	lambda, factor := startDamping, 2.0
	if l.set.Method == GaussNewton {
		lambda = 0
	}
	for again := false; ; {
		if err := l.jacobian(); err != nil {
			return Stopped, err
		}
		l.model.norms(norms)
		l.model.transposed(l.grad, l.r)
		gnorm, width := 0.0, 0.0
		for j, v := range norms {
			if growing {
				if scale[j] = max(scale[j], v); scale[j] == 0 {
					scale[j] = 1
				}
			}
			if v > 0 && l.norm > 0 {
				gnorm = max(gnorm, math.Abs(l.box.gradient(j, l.x, l.grad)/v/l.norm))
			}
			// The width of the bounds, ε of Bertsekas: the length of the projected step along the gradient, in the
			// metric of the scale, at most 1e-3.
			lo, up := l.box.at(j)
			step := l.x[j] - min(max(l.x[j]-l.grad[j]/(scale[j]*scale[j]), lo), up)
			width += step * step
		}
		if !again {
			if err := l.report(Iteration{Number: l.iterations, X: l.x, Cost: l.norm * l.norm / 2, Gradient: gnorm,
				Damping: lambda}); err != nil {
				return Stopped, err
			}
			if gnorm <= l.gtol || l.norm == 0 {
				return GradientConverged, nil
			}
		}
		damped := again
		again = false
		l.box.active(a.free, l.x, l.grad, min(1e-3, math.Sqrt(width)))
		a.x, a.trial = l.x, l.trial
		l.model.damped(a.p, l.r, math.Sqrt(lambda), scale, a.free, min(1e-2, gnorm))
		a.direct()
		xnorm := norm2(scaled, scale, l.x)
		for alpha, halvings := 1.0, 0; ; alpha, halvings = alpha/2, halvings+1 {
			slope := a.at(alpha) / (l.norm * l.norm) // relative to the sum of squares, twice the cost
			norm1, err := l.try()
			if err != nil {
				return Stopped, err
			}
			floats.SubTo(s, l.trial, l.x)
			l.model.apply(js, s)
			t := norm1 / l.norm
			actual := 1 - t*t
			curved := floats.Norm(js, 2) / l.norm
			predicted := -2*floats.Dot(l.grad, s)/(l.norm*l.norm) - curved*curved
			ratio := 0.0
			if predicted != 0 {
				ratio = actual / predicted
			}
			step := norm2(scaled, scale, s) / xnorm
			if xnorm == 0 {
				step = math.Inf(1)
			}
			accepted := actual >= 2*decrease*slope && actual >= 0
			if accepted {
				l.accept(norm1)
				switch q := 2*ratio - 1; {
				case lambda == 0:
				case halvings > 0 || ratio <= 0:
					lambda *= factor
					factor *= 2
				default:
					lambda = max(lambda*max(1./3, 1-q*q*q), 1e-200)
					factor = 2
				}
			}
			if accepted && lambda > 1e-3 && (ratio > 0.25 || damped || halvings > 0) {
				step, actual = math.Inf(1), math.Inf(1) // the step may be short because of the damping alone
			}
			if !accepted {
				actual, predicted, ratio = math.Inf(1), math.Inf(1), math.Inf(1) // no reduction to compare
			}
			switch status := l.reached(actual, predicted, ratio, step, gnorm); {
			case status == EvaluationLimit:
				return status, nil
			case status != Stopped:
				return l.end(status, gnorm, accepted)
			}
			if accepted {
				break
			}
			if again = halvings == 3 && lambda > 0; again { // the direction is poor: damp it
				lambda = max(lambda*factor, poorDamping)
				factor *= 2
				break
			}
		}
	}
}
