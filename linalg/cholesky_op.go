package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/lapack/lapack64"
)

// The operations on a symmetric positive definite matrix have two arguments for it: its lower triangle A, and the
// factor P that cholFactorOp computed from A, which carries no derivative.

// cholFactorOp computes L with A = L·Lᵀ.
type cholFactorOp struct{ n int }

func (cholFactorOp) factorization() {}
func (o cholFactorOp) name() string { return fmt.Sprintf("factorize %d", o.n) }
func (o cholFactorOp) outputs() int { return packed(o.n) }

func (o cholFactorOp) value(y, x []float64) {
	if o.n == 0 {
		return
	}
	w := borrow(o.n * o.n)
	unpack(w.f, x, o.n)
	if _, ok := lapack64.Potrf(symmetricOf(w.f, o.n)); !ok {
		works.Put(w)
		if !hasNaN(x) {
			fail("Cholesky", ErrNotPositiveDefinite, "%d×%d", o.n, o.n)
		}
		fillNaN(y)
		return
	}
	pack(y, w.f, o.n)
	works.Put(w)
}

func (o cholFactorOp) push(x, _, _ array) array { return x.zeros(packed(o.n)) }
func (o cholFactorOp) pull(x, _, _ array) array { return x.zeros(packed(o.n)) }

// cholLowerOp is L as a function of A. With Φ the lower triangle with the diagonal halved, L̇ = L·Φ(L⁻¹·Ȧ·L⁻ᵀ), and Ā
// is the symmetric part of L⁻ᵀ·Φ(Lᵀ·L̄)·L⁻¹ (Murray 2016, equations 8 and 10).
type cholLowerOp struct{ n int }

func (o cholLowerOp) name() string         { return fmt.Sprintf("cholesky %d", o.n) }
func (o cholLowerOp) outputs() int         { return packed(o.n) }
func (o cholLowerOp) value(y, x []float64) { copy(y, x[packed(o.n):]) }

func (o cholLowerOp) push(x, l, xdot array) array {
	n := o.n
	d := xdot.part(0, packed(n))
	if d.isZero() {
		return d
	}
	solve := triSolveOp{n, n, false}
	m := apply(solve, l, apply(solve, l, d.symmetric(n)).transposed(n, n))
	return apply(mulOp{n, n, n, false, false}, l.triangular(n), m.lower(n).weighted(0.5, 1).triangular(n)).lower(n)
}

func (o cholLowerOp) pull(x, l, g array) array {
	n := o.n
	if g.isZero() {
		return x.zeros(x.len())
	}
	phi := apply(mulOp{n, n, n, true, false}, l.triangular(n), g.triangular(n)).lower(n).weighted(0.5, 1)
	solve := triSolveOp{n, n, true}
	k := apply(solve, l, apply(solve, l, phi.triangular(n)).transposed(n, n))
	return join(k.lower(n).plus(k.upper(n)).weighted(0.5, 1), x.zeros(packed(n)))
}

// cholSolveOp is the solution X of A·X = B, for B, n×m. With W = A⁻¹·X̄ the derivatives are Ẋ = A⁻¹(Ḃ - Ȧ·X), B̄ = W
// and Ā = -W·Xᵀ, of which A stores the symmetric part (Giles 2008, section 2.3.1).
type cholSolveOp struct{ n, m int }

func (o cholSolveOp) name() string { return fmt.Sprintf("cholsolve %dx%d", o.n, o.m) }
func (o cholSolveOp) outputs() int { return o.n * o.m }

func (o cholSolveOp) value(y, x []float64) {
	l := x[packed(o.n) : 2*packed(o.n)]
	copy(y, x[2*packed(o.n):])
	solvePacked(l, y, o.n, o.m, false)
	solvePacked(l, y, o.n, o.m, true)
}

func (o cholSolveOp) push(x, y, xdot array) array {
	k := packed(o.n)
	rhs := xdot.part(2*k, x.len())
	if d := xdot.part(0, k); !d.isZero() {
		rhs = rhs.minus(apply(symMulOp(o), d, y))
	}
	if rhs.isZero() {
		return rhs
	}
	return apply(o, x.part(0, 2*k), rhs)
}

func (o cholSolveOp) pull(x, y, g array) array {
	if g.isZero() {
		return x.zeros(x.len())
	}
	k := packed(o.n)
	w := apply(o, x.part(0, 2*k), g)
	return join(apply(symOuterOp(o), w, y).neg(), x.zeros(k), w)
}

// groups implements groupedOp.
func (o cholSolveOp) groups() ([][]int, [][2]int, bool) {
	return columnGroups(2*packed(o.n), o.n, o.n, o.m)
}

// cholLogDetOp is log det A. Its derivative is A⁻¹ (Giles 2008, section 2.2.4).
type cholLogDetOp struct{ n int }

func (o cholLogDetOp) name() string { return fmt.Sprintf("chollogdet %d", o.n) }
func (o cholLogDetOp) outputs() int { return 1 }

func (o cholLogDetOp) value(y, x []float64) {
	sum := 0.0
	for i := range o.n {
		sum += math.Log(x[packed(o.n)+tri(i, i)])
	}
	y[0] = 2 * sum
}

func (o cholLogDetOp) push(x, _, xdot array) array {
	d := xdot.part(0, packed(o.n))
	if d.isZero() {
		return x.zeros(1)
	}
	return apply(mulOp{1, packed(o.n), 1, false, false}, apply(cholInverseOp(o), x).weighted(1, 2), d)
}

func (o cholLogDetOp) pull(x, _, g array) array {
	if g.isZero() || o.n == 0 {
		return x.zeros(x.len())
	}
	v := apply(cholInverseOp(o), x).weighted(1, 2)
	return join(v.times(g, first), x.zeros(packed(o.n)))
}

// cholInverseOp is the lower triangle of V = A⁻¹. Its derivatives are V̇ = -V·Ȧ·V and Ā = -V·V̄·V (Giles 2008, section
// 2.2.3).
type cholInverseOp struct{ n int }

func (o cholInverseOp) name() string { return fmt.Sprintf("cholinverse %d", o.n) }
func (o cholInverseOp) outputs() int { return packed(o.n) }

func (o cholInverseOp) value(y, x []float64) {
	if o.n == 0 {
		return
	}
	w := borrow(o.n * o.n)
	unpack(w.f, x[packed(o.n):], o.n)
	if _, ok := lapack64.Potri(lowerOf(w.f, o.n)); !ok { // a factor has no zeros on its diagonal
		works.Put(w)
		fillNaN(y)
		return
	}
	pack(y, w.f, o.n)
	works.Put(w)
}

func (o cholInverseOp) push(x, v, xdot array) array {
	d := xdot.part(0, packed(o.n))
	if d.isZero() {
		return d
	}
	return o.sandwich(v, d).neg()
}

func (o cholInverseOp) pull(x, v, g array) array {
	if g.isZero() {
		return x.zeros(x.len())
	}
	return join(o.sandwich(v, g.weighted(1, 0.5)).weighted(-1, -2), x.zeros(packed(o.n)))
}

// sandwich returns the lower triangle of V·S·V, for the lower triangles of V and S.
func (o cholInverseOp) sandwich(v, s array) array {
	n := o.n
	full := v.symmetric(n)
	return apply(mulOp{n, n, n, false, false}, full, apply(symMulOp{n, n}, s, full)).lower(n)
}
