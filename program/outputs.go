package program

import (
	"slices"

	"github.com/nabla-ad/nabla/internal/vector"
)

// An outGroup says where the values of an output group are: constants, of which a derivative often has many, or slots
// that the program writes.
type outGroup struct {
	slots []int32 // slot of each value
	run   int32   // first slot if the slots are contiguous, otherwise -1
	ready bool    // the values are there as Output returns them
	// If half of the values are constants or more, template has these at their places, and moved tells where the others
	// are. It is nil for group 0, whose -0 is kept.
	template []float64
	moved    []move
	varying  []slotRange // the slots that are no constants, ascending
	nan      bool        // a constant is NaN
}

// A move is a value that is copied from a slot to a place in the group, or in the file, where zero is added: 0, or -0,
// which keeps the sign of a zero.
type move struct {
	to, slot int32
	zero     float64
}

// A slotRange has the slots from one to another, without the latter.
type slotRange struct{ from, to int32 }

// outGroups returns the output groups of p. m holds the constants.
func outGroups(p *Program, m []float64) []outGroup {
	constant := p.constants()
	out := make([]outGroup, len(p.Outs))
	at := 0
	for i, g := range p.Outs {
		out[i] = newOutGroup(p.Result[at:at+g.N], i > 0, constant, m)
		at += g.N
	}
	return out
}

// newOutGroup returns the group of the values in slots. derived is set for derivatives.
func newOutGroup(slots []int32, derived bool, constant []bool, m []float64) outGroup {
	o := outGroup{slots: slots, run: -1}
	if len(slots) == 0 {
		return o
	}
	o.run = slots[0]
	constants := 0
	var varying []int32
	for j, s := range slots {
		if s != o.run+int32(j) {
			o.run = -1
		}
		if constant[s] {
			constants++
			o.nan = o.nan || m[s] != m[s]
		} else {
			varying = append(varying, s)
		}
	}
	if derived && 2*constants >= len(slots) {
		o.template = make([]float64, len(slots))
		o.moved = make([]move, 0, len(varying))
		for j, s := range slots {
			if constant[s] {
				o.template[j] = m[s] + 0
			} else {
				o.moved = append(o.moved, move{to: int32(j), slot: s})
			}
		}
	}
	slices.Sort(varying)
	for _, s := range slices.Compact(varying) {
		if n := len(o.varying); n > 0 && o.varying[n-1].to == s {
			o.varying[n-1].to++
		} else {
			o.varying = append(o.varying, slotRange{s, s + 1})
		}
	}
	o.varying = slices.Clip(o.varying)
	return o
}

// constants reports for each slot whether it holds a constant.
func (p *Program) constants() []bool {
	constant := make([]bool, p.Slots)
	for i := range p.Stmts {
		if s := &p.Stmts[i]; s.Op == Const {
			for l := range s.N {
				constant[s.D+l] = true
			}
		}
	}
	return constant
}

// Output copies output group i of the last run to dst, which has at least as many elements as the group. Group 0, the
// value, is copied bit for bit; in other groups -0 becomes 0.
func (x *Machine) Output(i int, dst []float64) {
	o, m := &x.out[i], x.m
	dst = dst[:len(o.slots)]
	if at := x.loan.out; at != nil && i == x.loan.group {
		if &at[0] != &dst[0] {
			copy(dst, at)
		}
		return
	}
	switch {
	case o.ready:
		if at := x.loan.delivered; at != nil && i == x.loan.wantedAt && &at[0] == &dst[0] {
			return // OutputHasNaN has copied it
		}
		copy(dst, m[o.run:])
	case o.template != nil:
		copy(dst, o.template)
		for _, v := range o.moved {
			dst[v.to] = m[v.slot] + 0
		}
	case o.run >= 0 && i == 0:
		copy(dst, m[o.run:])
	case o.run >= 0:
		src := m[o.run:]
		src = src[:len(dst)]
		for j, v := range src {
			dst[j] = v + 0
		}
	case i == 0:
		for j, s := range o.slots {
			dst[j] = m[s]
		}
	default: // a derivative has no -0
		for j, s := range o.slots {
			dst[j] = m[s] + 0
		}
	}
}

// AnyNaN reports whether one of the output groups from first to last has a NaN. See OutputHasNaN.
func (x *Machine) AnyNaN(first, last int) bool {
	for i := first; i <= last; i++ {
		if x.OutputHasNaN(i) {
			return true
		}
	}
	return false
}

// OutputHasNaN reports whether output group i has a NaN. It may copy the group to the memory that [Machine.Borrow] had
// for it.
func (x *Machine) OutputHasNaN(i int) bool {
	o := &x.out[i]
	if o.nan {
		return true
	}
	if at := x.loan.out; at != nil && i == x.loan.group {
		return vector.AnyNaN(at)
	}
	if o.ready && len(o.varying) > 1 { // faster than many short ranges
		run := x.m[o.run : int(o.run)+len(o.slots)]
		if to := x.loan.wanted; to != nil && i == x.loan.wantedAt {
			x.loan.wanted, x.loan.delivered = nil, to
			return vector.CopyAnyNaN(to, run)
		}
		return vector.AnyNaN(run)
	}
	for _, r := range o.varying {
		if r.to-r.from == 1 {
			if v := x.m[r.from]; v != v {
				return true
			}
			continue
		}
		if vector.AnyNaN(x.m[r.from:r.to]) {
			return true
		}
	}
	return false
}
