package nabla

import (
	"gonum.org/v1/gonum/blas"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// sparseHessian computes the values of a sparse Hessian in the order of its pattern, or
// of a triangle of it.
type sparseHessian struct {
	plan   *SparsePlan
	f      *engine.Function
	native engine.SparseHessian // nil where there are products
	p      *products
	dec    *coloring.Decompressor
	upper  triangle
	lower  triangle
	probe  *probe
	one    engine.HVP // for the probe
	data   []float64  // all values, where the destination has a part of them or is dense
}

// triangle is a part of the pattern. It is made when it is first needed.
type triangle struct {
	pattern *sparsity.Pattern
	at      []int // where its values stand among all
}

// newSparseHessian prepares the Hessian of f at x with respect to its first n inputs, by
// the plan if there is one. entries says that an engine may compute entries.
func newSparseHessian(plan *SparsePlan, f *engine.Function, b *resolved, x []float64, n int, entries bool, detect func() (*SparsePlan, error)) (*sparseHessian, error) {
	s := b.sparse
	if err := s.check("Hessian"); err != nil {
		return nil, err
	}
	if plan == nil {
		var err error
		if plan, err = detect(); err != nil {
			return nil, err
		}
	}
	h := &sparseHessian{plan: plan, f: f, data: make([]float64, plan.Pattern.NNZ())}
	if plan.Coloring == nil && entries && !b.second {
		if e, ok := b.inner.(engine.SparseHessianer); ok {
			var err error
			if h.native, err = e.PrepareSparseHessian(f, x, structure(plan.Pattern), false); err != nil {
				return nil, err
			}
			if h.native != nil {
				_, err := h.compute(nil, h.data, x)
				return h, err
			}
		}
	}
	if plan.Coloring == nil {
		colored := *plan
		if err := s.color(&colored, []coloring.Problem{{Structure: coloring.Symmetric, Decompression: s.Decompression}}); err != nil {
			return nil, err
		}
		h.plan = &colored
	}
	if err := h.products(b, x, n); err != nil {
		return nil, err
	}
	_, err := h.compute(nil, h.data, x)
	return h, err
}

func (h *sparseHessian) products(b *resolved, x []float64, n int) (err error) {
	c := h.plan.Coloring
	if h.dec, err = c.Decompressor(coloring.Full); err != nil {
		return err
	}
	in := len(x)
	lanes := engine.LanesOf(b.outer, max(1, c.Forward()))
	h.p = newProducts(c, in, in, lanes, 1, b.sparse.Workers)
	if c.Forward() == 0 { // the gradient comes from a product all the same
		h.p.colSeed, h.p.col = engine.NewBlock(in, 1), engine.NewBlock(in, 1)
		h.p.tasks = []part{{false, 0, 1}}
	}
	for i := range h.p.workers {
		w, f := new(product), h.f
		if i > 0 {
			f = f.Clone()
		}
		if w.hvp, err = engine.PrepareHVP(b.outer, b.inner, f, x, h.p.lanes(false)); err != nil {
			return err
		}
		h.p.workers[i] = w
	}
	h.one = h.p.workers[0].hvp
	acc := accuracy(b.outer, b.inner)
	switch { // differences of differences
	case acc > 0:
		acc = max(acc, 1e-4)
	case approximate(b.outer, b.inner):
		acc = 1e-7
	}
	h.probe = newProbe(in, in, acc, c, b.sparse.NoProbe)
	for i := n; i < in; i++ {
		h.probe.v[i] = 0
	}
	h.probe.got, h.probe.scale = h.probe.got[:n], h.probe.scale[:n]
	return nil
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

// part is the triangle that is stored, nil for both.
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

// into is compute for the values that are stored.
func (h *sparseHessian) into(grad, data, x []float64, uplo blas.Uplo) (float64, error) {
	t := h.part(uplo)
	if t == nil {
		return h.compute(grad, data, x)
	}
	y, err := h.compute(grad, h.data, x)
	if err != nil {
		return 0, err
	}
	for k, i := range t.at {
		data[k] = h.data[i]
	}
	return y, nil
}

// compute writes the values of the Hessian and, unless grad is nil, the gradient, and
// returns f(x), or nothing in particular where grad is nil.
func (h *sparseHessian) compute(grad, data, x []float64) (y float64, err error) {
	if h.native != nil {
		return h.native.ValueGradientAndEntries(grad, data, x)
	}
	if y, err = h.take(grad, x); err != nil {
		return 0, err
	}
	h.dec.Decompress(data, h.p.col.Data, h.p.col.Stride, nil, 0)
	if !h.probe.due() {
		return y, nil
	}
	return y, h.probe.compare("Hessian", h.plan.Pattern, data, x, false, func(v []float64) error {
		_, err := h.one.ValueGradientAndHVP(nil, engine.Column(h.probe.want), x, engine.Column(v))
		return err
	})
}

// take takes the products.
func (h *sparseHessian) take(grad, x []float64) (y float64, err error) {
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

// share is take in several goroutines.
func (h *sparseHessian) share(grad, x []float64) (y float64, err error) {
	p := h.p
	err = p.all(func(w *product, first bool, t part) error {
		v, err := p.hessian(w, first, t, grad, x)
		if first {
			y = v
		}
		return err
	})
	return y, err
}

func (p *products) hessian(w *product, first bool, t part, grad, x []float64) (float64, error) {
	if !first {
		grad = nil
	}
	return w.hvp.ValueGradientAndHVP(grad, p.col.Cols(t.from, t.k), x, p.colSeed.Cols(t.from, t.k))
}

// target is dst, or a new matrix, with the pattern that its values have.
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

// Plan says what [AutoSparse] chose; it is nil for other backends.
func (p *HessianPrep) Plan() *SparsePlan {
	if p.s == nil {
		return nil
	}
	return p.s.plan
}

// Sparse is Hessian with the static type of an [AutoSparse]; for another backend there is
// an error. A nil or empty dst is allocated and stores both triangles; otherwise it has
// the pattern of [HessianPrep.Plan] or, if it stores a triangle, that triangle of it.
func (p *HessianPrep) Sparse(dst *sparse.SymCSC, x []float64) (*sparse.SymCSC, error) {
	_, _, h, err := p.sparse(nil, false, dst, x)
	return h, err
}

func (p *HessianPrep) sparse(grad []float64, wanted bool, dst *sparse.SymCSC, x []float64) (y float64, _ []float64, _ *sparse.SymCSC, err error) {
	if err := p.begin(x); err != nil {
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
