package coloring

import "github.com/nabla-ad/nabla/sparsity"

// RankNonzeros returns for every entry of the pattern, in its order, when
// substitution finds it: an entry is a sum less entries of lower rank. Diagonal
// entries have rank 0, and the two entries of a symmetric pair the same. It reads
// the trees of the colouring, which must be for a problem with Substitution;
// together with [SubstitutableColumns] or [SubstitutableBidirectional] it proves
// their order.
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

// SubstitutableColumns returns nil if entries of a symmetric pattern can be
// substituted in the order of their ranks: of every entry (i, j), all other columns
// of the colour of j have in row i no entry or one of lower rank, or the same holds
// of (j, i). Otherwise the error, an *InvalidColoringError, names the entry.
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

// SubstitutableBidirectional is SubstitutableColumns for rows and columns of any
// pattern: of every entry (i, j), all other columns of the colour of j have in row
// i no entry or one of lower rank, or all other rows of the colour of i in column j.
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

// lastInRow reports whether column j has a colour and its entry in row i the
// highest rank of this colour there.
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

// lastInColumn is lastInRow with rows and columns exchanged.
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
