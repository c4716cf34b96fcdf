package program

import (
	"slices"

	"github.com/nabla-ad/nabla/rules"
)

// Schedule returns p in the order and shape that a Machine runs fastest: chains of additions become ordered sums, and
// equal independent operations become one statement of many lanes, so that a run dispatches once per group and not once
// per operation. The result computes the same bits.
func Schedule(p *Program) *Program {
	return pieces(group(chains(narrow(p))))
}

// narrow splits statements of fewer than fewLanes lanes into one-lane statements. A Machine runs them lane by lane
// anyway, and one-lane statements can be merged with others. That is why it splits those of short loops, too.
func narrow(p *Program) *Program {
	few := func(s Stmt) bool {
		return s.wide() && (s.N < fewLanes || s.N >= leastIterations && s.N < leastPiece)
	}
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
			r.lane(s, l)
		}
	}
	return r.finish()
}

// wide reports whether s is an elementary function or a sum of many lanes.
func (s *Stmt) wide() bool { return s.N > 1 && (s.Op.Elementary() || s.Op == Sum) }

// lane appends lane l of s as a statement of its own.
func (r *rewriter) lane(s *Stmt, l int32) {
	t := Stmt{Op: s.Op, N: 1, K: s.K}
	if s.Op == Sum {
		slots := make([]int32, s.K)
		for k := range s.K {
			slots[k] = r.slot[r.src.at(s.A, l*s.K+k)]
		}
		t.A = r.gather(slots)
	} else {
		ops, from := [3]*Operand{&t.A, &t.B, &t.C}, [3]Operand{s.A, s.B, s.C}
		for k := range s.Op.Arity() {
			*ops[k] = Slot(r.slot[r.src.at(from[k], l)])
		}
	}
	r.slot[s.D+l] = r.add(t)
}

// chains replaces left-associated chains of additions whose partial sums have no other use by ordered sums with the
// same rounding.
func chains(p *Program) *Program {
	c := &chained{p: p, uses: p.uses(), adder: make([]int32, p.Slots), length: make([]int32, len(p.Stmts)),
		next: make([]int32, len(p.Stmts))}
	absorbed := make([]bool, len(p.Stmts))
	found := false
	for i := range p.Stmts {
		s := &p.Stmts[i]
		c.next[i] = -1
		if s.Op != Op(rules.Add) || s.N == 0 {
			continue
		}
		c.adder[s.D] = int32(i) + 1
		c.length[i] = 2
		a, b := c.open(s.A, s.N), c.open(s.B, s.N)
		switch {
		case a >= 0 && (b < 0 || c.length[a] >= c.length[b]):
			c.next[i] = a
		case b >= 0:
			c.next[i], c.swapped = b, append(c.swapped, int32(i))
		default:
			continue
		}
		absorbed[c.next[i]] = true
		c.length[i] = c.length[c.next[i]] + 1
		found = true
	}
	if !found {
		return p
	}
	r := rewrite(p)
	for i := range p.Stmts {
		s := &p.Stmts[i]
		switch {
		case absorbed[i]:
		case c.next[i] < 0:
			r.place(s, r.add(r.mapped(s)))
		default:
			r.place(s, r.add(Stmt{Op: Sum, N: s.N, K: c.length[i], A: r.gather(c.terms(r, i))}))
		}
	}
	return r.finish()
}

// Chained has the chains of additions in a program.
type chained struct {
	p       *Program
	uses    []int32 // slot → how often it is read
	adder   []int32 // first slot of the result of an addition → its statement, +1; otherwise 0
	length  []int32 // statement → terms of the chain that ends with it
	next    []int32 // statement → the addition before it in its chain, or -1
	swapped []int32 // the statements of which that is the second operand, ascending
	list    []int32 // scratch
}

// open returns the addition of n lanes that has o as its result, if nothing else reads it, and otherwise -1.
func (c *chained) open(o Operand, n int32) int32 {
	d := c.p.at(o, 0)
	i := c.adder[d] - 1
	if i < 0 || c.p.Stmts[i].N != n || n > 1 && o.Stride != 1 {
		return -1
	}
	for _, u := range c.uses[d:][:n] {
		if u != 1 {
			return -1
		}
	}
	return i
}

// terms returns the new slots of the terms of the chain that ends with statement i, lane by lane. They are valid until
// the next call.
func (c *chained) terms(r *rewriter, i int) []int32 {
	n, k := c.p.Stmts[i].N, c.length[i]
	list := slices.Grow(c.list[:0], int(n*k))[:n*k]
	put := func(o Operand, t int32) {
		for l := range n {
			list[l*k+t] = r.slot[c.p.at(o, l)]
		}
	}
	for t := k - 1; ; t-- {
		s := &c.p.Stmts[i]
		if c.next[i] < 0 {
			put(s.B, 1)
			put(s.A, 0)
			break
		}
		if _, swapped := slices.BinarySearch(c.swapped, int32(i)); swapped {
			put(s.A, t)
		} else {
			put(s.B, t)
		}
		i = int(c.next[i])
	}
	c.list = list
	return list
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
