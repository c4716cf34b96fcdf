package retype_test

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower/retype"
)

// Names are values of type string, of which nothing more need be known.
type names struct{}

func (names) IsReplaced(t types.Type) bool                   { return types.Identical(t, types.Typ[types.String]) }
func (names) IsBarrier(types.Type) bool                      { return false }
func (names) MergeFacts(to, from *struct{})                  {}
func (names) CanReplace(*struct{}) bool                      { return true }
func (names) NoteType(*retype.Group[struct{}], types.Type)   {}
func (names) NoteValue(g *retype.Group[struct{}], e ir.Expr) {}
func (names) Makes(*ir.Opaque) bool                          { return false }
func (names) NoteExpr(ir.Expr) bool                          { return false }
func (names) NoteCall(*ir.Call) bool                         { return true }

// Variables between which strings flow are in one group, and get the same new type.
func ExampleAnalysis() {
	funcs, err := ir.Parse(`
func Label(first, second string, x float64) (y float64) exit {
	let copied string = first
	let other string = second
	y = x
}
`, nil)
	if err != nil {
		panic(err)
	}
	f := funcs[0]
	a := retype.NewAnalysis(names{}, f, nil)
	a.Run()
	var local []*ir.Var
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Let); ok {
			local = append(local, s.V)
		}
		return true
	})
	fmt.Println(a.Group(f.Params[0]) == a.Group(local[0]), a.Group(f.Params[0]) == a.Group(local[1]))
	fmt.Println(a.Group(f.Params[2]) == nil)
	// Output:
	// true false
	// true
}
