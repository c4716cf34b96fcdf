package entries

import (
	"go/token"
	"math"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A list holds the terms of a dot whose number is known at run time only: a sum over the iterations of a loop. In the
// values function, their coefficients are elements of the entries from base on, and the plan has their indices. In the
// plan function, cols holds their indices.
type list struct {
	of    *ir.Var
	id    int
	base  *ir.Var
	n     *ir.Var // the number of terms
	cols  *ir.Var
	state int // changes with each assignment
}

// newList declares a list that takes the place of the dot v.
func (b *builder) newList(v *ir.Var) *list {
	l := &list{of: v, id: len(b.lists)}
	b.lists = append(b.lists, l)
	local := func(name string, e ir.Expr) *ir.Var {
		w := b.let(v.Name+name, e)
		b.mutable[w] = true
		return w
	}
	if b.planning {
		l.cols = local("Cols", ir.Zero(planType))
	} else {
		l.n = local("Count", ir.Count(0))
		l.base = &ir.Var{Name: b.names.Name(v.Name + "Base"), Type: intType}
	}
	return l
}

// header returns the statements at the start of the function: the plan has first its inputs, or where the lists are.
func (b *builder) header() ir.Block {
	return b.Nested(func() {
		if b.planning {
			head := []ir.Expr{ir.IntConst(int32Type, int64(len(b.lists)))}
			for _, e := range b.inputs {
				head = append(head, words(e)...)
			}
			b.note(head...)
			return
		}
		if b.inputs != nil {
			var conds []ir.Expr
			for _, e := range b.inputs {
				for _, w := range words(e) {
					conds = append(conds, b.differs(len(conds), w))
				}
			}
			b.check(len(conds), conds...)
			b.read += len(conds)
			b.flush()
			return
		}
		if len(b.lists) == 0 {
			return
		}
		b.check(len(b.lists))
		for k, l := range b.lists {
			b.Emit(&ir.Let{At: b.At, V: l.base, E: asInt(b.word(k))})
		}
		b.read += len(b.lists)
		b.flush()
	})
}

// checkLists refuses terms of lists that have been assigned since the terms were made.
func (b *builder) checkLists(f form) {
	for _, t := range f {
		if t.list != nil && t.state != t.list.state {
			b.refuse("a sum changes while a number that was computed from it is in use")
		}
	}
}

// fillList assigns f to the list: it adds terms to those that it has, if they are in f, and replaces them otherwise.
func (b *builder) fillList(l *list, f form) {
	fixed, sums := f.split()
	switch {
	case len(sums) == 0:
		if b.planning {
			empty := &ir.Slice{Typed: ir.Typed{T: planType}, X: l.cols.Load(), Hi: ir.Count(0)}
			b.Emit(&ir.Set{At: b.At, P: l.cols.Place(), E: empty})
		} else {
			b.Emit(&ir.Set{At: b.At, P: l.n.Place(), E: ir.Count(0)})
		}
	case len(sums) > 1 || sums[0].list != l:
		b.refuse("a sum of sums of many terms")
	default:
		b.checkLists(sums)
		if v, ok := constant(sums[0].by); (!ok || v != 1) && !b.planning {
			by := b.atom(sums[0].by, "t")
			b.each(l.n.Load(), func(i ir.Expr) {
				at := b.let("at", ir.NewBinary(intType, token.ADD, l.base.Load(), i)).Load()
				b.write(at, ir.NewBinary(floatType, token.MUL, ir.LoadOf(b.entry(at), floatType), by))
			})
		}
	}
	l.state++
	for _, t := range fixed {
		if b.planning {
			b.note(ir.IntConst(int32Type, ListTerm), ir.IntConst(int32Type, int64(l.id)), narrow(t.index))
			b.Emit(&ir.Append{At: b.At, P: l.cols.Place(), S: l.cols.Load(), Elems: []ir.Expr{narrow(t.index)}})
			continue
		}
		b.check(2, b.differs(0, ir.IntConst(int32Type, int64(math.MinInt32+l.id))), b.differs(1, narrow(t.index)))
		b.write(ir.NewBinary(intType, token.ADD, l.base.Load(), l.n.Load()), t.by)
		b.read += 2
		b.Emit(&ir.Set{At: b.At, P: l.n.Place(), E: ir.NewBinary(intType, token.ADD, l.n.Load(), ir.Count(1))})
	}
}

// noteList notes the terms of a list as entries of a row.
func (b *builder) noteList(l *list) {
	n := ir.LenOf(l.cols.Load())
	b.note(ir.IntConst(int32Type, ListEntries), narrow(n))
	b.Emit(&ir.Append{At: b.At, P: b.plan.Place(), S: b.plan.Load(), Elems: []ir.Expr{l.cols.Load()}, Spread: true})
}

// emitList writes the terms of a list as entries of a row.
func (b *builder) emitList(t term) {
	b.flush()
	n := t.list.n.Load()
	b.leaveIf(ir.Compare(token.LOR, ir.Compare(token.LEQ, ir.LenOf(b.plan.Load()), n),
		b.differs(0, narrow(ir.NewBinary(intType, token.SUB, ir.Count(-1<<30), n)))))
	by := t.by
	if _, ok := constant(by); !ok {
		by = b.atom(by, "t")
	}
	b.each(n, func(i ir.Expr) {
		e := ir.LoadOf(b.entry(ir.NewBinary(intType, token.ADD, t.list.base.Load(), i)), floatType)
		b.write(b.wordAt(ir.NewBinary(intType, token.ADD, i, ir.Count(1))), times(by, e))
	})
	b.advance(ir.NewBinary(intType, token.ADD, n, ir.Count(1)))
}
