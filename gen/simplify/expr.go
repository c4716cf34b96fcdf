package simplify

import (
	"go/constant"
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

var (
	integer = types.Typ[types.Int]
	boolean = types.Typ[types.Bool]
)

// size is how many statements and expressions stand in b.
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

func exprSize(e ir.Expr) (n int) {
	ir.WalkExpr(e, func(ir.Expr) bool {
		n++
		return true
	})
	return n
}

// shell rewrites what stands in a statement itself; its blocks stay.
func rewriteHead(m *ir.Map, s ir.Stmt) ir.Stmt {
	empty := mapBlocks(s, func(ir.Block) ir.Block { return nil })
	k, inner := 0, ir.Blocks(s)
	return mapBlocks(m.Block(ir.Block{empty})[0], func(ir.Block) ir.Block {
		k++
		return *inner[k-1]
	})
}

// whole is the variable that e reads as a whole, nil if e is something else.
func loadedVar(e ir.Expr) *ir.Var {
	if l, ok := e.(*ir.Load); ok && len(l.P.Path) == 0 {
		return l.P.Root
	}
	return nil
}

// isZero reports whether e gives the zero value of its type; nil does.
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
		if _, slice := e.T.Underlying().(*types.Slice); slice {
			return false
		}
		return len(e.Elems) == 0
	}
	return false
}

func load(p *ir.Place, t types.Type) ir.Expr { return &ir.Load{Typed: ir.Typed{T: t}, P: p} }

func intConst(t types.Type, n int64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(n)}
}

func binary(t types.Type, op token.Token, x, y ir.Expr) ir.Expr {
	return &ir.Binary{Typed: ir.Typed{T: t}, Op: op, X: x, Y: y}
}

func hasInfo(t types.Type, info types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}

func isInteger(t types.Type) bool { return hasInfo(t, types.IsInteger) }

func sliceElem(t types.Type) types.Type {
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return nil
}

func isAggregate(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Array, *types.Struct:
		return true
	}
	return false
}

// mayPanic reports whether the evaluation of e may panic. An index of an array that is a
// constant is in its range.
func mayPanic(e ir.Expr) (may bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil {
			may = may || placeMayPanic(p)
		}
		switch e := e.(type) {
		case *ir.Slice, *ir.SliceAt, *ir.Make, *ir.Opaque:
			may = true
		case *ir.Convert:
			_, slice := e.X.Type().Underlying().(*types.Slice)
			may = may || slice && (isAggregate(e.T) || !types.Identical(e.T.Underlying(), e.X.Type().Underlying()))
		case *ir.Binary:
			switch {
			case e.Op == token.QUO || e.Op == token.REM:
				c, ok := e.Y.(*ir.Const)
				may = may || !ir.IsFloat(e.T) && !(ok && c.Val != nil && constant.Sign(c.Val) != 0)
			case e.Op == token.SHL || e.Op == token.SHR:
				may = may || !hasInfo(e.Y.Type(), types.IsUnsigned) && !ir.IsConst(e.Y)
			case types.IsInterface(e.X.Type()) || types.IsInterface(e.Y.Type()):
				may = true
			}
		}
		return !may
	})
	return may
}

// placeMayPanic reports whether the steps of p may panic, not what computes its indices.
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

// constInt is the value of an integer constant.
func constInt(e ir.Expr) (int64, bool) {
	c, ok := e.(*ir.Const)
	if !ok || !isInteger(c.T) {
		return 0, false
	}
	if c.Val == nil {
		return 0, true
	}
	return constant.Int64Val(constant.ToInt(c.Val))
}

// leavesTo reports whether a leave of l stands in b.
func containsLeave(b ir.Block, l *ir.Label) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Leave); ok && s.L == l {
			found = true
		}
		return !found
	})
	return found
}

// blocks rewrites the blocks of a statement, in a copy of it.
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
