package nabla

import "github.com/nabla-ad/nabla/internal/core"

// withoutError returns the function f as one without an error result, if it has one. An error that is not nil then ends
// the evaluation, and the operator returns it in a *ReturnedError. Other functions are returned as they are.
func withoutError(f any) any {
	switch f := f.(type) {
	case func(Real) (Real, error):
		return valueIn(f)
	case func(Real) ([]Real, error):
		return valueIn(f)
	case func(float64) (float64, error):
		return valueIn(f)
	case func(float64) ([]float64, error):
		return valueIn(f)
	case func([]Real) (Real, error):
		return valueIn(f)
	case func([]Real) ([]Real, error):
		return valueIn(f)
	case func([]float64) (float64, error):
		return valueIn(f)
	case func([]float64) ([]float64, error):
		return valueIn(f)
	case func(y, x []Real) error:
		return func(y, x []Real) { endOn(f(y, x)) }
	case func(y, x []float64) error:
		return func(y, x []float64) { endOn(f(y, x)) }
	}
	return f
}

// withoutErrorOf is withoutError for functions with a bound struct of type P.
func withoutErrorOf[P any](f any) any {
	switch f := f.(type) {
	case func([]Real, P) (Real, error):
		return valueAt(f)
	case func([]Real, P) ([]Real, error):
		return valueAt(f)
	case func([]float64, P) (float64, error):
		return valueAt(f)
	case func([]float64, P) ([]float64, error):
		return valueAt(f)
	case func(P, []Real) (Real, error):
		return valueAt(f)
	case func(P, []Real) ([]Real, error):
		return valueAt(f)
	case func(P, []float64) (float64, error):
		return valueAt(f)
	case func(P, []float64) ([]float64, error):
		return valueAt(f)
	case func(y, x []Real, p P) error:
		return func(y, x []Real, p P) { endOn(f(y, x, p)) }
	case func(y, x []float64, p P) error:
		return func(y, x []float64, p P) { endOn(f(y, x, p)) }
	}
	return f
}

// valueIn returns f without its error result.
func valueIn[X, Y any](f func(X) (Y, error)) func(X) Y {
	return func(x X) Y {
		y, err := f(x)
		endOn(err)
		return y
	}
}

// valueAt is valueIn for a function of two parameters.
func valueAt[X, P, Y any](f func(X, P) (Y, error)) func(X, P) Y {
	return func(x X, p P) Y {
		y, err := f(x, p)
		endOn(err)
		return y
	}
}

// endOn ends the evaluation of a function that has returned err, unless err is nil.
func endOn(err error) { core.Returned(err) }
