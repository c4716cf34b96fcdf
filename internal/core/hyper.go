package core

import (
	"math"
	"math/bits"

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
}

// A hyperNumber is the description of a number: its directions as sets of bits, and its place in the arena. There are
// the derivatives along its rows; those along its columns unless the trace is square; and, unless flat is set, the
// second derivatives, row by row. In a square trace a row begins at the diagonal.
type hyperNumber struct {
	rows, cols uint64
	at         int
	flat       bool // all second derivatives are structurally zero
}

// sizes returns the number of rows, of elements before the second derivatives, and of elements in all of a number with
// the given directions.
func (h *hyper) sizes(rows, cols uint64) (k, first, all int) {
	k = bits.OnesCount64(rows)
	if h.square {
		return k, k, k + k*(k+1)/2
	}
	c := bits.OnesCount64(cols)
	return k, k + c, k + c + k*c
}

// StartHyper opens t for hyper-dual numbers over nIn inputs, with the given numbers of rows and columns of at most
// MaxHyper. With cols 0 the columns are the rows. limit and strong are those of StartDual. The inputs are set by
// UnitHyper and AlongHyper.
func (t *Tracer) StartHyper(nIn, rows, cols, limit int, strong bool) {
	h := &t.hyper
	h.square, h.filled, h.base = cols == 0, 0, 0
	_, _, h.full = h.sizes(1<<rows-1, 1<<cols-1)
	if limit <= 0 {
		limit = (1 << 28) / h.full // 2 GiB
	}
	t.open(kindHyper, min(limit, math.MaxInt/(16*h.full)-nIn))
	t.strong = strong
	t.begin(nIn + 1)
	if len(h.nums) <= nIn {
		h.nums = make([]hyperNumber, nIn+64)
		h.mem = make([]float64, 4*h.full+8*(nIn+64))
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
	h := &t.hyper
	dst := t.place(int32(i)+1, rows, on, true)
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

// place allocates number id and returns its memory, which is not cleared.
func (t *Tracer) place(id int32, rows, cols uint64, flat bool) []float64 {
	h := &t.hyper
	_, first, all := h.sizes(rows, cols)
	if flat {
		all = first
	}
	if h.filled+all > len(h.mem) {
		t.growHyper(all)
	}
	h.nums[id] = hyperNumber{rows, cols, h.filled, flat || all == first}
	dst := h.mem[h.filled : h.filled+all : h.filled+all]
	h.filled += all
	return dst
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

// freshHyper allocates a new number.
func (t *Tracer) freshHyper(rows, cols uint64, flat bool) (id int32, dst []float64) {
	id = t.next
	if int(id) >= len(t.nums) || id > t.limit {
		t.growNumbers()
	}
	dst = t.place(id, rows, cols, flat)
	t.next = id + 1
	return id, dst
}

// of returns the description of number id and its memory.
func (h *hyper) of(id int32) (n *hyperNumber, k, first int, src []float64) {
	n = &h.nums[id]
	k, first, all := h.sizes(n.rows, n.cols)
	if n.flat {
		all = first
	}
	return n, k, first, h.mem[n.at : n.at+all : n.at+all]
}

// hyperUnary returns op(a), with value v.
func (t *Tracer) hyperUnary(op rules.Op, a Rep, v float64) Rep {
	if !activeIn[op][0] {
		return Rep{V: v}
	}
	p := rules.Partial1(op, a.V, v)
	curved := rules.Curved(op) != 0
	pp := 0.0
	if curved {
		pp = rules.Second1(op, a.V, v)
	}
	if t.strong || rules.Extreme(op, 0, p) || curved && rules.Extreme(op, 0, pp) || pp-pp != 0 {
		return t.strictly(op, operandOf(a, 0), operand2{}, v)
	}
	return t.alone(a.ID, p, pp, curved, v)
}

// alone returns a number with value v that depends on number a alone, with first derivative p and second derivative
// pp, which is structurally zero unless curved is set.
func (t *Tracer) alone(a int32, p, pp float64, curved bool, v float64) Rep {
	n := t.nums[a]
	id, dst := t.freshHyper(n.rows, n.cols, n.flat && !curved)
	_, k, first, src := t.of(a)
	for i, s := range src[:min(len(src), len(dst))] {
		dst[i] = p * s
	}
	if !curved {
		return t.number(v, id)
	}
	cols := src[:first]
	if !t.square {
		cols = src[k:first]
	}
	h := dst[first:]
	for i, s := range src[:k] {
		along := cols
		if t.square {
			along = cols[i:]
		}
		row := h[:len(along)]
		h = h[len(along):]
		c := pp * s
		if n.flat {
			for j, s := range along {
				row[j] = c * s
			}
		} else {
			for j, s := range along {
				row[j] += c * s
			}
		}
	}
	return t.number(v, id)
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
			return t.alone(b.ID, -1, 0, false, v)
		default:
			return t.sum(a.ID, b.ID, sign, v)
		}
	case rules.Mul:
		switch {
		case t.strong:
		case a.ID == 0:
			return t.alone(b.ID, a.V, 0, false, v)
		case b.ID == 0:
			return t.alone(a.ID, b.V, 0, false, v)
		default:
			return t.both(a.ID, b.ID, b.V, a.V, 0, 1, 0, v)
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

// sum returns a number with value v whose derivatives are those of number a plus sign times those of number b.
func (t *Tracer) sum(a, b int32, sign float64, v float64) Rep {
	na, nb := t.nums[a], t.nums[b]
	rows, cols := na.rows|nb.rows, na.cols|nb.cols
	id, dst := t.freshHyper(rows, cols, na.flat && nb.flat)
	_, _, _, sa := t.of(a)
	_, _, _, sb := t.of(b)
	if len(sa) == len(dst) && len(sb) == len(dst) {
		sa, sb = sa[:len(dst)], sb[:len(dst)]
		if sign < 0 {
			for i := range dst {
				dst[i] = sa[i] - sb[i]
			}
		} else {
			for i := range dst {
				dst[i] = sa[i] + sb[i]
			}
		}
		return t.number(v, id)
	}
	if len(sb) == len(dst) && len(sa) < len(sb) {
		for i, s := range sb {
			dst[i] = sign * s
		}
		t.spread(dst, rows, cols, &na, sa, 1)
		return t.number(v, id)
	}
	if len(sa) == len(dst) {
		copy(dst, sa)
	} else {
		clear(dst)
		t.spread(dst, rows, cols, &na, sa, 1)
	}
	t.spread(dst, rows, cols, &nb, sb, sign)
	return t.number(v, id)
}

// spread adds p times the derivatives src of n to dst, those of a number that has the directions rows and cols among
// others.
func (t *Tracer) spread(dst []float64, rows, cols uint64, n *hyperNumber, src []float64, p float64) {
	var ri, ci [MaxHyper]uint8
	k := positions(&ri, n.rows, rows)
	all, first, _ := t.sizes(rows, cols)
	if t.square {
		for i, at := range ri[:k] {
			dst[at] += p * src[i]
		}
		if n.flat {
			return
		}
		src = src[k:]
		for i, at := range ri[:k] {
			// Element (at, at) of the triangle is where row at begins.
			row := dst[first+int(at)*all-int(at)*(int(at)-1)/2-int(at):]
			for j, s := range src[:k-i] {
				row[ri[i+j]] += p * s
			}
			src = src[k-i:]
		}
		return
	}
	c := positions(&ci, n.cols, cols)
	for i, at := range ri[:k] {
		dst[at] += p * src[i]
	}
	for j, at := range ci[:c] {
		dst[all+int(at)] += p * src[k+j]
	}
	if n.flat {
		return
	}
	src = src[k+c:]
	width := first - all
	for i, at := range ri[:k] {
		row := dst[first+int(at)*width:]
		for j, s := range src[i*c : i*c+c] {
			row[ci[j]] += p * s
		}
	}
}

// positions sets list to the positions of the elements of sub in the set all, in order, and returns their number.
func positions(list *[MaxHyper]uint8, sub, all uint64) (n int) {
	for m := sub; m != 0; m &= m - 1 {
		list[n&(MaxHyper-1)] = uint8(bits.OnesCount64(all & (m&-m - 1)))
		n++
	}
	return n
}

// expanded returns the derivatives of number id as those of a number with the directions rows and cols, second ones
// included, in memory of its own number i unless they are stored so.
func (t *Tracer) expanded(id int32, rows, cols uint64, i int) (src []float64, flat bool) {
	n, _, first, src := t.of(id)
	if n.rows == rows && n.cols == cols {
		return src, n.flat
	}
	_, first, all := t.sizes(rows, cols)
	if n.flat {
		all = first
	}
	dst := t.pad[i][:all]
	clear(dst)
	t.spread(dst, rows, cols, n, src, 1)
	return dst, n.flat
}

// both returns a number with value v that depends on the numbers a and b, with first derivatives pa and pb and second
// derivatives xx, xy and yy.
func (t *Tracer) both(a, b int32, pa, pb, xx, xy, yy, v float64) Rep {
	na, nb := &t.nums[a], &t.nums[b]
	rows, cols := na.rows|nb.rows, na.cols|nb.cols
	id, dst := t.freshHyper(rows, cols, false)
	k, first, _ := t.sizes(rows, cols)
	sa, flatA := t.expanded(a, rows, cols, 0)
	sb, flatB := t.expanded(b, rows, cols, 1)
	switch {
	case flatA && flatB:
		sb := sb[:len(sa)]
		for i, s := range sa {
			dst[i] = pa*s + pb*sb[i]
		}
		clear(dst[first:])
	case flatB || flatA:
		if flatA {
			sa, sb, pa, pb, xx, yy = sb, sa, pb, pa, yy, xx
		}
		low := sa[:len(sb)]
		for i, s := range sb {
			dst[i] = pa*low[i] + pb*s
		}
		for i, s := range sa[first:] {
			dst[first+i] = pa * s
		}
	default:
		sb, dst := sb[:len(sa)], dst[:len(sa)]
		for i, s := range sa {
			dst[i] = pa*s + pb*sb[i]
		}
	}
	ca, cb := sa[:first], sb[:first]
	if !t.square {
		ca, cb = sa[k:first], sb[k:first]
	}
	h := dst[first:]
	for i, s := range sa[:k] {
		la, lb := ca, cb
		if t.square {
			la, lb = ca[i:], cb[i:]
		}
		f, g := xx*s+xy*sb[i], xy*s+yy*sb[i]
		row := h[:len(la)]
		h = h[len(la):]
		lb = lb[:len(la)]
		for j, s := range la {
			row[j] += f*s + g*lb[j]
		}
	}
	return t.number(v, id)
}

// HyperFirst writes the derivatives of number id along the rows of a trace to dst, of length at least the number of
// rows.
func (t *Tracer) HyperFirst(dst []float64, id int32) {
	clear(dst)
	n, k, _, src := t.of(id)
	m := n.rows
	for _, s := range src[:k] {
		dst[bits.TrailingZeros64(m)] = s + 0 // a structural zero is -0
		m &= m - 1
	}
}

// HyperSecond calls put with each second derivative of number id that is stored, along row i and column j. In a square
// trace j is at least i.
func (t *Tracer) HyperSecond(id int32, put func(i, j int, d float64)) {
	n, _, first, src := t.of(id)
	if n.flat {
		return
	}
	src = src[first:]
	for r := n.rows; r != 0; r &= r - 1 {
		cols := n.cols
		if t.square {
			cols = r
		}
		i := bits.TrailingZeros64(r)
		for ; cols != 0; cols &= cols - 1 {
			put(i, bits.TrailingZeros64(cols), src[0]+0)
			src = src[1:]
		}
	}
}

// HyperNaN reports whether a derivative of number id is NaN.
func (t *Tracer) HyperNaN(id int32) bool {
	_, _, _, src := t.of(id)
	return AnyNaN(src)
}
