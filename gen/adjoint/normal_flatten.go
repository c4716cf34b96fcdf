package adjoint

import (
	"go/token"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Flattening into A-normal form, restricted to the operations that statement adjoints read operands or results of. The
// operands of sums and products stay nested: their statement adjoints distribute over them.
//
//	r := a * math.Sin(b+c) / d   →   arg := b + c; sin := math.Sin(arg); r := a * sin / d
//
// The value of a function or quotient is then in a variable, which its partial derivatives read instead of evaluating
// it again, and which is recorded or recomputed like any other.

// A flattener rewrites statements so that values which adjoints read are held by variables. New definitions are emitted
// before the statement.
type flattener struct {
	ir.Writer
	g *normalForm
}

// block returns in flattened.
func (h *flattener) block(in ir.Block) ir.Block {
	return h.EachStmt(in, func(s ir.Stmt) { h.Emit(h.stmt(s)) })
}

// stmt returns s with flattened operands. Index expressions, conditions and bounds are left alone: they are not
// differentiated.
func (h *flattener) stmt(s ir.Stmt) ir.Stmt {
	switch s := s.(type) {
	case *ir.Let:
		return &ir.Let{At: s.At, V: s.V, E: h.definition(s.E)}
	case *ir.Set:
		return &ir.Set{At: s.At, P: s.P, E: h.expr(s.E)}
	case *ir.Add:
		return &ir.Add{At: s.At, P: s.P, E: h.expr(s.E)}
	case *ir.Append:
		a := *s
		a.S = h.header(s.S)
		a.Elems = nil
		for _, e := range s.Elems {
			if s.Spread {
				a.Elems = append(a.Elems, h.header(e))
			} else {
				a.Elems = append(a.Elems, h.expr(e))
			}
		}
		return &a
	case *ir.Copy:
		return &ir.Copy{At: s.At, N: s.N, Dst: h.header(s.Dst), Src: h.header(s.Src)}
	case *ir.Clear:
		return &ir.Clear{At: s.At, S: h.header(s.S)}
	case *ir.Call:
		c := *s
		c.Args = nil
		for _, e := range s.Args {
			c.Args = append(c.Args, h.argument(e))
		}
		return &c
	case *ir.If:
		return &ir.If{At: s.At, Cond: s.Cond, Then: h.block(s.Then), Else: h.block(s.Else)}
	case *ir.Scope:
		return &ir.Scope{At: s.At, L: s.L, Body: h.block(s.Body)}
	case *ir.Loop:
		loop := *s
		loop.Body = h.block(s.Body)
		return &loop
	}
	return s
}

// let defines a new variable as e and returns its value.
func (h *flattener) let(base string, e ir.Expr) ir.Expr {
	v := h.g.local(base, e.Type())
	h.Emit(&ir.Let{At: h.At, V: v, E: e})
	return v.Load()
}

// atom returns e if it is a constant or a variable, and otherwise the value of a new variable that is defined as e.
func (h *flattener) atom(base string, e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Const:
		return e
	case *ir.Load:
		if len(x.P.Path) == 0 {
			return e
		}
	}
	return h.let(base, e)
}

// header returns the slice e as the value of a new variable, so that later assignments to the variable in e do not
// change which slice the adjoint sees. Constants, which are nil, stay.
func (h *flattener) header(e ir.Expr) ir.Expr {
	if _, ok := e.(*ir.Const); ok {
		return e
	}
	return h.let("view", e)
}

// argument returns e, an argument of a call, as a variable or constant.
func (h *flattener) argument(e ir.Expr) ir.Expr {
	return h.atom("arg", h.expr(e))
}

// definition flattens e, the value of a declaration. Its outermost operation may stay, as the declared variable holds
// the result.
func (h *flattener) definition(e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Math:
		if ir.IsContinuous(x.T) && !elementary.IsLinear(x) {
			return h.math(x)
		}
	case *ir.Binary:
		if x.Op == token.QUO && ir.IsContinuous(x.T) {
			return ir.NewBinary(x.T, x.Op, h.expr(x.X), h.expr(x.Y))
		}
	}
	return h.expr(e)
}

// math returns x with float arguments that are places, variables or constants.
func (h *flattener) math(x *ir.Math) ir.Expr {
	m := &ir.Math{Typed: x.Typed, Name: x.Name}
	for _, a := range x.Args {
		if _, ok := a.(*ir.Load); !ok && ir.IsContinuous(a.Type()) {
			a = h.atom("arg", h.expr(a))
		}
		m.Args = append(m.Args, a)
	}
	return m
}

// expr flattens a float expression: divisions by other than a constant, and elementary functions, become definitions.
// Other expressions are returned unchanged, but for literals, whose elements are flattened.
func (h *flattener) expr(e ir.Expr) ir.Expr {
	if l, ok := e.(*ir.Literal); ok {
		m := *l
		m.Elems = nil
		for _, e := range l.Elems {
			m.Elems = append(m.Elems, h.expr(e))
		}
		return &m
	}
	if e == nil || !ir.IsContinuous(e.Type()) {
		return e
	}
	switch x := e.(type) {
	case *ir.Unary:
		return &ir.Unary{Typed: x.Typed, Op: x.Op, X: h.expr(x.X)}
	case *ir.Convert:
		return &ir.Convert{Typed: x.Typed, X: h.expr(x.X)}
	case *ir.Binary:
		b := ir.NewBinary(x.T, x.Op, h.expr(x.X), h.expr(x.Y))
		if x.Op == token.QUO && !isConstant(x.Y) {
			return h.let("quo", b)
		}
		return b
	case *ir.Math:
		if len(x.Args) == 0 {
			return e
		}
		if elementary.IsLinear(x) { // like a sign
			m := &ir.Math{Typed: x.Typed, Name: x.Name}
			for _, a := range x.Args {
				m.Args = append(m.Args, h.expr(a))
			}
			return m
		}
		return h.let(baseNameOf(x.Name), h.math(x))
	}
	return e
}

// baseNameOf returns a variable name for the value of a function: sin for math.Sin.
func baseNameOf(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			s = s[i+1:]
			break
		}
	}
	b := []byte(s)
	if b[0] >= 'A' && b[0] <= 'Z' {
		b[0] += 'a' - 'A'
	}
	return string(b)
}
