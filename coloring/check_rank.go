package coloring

import "github.com/nabla-ad/nabla/sparsity"

// RankNonzeros returns, for every entry in the order of the pattern, its rank in the order of substitution: an entry is
// a component of a product less entries of lower rank. Diagonal entries have rank 0, and the two entries of a symmetric
// pair have the same rank. The ranks come from the trees of the colouring, which must be for a problem with
// Substitution, otherwise the error is an *UnsupportedError; [SubstitutableColumns] or [SubstitutableBidirectional]
// then proves that they are an order of substitution.
func RankNonzeros(c *Coloring) ([]int, error) {
	if c.problem.Decompression != Substitution {
		return nil, &UnsupportedError{"RankNonzeros",
			"direct decompression has no order; colour with Decompression: Substitution"}
	}
	rank := make([]int, c.pattern.NNZ())
	for t, e := range c.recovery.order {
		i, j := c.g.entry(e)
		k, _ := c.pattern.Index(i, j)
		rank[k] = t + 1
		if c.problem.Structure == Symmetric {
			k, _ = c.pattern.Index(j, i)
			rank[k] = t + 1
		}
	}
	return rank, nil
}

// SubstitutableColumns returns nil if the entries of a symmetric pattern can be substituted in the order of their
// ranks: for every entry (i, j), all other columns of the colour of j have no entry in row i or one of lower rank, or
// the same holds for (j, i). Otherwise the error, an *InvalidColoringError, names the entry; it is a *LengthError if a
// slice has the wrong length.
func SubstitutableColumns(p *sparsity.Pattern, rank, colors []int) error {
	m, n := p.Dims()
	if m != n || len(colors) != n {
		return &LengthError{"SubstitutableColumns", "len(colors) for a square pattern", len(colors), max(m, n)}
	}
	if len(rank) != p.NNZ() {
		return &LengthError{"SubstitutableColumns", "len(rank)", len(rank), p.NNZ()}
	}
	for j := range n {
		for _, i := range p.Col(j) {
			if !lastInRow(p, rank, colors, i, j) && !lastInRow(p, rank, colors, j, i) {
				return invalid([]int{i}, []int{j}, "both its sums hold entries that are not found before it")
			}
		}
	}
	return nil
}

// SubstitutableBidirectional returns nil if the entries of any pattern can be substituted in the order of their ranks:
// for every entry (i, j), all other columns of the colour of j have no entry in row i or one of lower rank, or all
// other rows of the colour of i have no entry in column j or one of lower rank. The errors are those of
// SubstitutableColumns.
func SubstitutableBidirectional(p *sparsity.Pattern, rank, rowColors, columnColors []int) error {
	m, n := p.Dims()
	if len(columnColors) != n {
		return &LengthError{"SubstitutableBidirectional", "len(columnColors)", len(columnColors), n}
	}
	if len(rowColors) != m {
		return &LengthError{"SubstitutableBidirectional", "len(rowColors)", len(rowColors), m}
	}
	if len(rank) != p.NNZ() {
		return &LengthError{"SubstitutableBidirectional", "len(rank)", len(rank), p.NNZ()}
	}
	for j := range n {
		for _, i := range p.Col(j) {
			if !lastInRow(p, rank, columnColors, i, j) && !lastInColumn(p, rank, rowColors, i, j) {
				return invalid([]int{i}, []int{j}, "both its sums hold entries that are not found before it")
			}
		}
	}
	return nil
}

// lastInRow reports whether column j has a colour and its entry in row i has the highest rank of the entries of this
// colour in the row.
func lastInRow(p *sparsity.Pattern, rank, colors []int, i, j int) bool {
	if colors[j] == 0 {
		return false
	}
	at, _ := p.Index(i, j)
	for other, c := range colors {
		if other == j || c != colors[j] {
			continue
		}
		if k, ok := p.Index(i, other); ok && rank[k] >= rank[at] {
			return false
		}
	}
	return true
}

// lastInColumn reports whether row i has a colour and its entry in column j has the highest rank of the entries of this
// colour in the column.
func lastInColumn(p *sparsity.Pattern, rank, colors []int, i, j int) bool {
	if colors[i] == 0 {
		return false
	}
	at, _ := p.Index(i, j)
	for other, c := range colors {
		if other == i || c != colors[i] {
			continue
		}
		if k, ok := p.Index(other, j); ok && rank[k] >= rank[at] {
			return false
		}
	}
	return true
}
