package coloring

import "github.com/nabla-ad/nabla/sparsity"

// An Algorithm colours patterns.
type Algorithm interface {
	// Color returns a colouring of p for the problem. It does not change p and may
	// be called by several goroutines at once.
	Color(p *sparsity.Pattern, problem Problem) (*Coloring, error)
	String() string
}

// Greedy visits the vertices in an order and gives each the smallest colour that
// the ones before it allow. Column and row problems are partial distance-2
// colourings, symmetric problems star (Direct) or acyclic (Substitution) colourings
// of the adjacency graph, and bidirectional problems the same of the bipartite
// graph of rows and columns, with separate colours for both.
//
// The zero Greedy uses the natural order.
type Greedy struct {
	// Orders are tried one after the other; the fewest colours win, the first of
	// them if there are several. None means the natural order.
	Orders []Order
	// Postprocess takes the colour from vertices of which no product is needed, in
	// symmetric and bidirectional problems. Without it a bidirectional colouring
	// rarely beats one by columns or rows.
	Postprocess bool
}

func (a Greedy) String() string {
	s := "Greedy("
	for i, o := range a.orders() {
		if i > 0 {
			s += ", "
		}
		s += o.String()
	}
	if a.Postprocess {
		s += "; postprocessed"
	}
	return s + ")"
}

func (a Greedy) orders() []Order {
	if len(a.Orders) == 0 {
		return []Order{Natural{}}
	}
	return a.Orders
}

// Color implements [Algorithm].
func (a Greedy) Color(p *sparsity.Pattern, problem Problem) (*Coloring, error) {
	problem, err := problem.checked(p)
	if err != nil {
		return nil, err
	}
	if !problem.graphical() {
		return a.partial(p, problem), nil
	}
	g := newGraph(p, problem)
	var best *Coloring
	for _, order := range a.orders() {
		search := star
		if problem.Decompression == Substitution {
			search = acyclic
		}
		color, colors := g.compact(search(g, order.permute(g)))
		if best != nil && !a.Postprocess && colors >= best.Colors() {
			continue
		}
		c, err := fromVertices(g, problem, color, colors, a.Postprocess)
		if err != nil {
			panic("coloring: our bug: a greedy colouring is invalid: " + err.Error())
		}
		if best == nil || c.Colors() < best.Colors() {
			best, c.order = c, order
		}
	}
	return best, nil
}

func (a Greedy) partial(p *sparsity.Pattern, problem Problem) *Coloring {
	side := p
	if problem.Partition == Row {
		side = p.Transpose()
	}
	best := &Coloring{pattern: p, problem: problem}
	var color []int32
	fewest := -1
	g := newColumns(side)
	for _, order := range a.orders() {
		if c, n := distance2(side, order.permute(g)); fewest < 0 || n < fewest {
			color, fewest, best.order = c, n, order
		}
	}
	if problem.Partition == Row {
		best.rows, best.rowColors = ints(color), fewest
	} else {
		best.cols, best.colColors = ints(color), fewest
	}
	return best
}

func ints(s []int32) []int {
	out := make([]int, len(s))
	for i, v := range s {
		out[i] = int(v)
	}
	return out
}
