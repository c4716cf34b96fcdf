package program

// readyQueue is a priority queue of the statements whose operands have been computed. Statements that can be merged
// form a class and are taken together.
type readyQueue struct {
	p       *Program
	height  []int32         // statement → its priority
	byOp    [512]int32      // operation, +256 if it cannot be merged → class+1
	sums    map[int32]int32 // number of terms K → class of the one-lane sums
	classes []readyClass
	urgent  []urgency // heap with stale entries, which pop skips
	spare   []int32   // the slice that pop returned last, for reuse
}

// readyClass holds the queued statements of a class.
type readyClass struct {
	stmts []int32
	top   int32 // greatest height among them, -1 if empty
}

// urgency is a heap entry: the greatest height in the class, when it was pushed.
type urgency struct{ height, class int32 }

// newReady returns an empty queue for statements of p with the given priorities.
func newReady(p *Program, height []int32) *readyQueue {
	return &readyQueue{p: p, height: height, sums: map[int32]int32{}}
}

// class returns the class of statement s.
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

// fresh returns a new class.
func (q *readyQueue) fresh() int32 {
	q.classes = append(q.classes, readyClass{top: -1})
	return int32(len(q.classes) - 1)
}

// push adds statement i.
func (q *readyQueue) push(i int32) {
	k := q.class(&q.p.Stmts[i])
	c := &q.classes[k]
	c.stmts = append(c.stmts, i)
	if h := q.height[i]; h > c.top {
		c.top = h
		q.up(urgency{h, k})
	}
}

// pop removes and returns all statements of the class with the greatest height, or nil if the queue is empty. The
// result is valid until the next pop.
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

// before reports whether u is taken before v: by height, then by class.
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

// down removes the first entry of the heap.
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
