package nabla

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparse"
)

// Hessians returns the Hessian ∇²fᵢ(x) of each output of f, the second-derivative tensor of f. See [PrepareHessians].
func Hessians[F VectorFunc](f F, b Backend, x []float64) ([]mat.Symmetric, error) {
	p, err := PrepareHessians(f, single(b), x)
	if err != nil {
		return nil, err
	}
	return p.Hessians(nil, x)
}

// ValueJacobianAndHessians returns f(x), J(x) and the Hessian of each output. See [PrepareHessians].
func ValueJacobianAndHessians[F VectorFunc](f F, b Backend,
	x []float64) (y []float64, jac *mat.Dense, hess []mat.Symmetric, err error) {
	p, err := PrepareHessians(f, single(b), x)
	if err != nil {
		return nil, nil, nil, err
	}
	return p.ValueJacobianAndHessians(nil, nil, nil, x)
}

// PrepareHessians prepares the Hessians of all outputs of f on b for points of the length of x. Each is prepared for
// the function of its output alone, see [Output]: an engine that compiles leaves out what the output does not depend
// on, and with an [AutoSparse] each Hessian has a pattern of its own. A call costs as much as m calls of a prepared
// Hessian, and so does the preparation. If only a combination Σ wᵢ·∇²fᵢ is needed, [PrepareWeightedHessian] is cheaper.
func PrepareHessians[F VectorFunc](f F, b Backend, x []float64) (*HessiansPrep, error) {
	return newOperator[HessiansPrep]("Hessians", f, wantVector, b, x)
}

// HessiansPrep computes the Hessians of all outputs of one function on one backend. It is for one goroutine at a time.
type HessiansPrep struct {
	prep
	each  []HessianPrep // of the outputs; they share the state of calls with prep
	plans []*SparsePlan // of a clone that is not prepared yet
}

func (p *HessiansPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("HessiansPrep", "PrepareHessians")
	}
	return &p.prep
}

func (p *HessiansPrep) prepare() error {
	each := make([]HessianPrep, p.m)
	all := make(hessiansOf, p.m)
	for i := range each {
		q := &each[i]
		q.op, q.backend, q.f, q.x, q.n, q.m = p.op, p.backend, engine.Output(p.f, i), p.x, p.n, 1
		if i < len(p.plans) {
			q.plan = p.plans[i]
		}
		if err := q.prepare(); err != nil {
			return err
		}
		all[i] = q.native
	}
	p.each, p.plans, p.native = each, nil, all
	return nil
}

// hessiansOf are the engine's prepared objects of all outputs.
type hessiansOf []any

// Recordings implements engine.Recorder.
func (h hessiansOf) Recordings() int { return recordings(h...) }

// Hessians writes ∇²fᵢ(x) to dst[i] and returns dst, which is allocated if nil. Otherwise it has an element for each
// output: nil, for one that is allocated, or a destination as for [HessianPrep.Hessian].
func (p *HessiansPrep) Hessians(dst []mat.Symmetric, x []float64) ([]mat.Symmetric, error) {
	_, _, dst, err := p.compute(nil, nil, dst, false, x)
	return dst, err
}

// ValueJacobianAndHessians is like Hessians, and writes f(x) to y and J(x) to jac, which are allocated if nil. Their
// cost is small.
func (p *HessiansPrep) ValueJacobianAndHessians(y []float64, jac *mat.Dense, dst []mat.Symmetric,
	x []float64) (yOut []float64, jacOut *mat.Dense, hess []mat.Symmetric, err error) {
	return p.compute(y, jac, dst, true, x)
}

// compute computes the Hessians and, if wanted, value and Jacobian.
func (p *HessiansPrep) compute(y []float64, jac *mat.Dense, dst []mat.Symmetric, wanted bool,
	x []float64) (_ []float64, _ *mat.Dense, _ []mat.Symmetric, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, nil, err
	}
	defer p.end(&err)
	var rows engine.Block
	if wanted {
		if y, err = p.vector("y", y, p.m, x); err != nil {
			return nil, nil, nil, err
		}
		if jac, rows, err = p.prep.dense("jac", jac, p.m, p.n, x); err != nil {
			return nil, nil, nil, err
		}
		if err := p.apart(2, named{"jac", rows.Data}, named{"y", y}); err != nil {
			return nil, nil, nil, err
		}
	}
	if dst == nil {
		dst = make([]mat.Symmetric, p.m)
	}
	if len(dst) != p.m {
		return nil, nil, nil, &ShapeError{Op: p.op, Arg: "len(dst)", Got: len(dst), Want: p.m}
	}
	for i, h := range dst {
		for _, other := range dst[:i] {
			if overlap(symmetricData(h), symmetricData(other)) {
				return nil, nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "another element of dst"}
			}
		}
		if err := p.apart(1, named{"dst", symmetricData(h)}, named{"jac", rows.Data}, named{"y", y}); err != nil {
			return nil, nil, nil, err
		}
	}
	for i := range p.each {
		var grad []float64
		if wanted {
			grad = rows.Row(i)
		}
		value, _, h, err := p.each[i].any(grad, wanted, dst[i], x)
		if err != nil {
			return nil, nil, nil, err
		}
		dst[i] = h
		if wanted {
			y[i] = value
		}
	}
	return y, jac, dst, nil
}

// symmetricData returns the memory of a destination of a Hessian, nil for one that is to be allocated.
func symmetricData(h mat.Symmetric) []float64 {
	switch h := h.(type) {
	case *sparse.SymCSC:
		if h != nil {
			return h.Data()
		}
	case *mat.SymDense:
		if h != nil && !h.IsEmpty() {
			return h.RawSymmetric().Data
		}
	}
	return nil
}

// Plans returns the pattern and the groups that [AutoSparse] chose for each output, nil for other backends.
func (p *HessiansPrep) Plans() []*SparsePlan {
	if p == nil {
		return nil
	}
	var plans []*SparsePlan
	for i := range p.each {
		if plan := p.each[i].chosenPlan(); plan != nil {
			plans = append(plans, plan)
		}
	}
	return plans
}

// Recordings returns how often the function was recorded, for all outputs; see [GradientPrep.Recordings].
func (p *HessiansPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *HessiansPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine, with the same patterns and groups if it is sparse; see
// [GradientPrep.Clone].
func (p *HessiansPrep) Clone() *HessiansPrep {
	q := new(HessiansPrep)
	q.plans = p.Plans()
	q.cloneOf(p.base(), q.prepare)
	return q
}

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind]. The next call checks sparsity patterns; see [AutoSparse].
func (p *HessiansPrep) Rebind(q any) error {
	err := p.base().rebind(q)
	if err == nil {
		for i := range p.each {
			p.each[i].compareNext()
		}
	}
	return err
}

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *HessiansPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
