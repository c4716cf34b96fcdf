package simplify

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A vectorEmitter writes the parts of a divided loop.
type vectorEmitter struct {
	*vectorLoop
	first, many  *ir.Var             // the first iteration of a block, and their number
	arrays       map[*ir.Var]*ir.Var // variable → array with its values
	state        []*ir.Var           // the carried variables and the sums
	states       *ir.Var             // the array that they are in before and after a call of the kernel
	declarations ir.Block            // of arrays
	params       map[*ir.Var]*ir.Var // slice, array or variable → the parameter of the kernel
	outside      []*ir.Var           // the keys of params
	// uniform has the memory that parameters are loaded from, which are the same in all iterations.
	uniform map[*ir.Var]*ir.Place
}

// emit returns the statements that replace the loop, which is the only one if a kernel would have too many slices.
func (d *vectorLoop) emit() ir.Block {
	at := d.l.At
	e := &vectorEmitter{vectorLoop: d, arrays: map[*ir.Var]*ir.Var{}, params: map[*ir.Var]*ir.Var{},
		uniform: map[*ir.Var]*ir.Place{},
		first:   d.variable("block"), many: d.variable("many")}
	mid := d.variable("mid")
	// The iterations that the kernel does are a multiple of the lanes.
	left := ir.NewBinary(integer, token.REM, addConst(d.l.Hi, -d.lo), ir.Count(ir.VectorLanes))
	then := ir.Block{&ir.Let{At: at, V: mid, E: ir.NewBinary(integer, token.SUB, d.l.Hi, left)}}
	kernel := e.kernel()
	if kernel == nil {
		return ir.Block{d.l}
	}
	var before, after ir.Block
	for k, v := range e.state {
		p := elementOf(e.states, ir.Count(k))
		before = append(before, &ir.Set{At: at, P: p, E: v.Load()})
		after = append(after, &ir.Set{At: at, P: v.Place(), E: ir.LoadOf(p, v.Type)})
	}
	few, size := vectorCosts.few, vectorCosts.call
	var rest ir.Block
	if slices.Contains(d.inKernel, false) {
		few, size = vectorCosts.many, vectorBlock
		index := e.variable("k")
		m := &ir.Map{Expr: func(x ir.Expr) ir.Expr {
			if v := ir.VarOf(x); v != nil && v == d.l.V {
				return ir.NewBinary(integer, token.ADD, e.first.Load(), index.Load())
			}
			return collectConstants(x)
		}}
		rest = m.Block(ir.Block{e.rest(index)})
	}
	blocks := &ir.Loop{At: at, L: e.label("loop"), Next: e.label("next"), V: e.first, Lo: ir.IntConst(integer, d.lo),
		Hi: mid.Load(), Step: size}
	blocks.Body = append(ir.Block{
		&ir.Let{At: at, V: e.many, E: ir.NewBinary(integer, token.SUB, mid.Load(), e.first.Load())},
		&ir.If{At: at, Cond: ir.Compare(token.GTR, e.many.Load(), ir.Count(size)),
			Then: ir.Block{&ir.Set{At: at, P: e.many.Place(), E: ir.Count(size)}}},
		e.call(kernel, e.first.Load(), e.many.Load()),
	}, rest...)
	inBlocks := ir.Block{blocks}
	if rest == nil { // a loop of one block takes longer than this
		many := addConst(mid.Load(), -d.lo)
		inBlocks = ir.Block{&ir.If{At: at, Cond: ir.Compare(token.LEQ, many, ir.Count(size)),
			Then: ir.Block{e.call(kernel, ir.IntConst(integer, d.lo), many)}, Else: inBlocks}}
	}
	then = slices.Concat(then, e.declarations, before, inBlocks, after)
	cond := ir.Compare(token.LSS, ir.IntConst(integer, d.lo+few-1), d.l.Hi)
	for _, v := range d.order {
		// The bound may be so large that it overflows with a constant.
		length := &ir.Len{Typed: ir.Typed{T: integer}, X: v.Load()}
		end := ir.Compare(token.LEQ, d.l.Hi, addConst(length, -d.slices[v].most))
		cond = ir.NewBinary(types.Typ[types.Bool], token.LAND, cond, end)
	}
	return ir.Block{&ir.If{At: at, Cond: cond, Then: append(then, remaining(d.l, mid, e.names)), Else: ir.Block{d.l}}}
}

// remaining returns the loop l from an iteration on, with new names. It is there beside l itself, so that the compiler
// knows that indices of l are not negative where it begins at a constant.
func remaining(l *ir.Loop, from *ir.Var, names *ir.Namer) ir.Stmt {
	last := *l
	last.Lo = from.Load()
	vars, labels := renamed(ir.Block{&last}, names)
	m := &ir.Map{Var: ir.Renaming(vars), Label: ir.Renaming(labels)}
	return m.Block(ir.Block{&last})[0]
}

