package core

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// activeIn[op][i] reports whether op has a derivative with respect to argument i.
var activeIn = func() (on [rules.NumOps][3]bool) {
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		for i := range op.Arity() {
			on[op][i] = rules.Partial(op, i) != nil
		}
	}
	return on
}()

// dual is the arena of a trace in forward mode. The tangents of number id are tan[id*lanes:][:lanes].
type dual struct {
	lanes int
	tan   []float64
}

// StartDual opens t in forward mode over nIn inputs, in vector mode of width lanes. limit bounds the number of
// operations; 0 bounds the tangents to 2 GiB. With strong set, -0 is a structural zero. The caller sets the tangents of
// the inputs through Tangents.
func (t *Tracer) StartDual(nIn, lanes, limit int, strong bool) {
	if limit <= 0 {
		limit = (1 << 28) / max(lanes, 1) // 2 GiB
	}
	t.open(kindDual, min(limit, math.MaxInt/(16*max(lanes, 1))-nIn))
	t.strong = strong
	t.lanes = lanes
	t.begin(nIn + 1)
	if need := (nIn + 1) * lanes; cap(t.tan) < need {
		t.tan = make([]float64, need, 2*need+64*lanes)
	}
	t.tan = t.tan[:min(cap(t.tan), (int(t.limit)+1)*lanes)]
}

// Tangents returns the tangents of number id, of length lanes. The slice aliases the arena and is valid until the next
// operation.
func (t *Tracer) Tangents(id int32) []float64 {
	o := int(id) * t.lanes
	return t.tan[o : o+t.lanes : o+t.lanes]
}

// fresh allocates the tangents of a new number and returns its id. They are not cleared.
func (t *Tracer) fresh() int32 {
	id := t.next
	if (int(id)+1)*t.lanes > len(t.tan) {
		t.growArena()
	}
	t.next = id + 1
	return id
}

// growArena enlarges the arena up to its limit. It panics with an Abort that holds a *LimitError at the limit.
func (t *Tracer) growArena() {
	t.room(func() int { return 8 * len(t.tan) })
	bigger := make([]float64, min(2*len(t.tan)+1024*t.lanes, (int(t.limit)+1)*t.lanes))
	copy(bigger, t.tan)
	t.tan = bigger
}

// dualUnary returns op(a), with value v.
func (t *Tracer) dualUnary(op rules.Op, a Rep, v float64) Rep {
	if !activeIn[op][0] {
		return Rep{V: v}
	}
	p := rules.Partial1(op, a.V, v)
	if rules.Extreme(op, 0, p) {
		f := rules.Factors1(op, a.V, v)
		return t.stepped(a.ID, 0, &f, nil, v)
	}
	return t.scaled(a.ID, p, v)
}

// scaled returns a number with value v whose tangents are p times those of number a.
func (t *Tracer) scaled(a int32, p, v float64) Rep {
	id := t.fresh()
	dst, src := t.Tangents(id), t.Tangents(a)
	if t.strong {
		for k, s := range src {
			dst[k] = StrongMul(s, p)
		}
	} else {
		dst = dst[:len(src)]
		for k, s := range src {
			dst[k] = p * s
		}
	}
	return t.number(v, id)
}

// dualBinary returns op(a, b), with value v. Common operations have a code path of their own.
func (t *Tracer) dualBinary(op rules.Op, a, b Rep, v float64) Rep {
	switch op {
	case rules.Max, rules.Min:
		return chosen(op, a, b, v)
	case rules.Add:
		switch {
		case a.ID == 0:
			b.V = v
			return b
		case b.ID == 0:
			a.V = v
			return a
		}
		id := t.fresh()
		dst, ta, tb := t.Tangents(id), t.Tangents(a.ID), t.Tangents(b.ID)
		tb, dst = tb[:len(ta)], dst[:len(ta)]
		for k, s := range ta {
			dst[k] = s + tb[k]
		}
		return t.number(v, id)
	case rules.Sub:
		switch {
		case a.ID == 0:
			return t.scaled(b.ID, -1, v)
		case b.ID == 0:
			a.V = v
			return a
		}
		if !t.strong {
			id := t.fresh()
			dst, ta, tb := t.Tangents(id), t.Tangents(a.ID), t.Tangents(b.ID)
			tb, dst = tb[:len(ta)], dst[:len(ta)]
			for k, s := range ta {
				dst[k] = s - tb[k]
			}
			return t.number(v, id)
		}
	case rules.Mul:
		if a.ID != 0 && b.ID != 0 {
			return t.combined(a.ID, b.ID, b.V, a.V, v)
		}
	}
	aOn, bOn := a.ID != 0 && activeIn[op][0], b.ID != 0 && activeIn[op][1]
	switch {
	case aOn && bOn:
		pa, pb := rules.Partials2(op, a.V, b.V, v)
		if rules.Extreme(op, 0, pa) || rules.Extreme(op, 1, pb) {
			fa, fb := factors2(op, 0, a.V, b.V, v, pa), factors2(op, 1, a.V, b.V, v, pb)
			return t.stepped(a.ID, b.ID, &fa, &fb, v)
		}
		return t.combined(a.ID, b.ID, pa, pb, v)
	case aOn:
		return t.along(op, 0, a, a.V, b.V, rules.PartialX2(op, a.V, b.V, v), v)
	case bOn:
		return t.along(op, 1, b, a.V, b.V, rules.PartialY2(op, a.V, b.V, v), v)
	}
	return Rep{V: v}
}

