package simplify

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

var (
	// The types of indices and conditions that passes create.
	integer = types.Typ[types.Int]
	boolean = types.Typ[types.Bool]
)

// size returns the number of statements and expressions in b, nested ones included: the cost measure of inlining and
// unrolling.
func size(b ir.Block) (n int) {
	ir.Walk(b, func(s ir.Stmt) bool {
		n++
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(ir.Expr) bool {
				n++
				return true
			})
		}
		return true
	})
	return n
}

// exprSize returns the number of nodes of e.
func exprSize(e ir.Expr) (n int) {
	ir.WalkExpr(e, func(ir.Expr) bool {
		n++
		return true
	})
	return n
}

// rewriteHead applies m to the expressions, places and variables of s itself and keeps its blocks, which are shared. M
// must map s to one statement.
func rewriteHead(m *ir.Map, s ir.Stmt) ir.Stmt {
	empty := mapBlocks(s, func(ir.Block) ir.Block { return nil })
	k, inner := 0, ir.Blocks(s)
	return mapBlocks(m.Block(ir.Block{empty})[0], func(ir.Block) ir.Block {
		k++
		return *inner[k-1]
	})
}

// isZero reports whether e is the zero value of its type: nil, which stands for it in a declaration, a constant 0 or
// false, or a literal of an array or a struct without elements. There is no constant -0.0 in go/constant.
func isZero(e ir.Expr) bool {
	switch e := e.(type) {
	case nil:
		return true
	case *ir.Const:
		if e.Val == nil {
			return true
		}
		switch e.Val.Kind() {
		case constant.Int, constant.Float:
			return constant.Sign(e.Val) == 0
		case constant.Bool:
			return !constant.BoolVal(e.Val)
		}
	case *ir.Literal:
		// An empty slice literal is not nil.
		if _, slice := e.T.Underlying().(*types.Slice); slice {
			return false
		}
		return len(e.Elems) == 0
	}
	return false
}

// isAggregate reports whether t is an array or a struct, which scalar replacement can decompose.
func isAggregate(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Array, *types.Struct:
		return true
	}
	return false
}

// mayPanic reports whether the evaluation of e may panic: an index or a slice bound out of range, a nil pointer, an
// integer division by zero, a negative shift count, a conversion of a short slice, a comparison of interfaces. It is
// conservative. A constant index into an array is in range, since [ir.Check] has verified it.
func mayPanic(e ir.Expr) (may bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil {
			may = may || placeMayPanic(p)
		}
		switch e := e.(type) {
		// Bounds, sizes and calls of the standard library are not examined.
		case *ir.Slice, *ir.SliceAt, *ir.Make, *ir.Opaque, *ir.Unbox, *ir.Box:
			may = true
		// A conversion of a slice to an array panics if the slice is too short.
		case *ir.Convert:
			_, slice := e.X.Type().Underlying().(*types.Slice)
			may = may || ir.IsAssertion(e)
			may = may || slice && (isAggregate(e.T) || !types.Identical(e.T.Underlying(), e.X.Type().Underlying()))
		case *ir.Binary:
			switch {
			// An integer division panics for a divisor of 0.
			case e.Op == token.QUO || e.Op == token.REM:
				c, ok := e.Y.(*ir.Const)
				may = may || !ir.IsContinuous(e.T) && !(ok && c.Val != nil && constant.Sign(c.Val) != 0)
			// A shift panics for a negative count.
			case e.Op == token.SHL || e.Op == token.SHR:
				may = may || !ir.HasInfo(e.Y.Type(), types.IsUnsigned) && !ir.IsConst(e.Y)
			// The dynamic types may not be comparable.
			case types.IsInterface(e.X.Type()) || types.IsInterface(e.Y.Type()):
				may = true
			}
		}
		return !may
	})
	return may
}

// placeMayPanic reports whether following the path of p may panic. The index expressions themselves are not examined.
func placeMayPanic(p *ir.Place) bool {
	for i, s := range p.Path {
		switch t := (&ir.Place{Root: p.Root, Path: p.Path[:i]}).Type().Underlying().(type) {
		case *types.Array:
			if k, ok := constInt(s.Index); !ok || k < 0 || k >= t.Len() {
				return true
			}
		case *types.Struct:
		default:
			return true
		}
	}
	return false
}

// constInt returns the value of an integer constant. It reports false for other expressions and for values that do not
// fit int64.
func constInt(e ir.Expr) (int64, bool) {
	c, ok := e.(*ir.Const)
	if !ok || !ir.IsInteger(c.T) {
		return 0, false
	}
	if c.Val == nil {
		return 0, true
	}
	return constant.Int64Val(constant.ToInt(c.Val))
}

// containsLeave reports whether b contains a leave of l.
func containsLeave(b ir.Block, l *ir.Label) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Leave); ok && s.L == l {
			found = true
		}
		return !found
	})
	return found
}

// mapBlocks returns a copy of s with f applied to each of its blocks, or s itself if it has none.
func mapBlocks(s ir.Stmt, f func(ir.Block) ir.Block) ir.Stmt {
	switch s := s.(type) {
	case *ir.If:
		return &ir.If{At: s.At, Cond: s.Cond, Then: f(s.Then), Else: f(s.Else)}
	case *ir.Scope:
		return &ir.Scope{At: s.At, L: s.L, Body: f(s.Body)}
	case *ir.Loop:
		loop := *s
		loop.Body = f(s.Body)
		return &loop
	}
	return s
}
