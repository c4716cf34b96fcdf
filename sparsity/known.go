package sparsity

import (
	"fmt"
	"math"
)

// Known is a detector that returns patterns given by the user: J for the Jacobian and H for the Hessian. If the pattern
// asked for is nil the error is a *MissingError, and if its shape is not the function's, a *ShapeError. H must be
// symmetric, which is not checked. Entries that are not in the pattern count as zero.
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

// known returns p, or the error if it is missing or its shape is not rows×cols.
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

// None is the detector that returns full patterns: it assumes that every entry may differ from zero.
type None struct{}

// Name returns "none".
func (None) Name() string { return "none" }

// Jacobian returns the full pattern, or an error if it exceeds the memory limit of f's task.
func (None) Jacobian(f Function, _ []float64) (*Pattern, error) {
	n, m := f.Dims()
	if err := checkFull(f, m, n); err != nil {
		return nil, err
	}
	return Full(m, n), nil
}

// Hessian returns the full pattern, or an error if it exceeds the memory limit of f's task.
func (None) Hessian(f Function, _ []float64) (*Pattern, error) {
	n, _ := f.Dims()
	if err := checkFull(f, n, n); err != nil {
		return nil, err
	}
	return Full(n, n), nil
}

// checkFull returns an error if a full rows×cols pattern, with all that is built on it, exceeds the memory limit of f's
// task. A product too large for an int64 counts as the largest int64.
func checkFull(f Function, rows, cols int) (err error) {
	defer recoverAbort(&err)
	bytes := int64(math.MaxInt64)
	if cols == 0 || int64(rows) < bytes/bytesPerEntry/int64(cols) {
		bytes = bytesPerEntry * int64(rows) * int64(cols)
	}
	taskOf(f).Fits(fmt.Sprintf("a full pattern of %d×%d", rows, cols), bytes)
	return nil
}
