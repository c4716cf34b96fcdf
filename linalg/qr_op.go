package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// The operations on an m×n matrix with m ≥ n have two arguments for it: A, and Q and R as qrFactorOp computed them from
// A, which carry no derivative. A⁺ is the pseudo-inverse of A, R⁻¹·Qᵀ if A has full rank.

// qrFactorOp computes the m×n matrix Q with orthonormal columns and the n×n upper triangle R with A = Q·R, by
// reflections. The diagonal of R is not negative, by which both are unique and smooth.
type qrFactorOp struct{ m, n int }

func (qrFactorOp) factorization() {}
func (o qrFactorOp) name() string { return fmt.Sprintf("qr %dx%d", o.m, o.n) }
func (o qrFactorOp) outputs() int { return o.factors() }
func (o qrFactorOp) factors() int { return o.m*o.n + o.n*o.n }

func (o qrFactorOp) value(y, x []float64) {
	m, n := o.m, o.n
	if n == 0 {
		return
	}
	if hasNaN(x) {
		fillNaN(y)
		return
	}
	q, r := y[:m*n], y[m*n:]
	copy(q, x)
	w := borrow(n + 64*n)
	tau, space := w.f[:n], w.f[n:]
	lapack64.Geqrf(dense(q, m, n), tau, space, len(space))
	for i := range n {
		clear(r[i*n : i*n+i])
		copy(r[i*n+i:(i+1)*n], q[i*n+i:(i+1)*n])
	}
	lapack64.Orgqr(dense(q, m, n), tau, space, len(space))
	works.Put(w)
	for j := range n {
		if r[j*n+j] < 0 {
			for k := j; k < n; k++ {
				r[j*n+k] = -r[j*n+k]
			}
			for i := range m {
				q[i*n+j] = -q[i*n+j]
			}
		}
	}
}

func (o qrFactorOp) push(x, _, _ array) array { return x.zeros(o.factors()) }
func (o qrFactorOp) pull(x, _, _ array) array { return x.zeros(o.m * o.n) }

// all returns the number of inputs that an operation has for A and its factors.
func (o qrFactorOp) all() int { return o.m*o.n + o.factors() }

// a returns A among the inputs x of an operation.
func (o qrFactorOp) a(x array) array { return x.part(0, o.m*o.n) }

// qr returns Q and R.
func (o qrFactorOp) qr(x array) (q, r array) {
	both := x.part(0, o.all())
	return apply(qrOrthogonalOp(o), both), apply(qrUpperOp(o), both).triangular(o.n).transposed(o.n, o.n)
}

// inverse returns R⁻¹, as A⁺·Q.
func (o qrFactorOp) inverse(x, q array) array {
	return apply(pinvOp{o.m, o.n, o.n, false}, x.part(0, o.all()), q)
}

// fullRank fails if a column of A is a combination of those before it to within rounding: the element of R on the
// diagonal is small compared with the others in its column.
func (o qrFactorOp) fullRank(r []float64) {
	for j := range o.n {
		norm := 0.0
		for i := range j + 1 {
			norm = math.Hypot(norm, r[i*o.n+j])
		}
		if math.Abs(r[j*o.n+j]) <= float64(o.m)*epsilon*norm {
			fail("QR", ErrRank, "column %d of the %d×%d matrix depends on those before it", j, o.m, o.n)
		}
	}
}

const epsilon = 0x1p-52

// pinvOp is X = A⁺·B for B, m×k, the least squares solution of A·X = B; or with trans set X = A⁺ᵀ·B for B, n×k, the
// solution of Aᵀ·X = B with the least norm. With the residual E = B - A·X the derivatives of the former are
// Ẋ = A⁺·(Ḃ - Ȧ·X + A⁺ᵀ·Ȧᵀ·E), B̄ = A⁺ᵀ·X̄ and Ā = E·(A⁺·B̄)ᵀ - B̄·Xᵀ; with Z = A⁺·X those of the latter are
// Ẋ = A⁺ᵀ·(Ḃ - Ȧᵀ·X) + (I - A·A⁺)·Ȧ·Z, B̄ = A⁺·X̄ and Ā = (X̄ - A·B̄)·Zᵀ - X·B̄ᵀ (Golub and Pereyra 1973, theorem 4.3).
type pinvOp struct {
	m, n, k int
	trans   bool
}

