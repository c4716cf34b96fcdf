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
	at           []int              // of a block of another matrix: the indices of its values there
}

// A matrixKind is a kind of matrix of derivatives of a function.
type matrixKind uint8

const (
	jacobianMatrix matrixKind = iota
	hessianMatrix
	kktMatrix // see PrepareKKT
)

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

// products describes a matrix to package compressed, without a plan. f is the differentiated function, and of the one
// whose derivative has the pattern.
func (s *AutoSparse) products(f, of *engine.Function, x []float64) compressed.Spec {
	return compressed.Spec{
		F: f, Of: of, X: x, Workers: max(s.Workers, f.Policy().Workers), Unchecked: s.NoProbe,
		StreamBytes: compressionForTest.streamBytes, TrustReplays: compressionForTest.trustReplays,
	}
}

// newSparseJacobian prepares the Jacobian of f at x by the plan or, if that is nil, by a new one. The result holds the
// plan.
func newSparseJacobian(plan *SparsePlan, f *engine.Function, b *resolved, x []float64) (*sparseMatrix, error) {
	s := b.sparse
	compute := func(plan *SparsePlan, some bool) (*sparseMatrix, error) {
		e, ok := b.inner.(engine.SparseJacobianer)
		if !ok || plan.Coloring != nil || s.Coloring != nil || b.mixed {
			return nil, nil
		}
		entries, err := e.PrepareSparseJacobian(f, x, structure(plan.Pattern), some)
		if entries == nil || err != nil {
			return nil, err
		}
		_, m := f.Dims()
		return s.entries(plan, jacobianEntries{entries}, make([]float64, m), x)
	}
	plan, matrix, err := s.computed("Jacobian", plan, f, b, x, jacobianMatrix, compute)
	if matrix != nil || err != nil {
		return matrix, err
	}
	forward, reverse := b.forward(), b.reverse()
	p := productsOf{
		problems: partitions(b, s.Decompression),
		spec:     s.products(f, f, x),
		weigh:    func() float64 { return compressed.ReverseCost(forward, reverse, f, x, time.Now) },
		prepare: func(spec compressed.Spec) (*compressed.Matrix, error) {
			if forward == nil { // products of columns, by an engine that does not push
				return compressed.Jacobian(spec, b.inner, reverse)
			}
			return compressed.Jacobian(spec, forward, reverse)
		},
	}
	return s.byProducts(plan, p)
}

// newSparseHessian prepares the Hessian of f at x with respect to its first inputs, those of the function of, by the
// plan or, if that is nil, by a new one. Patterns are those of the function of. The result holds the plan.
func newSparseHessian(op string, plan *SparsePlan, f, of *engine.Function, b *resolved,
	x []float64) (*sparseMatrix, error) {
	s := b.sparse
	return s.hessianBy(op, plan, b, s.products(f, of, x), hessianMatrix)
}

// hessianBy prepares the Hessian of spec.F at spec.X, a matrix of the given kind of spec.Of. See newSparseHessian.
func (s *AutoSparse) hessianBy(op string, plan *SparsePlan, b *resolved, spec compressed.Spec,
	kind matrixKind) (*sparseMatrix, error) {
	compute := func(plan *SparsePlan, some bool) (*sparseMatrix, error) {
		e, ok := b.inner.(engine.SparseHessianer)
		if !ok || plan.Coloring != nil || s.Coloring != nil || b.second {
			return nil, nil
		}
		entries, err := e.PrepareSparseHessian(spec.F, spec.X, structure(plan.Pattern), some)
		if entries == nil || err != nil {
			return nil, err
		}
		return s.entries(plan, hessianEntries{entries}, nil, spec.X)
	}
	n, _ := spec.Of.Dims()
	plan, matrix, err := s.computed(op, plan, spec.Of, b, spec.X[:n], kind, compute)
	if matrix != nil || err != nil {
		return matrix, err
	}
	p := productsOf{
		problems: []coloring.Problem{{Structure: coloring.Symmetric, Decompression: s.Decompression}},
		spec:     spec,
		prepare: func(spec compressed.Spec) (*compressed.Matrix, error) {
			return compressed.Hessian(spec, b.outer, b.inner)
		},
	}
	return s.byProducts(plan, p)
}

