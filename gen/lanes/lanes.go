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

// A Workspace describes the struct in which functions keep values between their sweeps, and to which all of them get a
// pointer. Each field holds either divergent or uniform values.
type Workspace struct {
	Type *types.Named
	// Field adds a field of type t and returns its index: the lane form of field like, which holds the values of one
	// lane.
	Field func(like int, t types.Type) int
}

// A Program builds lane forms of functions that call one another, for one number of lanes. It keeps those it has built.
// It must not be used by several goroutines at once.
type Program struct {
	types      *Types
	workspace  *Workspace           // nil if there is none
	laneFields map[int]int          // field of the workspace → the field that is its lane form
	built      map[string]*ir.Func  // lane forms by the key of generation.key
	ids        map[*ir.Func]int     // number of a function in keys
	perLane    map[any]primalCounts // callees called once per lane; see CallPerLane

	vectors map[*ir.Func]*Vector // lane form → its vector form; nil unless EnableVectors was called
}

// A primalCounts holds the numbers of parameters and results of a handwritten derivative that are those of the primal.
type primalCounts struct{ params, results int }

// CallPerLane registers a handwritten derivative of numbers, to be called once per lane, as its body may do anything.
// Its first parameters and results, params and results many, are those of the primal function; those results depend on
// those parameters only, so they are uniform if the parameters are.
func (p *Program) CallPerLane(c *ir.Callee, params, results int) {
	if p.perLane == nil {
		p.perLane = map[any]primalCounts{}
	}
	p.perLane[calleeKey(c)] = primalCounts{params, results}
}

// calleeKey returns the identity of a callee: its function or its rule.
func calleeKey(c *ir.Callee) any {
	if c.Func != nil {
		return c.Func
	}
	return c.Rule
}

// New returns an empty Program. The workspace may be nil.
func New(t *Types, w *Workspace) *Program {
	return &Program{
		types: t, workspace: w, laneFields: map[int]int{}, built: map[string]*ir.Func{}, ids: map[*ir.Func]int{},
	}
}

// LaneType returns the lane type of t.
func (p *Program) LaneType(t types.Type) types.Type { return p.types.LaneType(t) }

// N returns the number of lanes.
func (p *Program) N() int { return p.types.n }

// An Error reports why a function has no lane form.
type Error struct {
	Func, What string
	Pos        token.Position // of the statement, if it is known
}

// Error returns the function and the reason.
func (e *Error) Error() string { return fmt.Sprintf("no lanes of %s: %s", e.Func, e.What) }

// Position returns Pos.
func (e *Error) Position() token.Position { return e.Pos }

// Refused returns the function, why it has no lane form, and the workaround.
func (e *Error) Refused() (function, reason, remedy string) {
	return e.Func, fmt.Sprintf(
		"cannot be vectorised: %s",
		e.What,
	), "the derivative in one direction is used for each instead"
}

// Build returns the lane form of f with the parameters in params divergent. A divergent parameter or result is replaced
// by one of its lane type, a float by one float per lane; the others stay. Results must contain all results that are
// divergent; further ones get lanes, too. The error is of type *[Error].
//
//	func f(x []float64, s float64, xBar []float64) exit {
//	    let p float64 = math.Sin(x[0]) * s
//	    xBar[0] += p
//	}
//
// becomes, for two lanes with s and xBar divergent,
//
//	func f_lanes2(x []float64, s0 float64, s1 float64, xBar [][2]float64) exit {
//	    let t float64 = math.Sin(x[0])
//	    let xBarRow *[2]float64 = &xBar[0]
//	    let p0 float64 = t * s0
//	    let p1 float64 = t * s1
//	    xBarRow[0] += p0
//	    xBarRow[1] += p1
//	}
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
	if g := p.findComplex(f); g != nil {
		return nil, &Error{Func: g.Name, What: "it computes with complex numbers, which have no lane type", Pos: g.Pos}
	}
	v := p.analyzeDivergence(f, params, results)
	if name, at := v.findInterface(f); name != "" {
		return nil, &Error{Func: f.Name, What: "interface values in " + name + " have no lane type", Pos: at}
	}
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
		if err != nil || g == nil { // some may call unfinished ones
			for _, k := range r.added {
				delete(p.built, k)
			}
		}
	}()
	return r.laneFunc(f), nil
}

// A generation is one call of Build: code generation for a function and its callees under one divergence.
type generation struct {
	*Program
	*divergence
	added []string // keys of the forms built so far
}

// laneFunc returns the lane form of f, or f itself if no cell it uses is divergent.
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
	r.built[k] = g // before the body, for recursive calls
	r.added = append(r.added, k)
	g.Body = b.body(f.Body)
	// The body shares variables with f; forms must not.
	c, _ := ir.Clone(g, nil)
	*g = *c
	if r.vectors != nil {
		if v := r.buildVector(f, g); v != nil {
			r.vectors[g] = v
		}
	}
	return g
}

// key returns a string that is equal for two functions if their lane forms are the same: it lists the functions
// reachable from f with the divergence of their parameters, results and fields of the workspace. It also reports
// whether any of them is divergent for f.
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
		// Fields matter only if the function names them.
		for _, c := range r.workFields[g] {
			if r.divergent[c] {
				fmt.Fprint(&b, c, ",")
				divergent = divergent || i == 0
			}
		}
	}
	return b.String(), divergent
}

// reachable returns f and the functions it calls, directly or not, each once, in a deterministic order. Callees called
// once per lane are excluded.
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

// findComplex returns a function among f and its direct and indirect callees that has variables or expressions with
// complex numbers, or nil if there is none.
func (p *Program) findComplex(f *ir.Func) *ir.Func {
	for _, g := range p.reachable(f) {
		found := false
		for _, v := range slices.Concat(g.Params, g.Results) {
			found = found || activity.HasComplex(v.Type)
		}
		ir.Walk(g.Body, func(s ir.Stmt) bool {
			for _, e := range ir.Exprs(s) {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					found = found || ir.IsComplex(e.Type())
					return !found
				})
			}
			return !found
		})
		if found {
			return g
		}
	}
	return nil
}

// findInterface returns the name and the position of a divergent variable of f, or of a direct or indirect callee, that
// leads to numbers through an interface; "" if there is none. Lane types have no methods, so that no interface value
// can
// hold them.
func (v *divergence) findInterface(f *ir.Func) (string, token.Position) {
	for _, g := range v.program.reachable(f) {
		for _, x := range ir.Vars(g) {
			if v.divergent[x] && activity.ReachesCarrier(x.Type) {
				return x.Name, x.Pos
			}
		}
	}
	return "", token.Position{}
}

// isPerLane reports whether c is registered with CallPerLane.
func (p *Program) isPerLane(c *ir.Callee) bool {
	_, ok := p.perLane[calleeKey(c)]
	return ok
}

// variableUses returns the variables of f whose address is taken as a whole, and those that are read.
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
