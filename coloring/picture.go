package coloring

import "strings"

// Picture draws the matrix with a character for every entry: the colour of the product it is read from, digits (then
// capitals) for columns and small letters for rows, '.' for zeros, '-' for neutral. The colours of the columns are
// above the matrix, those of the rows to the left. It is meant for matrices that fit on a screen; colours beyond the
// alphabets are '#'.
func (c *Coloring) Picture() string {
	m, n := c.Pattern().Dims()
	at := make([][]byte, m)
	for i := range at {
		at[i] = []byte(strings.Repeat(".", n))
	}
	for j := range n {
		for _, i := range c.Pattern().Col(j) {
			at[i][j] = c.readAt(i, j)
		}
	}
	var s strings.Builder
	line := func(margin byte, cells []byte) {
		if c.rows != nil {
			s.WriteByte(margin)
			s.WriteByte(' ')
		}
		for j, b := range cells {
			if j > 0 {
				s.WriteByte(' ')
			}
			s.WriteByte(b)
		}
		s.WriteByte('\n')
	}
	if c.cols != nil {
		head := make([]byte, n)
		for j, k := range c.cols {
			head[j] = letter(k, false)
		}
		line(' ', head)
		s.WriteByte('\n')
	}
	for i, cells := range at {
		margin := byte(' ')
		if c.rows != nil {
			margin = letter(c.rows[i], true)
		}
		line(margin, cells)
	}
	return s.String()
}

// readAt returns the character of the product that entry (i, j) is read from.
func (c *Coloring) readAt(i, j int) byte {
	switch {
	case c.g == nil && c.rows != nil:
		return letter(c.rows[i], true)
	case c.g == nil || c.problem.Structure == Symmetric && i == j:
		return letter(c.cols[j], false)
	}
	m, _ := c.pattern.Dims()
	v, w := int32(j), int32(i+c.g.n-m) // rows are the last vertices
	for k := c.g.ptr[v]; k < c.g.ptr[v+1]; k++ {
		if c.g.adj[k] == w {
			h := c.recovery.hub[c.g.edge[k]]
			if int(h) < c.g.cols {
				return letter(c.cols[h], false)
			}
			return letter(c.rows[int(h)-c.g.cols], true)
		}
	}
	return '?' // not reached
}

// letter returns the character of a colour of a row or column.
func letter(color int, row bool) byte {
	alphabet := "-123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if row {
		alphabet = "-abcdefghijklmnopqrstuvwxyz"
	}
	if color < len(alphabet) {
		return alphabet[color]
	}
	return '#'
}
