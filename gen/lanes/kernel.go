package lanes

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// minWorth is the number of divergent operations outside of loops from which on a vector form pays for its call. One
// operation in a loop suffices.
const minWorth = 24

// A kernelBuilder writes the kernel of a [Vector]. It refuses every construct that could make the compiler use scalar
// floating-point instructions, and all that builder refuses.
type kernelBuilder struct {
	*builder
	vectorVars map[*ir.Var]*ir.Var // float variable → its vector
	consts     map[string]*ir.Var  // exact value → vector that holds it in all lanes
	prologue   ir.Block            // statements before the body: loads of parameters, constants
	loopDepth  int                 // number of loops around the current statement
	worth      int                 // divergent operations, weighted; see minWorth
}

// kernel returns the kernel and its last parameter, the pointer to the rows.
func (b *kernelBuilder) kernel() (k *ir.Func, rows *ir.Var) {
	f := b.f
	if f.Variadic {
		b.refuse("a list of arguments")
	}
	rowCount := 1
	for _, v := range slices.Concat(f.Params, f.Results) {
		if ir.IsFloat(v.Type) {
			rowCount++
		}
	}
	rowsType := types.NewArray(types.NewArray(types.Typ[types.Float64], ir.VectorLanes), int64(rowCount))
	rows = &ir.Var{Name: b.names.Name("rows"), Type: types.NewPointer(rowsType), Kind: ir.Param}
	k = &ir.Func{Name: f.Name + "_vector" + strconv.Itoa(ir.VectorLanes), Pos: f.Pos, Exit: f.Exit}
	var after ir.Block
	row := 0
	for _, v := range slices.Concat(f.Params, f.Results) {
		if !ir.IsFloat(v.Type) {
			if v.Kind == ir.Result {
				b.refuse("the result %s", v.Name)
			}
			b.requireScalar(v.Type)
			if b.divergent[v] {
				v = b.laneVar(v)
			}
			k.Params = append(k.Params, v)
			continue
		}
		at := &ir.Place{Root: rows, Path: []ir.Step{ir.DerefStep(), ir.IndexStep(ir.Count(row))}}
		row++
		switch w := b.vectorVar(v); {
		case v.Kind == ir.Result:
			// Results begin as zero and are stored at the end.
			b.prologue = append(b.prologue, &ir.Let{V: w})
			after = append(after, &ir.Set{P: at, E: b.toMemory(at.Type(), w.Load())})
		case b.divergent[v]:
			b.prologue = append(b.prologue, &ir.Let{V: w, E: vector(load(at))})
		default:
			// A uniform float is in the first column and is broadcast.
			at.Path = append(at.Path, ir.IndexStep(ir.Count(0)))
			b.prologue = append(b.prologue, &ir.Let{V: w, E: vector(load(at))})
		}
	}
	k.Params = append(k.Params, rows)
	body := b.block(f.Body)
	exits, end := false, &ir.Label{Name: b.names.Name("end")}
	m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
		if l == f.Exit {
			exits = true
			return end
		}
		return l
	}}
	if out := m.Block(body); exits {
		body = ir.Block{&ir.Scope{L: end, Body: out}}
	}
	k.Body = slices.Concat(b.prologue, body, after)
	return k, rows
}

// load returns the value at p.
func load(p *ir.Place) ir.Expr { return &ir.Load{Typed: ir.Typed{T: p.Type()}, P: p} }

// vector converts e, a number or an array of four lanes, to a vector.
func vector(e ir.Expr) ir.Expr { return &ir.Convert{Typed: ir.Typed{T: ir.Vector}, X: e} }

// toMemory converts a vector to type t, in which it is stored.
func (b *kernelBuilder) toMemory(t types.Type, e ir.Expr) ir.Expr {
	return &ir.Convert{Typed: ir.Typed{T: t}, X: e}
}

// requireFloat64 refuses floats of other types.
func (b *kernelBuilder) requireFloat64(t types.Type) {
	if !types.Identical(t, types.Typ[types.Float64]) {
		b.refuse("a number of type %s", t)
	}
}

// requireScalar refuses arrays and structs, which the compiler may move through floating-point registers.
func (b *kernelBuilder) requireScalar(t types.Type) {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Pointer, *types.Basic:
		return
	}
	b.refuse("a value of type %s", t)
}

// vectorVar returns the vector that replaces the float v.
func (b *kernelBuilder) vectorVar(v *ir.Var) *ir.Var {
	w := b.vectorVars[v]
	if w == nil {
		b.requireFloat64(v.Type)
		if b.addressed[v] {
			b.refuse("the address of %s", v.Name)
		}
		w = &ir.Var{Name: v.Name, Type: ir.Vector, Pos: v.Pos}
		b.vectorVars[v] = w
	}
	return w
}

