package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Expressions. A method returns the value of a Go expression and emits statements for the parts
// that have side effects. Refused expressions become zero values, so that lowering finds further
// refusals.

// typeOf returns the type of e under the current substitution; untyped constants have default
// types.
func (l *lowerer) typeOf(e ast.Expr) types.Type {
	t := l.info.TypeOf(e)
	if t == nil {
		return types.Typ[types.Invalid]
	}
	return types.Default(l.subst.apply(t))
}

// expr returns the value of e as an operand: allocations are in temporaries.
func (l *lowerer) expr(e ast.Expr) ir.Expr { return l.materialize(e, l.rvalue(e)) }

// materialize assigns an allocation to a temporary and returns it; other expressions are unchanged.
func (l *lowerer) materialize(n ast.Node, e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Literal:
		if l.nested {
			return e
		}
		return l.temp(n, "t", e.Type(), e).Load()
	case *ir.Make, *ir.New:
		return l.temp(n, "t", e.Type(), e).Load()
	}
	return e
}

// rvalue returns the value of e as the whole right side of an assignment, which may allocate.
func (l *lowerer) rvalue(e ast.Expr) ir.Expr {
	tv := l.info.Types[e]
	t := l.typeOf(e)
	if t == types.Typ[types.Invalid] {
		return l.refuseExpr(e, "expression", "it has an error", "")
	}
	if tv.Value != nil {
		return l.constant(e, tv.Value, t)
	}
	if tv.IsNil() {
		return ir.Zero(t)
	}
	if isFuncType(t) {
		return l.functionOperand(e, t)
	}
	switch x := e.(type) {
	case *ast.ParenExpr:
		return l.rvalue(x.X)
	case *ast.Ident:
		if b := l.env[l.info.ObjectOf(x)]; b != nil && b.outcome != nil {
			return b.outcome
		}
		if p, ok := l.variable(x); ok {
			return ir.LoadOf(p, t)
		}
		if v, ok := l.boxed(x); ok {
			return v
		}
		return l.functionValue(e)
	case *ast.BinaryExpr:
		return l.binary(x, t)
	case *ast.UnaryExpr:
		return l.unary(x, t)
	case *ast.StarExpr:
		return l.read(e, t)
	case *ast.SelectorExpr:
		s := l.info.Selections[x]
		if s == nil {
			if p, ok := l.variable(x.Sel); ok {
				return ir.LoadOf(p, t)
			}
			return l.functionValue(e)
		}
		if s.Kind() != types.FieldVal {
			return l.functionValue(e)
		}
		return l.read(e, t)
	case *ast.IndexExpr:
		return l.index(x, t)
	case *ast.SliceExpr:
		return l.slice(x, t)
	case *ast.CompositeLit:
		return l.literal(x, t)
	case *ast.CallExpr:
		return l.callExpr(x, t)
	case *ast.TypeAssertExpr:
		return l.assertion(x, t)
	}
	return l.refuseExpr(e, "expression", "it is not known", "")
}

// refuseExpr refuses e and returns a zero value for it.
func (l *lowerer) refuseExpr(e ast.Expr, what, reason, remedy string) ir.Expr {
	l.refuse(e, what, reason, remedy)
	return ir.Zero(l.typeOf(e))
}

// functionValue refuses an expression whose value is a function that is not known.
func (l *lowerer) functionValue(e ast.Expr) ir.Expr {
	if t := l.typeOf(e); !isFuncType(t) {
		if len(l.e.refusals) > 0 {
			return ir.Zero(t) // its declaration was refused
		}
		return l.refuseExpr(e, "expression", "its value is not known", "")
	}
	return l.refuseExpr(e, "function value", "which function is called has to be known when it is generated",
		remedyStatic)
}

// read returns the value at the place that e denotes.
func (l *lowerer) read(e ast.Expr, t types.Type) ir.Expr {
	p := l.place(e)
	if p == nil {
		return ir.Zero(t)
	}
	return ir.LoadOf(p, t)
}

// binary lowers a binary operation. Untyped operands take the type of the result, or for a
// comparison that of the other operand.
func (l *lowerer) binary(x *ast.BinaryExpr, t types.Type) ir.Expr {
	switch x.Op {
	case token.LAND, token.LOR:
		return l.shortCircuit(x, t)
	case token.SHL, token.SHR:
		return &ir.Binary{Typed: ir.Typed{T: t}, Op: x.Op, X: l.coerce(l.expr(x.X), t, x.X), Y: l.expr(x.Y)}
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		if v, ok := l.compareFunction(x); ok {
			return v
		}
		if v, ok := l.compareDynamic(x); ok {
			return v
		}
		a, b := l.expr(x.X), l.expr(x.Y)
		return l.compare(x, x.Op, a, b, t)
	}
	a, b := l.expr(x.X), l.expr(x.Y)
	return &ir.Binary{Typed: ir.Typed{T: t}, Op: x.Op, X: l.coerce(a, t, x.X), Y: l.coerce(b, t, x.Y)}
}

// compare returns the comparison a op b. nil takes the type of the other operand. Comparisons of
// interfaces with values are refused.
func (l *lowerer) compare(n ast.Node, op token.Token, a, b ir.Expr, t types.Type) ir.Expr {
	if isZero(a) {
		a = ir.Zero(b.Type())
	}
	if isZero(b) {
		b = ir.Zero(a.Type())
	}
	ia, ib := types.IsInterface(a.Type()), types.IsInterface(b.Type())
	if (ia || ib) && !isZero(a) && !isZero(b) {
		l.refuse(n, "comparison of interfaces", "types are only known at run time", "compare concrete values")
		return ir.Zero(t)
	}
	if _, ok := a.(*ir.Const); ok {
		a = l.coerce(a, b.Type(), n)
	} else {
		b = l.coerce(b, a.Type(), n)
	}
	return &ir.Binary{Typed: ir.Typed{T: t}, Op: op, X: a, Y: b}
}

