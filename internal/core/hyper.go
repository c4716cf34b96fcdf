package core

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"github.com/nabla-ad/nabla/internal/vector"
	"github.com/nabla-ad/nabla/rules"
)

// A hyper-dual number carries, beside its value, first derivatives along two sets of directions, rows and columns, and
// the mixed second derivatives along pairs of them (Fike & Alonso, "The Development of Hyper-Dual Numbers for Exact
// Second-Derivative Calculations", AIAA 2011-886). For v = φ(a, b) and directions i and j
//
//	v_i  = φ_a·a_i + φ_b·b_i
//	v_ij = φ_a·a_ij + φ_b·b_ij + (φ_aa·a_i + φ_ab·b_i)·a_j + (φ_ab·a_i + φ_bb·b_i)·b_j
//
// A number stores only the directions that it depends on, and no second derivatives if these are structurally zero, as
// in a linear combination of inputs. If rows and columns are the same directions it stores only the upper triangle.
//
// Partial derivatives that may be out of range, or a second one that is not finite, and every operation of a sweep in
// strong mode take the slow path in hyper_strict.go.

// MaxHyper is the largest number of rows, and of columns, of a trace of hyper-dual numbers.
const MaxHyper = 64

// hyper is the arena of a trace of hyper-dual numbers.
type hyper struct {
	nums   []hyperNumber // by id
	mem    []float64
	square bool // the columns are the rows
	full   int  // the most elements that a number can take
	filled int  // elements of mem in use
	base   int  // filled by the inputs
	pad    [2][]float64
	inner  *Tracer // of derivatives that rules give over numbers, nil until there is one
	deferral
}

// A hyperNumber is the description of a number: its directions as sets of bits, and its place in the arena. There are
// the derivatives along its rows; those along its columns unless the trace is square; and, unless they are structurally
// zero, the second derivatives, row by row: size elements in all. In a square trace cols is 0 and a row begins at the
// diagonal. A struct of more than four words is not kept in registers.
type hyperNumber struct {
	rows, cols uint64
	at, size   int
}

// k returns the number of rows.
func (n hyperNumber) k() int { return bits.OnesCount64(n.rows) }

// first returns the number of first derivatives.
func (n hyperNumber) first() int { return bits.OnesCount64(n.rows) + bits.OnesCount64(n.cols) }

// flat reports whether all second derivatives are structurally zero, or there are none.
func (n hyperNumber) flat() bool { return n.size == n.first() }

// shape returns the description of a number with the given directions and second derivatives, without a place.
func (h *hyper) shape(rows, cols uint64) hyperNumber {
	k := bits.OnesCount64(rows)
	if h.square {
		return hyperNumber{rows: rows, size: k + k*(k+1)/2}
	}
	c := bits.OnesCount64(cols)
	return hyperNumber{rows: rows, cols: cols, size: k + c + k*c}
}

// StartHyper opens t for hyper-dual numbers over nIn inputs, with the given numbers of rows and columns of at most
// MaxHyper. With cols 0 the columns are the rows. limit and strong are those of StartDual. With one set, the second
// derivatives of one number are asked for, and deferred unless strong is set. The inputs are set by UnitHyper and
// AlongHyper.
func (t *Tracer) StartHyper(nIn, rows, cols, limit int, strong, one bool) {
	h := &t.hyper
	h.square, h.filled, h.base = cols == 0, 0, 0
	h.deferred, h.settled, h.nr, h.nc = one && !strong, 0, rows, cols
	if h.square {
		h.nc = rows
	}
	if len(h.second) < h.nr*h.nc {
		h.second = make([]float64, h.nr*h.nc)
	}
	h.full = h.shape(1<<rows-1, 1<<cols-1).size
	if limit <= 0 {
		limit = (1 << 28) / max(h.full, 1) // 2 GiB
	}
	kind := kindHyper
	if h.deferred {
		kind = kindDeferred
	}
	t.open(kind, min(limit, math.MaxInt/(16*max(h.full, 1))-nIn))
	t.strong = strong
	t.begin(nIn + 1)
	if h.deferred {
		t.startDeferral(nIn)
	} else {
		t.startNumbers()
	}
}