// variable returns a new local variable for an integer.
func (e *vectorLoop) variable(name string) *ir.Var {
	return &ir.Var{Name: e.names.Name(name), Type: integer}
}

// elementOf returns an element of an array or of a slice.
func elementOf(a *ir.Var, index ir.Expr) *ir.Place {
	return &ir.Place{Root: a, Path: []ir.Step{ir.IndexStep(index)}}
}

func (e *vectorEmitter) label(name string) *ir.Label { return &ir.Label{Name: e.names.Name(name)} }

// array returns the array with the values of v in the iterations of a block.
func (e *vectorEmitter) array(v *ir.Var) *ir.Var {
	if e.arrays[v] == nil {
		e.arrays[v] = e.declare(v.Name, vectorBlock)
	}
	return e.arrays[v]
}

// declare returns a new array of n numbers.
func (e *vectorEmitter) declare(name string, n int) *ir.Var {
	a := &ir.Var{Name: e.names.Name(name), Type: types.NewArray(types.Typ[types.Float64], int64(n))}
	e.declarations = append(e.declarations, &ir.Let{At: e.l.At, V: a})
	return a
}

// rest returns a loop over the iterations of a block with the statements that are not in the kernel.
func (e *vectorEmitter) rest(index *ir.Var) *ir.Loop {
	reads, again := map[*ir.Var]bool{}, map[int]bool{}
	var read func(i int)
	read = func(i int) {
		for v := range e.facts[i].reads {
			reads[v] = true
			if at := e.source(v); at >= 0 && e.inKernel[at] && !again[at] && e.repeated(at) {
				again[at] = true
				read(at)
			}
		}
	}
	for i, in := range e.inKernel {
		if !in {
			read(i)
		}
	}
	var body ir.Block
	for i, s := range e.body {
		v := e.saved(i)
		switch {
		case !e.inKernel[i], again[i]:
			body = append(body, s)
		case v != nil && reads[v]:
			let := &ir.Let{At: e.l.At, V: v, E: ir.LoadOf(elementOf(e.array(v), index.Load()), v.Type)}
			if e.carriedBy(i) != nil { // the value before the iteration
				body = append(ir.Block{let}, body...)
			} else {
				body = append(body, let)
			}
		}
	}
	l := &ir.Loop{At: e.l.At, L: e.label("loop"), Next: e.label("next"), V: index, Lo: ir.Count(0), Hi: e.many.Load(),
		Step: 1}
	vars, labels := renamed(body, e.names)
	labels[e.l.Next] = l.Next
	for _, v := range e.state {
		if vars[v] != nil { // it may be a parameter or a result of the function
			vars[v].Kind = ir.Local
		}
	}
	m := &ir.Map{Var: ir.Renaming(vars), Label: ir.Renaming(labels)}
	l.Body = m.Block(body)
	return l
}

// kernel returns the kernel, whose parameters are the number of iterations and those for e.outside; nil if there are
// too many.
func (e *vectorEmitter) kernel() *ir.Func {
	list := make(ir.Block, len(e.body)) // the statements of the kernel
	for i := range e.body {
		if e.inKernel[i] {
			list[i] = e.withUniform(e.body[i])
			e.findSlices(list[i])
		}
		if v := e.carriedBy(i); v != nil && e.inKernel[i] {
			e.state = append(e.state, v)
		}
		if e.inKernel[i] && e.isSum(i) {
			e.state = append(e.state, ir.Target(e.body[i]).Root)
		}
	}
	k := &ir.Func{Name: e.of.f.Name + "_vector" + strconv.Itoa(len(e.of.kernels)), Pos: e.of.f.Pos,
		Exit: &ir.Label{Name: "exit"}}
	n := &ir.Var{Name: e.names.Name("n"), Type: integer, Kind: ir.Param}
	index := e.variable("i")
	var before, body, after ir.Block
	if len(e.state) > 0 {
		e.states = e.declare("state", len(e.state))
	}
	for i, v := range e.state {
		p := elementOf(e.states, ir.Count(i))
		before = append(before, &ir.Let{At: e.l.At, V: v, E: ir.LoadOf(p, v.Type)})
		after = append(after, &ir.Set{At: e.l.At, P: p, E: v.Load()})
	}
	save := func(v *ir.Var) {
		body = append(body, &ir.Set{At: e.l.At, P: elementOf(e.array(v), index.Load()), E: v.Load()})
	}
	for i := range e.body {
		if e.inKernel[i] && e.carriedBy(i) != nil && e.saved(i) != nil {
			save(e.saved(i))
		}
	}
	for i, s := range list {
		if s == nil {
			continue
		}
		body = append(body, s)
		if e.carriedBy(i) == nil && e.saved(i) != nil {
			save(e.saved(i))
		}
	}
	l := &ir.Loop{At: e.l.At, L: e.label("loop"), Next: e.label("next"), V: index, Lo: ir.Count(0), Hi: n.Load(),
		Step: 1, Body: body}
	all := append(append(before, l), after...)
	vars, labels := renamed(all, e.names)
	for _, v := range e.state { // it may be a parameter or a result of the function
		vars[v].Kind = ir.Local
	}
	m := &ir.Map{Var: ir.Renaming(vars), Label: ir.Renaming(labels)}
	all = m.Block(all)
	declared := map[*ir.Var]bool{e.l.V: true, vars[index]: true, n: true}
	for _, s := range slices.Concat(before, body) {
		if let, ok := s.(*ir.Let); ok {
			declared[vars[let.V]] = true
		}
	}
	m = &ir.Map{Place: func(q *ir.Place) *ir.Place { return e.place(q, vars[index], declared) }}
	k.Body = m.Block(all)
	k.Params = append(k.Params, n)
	many := 0
	for _, v := range e.outside {
		k.Params = append(k.Params, e.params[v])
		if !isFloat64(e.params[v].Type) {
			many++
		}
	}
	if many > ir.MaxKernelSlices || len(e.state) > ir.MaxKernelState {
		return nil
	}
	e.of.kernels = append(e.of.kernels, k)
	return k
}

