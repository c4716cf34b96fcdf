package bench

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/sparse"
)

// Of returns an Engine of a backend that traces.
func Of(b nabla.Backend) Engine { return dense(b, traced, tracedBound) }

// OfPlain returns an Engine of a backend that approximates derivatives of plain Go.
func OfPlain(b nabla.Backend) Engine {
	e := dense(b, plain, func(p *problems.Problem) *nabla.Func {
		if p.M > 1 {
			return nabla.InPlace(p.M, p.PlainVector)
		}
		return nil
	})
	e.Approximate = true
	return e
}

// OfSource returns an Engine of a backend that runs generated code.
func OfSource(b nabla.Backend) Engine { return dense(b, plain, plainBound) }

// OfSparse returns an Engine of a backend that computes sparse matrices by tracing.
func OfSparse(b nabla.AutoSparse) Engine { return sparseOf(b, traced, tracedBound) }

// OfSparseSource returns an Engine of a backend that computes sparse matrices by generated code.
func OfSparseSource(b nabla.AutoSparse) Engine { return sparseOf(b, plain, plainBound) }

// plain and the following functions select the form of a problem's function that an engine takes.
func plain(p *problems.Problem) func(x []float64) float64        { return p.Plain }
func traced(p *problems.Problem) func(x []nabla.Real) nabla.Real { return p.Traced }
func plainBound(p *problems.Problem) *nabla.Func                 { return p.Bound }
func tracedBound(p *problems.Problem) *nabla.Func                { return p.Func }

// fixedCaptures wraps b so that it trusts the data captured by the functions of problems, which are method values, not
// to change: a recording is compared with them occasionally, as with a function at package level.
func fixedCaptures(b nabla.Backend) nabla.Backend {
	return nabla.Policy{Backend: b, FixedCaptures: true}
}

// dense returns an Engine of a backend for functions of type F. bound returns nil for functions of one output without
// data; scalar returns these.
func dense[F nabla.ScalarFunc](b nabla.Backend, scalar func(*problems.Problem) F,
	bound func(*problems.Problem) *nabla.Func) Engine {
	name := b.Name()
	b = fixedCaptures(b)
	return Engine{Name: name, Prepare: func(p *problems.Problem) (Derivative, error) {
		switch f := bound(p); {
		case p.Hessian:
			return hessian(scalar(p), b, p)
		case p.M > 1:
			return jacobian(f, b, p)
		case f != nil:
			return gradient(f, b, p)
		}
		return gradient(scalar(p), b, p)
	}, Once: func(p *problems.Problem) Derivative {
		switch f := bound(p); {
		case p.Hessian:
			return hessianOnce(scalar(p), b)
		case p.M > 1:
			return jacobianOnce(f, b)
		case f != nil:
			return gradientOnce(f, b)
		}
		return gradientOnce(scalar(p), b)
	}}
}

// sparseOf is dense for sparse matrices.
func sparseOf[F nabla.ScalarFunc](
	auto nabla.AutoSparse, scalar func(*problems.Problem) F, bound func(*problems.Problem) *nabla.Func,
) Engine {
	b := fixedCaptures(auto)
	return Engine{Name: auto.Name(), Sparse: func(p *problems.Problem) (Derivative, *nabla.SparsePlan, error) {
		if p.Hessian {
			return sparseHessian(scalar(p), b, p)
		}
		return sparseJacobian(bound(p), b, p)
	}, Once: func(p *problems.Problem) Derivative {
		if p.Hessian {
			return sparseHessianOnce(scalar(p), b)
		}
		return sparseJacobianOnce(bound(p), b)
	}}
}

// gradient prepares value and gradient of a problem. The functions after it do the same for other derivatives; those
// with Once in their names do not prepare.
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

// jacobianOnce returns the value and Jacobian of f without preparation.
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
	wrap := reuseMatrix(func(d []float64) (*mat.Dense, error) { return mat.NewDense(p.M, p.N, d), nil })
	return func(y, d, x []float64) error {
		dst, err := wrap(d)
		if err != nil {
			return err
		}
		_, _, err = prep.ValueAndJacobian(y, dst, x)
		return err
	}, nil
}

