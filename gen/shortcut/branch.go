package shortcut

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// A completer completes the branches of one function.
type completer struct {
	program   *Program
	facts     *activity.Facts
	f         *ir.Func
	names     *ir.Namer
	addressed map[*ir.Var]bool // variables whose address is taken
}

// A frame is the context of a statement: the statements after it in its block, complete, the statement that contains
// the block, nil for the body of the function, and the context of that.
type frame struct {
	before ir.Block // the statements before it in its block
	tail   ir.Block
	owner  ir.Stmt
	up     *frame
}

// block returns b with complete branches. It starts with the last statement, since the full side of a branch may
// include all that follows.
func (c *completer) block(b ir.Block, outer *frame) ir.Block {
	var out ir.Block
	for i := len(b) - 1; i >= 0; i-- {
		fr := &frame{before: b[:i], tail: out, owner: outer.owner, up: outer.up}
		list, ends := c.stmt(b[i], fr)
		if ends {
			out = nil
		}
		out = append(list, out...)
	}
	return out
}

// inside returns the frame for the blocks of s.
func (fr *frame) inside(s ir.Stmt) *frame { return &frame{owner: s, up: fr} }

// stmt returns s with complete branches. Ends reports that the statements after it have become a part of it.
func (c *completer) stmt(s ir.Stmt, fr *frame) (out ir.Block, ends bool) {
	strict := c.program.strict != nil && c.program.strict(packagePath(c.f))
	switch s := s.(type) {
	case *ir.If:
		branch := &ir.If{At: s.At, Cond: s.Cond, Then: c.block(s.Then, fr.inside(s)),
			Else: c.block(s.Else, fr.inside(s))}
		return c.branch(branch, fr, strict)
	case *ir.Scope:
		return ir.Block{&ir.Scope{At: s.At, L: s.L, Body: c.block(s.Body, fr.inside(s))}}, false
	case *ir.Loop:
		loop := *s
		loop.Body = c.block(s.Body, fr.inside(s))
		return ir.Block{&loop}, false
	case *ir.Call:
		if callee := c.facts.Callee(s); callee != nil {
			if g := c.program.complete(callee); g != callee.Func {
				call := *s
				call.Callee = &ir.Callee{Func: g}
				return ir.Block{&call}, false
			}
		}
	}
	if strict {
		ir.EachExpr(s, func(e ir.Expr) {
			if c.comparesExactly(e) {
				c.refuse(s, "its result is used")
			}
		})
	}
	return ir.Block{s}, false
}

// refuse records that a branch of the function is not followed.
func (c *completer) refuse(s ir.Stmt, why string) {
	if c.program.errs[c.facts] == nil {
		c.program.errs[c.facts] = &Error{c.f.Name, s.Position(), "it compares a number that carries derivatives with " +
			"a constant for being equal, where its derivative may not be that of the branch: " + why}
	}
}

// branch completes an if statement whose blocks are complete.
func (c *completer) branch(s *ir.If, fr *frame, strict bool) (ir.Block, bool) {
	if !c.comparesExactly(s.Cond) {
		return ir.Block{s}, false
	}
	atoms := 0
	out := *s
	ends := false
	var why string
	complete := func(cond []conjunction, shortcut, full ir.Block) (ir.Block, bool) {
		if !slices.ContainsFunc(cond, conjunction.hasEquality) {
			return nil, false
		}
		atoms++
		g := &sides{c: c, s: s, fr: fr, shortcut: shortcut, full: full}
		b, ok := g.complete(cond)
		if ok && !panics(shortcut) && !panics(full) {
			c.program.changed[c.facts] = true
		}
		if !ok && why == "" && !c.reports(shortcut, full) {
			why = g.failure
		}
		ends = ends || g.ends
		return b, ok
	}
	if b, ok := complete(c.normalForm(s.Cond, false), s.Then, s.Else); ok {
		out.Then = b
	}
	if b, ok := complete(c.normalForm(s.Cond, true), s.Else, s.Then); ok {
		out.Else = b
	}
	if atoms == 0 && why == "" {
		why = "the comparison is part of another expression"
	}
	if strict && why != "" {
		c.refuse(s, why)
	}
	return ir.Block{&out}, ends
}

// A sides is a branch whose shortcut is taken where numbers with derivatives equal constants.
type sides struct {
	c              *completer
	s              *ir.If
	fr             *frame
	shortcut, full ir.Block
	failure        string
	ends           bool
}

// trailing returns b without a leave at its end, and its label.
func trailing(b ir.Block) (ir.Block, *ir.Label) {
	if len(b) > 0 {
		if l, ok := b[len(b)-1].(*ir.Leave); ok {
			return b[:len(b)-1], l.L
		}
	}
	return b, nil
}

