package program

import "slices"

// A cone is a worklist of the statements that a sweep from one input or output reaches. It yields them in program
// order, or in reverse if back is set, each once, at O(log k) per statement for k queued ones, so that a sweep costs
// nothing for statements outside the cone.
type cone struct {
	back   bool
	heap   []int32 // binary heap of the queued statements, the next one first
	queued []bool  // by statement
	slots  []int32 // slots with state that the sweep must reset at its end
	visits int     // number of statements taken
}

// newCone returns an empty cone over p.
func newCone(p *Program, back bool) *cone {
	return &cone{back: back, queued: make([]bool, len(p.Stmts))}
}

// before reports whether statement a is taken before b.
func (c *cone) before(a, b int32) bool { return (a < b) != c.back }

// reach queues statement i, unless it is queued. Every statement reached must come after the last one taken, in the
// direction of c.
func (c *cone) reach(i int32) {
	if c.queued[i] {
		return
	}
	c.queued[i] = true
	h := append(c.heap, i)
	k := len(h) - 1
	for k > 0 {
		up := (k - 1) / 2
		if !c.before(i, h[up]) {
			break
		}
		h[k] = h[up]
		k = up
	}
	h[k] = i
	c.heap = h
}

// next removes the next statement from the queue and returns it. ok is false if the queue is empty.
func (c *cone) next() (i int, ok bool) {
	h := c.heap
	if len(h) == 0 {
		return 0, false
	}
	c.visits++
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	if len(h) > 0 {
		k := 0
		for {
			child := 2*k + 1
			if child >= len(h) {
				break
			}
			if child+1 < len(h) && c.before(h[child+1], h[child]) {
				child++
			}
			if !c.before(h[child], last) {
				break
			}
			h[k] = h[child]
			k = child
		}
		h[k] = last
	}
	c.heap, c.queued[first] = h, false
	return int(first), true
}

// readers returns, for each slot, the statements marked in wanted that read it: list[at[s]:at[s+1]]
// for slot s, in program order and once per use.
func (p *Program) readers(wanted []bool) (at, list []int32) {
	each := func(f func(slot, reader int32)) {
		for i := range p.Stmts {
			s := &p.Stmts[i]
			if !wanted[i] {
				continue
			}
			for _, o := range s.Operands() {
				for l := range s.terms() {
					f(p.at(o, l), int32(i))
					if o.Stride == 0 {
						break
					}
				}
			}
		}
	}
	at = make([]int32, p.Slots+1)
	each(func(slot, _ int32) { at[slot+1]++ })
	for i := range p.Slots {
		at[i+1] += at[i]
	}
	list = make([]int32, at[p.Slots])
	fill := slices.Clone(at)
	each(func(slot, reader int32) { list[fill[slot]] = reader; fill[slot]++ })
	return at, list
}

// leading reports for each statement whether one of the given slots depends on it. own maps a slot to the statement
// that writes it. It is one backward pass: a program is straight-line code.
func (p *Program) leading(slots, own []int32) []bool {
	wanted := make([]bool, len(p.Stmts))
	for _, s := range slots {
		wanted[own[s]] = true
	}
	for i := len(p.Stmts) - 1; i >= 0; i-- {
		if !wanted[i] {
			continue
		}
		s := &p.Stmts[i]
		for _, o := range s.Operands() {
			for l := range s.terms() {
				wanted[own[p.at(o, l)]] = true
				if o.Stride == 0 {
					break
				}
			}
		}
	}
	return wanted
}
