package simplify

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Buffers are the slices of numbers in fields of a workspace: stacks of the tape and reused allocations. The memory of
// each is its own.
type buffers struct {
	// variable → the workspace that it points to: -1 for the parameter, otherwise the index of the field that holds
	// the pointer
	spaces map[*ir.Var]int
	// field → a variable that stands for its memory, if that is always its own: the field is assigned nothing but new
	// memory and parts of itself
	fields map[field]*ir.Var
	// the slice of a field in a declaration outside of loops, if nothing else slices the field: as of new memory, no
	// other variable has it
	taken map[ir.Expr]bool
}

// A field is one of a workspace.
type field struct{ space, index int }

// buffersOf returns the buffers that f uses. The workspace of a second derivative has pointers to two others, for the
// tape and its tangent.
func buffersOf(f *ir.Func, work *ir.Var) *buffers {
	b := &buffers{spaces: map[*ir.Var]int{}, fields: map[field]*ir.Var{}, taken: map[ir.Expr]bool{}}
	if work == nil {
		return b
	}
	use := usageOf(f.Body)
	b.spaces[work] = -1
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		let, ok := s.(*ir.Let)
		if ok && use.keeps(let.V) && !use.addressed[let.V] && types.Identical(let.V.Type, work.Type) {
			if p := ir.PlaceOf(let.E); p != nil && p.Root == work && len(p.Path) == 2 && p.Path[1].Field >= 0 {
				b.spaces[let.V] = p.Path[1].Field
			}
		}
		return true
	})
	shared := map[field]bool{}
	slices := map[field][]ir.Expr{} // nil stands for an expression that may be evaluated several times
	var visit func(list ir.Block, loop bool)
	visit = func(list ir.Block, loop bool) {
		for _, s := range list {
			_, isLoop := s.(*ir.Loop)
			for _, nested := range ir.Blocks(s) {
				visit(*nested, loop || isLoop)
			}
			to, stores := b.field(ir.Target(s))
			if e := assigned(s); stores && e != nil {
				if of, same := b.base(e); !isMake(e) && !(same && of == to) {
					shared[to] = true
				}
			}
			ir.EachExpr(s, func(e ir.Expr) {
				ir.WalkExpr(e, func(x ir.Expr) bool {
					if _, ok := x.(*ir.Len); ok {
						return false
					}
					if of, ok := b.field(ir.PlaceOf(x)); ok && !(stores && of == to) && !onlyUses(s) {
						var once ir.Expr
						if let, ok := s.(*ir.Let); ok && !loop && let.E == e {
							once = e
						}
						slices[of] = append(slices[of], once)
					}
					return true
				})
			})
		}
	}
	visit(f.Body, false)
	for of, list := range slices {
		if shared[of] {
			continue
		}
		b.fields[of] = new(ir.Var)
		if len(list) == 1 && list[0] != nil {
			b.taken[list[0]] = true
		}
	}
	return b
}

// assigned returns the slice whose memory an assignment or append stores, nil for another statement.
func assigned(s ir.Stmt) ir.Expr {
	switch s := s.(type) {
	case *ir.Set:
		return s.E
	case *ir.Append:
		return s.S
	}
	return nil
}

// onlyUses reports whether s uses the memory of slices and does not keep them.
func onlyUses(s ir.Stmt) bool {
	switch s.(type) {
	case *ir.Clear, *ir.Copy:
		return true
	}
	return false
}

// isMake reports whether e is new memory.
func isMake(e ir.Expr) bool {
	_, ok := e.(*ir.Make)
	return ok
}

// field returns the field that p is, if it is a slice of numbers in a workspace.
func (b *buffers) field(p *ir.Place) (field, bool) {
	if p == nil || len(p.Path) != 2 || !p.Path[0].IsDeref() || p.Path[1].Field < 0 {
		return field{}, false
	}
	space, ok := b.spaces[p.Root]
	of := ir.ElemOf(p.Type())
	return field{space, p.Path[1].Field}, ok && of != nil && !ir.HasRefs(of)
}

// represents reports whether v represents a field.
func (b *buffers) represents(v *ir.Var) bool {
	for _, w := range b.fields {
		if w == v {
			return true
		}
	}
	return false
}

// base returns the field that e is a slice of.
func (b *buffers) base(e ir.Expr) (field, bool) {
	for {
		c, ok := e.(*ir.Slice)
		if !ok {
			return b.field(ir.PlaceOf(e))
		}
		e = c.X
	}
}
