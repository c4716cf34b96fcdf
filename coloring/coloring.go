package coloring

import (
	"fmt"

	"github.com/nabla-ad/nabla/sparsity"
)

// A Coloring assigns the columns and rows of a matrix to groups, each of which is summed up in one product, such that
// all entries of the matrix can be recovered from the products. Colours count from 1; the columns and rows of colour 0
// take part in no product.
//
// A Coloring is immutable and may be shared by goroutines.
type Coloring struct {
	pattern    *sparsity.Pattern
	problem    Problem
	rows, cols []int     // the colour of each row and column; nil if the problem colours none
	rowColors  int       // the number of row colours
	colColors  int       // the number of column colours
	order      Order     // the order that won in Greedy, otherwise nil
	g          *graph    // nil for column and row problems, which need no graph
	recovery   *recovery // nil if g is
}

// fromVertices returns the colouring for the colours of the vertices of g, 1 to colors, those of rows after those of
// columns, 0 for neutral. If postprocess is set, it makes vertices neutral whose product is not needed. It takes over
// color and modifies it. The error is an *InvalidColoringError if some entry cannot be recovered.
func fromVertices(g *graph, problem Problem, color []int32, colors int, postprocess bool) (*Coloring, error) {
	r, err := newRecovery(g, color, colors, problem.Decompression)
	if err != nil {
		return nil, err
	}
	if postprocess {
		colors = neutralize(g, color, colors, r)
	}
	c := &Coloring{pattern: g.pattern, problem: problem, g: g, recovery: r}
	c.cols = ints(color[:g.cols])
	if problem.Partition != Bidirectional {
		c.colColors = colors
		return c, nil
	}
	for _, k := range c.cols {
		c.colColors = max(c.colColors, k)
	}
	c.rows = ints(color[g.cols:])
	for i, k := range c.rows {
		if k > 0 {
			c.rows[i] = k - c.colColors
		}
	}
	c.rowColors = colors - c.colColors
	return c, nil
}

// Pattern returns the pattern that was coloured; that of the zero Coloring is empty.
func (c *Coloring) Pattern() *sparsity.Pattern {
	if c.pattern == nil {
		return new(sparsity.Pattern)
	}
	return c.pattern
}

// Problem returns the problem that was solved. Its Decompression is Direct for nonsymmetric column and row problems,
// whatever was requested.
func (c *Coloring) Problem() Problem { return c.problem }

// target returns the pattern of the entries that are recovered.
func (c *Coloring) target() *sparsity.Pattern {
	if c.problem.Wanted != nil {
		return c.problem.Wanted
	}
	return c.Pattern()
}

// ColumnColors returns the colour of every column, or nil for a row problem. The slice belongs to the colouring: do not
// write to it.
func (c *Coloring) ColumnColors() []int { return c.cols }

// RowColors returns the colour of every row for a row or bidirectional problem, and nil for others. The slice belongs
// to the colouring: do not write to it.
func (c *Coloring) RowColors() []int { return c.rows }

// Colors returns the number of products: Forward + Reverse.
func (c *Coloring) Colors() int { return c.colColors + c.rowColors }

// Forward returns the number of column colours, which is the number of products A·s.
func (c *Coloring) Forward() int { return c.colColors }

// Reverse returns the number of row colours, which is the number of products Aᵀ·w.
func (c *Coloring) Reverse() int { return c.rowColors }

// Order returns the order with the best result in [Greedy], or nil for other algorithms.
func (c *Coloring) Order() Order { return c.order }

// ColumnGroups returns the columns of every colour, ascending: element k-1 has those of colour k.
func (c *Coloring) ColumnGroups() [][]int { return groups(c.cols, c.colColors) }

// RowGroups returns the rows of every colour, ascending: element k-1 has those of colour k.
func (c *Coloring) RowGroups() [][]int { return groups(c.rows, c.rowColors) }

// groups returns, at k-1, the ascending indices whose colour is k.
func groups(color []int, colors int) [][]int {
	size := make([]int, colors+1)
	for _, k := range color {
		size[k]++
	}
	g := make([][]int, colors)
	for k := range g {
		g[k] = make([]int, 0, size[k+1])
	}
	for v, k := range color {
		if k > 0 {
			g[k-1] = append(g[k-1], v)
		}
	}
	return g
}

// String returns a line with the problem, the shape, the number of entries and of colours, and the order.
func (c *Coloring) String() string {
	if c == nil {
		return "no colouring"
	}
	m, n := c.Pattern().Dims()
	s := fmt.Sprintf("%v colouring of %d×%d with %d entries: ", c.problem, m, n, c.Pattern().NNZ())
	switch c.problem.Partition {
	case Row:
		s += fmt.Sprintf("%d row colours", c.rowColors)
	case Bidirectional:
		s += fmt.Sprintf("%d column and %d row colours", c.colColors, c.rowColors)
	default:
		s += fmt.Sprintf("%d colours", c.colColors)
	}
	if c.order != nil {
		s += ", " + c.order.String()
	}
	return s
}