// startNumbers provides memory for the inputs and the first operations, with second derivatives.
func (t *Tracer) startNumbers() {
	h := &t.hyper
	if n := int(t.first) + 63; len(h.nums) < int(t.first) {
		h.nums = make([]hyperNumber, n)
		h.mem = make([]float64, 4*h.full+8*n)
	}
	for i := range h.pad {
		if len(h.pad[i]) < h.full {
			h.pad[i] = make([]float64, h.full)
		}
	}
}

// UnitHyper returns input i, with value v, as the number whose derivative along row r and, unless the trace is square,
// along column c is 1. A negative r or c means none.
func (t *Tracer) UnitHyper(i int, v float64, r, c int) Rep {
	var rows, cols uint64
	if r >= 0 {
		rows = 1 << r
	}
	if c >= 0 && !t.square {
		cols = 1 << c
	}
	return t.inputHyper(i, v, rows, cols, nil)
}

// AlongHyper returns input i, with value v, as the number whose derivative is 1 along row r, unless r is negative, and
// cols[k] along column k. Zeros in cols are structural. The trace must not be square.
func (t *Tracer) AlongHyper(i int, v float64, r int, cols []float64) Rep {
	var rows, on uint64
	if r >= 0 {
		rows = 1 << r
	}
	for k, d := range cols {
		if d != 0 {
			on |= 1 << k
		}
	}
	return t.inputHyper(i, v, rows, on, cols)
}

func (t *Tracer) inputHyper(i int, v float64, rows, on uint64, cols []float64) Rep {
	if rows|on == 0 {
		return Rep{V: v}
	}
	if t.deferred {
		return t.deferInput(int32(i)+1, v, rows, on, cols)
	}
	h := &t.hyper
	n := h.shape(rows, on)
	n.size = n.first()
	dst := t.place(int32(i)+1, n)
	for k := range dst {
		dst[k] = 1
	}
	if cols != nil {
		k := bits.OnesCount64(rows)
		for _, d := range cols {
			if d != 0 {
				dst[k] = d
				k++
			}
		}
	}
	h.base = h.filled
	return t.number(v, int32(i)+1)
}

// place allocates number id, of shape n, and returns its memory, which is not cleared.
func (t *Tracer) place(id int32, n hyperNumber) []float64 {
	h := &t.hyper
	if h.filled+n.size > len(h.mem) {
		t.growHyper(n.size)
	}
	n.at = h.filled
	h.filled += n.size
	h.nums[id] = n
	return h.mem[n.at : n.at+n.size : n.at+n.size]
}

// growHyper enlarges the arena for another number of the given size.
func (t *Tracer) growHyper(size int) {
	h := &t.hyper
	bigger := make([]float64, max(2*len(h.mem), h.filled+size))
	copy(bigger, h.mem[:h.filled])
	h.mem = bigger
}

// growNumbers makes room for more numbers. It panics with an Abort that holds a *LimitError at the limit.
func (t *Tracer) growNumbers() {
	t.room(func() int { return 8 * len(t.mem) })
	bigger := make([]hyperNumber, 2*len(t.nums))
	copy(bigger, t.nums)
	t.nums = bigger
}

// freshHyper allocates a new number of shape n.
func (t *Tracer) freshHyper(n hyperNumber) (id int32, dst []float64) {
	id = t.next
	if int(id) >= len(t.nums) || id > t.limit {
		t.growNumbers()
	}
	t.next = id + 1
	return id, t.place(id, n)
}

// of returns the memory of n.
func (h *hyper) of(n hyperNumber) []float64 {
	return h.mem[n.at : n.at+n.size : n.at+n.size]
}

// hyperUnary returns op(a), with value v.
func (t *Tracer) hyperUnary(op rules.Op, a Rep, v float64) Rep {
	if !activeIn[op][0] {
		return Rep{V: v}
	}
	var p, pp float64
	curved := rules.Curved(op) != 0
	if curved {
		p, pp = rules.Derivatives1(op, a.V, v)
	} else {
		p = rules.Partial1(op, a.V, v)
	}
	if t.strong || rules.Extreme(op, 0, p) || curved && rules.Extreme(op, 0, pp) || pp-pp != 0 {
		return t.strictly(op, operandOf(a, 0), operand2{}, v)
	}
	return t.alone(a.ID, p, pp, curved, v)
}

