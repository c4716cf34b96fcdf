package coloring

import "github.com/nabla-ad/nabla/sparsity"

// heavy is the number of entries from which the colours in a row (of a graph: the colours of the neighbours of a
// vertex) are stored in a set instead of being collected from the entries. Without such sets one dense row would cost
// the square of its length. The value was chosen for speed and changes no colour; tests lower it.
var heavy = 96

// distance2 returns the first-fit partial distance-2 colouring of the columns of p in the given order, colours from 1,
// and the number of colours: Algorithm 3.2 of Gebremedhin, Manne and Pothen, "What color is your Jacobian? Graph
// coloring for computing derivatives", SIAM Review 47 (2005). Columns without entries get colour 0. The cost is the sum
// of the squared lengths of the rows, less for rows of at least heavy entries. distance2 returns nil if watch ends the
// search.
func distance2(p *sparsity.Pattern, order []int32, watch *watch) (color []int32, colors int) {
	rows, cols := p.Dims()
	t := p.Transpose()
	color = make([]int32, cols)
	forbidden := make([]int32, cols+2) // colour c → v+1 if a column that shares a row with v has it
	// long maps a heavy row to the colours of its columns, and other rows to nil.
	long := make([]*colorSet, rows)
	for i := range rows {
		if len(t.Col(i)) >= heavy {
			long[i] = new(colorSet)
		}
	}
	var near []*colorSet
	for _, v := range order {
		column := p.Col(int(v))
		if len(column) == 0 {
			continue
		}
		c := int32(1)
		near = near[:0]
		for _, i := range column {
			if l := long[i]; l != nil {
				near = append(near, l)
				c = max(c, l.free)
				continue
			}
			for _, w := range t.Col(i) {
				forbidden[color[w]] = v + 1
			}
		}
	search:
		for ; ; c++ {
			if forbidden[c] == v+1 {
				continue
			}
			for _, l := range near {
				if l.has(c) {
					continue search
				}
			}
			break
		}
		color[v] = c
		colors = max(colors, int(c))
		if watch.ends(0) {
			return nil, 0
		}
		for _, l := range near {
			l.add(c)
		}
	}
	return color, colors
}

// A colorSet is a set of colours, counted from 1, that maintains its smallest missing colour.
type colorSet struct {
	words []uint64 // bit c%64 of words[c/64] is set if the set has colour c
	free  int32    // the smallest missing colour; 0 means 1
}

// has reports whether c is in the set.
func (s *colorSet) has(c int32) bool {
	return int(c>>6) < len(s.words) && s.words[c>>6]>>(c&63)&1 != 0
}

// add inserts c. The total cost of updating free is linear in the number of colours.
func (s *colorSet) add(c int32) {
	for int(c>>6) >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[c>>6] |= 1 << (c & 63)
	s.free = max(s.free, 1)
	for s.has(s.free) {
		s.free++
	}
}

// A columns is the column intersection graph of p, in which columns that share a row are adjacent. It is not stored:
// neighbors enumerates the edges from p and its transpose t.
type columns struct {
	p, t  *sparsity.Pattern
	mark  []int32 // column → stamp of the last call that visited it
	stamp int32   // counts the calls of neighbors
}

// newColumns returns the column intersection graph of p.
func newColumns(p *sparsity.Pattern) *columns {
	_, cols := p.Dims()
	return &columns{p: p, t: p.Transpose(), mark: make([]int32, cols)}
}

// size implements [vertices].
func (g *columns) size() int { return len(g.mark) }

// neighbors implements [vertices].
func (g *columns) neighbors(v int32, buf []int32) []int32 {
	g.stamp++
	g.mark[v] = g.stamp
	for _, i := range g.p.Col(int(v)) {
		for _, w := range g.t.Col(i) {
			if g.mark[w] != g.stamp {
				g.mark[w] = g.stamp
				buf = append(buf, int32(w))
			}
		}
	}
	return buf
}
