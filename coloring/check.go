package coloring

import "github.com/nabla-ad/nabla/sparsity"

// The checks of this file follow the definitions of Gebremedhin, Manne and Pothen (2005) and of Coleman and Verma
// (1998) entry by entry. They read only a pattern and colours and share no code with the algorithms. Their cost is
// quadratic and worse: they are meant for tests.

// StructurallyOrthogonalColumns returns nil if all columns with entries have a colour and no two columns of one colour
// have an entry in the same row; otherwise an *InvalidColoringError that names two columns and their row, or a
// *LengthError if there is not one colour per column.
func StructurallyOrthogonalColumns(p *sparsity.Pattern, colors []int) error {
	m, n := p.Dims()
	if len(colors) != n {
		return &LengthError{"StructurallyOrthogonalColumns", "len(colors)", len(colors), n}
	}
	for i := range m {
		for j := range n {
			if !p.Has(i, j) {
				continue
			}
			if colors[j] == 0 {
				return invalid([]int{i}, []int{j}, "column %d has an entry and no colour", j)
			}
			for k := range j {
				if colors[k] == colors[j] && p.Has(i, k) {
					return invalid([]int{i}, []int{k, j}, "both have colour %d and an entry there", colors[j])
				}
			}
		}
	}
	return nil
}

// StructurallyOrthogonalRows returns nil if all rows with entries have a colour and no two rows of one colour have an
// entry in the same column, like StructurallyOrthogonalColumns for the transpose.
func StructurallyOrthogonalRows(p *sparsity.Pattern, colors []int) error {
	m, n := p.Dims()
	if len(colors) != m {
		return &LengthError{"StructurallyOrthogonalRows", "len(colors)", len(colors), m}
	}
	for j := range n {
		for _, i := range p.Col(j) {
			if colors[i] == 0 {
				return invalid([]int{i}, []int{j}, "row %d has an entry and no colour", i)
			}
			for _, k := range p.Col(j) {
				if k < i && colors[k] == colors[i] {
					return invalid([]int{k, i}, []int{j}, "both have colour %d and an entry there", colors[i])
				}
			}
		}
	}
	return nil
}

// aloneInRow reports whether column j has a colour and is the only column of this colour with an entry in row i; the
// second result is another such column, or -1 if column j is neutral or the only one.
func aloneInRow(p *sparsity.Pattern, colors []int, i, j int) (bool, int) {
	if colors[j] == 0 {
		return false, -1
	}
	for k, c := range colors {
		if k != j && c == colors[j] && p.Has(i, k) {
			return false, k
		}
	}
	return true, -1
}

// aloneInColumn reports whether row i has a colour and is the only row of this colour with an entry in column j; the
// second result is another such row, or -1 if row i is neutral or the only one.
func aloneInColumn(p *sparsity.Pattern, colors []int, i, j int) (bool, int) {
	if colors[i] == 0 {
		return false, -1
	}
	for _, k := range p.Col(j) {
		if k != i && colors[k] == colors[i] {
			return false, k
		}
	}
	return true, -1
}

// SymmetricallyOrthogonalColumns returns nil if for every entry (i, j) of a symmetric pattern, column j is the only one
// of its colour with an entry in row i, or column i the only one of its colour with an entry in row j, so that direct
// recovery finds all entries. Otherwise the error, an *InvalidColoringError, names the entry; it is a *LengthError if
// the pattern is not square or there is not one colour per column.
func SymmetricallyOrthogonalColumns(p *sparsity.Pattern, colors []int) error {
	m, n := p.Dims()
	if m != n || len(colors) != n {
		return &LengthError{"SymmetricallyOrthogonalColumns", "len(colors) for a square pattern", len(colors),
			max(m, n)}
	}
	for j := range n {
		for _, i := range p.Col(j) {
			ok1, k1 := aloneInRow(p, colors, i, j)
			ok2, k2 := aloneInRow(p, colors, j, i)
			if !ok1 && !ok2 {
				return invalid([]int{i}, []int{j},
					"columns %d and %d are one colour in row %d, and %d and %d in row %d (-1: neutral)", j, k1, i, i,
					k2, j)
			}
		}
	}
	return nil
}

