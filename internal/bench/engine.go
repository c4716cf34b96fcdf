package bench

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/problems"
)

// Of makes an Engine of a backend that traces.
func Of(b nabla.Backend) Engine {
	return Engine{Name: b.Name(), Prepare: func(p *problems.Problem) (Derivative, error) {
		switch {
		case p.M > 1:
			return jacobian(p.Func, b, p)
		case p.Func != nil:
			return gradient(p.Func, b, p)
		}
		return gradient(p.Traced, b, p)
	}, Once: func(p *problems.Problem) Derivative {
		switch {
		case p.M > 1:
			return jacobianOnce(p.Func, b)
		case p.Func != nil:
			return gradientOnce(p.Func, b)
		}
		return gradientOnce(p.Traced, b)
	}}
}

// OfPlain makes an Engine of a backend that approximates derivatives of plain Go.
func OfPlain(b nabla.Backend) Engine {
	return Engine{Name: b.Name(), Approximate: true, Prepare: func(p *problems.Problem) (Derivative, error) {
		if p.M > 1 {
			return jacobian(nabla.InPlace(p.M, p.PlainVector), b, p)
		}
		return gradient(p.Plain, b, p)
	}, Once: func(p *problems.Problem) Derivative {
		if p.M > 1 {
			return jacobianOnce(nabla.InPlace(p.M, p.PlainVector), b)
		}
		return gradientOnce(p.Plain, b)
	}}
}

func gradient[F nabla.ScalarFunc](f F, b nabla.Backend, p *problems.Problem) (Derivative, error) {
	prep, err := nabla.PrepareGradient(f, b, p.Cases[0].X)
	if err != nil {
		return nil, err
	}
	return func(y, d, x []float64) (err error) {
		y[0], _, err = prep.ValueAndGradient(d, x)
		return err
	}, nil
}

func gradientOnce[F nabla.ScalarFunc](f F, b nabla.Backend) Derivative {
	return func(y, d, x []float64) error {
		v, g, err := nabla.ValueAndGradient(f, b, x)
		y[0] = v
		copy(d, g)
		return err
	}
}

func jacobianOnce(f *nabla.Func, b nabla.Backend) Derivative {
	return func(y, d, x []float64) error {
		v, jac, err := nabla.ValueAndJacobian(f, b, x)
		if err != nil {
			return err
		}
		copy(y, v)
		mat.NewDense(len(y), len(x), d).Copy(jac)
		return nil
	}
}

func jacobian(f *nabla.Func, b nabla.Backend, p *problems.Problem) (Derivative, error) {
	prep, err := nabla.PrepareJacobian(f, b, p.Cases[0].X)
	if err != nil {
		return nil, err
	}
	// The callers pass one d again and again: it is wrapped once.
	var wrapped []float64
	var dst *mat.Dense
	return func(y, d, x []float64) error {
		if dst == nil || &d[0] != &wrapped[0] {
			wrapped, dst = d, mat.NewDense(p.M, p.N, d)
		}
		_, _, err := prep.ValueAndJacobian(y, dst, x)
		return err
	}, nil
}
