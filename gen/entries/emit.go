package entries

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// store writes the entries of the row at p, an element of the image: those of f.
func (b *builder) store(p *ir.Place, f form, adds bool) {
	v := b.views[p.Root]
	if v == nil || !v.out {
		b.refuse("derivatives in memory other than the results")
	}
	b.emit(b.index(v.base, b.passive(p.Path[0].Index)), f, adds)
}

// emit writes the entries of a row.
func (b *builder) emit(row ir.Expr, f form, adds bool) {
	b.checkLists(f)
	fixed, sums := f.split()
	if b.planning {
		list := []ir.Expr{ir.IntConst(int32Type, Head(len(fixed), adds)), narrow(row)}
		for _, t := range fixed {
			list = append(list, narrow(t.index))
		}
		b.note(list...)
		for _, t := range sums {
			b.noteList(t.list)
		}
		return
	}
	if b.inputs != nil {
		if len(fixed) > 0 {
			b.check(len(fixed))
		}
		for k, t := range fixed {
			b.write(b.word(k), t.by)
		}
		b.read += len(fixed)
		return
	}
	first := int64(-1)
	if adds {
		first -= 1 << 29
	}
	conds := []ir.Expr{b.differs(0, ir.NewBinary(int32Type, token.SUB, ir.IntConst(int32Type, first), narrow(row)))}
	for k, t := range fixed {
		conds = append(conds, b.differs(1+2*k, narrow(t.index)))
	}
	b.check(1+2*len(fixed), conds...)
	for k, t := range fixed {
		b.write(b.word(2+2*k), t.by)
	}
	b.read += 1 + 2*len(fixed)
	for _, t := range sums {
		b.emitList(t)
	}
}

// split returns the terms that are elements and those that are lists.
func (f form) split() (fixed, sums form) {
	for _, t := range f {
		if t.list != nil {
			sums = append(sums, t)
		} else {
			fixed = append(fixed, t)
		}
	}
	return fixed, sums
}

// narrow returns e as an int32.
func narrow(e ir.Expr) ir.Expr { return &ir.Convert{Typed: ir.Typed{T: int32Type}, X: e} }

// note appends integers to the list that the plan function returns.
func (b *builder) note(list ...ir.Expr) {
	b.Emit(&ir.Append{At: b.At, P: b.plan.Place(), S: b.plan.Load(), Elems: list})
	b.Emit(&ir.If{At: b.At, Cond: ir.Compare(token.GTR, ir.LenOf(b.plan.Load()), b.limit.Load()),
		Then: ir.Block{&ir.Leave{At: b.At, L: b.exit}}})
}

// word returns word k of the plan after those that have been read.
func (b *builder) word(k int) ir.Expr { return b.wordAt(ir.Count(b.read + k)) }

func (b *builder) wordAt(k ir.Expr) ir.Expr {
	return ir.LoadOf(&ir.Place{Root: b.plan, Path: []ir.Step{ir.IndexStep(k)}}, int32Type)
}

// differs returns the condition that word k of the plan after those that have been read is not e.
func (b *builder) differs(k int, e ir.Expr) ir.Expr { return ir.Compare(token.NEQ, b.word(k), e) }

// check leaves the function if one of the conditions holds or the plan has less than n words left.
func (b *builder) check(n int, conds ...ir.Expr) {
	cond := ir.Compare(token.LSS, ir.LenOf(b.plan.Load()), ir.Count(b.read+n))
	for _, c := range conds {
		cond = ir.Compare(token.LOR, cond, c)
	}
	b.leaveIf(cond)
}

func (b *builder) leaveIf(cond ir.Expr) {
	b.Emit(&ir.If{At: b.At, Cond: cond, Then: ir.Block{
		&ir.Set{At: b.At, P: b.changed.Place(), E: ir.BoolConst(b.changed.Type, true)},
		&ir.Leave{At: b.At, L: b.exit},
	}})
}

// flush drops the words of the plan that have been read. Stores in a row read it at constant indices, and drop their
// words together.
func (b *builder) flush() {
	if b.read > 0 {
		b.advance(ir.Count(b.read))
		b.read = 0
	}
}

// advance drops n words of the plan.
func (b *builder) advance(n ir.Expr) {
	b.Emit(&ir.Set{At: b.At, P: b.plan.Place(),
		E: &ir.Slice{Typed: ir.Typed{T: planType}, X: b.plan.Load(), Lo: n}})
}

// entry returns the place of the entry with an index.
func (b *builder) entry(at ir.Expr) *ir.Place {
	return &ir.Place{Root: b.values, Path: []ir.Step{ir.IndexStep(at)}}
}

// write assigns an entry.
func (b *builder) write(at, e ir.Expr) {
	if !types.Identical(e.Type(), floatType) {
		e = &ir.Convert{Typed: ir.Typed{T: floatType}, X: e}
	}
	b.Emit(&ir.Set{At: b.At, P: b.entry(at), E: e})
}

// each writes a loop over the numbers below n, whose body is that which write emits.
func (b *builder) each(n ir.Expr, write func(i ir.Expr)) {
	b.flush()
	i := &ir.Var{Name: b.names.Name("i"), Type: intType}
	l := &ir.Loop{At: b.At, L: &ir.Label{Name: b.names.Name("each")}, Next: &ir.Label{Name: b.names.Name("next")},
		V: i, Lo: ir.Count(0), Hi: n, Step: 1}
	l.Body = b.scoped(i, func() { write(i.Load()) })
	b.Emit(l)
}

// clear translates a clear of a part of the image.
func (b *builder) clear(s *ir.Clear) {
	v := b.view(s.S)
	if !v.out || v.n == nil {
		b.refuse("derivatives in memory other than the results")
	}
	b.each(v.n, func(i ir.Expr) { b.emit(b.index(v.base, i), nil, false) })
}

// copy translates a copy of a part of the direction to the image.
func (b *builder) copy(s *ir.Copy) {
	if s.N != nil || !b.readsDot(s.Dst) || !b.readsDot(s.Src) {
		b.refuse("derivatives in memory other than the results")
	}
	dst, src := b.view(s.Dst), b.view(s.Src)
	if !dst.out || src.out || dst.n == nil || src.n == nil {
		b.refuse("derivatives in memory other than the results")
	}
	n := &ir.Math{Typed: ir.Typed{T: intType}, Name: "min", Args: []ir.Expr{dst.n, src.n}}
	b.each(n, func(i ir.Expr) {
		f := form{{index: b.index(src.base, i), by: ir.FloatConst(floatType, 1)}}
		b.emit(b.index(dst.base, i), f, false)
	})
}
