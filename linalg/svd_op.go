package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// The operations on the singular values s and vectors U and V of an m×n matrix have two arguments for it: A, and U, s
// and V as svdFactorOp computed them from A, which carry no derivative. With k the smaller of m and n, U is m×k and V
// n×k.

// svdFactorOp computes U, s, descending, and V with A = U·diag(s)·Vᵀ. The element of a column of U that has the largest
// magnitude is positive.
type svdFactorOp struct{ m, n int }

func (svdFactorOp) factorization() {}
func (o svdFactorOp) name() string { return fmt.Sprintf("svd %dx%d", o.m, o.n) }
func (o svdFactorOp) outputs() int { return o.factors() }
func (o svdFactorOp) factors() int { return (o.m + 1 + o.n) * o.k() }
func (o svdFactorOp) k() int       { return min(o.m, o.n) }

func (o svdFactorOp) value(y, x []float64) {
	m, n, k := o.m, o.n, o.k()
	if k == 0 {
		return
	}
	for _, v := range x { // the iteration may not end
		if v-v != 0 {
			fillNaN(y)
			return
		}
	}
	space := 5*max(m, n) + 64*(m+n)
	w := borrow(m*n + k*n + space)
	a, vt := w.f[:m*n], w.f[m*n:m*n+k*n]
	copy(a, x)
	u, s, v := y[:m*k], y[m*k:m*k+k], y[m*k+k:]
	ok := lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, dense(a, m, n), dense(u, m, k), dense(vt, k, n), s,
		w.f[m*n+k*n:], space)
	if !ok {
		works.Put(w)
		fail("SVD", ErrNoConvergence, "%d×%d", m, n)
	}
	for j := range k {
		large := 0.0
		for i := range m {
			if e := u[i*k+j]; math.Abs(e) > math.Abs(large) {
				large = e
			}
		}
		sign := math.Copysign(1, large)
		for i := range m {
			u[i*k+j] *= sign
		}
		for i := range n {
			v[i*k+j] = vt[j*n+i] * sign
		}
	}
	works.Put(w)
}

func (o svdFactorOp) push(x, _, _ array) array { return x.zeros(o.factors()) }
func (o svdFactorOp) pull(x, _, _ array) array { return x.zeros(o.m * o.n) }

// svdValuesOp is s. Its derivatives are ṡ = diag(Uᵀ·Ȧ·V) and Ā = U·diag(s̄)·Vᵀ (Giles 2008, section 3.2).
type svdValuesOp struct{ m, n int }

func (o svdValuesOp) name() string { return fmt.Sprintf("singularvalues %dx%d", o.m, o.n) }
func (o svdValuesOp) outputs() int { return svdFactorOp(o).k() }

func (o svdValuesOp) value(y, x []float64) {
	copy(y, x[o.m*o.n+o.m*len(y):])
}

func (o svdValuesOp) push(x, _, xdot array) array {
	m, n, k := o.m, o.n, svdFactorOp(o).k()
	d := xdot.part(0, m*n)
	if d.isZero() {
		return x.zeros(k)
	}
	u, v := apply(svdVectorsOp{m, n, false}, x), apply(svdVectorsOp{m, n, true}, x)
	dv := apply(mulOp{m, n, k, false, false}, d, v)
	return apply(mulOp{1, m, k, false, false}, x.fill(m, 1), dv.times(u, same))
}

func (o svdValuesOp) pull(x, _, g array) array {
	m, n, k := o.m, o.n, svdFactorOp(o).k()
	if g.isZero() {
		return x.zeros(x.len())
	}
	u, v := apply(svdVectorsOp{m, n, false}, x), apply(svdVectorsOp{m, n, true}, x)
	us := u.times(g, func(i int) int { return i % k })
	return join(apply(mulOp{m, k, n, false, true}, us, v), x.zeros(svdFactorOp(o).factors()))
}

