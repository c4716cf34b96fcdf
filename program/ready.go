package program

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
