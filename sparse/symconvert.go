package sparse

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// FromSymmetric returns a copy of a that stores the part uplo, over the pattern of its entries, as
// [sparsity.FromMatrix] returns it. Another uplo than blas.Upper, blas.Lower and blas.All panics with a
// *[PatternError].
func FromSymmetric(a mat.Symmetric, uplo blas.Uplo) *SymCSC {
	return symFrom("FromSymmetric", a, sparsity.FromMatrix(a), uplo)
}

// symFrom returns a copy of a symmetric matrix with the symmetric pattern p that stores the part uplo; op is the
// caller's name in the panic for an invalid uplo.
func symFrom(op string, a mat.Matrix, p *sparsity.Pattern, uplo blas.Uplo) *SymCSC {
	if err := checkUplo(op, uplo); err != nil {
		panic(err)
	}
	m := NewCSC(p.Triangle(uplo), nil)
	m.gather(a)
	return &SymCSC{uplo, m.pattern, m.data}
}

// Sym returns a copy of m, whose values must be symmetric, as a symmetric matrix that stores the part uplo. If m stores
// an entry and not its mirror image, which is then 0, the pattern of the result has both, as far as they belong to the
// part. It returns a *[PatternError] if m is not square or not symmetric, with NaN equal to NaN, or if uplo is not
// blas.Upper, blas.Lower or blas.All.
func (m *CSC) Sym(uplo blas.Uplo) (*SymCSC, error) {
	if err := checkUplo("CSC.Sym", uplo); err != nil {
		return nil, err
	}
	p := m.Pattern()
	if rows, cols := p.Dims(); rows != cols {
		return nil, patternErrorf("CSC.Sym", "a matrix of %d×%d, want a square one", rows, cols)
	}
	if i, j, ok := m.asymmetry(); ok {
		return nil, patternErrorf("CSC.Sym",
			"the values at (%d, %d) and (%d, %d) differ: %g and %g; NewSymCSC takes one triangle of them", i, j, j, i,
			m.At(i, j), m.At(j, i))
	}
	if !p.Symmetric() {
		p, _ = p.Union(p.Transpose()) // no error: both are square
	}
	return symFrom("CSC.Sym", m, p, uplo), nil
}

// asymmetry returns an entry at which the square matrix differs from its transpose, and reports whether there is one.
func (m *CSC) asymmetry() (i, j int, found bool) {
	ptr, idx := m.ColPtr(), m.RowIndex()
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			v, w := m.data[k], m.At(j, idx[k])
			if v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
				return idx[k], j, true
			}
		}
	}
	return 0, 0, false
}

// CSC returns a copy of the whole matrix.
func (s *SymCSC) CSC() *CSC {
	a := s.To(blas.All)
	return &CSC{a.Pattern(), a.data}
}

// To returns a copy of s that stores the part uplo. It shares patterns of s if it can: the pattern of one triangle is
// the transpose of that of the other. Another uplo than blas.Upper, blas.Lower and blas.All panics with a
// *[PatternError].
func (s *SymCSC) To(uplo blas.Uplo) *SymCSC {
	if err := checkUplo("SymCSC.To", uplo); err != nil {
		panic(err)
	}
	switch {
	case uplo == s.Uplo():
		return &SymCSC{uplo, s.Pattern(), slices.Clone(s.data)}
	case uplo != blas.All && s.Uplo() != blas.All:
		t := (&CSC{s.pattern, s.data}).Transpose()
		return &SymCSC{uplo, t.pattern, t.data}
	}
	return symFrom("SymCSC.To", s, sparsity.FromMatrix(s), uplo)
}

// SymDense stores s in dst and returns it. A nil dst is allocated and an empty one sized; another size panics with a
// *[ShapeError]. gonum has no 0×0 matrices other than empty ones: for a 0×0 matrix, dst must be nil or empty, and the
// result is empty.
func (s *SymCSC) SymDense(dst *mat.SymDense) *mat.SymDense {
	n := s.SymmetricDim()
	if dst == nil {
		dst = new(mat.SymDense)
	}
	if d := dst.SymmetricDim(); !dst.IsEmpty() && d != n {
		panic(shapeError("SymCSC.SymDense", "dst", d, d, n, n))
	}
	if n == 0 {
		return dst
	}
	if dst.IsEmpty() {
		dst.ReuseAsSym(n)
	} else {
		dst.Zero()
	}
	raw := dst.RawSymmetric() // a SymDense stores the upper triangle
	ptr, idx := s.ColPtr(), s.RowIndex()
	for j := range n {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			raw.Data[min(idx[k], j)*raw.Stride+max(idx[k], j)] = s.data[k]
		}
	}
	return dst
}
