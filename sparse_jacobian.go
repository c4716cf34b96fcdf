package nabla

import (
	"time"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// A sparseJacobian computes the values of a sparse Jacobian in the order of its pattern.
type sparseJacobian struct {
	plan   *SparsePlan
	f      *engine.Function
	native engine.SparseJacobian // nil if products are taken
	p      *products
	probe  *probe
	prober func(y, x, v []float64) error // fills probe.want
	trust  trust
	data   []float64 // for a dense destination
}

// newSparseJacobian prepares the Jacobian of f at x by the plan or, if that is nil, by a new one.
// The result holds the plan.
func newSparseJacobian(plan *SparsePlan, f *engine.Function, b *resolved, x []float64) (*sparseJacobian, error) {
	s := b.sparse
	if err := s.check("Jacobian"); err != nil {
		return nil, err
	}
	if plan == nil {
		var err error
		if plan, err = s.detect("Jacobian", f, b, x, false); err != nil {
			return nil, err
		}
	}
	_, m := f.Dims()
	j := &sparseJacobian{plan: plan, f: f, trust: newTrust(s, f, f, false)}
	if j.plan.Coloring == nil && s.Coloring == nil && !b.mixed {
		if e, ok := b.inner.(engine.SparseJacobianer); ok {
			var err error
			if j.native, err = e.PrepareSparseJacobian(f, x, structure(plan.Pattern)); err != nil {
				return nil, err
			}
			if j.native != nil {
				return j, j.native.ValueAndEntries(make([]float64, m), j.buffer(), x)
			}
		}
	}
	if plan.Coloring == nil {
		colored := *plan
		weigh := weigher{forward: b.forward(), reverse: b.reverse(), f: f, x: x, now: time.Now}
		if err := s.color(&colored, partitions(b, s.Decompression), f.Task(), weigh.weigh); err != nil {
			return nil, err
		}
		j.plan = &colored
	}
	return j, j.trust.settled(j.plan.scope, func() error { return j.products(b, x) })
}

func structure(p *sparsity.Pattern) engine.Structure {
	m, n := p.Dims()
	return engine.Structure{Rows: m, Cols: n, Ptr: p.ColPtr(), Index: p.RowIndex()}
}

// forward and reverse return the engines that compute products with a Jacobian and with its
// transpose, nil if that is not cheap.
func (b *resolved) forward() Backend {
	if b.mixed {
		return b.outer
	}
	if _, ok := b.inner.(engine.Pusher); ok {
		return b.inner
	}
	if t, ok := b.inner.(engine.Tangenter); ok {
		return t.Tangents()
	}
	return nil
}

func (b *resolved) reverse() Backend {
	if _, ok := b.inner.(engine.Puller); ok || b.mixed {
		return b.inner
	}
	return nil
}

// partitions returns the colouring problems whose products b can compute.
func partitions(b *resolved, d coloring.Decompression) []coloring.Problem {
	var all []coloring.Problem
	fwd, rev := b.forward() != nil, b.reverse() != nil
	if fwd || !rev {
		all = append(all, coloring.Problem{Partition: coloring.Column})
	}
	if rev {
		all = append(all, coloring.Problem{Partition: coloring.Row})
	}
	if fwd && rev {
		all = append(all, coloring.Problem{Partition: coloring.Bidirectional, Decompression: d})
	}
	return all
}

// products prepares the products and compares the Jacobian at x with one in a random direction.
func (j *sparseJacobian) products(b *resolved, x []float64) error {
	s, c, every := b.sparse, j.plan.Coloring, j.trust.every
	n, m := j.f.Dims()
	dec, err := c.Decompressor(coloring.Full)
	if err != nil {
		return err
	}
	fwd, rev := b.forward(), b.reverse()
	if fwd == nil {
		fwd = b.inner // products of columns, by an engine that does not push
	}
	j.probe = newProbe(n, n, m, accuracy(fwd), c)
	how := shape{in: n, out: m, reverse: 1, workers: s.Workers}
	switch _, pushes := fwd.(engine.Pusher); { // without a colour on one side, a product of the other compares
	case c.Forward() == 0 && rev != nil && (c.Reverse() > 0 || !pushes):
		j.probe = newProbe(m, m, n, accuracy(rev), c)
		j.probe.turned = true
		if every {
			how.extraReverse, how.probe = 1, j.probe
		}
	case every:
		how.extraForward, how.probe = 1, j.probe
	}
	how.forward = engine.LanesOf(fwd, max(1, c.Forward()+how.extraForward))
	if rev != nil {
		how.reverse = engine.LanesOf(rev, max(1, c.Reverse()+how.extraReverse))
	}
	if j.p, err = newProducts(dec, how, j.f); err != nil {
		return err
	}
	for i := range j.p.workers {
		w, f := &worker{y: make([]float64, m)}, j.f
		if i > 0 {
			f = f.Clone()
		}
		if j.p.cols.width > 0 {
			if w.push, err = engine.PreparePushforward(fwd, f, x, j.p.lanes(false)); err != nil {
				return err
			}
		}
		if j.p.rows.width > 0 {
			if w.pull, err = engine.PreparePullback(rev, f, x, j.p.lanes(true)); err != nil {
				return err
			}
		}
		j.p.workers[i] = w
	}
	if err := j.probes(fwd, rev, x); err != nil {
		return err
	}
	return j.check(x)
}

// probes prepares the product of the comparison: one of the prepared products or, if there is no
// colour, a product of its own.
func (j *sparseJacobian) probes(fwd, rev Backend, x []float64) (err error) {
	w := j.p.workers[0]
	if j.probe.turned {
		pull := w.pull
		if pull == nil {
			if pull, err = engine.PreparePullback(rev, j.f, x, 1); err != nil {
				return err
			}
		}
		j.prober = func(y, x, v []float64) error {
			return pull.Pullback(y, engine.Column(j.probe.want), x, engine.Column(v))
		}
		return nil
	}
	push := w.push
	if push == nil {
		if push, err = engine.PreparePushforward(fwd, j.f, x, 1); err != nil {
			return err
		}
	}
	j.prober = func(y, x, v []float64) error {
		return push.Pushforward(y, engine.Column(j.probe.want), x, engine.Column(v))
	}
	return nil
}

// buffer returns memory for the values.
func (j *sparseJacobian) buffer() []float64 {
	if j.data == nil {
		j.data = make([]float64, j.plan.Pattern.NNZ())
	}
	return j.data
}

// check computes the Jacobian at the point of preparation, so that a wrong pattern is an error of
// the preparation.
func (j *sparseJacobian) check(x []float64) error {
	_, m := j.f.Dims()
	y, data := make([]float64, m), j.buffer()
	if err := j.take(y, data, x); err != nil || j.trust.off {
		return err
	}
	return j.compare(y, data, x)
}

// Recordings implements engine.Recorder.
func (j *sparseJacobian) Recordings() int {
	n := recordings(j.native)
	if j.p != nil {
		for _, w := range j.p.workers {
			n += recordings(w.push, w.pull)
		}
	}
	return n
}

// compute writes y = f(x) and the values of J(x).
func (j *sparseJacobian) compute(y, data, x []float64) error {
	if j.native != nil {
		return j.native.ValueAndEntries(y, data, x)
	}
	j.trust.begin()
	if err := j.take(y, data, x); err != nil || !j.trust.due() {
		return err
	}
	err := j.compare(y, data, x)
	return j.trust.compared(j.plan.Pattern, x, err)
}

// compare compares the values, whose products have just been computed, with the derivative in a
// random direction.
func (j *sparseJacobian) compare(y, data, x []float64) error {
	spare, at := j.p.workers[0].y, x
	if j.probe.turned {
		at = y
	}
	return j.probe.compare("Jacobian", j.plan.Pattern, data, at, j.p.extra() != nil, func(v []float64) error {
		return j.prober(spare, x, v)
	})
}

// take computes the products and decompresses them to data.
func (j *sparseJacobian) take(y, data, x []float64) error {
	p := j.p
	if len(p.tasks) == 0 {
		clear(data)
		return j.f.Value(y, x)
	}
	p.data = data
	if err := j.parts(y, x); err != nil {
		return err
	}
	p.end()
	return nil
}

func (j *sparseJacobian) parts(y, x []float64) error {
	p := j.p
	if len(p.workers) == 1 { // no closure to allocate
		for i, t := range p.tasks {
			if err := p.jacobian(p.workers[0], i == 0, t, y, x); err != nil {
				return err
			}
		}
		return nil
	}
	return p.all(func(w *worker, first bool, t part) error { return p.jacobian(w, first, t, y, x) })
}

func (p *products) jacobian(w *worker, first bool, t part, y, x []float64) (err error) {
	if !first {
		y = w.y
	}
	if err := p.task.Check("products", t.from, p.side(t.row).width); err != nil {
		return err
	}
	seed, result := p.open(w, t)
	if t.row {
		err = w.pull.Pullback(y, result, x, seed)
	} else {
		err = w.push.Pushforward(y, result, x, seed)
	}
	p.close(t, seed, result)
	return err
}

// Plan returns the pattern and the groups that [AutoSparse] chose, nil for other backends.
func (p *JacobianPrep) Plan() *SparsePlan {
	if p == nil || p.s == nil {
		return nil
	}
	return p.s.plan
}

// Sparse is like Jacobian with the static type of an [AutoSparse]; another backend is an error. A
// nil or empty dst is allocated; otherwise it must have the pattern of [JacobianPrep.Plan], as all
// matrices returned by such calls do.
func (p *JacobianPrep) Sparse(dst *sparse.CSC, x []float64) (*sparse.CSC, error) {
	_, j, err := p.sparse(nil, true, dst, x)
	return j, err
}

func (p *JacobianPrep) sparse(y []float64, own bool, dst *sparse.CSC,
	x []float64) (_ []float64, _ *sparse.CSC, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, err
	}
	defer p.end(&err)
	if p.s == nil {
		return nil, nil, notSparse(p.op, p.backend.inner)
	}
	if y, err = p.value(y, own, x); err != nil {
		return nil, nil, err
	}
	pattern := p.s.plan.Pattern
	switch {
	case dst == nil:
		dst = sparse.NewCSC(pattern, nil)
	case dst.IsEmpty():
		dst.ReuseAs(pattern)
	case !dst.Pattern().Equal(pattern):
		return nil, nil, otherPattern(p.op)
	}
	switch {
	case overlap(dst.Data(), x):
		return nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "x"}
	case overlap(dst.Data(), y):
		return nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "y"}
	}
	if err := p.s.compute(y, dst.Data(), x); err != nil {
		return nil, nil, err
	}
	return y, dst, nil
}

func notSparse(op string, b Backend) error {
	return &UnsupportedError{What: op + ": " + nameOf(b) + " computes dense matrices",
		Remedy: "prepare with nabla.AutoSparse, or use Dense"}
}

func otherPattern(op string) error {
	return &PatternError{Op: op, Row: -1,
		Reason: "dst has another sparsity pattern; pass nil, a matrix that this object gave out, or a new one over " +
			"Plan().Pattern"}
}

// scatter writes the entries to a dense matrix, whose other elements it sets to zero.
func scatter(dst engine.Block, s *sparsity.Pattern, data []float64) {
	dst.Zero()
	ptr, idx := s.ColPtr(), s.RowIndex()
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			dst.Row(idx[k])[j] = data[k]
		}
	}
}
