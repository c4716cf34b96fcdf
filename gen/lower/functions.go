package lower

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower/retype"
)

// Function values in memory that lowered functions make and no other code sees become structs, as interface values do
// (unions.go): a number that says which function the value is, 0 for nil, and a field for the captured variables of
// each. A call becomes a branch for each function.
//
// Package retype finds the variables that hold such values, and with them the functions that a value may be: those that
// flow there. A call merges the groups of its operands with those of the parameters of these functions, until nothing
// changes. This file has the facts about function values, functionrewrite.go the expressions and calls.
//
// Values that other code sees, such as a field of a parameter, remain Go functions. A call compares the value with the
// declared functions that the loaded packages assign to the field, and panics if it is none of them.

// functionFacts are the facts about a group of function values. Values of one group may be of several types.
type functionFacts struct {
	functions []*storedFunction // ordered by format
	called    bool
	made      []madeFunctionType
}

// A madeFunctionType is the struct of the values of type sig in a group.
type madeFunctionType struct {
	sig *types.Signature
	t   *types.Named
}

type functionGroup = retype.Group[functionFacts]

// add adds a function.
func (f *functionFacts) add(m *storedFunction) {
	i, known := slices.BinarySearchFunc(f.functions, m, compareStored)
	if !known {
		f.functions = slices.Insert(f.functions, i, m)
	}
}

// compareStored orders functions by format.
func compareStored(a, b *storedFunction) int { return strings.Compare(a.format, b.format) }

// of returns the functions of type sig.
func (f *functionFacts) of(sig *types.Signature) (list []*storedFunction) {
	for _, m := range f.functions {
		if types.Identical(m.sig, sig) {
			list = append(list, m)
		}
	}
	return list
}

// A functionAnalysis finds the groups of the function values of the functions that one function reaches.
type functionAnalysis struct {
	*retype.Analysis[functionFacts]
	p       *Program
	calls   []*ir.Call                     // calls of function values
	foreign map[*ir.Rule][]*storedFunction // the callees of calls of values that other code has made
}

func (a *functionAnalysis) IsReplaced(t types.Type) bool { return isFuncType(t) }

func (a *functionAnalysis) IsBarrier(t types.Type) bool {
	_, ok := t.(*types.Chan)
	return ok
}

func (a *functionAnalysis) MergeFacts(to, from *functionFacts) {
	for _, m := range from.functions {
		to.add(m)
	}
	to.called = to.called || from.called
	to.made = append(to.made, from.made...)
}

// CanReplace reports whether there are functions, or calls, which panic if the value is always nil.
func (a *functionAnalysis) CanReplace(f *functionFacts) bool { return f.called || len(f.functions) > 0 }

// Makes reports whether e makes a function value.
func (a *functionAnalysis) Makes(e *ir.Opaque) bool { return a.p.storedFunctionOf(e) != nil }

func (a *functionAnalysis) NoteType(*functionGroup, types.Type) {}

// NoteValue notes the functions that values are made of, and values that other code has made: those taken out of an
// interface.
func (a *functionAnalysis) NoteValue(g *functionGroup, e ir.Expr) {
	switch e := e.(type) {
	case *ir.Opaque:
		g.Facts().add(a.p.storedFunctionOf(e))
	case *ir.Convert:
		if !a.Holds(e.X.Type()) && !ir.IsConst(e.X) {
			g.SetForeign()
		}
	}
}

// NoteExpr notes the captured variables of a function value, which are parameters of the function.
func (a *functionAnalysis) NoteExpr(e ir.Expr) bool {
	m := a.p.storedFunctionOf(e)
	if m == nil {
		return false
	}
	_, captured := m.params()
	for i, x := range e.(*ir.Opaque).Args {
		a.Flow(a.Group(captured[i]), a.Value(x))
	}
	return true
}

// NoteCall notes calls of function values, and the elements of maps.
func (a *functionAnalysis) NoteCall(s *ir.Call) bool {
	if isStoredCall(s.Callee.Rule) {
		a.Value(s.Args[0]).Facts().called = true
		a.calls = append(a.calls, s)
		return true
	}
	if s.Callee.Rule.Name == runtimePath+".MakeMap" {
		return true
	}
	if mapOperand(s) == nil {
		return false
	}
	g := a.Value(s.Args[0])
	for _, e := range s.Args[1:] {
		g = a.Union(g, a.Value(e))
	}
	for _, v := range s.Results {
		g = a.Union(g, a.Group(v))
	}
	return true
}

// apply merges the groups of the operands of the call s with those of the parameters of the functions that it may call.
func (a *functionAnalysis) apply(s *ir.Call) {
	known := a.Value(s.Args[0]).Facts().of(signatureOfValue(s))
	for _, m := range append(known, a.foreign[s.Callee.Rule]...) {
		args, _ := m.params()
		for i, p := range args {
			a.Flow(a.Group(p), a.Value(s.Args[1+i]))
		}
		for i, v := range s.Results {
			a.Flow(a.Group(m.e.f.Results[i]), a.Group(v))
		}
	}
}

// signatureOfValue returns the type of the function value that s calls.
func signatureOfValue(s *ir.Call) *types.Signature {
	return s.Args[0].Type().Underlying().(*types.Signature)
}

