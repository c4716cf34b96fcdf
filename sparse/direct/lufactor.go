package direct

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla/sparsity"
)

// A lu holds the factors of PRAQ = LU: P and Q permutations, R a diagonal matrix of powers of 2, L with a unit
// diagonal. While columns are eliminated, the rows of L are those of the matrix; afterwards all are in the order of the
// pivots.
type lu struct {
	pattern  *sparsity.Pattern // nil before the first analysis
	ordering Ordering
	chosen   Ordering // what AutoOrder selected
	n        int
	q        []int   // pivot → column of the matrix
	position []int32 // row of the matrix → pivot, -1 if none yet
	p        []int   // pivot → row of the matrix
	count    []int32 // row of the matrix → number of entries
	r        []float64

	lp, up []int // column → its first entry in L without the diagonal, and in U without the diagonal
	li, ui []int32
	lx, ux []float64
	d      []float64 // diagonal of U
	run    []int32   // column of L → number of columns after it that have the same rows below them

	norm  float64 // 1-norm of the matrix
	valid bool
	fixed bool // there are factors whose pattern Refactorize may use

	x     []float64 // work: dense column
	mark  []int32   // row → the last column whose pattern has it, plus 1
	reach []int32   // columns of L on which a column depends, from the end in topological order
	stack []int32
	at    []int   // position in the column of each stack element
	prune []int   // column → end of the entries that a search for dependences visits
	spare []int32 // memory for sorting
	value []float64
	y     []float64
}

// prepare analyses a square pattern: it chooses the order of the columns and makes memory.
func (f *lu) prepare(p *sparsity.Pattern, ordering Ordering) {
	n, _ := p.Dims()
	*f = lu{pattern: p, ordering: ordering, chosen: ordering, n: n, li: f.li[:0], lx: f.lx[:0], ui: f.ui[:0],
		ux: f.ux[:0], spare: f.spare, value: f.value}
	if ordering == AutoOrder {
		f.chosen = ColAMDOrder
		if nearlySymmetric(p) {
			f.chosen = AMDOrder
		}
	}
	switch f.chosen {
	case AMDOrder:
		f.q = AMD(p)
	case ColAMDOrder:
		f.q = ColAMD(p)
	default:
		f.q = natural(n)
	}
	f.count = make([]int32, n)
	for _, i := range p.RowIndex() {
		f.count[i]++
	}
	f.position, f.p, f.r = make([]int32, n), make([]int, n), make([]float64, n)
	f.lp, f.up, f.d, f.run = make([]int, n+1), make([]int, n+1), make([]float64, n), make([]int32, n)
	f.x, f.y, f.mark = make([]float64, n), make([]float64, n), make([]int32, n)
	f.reach, f.stack, f.at, f.prune = make([]int32, n), make([]int32, n), make([]int, n), make([]int, n)
}

// nearlySymmetric reports whether at least half of the entries off the diagonal have their mirror image in the pattern,
// and nearly all of the diagonal is in it: the rule of UMFPACK (Davis, ACM Trans. Math. Software 30, 2004).
func nearlySymmetric(p *sparsity.Pattern) bool {
	n, _ := p.Dims()
	t := p.Transpose()
	off, both, diagonal := 0, 0, 0
	for j := range n {
		a, b := p.Col(j), t.Col(j)
		for len(a) > 0 {
			i := a[0]
			for len(b) > 0 && b[0] < i {
				b = b[1:]
			}
			a = a[1:]
			switch {
			case i == j:
				diagonal++
			case len(b) > 0 && b[0] == i:
				both++
				off++
			default:
				off++
			}
		}
	}
	return 2*both >= off && 10*diagonal >= 9*n
}

// equilibrate sets the scale of each row to a power of 2 near the reciprocal of its largest magnitude, which makes no
// rounding errors.
func (f *lu) equilibrate(data []float64) {
	clear(f.r)
	for k, i := range f.pattern.RowIndex() {
		f.r[i] = max(f.r[i], math.Abs(data[k]))
	}
	for i, v := range f.r {
		_, exp := math.Frexp(v)
		f.r[i] = math.Ldexp(1, min(max(-exp, -1000), 1000))
	}
}