// vectorExpr returns the float e as a vector.
func (b *kernelBuilder) vectorExpr(e ir.Expr) ir.Expr {
	b.requireFloat64(e.Type())
	typed := ir.Typed{T: ir.Vector}
	switch e := e.(type) {
	case *ir.Const:
		return b.constant(e)
	case *ir.Load:
		switch {
		case b.isFloatVar(e.P):
			return b.vectorVar(e.P.Root).Load()
		case b.isDivergent(e.P):
			b.checkIndices(e.P)
			return vector(load(b.divergentPlace(e.P)))
		}
		b.checkIndices(e.P)
		return vector(load(b.uniformIndices(e.P)))
	case *ir.Unary:
		return &ir.Unary{Typed: typed, Op: e.Op, X: b.vectorExpr(e.X)}
	case *ir.Binary:
		if b.exprDivergent(e) {
			// Uniform operations are not cheaper in a kernel.
			b.worth++
			if b.loopDepth > 0 {
				b.worth += minWorth
			}
		}
		return &ir.Binary{Typed: typed, Op: e.Op, X: b.vectorExpr(e.X), Y: b.vectorExpr(e.Y)}
	case *ir.Math:
		if e.Name == "math.Sqrt" || e.Name == "math.Abs" {
			return &ir.Math{Typed: typed, Name: e.Name, Args: []ir.Expr{b.vectorExpr(e.Args[0])}}
		}
		b.refuse("a call of %s", e.Name)
	case *ir.Convert:
		// All floats are float64, so the conversion changes nothing.
		if ir.IsFloat(e.X.Type()) {
			return b.vectorExpr(e.X)
		}
		return b.fromInteger(e)
	}
	b.refuse("a %T", e)
	return nil
}

// fromInteger returns the conversion of an integer to a vector. Unsigned 64-bit integers are refused: they have no
// conversion instruction.
func (b *kernelBuilder) fromInteger(e *ir.Convert) ir.Expr {
	t, ok := e.X.Type().Underlying().(*types.Basic)
	if !ok || t.Info()&types.IsInteger == 0 || t.Kind() == types.Uint || t.Kind() == types.Uint64 ||
		t.Kind() == types.Uintptr {
		b.refuse("a number converted from type %s", e.X.Type())
	}
	return vector(b.nonFloat(e.X, false))
}

// isFloatVar reports whether the float place p is a variable of the function.
func (b *kernelBuilder) isFloatVar(p *ir.Place) bool {
	return len(p.Path) == 0 && p.Root.Kind != ir.Global
}

// constant returns a vector with e in all lanes, declared once per function.
func (b *kernelBuilder) constant(e *ir.Const) ir.Expr {
	key := "0"
	if e.Val != nil {
		key = e.Val.ExactString()
	}
	v := b.consts[key]
	if v == nil {
		v = &ir.Var{Name: b.names.Name("c"), Type: ir.Vector}
		b.consts[key] = v
		b.prologue = append(b.prologue, &ir.Let{V: v, E: vector(e)})
	}
	return v.Load()
}

// nonFloat returns the expression e, which must not be or contain a float, as a divergent or uniform one.
func (b *kernelBuilder) nonFloat(e ir.Expr, divergent bool) ir.Expr {
	if e == nil {
		return nil
	}
	b.requireScalar(e.Type())
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Make, *ir.New, *ir.Literal, *ir.Opaque:
			b.refuse("a %T", e)
		}
		if ir.IsFloat(e.Type()) {
			b.refuse("a branch on a float")
		}
		return true
	})
	if divergent {
		return b.laneValue(e)
	}
	return b.uniform(e)
}

// checkIndices refuses places in local arrays and structs, and indices that contain floats.
func (b *kernelBuilder) checkIndices(p *ir.Place) {
	if !p.Indirect() && p.Root.Kind != ir.Global {
		b.refuse("a part of %s", p.Root.Name)
	}
	for _, e := range p.Indices() {
		b.nonFloat(e, false)
	}
}

// block returns the kernel form of a nested block.
func (b *kernelBuilder) block(in ir.Block) ir.Block { return b.EachStmt(in, b.stmt) }

