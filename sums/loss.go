package sums

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// Loss returns the term f(x, b), a number: the sum of the losses of all rows of block b. The sum over blocks has
// values, gradients, and products with Hessians.
//
//	func loss(x []float64, b *Batch) float64
//
//	t := sums.Loss(loss, source.Reverse{}, sums.Options[Batch]{Rows: func(b *Batch) int { return len(b.Y) }})
//
// Each worker binds f to a struct of its own, as [nabla.Bind] does, and writes the block to it, so that slices and
// pointers in a block are shared with whoever made it. e differentiates f; nil selects engines. An engine that replays
// recordings records again when the structure of a block changes, as for a Vec of another length, and for functions
// over float64 at every block. Errors in f, such as an f with several outputs, are those of Worker.Add.
func Loss[F nabla.FuncOf[*B], B any](f F, e nabla.Backend, o Options[B]) *Term[B] {
	return LossOf(func(b *B) *nabla.Func { return nabla.Bind(f, b) }, e, o)
}

// LossOf is like [Loss] for a function of another form: in place, a method, or one of a struct of parameters. bind
// returns the function bound to b, a block of which it may read the dimensions; it is called for each preparation.
//
//	sums.LossOf(func(b *Batch) *nabla.Func { return nabla.BindMethod((*Batch).Loss, b) }, source.Reverse{}, o)
//
// The command nabla gen finds functions that are bound in such a literal; others need a comment //nabla:differentiate.
func LossOf[B any](bind func(b *B) *nabla.Func, e nabla.Backend, o Options[B]) *Term[B] {
	return &Term[B]{o, func(own *B) kernel {
		return &lossKernel{
			prepareGradient: func(x []float64) (*nabla.GradientPrep, error) {
				return nabla.PrepareGradient(bind(own), e, x)
			},
			prepareHVP: func(x []float64) (*nabla.HVPPrep, error) { return nabla.PrepareHVP(bind(own), e, x) },
		}
	}}
}

// lossKernel is the kernel of a function with one output.
type lossKernel struct {
	prepareGradient func(x []float64) (*nabla.GradientPrep, error)
	prepareHVP      func(x []float64) (*nabla.HVPPrep, error)
	n               int // of what is prepared
	gradient        *nabla.GradientPrep
	hvp             *nabla.HVPPrep
	products        *mat.Dense // as columns
}

func (k *lossKernel) answers(s shape) error {
	if s.gaussNewton {
		return &QueryError{"a Gauss–Newton matrix of a loss; make the term by Residuals, or ask for products"}
	}
	return nil
}

// ready prepares the operators that q needs and that are not prepared for its number of parameters.
func (k *lossKernel) ready(q *question) (err error) {
	if k.n != q.shape.n {
		k.gradient, k.hvp, k.n = nil, nil, q.shape.n
	}
	if k.gradient == nil {
		if k.gradient, err = k.prepareGradient(q.point(0)); err != nil {
			return err
		}
	}
	if k.hvp == nil && q.shape.directions > 0 {
		if k.hvp, err = k.prepareHVP(q.point(0)); err != nil {
			return err
		}
	}
	return nil
}

func (k *lossKernel) evaluate(v []float64, q *question, _ int) (err error) {
	if err := k.ready(q); err != nil {
		return err
	}
	s := q.shape
	values, gradients, products, _ := s.parts()
	for i := range s.points {
		if !s.gradient {
			v[i], err = k.gradient.Value(q.point(i))
		} else {
			at := values + i*s.n
			v[i], _, err = k.gradient.ValueAndGradient(v[at:at+s.n:at+s.n], q.point(i))
		}
		if err != nil {
			return err
		}
	}
	if s.directions == 0 {
		return nil
	}
	if k.products == nil || k.products.RawMatrix().Cols != s.directions || k.products.RawMatrix().Rows != s.n {
		k.products = mat.NewDense(s.n, s.directions, nil)
	}
	if _, err := k.hvp.HVPBatch(k.products, q.point(0), q.V); err != nil {
		return err
	}
	at := values + gradients
	transpose(v[at:at+products], k.products)
	return nil
}

// transpose writes the columns of m to v, one after the other.
func transpose(v []float64, m *mat.Dense) {
	raw := m.RawMatrix()
	for i := range raw.Rows {
		for j, x := range raw.Data[i*raw.Stride : i*raw.Stride+raw.Cols] {
			v[j*raw.Rows+i] = x
		}
	}
}
