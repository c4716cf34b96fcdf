package coloring

import "github.com/nabla-ad/nabla/sparsity"

// Constant is the algorithm that returns given colours after verifying them. It accepts all colours from which every
// entry can be recovered, whether an algorithm of this package would choose them or not; 0 is the neutral colour. The
// number of colours is the largest one, so an unused colour below it costs a product.
//
// Colours from which some entry cannot be recovered are an *[InvalidColoringError], slices of the wrong length a
// *[LengthError].
type Constant struct {
	Columns []int // one colour per column; nil for a row problem
	Rows    []int // one colour per row; nil for a column problem
}

func (Constant) String() string { return "Constant" }

// Color implements [Algorithm].
func (a Constant) Color(p *sparsity.Pattern, problem Problem) (*Coloring, error) {
	problem, err := problem.checked(p)
	if err != nil {
		return nil, err
	}
	if problem.Wanted != nil {
		return nil, wantedNeedsGreedy(problem)
	}
	m, n := p.Dims()
	wantRows, wantCols := m, n
	switch problem.Partition {
	case Column:
		wantRows = 0
	case Row:
		wantCols = 0
	}
	if len(a.Columns) != wantCols {
		return nil, &LengthError{"Constant", "len(Columns)", len(a.Columns), wantCols}
	}
	if len(a.Rows) != wantRows {
		return nil, &LengthError{"Constant", "len(Rows)", len(a.Rows), wantRows}
	}
	columns, err := largest(a.Columns, false)
	if err != nil {
		return nil, err
	}
	rows, err := largest(a.Rows, true)
	if err != nil {
		return nil, err
	}
	if !problem.graphical() {
		c := &Coloring{pattern: p, problem: problem, colColors: columns, rowColors: rows}
		if problem.Partition == Row {
			c.rows = append([]int{}, a.Rows...)
			err = orthogonal(p.Transpose(), a.Rows, rows, true)
		} else {
			c.cols = append([]int{}, a.Columns...)
			err = orthogonal(p, a.Columns, columns, false)
		}
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	g := newGraph(p, problem)
	color := make([]int32, g.n)
	for j, c := range a.Columns {
		color[j] = int32(c)
	}
	for i, c := range a.Rows {
		if c > 0 {
			color[n+i] = int32(columns + c)
		}
	}
	return fromVertices(g, problem, color, columns+rows, false)
}

// largest returns the largest colour. A colour that is negative or larger than the number of vertices is an
// *InvalidColoringError, which names a row if rows is set and a column otherwise.
func largest(color []int, rows bool) (int, error) {
	top := 0
	for v, c := range color {
		if c < 0 || c > len(color) {
			if rows {
				return 0, invalid([]int{v}, nil, "colour %d; want 0 (neutral) or 1 to %d", c, len(color))
			}
			return 0, invalid(nil, []int{v}, "colour %d; want 0 (neutral) or 1 to %d", c, len(color))
		}
		top = max(top, c)
	}
	return top, nil
}

// orthogonal returns nil if no two columns of one colour have an entry in the same row and every column with entries
// has a colour, and otherwise an *InvalidColoringError. If transposed is set, p and color are those of the transposed
// matrix, and the error exchanges rows and columns. The cost is linear in the entries.
func orthogonal(p *sparsity.Pattern, color []int, colors int, transposed bool) error {
	fail := func(row int, cols []int, format string, args ...any) error {
		if transposed {
			return invalid(cols, []int{row}, format, args...)
		}
		return invalid([]int{row}, cols, format, args...)
	}
	t := p.Transpose()
	m, _ := p.Dims()
	seen := make([]int, colors+1) // colour → the column of this colour with an entry in the row, plus one
	for i := range m {
		for _, j := range t.Col(i) {
			c := color[j]
			if c == 0 {
				return fail(i, []int{j}, "it has no colour, so no product gives the entry")
			}
			if seen[c] > 0 {
				return fail(i, []int{seen[c] - 1, j}, "both have colour %d and an entry there", c)
			}
			seen[c] = j + 1
		}
		for _, j := range t.Col(i) {
			seen[color[j]] = 0
		}
	}
	return nil
}
