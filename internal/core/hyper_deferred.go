package core

import (
	"math"
	"math/bits"
	"unsafe"

	"gonum.org/v1/gonum/floats"

	"github.com/nabla-ad/nabla/rules"
)

// The second derivatives of v = φ(a, b) are linear in those of a and b, so those of an output y are a sum over all
// operations,
//
//	y_ij = Σ_v w_v·(φ_aa·a_i·a_j + φ_ab·(a_i·b_j + b_i·a_j) + φ_bb·b_i·b_j),  w_v = ∂y/∂v
//
// (Gower & Mello, "A new framework for the computation of Hessians", 2012). A trace with one output defers its second
// derivatives: a number has first derivatives only, those of a dual number, with the partial derivatives of its
// operation. The sum is computed at the end, with the weights w_v from the last operation to the first. An operation
// takes n elements then in place of n²/2, and one that is linear adds nothing to the sum.
//
// What the sum cannot do is left to the numbers of hyper.go, into which undefer turns all numbers of the trace: rules,
// partial derivatives out of range, and results that are not finite. So deferral changes roundings only.

// A term holds the operands of a number with the partial derivatives of its operation. Only those that its kind names
// have a meaning.
type term struct {
	rows       uint64 // the rows along which the number may have derivatives
	a, b       int32
	pa, pb     float64
	xx, xy, yy float64
	kind       termKind
}

type termKind uint8

const (
	termScale   termKind = iota // pa·a
	termSum                     // a + pb·b
	termUnary                   // φ(a), with pa and xx
	termProduct                 // a·b, with pa and pb
	termBinary                  // φ(a, b), with all
)

// deferral is the part of a trace that defers second derivatives. The first derivatives are in the arena of dual, those
// along the rows first and, unless the trace is square, those along the columns behind them. In contrast to a
// hyperNumber there are all of them: with few rows a choice takes longer than the arithmetic.
type deferral struct {
	deferred bool
	nr, nc   int    // the numbers of rows and of columns; equal if the trace is square
	terms    []term // by id
	weights  []float64
	second   []float64     // the second derivatives of an output, row by row
	settled  int32         // the output
	queued   pendingSquare // has not been added to second, unless its number is 0
}

// A pendingSquare stands for the terms c·a_i·a_j.
type pendingSquare struct {
	a int32
	c float64
}

// startDeferral prepares t to defer second derivatives for nIn inputs.
func (t *Tracer) startDeferral(nIn int) {
	t.lanes = t.nr
	if !t.square {
		t.lanes += t.nc
	}
	if len(t.terms) <= nIn {
		t.terms = make([]term, nIn+64)
	}
	t.terms = t.terms[:min(cap(t.terms), int(t.limit)+1)]
	if need := len(t.terms) * t.lanes; len(t.tan) < need {
		t.tan = make([]float64, need)
	}
}

// deferInput makes input number id, with the given rows, of which there is one at most. The derivatives along the
// columns are cols or, if that is nil, 1 along those of the set on.
func (t *Tracer) deferInput(id int32, v float64, rows, on uint64, cols []float64) Rep {
	dst := t.Tangents(id)
	clear(dst)
	t.terms[id].rows = rows
	if rows != 0 {
		dst[bits.TrailingZeros64(rows)] = 1
	}
	if cols != nil {
		copy(dst[t.nr:], cols)
	} else if on != 0 {
		dst[t.nr+bits.TrailingZeros64(on)] = 1
	}
	return t.number(v, id)
}

// growTerms makes room for more numbers. It panics with an Abort that holds a *LimitError at the limit.
func (t *Tracer) growTerms() {
	n := min(len(t.terms), t.room(t.deferredBytes))
	bigger := make([]term, len(t.terms)+n)
	copy(bigger, t.terms)
	t.terms = bigger
	lanes := make([]float64, len(bigger)*t.lanes)
	copy(lanes, t.tan)
	t.tan = lanes
}

// deferredBytes returns the number of bytes that the numbers use.
func (t *Tracer) deferredBytes() int { return len(t.terms) * (int(unsafe.Sizeof(term{})) + 8*t.lanes) }

// deferUnary returns op(a), with value v. The partial derivatives of the two operations that it knows are in range.
func (t *Tracer) deferUnary(op rules.Op, a Rep, v float64) Rep {
	switch op {
	case rules.Neg:
		return t.single(termScale, a.ID, -1, 0, v)
	case rules.Sq:
		return t.single(termUnary, a.ID, 2*a.V, 2, v)
	}
	return t.hyperUnary(op, a, v)
}

