package program

import (
	"math"

	"github.com/nabla-ad/nabla/internal/core"
)

// This file differentiates calls of custom rules whose derivatives are given over numbers (core.Inlined), or which are
// given over numbers themselves (core.Recordable): they are recorded at no particular point, and the operations of the
// derivative take the place of a call. A derivative that is made of calls itself stays a few statements, however many
// numbers they have, and is differentiated again like any other part of the program.

// inline appends the operations of f and returns the slots of its results, -1 for those that are structurally zero.
// args are the slots of the arguments, -1 for a structural zero. It returns nil if f reads values of numbers or fails.
func (b *builder) inline(args []int32, f func(args []core.Rep) []core.Rep) []int32 {
	var t core.Tracer
	t.StartRecording(len(args), 0, core.RecordOptions{Blind: true})
	defer t.Close()
	xs := make([]core.Rep, len(args))
	slot := make([]int32, len(args)+1)
	for i, s := range args {
		if s >= 0 {
			xs[i] = t.Input(i, math.NaN())
			slot[i+1] = s
		}
	}
	ys, ok := attempt(&t, xs, func() []core.Rep { return f(xs) })
	if !ok {
		return nil
	}
	r := t.Recorded()
	c := newConverter(b, r)
	c.id = len(slot)
	slot = append(slot, make([]int32, r.Len)...)
	c.slot = slot
	c.all()
	out := make([]int32, len(ys))
	for i, y := range ys {
		switch {
		case y.ID != 0:
			out[i] = slot[t.Own(y)]
		case y.V == 0:
			out[i] = -1
		default:
			out[i] = b.constant(y.V)
		}
	}
	return out
}

// attempt returns the numbers of t that f returns, and false if f cannot be recorded without values. An error of f is
// found again where f is called with values.
func attempt(t *core.Tracer, xs []core.Rep, f func() []core.Rep) (ys []core.Rep, ok bool) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case core.Abort:
			ok = false
		default:
			panic(v)
		}
	}()
	ys = f()
	again, failed := t.End(xs)
	if again {
		ys = f()
		_, failed = t.End(xs)
	}
	for _, y := range ys {
		t.Own(y)
	}
	return ys, failed == nil
}

// zeroFree returns slot, or -1 if it is the constant that stands for a structural zero.
func (b *builder) zeroFree(slot int32, strong bool) int32 {
	v := 0.0
	if strong {
		v = math.Copysign(0, -1)
	}
	if s, ok := b.consts[math.Float64bits(v)]; ok && s == slot {
		return -1
	}
	return slot
}

// inlineArgs returns the slots of the inputs and outputs of s, which belong to p, and those of lane j of the m
// addresses of d, a direction or seed of k lanes.
func (b *builder) inlineArgs(p *Program, s *Stmt, d Operand, m, j, k int32, strong bool) []int32 {
	n := s.B.Base
	args := make([]int32, 0, n+s.N+m)
	for l := range n {
		args = append(args, p.at(s.A, l))
	}
	for l := range s.N {
		args = append(args, s.D+l)
	}
	for l := range m {
		args = append(args, b.zeroFree(b.p.at(d, l*k+j), strong))
	}
	return args
}

// lanesOf returns the first slot of the k slots that hold result l of each lane, and false if all are structurally
// zero.
func (b *builder) lanesOf(lanes [][]int32, l int32, strong bool) (run int32, ok bool) {
	for _, lane := range lanes {
		ok = ok || lane[l] >= 0
	}
	switch {
	case !ok:
		return 0, false
	case len(lanes) == 1:
		return lanes[0][l], true
	}
	slots := make([]int32, len(lanes))
	for j, lane := range lanes {
		if slots[j] = lane[l]; slots[j] < 0 {
			slots[j] = b.zero(strong)
		}
	}
	return b.add(Stmt{Op: Sum, N: int32(len(lanes)), K: 1, A: b.gather(slots)}), true
}

// strongInline converts the results out of one lane to the form of strong mode; see strongResult.
func (b *builder) strongInline(out []int32, g Operand, n, k int32) {
	var slots []int32
	for _, s := range out {
		if s >= 0 {
			slots = append(slots, s)
		}
	}
	if len(slots) == 0 {
		return
	}
	m := int32(len(slots))
	run := b.strongResult(b.add(Stmt{Op: Sum, N: m, K: 1, A: b.gather(slots)}), m, g, n, k)
	for i, s := range out {
		if s >= 0 {
			out[i] = run
			run++
		}
	}
}

// inlineCall propagates g, the cotangents of the outputs of s, to its inputs. It returns false if the rule cannot be
// inlined.
func (v *reverser) inlineCall(s *Stmt, c core.Inlined, g Operand) bool {
	n := s.B.Base
	lanes := make([][]int32, v.k)
	for j := range v.k {
		args := v.inlineArgs(v.src, s, g, s.N, j, v.k, v.strong)
		lanes[j] = v.inline(args, func(a []core.Rep) []core.Rep {
			return c.PullOver(a[:n:n], a[n:n+s.N:n+s.N], a[n+s.N:])
		})
		if lanes[j] == nil {
			return false
		}
	}
	v.inlined(s, lanes, g)
	return true
}