// along returns the number v = op(x, y) if only argument i, the number a, is active. p is the partial derivative with
// respect to it.
func (t *Tracer) along(op rules.Op, i int, a Rep, x, y, p, v float64) Rep {
	if rules.Extreme(op, i, p) {
		f := rules.Factors2(op, i, x, y, v)
		return t.stepped(a.ID, 0, &f, nil, v)
	}
	return t.scaled(a.ID, p, v)
}

// factors2 returns the factors of p, the partial derivative of v = op(x, y) with respect to argument i.
func factors2(op rules.Op, i int, x, y, v, p float64) rules.Factors {
	if rules.Stepwise(op, i) {
		return rules.Factors2(op, i, x, y, v)
	}
	return rules.Factors{p, 1, 1, 1, 1}
}

// stepped returns a number with value v whose tangents are those of a times fa plus, if fb is not nil, those of b times
// fb. Multiplying factor by factor stays in range if the result does.
func (t *Tracer) stepped(a, b int32, fa, fb *rules.Factors, v float64) Rep {
	id := t.fresh()
	dst, ta, tb := t.Tangents(id), t.Tangents(a), t.Tangents(b)
	for k, s := range ta {
		dst[k] = t.forth(fa, s)
		if fb != nil {
			dst[k] += t.forth(fb, tb[k])
		}
	}
	return t.number(v, id)
}

// forth returns the tangent s times the factors f, in strong mode with structural zeros preserved.
func (t *Tracer) forth(f *rules.Factors, s float64) float64 {
	switch {
	case !t.strong:
		return f.Times(s)
	case IsStructuralZero(s):
		return s
	}
	return f.Times(s) + 0
}

// combined returns a number with value v whose tangents are pa times those of a plus pb times those of b.
func (t *Tracer) combined(a, b int32, pa, pb, v float64) Rep {
	id := t.fresh()
	dst, ta, tb := t.Tangents(id), t.Tangents(a), t.Tangents(b)
	tb, dst = tb[:len(ta)], dst[:len(ta)]
	if t.strong {
		for k, s := range ta {
			dst[k] = StrongMul(s, pa) + StrongMul(tb[k], pb)
		}
	} else {
		for k, s := range ta {
			dst[k] = pa*s + pb*tb[k]
		}
	}
	return t.number(v, id)
}

// dualCall computes the tangents of a custom rule, by one JVP per lane, and sets out to its outputs. Lanes with zero
// tangents are skipped.
func (t *Tracer) dualCall(c Custom, xs []Rep, x, y []float64, out []Rep) {
	ids := make([]int32, len(xs))
	t.owned(ids, xs)
	first := t.outputs(y, out)
	xdot, ydot := make([]float64, len(x)), make([]float64, len(y))
	for k := range t.lanes {
		moved := t.lane(k, xdot, ids)
		clear(ydot)
		if moved {
			c.JVP(ydot, x, y, xdot)
		}
		t.setLane(k, first, ydot, moved)
	}
}

// dualJoint returns the outputs of c at xs, with tangents. The value is computed together with those of the first lane
// whose tangents are not zero.
func (t *Tracer) dualJoint(c Joint, xs []Rep) []Rep {
	ids := make([]int32, len(xs))
	t.owned(ids, xs)
	x, y := arguments(c, xs)
	xdot, ydot, first := make([]float64, len(x)), make([]float64, len(y)), make([]float64, len(y))
	joined := 0
	for joined < t.lanes && !t.lane(joined, xdot, ids) {
		joined++
	}
	if joined < t.lanes {
		c.ValueJVP(y, first, x, xdot)
	} else {
		c.Value(y, x)
	}
	out := make([]Rep, len(y))
	id := t.outputs(y, out)
	for k := range t.lanes {
		moved := t.lane(k, xdot, ids)
		switch {
		case k == joined:
			copy(ydot, first)
		case moved:
			clear(ydot)
			c.JVP(ydot, x, y, xdot)
		default:
			clear(ydot)
		}
		t.setLane(k, id, ydot, moved)
	}
	return out
}

// owned sets ids to those of xs, 0 for constants.
func (t *Tracer) owned(ids []int32, xs []Rep) {
	for j, r := range xs {
		ids[j] = t.Own(r)
	}
}

// outputs sets out to new numbers with the values y and returns the id of the first.
func (t *Tracer) outputs(y []float64, out []Rep) (first int32) {
	first = t.next
	for i, v := range y {
		out[i] = t.number(v, t.fresh())
	}
	return first
}

// lane sets xdot to the tangents in lane k and reports whether one is not structurally zero.
func (t *Tracer) lane(k int, xdot []float64, ids []int32) (moved bool) {
	for j, id := range ids {
		xdot[j] = 0
		if id != 0 {
			s := t.tan[int(id)*t.lanes+k]
			xdot[j] = s + 0
			moved = moved || s != 0 || t.strong && !IsStructuralZero(s)
		}
	}
	return moved
}

// setLane sets the tangents of consecutive numbers in lane k, to structural zeros unless moved is set.
func (t *Tracer) setLane(k int, first int32, ydot []float64, moved bool) {
	for i, d := range ydot {
		switch {
		case moved: // a rule does not distinguish structural zeros
			d += 0
		case t.strong:
			d = math.Copysign(0, -1)
		}
		t.tan[(int(first)+i)*t.lanes+k] = d
	}
}
