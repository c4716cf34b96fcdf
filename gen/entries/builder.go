package entries

import (
	"fmt"
	"go/token"
	"maps"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
)

// A builder writes one of the functions of [Entries].
type builder struct {
	ir.Writer
	*analysis
	of       Linear
	names    *ir.Namer
	planning bool // it writes the plan function
	grown    bool // forms did not fit into the slots, which have grown

	inputs                []ir.Expr // on which the plan depends, nil if rows and columns are compared
	plan, values, changed *ir.Var
	limit                 *ir.Var
	exit                  *ir.Label // of the function, left where the plan does not fit
	statements, blocks    int
	read                  int // words of the plan that have been read and not dropped

	forms map[*ir.Var]form  // of dots that are assigned once
	views map[*ir.Var]*view // of slices that are dots
	held  map[*ir.Var]*held // the slots of mutable dots
	only  *substitute

	current map[*ir.Var]*form  // of mutable dots, where the last assignment on each path here is the same
	indices map[slotID]*ir.Var // of private slots
	events  []event            // of private slots, in order
	lists   []*list

	made  bool // the slice of the image has been made
	loops int  // the number of loops around the current statement

	scopes   []*scope
	declared map[*ir.Var]declaration
	versions map[*ir.Var]int // of mutable variables: how often they have been assigned
	copies   map[*ir.Var]copied
}

// A view is a part of the direction or, if out is set, of its image.
type view struct {
	out  bool
	base ir.Expr // the index of its first element: a constant or a variable
	n    ir.Expr // its length, a constant or a variable; nil if unknown
}

func newBuilder(l Linear, a *analysis, planning bool) *builder {
	b := &builder{
		of: l, analysis: a, planning: planning, names: ir.NamerOf(l.F),
		forms: map[*ir.Var]form{}, views: map[*ir.Var]*view{}, held: map[*ir.Var]*held{},
		indices: map[slotID]*ir.Var{}, current: map[*ir.Var]*form{},
		declared: map[*ir.Var]declaration{}, versions: map[*ir.Var]int{}, copies: map[*ir.Var]copied{},
	}
	b.scopes = []*scope{{indices: map[string]*ir.Var{}}}
	for _, v := range append(append([]*ir.Var(nil), l.F.Params...), l.F.Results...) {
		b.declare(v)
	}
	for _, v := range []*ir.Var{l.In, l.InLike, l.Out, l.OutLike} {
		if a.mutable[v] && v.Kind == ir.Param {
			b.refuse("it assigns to the parameter %s", v.Name)
		}
	}
	b.views[l.In] = &view{base: ir.Count(0), n: ir.LenOf(l.InLike.Load())}
	if l.Out.Kind == ir.Param {
		b.views[l.Out] = &view{out: true, base: ir.Count(0), n: ir.LenOf(l.OutLike.Load())}
	}
	return b
}

// refuse panics with an Error, which Build returns.
func (b *builder) refuse(format string, args ...any) {
	panic(&Error{Func: b.of.F.Name, What: fmt.Sprintf(format, args...), Pos: b.At.Pos})
}

// block translates a nested block.
func (b *builder) block(in ir.Block) ir.Block {
	return b.scoped(nil, func() { b.Emit(b.EachStmt(in, b.stmt)...) })
}

// scoped returns the statements that write emits as a block, which declares v unless that is nil.
func (b *builder) scoped(v *ir.Var, write func()) ir.Block {
	b.blocks++
	b.events = append(b.events, event{blocks: true})
	b.scopes = append(b.scopes, &scope{id: b.blocks, indices: map[string]*ir.Var{}})
	if v != nil {
		b.declare(v)
	}
	outer := b.read
	b.read = 0
	out := b.Nested(func() {
		write()
		if !ir.EndsInJump(b.Out) {
			b.flush()
		}
	})
	b.read = outer
	b.scopes = b.scopes[:len(b.scopes)-1]
	return out
}

