package nabla

import "github.com/nabla-ad/nabla/engine"

// HVPFunc returns the function (x, v) ↦ ∇²f(x)·v over Reals, for a function with one output: the pushforward, by the
// outer engine of b, of the gradient by the inner one. v must have the length of x. Captured numbers, preparation and
// errors are as for [GradientFunc].
func HVPFunc[F ScalarFunc](f F, b Backend) func(x, v []Real) []Real {
	return func(x, v []Real) (y []Real) {
		y = make([]Real, len(x))
		defer kept(x, &y)
		if len(v) != len(x) {
			abort(&ShapeError{Op: "HVPFunc", Arg: "len(v)", Got: len(v), Want: len(x)})
		}
		fn, r := inner("HVPFunc", f, wantScalar, b, x)
		if !fn.Traceable() {
			copy(y, constantHVP(fn, r, x, v))
			return y
		}
		copy(y, within(hessianTimes(fn, r), append(append([]Real(nil), x...), v...)))
		return y
	}
}

// JacobianFunc returns the function x ↦ J(x) over Reals: a slice of rows, one for each output. It runs f once for each
// input or each output, whichever are fewer; engines that approximate, once or twice for each input. An [AutoSparse]
// does what its Dense does. Captured numbers, preparation and errors are as for [GradientFunc].
func JacobianFunc[F VectorFunc](f F, b Backend) func(x []Real) [][]Real {
	return func(x []Real) (rows [][]Real) {
		fn, r, flat := (*engine.Function)(nil), resolved{}, []Real(nil)
		defer func() { rows = matrix(flat, len(x)) }()
		defer kept(x, &flat)
		fn, r = inner("JacobianFunc", f, wantVector, b, x)
		n, m := fn.Dims()
		flat = make([]Real, n*m)
		_, approximates := r.inner.(engine.Approximator)
		switch {
		case !fn.Traceable():
			constantJacobian(flat, fn, r, x)
		case m < n && !approximates:
			for i := range m {
				g, err := engine.DerivedGradient(r.inner, engine.Output(fn, i))
				abort(err)
				copy(flat[i*n:(i+1)*n], within(g, x))
			}
		default:
			g, err := engine.DerivedPushforward(forward(r, n, m), fn)
			abort(err)
			for j := range n {
				for i, d := range within(g, withUnit(x, j))[:m] {
					flat[i*n+j] = d
				}
			}
		}
		return nil
	}
}

// HessianFunc returns the function x ↦ ∇²f(x) over Reals, for a function with one output: a slice of rows, which is
// symmetric. It runs the gradient of f once for each input. An [AutoSparse] does what its Dense does. Captured numbers,
// preparation and errors are as for [GradientFunc].
func HessianFunc[F ScalarFunc](f F, b Backend) func(x []Real) [][]Real {
	return func(x []Real) (rows [][]Real) {
		n := len(x)
		flat := make([]Real, n*n)
		defer func() { rows = matrix(flat, n) }()
		defer kept(x, &flat)
		fn, r := inner("HessianFunc", f, wantScalar, b, x)
		if !fn.Traceable() {
			constantHessian(flat, fn, r, x)
			return nil
		}
		g := hessianTimes(fn, r)
		for j := range n {
			for i, d := range within(g, withUnit(x, j))[:j+1] {
				flat[i*n+j], flat[j*n+i] = d, d
			}
		}
		return nil
	}
}

// hessianTimes returns a function whose first outputs are ∇²f(x)·v at (x, v).
func hessianTimes(f *engine.Function, r resolved) *engine.Function {
	g, err := engine.DerivedGradient(r.inner, f)
	abort(err)
	h, err := engine.DerivedPushforward(r.outer, g)
	abort(err)
	return h
}

// forward returns the engine of r for products with the columns of an m×n Jacobian.
func forward(r resolved, n, m int) Backend {
	if r.mixed && n <= m {
		return r.outer
	}
	return r.inner
}

// withUnit returns x and the direction of input j.
func withUnit(x []Real, j int) []Real {
	xv := append(make([]Real, 0, 2*len(x)), x...)
	xv = xv[:2*len(x)]
	xv[len(x)+j] = Const(1)
	return xv
}

// matrix returns the rows of a matrix of n columns.
func matrix(flat []Real, n int) [][]Real {
	if n == 0 {
		return nil
	}
	rows := make([][]Real, len(flat)/n)
	for i := range rows {
		rows[i] = flat[i*n : (i+1)*n : (i+1)*n]
	}
	return rows
}

// A function that cannot run over Reals has derivatives at constants, which its engine computes. They have none in
// turn: with other arguments the calls below end with an error.

// plainly returns the values of x. It ends the traced function if one of them is not constant.
func plainly(f *engine.Function, x []Real) []float64 {
	v := make([]float64, len(x))
	for i, r := range x {
		if r.id != 0 {
			abort(f.Untraceable())
		}
		v[i] = r.v
	}
	return v
}

func constantHVP(f *engine.Function, r resolved, x, v []Real) []Real {
	at, dir, hv := plainly(f, x), plainly(f, v), make([]float64, len(x))
	h, err := engine.PrepareHVP(r.outer, r.inner, f, at, 1)
	abort(err)
	_, err = h.ValueGradientAndHVP(make([]float64, len(x)), engine.Column(hv), at, engine.Column(dir))
	abort(err)
	return constants(hv)
}

func constantJacobian(flat []Real, f *engine.Function, r resolved, x []Real) {
	at := plainly(f, x)
	n, m := f.Dims()
	j, err := engine.PrepareJacobian(forward(r, n, m), f, at)
	abort(err)
	block := engine.NewBlock(m, n)
	abort(j.ValueAndJacobian(make([]float64, m), block, at))
	copy(flat, rowsOf(block))
}

func constantHessian(flat []Real, f *engine.Function, r resolved, x []Real) {
	at := plainly(f, x)
	h, err := engine.PrepareHessian(r.outer, r.inner, f, at)
	abort(err)
	block := engine.NewBlock(len(x), len(x))
	_, err = h.ValueGradientAndHessian(make([]float64, len(x)), block, at)
	abort(err)
	copy(flat, rowsOf(block))
}

// rowsOf returns the elements of a block row by row.
func rowsOf(b engine.Block) (flat []Real) {
	for i := range b.N {
		flat = append(flat, constants(b.Row(i))...)
	}
	return flat
}
