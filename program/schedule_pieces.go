package program

import "slices"

// leastPiece is the number of lanes from which a part of a statement becomes one of its own.
const leastPiece = 64

// pieces divides statements whose operands are lists where these are progressions in parts, such as the interior of a
// grid. The results keep their slots.
func pieces(p *Program) *Program {
	if !slices.ContainsFunc(p.Stmts, func(s Stmt) bool { return p.cut(&s) != nil }) {
		return p
	}
	r := rewrite(p)
	r.p.Outcomes = nil
	for i := range p.Stmts {
		s := &p.Stmts[i]
		t := r.mapped(s)
		if s.Op.Guard() {
			t.C.Base = int32(len(r.p.Outcomes))
			r.p.Outcomes = append(r.p.Outcomes, p.Outcomes[s.C.Base:][:s.N]...)
		}
		cuts := p.cut(s)
		if cuts == nil {
			r.place(s, r.add(t))
			continue
		}
		at := int32(0)
		for _, end := range append(cuts, s.N) {
			u := t
			u.N = end - at
			ops := [3]*Operand{&u.A, &u.B, &u.C}
			for k := range s.Op.Arity() {
				*ops[k] = r.part(*ops[k], at, u.N)
			}
			if s.Op.Guard() {
				u.C.Base += at
			}
			d := r.add(u)
			for l := range u.Width() {
				r.slot[s.D+at+l] = d + l
			}
			at = end
		}
	}
	return r.finish()
}

// part returns n addresses of o from a lane on.
func (b *builder) part(o Operand, from, n int32) Operand {
	if o.Stride != Gather {
		return Operand{Base: o.Base + from*o.Stride, Stride: o.Stride}
	}
	return b.gather(b.p.Index[o.Base+from:][:n])
}

// cut returns the lanes at which s is divided, nil if it is not.
func (p *Program) cut(s *Stmt) []int32 {
	if s.N < leastPiece || !s.Op.Elementary() && !s.Op.Guard() || s.listsNone() {
		return nil
	}
	ops := [3]Operand{s.A, s.B, s.C}
	list := ops[:0]
	for _, o := range ops[:s.Op.Arity()] {
		if o.Stride == Gather {
			list = append(list, o)
		}
	}
	var cuts []int32
	done := int32(0) // the end of the last piece
	for l := int32(0); l+leastPiece <= s.N; {
		end := l + 2
		for end < s.N && p.progress(list, l, end) {
			end++
		}
		if end-l < leastPiece {
			l = max(end-1, l+1)
			continue
		}
		if l > done {
			cuts = append(cuts, l)
		}
		if end < s.N {
			cuts = append(cuts, end)
		}
		done, l = end, end
	}
	return cuts
}

// progress reports whether the operands, which are lists, go on at a lane as from lane l on.
func (p *Program) progress(list []Operand, l, at int32) bool {
	for _, o := range list {
		x := p.Index[o.Base:]
		if x[at]-x[at-1] != x[l+1]-x[l] {
			return false
		}
	}
	return true
}