// panics reports whether b ends by a panic.
func panics(b ir.Block) bool {
	if len(b) == 0 {
		return false
	}
	_, ok := b[len(b)-1].(*ir.Panic)
	return ok
}

// complete returns the shortcut with the derivatives of the full side, where cond, in disjunctive normal form, is
// the condition for the shortcut.
func (g *sides) complete(cond []conjunction) (ir.Block, bool) {
	// A function that panics on one side has no derivative, or none elsewhere.
	if panics(g.shortcut) || panics(g.full) {
		return g.shortcut, true
	}
	shortcut, end := trailing(g.shortcut)
	full, other := trailing(g.full)
	extended := false
	switch {
	case end == other:
	case other == nil:
		rest, ok := g.fr.rest(end, g.c.f.Exit)
		if !ok {
			g.failure = "the shortcut ends a loop"
			return nil, false
		}
		full = append(slices.Clip(full), rest...)
	case end == nil:
		rest, ok := g.fr.rest(other, g.c.f.Exit)
		if !ok {
			g.failure = "the full side ends a loop"
			return nil, false
		}
		shortcut, end, extended = append(slices.Clip(shortcut), rest...), other, true
	default:
		g.failure = "its sides end different statements"
		return nil, false
	}
	var plain, equal []conjunction
	for _, a := range cond {
		if slices.ContainsFunc(a, func(x atom) bool { return x.opaque }) {
			g.failure = "it compares an expression"
			return nil, false
		}
		if a.hasEquality() {
			equal = append(equal, a)
		} else {
			plain = append(plain, a)
		}
	}
	var out ir.Block
	for i := len(equal) - 1; i >= 0; i-- {
		b, ok := g.agree(shortcut, full, end, equal[i])
		if !ok {
			return nil, false
		}
		if out == nil {
			out = b
		} else {
			out = ir.Block{&ir.If{At: g.s.At, Cond: equal[i].cond(), Then: b, Else: out}}
		}
	}
	for i := len(plain) - 1; i >= 0; i-- {
		then := g.c.renamed(shortcut)
		if i == 0 && !extended {
			then = shortcut
		}
		out = ir.Block{&ir.If{At: g.s.At, Cond: plain[i].cond(), Then: then, Else: out}}
	}
	if end != nil {
		out = append(out, &ir.Leave{At: g.s.At, L: end})
	}
	// The statements after the shortcut are a part of it, and the full side has its own end.
	g.ends = extended
	return out, true
}

// reports reports whether the function tells its caller that the shortcut was taken: the shortcut assigns a constant to
// a result of type bool, as a factorisation does at a zero pivot, and the full side does not, or if the shortcut leaves
// the function, another assignment to the result differs. The numbers that are returned then are others by intention,
// and have the derivatives of the shortcut.
func (c *completer) reports(shortcut, full ir.Block) bool {
	// value returns the constant bool that s assigns to the result v.
	value := func(s ir.Stmt, v *ir.Var) (value, known bool) {
		set, ok := s.(*ir.Set)
		if !ok || set.P.Root != v || len(set.P.Path) > 0 {
			return false, false
		}
		k, ok := set.E.(*ir.Const)
		return ok && k.Val != nil && constant.BoolVal(k.Val), ok
	}
	_, end := trailing(shortcut)
	for _, v := range c.f.Results {
		if !ir.HasInfo(v.Type, types.IsBoolean) {
			continue
		}
		i := slices.IndexFunc(shortcut, func(s ir.Stmt) bool { _, ok := value(s, v); return ok })
		if i < 0 {
			continue
		}
		is, _ := value(shortcut[i], v)
		if end != c.f.Exit {
			return !assigned(full, v)
		}
		differs := false
		ir.Walk(c.f.Body, func(s ir.Stmt) bool {
			if p := ir.Target(s); p != nil && p.Root == v {
				if other, known := value(s, v); !known || other != is {
					differs = true
				}
			}
			return !differs
		})
		return differs
	}
	return false
}

// rest returns the statements from that of fr to the end of the statement that l labels. Ok is false if it is the end
// of a loop around it, or if exit, the label of the function, is the end of one of its loops.
func (fr *frame) rest(l, exit *ir.Label) (out ir.Block, ok bool) {
	out = slices.Clip(fr.tail)
	for {
		switch o := fr.owner.(type) {
		case nil:
			return out, l == exit
		case *ir.If:
		case *ir.Scope:
			if o.L == l {
				return out, true
			}
			out = ir.Block{&ir.Scope{At: o.At, L: o.L, Body: out}}
		case *ir.Loop:
			return out, o.Next == l
		default:
			return nil, false
		}
		fr = fr.up
		out = append(slices.Clip(out), fr.tail...)
	}
}

