package lanes

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// varied is what depends on the lane, of a function and those that it calls. Cells are
// variables, each with all that it leads to, and the fields of the workspace.
type divergence struct {
	program    *Program
	divergent  map[any]bool
	dependents map[any][]any // to what depends on a cell
	workFields map[*ir.Func][]field
	allocated  map[any]bool // slices that are made where they are declared
}

// field is a field of the workspace.
type field int

// vary finds out what depends on the lane where certain parameters and results do.
func (p *Program) analyzeDivergence(f *ir.Func, params, results activity.Mask) *divergence {
	v := &divergence{program: p, divergent: map[any]bool{}, dependents: map[any][]any{}, workFields: map[*ir.Func][]field{},
		allocated: map[any]bool{}}
	for _, g := range p.reachable(f) {
		v.collectFields(g)
		v.block(g.Body, nil)
	}
	var worklist []any
	mark := func(c any) {
		if !v.divergent[c] {
			v.divergent[c] = true
			worklist = append(worklist, c)
		}
	}
	for i, x := range f.Params {
		if params.Has(i) {
			mark(x)
		}
	}
	for i, x := range f.Results {
		if results.Has(i) {
			mark(x)
		}
	}
	for len(worklist) > 0 {
		c := worklist[len(worklist)-1]
		worklist = worklist[:len(worklist)-1]
		for _, d := range v.dependents[c] {
			mark(d)
		}
	}
	return v
}

// fields notes which fields of the workspace a function names.
func (v *divergence) collectFields(f *ir.Func) {
	add := func(p *ir.Place) {
		if c, ok := v.cell(p).(field); ok && !slices.Contains(v.workFields[f], c) {
			v.workFields[f] = append(v.workFields[f], c)
		}
	}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if p := ir.Target(s); p != nil {
			add(p)
		}
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if p := ir.PlaceOf(e); p != nil {
					add(p)
				}
				return true
			})
		}
		return true
	})
	slices.Sort(v.workFields[f])
}

// isWork reports whether t is that of a pointer to the workspace.
func (p *Program) isWorkspace(t types.Type) bool {
	ptr, ok := t.Underlying().(*types.Pointer)
	return ok && p.workspace != nil && types.Identical(ptr.Elem(), p.workspace.Type)
}

// cell is the cell of what is at p, nil if it has none.
func (v *divergence) cell(p *ir.Place) any {
	switch {
	case p.Root.Kind == ir.Global:
		return nil
	case !v.program.isWorkspace(p.Root.Type):
		return p.Root
	case len(p.Path) < 2:
		return nil
	}
	return field(p.Path[1].Field)
}

// differs reports whether what is at p depends on the lane.
func (v *divergence) isDivergent(p *ir.Place) bool {
	c := v.cell(p)
	return c != nil && v.divergent[c]
}

// leads reports whether a value of type t leads to floats in memory.
func refersToFloats(t types.Type) bool { return activity.HasFloats(t) && activity.HasRefs(t) }

// parts visits the cells that the value of e is made of; shared says that what the value
// leads to is theirs.
func (v *divergence) eachCell(e ir.Expr, visit func(c any, shared bool)) {
	if e == nil || !activity.HasFloats(e.Type()) {
		return
	}
	place := func(p *ir.Place, shared bool) {
		if c := v.cell(p); c != nil {
			visit(c, shared)
		}
	}
	switch e := e.(type) {
	case *ir.Load:
		place(e.P, refersToFloats(e.T))
	case *ir.Addr:
		place(e.P, true)
	case *ir.SliceAt:
		place(e.P, true)
	case *ir.Slice:
		v.eachCell(e.X, visit)
	default:
		for _, x := range ir.Operands(e) {
			v.eachCell(x, visit)
		}
	}
}

// flow says that e is assigned to a cell. What leads to memory depends on the lane in both
// or in none.
func (v *divergence) flow(e ir.Expr, to any) {
	if to == nil {
		return
	}
	v.eachCell(e, func(c any, shared bool) {
		v.addEdge(c, to)
		if shared {
			v.addEdge(to, c)
		}
	})
}

