package lower

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Carriers: interface types whose values have shadows, see package ir. An interface is one if the program converts a
// type
// to it from which numbers can be reached. Interface values that become unions (unions.go) are structs by then; those
// that other code sees, behind parameters and bound structs, keep the interface of Go, and have shadows of it.

// noteCarriers finds the carriers of the program, once.
func (p *Program) noteCarriers() {
	if p.carriersNoted {
		return
	}
	p.carriersNoted = true
	c := p.conversions()
	for again := true; again; {
		again = false
		for _, key := range slices.Sorted(maps.Keys(c.to)) {
			t, ok := types.Unalias(c.to[key]).(*types.Named)
			if !ok || ir.IsCarrier(t) {
				continue
			}
			for _, u := range p.dynamicTypes(t) {
				if ir.ContainsFloats(u) || ir.ReachesFloats(u) { // through another carrier, perhaps
					ir.SetCarrier(t)
					again = true
					break
				}
			}
		}
	}
}

// A boxer rewrites functions so that a number in a value that is no pointer, and is taken out of a carrier or put into
// one, is reached through a pointer:
//
//	v := k.(RBF)     q := unbox[*RBF](k); v := *q
//	k := Kernel(v)   q := new(RBF); *q = v; k := box[Kernel](q)
type boxer struct {
	p     *Program
	funcs map[*ir.Func]*ir.Func
	names *ir.Namer // of the function that is rewritten
	out   ir.Block  // statements before the current one
	at    ir.At
}

// boxCarriers returns f with pointers in place of such values in f and in the functions that it calls.
func (p *Program) boxCarriers(f *ir.Func) *ir.Func {
	needs := map[*ir.Func]bool{}
	called := slices.Collect(maps.Keys(ir.Reachable(f)))
	for again := true; again; {
		again = false
		for _, g := range called {
			if !needs[g] && !g.Passive && boxes(g, needs) {
				needs[g], again = true, true
			}
		}
	}
	if !needs[f] {
		return f
	}
	if p.boxed == nil {
		p.boxed = map[*ir.Func]*ir.Func{}
	}
	b := &boxer{p: p, funcs: p.boxed}
	called = slices.DeleteFunc(called, func(g *ir.Func) bool { return !needs[g] || b.funcs[g] != nil })
	slices.SortFunc(called, func(x, y *ir.Func) int { return strings.Compare(x.Name, y.Name) })
	for _, g := range called {
		c := *g
		c.Unboxed = g
		if g != f {
			c.Name = p.copyName(g)
		}
		b.funcs[g] = &c
	}
	for _, g := range called {
		b.names = ir.NamerOf(g)
		b.funcs[g].Body = b.block(g.Body)
	}
	return b.funcs[f]
}

// boxes reports whether f is to be rewritten, as it has such a value or calls a function that needs it.
func boxes(f *ir.Func, needs map[*ir.Func]bool) (found bool) {
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok {
			found = found || needs[c.Callee.Func] || c.Callee.Rule != nil && needs[c.Callee.Rule.Calls]
		}
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				found = found || isBoxing(e) || isUnboxing(e)
				return !found
			})
		})
		return !found
	})
	return found
}

// isUnboxing reports whether e is the assertion that a carrier holds a value with numbers that is no pointer.
func isUnboxing(e ir.Expr) bool {
	c, ok := e.(*ir.Convert)
	return ok && ir.IsCarrier(c.X.Type()) && ir.HoldsByPointer(c.T)
}

// isBoxing reports whether e is the conversion of such a value to a carrier.
func isBoxing(e ir.Expr) bool {
	c, ok := e.(*ir.Convert)
	return ok && ir.IsCarrier(c.T) && ir.HoldsByPointer(c.X.Type())
}

// temp emits the declaration of a pointer.
func (b *boxer) temp(t types.Type, e func(pointer ir.Typed) ir.Expr) *ir.Var {
	typed := ir.Typed{T: types.NewPointer(t)}
	v := &ir.Var{Name: b.names.Name("held"), Type: typed.T, Pos: b.at.Pos}
	b.out = append(b.out, &ir.Let{At: b.at, V: v, E: e(typed)})
	return v
}

// block returns the rewritten statements.
func (b *boxer) block(list ir.Block) ir.Block {
	m := &ir.Map{}
	m.Expr = func(e ir.Expr) ir.Expr {
		switch {
		case isUnboxing(e):
			c := e.(*ir.Convert)
			v := b.temp(c.T, func(t ir.Typed) ir.Expr { return &ir.Unbox{Typed: t, X: c.X} })
			return ir.LoadOf(ir.Extend(v.Place(), ir.DerefStep()), c.T)
		case isBoxing(e):
			c := e.(*ir.Convert)
			v := b.temp(c.X.Type(), func(t ir.Typed) ir.Expr { return &ir.New{Typed: t} })
			b.out = append(b.out, &ir.Set{At: b.at, P: ir.Extend(v.Place(), ir.DerefStep()), E: c.X})
			return &ir.Box{Typed: c.Typed, X: v.Load()}
		}
		return e
	}
	saved := b.out
	defer func() { b.out = saved }()
	out := make(ir.Block, 0, len(list))
	for _, s := range list {
		b.out, b.at = nil, ir.At{Pos: s.Position()}
		switch s := s.(type) {
		case *ir.If: // conditions carry no derivatives
			out = append(out, &ir.If{At: s.At, Cond: s.Cond, Then: b.block(s.Then), Else: b.block(s.Else)})
		case *ir.Scope:
			out = append(out, &ir.Scope{At: s.At, L: s.L, Body: b.block(s.Body)})
		case *ir.Loop:
			c := *s
			c.Body = b.block(s.Body)
			out = append(out, &c)
		case *ir.Call:
			r := m.Block(ir.Block{s})[0].(*ir.Call)
			r.Callee = b.callee(s.Callee)
			out = append(append(out, b.out...), r)
		case *ir.Panic, *ir.Leave:
			out = append(out, s)
		default:
			r := m.Block(ir.Block{s})
			out = append(append(out, b.out...), r...)
		}
	}
	return out
}

// callee returns the rewritten callee.
func (b *boxer) callee(c *ir.Callee) *ir.Callee {
	if g := b.funcs[c.Func]; g != nil {
		return &ir.Callee{Func: g}
	}
	if c.Rule == nil || b.funcs[c.Rule.Calls] == nil {
		return c
	}
	r := *c.Rule
	r.Calls = b.funcs[r.Calls]
	return &ir.Callee{Rule: &r}
}
