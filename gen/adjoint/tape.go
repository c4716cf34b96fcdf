package adjoint

import (
	"go/token"
	"go/types"
	"strings"
	"unicode"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The tape: recorded values are kept in fields of the workspace, a struct that outlives the call, so that its memory is
// reused by the next call.

// A Workspace is the struct type in which adjoints record values: mostly stacks, slices that the forward sweep appends
// to and the reverse sweep truncates, one for each place in the code that records. Since the reverse sweep pops in the
// reverse order of the pushes, the stacks also serve recursive functions. The zero value of the struct is ready for
// use.
type Workspace struct {
	Type   *types.Named // the declared type; its fields grow while adjoints are built
	fields []*types.Var
	pkg    *types.Package
	names  *ir.Namer // of fields
	pair   *[2]int   // see Pair, nil before its first call
}

// newWorkspace returns an empty struct type, declared in pkg.
func newWorkspace(pkg *types.Package, name string) *Workspace {
	obj := types.NewTypeName(token.NoPos, pkg, name, nil)
	w := &Workspace{Type: types.NewNamed(obj, types.NewStruct(nil, nil), nil), pkg: pkg, names: ir.NewNamer()}
	return w
}

// addStack adds a stack of values of type t, named after base, and returns its field index.
func (w *Workspace) addStack(base string, t types.Type) int {
	return w.addField(base, types.NewSlice(t))
}

// addField adds a field of type t, named after base, and returns its index. The order of calls decides the order of
// fields.
func (w *Workspace) addField(base string, t types.Type) int {
	w.fields = append(w.fields, types.NewField(token.NoPos, w.pkg, w.names.Name(base), t, false))
	w.Type.SetUnderlying(types.NewStruct(w.fields, nil))
	return len(w.fields) - 1
}

// Like adds a field of type t, named after field i, and returns its index. Vector mode uses it to keep the value of
// field i for each of several seeds.
func (w *Workspace) Like(i int, t types.Type) int { return w.addField(w.fields[i].Name(), t) }

// Pair returns the indices of two fields that are pointers to workspaces: that of a tangent of an adjoint, and its
// tangent.
func (w *Workspace) Pair() [2]int {
	if w.pair == nil {
		t := types.NewPointer(w.Type)
		w.pair = &[2]int{w.addField("tape", t), w.addField("tapeDot", t)}
	}
	return *w.pair
}

// declareStruct returns a new struct type for values in the workspace. Its name is that of the function followed by the
// given suffix.
func (sp *specialization) declareStruct(what string, fields []*types.Var) *types.Named {
	name, _, _ := strings.Cut(sp.g.f.Name, "[")
	r := []rune(ir.NewNamer().Name(name[strings.LastIndexByte(name, '.')+1:]))
	r[0] = unicode.ToLower(r[0])
	obj := types.NewTypeName(token.NoPos, sp.p.work.pkg, string(r)+what, nil)
	return types.NewNamed(obj, types.NewStruct(fields, nil), nil)
}

// A tapeStack is a stack of the workspace as seen by a function whose parameter ws points to the workspace.
type tapeStack struct {
	ws    *ir.Var
	field int        // index of the field
	elem  types.Type // type of the elements
}

// place returns the place at path in the stack.
func (s tapeStack) place(path ...ir.Step) *ir.Place {
	return &ir.Place{Root: s.ws, Path: append([]ir.Step{ir.DerefStep(), ir.FieldStep(s.field)}, path...)}
}

// load returns the stack as a slice.
func (s tapeStack) load() ir.Expr {
	return &ir.Load{Typed: ir.Typed{T: types.NewSlice(s.elem)}, P: s.place()}
}

// push returns a statement that pushes e.
func (s tapeStack) push(at ir.At, e ir.Expr) ir.Stmt {
	return &ir.Append{At: at, P: s.place(), S: s.load(), Elems: []ir.Expr{e}}
}

// pop returns statements that pop the top into p.
func (s tapeStack) pop(at ir.At, p *ir.Place) []ir.Stmt {
	return []ir.Stmt{
		&ir.Set{At: at, P: p, E: &ir.Load{Typed: ir.Typed{T: s.elem}, P: s.place(ir.IndexStep(s.last()))}},
		s.drop(at),
	}
}

// drop returns a statement that removes the top.
func (s tapeStack) drop(at ir.At) ir.Stmt {
	return &ir.Set{At: at, P: s.place(),
		E: &ir.Slice{Typed: ir.Typed{T: types.NewSlice(s.elem)}, X: s.load(), Hi: s.last()}}
}

// pushAll returns a statement that pushes the elements of e, a slice.
func (s tapeStack) pushAll(at ir.At, e ir.Expr) ir.Stmt {
	return &ir.Append{At: at, P: s.place(), S: s.load(), Elems: []ir.Expr{e}, Spread: true}
}

// popAll returns statements that pop as many values as e, a slice, has elements into these, in the order of pushAll.
func (s tapeStack) popAll(at ir.At, e ir.Expr) []ir.Stmt {
	t := ir.Typed{T: types.NewSlice(s.elem)}
	rest := &ir.Binary{Typed: ir.Typed{T: integer}, Op: token.SUB, X: ir.LenOf(s.load()), Y: ir.LenOf(e)}
	return []ir.Stmt{
		&ir.Copy{At: at, Dst: e, Src: &ir.Slice{Typed: t, X: s.load(), Lo: rest}},
		&ir.Set{At: at, P: s.place(), E: &ir.Slice{Typed: t, X: s.load(), Hi: rest}},
	}
}

// last returns the index of the top.
func (s tapeStack) last() ir.Expr {
	return &ir.Binary{Typed: ir.Typed{T: integer}, Op: token.SUB, X: ir.LenOf(s.load()), Y: ir.Count(1)}
}
