package problems

import "github.com/nabla-ad/nabla"

// The constants of the Brusselator.
const (
	brusselatorA = 3.4
	brusselatorB = 1
)

// A Grid is a square grid of N×N points.
type Grid struct{ N int }

// BrusselatorOn is [BrusselatorPlain] on a grid.
//
//nabla:differentiate
func BrusselatorOn(dx, x []float64, g *Grid) { BrusselatorPlain(dx, x, g.N) }

// BrusselatorModuloOn is [BrusselatorModuloPlain] on a grid.
//
//nabla:differentiate
func BrusselatorModuloOn(dx, x []float64, g *Grid) { BrusselatorModuloPlain(dx, x, g.N) }

// BrusselatorPlain computes the right-hand side dx of the Brusselator on a periodic grid of n×n points,
//
//	u' = α·Δu + B + u²v - (A+1)u   v' = α·Δv + A·u - u²v
//
// with the five-point Laplacian and α = 10/h², h = 1/(n-1). x holds u, the first index running fastest, and then v.
func BrusselatorPlain(dx, x []float64, n int) {
	alpha, nn := brusselatorAlpha(n), n*n
	u, v, du, dv := x[:nn], x[nn:], dx[:nn], dx[nn:]
	for j := range n {
		// The row itself, the one below and the one above.
		here, south, north := n*j, n*(j-1), n*(j+1)
		if j == 0 {
			south = n * (n - 1)
		}
		if j == n-1 {
			north = 0
		}
		for i := range n {
			at, west, east := here+i, here+i-1, here+i+1
			if i == 0 {
				west = here + n - 1
			}
			if i == n-1 {
				east = here
			}
			lu := u[west] + u[east] + u[north+i] + u[south+i] - 4*u[at]
			lv := v[west] + v[east] + v[north+i] + v[south+i] - 4*v[at]
			uuv := u[at] * u[at] * v[at]
			du[at] = alpha*lu + brusselatorB + uuv - (brusselatorA+1)*u[at]
			dv[at] = alpha*lv + brusselatorA*u[at] - uuv
		}
	}
}

// BrusselatorModuloPlain is [BrusselatorPlain] with a remainder for each neighbour.
func BrusselatorModuloPlain(dx, x []float64, n int) {
	alpha := brusselatorAlpha(n)
	u, v := x[:n*n], x[n*n:]
	for j := range n {
		for i := range n {
			at, west, east, south, north := around(i, j, n)
			lu := u[west] + u[east] + u[north] + u[south] - 4*u[at]
			lv := v[west] + v[east] + v[north] + v[south] - 4*v[at]
			uuv := u[at] * u[at] * v[at]
			dx[at] = alpha*lu + brusselatorB + uuv - (brusselatorA+1)*u[at]
			dx[n*n+at] = alpha*lv + brusselatorA*u[at] - uuv
		}
	}
}

func brusselatorAlpha(n int) float64 { return 10 * float64(n-1) * float64(n-1) }

// around returns the indices of point (i, j) and its neighbours.
func around(i, j, n int) (at, west, east, south, north int) {
	wrap := func(k int) int { return (k + n) % n }
	return i + n*j, wrap(i-1) + n*j, wrap(i+1) + n*j, i + n*wrap(j-1), i + n*wrap(j+1)
}

// Brusselator is [BrusselatorPlain] over Reals.
func Brusselator(dx, x []nabla.Real, n int) {
	alpha := brusselatorAlpha(n)
	u, v := x[:n*n], x[n*n:]
	for j := range n {
		for i := range n {
			at, west, east, south, north := around(i, j, n)
			lu := u[west].Add(u[east]).Add(u[north]).Add(u[south]).Sub(u[at].Scale(4))
			lv := v[west].Add(v[east]).Add(v[north]).Add(v[south]).Sub(v[at].Scale(4))
			uuv := u[at].Sq().Mul(v[at])
			dx[at] = lu.Scale(alpha).AddConst(brusselatorB).Add(uuv).Sub(u[at].Scale(brusselatorA + 1))
			dx[n*n+at] = lv.Scale(alpha).Add(u[at].Scale(brusselatorA)).Sub(uuv)
		}
	}
}

// BrusselatorJacobian returns the Jacobian of [Brusselator], written by hand: six elements in each row, for the point
// itself, its four neighbours and the other species. On a grid of 2×2 points neighbours coincide, and so do elements.
func BrusselatorJacobian(x []float64, n int) []Element {
	alpha, nn := brusselatorAlpha(n), n*n
	out := make([]Element, 0, 12*nn)
	for j := range n {
		for i := range n {
			at, west, east, south, north := around(i, j, n)
			u, v := x[at], x[nn+at]
			for _, k := range []int{west, east, south, north} {
				out = append(out, Element{at, k, alpha}, Element{nn + at, nn + k, alpha})
			}
			out = append(out,
				Element{at, at, -4*alpha + 2*u*v - (brusselatorA + 1)},
				Element{at, nn + at, u * u},
				Element{nn + at, at, brusselatorA - 2*u*v},
				Element{nn + at, nn + at, -4*alpha - u*u})
		}
	}
	return out
}

// dense returns the matrix with n columns, row by row.
func dense(elements []Element, m, n int) []float64 {
	jac := make([]float64, m*n)
	for _, e := range elements {
		jac[e.Row*n+e.Col] += e.Value
	}
	return jac
}

// largeMatrix is the number of columns from which a case has no dense derivative.
const largeMatrix = 1000

// T4 returns the Brusselator on a grid of n×n points with random values: 2n² inputs and as many outputs.
func T4(n int) *Problem {
	s := seed
	size := 2 * n * n
	x, y := s.draw(size), make([]float64, size)
	BrusselatorPlain(y, x, n)
	c := Case{X: x, Value: y, Elements: BrusselatorJacobian(x, n)}
	if size < largeMatrix {
		c.Derivative = dense(c.Elements, size, size)
	}
	traced := func(y, x []nabla.Real) { Brusselator(y, x, n) }
	return &Problem{
		Name: "T4", Title: "Brusselator",
		Formula: "u′ = α Δu + B + u²v − (A+1) u,  v′ = α Δv + A u − u²v on a periodic grid, A = 3.4, B = 1",
		N:       size, M: size,
		Source: "Prigogine & Lefever, J. Chem. Phys. 48 (1968) 1695, as discretised in SciMLBenchmarks.jl " +
			"without the forcing term; Jacobian by hand",
		PlainVector:  func(y, x []float64) { BrusselatorPlain(y, x, n) },
		TracedVector: traced,
		Func:         nabla.InPlace(size, traced),
		Bound:        nabla.BindInPlace(size, BrusselatorOn, &Grid{n}),
		ByHand:       func() *ByHand { return brusselatorByHand(n) },
		Cases:        []Case{c},
		Tolerance:    1e-12, Difference: 1e-5,
	}
}

// brusselator returns T4 of the size that is usual for benchmarks, or a small one.
func brusselator(n int) *Problem {
	if n == 2048 {
		return T4(32)
	}
	return T4(6)
}

// brusselatorModulo is brusselator with a remainder for each neighbour.
func brusselatorModulo(size int) *Problem {
	p := brusselator(size)
	n := 6
	if size == 2048 {
		n = 32
	}
	p.Name, p.Title = "T4-modulo", "Brusselator, neighbours by remainders"
	p.PlainVector = func(y, x []float64) { BrusselatorModuloPlain(y, x, n) }
	p.Bound = nabla.BindInPlace(p.M, BrusselatorModuloOn, &Grid{n})
	return p
}
