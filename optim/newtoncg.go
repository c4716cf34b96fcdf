package optim

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/nabla-ad/nabla"
)

// NewtonCG minimises f from x0 by the trust-region Newton method with the conjugate gradients of Steihaug (1983) and
// Toint: in each iteration the quadratic model with the exact Hessian is minimised within a ball, by products with the
// Hessian alone, until the gradient of the model is small beside that of f, the boundary is reached, or a direction of
// negative curvature leads there. It takes memory for a few vectors of n numbers and suits thousands of unknowns.
//
// f is prepared twice on b, for gradients and for products at any point; a nil backend selects engines. A product costs
// about as much as two gradients. Settings may be nil.
//
// An error other than one of the arguments and the preparation comes with a result that has the best point: a
// *[ConvergenceError] after MaxEvaluations, a *[NonFiniteError], a *[DescentError], a *[StopError] of the context or
// Progress, and errors of f. At trial points the value may be NaN or infinite: they are rejected.
func NewtonCG[F nabla.ScalarFunc](f F, b nabla.Backend, x0 []float64, s *MinimizeSettings) (*MinimizeResult, error) {
	d, err := newDescent("NewtonCG", x0, s)
	if err != nil {
		return nil, err
	}
	if d.prep, err = nabla.PrepareGradient(f, b, x0); err != nil {
		return nil, err
	}
	h, err := nabla.PrepareHVP(f, b, x0)
	if err != nil {
		return nil, err
	}
	if err := d.start(); err != nil {
		return d.result(Stopped, err)
	}
	return d.result(d.newtonCG(h))
}

// newtonCG runs the method from the point of d.
func (d *descent) newtonCG(h *nabla.HVPPrep) (Status, error) {
	c := newSteihaug(len(d.res.X))
	c.product = func(dst, v []float64) error {
		if err := d.check(); err != nil {
			return err
		}
		d.res.Products++
		if _, err := h.HVP(dst, d.res.X, v); err != nil {
			return err
		}
		if i := nonFinite(dst); i >= 0 {
			return &NonFiniteError{d.op, "element of a product with the Hessian", i, dst[i], slices.Clone(d.res.X)}
		}
		return nil
	}
	initial := floats.Norm(d.res.Gradient, 2)
	radius := d.radius
	for {
		if s, err := d.step(radius); s != Stopped || err != nil {
			return s, err
		}
		forcing := min(0.5, math.Sqrt(floats.Norm(d.res.Gradient, 2)/initial)) // superlinear convergence
		predicted, boundary, err := c.solve(d.res.Gradient, radius, forcing)
		if err != nil {
			return Stopped, err
		}
		floats.AddTo(d.trial, d.res.X, c.p)
		value, err := d.valueAt(d.trial)
		if err != nil {
			return Stopped, err
		}
		ratio := (d.res.Value - value) / predicted
		accepted, precision, err := d.acceptable(value, predicted, ratio > 1e-4)
		if err != nil {
			return Stopped, err
		}
		length := floats.Norm(c.p, 2)
		switch {
		case accepted:
			d.accept(value)
		case precision:
			if boundary { // short because steps before were rejected
				if predicted, _, err = c.solve(d.res.Gradient, 1e6*d.radius, forcing); err != nil {
					return Stopped, err
				}
			}
			return d.precision(predicted)
		}
		switch {
		case precision:
		case !(ratio >= 0.25): // also for NaN
			radius = 0.25 * length
		case ratio > 0.75 && boundary:
			radius *= 2
		}
		if length <= eps*floats.Norm(d.res.X, 2) && !accepted {
			return d.stuck()
		}
	}
}

// A steihaug minimises quadratic models g·p + ½p·H·p within a ball.
type steihaug struct {
	product    func(dst, v []float64) error // with H
	p, r, v, w []float64
}

func newSteihaug(n int) *steihaug {
	room := make([]float64, 4*n)
	return &steihaug{p: room[:n:n], r: room[n : 2*n : 2*n], v: room[2*n : 3*n : 3*n], w: room[3*n:]}
}

// solve stores the minimiser in p, until the gradient of the model is forcing times that at 0, and returns the
// reduction of the model and whether p is on the boundary.
func (c *steihaug) solve(g []float64, radius, forcing float64) (reduction float64, boundary bool, err error) {
	clear(c.p)
	copy(c.r, g)
	floats.ScaleTo(c.v, -1, g)
	rr := floats.Dot(g, g)
	goal := forcing * math.Sqrt(rr)
	for range 2*len(g) + 10 {
		if err := c.product(c.w, c.v); err != nil {
			return 0, false, err
		}
		curvature := floats.Dot(c.v, c.w)
		pp, pv, vv := floats.Dot(c.p, c.p), floats.Dot(c.p, c.v), floats.Dot(c.v, c.v)
		alpha := rr / curvature
		if !(curvature > 0) || pp+alpha*(2*pv+alpha*vv) >= radius*radius {
			// The positive root of ‖p + τ·v‖ = radius, without cancellation.
			disc := math.Sqrt(pv*pv + vv*(radius*radius-pp))
			tau := (radius*radius - pp) / (pv + disc)
			if pv < 0 {
				tau = (disc - pv) / vv
			}
			reduction += tau*rr - tau*tau/2*curvature
			floats.AddScaled(c.p, tau, c.v)
			return reduction, true, nil
		}
		// v·r = -‖r‖², so that the model decreases by α·rr - ½α²·curvature.
		reduction += alpha * rr / 2
		floats.AddScaled(c.p, alpha, c.v)
		floats.AddScaled(c.r, alpha, c.w)
		before := rr
		if rr = floats.Dot(c.r, c.r); math.Sqrt(rr) <= goal {
			break
		}
		floats.Scale(rr/before, c.v)
		floats.Sub(c.v, c.r)
	}
	return reduction, false, nil
}
