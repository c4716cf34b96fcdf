package adjoint

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
)

// The functions of each mode. An entry point and a segment have both sweeps in one function, a callee has a function
// for each, and advancing needs the forward statements only. Emission sets the kind of shared variables (a bar may be a
// parameter here and a local there), so each function is cloned as soon as it is complete.

// emitEntry returns the adjoint of f, the entry point: both sweeps in one function, with the signature that [Adjoint]
// describes. Before the reverse sweep, results are copied and the final contents of memory saved, if the reverse sweep
// restores it; after it, they are written back.
func (sp *specialization) emitEntry(f *ir.Func) *Adjoint {
	e := sp.emitter()
	a := &Adjoint{Facts: sp.facts}
	out := &ir.Func{Name: f.Name + "_adjoint", Recv: f.Recv, Exit: &ir.Label{Name: sp.g.names.Name("exit")}, Pos: f.Pos}
	out.Params = sp.paramsWithShadows()
	var tail ir.Block
	// Results: locals for the sweeps, copied to the results before the reverse sweep; a seed for each active one.
	for i, r := range sp.g.f.Results {
		res := &ir.Var{Name: sp.g.names.Name(r.Name), Type: r.Type, Kind: ir.Result, Pos: r.Pos}
		local := &ir.Var{Name: sp.g.names.Name(r.Name), Type: r.Type, Pos: r.Pos}
		e.results[r], sp.standsFor[local] = local, r
		e.sharedDecls = append(e.sharedDecls, &ir.Let{At: e.at, V: local})
		tail = append(tail, &ir.Set{At: e.at, P: res.Place(), E: local.Load()})
		out.Results = append(out.Results, res)
		if !sp.facts.Results.Has(i) {
			continue
		}
		a.Seeds = a.Seeds.With(i)
		switch {
		case !leadsToFloats(r.Type):
			seed := sp.barVar(r)
			seed.Kind = ir.Param
			out.Params = append(out.Params, seed)
		default:
			// The seed of a slice is added to its shadow, which exists only after the forward sweep.
			of := ir.ElemOf(r.Type)
			if of == nil || !floats.only(of) {
				sp.refuse("return numbers or a slice of them, or write to memory of a pointer or slice among the "+
					"arguments", "a result of type %s, which leads to numbers", r.Type)
			}
			sh := sp.shadowVar(r)
			sh.Kind = ir.Local
			e.sharedDecls = append(e.sharedDecls, &ir.Let{At: e.at, V: sh})
			seed := &ir.Var{Name: sp.g.names.Name(r.Name + "Seed"), Type: r.Type, Kind: ir.Param}
			out.Params = append(out.Params, seed)
			w := sp.writerAt(e.at)
			w.loop(ir.LenOf(seed.Load()), func(i ir.Expr) {
				w.addFloats(of, ir.Extend(sh.Place(), ir.IndexStep(i)), ir.Extend(seed.Place(), ir.IndexStep(i)))
			})
			tail = append(tail, w.Out...)
		}
	}
	// Cotangents of parameters are results.
	for i, v := range sp.g.f.Params {
		if !sp.facts.Params.Has(i) {
			continue
		}
		if leadsToFloats(v.Type) {
			a.Shadows = a.Shadows.With(i)
		}
		if ownFloats(v.Type) {
			a.Bars = a.Bars.With(i)
		}
	}
	out.Results = append(out.Results, sp.barResults()...)
	out.Params = append(out.Params, sp.ws)
	// The order of these three calls decides the names and the order of workspace fields.
	forward := e.enclose(e.forward(sp.plan.body))
	reverse := e.renameCopies(e.reverse(sp.plan.body))
	outs := e.outputs(out.Results[:len(sp.g.f.Results)])
	body := append(sp.resets(), outs.start...)
	body = append(body, e.sharedDecls...)
	body = append(body, e.declare(e.hoistedVars(sp.plan.body))...)
	body = append(body, forward...)
	body = append(body, tail...)
	body = append(body, outs.save...)
	body = append(body, reverse...)
	m := &ir.Map{Var: ir.Renaming(e.results)}
	out.Body = m.Block(append(body, outs.restore...))
	a.Func = sp.finish(out)
	return a
}

