package simplify

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Batch lets loops that count up from a constant compute elementary functions for several iterations at once (loop
// distribution; Kennedy & McKinley 1990). A call qualifies if its arguments depend on nothing that iterations leave to
// others. The loop is run in blocks: the arguments in all iterations of the block, then the function for all of them,
// and so on for functions of its values; then the rest. The remaining iterations run as before. A panic may be one of a
// later iteration, and the effects of those before it are missing then.
//
//	for i := 0; i < n; i++ {          mid := 0
//	    z := x[i] * t                 if 3 < n {
//	    e := math.Exp(z)                  mid = n - n%4
//	    s += e * z                        var z1, e1 [16]float64
//	}                                     for b := 0; b < mid; b += 16 {
//	                                          c := min(16, mid-b)
//	                                          for k := 0; k < c; k++ { z1[k] = x[b+k] * t }
//	                                          batch math.Exp(e1[:c], z1[:c])
//	                                          for k := 0; k < c; k++ { s += e1[k] * z1[k] }
//	                                      }
//	                                  }
//	                                  for i := mid; i < n; i++ { … }
//
// Distinct means that no two parameters lead to the same memory, work is the parameter that leads to the tape or nil.
func Batch(f *ir.Func, distinct bool, work *ir.Var) {
	b := &batcher{names: ir.NamerOf(f),
		aliases: analyseAliases(f, distinct, work, func(*ir.Var) bool { return false })}
	f.Body = replaceLoops(f.Body, b.loop)
}

const (
	// batchSize is the largest number of iterations of a block: enough to make up for the calls, and few enough that
	// values of a block stay near the processor. batchStep divides all of them: four numbers are computed as fast as
	// one.
	batchSize, batchStep = 16, 4
	// maxBatchedSize is the largest size of the body of a loop, which is there twice.
	maxBatchedSize = 1000
)

// batched are the elementary functions that have a form for slices.
var batched = map[string]bool{"math.Exp": true, "math.Expm1": true, "math.Log": true, "math.Log1p": true,
	"math.Sin": true, "math.Cos": true, "math.Tanh": true, "math.Pow": true}

// A batcher applies Batch to one function.
type batcher struct {
	names   *ir.Namer
	aliases *aliases
}

// replaceLoops returns b with statements in place of the loops in it and in its nested blocks, inner ones first.
func replaceLoops(b ir.Block, by func(l *ir.Loop) ir.Block) (out ir.Block) {
	for _, s := range b {
		s = mapBlocks(s, func(b ir.Block) ir.Block { return replaceLoops(b, by) })
		if l, ok := s.(*ir.Loop); ok {
			out = append(out, by(l)...)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// loop returns the statements that replace l.
func (b *batcher) loop(l *ir.Loop) ir.Block {
	lo, constant := int64(0), false
	if l.V != nil {
		lo, constant = constInt(l.Lo)
	}
	if !constant || lo < 0 || l.Step != 1 || l.Checkpoint != nil || !isRegular(l, b.aliases.use) ||
		size(l.Body) > maxBatchedSize {
		return ir.Block{l}
	}
	if hi, ok := constInt(l.Hi); ok && hi < lo+batchStep || containsCall(l.Body) {
		return ir.Block{l}
	}
	d := &distribution{batcher: b, l: l, body: b.separateCalls(l.Body)}
	if !d.analyse() {
		return ir.Block{l}
	}
	return d.emit(lo)
}

// containsCall reports whether b calls functions other than elementary ones, which may write memory that the loop
// reads.
func containsCall(b ir.Block) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		_, call := s.(*ir.Call)
		found = found || call
		return !found
	})
	return found
}

// separateCalls returns the body of a loop in which every call of a batched function that all iterations evaluate is
// the value of a declaration. A variable that is assigned such a value is not read where the value is known.
func (b *batcher) separateCalls(body ir.Block) (out ir.Block) {
	known := map[*ir.Var]*ir.Var{} // variable → that with its value
	for i, s := range body {
		if len(known) > 0 {
			inside := usageOf(ir.Block{s})
			for v := range known {
				set, ok := s.(*ir.Set)
				if inside.writes[v] > 0 && !(ok && set.P.Root == v && len(set.P.Path) == 0) {
					delete(known, v)
				}
			}
			m := &ir.Map{Expr: func(e ir.Expr) ir.Expr {
				if v := ir.VarOf(e); v != nil && known[v] != nil {
					return known[v].Load()
				}
				return e
			}}
			s = m.Block(ir.Block{s})[0]
		}
		if len(ir.Blocks(s)) > 0 && ir.LeavesBeyond(ir.Block{s}) {
			return append(append(out, s), body[i+1:]...) // the rest is not executed by every iteration
		}
		var e ir.Expr
		switch s := s.(type) {
		case *ir.Let:
			e = s.E
		case *ir.Set:
			e = s.E
		case *ir.Add:
			e = s.E
		}
		if e == nil {
			out = append(out, s)
			continue
		}
		at := ir.At{Pos: s.Position()}
		var calls ir.Block
		e = b.extract(at, e, &calls)
		if call, ok := last(calls).(*ir.Let); ok && ir.VarOf(e) == call.V {
			if let, ok := s.(*ir.Let); ok { // the declaration is that of the call
				calls[len(calls)-1] = &ir.Let{At: at, V: let.V, E: call.E}
				out = append(out, calls...)
				continue
			}
		}
		out = append(out, calls...)
		switch s := s.(type) {
		case *ir.Let:
			out = append(out, &ir.Let{At: s.At, V: s.V, E: e})
		case *ir.Set:
			out = append(out, &ir.Set{At: s.At, P: s.P, E: e})
			if v := ir.VarOf(e); len(s.P.Path) == 0 {
				delete(known, s.P.Root)
				if v != nil && len(calls) > 0 && !b.aliases.use.addressed[s.P.Root] {
					known[s.P.Root] = v
				}
			}
		case *ir.Add:
			out = append(out, &ir.Add{At: s.At, P: s.P, E: e})
		}
	}
	return out
}

// last returns the last statement of b, nil if there is none.
func last(b ir.Block) ir.Stmt {
	if len(b) == 0 {
		return nil
	}
	return b[len(b)-1]
}

// extract returns e with variables in place of the calls of batched functions in it, and appends their declarations to
// calls. Right operands of && and || may not be evaluated, so expressions with them stay.
func (b *batcher) extract(at ir.At, e ir.Expr, calls *ir.Block) ir.Expr {
	lazy := false
	ir.WalkExpr(e, func(e ir.Expr) bool {
		x, ok := e.(*ir.Binary)
		lazy = lazy || ok && (x.Op == token.LAND || x.Op == token.LOR)
		return !lazy
	})
	if lazy {
		return e
	}
	m := &ir.Map{Expr: func(e ir.Expr) ir.Expr {
		x, ok := e.(*ir.Math)
		if !ok || !batched[x.Name] || !types.Identical(x.T, types.Typ[types.Float64]) {
			return e
		}
		v := &ir.Var{Name: b.names.Name("t"), Type: x.T}
		*calls = append(*calls, &ir.Let{At: at, V: v, E: x})
		return v.Load()
	}}
	return m.RewriteExpr(e)
}

// A distribution is that of the statements of a loop to phases.
type distribution struct {
	*batcher
	l      *ir.Loop
	body   ir.Block
	inside *usage
	facts  []stmtFacts

	calls  []int        // the statements that are batched
	needed map[int]bool // the statements that arguments depend on
	moved  map[int]bool // those of them that are executed in their phase only
	phases int          // the number of phases before the last
}

// stmtFacts describe a statement of the body.
type stmtFacts struct {
	effects  *effects
	reads    map[*ir.Var]bool // variables, without those that it declares in a block
	writes   map[*ir.Var]bool // likewise
	pure     bool             // it writes variables only, and control leaves it at its end
	state    int8             // of the search: 0 is unknown, 1 in progress, 2 known
	movable  bool
	phase    int
	requires []int
}

// call returns the call that statement i declares the value of, nil if it is none that is batched.
func (d *distribution) call(i int) *ir.Math {
	let, ok := d.body[i].(*ir.Let)
	if !ok {
		return nil
	}
	e, ok := let.E.(*ir.Math)
	if !ok || !batched[e.Name] || !types.Identical(e.T, types.Typ[types.Float64]) || d.inside.writes[let.V] > 1 ||
		d.aliases.use.addressed[let.V] {
		return nil
	}
	return e
}

// analyse finds the calls that can be batched and the phases of the statements. It reports false if there is none.
func (d *distribution) analyse() bool {
	d.inside = usageOf(d.body)
	d.facts = make([]stmtFacts, len(d.body))
	for i, s := range d.body {
		d.facts[i] = factsOf(s)
	}
	d.needed, d.moved = map[int]bool{}, map[int]bool{}
	for i := range certainOf(d.body) {
		if d.call(i) != nil && d.search(i) {
			d.calls = append(d.calls, i)
			d.phases = max(d.phases, d.facts[i].phase+1)
			d.need(i)
		}
	}
	if len(d.calls) == 0 {
		return false
	}
	for i := range d.needed {
		if !slices.Contains(d.calls, i) && !d.cheap(i) {
			d.moved[i] = true
		}
	}
	// A moved variable has one value after its phase.
	for i := range d.moved {
		for v := range d.facts[i].writes {
			if _, basic := v.Type.Underlying().(*types.Basic); !basic {
				return false
			}
			final := i
			for j := range d.body {
				if d.facts[j].writes[v] && (!d.moved[j] || d.facts[j].phase != d.facts[i].phase) {
					return false
				}
				if d.facts[j].writes[v] {
					final = max(final, j)
				}
			}
			for j := range final {
				if d.facts[j].reads[v] && !(d.moved[j] && d.facts[j].phase == d.facts[i].phase) {
					return false
				}
			}
		}
	}
	return true
}

// factsOf returns the facts of s.
func factsOf(s ir.Stmt) stmtFacts {
	x := stmtFacts{effects: effectsOf(s), reads: map[*ir.Var]bool{}, writes: map[*ir.Var]bool{}}
	x.pure = !x.effects.barrier && !ir.LeavesBeyond(ir.Block{s}) && !ir.EndsInJump(ir.Block{s})
	u := usageOf(ir.Block{s})
	declared := map[*ir.Var]bool{}
	ir.Walk(ir.Block{s}, func(t ir.Stmt) bool {
		switch t := t.(type) {
		case *ir.Let:
			declared[t.V] = s != ir.Stmt(t)
		case *ir.Loop:
			if t.V != nil {
				declared[t.V] = true
			}
		case *ir.If, *ir.Scope, *ir.Leave, *ir.Set, *ir.Add:
		default:
			x.pure = false
		}
		return true
	})
	for v := range u.reads {
		if !declared[v] {
			x.reads[v] = true
		}
	}
	for v := range u.writes {
		if !declared[v] {
			x.writes[v] = true
		}
	}
	if len(u.addressed) > 0 {
		x.pure = false
	}
	for _, w := range append(x.effects.writes, x.effects.adds...) {
		x.pure = x.pure && !w.Indirect()
	}
	return x
}

// search reports whether statement i can be executed before those of the last phase, for all iterations of a block, and
// finds its phase: that after the last call that it depends on.
func (d *distribution) search(i int) bool {
	x := &d.facts[i]
	if x.state == 2 {
		return x.movable
	}
	if x.state == 1 || !x.pure {
		return false
	}
	x.state = 1
	x.movable = d.searchOperands(i)
	x.state = 2
	return x.movable
}

func (d *distribution) searchOperands(i int) bool {
	x := &d.facts[i]
	for v := range x.writes {
		if !d.declares(v) || d.aliases.use.addressed[v] {
			return false
		}
	}
	for v := range x.reads {
		switch {
		case v == d.l.V:
			continue
		case d.aliases.use.addressed[v]:
			return false
		case !d.declares(v):
			if d.inside.writes[v] > 0 {
				return false
			}
			continue
		}
		// A loop such as that of a sum reads the variable that it writes.
		for j := range i {
			if !d.facts[j].writes[v] {
				continue
			}
			if !d.search(j) {
				return false
			}
			x.requires = append(x.requires, j)
			at := d.facts[j].phase
			if d.call(j) != nil {
				at++
			}
			x.phase = max(x.phase, at)
		}
	}
	for _, r := range x.effects.reads {
		if len(r.Path) == 0 {
			continue
		}
		for j := range d.body {
			y := d.facts[j].effects
			for _, w := range append(y.writes[:len(y.writes):len(y.writes)], y.adds...) {
				if (len(w.Path) > 0 || d.aliases.use.addressed[w.Root]) &&
					d.aliases.mayAlias(d.anyIteration(w), d.anyIteration(r)) && !(j > i && d.sameElement(w, r)) {
					return false
				}
			}
		}
	}
	return true
}

// declares reports whether a statement of the body itself declares v.
func (d *distribution) declares(v *ir.Var) bool {
	return slices.ContainsFunc(d.body, func(s ir.Stmt) bool {
		let, ok := s.(*ir.Let)
		return ok && let.V == v
	})
}

// anyIteration returns p with unknown indices in place of those that are not the same in all iterations, and of all if
// the root leads to other memory in each.
func (d *distribution) anyIteration(p *ir.Place) *ir.Place {
	q := &ir.Place{Root: p.Root, Path: slices.Clone(p.Path)}
	for i, s := range q.Path {
		if s.Index != nil &&
			(d.inside.writes[p.Root] > 0 || !isFixed(s.Index, d.l.V, d.inside, d.aliases.use)) {
			q.Path[i] = ir.IndexStep((&ir.Var{Name: "any", Type: integer}).Load())
		}
	}
	return q
}

// sameElement reports whether w and r are one element in an iteration, and different ones in different iterations.
func (d *distribution) sameElement(w, r *ir.Place) bool {
	c := &cutter{use: d.aliases.use}
	_, _, ok := c.splitIndex(w, d.l.V, d.inside)
	return ok && len(w.Path) == 1 && ir.EqualPlace(w, r)
}

// need adds the statements that statement i depends on to d.needed, and i itself.
func (d *distribution) need(i int) {
	if d.needed[i] {
		return
	}
	d.needed[i] = true
	for _, j := range d.facts[i].requires {
		d.need(j)
	}
}

// cheap reports whether statement i is a declaration that is better evaluated again than kept.
func (d *distribution) cheap(i int) bool {
	let, ok := d.body[i].(*ir.Let)
	if !ok || d.inside.writes[let.V] > 1 || let.E == nil || exprSize(let.E) > 16 {
		return false
	}
	for _, j := range d.facts[i].requires {
		if d.call(j) != nil && slices.Contains(d.calls, j) || !d.cheap(j) && d.facts[j].phase != d.facts[i].phase {
			return false
		}
	}
	ok = true
	ir.WalkExpr(let.E, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Const, *ir.Load, *ir.Len, *ir.Slice, *ir.SliceAt:
		case *ir.Binary:
			ok = ok && e.Op != token.QUO && e.Op != token.REM
		default:
			ok = false
		}
		return ok
	})
	return ok
}
