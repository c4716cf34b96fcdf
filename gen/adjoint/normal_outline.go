package adjoint

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Outlining of checkpointed loops. A loop that the source marks for checkpointing becomes a function, the segment
// function, that runs the iterations numbered from ≤ k < to, its last two parameters. Free variables are parameters;
// those that the loop assigns, the state, are results as well. The loop is replaced by one call for all iterations.
// checkpoint.go says how that call is reversed.

// A segment describes the parameters and results of a segment function.
type segment struct {
	states []stateVar // the variables that iterations hand on
	// MayExit is set if the loop may be left before its last iteration. The last two results are then the number of the
	// iteration after the last one that was begun, and the exit that was taken: 0 for none, or 1 plus the index of its
	// label.
	mayExit bool
	// NotCheckpointed is the reason why the loop is reversed like any other, or empty.
	notCheckpointed string
}

// stateIndex returns the index in s.states of the state variable that is the given parameter, or -1.
func (s *segment) stateIndex(param int) int {
	return slices.IndexFunc(s.states, func(c stateVar) bool { return c.param == param })
}

// A stateVar is a variable that an iteration hands on to the next: the indices of its parameter and its result.
type stateVar struct{ param, result int }

// outline replaces the marked loops of g.f by calls of segment functions, named after home. Marked loops within marked
// loops stay: they are outlined when the segment function is normalised.
func (p *Program) outline(g *normalForm, home *ir.Func) {
	k := 0
	var block func(b ir.Block) ir.Block
	block = func(b ir.Block) (out ir.Block) {
		for _, s := range b {
			loop, ok := s.(*ir.Loop)
			if ok && loop.Checkpoint != nil {
				k++
				if why := p.whyNotOutlined(loop, home); why != "" {
					g.addRemark(loop, why)
				} else {
					out = append(out, p.outlineLoop(g, home, loop, k)...)
					continue
				}
			}
			m := &ir.Map{}
			s = m.Block(ir.Block{s})[0]
			for _, c := range ir.Blocks(s) {
				*c = block(*c)
			}
			out = append(out, s)
		}
		return out
	}
	g.f.Body = block(g.f.Body)
}

// hasCheckpoint reports whether f has a loop marked for checkpointing.
func hasCheckpoint(f *ir.Func) (found bool) {
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		l, ok := s.(*ir.Loop)
		found = found || ok && l.Checkpoint != nil
		return !found
	})
	return found
}

// whyNotOutlined returns why the loop s of home cannot be checkpointed, or "" if it can: a loop that calls home,
// directly or through other functions, cannot.
func (p *Program) whyNotOutlined(s *ir.Loop, home *ir.Func) string {
	if calls(s.Body, home) {
		return home.Name + " calls itself from this loop"
	}
	return ""
}

// freeVars returns the variables of the body of s that are declared outside, globals apart, in the order of their first
// occurrence; the set of variables that the body assigns; and the labels beyond the body, s.L among them, that it
// leaves for.
func freeVars(s *ir.Loop) (free []*ir.Var, assigned map[*ir.Var]bool, labels []*ir.Label) {
	// Own are the variables declared in the body, inner the labels within it.
	own := map[*ir.Var]bool{s.V: true}
	assigned = map[*ir.Var]bool{}
	inner := map[*ir.Label]bool{s.Next: true}
	ir.Walk(s.Body, func(s ir.Stmt) bool {
		if p := ir.Target(s); p != nil && !p.Indirect() {
			assigned[p.Root] = true
		}
		ir.EachResult(s, func(v *ir.Var) { assigned[v] = true })
		switch s := s.(type) {
		case *ir.Let:
			own[s.V] = true
		case *ir.Scope:
			inner[s.L] = true
		case *ir.Loop:
			inner[s.L], inner[s.Next] = true, true
			own[s.V] = true
		case *ir.Leave:
			if !inner[s.L] && !slices.Contains(labels, s.L) {
				labels = append(labels, s.L)
			}
		}
		return true
	})
	for _, v := range ir.Vars(&ir.Func{Body: s.Body}) {
		if !own[v] && v.Kind != ir.Global {
			free = append(free, v)
		}
	}
	return free, assigned, labels
}

// An outliner makes the segment function of a loop.
type outliner struct {
	p     *Program
	g     *normalForm
	s     *ir.Loop
	at    ir.At
	seg   *segment
	f     *ir.Func            // the segment function
	named map[*ir.Var]*ir.Var // variables of the loop → those of f
	out   ir.Block            // the statements before the call
	call  *ir.Call            // the call of f
	loop  *ir.Loop            // the loop in f
	exits []*ir.Label         // the labels beyond the body that it leaves for
}

