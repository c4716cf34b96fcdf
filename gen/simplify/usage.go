package simplify

import "github.com/nabla-ad/nabla/gen/ir"

// A use is the way in which a statement uses a variable.
type use uint8

const (
	reads     use = iota // loads it, or a header in it on the way to memory
	writes               // assigns it or a part of it; a declaration is a write
	addresses            // takes its address
)

// uses visits the variables that s itself uses, once for each occurrence. Uses in the blocks of s are not visited. A
// store to memory reads the root of its place; p += e reads and writes p if it is direct.
func uses(s ir.Stmt, visit func(v *ir.Var, how use)) {
	ir.EachExpr(s, func(e ir.Expr) { exprUses(e, visit) })
	if p := ir.Target(s); p != nil {
		// The store reads the reference in the root and does not write the root itself.
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

// exprUses visits the variables that e loads from or takes the address of, once for each occurrence.
func exprUses(e ir.Expr, visit func(v *ir.Var, how use)) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		p := ir.PlaceOf(e)
		if p == nil {
			return true
		}
		// An address of an indirect place reads the reference only.
		if _, load := e.(*ir.Load); load || p.Indirect() {
			visit(p.Root, reads)
		} else {
			visit(p.Root, addresses)
		}
		return true
	})
}

// A usage counts the uses of each variable in a block and the blocks nested in it.
type usage struct {
	reads, writes map[*ir.Var]int  // variable → number of uses; variables without any are missing
	addressed     map[*ir.Var]bool // variables whose address is taken somewhere
	numbers       map[*ir.Var]int  // variable → dense number, for bit sets; all variables that are used have one
}

// keeps reports whether v keeps its value, unless a pointer writes it: a parameter that is never written, or a local
// variable written only by its declaration.
func (u *usage) keeps(v *ir.Var) bool {
	return v.Kind == ir.Param && u.writes[v] == 0 || v.Kind == ir.Local && u.writes[v] == 1
}

// number gives v a number if it has none.
func (u *usage) number(v *ir.Var) {
	if _, ok := u.numbers[v]; !ok {
		u.numbers[v] = len(u.numbers)
	}
}

// usageOf counts the uses of variables in b, in time linear in its size.
func usageOf(b ir.Block) *usage {
	u := &usage{addressed: map[*ir.Var]bool{}, numbers: map[*ir.Var]int{}}
	// Counting in slices indexed by number is faster than in maps.
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

// visitDefined visits the variables that s itself defines as a whole without naming them in a place: declared
// variables, results of calls and of copy, and loop indices.
func visitDefined(s ir.Stmt, visit func(v *ir.Var)) {
	ir.EachResult(s, visit)
	switch s := s.(type) {
	case *ir.Let:
		visit(s.V)
	case *ir.Loop:
		if s.V != nil {
			visit(s.V)
		}
	}
}

// writesVar reports whether s, or a statement in its blocks, writes v or a part of it directly, not through a pointer.
func writesVar(s ir.Stmt, v *ir.Var) (found bool) {
	ir.Walk(ir.Block{s}, func(s ir.Stmt) bool {
		if !found {
			uses(s, func(w *ir.Var, how use) { found = found || w == v && how == writes })
		}
		return !found
	})
	return found
}

// readsVar reports whether e loads v, a part of it or memory reached from it, or takes such an address.
func readsVar(e ir.Expr, v *ir.Var) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil && p.Root == v {
			found = true
		}
		return !found
	})
	return found
}
