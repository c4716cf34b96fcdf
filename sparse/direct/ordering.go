package direct

import (
	"fmt"

	"github.com/nabla-ad/nabla/sparsity"
)

// AMD returns a fill-reducing order of the rows and columns of a square matrix with the pattern p ∪ pᵀ, for
// factorisations with pivots on the diagonal: the matrix whose row and column k are row and column AMD(p)[k] has a
// Cholesky factor with few entries. p may hold one triangle or both. Diagonal entries have no influence.
//
// It is the approximate minimum degree ordering (Amestoy, Davis & Duff, SIAM J. Matrix Anal. Appl. 17, 1996, and ACM
// Trans. Math. Software 30, 2004), with rows of more than 10√n entries last. The cost is nearly linear in the entries
// for patterns of grids and networks. It panics with a *[sparse.ShapeError] if p is not square or has more
// than 2³⁰ rows.
func AMD(p *sparsity.Pattern) []int {
	n, cols := p.Dims()
	if n != cols {
		panic(notSquare("AMD", "p", n, cols))
	}
	checkSize(n)
	if !p.Symmetric() {
		p, _ = p.Union(p.Transpose()) // no error: both are square
	}
	return symmetricQuotient(p).minimumDegree()
}

// symmetricQuotient returns the graph of a symmetric pattern.
func symmetricQuotient(p *sparsity.Pattern) *quotient {
	n, _ := p.Dims()
	q := newQuotient(n, 0, p.NNZ())
	for j := range n {
		q.start[j] = q.free
		for _, i := range p.Col(j) {
			if i != j {
				q.push(j, i)
			}
		}
		q.degree[j] = q.size[j]
	}
	return q
}

// ColAMD returns a fill-reducing order of the columns of a matrix with the pattern p, for factorisations with row
// interchanges: for any choice of pivots, the factors of the matrix whose column k is column ColAMD(p)[k] have few
// entries.
//
// It is the approximate minimum degree ordering of AᵀA, which is not formed: the rows are the first elements of the
// quotient graph, as in COLAMD (Davis, Gilbert, Larimore & Ng, ACM Trans. Math. Software 30, 2004). Rows of more than
// 10√cols entries are left out. The cost is nearly linear in the entries.
func ColAMD(p *sparsity.Pattern) []int {
	rows, n := p.Dims()
	checkSize(rows)
	checkSize(n)
	t := p.Transpose()
	dense := denseDegree(n)
	wide := func(i int) bool { return len(t.Col(i)) > dense }
	q := newQuotient(n, rows, 2*p.NNZ())
	for j := range n {
		q.start[j] = q.free
		degree := 0
		for _, i := range p.Col(j) {
			if !wide(i) {
				q.push(j, n+i)
				degree += len(t.Col(i)) - 1
			}
		}
		q.elems[j] = q.size[j]
		q.degree[j] = int32(min(degree, n-1))
	}
	for i := range rows {
		q.start[n+i] = q.free
		if wide(i) {
			q.mark[n+i] = 0
			continue
		}
		for _, j := range t.Col(i) {
			q.push(n+i, j)
		}
		q.degree[n+i] = q.size[n+i]
		q.widest = max(q.widest, int(q.size[n+i]))
	}
	q.flag += q.widest
	return q.minimumDegree()
}

// An Ordering is a choice of the order in which a matrix is eliminated.
type Ordering int

const (
	// AutoOrder selects [AMD] for symmetric matrices, and for others if their pattern is nearly symmetric with a
	// diagonal that is nearly free of zeros; otherwise [ColAMD].
	AutoOrder Ordering = iota
	// AMDOrder is the order of [AMD]: of A+Aᵀ for matrices that are not symmetric, whose pivots should then be on the
	// diagonal.
	AMDOrder
	// ColAMDOrder is the order of [ColAMD]. For symmetric factorisations it is [AMD].
	ColAMDOrder
	// NaturalOrder leaves the rows and columns as they are.
	NaturalOrder
)

// String returns the name of the constant.
func (o Ordering) String() string {
	switch o {
	case AutoOrder:
		return "AutoOrder"
	case AMDOrder:
		return "AMDOrder"
	case ColAMDOrder:
		return "ColAMDOrder"
	case NaturalOrder:
		return "NaturalOrder"
	}
	return fmt.Sprintf("Ordering(%d)", int(o))
}

// natural returns 0, 1, …, n-1.
func natural(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// inverse returns the position of each number in order.
func inverse(order []int) []int32 {
	inv := make([]int32, len(order))
	for k, i := range order {
		inv[i] = int32(k)
	}
	return inv
}
