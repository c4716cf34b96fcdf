package iterative

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// CG is the method of conjugate gradients (Hestenes & Stiefel 1952) for symmetric positive definite matrices, with a
// symmetric positive definite preconditioner. An iteration takes one product and five vector operations.
//
// Symmetry is not checked. A direction of nonpositive curvature is an *[IndefiniteError].
type CG struct {
	Settings
	run run
}

// Solve stores the solution of A·x = b in x, whose initial value is the initial guess. See the package comment for
// convergence and errors. The arguments are not retained; x and b must not share memory. It does not allocate if the
// last call had vectors of the same length.
func (c *CG) Solve(ctx context.Context, x []float64, a Operator, b []float64) (Result, error) {
	r := &c.run
	if err := r.begin(ctx, "CG", &c.Settings, x, a, b, 4); err != nil {
		return Result{}, err
	}
	defer r.end()
	return c.solve(r)
}

func (c *CG) solve(s *run) (Result, error) {
	const ri, zi, pi, qi = 0, 1, 2, 3
	r, z, p, q := s.vec(ri), s.vec(zi), s.vec(pi), s.vec(qi)
	previous := math.Inf(1)
	for {
		rn, err := s.residual(ri, qi)
		if err != nil || rn <= s.target {
			return s.result, err
		}
		if rn > previous/2 {
			return s.fail(s.stagnated(), rn, ri, qi)
		}
		previous = rn
		rho := 0.0
		for first := true; rn > s.target; first = false {
			if err := s.precondition(zi, ri); err != nil {
				return s.result, err
			}
			next := floats.Dot(r, z)
			if !(next > 0) || math.IsInf(next, 0) {
				if err := s.finite("the preconditioned residual", z); err != nil {
					return s.fail(err, rn, ri, qi)
				}
				return s.fail(&BreakdownError{Method: s.method, Quantity: "the product of the residual and the " +
					"preconditioned residual, which is positive for a positive definite preconditioner,", Value: next},
					rn, ri, qi)
			}
			if first {
				copy(p, z)
			} else {
				floats.AddScaledTo(p, z, next/rho, p)
			}
			rho = next
			s.multiply(qi, pi)
			pq := floats.Dot(p, q)
			if !(pq > 0) || math.IsInf(pq, 0) {
				if err := s.finite("the product A·p", q); err != nil {
					return s.fail(err, rn, ri, qi)
				}
				return s.fail(&IndefiniteError{Method: s.method, Curvature: pq / norm(p) / norm(p)}, rn, ri, qi)
			}
			alpha := rho / pq
			floats.AddScaled(r, -alpha, q)
			after := norm(r)
			s.keep(rn, after)
			floats.AddScaled(s.x, alpha, p)
			rn = after
			if err := s.iterated(rn); err != nil {
				return s.fail(err, rn, ri, qi)
			}
		}
	}
}
