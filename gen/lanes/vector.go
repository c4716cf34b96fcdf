package lanes

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Vector is what a function for four lanes is where the processor computes four numbers at
// once. It gives the same numbers bit for bit.
type Vector struct {
	// Func has the parameters and results of the function.
	Func *ir.Func
	// Kernel does the work. All floats that it computes with are of type [ir.Vector], also
	// those of which there is one for all lanes, and none are among its parameters: where
	// the processor changes between numbers and vectors it may stop for hundreds of cycles.
	// Its last parameter points to memory for them, and for four numbers more behind.
	Kernel *ir.Func
}

// Vectors has vectors made of the functions that can have them, from here on.
func (p *Program) EnableVectors() {
	if p.types.n == ir.VectorLanes {
		p.vectors = map[*ir.Func]*Vector{}
	}
}

// Vector is what a function that this program made is in vectors, nil if it cannot be or
// would not gain by it.
func (p *Program) Vector(f *ir.Func) *Vector { return p.vectors[f] }

// vector makes of f, of which g is the form for several lanes, the one in vectors, nil
// where there is none.
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

// around calls kernel k, which takes numbers in memory of type rows, with the parameters
// and results of g.
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
		width := 1
		if r.divergent[v] {
			width = r.types.n
		}
		for lane, x := range list[:width] {
			p := &ir.Place{Root: rows, Path: []ir.Step{ir.IndexStep(intConst(row)), ir.IndexStep(intConst(lane))}}
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
