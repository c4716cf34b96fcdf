package program

import "fmt"

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

// Alone returns p with one output group, called name, that holds the values of the given group, a derivative: -0
// becomes 0 in it, as in [Machine.Output].
func Alone(p *Program, name string, group int) *Program {
	b := derive(p)
	b.output(name, b.result(p.groupResult(group), true))
	return b.p
}

// Bind returns p with its parameters replaced by constants. It panics if values has another length than Params.
func Bind(p *Program, values []float64) *Program {
	if len(values) != p.Params {
		panic(fmt.Sprintf("program: Bind: got %d values for %d parameters", len(values), p.Params))
	}
	r := rewrite(p)
	r.p.Params = 0
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if s.Op != Param {
			r.place(s, r.add(r.mapped(s)))
			continue
		}
		at := int32(len(r.p.Consts))
		r.p.Consts = append(r.p.Consts, values...)
		r.place(s, r.add(Stmt{Op: Const, N: s.N, K: at}))
	}
	return r.finish()
}
