package nabla

import (
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/blas"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/compressed"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// A sparseMatrix computes the values of a sparse Jacobian or Hessian in the order of its pattern: one by one, by an
// engine that can, or from products.
type sparseMatrix struct {
	plan         *SparsePlan
	values       valuer
	products     *compressed.Matrix // values, if that is from products, and nil otherwise
	data         []float64          // all values, for a destination that is dense or stores a triangle
	upper, lower triangle           // of a Hessian
}

// A valuer computes the values of a sparse matrix.
type valuer interface {
	// Values writes the values at x to data. It also writes the value of the function to out for a Jacobian, or the
	// gradient for a Hessian, unless it is nil, and then returns the value of the function.
	Values(out, data, x []float64) (y float64, err error)
	Recordings() int
}

// jacobianEntries are the values of a Jacobian that an engine computes one by one.
type jacobianEntries struct{ engine.SparseJacobian }

func (e jacobianEntries) Values(y, data, x []float64) (float64, error) {
	return 0, e.ValueAndEntries(y, data, x)
}

func (e jacobianEntries) Recordings() int { return recordings(e.SparseJacobian) }

// hessianEntries are the values of a Hessian that an engine computes one by one.
type hessianEntries struct{ engine.SparseHessian }

func (e hessianEntries) Values(grad, data, x []float64) (float64, error) {
	return e.ValueGradientAndEntries(grad, data, x)
}

func (e hessianEntries) Recordings() int { return recordings(e.SparseHessian) }

// compressionForTest changes settings of all sparse derivatives. Only tests set it.
var compressionForTest struct {
	streamBytes  int64
	trustReplays bool
}

// products describes the matrix of the plan to package compressed. f is the differentiated function, and of the one
// whose derivative has the pattern.
func (s *AutoSparse) products(plan *SparsePlan, f, of *engine.Function, x []float64) compressed.Spec {
	return compressed.Spec{
		Coloring: plan.Coloring, Scope: plan.scope, F: f, Of: of, X: x, Workers: s.Workers, Unchecked: s.NoProbe,
		StreamBytes: compressionForTest.streamBytes, TrustReplays: compressionForTest.trustReplays,
	}
}

// newSparseJacobian prepares the Jacobian of f at x by the plan or, if that is nil, by a new one. The result holds the
// plan.
func newSparseJacobian(plan *SparsePlan, f *engine.Function, b *resolved, x []float64) (*sparseMatrix, error) {
	s := b.sparse
	plan, err := s.planned("Jacobian", plan, f, b, x, false)
	if err != nil {
		return nil, err
	}
	if e, ok := b.inner.(engine.SparseJacobianer); ok && plan.Coloring == nil && s.Coloring == nil && !b.mixed {
		entries, err := e.PrepareSparseJacobian(f, x, structure(plan.Pattern))
		if err != nil {
			return nil, err
		}
		if entries != nil {
			_, m := f.Dims()
			return s.entries(plan, jacobianEntries{entries}, make([]float64, m), x)
		}
	}
	forward, reverse := b.forward(), b.reverse()
	if plan.Coloring == nil {
		weigh := func() float64 { return compressed.ReverseCost(forward, reverse, f, x, time.Now) }
		if plan, err = s.colored(plan, partitions(b, s.Decompression), f.Task(), weigh); err != nil {
			return nil, err
		}
	}
	if forward == nil {
		forward = b.inner // products of columns, by an engine that does not push
	}
	products, err := compressed.Jacobian(s.products(plan, f, f, x), forward, reverse)
	if err != nil {
		return nil, err
	}
	return fromProducts(plan, products), nil
}

// newSparseHessian prepares the Hessian of f at x with respect to its first inputs, those of the function of, by the
// plan or, if that is nil, by a new one. Patterns are those of the function of. The result holds the plan.
func newSparseHessian(op string, plan *SparsePlan, f, of *engine.Function, b *resolved,
	x []float64) (*sparseMatrix, error) {
	s := b.sparse
	n, _ := of.Dims()
	plan, err := s.planned(op, plan, of, b, x[:n], true)
	if err != nil {
		return nil, err
	}
	if e, ok := b.inner.(engine.SparseHessianer); ok && plan.Coloring == nil && s.Coloring == nil && !b.second {
		entries, err := e.PrepareSparseHessian(f, x, structure(plan.Pattern), false)
		if err != nil {
			return nil, err
		}
		if entries != nil {
			return s.entries(plan, hessianEntries{entries}, nil, x)
		}
	}
	if plan.Coloring == nil {
		problem := coloring.Problem{Structure: coloring.Symmetric, Decompression: s.Decompression}
		if plan, err = s.colored(plan, []coloring.Problem{problem}, f.Task(), nil); err != nil {
			return nil, err
		}
	}
	products, err := compressed.Hessian(s.products(plan, f, of, x), b.outer, b.inner)
	if err != nil {
		return nil, err
	}
	return fromProducts(plan, products), nil
}

// planned checks the settings and returns the plan or, if that is nil, a new one without colouring.
func (s *AutoSparse) planned(op string, plan *SparsePlan, f *engine.Function, b *resolved, x []float64,
	hessian bool) (*SparsePlan, error) {
	kind := "Jacobian"
	if hessian {
		kind = "Hessian"
	}
	if err := s.check(kind); err != nil || plan != nil {
		return plan, err
	}
	plan, err := s.detect(op, f, b, x, hessian)
	if err != nil || s.part == 0 {
		return plan, err
	}
	if rows, cols := plan.Pattern.Dims(); plan.Pattern.NNZ() > rows*cols/s.part {
		return nil, &denseError{plan.Pattern.NNZ(), rows, cols}
	}
	return plan, nil
}

// entries returns a matrix whose values an engine computes one by one, after a call at the point of preparation.
func (s *AutoSparse) entries(plan *SparsePlan, v valuer, out, x []float64) (*sparseMatrix, error) {
	m := &sparseMatrix{plan: plan, values: v}
	if _, err := v.Values(out, m.buffer(), x); err != nil {
		return nil, err
	}
	return m, nil
}

// fromProducts returns a matrix whose values come from products.
func fromProducts(plan *SparsePlan, products *compressed.Matrix) *sparseMatrix {
	return &sparseMatrix{plan: plan, values: products, products: products}
}

// colored returns a copy of the plan with the cheapest colouring for one of the problems, those whose products the
// engine can compute. weigh returns the cost of a product of rows relative to one of columns.
func (s *AutoSparse) colored(plan *SparsePlan, problems []coloring.Problem, task *engine.Task,
	weigh func() float64) (*SparsePlan, error) {
	start := time.Now()
	all, err := compressed.Colorings(plan.Pattern, problems, s.Coloring, s.ReverseCost, task)
	var canceled *CanceledError
	switch {
	case errors.As(err, &canceled):
		return nil, err
	case err != nil && s.Coloring != nil:
		return nil, fmt.Errorf("nabla: AutoSparse.Coloring: %w; nil finds colours", err)
	case err != nil:
		return nil, fmt.Errorf("nabla: %w", err)
	}
	colored := *plan
	colored.ColoringTime = time.Since(start)
	colored.Coloring = compressed.Cheapest(all, s.ReverseCost, weigh)
	return &colored, nil
}

// buffer returns memory for all values.
func (m *sparseMatrix) buffer() []float64 {
	if m.data == nil {
		m.data = make([]float64, m.plan.Pattern.NNZ())
	}
	return m.data
}

// Recordings implements engine.Recorder.
func (m *sparseMatrix) Recordings() int { return m.values.Recordings() }

// dense is like Values, and writes the matrix to a dense one.
func (m *sparseMatrix) dense(out []float64, dst engine.Block, x []float64) (float64, error) {
	data := m.buffer()
	y, err := m.values.Values(out, data, x)
	if err != nil {
		return 0, err
	}
	dst.Zero()
	ptr, idx := m.plan.Pattern.ColPtr(), m.plan.Pattern.RowIndex()
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			dst.Row(idx[k])[j] = data[k]
		}
	}
	return y, nil
}