// hyperAlone is alone of a trace that does not defer second derivatives.
func (t *Tracer) hyperAlone(a int32, p, pp float64, curved bool, v float64) Rep {
	n := t.nums[a]
	if !curved {
		id, dst := t.freshHyper(n)
		scaleTo(dst, p, t.of(n))
		return t.number(v, id)
	}
	k, first := n.k(), n.first()
	id, dst := t.freshHyper(t.shape(n.rows, n.cols))
	src := t.of(n)
	scaleTo(dst[:len(src)], p, src)
	clear(dst[len(src):])
	rows, cols, h := src[:k], src[k:first], dst[first:]
	if t.square {
		for i, s := range rows {
			along := rows[i:]
			addScaled(h[:len(along)], pp*s, along)
			h = h[len(along):]
		}
		return t.number(v, id)
	}
	for _, s := range rows {
		addScaled(h[:len(cols)], pp*s, cols)
		h = h[len(cols):]
	}
	return t.number(v, id)
}

// long is the length from which on the vector instructions of package floats are faster than a loop.
const long = 16

// scaleTo sets dst to p·src. The lengths are equal.
func scaleTo(dst []float64, p float64, src []float64) {
	if len(src) >= long {
		floats.ScaleTo(dst, p, src)
		return
	}
	dst = dst[:len(src)]
	for i, s := range src {
		dst[i] = p * s
	}
}

// addScaled adds p·src to dst. The lengths are equal.
func addScaled(dst []float64, p float64, src []float64) {
	if len(src) >= long {
		floats.AddScaled(dst, p, src)
		return
	}
	dst = dst[:len(src)]
	for i, s := range src {
		dst[i] += p * s
	}
}

// hyperBinary returns op(a, b), with value v.
func (t *Tracer) hyperBinary(op rules.Op, a, b Rep, v float64) Rep {
	switch op {
	case rules.Max, rules.Min:
		return chosen(op, a, b, v)
	case rules.Add, rules.Sub:
		sign := 1.0
		if op == rules.Sub {
			sign = -1
		}
		switch {
		case b.ID == 0:
			a.V = v
			return a
		case a.ID == 0 && op == rules.Add:
			b.V = v
			return b
		case t.strong:
		case a.ID == 0:
			return t.hyperAlone(b.ID, -1, 0, false, v)
		default:
			return t.hyperSum(a.ID, b.ID, sign, v)
		}
	case rules.Mul:
		switch {
		case t.strong:
		case a.ID == 0:
			return t.hyperAlone(b.ID, a.V, 0, false, v)
		case b.ID == 0:
			return t.hyperAlone(a.ID, b.V, 0, false, v)
		default:
			return t.hyperBoth(a.ID, b.ID, b.V, a.V, 0, 1, 0, v)
		}
	}
	return t.hyperGeneral(op, a, b, v)
}

// hyperGeneral is hyperBinary for all operations but the most common ones.
func (t *Tracer) hyperGeneral(op rules.Op, a, b Rep, v float64) Rep {
	aOn, bOn := a.ID != 0 && activeIn[op][0], b.ID != 0 && activeIn[op][1]
	if !aOn && !bOn {
		return Rep{V: v}
	}
	curved := rules.Curved(op)
	var pa, pb, xx, xy, yy float64
	strict := t.strong
	if !strict {
		switch {
		case aOn && bOn:
			pa, pb = rules.Partials2(op, a.V, b.V, v)
		case aOn:
			pa, curved = rules.PartialX2(op, a.V, b.V, v), curved&rules.CurvedXX
		default:
			pb, curved = rules.PartialY2(op, a.V, b.V, v), curved&rules.CurvedYY
		}
		if curved != 0 {
			xx, xy, yy = rules.Seconds2(op, a.V, b.V, v)
			strict = curved&rules.CurvedXX != 0 && outOfRange(op, xx) ||
				curved&rules.CurvedXY != 0 && outOfRange(op, xy) || curved&rules.CurvedYY != 0 && outOfRange(op, yy)
		}
		strict = strict || aOn && rules.Extreme(op, 0, pa) || bOn && rules.Extreme(op, 1, pb)
	}
	switch {
	case strict:
		var oa, ob operand2
		if oa.v = a.V; aOn {
			oa = operandOf(a, 0)
		}
		if ob.v = b.V; bOn {
			ob = operandOf(b, 1)
		}
		return t.strictly(op, oa, ob, v)
	case aOn && bOn:
		return t.both(a.ID, b.ID, pa, pb, xx, xy, yy, v)
	case aOn:
		return t.alone(a.ID, pa, xx, curved != 0, v)
	}
	return t.alone(b.ID, pb, yy, curved != 0, v)
}

