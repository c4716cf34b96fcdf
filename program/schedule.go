package program

import (
	"slices"

	"github.com/nabla-ad/nabla/rules"
)

// Schedule returns p in the order and shape that a Machine runs fastest: chains of additions become ordered sums, and
// equal independent operations become one statement of many lanes, so that a run dispatches once per group and not once
// per operation. The result computes the same bits.
func Schedule(p *Program) *Program {
	return group(chains(narrow(p)))
}

// narrow splits statements of fewer than fewLanes lanes into one-lane statements. A Machine runs them lane by lane
// anyway, and one-lane statements can be merged with others.
func narrow(p *Program) *Program {
	if !slices.ContainsFunc(p.Stmts, few) {
		return p
	}
	r := rewrite(p)
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if !few(*s) {
			r.place(s, r.add(r.mapped(s)))
			continue
		}
		for l := range s.N {
			t := Stmt{Op: s.Op, N: 1, K: s.K}
			if s.Op == Sum {
				slots := make([]int32, s.K)
				for k := range s.K {
					slots[k] = r.slot[p.at(s.A, l*s.K+k)]
				}
				t.A = r.gather(slots)
			} else {
				ops := [3]*Operand{&t.A, &t.B, &t.C}
				for k, o := range s.Operands() {
					*ops[k] = Slot(r.slot[p.at(o, l)])
				}
			}
			r.slot[s.D+l] = r.add(t)
		}
	}
	return r.finish()
}

// few reports whether narrow splits s.
func few(s Stmt) bool {
	return s.N > 1 && s.N < fewLanes && (s.Op.Elementary() || s.Op == Sum)
}