// withUniform returns s with parameters in place of memory that is the same in all iterations.
func (e *vectorEmitter) withUniform(s ir.Stmt) ir.Stmt {
	m := &ir.Map{Expr: func(x ir.Expr) ir.Expr {
		l, ok := x.(*ir.Load)
		if !ok || len(l.P.Path) == 0 || e.isElement(l.P) || !e.isUniform(l.P) {
			return x
		}
		for _, v := range e.outside {
			if p := e.uniform[v]; p != nil && ir.EqualPlace(p, l.P) {
				return v.Load()
			}
		}
		v := &ir.Var{Name: e.names.Name(l.P.Root.Name), Type: l.T, Kind: ir.Param}
		e.params[v], e.uniform[v] = v, l.P
		e.outside = append(e.outside, v)
		return v.Load()
	}}
	return m.Block(ir.Block{s})[0]
}

// findSlices notes the slices that s accesses elements of.
func (e *vectorEmitter) findSlices(s ir.Stmt) {
	visit := func(p *ir.Place) {
		if p == nil || len(p.Path) == 0 {
			return
		}
		_, k, _ := e.splitIndex(p)
		x := e.slices[p.Root]
		if x == nil {
			x = &vectorSlice{least: k, most: k}
			e.slices[p.Root] = x
			e.order = append(e.order, p.Root)
		}
		x.least, x.most = min(x.least, k), max(x.most, k)
	}
	ir.EachExpr(s, func(x ir.Expr) {
		ir.WalkExpr(x, func(x ir.Expr) bool {
			visit(ir.PlaceOf(x))
			return true
		})
	})
	visit(ir.Target(s))
}

// place returns a place of the loop as it is in the kernel, where index is that of the iteration.
func (e *vectorEmitter) place(q *ir.Place, index *ir.Var, declared map[*ir.Var]bool) *ir.Place {
	switch {
	case declared[q.Root]:
		return q
	case len(q.Path) == 0:
		return e.param(q.Root, q.Root.Type).Place()
	}
	elements := types.NewSlice(types.Typ[types.Float64])
	if _, array := q.Root.Type.(*types.Array); array {
		return elementOf(e.param(q.Root, elements), q.Path[0].Index)
	}
	_, k, _ := e.splitIndex(q)
	return elementOf(e.param(q.Root, elements), addConst(index.Load(), k-e.slices[q.Root].least))
}

// param returns the parameter of the kernel for a variable of the function.
func (e *vectorEmitter) param(v *ir.Var, t types.Type) *ir.Var {
	if e.params[v] == nil {
		e.params[v] = &ir.Var{Name: e.names.Name(v.Name), Type: t, Kind: ir.Param}
		e.outside = append(e.outside, v)
	}
	return e.params[v]
}

// call returns the call of the kernel for n iterations from start on.
func (e *vectorEmitter) call(k *ir.Func, start, n ir.Expr) ir.Stmt {
	c := &ir.Call{At: e.l.At, Callee: &ir.Callee{Func: k}, Args: []ir.Expr{n}}
	elements := ir.Typed{T: types.NewSlice(types.Typ[types.Float64])}
	for _, v := range e.outside {
		switch x := e.slices[v]; {
		case e.uniform[v] != nil:
			c.Args = append(c.Args, ir.LoadOf(e.uniform[v], v.Type))
		case x != nil:
			c.Args = append(c.Args, &ir.Slice{Typed: elements, X: v.Load(), Lo: addConst(start, x.least)})
		case isFloat64(v.Type):
			c.Args = append(c.Args, v.Load())
		default:
			c.Args = append(c.Args, &ir.SliceAt{Typed: elements, P: v.Place()})
		}
	}
	return c
}
