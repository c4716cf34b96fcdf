package activity

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Searches: loops such as a bisection or a golden section that move numbers without derivatives by comparisons of
// numbers that have some. The number that is found depends on the arguments, but no operation does, so that its
// derivative is 0 to every method that differentiates operations (Griewank & Walther 2008, section 15.3, differentiate
// the equation that the number solves). The search is found by its shape:
//
//	for hi-lo > tol {                  a loop in which
//		mid := (lo + hi) / 2
//		if f(mid, x) < 0 {         a comparison of active numbers decides
//			lo = mid           assignments to passive ones,
//		} else {                   which depend on themselves and on others that the loop moves,
//			hi = mid
//		}
//	}
//	return lo                          and on which a result depends,
//
// while no active number that the loop carries from one iteration to the next leads to a result. A maximum, a clamp, a
// count, a choice from a table, a step size or the halving of a step until a condition holds are none.

// A Search is a variable that a loop moves by comparisons alone.
type Search struct {
	Func string         // the function with the loop
	Var  string         // the variable, as it is named in the source
	Pos  token.Position // an assignment that a comparison decides
}

// Searches returns the searches in the function and in those that it calls, ordered as they are found.
func (f *Facts) Searches() []Search {
	return f.searches(map[*Facts]*decisions{})
}

// searches returns the searches in the function and in callees that are not in seen.
func (f *Facts) searches(seen map[*Facts]*decisions) (list []Search) {
	if seen[f] != nil {
		return nil
	}
	d := f.decisions(seen)
	list = d.searches()
	ir.Walk(f.Func.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok {
			if callee := f.callees[c]; callee != nil && !callee.Func.Passive {
				list = append(list, callee.searches(seen)...)
			}
		}
		return true
	})
	return list
}

// A transfer is an assignment of a value, or of the result of a call, with the conditions and loops around it.
type transfer struct {
	to      *ir.Var
	values  []ir.Expr // its operands; the arguments of a call
	add     bool
	decided bool       // it is the result of a call that comparisons decide
	conds   []ir.Expr  // of the branches around it, outermost first
	depths  []int      // number of loops around each of conds
	loops   []*ir.Loop // around it, outermost first
	pos     token.Position
}

// decisions are the classes of a function by the ways in which active numbers determine them.
type decisions struct {
	f         *Facts
	transfers []*transfer
	declared  map[*aliasClass][]*ir.Loop // the loops around a declaration
	decided   map[*aliasClass]bool       // passive, and chosen by a comparison of active numbers
	useful    map[*aliasClass]bool       // results depend on its value
	results   map[int]bool               // results that are decided
}

// decisions returns the decisions in f, and adds them to seen.
func (f *Facts) decisions(seen map[*Facts]*decisions) *decisions {
	if d := seen[f]; d != nil {
		return d
	}
	d := &decisions{f: f, declared: map[*aliasClass][]*ir.Loop{}, decided: map[*aliasClass]bool{},
		useful: map[*aliasClass]bool{}, results: map[int]bool{}}
	seen[f] = d
	d.block(f.Func.Body, &transfer{}, seen)
	for again := true; again; {
		again = false
		for _, t := range d.transfers {
			c := f.classOf(t.to)
			if c.active && d.f.hasFloats(t.to.Type) || d.decided[c] {
				continue
			}
			if t.decided || slices.ContainsFunc(t.values, d.isDecided) || slices.ContainsFunc(t.conds, d.isDecided) {
				d.decided[c], again = true, true
			}
		}
	}
	for i, v := range f.Func.Results {
		d.results[i] = d.decided[f.classOf(v)]
		d.useful[f.classOf(v)] = true
	}
	for i, v := range f.Func.Params {
		if f.Written.Has(i) {
			d.useful[f.classOf(v)] = true
		}
	}
	for again := true; again; {
		again = false
		for _, t := range d.transfers {
			if !d.useful[f.classOf(t.to)] {
				continue
			}
			for _, c := range d.operands(t) {
				if !d.useful[c] {
					d.useful[c], again = true, true
				}
			}
		}
	}
	return d
}