// isZero reports whether e is nil or another zero constant without a value.
func isZero(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && c.Val == nil
}

// shortCircuit lowers && or ||. If the right operand needs statements, they are executed only if Go
// would evaluate it. A constant left operand decides whether it is lowered at all.
func (l *lowerer) shortCircuit(x *ast.BinaryExpr, t types.Type) ir.Expr {
	a := l.expr(x.X)
	if c, ok := a.(*ir.Const); ok && c.Val != nil {
		// The right operand may be impossible to lower in this specialization.
		if isTrue(c) == (x.Op == token.LOR) {
			return ir.BoolConst(t, isTrue(c))
		}
		return l.coerce(l.expr(x.Y), t, x.Y)
	}
	var b ir.Expr
	body := l.block(func() { b = l.expr(x.Y) })
	if len(body) == 0 {
		return &ir.Binary{Typed: ir.Typed{T: t}, Op: x.Op, X: l.coerce(a, t, x.X), Y: l.coerce(b, t, x.Y)}
	}
	// The right operand needs statements: the result is a variable that a conditional block
	// updates.
	v := l.temp(x, "ok", t, l.coerce(a, t, x.X))
	if !terminates(body) {
		body = append(body, &ir.Set{At: l.at(x), P: &ir.Place{Root: v}, E: l.coerce(b, t, x.Y)})
	}
	st := &ir.If{At: l.at(x), Cond: v.Load(), Then: body}
	if x.Op == token.LOR {
		st.Cond = &ir.Unary{Typed: ir.Typed{T: t}, Op: token.NOT, X: v.Load()}
	}
	l.emit(st)
	return v.Load()
}

// unary lowers a unary operation; & of a composite literal takes the address of a temporary.
func (l *lowerer) unary(x *ast.UnaryExpr, t types.Type) ir.Expr {
	switch x.Op {
	case token.ARROW:
		return l.refuseExpr(x, "receive from a channel", "channels have no derivative", "pass values as arguments")
	case token.AND:
		if lit, ok := ast.Unparen(x.X).(*ast.CompositeLit); ok {
			e := l.literal(lit, l.typeOf(lit))
			v := l.temp(x, "t", e.Type(), e)
			return l.address(x, &ir.Place{Root: v})
		}
		p := l.place(x.X)
		if p == nil {
			return ir.Zero(t)
		}
		return l.address(x, p)
	}
	e := l.expr(x.X)
	if c, ok := e.(*ir.Const); ok && x.Op == token.NOT && c.Val != nil {
		return ir.BoolConst(t, !isTrue(c))
	}
	return &ir.Unary{Typed: ir.Typed{T: t}, Op: x.Op, X: l.coerce(e, t, x.X)}
}

// index lowers an index expression; of a function it is an instantiation.
func (l *lowerer) index(x *ast.IndexExpr, t types.Type) ir.Expr {
	switch l.typeOf(x.X).Underlying().(type) {
	case *types.Map:
		if vs := l.mapGet(x); vs != nil {
			return vs[0].Load()
		}
		return ir.Zero(t)
	case *types.Signature:
		return l.functionValue(x)
	}
	if l.isChosen(x) {
		return l.interfaceValue(x, l.chosenValue(x), t)
	}
	return l.read(x, t)
}

// slice lowers a slice expression. Slicing an array takes its address.
func (l *lowerer) slice(x *ast.SliceExpr, t types.Type) ir.Expr {
	bound := func(e ast.Expr) ir.Expr {
		if e == nil {
			return nil
		}
		return l.expr(e)
	}
	xt := l.typeOf(x.X)
	if _, ok := arrayOf(deref(xt)); ok {
		p := l.place(x.X)
		lo, hi, top := bound(x.Low), bound(x.High), bound(x.Max)
		if p == nil {
			return ir.Zero(t)
		}
		if _, ok := xt.Underlying().(*types.Pointer); ok {
			p = ir.Extend(p, ir.DerefStep())
		}
		// A slice of an array variable aliases it, as its address does.
		if _, memory := placeType(p, nil); !memory {
			// Package-level variables too: writtenGlobals finds writes through the slice.
			l.addressed[p.Root] = true
		}
		return &ir.SliceAt{Typed: ir.Typed{T: t}, P: p, Lo: lo, Hi: hi, Max: top}
	}
	s := l.expr(x.X)
	return &ir.Slice{Typed: ir.Typed{T: t}, X: s, Lo: bound(x.Low), Hi: bound(x.High), Max: bound(x.Max)}
}

// mayPanic reports whether evaluating e may panic.
func mayPanic(e ir.Expr) bool {
	switch e := e.(type) {
	case nil, *ir.Const, *ir.New:
		return false
	case *ir.Load:
		for _, s := range e.P.Path {
			if s.Field < 0 {
				return true
			}
		}
		return false
	case *ir.Unary:
		return mayPanic(e.X)
	case *ir.TypeTest:
		return mayPanic(e.X)
	case *ir.Convert:
		return ir.IsAssertion(e) || mayPanic(e.X)
	case *ir.Len:
		return mayPanic(e.X)
	case *ir.Binary:
		safe := ir.IsContinuous(e.X.Type()) ||
			e.Op != token.QUO && e.Op != token.REM && e.Op != token.SHL && e.Op != token.SHR
		return !safe || mayPanic(e.X) || mayPanic(e.Y)
	case *ir.Math:
		for _, a := range e.Args {
			if mayPanic(a) {
				return true
			}
		}
		return false
	}
	return true
}
