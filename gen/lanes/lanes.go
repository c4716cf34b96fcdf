// Package lanes makes, of a function in the form of package ir, the one that does what it
// does for several lanes at once: runs of it that differ in some of the arguments only.
//
// It is for derivatives. An adjoint is run with several seeds, and a tangent in several
// directions, by one function that computes once what they have in common, the values of
// the differentiated function above all.
//
// What depends on the arguments that differ is found first, for the function and all that
// it calls. Of that there is one for each lane: n variables stand for a float, an array of
// n floats for one in memory, see [Types]. Each lane computes just what the function does,
// by the same operations in the same order, so its numbers are those of a run by itself
// bit for bit, zeros beside infinities included. What is the same for all lanes in an
// expression is computed once, before.
//
// A branch on a number that depends on the lane is made for each lane by itself.
//
// Of some functions for four lanes there is one in vectors too, see [Vector].
package lanes

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Workspace is a struct that functions keep values in between their parts, and that a
// pointer leads to which all of them are given. Each field holds values that depend on the
// lane, or values that do not.
type Workspace struct {
	Type *types.Named
	// Field adds a field of type t for what field like holds of one lane.
	Field func(like int, t types.Type) int
}

// Program makes functions for several lanes.
type Program struct {
	types      *Types
	workspace  *Workspace
	laneFields map[int]int // of the workspace: those that stand for others
	built      map[string]*ir.Func
	ids        map[*ir.Func]int
	perLane    map[any]primalCounts

	vectors map[*ir.Func]*Vector // nil where none are wanted
}

// front says how many parameters and results of a derivative are those of the function.
type primalCounts struct{ params, results int }

// Each has a derivative that is written by hand, which takes and gives numbers, called for
// each lane by itself: it may do anything. Its first results, so many as the function has,
// depend on the first parameters only.
func (p *Program) CallPerLane(c *ir.Callee, params, results int) {
	if p.perLane == nil {
		p.perLane = map[any]primalCounts{}
	}
	p.perLane[calleeKey(c)] = primalCounts{params, results}
}

// of is what a callee is.
func calleeKey(c *ir.Callee) any {
	if c.Func != nil {
		return c.Func
	}
	return c.Rule
}

// New returns an empty Program. The workspace may be nil.
func New(t *Types, w *Workspace) *Program {
	return &Program{types: t, workspace: w, laneFields: map[int]int{}, built: map[string]*ir.Func{}, ids: map[*ir.Func]int{}}
}

// Type is what stands for a type.
func (p *Program) LaneType(t types.Type) types.Type { return p.types.LaneType(t) }

// N is the number of lanes.
func (p *Program) N() int { return p.types.n }

// Error says what cannot be done for several lanes.
type Error struct {
	Func, What string
	Pos        token.Position // of the statement, if it is known
}

func (e *Error) Error() string { return fmt.Sprintf("no lanes of %s: %s", e.Func, e.What) }

// Position is Pos.
func (e *Error) Position() token.Position { return e.Pos }

// Refused is the function, why it has no lanes, and the way round.
func (e *Error) Refused() (function, reason, remedy string) {
	return e.Func, fmt.Sprintf("not for several at once: %s", e.What), "what is there for one is used for each"
}

// Of is f for several lanes, whose arguments differ in the parameters that params names.
// A parameter or result that does is replaced by one for what stands for its type, a
// float by one for each lane. Those of f's results that depend on the lane must be in
// results; what else is in it gets lanes too. The other parameters and results stay.
func (p *Program) Build(f *ir.Func, params, results activity.Mask) (g *ir.Func, err error) {
	if p.types.n < 2 {
		return nil, &Error{Func: f.Name, What: fmt.Sprintf("%d lanes are asked for, and two are the least", p.types.n)}
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			g, err = nil, e
		}
	}()
	v := p.analyzeDivergence(f, params, results)
	for i, x := range slices.Concat(f.Params, f.Results) {
		wanted := i < len(f.Params) && params.Has(i) || i >= len(f.Params) && results.Has(i-len(f.Params))
		if wanted && !activity.HasFloats(x.Type) {
			return nil, &Error{Func: f.Name, What: x.Name + " holds no numbers that could depend on the lane",
				Pos: f.Pos}
		}
		if v.divergent[x] && !wanted {
			return nil, &Error{Func: f.Name, What: x.Name + " depends on the lane, and there is to be one of it",
				Pos: f.Pos}
		}
	}
	r := &generation{Program: p, divergence: v}
	defer func() {
		if err != nil || g == nil { // functions that call what was not finished
			for _, k := range r.added {
				delete(p.built, k)
			}
		}
	}()
	return r.laneFunc(f), nil
}