// deferBinary returns op(a, b), with value v. It has a code path for operations whose partial derivatives need no test.
func (t *Tracer) deferBinary(op rules.Op, a, b Rep, v float64) Rep {
	switch op {
	case rules.Add, rules.Sub:
		sign := 1.0
		if op == rules.Sub {
			sign = -1
		}
		switch {
		case b.ID == 0:
			a.V = v
			return a
		case a.ID != 0:
			return t.pair(termSum, a.ID, b.ID, 1, sign, v)
		case op == rules.Add:
			b.V = v
			return b
		}
		return t.single(termScale, b.ID, -1, 0, v)
	case rules.Mul:
		switch {
		case b.ID == 0:
			return t.single(termScale, a.ID, b.V, 0, v)
		case a.ID == 0:
			return t.single(termScale, b.ID, a.V, 0, v)
		}
		return t.pair(termProduct, a.ID, b.ID, b.V, a.V, v)
	case rules.Max, rules.Min:
		return chosen(op, a, b, v)
	}
	return t.hyperGeneral(op, a, b, v)
}

// single returns a number with value v of the given kind that depends on number a alone, with first derivative p and
// second derivative pp.
func (t *Tracer) single(kind termKind, a int32, p, pp, v float64) Rep {
	id := int(t.next)
	if id >= len(t.terms) {
		t.growTerms()
	}
	t.next++
	e := &t.terms[id]
	e.rows, e.a, e.kind, e.pa, e.xx = t.terms[a].rows, a, kind, p, pp
	k := t.lanes
	dst, src := t.tan[id*k:id*k+k], t.tan[int(a)*k:int(a)*k+k]
	if k >= long {
		floats.ScaleTo(dst, p, src)
		return t.number(v, int32(id))
	}
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = p * src[i]
	}
	return t.number(v, int32(id))
}

// pair returns a number with value v of the given kind that depends on the numbers a and b, with first derivatives pa
// and pb.
func (t *Tracer) pair(kind termKind, a, b int32, pa, pb, v float64) Rep {
	id := int(t.next)
	if id >= len(t.terms) {
		t.growTerms()
	}
	t.next++
	e := &t.terms[id]
	e.rows, e.a, e.b, e.kind, e.pa, e.pb = t.terms[a].rows|t.terms[b].rows, a, b, kind, pa, pb
	k := t.lanes
	dst, sa, sb := t.tan[id*k:id*k+k], t.tan[int(a)*k:int(a)*k+k], t.tan[int(b)*k:int(b)*k+k]
	if k >= long {
		floats.ScaleTo(dst, pa, sa)
		floats.AddScaled(dst, pb, sb)
		return t.number(v, int32(id))
	}
	sa, sb = sa[:len(dst)], sb[:len(dst)]
	for i := range dst {
		dst[i] = pa*sa[i] + pb*sb[i]
	}
	return t.number(v, int32(id))
}

// alone returns a number with value v that depends on number a alone, with first derivative p and second derivative
// pp, which is structurally zero unless curved is set.
func (t *Tracer) alone(a int32, p, pp float64, curved bool, v float64) Rep {
	switch {
	case !t.deferred:
		return t.hyperAlone(a, p, pp, curved, v)
	case curved:
		return t.single(termUnary, a, p, pp, v)
	}
	return t.single(termScale, a, p, 0, v)
}

// both returns a number with value v that depends on the numbers a and b, with first derivatives pa and pb and second
// derivatives xx, xy and yy.
func (t *Tracer) both(a, b int32, pa, pb, xx, xy, yy, v float64) Rep {
	if !t.deferred {
		return t.hyperBoth(a, b, pa, pb, xx, xy, yy, v)
	}
	r := t.pair(termBinary, a, b, pa, pb, v)
	e := &t.terms[r.ID]
	e.xx, e.xy, e.yy = xx, xy, yy
	return r
}

// undefer gives all numbers their second derivatives, with the ids and the values that they have.
func (t *Tracer) undefer() {
	next := t.next
	t.deferred, t.next, t.filled = false, t.first, 0
	if t.kind == kindDeferred {
		t.kind = kindHyper
	}
	t.startNumbers()
	for id := int32(1); id < t.first; id++ {
		// The derivatives of inputs are zero only if that is structural.
		var n hyperNumber
		from := t.Tangents(id)
		for i, d := range from {
			switch {
			case d == 0:
			case i < t.nr:
				n.rows |= 1 << i
			default:
				n.cols |= 1 << (i - t.nr)
			}
		}
		n.size = n.first()
		dst := t.place(id, n)
		for _, d := range from {
			if d != 0 {
				dst[0], dst = d, dst[1:]
			}
		}
	}
	t.base = t.filled
	for t.next < next {
		switch e := &t.terms[t.next]; e.kind {
		case termScale:
			t.hyperAlone(e.a, e.pa, 0, false, 0)
		case termSum:
			t.hyperSum(e.a, e.b, e.pb, 0)
		case termUnary:
			t.hyperAlone(e.a, e.pa, e.xx, true, 0)
		case termProduct:
			t.hyperBoth(e.a, e.b, e.pa, e.pb, 0, 1, 0, 0)
		case termBinary:
			t.hyperBoth(e.a, e.b, e.pa, e.pb, e.xx, e.xy, e.yy, 0)
		}
	}
}