// WantedColumns returns nil if every wanted entry (i, j) can be recovered from the products of the columns of p: column
// j is the only one of its colour with an entry in row i or, if the matrix is symmetric, column i the only one of its
// colour with an entry in row j. Otherwise the error, an *InvalidColoringError, names the entry; it is a *LengthError
// if there is not one colour per column or the two patterns differ in size. For rows pass both transposes.
func WantedColumns(p, wanted *sparsity.Pattern, colors []int, symmetric bool) error {
	m, n := p.Dims()
	if len(colors) != n {
		return &LengthError{"WantedColumns", "len(colors)", len(colors), n}
	}
	if r, c := wanted.Dims(); r != m || c != n {
		return &LengthError{"WantedColumns", "rows or columns of wanted", r + c, m + n}
	}
	for j := range n {
		for _, i := range wanted.Col(j) {
			if !p.Has(i, j) {
				return invalid([]int{i}, []int{j}, "entry (%d, %d) is wanted and none of the matrix", i, j)
			}
			ok, k := aloneInRow(p, colors, i, j)
			if !ok && symmetric {
				ok, _ = aloneInRow(p, colors, j, i)
			}
			if !ok {
				return invalid([]int{i}, []int{j}, "columns %d and %d are one colour in row %d (-1: neutral)", j, k, i)
			}
		}
	}
	return nil
}

// StructurallyBiorthogonal returns nil if for every entry (i, j), column j is the only one of its colour with an entry
// in row i, or row i the only one of its colour with an entry in column j. Otherwise the error, an
// *InvalidColoringError, names the entry; it is a *LengthError if there is not one colour per row and column.
func StructurallyBiorthogonal(p *sparsity.Pattern, rowColors, columnColors []int) error {
	m, n := p.Dims()
	if len(columnColors) != n {
		return &LengthError{"StructurallyBiorthogonal", "len(columnColors)", len(columnColors), n}
	}
	if len(rowColors) != m {
		return &LengthError{"StructurallyBiorthogonal", "len(rowColors)", len(rowColors), m}
	}
	for j := range n {
		for _, i := range p.Col(j) {
			ok1, k1 := aloneInRow(p, columnColors, i, j)
			ok2, k2 := aloneInColumn(p, rowColors, i, j)
			if !ok1 && !ok2 {
				return invalid([]int{i}, []int{j},
					"columns %d and %d are one colour in row %d, and rows %d and %d in column %d (-1: neutral)", j, k1,
					i, i, k2, j)
			}
		}
	}
	return nil
}

// DirectlyRecoverableColumns returns nil if direct recovery is possible: the value of every entry of the pattern is an
// element of the compressed matrix. It computes the compressed matrix with sets of entries in place of numbers,
// independently of the algorithms. If symmetric is set, (i, j) and (j, i) are one value. Otherwise the error is an
// *InvalidColoringError that names the entry, or a *LengthError.
func DirectlyRecoverableColumns(p *sparsity.Pattern, colors []int, symmetric bool) error {
	_, n := p.Dims()
	if len(colors) != n {
		return &LengthError{"DirectlyRecoverableColumns", "len(colors)", len(colors), n}
	}
	// id returns the entry that stands for the value of (i, j).
	id := func(i, j int) [2]int {
		if symmetric {
			return [2]int{max(i, j), min(i, j)}
		}
		return [2]int{i, j}
	}
	compressed := map[[2]int][][2]int{} // {row, colour} → the values in this sum
	for j := range n {
		for _, i := range p.Col(j) {
			if colors[j] != 0 {
				at := [2]int{i, colors[j]}
				compressed[at] = append(compressed[at], id(i, j))
			}
		}
	}
	seen := map[[2]int]bool{}
	for _, sum := range compressed {
		if len(sum) == 1 {
			seen[sum[0]] = true
		}
	}
	for j := range n {
		for _, i := range p.Col(j) {
			if !seen[id(i, j)] {
				return invalid([]int{i}, []int{j}, "its value is nowhere alone in the compressed matrix")
			}
		}
	}
	return nil
}
