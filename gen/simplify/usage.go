package simplify

import "github.com/nabla-ad/nabla/gen/ir"

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
	visitDefined(s, func(v *ir.Var) { visit(v, writes) })
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
func visitDefined(s ir.Stmt, visit func(v *ir.Var)) {
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
func writesVar(s ir.Stmt, v *ir.Var) (found bool) {
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
