package matad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The method Product of mat.Dense. The function whose name ends in the number of factors is differentiated in its
// place, since each factor has a type of its own.

// A factor is op(A), of r rows and c columns.
type factor struct {
	g    blas64.General
	t    blas.Transpose
	r, c int
}

// newFactor returns a as a factor.
func newFactor(a mat.Matrix) factor {
	g, t := operand(a)
	r, c := a.Dims()
	return factor{g, t, r, c}
}

// DenseProduct0 is the method Product of mat.Dense without factors.
func DenseProduct0(m *mat.Dense) {
	if r, c := m.Dims(); r != 0 || c != 0 {
		panic(mat.ErrShape)
	}
}

// DenseProduct1 is the method Product of mat.Dense for one factor.
func DenseProduct1(m *mat.Dense, a mat.Matrix) {
	r, c := a.Dims()
	receive(m, r, c)
	DenseCopy(m, a)
}

// DenseProduct2 is the method Product of mat.Dense for two factors.
func DenseProduct2(m *mat.Dense, a, b mat.Matrix) { DenseMul(m, a, b) }

// DenseProduct3 is the method Product of mat.Dense for three factors.
func DenseProduct3(m *mat.Dense, a, b, c mat.Matrix) {
	chain(m, []factor{newFactor(a), newFactor(b), newFactor(c)})
}

// DenseProduct4 is the method Product of mat.Dense for four factors.
func DenseProduct4(m *mat.Dense, a, b, c, d mat.Matrix) {
	chain(m, []factor{newFactor(a), newFactor(b), newFactor(c), newFactor(d)})
}

// DenseProduct5 is the method Product of mat.Dense for five factors.
func DenseProduct5(m *mat.Dense, a, b, c, d, e mat.Matrix) {
	chain(m, []factor{newFactor(a), newFactor(b), newFactor(c), newFactor(d), newFactor(e)})
}

// DenseProduct6 is the method Product of mat.Dense for six factors.
func DenseProduct6(m *mat.Dense, a, b, c, d, e, f mat.Matrix) {
	chain(m, []factor{newFactor(a), newFactor(b), newFactor(c), newFactor(d), newFactor(e), newFactor(f)})
}

// chain sets m to the product of at least three factors.
func chain(m *mat.Dense, list []factor) {
	n := len(list)
	rows, cols := m.Dims()
	if !m.IsEmpty() && (list[0].r != rows || list[n-1].c != cols) {
		panic(mat.ErrShape)
	}
	// The sizes between factors. Those at the ends are those of m, which may be empty, as in the original.
	sizes := make([]int, n+1)
	sizes[0], sizes[n] = rows, cols
	for i := 1; i < n; i++ {
		sizes[i] = list[i].r
		if list[i-1].c != sizes[i] {
			panic(mat.ErrShape)
		}
	}
	p := multiply(list, splits(sizes), 0, n-1)
	receive(m, p.Rows, p.Cols)
	restore(m, p)
}

// splits returns where products of consecutive factors are best divided: element i·n+j is for the factors i to j of n.
func splits(sizes []int) []int {
	n := len(sizes) - 1
	cost, at := make([]int, n*n), make([]int, n*n)
	for length := 1; length < n; length++ {
		for i := 0; i+length < n; i++ {
			j := i + length
			cost[i*n+j] = int(^uint(0) >> 1)
			for k := i; k < j; k++ {
				if c := cost[i*n+k] + cost[(k+1)*n+j] + sizes[i]*sizes[k+1]*sizes[j+1]; c < cost[i*n+j] {
					cost[i*n+j], at[i*n+j] = c, k
				}
			}
		}
	}
	return at
}

// multiply returns the product of the factors i to j, of which there are at least two.
func multiply(list []factor, at []int, i, j int) blas64.General {
	k := at[i*len(list)+j]
	a, b := list[i], list[j]
	if i < k {
		g := multiply(list, at, i, k)
		a = factor{g, blas.NoTrans, g.Rows, g.Cols}
	}
	if k+1 < j {
		g := multiply(list, at, k+1, j)
		b = factor{g, blas.NoTrans, g.Rows, g.Cols}
	}
	if a.r == 0 || b.c == 0 {
		panic(mat.ErrZeroLength)
	}
	z := newGeneral(a.r, b.c)
	Product(a.t, b.t, a.g, b.g, z)
	return z
}
