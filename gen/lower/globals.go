package lower

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// origins are variables whose memory another one may lead to: those of packages, and
// parameters.
type origins map[*ir.Var]bool

// flow is where memory goes in a function, whatever the order of statements.
type flow struct {
	f       *ir.Func
	of      map[*ir.Var]origins
	written origins // what is written behind
	callee  map[*ir.Func]*flow
	changed bool
	refuse  func(s ir.Stmt, v *ir.Var)
}

// writtenGlobals finds writes to the memory of package variables that go by another name:
// a slice that is assigned to a variable, say, or passed to a function that writes to it.
func writtenGlobals(funcs []*ir.Func) (out Refusals) {
	flows := map[*ir.Func]*flow{}
	for _, f := range funcs {
		w := &flow{f: f, of: map[*ir.Var]origins{}, written: origins{}, callee: flows}
		for _, v := range f.Params {
			w.of[v] = origins{v: true}
		}
		flows[f] = w
	}
	for again := true; again; {
		again = false
		for _, f := range funcs {
			flows[f].changed = false
			flows[f].block()
			again = again || flows[f].changed
		}
	}
	for _, f := range funcs {
		w := flows[f]
		w.refuse = func(s ir.Stmt, v *ir.Var) {
			out = append(out, &Refusal{s.Position(), f.Name, "write to package variable " + v.Name,
				"its memory is written by another name", "copy it first, or pass it as an argument"})
		}
		w.block()
	}
	return out
}

func (w *flow) block() {
	ir.Walk(w.f.Body, func(s ir.Stmt) bool {
		w.stmt(s)
		return true
	})
}

// add notes that v may lead to the memory of from.
func (w *flow) add(v *ir.Var, from origins) {
	if len(from) == 0 {
		return
	}
	if w.of[v] == nil {
		w.of[v] = origins{}
	}
	n := len(w.of[v])
	maps.Copy(w.of[v], from)
	w.changed = w.changed || len(w.of[v]) > n
}

// write notes that what is behind from is written.
func (w *flow) write(s ir.Stmt, from origins) {
	for v := range from {
		switch {
		case v.Kind == ir.Global && w.refuse != nil:
			w.refuse(s, v)
		case v.Kind == ir.Param && !w.written[v]:
			w.written[v] = true
			w.changed = true
		}
	}
}

func (w *flow) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		w.add(s.V, w.expr(s.E))
	case *ir.Set:
		w.set(s, s.P, w.expr(s.E))
	case *ir.Add:
		w.set(s, s.P, nil)
	case *ir.Append:
		from := w.expr(s.S)
		w.write(s, from)
		from = maps.Clone(from)
		if from == nil {
			from = origins{}
		}
		for _, e := range s.Elems {
			if u, ok := e.Type().Underlying().(*types.Slice); s.Spread && (!ok || !leads(u.Elem())) {
				continue // its elements are copied, and lead nowhere
			}
			maps.Copy(from, w.expr(e))
		}
		w.set(s, s.P, from)
	case *ir.Copy:
		w.write(s, w.expr(s.Dst))
	case *ir.Clear:
		w.write(s, w.expr(s.S))
	case *ir.Call:
		w.call(s)
	}
}

func (w *flow) set(s ir.Stmt, p *ir.Place, from origins) {
	if p.Behind() {
		w.write(s, w.root(p.Root))
	}
	w.add(p.Root, from)
}

func (w *flow) root(v *ir.Var) origins {
	if v.Kind == ir.Global {
		return origins{v: true}
	}
	return w.of[v]
}

func (w *flow) call(s *ir.Call) {
	c := w.callee[s.Callee.Func]
	if c == nil {
		return // a rule: what it does to its arguments is its own affair
	}
	for i, p := range c.f.Params {
		if from := w.expr(s.Args[i]); c.written[p] {
			w.write(s, from)
		}
	}
	for i, r := range c.f.Results {
		if i >= len(s.Results) || s.Results[i] == nil {
			continue
		}
		from := origins{}
		for v := range c.of[r] {
			if k := slices.Index(c.f.Params, v); k >= 0 {
				maps.Copy(from, w.expr(s.Args[k]))
			} else {
				from[v] = true
			}
		}
		w.add(s.Results[i], from)
	}
}

// expr is what memory the value of e may lead to.
func (w *flow) expr(e ir.Expr) origins {
	if e == nil || !leads(e.Type()) {
		return nil
	}
	out := origins{}
	eachPlace(e, func(p *ir.Place, taken bool) {
		t, _ := cell(p, nil)
		if taken || leads(t) {
			maps.Copy(out, w.root(p.Root))
		}
	})
	return out
}

// leads says whether a value of type t leads to memory of others.
func leads(t types.Type) bool {
	found := false
	walkType(t, map[types.Type]bool{}, func(u types.Type) {
		switch u.(type) {
		case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
			found = true
		}
	})
	return found
}

// sortedFuncs are those of entries, by name.
func sortedFuncs(entries map[*entry]bool) (out []*ir.Func) {
	for e := range entries {
		out = append(out, e.f)
	}
	slices.SortFunc(out, func(a, b *ir.Func) int { return strings.Compare(a.Name, b.Name) })
	return out
}
