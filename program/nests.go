package program

import (
	"cmp"
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
)

// Generated code tells a recording where the iterations of its loops begin (core.Loop). Such loops need not be
// searched for, may be longer than those that a search finds, and are those of the source. They are candidates and no
// more: the operations of their iterations are compared, and their dependencies are those of the recording.
//
// Of the loops of a nest those are tried first that make fewest statements: the outer one, unless the inner ones have
// more iterations and leave little.

// A nest is a loop of equal iterations, with those within it.
type nest struct {
	stretch
	inner []*nest
}

// A nester finds loops among those that code has marked.
type nester struct {
	codes []byte
	third func(i int) bool // whether the operand of record i before it belongs to it
	take  taker            // of iterations that begin at the start
	found []stretch
}

// nested returns the loops among runs, each in one of the given parts, in order. first is the id of the first record.
func (n *nester) nested(runs []core.Run, first int, parts []gap) []stretch {
	if len(runs) == 0 {
		return nil
	}
	all := forest(n.equal(runs, first, parts), n.codes)
	for _, g := range parts {
		n.within(all, g, nil)
	}
	slices.SortFunc(n.found, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	return n.found
}

// equal returns the parts of runs that have the same operations in each iteration.
func (n *nester) equal(runs []core.Run, first int, parts []gap) (list []*nest) {
	for _, r := range runs {
		period := int(r.Period)
		at := int(r.Start) - first
		end := at + period*(int(r.Count)+1) // one more iteration has no end that is known
		if period <= 0 || at < 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(parts, at, func(g gap, at int) int { return cmp.Compare(g.hi, at+1) })
		for ; k < len(parts) && parts[k].lo < end; k++ {
			for limit := min(end, parts[k].hi); at+leastIterations*period <= limit; {
				until := repeats(n.codes, at, period, limit)
				s := stretch{at, period, (until - at) / period}
				if s.count >= leastIterations && !n.third(at) {
					list = append(list, &nest{stretch: s})
				}
				at = s.end()
			}
		}
	}
	return list
}

// forest puts loops into those that contain them, and returns a nest with the outermost ones. A loop whose iterations
// are several of a shorter one is put into that. Loops that overlap others are left out.
func forest(list []*nest, codes []byte) *nest {
	slices.SortStableFunc(list, func(a, b *nest) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end(), a.end()), cmp.Compare(b.period, a.period))
	})
	top := &nest{stretch: stretch{0, 1, len(codes)}}
	open := []*nest{top}
	for _, s := range list {
		for s.start >= open[len(open)-1].end() {
			open = open[:len(open)-1]
		}
		within := open[len(open)-1]
		if s.end() > within.end() {
			continue
		}
		if k := len(within.inner) - 1; k >= 0 && within.inner[k].continues(s, codes) {
			last := within.inner[k]
			last.count += s.count
			open = append(open, last)
			continue
		}
		within.inner = append(within.inner, s)
		open = append(open, s)
	}
	top.shorten(codes)
	return top
}

// continues reports whether b is more iterations of a.
func (a *nest) continues(b *nest, codes []byte) bool {
	return a.period == b.period && a.end() == b.start &&
		string(codes[b.start-b.period:b.start]) == string(codes[b.start:b.start+b.period])
}

// shorten puts the loops within n whose iterations are several of a shorter loop into that.
func (n *nest) shorten(codes []byte) {
	for k, s := range n.inner {
		s.shorten(codes)
		for d := 1; 2*d <= s.period; d++ {
			if s.period%d == 0 && repeats(codes, s.start, d, s.start+s.period) == s.start+s.period {
				n.inner[k] = &nest{stretch{s.start, d, s.count * s.period / d}, []*nest{s}}
				break
			}
		}
	}
}

// statements returns the number of statements of the operations of s if the best loops are taken, and whether s itself
// is one of these.
func (s *nest) statements() (n int, itself bool) {
	n = s.period * s.count
	for _, in := range s.inner {
		k, _ := in.statements()
		n += k - in.period*in.count
	}
	return min(n, s.period), s.period <= n
}

// add adds the loops of s in g to those that have been found. refused is a loop around it that was none, or nil.
func (n *nester) add(s *nest, g gap, refused *nest) {
	again := refused != nil && refused.period == s.period && (s.start-refused.start)%s.period == 0
	if _, itself := s.statements(); itself && !again {
		for _, g := range n.roll(s.stretch, g) {
			n.within(s, g, s)
		}
		return
	}
	before := len(n.found)
	n.within(s, g, refused)
	if len(n.found) == before && !again {
		n.roll(s.stretch, g)
	}
}

// within adds the loops within s in g. Each may go on until the next one.
func (n *nester) within(s *nest, g gap, refused *nest) {
	k, _ := slices.BinarySearchFunc(s.inner, g.lo, func(in *nest, lo int) int { return cmp.Compare(in.end(), lo+1) })
	for ; k < len(s.inner) && s.inner[k].start < g.hi; k++ {
		hi := g.hi
		if k+1 < len(s.inner) {
			hi = min(hi, s.inner[k+1].start)
		}
		before := len(n.found)
		n.add(s.inner[k], gap{g.lo, hi}, refused)
		g.lo = s.inner[k].end()
		for _, loop := range n.found[before:] {
			g.lo = max(g.lo, loop.end())
		}
	}
}

// roll adds the loops among the iterations of s in g, and among equal ones before and after them, which the loops next
// to it may have. It returns the gaps between them.
func (n *nester) roll(s stretch, g gap) (rest []gap) {
	p, end := s.period, min(g.hi, s.end())
	align := func(at int) int { return s.start + (at-s.start+p-1)/p*p }
	at := align(max(g.lo, s.start))
	if at+p <= end {
		for at-p >= g.lo && string(n.codes[at-p:at]) == string(n.codes[at:at+p]) {
			at -= p
		}
		end = repeats(n.codes, at, p, g.hi)
	}
	for {
		s.start, s.count = at, (end-at)/p
		if s.count < leastIterations {
			break
		}
		loop, ok, next := n.take(s, end)
		if ok {
			n.found = append(n.found, loop)
			if loop.start > g.lo {
				rest = append(rest, gap{g.lo, loop.start})
			}
			g.lo = loop.end()
		}
		at = align(max(next, at+1))
	}
	if g.lo < g.hi {
		rest = append(rest, g)
	}
	return rest
}

// without returns the parts of the given ones that are in none of the loops, which are in order.
func without(parts []gap, loops []stretch) (rest []gap) {
	for _, g := range parts {
		for len(loops) > 0 && loops[0].start < g.hi {
			if loops[0].start > g.lo {
				rest = append(rest, gap{g.lo, loops[0].start})
			}
			g.lo = loops[0].end()
			loops = loops[1:]
		}
		if g.lo < g.hi {
			rest = append(rest, g)
		}
	}
	return rest
}
