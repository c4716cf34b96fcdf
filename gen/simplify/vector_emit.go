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
	first, many   *ir.Var             // the first iteration of a block, and their number
	arrays        map[*ir.Var]*ir.Var // variable → array with its values
	state         []*ir.Var           // the carried variables and the sums
	states        *ir.Var             // the array that they are in before and after a call of the kernel
	declarations  ir.Block            // of arrays
	*vectorKernel                     // that is being written
}

// A vectorKernel is a kernel and its arguments.
type vectorKernel struct {
	fn      *ir.Func
	params  map[*ir.Var]*ir.Var // slice, array or variable → the parameter of the kernel
	outside []*ir.Var           // the keys of params
	// uniform has the memory that parameters are loaded from, which are the same in all iterations.
	uniform map[*ir.Var]*ir.Place
}

// emit returns the statements that replace the loop, which is the only one if a kernel would have too many slices.
func (d *vectorLoop) emit() ir.Block {
	at := d.l.At
	e := &vectorEmitter{vectorLoop: d, arrays: map[*ir.Var]*ir.Var{}, first: d.variable("block"),
		many: d.variable("many")}
	mid := d.variable("mid")
	// The iterations that the kernel does are a multiple of the lanes.
	left := ir.NewBinary(integer, token.REM, addConst(d.end, -d.lo), ir.Count(ir.VectorLanes))
	border := addConst(left, d.lo)
	if !d.down {
		border = ir.NewBinary(integer, token.SUB, d.end, left)
	}
	then := ir.Block{&ir.Let{At: at, V: mid, E: border}}
	kernel := e.kernel(func(i int) bool { return d.inKernel[i] })
	if kernel == nil {
		return ir.Block{d.l}
	}
	inBlock := []*vectorKernel{kernel}
	var before, after ir.Block
	for k, v := range e.state {
		p := elementOf(e.states, ir.Count(k))
		before = append(before, &ir.Set{At: at, P: p, E: v.Load()})
		after = append(after, &ir.Set{At: at, P: v.Place(), E: ir.LoadOf(p, v.Type)})
	}
	few, size := vectorCosts.few, vectorCosts.call
	if !slices.Contains(d.inKernel, false) {
		if list := e.recordFirst(kernel); list != nil {
			size, inBlock = vectorCosts.record, list
		}
	}
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
	inBlocks := ir.Block{e.blocks(inBlock, mid, size, rest)}
	if rest == nil { // a loop of one block takes longer than this
		start, many := ir.IntConst(integer, d.lo), addConst(mid.Load(), -d.lo)
		if d.down {
			start, many = mid.Load(), ir.NewBinary(integer, token.SUB, d.end, mid.Load())
		}
		inBlocks = ir.Block{&ir.If{At: at, Cond: ir.Compare(token.LEQ, many, ir.Count(size)),
			Then: ir.Block{e.call(kernel, start, many)}, Else: inBlocks}}
	}
	then = slices.Concat(then, e.declarations, before, inBlocks, after)
	cond := ir.Compare(token.LSS, ir.IntConst(integer, d.lo+few-1), d.end)
	for _, v := range d.order {
		// The bound may be so large that it overflows with a constant.
		length := &ir.Len{Typed: ir.Typed{T: integer}, X: v.Load()}
		end := ir.Compare(token.LEQ, d.end, addConst(length, -d.slices[v].most))
		cond = ir.NewBinary(types.Typ[types.Bool], token.LAND, cond, end)
	}
	from := ir.Expr(mid.Load())
	if d.down {
		from = addConst(from, -1)
	}
	return ir.Block{&ir.If{At: at, Cond: cond, Then: append(then, remaining(d.l, from, e.names)), Else: ir.Block{d.l}}}
}

// recordFirst returns kernels for a block of iterations of a long loop, if some of its statements copy to memory of the
// workspace, as s[i] = u[i] does to record old values on the tape: one for each of these, and one for the others. All
// is the kernel with all statements. The machine code of a copy may store past the caches; see package print. The
// forward sweep counts up, so loops that count down have no such kernels.
func (e *vectorEmitter) recordFirst(all *vectorKernel) (out []*vectorKernel) {
	records := make([]bool, len(e.body))
	for i, s := range e.body {
		set, ok := s.(*ir.Set)
		if !ok || e.down || e.stored(i) == nil || !e.of.buffers.represents(e.parts[set.P.Root]) {
			continue
		}
		from := ir.PlaceOf(set.E)
		if from != nil && len(from.Path) > 0 && e.isElement(from) && from.Root != set.P.Root && !e.readsBefore(i) {
			records[i] = true
			out = append(out, e.kernel(func(j int) bool { return j == i }))
		}
	}
	switch {
	case out == nil:
		return nil
	case len(records) == 1:
		return []*vectorKernel{all}
	case slices.Contains(records, false):
		out = append(out, e.kernel(func(j int) bool { return !records[j] }))
	}
	return out
}

// readsBefore reports whether a statement before statement i reads memory that this stores.
func (e *vectorEmitter) readsBefore(i int) bool {
	for j := range i {
		for _, r := range e.facts[j].effects.reads {
			if e.mayAlias(e.stored(i), r) {
				return true
			}
		}
	}
	return false
}