// factorize computes the factors column by column: each is the solution of a triangular system with the columns of L
// before it, in time proportional to the arithmetic (Gilbert & Peierls, SIAM J. Sci. Stat. Comput. 9, 1988). The
// searches for the columns on which it depends visit a part of L that leads to the same columns (symmetric pruning;
// Eisenstat & Liu, SIAM J. Matrix Anal. Appl. 13, 1992). A pivot is acceptable if its magnitude is at least threshold
// times the largest. The diagonal is preferred unless the order is one of columns only, then a row with few entries.
func (f *lu) factorize(op string, data []float64, threshold float64) error {
	f.valid, f.fixed = false, false
	n := f.n
	f.equilibrate(data)
	f.li, f.lx, f.ui, f.ux = f.li[:0], f.lx[:0], f.ui[:0], f.ux[:0]
	clear(f.x)
	clear(f.mark)
	for i := range f.position {
		f.position[i], f.prune[i] = -1, -1
	}
	ptr, idx := f.pattern.ColPtr(), f.pattern.RowIndex()
	x := f.x
	for k, col := range f.q {
		f.lp[k], f.up[k] = len(f.li), len(f.ui)
		rows := idx[ptr[col]:ptr[col+1]]
		top := f.search(k, rows)
		largest := 0.0 // of the entries of the column and U
		for e, i := range rows {
			x[i] = data[ptr[col]+e] * f.r[i]
			largest = max(largest, math.Abs(x[i]))
		}
		for _, j := range f.reach[top:] {
			row := f.p[j]
			v := x[row]
			x[row] = 0
			f.ui, f.ux = append(f.ui, j), append(f.ux, v)
			largest = max(largest, math.Abs(v))
			if v != 0 {
				subtract(x, f.li[f.lp[j]:f.lp[j+1]], v, f.lx[f.lp[j]:f.lp[j+1]])
			}
		}
		// The other rows of the pattern were appended to L by search.
		candidates := f.li[f.lp[k]:]
		best, check, diagonal := -1, 0.0, -1
		for e, i := range candidates {
			v := math.Abs(x[i])
			check += 0 * v
			if best < 0 || v > math.Abs(x[candidates[best]]) {
				best = e
			}
			if int(i) == col {
				diagonal = e
			}
		}
		if check != 0 { // NaN
			return &NonFiniteError{Op: op, Row: -1, Col: col}
		}
		if best < 0 || x[candidates[best]] == 0 ||
			math.Abs(x[candidates[best]]) <= suspect*largest && f.vanishes(k, data, candidates) {
			return f.singular(op, k)
		}
		if enough := threshold * math.Abs(x[candidates[best]]); diagonal >= 0 && f.chosen != ColAMDOrder &&
			math.Abs(x[col]) >= enough && x[col] != 0 {
			best = diagonal
		} else {
			best = f.sparsest(candidates, best, enough)
		}
		row := int(candidates[best])
		pivot := x[row]
		x[row] = 0
		candidates[best] = candidates[len(candidates)-1]
		candidates = candidates[:len(candidates)-1]
		f.li = f.li[:f.lp[k]+len(candidates)]
		f.lx = slices.Grow(f.lx, len(candidates))[:len(f.li)]
		column := f.lx[f.lp[k]:]
		for e, i := range candidates {
			column[e] = x[i] / pivot
			x[i] = 0
		}
		f.lp[k+1] = len(f.li)
		f.d[k], f.p[k], f.position[row] = pivot, row, int32(k)
		f.cut(k, row)
	}
	f.up[n] = len(f.ui)
	for e, i := range f.li {
		f.li[e] = f.position[i]
	}
	f.sort(f.lp, f.li, f.lx)
	f.sort(f.up, f.ui, f.ux)
	f.supernodes()
	f.valid, f.fixed = true, true
	return nil
}

// sparsest returns the candidate whose row of the matrix has the fewest entries, of those with a magnitude of at least
// enough; of several, the largest. The first choice is best.
func (f *lu) sparsest(candidates []int32, best int, enough float64) int {
	fewest, largest := f.count[candidates[best]], math.Abs(f.x[candidates[best]])
	for e, i := range candidates {
		if c, v := f.count[i], math.Abs(f.x[i]); v >= enough && v > 0 && (c < fewest || c == fewest && v > largest) {
			best, fewest, largest = e, c, v
		}
	}
	return best
}

// suspect is the size of a pivot, relative to the entries of its column in the matrix and in U, below which it is
// compared with the terms of which it is made.
const suspect = 1e-8

// search finds the pattern of column k of the factors: the columns of L that the rows of the matrix lead to, in
// topological order in f.reach from the returned position on, and the rows without a pivot yet, appended to f.li.
func (f *lu) search(k int, rows []int) (top int) {
	top = f.n
	stamp := int32(k) + 1
	for _, i := range rows {
		if f.mark[i] == stamp {
			continue
		}
		f.mark[i] = stamp
		j := f.position[i]
		if j < 0 {
			f.li = append(f.li, int32(i))
			continue
		}
		depth := 0
		f.stack[0], f.at[0] = j, f.lp[j]
		for depth >= 0 {
			j := f.stack[depth]
			end := f.prune[j]
			if end < 0 {
				end = f.lp[j+1]
			}
			e := f.at[depth]
			for ; e < end; e++ {
				i := f.li[e]
				if f.mark[i] == stamp {
					continue
				}
				f.mark[i] = stamp
				if f.position[i] >= 0 {
					break
				}
				f.li = append(f.li, i)
			}
			if e < end {
				f.at[depth] = e + 1
				depth++
				next := f.position[f.li[e]]
				f.stack[depth], f.at[depth] = next, f.lp[next]
				continue
			}
			depth--
			top--
			f.reach[top] = j
		}
	}
	return top
}