func (o pinvOp) name() string {
	return fmt.Sprintf("leastsquares%s %dx%d %d", tick(o.trans), o.m, o.n, o.k)
}
func (o pinvOp) factor() qrFactorOp { return qrFactorOp{o.m, o.n} }

// rows returns the number of rows of X, and that of B.
func (o pinvOp) rows() (out, in int) {
	if o.trans {
		return o.m, o.n
	}
	return o.n, o.m
}

func (o pinvOp) outputs() int { rows, _ := o.rows(); return rows * o.k }

func (o pinvOp) value(y, x []float64) {
	m, n, k := o.m, o.n, o.k
	factors, b := x[m*n:], x[o.factor().all():]
	q, r := dense(factors[:m*n], m, n), factors[m*n:][:n*n]
	o.factor().fullRank(r)
	switch upper := (blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: r}); {
	case len(y) == 0:
	case n == 0:
		clear(y)
	case o.trans:
		w := borrow(n * k)
		t := dense(w.f, n, k)
		copy(t.Data, b)
		blas64.Trsm(blas.Left, blas.Trans, 1, upper, t)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, q, t, 0, dense(y, m, k))
		works.Put(w)
	default:
		t := dense(y, n, k)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, q, dense(b, m, k), 0, t)
		blas64.Trsm(blas.Left, blas.NoTrans, 1, upper, t)
	}
}

func (o pinvOp) push(x, y, xdot array) array {
	m, n, k := o.m, o.n, o.k
	all := o.factor().all()
	a, b, rhs := x.part(0, all), x.part(all, x.len()), xdot.part(all, x.len())
	d := o.factor().a(xdot)
	if d.isZero() {
		if rhs.isZero() {
			return x.zeros(o.outputs())
		}
		return apply(o, a, rhs)
	}
	other := pinvOp{m, n, k, !o.trans}
	rhs = rhs.minus(apply(mulOp{o.inner(), o.outer(), k, o.trans, false}, d, y))
	if !o.trans {
		if m > n {
			e := b.minus(apply(mulOp{m, n, k, false, false}, o.factor().a(x), y))
			rhs = rhs.plus(apply(other, a, apply(mulOp{n, m, k, true, false}, d, e)))
		}
		return apply(o, a, rhs)
	}
	out := apply(o, a, rhs)
	if m > n {
		v := apply(mulOp{m, n, k, false, false}, d, apply(other, a, y))
		out = out.plus(v).minus(apply(mulOp{m, n, k, false, false}, o.factor().a(x), apply(other, a, v)))
	}
	return out
}

// inner and outer are the numbers of rows and columns of A, or of Aᵀ.
func (o pinvOp) inner() int { _, in := o.rows(); return in }
func (o pinvOp) outer() int { out, _ := o.rows(); return out }

func (o pinvOp) pull(x, y, g array) array {
	if g.isZero() {
		return x.zeros(x.len())
	}
	m, n, k := o.m, o.n, o.k
	all := o.factor().all()
	a := x.part(0, all)
	other := pinvOp{m, n, k, !o.trans}
	w := apply(other, a, g)
	outer := mulOp{m, k, n, false, true}
	var abar array
	if o.trans {
		abar = apply(outer, y, w).neg()
		if m > n {
			e := g.minus(apply(mulOp{m, n, k, false, false}, o.factor().a(x), w))
			abar = abar.plus(apply(outer, e, apply(other, a, y)))
		}
	} else {
		abar = apply(outer, w, y).neg()
		if m > n {
			e := x.part(all, x.len()).minus(apply(mulOp{m, n, k, false, false}, o.factor().a(x), y))
			abar = abar.plus(apply(outer, e, apply(o, a, w)))
		}
	}
	return join(abar, x.zeros(o.factor().factors()), w)
}

// groups implements groupedOp.
func (o pinvOp) groups() ([][]int, [][2]int, bool) {
	out, in := o.rows()
	return columnGroups(o.factor().all(), in, out, o.k)
}

