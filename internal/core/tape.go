package core

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// A tapeEntry holds the operands of one operation and the partial derivatives with respect to them. Operand 0 is a
// constant. A call of a custom rule is an entry with a = callEntry and its index in b, before the entries of its
// outputs.
type tapeEntry struct {
	a, b   int32
	pa, pb float64
}

const callEntry = -1

// firstTape is the length of the first chunk. It is small so that a tape of a few operations is cheap.
const firstTape = 1 << 6

// tapeCall is a call of a custom rule.
type tapeCall struct {
	rule  Custom
	args  []int32
	first int32 // id of the first output
	m     int
	x, y  []float64
}

// tape is the log of a define-by-run trace: the local Jacobians of all operations.
type tape struct {
	entries [][]tapeEntry // chunks
	tcur    []tapeEntry   // the current chunk
	tn      int           // entries used in tcur
	tused   int           // chunks used
	calls   []tapeCall
	tin     int       // number of inputs
	adj     []float64 // buffer of the sweeps: id → cotangent or tangent
}

// StartTape opens t as a tape over nIn inputs, with at most limit operations, 0 for no limit.
func (t *Tracer) StartTape(nIn, limit int) {
	t.open(kindTape, limit)
	t.tin = nIn
	t.begin(nIn + 1)
	t.rewindTape()
}

// rewindTape discards all operations. Memory is kept for reuse.
func (t *Tracer) rewindTape() {
	t.tcur, t.tn, t.tused = nil, 0, 0
	clear(t.calls)
	t.calls = t.calls[:0]
}

// growTape makes the next chunk the current one. It panics with an Abort that holds a *LimitError at the limit.
func (t *Tracer) growTape() {
	room := t.room(t.tapeBytes)
	if t.tused == len(t.entries) {
		t.entries = append(t.entries, make([]tapeEntry, min(firstTape<<min(t.tused, 16), fullChunk)))
	}
	t.tcur = t.entries[t.tused]
	t.tcur = t.tcur[:min(len(t.tcur), room)]
	t.tused++
	t.tn = 0
}

// tapeBytes returns the number of bytes that the tape uses.
func (t *Tracer) tapeBytes() int {
	b := 0
	for _, c := range t.entries[:t.tused] {
		b += 24 * len(c)
	}
	return b
}

// push appends an operation and returns its result, with value v.
func (t *Tracer) push(a, b int32, pa, pb, v float64) Rep {
	if t.tn == len(t.tcur) {
		t.growTape()
	}
	t.tcur[t.tn] = tapeEntry{a, b, pa, pb}
	t.tn++
	id := t.next
	t.next = id + 1
	return Rep{V: v, Mark: Mark{id, t.gen.Load()}, T: t}
}

// tapeUnary appends op(a), with value v.
func (t *Tracer) tapeUnary(op rules.Op, a Rep, v float64) Rep {
	if !activeIn[op][0] {
		return Rep{V: v}
	}
	p := rules.Partial1(op, a.V, v)
	if rules.Extreme(op, 0, p) {
		f := rules.Factors1(op, a.V, v)
		ia := t.chain(a.ID, &f, &p)
		return t.push(ia, 0, p, 0, v)
	}
	return t.push(a.ID, 0, p, 0, v)
}

// chain appends an entry for each factor of f but the first, which it stores in p, and returns the id of the last. The
// numbers between have no meaningful values, only tangents and cotangents.
func (t *Tracer) chain(a int32, f *rules.Factors, p *float64) int32 {
	if f.Zero() {
		*p = 0
		return a
	}
	*p = f[0]
	for k := len(f) - 1; k > 0; k-- {
		if f[k] != 1 {
			a = t.push(a, 0, f[k], 0, 0).ID
		}
	}
	return a
}

