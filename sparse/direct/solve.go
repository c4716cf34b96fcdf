package direct

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/nabla-ad/nabla/sparse"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"
)

// A factors is a factorisation that solves systems with its matrix or the transpose.
type factors interface {
	// solve stores the solution of A·x = b, or of Aᵀ·x = b, in dst, which may be b.
	solve(dst, b []float64, trans bool)
}

// A memory holds vectors that some methods need, allocated at their first call.
type memory struct {
	x, r, b, sums, weights []float64
	sign                   []int
}

// vectors returns n elements of memory in *s.
func vectors(s *[]float64, n int) []float64 {
	if len(*s) < n {
		*s = make([]float64, n)
	}
	return (*s)[:n]
}

// solveVec checks the arguments of a solution with slices.
func solveVec(op string, f factors, n int, dst, b []float64, trans bool) error {
	if err := checkLen(op, "b", len(b), n); err != nil {
		return err
	}
	if err := checkLen(op, "dst", len(dst), n); err != nil {
		return err
	}
	f.solve(dst, b, trans)
	return nil
}

// solveVecTo stores the solution for a vector of gonum, which may be dst or overlap it.
func (m *memory) solveVecTo(op string, f factors, n int, dst *mat.VecDense, trans bool, b mat.Vector) error {
	if err := checkLen(op, "b", b.Len(), n); err != nil {
		return err
	}
	if n == 0 {
		dst.Reset()
		return nil
	}
	if !dst.IsEmpty() {
		if err := checkLen(op, "dst", dst.Len(), n); err != nil {
			return err
		}
	}
	x := vectors(&m.x, n)
	if raw, ok := b.(mat.RawVectorer); ok {
		from := raw.RawVector()
		for i := range x {
			x[i] = from.Data[i*from.Inc]
		}
	} else {
		for i := range x {
			x[i] = b.AtVec(i)
		}
	}
	f.solve(x, x, trans)
	if dst.IsEmpty() {
		dst.ReuseAsVec(n)
	}
	to := dst.RawVector()
	for i, v := range x {
		to.Data[i*to.Inc] = v
	}
	return nil
}

// solveTo stores the solutions for the columns of b in those of dst, which may be b. It copies a b that overlaps dst in
// another way, or that has no raw form.
func (m *memory) solveTo(op string, f factors, n int, dst *mat.Dense, trans bool, b mat.Matrix) error {
	rows, cols := b.Dims()
	if rows != n {
		return shapeError(op, "b", rows, cols, n, cols)
	}
	if n == 0 || cols == 0 {
		dst.Reset()
		return nil
	}
	if dst.IsEmpty() {
		dst.ReuseAs(n, cols)
	} else if r, c := dst.Dims(); r != n || c != cols {
		return shapeError(op, "dst", r, c, n, cols)
	}
	to := dst.RawMatrix()
	raw, ok := b.(mat.RawMatrixer)
	if ok {
		from := raw.RawMatrix()
		ok = from.Stride == to.Stride && &from.Data[0] == &to.Data[0] || !overlap(from.Data, to.Data)
	}
	if !ok {
		raw = mat.DenseCopyOf(b)
	}
	from, x := raw.RawMatrix(), vectors(&m.x, n)
	for j := range cols {
		for i := range x {
			x[i] = from.Data[i*from.Stride+j]
		}
		f.solve(x, x, trans)
		for i, v := range x {
			to.Data[i*to.Stride+j] = v
		}
	}
	return nil
}

// cond returns an estimate of the condition number ‖A‖₁·‖A⁻¹‖₁ from the norm of A, by Hager's method as improved by
// Higham (ACM Trans. Math. Software 14, 1988), which is a lower bound and seldom off by more than a factor of 3. It
// takes about five solutions.
func (m *memory) cond(f factors, n int, norm float64) float64 {
	if n == 0 {
		return 0 // as the norm of an empty matrix
	}
	x, v := vectors(&m.x, n), vectors(&m.r, n)
	if len(m.sign) < n {
		m.sign = make([]int, n)
	}
	var save [3]int
	est, kase := 0.0, 0
	for {
		est, kase = gonum.Implementation{}.Dlacn2(n, v, x, m.sign[:n], est, kase, &save)
		if kase == 0 {
			break
		}
		f.solve(x, x, kase == 2)
	}
	return est * norm
}

// refine stores the solution of A·x = b, or of Aᵀ·x = b, in dst, with iterative refinement, and returns the
// componentwise backward error (Arioli, Demmel & Duff, SIAM J. Matrix Anal. Appl. 10, 1989): the solution is exact for
// a matrix and a right-hand side whose entries differ from those given by this relative amount at most. multiply stores
// A·x in its first argument and |A|·|x| in its second.
func (m *memory) refine(op string, f factors, a product, dst, b []float64, trans bool) (float64, error) {
	n := len(dst)
	x, r := vectors(&m.x, n), vectors(&m.r, n)
	sums, rhs := vectors(&m.sums, n), vectors(&m.b, n)
	copy(rhs, b)
	f.solve(x, rhs, trans)
	best := math.Inf(1)
	for {
		a.multiply(r, sums, x, trans)
		backward := backwardError(r, sums, rhs)
		if !(backward < best) { // NaN too
			break
		}
		done := backward <= epsilon || backward > best/2
		best = backward
		copy(dst, x)
		if done {
			break
		}
		f.solve(r, r, trans)
		for i := range x {
			x[i] += r[i]
		}
	}
	if best <= refined {
		return best, nil
	}
	if math.IsInf(best, 1) {
		copy(dst, x)
	}
	return best, &RefinementError{op, best}
}