// inlined adds the results of each lane of an inlined derivative of s to the cotangents of the inputs of s. g is the
// cotangent of its outputs.
func (v *reverser) inlined(s *Stmt, lanes [][]int32, g Operand) {
	if v.strong {
		for j, lane := range lanes {
			v.strongInline(lane, shifted(g, int32(j)), s.N, v.k)
		}
	}
	for l := range s.B.Base {
		slot := v.src.at(s.A, l)
		if !v.on[slot] {
			continue
		}
		if run, ok := v.lanesOf(lanes, l, v.strong); ok {
			v.push(slot, run, false)
		}
	}
}

// inlineCall appends the tangents of the outputs of s, whose inputs have the tangents t. It returns false if the rule
// cannot be inlined.
func (f *pusher) inlineCall(s *Stmt, c core.Inlined, t Operand) bool {
	n := s.B.Base
	lanes := make([][]int32, f.k)
	for j := range f.k {
		args := f.inlineArgs(f.src, s, t, n, j, f.k, f.strong)
		lanes[j] = f.inline(args, func(a []core.Rep) []core.Rep {
			return c.PushOver(a[:n:n], a[n:n+s.N:n+s.N], a[n+s.N:])
		})
		if lanes[j] == nil {
			return false
		}
	}
	f.inlined(s, lanes, t)
	return true
}

// inlined makes the results of each lane of an inlined derivative of s the tangents of its outputs. t is the tangent of
// its inputs.
func (f *pusher) inlined(s *Stmt, lanes [][]int32, t Operand) {
	if f.strong {
		for j, lane := range lanes {
			f.strongInline(lane, shifted(t, int32(j)), s.B.Base, f.k)
		}
	}
	for l := range s.N {
		if run, ok := f.lanesOf(lanes, l, f.strong); ok {
			f.tan[s.D+l] = run
		}
	}
}

// recorded returns the program of c for n inputs, or nil if c cannot be recorded at no particular point: it reads
// values of numbers, or fails.
func (p *Program) recorded(c core.Recordable, n int32) (q *Program) {
	var t core.Tracer
	t.StartRecording(int(n), 0, core.RecordOptions{Blind: true, Loops: true})
	defer t.Close()
	xs, ys := make([]core.Rep, n), make([]core.Rep, c.Outputs(int(n)))
	for i := range xs {
		xs[i] = t.Input(i, math.NaN())
	}
	_, ok := attempt(&t, xs, func() []core.Rep {
		c.Over(ys, xs)
		return ys
	})
	if !ok {
		return nil
	}
	q, err := FromRecordingFor(t.Recorded(), ys, p.task)
	if err != nil {
		return nil
	}
	return q
}

// spliceCall is inlineCall for q, the program of the rule.
func (v *reverser) spliceCall(s *Stmt, q *Program, g Operand) {
	d := VJP(q, VJPOptions{Lanes: int(v.k), Strong: v.strong})
	v.inlined(s, v.splice(d, v.src, s, g, s.N*v.k, v.k), g)
}

// spliceCall is inlineCall for q, the program of the rule.
func (f *pusher) spliceCall(s *Stmt, q *Program, t Operand) {
	d := JVP(q, JVPOptions{Lanes: int(f.k), Strong: f.strong})
	f.inlined(s, f.splice(d, f.src, s, t, s.B.Base*f.k, f.k), t)
}

// splice appends the statements of q for the inputs of s, which belongs to p, and a direction or seed d of m numbers.
// It returns the slots of each of the k lanes of its last group of outputs.
func (b *builder) splice(q, p *Program, s *Stmt, d Operand, m, k int32) [][]int32 {
	ins := [2][]int32{make([]int32, s.B.Base), make([]int32, m)}
	for l := range ins[0] {
		ins[0][l] = p.at(s.A, int32(l))
	}
	for l := range ins[1] {
		ins[1][l] = b.p.at(d, int32(l))
	}
	r := &rewriter{builder: b, src: q, slot: make([]int32, q.Slots)}
	customs := int32(len(b.p.Customs))
	b.p.Customs = append(b.p.Customs, q.Customs...)
	for i := range q.Stmts {
		t := &q.Stmts[i]
		if t.Op == Input {
			copy(r.slot[t.D:t.D+t.N], ins[t.K])
			continue
		}
		u := r.mapped(t)
		if t.Op == Call {
			u.K += customs
		}
		r.place(t, b.add(u))
	}
	out := q.groupResult(len(q.Outs) - 1)
	lanes := make([][]int32, k)
	for j := range lanes {
		lanes[j] = make([]int32, len(out)/int(k))
		for l := range lanes[j] {
			lanes[j][l] = r.slot[out[l*int(k)+j]]
		}
	}
	return lanes
}

// inlinedCost returns about the number of statements that a derivative of s takes beyond one if it is inlined, and 0
// otherwise.
func (p *Program) inlinedCost(s *Stmt) int {
	if s.Op != Call {
		return 0
	}
	switch p.Customs[s.K].(type) {
	case core.Inlined, core.Recordable:
		return 2 * int(s.terms()+s.N)
	}
	return 0
}