// outOfRange reports whether d, a second partial derivative of op, may be inexact because it is not finite or because
// it or one of its factors overflows or underflows.
func outOfRange(op rules.Op, d float64) bool {
	return d-d != 0 || rules.Extreme(op, 0, d) || rules.Extreme(op, 1, d)
}

// hyperSum returns a number with value v whose derivatives are those of number a plus sign times those of number b.
func (t *Tracer) hyperSum(a, b int32, sign float64, v float64) Rep {
	na, nb := t.nums[a], t.nums[b]
	n := na
	if na.rows == nb.rows && na.cols == nb.cols {
		n.size = max(na.size, nb.size)
	} else if n = t.shape(na.rows|nb.rows, na.cols|nb.cols); na.flat() && nb.flat() {
		n.size = n.first()
	}
	id, dst := t.freshHyper(n)
	sa, sb := t.of(na), t.of(nb)
	switch {
	case len(sa) == len(dst) && len(sb) == len(dst):
		if len(dst) >= long {
			floats.AddScaledTo(dst, sa, sign, sb)
			break
		}
		sa, sb = sa[:len(dst)], sb[:len(dst)]
		for i := range dst {
			dst[i] = sa[i] + sign*sb[i]
		}
	case len(sb) == len(dst):
		scaleTo(dst, sign, sb)
		t.spread(dst, n, na, sa, 1)
	case len(sa) == len(dst):
		copy(dst, sa)
		t.spread(dst, n, nb, sb, sign)
	default:
		clear(dst)
		t.spread(dst, n, na, sa, 1)
		t.spread(dst, n, nb, sb, sign)
	}
	return t.number(v, id)
}

// spread adds p times src, the derivatives of n, to dst, those of a number of shape to, which has all directions of n.
func (t *Tracer) spread(dst []float64, to, n hyperNumber, src []float64, p float64) {
	if n.rows == to.rows && n.cols == to.cols {
		addScaled(dst[:len(src)], p, src)
		return
	}
	var ri, ci [MaxHyper]uint8
	positions(&ri, n.rows, to.rows)
	k, first, wide := n.k(), n.first(), to.k()
	rows := ri[:k]
	for i, at := range rows {
		dst[at] += p * src[i]
	}
	if t.square {
		if len(src) == first {
			return
		}
		src = src[k:]
		for i, at := range rows {
			// Element (at, at) of the triangle is where row at begins.
			r := int(at)
			row := dst[wide+r*wide-r*(r-1)/2-r:]
			for j, s := range src[:k-i] {
				row[rows[i+j]] += p * s
			}
			src = src[k-i:]
		}
		return
	}
	positions(&ci, n.cols, to.cols)
	cols := ci[:first-k]
	for j, at := range cols {
		dst[wide+int(at)] += p * src[k+j]
	}
	if len(src) == first {
		return
	}
	begin := to.first()
	for i, at := range rows {
		row := dst[begin+int(at)*(begin-wide):]
		for j, s := range src[first+i*len(cols) : first+(i+1)*len(cols)] {
			row[cols[j]] += p * s
		}
	}
}

// positions sets list to the positions of the elements of sub in the set all, in order.
func positions(list *[MaxHyper]uint8, sub, all uint64) {
	n := 0
	for m := sub; m != 0; m &= m - 1 {
		list[n&(MaxHyper-1)] = uint8(bits.OnesCount64(all & (m&-m - 1)))
		n++
	}
}

