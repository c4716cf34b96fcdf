package lanes

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// A builder writes the lane form of one function.
type builder struct {
	*generation
	ir.Writer
	f          *ir.Func
	names      *ir.Namer
	addressed  map[*ir.Var]bool      // variables whose address is taken as a whole
	read       map[*ir.Var]bool      // variables that are read
	laneVars   map[*ir.Var]*ir.Var   // divergent variable → the variable of its lane type
	scalarVars map[*ir.Var][]*ir.Var // divergent float → its scalars, one per lane
	onlyLane   int                   // the lane being written under a divergent condition, otherwise -1

	pending      []laneOp         // operations that are scheduled but not written
	pendingReads map[*ir.Var]bool // variables that pending operations read
	rows         []rowPointer     // pointers to lanes, valid until the next flush
}

// A laneOp returns statements for the given lanes. Execution may be delayed past uniform statements that do not change
// its operands, so that several operations are written together, a few lanes at a time, and intermediate values stay in
// registers.
type laneOp func(lanes []int) []ir.Stmt

// lanesPerGroup is the number of lanes that are written at a time.
const lanesPerGroup = 2

// schedule adds op, which reads the given variables, to the pending operations. Under a divergent condition it
// is written at once.
func (b *builder) schedule(reads []*ir.Var, op laneOp) {
	if b.onlyLane >= 0 {
		b.Emit(op([]int{b.onlyLane})...)
		return
	}
	b.pending = append(b.pending, op)
	for _, v := range reads {
		b.pendingReads[v] = true
	}
}

// flush writes the pending operations, group of lanes by group of lanes.
func (b *builder) flush() {
	for lo := 0; lo < b.types.n && len(b.pending) > 0; lo += lanesPerGroup {
		var list []int
		for k := lo; k < min(lo+lanesPerGroup, b.types.n); k++ {
			list = append(list, k)
		}
		// All operations for two lanes come before those for the next two.
		for _, op := range b.pending {
			b.Emit(op(list)...)
		}
	}
	b.pending, b.rows = nil, nil
	clear(b.pendingReads)
}

// refuse panics with an Error, which Build returns.
func (b *builder) refuse(format string, args ...any) {
	panic(&Error{Func: b.f.Name, What: fmt.Sprintf(format, args...), Pos: b.At.Pos})
}

// hasScalars reports whether v is a divergent float with one variable per lane. If its address is taken, an array holds
// its lanes.
func (b *builder) hasScalars(v *ir.Var) bool {
	return b.divergent[v] && ir.IsFloat(v.Type) && !b.addressed[v]
}

// scalars returns the variables for the lanes of the divergent float v, in the signature or in the body.
func (b *builder) scalars(v *ir.Var) []*ir.Var {
	list := b.scalarVars[v]
	if list == nil {
		for k := range b.types.n {
			list = append(list,
				&ir.Var{Name: b.names.Name(v.Name + strconv.Itoa(k)), Type: v.Type, Kind: v.Kind, Pos: v.Pos})
		}
		b.scalarVars[v] = list
	}
	return list
}

// laneVar returns the variable of lane type that replaces the divergent variable v.
func (b *builder) laneVar(v *ir.Var) *ir.Var {
	s := b.laneVars[v]
	if s == nil {
		s = &ir.Var{Name: v.Name, Type: b.types.LaneType(v.Type), Kind: v.Kind, Pos: v.Pos} // v itself no longer occurs
		if ir.IsFloat(v.Type) {
			s.Kind = ir.Local // the signature has its lanes
		}
		b.laneVars[v] = s
	}
	return s
}

// signature returns the parameters or results that replace those in list.
func (b *builder) signature(list []*ir.Var) (out []*ir.Var) {
	for _, v := range list {
		switch {
		case !b.divergent[v]:
			out = append(out, v)
		case ir.IsFloat(v.Type):
			out = append(out, b.scalars(v)...)
		default:
			out = append(out, b.laneVar(v))
		}
	}
	return out
}

