package sparse

import (
	"errors"
	"fmt"
	"io"

	"github.com/nabla-ad/nabla/internal/mmio"
	"gonum.org/v1/gonum/blas"
)

// ReadMatrixMarket reads a matrix in the Matrix Market format. Symmetric, skew-symmetric and hermitian files are
// expanded, entries listed twice are added, and zeros that a coordinate file lists are stored. The entries of a pattern
// file have the value 1. Complex files are an error; [sparsity.ReadMatrixMarket] reads their pattern.
//
// Malformed input is a *[FormatError] with the line; so is a shape of more than a million rows or columns that is out
// of proportion to the number of entries, since it would only cost memory. Errors of r are wrapped.
func ReadMatrixMarket(r io.Reader) (*CSC, error) {
	file, err := open(r)
	if err != nil {
		return nil, err
	}
	return triplets(file, true)
}

// ReadSymMatrixMarket reads a symmetric matrix in the Matrix Market format, like [ReadMatrixMarket], and returns it
// with the part uplo stored. A file that is not declared symmetric or hermitian is a *[FormatError]; uplo must be
// blas.Upper, blas.Lower or blas.All, anything else is a *[PatternError].
func ReadSymMatrixMarket(r io.Reader, uplo blas.Uplo) (*SymCSC, error) {
	if err := checkUplo("ReadSymMatrixMarket", uplo); err != nil {
		return nil, err
	}
	file, err := open(r)
	if err != nil {
		return nil, err
	}
	if s := file.Header.Symmetry; s != mmio.Symmetric && s != mmio.Hermitian {
		return nil, &FormatError{1,
			fmt.Sprintf("the matrix is %s, want a symmetric one; ReadMatrixMarket reads it, and CSC.Sym converts it "+
				"if its values are symmetric", s)}
	}
	m, err := triplets(file, false)
	if err != nil {
		return nil, err
	}
	low := &SymCSC{blas.Lower, m.pattern, m.data}
	if uplo == blas.Lower {
		return low, nil
	}
	return low.To(uplo), nil
}

// open reads the header of a file, whose values must not be complex.
func open(r io.Reader) (*mmio.Reader, error) {
	file, err := mmio.NewReader(r)
	if err != nil {
		return nil, fileError(err)
	}
	if file.Header.Field == mmio.Complex {
		return nil, &FormatError{1,
			"the values are complex, want real or integer ones; sparsity.ReadMatrixMarket reads the pattern"}
	}
	return file, nil
}

// triplets reads the entries and returns them as a matrix. If expand is set, an entry off the diagonal of a symmetric
// file is followed by its mirror image.
func triplets(file *mmio.Reader, expand bool) (*CSC, error) {
	var i, j []int
	var v []float64
	err := file.Each(expand, func(a, b int, c complex128) {
		i, j, v = append(i, a), append(j, b), append(v, real(c))
	})
	if err != nil {
		return nil, fileError(err)
	}
	m, err := FromTriplets(file.Header.Rows, file.Header.Cols, i, j, v)
	if err == nil && file.Header.Field == mmio.Pattern {
		for k := range m.data {
			m.data[k] = 1 // an entry listed twice would be 2
		}
	}
	return m, err
}

// fileError converts an error of package mmio into one of this package.
func fileError(err error) error {
	if e, ok := errors.AsType[*mmio.Error](err); ok {
		return &FormatError{e.Line, e.Reason}
	}
	return fmt.Errorf("sparse: read: %w", err)
}

// WriteMatrixMarket writes m in the Matrix Market format, as a general coordinate matrix of reals column by column,
// stored zeros included, with enough digits for [ReadMatrixMarket] to read the same matrix back. It returns the error
// of w, wrapped.
func (m *CSC) WriteMatrixMarket(w io.Writer) error {
	rows, cols := m.Dims()
	h := mmio.Header{Field: mmio.Real, Symmetry: mmio.General, Rows: rows, Cols: cols, Listed: m.NNZ()}
	return write(w, h, m)
}

// WriteMatrixMarket writes s in the Matrix Market format, as a symmetric coordinate matrix of reals, stored zeros
// included, with enough digits for [ReadSymMatrixMarket] to read the same matrix back. It returns the error of w,
// wrapped.
func (s *SymCSC) WriteMatrixMarket(w io.Writer) error {
	low := s
	if s.Uplo() != blas.Lower { // the format lists the lower triangle
		low = s.To(blas.Lower)
	}
	n := s.SymmetricDim()
	h := mmio.Header{Field: mmio.Real, Symmetry: mmio.Symmetric, Rows: n, Cols: n, Listed: low.NNZ()}
	return write(w, h, &CSC{low.pattern, low.data})
}

// write writes the header h and the stored entries of m.
func write(w io.Writer, h mmio.Header, m *CSC) error {
	ptr, idx := m.ColPtr(), m.RowIndex()
	err := mmio.Write(w, h, func(add func(i, j int, v float64)) {
		for j := range h.Cols {
			for k := ptr[j]; k < ptr[j+1]; k++ {
				add(idx[k], j, m.data[k])
			}
		}
	})
	if err != nil {
		return fmt.Errorf("sparse: write: %w", err)
	}
	return nil
}
