package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/lapack/lapack64"
)

// The operations on a square matrix have two arguments for it: A, and the factors that luFactorOp computed from A,
// which carry no derivative.

// luFactorOp computes L and U with P·A = L·U in one n×n matrix, followed by the n pivots of P. A singular matrix has a
// zero on the diagonal of U.
type luFactorOp struct{ n int }

func (luFactorOp) factorization() {}
func (o luFactorOp) name() string { return fmt.Sprintf("lu %d", o.n) }
func (o luFactorOp) outputs() int { return o.factors() }
func (o luFactorOp) factors() int { return o.n * (o.n + 1) }

func (o luFactorOp) value(y, x []float64) {
	n := o.n
	if n == 0 {
		return
	}
	copy(y, x)
	w := borrow(0)
	piv := w.ints(n)
	lapack64.Getrf(dense(y[:n*n], n, n), piv)
	for i, p := range piv {
		y[n*n+i] = float64(p)
	}
	works.Put(w)
}

func (o luFactorOp) push(x, _, _ array) array { return x.zeros(o.factors()) }
func (o luFactorOp) pull(x, _, _ array) array { return x.zeros(o.n * o.n) }

// all returns the number of inputs that an operation has for A and its factors.
func (o luFactorOp) all() int { return o.n*o.n + o.factors() }

// regular returns the factors among the inputs x of an operation that needs a regular matrix, with the pivots.
func (o luFactorOp) regular(op string, w *work, x []float64) (lu []float64, piv []int) {
	n := o.n
	lu = x[n*n:][:n*n]
	for i := range n {
		if lu[i*n+i] == 0 {
			works.Put(w)
			fail(op, ErrSingular, "pivot %d of the %d×%d matrix is 0", i, n, n)
		}
	}
	piv = w.ints(n)
	for i := range piv {
		piv[i] = int(x[2*n*n+i])
	}
	return lu, piv
}

// luSolveOp is the solution X of A·X = B, or of Aᵀ·X = B if trans is set, for B, n×m. With W = A⁻ᵀ·X̄ the derivatives
// are Ẋ = A⁻¹(Ḃ - Ȧ·X), B̄ = W and Ā = -W·Xᵀ (Giles 2008, section 2.3.1).
type luSolveOp struct {
	n, m  int
	trans bool
}

func (o luSolveOp) name() string       { return fmt.Sprintf("solve%s %dx%d", tick(o.trans), o.n, o.m) }
func (o luSolveOp) factor() luFactorOp { return luFactorOp{o.n} }
func (o luSolveOp) outputs() int       { return o.n * o.m }

func (o luSolveOp) value(y, x []float64) {
	if len(y) == 0 {
		return
	}
	w := borrow(0)
	lu, piv := o.factor().regular("Solve", w, x)
	copy(y, x[o.factor().all():])
	lapack64.Getrs(transposeIf(o.trans), dense(lu, o.n, o.n), dense(y, o.n, o.m), piv)
	works.Put(w)
}

func (o luSolveOp) push(x, y, xdot array) array {
	k := o.factor().all()
	rhs := xdot.part(k, x.len())
	if d := xdot.part(0, o.n*o.n); !d.isZero() {
		rhs = rhs.minus(apply(mulOp{o.n, o.n, o.m, o.trans, false}, d, y))
	}
	if rhs.isZero() {
		return rhs
	}
	return apply(o, x.part(0, k), rhs)
}

func (o luSolveOp) pull(x, y, g array) array {
	if g.isZero() {
		return x.zeros(x.len())
	}
	w := apply(luSolveOp{o.n, o.m, !o.trans}, x.part(0, o.factor().all()), g)
	a, b := w, y
	if o.trans {
		a, b = y, w
	}
	return join(apply(mulOp{o.n, o.m, o.n, false, true}, a, b).neg(), x.zeros(o.factor().factors()), w)
}

// groups implements groupedOp.
func (o luSolveOp) groups() ([][]int, [][2]int, bool) {
	return columnGroups(o.factor().all(), o.n, o.n, o.m)
}