// body returns the body of the lane form. Divergent floats whose address is taken are copied from the scalars of the
// parameters into arrays at entry, and to those of the results at exit.
func (b *builder) body(body ir.Block) ir.Block {
	var before, after ir.Block
	for _, v := range slices.Concat(b.f.Params, b.f.Results) {
		if !b.divergent[v] || !ir.IsFloat(v.Type) || !b.addressed[v] {
			continue
		}
		to := &laneNumber{Typed: ir.Typed{T: v.Type}, place: b.laneVar(v).Place()}
		before = append(before, &ir.Let{V: b.laneVar(v)})
		for k, x := range b.scalars(v) {
			if v.Kind == ir.Param {
				before = append(before, to.setLane(ir.At{}, k, x.Load()))
			} else {
				after = append(after, &ir.Set{P: x.Place(), E: to.loadLane(k)})
			}
		}
	}
	out := b.block(body)
	if len(after) > 0 {
		end := &ir.Label{Name: b.names.Name("end")}
		m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
			if l == b.f.Exit {
				return end
			}
			return l
		}}
		out = append(ir.Block{&ir.Scope{L: end, Body: m.Block(out)}}, after...)
	}
	return append(before, out...)
}

// block returns the lane form of a nested block.
func (b *builder) block(in ir.Block) ir.Block {
	b.flush()
	return b.Nested(func() {
		b.Emit(b.EachStmt(in, b.stmt)...)
		b.flush()
	})
}

// flushReaders flushes pending operations before an assignment to the uniform place p that they may read. A place of
// another type than float may be an index of any of them.
func (b *builder) flushReaders(p *ir.Place) {
	if !ir.IsFloat(p.Type()) || len(p.Path) == 0 && b.pendingReads[p.Root] {
		b.flush()
	}
}

// stmt writes the lane form of s. Only declarations and assignments of floats are scheduled; all other statements flush
// first.
func (b *builder) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		b.let(s)
		return
	case *ir.Set:
		b.set(s.P, s.E, (*laneNumber).setLane,
			func(p *ir.Place, e ir.Expr) ir.Stmt { return &ir.Set{At: s.At, P: p, E: e} })
		return
	case *ir.Add:
		b.set(s.P, s.E, (*laneNumber).addLane,
			func(p *ir.Place, e ir.Expr) ir.Stmt { return &ir.Add{At: s.At, P: p, E: e} })
		return
	}
	b.flush()
	switch s := s.(type) {
	case *ir.Append:
		b.appendStmt(s)
	case *ir.Copy:
		dst, src := b.memoryDivergent(s.Dst), b.memoryDivergent(s.Src)
		// A copy between slices of different element types is impossible.
		if dst != src {
			b.refuse("a copy between memory that differs between lanes and memory that does not")
		}
		b.refuseInBranch(dst || s.N != nil)
		b.Emit(&ir.Copy{At: s.At, N: s.N, Dst: b.operand(s.Dst, dst), Src: b.operand(s.Src, dst)})
	case *ir.Clear:
		divergent := b.memoryDivergent(s.S)
		b.refuseInBranch(divergent)
		b.Emit(&ir.Clear{At: s.At, S: b.operand(s.S, divergent)})
	case *ir.Call:
		b.call(s)
	case *ir.If:
		b.ifStmt(s)
	case *ir.Scope:
		b.Emit(&ir.Scope{At: s.At, L: s.L, Body: b.block(s.Body)})
	case *ir.Loop:
		loop := *s
		loop.Lo, loop.Hi = b.uniform(s.Lo), b.uniform(s.Hi)
		loop.Body = b.block(s.Body)
		b.Emit(&loop)
	case *ir.Leave:
		b.Emit(s)
	case *ir.Panic:
		if b.onlyLane >= 0 {
			b.refuse("a panic under a condition that differs between lanes")
		}
		b.Emit(&ir.Panic{At: s.At, E: b.uniform(s.E)})
	// Structs, arrays and references are assigned as a whole.
	default:
		b.refuse("a %T", s)
	}
}

// refuseInBranch refuses an action that cannot be confined to one lane, if divergent is set and a divergent branch is
// being written.
func (b *builder) refuseInBranch(divergent bool) {
	if b.onlyLane >= 0 && divergent {
		b.refuse("memory that is changed, or a call, under a condition that differs between lanes")
	}
}

