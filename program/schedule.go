package program

import (
	"cmp"
	"slices"

	"github.com/nabla-ad/nabla/rules"
)

// Schedule returns p in the order and shape that a Machine runs fastest: chains of
// additions become ordered sums, and equal operations that do not depend on each
// other become one statement of many lanes, so that a run dispatches once per
// group and not once per operation. The result computes the same bits.
func Schedule(p *Program) *Program {
	return group(chains(p))
}

// chains turns left chains of additions, s = s + t, whose partial sums have no
// other use, into ordered sums.
func chains(p *Program) *Program {
	uses := make([]int32, p.Slots)
	for i := range p.Stmts {
		s := &p.Stmts[i]
		for _, o := range s.Operands() {
			if o.Stride == 0 && s.terms() > 0 {
				uses[o.Base]++
				continue
			}
			for l := range s.terms() {
				uses[p.at(o, l)]++
			}
		}
	}
	for _, s := range p.Result {
		uses[s] += 2
	}
	adder := make([]int32, p.Slots) // statement+1 that writes the slot, if a one-lane Add
	length := make([]int32, p.Slots)
	left := make([]int32, len(p.Stmts)) // the operand that continues the chain, or -1
	absorbed := make([]bool, len(p.Stmts))
	for i := range p.Stmts {
		s := &p.Stmts[i]
		left[i] = -1
		if s.Op != Op(rules.Add) || s.N != 1 {
			continue
		}
		a, b := p.at(s.A, 0), p.at(s.B, 0)
		adder[s.D] = int32(i) + 1
		length[s.D] = 2
		open := func(x int32) bool { return adder[x] != 0 && uses[x] == 1 }
		switch {
		case open(a) && (!open(b) || length[a] >= length[b]):
			left[i] = a
		case open(b):
			left[i] = b
		default:
			continue
		}
		absorbed[adder[left[i]]-1] = true
		length[s.D] = length[left[i]] + 1
	}
	r := rewrite(p)
	var terms []int32
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if absorbed[i] {
			continue
		}
		if left[i] < 0 {
			r.place(s, r.add(r.mapped(s)))
			continue
		}
		terms = terms[:0]
		for j := i; ; {
			t := &p.Stmts[j]
			a, b := p.at(t.A, 0), p.at(t.B, 0)
			if left[j] < 0 {
				terms = append(terms, r.slot[b], r.slot[a])
				break
			}
			if left[j] == b {
				a, b = b, a
			}
			terms = append(terms, r.slot[b])
			j = int(adder[a] - 1)
		}
		slices.Reverse(terms)
		r.slot[s.D] = r.add(Stmt{Op: Sum, N: 1, K: int32(len(terms)), A: r.gather(terms)})
	}
	return r.finish()
}

// group sorts statements by the longest path that leads to them and merges equal
// one-lane operations of one level.
func group(p *Program) *Program {
	level := make([]int32, p.Slots+1) // one more for the address of a call without arguments
	of := make([]int32, len(p.Stmts))
	deepest := int32(0)
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if s.Op.Arity() == 0 {
			continue
		}
		d := int32(0)
		for _, o := range s.Operands() {
			if o.Stride == 0 && s.terms() > 0 {
				d = max(d, level[o.Base])
				continue
			}
			for l := range s.terms() {
				d = max(d, level[p.at(o, l)])
			}
		}
		d++
		of[i] = d
		deepest = max(deepest, d)
		for l := range s.Width() {
			level[s.D+l] = d
		}
	}
	order := make([]int32, len(p.Stmts)) // by level, program order inside
	start := make([]int32, deepest+2)
	for _, d := range of {
		start[d+1]++
	}
	for d := range deepest + 1 {
		start[d+1] += start[d]
	}
	next := slices.Clone(start)
	for i, d := range of {
		order[next[d]] = int32(i)
		next[d]++
	}
	r := rewrite(p)
	r.p.Outcomes = nil
	for d := range deepest + 1 {
		stmts := order[start[d]:start[d+1]]
		if d > 0 {
			slices.SortStableFunc(stmts, func(i, j int32) int {
				s, t := &p.Stmts[i], &p.Stmts[j]
				if c := cmp.Compare(groupKey(s), groupKey(t)); c != 0 {
					return c
				}
				// Equal operations on neighbouring values stand together.
				return cmp.Compare(level[s.A.Base&^(s.A.Stride>>31)], level[t.A.Base&^(t.A.Stride>>31)])
			})
		}
		for len(stmts) > 0 {
			n := 1
			s := &p.Stmts[stmts[0]]
			if groups(s) && d > 0 {
				for n < len(stmts) && groups(&p.Stmts[stmts[n]]) && groupKey(&p.Stmts[stmts[n]]) == groupKey(s) {
					n++
				}
			}
			r.emit(stmts[:n])
			stmts = stmts[n:]
		}
	}
	return r.finish()
}

// groups reports whether s can be merged with others.
func groups(s *Stmt) bool {
	return s.N == 1 && (s.Op.Elementary() || s.Op == Sum || s.Op.Guard())
}

// groupKey orders the statements of a level; equal keys can be merged. Guards
// come first: a run that has to be given up is given up early.
func groupKey(s *Stmt) uint64 {
	k := uint64(s.Op) << 40
	if s.Op.Guard() {
		k = uint64(s.Op)
	}
	if !groups(s) {
		k |= 1 << 39
	}
	if s.Op == Sum {
		k |= uint64(uint32(s.K))
	}
	return k
}

// emit writes one statement for all of the given ones.
func (r *rewriter) emit(stmts []int32) {
	s := &r.src.Stmts[stmts[0]]
	t := r.mapped(s)
	if n := int32(len(stmts)); n > 1 {
		t.N = n
		ops := [3]*Operand{&t.A, &t.B, &t.C}
		slots := make([]int32, 0, n*max(s.K, 1))
		for i := range s.Op.Arity() {
			slots = slots[:0]
			for _, j := range stmts {
				u := &r.src.Stmts[j]
				o := u.Operands()[i]
				for l := range u.terms() {
					slots = append(slots, r.slot[r.src.at(o, l)])
				}
			}
			*ops[i] = r.gather(slots)
		}
	}
	if s.Op.Guard() {
		t.C.Base = int32(len(r.p.Outcomes))
		for _, j := range stmts {
			u := &r.src.Stmts[j]
			r.p.Outcomes = append(r.p.Outcomes, r.src.Outcomes[u.C.Base:u.C.Base+u.N]...)
		}
	}
	d := r.add(t)
	for k, j := range stmts {
		u := &r.src.Stmts[j]
		if len(stmts) == 1 {
			r.place(u, d)
		} else if u.Width() > 0 {
			r.slot[u.D] = d + int32(k)
		}
	}
}
