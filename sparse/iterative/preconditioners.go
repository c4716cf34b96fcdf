package iterative

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// Jacobi divides by the diagonal of a matrix. The zero value is ready for Factorize.
type Jacobi struct {
	inverse []float64
	valid   bool
}

// Factorize takes the diagonal of a, which is not retained. A zero is a *[PivotError], NaN or an infinity a
// *[NonFiniteError], a matrix that is not square a *[sparse.ShapeError]. It allocates if the size has grown.
func (p *Jacobi) Factorize(a mat.Matrix) error {
	const method = "Jacobi.Factorize"
	p.valid = false
	rows, cols := a.Dims()
	if err := checkSquare(method, rows, cols); err != nil {
		return err
	}
	p.inverse = slices.Grow(p.inverse[:0], rows)[:rows]
	for i := range p.inverse {
		v := a.At(i, i)
		switch {
		case v == 0:
			return &PivotError{method, i, v}
		case math.IsNaN(v) || math.IsInf(v, 0):
			return &NonFiniteError{method, "the diagonal", i, v}
		}
		p.inverse[i] = 1 / v
	}
	p.valid = true
	return nil
}

// Solve stores r divided by the diagonal in dst, which may be r.
func (p *Jacobi) Solve(dst, r []float64) error {
	if err := checkSolve("Jacobi.Solve", p.valid, dst, r, len(p.inverse)); err != nil {
		return err
	}
	for i, v := range r {
		dst[i] = v * p.inverse[i]
	}
	return nil
}

// checkSolve checks the arguments of the solution by a preconditioner of n rows.
func checkSolve(method string, valid bool, dst, r []float64, n int) error {
	if !valid {
		return &NotFactorizedError{method}
	}
	if err := checkLen(method, "r", len(r), n); err != nil {
		return err
	}
	return checkLen(method, "dst", len(dst), n)
}

// ILU0 is the incomplete factorisation A ≈ LU in which L and U have entries only where A has (Meijerink & van der
// Vorst, Math. Comp. 31, 1977), L with a unit diagonal. The zero value is ready for Factorize.
type ILU0 struct {
	pattern  *sparsity.Pattern
	lu       []float64
	diagonal []int // column → position of the diagonal
	at       []int // row → 1 + position in the current column, or 0
	valid    bool
}

// Factorize computes the factors of a, whose pattern must have the diagonal: otherwise, or if a pivot is zero, the
// error is a *[PivotError]. NaN or an infinity is a *[NonFiniteError], a matrix that is not square a
// *[sparse.ShapeError]. It does not allocate if the pattern is that of the last call. a is not retained.
func (p *ILU0) Factorize(a *sparse.CSC) error {
	const method = "ILU0.Factorize"
	p.valid = false
	n, cols := a.Dims()
	if err := checkSquare(method, n, cols); err != nil {
		return err
	}
	if p.pattern == nil || !p.pattern.Equal(a.Pattern()) {
		p.pattern, p.lu = a.Pattern(), make([]float64, a.NNZ())
		p.diagonal, p.at = make([]int, n), make([]int, n)
		for j := range n {
			k, ok := p.pattern.Index(j, j)
			if !ok {
				p.pattern = nil
				return &PivotError{method, j, 0}
			}
			p.diagonal[j] = k
		}
	}
	if err := finiteData(method, a.Data()); err != nil {
		return err
	}
	copy(p.lu, a.Data())
	ptr, idx := p.pattern.ColPtr(), p.pattern.RowIndex()
	clear(p.at)
	for j := range n {
		start, end := ptr[j], ptr[j+1]
		for e := start; e < end; e++ {
			p.at[idx[e]] = e + 1
		}
		for e := start; e < p.diagonal[j]; e++ { // U, from the top
			k, v := idx[e], p.lu[e]
			for l := p.diagonal[k] + 1; l < ptr[k+1]; l++ {
				if to := p.at[idx[l]]; to > 0 {
					p.lu[to-1] -= p.lu[l] * v
				}
			}
		}
		for e := start; e < end; e++ {
			p.at[idx[e]] = 0
		}
		pivot := p.lu[p.diagonal[j]]
		if pivot == 0 || math.IsNaN(pivot) || math.IsInf(pivot, 0) {
			return &PivotError{method, j, pivot}
		}
		for e := p.diagonal[j] + 1; e < end; e++ {
			p.lu[e] /= pivot
		}
	}
	p.valid = true
	return nil
}