// A triangle is a triangle of the pattern. It is built at its first use.
type triangle struct {
	pattern *sparsity.Pattern
	at      []int // the indices of its values among all values
}

// part returns the triangle that is stored, nil for both.
func (m *sparseMatrix) part(uplo blas.Uplo) *triangle {
	t := &m.upper
	switch uplo {
	case blas.All:
		return nil
	case blas.Lower:
		t = &m.lower
	}
	if t.pattern == nil {
		p := m.plan.Pattern
		t.pattern = p.Triangle(uplo)
		ptr, idx := p.ColPtr(), p.RowIndex()
		for j := range len(ptr) - 1 {
			for k := ptr[j]; k < ptr[j+1]; k++ {
				if i := idx[k]; i == j || (i < j) == (uplo == blas.Upper) {
					t.at = append(t.at, k)
				}
			}
		}
	}
	return t
}

// symmetric is like Values of a Hessian, and writes only the values that are stored.
func (m *sparseMatrix) symmetric(grad, data, x []float64, uplo blas.Uplo) (float64, error) {
	t := m.part(uplo)
	if t == nil {
		return m.values.Values(grad, data, x)
	}
	y, err := m.values.Values(grad, m.buffer(), x)
	if err != nil {
		return 0, err
	}
	for k, i := range t.at {
		data[k] = m.data[i]
	}
	return y, nil
}

// hessianTarget returns dst or, if it is nil or empty, a new matrix with the pattern of the plan.
func (m *sparseMatrix) hessianTarget(op string, dst *sparse.SymCSC) (*sparse.SymCSC, error) {
	switch {
	case dst == nil:
		dst = new(sparse.SymCSC)
		fallthrough
	case dst.IsEmpty():
		dst.ReuseAs(m.plan.Pattern, blas.All)
	default:
		want := m.plan.Pattern
		if t := m.part(dst.Uplo()); t != nil {
			want = t.pattern
		}
		if !dst.Pattern().Equal(want) {
			return nil, otherPattern(op)
		}
	}
	return dst, nil
}

// jacobianTarget returns dst or, if it is nil or empty, a new matrix with the pattern of the plan.
func (m *sparseMatrix) jacobianTarget(op string, dst *sparse.CSC) (*sparse.CSC, error) {
	switch {
	case dst == nil:
		dst = sparse.NewCSC(m.plan.Pattern, nil)
	case dst.IsEmpty():
		dst.ReuseAs(m.plan.Pattern)
	case !dst.Pattern().Equal(m.plan.Pattern):
		return nil, otherPattern(op)
	}
	return dst, nil
}
