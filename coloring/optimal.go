package coloring

import (
	"fmt"

	"github.com/nabla-ad/nabla/sparsity"
)

// This file finds colourings with the fewest colours by branch and bound. Feasibility of a partial colouring is tested
// from the definitions of recoverable entries, so that the result is optimal among all colourings from which the matrix
// can be recovered, not only among star or acyclic ones.

// Optimal finds a colouring with the fewest colours of all that [Constant] accepts, by branch and bound, starting from
// the best greedy one. It takes exponential time and is meant for matrices of a few dozen rows and columns, and to
// assess greedy colourings. Symmetric and bidirectional problems are harder than the others.
type Optimal struct {
	// Budget bounds the number of assignments of a colour to a vertex. If it does not suffice, the error is a
	// *BudgetError, which carries the best colouring found. Zero means a million.
	Budget int
}

func (a Optimal) String() string { return fmt.Sprintf("Optimal(%d)", a.budget()) }

// budget returns Budget or its default.
func (a Optimal) budget() int {
	if a.Budget > 0 {
		return a.Budget
	}
	return 1_000_000
}

// Color implements [Algorithm].
func (a Optimal) Color(p *sparsity.Pattern, problem Problem) (*Coloring, error) {
	greedy := Greedy{Postprocess: true,
		Orders: []Order{Natural{}, LargestFirst{}, SmallestLast, IncidenceDegree, DynamicLargestFirst, Random{0},
			Random{1}}}
	if problem.Wanted != nil {
		return nil, wantedNeedsGreedy(problem)
	}
	best, err := greedy.Color(p, problem)
	if err != nil {
		return nil, err
	}
	s := &exact{best: best.Colors(), budget: a.budget()}
	problem = best.problem
	if problem.graphical() {
		s.graph(best.g, problem)
	} else {
		s.columns(p, problem)
	}
	s.search(0)
	if s.found != nil {
		given := Constant{}
		_, n := p.Dims()
		switch problem.Partition {
		case Column:
			given.Columns = s.found
		case Row:
			given.Rows = s.found
		default:
			given.Columns, given.Rows = s.found[:n], s.found[n:]
		}
		if best, err = given.Color(p, problem); err != nil {
			panic("coloring: our bug: an optimal colouring is invalid: " + err.Error())
		}
	} else {
		c := *best // the result depends on no order
		c.order = nil
		best = &c
	}
	if s.budget < 0 {
		return nil, &BudgetError{a.budget(), best}
	}
	return best, nil
}

// An exact is a branch-and-bound search: it gives the vertices in turn every colour in use, a new one, and the neutral
// one if allowed, as long as the partial colouring is feasible and has fewer colours than the best. Colouring further
// vertices never makes an infeasible partial colouring feasible, so no optimum is pruned.
type exact struct {
	order    []int32            // in which the vertices are coloured
	color    []int              // vertex → its colour, from 1, 0 for neutral, -1 if it has none yet
	side     func(v int32) int  // returns 0 for a vertex of a column and 1 for one of a row
	neutral  func(v int32) bool // reports whether v may be neutral
	feasible func(v int32) bool // reports whether the partial colouring is feasible after v was coloured

	used        [2]int // side → number of colours in use
	best, lower int    // the fewest colours found so far, and a lower bound
	found       []int  // the colours of the best result of the search, nil if it is the greedy one
	budget      int    // assignments left; negative if exhausted
}

// search extends the partial colouring of the first t vertices of order in all feasible ways, and stores the best
// result in found. A new colour is tried only with the next number, which excludes permutations of colours.
func (s *exact) search(t int) {
	if s.best <= s.lower || s.budget < 0 {
		return
	}
	if t == len(s.order) {
		s.best = s.used[0] + s.used[1]
		s.found = append([]int(nil), s.color...)
		return
	}
	v := s.order[t]
	side := s.side(v)
	from := 1
	if s.neutral(v) {
		from = 0
	}
	before := s.used
	for c := from; c <= before[side]+1; c++ {
		if c > before[side] {
			s.used[side] = c
		}
		if s.used[0]+s.used[1] >= s.best {
			break
		}
		if s.budget--; s.budget < 0 {
			break
		}
		s.color[v] = c
		if s.feasible(v) {
			s.search(t + 1)
		}
	}
	s.color[v] = -1
	s.used = before
}

