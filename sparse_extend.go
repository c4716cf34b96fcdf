package nabla

import "time"

// Extend adds to the pattern of an [AutoSparse] the entries that its Detector finds at x, and prepares
// p again at x with all of them: after a *[PatternError] calls at x and at earlier points are
// right. It returns the number of entries that were added; 0 means that the Detector does not find
// what the pattern lacks, so that another one is needed. Matrices that p returned before have
// the old pattern and are no destinations any more; clones keep theirs. The cost is that of a new
// preparation.
//
// The error is an *[UnsupportedError] without an AutoSparse. On an error p keeps its pattern.
func (p *JacobianPrep) Extend(x []float64) (added int, err error) { return p.base().extend(x, false) }

// Extend adds entries to the pattern; see [JacobianPrep.Extend].
func (p *HessianPrep) Extend(x []float64) (added int, err error) { return p.base().extend(x, true) }

// Extend adds entries to the pattern; see [JacobianPrep.Extend].
func (p *WeightedHessianPrep) Extend(x []float64) (added int, err error) {
	return p.base().extend(x, true)
}

// Extend adds entries to the pattern; see [JacobianPrep.Extend].
func (p *HessianDiagonalPrep) Extend(x []float64) (added int, err error) {
	return p.base().extend(x, true)
}

func (p *prep) extend(x []float64, hessian bool) (added int, err error) {
	if err := p.begin(x); err != nil {
		return 0, err
	}
	defer p.end(&err)
	if p.matrix == nil {
		return 0, notSparse(p.op, p.backend.inner)
	}
	old := p.matrix.plan
	start := time.Now()
	plan, err := p.backend.sparse.detect(p.op, p.f, &p.backend, x, hessian)
	if err != nil {
		return 0, err
	}
	if plan.Pattern, err = old.Pattern.Union(plan.Pattern); err != nil {
		return 0, err
	}
	plan.Detection = time.Since(start)
	if added = plan.Pattern.NNZ() - old.Pattern.NNZ(); added == 0 {
		return 0, nil
	}
	oldX := p.x
	p.plan = plan
	if err := p.prepareAt(x); err != nil { // stay usable with the old pattern
		p.plan = old
		if e := p.prepareAt(oldX); e != nil {
			p.failed = e
		}
		return 0, err
	}
	return added, nil
}