func (v *divergence) addEdge(from, to any) { v.dependents[from] = append(v.dependents[from], to) }

// contents says that the elements of a slice are copied to another. Memory that is made
// here may as well be there for each lane, which makes the copy one of slices of one type.
func (v *divergence) flowElements(src, dst ir.Expr) {
	v.eachCell(dst, func(to any, _ bool) {
		v.eachCell(src, func(from any, _ bool) {
			v.addEdge(from, to)
			if s, ok := src.Type().Underlying().(*types.Slice); ok && refersToFloats(s.Elem()) || v.allocated[from] {
				v.addEdge(to, from)
			}
		})
	})
}

// guard is a condition around statements: the cells of the numbers that it reads, and
// the variables that are declared under it.
type guard struct {
	cells    []any
	declared map[*ir.Var]bool
}

// block goes through statements. What is assigned there to variables that are declared
// outside of a condition depends on what that reads.
func (v *divergence) block(b ir.Block, guards []guard) {
	for _, s := range b {
		assigned := func(c any) {
			for _, g := range guards {
				if x, ok := c.(*ir.Var); c == nil || ok && g.declared[x] {
					continue
				}
				for _, o := range g.cells {
					v.addEdge(o, c)
				}
			}
		}
		if p := ir.Target(s); p != nil {
			assigned(v.cell(p))
		}
		switch s := s.(type) {
		case *ir.Let:
			for _, g := range guards {
				g.declared[s.V] = true
			}
			if _, ok := s.E.(*ir.Make); ok {
				v.allocated[s.V] = true
			}
			v.flow(s.E, s.V)
		case *ir.Set:
			v.flow(s.E, v.cell(s.P))
		case *ir.Add:
			v.flow(s.E, v.cell(s.P))
		case *ir.Append:
			to := v.cell(s.P)
			v.flow(s.S, to)
			for _, e := range s.Elems {
				if s.Spread {
					v.flowElements(e, &ir.Load{Typed: ir.Typed{T: s.P.Type()}, P: s.P})
				} else {
					v.flow(e, to)
				}
			}
		case *ir.Copy:
			v.flowElements(s.Src, s.Dst)
			v.eachCell(s.Dst, func(c any, _ bool) { assigned(c) })
		case *ir.Clear:
			v.eachCell(s.S, func(c any, _ bool) { assigned(c) })
		case *ir.Call:
			v.call(s, assigned)
		case *ir.If:
			guards := guards
			if list := v.condCells(s.Cond); len(list) > 0 {
				guards = append(guards[:len(guards):len(guards)], guard{list, map[*ir.Var]bool{}})
			}
			v.block(s.Then, guards)
			v.block(s.Else, guards)
		case *ir.Scope:
			v.block(s.Body, guards)
		case *ir.Loop:
			v.block(s.Body, guards)
		}
	}
}

func (v *divergence) call(s *ir.Call, assigned func(c any)) {
	for _, x := range s.Results {
		if x != nil {
			assigned(x)
		}
	}
	f := s.Callee.Func
	if front, each := v.program.perLane[calleeKey(s.Callee)]; each || f == nil { // what it gives depends on what it takes
		for i, x := range s.Results {
			for k, a := range s.Args {
				if x != nil && activity.HasFloats(x.Type) && (i >= front.results || k < front.params) {
					v.eachCell(a, func(c any, _ bool) { v.addEdge(c, x) })
				}
			}
		}
		return
	}
	for i, a := range s.Args {
		v.flow(a, f.Params[i])
	}
	for i, x := range s.Results {
		if x != nil {
			v.flow(f.Results[i].Load(), x)
		}
	}
}

// numbers are the cells of the numbers that e, a condition, reads.
func (v *divergence) condCells(e ir.Expr) (list []any) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Len:
			return false
		case *ir.Load:
			if c := v.cell(e.P); c != nil && ir.IsFloat(e.T) {
				list = append(list, c)
			}
		}
		return true
	})
	return list
}
