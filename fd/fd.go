package fd

import (
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// The types and formulas of gonum's package, for functions without code.
type (
	Formula          = fd.Formula
	JacobianSettings = fd.JacobianSettings
	Point            = fd.Point
	Settings         = fd.Settings
)

// The formulas of gonum's package; those with the suffix 2nd are for [Laplacian].
var (
	Backward    = fd.Backward
	Backward2nd = fd.Backward2nd
	Central     = fd.Central
	Central2nd  = fd.Central2nd
	Forward     = fd.Forward
	Forward2nd  = fd.Forward2nd
)

// dense keeps Jacobians and Hessians dense.
var dense = nabla.Auto{Dense: true}

// Derivative returns the derivative of f at x.
func Derivative(f func(float64) float64, x float64, settings *Settings) float64 {
	p := take(derivatives, f, 1, 1, func() (*nabla.DerivativePrep, error) { return nabla.PrepareDerivative(f, nil, x) })
	if p == nil {
		return fd.Derivative(f, x, settings)
	}
	defer p.give()
	d, err := p.prep.Derivative(x)
	must(err)
	return d
}

// Gradient returns the gradient of f at x. It is stored in dst, which has the length of x, unless that is nil.
func Gradient(dst []float64, f func([]float64) float64, x []float64, settings *Settings) []float64 {
	if dst != nil && len(dst) != len(x) {
		return fd.Gradient(dst, f, x, settings) // panics
	}
	p := take(gradients, f, len(x), 1, func() (*nabla.GradientPrep, error) { return nabla.PrepareGradient(f, nil, x) })
	if p == nil {
		return fd.Gradient(dst, f, x, settings)
	}
	defer p.give()
	dst, err := p.prep.Gradient(dst, x)
	must(err)
	return dst
}

// Hessian stores the Hessian of f at x in dst. An empty dst is sized, otherwise its order must be the length of x.
func Hessian(dst *mat.SymDense, f func(x []float64) float64, x []float64, settings *Settings) {
	if !dst.IsEmpty() && dst.SymmetricDim() != len(x) {
		fd.Hessian(dst, f, x, settings) // panics
	}
	p := take(hessians, f, len(x), 1, func() (*nabla.HessianPrep, error) { return nabla.PrepareHessian(f, dense, x) })
	if p == nil {
		fd.Hessian(dst, f, x, settings)
		return
	}
	defer p.give()
	if dst.IsEmpty() {
		dst.ReuseAsSym(len(x))
	}
	_, err := p.prep.Dense(dst, x)
	must(err)
}

// Jacobian stores the Jacobian of f at x in dst, which has as many rows as f has outputs and as many columns as x has
// elements.
func Jacobian(dst *mat.Dense, f func(y, x []float64), x []float64, settings *JacobianSettings) {
	if dst == nil || dst.IsEmpty() || dst.RawMatrix().Cols != len(x) {
		fd.Jacobian(dst, f, x, settings) // panics
	}
	m, n := dst.Dims()
	p := take(jacobians, f, n, m, func() (*nabla.JacobianPrep, error) {
		return nabla.PrepareJacobian(nabla.InPlace(m, f), dense, x)
	})
	if p == nil {
		fd.Jacobian(dst, f, x, settings)
		return
	}
	defer p.give()
	_, err := p.prep.Dense(dst, x)
	must(err)
}

// Laplacian returns the sum of the second derivatives of f at x with respect to each element of x.
func Laplacian(f func(x []float64) float64, x []float64, settings *Settings) float64 {
	p := take(diagonals, f, len(x), 1, func() (*nabla.HessianDiagonalPrep, error) {
		return nabla.PrepareHessianDiagonal(f, dense, x)
	})
	if p == nil {
		return fd.Laplacian(f, x, settings)
	}
	defer p.give()
	d, err := p.prep.HessianDiagonal(nil, x)
	must(err)
	sum := 0.0
	for _, v := range d {
		sum += v
	}
	return sum
}

// must panics with an error, such as a *nabla.PanicError: gonum's signatures have no errors.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// CrossLaplacian returns the sum of ∂²f/∂xᵢ∂yᵢ at x and y. It is always that of gonum, by differences: generated code
// is for functions of one vector.
func CrossLaplacian(f func(x, y []float64) float64, x, y []float64, settings *Settings) float64 {
	return fd.CrossLaplacian(f, x, y, settings)
}
