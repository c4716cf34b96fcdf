package coloring

import "github.com/nabla-ad/nabla/sparsity"

// None is the algorithm that groups nothing: every column, or for a row problem every row, has a colour of its own.
// Every entry is then read from a separate column (row) of the derivative. Use it if a pattern may be wrong, or as a
// reference.
type None struct{}

func (None) String() string { return "None" }

// Color implements [Algorithm]. A bidirectional problem gets products of columns only.
func (None) Color(p *sparsity.Pattern, problem Problem) (*Coloring, error) {
	if p == nil {
		_, err := problem.checked(p)
		return nil, err
	}
	m, n := p.Dims()
	each := func(n int) []int {
		colors := make([]int, n)
		for i := range colors {
			colors[i] = i + 1
		}
		return colors
	}
	switch problem.Partition {
	case Row:
		return Constant{Rows: each(m)}.Color(p, problem)
	case Bidirectional:
		return Constant{Columns: each(n), Rows: make([]int, m)}.Color(p, problem)
	}
	return Constant{Columns: each(n)}.Color(p, problem)
}