// expanded returns the derivatives of number id as those of a number of shape to, in memory of its own number i unless
// they are stored so. There are no second derivatives if they are structurally zero.
func (t *Tracer) expanded(id int32, to hyperNumber, i int) []float64 {
	n := t.nums[id]
	src := t.of(n)
	if n.rows == to.rows && n.cols == to.cols {
		return src
	}
	size := to.size
	if n.flat() {
		size = to.first()
	}
	dst := t.pad[i][:size]
	clear(dst)
	t.spread(dst, to, n, src, 1)
	return dst
}

// hyperBoth is both of a trace that does not defer second derivatives.
func (t *Tracer) hyperBoth(a, b int32, pa, pb, xx, xy, yy, v float64) Rep {
	na, nb := t.nums[a], t.nums[b]
	n := t.shape(na.rows|nb.rows, na.cols|nb.cols)
	id, dst := t.freshHyper(n)
	sa, sb := t.expanded(a, n, 0), t.expanded(b, n, 1)
	if len(sa) < len(sb) {
		sa, sb, pa, pb, xx, yy = sb, sa, pb, pa, yy, xx
	}
	if len(sb) >= long {
		floats.ScaleTo(dst[:len(sa)], pa, sa)
		floats.AddScaled(dst[:len(sb)], pb, sb)
	} else {
		low, dst := sa[:len(sb)], dst[:len(sa)]
		for i, s := range sb {
			dst[i] = pa*low[i] + pb*s
		}
		for i := len(sb); i < len(sa); i++ {
			dst[i] = pa * sa[i]
		}
	}
	clear(dst[len(sa):])
	k, first := n.k(), n.first()
	rowA, rowB := sa[:k], sb[:k]
	colA, colB := sa[k:first], sb[k:first]
	if t.square {
		colA, colB = rowA, rowB
	}
	h := dst[first:]
	for i, s := range rowA {
		if t.square && i > 0 {
			colA, colB = colA[1:], colB[1:]
		}
		f, g := xx*s+xy*rowB[i], xy*s+yy*rowB[i]
		row, along := h[:len(colA)], colB[:len(colA)]
		h = h[len(colA):]
		for j, s := range colA {
			row[j] += f*s + g*along[j]
		}
	}
	return t.number(v, id)
}

// HyperFirst writes the derivatives of number id along the rows of a trace to dst, of length at least the number of
// rows.
func (t *Tracer) HyperFirst(dst []float64, id int32) {
	clear(dst)
	if t.deferred {
		copy(dst, t.Tangents(id)[:t.nr])
		return
	}
	n := t.nums[id]
	m := n.rows
	for _, s := range t.of(n)[:n.k()] {
		dst[bits.TrailingZeros64(m)] = s + 0 // a structural zero is -0
		m &= m - 1
	}
}

// HyperSecond returns the second derivatives of number id, row by row: those of a row begin at a multiple of the number
// of columns. In a square trace those below the diagonal have no meaning. They are valid until the next call. If they
// are deferred HyperNaN must have been called for id.
func (t *Tracer) HyperSecond(id int32) []float64 {
	dst := t.second[:t.nr*t.nc]
	if id != 0 && t.settled == id {
		return dst
	}
	clear(dst)
	if id == 0 {
		return dst
	}
	n := t.nums[id]
	src := t.of(n)[n.first():]
	for r := n.rows; r != 0 && len(src) > 0; r &= r - 1 {
		cols := n.cols
		if t.square {
			cols = r
		}
		row := dst[bits.TrailingZeros64(r)*t.nc:]
		for ; cols != 0; cols &= cols - 1 {
			row[bits.TrailingZeros64(cols)] = src[0] + 0 // a structural zero is -0
			src = src[1:]
		}
	}
	return dst
}

// HyperNaN reports whether a derivative of number id is NaN.
func (t *Tracer) HyperNaN(id int32) bool {
	if t.deferred {
		if t.settle(id) {
			return false
		}
		t.settled = 0
		t.undefer()
	}
	return vector.AnyNaN(t.of(t.nums[id]))
}