// stmt writes the kernel form of s.
func (b *kernelBuilder) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		b.let(s)
	case *ir.Set:
		if b.isUnreadField(s.P, s.E) {
			return
		}
		if ir.IsFloat(s.P.Type()) {
			b.store(s, s.P, b.vectorExpr(s.E))
			return
		}
		p, divergent := b.target(s.P)
		b.Emit(&ir.Set{At: s.At, P: p, E: b.nonFloat(s.E, divergent)})
	case *ir.Add:
		if b.isUnreadField(s.P, s.E) {
			return
		}
		if ir.IsFloat(s.P.Type()) {
			b.store(s, s.P, b.sum(s))
			return
		}
		p, _ := b.target(s.P)
		b.Emit(&ir.Add{At: s.At, P: p, E: b.nonFloat(s.E, false)})
	case *ir.If:
		b.Emit(&ir.If{At: s.At, Cond: b.nonFloat(s.Cond, false), Then: b.block(s.Then), Else: b.block(s.Else)})
	case *ir.Scope:
		b.Emit(&ir.Scope{At: s.At, L: s.L, Body: b.block(s.Body)})
	case *ir.Loop:
		loop := *s
		loop.Lo, loop.Hi = b.nonFloat(s.Lo, false), b.nonFloat(s.Hi, false)
		b.loopDepth++
		loop.Body = b.block(s.Body)
		b.loopDepth--
		b.Emit(&loop)
	case *ir.Leave:
		b.Emit(s)
	case *ir.Panic:
		b.Emit(&ir.Panic{At: s.At, E: b.uniform(s.E)})
	case *ir.Call:
		b.call(s)
	default:
		b.refuse("a %T", s)
	}
}

// isUnreadField reports whether p is a uniform variable that is never read and e is divergent: a copy of a struct field
// that the lane type does not have. The assignment is dropped.
func (b *kernelBuilder) isUnreadField(p *ir.Place, e ir.Expr) bool {
	return !b.isDivergent(p) && !p.Indirect() && p.Root.Kind == ir.Local && !b.read[p.Root] && b.exprDivergent(e)
}

// let writes the kernel form of a declaration.
func (b *kernelBuilder) let(s *ir.Let) {
	v := s.V
	switch {
	case ir.IsFloat(v.Type):
		if !b.divergent[v] && !b.read[v] && b.exprDivergent(s.E) {
			return
		}
		l := &ir.Let{At: s.At, V: b.vectorVar(v)}
		if s.E != nil {
			l.E = b.vectorExpr(s.E)
		}
		b.Emit(l)
	default:
		b.requireScalar(v.Type)
		e := b.nonFloat(s.E, b.divergent[v])
		if b.divergent[v] {
			v = b.laneVar(v)
		}
		b.Emit(&ir.Let{At: s.At, V: v, E: e})
	}
}

// store writes the assignment of vector e to the place that replaces p.
func (b *kernelBuilder) store(s ir.Stmt, p *ir.Place, e ir.Expr) {
	at := ir.At{Pos: s.Position()}
	if b.isFloatVar(p) {
		b.Emit(&ir.Set{At: at, P: b.vectorVar(p.Root).Place(), E: e})
		return
	}
	b.requireFloat64(p.Type())
	q, _ := b.target(p)
	b.Emit(&ir.Set{At: at, P: q, E: b.toMemory(q.Type(), e)})
}

// sum returns the value at the place of s plus the value that s adds, or minus its operand if that is a negation.
func (b *kernelBuilder) sum(s *ir.Add) ir.Expr {
	op, e := token.ADD, s.E
	if u, ok := e.(*ir.Unary); ok && u.Op == token.SUB {
		op, e = token.SUB, u.X
	}
	return b.vectorExpr(&ir.Binary{Typed: ir.Typed{T: s.P.Type()}, Op: op, X: load(s.P), Y: e})
}

// target returns the place that replaces p, and whether p is divergent.
func (b *kernelBuilder) target(p *ir.Place) (q *ir.Place, divergent bool) {
	if len(p.Path) > 0 {
		b.checkIndices(p)
	}
	if divergent = b.isDivergent(p); divergent {
		return b.divergentPlace(p), true
	}
	return b.uniformIndices(p), false
}

// call writes a call of a function that uses no floats; others are refused.
func (b *kernelBuilder) call(s *ir.Call) {
	if s.Callee.Func == nil {
		b.refuse("a call of %s", s.Callee.Rule.Name)
	}
	for _, f := range b.reachable(s.Callee.Func) {
		for _, v := range ir.Vars(f) {
			if activity.HasFloats(v.Type) {
				b.refuse("a call of %s", s.Callee.Func.Name)
			}
		}
	}
	c := &ir.Call{At: s.At, Callee: s.Callee, Results: s.Results}
	for _, a := range s.Args {
		c.Args = append(c.Args, b.nonFloat(a, false))
	}
	b.Emit(c)
}
