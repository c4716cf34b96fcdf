package simplify

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// emit returns the statements that replace the loop of d, which counts from lo.
func (d *distribution) emit(lo int64) ir.Block {
	l := d.l
	at := l.At
	mid := &ir.Var{Name: d.names.Name("mid"), Type: integer}
	first := &ir.Var{Name: d.names.Name("block"), Type: integer}
	number := &ir.Var{Name: d.names.Name("k"), Type: integer}
	count := &ir.Var{Name: d.names.Name("count"), Type: integer}
	e := &distributor{distribution: d, first: first, count: count, number: number, arrays: map[*ir.Var]*ir.Var{}}
	left := ir.NewBinary(integer, token.SUB, mid.Load(), first.Load())
	blocks := &ir.Loop{At: at, L: e.label("loop"), Next: e.label("next"), V: first, Lo: ir.IntConst(integer, lo),
		Hi: mid.Load(), Step: batchSize, Body: ir.Block{
			&ir.Let{At: at, V: count, E: ir.Count(batchSize)},
			&ir.If{At: at, Cond: ir.Compare(token.LSS, left, ir.Count(batchSize)),
				Then: ir.Block{&ir.Set{At: at, P: count.Place(), E: left}}},
		}}
	for p := range d.phases {
		blocks.Body = append(blocks.Body, e.phase(p)...)
	}
	blocks.Body = append(blocks.Body, e.phase(d.phases)...)
	last := *l
	if hi, ok := constInt(l.Hi); ok {
		end := ir.IntConst(integer, hi-(hi-lo)%batchStep)
		out := append(ir.Block{&ir.Let{At: at, V: mid, E: end}}, append(e.declarations, blocks)...)
		if last.Lo = end; (hi-lo)%batchStep > 0 {
			out = append(out, &last)
		}
		return out
	}
	rest := ir.NewBinary(integer, token.REM, addConst(l.Hi, -lo), ir.Count(batchStep))
	then := ir.Block{&ir.Set{At: at, P: mid.Place(), E: ir.NewBinary(integer, token.SUB, l.Hi, rest)}}
	then = append(append(then, e.declarations...), blocks)
	last.Lo = mid.Load()
	return ir.Block{
		&ir.Let{At: at, V: mid, E: ir.IntConst(integer, lo)},
		&ir.If{At: at, Cond: ir.Compare(token.LSS, ir.IntConst(integer, lo+batchStep-1), l.Hi), Then: then},
		&last,
	}
}

// A distributor writes the phases of a distribution.
type distributor struct {
	*distribution
	// The first iteration of the block, the number of its iterations, and that of the current one.
	first, count, number *ir.Var
	arrays               map[*ir.Var]*ir.Var
	declarations         ir.Block // of arrays
}

func (e *distributor) label(name string) *ir.Label { return &ir.Label{Name: e.names.Name(name)} }

// array returns the array that holds the values of v in the iterations of a block.
func (e *distributor) array(v *ir.Var) *ir.Var {
	if e.arrays[v] == nil {
		a := &ir.Var{Name: e.names.Name(v.Name), Type: types.NewArray(v.Type, batchSize)}
		e.arrays[v] = a
		e.declarations = append(e.declarations, &ir.Let{At: e.l.At, V: a})
	}
	return e.arrays[v]
}

// element returns the element of an array for the current iteration.
func (e *distributor) element(a *ir.Var) *ir.Place {
	return &ir.Place{Root: a, Path: []ir.Step{ir.IndexStep(e.number.Load())}}
}

// phaseOf returns the phase whose statements give v its value, -1 if v is declared again where it is read.
func (e *distributor) phaseOf(v *ir.Var) int {
	for i := range e.body {
		switch {
		case !e.facts[i].writes[v]:
		case e.moved[i]:
			return e.facts[i].phase
		case slices.Contains(e.calls, i):
			return e.facts[i].phase
		}
	}
	return -1
}

