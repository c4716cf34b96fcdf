package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Loops of the reverse sweep, and the test whether their iterations may run in ascending order.

// fusedLoop returns fused loop n: each iteration runs its forward and then its reverse sweep. A continue of the forward
// sweep leaves a scope around it.
func (e *emitter) fusedLoop(n *node) ir.Stmt {
	s := *n.s.(*ir.Loop)
	e.depth++
	body := e.forward(n.then)
	e.depth--
	// A continue skips the rest of the forward sweep of the iteration, not its reversal.
	if ir.LeavesBeyond(body) {
		end := &ir.Label{Name: e.sp.g.names.Name("end")}
		m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
			if l == s.Next {
				return end
			}
			return l
		}}
		body = ir.Block{&ir.Scope{At: n.at, L: end, Body: m.Block(body)}}
	}
	body = append(e.declare(e.hoistedVars(n.then)), body...)
	s.Body = append(body, e.renameCopies(e.reverse(n.then))...)
	return &s
}

// reverseLoop returns the reversal of loop n. A loop over an int counting by 1 or -1 with known bounds is reversed over
// the same index, in ascending order if any order is right. Otherwise iterations are numbered, and the index is
// computed from the number.
func (e *emitter) reverseLoop(n *node, s *ir.Loop) ir.Block {
	body := e.reverse(n.then)
	if len(body) == 0 {
		return nil
	}
	names := e.sp.g.names
	// The bounds are exact: run over the same index.
	if n.loop.entered == nil && basicKind(s.V.Type) == types.Int {
		v := e.newReverseCopy(s.V)
		free := s.Step == 1 && reorderable(body, e.sp.locations.isShadow)
		if e.sp.p.apply(reordering, free) {
			return ir.Block{upward(names, n.at, v, n.loop.lo, n.loop.hi, body)}
		}
		switch s.Step {
		case 1:
			return ir.Block{downward(names, n.at, v, n.loop.lo, n.loop.hi, body)}
		case -1:
			return ir.Block{upward(names, n.at, v, plus1(n.loop.hi), plus1(n.loop.lo), body)}
		}
	}
	// Number the iterations.
	var out ir.Block
	k := e.sp.g.local("k", integer)
	var many ir.Expr
	if n.loop.entered != nil {
		many = n.loop.entered.Load()
	} else {
		m := e.sp.g.local("n", integer)
		out = append(out, e.tripCount(n, s, m)...)
		many = m.Load()
	}
	// The index of iteration k is lo + k·step, in the arithmetic of its type.
	if s.V != nil {
		v := e.newReverseCopy(s.V)
		t := s.V.Type
		by := ir.NewBinary(t, opMul, ir.ConvertTo(t, k.Load()), ir.IntConst(t, s.Step))
		body = append(ir.Block{&ir.Let{At: n.at, V: v, E: ir.NewBinary(t, opAdd, n.loop.lo, by)}}, body...)
	}
	return append(out, downward(names, n.at, k, ir.Count(0), many, body))
}

// tripCount returns statements that declare m and set it to the trip count of the counted loop n: 0, or
// ⌊(hi-lo-1)/step⌋+1 for an ascending one.
func (e *emitter) tripCount(n *node, s *ir.Loop, m *ir.Var) ir.Block {
	t := s.V.Type
	lo, hi, by := n.loop.lo, n.loop.hi, s.Step
	cond := ir.Compare(opLss, lo, hi)
	if by < 0 {
		lo, hi, by = hi, lo, -by
		cond = ir.Compare(opLss, lo, hi)
	}
	some := stepsBetween(t, lo, hi, by)
	return ir.Block{
		&ir.Let{At: n.at, V: m},
		&ir.If{At: n.at, Cond: cond, Then: ir.Block{&ir.Set{At: n.at, P: m.Place(), E: some}}},
	}
}

// reorderable reports whether iterations with the given body, of a reverse sweep, may run in any order, up to the
// rounding of sums: all that one leaves to others is added to shadow memory and to variables that none of them reads.
// Ascending loops are preferred because the compiler eliminates more bounds checks in them. shadow reports whether a
// variable is a shadow.
func reorderable(b ir.Block, shadow func(*ir.Var) bool) bool {
	o := reorderCheck{declared: map[*ir.Var]bool{}, sums: map[*ir.Var]bool{}, shadow: shadow}
	if !o.findDeclared(b) || !o.findSums(b) {
		return false
	}
	ok := true
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if l, load := e.(*ir.Load); load && o.readsSum(l.P) {
					ok = false
				}
				return ok
			})
		}
		return ok
	})
	return ok
}

// A reorderCheck collects the effects of a loop body for reorderable.
type reorderCheck struct {
	declared map[*ir.Var]bool // variables declared in the body
	sums     map[*ir.Var]bool // variables from outside that are accumulated into
	memory   bool             // shadow memory is accumulated into
	shadow   func(*ir.Var) bool
}

// findDeclared fills o.declared. It reports false if b has other statements than declarations, assignments of
// variables, accumulations, branches and counted loops.
func (o *reorderCheck) findDeclared(b ir.Block) bool {
	ok := true
	ir.Walk(b, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			o.declared[s.V] = true
		case *ir.Loop:
			ok = ok && s.V != nil
			if s.V != nil {
				o.declared[s.V] = true
			}
		case *ir.Add, *ir.If:
		case *ir.Set:
			ok = ok && !s.P.Indirect()
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// findSums fills o.sums and o.memory. It reports false if b assigns variables from outside, or accumulates into memory
// other than shadows, or into integers from outside.
func (o *reorderCheck) findSums(b ir.Block) bool {
	ok := true
	ir.Walk(b, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Set:
			ok = ok && o.declared[s.P.Root]
		case *ir.Add:
			switch {
			case !ir.IsContinuous(s.P.Type()):
				ok = ok && o.declared[s.P.Root] && !s.P.Indirect()
			case s.P.Indirect():
				ok = ok && o.shadow(s.P.Root)
				o.memory = true
			case !o.declared[s.P.Root]:
				o.sums[s.P.Root] = true
			}
		}
		return ok
	})
	return ok
}

// readsSum reports whether a read of p may see a location that is accumulated into.
func (o *reorderCheck) readsSum(p *ir.Place) bool {
	if !p.Indirect() {
		return o.sums[p.Root]
	}
	return o.memory && ownFloats(p.Type()) && o.shadow(p.Root)
}