// blocks returns the loop that calls kernels for blocks of iterations, up to mid or down to it, and does the rest of
// their statements. The least index of a block is e.first.
func (e *vectorEmitter) blocks(kernels []*vectorKernel, mid *ir.Var, size int64, rest ir.Block) *ir.Loop {
	at := e.l.At
	l := &ir.Loop{At: at, L: e.label("loop"), Next: e.label("next"), V: e.first, Lo: ir.IntConst(integer, e.lo),
		Hi: mid.Load(), Step: size}
	left := ir.NewBinary(integer, token.SUB, mid.Load(), e.first.Load())
	if e.down {
		l.V, l.Lo, l.Step = e.variable("above"), e.end, -size
		left = ir.NewBinary(integer, token.SUB, l.V.Load(), mid.Load())
	}
	l.Body = ir.Block{
		&ir.Let{At: at, V: e.many, E: left},
		&ir.If{At: at, Cond: ir.Compare(token.GTR, e.many.Load(), ir.Count(size)),
			Then: ir.Block{&ir.Set{At: at, P: e.many.Place(), E: ir.Count(size)}}},
	}
	if e.down {
		l.Body = append(l.Body, &ir.Let{At: at, V: e.first,
			E: ir.NewBinary(integer, token.SUB, l.V.Load(), e.many.Load())})
	}
	for _, k := range kernels {
		l.Body = append(l.Body, e.call(k, e.first.Load(), e.many.Load()))
	}
	l.Body = append(l.Body, rest...)
	return l
}

// count returns a loop over index, from 0 to n-1 or back.
func (e *vectorEmitter) count(index *ir.Var, n ir.Expr) *ir.Loop {
	l := &ir.Loop{At: e.l.At, L: e.label("loop"), Next: e.label("next"), V: index, Lo: ir.Count(0), Hi: n, Step: 1}
	if e.down {
		l.Lo, l.Hi, l.Step = addConst(n, -1), ir.IntConst(integer, -1), -1
	}
	return l
}

// remaining returns the loop l from an iteration on, with new names. It is there beside l itself, so that the compiler
// knows that indices of l are not negative where it begins at a constant.
func remaining(l *ir.Loop, from ir.Expr, names *ir.Namer) ir.Stmt {
	last := *l
	last.Lo = from
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
	l := e.count(index, e.many.Load())
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

// kernel returns the kernel with the given statements, whose parameters are the number of iterations and those for
// outside; nil if there are too many. All kernels of a loop have its state, or none of it.
func (e *vectorEmitter) kernel(in func(i int) bool) *vectorKernel {
	e.vectorKernel = &vectorKernel{params: map[*ir.Var]*ir.Var{}, uniform: map[*ir.Var]*ir.Place{}}
	var state []*ir.Var
	list := make(ir.Block, len(e.body)) // the statements of the kernel
	for i := range e.body {
		if in(i) {
			list[i] = e.withUniform(e.body[i])
			e.findSlices(list[i])
		}
		if v := e.carriedBy(i); v != nil && in(i) {
			state = append(state, v)
		}
		if in(i) && e.isSum(i) {
			state = append(state, ir.Target(e.body[i]).Root)
		}
	}
	k := &ir.Func{Name: e.of.f.Name + "_vector" + strconv.Itoa(len(e.of.kernels)), Pos: e.of.f.Pos,
		Exit: &ir.Label{Name: "exit"}}
	n := &ir.Var{Name: e.names.Name("n"), Type: integer, Kind: ir.Param}
	index := e.variable("i")
	var before, body, after ir.Block
	if len(state) > 0 && e.states == nil {
		e.state, e.states = state, e.declare("state", len(state))
	}
	for i, v := range state {
		p := elementOf(e.states, ir.Count(i))
		before = append(before, &ir.Let{At: e.l.At, V: v, E: ir.LoadOf(p, v.Type)})
		after = append(after, &ir.Set{At: e.l.At, P: p, E: v.Load()})
	}
	save := func(v *ir.Var) {
		body = append(body, &ir.Set{At: e.l.At, P: elementOf(e.array(v), index.Load()), E: v.Load()})
	}
	for i := range e.body {
		if in(i) && e.carriedBy(i) != nil && e.saved(i) != nil {
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
	l := e.count(index, n.Load())
	l.Body = body
	all := append(append(before, l), after...)
	vars, labels := renamed(all, e.names)
	for _, v := range state { // it may be a parameter or a result of the function
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
	if many > ir.MaxKernelSlices || len(state) > ir.MaxKernelState {
		return nil
	}
	e.of.kernels = append(e.of.kernels, k)
	e.fn = k
	return e.vectorKernel
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

// call returns the call of k for n iterations from start on.
func (e *vectorEmitter) call(k *vectorKernel, start, n ir.Expr) ir.Stmt {
	c := &ir.Call{At: e.l.At, Callee: &ir.Callee{Func: k.fn}, Args: []ir.Expr{n}}
	elements := ir.Typed{T: types.NewSlice(types.Typ[types.Float64])}
	for _, v := range k.outside {
		switch x := e.slices[v]; {
		case k.uniform[v] != nil:
			c.Args = append(c.Args, ir.LoadOf(k.uniform[v], v.Type))
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