// emitSplit fills sp.fwd and sp.rev. Local variables of the forward sweep that the reverse sweep needs are pushed at
// the end of the former and popped at the beginning of the latter.
func (sp *specialization) emitSplit() {
	e := sp.emitter()
	name := sp.g.f.Name
	fwd := &ir.Func{Name: name + "_forward", Recv: sp.g.f.Recv, Exit: sp.g.f.Exit, Pos: sp.g.f.Pos}
	rev := &ir.Func{Name: name + "_reverse", Exit: &ir.Label{Name: sp.g.names.Name("exit")}, Pos: sp.g.f.Pos}
	fwd.Params = append(sp.paramsWithShadows(), sp.ws)
	fwd.Results = sp.resultsWithShadows()
	body := append(e.declare(e.hoistedVars(sp.plan.body)), e.enclose(e.forward(sp.plan.body))...)
	// Signature of the reverse sweep: parameters that it needs, shadows, seeds of the results, workspace.
	var start ir.Block
	inRev := map[*ir.Var]bool{} // parameters of the reverse sweep
	for i, v := range sp.g.f.Params {
		if sp.summary.reverseTakes(i) {
			rev.Params = append(rev.Params, v)
		}
	}
	rev.Results = sp.barResults()
	// A parameter that is not assigned has its value from the caller.
	for _, v := range sp.paramsWithShadows() {
		if sp.locations.assignments[v] == 0 {
			inRev[v] = true
		}
	}
	for i, v := range sp.g.f.Params {
		if sp.facts.Params.Has(i) && leadsToFloats(v.Type) {
			rev.Params = append(rev.Params, sp.shadowVar(v))
		}
	}
	for i, r := range sp.g.f.Results {
		if sp.facts.Results.Has(i) && ownFloats(r.Type) {
			seed := sp.barVar(r)
			seed.Kind = ir.Param
			rev.Params = append(rev.Params, seed)
		}
	}
	rev.Params = append(rev.Params, sp.ws)
	reverse := e.reverse(sp.plan.body)
	// Other variables of the forward sweep get a copy in the reverse sweep, with the value on exit if that is needed.
	for _, v := range e.sharedVars() {
		if inRev[v] {
			continue
		}
		w := e.newReverseCopy(v)
		start = append(start, &ir.Let{At: e.at, V: w})
		if sp.plan.neededAtExit[location{v: v}] {
			s := e.newStack(v.Name, v.Type)
			body = append(body, s.push(e.at, v.Load()))
			start = append(start, s.pop(e.at, w.Place())...)
		}
	}
	fwd.Body = body
	rev.Body = e.renameCopies(append(start, reverse...))
	// The sweeps of a passive function are passive: second derivatives have no others. Those that record values have no
	// second derivatives.
	records := slices.Contains(ir.Vars(&ir.Func{Body: append(slices.Clip(fwd.Body), rev.Body...)}), sp.ws)
	fwd.Passive = sp.g.f.Passive && !records
	fwd.RecordsPassive = sp.g.f.Passive && records
	rev.Passive, rev.RecordsPassive = fwd.Passive, fwd.RecordsPassive
	*sp.summary.fwd = *sp.finish(fwd)
	*sp.summary.rev = *sp.finish(rev)
}

// emitAdvance fills sp.fwd with a function that runs the primal and computes shadows, but records nothing. Iterations
// of a checkpointed loop reuse the same buffers: memory counters are reset at the beginning of each.
func (sp *specialization) emitAdvance() {
	e := sp.emitter()
	f := &ir.Func{Name: sp.g.f.Name + "_run", Recv: sp.g.f.Recv, Exit: sp.g.f.Exit, Pos: sp.g.f.Pos}
	f.Params = append(sp.paramsWithShadows(), sp.ws)
	f.Results = sp.resultsWithShadows()
	body := e.enclose(e.forward(sp.plan.body))
	// Buffers of an iteration may be reused by the next: allocations do not leak from it.
	if sp.g.segment != nil {
		var marks ir.Block
		for _, p := range sp.memoryCounters() {
			m := sp.g.local("mark", integer)
			marks = append(marks, &ir.Let{At: e.at, V: m, E: ir.LoadOf(p, integer)})
			insertInLoop(body, &ir.Set{At: e.at, P: p, E: m.Load()})
		}
		body = append(marks, body...)
	}
	f.Body = append(e.declare(e.hoistedVars(sp.plan.body)), body...)
	*sp.summary.fwd = *sp.finish(f)
}

// emitJoint fills sp.rev with a function that runs both sweeps of a loop segment and returns the cotangents of its
// parameters. Its effects on memory are undone.
func (sp *specialization) emitJoint() {
	e := sp.emitter()
	f := &ir.Func{Name: sp.g.f.Name + "_adjoint", Exit: &ir.Label{Name: sp.g.names.Name("exit")}, Pos: sp.g.f.Pos}
	f.Params = sp.paramsWithShadows()
	// Results are locals: only their cotangents, passed as seeds, concern the caller.
	for i, r := range sp.g.f.Results {
		local := &ir.Var{Name: sp.g.names.Name(r.Name), Type: r.Type, Pos: r.Pos}
		e.results[r], sp.standsFor[local] = local, r
		e.sharedDecls = append(e.sharedDecls, &ir.Let{At: e.at, V: local})
		if !sp.facts.Results.Has(i) {
			continue
		}
		if leadsToFloats(r.Type) {
			sh := sp.shadowVar(r)
			sh.Kind = ir.Local
			e.sharedDecls = append(e.sharedDecls, &ir.Let{At: e.at, V: sh})
		}
		if ownFloats(r.Type) {
			seed := sp.barVar(r)
			seed.Kind = ir.Param
			f.Params = append(f.Params, seed)
		}
	}
	f.Results = sp.barResults()
	f.Params = append(f.Params, sp.ws)
	// The reverse sweep follows the forward sweep directly, so no memory is saved in between.
	forward := e.enclose(e.forward(sp.plan.body))
	reverse := e.renameCopies(e.reverse(sp.plan.body))
	body := append(e.sharedDecls, e.declare(e.hoistedVars(sp.plan.body))...)
	body = append(append(body, forward...), reverse...)
	m := &ir.Map{Var: ir.Renaming(e.results)}
	f.Body = m.Block(body)
	*sp.summary.rev = *sp.finish(f)
}