// qrOrthogonalOp is Q. With C = Qᵀ·Ȧ·R⁻¹ and Ω the antisymmetric matrix with the elements of C below the diagonal, the
// derivatives are Q̇ = Q·(Ω - C) + Ȧ·R⁻¹ and Ā = (Q̄ - Q·M)·R⁻ᵀ, where M is symmetric with the lower triangle of Q̄ᵀ·Q
// (Walter and Lehmann 2010, section 4).
type qrOrthogonalOp struct{ m, n int }

func (o qrOrthogonalOp) name() string         { return fmt.Sprintf("qr.q %dx%d", o.m, o.n) }
func (o qrOrthogonalOp) outputs() int         { return o.m * o.n }
func (o qrOrthogonalOp) value(y, x []float64) { copy(y, x[o.m*o.n:]) }

// skew returns the antisymmetric n×n matrix with the elements of c below the diagonal.
func skew(c array, n int) array {
	low := c.lower(n).weighted(0, 1).triangular(n)
	return low.minus(low.transposed(n, n))
}

func (o qrOrthogonalOp) push(x, q, xdot array) array {
	m, n, f := o.m, o.n, qrFactorOp(o)
	d := f.a(xdot)
	if d.isZero() {
		return x.zeros(m * n)
	}
	d = apply(mulOp{m, n, n, false, false}, d, f.inverse(x, q))
	c := apply(mulOp{n, m, n, true, false}, q, d)
	return apply(mulOp{m, n, n, false, false}, q, skew(c, n).minus(c)).plus(d)
}

func (o qrOrthogonalOp) pull(x, q, g array) array {
	m, n, f := o.m, o.n, qrFactorOp(o)
	if g.isZero() {
		return x.zeros(x.len())
	}
	s := apply(mulOp{n, m, n, true, false}, g, q).lower(n).symmetric(n)
	g = g.minus(apply(mulOp{m, n, n, false, false}, q, s))
	return join(apply(mulOp{m, n, n, false, true}, g, f.inverse(x, q)), x.zeros(f.factors()))
}

// qrUpperOp is the lower triangle of Rᵀ. With C and Ω as for Q the derivatives are Ṙ = (C - Ω)·R and Ā = Q·M·R⁻ᵀ, where
// M is the symmetric matrix with the lower triangle of R·R̄ᵀ (Walter and Lehmann 2010, section 4).
type qrUpperOp struct{ m, n int }

func (o qrUpperOp) name() string { return fmt.Sprintf("qr.r %dx%d", o.m, o.n) }
func (o qrUpperOp) outputs() int { return packed(o.n) }

func (o qrUpperOp) value(y, x []float64) {
	r := x[2*o.m*o.n:]
	for i := range o.n {
		for j := range i + 1 {
			y[tri(i, j)] = r[j*o.n+i]
		}
	}
}

func (o qrUpperOp) push(x, y, xdot array) array {
	m, n, f := o.m, o.n, qrFactorOp(o)
	d := f.a(xdot)
	if d.isZero() {
		return x.zeros(packed(n))
	}
	q, _ := f.qr(x)
	d = apply(mulOp{m, n, n, false, false}, d, f.inverse(x, q))
	c := apply(mulOp{n, m, n, true, false}, q, d)
	// Ṙᵀ = Rᵀ·(C - Ω)ᵀ
	return apply(mulOp{n, n, n, false, true}, y.triangular(n), c.minus(skew(c, n))).lower(n)
}

func (o qrUpperOp) pull(x, y, g array) array {
	m, n, f := o.m, o.n, qrFactorOp(o)
	if g.isZero() {
		return x.zeros(x.len())
	}
	q, _ := f.qr(x)
	s := apply(mulOp{n, n, n, true, false}, y.triangular(n), g.triangular(n)).lower(n).symmetric(n)
	qs := apply(mulOp{m, n, n, false, false}, q, s)
	return join(apply(mulOp{m, n, n, false, true}, qs, f.inverse(x, q)), x.zeros(f.factors()))
}
