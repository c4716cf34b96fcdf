package lanes

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A Vector is a function for four lanes in SIMD form, in which one vector holds the four lanes of a number. It returns
// the same numbers bit for bit.
type Vector struct {
	// Func is a wrapper with the signature of the lane form. It stores the floats among its arguments in memory, calls
	// Kernel, and loads the results.
	Func *ir.Func
	// Kernel does the work. All its floats are of type [ir.Vector], uniform ones included, and no parameter is a float,
	// since a transition between scalar and vector instructions may cost hundreds of cycles. The last parameter points
	// to an array of rows: one row of four numbers per float parameter and result, and one extra row.
	Kernel *ir.Func
}

// EnableVectors makes p build vector forms, where possible, of the functions built from now on. It does nothing unless
// there are four lanes.
func (p *Program) EnableVectors() {
	if p.types.n == ir.VectorLanes {
		p.vectors = map[*ir.Func]*Vector{}
	}
}

// Vector returns the vector form of the lane form f, or nil if it has none: the kernel cannot express f, or f is too
// short to gain.
func (p *Program) Vector(f *ir.Func) *Vector { return p.vectors[f] }

// buildVector returns the vector form of f, whose lane form is g, or nil if there is none.
func (r *generation) buildVector(f, g *ir.Func) (v *Vector) {
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(*Error); !ok {
				panic(e)
			}
			v = nil
		}
	}()
	b := &kernelBuilder{
		builder: &builder{
			generation: r, f: f, names: ir.NamerOf(f), onlyLane: -1,
			laneVars: map[*ir.Var]*ir.Var{}, scalarVars: map[*ir.Var][]*ir.Var{}, pendingReads: map[*ir.Var]bool{},
		},
		vectorVars: map[*ir.Var]*ir.Var{}, consts: map[string]*ir.Var{},
	}
	b.addressed, b.read = variableUses(f)
	k, rows := b.kernel()
	if b.worth < minWorth {
		return nil
	}
	k, _ = ir.Clone(k, nil)
	return &Vector{r.wrapper(f, g, k, rows.Type), k}
}

// wrapper returns the function with the signature of g, the lane form of f, that calls kernel k. RowsType is the type
// of the kernel's last parameter.
func (r *generation) wrapper(f, g, k *ir.Func, rowsType types.Type) *ir.Func {
	g, _ = ir.Clone(&ir.Func{Name: k.Name + "_call", Pos: g.Pos, Exit: g.Exit, Params: g.Params, Results: g.Results},
		nil)
	names := ir.NamerOf(g)
	rows := &ir.Var{Name: names.Name("rows"), Type: rowsType.(*types.Pointer).Elem()}
	call := &ir.Call{Callee: &ir.Callee{Func: k}}
	var after ir.Block
	g.Body = ir.Block{&ir.Let{V: rows}}
	next, row := 0, 0
	for i, v := range slices.Concat(f.Params, f.Results) {
		list := slices.Concat(g.Params, g.Results)[next:]
		if !ir.IsFloat(v.Type) {
			call.Args = append(call.Args, list[0].Load())
			next++
			continue
		}
		// A uniform float occupies the first column of its row.
		width := 1
		if r.divergent[v] {
			width = r.types.n
		}
		for lane, x := range list[:width] {
			p := &ir.Place{Root: rows, Path: []ir.Step{ir.IndexStep(ir.Count(row)), ir.IndexStep(ir.Count(lane))}}
			if i < len(f.Params) {
				g.Body = append(g.Body, &ir.Set{P: p, E: x.Load()})
			} else {
				after = append(after, &ir.Set{P: x.Place(), E: &ir.Load{Typed: ir.Typed{T: x.Type}, P: p}})
			}
		}
		next, row = next+width, row+1
	}
	call.Args = append(call.Args, &ir.Addr{Typed: ir.Typed{T: rowsType}, P: rows.Place()})
	g.Body = append(append(g.Body, call), after...)
	return g
}