// A productsOf describes the products from which a matrix can be recovered.
type productsOf struct {
	problems []coloring.Problem // those whose products the engines compute
	spec     compressed.Spec
	weigh    func() float64 // the cost of a product of rows relative to one of columns; nil if there is one kind
	prepare  func(spec compressed.Spec) (*compressed.Matrix, error)
}

// byProducts prepares a matrix that is recovered from products: all entries of the plan's pattern or, if the plan is
// for some of them, those.
func (s *AutoSparse) byProducts(plan *SparsePlan, p productsOf) (*sparseMatrix, error) {
	all := plan
	if plan.whole != nil {
		all = plan.whole
	}
	if all.Coloring == nil {
		var err error
		if all, err = s.colored(all, p.problems, p.spec.F.Task(), p.weigh); err != nil {
			return nil, err
		}
	}
	p.spec.Coloring, p.spec.Scope = all.Coloring, all.scope
	products, err := p.prepare(p.spec)
	if err != nil {
		return nil, err
	}
	if plan.whole == nil {
		return fromProducts(all, products), nil
	}
	return s.someOf(plan, all, products, p)
}

// An entriesBy prepares a matrix of the plan's pattern whose entries an engine computes, or returns nil if it does not.
type entriesBy func(plan *SparsePlan, some bool) (*sparseMatrix, error)

// computed returns the plan, as planned does, and the matrix if the engine computes its entries: compute prepares that,
// of all entries that are not zero or only of some, and returns nil if the engine cannot. Wanted entries are then
// computed as they are, so that no pattern has to be found.
func (s *AutoSparse) computed(op string, plan *SparsePlan, f *engine.Function, b *resolved, x []float64,
	kind matrixKind, compute entriesBy) (*SparsePlan, *sparseMatrix, error) {
	checked := "Hessian"
	if kind == jacobianMatrix {
		checked = "Jacobian"
	}
	if err := s.check(checked); err != nil {
		return nil, nil, err
	}
	if wanted := s.wanted(x); wanted != nil && plan == nil {
		if err := fits(op, wanted, f, kind); err != nil {
			return nil, nil, err
		}
		some := &SparsePlan{Pattern: wanted, Detector: "AutoSparse.Entries"}
		if m, err := compute(some, true); m != nil || err != nil {
			return some, m, err
		}
	}
	plan, err := s.planned(op, plan, f, b, x, kind)
	if err != nil || plan.whole != nil { // entries of the plan's pattern alone would be too few on another branch
		return plan, nil, err
	}
	m, err := compute(plan, s.wanted(x) != nil)
	return plan, m, err
}

// planned returns the plan or, if that is nil, a new one without colouring.
func (s *AutoSparse) planned(op string, plan *SparsePlan, f *engine.Function, b *resolved, x []float64,
	kind matrixKind) (*SparsePlan, error) {
	if plan != nil {
		return plan, nil
	}
	plan, err := s.detect(op, f, b, x, kind)
	if err != nil {
		return nil, err
	}
	if wanted := s.wanted(x); wanted != nil {
		return plan.only(wanted)
	}
	if s.part == 0 {
		return plan, nil
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
		return nil, fmt.Errorf("nabla: AutoSparse.Coloring (nil finds colours): %w", err)
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
	m.spread(dst)
	return y, nil
}

// spread writes the values in the buffer to a dense matrix.
func (m *sparseMatrix) spread(dst engine.Block) {
	dst.Zero()
	ptr, idx := m.plan.Pattern.ColPtr(), m.plan.Pattern.RowIndex()
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			dst.Row(idx[k])[j] = m.data[k]
		}
	}
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
	gather(data, m.data, t.at)
	return y, nil
}

// stored writes the values in the buffer that dst stores to it.
func (m *sparseMatrix) stored(dst *sparse.SymCSC) {
	if t := m.part(dst.Uplo()); t != nil {
		gather(dst.Data(), m.data, t.at)
		return
	}
	copy(dst.Data(), m.data)
}

// gather writes the elements of src at the indices to dst.
func gather(dst, src []float64, at []int) {
	for k, i := range at {
		dst[k] = src[i]
	}
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
