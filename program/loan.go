package program

import (
	"slices"

	"github.com/nabla-ad/nabla/internal/native"
)

// A loan is memory of the caller that machine code uses in place of parts of the file: input group 0, and an output
// group.
type loan struct {
	areas  native.Areas // the parts, of no slots if they have to be in the file
	group  int          // the output group
	unread bool         // nothing reads input group 0
	fresh  bool         // Borrow has been called for the next run
	in     []float64    // nil if the part is in the file
	out    []float64
	// An output group that is wanted elsewhere, and has to be copied there, is copied when NaNs are sought in it.
	wanted    []float64 // nil if there is none, or it is there
	wantedAt  int       // the group
	delivered []float64 // nil if none was copied in the last run
}

// areas sets the output group, and returns the parts of the file that only machine code uses. Read has the slots that
// other statements read.
func (x *Machine) areas(read []bool) (areas native.Areas) {
	p := x.p
	if read == nil {
		return areas
	}
	if len(p.Ins) > 0 {
		areas[0] = native.Area{First: x.in[0], N: int32(p.Ins[0].N)}
		for _, r := range read[areas[0].First:][:areas[0].N] {
			if r {
				areas[0] = native.Area{}
				break
			}
		}
	}
	for i := range x.out {
		if o := &x.out[i]; i > 0 && o.whole() && len(o.slots) > int(areas[1].N) {
			x.loan.group, areas[1] = i, native.Area{First: o.run, N: int32(len(o.slots))}
		}
	}
	for _, v := range x.late {
		for k, a := range areas {
			if a.Has(v.slot) || a.Has(v.to) {
				areas[k] = native.Area{}
			}
		}
	}
	return areas
}

// constant reports whether a program without instructions has no input of group 0 among its outputs.
func (x *Machine) constant() bool {
	if len(x.code) > 0 || len(x.p.Ins) == 0 {
		return false
	}
	in := native.Area{First: x.in[0], N: int32(x.p.Ins[0].N)}
	return !slices.ContainsFunc(x.p.Result, in.Has)
}

// whole reports whether no value of o, in the region of the outputs, is a constant.
func (o *outGroup) whole() bool {
	return len(o.varying) == 1 && int(o.varying[0].to-o.varying[0].from) == len(o.slots)
}

// Borrow makes the next run take input group 0 from in, and write output group i to out unless that is nil. It copies
// in unless the program can read it there. Output copies the group in any case, if it is not there yet. The caller must
// not modify in before the end of the run, nor out before the next one, and they must not overlap.
func (x *Machine) Borrow(in []float64, i int, out []float64) {
	l := &x.loan
	l.fresh = true
	switch n := int(l.areas[0].N); {
	case l.unread:
	case n > 0 && len(in) == n:
		l.in = in
	default:
		copy(x.Input(0), in)
	}
	l.out, l.wanted = nil, nil
	switch n := int(l.areas[1].N); {
	case n > 0 && i == l.group && len(out) >= n:
		l.out = out[:n]
	case i < len(x.out) && x.out[i].ready && len(out) >= len(x.out[i].slots):
		l.wanted, l.wantedAt = out[:len(x.out[i].slots)], i
	}
}

// begin begins a run. Memory that was borrowed for an earlier run is not used.
func (l *loan) begin() {
	if !l.fresh {
		l.in, l.out, l.wanted = nil, nil, nil
	}
	l.fresh, l.delivered = false, nil
}

// memory returns the addresses of the input group and the output group: in the file m unless they are borrowed. The
// input is dropped, as only this run reads it.
func (l *loan) memory(m []float64) (in, out *float64) {
	if n := l.areas[0].N; n > 0 {
		in = &m[l.areas[0].First]
		if l.in != nil {
			in, l.in = &l.in[0], nil
		}
	}
	if n := l.areas[1].N; n > 0 {
		out = &m[l.areas[1].First]
		if l.out != nil {
			out = &l.out[0]
		}
	}
	return in, out
}
