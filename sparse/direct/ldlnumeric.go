package direct

import (
	"math"

	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
)

// epsilon is the distance from 1 to the next larger float64.
const epsilon = 1.0 / (1 << 52)

// A ldl holds the factors of PAPᵀ = LDLᵀ, L with a unit diagonal, and the memory of the factorisation.
type ldl struct {
	symbolic
	pattern  *sparsity.Pattern // nil before the first analysis
	uplo     blas.Uplo
	ordering Ordering
	d        []float64 // D; nil until the memory is allocated
	values   []float64 // L below the diagonal by columns, in the order of symbolic.below
	norm     float64   // 1-norm of the matrix

	positive, negative, zero int // signs of D
	valid                    bool

	x, y []float64 // work: dense columns
	head []int32   // column → first supernode whose next row it is, -1 if none
	next []int32   // supernode → another one with the same next row
	at   []int     // supernode → position of that row in rows
}

// allocate makes the memory for the analysed pattern.
func (f *ldl) allocate() {
	n, nodes := f.n, len(f.begin)-1
	f.d, f.values = make([]float64, n), make([]float64, f.ptr[n])
	f.x, f.y = make([]float64, n), make([]float64, n)
	f.head, f.next, f.at = make([]int32, n), make([]int32, nodes), make([]int, nodes)
}

// factorize computes the factors of a matrix with the analysed pattern, column by column (left-looking): column j is
// that of the matrix minus multiples of the earlier columns with an entry in row j, which are found in lists of
// supernodes by their next row. With positive set a pivot that is not positive is an *IndefiniteError.
//
// A pivot counts as zero if it is of the size of the rounding errors of the terms that it is the sum of, which is
// independent of the scale of rows and columns. If the rest of its column is zero as well, the elimination goes on, and
// ends with a *SingularError.
func (f *ldl) factorize(op string, data []float64, positive bool) error {
	f.valid = false
	f.positive, f.negative, f.zero = 0, 0, 0
	clear(f.x) // after an error
	for i := range f.head {
		f.head[i] = -1
	}
	x, n := f.x, f.n
	singular := -1
	for t := range len(f.begin) - 1 {
		first, last := int(f.begin[t]), int(f.begin[t+1])
		for j := first; j < last; j++ {
			for k := f.lower.ptr[j]; k < f.lower.ptr[j+1]; k++ {
				x[f.lower.row[k]] = data[f.source[k]]
			}
			scale, terms := math.Abs(x[j]), 1
			for s := f.head[j]; s >= 0; {
				next := f.next[s]
				scale += f.update(int(s), int(f.begin[s+1]), f.at[s])
				terms += int(f.begin[s+1] - f.begin[s])
				f.at[s]++
				f.enlist(int(s))
				s = next
			}
			scale += f.update(t, j, f.rowPtr[t]+j-first)
			terms += j - first

			below := f.below(j)
			column := f.values[f.ptr[j]:f.ptr[j+1]][:len(below)]
			pivot, rest, check := x[j], 0.0, 0*x[j]
			x[j] = 0
			for k, i := range below {
				v := x[i]
				x[i] = 0
				column[k] = v
				rest = max(rest, math.Abs(v))
				check += 0 * v
			}
			if check != 0 { // NaN
				return &NonFiniteError{Op: op, Row: -1, Col: f.order[j]}
			}
			small := tolerance(terms) * scale
			switch {
			case positive && pivot <= small:
				return &IndefiniteError{op, f.order[j], pivot, scale}
			case math.Abs(pivot) > small:
				inverse := 1 / pivot
				if math.IsInf(inverse, 0) {
					for k := range column {
						column[k] /= pivot
					}
				} else {
					for k := range column {
						column[k] *= inverse
					}
				}
			case rest > tolerance(terms)*math.Max(scale, largestOf(data, f.source[f.lower.ptr[j]:f.lower.ptr[j+1]])):
				return &PivotError{op, f.order[j], pivot, scale}
			case scale > mostGrowth*largest(data): // terms that have grown hide what is left of the column
				return &PivotError{op, f.order[j], pivot, scale}
			default:
				clear(column)
				pivot = 0
				f.zero++
				if singular < 0 {
					singular = j
				}
			}
			f.d[j] = pivot
			if pivot > 0 {
				f.positive++
			} else if pivot < 0 {
				f.negative++
			}
		}
		f.at[t] = f.rowPtr[t] + last - first
		f.enlist(t)
	}
	if singular >= 0 {
		return &SingularError{Op: op, Col: f.order[singular], Step: singular, Order: n, StructuralRank: n}
	}
	f.valid = true
	return nil
}

