package program

import (
	"cmp"
	"slices"
)

// single returns p with each elementary function and sum in a statement of its own, for sweeps over a part of them.
// Neighbouring statements of as many lanes are a loop again: all of them for one lane come before those for the next.
func single(p *Program) *Program {
	if !slices.ContainsFunc(p.Stmts, func(s Stmt) bool { return s.wide() }) {
		return p
	}
	r := rewrite(p)
	var loop []int32
	for i := 0; i < len(p.Stmts); {
		loop = loop[:0]
		for ; i < len(p.Stmts); i++ {
			s := &p.Stmts[i]
			if s.Op == Const {
				r.place(s, r.add(r.mapped(s)))
				continue
			}
			if !s.wide() || len(loop) > 0 && !p.joins(loop, s) {
				break
			}
			loop = append(loop, int32(i))
		}
		if len(loop) > 0 {
			for l := range p.Stmts[loop[0]].N {
				for _, k := range loop {
					r.lane(&p.Stmts[k], l)
				}
			}
			continue
		}
		if i < len(p.Stmts) {
			s := &p.Stmts[i]
			r.place(s, r.add(r.mapped(s)))
			i++
		}
	}
	return r.finish()
}

// joins reports whether s has as many lanes as the statements of a loop, and each lane reads their results of the same
// or an earlier lane.
func (p *Program) joins(loop []int32, s *Stmt) bool {
	first := &p.Stmts[loop[0]]
	if s.N != first.N {
		return false
	}
	per := s.terms() / s.N
	for _, o := range s.Operands() {
		for k := range s.terms() {
			slot := p.at(o, k)
			if slot < first.D {
				continue
			}
			at, _ := slices.BinarySearchFunc(loop, slot, func(i, slot int32) int {
				return cmp.Compare(p.Stmts[i].D, slot+1)
			})
			t := &p.Stmts[loop[at-1]]
			if lane := slot - t.D; lane < t.N && lane > k/per { // not a constant between
				return false
			}
		}
	}
	return true
}
