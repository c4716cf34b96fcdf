package iterative

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// GMRES is the restarted method of generalised minimal residuals (Saad & Schultz, SIAM J. Sci. Stat. Comput. 7, 1986)
// for any matrix, with the preconditioner on the right. It uses modified Gram–Schmidt orthogonalisation, with which it
// is backward stable (Paige, Rozložník & Strakoš, SIAM J. Matrix Anal. Appl. 28, 2006), and Givens rotations. The norm
// of the residual does not increase. Iteration k after a restart takes one product and 2·k vector operations.
type GMRES struct {
	Settings

	// Restart is the number of iterations after which the method starts again from its solution, and of the vectors
	// that it holds; 0 means 30. It is at most n.
	Restart int

	run     run
	h       []float64 // R by columns, column k at k·(k+1)/2
	g       []float64 // rotated right-hand side
	cos, si []float64 // rotations
	column  []float64
}

// Solve stores the solution of A·x = b in x, with the rules of [CG.Solve].
func (m *GMRES) Solve(ctx context.Context, x []float64, a Operator, b []float64) (Result, error) {
	r := &m.run
	if m.Restart < 0 {
		return Result{}, &SettingError{"GMRES", "Restart", fmt.Sprint(m.Restart), "a number that is not negative"}
	}
	restart := m.Restart
	if restart == 0 {
		restart = 30
	}
	restart = min(restart, max(1, len(b)))
	if err := r.begin(ctx, "GMRES", &m.Settings, x, a, b, restart+3); err != nil {
		return Result{}, err
	}
	defer r.end()
	if len(m.g) < restart+1 {
		m.h, m.g = make([]float64, restart*(restart+1)/2), make([]float64, restart+1)
		m.cos, m.si, m.column = make([]float64, restart), make([]float64, restart), make([]float64, restart+1)
	}
	return m.solve(r, restart)
}

// Work vectors 0 and 1 are temporary, those from 2 on the orthonormal basis.
func (m *GMRES) solve(s *run, restart int) (Result, error) {
	const ti, zi, vi = 0, 1, 2
	previous := math.Inf(1)
	for {
		rn, err := s.residual(vi, ti)
		if err != nil || rn <= s.target {
			return s.result, err
		}
		if rn >= previous*(1-1e-10) {
			return s.fail(s.stagnated(), rn, vi, ti)
		}
		previous = rn
		floats.Scale(1/rn, s.vec(vi))
		clear(m.g)
		m.g[0] = rn
		k := 0
		var stop error
		for k < restart && stop == nil && math.Abs(m.g[k]) > s.target {
			if stop = s.precondition(zi, vi+k); stop != nil {
				break
			}
			s.multiply(vi+k+1, zi)
			w := s.vec(vi + k + 1)
			if stop = s.finite("the product A·z", w); stop != nil {
				break
			}
			length := norm(w)
			below := m.orthogonalize(s, vi, k)
			exhausted := below <= tiny*length
			if !exhausted {
				floats.Scale(1/below, w)
			}
			largest := floats.Norm(m.column[:k+1], math.Inf(1))
			m.rotate(k, below)
			if diagonal := math.Abs(m.h[k*(k+1)/2+k]); exhausted && diagonal <= tiny*largest || length == 0 {
				stop = &BreakdownError{Method: s.method, Quantity: "the diagonal of R, which vanishes for a singular " +
					"matrix,", Value: diagonal}
				break
			}
			k++
			stop = s.iterated(math.Abs(m.g[k]))
			if exhausted {
				break
			}
		}
		if err := m.update(s, k, zi, ti, vi); err != nil {
			return s.result, err
		}
		if stop != nil {
			return s.fail(stop, math.Abs(m.g[k]), vi, ti)
		}
	}
}

// orthogonalize subtracts from basis vector k+1 its components along the vectors before it, which it stores in
// m.column, and returns the length of the rest.
func (m *GMRES) orthogonalize(s *run, vi, k int) float64 {
	w := s.vec(vi + k + 1)
	for i := range k + 1 {
		v := s.vec(vi + i)
		m.column[i] = floats.Dot(v, w)
		floats.AddScaled(w, -m.column[i], v)
	}
	return norm(w)
}

// rotate applies the earlier rotations to the new column k of the Hessenberg matrix, whose subdiagonal entry is below,
// and makes that entry zero by a new one.
func (m *GMRES) rotate(k int, below float64) {
	col := m.h[k*(k+1)/2 : k*(k+1)/2+k+1]
	copy(col, m.column)
	for i := range k {
		col[i], col[i+1] = m.cos[i]*col[i]+m.si[i]*col[i+1], m.cos[i]*col[i+1]-m.si[i]*col[i]
	}
	r := math.Hypot(col[k], below)
	m.cos[k], m.si[k] = 1, 0
	if r > 0 {
		m.cos[k], m.si[k] = col[k]/r, below/r
	}
	col[k] = r
	m.g[k], m.g[k+1] = m.cos[k]*m.g[k], -m.si[k]*m.g[k]
}

// update adds to x the preconditioned combination of the first k basis vectors that minimises the residual.
func (m *GMRES) update(s *run, k, zi, ti, vi int) error {
	if k == 0 {
		return nil
	}
	y := m.column
	for i := k - 1; i >= 0; i-- {
		y[i] = m.g[i]
		for j := i + 1; j < k; j++ {
			y[i] -= m.h[j*(j+1)/2+i] * y[j]
		}
		y[i] /= m.h[i*(i+1)/2+i]
	}
	sum := s.vec(ti)
	clear(sum)
	for i := range k {
		floats.AddScaled(sum, y[i], s.vec(vi+i))
	}
	if err := s.precondition(zi, ti); err != nil {
		return err
	}
	if err := s.finite("the preconditioned vector", s.vec(zi)); err != nil {
		return err
	}
	floats.Add(s.x, s.vec(zi))
	return nil
}
