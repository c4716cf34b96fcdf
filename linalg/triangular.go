package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// triSolveOp is the solution X of L·X = B, or of Lᵀ·X = B if trans is set, for the lower triangle L, n×n, and B, n×m.
// With W = L⁻ᵀ·X̄ the derivatives are Ẋ = L⁻¹(Ḃ - L̇·X), B̄ = W and L̄ the lower triangle of -W·Xᵀ (Giles 2008,
// section 2.3.1).
type triSolveOp struct {
	n, m  int
	trans bool
}

func (o triSolveOp) name() string { return fmt.Sprintf("trisolve%s %dx%d", tick(o.trans), o.n, o.m) }
func (o triSolveOp) outputs() int { return o.n * o.m }

func (o triSolveOp) value(y, x []float64) {
	l := x[:packed(o.n)]
	for i := range o.n {
		if l[tri(i, i)] == 0 {
			fail("SolveTriangular", ErrSingular, "element (%d, %d) of the %d×%d matrix is 0", i, i, o.n, o.n)
		}
	}
	copy(y, x[packed(o.n):])
	solvePacked(l, y, o.n, o.m, o.trans)
}

// solvePacked replaces b, n×m, by the solution for the lower triangle l.
func solvePacked(l, b []float64, n, m int, trans bool) {
	switch {
	case len(b) == 0:
	case m == 1:
		blas64.Tpsv(transposeIf(trans), blas64.TriangularPacked{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Data: l},
			vector(b))
	default:
		w := borrow(n * n)
		unpack(w.f, l, n)
		blas64.Trsm(blas.Left, transposeIf(trans), 1, lowerOf(w.f, n), dense(b, n, m))
		works.Put(w)
	}
}

func (o triSolveOp) push(x, y, xdot array) array {
	k := packed(o.n)
	l, rhs := x.part(0, k), xdot.part(k, x.len())
	if d := xdot.part(0, k); !d.isZero() {
		rhs = rhs.minus(apply(mulOp{o.n, o.n, o.m, o.trans, false}, d.triangular(o.n), y))
	}
	if rhs.isZero() {
		return rhs
	}
	return apply(o, l, rhs)
}

func (o triSolveOp) pull(x, y, g array) array {
	if g.isZero() {
		return x.zeros(x.len())
	}
	w := apply(triSolveOp{o.n, o.m, !o.trans}, x.part(0, packed(o.n)), g)
	a, b := w, y
	if o.trans {
		a, b = y, w
	}
	return join(apply(mulOp{o.n, o.m, o.n, false, true}, a, b).lower(o.n).neg(), w)
}

// groups implements groupedOp: a column of X is linear in the column of B.
func (o triSolveOp) groups() ([][]int, [][2]int, bool) {
	return columnGroups(packed(o.n), o.n, o.n, o.m)
}

// columnGroups returns the groups of a solution of n rows and m columns: column j depends on the first k inputs and,
// linearly, on column j of the matrix of in rows and m columns that follows them.
func columnGroups(k, in, n, m int) (groups [][]int, outputs [][2]int, curved bool) {
	groups = append(groups, seq(0, 1, k))
	for j := range m {
		groups = append(groups, seq(k+j, m, in))
	}
	for range n {
		for j := range m {
			outputs = append(outputs, [2]int{0, 1 + j})
		}
	}
	return groups, outputs, true
}
