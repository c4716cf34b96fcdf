package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Loops over functions. The iterator is inlined in place of the loop, and the loop body in place of
// calls of its parameter, yield.

// A rangeFunc is a loop over a function that is being inlined.
//
// An exit from the loop body, such as break, is a leave of its target if the iterator returns
// immediately when yield returns false. Otherwise the iterator goes on, and the exit is taken when
// it returns: it is recorded in a variable, the exit code.
type rangeFunc struct {
	s     *ast.RangeStmt
	label string
	l     *lowerer // lowerer of the function that contains the loop
	stop  target   // target of break

	// For an iterator that goes on after yield returned false:
	more  *ir.Var  // result of yield
	code  *ir.Var  // exit code: 1 + the index in exits of the exit taken, 0 for the end of the loop
	exits []target // targets of exits other than the end of the loop
}

// A pendingExit is an inlined loop body whose exits are taken when its iterator returns.
type pendingExit struct {
	loop *rangeFunc
	next *ir.Label // ends the body
}

// name returns a unique name of the loop, for keys of specializations.
func (r *rangeFunc) name() string {
	return "yield@" + r.l.p.loweredKey(r.l.f) + "." + r.stop.label.Name
}

// continued is the text of the panic for an iterator that calls yield after the loop was left.
const continued = "runtime error: range function continued iteration after function for loop body returned false"

// target returns a target for a label of a statement at the current position.
func (l *lowerer) target(label *ir.Label) target {
	return target{label, len(l.inlining.pending)}
}

// leave emits a leave of to. If iterators have to return first, it sets the exit code of the
// innermost one and leaves its loop body.
func (l *lowerer) leave(n ast.Node, to target) {
	w := l.inlining.pending
	if l.unreachable() {
		return
	}
	if len(w) == to.depth {
		l.emit(&ir.Leave{At: l.at(n), L: to.label})
		return
	}
	r := w[len(w)-1].loop
	l.emit(&ir.Set{At: l.at(n), P: &ir.Place{Root: r.more}, E: truth(false)})
	if to != r.stop {
		l.emit(&ir.Set{At: l.at(n), P: &ir.Place{Root: r.code}, E: integer(r.exit(to), r.code.Type)})
	}
	l.emit(&ir.Leave{At: l.at(n), L: w[len(w)-1].next})
}

// exit returns the exit code for a target.
func (r *rangeFunc) exit(to target) int64 {
	for i, t := range r.exits {
		if t == to {
			return int64(i + 1)
		}
	}
	r.exits = append(r.exits, to)
	return int64(len(r.exits))
}

// rangeFunction lowers a loop over a function.
func (l *lowerer) rangeFunction(s *ast.RangeStmt, label string) {
	refusals := len(l.e.refusals)
	v := l.function(s.X)
	if v == nil || v.null || v.loop != nil || v.choice != nil || v.stored != nil {
		if len(l.e.refusals) == refusals {
			l.refuse(s, "range over a function", "the function is not known statically", remedyIterator)
		}
		return
	}
	in, body := l.inlineBody(s, v)
	if in == nil {
		return
	}
	name := "loop"
	if label != "" {
		name = label
	}
	r := &rangeFunc{s: s, label: label, l: l, stop: l.target(&ir.Label{Name: l.names.fresh(name)})}
	yield := v.signature().Params().At(0)
	if exitsEarly(s.Body) && !returnsWhenStopped(in.info, body, yield) {
		r.more = l.temp(s, "more", types.Typ[types.Bool], truth(true))
		r.code = l.temp(s, "way", types.Typ[types.Int], integer(0, types.Typ[types.Int]))
	}
	in.env[yield] = &binding{value: &funcValue{loop: r}}
	in.exit = r.stop
	l.emitScope(s, r.stop.label, l.block(func() {
		in.out = l.out
		in.stmts(body.List)
	}))
	for i, to := range r.exits {
		test := &ir.Binary{Typed: ir.Typed{T: types.Typ[types.Bool]}, Op: token.EQL, X: r.code.Load(),
			Y: integer(int64(i+1), r.code.Type)}
		l.emit(&ir.If{At: l.at(s), Cond: test, Then: l.block(func() { l.leave(s, to) })})
	}
}

