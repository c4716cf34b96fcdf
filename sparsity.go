package nabla

import "github.com/nabla-ad/nabla/sparsity"

// JacobianSparsity returns the pattern of the Jacobian of f that d finds, with a row for each
// output and a column for each input.
//
//	p, err := nabla.JacobianSparsity(f, sparsity.Global{}, x)
//
// Whether the pattern depends on x beyond its length is up to the detector. A function that returns
// a slice is evaluated once at x to learn its length.
func JacobianSparsity[F VectorFunc](f F, d sparsity.Detector, x []float64) (*sparsity.Pattern, error) {
	fn, err := detected("JacobianSparsity", f, wantVector, d, x)
	if err != nil {
		return nil, err
	}
	return d.Jacobian(fn, x)
}

// HessianSparsity returns the symmetric pattern of the Hessian of f that d finds. See
// [JacobianSparsity].
func HessianSparsity[F ScalarFunc](f F, d sparsity.Detector, x []float64) (*sparsity.Pattern, error) {
	fn, err := detected("HessianSparsity", f, wantScalar, d, x)
	if err != nil {
		return nil, err
	}
	return d.Hessian(fn, x)
}

func detected(op string, f any, want shapeWant, d sparsity.Detector, x []float64) (sparsity.Function, error) {
	if d == nil {
		return nil, &UnsupportedError{What: op + ": the detector is nil",
			Remedy: "pass sparsity.Global{}, or another one"}
	}
	return functionOf(op, f, x, want)
}