func sparseJacobian(f *nabla.Func, b nabla.Backend, p *problems.Problem) (Derivative, *nabla.SparsePlan, error) {
	prep, err := nabla.PrepareJacobian(f, b, p.Cases[0].X)
	if err != nil {
		return nil, nil, err
	}
	plan := prep.Plan()
	wrap := reuseMatrix(func(d []float64) (*sparse.CSC, error) { return sparse.NewCSC(plan.Pattern, d), nil })
	return func(y, d, x []float64) error {
		dst, err := wrap(d)
		if err != nil {
			return err
		}
		_, _, err = prep.ValueAndJacobian(y, dst, x)
		return err
	}, plan, nil
}

func sparseJacobianOnce(f *nabla.Func, b nabla.Backend) Derivative {
	return func(y, d, x []float64) error {
		v, jac, err := nabla.ValueAndJacobian(f, b, x)
		if err != nil {
			return err
		}
		copy(y, v)
		return copyEntries(d, jac)
	}
}

func hessian[F nabla.ScalarFunc](f F, b nabla.Backend, p *problems.Problem) (Derivative, error) {
	prep, err := nabla.PrepareHessian(f, b, p.Cases[0].X)
	if err != nil {
		return nil, err
	}
	// Engines fill both triangles of the square; gonum reads one of them.
	wrap := reuseMatrix(func(d []float64) (*mat.SymDense, error) { return mat.NewSymDense(p.N, d), nil })
	return func(_, d, x []float64) error {
		dst, err := wrap(d)
		if err != nil {
			return err
		}
		_, err = prep.Dense(dst, x)
		return err
	}, nil
}

func hessianOnce[F nabla.ScalarFunc](f F, b nabla.Backend) Derivative {
	return func(_, d, x []float64) error {
		h, err := nabla.Hessian(f, b, x)
		if err != nil {
			return err
		}
		s, ok := h.(mat.RawSymmetricer)
		if !ok {
			return fmt.Errorf("the derivative is a %T, which is not dense", h)
		}
		copy(d, s.RawSymmetric().Data)
		return nil
	}
}

func sparseHessian[F nabla.ScalarFunc](f F, b nabla.Backend,
	p *problems.Problem) (Derivative, *nabla.SparsePlan, error) {
	prep, err := nabla.PrepareHessian(f, b, p.Cases[0].X)
	if err != nil {
		return nil, nil, err
	}
	plan := prep.Plan()
	wrap := reuseMatrix(
		func(d []float64) (*sparse.SymCSC, error) { return sparse.NewSymCSC(plan.Pattern, blas.All, d) },
	)
	return func(_, d, x []float64) error {
		dst, err := wrap(d)
		if err != nil {
			return err
		}
		_, err = prep.Sparse(dst, x)
		return err
	}, plan, nil
}

func sparseHessianOnce[F nabla.ScalarFunc](f F, b nabla.Backend) Derivative {
	return func(_, d, x []float64) error {
		h, err := nabla.Hessian(f, b, x)
		if err != nil {
			return err
		}
		return copyEntries(d, h)
	}
}

// reuseMatrix returns wrap with a cache of one matrix: callers pass the same slice repeatedly, which is then wrapped
// once.
func reuseMatrix[M any](wrap func(d []float64) (M, error)) func(d []float64) (M, error) {
	var last []float64
	var m M
	return func(d []float64) (_ M, err error) {
		if last == nil || len(d) != len(last) || len(d) > 0 && &d[0] != &last[0] {
			if m, err = wrap(d); err == nil {
				last = d
			}
		}
		return m, err
	}
}

// copyEntries copies the entries of a sparse matrix. All preparations detect the same pattern.
func copyEntries(d []float64, m mat.Matrix) error {
	s, ok := m.(interface{ Data() []float64 })
	if !ok {
		return fmt.Errorf("the derivative is a %T, which is not sparse", m)
	}
	if len(s.Data()) != len(d) {
		return fmt.Errorf("the derivative has %d entries, and had %d when it was prepared", len(s.Data()), len(d))
	}
	copy(d, s.Data())
	return nil
}
