package coloring

import (
	"math"

	"github.com/nabla-ad/nabla/sparsity"
)

// An Algorithm computes colourings of patterns.
type Algorithm interface {
	// Color returns a colouring of p for the problem. It does not modify p and may be called concurrently.
	Color(p *sparsity.Pattern, problem Problem) (*Coloring, error)
	String() string
}

// Greedy visits the vertices in an order and gives each the smallest colour that its predecessors allow. Column and row
// problems are partial distance-2 colourings, symmetric problems star (Direct) or acyclic (Substitution) colourings of
// the adjacency graph, and bidirectional problems star or acyclic colourings of the bipartite graph of rows and
// columns, with separate colours for both.
//
// The colourings are Algorithm 3.2 of Gebremedhin, Manne and Pothen, SIAM Review 47 (2005), and Algorithms 4.1 (star)
// and 3.1 (acyclic) of Gebremedhin, Tarafdar, Manne and Pothen, SIAM J. Sci. Comput. 29 (2007). The cost for an order
// is at most the sum of the squared lengths of the rows for a column problem, and for star and acyclic colourings the
// sum of the degrees of the neighbours of all vertices. Rows and vertices with a hundred entries or more cost less.
//
// For some wanted entries, columns or rows get a partial distance-2 colouring in which two of them conflict only where
// a wanted entry of one would be added to an entry of the other; those without wanted entries get colour 0. Of the two
// entries of a symmetric matrix for one value, the one in the shorter row is recovered.
//
// The zero Greedy uses the natural order.
type Greedy struct {
	// Orders are tried in turn; the colouring of least cost, which is the number of colours unless ReverseCost is set,
	// is returned, the first of them if there are several. Nil means the natural order. A search that exceeds several
	// times the colours of an earlier result is abandoned.
	Orders []Order
	// Postprocess makes vertices neutral whose product is not needed, in symmetric and bidirectional problems. Without
	// it a bidirectional colouring rarely beats one by columns or rows.
	Postprocess bool
	// ReverseCost is the cost of a product of rows in units of a product of columns, for bidirectional problems, for
	// which the cheapest colouring is chosen. 0 means 1.
	ReverseCost float64
	// Monitor, if not nil, is called once per some thousand visited vertices, with the number of vertices visited so
	// far and the total over all orders. If it returns an error, the search ends and Color returns this error.
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

// orders returns the orders to try, at least one.
func (a Greedy) orders() []Order {
	if len(a.Orders) == 0 {
		return []Order{Natural{}}
	}
	return a.Orders
}

// cost returns the cost by which a compares colourings: the number of products, with those of rows weighted by
// ReverseCost.
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
	bound := g.lowerBound()
	var best *Coloring
	for i, order := range a.orders() {
		if best != nil && best.Colors() <= bound {
			break
		}
		w.limit = math.MaxInt32
		switch {
		case best != nil && a.Postprocess: // neutralize may remove colours from a larger colouring
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

// A search is abandoned if it uses more than pruneFactor times the colours of the best result plus pruneMargin, if
// postprocessing could still reduce them.
const (
	pruneFactor = 4
	pruneMargin = 64
)

// graphical returns the colouring of g in an order: star or, with Substitution, acyclic. It returns nil without an
// error if w ended the search for its number of colours.
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

// partial returns the best partial distance-2 colouring of the columns, or rows, of p over all orders, for all entries
// or for those that are wanted. It stops when the number of colours equals its lower bound, the length of the longest
// row.
func (a Greedy) partial(p *sparsity.Pattern, problem Problem) (*Coloring, error) {
	side, wanted := p, p
	switch {
	case problem.Structure == Symmetric:
		wanted = oriented(p, problem.Wanted)
	case problem.Wanted != nil:
		wanted = problem.Wanted
	}
	if problem.Partition == Row {
		side, wanted = p.Transpose(), wanted.Transpose()
	}
	best := &Coloring{pattern: p, problem: problem}
	var color []int32
	fewest := -1
	g := newColumns(side)
	w := &watch{monitor: a.Monitor, total: g.size() * len(a.orders())}
	bound := maxColumnLength(wanted.Transpose())
	for i, order := range a.orders() {
		if fewest == bound {
			break
		}
		c, n := distance2(side, wanted, order.permute(g), w)
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

// maxColumnLength returns the largest number of entries in a column of p. Rows that share a column need different
// colours, so it is a lower bound for colourings of the rows.
func maxColumnLength(p *sparsity.Pattern) (k int) {
	_, n := p.Dims()
	for j := range n {
		k = max(k, len(p.Col(j)))
	}
	return k
}

// A watch ends a search that uses too many colours or that its monitor ends.
type watch struct {
	monitor     func(done, total int) error
	done, total int   // visited vertices, in all orders
	limit       int   // the largest number of a colour, from 0, with which the search goes on
	err         error // of the monitor
}

// watchEvery is the number of vertices between two calls of a monitor, chosen so that the calls cost next to nothing.
const watchEvery = 1 << 12

// ends counts a visited vertex, calls the monitor if it is due, and reports whether the search must end; c is the
// number, from 0, of the colour that the vertex got in its palette.
func (w *watch) ends(c int32) bool {
	w.done++
	if w.monitor != nil && w.done%watchEvery == 0 {
		w.err = w.monitor(min(w.done, w.total), w.total)
	}
	return int(c) > w.limit || w.err != nil
}

// ints returns a copy of s.
func ints(s []int32) []int {
	out := make([]int, len(s))
	for i, v := range s {
		out[i] = int(v)
	}
	return out
}
