package simplify

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Windows carries from one iteration to the next what both have to do with. Where a loop
// that counts by 1 reads x[i] and x[i+1] of a slice whose elements it does not write, it
// reads one of them and has the other from the iteration before; and where it adds to
// p[i] and p[i+1] once each, and else has nothing to do with that memory, it adds to one
// of them, what the iteration before had for it included. The arguments are those of
// [Increments].
func Windows(f *ir.Func, distinct bool, adjoint func(*ir.Var) bool) {
	windows(f, distinct, nil, adjoint)
}

func windows(f *ir.Func, distinct bool, work *ir.Var, adjoint func(*ir.Var) bool) {
	if adjoint == nil {
		adjoint = func(*ir.Var) bool { return true }
	}
	w := &windower{names: ir.NamerOf(f), mem: memoryOf(f, distinct, work), adjoint: adjoint}
	f.Body = w.block(f.Body)
}

type windower struct {
	names   *ir.Namer
	mem     *memory
	adjoint func(*ir.Var) bool
}

func (w *windower) block(b ir.Block) (out ir.Block) {
	for _, s := range b {
		s = blocks(s, w.block)
		if l, ok := s.(*ir.Loop); ok {
			s = w.loop(l)
		}
		out = append(out, s)
	}
	return out
}

// offsets are those of the index of a loop at which a slice is used.
type offsets struct {
	x    *ir.Var
	list map[int64]int // how often each
}

// pair gives the smaller of two neighbours if there are just those.
func (o *offsets) pair() (int64, bool) {
	for k := range o.list {
		if o.list[k+1] > 0 && len(o.list) == 2 {
			return k, true
		}
	}
	return 0, false
}

func (w *windower) loop(l *ir.Loop) ir.Stmt {
	if l.V == nil || l.Step != 1 && l.Step != -1 || !types.Identical(l.V.Type, integer) || !innermost(l.Body) ||
		ir.LeavesBeyond(l.Body) || ends(l.Body) || !simple(l.Lo) || !simple(l.Hi) {
		return l
	}
	inside := usageOf(l.Body)
	still := true
	for _, e := range []ir.Expr{l.Lo, l.Hi} {
		exprUses(e, func(v *ir.Var, _ use) { still = still && inside.writes[v] == 0 && !w.mem.use.addressed[v] })
	}
	if !still {
		return l
	}
	loop := *l
	var before, after ir.Block
	for _, o := range w.sums(&loop, inside) {
		b, a := w.sum(&loop, o)
		before, after = append(before, b...), append(after, a...)
	}
	for _, o := range w.reads(&loop, inside) {
		before = append(before, w.read(&loop, o)...)
	}
	if len(before) == 0 {
		return l
	}
	return &ir.If{At: l.At, Cond: fold(runs(l)), Then: append(append(before, &loop), after...)}
}

// runs is whether a loop that counts by 1 has an iteration.
func runs(l *ir.Loop) ir.Expr {
	if l.Step > 0 {
		return binary(boolean, token.LSS, l.Lo, l.Hi)
	}
	return binary(boolean, token.GTR, sumOf(l.Lo, 1), sumOf(l.Hi, 1))
}

// at is the offset of p from the index of l, where p is an element of a slice variable
// that the loop does not assign to.
func (w *windower) at(p *ir.Place, l *ir.Loop, inside *usage) (int64, bool) {
	if len(p.Path) != 1 || p.Path[0].Index == nil || elemOf(p.Root.Type) == nil || w.mem.use.addressed[p.Root] ||
		inside.writes[p.Root] > 0 {
		return 0, false
	}
	e, k := offset(p.Path[0].Index)
	return k, e != nil && whole(e) == l.V
}

// collect lists slices in the order in which they occur.
func collect(list []*offsets, x *ir.Var, k int64) []*offsets {
	for _, o := range list {
		if o.x == x {
			o.list[k]++
			return list
		}
	}
	return append(list, &offsets{x, map[int64]int{k: 1}})
}