// phase returns the statements of phase p: a loop that computes arguments, and the calls; or the loop of the rest.
func (e *distributor) phase(p int) (out ir.Block) {
	final := p == e.phases
	// The statements are those of this phase, and the cheap declarations that they read.
	in := map[int]bool{}
	var add func(i int)
	reads := map[*ir.Var]bool{}
	read := func(v *ir.Var) {
		reads[v] = true
		for j := range e.body {
			if e.facts[j].writes[v] && !e.moved[j] && !slices.Contains(e.calls, j) && e.needed[j] {
				add(j)
			}
		}
	}
	add = func(i int) {
		if in[i] {
			return
		}
		in[i] = true
		for v := range e.facts[i].reads {
			read(v)
		}
	}
	for i := range e.body {
		if final && !e.needed[i] || !final && e.moved[i] && e.facts[i].phase == p {
			add(i)
		}
	}
	// The arguments of the calls, which may be values that are kept already.
	var stores, calls ir.Block
	for _, i := range e.calls {
		if final || e.facts[i].phase != p {
			continue
		}
		let := e.body[i].(*ir.Let)
		call := let.E.(*ir.Math)
		to := e.array(let.V)
		s := &ir.Batch{At: let.At, Name: call.Name, Dst: e.all(to)}
		for k, a := range call.Args {
			if v := ir.VarOf(a); v != nil && e.phaseOf(v) >= 0 && (e.phaseOf(v) < p || e.isSaved(v, p)) {
				s.Args = append(s.Args, e.all(e.array(v)))
				continue
			}
			from := to // the values replace the arguments
			if k > 0 {
				from = e.array(&ir.Var{Name: let.V.Name, Type: let.V.Type})
			}
			exprUses(a, func(v *ir.Var, _ use) { read(v) })
			stores = append(stores, &ir.Set{At: let.At, P: e.element(from), E: a})
			s.Args = append(s.Args, e.all(from))
		}
		calls = append(calls, s)
	}
	var body ir.Block
	for i, s := range e.body {
		// Values of earlier phases are declared in place of their declarations.
		if let, ok := s.(*ir.Let); ok && reads[let.V] && !in[i] {
			if q := e.phaseOf(let.V); q >= 0 && q < p {
				a := e.array(let.V)
				body = append(body, &ir.Let{At: let.At, V: let.V, E: ir.LoadOf(e.element(a), let.V.Type)})
			}
		}
		if in[i] {
			body = append(body, s)
		}
	}
	if !final {
		for _, v := range e.saved(p) {
			body = append(body, &ir.Set{At: e.l.At, P: e.element(e.array(v)), E: v.Load()})
		}
		body = append(body, stores...)
	}
	if len(body) > 0 {
		out = append(out, e.iterations(body))
	}
	return append(out, calls...)
}

// all returns the slice of the elements of an array for the iterations of the block.
func (e *distributor) all(a *ir.Var) ir.Expr {
	return &ir.SliceAt{Typed: ir.Typed{T: types.NewSlice(types.Typ[types.Float64])}, P: a.Place(), Hi: e.count.Load()}
}

// saved returns the variables that phase p computes and later ones read, in the order of their declarations.
func (e *distributor) saved(p int) (out []*ir.Var) {
	for i, s := range e.body {
		if let, ok := s.(*ir.Let); ok && e.moved[i] && e.facts[i].phase == p && e.isSaved(let.V, p) {
			out = append(out, let.V)
		}
	}
	return out
}

// isSaved reports whether the values of v, which phase p computes, are read after it.
func (e *distributor) isSaved(v *ir.Var, p int) bool {
	if e.phaseOf(v) != p || slices.ContainsFunc(e.calls, func(i int) bool { return e.body[i].(*ir.Let).V == v }) {
		return false
	}
	for i := range e.body {
		// A statement that stays, or is repeated, is one of the last phase.
		last := !e.moved[i] && !slices.Contains(e.calls, i)
		if e.facts[i].reads[v] && (last || e.facts[i].phase > p) {
			return true
		}
	}
	return false
}

// iterations returns a loop over the iterations of a block with the given body, in which the variables and labels have
// new names.
func (e *distributor) iterations(body ir.Block) ir.Stmt {
	k := *e.number
	k.Name = e.names.Name("k")
	l := &ir.Loop{At: e.l.At, L: e.label("loop"), Next: e.label("next"), V: &k, Lo: ir.Count(0),
		Hi: e.count.Load(), Step: 1}
	vars, labels := renamed(body, e.names)
	vars[e.number] = &k
	labels[e.l.Next] = l.Next
	index := ir.NewBinary(integer, token.ADD, e.first.Load(), k.Load())
	m := &ir.Map{Var: ir.Renaming(vars), Label: ir.Renaming(labels), Expr: func(x ir.Expr) ir.Expr {
		if v := ir.VarOf(x); v != nil && v == e.l.V {
			return index
		}
		return collectConstants(x)
	}}
	l.Body = m.Block(body)
	return l
}