// tapeBinary appends op(a, b), with value v.
func (t *Tracer) tapeBinary(op rules.Op, a, b Rep, v float64) Rep {
	switch op {
	case rules.Add:
		return t.push(a.ID, b.ID, 1, 1, v)
	case rules.Sub:
		return t.push(a.ID, b.ID, 1, -1, v)
	case rules.Mul:
		return t.push(a.ID, b.ID, b.V, a.V, v)
	case rules.Max, rules.Min:
		return chosen(op, a, b, v)
	}
	aOn, bOn := a.ID != 0 && activeIn[op][0], b.ID != 0 && activeIn[op][1]
	switch {
	case aOn && bOn:
		pa, pb := rules.Partials2(op, a.V, b.V, v)
		ia, ib := t.entry(op, 0, a, a.V, b.V, v, &pa), t.entry(op, 1, b, a.V, b.V, v, &pb)
		return t.push(ia, ib, pa, pb, v)
	case aOn:
		p := rules.PartialX2(op, a.V, b.V, v)
		ia := t.entry(op, 0, a, a.V, b.V, v, &p)
		return t.push(ia, 0, p, 0, v)
	case bOn:
		p := rules.PartialY2(op, a.V, b.V, v)
		ib := t.entry(op, 1, b, a.V, b.V, v, &p)
		return t.push(ib, 0, p, 0, v)
	}
	return Rep{V: v}
}

// entry returns the operand for a, argument i of v = op(x, y) with partial derivative p. If the partial derivative must
// be replaced by its factors, entry appends all but the first, which it stores in p.
func (t *Tracer) entry(op rules.Op, i int, a Rep, x, y, v float64, p *float64) int32 {
	if !rules.Extreme(op, i, *p) {
		return a.ID
	}
	f := rules.Factors2(op, i, x, y, v)
	return t.chain(a.ID, &f, p)
}

// chosen returns the result of Max or Min: the chosen operand, with value v.
func chosen(op rules.Op, a, b Rep, v float64) Rep {
	if rules.Chosen(op, a.V, b.V) == 1 {
		a = b
	}
	a.V = v
	return a
}

// SweepBack runs the reverse sweep: it writes the cotangents of the inputs to xbar, given the seeds ybar of the outputs
// with the given ids, 0 for a constant. With strong set, a structurally zero cotangent propagates nothing even if a
// partial derivative is infinite. It overwrites the buffer of the last sweep.
func (t *Tracer) SweepBack(xbar []float64, ids []int32, ybar []float64, strong bool) {
	n := int(t.next)
	if cap(t.adj) < n {
		t.adj = make([]float64, n)
	}
	adj := t.adj[:n]
	clear(adj)
	if strong {
		negZero := math.Copysign(0, -1)
		for i := range adj {
			adj[i] = negZero
		}
	}
	for i, id := range ids {
		switch {
		case id == 0:
		case strong:
			adj[id] += StrongSeed(ybar[i])
		default:
			adj[id] += ybar[i]
		}
	}
	id := n - 1
	for c := t.tused - 1; c >= 0; c-- {
		chunk := t.entries[c]
		if c == t.tused-1 {
			chunk = chunk[:t.tn]
		}
		if strong {
			id = t.sweepStrong(chunk, adj, id)
		} else {
			id = t.sweepChunk(chunk, adj, id)
		}
	}
	for i := range xbar {
		xbar[i] = adj[i+1] + 0 // +0 turns a structural zero into a plain one
	}
}

// sweepChunk reverses the entries of a chunk, the last of which has the given id, and returns the id before its first
// entry.
func (t *Tracer) sweepChunk(chunk []tapeEntry, adj []float64, id int) int {
	for k := len(chunk) - 1; k >= 0; k-- {
		e := &chunk[k]
		if e.a < 0 {
			t.sweepCall(&t.calls[e.b], adj, false)
			id--
			continue
		}
		g := adj[id]
		id--
		adj[e.a] += g * e.pa
		if e.b != 0 {
			adj[e.b] += g * e.pb
		}
	}
	return id
}

