package iterative

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// BiCGStab is the stabilised method of biconjugate gradients (van der Vorst, SIAM J. Sci. Stat. Comput. 13, 1992) for
// any matrix, with the preconditioner on the right. An iteration takes two products and ten vector operations. If the
// residual becomes orthogonal to the shadow residual, the method starts again from its solution.
type BiCGStab struct {
	Settings
	run run
}

// Solve stores the solution of A·x = b in x, with the rules of [CG.Solve].
func (m *BiCGStab) Solve(ctx context.Context, x []float64, a Operator, b []float64) (Result, error) {
	r := &m.run
	if err := r.begin(ctx, "BiCGStab", &m.Settings, x, a, b, 8); err != nil {
		return Result{}, err
	}
	defer r.end()
	return m.solve(r)
}

func (m *BiCGStab) solve(s *run) (Result, error) {
	const ri, shadowi, pi, vi, yi, zi, ti, tempi = 0, 1, 2, 3, 4, 5, 6, 7
	r, shadow, p, v, y, z, t := s.vec(ri), s.vec(shadowi), s.vec(pi), s.vec(vi), s.vec(yi), s.vec(zi), s.vec(ti)
	previous := math.Inf(1)
	for {
		rn, err := s.residual(ri, tempi)
		if err != nil || rn <= s.target {
			return s.result, err
		}
		broken := s.result.Recurrence > s.target // the last round ended in a breakdown, not in convergence
		if rn > previous/2 && !broken {
			return s.fail(s.stagnated(), rn, ri, tempi)
		}
		previous = rn
		copy(shadow, r)
		rho, alpha, omega := 1.0, 1.0, 1.0
		clear(p)
		clear(v)
		rounds := s.result.Iterations
		var quantity string
		var value float64
		for rn > s.target {
			next := floats.Dot(shadow, r)
			if value = next; math.Abs(next) <= tiny*norm(shadow)*rn {
				quantity = "the product of the residual and the shadow residual"
				break
			}
			beta := next / rho * (alpha / omega)
			rho = next
			floats.AddScaled(p, -omega, v)
			floats.AddScaledTo(p, r, beta, p)
			if err := s.precondition(yi, pi); err != nil {
				return s.result, err
			}
			s.multiply(vi, yi)
			if err := s.finite("the product A·p", v); err != nil {
				return s.fail(err, rn, ri, tempi)
			}
			value = floats.Dot(shadow, v)
			if math.Abs(value) <= tiny*norm(shadow)*norm(v) {
				quantity = "the product of A·p and the shadow residual"
				break
			}
			alpha = rho / value
			floats.AddScaled(r, -alpha, v) // the residual after half a step
			if half := norm(r); half <= s.target {
				s.keep(rn, half)
				floats.AddScaled(s.x, alpha, y)
				rn = half
				if err := s.iterated(rn); err != nil {
					return s.fail(err, rn, ri, tempi)
				}
				break
			}
			if err := s.precondition(zi, ri); err != nil {
				return s.result, err
			}
			s.multiply(ti, zi)
			if err := s.finite("the product A·s", t); err != nil {
				return s.fail(err, rn, ri, tempi)
			}
			tt := floats.Dot(t, t)
			omega = floats.Dot(t, r) / tt
			if value = omega; tt == 0 || omega == 0 || math.IsInf(omega, 0) {
				omega = 0
				quantity = "the step that minimises the residual"
			}
			floats.AddScaled(r, -omega, t)
			after := norm(r)
			s.keep(rn, after)
			floats.AddScaled(s.x, alpha, y)
			floats.AddScaled(s.x, omega, z)
			rn = after
			if err := s.iterated(rn); err != nil {
				return s.fail(err, rn, ri, tempi)
			}
			if omega == 0 {
				break
			}
		}
		if rn > s.target && s.result.Iterations == rounds {
			return s.fail(&BreakdownError{Method: s.method, Quantity: quantity, Value: value}, rn, ri, tempi)
		}
	}
}
