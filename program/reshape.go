package program

// Join returns p with one output group, which has the given name and concatenates the given groups.
func Join(p *Program, name string, groups ...int) *Program {
	q := *p
	q.Outs = []Group{{Name: name}}
	q.Result = nil
	for _, i := range groups {
		at := total(p.Outs[:i])
		q.Outs[0].N += p.Outs[i].N
		q.Result = append(q.Result, p.Result[at:at+p.Outs[i].N]...)
	}
	return &q
}

// JoinInputs returns p with the input group called name appended to group 0, so that transformations differentiate with
// respect to both. It panics if there is no such group.
func JoinInputs(p *Program, name string) *Program {
	at := -1
	for i, g := range p.Ins {
		if g.Name == name {
			at = i
		}
	}
	r := rewrite(p)
	r.p.Ins = nil
	for i, g := range p.Ins {
		if i != at {
			r.p.Ins = append(r.p.Ins, g)
		}
	}
	r.p.Ins[0] = Group{p.Ins[0].Name, p.Ins[0].N + p.Ins[at].N}
	first, second := int32(p.Ins[0].N), int32(p.Ins[at].N)
	d := r.add(Stmt{Op: Input, N: first + second})
	for i := range p.Stmts {
		s := &p.Stmts[i]
		switch {
		case s.Op == Input && s.K == 0:
			r.place(s, d)
		case s.Op == Input && s.K == int32(at):
			r.place(s, d+first)
		case s.Op == Input:
			t := *s
			if s.K > int32(at) {
				t.K--
			}
			r.place(s, r.add(t))
		default:
			r.place(s, r.add(r.mapped(s)))
		}
	}
	return r.finish()
}