// agree returns the shortcut with the derivatives of the full side if both agree where a holds.
func (g *sides) agree(shortcut, full ir.Block, end *ir.Label, a conjunction) (ir.Block, bool) {
	c := g.c
	at := &env{vals: map[*ir.Var]value{}}
	for _, v := range c.f.Results {
		if ir.IsContinuous(v.Type) && !g.fr.assigned(v) {
			at.vals[v] = value{kind: exact, c: constant.MakeInt64(0)}
		}
	}
	var inMemory []equality
	for _, x := range a {
		if x.passive != nil {
			at.vals[x.passive] = value{kind: exact, c: x.c}
		}
		if x.place == nil {
			continue
		}
		if g.fr.ordersAt(x.place, x.c) {
			g.failure = "another condition compares the number with the constant for order"
			return nil, false
		}
		if len(x.place.Path) > 0 {
			inMemory = append(inMemory, equality{x.place, x.c})
			continue
		}
		at.vals[x.place.Root] = value{kind: exact, c: x.c, assumed: true}
		if p := g.fr.origin(x.place.Root); p != nil {
			inMemory = append(inMemory, equality{p, x.c})
		}
	}
	k := c.newRegion(shortcut, end, inMemory, plain)
	values, atEnd := k.run(shortcut, at)
	if g.failure = k.failure; g.failure != "" {
		return nil, false
	}
	var o *region
	var body ir.Block
	var first string
	for _, m := range []mode{deferred, immediate} {
		o = c.newRegion(full, end, inMemory, m)
		var after *env
		body, after = o.run(full, at)
		if g.failure = o.failure; g.failure == "" && m == deferred {
			g.failure = o.conflict()
		}
		if g.failure == "" && (after == nil || atEnd == nil) {
			g.failure = "one side does not end"
		}
		if g.failure == "" {
			g.failure = g.compare(o, k, after, atEnd, end)
		}
		if g.failure == "" {
			break
		}
		if first == "" {
			first = g.failure
		}
	}
	if g.failure != "" {
		g.failure = first
		return nil, false
	}
	if rest, l := trailing(body); l != nil && l == end {
		body = rest
	}
	// The shortcut runs after the full side and sees its own copies of variables that do not outlive them.
	copied := map[*ir.Var]*ir.Var{}
	for _, v := range sortedVars(o.assigned) {
		if !readsAny(shortcut, map[*ir.Var]bool{v: true}) {
			continue
		}
		if !g.discarded(v, end) {
			g.failure = "the shortcut reads " + v.Name + ", which both sides assign"
			return nil, false
		}
		w := *v
		w.Name, w.Kind, w.Object = c.names.Name(v.Name), ir.Local, nil
		c.copies(&w, v)
		copied[v] = &w
	}
	if o.mode == immediate && len(o.stores) > 0 && readsMemoryIn(shortcut) {
		g.failure = "the shortcut reads memory that both sides assign"
		return nil, false
	}
	if len(copied) > 0 {
		m := ir.Map{Var: ir.Renaming(copied)}
		body = m.Block(body)
		for _, v := range sortedVars(o.assigned) {
			if w := copied[v]; w != nil {
				body = append(ir.Block{&ir.Let{At: g.s.At, V: w, E: v.Load()}}, body...)
			}
		}
	}
	if len(values) > 0 && o.leavesEnd {
		l := &ir.Label{Name: c.names.Name("full")}
		m := ir.Map{Label: ir.Renaming(map[*ir.Label]*ir.Label{end: l})}
		body = ir.Block{&ir.Scope{At: g.s.At, L: l, Body: m.Block(body)}}
	}
	return c.renamed(append(body, values...)), true
}

// compare returns how the full side and the shortcut differ, empty if they agree.
func (g *sides) compare(o, k *region, after, atEnd *env, end *ir.Label) string {
	vars := maps.Clone(o.assigned)
	maps.Copy(vars, k.assigned)
	for v := range vars {
		if g.discarded(v, end) {
			continue
		}
		x, y := o.lookup(after, v), k.lookup(atEnd, v)
		if !x.equal(y) || (after.stored || atEnd.stored) && x.kind == symbolic && readsMemory(x.e) {
			return fmt.Sprintf("nothing shows that both sides give %s the same value", v.Name)
		}
	}
	for _, e := range append(slices.Clip(o.stores), k.stores...) {
		same := func(x ir.Expr) bool { return equal(x, e) }
		if !slices.ContainsFunc(o.stores, same) || !slices.ContainsFunc(k.stores, same) {
			return "nothing shows that both sides store the same values to memory"
		}
	}
	return ""
}

// discarded reports whether the value of v is not read after both sides, which end where end says.
func (g *sides) discarded(v *ir.Var, end *ir.Label) bool {
	return v.Kind != ir.Result && !g.c.addressed[v] && (end == g.c.f.Exit || g.fr.isDead(v, end))
}

