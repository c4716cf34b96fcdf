package entries

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// An analysis holds facts about the variables of a linear function.
type analysis struct {
	dots    map[*ir.Var]bool   // variables that hold numbers that depend on the direction, or slices of it or its image
	mutable map[*ir.Var]bool   // variables that are assigned after their declaration, or whose address is taken
	zeros   map[*ir.Var]bool   // variables that are declared as zero and assigned nowhere else
	slots   map[*ir.Var]*slots // of mutable dots; rounds of building add to them
	sums    map[*ir.Var]bool   // mutable dots that are lists instead
	single  map[*ir.Var]bool   // mutable dots that have private slots alone
	classes map[slotID]slotID  // private slots whose indices are equal; nil before they are known
	ids     map[*ir.Var]int    // numbers of variables
}

func analyze(l Linear) *analysis {
	a := &analysis{
		dots: map[*ir.Var]bool{l.In: true, l.Out: true}, mutable: map[*ir.Var]bool{}, zeros: map[*ir.Var]bool{},
		slots: map[*ir.Var]*slots{}, sums: map[*ir.Var]bool{}, single: map[*ir.Var]bool{}, ids: map[*ir.Var]int{},
	}
	ir.Walk(l.F.Body, func(s ir.Stmt) bool {
		a.mutates(s)
		return true
	})
	ir.Walk(l.F.Body, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Let); ok && !a.mutable[s.V] && ir.IsContinuous(s.V.Type) && (s.E == nil || a.isZero(s.E)) {
			a.zeros[s.V] = true
		}
		return true
	})
	for changed := true; changed; {
		changed = false
		ir.Walk(l.F.Body, func(s ir.Stmt) bool {
			for _, flow := range flows(s) {
				if !a.dots[flow.to] && a.readsDot(flow.from) {
					a.dots[flow.to], changed = true, true
				}
			}
			return true
		})
	}
	return a
}

// isZero reports whether e is a zero that the generator knows.
func (a *analysis) isZero(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		v, ok := constant(e)
		return ok && v == 0
	case *ir.Load:
		v := ir.VarOf(e)
		return v != nil && a.zeros[v]
	case *ir.Unary:
		return a.isZero(e.X)
	case *ir.Convert:
		return a.isZero(e.X)
	case *ir.Binary:
		switch e.Op {
		case token.ADD, token.SUB:
			return a.isZero(e.X) && a.isZero(e.Y)
		case token.MUL:
			return a.isZero(e.X) || a.isZero(e.Y)
		case token.QUO:
			return a.isZero(e.X)
		}
	}
	return false
}

// mutates records the variables that s assigns to, except in their declaration, and those whose address it takes.
func (a *analysis) mutates(s ir.Stmt) {
	if p := ir.Target(s); p != nil && !p.Indirect() {
		a.mutable[p.Root] = true
	}
	ir.EachResult(s, func(v *ir.Var) { a.mutable[v] = true })
	ir.EachExpr(s, func(e ir.Expr) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Addr:
				a.mutable[e.P.Root] = a.mutable[e.P.Root] || !e.P.Indirect()
			case *ir.SliceAt:
				a.mutable[e.P.Root] = a.mutable[e.P.Root] || !e.P.Indirect()
			}
			return true
		})
	})
}

// A flow is the assignment of an expression to a variable or to a part of it.
type flow struct {
	to   *ir.Var
	from ir.Expr
}

// flows returns the assignments of s.
func flows(s ir.Stmt) []flow {
	switch s := s.(type) {
	case *ir.Let:
		if s.E != nil {
			return []flow{{s.V, s.E}}
		}
	case *ir.Set:
		return []flow{{s.P.Root, s.E}}
	case *ir.Add:
		return []flow{{s.P.Root, s.E}}
	}
	return nil
}

// readsDot reports whether the value of e depends on dots: it reads them other than in indices and conditions.
func (a *analysis) readsDot(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if found {
			return false
		}
		switch e := e.(type) {
		case *ir.Len:
			return false
		case *ir.Load:
			found = a.dots[e.P.Root]
			return false
		case *ir.Addr:
			found = a.dots[e.P.Root]
			return false
		case *ir.SliceAt:
			found = a.dots[e.P.Root]
			return false
		}
		return true
	})
	return found
}

// mentionsDot reports whether a dot occurs in e.
func (a *analysis) mentionsDot(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil && a.dots[p.Root] {
			found = true
		}
		return !found
	})
	return found
}

// dependsOnFloats reports whether floating-point numbers decide about control flow or indices: a condition, an integer
// or a slice is computed from one, or it is not known that none is.
func (a *analysis) dependsOnFloats(f *ir.Func) (found bool) {
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				for _, x := range ir.Operands(e) {
					if ir.IsContinuous(x.Type()) && !ir.IsContinuous(e.Type()) && !a.mentionsDot(e) {
						found = true
					}
				}
				return !found
			})
		})
		if s, ok := s.(*ir.Call); ok { // of a function that is not differentiated, which may sort indices by numbers
			for _, v := range s.Results {
				found = found || v != nil && !ir.IsContinuous(v.Type)
			}
			for _, e := range s.Args {
				found = found || ir.HasRefs(e.Type())
			}
		}
		return !found
	})
	return found
}

// isFloats reports whether t is a slice of float64.
func isFloats(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem(), floatType)
}
