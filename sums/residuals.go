package sums

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// Residuals returns the term ½·Σⱼ rⱼ², where r = f(x, b) has the residuals of all rows of block b. The sum over blocks
// has values, gradients Jᵀr, Gauss–Newton matrices JᵀJ, and products with these, JᵀJ·v, in the place of those with
// Hessians, from which they differ by Σⱼ rⱼ·∇²rⱼ·v.
//
// Blocks of one number of rows must have one number of residuals. For each number of rows a worker prepares f anew, of
// which it keeps the last few. A query for a gradient alone costs an evaluation and a pullback; with the Gauss–Newton
// matrix, the Jacobian of the block, from which everything is computed. See [Loss] for f and e.
func Residuals[F nabla.FuncOf[*B], B any](f F, e nabla.Backend, o Options[B]) *Term[B] {
	return ResidualsOf(func(b *B) *nabla.Func { return nabla.Bind(f, b) }, e, o)
}

// ResidualsOf is like [Residuals] for a function of another form, as [LossOf] is like [Loss]: one in place, such as
//
//	func(b *Batch) *nabla.Func { return nabla.BindInPlace(len(b.Y), residuals, b) }
func ResidualsOf[B any](bind func(b *B) *nabla.Func, e nabla.Backend, o Options[B]) *Term[B] {
	return &Term[B]{o, func(own *B) kernel {
		return &residualKernel{
			prepareJacobian: func(x []float64) (*nabla.JacobianPrep, error) {
				return nabla.PrepareJacobian(bind(own), e, x)
			},
			preparePullback: func(x []float64) (*nabla.PullbackPrep, error) {
				return nabla.PreparePullback(bind(own), e, x)
			},
			preparePushforward: func(x []float64) (*nabla.PushforwardPrep, error) {
				return nabla.PreparePushforward(bind(own), e, x)
			},
			known: map[int]*residualPreps{},
		}
	}}
}

// residualKernel is the kernel of a function with several outputs.
type residualKernel struct {
	prepareJacobian    func(x []float64) (*nabla.JacobianPrep, error)
	preparePullback    func(x []float64) (*nabla.PullbackPrep, error)
	preparePushforward func(x []float64) (*nabla.PushforwardPrep, error)
	n                  int                    // of what is prepared
	known              map[int]*residualPreps // by number of rows
	v                  []float64              // a direction
	triangle           *mat.SymDense
}

// residualPreps are the prepared operators for one number of rows; each is nil until it is needed.
type residualPreps struct {
	jacobian    *nabla.JacobianPrep
	pullback    *nabla.PullbackPrep
	pushforward *nabla.PushforwardPrep
	j           *mat.Dense
	r, u        []float64 // the residuals, and their derivatives along a direction
}

// maxKnown is the number of different numbers of rows for which a worker keeps its operators.
const maxKnown = 8

func (k *residualKernel) answers(shape) error { return nil }

// ready returns the operators for blocks of so many rows, prepared as far as q needs them.
func (k *residualKernel) ready(q *question, rows int) (p *residualPreps, err error) {
	if k.n != q.shape.n {
		clear(k.known)
		k.n = q.shape.n
		k.v = make([]float64, k.n)
		k.triangle = nil
	}
	p = k.known[rows]
	if p == nil {
		p = new(residualPreps)
	}
	s, x := q.shape, q.point(0)
	if s.gaussNewton && p.jacobian == nil {
		if p.jacobian, err = k.prepareJacobian(x); err != nil {
			return nil, err
		}
		m, n := p.jacobian.Dims()
		p.j = mat.NewDense(m, n, nil)
	}
	if p.pullback == nil && (!s.gaussNewton || s.points > 1) {
		if p.pullback, err = k.preparePullback(x); err != nil {
			return nil, err
		}
	}
	if p.pushforward == nil && !s.gaussNewton && s.directions > 0 {
		if p.pushforward, err = k.preparePushforward(x); err != nil {
			return nil, err
		}
	}
	if k.known[rows] == nil {
		if len(k.known) >= maxKnown {
			clear(k.known)
		}
		k.known[rows] = p
	}
	return p, nil
}

func (k *residualKernel) evaluate(v []float64, q *question, rows int) error {
	p, err := k.ready(q, rows)
	if err != nil {
		return err
	}
	first := 0
	if q.shape.gaussNewton {
		if err := k.dense(p, v, q); err != nil {
			return err
		}
		first = 1
	}
	s := q.shape
	values, gradients, _, _ := s.parts()
	for i := first; i < s.points; i++ {
		x := q.point(i)
		if p.r, err = p.pullback.Value(p.r, x); err != nil {
			return err
		}
		v[i] = halfSquare(p.r)
		if s.gradient {
			at := values + i*s.n
			if _, err := p.pullback.Pullback(v[at:at+s.n:at+s.n], x, p.r); err != nil {
				return err
			}
		}
	}
	if s.gaussNewton {
		return nil
	}
	for j := range s.directions {
		mat.Col(k.v, j, q.V)
		if p.u, err = p.pushforward.Pushforward(p.u, q.point(0), k.v); err != nil {
			return err
		}
		at := values + gradients + j*s.n
		if _, err := p.pullback.Pullback(v[at:at+s.n:at+s.n], q.point(0), p.u); err != nil {
			return err
		}
	}
	return nil
}

// dense computes the numbers at the first point from the Jacobian.
func (k *residualKernel) dense(p *residualPreps, v []float64, q *question) (err error) {
	if p.r, _, err = p.jacobian.ValueAndDense(p.r, p.j, q.point(0)); err != nil {
		return err
	}
	s := q.shape
	values, gradients, products, triangle := s.parts()
	v[0] = halfSquare(p.r)
	j := p.j.RawMatrix()
	r := blas64.Vector{N: len(p.r), Inc: 1, Data: p.r}
	if s.gradient {
		blas64.Gemv(blas.Trans, 1, j, r, 0, blas64.Vector{N: s.n, Inc: 1, Data: v[values : values+s.n]})
	}
	if s.directions > 0 && len(p.u) != len(p.r) {
		p.u = make([]float64, len(p.r))
	}
	u := blas64.Vector{N: len(p.r), Inc: 1, Data: p.u}
	for d := range s.directions {
		mat.Col(k.v, d, q.V)
		blas64.Gemv(blas.NoTrans, 1, j, blas64.Vector{N: s.n, Inc: 1, Data: k.v}, 0, u)
		at := values + gradients + d*s.n
		blas64.Gemv(blas.Trans, 1, j, u, 0, blas64.Vector{N: s.n, Inc: 1, Data: v[at : at+s.n]})
	}
	if k.triangle == nil {
		k.triangle = mat.NewSymDense(s.n, nil)
	}
	t := k.triangle.RawSymmetric()
	blas64.Syrk(blas.Trans, 1, j, 0, t)
	at := values + gradients + products
	out := v[at : at : at+triangle]
	for i := range s.n {
		out = append(out, t.Data[i*t.Stride+i:i*t.Stride+s.n]...)
	}
	return nil
}

// halfSquare returns half of the sum of the squares of r.
func halfSquare(r []float64) float64 {
	sum := 0.0
	for _, x := range r {
		sum += x * x
	}
	return sum / 2
}
