package sparsity

import "slices"

// upper collects entries (i, j), i ≤ j, of a symmetric n×n pattern.
type upper struct {
	n    int
	list []uint64 // i in the high half, j in the low one
	kept int      // entries after the last compaction
}

// square adds the entries between any two of a, which ascends.
func (u *upper) square(a []int) {
	for k, i := range a {
		for _, j := range a[k:] {
			u.list = append(u.list, uint64(i)<<32|uint64(j))
		}
	}
	u.compact()
}

// product adds the entries between one of a and one of b.
func (u *upper) product(a, b []int) {
	for _, i := range a {
		for _, j := range b {
			u.list = append(u.list, uint64(min(i, j))<<32|uint64(max(i, j)))
		}
	}
	u.compact()
}

// compact drops what is listed twice once the list has grown to twice its size, so
// that memory is that of the pattern.
func (u *upper) compact() {
	if len(u.list) < max(1<<23, 2*u.kept) {
		return
	}
	slices.Sort(u.list)
	u.list = slices.Compact(u.list)
	u.kept = len(u.list)
}

// pattern is the whole of the pattern, in time linear in the list.
func (u *upper) pattern() *Pattern {
	row, col := make([]int, len(u.list)), make([]int, len(u.list))
	for k, e := range u.list {
		row[k], col[k] = int(e>>32), int(e&(1<<32-1))
	}
	u.list = nil
	above, err := FromEntries(u.n, u.n, row, col) // column j holds i ≤ j
	if err != nil {
		panic(err) // inputs are in range
	}
	below := above.Transpose()
	p := Empty(u.n, u.n)
	p.idx = make([]int, 0, 2*above.NNZ())
	for j := range u.n {
		p.idx = append(p.idx, above.Col(j)...)
		rest := below.Col(j)
		if len(rest) > 0 && rest[0] == j {
			rest = rest[1:]
		}
		p.idx = append(p.idx, rest...)
		p.ptr[j+1] = len(p.idx)
	}
	return p
}