// sums finds the slices that every iteration adds to at two neighbours, once each.
func (w *windower) sums(l *ir.Loop, inside *usage) (out []*offsets) {
	var list []*offsets
	for _, s := range l.Body {
		if a, ok := s.(*ir.Add); ok && ir.IsFloat(a.P.Type()) && w.adjoint(a.P.Root) {
			if k, ok := w.at(a.P, l, inside); ok {
				list = collect(list, a.P.Root, k)
			}
		}
	}
	for _, o := range list {
		if k, ok := o.pair(); !ok || o.list[k] > 1 || o.list[k+1] > 1 {
			continue
		}
		own := 0
		free := true
		each := &ir.Place{Root: o.x, Path: []ir.Step{ir.AnyStep()}}
		for _, s := range l.Body {
			if a, ok := s.(*ir.Add); ok && a.P.Root == o.x {
				if _, ok := w.at(a.P, l, inside); ok {
					own++
				}
			}
			t := touchOf(s)
			for _, list := range [][]*ir.Place{t.reads, t.writes, t.adds} {
				for _, p := range list {
					if p.Root == o.x && len(p.Path) == 0 {
						continue // the header
					}
					if a, ok := s.(*ir.Add); ok && p == a.P && p.Root == o.x {
						continue
					}
					free = free && !w.mem.mayBe(p, each)
				}
			}
		}
		if free && own == 2 {
			out = append(out, o)
		}
	}
	return out
}

// sum makes l carry what it adds to one of two neighbours.
func (w *windower) sum(l *ir.Loop, o *offsets) (before, after ir.Block) {
	k, _ := o.pair()
	carried, last := k+1, sumOf(l.Hi, -1)
	if l.Step < 0 {
		carried, last = k, sumOf(l.Hi, 1)
	}
	t := elemOf(o.x.Type)
	carry := &ir.Var{Name: w.names.Name("carry"), Type: t}
	next := &ir.Var{Name: w.names.Name("next"), Type: t}
	var body ir.Block
	for _, s := range l.Body {
		if a, ok := s.(*ir.Add); ok && a.P.Root == o.x {
			switch i, n := offset(a.P.Path[0].Index); {
			case i == nil || whole(i) != l.V:
			case n == carried:
				s = &ir.Let{At: a.At, V: next, E: a.E}
			default:
				s = &ir.Add{At: a.At, P: a.P, E: plus(a.E, carry.Load())}
			}
		}
		body = append(body, s)
	}
	l.Body = append(body, &ir.Set{At: l.At, P: carry.Place(), E: next.Load()})
	before = ir.Block{&ir.Let{At: l.At, V: carry}}
	to := &ir.Place{Root: o.x, Path: []ir.Step{ir.IndexStep(sumOf(last, carried))}}
	return before, ir.Block{&ir.Add{At: l.At, P: to, E: carry.Load()}}
}

// reads finds the slices that every iteration reads two neighbours of and none writes.
func (w *windower) reads(l *ir.Loop, inside *usage) (out []*offsets) {
	var list []*offsets
	for _, s := range l.Body {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if b, ok := e.(*ir.Binary); ok && (b.Op == token.LAND || b.Op == token.LOR) {
					return false
				}
				if x, ok := e.(*ir.Load); ok && ir.IsFloat(x.T) {
					if k, ok := w.at(x.P, l, inside); ok {
						list = collect(list, x.P.Root, k)
					}
				}
				return true
			})
		}
	}
	for _, o := range list {
		if _, ok := o.pair(); !ok {
			continue
		}
		each := &ir.Place{Root: o.x, Path: []ir.Step{ir.AnyStep()}}
		free := true
		for _, s := range l.Body {
			t := touchOf(s)
			for _, list := range [][]*ir.Place{t.writes, t.adds} {
				for _, p := range list {
					free = free && !w.mem.mayBe(p, each)
				}
			}
		}
		if free {
			out = append(out, o)
		}
	}
	return out
}

// read makes l read one of two neighbours.
func (w *windower) read(l *ir.Loop, o *offsets) ir.Block {
	k, _ := o.pair()
	fresh, kept := k+1, k
	if l.Step < 0 {
		fresh, kept = k, k+1
	}
	t := elemOf(o.x.Type)
	element := func(i ir.Expr, k int64) ir.Expr {
		return load(&ir.Place{Root: o.x, Path: []ir.Step{ir.IndexStep(sumOf(i, k))}}, t)
	}
	old := &ir.Var{Name: w.names.Name("old"), Type: t}
	now := &ir.Var{Name: w.names.Name("now"), Type: t}
	m := &ir.Map{Expr: func(e ir.Expr) ir.Expr {
		x, ok := e.(*ir.Load)
		if !ok || x.P.Root != o.x || len(x.P.Path) != 1 {
			return e
		}
		i, n := offset(x.P.Path[0].Index)
		switch {
		case i == nil || whole(i) != l.V:
		case n == fresh:
			return now.Load()
		case n == kept:
			return old.Load()
		}
		return e
	}}
	body := append(ir.Block{&ir.Let{At: l.At, V: now, E: element(l.V.Load(), fresh)}}, m.Block(l.Body)...)
	l.Body = append(body, &ir.Set{At: l.At, P: old.Place(), E: now.Load()})
	return ir.Block{&ir.Let{At: l.At, V: old, E: element(l.Lo, kept)}}
}
