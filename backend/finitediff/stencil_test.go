package finitediff_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/backend/finitediff"
)

// TestStencils compares coefficients with those of tables: Fornberg, Math. Comp. 51 (1988), tables 1 and 3.
func TestStencils(t *testing.T) {
	for _, c := range []struct {
		grid  finitediff.Grid
		order int
		want  string
	}{
		{finitediff.CentralGrid(3), 1, "[-1/2 0/1 1/2]"},
		{finitediff.CentralGrid(5), 1, "[1/12 -2/3 0/1 2/3 -1/12]"},
		{finitediff.CentralGrid(4), 1, "[1/12 -2/3 2/3 -1/12]"},
		{finitediff.CentralGrid(5), 2, "[-1/12 4/3 -5/2 4/3 -1/12]"},
		{finitediff.CentralGrid(7), 4, "[-1/6 2/1 -13/2 28/3 -13/2 2/1 -1/6]"},
		{finitediff.ForwardGrid(2), 1, "[-1/1 1/1]"},
		{finitediff.ForwardGrid(3), 1, "[-3/2 2/1 -1/2]"},
		{finitediff.ForwardGrid(4), 2, "[2/1 -5/1 4/1 -1/1]"},
		{finitediff.ForwardGrid(5), 4, "[1/1 -4/1 6/1 -4/1 1/1]"},
		{finitediff.BackwardGrid(3), 1, "[3/2 -2/1 1/2]"},
		{finitediff.Grid{0, 1, -0.5}, 1, "[1/1 1/3 -4/3]"},
		{finitediff.Grid{0.25}, 0, "[1/1]"},
	} {
		s, err := finitediff.NewStencil(c.grid, c.order)
		if err != nil {
			t.Errorf("%v: %v", c.grid, err)
			continue
		}
		if got := fmt.Sprint(s.Exact()); got != c.want {
			t.Errorf("order %d on %v: %s, want %s", c.order, c.grid, got, c.want)
		}
		for i, r := range s.Exact() {
			if v, _ := r.Float64(); v != s.Coefficients()[i] {
				t.Errorf("order %d on %v: coefficient %d is %v, want %v", c.order, c.grid, i, s.Coefficients()[i], v)
			}
		}
	}
}

// TestStencilsOnPolynomials requires of random grids that their stencils differentiate the monomials below their number
// of points exactly: these equations determine the coefficients.
func TestStencilsOnPolynomials(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for range 60 {
		p := 1 + rng.IntN(9)
		q := rng.IntN(p)
		var grid finitediff.Grid
		for len(grid) < p {
			grid = append(grid, rng.NormFloat64()*math.Exp2(float64(rng.IntN(40)-20)))
		}
		s, err := finitediff.NewStencil(grid, q)
		if err != nil {
			t.Fatal(err)
		}
		factorial := new(big.Int).MulRange(1, int64(q))
		for j := range p {
			sum := new(big.Rat)
			for k, c := range s.Exact() {
				for range j {
					c.Mul(c, new(big.Rat).SetFloat64(grid[k]))
				}
				sum.Add(sum, c)
			}
			want := new(big.Rat)
			if j == q {
				want.SetInt(factorial)
			}
			if sum.Cmp(want) != 0 {
				t.Errorf("derivative %d of x^%d on %v is %v, want %v", q, j, grid, sum, want)
			}
		}
	}
}

func TestStencilErrors(t *testing.T) {
	for _, c := range []struct {
		grid  finitediff.Grid
		order int
		want  string
	}{
		{nil, 0, "the grid is 0 points, want at least 1 points for a derivative of order 0"},
		{finitediff.Grid{1}, 1, "the grid is 1 point, want at least 2 points for a derivative of order 1"},
		{finitediff.Grid{0, 1}, -1, "the order of the derivative is -1, want 0 or more"},
		{finitediff.Grid{0, 1, 1}, 1, "the grid[2] is 1, want a node that differs from node 1"},
		{finitediff.Grid{0, math.Copysign(0, -1)}, 1, "want a node that differs from node 0"},
		{finitediff.Grid{0, math.NaN()}, 1, "the grid[1] is NaN, want a finite number"},
		{finitediff.Grid{math.Inf(1), 0}, 1, "the grid[0] is +Inf, want a finite number"},
		{finitediff.CentralGrid(33), 1, "the grid is 33 points, want at most 31"},
	} {
		_, err := finitediff.NewStencil(c.grid, c.order)
		var setting *finitediff.SettingError
		if !errors.As(err, &setting) || !contains(err.Error(), c.want) {
			t.Errorf("order %d on %v: %v, want a SettingError with %q", c.order, c.grid, err, c.want)
		}
	}
	for p, want := range map[int]int{-1: 0, 0: 0, 1: 1, 6: 6} {
		for _, g := range []finitediff.Grid{finitediff.CentralGrid(p), finitediff.ForwardGrid(p),
			finitediff.BackwardGrid(p)} {
			if len(g) != want {
				t.Errorf("%d points for %d", len(g), p)
			}
		}
	}
}