// A weight, or the factor of a term, with a larger or smaller exponent may be inexact, or have lost a part that counts.
const maxExponent = 800

// inRange reports whether w is in range.
func inRange(w float64) bool {
	return math.Float64bits(w)>>52&0x7ff-(1023-maxExponent) <= 2*maxExponent
}

// settle computes the deferred second derivatives of number y. It reports whether they and the first ones are finite,
// and exact but for rounding.
func (t *Tracer) settle(y int32) bool {
	t.settled, t.queued = y, pendingSquare{}
	second := t.second[:t.nr*t.nc]
	clear(second)
	if len(t.weights) <= int(y) {
		t.weights = make([]float64, len(t.terms))
	}
	w := t.weights[:y+1]
	clear(w)
	w[y] = 1
	terms := t.terms[:y+1]
	for id := int(y); id >= int(t.first); id-- {
		g := w[id]
		if g == 0 {
			continue
		}
		if !inRange(g) {
			return false
		}
		e := &terms[id]
		if e.kind == termSum {
			w[e.a] += g
			w[e.b] += e.pb * g
			continue
		}
		wa := g * e.pa
		if wa == 0 && e.pa != 0 {
			return false
		}
		w[e.a] += wa
		if e.kind == termScale {
			continue
		}
		if e.kind == termUnary {
			if !t.addSquare(e.a, g, e.xx) {
				return false
			}
			continue
		}
		wb := g * e.pb
		if wb == 0 && e.pb != 0 {
			return false
		}
		w[e.b] += wb
		if e.kind == termProduct {
			t.addProduct(e.rows, e.a, e.b, g)
			continue
		}
		if !t.addSquare(e.a, g, e.xx) || !t.addSquare(e.b, g, e.yy) || e.xy != 0 && !inRange(g*e.xy) {
			return false
		}
		t.addProduct(e.rows, e.a, e.b, g*e.xy)
	}
	if q := t.queued; q.a != 0 {
		u, v := t.directions(q.a)
		t.add(q.c, u, v, 0, u, v)
	}
	return allFinite(t.Tangents(y)) && allFinite(second)
}

// allFinite reports whether all of x are finite.
func allFinite(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// addSquare adds g·p·a_i·a_j to the second derivatives and reports whether g·p is in range, or 0 because p is.
func (t *Tracer) addSquare(a int32, g, p float64) bool {
	if p == 0 {
		return true
	}
	c := g * p
	if !inRange(c) {
		return false
	}
	rows := t.terms[a].rows
	if t.many(rows) {
		q := t.queued
		if t.queued = (pendingSquare{a, c}); q.a != 0 { // two at a time
			u, v := t.directions(a)
			p, r := t.directions(q.a)
			t.add(c, u, v, q.c, p, r)
			t.queued.a = 0
		}
		return true
	}
	u, v := t.directions(a)
	for m := rows; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		f := c * u[i]
		row := t.second[i*t.nc : (i+1)*t.nc]
		if !t.square {
			addScaled(row, f, v)
			continue
		}
		for l := m; l != 0; l &= l - 1 {
			j := bits.TrailingZeros64(l)
			row[j] += f * v[j]
		}
	}
	return true
}

// addProduct adds c·(a_i·b_j + b_i·a_j) to the second derivatives. The rows are those of a and of b.
func (t *Tracer) addProduct(rows uint64, a, b int32, c float64) {
	if c == 0 {
		return
	}
	ua, va := t.directions(a)
	ub, vb := t.directions(b)
	if t.many(rows) {
		t.add(c, ua, vb, c, ub, va)
		return
	}
	for m := rows; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		f, g := c*ua[i], c*ub[i]
		row := t.second[i*t.nc : (i+1)*t.nc]
		if !t.square {
			addScaled(row, f, vb)
			addScaled(row, g, va)
			continue
		}
		for l := m; l != 0; l &= l - 1 {
			j := bits.TrailingZeros64(l)
			row[j] += f*vb[j] + g*va[j]
		}
	}
}

// many reports whether a loop over all rows is faster than one over the given ones.
func (t *Tracer) many(rows uint64) bool { return 2*bits.OnesCount64(rows) > t.nr }

// directions returns the first derivatives of number a along the rows and along the columns.
func (t *Tracer) directions(a int32) (rows, cols []float64) {
	src := t.Tangents(a)
	return src[:t.nr], src[len(src)-t.nc:]
}

// add adds f·u·vᵀ + g·p·qᵀ to the second derivatives.
func (t *Tracer) add(f float64, u, v []float64, g float64, p, q []float64) {
	n := t.nc
	second, p, q := t.second, p[:len(u)], q[:len(v)]
	for i, s := range u {
		a, b := f*s, g*p[i]
		from := 0
		if t.square {
			from = i
		}
		row := second[i*n+from : i*n+n]
		v, q := v[from:][:len(row)], q[from:][:len(row)]
		for j := range row {
			row[j] += a*v[j] + b*q[j]
		}
	}
}
