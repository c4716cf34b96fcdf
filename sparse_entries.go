package nabla

import (
	"fmt"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/compressed"
	"github.com/nabla-ad/nabla/sparsity"
)

// wanted returns the entries that are wanted at points of the length of x, nil for all.
func (s *AutoSparse) wanted(x []float64) *sparsity.Pattern {
	if s.diagonal {
		return diagonalOf(len(x))
	}
	return s.Entries
}

// fits returns an error if entries that are wanted are not of a matrix of the given kind of f.
func fits(op string, wanted *sparsity.Pattern, f *engine.Function, kind matrixKind) error {
	rows, cols := kind.dims(f)
	if r, c := wanted.Dims(); r != rows || c != cols {
		return &PatternError{Op: op, Row: -1,
			Reason: fmt.Sprintf("AutoSparse.Entries is %d×%d, want %d×%d", r, c, rows, cols)}
	}
	if kind != jacobianMatrix && !wanted.Symmetric() {
		return &PatternError{Op: op, Row: -1,
			Reason: "AutoSparse.Entries is not symmetric, as a Hessian is; unite it with its transpose"}
	}
	return nil
}

// dims returns the dimensions of a matrix of the kind of f.
func (k matrixKind) dims(f *engine.Function) (rows, cols int) {
	n, m := f.Dims()
	switch k {
	case hessianMatrix:
		m = n
	case kktMatrix:
		n, m = n+m, n+m
	}
	return m, n
}

// only returns a plan for those entries of the plan p that are wanted.
func (p *SparsePlan) only(wanted *sparsity.Pattern) (*SparsePlan, error) {
	some := *p
	var err error
	if some.Pattern, err = intersection(p.Pattern, wanted); err != nil {
		return nil, err
	}
	some.whole = p
	return &some, nil
}

// intersection returns the entries that p and q, of one size, have in common.
func intersection(p, q *sparsity.Pattern) (*sparsity.Pattern, error) {
	rows, cols := p.Dims()
	ptr, idx := make([]int, 1, cols+1), make([]int, 0, min(p.NNZ(), q.NNZ()))
	for j := range cols {
		other := q.Col(j)
		for _, i := range p.Col(j) {
			for len(other) > 0 && other[0] < i {
				other = other[1:]
			}
			if len(other) > 0 && other[0] == i {
				idx = append(idx, i)
			}
		}
		ptr = append(ptr, len(idx))
	}
	return sparsity.New(rows, cols, ptr, idx)
}

// someOf returns the wanted entries of a matrix whose entries all has and whose products are prepared: from fewer
// products, if a colouring for the wanted entries takes less work than that of all.
func (s *AutoSparse) someOf(plan, all *SparsePlan, products *compressed.Matrix, p productsOf) (*sparseMatrix, error) {
	some := *plan
	some.whole = all
	m := &sparseMatrix{plan: &some, products: products}
	m.at = make([]int, 0, some.Pattern.NNZ())
	_, n := some.Pattern.Dims()
	for j := range n {
		for _, i := range some.Pattern.Col(j) {
			k, _ := all.Pattern.Index(i, j)
			m.at = append(m.at, k)
		}
	}
	if some.Coloring == nil {
		some.Coloring = all.Coloring
		if s.Coloring == nil {
			if err := s.colorSome(&some, p); err != nil {
				return nil, err
			}
		}
	}
	if products.Always() || some.Coloring == all.Coloring {
		m.values = gathered{products, m.at}
		return m, nil
	}
	p.spec.Coloring, p.spec.Unchecked = some.Coloring, true
	part, err := p.prepare(p.spec)
	if err != nil {
		return nil, err
	}
	products.Adopt() // the recordings of part were made at the point of preparation too
	m.values = compared{part, products}
	return m, nil
}

// colorSome gives the plan a colouring for its entries, if there is one that takes less work than that of all entries.
func (s *AutoSparse) colorSome(plan *SparsePlan, p productsOf) error {
	var problems []coloring.Problem
	for _, q := range p.problems {
		if q.Partition != coloring.Bidirectional {
			q.Decompression, q.Wanted = coloring.Direct, plan.Pattern
			problems = append(problems, q)
		}
	}
	list, err := compressed.Colorings(plan.whole.Pattern, problems, nil, s.ReverseCost, p.spec.F.Task())
	if err != nil {
		return err
	}
	plan.Coloring = compressed.Cheapest(append(list, plan.Coloring), s.ReverseCost, p.weigh)
	return nil
}

// gathered are entries of a matrix that is computed as a whole.
type gathered struct {
	*compressed.Matrix
	at []int
}

func (g gathered) Values(out, data, x []float64) (float64, error) {
	y, err := g.Matrix.Values(out, g.Buffer(), x)
	if err == nil {
		gather(data, g.Buffer(), g.at)
	}
	return y, err
}

// compared are entries that have products of their own; the whole matrix is computed where its pattern is to be
// checked.
type compared struct{ some, whole *compressed.Matrix }

func (c compared) Values(out, data, x []float64) (float64, error) {
	c.whole.Begin()
	y, err := c.some.Values(out, data, x)
	if err == nil {
		err = c.whole.Check(x)
	}
	return y, err
}

func (c compared) Recordings() int { return c.some.Recordings() + c.whole.Recordings() }
