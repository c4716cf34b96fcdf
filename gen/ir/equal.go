package ir

import "go/types"

// Equal reports whether two expressions are structurally equal; the places they read may have
// changed in between. It is false for expressions that allocate, slice or call elementary
// functions. Constants are compared by value and type, not by spelling. Two nils are equal.
func Equal(a, b Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if !types.Identical(a.Type(), b.Type()) {
		return false
	}
	switch x := a.(type) {
	case *Const:
		y, ok := b.(*Const)
		if !ok || (x.Val == nil) != (y.Val == nil) {
			return false
		}
		return x.Val == nil || x.Val.ExactString() == y.Val.ExactString()
	case *Load:
		y, ok := b.(*Load)
		return ok && EqualPlace(x.P, y.P)
	case *Unary:
		y, ok := b.(*Unary)
		return ok && x.Op == y.Op && Equal(x.X, y.X)
	case *Binary:
		y, ok := b.(*Binary)
		return ok && x.Op == y.Op && Equal(x.X, y.X) && Equal(x.Y, y.Y)
	case *Convert:
		y, ok := b.(*Convert)
		return ok && Equal(x.X, y.X)
	case *TypeTest:
		y, ok := b.(*TypeTest)
		return ok && types.Identical(x.Of, y.Of) && Equal(x.X, y.X)
	case *Box:
		y, ok := b.(*Box)
		return ok && Equal(x.X, y.X)
	case *Len:
		y, ok := b.(*Len)
		return ok && x.Cap == y.Cap && Equal(x.X, y.X)
	}
	return false
}

// EqualPlace reports whether two places are structurally equal: the same root and equal steps.
func EqualPlace(p, q *Place) bool {
	if p.Root != q.Root || len(p.Path) != len(q.Path) {
		return false
	}
	for i, s := range p.Path {
		t := q.Path[i]
		if s.Field != t.Field || !Equal(s.Index, t.Index) {
			return false
		}
	}
	return true
}
