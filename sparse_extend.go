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
func (p *JacobianPrep) Extend(x []float64) (added int, err error) {
	return p.base().extend(x, jacobianMatrix)
}

// Extend adds entries to the pattern; see [JacobianPrep.Extend].
func (p *HessianPrep) Extend(x []float64) (added int, err error) {
	return p.base().extend(x, hessianMatrix)
}

// Extend adds entries to the pattern; see [JacobianPrep.Extend].
func (p *WeightedHessianPrep) Extend(x []float64) (added int, err error) {
	return p.base().extend(x, hessianMatrix)
}

// Extend adds entries to the pattern; see [JacobianPrep.Extend].
func (p *HessianDiagonalPrep) Extend(x []float64) (added int, err error) {
	return p.base().extend(x, hessianMatrix)
}

func (p *prep) extend(x []float64, kind matrixKind) (added int, err error) {
	if err := p.begin(x); err != nil {
		return 0, err
	}
	defer p.end(&err)
	if p.matrix == nil {
		return 0, notSparse(p.op, p.backend.inner)
	}
	old := p.matrix.plan
	wanted := p.backend.sparse.wanted(x)
	if wanted != nil && old.whole == nil { // the engine computes all of them
		return 0, nil
	}
	start := time.Now()
	plan, err := p.backend.sparse.detect(p.op, p.f, &p.backend, x, kind)
	if err != nil {
		return 0, err
	}
	all := old
	if old.whole != nil {
		all = old.whole
	}
	if plan.Pattern, err = all.Pattern.Union(plan.Pattern); err != nil {
		return 0, err
	}
	plan.Detection = time.Since(start)
	if added = plan.Pattern.NNZ() - all.Pattern.NNZ(); added == 0 {
		return 0, nil
	}
	if old.whole != nil {
		if plan, err = plan.only(wanted); err != nil {
			return 0, err
		}
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
