package export

import (
	"slices"

	"github.com/nabla-ad/nabla/program"
)

// longestPattern is the greatest number of terms that one iteration of a sum adds, and longestLine the greatest number
// of terms that are written out in one expression: compilers limit its depth.
const (
	longestPattern = 8
	longestLine    = 600
)

// A term of a sum is a number of a class or of a group of inputs.
type term struct {
	from  *class
	group int
	at    int
}

// follows reports whether t is in the same place as s, at a distance of its own that is returned.
func (t term) follows(s term) (stride int, ok bool) {
	if t.from != s.from || t.group != s.group {
		return 0, false
	}
	return t.at - s.at, true
}

// A stretch of a sum is a number of terms that a loop adds, some in each iteration, or terms that are written out.
type stretch struct {
	from, to int // terms
	each     int // terms in each iteration, 0 if they are written out
}

// terms returns the terms of line i.
func (p *planner) terms(i int32) []term {
	list := make([]term, len(p.lines[i].args))
	for k, slot := range p.lines[i].args {
		j := p.lineOf[slot]
		switch x := &p.lines[j]; {
		case x.op == program.Input:
			list[k] = term{group: x.group, at: x.at}
		case x.op == program.Param:
			list[k] = term{group: parameters, at: x.at}
		case x.op == program.Const:
			list[k] = term{from: p.leaf(j)}
		default:
			at := p.place[j]
			list[k] = term{from: at.class, at: int(at.lane)}
		}
	}
	return list
}

// regular returns the longest stretch of terms from t on that read their places at fixed strides, with as few terms in
// each iteration as possible. It is shorter than least iterations if there is none.
func regular(list []term, t, least int) stretch {
	best := stretch{from: t, to: t}
	for each := 1; each <= longestPattern && each <= (len(list)-t)/least; each++ {
		k := t + each
		for ; k < len(list); k++ {
			last := list[k-each]
			stride, ok := list[k].follows(last)
			if !ok {
				break
			}
			if k >= t+2*each {
				if before, _ := last.follows(list[k-2*each]); before != stride {
					break
				}
			}
		}
		if n := (k - t) / each; n >= least && n*each > best.to-t {
			best = stretch{t, t + n*each, each}
		}
	}
	return best
}

// stretches divides a sum.
func stretches(list []term, least int) (all []stretch) {
	plain := func(from, to int) { // terms that are not regular
		for from < to {
			end := from + 1
			for end < to && list[from].from != nil && list[end].from == list[from].from ||
				end < to && list[from].from == nil && list[end].from == nil && list[end].group == list[from].group {
				end++
			}
			each := 0
			if end-from >= least && (list[from].from == nil || list[from].from.kind == lanes) {
				each = 1
			}
			if k := len(all) - 1; each == 0 && k >= 0 && all[k].each == 0 {
				from = all[k].from
				all = all[:k]
			}
			for ; each == 0 && end-from > longestLine; from += longestLine {
				all = append(all, stretch{from, from + longestLine, 0})
			}
			all = append(all, stretch{from, end, each})
			from = end
		}
	}
	start := 0
	for t := 0; t < len(list); {
		s := regular(list, t, least)
		if s.to == t {
			t++
			continue
		}
		plain(start, t)
		all = append(all, s)
		t = s.to
		start = t
	}
	plain(start, len(list))
	return all
}

// looped returns the number of terms that loops add.
func looped(all []stretch) (n int) {
	for _, s := range all {
		if s.each > 0 {
			n += s.to - s.from
		}
	}
	return n
}

// long makes classes of line i, a sum, for each stretch of it.
func (p *planner) long(i int32) {
	list := p.terms(i)
	args := p.lines[i].args
	all := stretches(list, p.least)
	// The first two terms may change places: in x[0] + 0 + x[1] + … the second is where the sum begins.
	list[0], list[1] = list[1], list[0]
	if swapped := stretches(list, p.least); looped(swapped) > looped(all) {
		all, args = swapped, slices.Clone(args)
		args[0], args[1] = args[1], args[0]
	}
	var c *class
	for _, s := range all {
		from := c
		if s.each == 0 {
			c = p.newClass(part, []int32{i}, 1, 1)
			for _, a := range args[s.from:s.to] {
				c.args = append(c.args, p.arg([]int32{a}, 1))
			}
		} else {
			n := (s.to - s.from) / s.each
			c = p.newClass(reduce, []int32{i}, 1, n)
			slots := make([]int32, n)
			for k := range s.each {
				for l := range slots {
					slots[l] = args[s.from+l*s.each+k]
				}
				c.args = append(c.args, p.arg(slots, 1))
			}
		}
		if c.from = from; from != nil {
			from.last = false
		}
		p.add(c)
	}
	p.place[i] = place{c, 0}
}
