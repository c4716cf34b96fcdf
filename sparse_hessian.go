package nabla

import (
	"gonum.org/v1/gonum/blas"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// A sparseHessian computes the values of a sparse Hessian in the order of its pattern, or of a
// triangle of it.
type sparseHessian struct {
	plan   *SparsePlan
	f      *engine.Function
	native engine.SparseHessian // nil if products are taken
	p      *products
	upper  triangle
	lower  triangle
	probe  *probe
	one    engine.HVP // for the probe
	trust  trust
	data   []float64 // all values, for a destination that is dense or stores a triangle
}

// A triangle is a triangle of the pattern. It is built at its first use.
type triangle struct {
	pattern *sparsity.Pattern
	at      []int // the indices of its values among all values
}

// newSparseHessian prepares the Hessian of f at x with respect to its first inputs, those of the
// function of, by the plan unless it is nil. Patterns are those of the function of.
func newSparseHessian(op string, plan *SparsePlan, f, of *engine.Function, b *resolved,
	x []float64) (*sparseHessian, error) {
	s := b.sparse
	n, _ := of.Dims()
	if err := s.check("Hessian"); err != nil {
		return nil, err
	}
	if plan == nil {
		var err error
		if plan, err = s.detect(op, of, b, x[:n], true); err != nil {
			return nil, err
		}
	}
	h := &sparseHessian{plan: plan, f: f, trust: newTrust(s, f, of, true)}
	if plan.Coloring == nil && s.Coloring == nil && !b.second {
		if e, ok := b.inner.(engine.SparseHessianer); ok {
			var err error
			if h.native, err = e.PrepareSparseHessian(f, x, structure(plan.Pattern), false); err != nil {
				return nil, err
			}
			if h.native != nil {
				_, err := h.compute(nil, h.buffer(), x)
				return h, err
			}
		}
	}
	if plan.Coloring == nil {
		colored := *plan
		problem := coloring.Problem{Structure: coloring.Symmetric, Decompression: s.Decompression}
		if err := s.color(&colored, []coloring.Problem{problem}, f.Task(), nil); err != nil {
			return nil, err
		}
		h.plan = &colored
	}
	return h, h.trust.settled(h.plan.scope, func() error { return h.products(b, x, n) })
}

// products prepares the products and compares the Hessian at x with one in a random direction.
func (h *sparseHessian) products(b *resolved, x []float64, n int) error {
	c, every := h.plan.Coloring, h.trust.every
	dec, err := c.Decompressor(coloring.Full)
	if err != nil {
		return err
	}
	in := len(x)
	acc := accuracy(b.outer, b.inner)
	switch { // differences of differences
	case acc > 0:
		acc = max(acc, 1e-4)
	case approximate(b.outer, b.inner):
		acc = 1e-7
	}
	h.probe = newProbe(in, n, in, acc, c)
	h.probe.got, h.probe.scale = h.probe.got[:n], h.probe.scale[:n]
	how := shape{in: in, out: in, reverse: 1, workers: b.sparse.Workers}
	switch {
	case every:
		how.extraForward, how.probe = 1, h.probe
	case c.Forward() == 0: // the gradient comes from a product in any case
		how.extraForward = 1
	}
	how.forward = engine.LanesOf(b.outer, c.Forward()+how.extraForward)
	if h.p, err = newProducts(dec, how, h.f); err != nil {
		return err
	}
	for i := range h.p.workers {
		w, f := new(worker), h.f
		if i > 0 {
			f = f.Clone()
		}
		if w.hvp, err = engine.PrepareHVP(b.outer, b.inner, f, x, h.p.lanes(false)); err != nil {
			return err
		}
		h.p.workers[i] = w
	}
	h.one = h.p.workers[0].hvp
	data := h.buffer()
	if _, err := h.take(nil, data, x); err != nil || h.trust.off {
		return err
	}
	return h.compare(data, x)
}

// buffer returns memory for the values.
func (h *sparseHessian) buffer() []float64 {
	if h.data == nil {
		h.data = make([]float64, h.plan.Pattern.NNZ())
	}
	return h.data
}

// Recordings implements engine.Recorder.
func (h *sparseHessian) Recordings() int {
	n := recordings(h.native)
	if h.p != nil {
		for _, w := range h.p.workers {
			n += recordings(w.hvp)
		}
	}
	return n
}

// part returns the triangle that is stored, nil for both.
func (h *sparseHessian) part(uplo blas.Uplo) *triangle {
	t := &h.upper
	switch uplo {
	case blas.All:
		return nil
	case blas.Lower:
		t = &h.lower
	}
	if t.pattern == nil {
		p := h.plan.Pattern
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

// into is like compute, and writes only the values that are stored.
func (h *sparseHessian) into(grad, data, x []float64, uplo blas.Uplo) (float64, error) {
	t := h.part(uplo)
	if t == nil {
		return h.compute(grad, data, x)
	}
	y, err := h.compute(grad, h.buffer(), x)
	if err != nil {
		return 0, err
	}
	for k, i := range t.at {
		data[k] = h.data[i]
	}
	return y, nil
}

// compute writes the values of the Hessian and, unless grad is nil, the gradient. It returns f(x),
// which is meaningless if grad is nil.
func (h *sparseHessian) compute(grad, data, x []float64) (y float64, err error) {
	if h.native != nil {
		return h.native.ValueGradientAndEntries(grad, data, x)
	}
	h.trust.begin()
	if y, err = h.take(grad, data, x); err != nil || !h.trust.due() {
		return y, err
	}
	return y, h.trust.compared(h.plan.Pattern, x, h.compare(data, x))
}

// compared is like compute, and always compares the values.
func (h *sparseHessian) compared(grad, data, x []float64) (y float64, err error) {
	if y, err = h.take(grad, data, x); err != nil {
		return 0, err
	}
	return y, h.trust.compared(h.plan.Pattern, x, h.compare(data, x))
}

// compare compares the values, whose products have just been computed, with the derivative in a
// random direction.
func (h *sparseHessian) compare(data, x []float64) error {
	return h.probe.compare("Hessian", h.plan.Pattern, data, x, h.p.extra() != nil, func(v []float64) error {
		_, err := h.one.ValueGradientAndHVP(nil, engine.Column(h.probe.want), x, engine.Column(v))
		return err
	})
}

// take computes the products and decompresses them to data.
func (h *sparseHessian) take(grad, data, x []float64) (y float64, err error) {
	h.p.data = data
	if y, err = h.parts(grad, x); err != nil {
		return 0, err
	}
	h.p.end()
	return y, nil
}

func (h *sparseHessian) parts(grad, x []float64) (y float64, err error) {
	p := h.p
	if len(p.workers) == 1 { // no closure to allocate
		for i, t := range p.tasks {
			v, err := p.hessian(p.workers[0], i == 0, t, grad, x)
			if err != nil {
				return 0, err
			}
			if i == 0 {
				y = v
			}
		}
		return y, nil
	}
	return h.share(grad, x)
}

// share computes the parts in several goroutines.
func (h *sparseHessian) share(grad, x []float64) (y float64, err error) {
	p := h.p
	err = p.all(func(w *worker, first bool, t part) error {
		v, err := p.hessian(w, first, t, grad, x)
		if first {
			y = v
		}
		return err
	})
	return y, err
}

func (p *products) hessian(w *worker, first bool, t part, grad, x []float64) (float64, error) {
	if !first {
		grad = nil
	}
	if err := p.task.Check("products", t.from, p.cols.width); err != nil {
		return 0, err
	}
	seed, result := p.open(w, t)
	y, err := w.hvp.ValueGradientAndHVP(grad, result, x, seed)
	p.close(t, seed, result)
	return y, err
}

// target returns dst or, if it is nil or empty, a new matrix with the pattern of the plan.
func (h *sparseHessian) target(op string, dst *sparse.SymCSC) (*sparse.SymCSC, error) {
	switch {
	case dst == nil:
		dst = new(sparse.SymCSC)
		fallthrough
	case dst.IsEmpty():
		dst.ReuseAs(h.plan.Pattern, blas.All)
	default:
		want := h.plan.Pattern
		if t := h.part(dst.Uplo()); t != nil {
			want = t.pattern
		}
		if !dst.Pattern().Equal(want) {
			return nil, otherPattern(op)
		}
	}
	return dst, nil
}

// Plan returns the pattern and the groups that [AutoSparse] chose, nil for other backends.
func (p *HessianPrep) Plan() *SparsePlan {
	if p == nil || p.s == nil {
		return nil
	}
	return p.s.plan
}

// Sparse is like Hessian with the static type of an [AutoSparse]; another backend is an error. A
// nil or empty dst is allocated and stores both triangles; otherwise it must have the pattern of
// [HessianPrep.Plan] or, if it stores a triangle, that triangle of it.
func (p *HessianPrep) Sparse(dst *sparse.SymCSC, x []float64) (*sparse.SymCSC, error) {
	_, _, h, err := p.sparse(nil, false, dst, x)
	return h, err
}

func (p *HessianPrep) sparse(grad []float64, wanted bool, dst *sparse.SymCSC,
	x []float64) (y float64, _ []float64, _ *sparse.SymCSC, err error) {
	if err := p.base().begin(x); err != nil {
		return 0, nil, nil, err
	}
	defer p.end(&err)
	if p.s == nil {
		return 0, nil, nil, notSparse(p.op, p.backend.inner)
	}
	if wanted {
		if grad, err = p.vector("grad", grad, p.n, x); err != nil {
			return 0, nil, nil, err
		}
	}
	if dst, err = p.s.target(p.op, dst); err != nil {
		return 0, nil, nil, err
	}
	switch {
	case overlap(dst.Data(), x):
		return 0, nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "x"}
	case overlap(dst.Data(), grad):
		return 0, nil, nil, &AliasError{Op: p.op, Arg: "grad", With: "dst"}
	}
	if y, err = p.s.into(grad, dst.Data(), x, dst.Uplo()); err != nil {
		return 0, nil, nil, err
	}
	return y, grad, dst, nil
}
