package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The sizes up to which functions are inlined, in statements and expressions.
const (
	maxCalleeSize = 320  // of a function that is called
	maxCallerSize = 4000 // of one that calls
)

// Inline replaces calls of functions that are small and do not call themselves, at any
// distance, by their bodies. A function that mentions what package pkg, that of the code,
// cannot name stays, unless pkg is nil, and so do calls in a function that has become
// large.
//
// A parameter that is never written is the argument itself where that is a constant or a
// variable that nothing else can write, else a variable of its own. A result is the
// variable that the call assigns it to where that is declared directly before the call.
func Inline(f *ir.Func, pkg *types.Package) {
	(&inliner{inlined: map[*ir.Func]*ir.Func{}, pkg: pkg}).expand(f)
}

func packageOf(f *ir.Func) *types.Package {
	if f.Object == nil {
		return nil
	}
	return f.Object.Pkg()
}

// inliner inlines into a function and, before, into what it calls.
type inliner struct {
	inlined map[*ir.Func]*ir.Func // what is inlined for a function, nil if nothing is
	pkg     *types.Package
}

// expand inlines into f itself.
func (in *inliner) expand(f *ir.Func) {
	x := &expansion{in: in, f: f, names: ir.NamerOf(f), size: size(f.Body), addressed: usageOf(f.Body).addressed}
	f.Body = x.block(f.Body)
	if x.changed {
		ir.Normalize(f)
	}
}

// body is what stands for calls of g, nil if they stay.
func (in *inliner) inlinedBody(g *ir.Func) *ir.Func {
	if h, ok := in.inlined[g]; ok {
		return h
	}
	in.inlined[g] = nil
	if g.Body == nil || g.Passive || isCheckpointed(g) || isRecursive(g) || !in.canName(g) {
		return nil
	}
	h, _ := ir.Clone(g, nil)
	in.expand(h)
	ir.Normalize(h)
	if size(h.Body) > maxCalleeSize {
		return nil
	}
	in.inlined[g] = h
	return h
}

// checkpointed reports whether the loops of g are reversed by snapshots, or g is such a
// loop: where it is called says how often.
func isCheckpointed(g *ir.Func) bool {
	found := g.Checkpoint != nil
	ir.Walk(g.Body, func(s ir.Stmt) bool {
		l, ok := s.(*ir.Loop)
		found = found || ok && l.Checkpoint != nil
		return !found
	})
	return found
}

// recursive reports whether g calls itself.
func isRecursive(g *ir.Func) bool {
	seen := map[*ir.Func]bool{}
	var reach func(f *ir.Func) bool
	reach = func(f *ir.Func) (found bool) {
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil && !found {
				h := c.Callee.Func
				if h == g {
					found = true
				} else if !seen[h] {
					seen[h] = true
					found = reach(h)
				}
			}
			return !found
		})
		return found
	}
	return reach(g)
}

// expansion is of one function.
type expansion struct {
	in        *inliner
	f         *ir.Func
	names     *ir.Namer
	size      int
	addressed map[*ir.Var]bool
	changed   bool
}