// run is the work on a function and what it calls.
type generation struct {
	*Program
	*divergence
	added []string
}

// function is f for several lanes, or f if it has nothing to do with them.
func (r *generation) laneFunc(f *ir.Func) *ir.Func {
	k, divergent := r.key(f)
	if !divergent {
		return f
	}
	if g := r.built[k]; g != nil {
		return g
	}
	b := &builder{
		generation: r, f: f, names: ir.NamerOf(f), onlyLane: -1,
		laneVars: map[*ir.Var]*ir.Var{}, scalarVars: map[*ir.Var][]*ir.Var{}, pendingReads: map[*ir.Var]bool{},
	}
	b.addressed, b.read = variableUses(f)
	g := &ir.Func{
		Name: f.Name + "_lanes" + strconv.Itoa(r.types.n), Recv: f.Recv, Variadic: f.Variadic, Passive: f.Passive,
		Exit: f.Exit, Pos: f.Pos,
		Params: b.signature(f.Params), Results: b.signature(f.Results),
	}
	r.built[k] = g // a recursive function calls it
	r.added = append(r.added, k)
	g.Body = b.body(f.Body)
	c, _ := ir.Clone(g, nil)
	*g = *c
	if r.vectors != nil {
		if v := r.buildVector(f, g); v != nil {
			r.vectors[g] = v
		}
	}
	return g
}

// key is all that others see of what is made of f, and whether lanes are seen.
func (r *generation) key(f *ir.Func) (key string, divergent bool) {
	var b strings.Builder
	for i, g := range r.reachable(f) {
		if r.ids[g] == 0 {
			r.ids[g] = len(r.ids) + 1
		}
		fmt.Fprint(&b, r.ids[g], ":")
		for _, v := range slices.Concat(g.Params, g.Results) {
			fmt.Fprint(&b, r.divergent[v], ",")
			divergent = divergent || r.divergent[v]
		}
		for _, c := range r.workFields[g] {
			if r.divergent[c] {
				fmt.Fprint(&b, c, ",")
				divergent = divergent || i == 0
			}
		}
	}
	return b.String(), divergent
}

// reached are f and the functions that it calls, each once, without those that are called
// for each lane.
func (p *Program) reachable(f *ir.Func) []*ir.Func {
	list := []*ir.Func{f}
	for i := 0; i < len(list); i++ {
		ir.Walk(list[i].Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil && !slices.Contains(list, c.Callee.Func) &&
				!p.isPerLane(c.Callee) {
				list = append(list, c.Callee.Func)
			}
			return true
		})
	}
	return list
}

// isEach reports whether what is called is called for each lane.
func (p *Program) isPerLane(c *ir.Callee) bool {
	_, ok := p.perLane[calleeKey(c)]
	return ok
}

// usesIn finds the variables of a function whose address is taken, and those that are
// read.
func variableUses(f *ir.Func) (addressed, read map[*ir.Var]bool) {
	addressed, read = map[*ir.Var]bool{}, map[*ir.Var]bool{}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if p := ir.PlaceOf(e); p != nil {
					read[p.Root] = true
				}
				if a, ok := e.(*ir.Addr); ok && len(a.P.Path) == 0 {
					addressed[a.P.Root] = true
				}
				return true
			})
		}
		if p := ir.Target(s); p != nil && p.Indirect() {
			read[p.Root] = true
		}
		return true
	})
	return addressed, read
}