// sortedVars returns the variables in a set in the order of their names.
func sortedVars(set map[*ir.Var]bool) []*ir.Var {
	return slices.SortedFunc(maps.Keys(set), func(a, b *ir.Var) int { return strings.Compare(a.Name, b.Name) })
}

// ordersAt reports whether a condition around the statement or before it compares p with c for order, as one of an
// absolute value does: c is a kink then.
func (fr *frame) ordersAt(p *ir.Place, c constant.Value) bool {
	orders := func(s ir.Stmt) (found bool) {
		branch, ok := s.(*ir.If)
		if !ok {
			return false
		}
		ir.WalkExpr(branch.Cond, func(e ir.Expr) bool {
			b, ok := e.(*ir.Binary)
			if !ok || b.Op != token.LSS && b.Op != token.GTR && b.Op != token.LEQ && b.Op != token.GEQ {
				return !found
			}
			for _, pair := range [][2]ir.Expr{{b.X, b.Y}, {b.Y, b.X}} {
				l, isLoad := pair[0].(*ir.Load)
				k, isConst := pair[1].(*ir.Const)
				found = found || isLoad && isConst && equalPlace(l.P, p) &&
					constant.Compare(numberOf(k), token.EQL, c)
			}
			return !found
		})
		return found
	}
	for ; fr != nil; fr = fr.up {
		if slices.ContainsFunc(fr.before, orders) || fr.owner != nil && orders(fr.owner) {
			return true
		}
	}
	return false
}

// isDead reports whether v is not read after the end of the statement that end labels, or of that of fr if end is nil,
// before it is declared again.
func (fr *frame) isDead(v *ir.Var, end *ir.Label) bool {
	reads := func(b ir.Block) bool { return readsAny(b, map[*ir.Var]bool{v: true}) }
	for past := end == nil; fr != nil; fr = fr.up {
		if past && reads(fr.tail) {
			return false
		}
		if declares(fr.before, v) {
			return true
		}
		switch o := fr.owner.(type) {
		case *ir.Scope:
			past = past || o.L == end
		case *ir.Loop:
			// The next iteration may read it, unless it declares it.
			if !declares(o.Body, v) && (o.Next == end || past) {
				past = true
				if reads(o.Body) {
					return false
				}
			}
		}
	}
	return false
}

// declares reports whether a statement of b itself declares v.
func declares(b ir.Block, v *ir.Var) bool {
	return slices.ContainsFunc(b, func(s ir.Stmt) bool {
		d, ok := s.(*ir.Let)
		return ok && d.V == v
	})
}

// assigned reports whether a statement before that of fr may assign to v.
func (fr *frame) assigned(v *ir.Var) bool {
	for ; fr != nil; fr = fr.up {
		if _, ok := fr.owner.(*ir.Loop); ok || assigned(fr.before, v) {
			return true
		}
	}
	return false
}

// origin returns the place that v was loaded from, right before the branch and with no store in between; nil if there
// is none.
func (fr *frame) origin(v *ir.Var) *ir.Place {
	for i := len(fr.before) - 1; i >= 0; i-- {
		d, ok := fr.before[i].(*ir.Let)
		if !ok {
			return nil
		}
		if d.V == v {
			l, ok := d.E.(*ir.Load)
			if !ok || len(l.P.Path) == 0 {
				return nil
			}
			return l.P
		}
	}
	return nil
}

// readsAny reports whether b reads one of vars.
func readsAny(b ir.Block, vars map[*ir.Var]bool) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			found = found || mentions(e, func(v *ir.Var) bool { return vars[v] })
		})
		return !found
	})
	return found
}

// readsMemoryIn reports whether b reads memory.
func readsMemoryIn(b ir.Block) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) { found = found || readsMemory(e) })
		return !found
	})
	return found
}

// renamed returns a copy of b with new variables and labels for those that it declares.
func (c *completer) renamed(b ir.Block) ir.Block {
	vars, labels := map[*ir.Var]*ir.Var{}, map[*ir.Label]*ir.Label{}
	declare := func(v *ir.Var) {
		if v != nil {
			w := *v
			w.Name = c.names.Name(v.Name)
			vars[v] = &w
			c.copies(&w, v)
		}
	}
	label := func(l *ir.Label) { labels[l] = &ir.Label{Name: c.names.Name(l.Name)} }
	ir.Walk(b, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			declare(s.V)
		case *ir.Scope:
			label(s.L)
		case *ir.Loop:
			declare(s.V)
			label(s.L)
			label(s.Next)
		}
		return true
	})
	m := ir.Map{Var: ir.Renaming(vars), Label: ir.Renaming(labels)}
	return m.Block(b)
}
