package lower

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Deferred calls. Function and arguments are evaluated where the statement stands, and the call is emitted before each
// return after it and at the end of the function, in reverse order, and before each panic of the function itself. A
// variable records whether a statement in a branch was reached. A panic in a callee or of the runtime does not run
// them, and a closure without parameters is evaluated at the exit, where its variables have the same meaning.

// A deferredCall is a call to be performed at the exits of a function.
type deferredCall struct {
	reached *ir.Var // set if the statement was reached; nil if it always is
	emit    func()  // emits the call
}

// deferStmt lowers a defer statement.
func (l *lowerer) deferStmt(s *ast.DeferStmt) {
	refusals := len(l.e.refusals)
	refuse := func(reason, remedy string) { l.refuse(s, "defer", reason, remedy) }
	if len(l.enclosing) > 0 || l.exit.label != l.f.Exit || len(l.inlining.pending) > 0 {
		refuse("the function is inlined into a loop over it, which ends elsewhere",
			"call the function before each return")
		return
	}
	for _, j := range l.jumps {
		if j.cont.label != nil {
			refuse("it is in a loop, so the number of calls is not known",
				"call the function at the end of the iteration, or move the body to a function of its own")
			return
		}
	}
	d := &deferredCall{}
	conditional := !slices.Contains(l.topLevel, ast.Stmt(s))
	variable := func(name string, e ir.Expr) *ir.Var {
		if !conditional {
			return l.temp(s, name, e.Type(), e)
		}
		v := &ir.Var{Name: l.names.fresh(name), Type: e.Type(), Pos: l.pos(s)}
		l.prologue = append(l.prologue, &ir.Let{At: l.at(s), V: v})
		l.emit(&ir.Set{At: l.at(s), P: v.Place(), E: e})
		return v
	}
	// kept returns expressions for the values that e have now.
	kept := func(es []ir.Expr) []ir.Expr {
		out := make([]ir.Expr, len(es))
		for i, e := range es {
			if out[i] = e; !isConst(e) {
				out[i] = variable("arg", e).Load()
			}
		}
		return out
	}
	for _, a := range s.Call.Args {
		if isFuncType(l.typeOf(a)) {
			refuse("it passes a function", "defer a function literal that makes the call")
			return
		}
	}
	switch c := l.callee(s.Call); {
	case c.kind == declared:
		if l.isEndless(s.Call) || isMath(c.fn) || isOpaque(c.fn) {
			refuse("the call has no effect or does not return", "call it before each return")
			return
		}
		to, args := l.callDeclared(s.Call, c)
		args = kept(args)
		d.emit = func() {
			if to != nil {
				n := c.fn.Signature().Results().Len()
				l.emit(&ir.Call{At: l.at(s), Results: make([]*ir.Var, n), Callee: to, Args: args})
			}
		}
	case c.kind == literalCallee:
		if conditional && l.usesInner(c.lit) {
			refuse("the literal uses a variable of a block that ends before the function does",
				"declare the variable at the beginning of the function, or pass it as an argument")
			return
		}
		sig := l.info.TypeOf(c.lit).(*types.Signature)
		args, _ := l.arguments(s.Call, s.Call.Args, sig, l.subst)
		args = kept(args)
		d.emit = func() {
			v := l.closure(c.lit, nil)
			if v == nil {
				return
			}
			e := l.p.literal(v, sig, make([]*funcValue, sig.Params().Len()))
			if e == nil {
				refuse("it needs infinitely many specialisations", "bound the recursion")
				return
			}
			l.e.calls = append(l.e.calls, callSite{e, l.pos(s)})
			l.emit(&ir.Call{At: l.at(s), Results: make([]*ir.Var, sig.Results().Len()), Callee: &ir.Callee{Func: e.f},
				Args: append(slices.Clip(args), l.captured(v)...)})
		}
	case c.kind == valueCallee && c.value.loop == nil && c.value.choice == nil && len(s.Call.Args) == 0 && !conditional:
		d.emit = func() { l.callInto(s.Call, nil) }
	default:
		refuse("which function is called is not known, or it has no effect on derivatives",
			"defer a function literal, or a declared function or method")
		return
	}
	if conditional {
		d.reached = &ir.Var{Name: l.names.fresh("reached"), Type: types.Typ[types.Bool], Pos: l.pos(s)}
		l.prologue = append(l.prologue, &ir.Let{At: l.at(s), V: d.reached})
		l.emit(&ir.Set{At: l.at(s), P: d.reached.Place(), E: truth(true)})
	}
	if len(l.e.refusals) == refusals {
		l.deferred = append(l.deferred, d)
	}
}

// isConst reports whether e is a constant.
func isConst(e ir.Expr) bool {
	_, ok := e.(*ir.Const)
	return ok
}

// usesInner reports whether a literal uses a local variable of the function that is not declared in its outermost
// block.
func (l *lowerer) usesInner(lit *ast.FuncLit) (uses bool) {
	ast.Inspect(lit, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o, ok := l.info.Uses[id].(*types.Var)
		if !ok || o.IsField() || l.env[o] == nil || o.Pos() >= lit.Pos() && o.Pos() < lit.End() {
			return true
		}
		b, inner := l.facts.block[o]
		uses = uses || inner && (len(l.topLevel) == 0 || !within(l.topLevel, b))
		return true
	})
	return uses
}

// within reports whether the block b is the one whose statements are list.
func within(list []ast.Stmt, b ast.Node) bool {
	block, ok := b.(*ast.BlockStmt)
	return ok && len(block.List) > 0 && len(list) > 0 && block.List[0] == list[0]
}

// runDeferred emits the deferred calls, the last one first.
func (l *lowerer) runDeferred(n ast.Node) {
	for _, d := range slices.Backward(l.deferred) {
		if l.unreachable() {
			return
		}
		if d.reached == nil {
			d.emit()
			continue
		}
		l.emit(&ir.If{At: l.at(n), Cond: d.reached.Load(), Then: l.block(d.emit)})
	}
}
