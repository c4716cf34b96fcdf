package core

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// This file is the slow path of hyper-dual numbers: second derivatives entry by entry, from the factors of the first
// partial derivatives, each of which is differentiated again. The product rule is applied to a_i·f₁·f₂·…, so
// intermediate results stay in range if the result does, and structural zeros never meet an infinite derivative.

// operand2 is an operand of an operation: number id, or a constant if id is 0. arg is its index among the arguments.
type operand2 struct {
	id  int32
	arg int
	v   float64
}

func operandOf(a Rep, arg int) operand2 { return operand2{id: a.ID, arg: arg, v: a.V} }

// A jet is a value with a derivative along one direction. The derivative is structurally zero unless on is set.
type jet struct {
	v, d float64
	on   bool
}

// strictly returns op(a, b), with value v, by the slow path. At least one operand is no constant.
func (t *Tracer) strictly(op rules.Op, a, b operand2, v float64) Rep {
	if t.deferred {
		t.undefer()
	}
	var na, nb hyperNumber
	if a.id != 0 {
		na = t.nums[a.id]
	}
	if b.id != 0 {
		nb = t.nums[b.id]
	}
	n := t.shape(na.rows|nb.rows, na.cols|nb.cols)
	id, dst := t.freshHyper(n)
	s := strict{op: op, strong: t.strong, x: a.v, y: b.v, v: v, on: [3]bool{a.id != 0, b.id != 0, true}}
	sa, sb := t.padded(a.id, n, 0), t.padded(b.id, n, 1)
	k, first := n.k(), n.first()
	for i := range first {
		dst[i] = s.first(sa[i], sb[i])
	}
	at, begin := first, 0
	if !t.square {
		begin = k
	}
	for i := range k {
		j := begin
		if t.square {
			j = i
		}
		for ; j < first; j++ {
			d := s.mixed(i, j, at, sa, sb, dst)
			if i != j {
				if e := s.mixed(j, i, at, sa, sb, dst); e.v != d.v {
					d = jet{v: d.v/2 + e.v/2, on: true}
				}
			}
			dst[at] = s.tangent(d)
			at++
		}
	}
	return t.number(v, id)
}

// padded is expanded with all second derivatives, and with structural zeros in strong mode. The constant 0 has only
// these.
func (t *Tracer) padded(id int32, to hyperNumber, i int) []float64 {
	dst := t.pad[i][:to.size]
	zero := 0.0
	if t.strong {
		zero = math.Copysign(0, -1)
	}
	for k := range dst {
		dst[k] = zero
	}
	if id != 0 {
		n := t.nums[id]
		t.spread(dst, to, n, t.of(n), 1)
	}
	return dst
}

// A strict differentiates one operation twice.
type strict struct {
	op      rules.Op
	strong  bool
	x, y, v float64
	on      [3]bool // which of the arguments, and the value, are no constants
	args    [3]jet  // the arguments and the value along direction j
}

// jetOf returns v, argument i or the value if i is 2, with the derivative d.
func (s *strict) jetOf(i int, v, d float64) jet {
	return jet{v, d, s.on[i] && !(s.strong && IsStructuralZero(d))}
}

// tangent returns v of d, which is structurally zero unless d.on is set.
func (s *strict) tangent(d jet) float64 {
	switch {
	case d.on:
		return d.v + 0
	case s.strong:
		return math.Copysign(0, -1)
	}
	return 0
}

// first returns the derivative of the result if those of the arguments are a and b.
func (s *strict) first(a, b float64) float64 {
	da, db := s.term(0, a), s.term(1, b)
	return s.tangent(jet{v: da.v + db.v, on: da.on || db.on})
}

// term returns the derivative d of argument i times the partial derivative, as the v of a jet.
func (s *strict) term(i int, d float64) jet {
	if i >= s.op.Arity() || !activeIn[s.op][i] || !s.jetOf(i, 0, d).on {
		return jet{}
	}
	return jet{v: scaleBy(s.op, i, s.x, s.y, s.v, d), on: true}
}

// scaleBy returns d times the partial derivative of op with respect to argument i at (x, y), where the value is v.
func scaleBy(op rules.Op, i int, x, y, v, d float64) float64 {
	if op.Arity() == 1 {
		p := rules.Partial1(op, x, v)
		if rules.Extreme(op, 0, p) {
			return rules.Factors1(op, x, v).Times(d)
		}
		return d * p
	}
	var p float64
	if i == 0 {
		p = rules.PartialX2(op, x, y, v)
	} else {
		p = rules.PartialY2(op, x, y, v)
	}
	if rules.Extreme(op, i, p) {
		return rules.Factors2(op, i, x, y, v).Times(d)
	}
	return d * p
}