// block adds the transfers in b, with the conditions and loops of at.
func (d *decisions) block(b ir.Block, at *transfer, seen map[*Facts]*decisions) {
	add := func(s ir.Stmt, to *ir.Var, values ...ir.Expr) *transfer {
		t := *at
		t.to, t.pos = to, s.Position()
		for _, e := range values {
			if e != nil {
				t.values = append(t.values, e)
			}
		}
		d.transfers = append(d.transfers, &t)
		return &t
	}
	for _, s := range b {
		switch s := s.(type) {
		case *ir.Let:
			d.declared[d.f.classOf(s.V)] = at.loops
			add(s, s.V, s.E)
		case *ir.Set:
			add(s, s.P.Root, s.E)
		case *ir.Add:
			add(s, s.P.Root, s.E).add = true
		case *ir.Append:
			add(s, s.P.Root, append([]ir.Expr{s.S}, s.Elems...)...)
		case *ir.Copy:
			if p := ir.VarOf(s.Dst); p != nil {
				add(s, p, s.Src)
			}
		case *ir.Call:
			var callee *decisions
			if facts := d.f.callees[s]; facts != nil && !facts.Func.Passive {
				callee = facts.decisions(seen)
			}
			for i, r := range s.Results {
				if r != nil {
					add(s, r, s.Args...).decided = callee != nil && callee.results[i]
				}
			}
		case *ir.If:
			inner := *at
			// A condition to leave the loop ends the iterations, and chooses between no values.
			if !leavesLoop(s.Then, at.loops) && !leavesLoop(s.Else, at.loops) {
				inner.conds = append(slices.Clip(at.conds), s.Cond)
				inner.depths = append(slices.Clip(at.depths), len(at.loops))
			}
			d.block(s.Then, &inner, seen)
			d.block(s.Else, &inner, seen)
		case *ir.Scope:
			d.block(s.Body, at, seen)
		case *ir.Loop:
			inner := *at
			inner.loops = append(slices.Clip(at.loops), s)
			d.block(s.Body, &inner, seen)
		}
	}
}

// leavesLoop reports whether b ends the innermost of loops.
func leavesLoop(b ir.Block, loops []*ir.Loop) bool {
	if len(b) == 0 || len(loops) == 0 {
		return false
	}
	inner := loops[len(loops)-1]
	switch s := b[len(b)-1].(type) {
	case *ir.Panic:
		return true
	case *ir.Leave:
		if s.L == inner.Next {
			return false
		}
		// A scope within the loop goes on with it.
		within := false
		ir.Walk(inner.Body, func(t ir.Stmt) bool {
			sc, ok := t.(*ir.Scope)
			within = within || ok && sc.L == s.L
			return true
		})
		return !within
	}
	return false
}

// isDecided reports whether e reads a decided number, or compares active ones.
func (d *decisions) isDecided(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(x ir.Expr) bool {
		if p := ir.PlaceOf(x); p != nil && d.decided[d.f.classOf(p.Root)] {
			found = true
		}
		// A value without derivative of operands with derivatives.
		if !d.f.hasFloats(x.Type()) && !ir.HasRefs(x.Type()) {
			for _, o := range ir.Operands(x) {
				found = found || d.f.hasFloats(o.Type()) && !ir.HasRefs(o.Type()) && d.isActive(o)
			}
		}
		return !found
	})
	return found
}

// isActive reports whether the value of e depends on active numbers.
func (d *decisions) isActive(e ir.Expr) (found bool) {
	d.f.eachRoot(e, func(v *ir.Var, t types.Type) { found = found || d.f.hasFloats(t) && d.f.Active(v) })
	return found
}

// operands returns the classes that the value of t depends on by operations.
func (d *decisions) operands(t *transfer) (list []*aliasClass) {
	for _, e := range t.values {
		d.f.eachRoot(e, func(v *ir.Var, _ types.Type) { list = append(list, d.f.classOf(v)) })
	}
	if t.add {
		list = append(list, d.f.classOf(t.to))
	}
	return list
}

