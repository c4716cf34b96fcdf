package lower

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower/retype"
)

// Unions: interface values that lowered functions make and no other code sees. Such a value becomes a struct with a
// number that says which type the value has, 0 for nil, and a field for each type that is converted to the interface.
// Numbers in it carry derivatives as those in every struct do, wherever the interface is held: in a variable, in a
// struct that a constructor returns, or in a slice that grows by append.
//
// Package retype finds the variables that hold such values and rewrites functions; this file has the facts about
// interface values that it collects, unionrewrite.go the expressions over unions.

// unionFacts are the facts about a group of interface values.
type unionFacts struct {
	wanted bool         // values that lead to numbers are taken out
	types  []types.Type // the types that are converted to an interface, without repetition
	made   *types.Named // the struct, once it is made
}

type unionGroup = retype.Group[unionFacts]

// add adds a type of values. Types are ordered by compareTypes.
func (f *unionFacts) add(t types.Type) {
	if f.number(t) == 0 {
		i, _ := slices.BinarySearchFunc(f.types, t, compareTypes)
		f.types = slices.Insert(f.types, i, t)
	}
}

// number returns the number of type t, counted from 1, or 0 if no value has it.
func (f *unionFacts) number(t types.Type) int {
	return 1 + slices.IndexFunc(f.types, func(u types.Type) bool { return types.Identical(t, u) })
}

// A unionAnalysis finds the groups of the interface values of the functions that one function reaches.
type unionAnalysis struct {
	*retype.Analysis[unionFacts]
}

// isInterface reports whether values of type t may be unions: t is an interface type, and not error.
func isInterface(t types.Type) bool {
	_, ok := t.Underlying().(*types.Interface)
	return ok && isDispatched(t)
}

func (a *unionAnalysis) IsReplaced(t types.Type) bool { return isInterface(t) }

func (a *unionAnalysis) IsBarrier(t types.Type) bool {
	switch t.(type) {
	case *types.Map, *types.Chan, *types.Signature:
		return true
	}
	return false
}

func (a *unionAnalysis) MergeFacts(to, from *unionFacts) {
	to.wanted = to.wanted || from.wanted
	if to.made == nil {
		to.made = from.made
	}
	for _, t := range from.types {
		to.add(t)
	}
}

func (a *unionAnalysis) CanReplace(f *unionFacts) bool {
	return f.wanted && len(f.types) > 0 && len(f.types) <= maxDynamicTypes
}

// Makes is false: interface values are made by conversions.
func (a *unionAnalysis) Makes(*ir.Opaque) bool { return false }

func (a *unionAnalysis) NoteType(*unionGroup, types.Type) {}

// NoteValue notes the types that are converted to an interface.
func (a *unionAnalysis) NoteValue(g *unionGroup, e ir.Expr) {
	c, ok := e.(*ir.Convert)
	if !ok {
		return
	}
	if x := c.X.Type(); isInterface(c.T) && !types.IsInterface(x) {
		g.Facts().add(x)
	} else if types.IsInterface(x) && !isInterface(x) { // an error
		g.SetForeign()
	}
}

// NoteExpr notes assertions, which take values out of an interface.
func (a *unionAnalysis) NoteExpr(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Opaque:
		return e.Format == ir.UnknownTypeCall
	case *ir.Convert:
		g := a.Value(e.X)
		if g == nil || !isInterface(e.X.Type()) || types.IsInterface(e.T) {
			return false
		}
		if hasFloats(e.T) || ir.ContainsFloats(e.T) {
			g.Facts().wanted = true
		}
		return true
	}
	return false
}

// NoteCall notes nothing: rules do not know unions.
func (a *unionAnalysis) NoteCall(*ir.Call) bool { return false }

// convertsToInterface reports whether f makes an interface value that may be a union.
func convertsToInterface(f *ir.Func) (found bool) {
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				c, ok := e.(*ir.Convert)
				found = found || ok && isInterface(c.T) && !types.IsInterface(c.X.Type())
				return !found
			})
		})
		return !found
	})
	return found
}

// rewriteUnions returns f with unions in it and in the functions that it calls. funcs are all lowered functions that f
// reaches, those of rules included.
func (p *Program) rewriteUnions(f *ir.Func, funcs []*ir.Func) *ir.Func {
	if !slices.ContainsFunc(funcs, convertsToInterface) {
		return f
	}
	a := &unionAnalysis{}
	a.Analysis = retype.NewAnalysis(a, f, funcs)
	a.Run()
	w := &unionRewriter{known: map[*ir.Var]types.Type{}}
	w.Rewriter = retype.NewRewriter(a.Analysis, w, p.copyName)
	return w.Func(f)
}
