package nabla

import "github.com/nabla-ad/nabla/sparsity"

// JacobianSparsity is the pattern of the Jacobian of f that d finds: the rows are
// the outputs, the columns the inputs.
//
//	p, err := nabla.JacobianSparsity(f, sparsity.Global{}, x)
//
// Whether x matters beyond its length depends on the detector. A function that
// returns a slice is evaluated once at x to learn its length.
func JacobianSparsity[F VectorFunc](f F, d sparsity.Detector, x []float64) (*sparsity.Pattern, error) {
	fn, err := detected("JacobianSparsity", f, wantVector, d, x)
	if err != nil {
		return nil, err
	}
	return d.Jacobian(fn, x)
}

// HessianSparsity is the pattern of the Hessian of f, symmetric, that d finds. See
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
