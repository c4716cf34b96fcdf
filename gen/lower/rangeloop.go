package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Range loops over integers, arrays, slices and strings. All become counted loops. The operand is
// evaluated once: it is copied unless the body cannot change it.

// isTrue reports whether c is true.
func isTrue(c *ir.Const) bool {
	return c.Val != nil && c.Val.Kind() == constant.Bool && constant.BoolVal(c.Val)
}

// A rangeLoop is a range loop that is being lowered.
type rangeLoop struct {
	s          *ast.RangeStmt
	loop       *ir.Loop
	key, value *ir.Var // variables that the loop declares, or nil
	// shared holds those of them that are declared once, before the loop, and captured or
	// addressed.
	shared map[*ir.Var]bool
}

// rangeStmt lowers a range statement by the type of its operand.
func (l *lowerer) rangeStmt(s *ast.RangeStmt, label string) {
	t := l.typeOf(s.X)
	if v := l.tableValue(s.X); v != nil && v.table.key == nil {
		l.rangeTable(s, label, v)
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsInteger != 0:
			l.rangeInt(s, label)
			return
		case u.Info()&types.IsString != 0:
			l.rangeString(s, label)
			return
		}
	case *types.Slice:
		l.rangeSlice(s, label, l.expr(s.X))
		return
	case *types.Array:
		l.rangeArray(s, label, u)
		return
	case *types.Pointer:
		if a, ok := arrayOf(u.Elem()); ok {
			l.rangePointer(s, label, a)
			return
		}
	case *types.Map:
		l.rangeMap(s, label, u)
		return
	case *types.Signature:
		l.rangeFunction(s, label)
		return
	case *types.Chan:
		l.refuse(s, "range over a channel", "channels have no derivative", "pass a slice")
		return
	}
	l.refuse(s, "range", "ranges over this type are not supported", "")
}

// beginRange declares the variables of a range loop and lowers its body.
func (l *lowerer) beginRange(s *ast.RangeStmt, label string) (*rangeLoop, ir.Block) {
	r := &rangeLoop{s: s, loop: l.newLoop(s, label), shared: map[*ir.Var]bool{}}
	declare := func(e ast.Expr) *ir.Var {
		if e == nil {
			return nil
		}
		o := l.newVar(e, s.Tok == token.DEFINE)
		if o == nil {
			return nil
		}
		v := l.local(o)
		l.bind(o, v)
		if l.facts.perLoop && l.facts.byReference(o) {
			r.shared[v] = true
			l.emit(&ir.Let{At: l.at(s), V: v})
		}
		return v
	}
	r.key, r.value = declare(s.Key), declare(s.Value)
	return r, l.loopBody(s.Body, label, r.loop.L, r.loop.Next)
}

// assign returns the assignment of e to a variable of the loop, or its declaration if it is not
// shared.
func (r *rangeLoop) assign(at ir.At, v *ir.Var, e ir.Expr) ir.Stmt {
	if r.shared[v] {
		return &ir.Set{At: at, P: &ir.Place{Root: v}, E: e}
	}
	return &ir.Let{At: at, V: v, E: e}
}

// finishRange emits a loop from 0 to hi. element returns the value for an index.
func (l *lowerer) finishRange(r *rangeLoop, body ir.Block, hi ir.Expr, element func(i ir.Expr) ir.Expr) {
	s, t := r.s, hi.Type()
	r.loop.Lo, r.loop.Hi, r.loop.Step = integer(0, t), hi, 1
	// The key is the loop index itself unless the body changes it or all iterations share it.
	r.loop.V = r.key
	var start ir.Block
	if r.key == nil || r.shared[r.key] || assigns(body, r.key) {
		r.loop.V = &ir.Var{Name: l.names.fresh("i"), Type: t, Pos: l.pos(s)}
		if r.key != nil {
			start = append(start, r.assign(l.at(s), r.key, r.loop.V.Load()))
		}
	}
	if r.value != nil {
		start = append(start, r.assign(l.at(s), r.value, element(r.loop.V.Load())))
	}
	if s.Tok == token.ASSIGN {
		start = append(start, l.block(func() {
			var places []*ir.Place
			var es []ir.Expr
			for i, e := range []ast.Expr{s.Key, s.Value} {
				if e == nil || isBlank(e) {
					continue
				}
				p := l.lvalue(e)
				if p == nil {
					continue
				}
				to, _ := placeType(p, nil)
				var v ir.Expr = r.loop.V.Load()
				if i == 1 {
					v = element(v)
				}
				places, es = append(places, p), append(es, l.coerce(v, to, s))
			}
			l.parallel(s, places, es)
		})...)
	}
	r.loop.Body = append(start, body...)
	l.emit(r.loop)
}