// chains replaces left-associated chains of additions whose partial sums have no other use by ordered sums with the
// same rounding.
func chains(p *Program) *Program {
	uses := p.uses()
	adder := make([]int32, p.Slots) // slot → index+1 of the one-lane Add that writes it, otherwise 0
	length := make([]int32, p.Slots)
	left := make([]int32, len(p.Stmts)) // statement → operand that continues its chain, or -1
	absorbed := make([]bool, len(p.Stmts))
	chained := false
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
		chained = true
	}
	if !chained {
		return p
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

// uses returns how often each slot is read; an output counts twice.
func (p *Program) uses() []int32 {
	uses := make([]int32, p.Slots)
	var reads []int32
	for i := range p.Stmts {
		reads = p.reads(reads[:0], &p.Stmts[i])
		for _, slot := range reads {
			uses[slot]++
		}
	}
	for _, s := range p.Result {
		uses[s] += 2
	}
	return uses
}

// group orders the statements so that equal one-lane operations are adjacent and merges them. It is list scheduling by
// critical path: of the ready statements it takes the one with the longest path to the end of the program, together
// with all other ready statements of its class. Others wait and so form larger groups.
func group(p *Program) *Program {
	users := p.users()
	height := make([]int32, len(p.Stmts)) // longest path from the statement to the end
	for i := len(p.Stmts) - 1; i >= 0; i-- {
		for _, u := range users.of(i) {
			height[i] = max(height[i], height[u]+1)
		}
		if p.Stmts[i].Op.Guard() {
			height[i] = 1 << 30 // run guards as early as possible: a failing one ends the run
		}
	}
	q := newReady(p, height)
	missing := make([]int32, len(p.Stmts)) // statement → number of uses of operands not yet computed
	for i := range p.Stmts {
		for _, u := range users.of(i) {
			missing[u]++
		}
	}
	gate := newGate(p)
	for _, i := range gate.calls {
		missing[i]++
	}
	r := rewrite(p)
	r.p.Outcomes = nil
	ready := func(i int32) {
		if missing[i]--; missing[i] == 0 {
			q.push(i)
		}
	}
	done := func(stmts []int32) {
		for _, i := range stmts {
			for _, u := range users.of(int(i)) {
				ready(u)
			}
			if p.Stmts[i].Op.Guard() {
				gate.pass(i, ready)
			}
		}
	}
	for i := range p.Stmts { // statements without operands come first, in program order
		if p.Stmts[i].Op.Arity() == 0 || p.Stmts[i].terms() == 0 {
			one := []int32{int32(i)}
			r.emit(one)
			done(one)
		}
	}
	for {
		stmts := q.pop()
		if stmts == nil {
			return r.finish()
		}
		if groups(&p.Stmts[stmts[0]]) {
			slices.Sort(stmts) // program order: neighbours in the source read neighbours
			if r.descends(stmts) {
				slices.Reverse(stmts)
			}
			r.emitProgressions(stmts)
		} else {
			for k := range stmts {
				r.emit(stmts[k : k+1])
			}
		}
		done(stmts)
	}
}

// descends reports whether the first operands of stmts are mostly in consecutive descending slots, as in a reverse
// sweep. Kernels need ascending ones.
func (r *rewriter) descends(stmts []int32) bool {
	down := 0
	for k, last := 0, int32(0); k < len(stmts); k++ {
		s := &r.src.Stmts[stmts[k]]
		slot := r.slot[r.src.at(s.A, 0)]
		switch {
		case k == 0:
		case slot == last-1:
			down++
		case slot == last+1:
			down--
		}
		last = slot
	}
	return down > 0
}

// A gate delays calls of custom rules until all guards before them in the program have been placed: on another branch a
// rule, which is user code, might be called with arguments it does not support.
type gate struct {
	guards, calls []int32 // in program order
	passed        []bool  // by statement
}

// newGate returns the gate of p, with its guards and the calls that come after a guard.
func newGate(p *Program) *gate {
	g := new(gate)
	if len(p.Customs) == 0 {
		return g
	}
	for i := range p.Stmts {
		switch op := p.Stmts[i].Op; {
		case op.Guard():
			g.guards = append(g.guards, int32(i))
		case op == Call && len(g.guards) > 0 && p.Stmts[i].terms() > 0:
			g.calls = append(g.calls, int32(i))
		}
	}
	g.passed = make([]bool, len(p.Stmts))
	return g
}

// pass notes that guard i has been placed, and calls open for each call that has no unplaced guard before it any more.
func (g *gate) pass(i int32, open func(call int32)) {
	if g.passed == nil {
		return
	}
	g.passed[i] = true
	for len(g.guards) > 0 && g.passed[g.guards[0]] {
		g.guards = g.guards[1:]
	}
	for len(g.calls) > 0 && (len(g.guards) == 0 || g.calls[0] < g.guards[0]) {
		open(g.calls[0])
		g.calls = g.calls[1:]
	}
}

// lists maps each statement to a list of statements, stored end to end: item[start[i]:start[i+1]].
type lists struct{ start, item []int32 }

func (l *lists) of(i int) []int32 { return l.item[l.start[i]:l.start[i+1]] }

// users returns for each statement those that read it, once per use.
func (p *Program) users() lists {
	own := p.owners()
	l := lists{start: make([]int32, len(p.Stmts)+1)}
	var reads []int32
	for i := range p.Stmts {
		reads = p.reads(reads[:0], &p.Stmts[i])
		for _, slot := range reads {
			l.start[own[slot]+1]++
		}
	}
	for i := range p.Stmts {
		l.start[i+1] += l.start[i]
	}
	l.item = make([]int32, l.start[len(p.Stmts)])
	next := slices.Clone(l.start)
	for i := range p.Stmts {
		reads = p.reads(reads[:0], &p.Stmts[i])
		for _, slot := range reads {
			from := own[slot]
			l.item[next[from]] = int32(i)
			next[from]++
		}
	}
	return l
}

// groups reports whether s can be merged with others.
func groups(s *Stmt) bool {
	return s.N == 1 && (s.Op.Elementary() || s.Op == Sum || s.Op.Guard())
}

// emit appends one statement that merges the given ones.
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
