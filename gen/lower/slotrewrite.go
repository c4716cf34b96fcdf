package lower

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower/retype"
)

// A mapRewriter rewrites maps to slot maps, see slotmaps.go.
type mapRewriter struct {
	*retype.Rewriter[mapFacts]
	a     *mapAnalysis
	types typeutil.Map // *types.Map → pointer to the struct of its slot maps
}

// The fields of the struct of a slot map.
const (
	slotIndex = iota // a Go map from keys to slots
	slotElems        // the elements by slot
)

func (w *mapRewriter) ReplaceType(t types.Type, g *mapGroup) types.Type {
	m := t.Underlying().(*types.Map)
	if u, ok := w.types.At(m).(types.Type); ok {
		return u
	}
	u := w.Declare(token.NoPos, "slotMap")
	w.types.Set(m, types.NewPointer(u)) // before the type of elements, which may refer to it
	u.SetUnderlying(types.NewStruct([]*types.Var{
		slotIndex: types.NewField(token.NoPos, nil, "index", types.NewMap(m.Key(), types.Typ[types.Int]), false),
		slotElems: types.NewField(token.NoPos, nil, "elems", types.NewSlice(w.Type(m.Elem(), g)), false),
	}, nil))
	return w.types.At(m).(types.Type)
}

func (w *mapRewriter) ReplaceExpr(ir.Expr, *mapGroup) ir.Expr { return nil }

// Affects is false: statements without slot maps are not affected.
func (w *mapRewriter) Affects(ir.Stmt) bool { return false }

// ReplaceStmt emits the statements of operations on maps.
func (w *mapRewriter) ReplaceStmt(s ir.Stmt) bool {
	c, ok := s.(*ir.Call)
	if !ok || c.Callee.Rule == nil {
		return false
	}
	if c.Callee.Rule.Name == runtimePath+".MakeMap" && w.Replaces(w.Group(c.Results[0])) {
		w.make(c.At, w.Var(c.Results[0]))
		return true
	}
	if w.a.slotOperand(c) == nil {
		return false
	}
	w.operation(c)
	return true
}

// make emits statements that make a slot map.
func (w *mapRewriter) make(at ir.At, v *ir.Var) {
	index := w.Temp("index", slotField(v, slotIndex).Type(), nil)
	w.Emit(mapOperation(at, "MakeMap", nil, index),
		&ir.Set{At: at, P: v.Place(), E: &ir.New{Typed: ir.Typed{T: v.Type}}},
		&ir.Set{At: at, P: slotField(v, slotIndex), E: index.Load()})
}

// slotField returns a field of the slot map that v points to.
func slotField(v *ir.Var, i int) *ir.Place {
	return ir.Extend(v.Place(), ir.DerefStep(), ir.FieldStep(i))
}

// operation emits the statements of an operation on a slot map. Operations on nil do nothing, except a store, which
// panics.
func (w *mapRewriter) operation(s *ir.Call) {
	g, results := w.Value(s.Args[0]), w.Vars(s.Results)
	m := w.Expr(s.Args[0], nil)
	v := ir.VarOf(m)
	if v == nil {
		v = w.Temp("m", m.Type(), m)
	}
	index, elems := slotField(v, slotIndex), slotField(v, slotElems)
	list := elems.Type()
	element := func(i *ir.Var) *ir.Place { return ir.Extend(elems, ir.IndexStep(i.Load())) }
	args := []ir.Expr{ir.LoadOf(index, index.Type())}
	if len(s.Args) > 1 {
		args = append(args, w.Expr(s.Args[1], nil))
	}
	name := s.Callee.Rule.Object.Name()
	var body ir.Block
	switch name {
	case "MapGet":
		i := w.NewVar("slot", types.Typ[types.Int])
		found := results[1]
		body = ir.Block{&ir.Let{At: s.At, V: i}, mapOperation(s.At, "MapGet", args, i, found),
			&ir.If{At: s.At, Cond: found.Load(), Then: ir.Block{&ir.Set{At: s.At, P: results[0].Place(),
				E: ir.LoadOf(element(i), ir.ElemOf(list))}}}}
	case "MapSet":
		e := w.Expr(s.Args[2], g)
		if !ir.IsConst(e) && ir.VarOf(e) == nil {
			e = w.Temp("element", ir.ElemOf(list), e).Load()
		}
		i := w.Temp("slot", types.Typ[types.Int], nil)
		found := w.Temp("found", types.Typ[types.Bool], nil)
		add := ir.Block{
			mapOperation(s.At, "MapSet", append(slices.Clone(args), ir.LenOf(ir.LoadOf(elems, list)))),
			&ir.Append{At: s.At, P: elems, S: ir.LoadOf(elems, list), Elems: []ir.Expr{e}}}
		w.Emit(mapOperation(s.At, "MapGet", args, i, found), &ir.If{At: s.At, Cond: found.Load(),
			Then: ir.Block{&ir.Set{At: s.At, P: element(i), E: e}}, Else: add})
		return
	case "MapClear":
		body = ir.Block{mapOperation(s.At, name, args), &ir.Set{At: s.At, P: elems, E: ir.Zero(list)}}
	default:
		body = ir.Block{mapOperation(s.At, name, args, results...)}
	}
	if g.Facts().nilable {
		w.Emit(&ir.If{At: s.At, Cond: ir.Compare(token.NEQ, v.Load(), ir.Zero(v.Type)), Then: body})
		return
	}
	w.Emit(body...)
}