// mixed returns the derivative along direction i, differentiated along direction j. Element i of a, b and v is the
// derivative of an argument, and of the value, along direction i, and element at the second derivative. The two orders
// of differentiation may differ at singular points.
func (s *strict) mixed(i, j, at int, a, b, v []float64) jet {
	s.args = [3]jet{s.jetOf(0, s.x, a[j]), s.jetOf(1, s.y, b[j]), s.jetOf(2, s.v, v[j])}
	d := s.second(0, a[i], a[at])
	if e := s.second(1, b[i], b[at]); e.on {
		d.v, d.on = d.v+e.v, true
	}
	return d
}

// second returns the derivative along j, as the v of a jet, of the product of a_i and the partial derivative with
// respect to argument i. di is a_i and dij its derivative.
func (s *strict) second(i int, di, dij float64) jet {
	if i >= s.op.Arity() || !activeIn[s.op][i] {
		return jet{}
	}
	r := s.jetOf(i, di, dij)
	if !r.on && !s.jetOf(i, 0, di).on {
		return jet{}
	}
	steps, neg := rules.Steps(s.op, i)
	p := r
	for k := len(steps) - 1; k >= 0; k-- {
		p = s.step(p, steps[k])
	}
	if p.d != p.d { // a product in this order may be 0·Inf
		p = r
		for _, e := range steps {
			p = s.step(p, e)
		}
	}
	if neg {
		p.d = -p.d
	}
	return jet{v: p.d, on: p.on}
}

// step returns r times the factor e.
func (s *strict) step(r jet, e *rules.Expr) jet {
	if e.Kind == rules.Call && e.Op == rules.Inv {
		return quotient(r, s.eval(e.Args[0]))
	}
	return product(r, s.eval(e))
}

func product(a, b jet) jet {
	r := jet{v: a.v * b.v, on: a.on || b.on}
	if a.on {
		r.d = a.d * b.v
	}
	if b.on {
		r.d += b.d * a.v
	}
	return r
}

func quotient(a, b jet) jet {
	r := jet{v: a.v / b.v, on: a.on || b.on}
	if a.on {
		r.d = a.d / b.v
	}
	if b.on {
		if q := b.d / b.v; q-q == 0 {
			r.d -= q * r.v
		} else {
			r.d -= b.d * r.v / b.v
		}
	}
	return r
}

// eval returns the value of e, an expression in the arguments and the value, with its derivative along j.
func (s *strict) eval(e *rules.Expr) jet {
	switch e.Kind {
	case rules.Num:
		return jet{v: e.Num}
	case rules.ArgX, rules.ArgY:
		return s.args[e.Kind-rules.ArgX]
	case rules.ArgV:
		return s.args[2]
	}
	var a [3]jet
	for i, x := range e.Args {
		a[i] = s.eval(x)
	}
	switch e.Op {
	case rules.Select:
		if a[0].v != 0 {
			return a[1]
		}
		return a[2]
	case rules.FMA:
		r := product(a[0], a[1])
		if a[2].on {
			r.d, r.on = r.d+a[2].d, true
		}
		r.v = math.FMA(a[0].v, a[1].v, a[2].v)
		return r
	case rules.Mul:
		return product(a[0], a[1])
	}
	r := jet{v: value(e.Op, a)}
	for i := range e.Args {
		if a[i].on && activeIn[e.Op][i] {
			r.d, r.on = r.d+scaleBy(e.Op, i, a[0].v, a[1].v, r.v, a[i].d), true
		}
	}
	return r
}

// value returns the value of op, which has one or two arguments.
func value(op rules.Op, a [3]jet) float64 {
	if op.Arity() == 1 {
		return rules.Value1(op, a[0].v)
	}
	return rules.Value2(op, a[0].v, a[1].v)
}

// hyperCall computes the derivatives of a custom rule and sets out to its outputs: first ones by a JVP for each
// direction, second ones by a JVP of the tangent for each pair.
func (t *Tracer) hyperCall(c Custom, xs []Rep, x, y []float64, out []Rep) {
	if t.deferred {
		t.undefer()
	}
	n, m := len(x), len(y)
	var rows, cols uint64
	flat := true
	ids := make([]int32, n)
	for i, r := range xs {
		if ids[i] = t.Own(r); ids[i] != 0 {
			num := t.nums[ids[i]]
			rows, cols, flat = rows|num.rows, cols|num.cols, flat && num.flat()
		}
	}
	if s, ok := c.(Structured); !ok {
		flat = false
	} else if _, linear := s.Structure(n); !linear {
		flat = false
	}
	shape := t.shape(rows, cols)
	k, first, all := shape.k(), shape.first(), shape.size
	in := make([]float64, n*all)
	for i := range xs {
		copy(in[i*all:], t.padded(ids[i], shape, 0))
	}
	made := make([][]float64, m)
	if flat {
		shape.size = first
	}
	for i, v := range y {
		id, _ := t.freshHyper(shape)
		out[i] = t.number(v, id)
	}
	for i := range out { // the arena may have moved
		made[i] = t.of(t.nums[out[i].ID])
	}
	h := hyperRule{t: t, c: c, x: x, y: y, in: in, out: made, all: all,
		point: make([]float64, 2*n), dir: make([]float64, 2*n), res: make([]float64, m), along: make([]float64, m)}
	for i := range first {
		h.first(i)
	}
	if flat {
		return
	}
	inlined, given := c.(Inlined)
	if !given {
		h.tangent = c.Tangent(n)
	}
	at, begin := first, k
	for i := range k {
		if t.square {
			begin = i
		}
		if given {
			h.row(inlined, i, begin, first, at)
			at += first - begin
			continue
		}
		for j := begin; j < first; j++ {
			h.second(i, j, at)
			at++
		}
	}
}