// luDetOp is det A, whose derivative is det A·A⁻ᵀ (Giles 2008, section 2.2.4), or with log set log |det A|, whose
// derivative is A⁻ᵀ.
type luDetOp struct {
	n   int
	log bool
}

func (o luDetOp) name() string {
	if o.log {
		return fmt.Sprintf("logdet %d", o.n)
	}
	return fmt.Sprintf("det %d", o.n)
}

func (o luDetOp) outputs() int { return 1 }

func (o luDetOp) value(y, x []float64) {
	n := o.n
	f := x[n*n:]
	if o.log {
		w := borrow(0)
		luFactorOp{n}.regular("LogDet", w, x)
		works.Put(w)
		y[0] = 0
		for i := range n {
			y[0] += math.Log(math.Abs(f[i*n+i]))
		}
		return
	}
	y[0] = luSignOp{n}.pivotSign(x)
	for i := range n {
		y[0] *= f[i*n+i]
	}
}

func (o luDetOp) push(x, y, xdot array) array {
	n := o.n
	d := xdot.part(0, n*n)
	if d.isZero() {
		return x.zeros(1)
	}
	v := apply(luInverseOp{n}, x)
	out := apply(mulOp{1, n * n, 1, false, false}, v.transposed(n, n), d)
	if o.log {
		return out
	}
	return out.times(y, first)
}

// first is the index 0.
func first(int) int { return 0 }

func (o luDetOp) pull(x, y, g array) array {
	n := o.n
	if g.isZero() || n == 0 {
		return x.zeros(x.len())
	}
	if !o.log {
		g = g.times(y, first)
	}
	v := apply(luInverseOp{n}, x).transposed(n, n)
	return join(v.times(g, first), x.zeros(luFactorOp{n}.factors()))
}

// luSignOp is the sign of det A, which carries no derivative.
type luSignOp struct{ n int }

func (luSignOp) factorization() {}
func (o luSignOp) name() string { return fmt.Sprintf("detsign %d", o.n) }
func (o luSignOp) outputs() int { return 1 }

// pivotSign returns the sign of the permutation.
func (o luSignOp) pivotSign(x []float64) float64 {
	sign := 1.0
	for i, p := range x[2*o.n*o.n:] {
		if int(p) != i {
			sign = -sign
		}
	}
	return sign
}

func (o luSignOp) value(y, x []float64) {
	n := o.n
	y[0] = o.pivotSign(x)
	for i := range n {
		switch u := x[n*n+i*n+i]; {
		case u != u:
			y[0] = u
		case u < 0:
			y[0] = -y[0]
		case u == 0:
			y[0] *= 0
		}
	}
	y[0] += 0
}

func (o luSignOp) push(x, _, _ array) array { return x.zeros(1) }
func (o luSignOp) pull(x, _, _ array) array { return x.zeros(x.len()) }

// luInverseOp is V = A⁻¹, with derivatives V̇ = -V·Ȧ·V and Ā = -Vᵀ·V̄·Vᵀ (Giles 2008, section 2.2.3).
type luInverseOp struct{ n int }

func (o luInverseOp) name() string { return fmt.Sprintf("inverse %d", o.n) }
func (o luInverseOp) outputs() int { return o.n * o.n }

func (o luInverseOp) value(y, x []float64) {
	n := o.n
	if n == 0 {
		return
	}
	w := borrow(64 * n)
	lu, piv := luFactorOp(o).regular("Inverse", w, x)
	copy(y, lu)
	lapack64.Getri(dense(y, n, n), piv, w.f, len(w.f))
	works.Put(w)
}

func (o luInverseOp) push(x, v, xdot array) array {
	n := o.n
	d := xdot.part(0, n*n)
	if d.isZero() {
		return d
	}
	mul := mulOp{n, n, n, false, false}
	return apply(mul, v, apply(mul, d, v)).neg()
}

func (o luInverseOp) pull(x, v, g array) array {
	n := o.n
	if g.isZero() {
		return x.zeros(x.len())
	}
	t := apply(mulOp{n, n, n, false, true}, g, v)
	return join(apply(mulOp{n, n, n, true, false}, v, t).neg(), x.zeros(luFactorOp(o).factors()))
}