// let writes the lane form of a declaration.
func (b *builder) let(s *ir.Let) {
	switch v := s.V; {
	// A copy of a struct field that the lane type does not have.
	case !b.divergent[v] && !b.read[v] && b.exprDivergent(s.E):
		b.Emit(&ir.Let{At: s.At, V: v})
	case !b.divergent[v]:
		b.Emit(&ir.Let{At: s.At, V: v, E: b.uniform(s.E)})
	// Integers and booleans cannot be divergent.
	case !activity.HasFloats(v.Type):
		b.refuse("%s, which is not a number with a derivative and differs between lanes", v.Name)
	case !ir.IsFloat(v.Type):
		b.flush()
		l := &ir.Let{At: s.At, V: b.laneVar(v)}
		if s.E != nil {
			l.E = b.laneValue(s.E)
		}
		b.Emit(l)
	// The address must be that of one array.
	case b.addressed[v]:
		b.flush()
		b.Emit(&ir.Let{At: s.At, V: b.laneVar(v)})
		if s.E != nil {
			b.stmt(&ir.Set{At: s.At, P: v.Place(), E: s.E})
		}
	default:
		list := b.scalars(v)
		if s.E == nil {
			b.schedule(nil, func(lanes []int) (out []ir.Stmt) {
				for _, k := range lanes {
					out = append(out, &ir.Let{At: s.At, V: list[k]})
				}
				return out
			})
			return
		}
		// The template is built now, so that uniform subexpressions are evaluated here.
		e := b.laneExpr(s.E)
		b.schedule(uniformReads(e), func(lanes []int) (out []ir.Stmt) {
			for _, k := range lanes {
				out = append(out, &ir.Let{At: s.At, V: list[k], E: forLane(e, k)})
			}
			return out
		})
	}
}

// set writes the lane form of an assignment or an addition of e to p. Lane returns the statement for one lane of a
// divergent number, uniform the one for all other places.
func (b *builder) set(p *ir.Place, e ir.Expr, lane func(x *laneNumber, at ir.At, k int, e ir.Expr) ir.Stmt,
	to func(p *ir.Place, e ir.Expr) ir.Stmt) {
	where := b.At
	switch {
	// The variable is not read; see let.
	case !b.isDivergent(p) && !p.Indirect() && p.Root.Kind == ir.Local && !b.read[p.Root] && b.exprDivergent(e):
	case !b.isDivergent(p):
		b.flushReaders(p)
		b.Emit(to(b.uniformIndices(p), b.uniform(e)))
	case ir.IsFloat(p.Type()):
		// The right side is evaluated before the indices of p.
		x, dst := b.laneExpr(e), b.laneNumber(p)
		b.schedule(append(uniformReads(x), uniformReads(dst)...), func(lanes []int) (out []ir.Stmt) {
			for _, k := range lanes {
				out = append(out, lane(dst, where, k, forLane(x, k)))
			}
			return out
		})
	default:
		b.flush()
		if !activity.HasFloats(p.Type()) {
			b.refuse("%s, which holds no number, in memory that differs between lanes", p.Root.Name)
		}
		b.refuseInBranch(true)
		b.Emit(to(b.divergentPlace(p), b.laneValue(e)))
	}
}

// memoryDivergent reports whether the memory that s refers to is divergent.
func (b *builder) memoryDivergent(s ir.Expr) (found bool) {
	b.eachCell(s, func(c any, _ bool) { found = found || b.divergent[c] })
	return found
}

// operand returns e as an operand of lane type if divergent is set, and as a uniform one otherwise.
func (b *builder) operand(e ir.Expr, divergent bool) ir.Expr {
	if divergent {
		return b.laneOperand(e)
	}
	return b.uniform(e)
}

// appendStmt writes the lane form of an append.
func (b *builder) appendStmt(s *ir.Append) {
	divergent := b.isDivergent(s.P)
	b.refuseInBranch(divergent)
	c := &ir.Append{At: s.At, Spread: s.Spread, S: b.operand(s.S, divergent)}
	for _, e := range s.Elems {
		c.Elems = append(c.Elems, b.operand(e, divergent))
	}
	if c.P = b.uniformIndices(s.P); divergent {
		c.P = b.divergentPlace(s.P)
	}
	b.Emit(c)
}
