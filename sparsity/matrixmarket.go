package sparsity

import (
	"errors"
	"fmt"
	"io"

	"github.com/nabla-ad/nabla/internal/mmio"
)

// ReadMatrixMarket reads the pattern of a matrix in the Matrix Market format. Values are dropped: every entry listed in
// a coordinate file belongs to the pattern, whatever its value; of an array, the entries other than zero do. The values
// may be real, integer, complex or missing (pattern). Symmetric, skew-symmetric and hermitian files are expanded, an
// entry listed twice counts once, and comments and blank lines may appear anywhere after the first line.
//
// Malformed input is a *[FormatError] with the line; so is a shape of more than a million rows or columns that is out
// of proportion to the number of entries, since it would only cost memory. Errors of r are wrapped. ReadMatrixMarket
// does not decompress; wrap r in a compress/gzip reader for that.
func ReadMatrixMarket(r io.Reader) (*Pattern, error) {
	file, err := mmio.NewReader(r)
	if err != nil {
		return nil, fileError(err)
	}
	var i, j []int
	if err := file.Each(true, func(a, b int, _ complex128) { i, j = append(i, a), append(j, b) }); err != nil {
		return nil, fileError(err)
	}
	return FromEntries(file.Header.Rows, file.Header.Cols, i, j)
}

// fileError converts an error of package mmio into one of this package.
func fileError(err error) error {
	if e, ok := errors.AsType[*mmio.Error](err); ok {
		return &FormatError{Reason: e.Reason, Line: e.Line}
	}
	return fmt.Errorf("sparsity: read: %w", err)
}

// WriteMatrixMarket writes the pattern in the Matrix Market format, as a general coordinate pattern column by column,
// which [ReadMatrixMarket] reads back. It returns the error of w, wrapped.
func (p *Pattern) WriteMatrixMarket(w io.Writer) error {
	h := mmio.Header{Field: mmio.Pattern, Symmetry: mmio.General, Rows: p.rows, Cols: p.cols, Listed: p.NNZ()}
	err := mmio.Write(w, h, func(add func(i, j int, v float64)) {
		for j := range p.cols {
			for _, i := range p.Col(j) {
				add(i, j, 1)
			}
		}
	})
	if err != nil {
		return fmt.Errorf("sparsity: write: %w", err)
	}
	return nil
}