// Solve stores the solution of L·U·z = r in dst, which may be r.
func (p *ILU0) Solve(dst, r []float64) error {
	if err := checkSolve("ILU0.Solve", p.valid, dst, r, len(p.diagonal)); err != nil {
		return err
	}
	copy(dst, r)
	ptr, idx := p.pattern.ColPtr(), p.pattern.RowIndex()
	for j, d := range p.diagonal {
		v := dst[j]
		for e := d + 1; e < ptr[j+1]; e++ {
			dst[idx[e]] -= v * p.lu[e]
		}
	}
	for j, d := range slices.Backward(p.diagonal) {
		v := dst[j] / p.lu[d]
		dst[j] = v
		for e := ptr[j]; e < d; e++ {
			dst[idx[e]] -= v * p.lu[e]
		}
	}
	return nil
}

// IC0 is the incomplete Cholesky factorisation A + s·diag(A) ≈ LLᵀ of a symmetric positive definite matrix, in which L
// has entries only where A has (Meijerink & van der Vorst, Math. Comp. 31, 1977). The shift s is 0 if all pivots are
// positive, as those of M-matrices are; otherwise it is the least of 0.001, 0.002, 0.004, … for which they are
// (Manteuffel, Math. Comp. 34, 1980). The zero value is ready for Factorize.
type IC0 struct {
	pattern *sparsity.Pattern
	uplo    blas.Uplo
	ptr     []int // L by columns, the diagonal first
	row     []int
	source  []int // position of the value in the data of the matrix
	l       []float64
	at      []int // row → 1 + position in the current column, or 0
	head    []int // row → 1 + first column whose next entry is in it, or 0
	link    []int // column → 1 + another one with its next entry in the same row, or 0
	next    []int // column → position of its next entry
	shift   float64
	valid   bool
}

// Shift returns the multiple of the diagonal that the last call of Factorize added to the matrix.
func (p *IC0) Shift() float64 { return p.shift }

// Factorize computes the factor of a, of which any part may be stored. If an entry of the diagonal is not positive, the
// error is an *[IndefiniteError]; NaN or an infinity is a *[NonFiniteError]. It does not allocate if the pattern is
// that of the last call. a is not retained.
func (p *IC0) Factorize(a *sparse.SymCSC) error {
	const method = "IC0.Factorize"
	p.valid = false
	if p.pattern == nil || p.uplo != a.Uplo() || !p.pattern.Equal(a.Pattern()) {
		p.analyze(a)
	}
	if err := finiteData(method, a.Data()); err != nil {
		return err
	}
	for j := range len(p.ptr) - 1 {
		if v := p.diagonal(j, a.Data()); !(v > 0) {
			return &IndefiniteError{Method: method, Curvature: v}
		}
	}
	for p.shift = 0; !p.factorize(a.Data()); p.shift = max(2*p.shift, 1e-3) {
		if p.shift > 1e300 {
			return &NonFiniteError{method, "the factor, with any shift,", 0, math.Inf(1)}
		}
	}
	p.valid = true
	return nil
}