func (x *expansion) block(b ir.Block) (out ir.Block) {
	for i, s := range b {
		s = mapBlocks(s, x.block)
		if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil {
			if g := x.in.inlinedBody(c.Callee.Func); g != nil && x.size+size(g.Body) <= maxCallerSize {
				x.changed = true
				out = x.inlineCall(out, c, g)
				if endsInJump(out) && i < len(b)-1 {
					return out
				}
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// ends reports whether the last statement of b is one behind which nothing may stand.
func endsInJump(b ir.Block) bool {
	if len(b) == 0 {
		return false
	}
	switch b[len(b)-1].(type) {
	case *ir.Leave, *ir.Panic:
		return true
	}
	return false
}

// call puts the body of g behind what stands before a call of it.
func (x *expansion) inlineCall(out ir.Block, c *ir.Call, g *ir.Func) ir.Block {
	x.size += size(g.Body)
	h, _ := ir.Clone(g, x.names)
	use := usageOf(h.Body)
	for v := range use.addressed {
		x.addressed[v] = true
	}
	values := map[*ir.Var]ir.Expr{}   // of parameters
	substituted := map[*ir.Var]bool{} // variables that are one: += must not read what it adds to
	var body ir.Block
	for i, p := range h.Params {
		p.Kind = ir.Local
		a := c.Args[i]
		if use.writes[p] == 0 && !use.addressed[p] && types.Identical(a.Type(), p.Type) && x.invariant(a, c) &&
			!substituted[loadedVar(a)] {
			values[p] = a
			if v := loadedVar(a); v != nil && v.Kind != ir.Global {
				substituted[v] = true
			}
			continue
		}
		body = append(body, &ir.Let{At: c.At, V: p, E: a})
	}
	vars := map[*ir.Var]*ir.Var{}
	fresh := x.freshResults(out, c)
	var after ir.Block
	for i, r := range h.Results {
		r.Kind = ir.Local
		var to *ir.Var
		if i < len(c.Results) {
			to = c.Results[i]
		}
		if to != nil && fresh[to] && !use.addressed[r] && types.Identical(to.Type, r.Type) {
			vars[r] = to
			continue
		}
		body = append(body, &ir.Let{At: c.At, V: r})
		if to != nil {
			after = append(after, &ir.Set{At: c.At, P: to.Place(), E: r.Load()})
		}
	}
	m := &ir.Map{
		Var: func(v *ir.Var) *ir.Var {
			if w := vars[v]; w != nil {
				return w
			}
			if w := loadedVar(values[v]); w != nil {
				return w
			}
			return v
		},
		Expr: func(e ir.Expr) ir.Expr {
			if v := loadedVar(e); v != nil && values[v] != nil {
				return values[v]
			}
			return fold(e)
		},
		Stmt: foldBranch,
	}
	inner := m.Block(h.Body)
	if containsLeave(inner, h.Exit) || endsInJump(inner) {
		inner = ir.Block{&ir.Scope{At: c.At, L: h.Exit, Body: inner}}
	}
	return append(append(append(out, body...), inner...), after...)
}

// steady reports whether an argument is a constant or a variable that keeps its value
// while the function runs and that the call does not assign to.
func (x *expansion) invariant(a ir.Expr, c *ir.Call) bool {
	if k, ok := a.(*ir.Const); ok {
		return k.Val != nil && hasInfo(k.T, types.IsNumeric|types.IsBoolean)
	}
	v := loadedVar(a)
	if v == nil || x.addressed[v] {
		return false
	}
	for _, r := range c.Results {
		if r == v {
			return false
		}
	}
	return true
}

// declared are the variables that are declared directly before a call and that its
// arguments do not read.
func (x *expansion) freshResults(out ir.Block, c *ir.Call) map[*ir.Var]bool {
	fresh := map[*ir.Var]bool{}
	for i := len(out) - 1; i >= 0; i-- {
		l, ok := out[i].(*ir.Let)
		if !ok || !isZero(l.E) {
			break
		}
		fresh[l.V] = true
	}
	for _, a := range c.Args {
		ir.WalkExpr(a, func(e ir.Expr) bool {
			if p := ir.PlaceOf(e); p != nil {
				delete(fresh, p.Root)
			}
			return true
		})
	}
	return fresh
}

// canName reports whether the package of the code can name all that g mentions: its own
// and what the package of g exports.
func (in *inliner) canName(g *ir.Func) bool {
	if in.pkg == nil {
		return true
	}
	from := packageOf(g)
	ok := true
	object := func(o types.Object) {
		if o == nil || o.Pkg() == nil || o.Pkg() == in.pkg {
			return
		}
		ok = ok && o.Exported() && ir.Names(o, in.pkg.Path()) && o.Pkg() == from
	}
	typ := func(t types.Type) { ok = ok && (t == nil || nameable(t, in.pkg, from)) }
	field := func(t types.Type, k int) {
		if s, isStruct := t.Underlying().(*types.Struct); isStruct && k >= 0 && k < s.NumFields() {
			object(s.Field(k))
		}
	}
	place := func(p *ir.Place) {
		if p.Root.Kind == ir.Global {
			object(p.Root.Object)
		}
		for i, s := range p.Path {
			if s.Field >= 0 {
				field((&ir.Place{Root: p.Root, Path: p.Path[:i]}).Type(), s.Field)
			}
		}
	}
	for _, v := range ir.Vars(g) {
		typ(v.Type)
	}
	ir.Walk(g.Body, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				typ(e.Type())
				if p := ir.PlaceOf(e); p != nil {
					place(p)
				}
				if l, literal := e.(*ir.Literal); literal {
					for _, k := range l.Keys {
						field(l.T, k)
					}
				}
				return ok
			})
		}
		if p := ir.Target(s); p != nil {
			place(p)
		}
		if c, isCall := s.(*ir.Call); isCall {
			switch {
			case c.Callee.Func != nil && c.Callee.Func.Object != nil:
				object(c.Callee.Func.Object)
			case c.Callee.Rule != nil && c.Callee.Rule.Object != nil:
				object(c.Callee.Rule.Object)
			}
		}
		return ok
	})
	return ok
}

// nameable reports whether package home can name a type and its fields: what is its own,
// and what is exported, by package from unless that is nil.
func nameable(t types.Type, home, from *types.Package) bool {
	ok := true
	object := func(o types.Object) {
		if o.Pkg() != nil && o.Pkg() != home {
			ok = ok && o.Exported() && ir.Names(o, home.Path()) && (from == nil || o.Pkg() == from)
		}
	}
	seen := map[types.Type]bool{}
	var visit func(t types.Type)
	visit = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Named:
			object(t.Obj())
			for a := range t.TypeArgs().Types() {
				visit(a)
			}
		case *types.Alias:
			visit(types.Unalias(t))
		case *types.Pointer:
			visit(t.Elem())
		case *types.Slice:
			visit(t.Elem())
		case *types.Array:
			visit(t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				object(f)
				visit(f.Type())
			}
		}
	}
	visit(t)
	if s, isStruct := t.Underlying().(*types.Struct); isStruct && from == nil {
		for f := range s.Fields() {
			object(f)
			ok = ok && nameable(f.Type(), home, nil)
		}
	}
	return ok
}
