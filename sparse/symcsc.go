package sparse

import (
	"slices"

	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// SymCSC is a symmetric matrix of float64 in compressed sparse column form that stores the upper triangle (blas.Upper),
// the lower one (blas.Lower) or all entries (blas.All). Its methods refer to the whole matrix in each case, except for
// Pattern, Data, ColPtr, RowIndex and NNZ, which refer to the stored entries. The zero value is empty, of shape 0×0,
// and can be given a pattern by [SymCSC.ReuseAs].
type SymCSC struct {
	uplo    blas.Uplo         // part that is stored; undefined if empty
	pattern *sparsity.Pattern // nil if empty
	data    []float64         // in the order of pattern.RowIndex()
}

var (
	_ mat.MutableSymmetric = (*SymCSC)(nil)
	_ mat.NonZeroDoer      = (*SymCSC)(nil)
	_ mat.RowNonZeroDoer   = (*SymCSC)(nil)
	_ mat.ColNonZeroDoer   = (*SymCSC)(nil)
	_ mat.Reseter          = (*SymCSC)(nil)
	_ mat.Normer           = (*SymCSC)(nil)
	_ mat.Tracer           = (*SymCSC)(nil)
)

// NewSymCSC returns the symmetric matrix that stores the part uplo of its entries: those of p, with the values data,
// column by column in the order of p.RowIndex(). It retains data: a later write to it changes the matrix. Nil data are
// zeros.
//
// For blas.Upper and blas.Lower the entries of p must be in that triangle, the diagonal included;
// [sparsity.Pattern.Triangle] returns it. For blas.All, p and the values must be symmetric, with NaN equal to NaN;
// later writes to Data must preserve this. Other arguments are a *[PatternError] or, if data has a wrong length, a
// *[ShapeError].
func NewSymCSC(p *sparsity.Pattern, uplo blas.Uplo, data []float64) (*SymCSC, error) {
	if err := checkSym("NewSymCSC", p, uplo); err != nil {
		return nil, err
	}
	if data == nil {
		return &SymCSC{uplo, p, make([]float64, p.NNZ())}, nil
	}
	if err := lenError("NewSymCSC", "data", len(data), p.NNZ()); err != nil {
		return nil, err
	}
	if uplo == blas.All {
		if i, j, ok := (&CSC{p, data}).asymmetry(); ok {
			return nil, patternErrorf("NewSymCSC",
				"the values at (%d, %d) and (%d, %d) differ; store one triangle, blas.Upper or blas.Lower", i, j, j, i)
		}
	}
	return &SymCSC{uplo, p, data}, nil
}

// checkSym returns a *PatternError unless p is a pattern of the part uplo of a symmetric matrix.
func checkSym(op string, p *sparsity.Pattern, uplo blas.Uplo) error {
	if p == nil {
		return noPattern(op)
	}
	if rows, cols := p.Dims(); rows != cols {
		return patternErrorf(op, "a pattern of %d×%d, want a square one", rows, cols)
	}
	if err := checkUplo(op, uplo); err != nil {
		return err
	}
	if uplo == blas.All {
		if !p.Symmetric() {
			return patternErrorf(op,
				"the pattern is not symmetric; take its union with its transpose, or store a triangle of it with "+
					"blas.Upper or blas.Lower")
		}
		return nil
	}
	below, above := p.Bandwidth()
	if uplo == blas.Upper && below > 0 || uplo == blas.Lower && above > 0 {
		return patternErrorf(op,
			"the pattern has entries outside the %s triangle; Triangle(blas.%[1]s) leaves them out, blas.All "+
				"stores both", uploName(uplo))
	}
	return nil
}

// checkUplo returns a *PatternError unless uplo is blas.Upper, blas.Lower or blas.All.
func checkUplo(op string, uplo blas.Uplo) error {
	switch uplo {
	case blas.Upper, blas.Lower, blas.All:
		return nil
	}
	return patternErrorf(op, "uplo is %q, want blas.Upper, blas.Lower or blas.All", byte(uplo))
}

// uploName returns the name of the constant for a triangle.
func uploName(uplo blas.Uplo) string {
	if uplo == blas.Upper {
		return "Upper"
	}
	return "Lower"
}

// Uplo returns the part that is stored: blas.Upper, blas.Lower or blas.All, which an empty matrix has too.
func (s *SymCSC) Uplo() blas.Uplo {
	if s.pattern == nil {
		return blas.All
	}
	return s.uplo
}

// Pattern returns the pattern of the entries that s stores. The pattern of an empty matrix is 0×0.
func (s *SymCSC) Pattern() *sparsity.Pattern {
	if s.pattern == nil {
		return empty
	}
	return s.pattern
}

// Data returns the stored values, in the order of RowIndex. The slice belongs to the matrix: writing to it changes the
// matrix. With blas.All, write both values of a pair.
func (s *SymCSC) Data() []float64 { return s.data }

// ColPtr returns the column pointers: the stored entries of column j begin at ColPtr()[j] in RowIndex and Data, and end
// before ColPtr()[j+1]. The slice belongs to the pattern: do not write to it.
func (s *SymCSC) ColPtr() []int { return s.Pattern().ColPtr() }

// RowIndex returns the row indices of the stored entries, column by column. The slice belongs to the pattern: do not
// write to it.
func (s *SymCSC) RowIndex() []int { return s.Pattern().RowIndex() }

// NNZ returns the number of entries that s stores, including zeros.
func (s *SymCSC) NNZ() int { return len(s.data) }

// SymmetricDim returns the number of rows, which equals that of columns.
func (s *SymCSC) SymmetricDim() int { n, _ := s.Pattern().Dims(); return n }

// Dims returns the numbers of rows and columns.
func (s *SymCSC) Dims() (rows, cols int) { return s.Pattern().Dims() }

// T returns s itself.
func (s *SymCSC) T() mat.Matrix { return s }

// At returns entry (i, j), which is 0 off the pattern, by binary search. It panics with mat.ErrRowAccess or
// mat.ErrColAccess outside the shape.
func (s *SymCSC) At(i, j int) float64 {
	if k, ok := s.index(i, j); ok {
		return s.data[k]
	}
	return 0
}

// index returns the position in data of entry (i, j) or of its mirror image, whichever is in the stored part, and
// reports whether it is stored. It panics with gonum's error outside the shape.
func (s *SymCSC) index(i, j int) (int, bool) {
	n := s.SymmetricDim()
	checkIndex(i, n, mat.ErrRowAccess)
	checkIndex(j, n, mat.ErrColAccess)
	if s.uplo == blas.Upper && i > j || s.uplo == blas.Lower && i < j {
		i, j = j, i
	}
	return s.pattern.Index(i, j)
}

// SetSym sets entries (i, j) and (j, i) to v. It panics with mat.ErrRowAccess or mat.ErrColAccess outside the shape,
// and with a *[PatternError] off the pattern, even if v is 0.
func (s *SymCSC) SetSym(i, j int, v float64) {
	k, ok := s.index(i, j)
	if !ok {
		panic(offPattern("SymCSC.SetSym", i, j))
	}
	s.data[k] = v
	if s.uplo == blas.All {
		k, _ = s.pattern.Index(j, i)
		s.data[k] = v
	}
}

// Clone returns a copy of s over the same pattern.
func (s *SymCSC) Clone() *SymCSC { return &SymCSC{s.uplo, s.pattern, slices.Clone(s.data)} }

// Zero sets the values to 0. The pattern does not change.
func (s *SymCSC) Zero() { clear(s.data) }

// IsEmpty reports whether s has no pattern, so that [SymCSC.ReuseAs] may give it one.
func (s *SymCSC) IsEmpty() bool { return s.pattern == nil }

// Reset makes s empty. The next [SymCSC.ReuseAs] reuses its memory, so do not call Reset while the slice that Data
// returned is in use.
func (s *SymCSC) Reset() { s.uplo, s.pattern, s.data = 0, nil, s.data[:0] }

// ReuseAs makes s, which must be empty, the zero matrix over p that stores the part uplo. It panics with
// mat.ErrReuseNonEmpty if s is not empty, and with a *[PatternError] if [NewSymCSC] would return one.
func (s *SymCSC) ReuseAs(p *sparsity.Pattern, uplo blas.Uplo) {
	if !s.IsEmpty() {
		panic(mat.ErrReuseNonEmpty)
	}
	if err := checkSym("SymCSC.ReuseAs", p, uplo); err != nil {
		panic(err)
	}
	s.uplo, s.pattern, s.data = uplo, p, zeros(s.data, p.NNZ())
}