// analyze sets the pattern of L.
func (p *IC0) analyze(a *sparse.SymCSC) {
	n := a.SymmetricDim()
	p.pattern, p.uplo = a.Pattern(), a.Uplo()
	ptr, idx := a.ColPtr(), a.RowIndex()
	each := func(f func(row, col, source int)) { // the lower triangle, in ascending rows of each column
		for j := range n {
			for k := ptr[j]; k < ptr[j+1]; k++ {
				switch i := idx[k]; {
				case i == j:
				case p.uplo == blas.Upper:
					f(j, i, k)
				case i > j:
					f(i, j, k)
				}
			}
		}
	}
	p.ptr = make([]int, n+1)
	for j := range n {
		p.ptr[j+1] = 1
	}
	each(func(_, j, _ int) { p.ptr[j+1]++ })
	for j := range n {
		p.ptr[j+1] += p.ptr[j]
	}
	nnz := p.ptr[n]
	p.row, p.source, p.l = make([]int, nnz), make([]int, nnz), make([]float64, nnz)
	p.at, p.head, p.link, p.next = make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	for j := range n {
		to := p.ptr[j]
		p.row[to], p.source[to], p.next[j] = j, -1, to+1
		if k, ok := p.pattern.Index(j, j); ok {
			p.source[to] = k
		}
	}
	each(func(i, j, source int) {
		to := p.next[j]
		p.row[to], p.source[to] = i, source
		p.next[j]++
	})
}

// diagonal returns diagonal entry j.
func (p *IC0) diagonal(j int, data []float64) float64 {
	if k := p.source[p.ptr[j]]; k >= 0 {
		return data[k]
	}
	return 0
}

// factorize computes L with the current shift, column by column, and reports whether all pivots are positive and
// finite. The columns with an entry in row j are in the list that begins at head[j].
func (p *IC0) factorize(data []float64) bool {
	clear(p.head)
	clear(p.at)
	l := p.l
	for j := range len(p.ptr) - 1 {
		start, end := p.ptr[j], p.ptr[j+1]
		l[start] = p.diagonal(j, data) * (1 + p.shift)
		p.at[j] = start + 1
		for e := start + 1; e < end; e++ {
			l[e] = data[p.source[e]]
			p.at[p.row[e]] = e + 1
		}
		scale := l[start]
		for k := p.head[j] - 1; k >= 0; {
			after := p.link[k] - 1
			v := l[p.next[k]]
			for e := p.next[k]; e < p.ptr[k+1]; e++ {
				if to := p.at[p.row[e]]; to > 0 {
					l[to-1] -= v * l[e]
				}
			}
			p.next[k]++
			p.enlist(k)
			k = after
		}
		for e := start; e < end; e++ {
			p.at[p.row[e]] = 0
		}
		pivot := l[start]
		if !(pivot > 1e-10*scale) || math.IsInf(pivot, 0) {
			return false
		}
		root := math.Sqrt(pivot)
		l[start] = root
		for e := start + 1; e < end; e++ {
			l[e] /= root
		}
		p.next[j] = start + 1
		p.enlist(j)
	}
	return true
}

// enlist puts column k into the list of the row of its next entry.
func (p *IC0) enlist(k int) {
	if p.next[k] < p.ptr[k+1] {
		i := p.row[p.next[k]]
		p.link[k], p.head[i] = p.head[i], k+1
	}
}

// Solve stores the solution of L·Lᵀ·z = r in dst, which may be r.
func (p *IC0) Solve(dst, r []float64) error {
	if err := checkSolve("IC0.Solve", p.valid, dst, r, len(p.at)); err != nil {
		return err
	}
	copy(dst, r)
	for j := range dst {
		start, end := p.ptr[j], p.ptr[j+1]
		v := dst[j] / p.l[start]
		dst[j] = v
		for e := start + 1; e < end; e++ {
			dst[p.row[e]] -= v * p.l[e]
		}
	}
	for j := len(dst) - 1; j >= 0; j-- {
		start, end := p.ptr[j], p.ptr[j+1]
		v := dst[j]
		for e := start + 1; e < end; e++ {
			v -= p.l[e] * dst[p.row[e]]
		}
		dst[j] = v / p.l[start]
	}
	return nil
}

// finiteData returns a *NonFiniteError for the first value that is not finite.
func finiteData(method string, data []float64) error {
	for k, v := range data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &NonFiniteError{method, "the data of the matrix", k, v}
		}
	}
	return nil
}

var (
	_ Preconditioner = (*Jacobi)(nil)
	_ Preconditioner = (*ILU0)(nil)
	_ Preconditioner = (*IC0)(nil)
)
