package direct

import (
	"slices"
	"sort"

	"github.com/nabla-ad/nabla/sparse"
	"gonum.org/v1/gonum/floats"
)

// A selectedInverse holds the entries of Z = (PAPᵀ)⁻¹ in the pattern of L + Lᵀ.
type selectedInverse struct {
	diagonal []float64
	values   []float64 // below the diagonal by columns, in the order of symbolic.below

	x     []float64 // a solution, or the sums of a column
	sums  []float64 // of the columns of a supernode, for the rows below it
	part  []float64 // a column of Z in these rows
	place []int     // these rows among those of another supernode
}

// allocate makes the memory for the pattern of s.
func (z *selectedInverse) allocate(s *symbolic) {
	widest, largest := 0, 0
	for t := range len(s.begin) - 1 {
		cols := int(s.begin[t+1] - s.begin[t])
		below := s.rowPtr[t+1] - s.rowPtr[t] - cols
		widest, largest = max(widest, below), max(largest, below*cols)
	}
	*z = selectedInverse{diagonal: make([]float64, s.n), values: make([]float64, s.ptr[s.n]), x: make([]float64, s.n),
		sums: make([]float64, largest), part: make([]float64, widest), place: make([]int, widest)}
}

// InverseEntries computes entries of A⁻¹: those that dst, which must have the shape of A, stores. It is for
// covariances, whose diagonal has the variances, and for derivatives of log|A|, without the dense inverse.
//
// Entries in the pattern of A, and all others in that of L + Lᵀ, come from the recurrence of Takahashi, Fagan & Chen
// (1973; Erisman & Tinney, Commun. ACM 18, 1975), which costs about two factorisations and takes memory for as many
// numbers as L has at the first call. Each column with other entries costs a solution. The error is a
// *[sparse.ShapeError] or a *[NotFactorizedError].
func (l *LDL) InverseEntries(dst *sparse.SymCSC) error {
	const op = "LDL.InverseEntries"
	if err := l.check(op); err != nil {
		return err
	}
	f := &l.f
	if n := dst.SymmetricDim(); n != f.n {
		return shapeError(op, "dst", n, n, f.n, f.n)
	}
	z := &l.inverse
	if z.diagonal == nil {
		z.allocate(&f.symbolic)
	}
	z.compute(f)
	ptr, idx, data := dst.ColPtr(), dst.RowIndex(), dst.Data()
	for j := range f.n {
		solved := false
		for k := ptr[j]; k < ptr[j+1]; k++ {
			v, ok := z.at(f, f.inv[idx[k]], f.inv[j])
			if !ok {
				if !solved {
					clear(z.x)
					z.x[j] = 1
					f.solve(z.x, z.x, false)
					solved = true
				}
				v = z.x[idx[k]]
			}
			data[k] = v
		}
	}
	return nil
}

// compute computes all entries from the last column to the first, by Z = D⁻¹L⁻¹ + (I-Lᵀ)Z: those of a column are sums
// of products of its entries in L with the entries of Z in its rows. The rows of a column of L form a clique in the
// pattern of L, so that the latter are there.
func (z *selectedInverse) compute(f *ldl) {
	for t := len(f.begin) - 2; t >= 0; t-- {
		first, last := int(f.begin[t]), int(f.begin[t+1])
		below := f.rows[f.rowPtr[t]+last-first : f.rowPtr[t+1]]
		z.outside(f, t, below)
		for j := last - 1; j >= first; j-- {
			col, out := f.values[f.ptr[j]:f.ptr[j+1]], z.values[f.ptr[j]:f.ptr[j+1]]
			sums := z.x[:len(col)]
			inside := last - 1 - j
			clear(sums[:inside])
			copy(sums[inside:], z.sums[(j-first)*len(below):])
			for b := range inside {
				k := j + 1 + b
				entries := z.values[f.ptr[k]:f.ptr[k+1]]
				sums[b] += col[b]*z.diagonal[k] + floats.Dot(col[b+1:], entries)
				floats.AddScaled(sums[b+1:], col[b], entries)
			}
			for b, v := range sums {
				out[b] = -v
			}
			z.diagonal[j] = 1/f.d[j] - floats.Dot(col, out)
		}
	}
}

// outside sets the part of the sums of the columns of supernode t that comes from the columns of Z after it: those of
// its rows below, for the rows below.
func (z *selectedInverse) outside(f *ldl, t int, below []int32) {
	first, last := int(f.begin[t]), int(f.begin[t+1])
	n := len(below)
	clear(z.sums[:n*(last-first)])
	for from := 0; from < n; {
		u := f.super[below[from]]
		rows := f.rows[f.rowPtr[u]:f.rowPtr[u+1]]
		at := 0
		for c, r := range below[from:] {
			at += find(rows[at:], r)
			z.place[from+c] = at
		}
		for ; from < n && f.super[below[from]] == u; from++ {
			k := below[from]
			entries := z.values[f.ptr[k]:f.ptr[k+1]]
			part := z.part[:n-from-1]
			skipped := int(k-f.begin[u]) + 1
			for c, place := range z.place[from+1 : n] {
				part[c] = entries[place-skipped]
			}
			for j := first; j < last; j++ {
				col, sums := f.values[f.ptr[j+1]-n:f.ptr[j+1]], z.sums[(j-first)*n:(j-first+1)*n]
				sums[from] += col[from]*z.diagonal[k] + floats.Dot(col[from+1:], part)
				floats.AddScaled(sums[from+1:], col[from], part)
			}
		}
	}
}

// find returns the index of v in the ascending rows, of which it is one, and looks near the front first.
func find(rows []int32, v int32) int {
	hi := 1
	for hi < len(rows) && rows[hi-1] < v {
		hi *= 2
	}
	lo := hi / 2
	if rows[lo] == v {
		return lo
	}
	hi = min(hi, len(rows))
	return lo + sort.Search(hi-lo, func(i int) bool { return rows[lo+i] >= v })
}

// at returns the entry of Z in row r and column c, and reports whether it is in the pattern of L + Lᵀ.
func (z *selectedInverse) at(f *ldl, r, c int32) (v float64, ok bool) {
	if r == c {
		return z.diagonal[r], true
	}
	r, c = max(r, c), min(r, c)
	k, ok := slices.BinarySearch(f.below(int(c)), r)
	if !ok {
		return 0, false
	}
	return z.values[f.ptr[c]+k], true
}
