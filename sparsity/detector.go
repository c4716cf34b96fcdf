package sparsity

import (
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/program"
)

// A Detector finds which entries of a derivative can differ from zero. It must not miss one; a superfluous entry only
// costs time later.
//
// The detectors of this package guarantee:
//
//	Global    one run, every x; a branch on the inputs is an error
//	Local     one run, this x; other points only if all branches, choices and zeros are the same
//	Recorded  the branches that the function takes at the points given
//	Known     given by the user
//	None      nothing: every entry
//
// The first three run the function with numbers that only record the operations on them. Each elementary operation has
// a class, derived from the table of package rules: whether its first and second derivatives with respect to each
// operand can differ from zero. The result is a dependency graph, and a pattern follows from reachability in it:
//
//	J[i, j]   output i is reachable from input j over first derivatives
//	H[i, j]   some operation with a second derivative with respect to operands a and b, on which
//	          an output depends, has a reachable from i and b from j
//
// The sets are computed with one bit for each of 64 outputs or inputs, by searches from the outputs down to the inputs,
// or for second derivatives from the inputs up and down again. They visit only nodes on existing paths, which takes
// linear time if each output depends on few inputs. If a search becomes too expensive, sweeps over all operations
// replace it, whose cost does not depend on the pattern. A long sum is cheap: no index sets are stored for its partial
// sums, which depend on all earlier terms.
//
// A function must compute with Reals from its inputs to its outputs, and do the same whenever it is called with the
// same x: no detector accounts for random numbers or for state between calls.
type Detector interface {
	// Name returns the name of the detector and those of its settings that are not the default.
	Name() string
	// Jacobian returns the pattern of J(x), outputs by inputs.
	Jacobian(f Function, x []float64) (*Pattern, error)
	// Hessian returns the pattern of ∇²f(x), which is symmetric. For several outputs it is the union of their patterns,
	// which is valid for every linear combination of the outputs.
	Hessian(f Function, x []float64) (*Pattern, error)
}

// A Function is a function that detectors run; *engine.Function is one.
type Function interface {
	// Name returns the function's name for messages.
	Name() string
	// Dims returns the numbers of inputs and of outputs.
	Dims() (n, m int)
	// Value writes y = f(x).
	Value(y, x []float64) error
	// OverIn runs the function with the numbers x of the open trace t and stores its outputs in y.
	OverIn(t *program.Tracer, y, x []program.Real) error
	// Program returns the function as recorded at x.
	Program(x []float64) (*program.Program, error)
}

// A BranchError is returned if a function reads the value of a number that depends on its inputs, so that no pattern is
// valid for all inputs. It holds the position in the source.
type BranchError = core.BranchError

// A ShapeError is returned for a pattern or a point that does not fit the function. For a point, Cols is its length and
// Rows is 1.
type ShapeError struct {
	Detector, Function string
	What               string // "Jacobian", "Hessian" or "x"
	Rows, Cols         int
	WantRows, WantCols int
}

func (e *ShapeError) Error() string {
	if e.What == "x" {
		return page.Namef("sparsity.ShapeError",
			"sparsity: %s: a point of length %d for function %s of %d inputs; every point has one "+
				"number for each input",
			e.Detector, e.Cols, e.Function, e.WantCols)
	}
	return page.Namef("sparsity.ShapeError",
		"sparsity: %s: the %s pattern is %d×%d, that of function %s is %d×%d; rows are outputs, "+
			"columns inputs",
		e.Detector, e.What, e.Rows, e.Cols, e.Function, e.WantRows, e.WantCols)
}

// A MissingError is returned by a Known detector that lacks the requested pattern.
type MissingError struct {
	Function string
	What     string // "Jacobian" or "Hessian"
}

func (e *MissingError) Error() string {
	field := "J"
	if e.What == "Hessian" {
		field = "H"
	}
	return page.Namef("sparsity.MissingError",
		"sparsity: known: no %s pattern of function %s was given; set Known.%s, or let Global or "+
			"Local find it",
		e.What, e.Function, field)
}

// checkPoint returns a *ShapeError if the length of x is not the number of inputs of f.
func checkPoint(detector string, f Function, x []float64) error {
	if n, _ := f.Dims(); len(x) != n {
		return &ShapeError{Detector: detector, Function: f.Name(), What: "x", Rows: 1, Cols: len(x), WantRows: 1,
			WantCols: n}
	}
	return nil
}
