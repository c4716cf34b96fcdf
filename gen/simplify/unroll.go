package simplify

import "github.com/nabla-ad/nabla/gen/ir"

const (
	fewIterations = 4
	longBody      = 400 // size up to which iterations stand one after the other
)

// Unroll replaces counted loops of at most four iterations, between bounds that are
// constants, by their iterations, if those are not too long and none leaves the loop. The
// index becomes a constant, and what is computed of integer constants is computed.
func Unroll(f *ir.Func) {
	u := &unroller{names: ir.NamerOf(f)}
	f.Body = u.block(f.Body)
	if u.changed {
		ir.Normalize(f)
	}
}

type unroller struct {
	names   *ir.Namer
	changed bool
}

func (u *unroller) block(b ir.Block) (out ir.Block) {
	for _, s := range b {
		s = blocks(s, u.block)
		if l, ok := s.(*ir.Loop); ok {
			if list, ok := u.loop(l); ok {
				u.changed = true
				out = append(out, list...)
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// iterations are the values of the index of a loop whose bounds are constants, if they
// are few.
func iterations(l *ir.Loop) (list []int64, ok bool) {
	if l.V == nil {
		return nil, false
	}
	lo, aok := constInt(l.Lo)
	hi, bok := constInt(l.Hi)
	const most = 1 << 31
	if !aok || !bok || max(lo, -lo, hi, -hi, l.Step, -l.Step) > most {
		return nil, false
	}
	for i := lo; l.Step > 0 && i < hi || l.Step < 0 && i > hi; i += l.Step {
		if len(list) == fewIterations {
			return nil, false
		}
		list = append(list, i)
	}
	return list, true
}

func (u *unroller) loop(l *ir.Loop) (out ir.Block, ok bool) {
	list, ok := iterations(l)
	if !ok || len(list)*size(l.Body) > longBody || ends(l.Body) || leavesTo(l.Body, l.L) {
		return nil, false
	}
	if usageOf(l.Body).addressed[l.V] {
		return nil, false
	}
	for k, i := range list {
		index := fitting(l.V.Type, i)
		if index == nil {
			return nil, false
		}
		out = append(out, u.iteration(l, index, k > 0)...)
	}
	return out, true
}

// iteration is the body of l for one value of its index. What it declares gets new names
// if again is set.
func (u *unroller) iteration(l *ir.Loop, index ir.Expr, again bool) ir.Block {
	vars, labels := map[*ir.Var]*ir.Var{}, map[*ir.Label]*ir.Label{}
	if again {
		ir.Walk(l.Body, func(s ir.Stmt) bool {
			label := func(l *ir.Label) { labels[l] = &ir.Label{Name: u.names.Name(l.Name)} }
			variable := func(v *ir.Var) {
				if v != nil {
					w := *v
					w.Name = u.names.Name(v.Name)
					vars[v] = &w
				}
			}
			switch s := s.(type) {
			case *ir.Let:
				variable(s.V)
			case *ir.Scope:
				label(s.L)
			case *ir.Loop:
				label(s.L)
				label(s.Next)
				variable(s.V)
			}
			return true
		})
		labels[l.Next] = &ir.Label{Name: u.names.Name(l.Next.Name)}
	}
	m := &ir.Map{
		Var:   ir.Renaming(vars),
		Label: ir.Renaming(labels),
		Expr: func(e ir.Expr) ir.Expr {
			if v := whole(e); v != nil && v == l.V {
				return index
			}
			return fold(e)
		},
		Stmt: settle,
	}
	body := m.Block(l.Body)
	if leavesTo(l.Body, l.Next) {
		next := l.Next
		if again {
			next = labels[next]
		}
		return ir.Block{&ir.Scope{At: l.At, L: next, Body: body}}
	}
	return body
}
