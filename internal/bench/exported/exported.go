// Package exported has functions that package program/export wrote: values and derivatives of functions of package
// problems, which the command times. Its test writes them again with -update.
package exported

// A Function computes the value and the derivative of a problem.
type Function struct {
	Task string // name of the problem
	N    int    // number of inputs
	Work int    // length of work
	// Call writes the value y, unless the derivative is a Hessian, and the derivative d at x. data are the numbers that
	// the function is bound to. It returns false where the function takes another branch than at its first point.
	Call func(y, d, x, data, work []float64) bool
	// ColPtr and RowIndex are the pattern of a sparse derivative, nil for a dense one.
	ColPtr, RowIndex []int
}

// Lookup returns the function of a problem with n inputs, nil if there is none.
func Lookup(task string, n int) *Function {
	for i := range functions {
		if f := &functions[i]; f.Task == task && f.N == n {
			return f
		}
	}
	return nil
}

// Sizes returns the numbers of inputs of a problem's functions.
func Sizes(task string) (n []int) {
	for _, f := range functions {
		if f.Task == task {
			n = append(n, f.N)
		}
	}
	return n
}