// cut prunes the columns of L that column k of U depends on and that have the row of pivot k: whatever the rows
// without a pivot lead to, is reached by way of column k as well. Rows with a pivot are moved to the front.
func (f *lu) cut(k, row int) {
	for _, j := range f.ui[f.up[k]:] {
		if f.prune[j] >= 0 {
			continue
		}
		rows, column := f.li[f.lp[j]:f.lp[j+1]], f.lx[f.lp[j]:f.lp[j+1]]
		if !slices.Contains(rows, int32(row)) {
			continue
		}
		front := 0
		for e, i := range rows {
			if f.position[i] >= 0 {
				rows[e], rows[front] = rows[front], i
				column[e], column[front] = column[front], column[e]
				front++
			}
		}
		f.prune[j] = f.lp[j] + front
	}
}

// vanishes reports whether the entries without a pivot of column k, in f.x, are rounding errors: small compared with
// the terms of which they are sums.
func (f *lu) vanishes(k int, data []float64, candidates []int32) bool {
	col := f.q[k]
	ptr, idx := f.pattern.ColPtr(), f.pattern.RowIndex()
	sums := f.y
	clear(sums)
	for e := ptr[col]; e < ptr[col+1]; e++ {
		sums[idx[e]] = math.Abs(data[e] * f.r[idx[e]])
	}
	for e := f.up[k]; e < len(f.ui); e++ {
		j := f.ui[e]
		for l := f.lp[j]; l < f.lp[j+1]; l++ {
			sums[f.li[l]] += math.Abs(f.ux[e] * f.lx[l])
		}
	}
	small := tolerance(len(f.ui) - f.up[k] + 1)
	for _, i := range candidates {
		if math.Abs(f.x[i]) > small*sums[i] {
			return false
		}
	}
	return true
}

// singular returns the error for a column without a pivot.
func (f *lu) singular(op string, k int) error {
	return &SingularError{Op: op, Col: f.q[k], Step: k, Order: f.n, StructuralRank: structuralRank(f.pattern)}
}

// sort sorts the rows of each column, by transposing twice.
func (f *lu) sort(ptr []int, idx []int32, val []float64) {
	n, nnz := f.n, len(idx)
	if cap(f.spare) < 2*nnz {
		f.spare, f.value = make([]int32, 2*nnz), make([]float64, nnz)
	}
	col, row, value := f.spare[:nnz], f.spare[nnz:2*nnz], f.value[:nnz]
	next := f.at // the stack is not in use
	clear(next)
	for _, i := range idx {
		next[i]++
	}
	sum := 0
	for i, c := range next {
		next[i] = sum
		sum += c
	}
	for j := range n {
		for e := ptr[j]; e < ptr[j+1]; e++ {
			to := next[idx[e]]
			next[idx[e]]++
			col[to], row[to], value[to] = int32(j), idx[e], val[e]
		}
	}
	copy(next, ptr)
	for e, j := range col {
		to := next[j]
		next[j]++
		idx[to], val[to] = row[e], value[e]
	}
}

// supernodes finds the columns of L that have the same rows as the next one, but for that row.
func (f *lu) supernodes() {
	for j := f.n - 2; j >= 0; j-- {
		f.run[j] = 0
		rows, next := f.li[f.lp[j]:f.lp[j+1]], f.li[f.lp[j+1]:f.lp[j+2]]
		if len(rows) == len(next)+1 && rows[0] == int32(j+1) && slices.Equal(rows[1:], next) {
			f.run[j] = f.run[j+1] + 1
		}
	}
}

// structuralRank returns the largest number of entries of a pattern without two in one row or column: a maximum
// matching of columns with rows by augmenting paths, with a look for free rows first (Duff, ACM Trans. Math. Software
// 7, 1981).
func structuralRank(p *sparsity.Pattern) int {
	rows, cols := p.Dims()
	match := make([]int, rows) // row → column, -1 if free
	for i := range match {
		match[i] = -1
	}
	seen := make([]int, rows) // row → the last search that visited it, plus 1
	cheap, next := slices.Clone(p.ColPtr()[:cols]), make([]int, cols)
	idx, ptr := p.RowIndex(), p.ColPtr()
	rank := 0
	var path []int // columns
	for c := range cols {
		path = append(path[:0], c)
		next[c] = ptr[c]
		for len(path) > 0 {
			j := path[len(path)-1]
			free := -1
			for cheap[j] < ptr[j+1] && free < 0 {
				if i := idx[cheap[j]]; match[i] < 0 {
					free = i
				}
				cheap[j]++
			}
			if free >= 0 { // each column of the path takes the row by which the next one was reached
				for k := len(path) - 1; k >= 0; k-- {
					i := free
					if k < len(path)-1 {
						i = idx[next[path[k]]-1]
					}
					match[i] = path[k]
				}
				rank++
				break
			}
			deeper := false
			for next[j] < ptr[j+1] && !deeper {
				i := idx[next[j]]
				next[j]++
				if seen[i] != c+1 {
					seen[i] = c + 1
					path = append(path, match[i])
					next[match[i]] = ptr[match[i]]
					deeper = true
				}
			}
			if !deeper {
				path = path[:len(path)-1]
			}
		}
	}
	return rank
}