// outlineLoop creates the k-th segment function of home, for loop s, and returns the statements that replace s: the
// call, the assignment of the new state, and a dispatch on the exit that was taken. An index of s that is not an int
// counting by 1 is computed from the number of the iteration.
func (p *Program) outlineLoop(g *normalForm, home *ir.Func, s *ir.Loop, k int) ir.Block {
	free, assigned, labels := freeVars(s)
	f := &ir.Func{Name: fmt.Sprintf("%s_loop%d", home.Name, k), Exit: &ir.Label{Name: "exit"}, Pos: s.Pos,
		Checkpoint: s.Checkpoint}
	at := ir.At{Pos: s.Pos}
	o := &outliner{p: p, g: g, s: s, at: at, seg: &segment{mayExit: len(labels) > 0}, f: f,
		named: map[*ir.Var]*ir.Var{}, call: &ir.Call{At: at, Callee: &ir.Callee{Func: f}}, exits: labels}
	back := o.passVars(free, assigned)
	var begun, why, reason *ir.Var
	if o.seg.mayExit {
		begun, _ = o.result("begun")
		why, reason = o.result("why")
	}
	o.makeLoop()
	if o.seg.mayExit {
		f.Body = append(f.Body, &ir.Set{At: at, P: begun.Place(), E: f.Params[len(f.Params)-2].Load()})
		o.loop.Body = append(o.loop.Body, &ir.Set{At: at, P: begun.Place(), E: plus1(o.loop.V.Load())})
	}
	o.loop.Body = append(o.loop.Body, o.body(why)...)
	f.Body = append(f.Body, o.loop)
	// Rename the variables of the function, but leave the names of imported packages to globals.
	names := ir.NewNamer()
	for _, v := range ir.Vars(f) {
		if path, _, ok := strings.Cut(v.Name, "."); ok && v.Kind == ir.Global {
			names.Reserve(path)
		}
	}
	fresh, _ := ir.Clone(f, names)
	*f = *fresh
	p.segments[f] = o.seg
	out := append(append(o.out, o.call), back...)
	// After the call, take the exit that an iteration took; s.L is the end of the loop, which needs no dispatch.
	for i, l := range labels {
		if l != s.L {
			out = append(out,
				&ir.If{At: at, Cond: ir.Compare(opEql, reason.Load(), ir.Count(int64(i+1))),
					Then: ir.Block{&ir.Leave{At: at, L: l}}})
		}
	}
	return out
}

// passVars makes parameters of free variables. Those that are assigned, the state, are results too, which the body
// works
// on; the caller assigns them through temporaries, by the statements returned, since results of calls are variables.
func (o *outliner) passVars(free []*ir.Var, assigned map[*ir.Var]bool) (back ir.Block) {
	f := o.f
	for _, v := range free {
		param := &ir.Var{Name: v.Name, Type: v.Type, Kind: ir.Param, Object: v.Object, Pos: v.Pos}
		o.named[v] = param
		o.call.Args = append(o.call.Args, v.Load())
		if assigned[v] {
			result := &ir.Var{Name: v.Name, Type: v.Type, Kind: ir.Result, Object: v.Object, Pos: v.Pos}
			o.named[v] = result
			o.seg.states = append(o.seg.states, stateVar{len(f.Params), len(f.Results)})
			got := o.receive(v.Name, result)
			f.Body = append(f.Body, &ir.Set{At: o.at, P: result.Place(), E: param.Load()})
			back = append(back, &ir.Set{At: o.at, P: v.Place(), E: got.Load()})
		}
		f.Params = append(f.Params, param)
	}
	return back
}

// receive adds a result to the function and returns the variable that receives it at the call.
func (o *outliner) receive(base string, result *ir.Var) *ir.Var {
	o.f.Results = append(o.f.Results, result)
	got := o.g.local(base, result.Type)
	o.out = append(o.out, &ir.Let{At: o.at, V: got})
	o.call.Results = append(o.call.Results, got)
	return got
}

// result adds an integer result, which tells how a loop with early exits ended. It returns the result and the variable
// that receives it.
func (o *outliner) result(base string) (r, got *ir.Var) {
	r = &ir.Var{Name: base, Type: integer, Kind: ir.Result}
	return r, o.receive(base, r)
}

