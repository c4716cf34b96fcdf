package adjoint

import (
	"go/token"
	"go/types"
	"strings"
	"unicode"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Workspace is the struct that adjoints keep values in: a stack for each place in the
// code that keeps one. Its zero value is ready. A reverse sweep takes from the stacks
// what its forward sweep put there, the last first, in recursive functions too.
type Workspace struct {
	Type   *types.Named
	fields []*types.Var
	pkg    *types.Package
	names  *ir.Namer
}

func newWorkspace(pkg *types.Package, name string) *Workspace {
	obj := types.NewTypeName(token.NoPos, pkg, name, nil)
	w := &Workspace{Type: types.NewNamed(obj, types.NewStruct(nil, nil), nil), pkg: pkg, names: ir.NewNamer()}
	return w
}

// stack adds a stack for values of type t and returns the number of its field.
func (w *Workspace) addStack(base string, t types.Type) int {
	return w.addField(base, types.NewSlice(t))
}

// field adds a field and returns its number.
func (w *Workspace) addField(base string, t types.Type) int {
	w.fields = append(w.fields, types.NewField(token.NoPos, w.pkg, w.names.Name(base), t, false))
	w.Type.SetUnderlying(types.NewStruct(w.fields, nil))
	return len(w.fields) - 1
}

// Like adds a field of type t for what field i holds, and returns its number: where
// adjoints are made for several seeds.
func (w *Workspace) Like(i int, t types.Type) int { return w.addField(w.fields[i].Name(), t) }

// declared makes a struct type for what the function keeps in the workspace, named after it.
func (b *builder) declareStruct(what string, fields []*types.Var) *types.Named {
	name, _, _ := strings.Cut(b.g.f.Name, "[")
	r := []rune(ir.NewNamer().Name(name[strings.LastIndexByte(name, '.')+1:]))
	r[0] = unicode.ToLower(r[0])
	obj := types.NewTypeName(token.NoPos, b.p.work.pkg, string(r)+what, nil)
	return types.NewNamed(obj, types.NewStruct(fields, nil), nil)
}

// stack is one of the stacks as a place of a function, whose parameter ws leads to the
// workspace.
type tapeStack struct {
	ws    *ir.Var
	field int
	elem  types.Type
}

func (s tapeStack) place(path ...ir.Step) *ir.Place {
	return &ir.Place{Root: s.ws, Path: append([]ir.Step{ir.DerefStep(), ir.FieldStep(s.field)}, path...)}
}

func (s tapeStack) load() ir.Expr {
	return &ir.Load{Typed: ir.Typed{T: types.NewSlice(s.elem)}, P: s.place()}
}

// push puts e on top.
func (s tapeStack) push(at ir.At, e ir.Expr) ir.Stmt {
	return &ir.Append{At: at, P: s.place(), S: s.load(), Elems: []ir.Expr{e}}
}

// pop takes the top off and assigns it to p.
func (s tapeStack) pop(at ir.At, p *ir.Place) []ir.Stmt {
	return []ir.Stmt{
		&ir.Set{At: at, P: p, E: &ir.Load{Typed: ir.Typed{T: s.elem}, P: s.place(ir.IndexStep(s.last()))}},
		s.drop(at),
	}
}

// drop takes the top off.
func (s tapeStack) drop(at ir.At) ir.Stmt {
	return &ir.Set{At: at, P: s.place(),
		E: &ir.Slice{Typed: ir.Typed{T: types.NewSlice(s.elem)}, X: s.load(), Hi: s.last()}}
}

// last is the index of the top.
func (s tapeStack) last() ir.Expr {
	return &ir.Binary{Typed: ir.Typed{T: integer}, Op: token.SUB, X: length(s.load()), Y: count(1)}
}
