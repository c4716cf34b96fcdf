package simplify_test

import (
	"fmt"
	"go/token"

	"github.com/nabla-ad/nabla/gen/ir"
)

// lanewise returns a kernel with the results of k that works as its machine code does: four iterations at a time, of
// which each operation is done before the next one. A carried variable has, in each lane, the value of its source in
// the lane before; the source, and all that it depends on, is computed first. It panics if k is no kernel.
func lanewise(k *ir.Func) *ir.Func {
	k, _ = ir.Clone(k, nil)
	for i, s := range k.Body {
		if l, ok := s.(*ir.Loop); ok {
			w := &lanewiseLoop{l: l, lets: map[*ir.Var]*ir.Let{}, sources: map[*ir.Var]ir.Expr{},
				lanes: map[*ir.Var][]*ir.Var{}, busy: map[*ir.Var]bool{}, last: map[*ir.Var]*ir.Var{}}
			k.Body[i] = w.loop()
		}
	}
	return k
}

// A lanewiseLoop rewrites the loop of a kernel.
type lanewiseLoop struct {
	l       *ir.Loop
	lets    map[*ir.Var]*ir.Let
	sources map[*ir.Var]ir.Expr   // carried variable → its value for the next iteration
	lanes   map[*ir.Var][]*ir.Var // variable → its value in each lane
	busy    map[*ir.Var]bool      // variables whose value is being computed
	last    map[*ir.Var]*ir.Var   // carried variable → its value for the next four iterations
	out     ir.Block
}

func (w *lanewiseLoop) loop() *ir.Loop {
	for _, s := range w.l.Body {
		switch s := s.(type) {
		case *ir.Let:
			w.lets[s.V] = s
		case *ir.Set:
			if len(s.P.Path) == 0 {
				if w.sources[s.P.Root] != nil {
					panic("a variable is assigned twice")
				}
				w.sources[s.P.Root] = s.E
			}
		case *ir.Add:
		default:
			panic(fmt.Sprintf("a kernel has a %T", s))
		}
	}
	var next ir.Block
	for _, s := range w.l.Body {
		switch s := s.(type) {
		case *ir.Let:
			w.value(s.V)
		case *ir.Set:
			if len(s.P.Path) == 0 {
				w.value(s.P.Root)
				next = append(next, &ir.Set{P: s.P, E: w.last[s.P.Root].Load()})
				continue
			}
			w.need(s.E)
			for lane := range ir.VectorLanes {
				w.out = append(w.out, &ir.Set{P: w.place(s.P, lane), E: w.expr(s.E, lane)})
			}
		case *ir.Add:
			w.need(s.E)
			if len(s.P.Path) == 0 && (w.lets[s.P.Root] != nil || w.sources[s.P.Root] != nil) {
				panic("a sum is assigned to")
			}
			for lane := range ir.VectorLanes {
				w.out = append(w.out, &ir.Add{P: w.place(s.P, lane), E: w.expr(s.E, lane)})
			}
		}
	}
	l := *w.l
	l.Step, l.Body = l.Step*ir.VectorLanes, append(w.out, next...)
	return &l
}

// need computes the variables that e reads.
func (w *lanewiseLoop) need(e ir.Expr) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Const, *ir.Load:
		case *ir.Unary, *ir.Binary:
		case *ir.Math:
			if !ir.VectorMath(e.Name) {
				panic("a kernel calls " + e.Name)
			}
		default:
			panic(fmt.Sprintf("a kernel has a %T", e))
		}
		if v := ir.VarOf(e); v != nil && v != w.l.V {
			w.value(v)
		}
		return true
	})
}

// value declares the values of a variable in the lanes, unless it is one from outside of the loop.
func (w *lanewiseLoop) value(v *ir.Var) {
	if w.lanes[v] != nil || w.lets[v] == nil && w.sources[v] == nil {
		return
	}
	if w.busy[v] {
		panic(v.Name + " depends on itself")
	}
	w.busy[v] = true
	e, carried := w.sources[v]
	if !carried {
		e = w.lets[v].E
	}
	w.need(e)
	var list []*ir.Var
	for lane := range ir.VectorLanes {
		x := *v
		x.Name, x.Kind = fmt.Sprintf("%s_%d", v.Name, lane), ir.Local
		var value ir.Expr = v.Load()
		switch {
		case !carried:
			value = w.expr(e, lane)
		case lane > 0:
			value = w.expr(e, lane-1)
		}
		w.out = append(w.out, &ir.Let{V: &x, E: value})
		list = append(list, &x)
	}
	w.lanes[v] = list
	if carried {
		x := *v
		x.Name, x.Kind = v.Name+"_last", ir.Local
		w.out = append(w.out, &ir.Let{V: &x, E: w.expr(e, ir.VectorLanes-1)})
		w.last[v] = &x
	}
}

// expr returns e as it is in a lane.
func (w *lanewiseLoop) expr(e ir.Expr, lane int) ir.Expr { return w.in(lane).RewriteExpr(e) }

// place returns p as it is in a lane.
func (w *lanewiseLoop) place(p *ir.Place, lane int) *ir.Place { return w.in(lane).RewritePlace(p) }

func (w *lanewiseLoop) in(lane int) *ir.Map {
	return &ir.Map{Expr: func(e ir.Expr) ir.Expr {
		v := ir.VarOf(e)
		switch {
		case v == nil:
		case v == w.l.V:
			return ir.NewBinary(v.Type, token.ADD, v.Load(), ir.IntConst(v.Type, int64(lane)*w.l.Step))
		case w.lanes[v] != nil:
			return w.lanes[v][lane].Load()
		}
		return e
	}}
}