// makeLoop makes the loop of the function, over iterations whose bounds, from and to, are the last two parameters. The
// index is the number of the iteration; one that is not is declared in the body.
func (o *outliner) makeLoop() {
	f, s := o.f, o.s
	from := &ir.Var{Name: "from", Type: integer, Kind: ir.Param}
	to := &ir.Var{Name: "to", Type: integer, Kind: ir.Param}
	lo, hi := o.p.iterationBounds(o.g, s, &o.out)
	o.loop = &ir.Loop{At: o.at, L: &ir.Label{Name: "loop"}, Next: &ir.Label{Name: "next"}, Lo: from.Load(),
		Hi: to.Load(), Step: 1}
	switch {
	case s.V == nil:
		o.loop.V = &ir.Var{Name: "k", Type: integer}
	case countsByIndex(s):
		o.loop.V = &ir.Var{Name: s.V.Name, Type: s.V.Type, Object: s.V.Object, Pos: s.V.Pos}
		o.named[s.V] = o.loop.V
	default:
		// The variable that holds the first index may be assigned in the loop: pass its value before.
		o.loop.V = &ir.Var{Name: "k", Type: integer}
		first := &ir.Var{Name: "first", Type: s.V.Type, Kind: ir.Param}
		f.Params = append(f.Params, first)
		o.call.Args = append(o.call.Args, o.p.firstIndex(o.g, s, &o.out, o.at))
		v := &ir.Var{Name: s.V.Name, Type: s.V.Type, Object: s.V.Object, Pos: s.V.Pos}
		o.named[s.V] = v
		by := ir.NewBinary(v.Type, opMul, ir.ConvertTo(v.Type, o.loop.V.Load()), ir.IntConst(v.Type, s.Step))
		o.loop.Body = ir.Block{&ir.Let{At: o.at, V: v, E: ir.NewBinary(v.Type, opAdd, first.Load(), by)}}
	}
	f.Params = append(f.Params, from, to)
	o.call.Args = append(o.call.Args, lo, hi)
}

// body returns the body of the loop in the variables of the function. Exits store their number in why and end the loop.
func (o *outliner) body(why *ir.Var) ir.Block {
	m := &ir.Map{
		Var: ir.Renaming(o.named),
		Stmt: func(t ir.Stmt) []ir.Stmt {
			l, ok := t.(*ir.Leave)
			if !ok {
				return []ir.Stmt{t}
			}
			if l.L == o.s.Next {
				return []ir.Stmt{&ir.Leave{At: l.At, L: o.loop.Next}}
			}
			if i := slices.Index(o.exits, l.L); i >= 0 {
				return []ir.Stmt{&ir.Set{At: l.At, P: why.Place(), E: ir.Count(int64(i + 1))},
					&ir.Leave{At: l.At, L: o.loop.L}}
			}
			return []ir.Stmt{t}
		},
	}
	return m.Block(o.s.Body)
}

// countsByIndex reports whether the index of s can number its iterations: it is an int and counts by 1.
func countsByIndex(s *ir.Loop) bool { return s.Step == 1 && types.Identical(s.V.Type, integer) }

// iterationBounds returns the numbers of the first iteration of s and of the one after the last. A loop without index
// has no last one: its upper bound is the value of checkpoint.Endless. Statements that compute the bounds are appended
// to out.
func (p *Program) iterationBounds(g *normalForm, s *ir.Loop, out *ir.Block) (lo, hi ir.Expr) {
	switch {
	case s.V == nil:
		n := g.local("n", integer)
		at := ir.At{Pos: s.Pos}
		*out = append(*out, &ir.Let{At: at, V: n},
			&ir.Call{At: at, Results: []*ir.Var{n}, Callee: &ir.Callee{Rule: ir.ScheduleRule("Endless")}})
		return ir.Count(0), n.Load()
	case countsByIndex(s):
		return s.Lo, s.Hi
	}
	n := g.local("n", integer)
	t, at := s.V.Type, ir.At{Pos: s.Pos}
	a, b, by := s.Lo, s.Hi, s.Step
	if by < 0 {
		a, b, by = b, a, -by
	}
	some := stepsBetween(t, a, b, by)
	*out = append(*out, &ir.Let{At: at, V: n},
		&ir.If{At: at, Cond: ir.Compare(opLss, a, b), Then: ir.Block{&ir.Set{At: at, P: n.Place(), E: some}}})
	return ir.Count(0), n.Load()
}

// firstIndex returns the first index of s, as a new variable that is declared in out.
func (p *Program) firstIndex(g *normalForm, s *ir.Loop, out *ir.Block, at ir.At) ir.Expr {
	v := g.local("first", s.V.Type)
	*out = append(*out, &ir.Let{At: at, V: v, E: s.Lo})
	return v.Load()
}
