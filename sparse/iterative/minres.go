package iterative

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// MINRES is the method of minimal residuals (Paige & Saunders, SIAM J. Numer. Anal. 12, 1975) for symmetric matrices,
// definite or not, with a symmetric positive definite preconditioner. The norm of the residual, or that which the
// preconditioner defines, does not increase. An iteration takes one product and nine vector operations.
//
// Symmetry is not checked.
type MINRES struct {
	Settings
	run run
}

// Solve stores the solution of A·x = b in x, with the rules of [CG.Solve].
func (m *MINRES) Solve(ctx context.Context, x []float64, a Operator, b []float64) (Result, error) {
	r := &m.run
	if err := r.begin(ctx, "MINRES", &m.Settings, x, a, b, 8); err != nil {
		return Result{}, err
	}
	defer r.end()
	return m.solve(r)
}

// solve follows Elman, Silvester & Wathen, Finite Elements and Fast Iterative Solvers, algorithm 6.1. In addition it
// updates the residual itself, whose norm the algorithm only has in the norm of the preconditioner:
// rⱼ = s²·rⱼ₋₁ + c·η·vⱼ₊₁.
func (m *MINRES) solve(s *run) (Result, error) {
	previous := math.Inf(1)
	for {
		const ri, zi, ai = 0, 1, 7
		rn, err := s.residual(ri, ai)
		if err != nil || rn <= s.target {
			return s.result, err
		}
		if rn > previous/2 {
			return s.fail(s.stagnated(), rn, ri, ai)
		}
		previous = rn
		v0, v1, w0, w1, q := 2, 3, 4, 5, 6 // work vectors; w and v change roles
		r := s.vec(ri)
		clear(s.vec(v0))
		clear(s.vec(w0))
		clear(s.vec(w1))
		copy(s.vec(v1), r)
		gamma0 := 1.0
		gamma1, err := m.lanczosNorm(s, zi, v1)
		if err != nil {
			return s.fail(err, rn, ri, ai)
		}
		eta := gamma1
		s0, s1, c0, c1 := 0.0, 0.0, 1.0, 1.0
		for rn > s.target {
			floats.Scale(1/gamma1, s.vec(zi))
			s.multiply(q, zi)
			delta := floats.Dot(s.vec(q), s.vec(zi))
			floats.AddScaled(s.vec(q), -delta/gamma1, s.vec(v1))
			floats.AddScaled(s.vec(q), -gamma1/gamma0, s.vec(v0))
			z := s.vec(ai)
			copy(z, s.vec(zi))
			v0, v1, q = v1, q, v0 // v1 is the new vector
			gamma2, err := m.lanczosNorm(s, zi, v1)
			if err != nil {
				return s.fail(err, rn, ri, ai)
			}
			a0 := c1*delta - c0*s1*gamma1
			a1 := math.Hypot(a0, gamma2)
			a2 := s1*delta + c0*c1*gamma1
			a3 := s0 * gamma1
			if a1 <= 1e-300 || a1 <= tiny*(math.Abs(a2)+math.Abs(a3)+math.Abs(delta)+gamma1) {
				return s.fail(&BreakdownError{Method: s.method, Quantity: "the diagonal of R, which vanishes for a " +
					"singular matrix,", Value: a1}, rn, ri, ai)
			}
			s0, s1, c0, c1 = s1, gamma2/a1, c1, a0/a1
			w := s.vec(w0) // w0 is no longer needed after this
			floats.Scale(-a3/a1, w)
			floats.AddScaled(w, -a2/a1, s.vec(w1))
			floats.AddScaled(w, 1/a1, z)
			w0, w1 = w1, w0
			step := c1 * eta
			eta *= -s1
			floats.Scale(s1*s1, r)
			if gamma2 > 0 {
				floats.AddScaled(r, c1*eta/gamma2, s.vec(v1))
			}
			after := norm(r)
			s.keep(rn, after)
			floats.AddScaled(s.x, step, w)
			rn = after
			gamma0, gamma1 = gamma1, gamma2
			if err := s.iterated(rn); err != nil {
				return s.fail(err, rn, ri, ai)
			}
			if gamma1 == 0 {
				break // the Krylov space is exhausted
			}
		}
	}
}

// tiny is a relative size of rounding errors.
const tiny = 1e-15

// lanczosNorm stores the preconditioned vector v in z, and returns the norm √(v·z).
func (m *MINRES) lanczosNorm(s *run, z, v int) (float64, error) {
	if err := s.finite("the product A·z", s.vec(v)); err != nil {
		return 0, err
	}
	if err := s.precondition(z, v); err != nil {
		return 0, err
	}
	square := floats.Dot(s.vec(v), s.vec(z))
	if square < 0 || math.IsNaN(square) {
		if err := s.finite("the preconditioned vector", s.vec(z)); err != nil {
			return 0, err
		}
		return 0, &BreakdownError{Method: s.method, Quantity: "the product of a vector and the preconditioned " +
			"vector, which is positive for a positive definite preconditioner,", Value: square}
	}
	return math.Sqrt(square), nil
}