// sweepStrong is sweepChunk in strong mode.
func (t *Tracer) sweepStrong(chunk []tapeEntry, adj []float64, id int) int {
	for k := len(chunk) - 1; k >= 0; k-- {
		e := &chunk[k]
		if e.a < 0 {
			t.sweepCall(&t.calls[e.b], adj, true)
			id--
			continue
		}
		g := adj[id]
		id--
		if IsStructuralZero(g) {
			continue
		}
		adj[e.a] += g*e.pa + 0
		if e.b != 0 {
			adj[e.b] += g*e.pb + 0
		}
	}
	return id
}

// sweepCall reverses a call of a custom rule, unless all cotangents of its outputs are zero.
func (t *Tracer) sweepCall(c *tapeCall, adj []float64, strong bool) {
	ybar := make([]float64, c.m)
	zero := true
	for i := range ybar {
		g := adj[int(c.first)+i]
		zero = zero && g == 0 && (!strong || IsStructuralZero(g))
		ybar[i] = g + 0
	}
	if zero {
		return
	}
	xbar := make([]float64, len(c.args))
	c.rule.VJP(xbar, c.x, c.y, ybar)
	for j, a := range c.args {
		if a != 0 {
			adj[a] += xbar[j] + 0
		}
	}
}

// tapeCall appends a call of a custom rule and sets out to its outputs.
func (t *Tracer) tapeCall(c Custom, xs []Rep, x, y []float64, out []Rep, p Pullback) {
	args := make([]int32, len(xs))
	for i, r := range xs {
		args[i] = t.Own(r)
	}
	t.calls = append(t.calls, tapeCall{rule: pulledBy(c, p), args: args, first: t.next + 1, m: len(y), x: x, y: y})
	t.push(callEntry, int32(len(t.calls)-1), 0, 0, 0)
	for i, v := range y {
		out[i] = t.push(0, 0, 0, 0, v)
	}
}

// SweepForward propagates the tangents xdot of the inputs through the tape and writes the tangents of the outputs with
// the given ids to ydot. It overwrites the buffer of the last sweep.
func (t *Tracer) SweepForward(ydot []float64, ids []int32, xdot []float64, strong bool) {
	n := int(t.next)
	if cap(t.adj) < n {
		t.adj = make([]float64, n)
	}
	tan := t.adj[:n]
	tan[0] = 0 // a constant's
	if strong {
		tan[0] = math.Copysign(0, -1)
	}
	for i, v := range xdot {
		if strong && v == 0 {
			v = math.Copysign(0, -1)
		}
		tan[i+1] = v
	}
	id := t.tin + 1
	for c, chunk := range t.entries[:t.tused] {
		if c == t.tused-1 {
			chunk = chunk[:t.tn]
		}
		for k := range chunk {
			e := &chunk[k]
			switch {
			case e.a < 0:
				t.pushCall(&t.calls[e.b], tan, strong)
				tan[id] = 0
			case e.a == 0 && e.b == 0: // an output of a call, already set
			case strong:
				tan[id] = StrongMul(tan[e.a], e.pa)
				if e.b != 0 {
					tan[id] += StrongMul(tan[e.b], e.pb)
				}
			default:
				tan[id] = tan[e.a] * e.pa
				if e.b != 0 {
					tan[id] += tan[e.b] * e.pb
				}
			}
			id++
		}
	}
	for i, id := range ids {
		ydot[i] = 0
		if id != 0 {
			ydot[i] = tan[id] + 0
		}
	}
}

// pushCall propagates tangents through a call of a custom rule.
func (t *Tracer) pushCall(c *tapeCall, tan []float64, strong bool) {
	xdot := make([]float64, len(c.args))
	moved := !strong
	for j, a := range c.args {
		moved = moved || !IsStructuralZero(tan[a])
		if a != 0 {
			xdot[j] = tan[a] + 0
		}
	}
	ydot := tan[c.first : int(c.first)+c.m]
	if moved {
		c.rule.JVP(ydot, c.x, c.y, xdot)
	}
	if !strong {
		return
	}
	for i := range ydot { // a rule does not distinguish structural zeros
		if moved {
			ydot[i] += 0
		} else {
			ydot[i] = math.Copysign(0, -1)
		}
	}
}
