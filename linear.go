package nabla

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
)

// LinearOp is the derivative of a function at one point: the m×n matrix J(x), which can be applied
// and transposed without being formed. Engines may keep intermediate results at the point. It is
// for one goroutine at a time. It shares parts of the bound struct with the object that created it;
// see [Bind].
type LinearOp struct {
	prep
	l  engine.Linear
	y  []float64
	at []float64

	// For batches: sweeps of several columns, the value that they compute besides, and a column and its product.
	push                 engine.Pushforward
	pull                 engine.Pullback
	pushLanes, pullLanes int
	value, column        []float64
}

func (p *LinearOp) base() *prep {
	if p == nil || p.op == "" {
		return unmade("LinearOp", "Linearize")
	}
	return &p.prep
}

// Linearize returns the derivative of f at x as a linear operator.
func Linearize[F AnyFunc](f F, b Backend, x []float64) (*LinearOp, error) {
	p, err := PreparePushforward(f, b, x)
	if err != nil {
		return nil, err
	}
	return p.At(x)
}

// linearAt returns the derivative of the function of p at x. The result has a function of its own, beside that of p.
func (p *prep) linearAt(x []float64) (op *LinearOp, err error) {
	if err := p.begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	op = &LinearOp{y: make([]float64, p.m), at: append([]float64(nil), x...), value: make([]float64, p.m)}
	op.op, op.backend, op.f, op.n, op.m = "LinearOp", p.backend, p.f.Beside(), p.n, p.m
	if op.l, err = engine.PrepareLinear(p.backend.inner, op.f, op.at); err != nil {
		return nil, err
	}
	op.native = op.l
	if err := op.l.At(op.y, op.at); err != nil {
		return nil, err
	}
	return op, nil
}

// Dims returns the numbers of outputs and inputs of the function.
func (p *LinearOp) Dims() (m, n int) {
	b := p.base()
	return b.m, b.n
}

// Value writes f(x), which was computed with the operator, to dst, which is allocated if nil, and
// returns it.
func (p *LinearOp) Value(dst []float64) (_ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if dst, err = p.vector("dst", dst, p.m, nil); err != nil {
		return nil, err
	}
	copy(dst, p.y)
	return dst, nil
}

// Apply writes J(x)·v to dst, which is allocated if nil, and returns it. v has n elements and dst m,
// see [LinearOp.Dims]; they must not overlap.
func (p *LinearOp) Apply(dst, v []float64) (_ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if err = p.input("v", v, p.n); err != nil {
		return nil, err
	}
	if dst, err = p.vector("dst", dst, p.m, v); err != nil {
		return nil, err
	}
	if err := p.l.Apply(dst, v); err != nil {
		return nil, err
	}
	return dst, nil
}

// Transpose writes J(x)ᵀ·w to dst, which is allocated if nil, and returns it. w has m elements and
// dst n, see [LinearOp.Dims]; they must not overlap.
func (p *LinearOp) Transpose(dst, w []float64) (_ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if err = p.input("w", w, p.m); err != nil {
		return nil, err
	}
	if dst, err = p.vector("dst", dst, p.n, w); err != nil {
		return nil, err
	}
	if err := p.l.Transpose(dst, w); err != nil {
		return nil, err
	}
	return dst, nil
}

// MulVecTo stores J(x)·x, or J(x)ᵀ·x if trans is set, in dst, with the conventions of gonum's matrices, so that solvers
// that take an operator with this method, such as those of gonum.org/v1/exp/linsolve, take a LinearOp: an empty dst is
// sized, and dst may be x. It panics with mat.ErrShape if a length does not match, and with the error where
// [LinearOp.Apply] or [LinearOp.Transpose] returns one. It allocates nothing after the first call, unless dst is empty.
func (p *LinearOp) MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector) {
	b := p.base()
	if b.failed != nil {
		panic(b.failed)
	}
	if trans {
		mulVecTo(dst, x, b.n, b.m, &p.column, p.Transpose)
	} else {
		mulVecTo(dst, x, b.m, b.n, &p.column, p.Apply)
	}
}

