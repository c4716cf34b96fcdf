package lanes

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// A divergence holds the result of divergence analysis for a function and its callees: the cells whose contents may
// differ between lanes. A cell is an *ir.Var, which stands for the variable with all memory reachable from it, or a
// field of the workspace. The analysis is flow-insensitive and context-insensitive, so each
// cell is visited once.
type divergence struct {
	program    *Program
	divergent  map[any]bool         // the set of divergent cells
	dependents map[any][]any        // cell → cells that are divergent if it is
	workFields map[*ir.Func][]field // function → fields of the workspace it names, sorted
	allocated  map[any]bool         // slice variables whose declaration allocates them
}

// A field is a field of the workspace by index, as a cell.
type field int

// analyzeDivergence computes the divergence of f and its callees if the given parameters and results are divergent: the
// cells reachable from theirs along dependents.
func (p *Program) analyzeDivergence(f *ir.Func, params, results activity.Mask) *divergence {
	v := &divergence{
		program: p, divergent: map[any]bool{}, dependents: map[any][]any{}, workFields: map[*ir.Func][]field{},
		allocated: map[any]bool{},
	}
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

// collectFields sets workFields for f.
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

// isWorkspace reports whether t is the type of pointers to the workspace.
func (p *Program) isWorkspace(t types.Type) bool {
	ptr, ok := t.Underlying().(*types.Pointer)
	return ok && p.workspace != nil && types.Identical(ptr.Elem(), p.workspace.Type)
}

// cell returns the cell that p belongs to, or nil if there is none: global variables, and the workspace as a whole, are
// uniform.
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

// isDivergent reports whether the contents of p may differ between lanes.
func (v *divergence) isDivergent(p *ir.Place) bool {
	c := v.cell(p)
	return c != nil && v.divergent[c]
}

// refersToFloats reports whether a value of type t contains references and leads to floats.
func refersToFloats(t types.Type) bool { return activity.HasFloats(t) && ir.HasRefs(t) }

// eachCell visits the cells that the value of e depends on; shared is set if the value contains references to memory of
// the cell. Values without floats depend on none: indices and lengths are uniform.
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

// flow notes that the value of e is assigned to cell to, which may be nil. If they share memory, dependence goes both
// ways, as memory is divergent under all its names.
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

// addEdge makes to divergent if from is.
func (v *divergence) addEdge(from, to any) { v.dependents[from] = append(v.dependents[from], to) }

// flowElements notes that the elements of slice src are copied to dst. If the elements are references, or src is
// allocated here, dependence goes both ways: making fresh memory divergent is harmless and gives the copy slices of one
// type.
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

// A condition is an enclosing branch with a condition on numbers: a source of control dependence.
type condition struct {
	cells    []any            // those that the condition reads
	declared map[*ir.Var]bool // variables declared under the condition, which are not affected
}

// block adds the dependences of the statements in b. Cells assigned under conditions depend on the cells in
// these, unless the variable is declared under the condition.
func (v *divergence) block(b ir.Block, conditions []condition) {
	for _, s := range b {
		assigned := func(c any) {
			for _, g := range conditions {
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
			for _, g := range conditions {
				g.declared[s.V] = true
			}
			if _, ok := s.E.(*ir.Make); ok {
				// See flowElements.
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
			conditions := conditions
			if list := v.condCells(s.Cond); len(list) > 0 {
				// The branches get their own condition; the caller's slice must not change.
				conditions = append(conditions[:len(conditions):len(conditions)], condition{list, map[*ir.Var]bool{}})
			}
			v.block(s.Then, conditions)
			v.block(s.Else, conditions)
		case *ir.Scope:
			v.block(s.Body, conditions)
		case *ir.Loop:
			v.block(s.Body, conditions)
		}
	}
}

// call adds the dependences of a call: arguments flow to parameters and results to the variables assigned. For callees
// without a body, or called once per lane, results depend on arguments directly.
func (v *divergence) call(s *ir.Call, assigned func(c any)) {
	for _, x := range s.Results {
		if x != nil {
			assigned(x)
		}
	}
	f := s.Callee.Func
	if front, each := v.program.perLane[calleeKey(s.Callee)]; each || f == nil {
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

// condCells returns the cells of the floats that condition e reads.
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
