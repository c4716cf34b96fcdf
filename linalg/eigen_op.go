package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// The operations on the eigenvalues λ and eigenvectors V of a symmetric matrix have two arguments for it: its lower
// triangle A, and λ and V as eigenFactorOp computed them from A, which carry no derivative.

// eigenFactorOp computes λ, ascending, and the n×n matrix V with A = V·diag(λ)·Vᵀ. The element of an eigenvector that
// has the largest magnitude is positive.
type eigenFactorOp struct{ n int }

func (eigenFactorOp) factorization() {}
func (o eigenFactorOp) name() string { return fmt.Sprintf("eigen %d", o.n) }
func (o eigenFactorOp) outputs() int { return o.n + o.n*o.n }

func (o eigenFactorOp) value(y, x []float64) {
	n := o.n
	if n == 0 {
		return
	}
	for _, v := range x { // the iteration may not end
		if v-v != 0 {
			fillNaN(y)
			return
		}
	}
	v := y[n:]
	unpackSymmetric(v, x, n)
	w := borrow(64 * n)
	ok := lapack64.Syev(lapack.EVCompute, symmetricOf(v, n), y[:n], w.f, len(w.f))
	works.Put(w)
	if !ok {
		fail("Eigen", ErrNoConvergence, "%d×%d", n, n)
	}
	for j := range n {
		large := 0.0
		for i := range n {
			if e := v[i*n+j]; math.Abs(e) > math.Abs(large) {
				large = e
			}
		}
		if large < 0 {
			for i := range n {
				v[i*n+j] = -v[i*n+j]
			}
		}
	}
}

func (o eigenFactorOp) push(x, _, _ array) array { return x.zeros(o.n + o.n*o.n) }
func (o eigenFactorOp) pull(x, _, _ array) array { return x.zeros(packed(o.n)) }

// eigenValuesOp is λ. Its derivatives are λ̇ = diag(Vᵀ·Ȧ·V) and Ā = V·diag(λ̄)·Vᵀ (Giles 2008, section 3.1).
type eigenValuesOp struct{ n int }

func (o eigenValuesOp) name() string         { return fmt.Sprintf("eigenvalues %d", o.n) }
func (o eigenValuesOp) outputs() int         { return o.n }
func (o eigenValuesOp) value(y, x []float64) { copy(y, x[packed(o.n):]) }

func (o eigenValuesOp) push(x, _, xdot array) array {
	n := o.n
	d := xdot.part(0, packed(n))
	if d.isZero() {
		return x.zeros(n)
	}
	v := apply(eigenVectorsOp(o), x)
	t := apply(mulOp{n, n, n, true, false}, v, apply(symMulOp{n, n}, d, v))
	return t.pick(n, func(i int) int { return i*n + i })
}

func (o eigenValuesOp) pull(x, _, g array) array {
	n := o.n
	if g.isZero() {
		return x.zeros(x.len())
	}
	v := apply(eigenVectorsOp(o), x)
	w := v.times(g, func(k int) int { return k % n })
	return join(apply(symOuterOp{n, n}, w, v), x.zeros(n+n*n))
}

// eigenVectorsOp is V. With F[i][j] = 1/(λ[j]-λ[i]) and 0 on the diagonal, and ∘ the product of elements, its
// derivatives are V̇ = V·(F∘(Vᵀ·Ȧ·V)) and Ā = V·(F∘(Vᵀ·V̄))·Vᵀ, of which A stores the symmetric part (Giles 2008,
// section 3.1).
type eigenVectorsOp struct{ n int }

func (o eigenVectorsOp) name() string         { return fmt.Sprintf("eigenvectors %d", o.n) }
func (o eigenVectorsOp) outputs() int         { return o.n * o.n }
func (o eigenVectorsOp) value(y, x []float64) { copy(y, x[packed(o.n)+o.n:]) }

func (o eigenVectorsOp) push(x, v, xdot array) array {
	n := o.n
	d := xdot.part(0, packed(n))
	if d.isZero() {
		return x.zeros(n * n)
	}
	f := apply(gapsOp{n, false}, apply(eigenValuesOp(o), x))
	t := apply(mulOp{n, n, n, true, false}, v, apply(symMulOp{n, n}, d, v))
	return apply(mulOp{n, n, n, false, false}, v, f.times(t, same))
}

// same is the identity.
func same(i int) int { return i }

// gapsOp is F as a function of λ, for distinct λ. Ḟ = F∘F∘(λ̇[i]-λ̇[j]). If squares is set, λ are the squares of the
// arguments, which are not negative.
type gapsOp struct {
	n       int
	squares bool
}

func (o gapsOp) name() string {
	if o.squares {
		return fmt.Sprintf("squaregaps %d", o.n)
	}
	return fmt.Sprintf("gaps %d", o.n)
}

func (o gapsOp) outputs() int { return o.n * o.n }

func (o gapsOp) value(y, x []float64) {
	for i, a := range x {
		for j, b := range x {
			switch {
			case i == j:
				y[i*o.n+j] = 0
			case a == b && o.squares:
				fail("SVD", ErrEqualSingularValues, "singular values %d and %d of %d are %v", min(i, j), max(i, j),
					o.n, a)
			case a == b:
				fail("Eigen", ErrEqualEigenvalues, "eigenvalues %d and %d of %d are %v", min(i, j), max(i, j), o.n, a)
			case o.squares:
				y[i*o.n+j] = 1 / ((b - a) * (b + a))
			default:
				y[i*o.n+j] = 1 / (b - a)
			}
		}
	}
}

// inner returns the tangent d of the arguments as that of λ, or the cotangent of λ as that of the arguments.
func (o gapsOp) inner(x, d array) array {
	if !o.squares {
		return d
	}
	return d.times(x, same).scaled(func(int) float64 { return 2 })
}

func (o gapsOp) push(x, f, xdot array) array {
	n := o.n
	if xdot.isZero() {
		return f.zeros(n * n)
	}
	xdot = o.inner(x, xdot)
	row := xdot.pick(n*n, func(k int) int { return k / n })
	col := xdot.pick(n*n, func(k int) int { return k % n })
	return row.minus(col).times(f, same).times(f, same)
}

func (o gapsOp) pull(x, f, g array) array {
	n := o.n
	if g.isZero() {
		return x.zeros(n)
	}
	h, one := g.times(f, same).times(f, same), x.fill(n, 1)
	return o.inner(x, apply(mulOp{n, n, 1, false, false}, h, one).minus(apply(mulOp{n, n, 1, true, false}, h, one)))
}

func (o eigenVectorsOp) pull(x, v, g array) array {
	n := o.n
	if g.isZero() {
		return x.zeros(x.len())
	}
	f := apply(gapsOp{n, false}, apply(eigenValuesOp(o), x))
	q := f.times(apply(mulOp{n, n, n, true, false}, v, g), same)
	vq := apply(mulOp{n, n, n, false, false}, v, q)
	return join(apply(symOuterOp{n, n}, vq, v), x.zeros(n+n*n))
}
