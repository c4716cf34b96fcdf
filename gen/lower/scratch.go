package lower

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Scratch: package-level variables that a function writes. For the duration of a call a local variable stands for such
// a variable, which gives it a shadow: it begins with the value of the package variable, as a constant, functions that
// use it get a pointer to it, and at the end its value is stored in the package variable.
//
//	func F(x) (r) {                     func F(x) (r) {
//		buf[0] = x                          scratch := buf
//		r = g(x)                    →       r = F_1(x, &scratch)
//	}                                       rt.SetVariable(&buf, &scratch)
//	                                    }
//
// A value that an earlier call has left counts as a constant. Numbers with derivatives that may be read before they are
// written are refused, as they may be earlier results that are used again, in which case the derivative would be 0.

// A scratchRewriter rewrites the functions that one function reaches.
type scratchRewriter struct {
	p     *Program
	vars  []*ir.Var // the scratch, by name
	uses  map[*ir.Func]map[*ir.Var]bool
	funcs map[*ir.Func]*ir.Func // copies
	// locals maps the scratch to the local variables that stand for it.
	locals map[*ir.Var]*ir.Var
}

// rewriteScratch returns f with local variables in place of the package variables that it writes, or refusals. others
// are functions that are not called by f but belong to it, such as derivatives of rules.
func (p *Program) rewriteScratch(f *ir.Func, others []*ir.Func) (*ir.Func, Refusals) {
	called := slices.Collect(maps.Keys(ir.Reachable(f)))
	slices.SortFunc(called, func(a, b *ir.Func) int { return comparePositions(a.Pos, b.Pos) })
	refusals := writtenGlobals(slices.Concat(called, others))
	if len(refusals) == 0 {
		return f, nil
	}
	w := &scratchRewriter{p: p, uses: map[*ir.Func]map[*ir.Var]bool{}, funcs: map[*ir.Func]*ir.Func{},
		locals: map[*ir.Var]*ir.Var{}}
	var out Refusals
	for _, r := range refusals {
		if why := p.notScratch(r.global); why != "" || r.unknown {
			if why != "" {
				r.Reason, r.Remedy = r.Reason+", and "+why, "pass it as an argument"
			}
			out = append(out, r.Refusal)
		} else if !slices.Contains(w.vars, r.global) {
			w.vars = append(w.vars, r.global)
		}
	}
	slices.SortFunc(w.vars, func(a, b *ir.Var) int { return strings.Compare(a.Name, b.Name) })
	// Functions that are called by their names would see the package variable.
	for _, g := range slices.Concat(called, others) {
		w.uses[g] = map[*ir.Var]bool{}
		for _, v := range ir.Vars(g) {
			if !slices.Contains(w.vars, v) {
				continue
			}
			w.uses[g][v] = true
			if g.Passive || !slices.Contains(called, g) {
				out = append(out, scratchRefusal(g, g.Pos, v, "a function without derivative uses it too"))
			}
		}
	}
	for again := true; again; {
		again = false
		for _, g := range called {
			n := len(w.uses[g])
			ir.Walk(g.Body, func(s ir.Stmt) bool {
				c, ok := s.(*ir.Call)
				if !ok {
					return true
				}
				maps.Copy(w.uses[g], w.uses[c.Callee.Func])
				if r := c.Callee.Rule; r != nil && r.Calls != nil {
					for v := range w.uses[r.Calls] {
						out = append(out, scratchRefusal(g, c.Pos, v, "a comparison uses it too"))
					}
				}
				return true
			})
			again = again || len(w.uses[g]) > n
		}
	}
	for _, g := range called {
		ir.Walk(g.Body, func(s ir.Stmt) bool {
			c, ok := s.(*ir.Call)
			if !ok || c.Callee.Rule == nil || c.Callee.Rule.Object == nil {
				return true
			}
			for _, e := range c.Args {
				p := ir.PlaceOf(e)
				if p == nil || p.Root.Object == nil || !isFuncType(e.Type()) {
					continue
				}
				for _, v := range w.vars {
					if v.Object.Pkg() == p.Root.Object.Pkg() {
						out = append(out, scratchRefusal(g, c.Pos, v, "a function that is called once may use it too"))
					}
				}
			}
			for _, v := range w.vars {
				if v.Object.Pkg() == c.Callee.Rule.Object.Pkg() {
					out = append(out, scratchRefusal(g, c.Pos, v, "a function with a rule may use it too"))
				}
			}
			return true
		})
	}
	if len(out) > 0 {
		return nil, out
	}
	g := w.root(f)
	if out = exposedScratch(f, g, w.locals); len(out) > 0 {
		return nil, out
	}
	return g, nil
}

// scratchRefusal returns the refusal of a use of scratch.
func scratchRefusal(f *ir.Func, at token.Position, v *ir.Var, reason string) *Refusal {
	return &Refusal{at, f.Name, "package variable " + v.Name + ", which is written", reason, "pass it as an argument"}
}