// finish returns a copy of f, an emitted function, with variables of its own, and adds those that hold cotangents or
// lead to them to sp.adjoint, and slices that are apart to sp.unshared. The variables that the sweeps use have the
// values of those of the primal where it used them, and shadows overlap exactly if their slices do; so slices that are
// apart in the primal are apart in both sweeps, where the tape hides that from [simplify.Adjoint].
func (sp *specialization) finish(f *ir.Func) *ir.Func {
	out, copies := ir.Clone(f, nil)
	cotangents := map[*ir.Var]bool{}
	for _, vars := range []map[*ir.Var]*ir.Var{sp.shadows, sp.bars} {
		for _, v := range vars {
			cotangents[v] = true
		}
	}
	unshared := simplify.Unshared(sp.g.f, sp.mayOverlapNone)
	shadows := map[*ir.Var]bool{}
	for v := range unshared {
		shadows[sp.shadows[v]] = true
	}
	for v, w := range copies {
		if to := sp.standsFor[v]; to != nil {
			v = to
		}
		if cotangents[v] {
			sp.adjoint[w] = true
		}
		if unshared[v] || shadows[v] {
			sp.unshared[w] = v
		}
	}
	return out
}

// mayOverlapNone reports whether the memory of parameter v of the primal is apart from that of all others.
func (sp *specialization) mayOverlapNone(v *ir.Var) bool {
	if sp.spec.aliasing == nil {
		return true
	}
	i := slices.Index(sp.g.f.Params, v)
	return !slices.ContainsFunc(sp.spec.aliasing.groups, func(group []int) bool { return slices.Contains(group, i) })
}

// paramsWithShadows returns the parameters of the primal followed by the shadows of those that have one.
func (sp *specialization) paramsWithShadows() []*ir.Var {
	return sp.withShadows(sp.g.f.Params, sp.facts.Params, ir.Param)
}

// resultsWithShadows returns the results of the primal followed by the shadows of those that have one.
func (sp *specialization) resultsWithShadows() []*ir.Var {
	return sp.withShadows(sp.g.f.Results, sp.facts.Results, ir.Result)
}

// withShadows returns list followed by the shadows, which become variables of the given kind, of those variables that
// are active and lead to floats.
func (sp *specialization) withShadows(list []*ir.Var, active activity.Mask, kind ir.VarKind) []*ir.Var {
	out := slices.Clone(list)
	for i, v := range list {
		if active.Has(i) && leadsToFloats(v.Type) {
			s := sp.shadowVar(v)
			s.Kind = kind
			out = append(out, s)
		}
	}
	return out
}

// barResults returns the cotangents of the parameters that are results of the reverse sweep.
func (sp *specialization) barResults() (bars []*ir.Var) {
	for i, v := range sp.g.f.Params {
		if sp.facts.Params.Has(i) && ownFloats(v.Type) {
			bar := sp.barVar(v)
			bar.Kind = ir.Result
			bars = append(bars, bar)
		}
	}
	return bars
}

// sharedVars returns the variables, parameters and results of the forward sweep that the reverse sweep refers to, each
// once, in a fixed order.
func (e *emitter) sharedVars() (out []*ir.Var) {
	pl := e.sp.plan
	seen := map[*ir.Var]bool{}
	add := func(v *ir.Var) {
		if !seen[v] && (pl.needed[v] || e.hoisted[v]) {
			seen[v] = true
			out = append(out, v)
		}
	}
	for _, v := range e.sp.paramsWithShadows() {
		add(v)
	}
	for _, v := range e.sp.g.f.Results {
		add(v)
		if e.sp.hasShadow(v) {
			add(e.sp.shadowVar(v))
		}
	}
	each(e.sp.plan.body, func(n *node) {
		for _, w := range n.writes {
			if v := w.whole(); v != nil {
				add(v)
			}
		}
	})
	return out
}

// insertInLoop inserts s at the beginning of the body of the first loop in b, which may be in scopes.
func insertInLoop(b ir.Block, s ir.Stmt) {
	for _, t := range b {
		switch t := t.(type) {
		case *ir.Loop:
			t.Body = append(ir.Block{s}, t.Body...)
			return
		case *ir.Scope:
			insertInLoop(t.Body, s)
		}
	}
}
