package implicit

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"github.com/nabla-ad/nabla/sparse/iterative"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// A worker computes derivatives for one goroutine at a time. It keeps the derivative of the equations at the last
// point.
type worker struct {
	w     *Function
	jac   *nabla.JacobianPrep
	push1 *nabla.PushforwardPrep // in place of jac if no matrix is made
	pull1 *nabla.PullbackPrep

	z, zdot []float64
	value   []float64 // of the equations at z
	known   bool      // z, value, the matrix and its factors belong together
	step    []float64
	rhs     []float64
	trans   []float64

	j       mat.Matrix  // by the unknowns and the parameters
	factors *dense      // factors of the part of a dense j by the unknowns
	sparse  *sparse.CSC // the part of a sparse j
	slu     direct.LU
	ldl     direct.LDL
	gmres   iterative.GMRES
	cg      iterative.CG
}

func newWorker[F nabla.VectorFunc](w *Function, f F, b nabla.Backend, z []float64) (*worker, error) {
	u := &worker{w: w}
	var out []float64
	var err error
	if w.set.MatrixFree {
		if u.push1, err = nabla.PreparePushforward(f, b, z); err != nil {
			return nil, err
		}
		if u.pull1, err = nabla.PreparePullback(f, b, z); err != nil {
			return nil, err
		}
		out, err = u.push1.Value(nil, z)
	} else {
		if u.jac, err = nabla.PrepareJacobian(f, b, z); err != nil {
			return nil, err
		}
		out, err = u.jac.Value(nil, z)
	}
	if err != nil {
		return nil, err
	}
	if len(out) != w.n {
		return nil, &LengthError{w.set.Name, "the vector of equations", len(out), w.n}
	}
	u.allocate()
	return u, nil
}

// dense reports whether the derivative of the equations is a dense matrix.
func (u *worker) dense() bool { return u.jac != nil && u.jac.Plan() == nil }

func (u *worker) allocate() {
	n, m := u.w.n, u.w.m
	u.z, u.zdot, u.trans = make([]float64, n+m), make([]float64, n+m), make([]float64, n+m)
	u.value, u.step, u.rhs = make([]float64, n), make([]float64, n), make([]float64, n)
	krylov := iterative.Settings{Tolerance: 1e-12, MaxIterations: 20*n + 100}
	u.gmres = iterative.GMRES{Settings: krylov, Restart: min(n, 100)}
	u.cg = iterative.CG{Settings: krylov}
}

func (u *worker) clone() *worker {
	c := &worker{w: u.w}
	if u.jac != nil {
		c.jac = u.jac.Clone()
	} else {
		c.push1, c.pull1 = u.push1.Clone(), u.pull1.Clone()
	}
	c.allocate()
	return c
}

// at computes and factorises the derivative of the equations at (x, p), and checks that x is a solution.
func (u *worker) at(x, p []float64) error {
	if u.has(x, p) {
		return nil
	}
	if err := u.derive(x, p); err != nil {
		return err
	}
	if err := u.solve(u.step, u.value, false); err != nil {
		return err
	}
	size, largest := 1.0, 0.0
	for i, v := range x {
		size, largest = max(size, math.Abs(v)), max(largest, math.Abs(u.value[i]))
	}
	for i, v := range u.step {
		if c := math.Abs(v) / size; !(c <= u.w.set.Tolerance) {
			return &UnconvergedError{u.w.set.Name, i, c, u.w.set.Tolerance, largest}
		}
	}
	u.known = true
	return nil
}

// has reports whether u has the derivative of the equations at (x, p).
func (u *worker) has(x, p []float64) bool {
	return u.known && slices.Equal(u.z[:u.w.n], x) && slices.Equal(u.z[u.w.n:], p)
}

// linear writes the solution of linear equations for p to x.
func (u *worker) linear(x, p []float64) error {
	clear(x)
	if err := u.derive(x, p); err != nil {
		return err
	}
	if err := u.solve(x, u.value, false); err != nil {
		return err
	}
	for i := range x {
		x[i] = -x[i]
	}
	return nil
}

// derive computes and factorises the derivative of the equations at (x, p), with their values.
func (u *worker) derive(x, p []float64) (err error) {
	u.known = false
	copy(u.z, x)
	copy(u.z[u.w.n:], p)
	if u.jac == nil {
		_, err = u.push1.Value(u.value, u.z)
	} else {
		_, u.j, err = u.jac.ValueAndJacobian(u.value, u.j, u.z)
	}
	if err != nil {
		return err
	}
	for i, v := range u.value {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &NonFiniteError{u.w.set.Name, "equation", i, v}
		}
	}
	switch j := u.j.(type) {
	case nil:
		return nil
	case *sparse.CSC:
		return u.factorizeSparse(j)
	}
	return u.factorizeDense()
}