// tolerance is the relative size below which a sum of terms counts as rounding errors. They grow like the square root
// of the number of terms; the constant allows for the errors of the factors in them.
func tolerance(terms int) float64 { return (16 + math.Sqrt(float64(terms))) * epsilon }

// mostGrowth is the size of the terms of a pivot relative to the entries of the matrix, above which a pivot that is
// zero up to their rounding errors does not tell that the matrix is singular.
const mostGrowth = 1e6

// largest returns the largest magnitude of the values.
func largest(data []float64) float64 {
	most := 0.0
	for _, v := range data {
		most = max(most, math.Abs(v))
	}
	return most
}

// largestOf returns the largest magnitude of the selected values.
func largestOf(data []float64, selected []int) float64 {
	largest := 0.0
	for _, k := range selected {
		largest = max(largest, math.Abs(data[k]))
	}
	return largest
}

// enlist puts supernode s into the list of its next row, if it has one.
func (f *ldl) enlist(s int) {
	if f.at[s] < f.rowPtr[s+1] {
		j := f.rows[f.at[s]]
		f.next[s], f.head[j] = f.head[j], int32(s)
	}
}

// update subtracts from column j in f.x the multiples of the columns of supernode s before end, where j is row number
// at of all rows. It returns the sum of the magnitudes of what was subtracted from the pivot.
func (f *ldl) update(s, end, at int) float64 {
	rows := f.rows[at:f.rowPtr[s+1]]
	from := at - f.rowPtr[s] + int(f.begin[s]) - 1 // values of column k begin with row k+1
	k := int(f.begin[s])
	scale := 0.0
	for ; k+4 <= end; k += 4 {
		a, b := f.values[f.ptr[k]+from-k:], f.values[f.ptr[k+1]+from-k-1:]
		c, d := f.values[f.ptr[k+2]+from-k-2:], f.values[f.ptr[k+3]+from-k-3:]
		va, vb, vc, vd := a[0]*f.d[k], b[0]*f.d[k+1], c[0]*f.d[k+2], d[0]*f.d[k+3]
		scale += math.Abs(va*a[0]) + math.Abs(vb*b[0]) + math.Abs(vc*c[0]) + math.Abs(vd*d[0])
		subtract4(f.x, rows, va, vb, vc, vd, a, b, c, d)
	}
	for ; k < end; k++ {
		a := f.values[f.ptr[k]+from-k:]
		v := a[0] * f.d[k]
		scale += math.Abs(v * a[0])
		subtract(f.x, rows, v, a)
	}
	return scale
}

// subtract subtracts v times a from the given rows of x.
func subtract(x []float64, rows []int32, v float64, a []float64) {
	a = a[:len(rows)]
	for k, i := range rows {
		x[i] -= v * a[k]
	}
}

// subtract4 subtracts multiples of four columns from the given rows of x. It loads and stores each x once.
func subtract4(x []float64, rows []int32, va, vb, vc, vd float64, a, b, c, d []float64) {
	a, b, c, d = a[:len(rows)], b[:len(rows)], c[:len(rows)], d[:len(rows)]
	for k, i := range rows {
		x[i] -= va*a[k] + vb*b[k] + vc*c[k] + vd*d[k]
	}
}

// solve stores the solution x of A·x = b in dst, which may be b.
func (f *ldl) solve(dst, b []float64, _ bool) {
	y := f.y
	for k, i := range f.order {
		y[k] = b[i]
	}
	for j := range y {
		if v := y[j]; v != 0 {
			rows := f.below(j)
			subtract(y, rows, v, f.values[f.ptr[j]:])
		}
	}
	for j := len(y) - 1; j >= 0; j-- {
		v := y[j] / f.d[j]
		rows := f.below(j)
		column := f.values[f.ptr[j]:][:len(rows)]
		for k, i := range rows {
			v -= column[k] * y[i]
		}
		y[j] = v
	}
	for k, i := range f.order {
		dst[i] = y[k]
	}
}