// mulVecTo calls apply, a product with a matrix of r rows and c columns, with the elements of x as its argument and
// those of dst as its result. Both go through the buffer room if they have increments or overlap.
func mulVecTo(dst *mat.VecDense, x mat.Vector, r, c int, room *[]float64,
	apply func(dst, v []float64) ([]float64, error)) {
	switch {
	case x.Len() != c:
		panic(mat.ErrShape)
	case r == 0:
		panic(mat.ErrZeroLength) // gonum has no empty vectors
	case dst.IsEmpty():
		dst.ReuseAsVec(r)
	case dst.Len() != r:
		panic(mat.ErrShape)
	}
	if len(*room) < r+c {
		*room = make([]float64, r+c)
	}
	to, from := dst.RawVector(), (*room)[:c]
	if v := rawVector(x); v.Inc == 1 && !overlap(v.Data, to.Data) {
		from = v.Data[:c]
	} else {
		for i := range from {
			from[i] = x.AtVec(i)
		}
	}
	if to.Inc == 1 {
		if _, err := apply(to.Data[:r], from); err != nil {
			panic(err)
		}
		return
	}
	result, err := apply((*room)[c:c+r], from)
	if err != nil {
		panic(err)
	}
	for i, v := range result {
		to.Data[i*to.Inc] = v
	}
}

// rawVector returns the data of x, nothing if it is not a raw vector.
func rawVector(x mat.Vector) (v blas64.Vector) {
	if raw, ok := x.(mat.RawVectorer); ok {
		v = raw.RawVector()
	}
	return v
}

// ApplyBatch writes J(x)·V to dst, m×k, and returns it. V is n×k, with a column for each vector, see
// [LinearOp.Dims]. A nil or empty dst is allocated; dst must not overlap V. An engine with vector
// mode computes several columns in one sweep from x, others each from what they keep.
func (p *LinearOp) ApplyBatch(dst, V *mat.Dense) (*mat.Dense, error) {
	return p.batch(dst, "V", V, false)
}

// TransposeBatch writes J(x)ᵀ·W to dst, n×k, and returns it. W is m×k, with a column for each vector;
// see [LinearOp.ApplyBatch].
func (p *LinearOp) TransposeBatch(dst, W *mat.Dense) (*mat.Dense, error) {
	return p.batch(dst, "W", W, true)
}

// batch is ApplyBatch or, if reverse is set, TransposeBatch of the matrix v called arg.
func (p *LinearOp) batch(dst *mat.Dense, arg string, v *mat.Dense, reverse bool) (_ *mat.Dense, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	in, out := p.n, p.m
	if reverse {
		in, out = p.m, p.n
	}
	dst, to, from, err := p.columns(dst, out, arg, v, in, p.at)
	if err != nil || from.B == 0 || out == 0 {
		return dst, err
	}
	if lanes := engine.LanesOf(p.backend.inner, from.B); lanes > 1 {
		err = p.sweep(lanes, to, from, reverse)
	} else {
		err = p.each(to, from, reverse)
	}
	if err != nil {
		return nil, err
	}
	return dst, nil
}

// sweep computes a batch by sweeps of several columns from the point.
func (p *LinearOp) sweep(lanes int, to, from engine.Block, reverse bool) (err error) {
	if reverse {
		if p.pull == nil || lanes > p.pullLanes {
			if p.pull, err = engine.PreparePullback(p.backend.inner, p.f, p.at, lanes); err != nil {
				return err
			}
			p.pullLanes = lanes
		}
		return p.pull.Pullback(p.value, to, p.at, from)
	}
	if p.push == nil || lanes > p.pushLanes {
		if p.push, err = engine.PreparePushforward(p.backend.inner, p.f, p.at, lanes); err != nil {
			return err
		}
		p.pushLanes = lanes
	}
	return p.push.Pushforward(p.value, to, p.at, from)
}

// each computes a batch column by column.
func (p *LinearOp) each(to, from engine.Block, reverse bool) error {
	if len(p.column) < p.n+p.m {
		p.column = make([]float64, p.n+p.m)
	}
	v, r, apply := p.column[:p.n], p.column[p.n:], p.l.Apply
	if reverse {
		v, r, apply = r, v, p.l.Transpose
	}
	for j := range from.B {
		for i := range v {
			v[i] = from.Row(i)[j]
		}
		if err := apply(r, v); err != nil {
			return err
		}
		for i, a := range r {
			to.Row(i)[j] = a
		}
	}
	return nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *LinearOp) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *LinearOp) Explain() Explanation { return p.base().explain() }
