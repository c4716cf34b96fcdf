package entries

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// inputs returns expressions that have a value at the start of f, and on which alone the control flow and all integers
// depend if they do not depend on floats: the lengths of slices, and integers in parameters and in structs that
// parameters are or point to. It returns nil if they depend on others, such as integers in slices, or if this is not
// known.
func (a *analysis) inputs(l Linear) (list []ir.Expr) {
	f, ok := l.F, true
	add := func(e ir.Expr) {
		for _, x := range list {
			if ir.Equal(x, e) {
				return
			}
		}
		list = append(list, e)
	}
	add(ir.LenOf(l.InLike.Load()))
	// field reports whether p is a field of a struct that a parameter is or points to.
	field := func(p *ir.Place) bool {
		if p.Root.Kind != ir.Param || a.mutable[p.Root] {
			return false
		}
		for i, s := range p.Path {
			if s.Field < 0 && !(i == 0 && s.IsDeref()) {
				return false
			}
		}
		return true
	}
	load := func(x *ir.Load) {
		switch t := x.T.Underlying().(type) {
		case *types.Basic:
			local := !x.P.Indirect() && (x.P.Root.Kind == ir.Local || x.P.Root.Kind == ir.Result) && len(x.P.Path) == 0
			switch {
			case ir.IsContinuous(x.T) || local:
			case t.Info()&types.IsInteger != 0 && field(x.P):
				add(x)
			default:
				ok = false
			}
		case *types.Slice:
			// The header may be that of a variable, whose value has been examined.
			switch {
			case len(x.P.Path) == 0 && x.P.Root.Kind == ir.Local:
			case ir.IsContinuous(t.Elem()) && field(x.P):
				if !a.dots[x.P.Root] {
					add(ir.LenOf(x))
				}
			default:
				ok = false
			}
		case *types.Pointer:
			ok = ok && len(x.P.Path) == 0 && x.P.Root.Kind == ir.Param
		default:
			ok = ok && onlyNumbers(x.T)
		}
	}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Call, *ir.Append, *ir.Panic:
			ok = false
		case *ir.Set, *ir.Add:
			if p := ir.Target(s); p.Indirect() && !ir.IsContinuous(p.Type()) {
				ok = false
			}
		}
		if p := ir.Target(s); p != nil && len(p.Path) > 0 { // the headers on the way
			for i := range p.Path {
				if q := (&ir.Place{Root: p.Root, Path: p.Path[:i]}); ir.ElemOf(q.Type()) != nil {
					load(&ir.Load{Typed: ir.Typed{T: q.Type()}, P: q})
				}
			}
		}
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				switch e := e.(type) {
				case *ir.Load:
					load(e)
					for i := range e.P.Path {
						if q := (&ir.Place{Root: e.P.Root, Path: e.P.Path[:i]}); ir.ElemOf(q.Type()) != nil {
							load(&ir.Load{Typed: ir.Typed{T: q.Type()}, P: q})
						}
					}
				case *ir.Addr, *ir.SliceAt, *ir.Opaque, *ir.Unbox, *ir.Box, *ir.TypeTest, *ir.New:
					ok = false
				case *ir.Literal:
					ok = ok && onlyNumbers(e.T)
				case *ir.Len:
					ok = ok && !e.Cap
				}
				return ok
			})
		})
		return ok
	})
	if !ok {
		return nil
	}
	return list
}

// onlyNumbers reports whether t is an array or a struct of numbers that carry derivatives.
func onlyNumbers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return ir.IsContinuous(u.Elem()) || onlyNumbers(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if !ir.IsContinuous(f.Type()) && !onlyNumbers(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// inputWords is the number of words of the plan for each input.
const inputWords = 2

// words returns the words of the plan for an input.
func words(e ir.Expr) []ir.Expr {
	long := types.Typ[types.Int64]
	wide := &ir.Convert{Typed: ir.Typed{T: long}, X: e}
	return []ir.Expr{narrow(e), narrow(ir.NewBinary(long, token.SHR, wide, ir.IntConst(types.Typ[types.Uint], 32)))}
}