// start sets the order, and leaves all vertices uncoloured. In order of incidence degree infeasible colours are
// detected early.
func (s *exact) start(g vertices) {
	s.order = IncidenceDegree.permute(g)
	s.color = make([]int, g.size())
	for v := range s.color {
		s.color[v] = -1
	}
}

// columns prepares s for a column or row problem: adjacent vertices of the column intersection graph must differ. The
// longest row is a lower bound.
func (s *exact) columns(p *sparsity.Pattern, problem Problem) {
	if problem.Partition == Row {
		p = p.Transpose()
	}
	g := newColumns(p)
	s.start(g)
	near := make([][]int32, g.size())
	for v := range near {
		near[v] = g.neighbors(int32(v), nil)
	}
	m, _ := p.Dims()
	for i := range m {
		s.lower = max(s.lower, len(p.Transpose().Col(i)))
	}
	s.side = func(int32) int { return 0 }
	s.neutral = func(v int32) bool { return len(p.Col(int(v))) == 0 }
	s.feasible = func(v int32) bool {
		for _, w := range near[v] {
			if s.color[w] == s.color[v] {
				return false
			}
		}
		return true
	}
}

// graph prepares s for a symmetric or bidirectional problem. Direct recovery requires that every edge with two coloured
// ends can be read at one of them; the colour of v affects only edges at v and at its neighbours. Substitution is
// tested by simulating it.
func (s *exact) graph(g *graph, problem Problem) {
	s.start(g)
	s.side = func(v int32) int {
		if int(v) < g.cols {
			return 0
		}
		return 1
	}
	s.neutral = func(v int32) bool { return g.diag == nil || !g.diag[v] }
	if problem.Decompression == Substitution {
		s.feasible = func(int32) bool { return s.substitutable(g) }
		return
	}
	s.feasible = func(v int32) bool {
		for _, w := range append([]int32{v}, g.neighbors(v, nil)...) {
			if s.color[w] < 0 {
				continue
			}
			for _, x := range g.neighbors(w, nil) {
				if s.color[x] < 0 {
					continue
				}
				if g.diag != nil && g.diag[w] && s.color[x] == s.color[w] {
					return false
				}
				if !s.alone(g, w, x) && !s.alone(g, x, w) {
					return false
				}
			}
		}
		return true
	}
}

// alone reports whether h has a colour and neither spoke itself, if its diagonal entry is present, nor another
// neighbour of spoke has this colour, so that the edge between them can be read from the product of h.
func (s *exact) alone(g *graph, spoke, h int32) bool {
	if s.color[h] == 0 || g.diag != nil && g.diag[spoke] && s.color[spoke] == s.color[h] {
		return false
	}
	for _, x := range g.neighbors(spoke, nil) {
		if x != h && s.color[x] == s.color[h] {
			return false
		}
	}
	return true
}

// substitutable reports whether the edges with two coloured ends can be recovered by substitution. It solves repeatedly
// for edges that are the last unknown of a sum, until all are known or none can be solved for.
func (s *exact) substitutable(g *graph) bool {
	// known maps an edge to whether its value is recovered.
	known := make([]bool, len(g.ends))
	// solves reports whether e is the last unknown term in component leaf of the product of the colour of parent.
	solves := func(e, leaf, parent int32) bool {
		if s.color[parent] == 0 {
			return false
		}
		for k := g.ptr[leaf]; k < g.ptr[leaf+1]; k++ {
			if g.edge[k] != e && !known[g.edge[k]] && s.color[g.adj[k]] == s.color[parent] {
				return false
			}
		}
		return true
	}
	for again := true; again; {
		again = false
		left := false
		for e := range int32(len(g.ends)) {
			a, b := g.ends[e][0], g.ends[e][1]
			if known[e] || s.color[a] < 0 || s.color[b] < 0 {
				continue
			}
			if g.diag != nil && s.color[a] == s.color[b] {
				return false
			}
			if solves(e, a, b) || solves(e, b, a) {
				known[e], again = true, true
			} else {
				left = true
			}
		}
		if !left {
			return true
		}
	}
	return false
}
