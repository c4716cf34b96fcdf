package engine

// An engine of approximations may estimate their errors. Its prepared objects then implement the interfaces of this
// file. Estimates have the shape of the derivatives and are absolute: the distance from the exact derivative that the
// engine expects not to be exceeded, but does not guarantee. NaN and +Inf are errors that it cannot estimate.

// A GradientEstimator is a Gradient with error estimates: it also writes those of grad to e, of the same length.
type GradientEstimator interface {
	GradientWithError(grad, e, x []float64) (float64, error)
}

// A JacobianEstimator is a Jacobian with error estimates: it also writes those of jac to e, of the same dimensions.
type JacobianEstimator interface {
	JacobianWithError(y []float64, jac, e Block, x []float64) error
}

// A PushforwardEstimator is a Pushforward with error estimates: it also writes those of ydot to e, of the same
// dimensions.
type PushforwardEstimator interface {
	PushforwardWithError(y []float64, ydot, e Block, x []float64, xdot Block) error
}