// stmt translates a statement.
func (b *builder) stmt(s ir.Stmt) {
	if b.statements++; b.statements > maxStatements {
		b.refuse("it is too long")
	}
	switch s.(type) {
	case *ir.If, *ir.Scope, *ir.Loop, *ir.Leave:
		b.flush()
	}
	switch s := s.(type) {
	case *ir.Let:
		if b.dots[s.V] {
			b.letDot(s)
			return
		}
		b.Emit(&ir.Let{At: s.At, V: s.V, E: b.passive(s.E)})
		b.declare(s.V)
		return
	case *ir.Set:
		if b.dots[s.P.Root] {
			b.setDot(s)
			return
		}
		b.assigned(s.P)
	case *ir.Add:
		if b.dots[s.P.Root] {
			b.addDot(s)
			return
		}
		b.assigned(s.P)
	case *ir.If:
		if b.mentionsDot(s.Cond) {
			b.strongZero(s)
			return
		}
		c := &ir.If{At: s.At, Cond: b.passive(s.Cond)}
		before := maps.Clone(b.current)
		c.Then = b.block(s.Then)
		then := b.current
		b.current = before
		c.Else = b.block(s.Else)
		maps.DeleteFunc(b.current, func(v *ir.Var, f *form) bool { return then[v] != f })
		b.Emit(c)
		return
	case *ir.Scope:
		before := maps.Clone(b.current)
		b.Emit(&ir.Scope{At: s.At, L: s.L, Body: b.block(s.Body)})
		// The scope may be left before the last assignment in it.
		maps.DeleteFunc(b.current, func(v *ir.Var, f *form) bool { return before[v] != f })
		return
	case *ir.Loop:
		b.loop(s)
		return
	case *ir.Clear:
		if b.readsDot(s.S) {
			b.clear(s)
			return
		}
	case *ir.Copy:
		if b.readsDot(s.Dst) || b.readsDot(s.Src) {
			b.copy(s)
			return
		}
	}
	b.Emit(b.rewritten(s))
	ir.EachResult(s, b.bump)
	if s, ok := s.(*ir.Append); ok {
		b.assigned(s.P)
	}
}

// rewritten returns a statement without blocks, in which no dot may be left.
func (b *builder) rewritten(s ir.Stmt) ir.Stmt {
	m := &ir.Map{Expr: b.replaced}
	out := m.Block(ir.Block{s})[0]
	ir.EachExpr(out, func(e ir.Expr) {
		if b.mentionsDot(e) {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil {
				b.refuse("a call of %s", c.Callee.Func.Name)
			}
			b.refuse("a %T takes derivatives", s)
		}
	})
	return out
}

// passive returns e, which does not depend on the direction, without lengths of dots.
func (b *builder) passive(e ir.Expr) ir.Expr {
	if e == nil {
		return nil
	}
	e = (&ir.Map{Expr: b.replaced}).RewriteExpr(e)
	if b.mentionsDot(e) {
		b.refuse("a value is computed from derivatives")
	}
	return e
}

// replaced returns the length of a view for an expression that is one.
func (b *builder) replaced(e ir.Expr) ir.Expr {
	n, ok := e.(*ir.Len)
	if !ok || n.Cap || !b.readsDot(n.X) {
		return e
	}
	if v := b.view(n.X); v.n != nil {
		return v.n
	}
	b.refuse("the length of derivatives")
	return nil
}

func (b *builder) loop(s *ir.Loop) {
	l := *s
	l.Lo, l.Hi = b.passive(s.Lo), b.passive(s.Hi)
	ir.Walk(s.Body, func(s ir.Stmt) bool { // an index of the iteration before is not one of this
		if p := ir.Target(s); p != nil {
			b.assigned(p)
			b.reassigned(p.Root)
		}
		ir.EachResult(s, b.bump)
		return true
	})
	b.loops++
	clear(b.current)
	l.Body = b.scoped(s.V, func() { b.Emit(b.EachStmt(s.Body, b.stmt)...) })
	b.loops--
	clear(b.current)
	b.Emit(&l)
}

// letDot translates the declaration of a dot.
func (b *builder) letDot(s *ir.Let) {
	switch {
	case isFloats(s.V.Type):
		if _, ok := s.E.(*ir.Make); ok {
			b.make()
			b.views[s.V] = &view{out: true, base: ir.Count(0)}
			if b.mutable[s.V] {
				b.refuse("the slice of results is assigned twice")
			}
			return
		}
		v := b.view(s.E)
		w := &view{out: v.out, base: v.base}
		if b.mutable[s.V] {
			at := b.let(s.V.Name+"At", v.base)
			b.mutable[at] = true
			w.base = at.Load()
		} else {
			w.base = b.index(v.base, nil)
			if v.n != nil {
				w.n = b.atom(v.n, s.V.Name+"Len")
			}
		}
		b.views[s.V] = w
	case !ir.IsFloat(s.V.Type):
		b.refuse("derivatives of type %s", s.V.Type)
	case b.mutable[s.V]:
		b.declare(s.V)
		b.hold(s.V)
		var f form
		if s.E != nil {
			f = b.linearOf(s.E)
		}
		b.fill(s.V, f, true)
	default:
		var f form
		if s.E != nil {
			f = b.linearOf(s.E)
		}
		b.forms[s.V] = b.bound(f, s.V.Name)
	}
}

