package simplify

import "github.com/nabla-ad/nabla/gen/ir"

const (
	maxTripCount    = 4
	maxUnrolledSize = 400 // size up to which iterations stand one after the other
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
		s = mapBlocks(s, u.block)
		if l, ok := s.(*ir.Loop); ok {
			if list, ok := u.unrollLoop(l); ok {
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
func indexValues(l *ir.Loop) (list []int64, ok bool) {
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
		if len(list) == maxTripCount {
			return nil, false
		}
		list = append(list, i)
	}
	return list, true
}

func (u *unroller) unrollLoop(l *ir.Loop) (out ir.Block, ok bool) {
	list, ok := indexValues(l)
	if !ok || len(list)*size(l.Body) > maxUnrolledSize || endsInJump(l.Body) || containsLeave(l.Body, l.L) {
		return nil, false
	}
	if usageOf(l.Body).addressed[l.V] {
		return nil, false
	}
	for k, i := range list {
		index := fitConst(l.V.Type, i)
		if index == nil {
			return nil, false
		}
		out = append(out, u.copyBody(l, index, k > 0)...)
	}
	return out, true
}

// iteration is the body of l for one value of its index. What it declares gets new names
// if again is set.
func (u *unroller) copyBody(l *ir.Loop, index ir.Expr, rename bool) ir.Block {
	vars, labels := map[*ir.Var]*ir.Var{}, map[*ir.Label]*ir.Label{}
	if rename {
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
			if v := loadedVar(e); v != nil && v == l.V {
				return index
			}
			return fold(e)
		},
		Stmt: foldBranch,
	}
	body := m.Block(l.Body)
	if containsLeave(l.Body, l.Next) {
		next := l.Next
		if rename {
			next = labels[next]
		}
		return ir.Block{&ir.Scope{At: l.At, L: next, Body: body}}
	}
	return body
}