// yield emits the body of the loop r in place of a call of yield, and returns the result of the
// call.
func (l *lowerer) yield(call *ast.CallExpr, r *rangeFunc) ir.Expr {
	result := truth(true)
	result.T = l.typeOf(call)
	if r.l.f != l.f {
		l.refuse(call, "call of the function that runs the body of a loop",
			"the loop cannot be inlined into the function that calls it", remedyIterator)
		return result
	}
	sig := l.typeOf(call.Fun).Underlying().(*types.Signature)
	args, values := l.arguments(call, call.Args, sig, l.subst)
	for i, v := range values {
		if t := l.subst.apply(sig.Params().At(i).Type()); isFuncType(t) || v != nil && v.dynamicType == nil {
			l.refuse(call, "range over a function that yields functions", "which ones is not known",
				"yield the values that they use")
			return result
		} else if v != nil {
			args[i] = &ir.Convert{Typed: ir.Typed{T: t}, X: args[i]}
		}
	}
	// The loop body is lowered in the scope of the function that contains the loop, but emitted at
	// the call of yield.
	outer := r.l
	out, env := outer.out, maps.Clone(outer.env)
	outer.out = l.out
	defer func() { outer.out, outer.env = out, env }()

	if r.more != nil {
		for i, e := range args {
			if mayPanic(e) { // the panic comes before the test
				args[i] = l.temp(call, "t", e.Type(), e).Load()
			}
		}
		// As Go's compiler does, check that the loop was not left before.
		not := &ir.Unary{Typed: ir.Typed{T: r.more.Type}, Op: token.NOT, X: r.more.Load()}
		at := outer.at(r.s)
		text := &ir.Const{Typed: ir.Typed{T: types.Typ[types.String]}, Val: constant.MakeString(continued)}
		outer.emit(&ir.If{At: at, Cond: not, Then: ir.Block{&ir.Panic{At: at, E: text}}})
	}
	next := &ir.Label{Name: l.names.fresh("next")}
	if r.more != nil {
		l.inlining.pending = append(l.inlining.pending, pendingExit{r, next})
	}
	body := outer.block(func() {
		outer.assignRange(r.s, call, args)
		outer.jumps = append(outer.jumps, jump{name: r.label, brk: r.stop, cont: outer.target(next)})
		outer.stmts(r.s.Body.List)
		outer.jumps = outer.jumps[:len(outer.jumps)-1]
	})
	if r.more != nil {
		l.inlining.pending = l.inlining.pending[:len(l.inlining.pending)-1]
	}
	outer.emitScope(r.s, next, body)
	if r.more == nil {
		return result
	}
	return outer.temp(r.s, "ok", result.T, outer.coerce(r.more.Load(), result.T, r.s)).Load()
}

// assignRange assigns the values of an iteration, the arguments of a call of yield, to the variables of a loop.
func (l *lowerer) assignRange(s *ast.RangeStmt, call ast.Node, es []ir.Expr) {
	var places []*ir.Place
	var values []ir.Expr
	for i, e := range es {
		to := s.Key
		if i == 1 {
			to = s.Value
		}
		if to == nil || isBlank(to) {
			if mayPanic(e) {
				l.temp(call, "unused", e.Type(), e)
			}
			continue
		}
		if o := l.newVar(to, s.Tok == token.DEFINE); o != nil {
			l.declare(call, o, e)
			continue
		}
		v := l.temp(call, "t", e.Type(), e).Load()
		var p *ir.Place
		before := l.block(func() { p = l.lvalue(to) })
		if p == nil {
			continue
		}
		if len(places) == 1 && (len(before) > 0 || l.readByPlace(places[0], p)) {
			l.refuse(to, "assignment by a range over a function",
				"its place may depend on the variable assigned before it",
				"assign it in the body")
		}
		for _, st := range before {
			l.emit(st)
		}
		t, _ := placeType(p, nil)
		places, values = append(places, p), append(values, l.coerce(v, t, s))
	}
	l.parallel(call, places, values)
}