// linearOf is linear for a form that is stored, which has a limited length.
func (b *builder) linearOf(e ir.Expr) form {
	f := b.linear(e)
	if len(f) > maxTerms {
		b.refuse("a number depends on more than %d inputs", maxTerms)
	}
	return f
}

// bound returns f with coefficients and indices that later assignments do not change.
func (b *builder) bound(f form, name string) form {
	out := make(form, len(f))
	for i, t := range f {
		if t.by = b.atom(t.by, name); t.list == nil {
			t.index = b.atom(t.index, "at")
		}
		out[i] = t
	}
	return out
}

// setDot translates the assignment to a dot.
func (b *builder) setDot(s *ir.Set) {
	root := s.P.Root
	switch {
	case len(s.P.Path) == 1 && isFloats(root.Type):
		b.store(s.P, b.linear(s.E), false)
	case len(s.P.Path) > 0:
		b.refuse("derivatives in memory other than the results")
	case root == b.of.Out: // a result
		if _, ok := s.E.(*ir.Make); ok {
			b.make()
			b.views[root] = &view{out: true, base: ir.Count(0)}
			return
		}
		v := b.view(s.E)
		if n, ok := constant(v.base); !v.out || !ok || n != 0 {
			b.refuse("a result is a part of a slice")
		}
	case isFloats(root.Type):
		v, w := b.view(s.E), b.views[root]
		if w == nil || v.out != w.out {
			b.refuse("a slice of derivatives is one of inputs and of outputs")
		}
		b.Emit(&ir.Set{At: s.At, P: ir.VarOf(w.base).Place(), E: v.base})
		b.bump(ir.VarOf(w.base))
	default:
		b.fill(root, b.linearOf(s.E), false)
	}
}

// addDot translates an addition to a dot.
func (b *builder) addDot(s *ir.Add) {
	if elementary.IsSkip(s.E) {
		b.skip(s.E)
		return
	}
	f := b.linear(s.E)
	switch {
	case len(s.P.Path) == 1 && isFloats(s.P.Root.Type):
		b.store(s.P, f, true)
	case len(s.P.Path) > 0:
		b.refuse("derivatives in memory other than the results")
	default:
		b.fill(s.P.Root, b.load(s.P.Root.Load()).add(f), false)
	}
}

// make notes that the slice of the image is made.
func (b *builder) make() {
	if b.made || b.loops > 0 || b.of.Out.Kind != ir.Result {
		b.refuse("derivatives in memory other than the results")
	}
	b.made = true
}

// view returns the part of the direction or its image that e is.
func (b *builder) view(e ir.Expr) *view {
	switch e := e.(type) {
	case *ir.Load:
		if v := b.views[e.P.Root]; v != nil && len(e.P.Path) == 0 {
			return v
		}
	case *ir.Convert:
		return b.view(e.X)
	case *ir.Slice:
		v := *b.view(e.X)
		lo, hi := b.passive(e.Lo), b.passive(e.Hi)
		if hi == nil {
			hi = v.n
		}
		if lo != nil {
			v.base = b.index(v.base, lo)
		}
		if v.n = hi; lo != nil && hi != nil {
			v.n = ir.NewBinary(intType, token.SUB, asInt(hi), asInt(lo))
		}
		return &v
	}
	b.refuse("derivatives in memory other than inputs and results")
	return nil
}

// load returns the form of a variable or of an element of the direction.
func (b *builder) load(e *ir.Load) form {
	if b.only != nil && ir.EqualPlace(e.P, b.only.place) {
		return form{b.only.term}
	}
	root := e.P.Root
	switch {
	case len(e.P.Path) == 0:
		if b.held[root] != nil {
			return b.terms(root)
		}
		if f, ok := b.forms[root]; ok {
			b.checkLists(f)
			return f
		}
	case len(e.P.Path) == 1 && isFloats(root.Type):
		v := b.views[root]
		if v != nil && v.out {
			b.refuse("a derivative of a result is read")
		}
		if v != nil {
			return form{{index: b.index(v.base, b.passive(e.P.Path[0].Index)), by: ir.FloatConst(e.T, 1)}}
		}
	}
	b.refuse("derivatives in memory other than inputs and results")
	return nil
}
