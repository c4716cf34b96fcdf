package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Limits of inlining, as numbers of statements and expressions. They bound the growth of the generated code.
const (
	maxCalleeSize = 320  // of a callee, after inlining into it
	maxCallerSize = 4000 // of a caller, after inlining
)

// Inline performs inlining: it replaces calls by the bodies of their callees, bottom-up. A callee qualifies if it is
// small, neither recursive, passive nor checkpointed, and mentions only names that package pkg, that of the generated
// code, can use; every name is allowed if pkg is nil. A caller that has become large keeps its remaining calls.
//
// A parameter that the callee never writes is replaced by the argument if that is a constant or a variable that nothing
// else can write; otherwise it becomes a local variable. A result becomes the variable that the call assigns if that is
// declared directly before the call.
//
//	func sq(a float64) (r float64) exit {       let y float64
//	    r = a * a                               y = b * b
//	}
//	…
//	let y float64
//	y = call sq(b)
func Inline(f *ir.Func, pkg *types.Package) {
	(&inliner{inlined: map[*ir.Func]*ir.Func{}, pkg: pkg, maxCallee: maxCalleeSize}).expand(f)
}

// InlineLarge is [Inline] for callees of any size, as long as the caller does not become large.
func InlineLarge(f *ir.Func, pkg *types.Package) {
	(&inliner{inlined: map[*ir.Func]*ir.Func{}, pkg: pkg, maxCallee: maxCallerSize}).expand(f)
}

// packageOf returns the package that declares f, or nil for a generated function.
func packageOf(f *ir.Func) *types.Package {
	if f.Object == nil {
		return nil
	}
	return f.Object.Pkg()
}

// An inliner inlines into one function. Callees are expanded once, in copies.
type inliner struct {
	inlined   map[*ir.Func]*ir.Func // callee → its copy after inlining, nil if calls of it stay
	pkg       *types.Package        // of the generated code, or nil
	maxCallee int                   // size of a callee
}

// expand inlines into f itself and restores the normal form, see [ir.Normalize].
func (in *inliner) expand(f *ir.Func) {
	x := &expansion{in: in, f: f, names: ir.NamerOf(f), size: size(f.Body), addressed: usageOf(f.Body).addressed}
	f.Body = x.block(f.Body)
	if x.changed {
		ir.Normalize(f)
	}
}

// inlinedBody returns a copy of g, with its own calls inlined, whose body replaces calls of g, or nil if they must
// stay. The nil stored before the expansion is no result: recursive functions have been excluded.
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
	// The size counts after inlining into the callee.
	if size(h.Body) > in.maxCallee {
		return nil
	}
	in.inlined[g] = h
	return h
}

// isCheckpointed reports whether g is or contains a loop that is reversed with checkpoints. Such a function stays one,
// since its schedule of snapshots is made for each call.
func isCheckpointed(g *ir.Func) bool {
	found := g.Checkpoint != nil
	ir.Walk(g.Body, func(s ir.Stmt) bool {
		l, ok := s.(*ir.Loop)
		found = found || ok && l.Checkpoint != nil
		return !found
	})
	return found
}

// isRecursive reports whether g may call itself, directly or through other functions. It takes time linear in the size
// of all functions reachable from g.
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

// An expansion replaces calls in the body of one function, f, by the bodies of the callees.
type expansion struct {
	in        *inliner
	f         *ir.Func
	names     *ir.Namer
	size      int              // of the body so far
	addressed map[*ir.Var]bool // variables whose address is taken, those of inlined bodies included
	changed   bool
}

// block inlines the calls in b and its nested blocks. Statements after an inlined body that never ends normally are
// dropped.
func (x *expansion) block(b ir.Block) (out ir.Block) {
	for i, s := range b {
		s = mapBlocks(s, x.block)
		if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil {
			if g := x.in.inlinedBody(c.Callee.Func); g != nil && x.size+size(g.Body) <= maxCallerSize {
				x.changed = true
				out = x.inlineCall(out, c, g)
				if ir.EndsInJump(out) && i < len(b)-1 {
					return out
				}
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// inlineCall appends to out, the statements before call c, those that replace the call: declarations of parameters and
// results, the body of g in a scope if it has returns, and assignments of the results.
func (x *expansion) inlineCall(out ir.Block, c *ir.Call, g *ir.Func) ir.Block {
	x.size += size(g.Body)
	// Each call gets its own variables and labels with names unused in f.
	h, _ := ir.Clone(g, x.names)
	use := usageOf(h.Body)
	for v := range use.addressed {
		x.addressed[v] = true
	}
	values := map[*ir.Var]ir.Expr{} // parameter → argument that replaces it
	// variables that replace a parameter. Each replaces one only, since p += e must not read p, which it would if two
	// parameters became one variable.
	substituted := map[*ir.Var]bool{} // variables that replace a parameter
	var body ir.Block
	for i, p := range h.Params {
		p.Kind = ir.Local
		a := c.Args[i]
		if use.writes[p] == 0 && !use.addressed[p] && types.Identical(a.Type(), p.Type) && x.invariant(a, c) &&
			!substituted[ir.VarOf(a)] {
			values[p] = a
			if v := ir.VarOf(a); v != nil && v.Kind != ir.Global {
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
		// The callee writes the variable of the caller directly.
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
			if w := ir.VarOf(values[v]); w != nil {
				return w
			}
			return v
		},
		Expr: func(e ir.Expr) ir.Expr {
			if v := ir.VarOf(e); v != nil && values[v] != nil {
				return values[v]
			}
			return fold(e)
		},
		Stmt: foldBranch,
	}
	inner := m.Block(h.Body)
	// Returns of the callee become leaves of a scope.
	if containsLeave(inner, h.Exit) || ir.EndsInJump(inner) {
		inner = ir.Block{&ir.Scope{At: c.At, L: h.Exit, Body: inner}}
	}
	return append(append(append(out, body...), inner...), after...)
}

// invariant reports whether argument a of call c keeps its value while the callee runs: a numeric or boolean constant,
// or a variable that is not addressed and that the call does not assign. The callee cannot name it, but through
// pointers.
func (x *expansion) invariant(a ir.Expr, c *ir.Call) bool {
	if k, ok := a.(*ir.Const); ok {
		return k.Val != nil && ir.HasInfo(k.T, types.IsNumeric|types.IsBoolean)
	}
	v := ir.VarOf(a)
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

// freshResults returns the variables that the last statements of out declare as zero and that no argument of c reads.
// Such a variable can stand for a result, which the callee expects to be zero, too.
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

// canName reports whether the generated code can name all objects, fields and types that g mentions: those of its own
// package and those that the package of g exports. Names of third packages are refused, so that inlining adds no
// imports.
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
		ok = ok && o.Exported() && ir.CanName(o, in.pkg.Path()) && o.Pkg() == from
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
				// Literals name fields by index.
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

// nameable reports whether package home can name type t and the fields of its structs. Exported names of other packages
// are allowed, but if from is not nil, only those of package from. Fields of named structs are examined only if from is
// nil.
func nameable(t types.Type, home, from *types.Package) bool {
	ok := true
	object := func(o types.Object) {
		if o.Pkg() != nil && o.Pkg() != home {
			ok = ok && o.Exported() && ir.CanName(o, home.Path()) && (from == nil || o.Pkg() == from)
		}
	}
	seen := map[types.Type]bool{}
	var visit func(t types.Type)
	visit = func(t types.Type) {
		// Recursive types.
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