// searches returns the searches of the function, at most one for each loop.
func (d *decisions) searches() (list []Search) {
	var loops []*ir.Loop
	ir.Walk(d.f.Func.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Loop); ok {
			loops = append(loops, l)
		}
		return true
	})
	slices.Reverse(loops) // inner before outer ones
	found := map[*aliasClass]bool{}
	for _, l := range loops {
		if t := d.moved(l); t != nil && !found[d.f.classOf(t.to)] {
			found[d.f.classOf(t.to)] = true
			list = append(list, Search{Func: d.f.Func.Name, Var: nameOf(t.to), Pos: t.pos})
		}
	}
	slices.Reverse(list)
	return list
}

// nameOf returns the name of v in the source.
func nameOf(v *ir.Var) string {
	if v.Object != nil {
		return v.Object.Name()
	}
	return v.Name
}

// moved returns an assignment in l to a number that comparisons of active numbers move, or nil.
func (d *decisions) moved(l *ir.Loop) *transfer {
	var in []*transfer
	carried := map[*aliasClass]bool{}  // assigned in l and declared outside
	operands := map[*aliasClass]bool{} // of assignments in l
	sources := map[*aliasClass][]*aliasClass{}
	for _, t := range d.transfers {
		if !slices.Contains(t.loops, l) {
			continue
		}
		in = append(in, t)
		c := d.f.classOf(t.to)
		if !slices.Contains(d.declared[c], l) {
			carried[c] = true
		}
		of := d.operands(t)
		sources[c] = append(sources[c], of...)
		for _, o := range of {
			if o != c || !t.add {
				operands[o] = true
			}
		}
		if t.add { // the sum is an operand of the next one
			operands[c] = true
		}
	}
	// A number that the loop carries and that has a derivative leads to a result.
	for _, t := range in {
		c := d.f.classOf(t.to)
		if carried[c] && c.active && d.f.hasFloats(t.to.Type) && d.useful[c] && operands[c] {
			return nil
		}
	}
	for _, t := range in {
		c := d.f.classOf(t.to)
		if !carried[c] || c.active || !d.f.hasFloats(t.to.Type) || !d.useful[c] || !d.decides(t, l) {
			continue
		}
		reached := reach(sources, c)
		if !reached[c] {
			continue
		}
		if !ir.IsContinuous(t.to.Type) { // several numbers
			return t
		}
		for o := range reached {
			if o != c && carried[o] && d.moves(in, o) {
				return t
			}
		}
	}
	return nil
}

// decides reports whether comparisons in l decide the assignment t or its value.
func (d *decisions) decides(t *transfer, l *ir.Loop) bool {
	level := slices.Index(t.loops, l)
	for i, cond := range t.conds {
		if t.depths[i] > level && d.isDecided(cond) {
			return true
		}
	}
	// A value that is one of two numbers, such as a sign.
	for _, e := range t.values {
		by := false
		d.f.eachRoot(e, func(v *ir.Var, typ types.Type) {
			c := d.f.classOf(v)
			by = by || c != d.f.classOf(t.to) && d.decided[c] && slices.Contains(d.declared[c], l)
		})
		if by {
			return true
		}
	}
	return false
}

// moves reports whether some assignment of in gives c another value than by counting.
func (d *decisions) moves(in []*transfer, c *aliasClass) bool {
	for _, t := range in {
		if d.f.classOf(t.to) != c || !d.f.hasFloats(t.to.Type) {
			continue
		}
		if !t.add || d.decided[c] {
			return true
		}
	}
	return false
}

// reach returns the classes that c depends on.
func reach(sources map[*aliasClass][]*aliasClass, c *aliasClass) map[*aliasClass]bool {
	out := map[*aliasClass]bool{}
	list := slices.Clone(sources[c])
	for len(list) > 0 {
		o := list[len(list)-1]
		list = list[:len(list)-1]
		if !out[o] {
			out[o] = true
			list = append(list, sources[o]...)
		}
	}
	return out
}