// svdVectorsOp is U, or V if right is set, the U of Aᵀ. With F[i][j] = 1/(s[j]²-s[i]²) and 0 on the diagonal, ∘ the
// product of elements, P = Uᵀ·Ȧ·V, S = diag(s) and K = Uᵀ·Ū, the derivatives are
// U̇ = U·(F∘(P·S + S·Pᵀ)) + (I - U·Uᵀ)·Ȧ·V·S⁻¹ and Ā = (U·(F∘(K - Kᵀ))·S + (Ū - U·K)·S⁻¹)·Vᵀ. The second terms are 0
// if U is square (Townsend 2016).
type svdVectorsOp struct {
	m, n  int
	right bool
}

func (o svdVectorsOp) name() string {
	return fmt.Sprintf("singularvectors%s %dx%d", tick(o.right), o.m, o.n)
}

func (o svdVectorsOp) factor() svdFactorOp { return svdFactorOp{o.m, o.n} }

// rows returns the number of rows of U.
func (o svdVectorsOp) rows() int {
	if o.right {
		return o.n
	}
	return o.m
}

func (o svdVectorsOp) outputs() int { return o.rows() * o.factor().k() }

func (o svdVectorsOp) value(y, x []float64) {
	from := o.m * o.n
	if o.right {
		from += (o.m + 1) * o.factor().k()
	}
	copy(y, x[from:])
}

// others returns V, s and F.
func (o svdVectorsOp) others(x array) (v, s, f array) {
	s = apply(svdValuesOp{o.m, o.n}, x)
	return apply(svdVectorsOp{o.m, o.n, !o.right}, x), s, apply(gapsOp{s.len(), true}, s)
}

func (o svdVectorsOp) push(x, u, xdot array) array {
	m, k := o.rows(), o.factor().k()
	n := o.m + o.n - m
	d := xdot.part(0, o.m*o.n)
	if d.isZero() {
		return x.zeros(m * k)
	}
	v, s, f := o.others(x)
	row, col := func(i int) int { return i / k }, func(i int) int { return i % k }
	dv := apply(mulOp{m, n, k, o.right, false}, d, v)
	p := apply(mulOp{k, m, k, true, false}, u, dv)
	t := f.times(p.times(s, col).plus(p.transposed(k, k).times(s, row)), same)
	out := apply(mulOp{m, k, k, false, false}, u, t)
	if m > k {
		rest := dv.minus(apply(mulOp{m, k, k, false, false}, u, p))
		out = out.plus(rest.times(apply(reciprocalOp{k}, s), col))
	}
	return out
}

func (o svdVectorsOp) pull(x, u, g array) array {
	m, k := o.rows(), o.factor().k()
	n := o.m + o.n - m
	if g.isZero() {
		return x.zeros(x.len())
	}
	v, s, f := o.others(x)
	col := func(i int) int { return i % k }
	kk := apply(mulOp{k, m, k, true, false}, u, g)
	t := f.times(kk.minus(kk.transposed(k, k)), same).times(s, col)
	w := apply(mulOp{m, k, k, false, false}, u, t)
	if m > k {
		rest := g.minus(apply(mulOp{m, k, k, false, false}, u, kk))
		w = w.plus(rest.times(apply(reciprocalOp{k}, s), col))
	}
	var abar array
	if o.right {
		abar = apply(mulOp{n, k, m, false, true}, v, w)
	} else {
		abar = apply(mulOp{m, k, n, false, true}, w, v)
	}
	return join(abar, x.zeros(o.factor().factors()))
}

// reciprocalOp is 1/s for singular values s that are not 0. Its derivative is -1/s².
type reciprocalOp struct{ n int }

func (o reciprocalOp) name() string { return fmt.Sprintf("reciprocals %d", o.n) }
func (o reciprocalOp) outputs() int { return o.n }

func (o reciprocalOp) value(y, x []float64) {
	for i, v := range x {
		if v == 0 {
			fail("SVD", ErrRank, "singular value %d of %d is 0", i, o.n)
		}
		y[i] = 1 / v
	}
}

func (o reciprocalOp) push(_, y, xdot array) array { return xdot.times(y, same).times(y, same).neg() }
func (o reciprocalOp) pull(_, y, g array) array    { return g.times(y, same).times(y, same).neg() }
