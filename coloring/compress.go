package coloring

// ColumnSeed stores in dst, which has one element per column, the seed vector of a column colour (counted from 1), 1
// for its columns and 0 for the others, and returns it: A·dst is the product of this colour. A nil dst is allocated; a
// wrong length panics with a *LengthError.
func (c *Coloring) ColumnSeed(dst []float64, color int) []float64 {
	return seed("ColumnSeed", dst, c.cols, color)
}

// RowSeed stores in dst, which has one element per row, the seed vector of a row colour and returns it, like
// ColumnSeed: Aᵀ·dst is the product of this colour.
func (c *Coloring) RowSeed(dst []float64, color int) []float64 {
	return seed("RowSeed", dst, c.rows, color)
}

// seed stores in dst the indicator vector of color in colors, for the method named op.
func seed(op string, dst []float64, colors []int, color int) []float64 {
	if dst == nil {
		dst = make([]float64, len(colors))
	}
	if len(dst) != len(colors) {
		panic(&LengthError{op, "len(dst)", len(dst), len(colors)})
	}
	for v, k := range colors {
		dst[v] = 0
		if k == color {
			dst[v] = 1
		}
	}
	return dst
}

// Compress returns the compressed matrices, which are the products of a matrix whose values in the order of Pattern are
// data, in the layout that [Decompressor.Decompress] takes with the strides Forward and Reverse. It is meant for tests
// and for inspecting the products that an engine would compute. A wrong length of data panics with a *LengthError.
func (c *Coloring) Compress(data []float64) (col, row []float64) {
	if len(data) != c.Pattern().NNZ() {
		panic(&LengthError{"Compress", "len(data)", len(data), c.Pattern().NNZ()})
	}
	m, n := c.Pattern().Dims()
	col = make([]float64, m*c.colColors)
	row = make([]float64, n*c.rowColors)
	k := 0
	for j := range n {
		for _, i := range c.Pattern().Col(j) {
			if c.cols != nil && c.cols[j] > 0 {
				col[i*c.colColors+c.cols[j]-1] += data[k]
			}
			if c.rows != nil && c.rows[i] > 0 {
				row[j*c.rowColors+c.rows[i]-1] += data[k]
			}
			k++
		}
	}
	return col, row
}
