package shortcut

import (
	"fmt"
	"go/constant"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A variant is a function for assumed constants: with its stores grafted, as a region.
type variant struct {
	f       *ir.Func
	results []value   // exact, singular or unknown ones
	stores  []ir.Expr // values that it stores to memory, as expressions of current and of the parameters
	stored  []int     // parameters through which it stores
	params  []*ir.Var // of the function, in stores
	mode    mode
	reads   []int  // parameters through which it reads other numbers than those that it overwrites
	silent  bool   // it changes no value
	failure string // why there is none
}

// A variantKey identifies a variant: the constants of the parameters, and which parameters lead to memory that the
// caller allocates.
type variantKey struct {
	f                     *ir.Func
	constants, free, same string
	mode                  mode
}

// call evaluates a call. A function that writes to memory of the caller is evaluated for its arguments.
func (r *region) call(s *ir.Call, at *env) {
	args := make([]value, len(s.Args))
	constants := make([]constant.Value, len(s.Args))
	depends := false
	for i, a := range s.Args {
		args[i] = r.eval(at, a)
		if x := args[i]; x.kind == singular {
			depends = true
		} else if x.kind == exact && x.assumed && ir.IsContinuous(a.Type()) {
			depends, constants[i] = true, x.c
		}
	}
	results := make([]value, len(s.Results))
	callee := s.Callee
	switch {
	case callee.Rule != nil:
		r.checkRule(s)
		for _, a := range s.Args {
			r.reads(a)
		}
		for i := range results {
			if depends && !callee.Rule.Passive {
				results[i] = value{kind: singular}
			}
		}
	case r.p.variantOf[callee.Func] != nil:
		// A branch in the region that is complete calls it.
		v := r.p.variantOf[callee.Func]
		copy(results, v.results)
		if !v.silent {
			r.callStores(s, v, args, at)
		}
		if v.mode == immediate && !v.silent {
			r.fail("it calls %s", v.f.Name)
		}
		if v.silent == (r.mode == plain) && r.mode != immediate && !slices.ContainsFunc(s.Results, isVar) {
			return
		}
	case !depends && !r.writes(s):
		for _, a := range s.Args {
			r.reads(a)
		}
	default:
		v := r.p.variant(callee.Func, constants, r.freeArgs(s), sameArgs(args), r.mode)
		if v.failure != "" {
			r.fail("it calls %s, and %s", callee.Func.Name, v.failure)
			return
		}
		r.callStores(s, v, args, at)
		callee = &ir.Callee{Func: v.f}
		copy(results, v.results)
	}
	r.forget(at, func(v *ir.Var) bool { return slices.Contains(s.Results, v) })
	for i, v := range s.Results {
		if v != nil {
			r.assign(at, s, v, results[i])
		}
	}
	r.emit(&ir.Call{At: s.At, Results: s.Results, Callee: callee, Args: s.Args})
}

// sameArgs returns for each argument the first slice that is the same, or its own index.
func sameArgs(args []value) []int {
	out := make([]int, len(args))
	for i, a := range args {
		out[i] = slices.IndexFunc(args, func(b value) bool {
			return a.kind == symbolic && ir.HasRefs(a.e.Type()) && a.equal(b)
		})
		if out[i] < 0 {
			out[i] = i
		}
	}
	return out
}

// reads notes that a callee reads memory that an argument leads to.
func (r *region) reads(a ir.Expr) {
	if w := rootOf(a); w != nil && ir.HasRefs(a.Type()) && !r.fresh[w] {
		r.loads = append(r.loads, access{class: r.c.class(w)})
	}
}

// isVar reports whether a result of a call is assigned.
func isVar(v *ir.Var) bool { return v != nil }

// callStores notes the stores and reads of a variant.
func (r *region) callStores(s *ir.Call, v *variant, args []value, at *env) {
	f := v.f
	for _, i := range v.reads {
		r.reads(s.Args[i])
	}
	var to []access
	for _, i := range v.stored {
		w := rootOf(s.Args[i])
		if w == nil {
			r.fail("it calls %s with memory that has no name", f.Name)
			return
		}
		to = append(to, access{class: r.c.class(w)})
	}
	for _, e := range v.stores {
		known := true
		m := ir.Map{Expr: func(x ir.Expr) ir.Expr {
			i := slices.Index(v.params, ir.VarOf(x))
			if i < 0 || v.params[i] == nil {
				return x
			}
			y := args[i].expr(x.Type())
			if y == nil {
				known = false
				return x
			}
			return y
		}}
		x := symbolicValue(m.RewriteExpr(e))
		if k, ok := e.(*ir.Const); ok {
			x = value{kind: exact, c: numberOf(k)}
		}
		if !known || !r.storable(x) {
			r.fail("it calls %s, and it stores a value to memory that the shortcut does not store", f.Name)
			return
		}
		for _, a := range to {
			r.store(at, x.expr(e.Type()), a)
		}
	}
}

// checkRule fails if a function with a rule may have effects that last.
func (r *region) checkRule(s *ir.Call) {
	rule := s.Callee.Rule
	if rule.Effects || rule.Stores || rule.Calls != nil {
		r.fail("it calls %s", rule.Name)
	}
	free := r.freeArgs(s)
	for i, a := range s.Args {
		if rule.Writes(i) && ir.HasRefs(a.Type()) && !free[i] {
			r.fail("it calls %s, which may write memory", rule.Name)
		}
	}
}

// freeArgs reports which arguments lead to memory that the region allocates.
func (r *region) freeArgs(s *ir.Call) []bool {
	free := make([]bool, len(s.Args))
	for i, a := range s.Args {
		v := rootOf(a)
		free[i] = v != nil && r.fresh[v] && r.once[v]
	}
	return free
}

// writes reports whether a function that s calls may write memory that the region does not allocate.
func (r *region) writes(s *ir.Call) bool {
	facts := r.p.factsOf[s.Callee.Func]
	if facts == nil {
		return true
	}
	free := r.freeArgs(s)
	for i := range s.Args {
		if facts.Written.Has(i) && !free[i] {
			return true
		}
	}
	return false
}

// variant returns the variant of a function, whose own branches are complete, for constants of its parameters, nil for
// those that are not known.
func (p *Program) variant(f *ir.Func, constants []constant.Value, free []bool, same []int, m mode) *variant {
	var text, freeText strings.Builder
	for i, c := range constants {
		if c != nil {
			text.WriteString(f.Params[i].Name + "_" + c.ExactString() + " ")
		}
		if free[i] {
			freeText.WriteString(f.Params[i].Name + " ")
		}
	}
	if p.unfinished[f] {
		return &variant{failure: "it calls itself"}
	}
	k := variantKey{f, text.String(), freeText.String(), fmt.Sprint(same), m}
	if v := p.variants[k]; v != nil {
		return v
	}
	v := &variant{failure: "it calls itself"}
	p.variants[k] = v
	if f.Passive || p.factsOf[f] == nil {
		v.failure = "nothing is known of it"
		return v
	}
	c := p.completer(p.factsOf[f], f)
	r := c.newRegion(f.Body, f.Exit, nil, m)
	at := &env{vals: map[*ir.Var]value{}}
	for i, w := range f.Params {
		r.declared[w] = true
		if !assigned(f.Body, w) {
			r.once[w] = true
			r.fresh[w] = free[i]
		}
		if constants[i] != nil {
			at.vals[w] = value{kind: exact, c: constants[i], assumed: true}
		} else if !r.once[w] {
			at.vals[w] = value{}
		}
	}
	for i, j := range same {
		if j < i && r.once[f.Params[i]] && r.once[f.Params[j]] && !r.fresh[f.Params[i]] {
			at.vals[f.Params[i]] = value{kind: symbolic, e: f.Params[j].Load()}
		}
	}
	for _, w := range f.Results {
		r.declared[w] = true
		at.vals[w] = r.eval(at, ir.Zero(w.Type))
	}
	body, end := r.run(f.Body, at)
	v.failure, v.stores, v.params, v.mode = r.failure, r.stores, f.Params, m
	if m == deferred && v.failure == "" {
		v.failure = r.conflict()
	}
	v.silent = m == deferred || len(r.stores) == 0
	for i, w := range f.Params {
		if slices.ContainsFunc(r.stored, func(a access) bool { return a.class == c.class(w) }) {
			v.stored = append(v.stored, i)
		}
		if slices.ContainsFunc(r.loads, func(l access) bool { return l.class == c.class(w) && !r.overwrites(l) }) {
			v.reads = append(v.reads, i)
		}
	}
	for _, w := range f.Results {
		var x value
		if end != nil {
			x = r.lookup(end, w)
		}
		if x.kind == symbolic {
			x = value{}
		}
		v.results = append(v.results, x)
	}
	g := *f
	g.Object, g.Recv, g.Body = nil, false, body
	g.Name += "_at_" + strings.Join(strings.Fields(text.String()), "_")
	if text.Len() == 0 {
		g.Name = f.Name + "_again"
	}
	switch {
	case m == plain:
		g.Name += "_values"
	case m == immediate && len(r.stores) > 0:
		g.Name += "_stored"
	}
	v.f, _ = ir.Clone(&g, nil)
	p.variantOf[v.f] = v
	return v
}

// assigned reports whether b assigns to v.
func assigned(b ir.Block, v *ir.Var) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		if p := ir.Target(s); p != nil && p.Root == v && !p.Indirect() {
			found = true
		}
		switch s := s.(type) {
		case *ir.Call:
			found = found || slices.Contains(s.Results, v)
		case *ir.Copy:
			found = found || s.N == v
		}
		return !found
	})
	return found
}