// storedFunctions returns the functions that function values in f are made of, and in the functions that it reaches
// through calls and these.
func (p *Program) storedFunctions(f *ir.Func) []*ir.Func {
	var list []*ir.Func
	reached := map[*ir.Func]bool{}
	var visit func(f *ir.Func)
	visit = func(f *ir.Func) {
		for _, g := range slices.SortedFunc(maps.Keys(ir.Reachable(f)), compareFuncs) {
			if reached[g] {
				continue
			}
			reached[g] = true
			eachExpr(g.Body, func(e ir.Expr) {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					if m := p.storedFunctionOf(e); m != nil && !slices.Contains(list, m.e.f) {
						list = append(list, m.e.f)
						visit(m.e.f)
					}
					return true
				})
			})
		}
	}
	visit(f)
	return list
}

// compareFuncs orders functions by name.
func compareFuncs(a, b *ir.Func) int { return strings.Compare(a.Name, b.Name) }

// usesFunctionValues reports whether f makes or calls a function value in memory.
func (p *Program) usesFunctionValues(f *ir.Func) (found bool) {
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok {
			found = found || isStoredCall(c.Callee.Rule)
		}
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				found = found || p.storedFunctionOf(e) != nil
				return !found
			})
		})
		return !found
	})
	return found
}

// rewriteFunctions returns the function of e with structs in place of function values in it and in the functions that
// it calls, the functions that it reached before, and refusals. funcs are all lowered functions that it reaches, those
// of rules and of function values included.
func (p *Program) rewriteFunctions(e *specialization, funcs []*ir.Func) (*ir.Func, map[*ir.Func]bool, Refusals) {
	if !slices.ContainsFunc(funcs, p.usesFunctionValues) {
		return e.f, ir.Reachable(e.f), nil
	}
	var a *functionAnalysis
	foreign := map[*ir.Rule][]*storedFunction{}
	var refusals Refusals
	for again := true; again; {
		a = &functionAnalysis{p: p, foreign: foreign}
		also := p.storedFunctions(e.f)
		for _, list := range foreign {
			for _, m := range list {
				also = append(append(also, m.e.f), p.storedFunctions(m.e.f)...)
			}
		}
		a.Analysis = retype.NewAnalysis(a, e.f, funcs, also...)
		a.Run()
		for n := -1; n != a.Merges(); {
			n = a.Merges()
			for _, s := range a.calls {
				a.apply(s)
			}
		}
		again = false
		for _, s := range a.calls {
			if _, known := foreign[s.Callee.Rule]; !known && a.Value(s.Args[0]).Foreign() {
				list, r := p.foreignFunctions(e, s)
				foreign[s.Callee.Rule], again = list, true
				refusals = append(refusals, r...)
			}
		}
	}
	before := map[*ir.Func]bool{}
	for _, g := range a.Funcs() {
		before[g] = a.Called(g)
	}
	w := &functionRewriter{p: p, a: a, captured: map[*storedFunction]*types.Named{}}
	w.Rewriter = retype.NewRewriter(a.Analysis, w, p.copyName)
	f := w.Func(e.f)
	if len(refusals) == 0 {
		refusals = p.foreignValues(f)
	}
	return f, before, refusals.sorted()
}

// foreignFunctions returns the functions that the value that s calls may be where other code has made it: declared
// functions that can be differentiated. It returns refusals if there are none, or if there are others that generated
// code cannot recognise.
func (p *Program) foreignFunctions(e *specialization, s *ir.Call) ([]*storedFunction, Refusals) {
	callee := p.storedCalls[s.Callee.Rule]
	list, literals := p.functionsIn(callee.info, callee.e)
	refuse := func(reason, remedy string) ([]*storedFunction, Refusals) {
		return nil, Refusals{{s.Position(), e.f.Name, "call of " + callee.name(), reason, remedy}}
	}
	if literals {
		return refuse("the program assigns function literals or method values to it, which generated code cannot tell "+
			"apart where other code makes the value",
			"assign declared functions to it, or build the value in the function")
	}
	var out []*storedFunction
	for _, fn := range list {
		if m := p.foreignFunction(e, fn, signatureOfValue(s)); m != nil && len(out) < maxDynamicTypes {
			out = append(out, m)
			e.compared = append(e.compared, m.e)
		}
	}
	if len(out) == 0 {
		return refuse("other code makes the value, and the loaded packages assign no declared function to it that can "+
			"be differentiated", "assign declared functions to it in one of them, or build the value in the function")
	}
	return out, nil
}

// foreignValues returns refusals for function values with captured variables that f, or a function that it calls,
// stores where other code may see them.
func (p *Program) foreignValues(f *ir.Func) (out Refusals) {
	for g := range ir.Reachable(f) {
		ir.Walk(g.Body, func(s ir.Stmt) bool {
			ir.EachExpr(s, func(e ir.Expr) {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					if p.storedFunctionOf(e) != nil {
						out = append(out, &Refusal{s.Position(), g.Name, "function value",
							"it has captured variables or no name, and other code may see it: in a parameter or " +
								"result of the differentiated function, a package variable or an interface value",
							"store a declared function, or build the value that holds it in the function"})
					}
					return true
				})
			})
			return true
		})
	}
	return out
}
