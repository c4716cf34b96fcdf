package program

// withoutIdle returns p with statements of many lanes divided where those on which an output or a guard depends meet
// others. What is left is of no use as a whole, so that no derivative is computed of it, and none has more structural
// nonzeros than that of single operations.
func withoutIdle(p *Program) *Program {
	live := make([]bool, p.Slots)
	for _, s := range p.Result {
		live[s] = true
	}
	divided := false
	var reads []int32
	for i := len(p.Stmts) - 1; i >= 0; i-- {
		s := &p.Stmts[i]
		runs := 0
		p.runs(s, live, func(part *Stmt, on bool) {
			runs++
			if on {
				reads = p.reads(reads[:0], part)
				for _, slot := range reads {
					live[slot] = true
				}
			}
		})
		divided = divided || runs > 1
	}
	if !divided {
		return p
	}
	r := rewrite(p)
	for i := range p.Stmts {
		p.runs(&p.Stmts[i], live, func(part *Stmt, _ bool) { r.place(part, r.add(r.mapped(part))) })
	}
	return r.finish()
}

// runs calls visit for the parts of s whose lanes are all live, or all are not. Statements other than elementary
// functions and sums are one part.
func (p *Program) runs(s *Stmt, live []bool, visit func(part *Stmt, on bool)) {
	if !s.wide() {
		on := s.Op.Guard()
		for l := range s.Width() {
			on = on || live[s.D+l]
		}
		visit(s, on)
		return
	}
	for from := int32(0); from < s.N; {
		end := from + 1
		for end < s.N && live[s.D+end] == live[s.D+from] {
			end++
		}
		if end-from == s.N {
			visit(s, live[s.D])
			return
		}
		part := s.part(from, end-from)
		visit(&part, live[part.D])
		from = end
	}
}
