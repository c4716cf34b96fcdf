// Package flatten brings functions in the form of package ir into a form that costs less
// to differentiate and to run: calls of short functions are replaced by their bodies,
// short loops are written out, and local arrays and structs whose parts are known become
// variables of their own, which the compiler keeps in registers. What is computed, and
// in which order, stays.
package flatten

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

const (
	maxBody  = 60  // expressions in a function that is put in place of its call
	maxTrips = 4   // iterations of a loop that is written out
	maxLoop  = 100 // expressions in all of them together
	maxParts = 8   // of an array or a struct that becomes variables
)

// Program flattens functions that call each other.
type Program struct {
	funcs map[*ir.Func]*ir.Func
	busy  map[*ir.Func]bool
}

// New returns an empty Program.
func New() *Program { return &Program{funcs: map[*ir.Func]*ir.Func{}, busy: map[*ir.Func]bool{}} }

// Of is f in flat form; f stays as it is. The functions that it still calls are flat too.
func (p *Program) Of(f *ir.Func) *ir.Func {
	if g := p.funcs[f]; g != nil {
		return g
	}
	g, _ := ir.Clone(f, nil)
	p.funcs[f], p.funcs[g] = g, g // a recursive function calls it
	p.busy[g] = true
	n := ir.NamerOf(g)
	g.Body = p.inline(g.Body, n)
	g.Body = unroll(g.Body, n)
	scalars(g, n)
	tidy(g)
	delete(p.busy, g)
	return g
}

// inline replaces the calls in b.
func (p *Program) inline(b ir.Block, n *ir.Namer) (out ir.Block) {
	for _, s := range b {
		for _, c := range ir.Blocks(s) {
			*c = p.inline(*c, n)
		}
		c, ok := s.(*ir.Call)
		if !ok || c.Callee.Func == nil {
			out = append(out, s)
			continue
		}
		g := p.Of(c.Callee.Func)
		if p.busy[g] || !short(g) {
			out = append(out, &ir.Call{At: c.At, Results: c.Results, Callee: &ir.Callee{Func: g}, Args: c.Args})
			continue
		}
		own, _ := ir.Clone(g, n)
		for i, v := range own.Params {
			v.Kind = ir.Local
			out = append(out, &ir.Let{At: c.At, V: v, E: c.Args[i]})
		}
		for _, v := range own.Results {
			v.Kind = ir.Local
			out = append(out, &ir.Let{At: c.At, V: v})
		}
		out = append(out, own.Body...)
		for i, r := range c.Results {
			if r != nil {
				out = append(out, &ir.Set{At: c.At, P: r.Place(), E: own.Results[i].Load()})
			}
		}
	}
	return out
}

// short reports whether the body of a function may stand in place of a call: it calls no
// other, has no jumps, and is not long.
func short(f *ir.Func) bool { return !f.Variadic && straight(f.Body) && size(f.Body) <= maxBody }

// straight reports whether b has no jumps and no calls.
func straight(b ir.Block) bool {
	ok := true
	ir.Walk(b, func(s ir.Stmt) bool {
		switch s.(type) {
		case *ir.Call, *ir.Loop, *ir.Scope, *ir.Leave, *ir.Keep, *ir.Restore:
			ok = false
		}
		return ok
	})
	return ok
}

// size is how many expressions are in b.
func size(b ir.Block) (n int) {
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(ir.Expr) bool { n++; return true })
		}
		return true
	})
	return n
}

// unroll writes out the short loops in b that go through a local array or struct.
func unroll(b ir.Block, n *ir.Namer) (out ir.Block) {
	for _, s := range b {
		for _, c := range ir.Blocks(s) {
			*c = unroll(*c, n)
		}
		l, ok := s.(*ir.Loop)
		if !ok || l.V == nil || !straight(l.Body) || !indexes(l.Body, l.V) {
			out = append(out, s)
			continue
		}
		lo, lok := integer(l.Lo)
		hi, hok := integer(l.Hi)
		trips := int64(0)
		for i := lo; trips <= maxTrips && (l.Step > 0 && i < hi || l.Step < 0 && i > hi); i += l.Step {
			trips++
		}
		if !lok || !hok || trips > maxTrips || int64(size(l.Body))*trips > maxLoop {
			out = append(out, s)
			continue
		}
		for k := range trips {
			out = append(out, iteration(l, lo+k*l.Step, n)...)
		}
	}
	return out
}

// iteration is the body of a loop for one value of its index.
func iteration(l *ir.Loop, i int64, n *ir.Namer) ir.Block {
	own := map[*ir.Var]*ir.Var{}
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		if let, ok := s.(*ir.Let); ok {
			v := *let.V
			v.Name = n.Name(v.Name)
			own[let.V] = &v
		}
		return true
	})
	m := &ir.Map{
		Var: func(v *ir.Var) *ir.Var {
			if w := own[v]; w != nil {
				return w
			}
			return v
		},
		Expr: func(e ir.Expr) ir.Expr {
			switch e := e.(type) {
			case *ir.Load:
				if e.P.Root == l.V {
					return &ir.Const{Typed: e.Typed, Val: constant.MakeInt64(i)}
				}
			case *ir.Binary:
				return folded(e)
			}
			return e
		},
	}
	return m.Block(l.Body)
}

// folded is e, as a constant if it is a sum, a difference or a product of small ints.
func folded(e *ir.Binary) ir.Expr {
	x, xok := integer(e.X)
	y, yok := integer(e.Y)
	if t, ok := e.T.Underlying().(*types.Basic); !ok || t.Kind() != types.Int || !xok || !yok || max(x, -x, y, -y) > 1<<15 {
		return e
	}
	switch e.Op {
	case token.ADD:
		x += y
	case token.SUB:
		x -= y
	case token.MUL:
		if x *= y; max(x, -x) > 1<<30 {
			return e
		}
	default:
		return e
	}
	return &ir.Const{Typed: e.Typed, Val: constant.MakeInt64(x)}
}

// integer is the value of an integer constant.
func integer(e ir.Expr) (int64, bool) {
	c, ok := e.(*ir.Const)
	if !ok {
		return 0, false
	}
	if b, ok := c.T.Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
		return 0, false
	}
	if c.Val == nil {
		return 0, true
	}
	return constant.Int64Val(constant.ToInt(c.Val))
}

// indexes reports whether v is in the index of a place that is a part of a local variable.
func indexes(b ir.Block, v *ir.Var) (found bool) {
	visit := func(p *ir.Place) {
		if p.Root.Kind != ir.Local || p.Behind() {
			return
		}
		for _, e := range p.Indices() {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				l, ok := e.(*ir.Load)
				found = found || ok && l.P.Root == v
				return !found
			})
		}
	}
	ir.Walk(b, func(s ir.Stmt) bool {
		eachPlace(s, visit)
		return !found
	})
	return found
}

// eachPlace visits the places in a statement, not those in its blocks.
func eachPlace(s ir.Stmt, visit func(*ir.Place)) {
	if p := target(s); p != nil {
		visit(p)
	}
	for _, e := range ir.Exprs(s) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			if p := ir.PlaceOf(e); p != nil {
				visit(p)
			}
			return true
		})
	}
}

// target is the place that a statement assigns to.
func target(s ir.Stmt) *ir.Place {
	switch s := s.(type) {
	case *ir.Set:
		return s.P
	case *ir.Add:
		return s.P
	case *ir.Append:
		return s.P
	case *ir.Restore:
		return s.P
	}
	return nil
}

// index is i as an index.
func index(i int) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: types.Typ[types.Int]}, Val: constant.MakeInt64(int64(i))}
}
