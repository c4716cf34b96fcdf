package program

import (
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

// group orders the statements so that equal one-lane operations stand together and
// merges them. It is list scheduling: of the operations that are ready, take the
// one from which the longest path leads to the end, and with it all others that are
// ready and equal. What does not hurry waits until it makes a large group.
func group(p *Program) *Program {
	users := p.users()
	height := make([]int32, len(p.Stmts)) // longest path from the statement to the end
	for i := len(p.Stmts) - 1; i >= 0; i-- {
		for _, u := range users.of(i) {
			height[i] = max(height[i], height[u]+1)
		}
		if p.Stmts[i].Op.Guard() {
			height[i] = 1 << 30 // a run that has to be given up is given up early
		}
	}
	q := newReady(p, height)
	missing := make([]int32, len(p.Stmts)) // operands not yet computed, each use counted
	for i := range p.Stmts {
		for _, u := range users.of(i) {
			missing[u]++
		}
	}
	r := rewrite(p)
	r.p.Outcomes = nil
	done := func(stmts []int32) {
		for _, i := range stmts {
			for _, u := range users.of(int(i)) {
				if missing[u]--; missing[u] == 0 {
					q.push(u)
				}
			}
		}
	}
	for i := range p.Stmts { // what reads nothing comes first, in its order
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
			r.emit(stmts)
		} else {
			for k := range stmts {
				r.emit(stmts[k : k+1])
			}
		}
		done(stmts)
	}
}

// descends reports whether the first operands of stmts stand one after the other
// downwards, as in a reverse sweep: kernels read upwards.
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

// lists holds a list of statements for each statement, end to end.
type lists struct{ start, item []int32 }

func (l *lists) of(i int) []int32 { return l.item[l.start[i]:l.start[i+1]] }

// users lists for each statement those that read it, once per use.
func (p *Program) users() lists {
	own := p.owners()
	l := lists{start: make([]int32, len(p.Stmts)+1)}
	each := func(visit func(from, to int32)) {
		for i := range p.Stmts {
			s := &p.Stmts[i]
			ops := [3]Operand{s.A, s.B, s.C}
			for _, o := range ops[:s.Op.Arity()] {
				if o.Stride == 0 && s.terms() > 0 {
					visit(own[o.Base], int32(i))
					continue
				}
				for t := range s.terms() {
					visit(own[p.at(o, t)], int32(i))
				}
			}
		}
	}
	each(func(from, _ int32) { l.start[from+1]++ })
	for i := range p.Stmts {
		l.start[i+1] += l.start[i]
	}
	l.item = make([]int32, l.start[len(p.Stmts)])
	next := slices.Clone(l.start)
	each(func(from, to int32) {
		l.item[next[from]] = to
		next[from]++
	})
	return l
}

// readyQueue holds the statements that can run, by what they can be merged with.
type readyQueue struct {
	p       *Program
	height  []int32
	byOp    [512]int32      // class+1 of an operation, of one lane and of many
	sums    map[int32]int32 // class of the one-lane sums of K terms
	classes []readyClass
	urgent  []urgency // a heap; entries that are no longer true are passed over
	spare   []int32
}

type readyClass struct {
	stmts []int32
	top   int32 // greatest height among them, -1 for none
}

// urgency says that the most urgent statement of a class has the given height.
type urgency struct{ height, class int32 }

func newReady(p *Program, height []int32) *readyQueue {
	return &readyQueue{p: p, height: height, sums: map[int32]int32{}}
}

// class is the class of the statements that can be merged with s.
func (q *readyQueue) class(s *Stmt) int32 {
	if s.Op == Sum && s.N == 1 {
		k, ok := q.sums[s.K]
		if !ok {
			k = q.fresh()
			q.sums[s.K] = k
		}
		return k
	}
	key := int(s.Op)
	if !groups(s) {
		key += 256
	}
	if q.byOp[key] == 0 {
		q.byOp[key] = q.fresh() + 1
	}
	return q.byOp[key] - 1
}

func (q *readyQueue) fresh() int32 {
	q.classes = append(q.classes, readyClass{top: -1})
	return int32(len(q.classes) - 1)
}

func (q *readyQueue) push(i int32) {
	k := q.class(&q.p.Stmts[i])
	c := &q.classes[k]
	c.stmts = append(c.stmts, i)
	if h := q.height[i]; h > c.top {
		c.top = h
		q.up(urgency{h, k})
	}
}

// pop takes the class with the most urgent statement, all of it. The result is
// valid until the next pop.
func (q *readyQueue) pop() []int32 {
	for len(q.urgent) > 0 {
		u := q.urgent[0]
		q.down()
		c := &q.classes[u.class]
		if c.top != u.height {
			continue
		}
		stmts := c.stmts
		c.stmts, q.spare = q.spare[:0], stmts
		c.top = -1
		return stmts
	}
	return nil
}

func (u urgency) before(v urgency) bool {
	return u.height > v.height || u.height == v.height && u.class < v.class
}

// up adds u to the heap.
func (q *readyQueue) up(u urgency) {
	q.urgent = append(q.urgent, u)
	h := q.urgent
	i := len(h) - 1
	for i > 0 && u.before(h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = u
}

// down removes the first of the heap.
func (q *readyQueue) down() {
	h := q.urgent
	last := h[len(h)-1]
	h = h[:len(h)-1]
	q.urgent = h
	if len(h) == 0 {
		return
	}
	i := 0
	for {
		k := 2*i + 1
		if k >= len(h) {
			break
		}
		if k+1 < len(h) && h[k+1].before(h[k]) {
			k++
		}
		if !h[k].before(last) {
			break
		}
		h[i] = h[k]
		i = k
	}
	h[i] = last
}

// groups reports whether s can be merged with others.
func groups(s *Stmt) bool {
	return s.N == 1 && (s.Op.Elementary() || s.Op == Sum || s.Op.Guard())
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
