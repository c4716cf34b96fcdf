package sparsity

import (
	"fmt"
	"math"
)

// Known is a detector that detects nothing: it returns the patterns J of the
// Jacobian and H of the Hessian. A pattern that is nil, asked for, is a
// *MissingError; one of another shape than the function's a *ShapeError. A Hessian's
// must be symmetric, which is not checked: entries that are not set count as zero.
type Known struct{ J, H *Pattern }

// Name returns "known".
func (Known) Name() string { return "known" }

// Jacobian returns k.J.
func (k Known) Jacobian(f Function, _ []float64) (*Pattern, error) {
	n, m := f.Dims()
	return known(k.J, f, "Jacobian", m, n)
}

// Hessian returns k.H.
func (k Known) Hessian(f Function, _ []float64) (*Pattern, error) {
	n, _ := f.Dims()
	return known(k.H, f, "Hessian", n, n)
}

func known(p *Pattern, f Function, what string, rows, cols int) (*Pattern, error) {
	if p == nil {
		return nil, &MissingError{Function: f.Name(), What: what}
	}
	if r, c := p.Dims(); r != rows || c != cols {
		return nil, &ShapeError{Detector: "known", Function: f.Name(), What: what, Rows: r, Cols: c, WantRows: rows,
			WantCols: cols}
	}
	return p, nil
}

// None is the detector that knows nothing: every entry may differ from zero.
type None struct{}

// Name is "none".
func (None) Name() string { return "none" }

// Jacobian is full.
func (None) Jacobian(f Function, _ []float64) (*Pattern, error) {
	n, m := f.Dims()
	if err := fits(f, m, n); err != nil {
		return nil, err
	}
	return Full(m, n), nil
}

// Hessian is full.
func (None) Hessian(f Function, _ []float64) (*Pattern, error) {
	n, _ := f.Dims()
	if err := fits(f, n, n); err != nil {
		return nil, err
	}
	return Full(n, n), nil
}

// fits is the error where a full pattern of that size is too large.
func fits(f Function, rows, cols int) (err error) {
	defer caught(&err)
	bytes := int64(math.MaxInt64)
	if cols == 0 || int64(rows) < bytes/bytesPerEntry/int64(cols) {
		bytes = bytesPerEntry * int64(rows) * int64(cols)
	}
	taskOf(f).Fits(fmt.Sprintf("a full pattern of %d×%d", rows, cols), bytes)
	return nil
}