// accurate is the backward error above which a factorisation counts as inaccurate: half of the digits are lost.
const accurate = 1e-8

// refined is the backward error above which refinement has failed: it is below a few epsilon otherwise.
const refined = 1024 * epsilon

// shapeError returns the error for a matrix of the wrong shape.
func shapeError(op, arg string, gotRows, gotCols, rows, cols int) *sparse.ShapeError {
	return &sparse.ShapeError{Op: op, Arg: "the shape of " + arg, Got: dims(gotRows, gotCols), Want: dims(rows, cols)}
}

func dims(rows, cols int) string { return fmt.Sprintf("%d×%d", rows, cols) }

// overlap reports whether the address ranges of a and b overlap, from their first to their last element.
func overlap(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 <= uintptr(unsafe.Pointer(&b[len(b)-1])) && b0 <= uintptr(unsafe.Pointer(&a[len(a)-1]))
}

// A product is a matrix of package sparse.
type product interface {
	// multiply stores A·x, or Aᵀ·x, in ax and the same of the magnitudes, |A|·|x|, in sums.
	multiply(ax, sums, x []float64, trans bool)
}

type general struct{ *sparse.CSC }

func (a general) multiply(ax, sums, x []float64, trans bool) {
	ptr, idx, data := a.ColPtr(), a.RowIndex(), a.Data()
	clear(ax)
	clear(sums)
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			from, to := j, idx[k]
			if trans {
				from, to = to, from
			}
			v := data[k] * x[from]
			ax[to] += v
			sums[to] += math.Abs(v)
		}
	}
}

type symmetric struct{ *sparse.SymCSC }

func (a symmetric) multiply(ax, sums, x []float64, _ bool) {
	ptr, idx, data := a.ColPtr(), a.RowIndex(), a.Data()
	mirror := a.Uplo() != blas.All
	clear(ax)
	clear(sums)
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			i := idx[k]
			v := data[k] * x[j]
			ax[i] += v
			sums[i] += math.Abs(v)
			if mirror && i != j {
				v := data[k] * x[i]
				ax[j] += v
				sums[j] += math.Abs(v)
			}
		}
	}
}

// probe solves a system with a known solution and returns the backward error of the result: the largest element of the
// residual relative to that of |A|·|x|+|b|, after division of rows by their sums of magnitudes and with a solution
// whose terms A·eⱼ·xⱼ are then of equal size. That of a stable factorisation is a few rounding errors, whatever the
// scale of rows and columns.
func (m *memory) probe(f factors, a product, n int) float64 {
	x, ax, sums := vectors(&m.x, n), vectors(&m.r, n), vectors(&m.sums, n)
	b, weights := vectors(&m.b, n), vectors(&m.weights, n)
	for i := range x {
		x[i] = 1
	}
	a.multiply(ax, sums, x, false)
	for i, row := range sums {
		weights[i] = reciprocal(row)
	}
	a.multiply(ax, sums, weights, true)
	state := uint32(1)
	for i, column := range sums {
		state = state*1664525 + 1013904223 // a linear congruential generator
		x[i] = (1 + float64(state>>8)/(1<<24)) * reciprocal(column)
		if state>>31 == 0 {
			x[i] = -x[i]
		}
	}
	a.multiply(b, sums, x, false)
	f.solve(x, b, false)
	a.multiply(ax, sums, x, false)
	worst, largest := 0.0, 0.0
	for i, w := range weights {
		worst = math.Max(worst, w*math.Abs(b[i]-ax[i]))
		largest = math.Max(largest, w*(sums[i]+math.Abs(b[i])))
	}
	if worst == 0 {
		return 0
	}
	return worst / largest
}

// reciprocal returns 1/v, within the range of normal numbers, and 1 for 0.
func reciprocal(v float64) float64 {
	if v == 0 {
		return 1
	}
	return min(max(1/v, 1e-300), 1e300)
}

// backwardError replaces A·x in ax by b-A·x and returns its largest element, each relative to |A|·|x|+|b|, where sums
// is |A|·|x|. If there is a NaN it returns one.
func backwardError(ax, sums, b []float64) float64 {
	backward := 0.0
	for i, v := range b {
		ax[i] = v - ax[i]
		if sums[i] += math.Abs(v); ax[i] != 0 {
			backward = math.Max(backward, math.Abs(ax[i])/sums[i])
		}
	}
	return backward
}

// norm1 returns the 1-norm of a, the largest column sum of magnitudes, with vectors of n elements of memory.
func (m *memory) norm1(a product, n int) float64 {
	ones, ax, sums := vectors(&m.x, n), vectors(&m.r, n), vectors(&m.sums, n)
	for i := range ones {
		ones[i] = 1
	}
	a.multiply(ax, sums, ones, true)
	largest := 0.0
	for _, v := range sums {
		largest = math.Max(largest, v)
	}
	return largest
}