// notScratch returns why a package variable cannot be scratch, "" if it can.
func (p *Program) notScratch(v *ir.Var) string {
	o, ok := v.Object.(*types.Var)
	switch {
	case !ok || v.Init != nil || p.isForeign(o.Pkg()) && !p.nameable(o):
		return "it belongs to another package"
	case !hasReferences(v.Type):
	case !isSlice(v.Type) || hasReferences(ir.ElemOf(v.Type)):
		return "it leads to other memory"
	case !p.isFresh(o):
		return "its memory is not its own from the start"
	}
	if at := p.leaks(o); at != "" {
		return "other names may refer to its memory (" + at + ")"
	}
	return ""
}

// root returns a function that calls the copy of f with local variables.
func (w *scratchRewriter) root(f *ir.Func) *ir.Func {
	g := &ir.Func{}
	*g = *f
	names := ir.NamerOf(f)
	at := ir.At{Pos: f.Pos}
	g.Body = nil
	c := &ir.Call{At: at, Callee: &ir.Callee{Func: w.function(f)}}
	for _, v := range f.Params {
		c.Args = append(c.Args, v.Load())
	}
	let := func(name string, t types.Type, e ir.Expr) *ir.Var {
		v := &ir.Var{Name: names.Name(name), Type: t, Pos: at.Pos}
		g.Body = append(g.Body, &ir.Let{At: at, V: v, E: e})
		return v
	}
	var after ir.Block
	for _, v := range w.vars {
		if !w.uses[f][v] {
			continue
		}
		pointer := types.NewPointer(v.Type)
		name := "SetVariable"
		var local *ir.Var
		if isSlice(v.Type) {
			name = "SetSlice"
			local = let(v.Object.Name(), v.Type, nil)
			whole := func(e ir.Expr) ir.Expr {
				return &ir.Slice{Typed: ir.Typed{T: v.Type}, X: e,
					Hi: &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: e, Cap: true}}
			}
			begin := ir.Block{
				&ir.Set{At: at, P: local.Place(), E: &ir.Make{Typed: ir.Typed{T: v.Type}, N: ir.LenOf(v.Load()),
					Cap: &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: v.Load(), Cap: true}}},
				&ir.Copy{At: at, Dst: whole(local.Load()), Src: whole(v.Load())},
			}
			isSet := ir.Compare(token.NEQ, v.Load(), ir.Zero(v.Type))
			g.Body = append(g.Body, &ir.If{At: at, Cond: isSet, Then: begin})
		} else {
			local = let(v.Object.Name(), v.Type, v.Load())
		}
		w.locals[v] = local
		to := let(v.Object.Name()+"Ptr", pointer, &ir.Addr{Typed: ir.Typed{T: pointer}, P: local.Place()})
		c.Args = append(c.Args, to.Load())
		r := mapOperation(at, name, []ir.Expr{&ir.Addr{Typed: ir.Typed{T: pointer}, P: v.Place()}, to.Load()})
		r.Callee.Rule.Output = true // forms over Reals leave the variable as it is
		after = append(after, r)
	}
	for _, v := range f.Results {
		c.Results = append(c.Results, let("t", v.Type, nil))
	}
	g.Body = append(g.Body, c)
	for i, v := range f.Results {
		g.Body = append(g.Body, &ir.Set{At: at, P: v.Place(), E: c.Results[i].Load()})
	}
	g.Body = append(g.Body, after...)
	return g
}

// function returns the copy of f that takes pointers to its scratch, or f itself if it has none.
func (w *scratchRewriter) function(f *ir.Func) *ir.Func {
	if len(w.uses[f]) == 0 {
		return f
	}
	if g := w.funcs[f]; g != nil {
		return g
	}
	g := &ir.Func{}
	*g = *f
	w.funcs[f] = g
	g.Name, g.Object, g.Recv, g.Variadic = w.p.copyName(f), nil, false, false
	names := ir.NamerOf(f)
	pointers := map[*ir.Var]*ir.Var{}
	g.Params = slices.Clone(f.Params)
	for _, v := range w.vars {
		if w.uses[f][v] {
			q := &ir.Var{Name: names.Name(v.Object.Name()), Type: types.NewPointer(v.Type), Kind: ir.Param, Pos: v.Pos}
			pointers[v] = q
			g.Params = append(g.Params, q)
		}
	}
	m := &ir.Map{
		Place: func(p *ir.Place) *ir.Place {
			q := pointers[p.Root]
			if q == nil {
				return p
			}
			return &ir.Place{Root: q, Path: append([]ir.Step{ir.DerefStep()}, p.Path...)}
		},
		Expr: func(e ir.Expr) ir.Expr {
			if a, ok := e.(*ir.Addr); ok && len(a.P.Path) == 1 && a.P.Path[0].IsDeref() {
				return a.P.Root.Load() // &*p
			}
			return e
		},
		Stmt: func(s ir.Stmt) []ir.Stmt {
			c, ok := s.(*ir.Call)
			if !ok || len(w.uses[c.Callee.Func]) == 0 {
				return []ir.Stmt{s}
			}
			c.Args = slices.Clone(c.Args)
			for _, v := range w.vars {
				if w.uses[c.Callee.Func][v] {
					c.Args = append(c.Args, pointers[v].Load())
				}
			}
			c.Callee = &ir.Callee{Func: w.function(c.Callee.Func)}
			return []ir.Stmt{c}
		},
	}
	g.Body = m.Block(f.Body)
	return g
}
