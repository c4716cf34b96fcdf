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
	native engine.SparseHessian // of the upper triangle; nil where there are products
	p      *products
	dec    [3]*coloring.Decompressor // by coloring.Target, made when they are first needed
	upper  *sparsity.Pattern
	lower  *sparsity.Pattern
	half   []float64 // native: the values of the upper triangle
	mirror []int     // native: where the values of the whole stand in half
	low    []int     // native: where those of the lower triangle stand in half
	probe  *probe
	one    engine.HVP // for the probe
	data   []float64  // for a dense destination
}

// newSparseHessian prepares the Hessian of f at x with respect to its first n inputs, by
// the plan if there is one.
func newSparseHessian(plan *SparsePlan, f *engine.Function, b *resolved, x []float64, n int, detect func() (*SparsePlan, error)) (*sparseHessian, error) {
	s := b.sparse
	if s.Workers < 0 {
		return nil, badWorkers(s.Workers)
	}
	if plan == nil {
		var err error
		if plan, err = detect(); err != nil {
			return nil, err
		}
	}
	h := &sparseHessian{plan: plan, f: f, data: make([]float64, plan.Pattern.NNZ())}
	h.upper = plan.Pattern.Triangle(blas.Upper)
	if plan.Coloring == nil && s.Coloring == nil && !b.second {
		if e, ok := b.inner.(engine.SparseHessianer); ok {
			var err error
			if h.native, err = e.PrepareSparseHessian(f, x, structure(h.upper), false); err != nil {
				return nil, err
			}
			if h.native != nil {
				h.half = make([]float64, h.upper.NNZ())
				h.mirror = mirrored(plan.Pattern, h.upper)
				_, err := h.compute(nil, h.data, x, blas.All)
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
	_, err := h.compute(nil, h.data, x, blas.All)
	return h, err
}

// mirrored is where each entry of p, or its mirror image, stands in its upper triangle.
func mirrored(p, upper *sparsity.Pattern) []int {
	at := make([]int, 0, p.NNZ())
	_, n := p.Dims()
	for j := range n {
		for _, i := range p.Col(j) {
			k, _ := upper.Index(min(i, j), max(i, j))
			at = append(at, k)
		}
	}
	return at
}

func (h *sparseHessian) products(b *resolved, x []float64, n int) (err error) {
	c := h.plan.Coloring
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
	if acc > 0 {
		acc = max(acc, 1e-4) // differences of differences
	}
	h.probe = newProbe(in, in, acc, b.sparse.NoProbe)
	for i := n; i < in; i++ {
		h.probe.v[i] = 0
	}
	h.probe.got, h.probe.scale = h.probe.got[:n], h.probe.scale[:n]
	return nil
}

// Recordings implements engine.Recorder.
func (h *sparseHessian) Recordings() int {
	n := 0
	count := func(p any) {
		if r, ok := p.(engine.Recorder); ok {
			n += r.Recordings()
		}
	}
	count(h.native)
	if h.p != nil {
		for _, w := range h.p.workers {
			count(w.hvp)
		}
	}
	return n
}

// pattern is that of the stored entries.
func (h *sparseHessian) pattern(uplo blas.Uplo) *sparsity.Pattern {
	switch uplo {
	case blas.Upper:
		return h.upper
	case blas.Lower:
		if h.lower == nil {
			h.lower = h.plan.Pattern.Triangle(blas.Lower)
		}
		return h.lower
	}
	return h.plan.Pattern
}

// compute writes the values of the Hessian and, unless grad is nil, the gradient, and
// returns f(x).
func (h *sparseHessian) compute(grad, data, x []float64, uplo blas.Uplo) (y float64, err error) {
	if h.native != nil {
		if uplo == blas.Upper {
			return h.native.ValueGradientAndEntries(grad, data, x)
		}
		if y, err = h.native.ValueGradientAndEntries(grad, h.half, x); err != nil {
			return 0, err
		}
		at := h.mirror
		if uplo == blas.Lower {
			if h.low == nil {
				h.low = mirrored(h.pattern(blas.Lower), h.upper)
			}
			at = h.low
		}
		for k, i := range at {
			data[k] = h.half[i]
		}
		return y, nil
	}
	dec, err := h.decompressor(uplo)
	if err != nil {
		return 0, err
	}
	if y, err = h.take(grad, x); err != nil {
		return 0, err
	}
	dec.Decompress(data, h.p.col.Data, h.p.col.Stride, nil, 0)
	if !h.probe.due() {
		return y, nil
	}
	p := h.probe
	n := len(p.got)
	if _, err := h.one.ValueGradientAndHVP(nil, engine.Column(p.want[:len(x)]), x, engine.Column(p.direction(n)[:len(x)])); err != nil {
		return 0, err
	}
	full := data
	if uplo != blas.All {
		if dec, err = h.decompressor(blas.All); err != nil {
			return 0, err
		}
		full = h.data
		dec.Decompress(full, h.p.col.Data, h.p.col.Stride, nil, 0)
	}
	p.times(h.plan.Pattern, full, false)
	return y, p.verdict("Hessian")
}

func (h *sparseHessian) decompressor(uplo blas.Uplo) (*coloring.Decompressor, error) {
	t := coloring.Full
	switch uplo {
	case blas.Upper:
		t = coloring.Upper
	case blas.Lower:
		t = coloring.Lower
	}
	if h.dec[t] == nil {
		d, err := h.plan.Coloring.Decompressor(t)
		if err != nil {
			return nil, err
		}
		h.dec[t] = d
	}
	return h.dec[t], nil
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
	case !dst.Pattern().Equal(h.pattern(dst.Uplo())):
		return nil, otherPattern(op)
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
	if y, err = p.s.compute(grad, dst.Data(), x, dst.Uplo()); err != nil {
		return 0, nil, nil, err
	}
	return y, grad, dst, nil
}
