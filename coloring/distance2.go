package coloring

import "github.com/nabla-ad/nabla/sparsity"

// heavy is the number of entries from which the colours in a row (of a graph: the colours of the neighbours of a
// vertex) are stored in a set instead of being collected from the entries. Without such sets one dense row would cost
// the square of its length. The value was chosen for speed and changes no colour; tests lower it.
var heavy = 96

// distance2 returns the first-fit partial distance-2 colouring of the columns of p in the given order, colours from 1,
// and the number of colours: Algorithm 3.2 of Gebremedhin, Manne and Pothen, "What color is your Jacobian? Graph
// coloring for computing derivatives", SIAM Review 47 (2005). Only the entries of wanted, a part of p, have to be
// recovered: two columns may share a row, and a colour, if it wants neither of their entries. Columns without wanted
// entries get colour 0. The cost is the sum of the squared lengths of the rows, less for rows of at least heavy
// entries. distance2 returns nil if watch ends the search.
func distance2(p, wanted *sparsity.Pattern, order []int32, watch *watch) (color []int32, colors int) {
	rows, cols := p.Dims()
	t, tw := p.Transpose(), wanted.Transpose()
	color = make([]int32, cols)
	forbidden := make([]int32, cols+2) // colour c → v+1 if a column in conflict with v has it
	// long maps a heavy row to the colours of its columns, and other rows to nil; longWanted to those of its columns
	// whose entries are wanted.
	long, longWanted := make([]*colorSet, rows), make([]*colorSet, rows)
	for i := range rows {
		if len(t.Col(i)) >= heavy {
			long[i], longWanted[i] = new(colorSet), new(colorSet)
			if wanted == p {
				longWanted[i] = long[i]
			}
		}
	}
	var near []*colorSet
	for _, v := range order {
		mine := wanted.Col(int(v))
		if len(mine) == 0 {
			continue
		}
		c := int32(1)
		near = near[:0]
		next := 0 // the first row of mine that has not been visited
		for _, i := range p.Col(int(v)) {
			sets, columns := longWanted, tw
			if next < len(mine) && mine[next] == i {
				sets, columns = long, t
				next++
			}
			if l := sets[i]; l != nil {
				near = append(near, l)
				c = max(c, l.free)
				continue
			}
			for _, w := range columns.Col(i) {
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
		next = 0
		for _, i := range p.Col(int(v)) {
			isWanted := next < len(mine) && mine[next] == i
			if isWanted {
				next++
			}
			if long[i] == nil {
				continue
			}
			long[i].add(c)
			if isWanted && wanted != p {
				longWanted[i].add(c)
			}
		}
	}
	return color, colors
}

// readAt returns the row and the column at which entry (i, j) of the symmetric matrix with pattern p is recovered: that
// in the shorter row, which has fewer columns to be told apart.
func readAt(p *sparsity.Pattern, i, j int) (row, column int) {
	li, lj := len(p.Col(i)), len(p.Col(j)) // the pattern is symmetric: columns are rows
	if li < lj || li == lj && i <= j {
		return i, j
	}
	return j, i
}

// oriented returns the part of wanted, a symmetric part of p, at which values are recovered: one entry for each pair.
func oriented(p, wanted *sparsity.Pattern) *sparsity.Pattern {
	_, n := wanted.Dims()
	ptr, idx := make([]int, 1, n+1), make([]int, 0, wanted.NNZ())
	for j := range n {
		for _, i := range wanted.Col(j) {
			if _, column := readAt(p, i, j); i == j || column == j {
				idx = append(idx, i)
			}
		}
		ptr = append(ptr, len(idx))
	}
	o, err := sparsity.New(n, n, ptr, idx)
	if err != nil {
		panic("coloring: our bug: a part of a pattern is none: " + err.Error())
	}
	return o
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
