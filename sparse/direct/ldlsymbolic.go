package direct

import (
	"slices"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
)

// A symbolic is the analysis of the pattern of a symmetric matrix: the order of elimination and the pattern of the
// factor. Successive columns whose patterns differ only in the diagonal form a supernode, whose rows are stored once.
type symbolic struct {
	n     int
	order []int   // pivot → row and column of the matrix
	inv   []int32 // row and column → pivot

	// The lower triangle of the matrix in the order of elimination, by columns with the diagonal: row lower.row[k] has
	// the value at source[k] in the data of the matrix.
	lower  columns
	source []int

	parent []int32 // elimination tree
	ptr    []int   // column → its first value below the diagonal; n+1 elements
	super  []int32 // column → its supernode
	begin  []int32 // supernode → its first column; one more element than supernodes
	rowPtr []int   // supernode → its first row in rows
	rows   []int32 // rows of the supernodes, ascending, from the first column on
}

// analyze returns the analysis of the pattern of a, which must be square.
func analyze(op string, a *sparse.SymCSC, ordering Ordering) (*symbolic, error) {
	p := a.Pattern()
	n := a.SymmetricDim()
	checkSize(n)
	s := &symbolic{n: n}
	switch ordering {
	case AutoOrder, AMDOrder, ColAMDOrder:
		s.order = AMD(p)
	case NaturalOrder:
		s.order = natural(n)
	default:
		return nil, badOrdering(op, ordering)
	}
	// A postorder of the elimination tree leaves the fill as it is and makes columns with equal patterns neighbours.
	s.inv = inverse(s.order)
	upper := s.permute(p, a.Uplo())
	parent := etree(upper)
	if ordering != NaturalOrder {
		post := postorder(parent)
		order := make([]int, n)
		for k, j := range post {
			order[k] = s.order[j]
		}
		s.order, s.inv = order, inverse(order)
		upper = s.permute(p, a.Uplo())
		parent = etree(upper)
	}
	s.parent = parent
	if ordering != NaturalOrder {
		s.supernodes(columnCounts(s.lower, parent))
	} else {
		s.supernodes(s.visitedCounts(upper))
	}
	return s, nil
}

// permute sets the lower triangle, with the sources of its values, and returns the upper one, both in the order of
// elimination.
func (s *symbolic) permute(p *sparsity.Pattern, uplo blas.Uplo) (upper columns) {
	n := s.n
	ptr, idx := p.ColPtr(), p.RowIndex()
	up := columns{ptr: make([]int, n+1)}
	each := func(f func(row, col int32, k int)) {
		for j := range n {
			for k := ptr[j]; k < ptr[j+1]; k++ {
				if i := idx[k]; uplo != blas.All || i <= j {
					r, c := s.inv[i], s.inv[j]
					f(min(r, c), max(r, c), k)
				}
			}
		}
	}
	each(func(_, c int32, _ int) { up.ptr[c+1]++ })
	for j := range n {
		up.ptr[j+1] += up.ptr[j]
	}
	next := slices.Clone(up.ptr)
	up.row = make([]int32, up.ptr[n])
	from := make([]int, up.ptr[n])
	each(func(r, c int32, k int) {
		up.row[next[c]], from[next[c]] = r, k
		next[c]++
	})
	// The lower triangle by columns is the upper one by rows.
	low := columns{make([]int, n+1), make([]int32, len(up.row))}
	s.source = make([]int, len(up.row))
	for _, r := range up.row {
		low.ptr[r+1]++
	}
	for j := range n {
		low.ptr[j+1] += low.ptr[j]
	}
	copy(next, low.ptr)
	for c := range n {
		for k := up.ptr[c]; k < up.ptr[c+1]; k++ {
			to := next[up.row[k]]
			next[up.row[k]]++
			low.row[to], s.source[to] = int32(c), from[k]
		}
	}
	s.lower = low
	return up
}

// visitedCounts returns the numbers of entries of the columns of the factor, with the diagonal, by visiting all of them
// row by row. Unlike [columnCounts] it does not need a postorder.
func (s *symbolic) visitedCounts(upper columns) []int32 {
	count, seen := make([]int32, s.n), make([]int32, s.n)
	for j := range int32(s.n) {
		count[j], seen[j] = 1, j
		for _, i := range upper.col(int(j)) {
			for ; seen[i] != j; i = s.parent[i] {
				seen[i] = j
				count[i]++
			}
		}
	}
	return count
}

// supernodes sets the pattern of the factor, whose columns have the given numbers of entries.
func (s *symbolic) supernodes(count []int32) {
	n := s.n
	s.ptr, s.super = make([]int, n+1), make([]int32, n)
	total := 0
	for j := range n {
		s.ptr[j+1] = s.ptr[j] + int(count[j]) - 1
		// The pattern of j without j is part of that of its parent: they agree if they have as many entries.
		if j == 0 || s.parent[j-1] != int32(j) || count[j-1] != count[j]+1 {
			s.begin = append(s.begin, int32(j))
			total += int(count[j])
		}
		s.super[j] = int32(len(s.begin) - 1)
	}
	nodes := len(s.begin)
	s.begin = append(s.begin, int32(n))

	// The rows of a supernode are those of the matrix in its first column and those of the children of that column.
	s.rowPtr, s.rows = make([]int, nodes+1), make([]int32, 0, total)
	seen := make([]int32, n)
	child, sibling := make([]int32, nodes), make([]int32, nodes) // supernodes whose last column has this parent
	for i := range child {
		child[i] = -1
	}
	for t := range int32(nodes) {
		first, last := s.begin[t], s.begin[t+1]-1
		start := len(s.rows)
		s.rowPtr[t] = start
		add := func(rows []int32) {
			for _, i := range rows {
				if i >= first && seen[i] != t+1 {
					seen[i] = t + 1
					s.rows = append(s.rows, i)
				}
			}
		}
		for j := first; j <= last; j++ {
			add([]int32{j})
			add(s.lower.col(int(j)))
		}
		for c := child[t]; c >= 0; c = sibling[c] {
			add(s.rows[s.rowPtr[c]+int(s.begin[c+1]-s.begin[c]) : s.rowPtr[c+1]])
		}
		slices.Sort(s.rows[start:])
		s.rowPtr[t+1] = len(s.rows)
		if p := s.parent[last]; p >= 0 {
			up := s.super[p]
			sibling[t], child[up] = child[up], t
		}
	}
}

// below returns the rows of the entries of column j of the factor below the diagonal.
func (s *symbolic) below(j int) []int32 {
	t := s.super[j]
	return s.rows[s.rowPtr[t]+j-int(s.begin[t])+1 : s.rowPtr[t+1]]
}
