package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Boxing: variables whose address is taken move to the heap, so that afterwards a variable that is not reached through
// a reference has no alias, and memory that is reached through one has an alias class.
//
//	var v float64        vPtr := new(float64)
//	p := &v         →    p := &*vPtr
//	v = 2 * v            *vPtr = 2 * *vPtr

// boxAddressTaken replaces each variable v of which an address, or a slice of an array, is taken by *p, where p is a
// new variable assigned once, by new, at the declaration of v. Parameters and results are copied from and to their box
// at entry and exit; assignments by Call, Copy and Loop go through a temporary.
func (g *normalForm) boxAddressTaken() {
	// Variables of which an address is taken, each with its new pointer.
	addressed := map[*ir.Var]*ir.Var{}
	ir.Walk(g.f.Body, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				switch e.(type) {
				case *ir.Addr, *ir.SliceAt:
					if at := ir.PlaceOf(e); !at.Indirect() && at.Root.Kind != ir.Global && addressed[at.Root] == nil {
						v := at.Root
						addressed[v] = g.local(v.Name+"Ptr", types.NewPointer(v.Type))
					}
				}
				return true
			})
		}
		return true
	})
	if len(addressed) == 0 {
		return
	}
	// Places that begin at v begin at *p.
	behind := func(v *ir.Var) *ir.Place { return &ir.Place{Root: addressed[v], Path: []ir.Step{ir.DerefStep()}} }
	place := func(p *ir.Place) *ir.Place {
		if addressed[p.Root] == nil {
			return p
		}
		return &ir.Place{Root: addressed[p.Root], Path: append([]ir.Step{ir.DerefStep()}, p.Path...)}
	}
	m := &ir.Map{Place: place}
	fresh := func(at ir.At, v *ir.Var) ir.Stmt {
		q := addressed[v]
		return &ir.Let{At: at, V: q, E: &ir.New{Typed: ir.Typed{T: q.Type}}}
	}
	// Declarations allocate the box. Statements that can assign only variables assign a temporary, which is then copied
	// to the box.
	m.Stmt = func(s ir.Stmt) []ir.Stmt {
		switch s := s.(type) {
		case *ir.Let:
			if addressed[s.V] == nil {
				break
			}
			out := []ir.Stmt{fresh(s.At, s.V)}
			if s.E != nil {
				out = append(out, &ir.Set{At: s.At, P: behind(s.V), E: s.E})
			}
			return out
		case *ir.Call:
			c := *s
			c.Results = append([]*ir.Var(nil), s.Results...)
			var before, after []ir.Stmt
			for i, v := range c.Results {
				if v != nil && addressed[v] != nil {
					c.Results[i] = g.local(v.Name, v.Type)
					before = append(before, &ir.Let{At: s.At, V: c.Results[i]})
					after = append(after, &ir.Set{At: s.At, P: behind(v), E: c.Results[i].Load()})
				}
			}
			return append(append(before, &c), after...)
		case *ir.Copy:
			if s.N != nil && addressed[s.N] != nil {
				c := *s
				c.N = g.local(s.N.Name, s.N.Type)
				return []ir.Stmt{&ir.Let{At: s.At, V: c.N}, &c, &ir.Set{At: s.At, P: behind(s.N), E: c.N.Load()}}
			}
		case *ir.Loop:
			if s.V != nil && addressed[s.V] != nil {
				loop := *s
				loop.V = g.local(s.V.Name, s.V.Type)
				loop.Body = append(ir.Block{fresh(s.At, s.V), &ir.Set{At: s.At, P: behind(s.V), E: loop.V.Load()}},
					s.Body...)
				return []ir.Stmt{&loop}
			}
		}
		return []ir.Stmt{s}
	}
	// Parameters are copied to their box at entry, results from their box at exit.
	body := m.Block(g.f.Body)
	var head, tail ir.Block
	at := ir.At{Pos: g.f.Pos}
	for _, v := range g.f.Params {
		if addressed[v] != nil {
			head = append(head, fresh(at, v), &ir.Set{At: at, P: behind(v), E: v.Load()})
		}
	}
	for _, v := range g.f.Results {
		if addressed[v] != nil {
			head = append(head, fresh(at, v))
			tail = append(tail, &ir.Set{At: at, P: v.Place(), E: ir.LoadOf(behind(v), v.Type)})
		}
	}
	// Returns leave a scope around the old body, after which results are copied.
	if len(tail) > 0 {
		exit := g.f.Exit
		g.f.Exit = &ir.Label{Name: g.names.Name("exit")}
		body = append(ir.Block{&ir.Scope{At: at, L: exit, Body: body}}, tail...)
	}
	g.f.Body = append(head, body...)
}
