package finitediff

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
)

// A Grid holds the nodes of a stencil, as distances from the point of the derivative in units of the step. {-1, 0, 1}
// is the grid of the central difference. The nodes are distinct, in any order.
type Grid []float64

// CentralGrid returns p consecutive integers around 0, without 0 if p is even: {-2, -1, 0, 1, 2} for 5 and
// {-2, -1, 1, 2} for 4. It returns nil if p < 1.
func CentralGrid(p int) Grid {
	var g Grid
	for i := -(p / 2); i <= p/2 && p > 0; i++ {
		if i != 0 || p%2 == 1 {
			g = append(g, float64(i))
		}
	}
	return g
}

// ForwardGrid returns {0, 1, …, p-1}, or nil if p < 1.
func ForwardGrid(p int) Grid {
	var g Grid
	for i := range p {
		g = append(g, float64(i))
	}
	return g
}

// BackwardGrid returns {0, -1, …, 1-p}, or nil if p < 1.
func BackwardGrid(p int) Grid {
	g := ForwardGrid(p)
	for i, v := range g {
		if v > 0 {
			g[i] = -v
		}
	}
	return g
}

// maxPoints bounds the nodes of a grid: more have coefficients that only cancel.
const maxPoints = 31

// check returns an error, a *[SettingError] or nil, if there is no stencil of the given order on g.
func (g Grid) check(field string, order int) error {
	switch {
	case order < 0:
		return &SettingError{Field: "the order of the derivative", Got: order, Want: "0 or more"}
	case len(g) <= order:
		return &SettingError{Field: field, Got: points(len(g)),
			Want: fmt.Sprintf("at least %d points for a derivative of order %d", order+1, order)}
	case len(g) > maxPoints:
		return &SettingError{Field: field, Got: points(len(g)), Want: fmt.Sprintf("at most %d", maxPoints)}
	}
	for i, v := range g {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &SettingError{Field: fmt.Sprintf("%s[%d]", field, i), Got: v, Want: "a finite number"}
		}
		if j := slices.Index(g[:i], v); j >= 0 {
			return &SettingError{Field: fmt.Sprintf("%s[%d]", field, i), Got: v,
				Want: fmt.Sprintf("a node that differs from node %d", j)}
		}
	}
	return nil
}

type points int

func (p points) String() string {
	if p == 1 {
		return "1 point"
	}
	return fmt.Sprintf("%d points", int(p))
}

// A Stencil is a formula for a derivative: f⁽q⁾(x) ≈ Σ cₖ·f(x + gₖ·h) / h^q. It is exact for polynomials of a degree
// less than the number of points.
type Stencil struct {
	grid  Grid
	order int
	exact []*big.Rat
}

// NewStencil returns the stencil of the given order on a grid with more points than that. The error is a
// *[SettingError]. It costs O(p²·order) operations on rational numbers for p points.
func NewStencil(grid Grid, order int) (*Stencil, error) {
	if err := grid.check("the grid", order); err != nil {
		return nil, err
	}
	return &Stencil{grid: slices.Clone(grid), order: order, exact: fornberg(grid, 0, order)}, nil
}

// Grid returns a copy of the nodes.
func (s *Stencil) Grid() Grid { return slices.Clone(s.grid) }

// Order returns the order of the derivative.
func (s *Stencil) Order() int { return s.order }

// Exact returns the coefficients as rational numbers: nodes are float64, so the coefficients are rational.
func (s *Stencil) Exact() []*big.Rat {
	c := make([]*big.Rat, len(s.exact))
	for i, r := range s.exact {
		c[i] = new(big.Rat).Set(r)
	}
	return c
}

// Coefficients returns the coefficients, each rounded once.
func (s *Stencil) Coefficients() []float64 { return rounded(s.exact) }

func rounded(exact []*big.Rat) []float64 {
	c := make([]float64, len(exact))
	for i, r := range exact {
		c[i], _ = r.Float64()
	}
	return c
}

// fornberg returns the coefficients of the derivative of the given order at the point at, in exact arithmetic:
// B. Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids", Math. Comp. 51 (1988). It adds
// one node after the other; c[j][k] is the coefficient of node j for order k on the nodes so far.
func fornberg(grid Grid, at float64, order int) []*big.Rat {
	rat := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	z := rat(at)
	c := make([][]*big.Rat, len(grid))
	for j := range c {
		c[j] = make([]*big.Rat, order+1)
		for k := range c[j] {
			c[j][k] = new(big.Rat)
		}
	}
	c[0][0].SetInt64(1)
	previous := big.NewRat(1, 1) // the product of the distances of the last node from those before it
	var u, v big.Rat
	// step sets c[j][k] = factor·(a·c[b][k] - k·c[b][k-1]) / by.
	step := func(j, k, b int, a, factor, by *big.Rat) {
		u.Mul(a, c[b][k])
		if k > 0 {
			u.Sub(&u, v.Mul(v.SetInt64(int64(k)), c[b][k-1]))
		}
		c[j][k].Mul(&u, factor)
		c[j][k].Quo(c[j][k], by)
	}
	one, minus := big.NewRat(1, 1), new(big.Rat)
	for i := 1; i < len(grid); i++ {
		product := big.NewRat(1, 1)
		for j := range i {
			product.Mul(product, new(big.Rat).Sub(rat(grid[i]), rat(grid[j])))
		}
		before, here := new(big.Rat).Sub(rat(grid[i-1]), z), new(big.Rat).Sub(rat(grid[i]), z)
		minus.Neg(previous)
		for k := min(i, order); k >= 0; k-- { // the new node, from the old coefficients of the one before it
			step(i, k, i-1, before, minus, product)
		}
		for j := range i {
			distance := new(big.Rat).Sub(rat(grid[i]), rat(grid[j]))
			for k := min(i, order); k >= 0; k-- {
				step(j, k, j, here, one, distance)
			}
		}
		previous = product
	}
	out := make([]*big.Rat, len(grid))
	for j := range out {
		out[j] = c[j][order]
	}
	return out
}