// usesValue reports whether a range loop reads elements.
func usesValue(s *ast.RangeStmt) bool { return s.Value != nil && !isBlank(s.Value) }

// rangeInt lowers a range over an integer.
func (l *lowerer) rangeInt(s *ast.RangeStmt, label string) {
	hi := l.expr(s.X)
	if s.Key != nil && !isBlank(s.Key) {
		hi = l.coerce(hi, l.typeOf(s.Key), s.X)
	}
	r, body := l.beginRange(s, label)
	l.finishRange(r, body, hi, nil)
}

// rangeSlice lowers a range over the slice e.
func (l *lowerer) rangeSlice(s *ast.RangeStmt, label string, e ir.Expr) {
	r, body := l.beginRange(s, label)
	elem := e.Type().Underlying().(*types.Slice).Elem()
	v := l.invariantPlace(s, "s", e, body, false)
	n := &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: ir.LoadOf(v, e.Type())}
	l.finishRange(r, body, n, func(i ir.Expr) ir.Expr { return ir.LoadOf(ir.Extend(v, ir.IndexStep(i)), elem) })
}

// invariantPlace returns a place that holds the value of e throughout body: the place that e reads,
// if the body does not change it, otherwise a temporary. path permits a place other than a
// variable.
func (l *lowerer) invariantPlace(n *ast.RangeStmt, name string, e ir.Expr, body ir.Block, path bool) *ir.Place {
	// If the loop assigns to existing variables, these may be part of the operand.
	if x, ok := e.(*ir.Load); ok && n.Tok != token.ASSIGN && (path || len(x.P.Path) == 0) && !l.clobbers(body, x) {
		return x.P
	}
	return &ir.Place{Root: l.temp(n, name, e.Type(), e)}
}

// rangeArray lowers a range over an array, which is copied unless it is invariant.
func (l *lowerer) rangeArray(s *ast.RangeStmt, label string, a *types.Array) {
	n := integer(a.Len(), types.Typ[types.Int])
	if !usesValue(s) {
		if _, ok := l.plainCall(s.X); ok {
			l.expr(s.X)
		}
		r, body := l.beginRange(s, label)
		l.finishRange(r, body, n, nil)
		return
	}
	e := l.expr(s.X)
	r, body := l.beginRange(s, label)
	p := l.invariantPlace(s, "a", e, body, true)
	l.finishRange(r, body, n, func(i ir.Expr) ir.Expr { return ir.LoadOf(ir.Extend(p, ir.IndexStep(i)), a.Elem()) })
}

// rangePointer lowers a range over a pointer to an array.
func (l *lowerer) rangePointer(s *ast.RangeStmt, label string, a *types.Array) {
	e := l.expr(s.X)
	r, body := l.beginRange(s, label)
	n := integer(a.Len(), types.Typ[types.Int])
	if !usesValue(s) {
		l.finishRange(r, body, n, nil)
		return
	}
	p := ir.Extend(l.invariantPlace(s, "p", e, body, false), ir.DerefStep())
	l.finishRange(r, body, n, func(i ir.Expr) ir.Expr { return ir.LoadOf(ir.Extend(p, ir.IndexStep(i)), a.Elem()) })
}

// rangeString lowers a range over the runes of a string. Their positions are refused, since the
// slice of runes that replaces the string does not have them.
func (l *lowerer) rangeString(s *ast.RangeStmt, label string) {
	if s.Key != nil && !isBlank(s.Key) {
		l.refuse(s, "range over a string with positions", "the intermediate representation has no such loop",
			"range over []rune(s) or []byte(s)")
		return
	}
	runes := types.NewSlice(types.Universe.Lookup("rune").Type())
	l.rangeSlice(s, label, &ir.Convert{Typed: ir.Typed{T: runes}, X: l.expr(s.X)})
}
