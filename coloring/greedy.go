package coloring

import (
	"math"

	"github.com/nabla-ad/nabla/sparsity"
)

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
	// them if there are several. None means the natural order. Colourings that turn
	// out to need several times the colours of an earlier one are given up.
	Orders []Order
	// Postprocess takes the colour from vertices of which no product is needed, in
	// symmetric and bidirectional problems. Without it a bidirectional colouring
	// rarely beats one by columns or rows.
	Postprocess bool
	// ReverseCost is the cost of a product of rows in products of columns, in
	// bidirectional problems, where the cheapest colouring wins. 0 means 1.
	ReverseCost float64
	// Monitor is called now and then with the number of vertices that were visited, out
	// of total in all orders. Its error ends the search and is that of Color.
	Monitor func(done, total int) error
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

// cost returns the cost by which a compares colourings: the number of products, those of rows weighted by ReverseCost.
func (a Greedy) cost(c *Coloring) float64 {
	reverse := a.ReverseCost
	if reverse <= 0 || c.problem.Partition != Bidirectional {
		reverse = 1
	}
	return float64(c.colColors) + reverse*float64(c.rowColors)
}

// Color implements [Algorithm].
func (a Greedy) Color(p *sparsity.Pattern, problem Problem) (*Coloring, error) {
	problem, err := problem.checked(p)
	if err != nil {
		return nil, err
	}
	if !problem.graphical() {
		return a.partial(p, problem)
	}
	g := newGraph(p, problem)
	w := &watch{monitor: a.Monitor, total: g.n * len(a.orders())}
	bound := g.fewest()
	var best *Coloring
	for i, order := range a.orders() {
		if best != nil && best.Colors() <= bound {
			break
		}
		w.limit = math.MaxInt32
		switch {
		case best != nil && a.Postprocess: // which takes colours away
			w.limit = pruneFactor*best.Colors() + pruneMargin
		case best != nil && problem.Partition != Bidirectional:
			w.limit = best.Colors()
		}
		c, err := a.graphical(g, problem, order, w)
		if err != nil {
			return nil, err
		}
		w.done = (i + 1) * g.n
		if c != nil && (best == nil || a.cost(c) < a.cost(best)) {
			best, c.order = c, order
		}
	}
	return best, nil
}

// A colouring is given up beyond so many times the colours of the best one, and a few.
const (
	pruneFactor = 4
	pruneMargin = 64
)

// graphical colours g in an order. It is nil where w ended the search for its colours.
func (a Greedy) graphical(g *graph, problem Problem, order Order, w *watch) (*Coloring, error) {
	search := star
	if problem.Decompression == Substitution {
		search = acyclic
	}
	raw := search(g, order.permute(g), w)
	if raw == nil {
		return nil, w.err
	}
	color, colors := g.compact(raw)
	c, err := fromVertices(g, problem, color, colors, a.Postprocess)
	if err != nil {
		panic("coloring: our bug: a greedy colouring is invalid: " + err.Error())
	}
	return c, nil
}

func (a Greedy) partial(p *sparsity.Pattern, problem Problem) (*Coloring, error) {
	side := p
	if problem.Partition == Row {
		side = p.Transpose()
	}
	best := &Coloring{pattern: p, problem: problem}
	var color []int32
	fewest := -1
	g := newColumns(side)
	w := &watch{monitor: a.Monitor, total: g.size() * len(a.orders())}
	bound := longest(side.Transpose())
	for i, order := range a.orders() {
		if fewest == bound {
			break
		}
		c, n := distance2(side, order.permute(g), w)
		if w.err != nil {
			return nil, w.err
		}
		w.done = (i + 1) * g.size()
		if fewest < 0 || n < fewest {
			color, fewest, best.order = c, n, order
		}
	}
	if problem.Partition == Row {
		best.rows, best.rowColors = ints(color), fewest
	} else {
		best.cols, best.colColors = ints(color), fewest
	}
	return best, nil
}

// longest is the most entries in a column, which no two columns of one colour share.
func longest(p *sparsity.Pattern) (k int) {
	_, n := p.Dims()
	for j := range n {
		k = max(k, len(p.Col(j)))
	}
	return k
}

// A watch ends a search that takes too many colours or that its monitor ends.
type watch struct {
	monitor     func(done, total int) error
	done, total int
	limit       int // colours
	err         error
}

// watchEvery is the number of vertices between two calls of a monitor.
const watchEvery = 1 << 12

// ends is asked for each vertex: it reports whether the search is over, with c the
// number of the colour that the vertex got.
func (w *watch) ends(c int32) bool {
	w.done++
	if w.monitor != nil && w.done%watchEvery == 0 {
		w.err = w.monitor(min(w.done, w.total), w.total)
	}
	return int(c) > w.limit || w.err != nil
}

func ints(s []int32) []int {
	out := make([]int, len(s))
	for i, v := range s {
		out[i] = int(v)
	}
	return out
}
