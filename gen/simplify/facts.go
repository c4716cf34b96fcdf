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

// use is what is done with a variable.
type use uint8

const (
	reads     use = iota // its value, or a header on the way to memory
	writes               // it or a part of it; its declaration counts
	addresses            // takes its address
)

// uses visits the variables that a statement itself uses, not what its blocks do.
func uses(s ir.Stmt, visit func(v *ir.Var, how use)) {
	ir.EachExpr(s, func(e ir.Expr) { exprUses(e, visit) })
	if p := ir.Target(s); p != nil {
		if p.Indirect() {
			visit(p.Root, reads)
		} else {
			visit(p.Root, writes)
		}
	}
	declares(s, func(v *ir.Var) { visit(v, writes) })
	switch s := s.(type) {
	case *ir.Add:
		if !s.P.Indirect() {
			visit(s.P.Root, reads)
		}
	}
}

func exprUses(e ir.Expr, visit func(v *ir.Var, how use)) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		p := ir.PlaceOf(e)
		if p == nil {
			return true
		}
		if _, load := e.(*ir.Load); load || p.Indirect() {
			visit(p.Root, reads)
		} else {
			visit(p.Root, addresses)
		}
		return true
	})
}

// usage is how often variables are used.
type usage struct {
	reads, writes map[*ir.Var]int
	addressed     map[*ir.Var]bool
	numbers       map[*ir.Var]int // of all variables that are used
}

func (u *usage) number(v *ir.Var) {
	if _, ok := u.numbers[v]; !ok {
		u.numbers[v] = len(u.numbers)
	}
}

func usageOf(b ir.Block) *usage {
	u := &usage{addressed: map[*ir.Var]bool{}, numbers: map[*ir.Var]int{}}
	// Slices by number are faster than maps.
	var reading, writing []int
	visit := func(v *ir.Var, how use) {
		n, ok := u.numbers[v]
		if !ok {
			n = len(u.numbers)
			u.numbers[v] = n
			reading, writing = append(reading, 0), append(writing, 0)
		}
		switch how {
		case reads:
			reading[n]++
		case writes:
			writing[n]++
		default:
			u.addressed[v] = true
		}
	}
	ir.Walk(b, func(s ir.Stmt) bool {
		uses(s, visit)
		return true
	})
	u.reads, u.writes = make(map[*ir.Var]int, len(reading)), make(map[*ir.Var]int, len(writing))
	for v, n := range u.numbers {
		if reading[n] > 0 {
			u.reads[v] = reading[n]
		}
		if writing[n] > 0 {
			u.writes[v] = writing[n]
		}
	}
	return u
}

// declares visits the variables that a statement itself gives a value as a whole, other
// than by a place.
func declares(s ir.Stmt, visit func(v *ir.Var)) {
	switch s := s.(type) {
	case *ir.Let:
		visit(s.V)
	case *ir.Call:
		for _, v := range s.Results {
			if v != nil {
				visit(v)
			}
		}
	case *ir.Copy:
		if s.N != nil {
			visit(s.N)
		}
	case *ir.Loop:
		if s.V != nil {
			visit(s.V)
		}
	}
}

// changes reports whether s or something in its blocks writes v or a part of it.
func changes(s ir.Stmt, v *ir.Var) (found bool) {
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		if !found {
			uses(s, func(w *ir.Var, how use) { found = found || w == v && how == writes })
		}
		return !found
	})
	return found
}

// readsVar reports whether e reads the variable v, or takes its address.
func readsVar(e ir.Expr, v *ir.Var) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil && p.Root == v {
			found = true
		}
		return !found
	})
	return found
}

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
func shell(m *ir.Map, s ir.Stmt) ir.Stmt {
	empty := blocks(s, func(ir.Block) ir.Block { return nil })
	k, inner := 0, ir.Blocks(s)
	return blocks(m.Block(ir.Block{empty})[0], func(ir.Block) ir.Block {
		k++
		return *inner[k-1]
	})
}

// whole is the variable that e reads as a whole, nil if e is something else.
func whole(e ir.Expr) *ir.Var {
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

func number(t types.Type, n int64) ir.Expr {
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

func elemOf(t types.Type) types.Type {
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
func leavesTo(b ir.Block, l *ir.Label) (found bool) {
	ir.Walk(b, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Leave); ok && s.L == l {
			found = true
		}
		return !found
	})
	return found
}

// blocks rewrites the blocks of a statement, in a copy of it.
func blocks(s ir.Stmt, f func(ir.Block) ir.Block) ir.Stmt {
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
