package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

func isTrue(c *ir.Const) bool {
	return c.Val != nil && c.Val.Kind() == constant.Bool && constant.BoolVal(c.Val)
}

// ranging is a range loop that is being lowered.
type ranging struct {
	s          *ast.RangeStmt
	loop       *ir.Loop
	key, value *ir.Var // that the loop declares
	// before says which of them all iterations share, declared before the loop.
	before map[*ir.Var]bool
}

func (l *lowerer) rangeStmt(s *ast.RangeStmt, label string) {
	t := l.typeOf(s.X)
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
		l.refuse(s, "range over a map", "its order is not the same twice", "range over a slice of keys")
		return
	case *types.Signature:
		l.rangeFunction(s, label)
		return
	case *types.Chan:
		l.refuse(s, "range over a channel", "channels have no derivative", "pass a slice")
		return
	}
	l.refuse(s, "range", "what it goes over is not known", "")
}

// begin declares the variables of a range loop and lowers its body.
func (l *lowerer) begin(s *ast.RangeStmt, label string) (*ranging, ir.Block) {
	r := &ranging{s: s, loop: l.newLoop(s, label), before: map[*ir.Var]bool{}}
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
			r.before[v] = true
			l.emit(&ir.Let{At: l.at(s), V: v})
		}
		return v
	}
	r.key, r.value = declare(s.Key), declare(s.Value)
	return r, l.loopBody(s.Body, label, r.loop.L, r.loop.Next)
}

// assign gives a variable of the loop its value in an iteration, and declares it there
// unless all iterations share it.
func (r *ranging) assign(at ir.At, v *ir.Var, e ir.Expr) ir.Stmt {
	if r.before[v] {
		return &ir.Set{At: at, P: &ir.Place{Root: v}, E: e}
	}
	return &ir.Let{At: at, V: v, E: e}
}

// finish emits a loop from 0 to hi, whose element at an index is what element gives.
func (l *lowerer) finish(r *ranging, body ir.Block, hi ir.Expr, element func(i ir.Expr) ir.Expr) {
	s, t := r.s, hi.Type()
	r.loop.Lo, r.loop.Hi, r.loop.Step = integer(0, t), hi, 1
	r.loop.V = r.key
	var start ir.Block
	if r.key == nil || r.before[r.key] || assigns(body, r.key) {
		r.loop.V = &ir.Var{Name: l.names.fresh("i"), Type: t, Pos: l.pos(s)}
		if r.key != nil {
			start = append(start, r.assign(l.at(s), r.key, loadVar(r.loop.V)))
		}
	}
	if r.value != nil {
		start = append(start, r.assign(l.at(s), r.value, element(loadVar(r.loop.V))))
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
				to, _ := cell(p, nil)
				var v ir.Expr = loadVar(r.loop.V)
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

// wantsValue says whether a range loop reads elements.
func wantsValue(s *ast.RangeStmt) bool { return s.Value != nil && !isBlank(s.Value) }

func (l *lowerer) rangeInt(s *ast.RangeStmt, label string) {
	hi := l.expr(s.X)
	if s.Key != nil && !isBlank(s.Key) {
		hi = l.coerce(hi, l.typeOf(s.Key), s.X)
	}
	r, body := l.begin(s, label)
	l.finish(r, body, hi, nil)
}

func (l *lowerer) rangeSlice(s *ast.RangeStmt, label string, e ir.Expr) {
	r, body := l.begin(s, label)
	elem := e.Type().Underlying().(*types.Slice).Elem()
	v := l.keep(s, "s", e, body, false)
	n := &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: load(v, e.Type())}
	l.finish(r, body, n, func(i ir.Expr) ir.Expr { return load(step(v, ir.IndexStep(i)), elem) })
}

// keep is a place that has the value e throughout body: the one that e reads, if that
// does not change, or else a variable.
func (l *lowerer) keep(n *ast.RangeStmt, name string, e ir.Expr, body ir.Block, path bool) *ir.Place {
	// Variables that are only assigned to could be a part of what is gone over.
	if x, ok := e.(*ir.Load); ok && n.Tok != token.ASSIGN && (path || len(x.P.Path) == 0) && !l.clobbers(body, x) {
		return x.P
	}
	return &ir.Place{Root: l.temp(n, name, e.Type(), e)}
}

func (l *lowerer) rangeArray(s *ast.RangeStmt, label string, a *types.Array) {
	n := integer(a.Len(), types.Typ[types.Int])
	if !wantsValue(s) {
		if _, ok := l.plainCall(s.X); ok {
			l.expr(s.X)
		}
		r, body := l.begin(s, label)
		l.finish(r, body, n, nil)
		return
	}
	e := l.expr(s.X)
	r, body := l.begin(s, label)
	p := l.keep(s, "a", e, body, true)
	l.finish(r, body, n, func(i ir.Expr) ir.Expr { return load(step(p, ir.IndexStep(i)), a.Elem()) })
}

func (l *lowerer) rangePointer(s *ast.RangeStmt, label string, a *types.Array) {
	e := l.expr(s.X)
	r, body := l.begin(s, label)
	n := integer(a.Len(), types.Typ[types.Int])
	if !wantsValue(s) {
		l.finish(r, body, n, nil)
		return
	}
	p := step(l.keep(s, "p", e, body, false), ir.DerefStep())
	l.finish(r, body, n, func(i ir.Expr) ir.Expr { return load(step(p, ir.IndexStep(i)), a.Elem()) })
}

// rangeString goes over the runes of a string. Their positions are not to be had from a
// slice of them.
func (l *lowerer) rangeString(s *ast.RangeStmt, label string) {
	if s.Key != nil && !isBlank(s.Key) {
		l.refuse(s, "range over a string with positions", "it has no place in the intermediate form",
			"range over []rune(s) or []byte(s)")
		return
	}
	runes := types.NewSlice(types.Universe.Lookup("rune").Type())
	l.rangeSlice(s, label, &ir.Convert{Typed: ir.Typed{T: runes}, X: l.expr(s.X)})
}
