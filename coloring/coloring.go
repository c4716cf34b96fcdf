package coloring

import (
	"fmt"

	"github.com/nabla-ad/nabla/sparsity"
)

// A Coloring assigns the columns and rows of a matrix to groups that are summed up in one
// product each, such that all its entries can be recovered from the products. Colours
// count from 1; the columns and rows of colour 0 take part in no product.
//
// A Coloring does not change once it is made and may be shared by goroutines.
type Coloring struct {
	pattern    *sparsity.Pattern
	problem    Problem
	rows, cols []int // nil where the problem colours none
	rowColors  int
	colColors  int
	order      Order // nil if no greedy order made it
	g          *graph
	recovery   *recovery // with g: symmetric and bidirectional problems
}

// fromVertices makes a colouring from the colours of the vertices of a graph,
// those of rows after those of columns. It takes color over.
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

// Pattern returns the pattern that was coloured; of the zero Coloring an empty one.
func (c *Coloring) Pattern() *sparsity.Pattern {
	if c.pattern == nil {
		return new(sparsity.Pattern)
	}
	return c.pattern
}

// Problem returns the problem that was solved; its Decompression is Direct for
// nonsymmetric column and row problems, whatever was asked.
func (c *Coloring) Problem() Problem { return c.problem }

// ColumnColors returns the colour of every column, nil for a row problem. It is the
// colouring's own slice: read it, do not write it.
func (c *Coloring) ColumnColors() []int { return c.cols }

// RowColors returns the colour of every row of a row or bidirectional problem, nil
// for the others. It is the colouring's own slice: read it, do not write it.
func (c *Coloring) RowColors() []int { return c.rows }

// Colors returns the number of products: Forward + Reverse.
func (c *Coloring) Colors() int { return c.colColors + c.rowColors }

// Forward returns the number of column colours: so many products A·s are needed.
func (c *Coloring) Forward() int { return c.colColors }

// Reverse returns the number of row colours: so many products Aᵀ·w are needed.
func (c *Coloring) Reverse() int { return c.rowColors }

// Order returns the order that won in [Greedy], nil for other algorithms.
func (c *Coloring) Order() Order { return c.order }

// ColumnGroups returns the columns of every colour, ascending: those of colour k at
// k-1.
func (c *Coloring) ColumnGroups() [][]int { return groups(c.cols, c.colColors) }

// RowGroups returns the rows of every colour, ascending: those of colour k at k-1.
func (c *Coloring) RowGroups() [][]int { return groups(c.rows, c.rowColors) }

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

// String describes the colouring in a line.
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
