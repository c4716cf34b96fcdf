package entries

import (
	"go/token"
	"go/types"
	"math"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/page"
)

// A Linear is a function that is linear in a direction.
type Linear struct {
	F *ir.Func
	// In is the parameter for the direction, a slice of float64, and InLike one of the same length, which stays.
	In, InLike *ir.Var
	// Out is the parameter or the result for the image of the direction, a slice of float64. A parameter is assigned or
	// added to. OutLike has the same length as the parameter and stays.
	Out, OutLike *ir.Var
}

// Entries are the functions that compute the entries of a linear function. Their parameters and results are those of it
// without the direction and its image, and further ones at the end.
type Entries struct {
	// Values has the parameters entries []float64 and plan []int32, and the result changed, a bool.
	Values *ir.Func
	// Plan has the parameter limit int and the result plan []int32. It returns early if that is longer than limit.
	Plan *ir.Func
	// Fixed reports that the plan does not depend on floating-point numbers, so that it is the same for all inputs.
	Fixed bool
	// Head is the number of integers at the start of the plan that Values compares, 0 if it compares rows and columns.
	Head int
}

// The first integers of the records in the list that a plan function returns, where they are not those of a store, see
// [Head].
const (
	// ListTerm is followed by the number of a list, to which a term is added, and by the term's column.
	ListTerm = -1
	// ListEntries is followed by the number of terms in a list and their columns: further entries of the last store.
	ListEntries = -2
)

// NoColumn is the column of a term that is absent.
const NoColumn = math.MaxInt32

// Head returns the first of the integers of a store of n entries, which adds to the row or sets it. The row and the
// columns follow.
func Head(n int, adds bool) int64 {
	if adds {
		return int64(2*n + 1)
	}
	return int64(2 * n)
}

// Limits on what is built, in terms of a form and in statements of the result.
const (
	maxTerms      = 64
	maxStatements = 4000
	maxRounds     = 24
)

// An Error reports why a function has no entries.
type Error struct {
	Func, What string
	Pos        token.Position
}

func (e *Error) Error() string {
	return page.Namef("entries.Error", "no entries of %s: %s", e.Func, e.What)
}

// Position returns Pos.
func (e *Error) Position() token.Position { return e.Pos }

// Build returns the functions that compute the entries of l. Calls in which dots are passed on have to be inlined
// before. The error is of type *[Error].
func Build(l Linear) (_ *Entries, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		default:
			panic(r)
		}
	}()
	a := analyze(l)
	sums := 0
	fixed := !a.dependsOnFloats(l.F)
	var inputs []ir.Expr
	if fixed {
		inputs = a.inputs(l)
	}
	for range maxRounds {
		if len(a.sums) > 0 {
			inputs = nil
		}
		values := newBuilder(l, a, false)
		values.inputs = inputs
		e := &Entries{Values: values.function()}
		if len(a.sums) > sums { // other slots may have been those of its terms
			sums = len(a.sums)
			clear(a.slots)
			continue
		}
		if values.grown || values.refine() {
			continue
		}
		plan := newBuilder(l, a, true)
		plan.inputs = inputs
		e.Plan = plan.function()
		if plan.grown {
			continue
		}
		e.Fixed, e.Head = fixed, inputWords*len(inputs)
		return e, nil
	}
	return nil, &Error{Func: l.F.Name, What: "a form has no fixed length", Pos: l.F.Pos}
}

var (
	intType    = types.Type(types.Typ[types.Int])
	int32Type  = types.Type(types.Typ[types.Int32])
	floatType  = types.Type(types.Typ[types.Float64])
	planType   = types.Type(types.NewSlice(types.Typ[types.Int32]))
	valuesType = types.Type(types.NewSlice(types.Typ[types.Float64]))
)

// function returns the values function, or the plan function.
func (b *builder) function() *ir.Func {
	f := b.of.F
	suffix := "_entries"
	if b.planning {
		suffix = "_plan"
	}
	g := &ir.Func{Name: f.Name + suffix, Recv: f.Recv, Pos: f.Pos, Exit: &ir.Label{Name: "done"}}
	for _, v := range f.Params {
		if v != b.of.In && v != b.of.Out {
			g.Params = append(g.Params, v)
		}
	}
	for _, v := range f.Results {
		if v != b.of.Out {
			g.Results = append(g.Results, v)
		}
	}
	b.plan = &ir.Var{Name: b.names.Name("plan"), Type: planType}
	if b.planning {
		b.plan.Kind = ir.Result
		g.Results = append(g.Results, b.plan)
		g.Exit = f.Exit
		b.limit = &ir.Var{Name: b.names.Name("limit"), Type: intType, Kind: ir.Param}
		g.Params = append(g.Params, b.limit)
		b.exit = f.Exit
		body := b.block(f.Body)
		g.Body = append(b.header(), body...)
	} else {
		b.plan.Kind = ir.Param
		b.values = &ir.Var{Name: b.names.Name("entries"), Type: valuesType, Kind: ir.Param}
		b.changed = &ir.Var{Name: b.names.Name("changed"), Type: types.Typ[types.Bool], Kind: ir.Result}
		g.Params = append(g.Params, b.values, b.plan)
		g.Results = append(g.Results, b.changed)
		b.exit = g.Exit
		at := ir.At{Pos: f.Pos}
		left := ir.Compare(token.NEQ, ir.LenOf(b.plan.Load()), ir.Count(0))
		body := b.block(f.Body)
		g.Body = append(b.header(), &ir.Scope{At: at, L: f.Exit, Body: body},
			&ir.Set{At: at, P: b.changed.Place(), E: left})
	}
	g, _ = ir.Clone(g, nil)
	ir.Normalize(g)
	return g
}
