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
	refuse  func(s ir.Stmt, v *ir.Var, reason, remedy string)
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
		w.refuse = func(s ir.Stmt, v *ir.Var, reason, remedy string) {
			out = append(out, &Refusal{s.Position(), f.Name, "write to package variable " + v.Name, reason, remedy})
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
			w.refuse(s, v, "its memory is written by another name", "copy it first, or pass it as an argument")
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
	if p.Indirect() {
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
		w.rule(s)
		return
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

// rule is a call of a function with a rule. Of one without source it is not known what it
// writes.
func (w *flow) rule(s *ir.Call) {
	r := s.Callee.Rule
	if r.Passive {
		return
	}
	for i, a := range s.Args {
		if !r.Writes(i) || r.IsFixed(i) {
			continue
		}
		from := w.expr(a)
		if r.ReadOnly != nil {
			w.write(s, from)
			continue
		}
		for v := range from {
			if v.Kind == ir.Global && w.refuse != nil {
				w.refuse(s, v, r.Name+" may write its memory",
					"copy it first, or name the parameter in passive= of its //nabla:rule if it is only read")
			}
		}
	}
	for i, v := range s.Results {
		if v == nil || !leads(v.Type) {
			continue
		}
		if k := r.Returned(i); k >= 0 {
			w.add(v, w.expr(s.Args[k]))
		}
	}
}

// expr is what memory the value of e may lead to.
func (w *flow) expr(e ir.Expr) origins {
	out := origins{}
	sources(e, func(v *ir.Var) { maps.Copy(out, w.root(v)) })
	return out
}

// sortedFuncs are those of entries, by name.
func sortedFuncs(entries map[*entry]bool) (out []*ir.Func) {
	for e := range entries {
		out = append(out, e.f)
	}
	slices.SortFunc(out, func(a, b *ir.Func) int { return strings.Compare(a.Name, b.Name) })
	return out
}