// A hyperRule differentiates a call of a custom rule.
type hyperRule struct {
	t          *Tracer
	c, tangent Custom
	x, y       []float64
	in         []float64   // the derivatives of the inputs, of length all for each
	out        [][]float64 // those of the outputs
	all        int
	point, dir []float64 // of the tangent: the inputs and their derivatives
	res, along []float64 // derivatives of the outputs, and those along direction i
}

// column sets dst to derivative k of the inputs and reports whether one is not structurally zero.
func (h *hyperRule) column(dst []float64, k int) (moved bool) {
	for i := range dst {
		d := h.in[i*h.all+k]
		moved = moved || d != 0 || h.t.strong && !IsStructuralZero(d)
		dst[i] = d + 0
	}
	return moved
}

// store sets derivative k of the outputs to the result, or to structural zeros unless moved is set.
func (h *hyperRule) store(k int, moved bool) {
	zero := 0.0
	if h.t.strong {
		zero = math.Copysign(0, -1)
	}
	for i, d := range h.res {
		if h.out[i][k] = zero; moved { // a rule does not distinguish structural zeros
			h.out[i][k] = d + 0
		}
	}
}

// first computes the derivatives along direction i.
func (h *hyperRule) first(i int) {
	moved := h.column(h.dir[:len(h.x)], i)
	clear(h.res)
	if moved {
		h.c.JVP(h.res, h.x, h.y, h.dir[:len(h.x)])
	}
	h.store(i, moved)
}

// second computes the derivatives along directions i and j, which are number at: those of J(x)·x_i along (x_j, x_ij).
func (h *hyperRule) second(i, j, at int) {
	n := len(h.x)
	copy(h.point, h.x)
	bent := h.column(h.point[n:], i) && h.column(h.dir[:n], j)
	moved := h.column(h.dir[n:], at)
	clear(h.res)
	switch {
	case bent:
		for r := range h.along {
			h.along[r] = h.out[r][i] + 0
		}
		h.tangent.JVP(h.res, h.point, h.along, h.dir)
	case moved:
		h.c.JVP(h.res, h.x, h.y, h.dir[n:])
	}
	h.store(at, bent || moved)
}

// row computes the derivatives along direction i and directions begin to end-1, which are number at and the following
// ones: those of J(x)·x_i, which c gives over numbers, by a trace in forward mode.
func (h *hyperRule) row(c Inlined, i, begin, end, at int) {
	n, m := len(h.x), len(h.y)
	if h.t.inner == nil {
		h.t.inner = new(Tracer)
	}
	t := h.t.inner
	t.StartDual(2*n+m, end-begin, 0, h.t.strong)
	defer t.Close()
	args := make([]Rep, 2*n+m)
	// set makes argument k the number with value v and derivatives d.
	set := func(k int, v float64, d []float64) {
		args[k] = Rep{V: v + 0}
		dst := t.Tangents(int32(k) + 1)
		moved := false
		for l, s := range d {
			dst[l] = s
			moved = moved || s != 0 || t.strong && !IsStructuralZero(s)
		}
		if moved {
			args[k] = t.number(v+0, int32(k)+1)
		}
	}
	for j, v := range h.x {
		in := h.in[j*h.all : (j+1)*h.all]
		set(j, v, in[begin:end])
		set(n+j, in[i], in[at:at+end-begin])
	}
	for r, v := range h.y {
		set(2*n+r, v, h.out[r][begin:end])
	}
	for r, d := range c.PushOver(args[:n:n], args[2*n:], args[n:2*n:2*n]) {
		id := t.Own(d)
		dst := h.out[r][at : at+end-begin]
		for l := range dst {
			dst[l] = 0
			switch {
			case id != 0:
				dst[l] = t.Tangents(id)[l]
			case t.strong:
				dst[l] = math.Copysign(0, -1)
			}
		}
	}
}
