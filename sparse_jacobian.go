package nabla

import (
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// structure returns the pattern as engines take it.
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

// Plan returns the pattern and the groups that [AutoSparse] chose, nil for other backends.
func (p *JacobianPrep) Plan() *SparsePlan {
	return p.base().chosenPlan()
}

// Sparse is like Jacobian with the static type of an [AutoSparse]; another backend is an error. A
// nil or empty dst is allocated; otherwise it must have the pattern of [JacobianPrep.Plan], as all
// matrices returned by such calls do.
func (p *JacobianPrep) Sparse(dst *sparse.CSC, x []float64) (*sparse.CSC, error) {
	_, j, err := p.sparse(nil, true, dst, x)
	return j, err
}

// ValueAndSparse is like Sparse and also writes f(x) to y, which is allocated if nil.
func (p *JacobianPrep) ValueAndSparse(y []float64, dst *sparse.CSC, x []float64) ([]float64, *sparse.CSC, error) {
	return p.sparse(y, false, dst, x)
}

// sparse computes the Jacobian into a sparse matrix, allocated if nil or empty; see into for y.
func (p *JacobianPrep) sparse(y []float64, own bool, dst *sparse.CSC,
	x []float64) (_ []float64, _ *sparse.CSC, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, err
	}
	defer p.end(&err)
	if p.matrix == nil {
		return nil, nil, notSparse(p.op, p.backend.inner)
	}
	if y, err = p.value(y, own, x); err != nil {
		return nil, nil, err
	}
	if dst, err = p.matrix.jacobianTarget(p.op, dst); err != nil {
		return nil, nil, err
	}
	switch {
	case overlap(dst.Data(), x):
		return nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "x"}
	case overlap(dst.Data(), y):
		return nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "y"}
	}
	if _, err := p.matrix.values.Values(y, dst.Data(), x); err != nil {
		return nil, nil, err
	}
	return y, dst, nil
}

// notSparse returns the error for a sparse destination without an AutoSparse.
func notSparse(op string, b Backend) error {
	return &UnsupportedError{What: op + ": " + nameOf(b) + " computes dense matrices",
		Remedy: "prepare with nabla.AutoSparse, or use Dense"}
}

// otherPattern returns the error for a destination with another pattern than that of the plan.
func otherPattern(op string) error {
	return &PatternError{Op: op, Row: -1,
		Reason: "dst has another sparsity pattern; pass nil, a matrix that this object gave out, or a new one over " +
			"Plan().Pattern"}
}
