package program

import (
	"math"

	"github.com/nabla-ad/nabla/internal/core"
)

// This file differentiates calls of custom rules whose derivatives are given over numbers (core.Inlined): the
// derivative is recorded at no particular point, and its operations take the place of a call. A derivative that is made
// of calls itself stays a few statements, however many numbers they have, and is differentiated again like any other
// part of the program.

// inline appends the operations of f and returns the slots of its results, -1 for those that are structurally zero.
// args are the slots of the arguments, -1 for a structural zero.
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
	ys := f(xs)
	r := t.Recorded()
	first := len(slot)
	slot = append(slot, make([]int32, r.Len)...)
	b.replay(r, first, slot, 0)
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

// inlineCall propagates g, the cotangents of the outputs of s, to its inputs.
func (v *reverser) inlineCall(s *Stmt, c core.Inlined, g Operand) {
	n := s.B.Base
	lanes := make([][]int32, v.k)
	for j := range v.k {
		args := v.inlineArgs(v.src, s, g, s.N, j, v.k, v.strong)
		lanes[j] = v.inline(args, func(a []core.Rep) []core.Rep {
			return c.PullOver(a[:n:n], a[n:n+s.N:n+s.N], a[n+s.N:])
		})
		if v.strong {
			v.strongInline(lanes[j], shifted(g, j), s.N, v.k)
		}
	}
	for l := range n {
		slot := v.src.at(s.A, l)
		if !v.on[slot] {
			continue
		}
		if run, ok := v.lanesOf(lanes, l, v.strong); ok {
			v.push(slot, run, false)
		}
	}
}

// inlineCall appends the tangents of the outputs of s, whose inputs have the tangents t.
func (f *pusher) inlineCall(s *Stmt, c core.Inlined, t Operand) {
	n := s.B.Base
	lanes := make([][]int32, f.k)
	for j := range f.k {
		args := f.inlineArgs(f.src, s, t, n, j, f.k, f.strong)
		lanes[j] = f.inline(args, func(a []core.Rep) []core.Rep {
			return c.PushOver(a[:n:n], a[n:n+s.N:n+s.N], a[n+s.N:])
		})
		if f.strong {
			f.strongInline(lanes[j], shifted(t, j), n, f.k)
		}
	}
	for l := range s.N {
		if run, ok := f.lanesOf(lanes, l, f.strong); ok {
			f.tan[s.D+l] = run
		}
	}
}

// inlinedCost returns about the number of statements that a derivative of s takes beyond one, if s calls an inlined
// rule, and 0 otherwise.
func (p *Program) inlinedCost(s *Stmt) int {
	if s.Op != Call {
		return 0
	}
	if _, ok := p.Customs[s.K].(core.Inlined); !ok {
		return 0
	}
	return 2 * int(s.terms()+s.N)
}