// A formula is a stencil prepared for use: with what its errors depend on.
type formula struct {
	grid  []float64
	coef  []float64
	near  [][]float64 // coefficients of the same derivative at neighbouring points
	half  []int       // see halves
	value []float64   // coefficients of f at 0 from the other nodes
	fall  float64     // the factor by which the error of that value falls, at least, when h is halved
	order int         // q
	power int         // p: the truncation error is O(h^(p-q))
	sum   float64     // Σ|cₖ|
	norm  float64     // √Σcₖ²
	trunc float64     // Σ|cₖ·gₖ^p| / p!: the truncation error is at most trunc·max|f⁽p⁾|·h^(p-q)
	reach float64     // max|gₖ|
	even  bool        // the error has only even powers of h: the grid is symmetric
}

// newFormula returns the formula of an order on a grid that has been checked. shifts are the points of near.
func newFormula(grid Grid, order int, shifts ...float64) *formula {
	exact := fornberg(grid, 0, order)
	f := &formula{grid: slices.Clone(grid), coef: rounded(exact), order: order, power: len(grid), even: true}
	for k, g := range grid {
		f.sum += math.Abs(f.coef[k])
		f.norm = math.Hypot(f.norm, f.coef[k])
		f.reach = max(f.reach, math.Abs(g))
		f.even = f.even && slices.Contains(grid, -g)
	}
	for moment(grid, exact, f.power).Sign() == 0 {
		f.power++
	}
	for k, g := range grid {
		f.trunc += math.Abs(f.coef[k] * math.Pow(g, float64(f.power)))
	}
	f.trunc /= math.Gamma(float64(f.power + 1))
	for _, at := range shifts {
		f.near = append(f.near, rounded(fornberg(grid, at, order)))
	}
	f.half = halves(grid)
	f.interpolate()
	return f
}

// interpolate computes the coefficients of the value at 0 from the nodes that are not 0.
func (f *formula) interpolate() {
	others := slices.DeleteFunc(slices.Clone(f.grid), func(g float64) bool { return g == 0 })
	c := rounded(fornberg(others, 0, 0))
	for _, g := range f.grid {
		v := 0.0
		if g != 0 {
			v, c = c[0], c[1:]
		}
		f.value = append(f.value, v)
	}
	f.fall = math.Exp2(0.5 - float64(len(others)))
}

// formulas holds the formulas on integer grids that were used, by their standard.
var formulas sync.Map

// A standard identifies a formula on an integer grid.
type standard struct {
	method        Method
	points, order int
	level         bool // with the derivatives at neighbouring points
}

// formula returns the formula, which is computed once.
func (s standard) formula() *formula {
	if f, ok := formulas.Load(s); ok {
		return f.(*formula)
	}
	var shifts []float64
	if s.level {
		shifts = map[Method][]float64{Central: {-1, 0, 1}, Forward: {0, 1, 2}, Backward: {0, -1, -2}}[s.method]
	}
	f, _ := formulas.LoadOrStore(s, newFormula(s.method.grid(s.points), s.order, shifts...))
	return f.(*formula)
}

// moment returns Σ cₖ·gₖ^p.
func moment(grid Grid, c []*big.Rat, p int) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	for k, g := range grid {
		term.Set(c[k])
		node := new(big.Rat).SetFloat64(g)
		for range p {
			term.Mul(term, node)
		}
		sum.Add(sum, term)
	}
	return sum
}

// halves returns, for each node, the index of the node at half its distance, or -1: with half of the step the first is
// where the second was.
func halves(grid Grid) []int {
	h := make([]int, len(grid))
	for k, g := range grid {
		h[k] = slices.Index(grid, g/2)
	}
	return h
}

// step returns the step at which a truncation error of trunc·bound·h^(p-q) and a rounding error of sum·rounding/h^q
// have the smallest sum.
func (f *formula) step(rounding, bound float64) float64 {
	p, q := float64(f.power), float64(f.order)
	if f.order == 0 {
		q = 1
	}
	return math.Pow(q/(p-q)*(rounding*f.sum)/(bound*f.trunc), 1/p)
}
