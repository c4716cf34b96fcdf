package sparsity

import "slices"

// upper collects entries (i, j), i ≤ j, of a symmetric n×n pattern.
type upper struct {
	n    int
	list []uint64 // i in the high half, j in the low one
}

// square adds the entries between any two of a, which ascends.
func (u *upper) square(a []int) {
	for k, i := range a {
		for _, j := range a[k:] {
			u.list = append(u.list, uint64(i)<<32|uint64(j))
		}
	}
}

// product adds the entries between one of a and one of b.
func (u *upper) product(a, b []int) {
	for _, i := range a {
		for _, j := range b {
			u.list = append(u.list, uint64(min(i, j))<<32|uint64(max(i, j)))
		}
	}
}

// pattern is the whole of the pattern, in time linear in the list: entries go to
// their columns, from there in order to their rows, which drops what is listed
// twice, and from there to both sides of the diagonal.
func (u *upper) pattern() *Pattern {
	n := u.n
	ptr := make([]int, n+1)
	for _, e := range u.list {
		ptr[uint32(e)+1]++
	}
	sum(ptr)
	col := make([]int32, len(u.list)) // the rows of column j up to ptr[j], after the loop
	rows := make([]int, n+1)
	for _, e := range u.list {
		i, j := int32(e>>32), uint32(e)
		col[ptr[j]] = i
		ptr[j]++
		rows[i+1]++
	}
	sum(rows)
	begin, next := rows, slices.Clone(rows)
	row := make([]int32, len(u.list))
	above := make([]int, n) // entries of a column above the diagonal
	for j, k := 0, 0; j < n; j++ {
		for ; k < ptr[j]; k++ {
			i := col[k]
			if at := next[i]; at == begin[i] || row[at-1] != int32(j) {
				row[at] = int32(j)
				next[i]++
				if int(i) < j {
					above[j]++
				}
			}
		}
	}
	u.list = nil
	p := Empty(n, n)
	for j := range n {
		p.ptr[j+1] = p.ptr[j] + above[j] + next[j] - begin[j]
	}
	p.idx = make([]int, p.ptr[n])
	at := slices.Clone(p.ptr[:n])
	for i := range n {
		// Columns up to i have put all of theirs above the diagonal of column i.
		for _, j := range row[begin[i]:next[i]] {
			p.idx[at[i]] = int(j)
			at[i]++
			if int(j) > i {
				p.idx[at[j]] = i
				at[j]++
			}
		}
	}
	return p
}

// sum adds up a from the left.
func sum(a []int) {
	for i := 1; i < len(a); i++ {
		a[i] += a[i-1]
	}
}