func (u *worker) factorizeDense() error {
	if u.factors == nil {
		u.factors = newDense(u.w.n, u.w.symmetric)
	}
	switch err := u.factors.factorize(u.j); {
	case err == nil:
		return nil
	case u.w.symmetric:
		return &NotMinimumError{u.w.set.Name}
	}
	return &SingularError{u.w.set.Name, nil}
}

func (u *worker) factorizeSparse(j *sparse.CSC) error {
	n := u.w.n
	end := j.ColPtr()[n]
	if u.sparse == nil {
		p, err := sparsity.New(n, n, j.ColPtr()[:n+1], j.RowIndex()[:end])
		if err != nil {
			return err
		}
		u.sparse = sparse.NewCSC(p, nil)
	}
	copy(u.sparse.Data(), j.Data()[:end])
	if u.w.symmetric {
		h, err := sparse.NewSymCSC(u.sparse.Pattern(), blas.All, u.sparse.Data())
		if err != nil {
			return err
		}
		err = u.ldl.FactorizeDefinite(h)
		if e := new(direct.IndefiniteError); errors.As(err, &e) {
			return &NotMinimumError{u.w.set.Name}
		}
		return u.singular(err)
	}
	return u.singular(u.slu.Refactorize(u.sparse))
}

// singular returns err as a *SingularError if it says that the matrix is singular.
func (u *worker) singular(err error) error {
	var a *direct.SingularError
	var b *iterative.BreakdownError
	var c *iterative.NotConvergedError
	var d *iterative.IndefiniteError
	switch {
	case errors.As(err, &a), errors.As(err, &b), errors.As(err, &c):
		return &SingularError{u.w.set.Name, err}
	case errors.As(err, &d):
		return &NotMinimumError{u.w.set.Name}
	}
	return err
}

// solve solves with the derivative of the equations by the unknowns at z, or with its transpose. dst is not b.
func (u *worker) solve(dst, b []float64, trans bool) error {
	n := u.w.n
	switch {
	case u.jac == nil:
		for _, v := range b { // as factorisations do
			if math.IsNaN(v) || math.IsInf(v, 0) {
				for i := range dst {
					dst[i] = math.NaN()
				}
				return nil
			}
		}
		product := iterative.Func(func(dst, x []float64) error {
			clear(u.zdot)
			copy(u.zdot, x)
			_, err := u.push1.Pushforward(dst, u.z, u.zdot)
			return err
		})
		if trans {
			product = func(dst, w []float64) error {
				_, err := u.pull1.Pullback(u.trans, u.z, w)
				copy(dst, u.trans[:n])
				return err
			}
		}
		clear(dst)
		var err error
		if u.w.symmetric {
			_, err = u.cg.Solve(context.Background(), dst, product, b)
		} else {
			_, err = u.gmres.Solve(context.Background(), dst, product, b)
		}
		return u.singular(err)
	case u.sparse != nil && u.w.symmetric:
		return u.ldl.Solve(dst, b)
	case u.sparse != nil && trans:
		return u.slu.SolveTrans(dst, b)
	case u.sparse != nil:
		return u.slu.Solve(dst, b)
	}
	return u.factors.solve(dst, b, trans)
}

// push writes the tangent of the solution at z along pdot to dst.
func (u *worker) push(dst, pdot []float64) error {
	n := u.w.n
	clear(u.zdot[:n])
	copy(u.zdot[n:], pdot)
	switch j := u.j.(type) {
	case nil:
		if _, err := u.push1.Pushforward(u.rhs, u.z, u.zdot); err != nil {
			return err
		}
	case *sparse.CSC:
		j.MulVec(u.rhs, u.zdot)
	default:
		mat.NewVecDense(n, u.rhs).MulVec(j, mat.NewVecDense(len(u.zdot), u.zdot))
	}
	if err := u.solve(dst, u.rhs, false); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = -dst[i]
	}
	return nil
}

// pull adds the gradient by the parameters of xbar·x at z to pbar.
func (u *worker) pull(pbar, xbar []float64) error {
	n := u.w.n
	if err := u.solve(u.step, xbar, true); err != nil {
		return err
	}
	switch j := u.j.(type) {
	case nil:
		if _, err := u.pull1.Pullback(u.trans, u.z, u.step); err != nil {
			return err
		}
	case *sparse.CSC:
		j.MulVecTrans(u.trans, u.step)
	default:
		mat.NewVecDense(len(u.trans), u.trans).MulVec(j.T(), mat.NewVecDense(n, u.step))
	}
	for i := range pbar {
		pbar[i] -= u.trans[n+i]
	}
	return nil
}
