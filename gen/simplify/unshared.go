package simplify

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Unshared returns slice variables of f of which no two lead to the same memory wherever f uses memory: their elements
// are apart, whatever other slices lead to them. The classes of [analyseAliases] do not tell that of buffers that are
// exchanged, as all of them are in one class.
//
//	let u []float64 = make([]float64, n)
//	let v []float64 = make([]float64, n)
//	for l, next t int = 0; t < steps; t += 1 {
//	    …                        u and v are apart
//	    let w []float64 = u
//	    u = v
//	    v = w
//	}
//
// Such variables hold new memory, or that which one of them held before: runs of assignments permute it, so that
// variables which are apart before a run are apart after it. Of memory that enters otherwise, as that of another
// slice, nothing is known, and the variable is left out. Parameters are apart from one another if param says so for
// both; a nil param says so of none.
func Unshared(f *ir.Func, param func(v *ir.Var) bool) map[*ir.Var]bool {
	return unshared(f, param, buffersOf(f, nil))
}

// unshared is Unshared for a function with buffers.
func unshared(f *ir.Func, param func(v *ir.Var) bool, b *buffers) map[*ir.Var]bool {
	u := &exchange{use: usageOf(f.Body), members: map[*ir.Var]bool{}, origins: map[*ir.Var]*run{},
		taken: b.taken}
	for _, v := range ir.Vars(f) {
		switch {
		case v.Kind == ir.Global || ir.ElemOf(v.Type) == nil || u.use.addressed[v]:
		case v.Kind == ir.Param && (param == nil || !param(v)):
		default:
			u.list = append(u.list, v)
			u.members[v] = true
		}
	}
	// Without a second assignment nothing is exchanged, and the classes tell all.
	if !slices.ContainsFunc(u.list, func(v *ir.Var) bool { return !u.use.keeps(v) }) {
		return nil
	}
	u.collect(f.Body, f.Params, false)
	u.leaveOutTemporaries()
	u.findOrigins()
	for u.shrink() {
	}
	return u.members
}

// An exchange finds the variables that Unshared returns: it begins with all slices, and removes those that an
// assignment may give memory of another one.
type exchange struct {
	use     *usage
	list    []*ir.Var        // the slices, in a fixed order
	members map[*ir.Var]bool // those that are left
	// Origins are variables that are no members, assigned once, whose memory members may get in the given run, which is
	// executed once for each allocation.
	origins map[*ir.Var]*run
	runs    []*run
	others  []ir.Stmt        // statements that are in no run
	taken   map[ir.Expr]bool // see buffers
}

// A run is a list of successive assignments to variables. It uses no memory after the first of them, so that variables
// which are apart before and after it may share memory in between.
type run struct {
	stmts ir.Block
	// variables declared in the same block as the run, up to its end; parameters in the body of the function
	declared []*ir.Var
	// The block is the body of a loop, and ends with the run: the variables that it declares are not used any more.
	endsLoop bool
}

// collect divides b, a block at whose beginning the given variables are declared, and its nested blocks into runs and
// other statements. Loop is set for the body of a loop.
func (u *exchange) collect(b ir.Block, declared []*ir.Var, loop bool) {
	declared = slices.Clone(declared)
	var now *run
	end := func() {
		if now != nil {
			now.declared = slices.Clip(declared)
			u.runs = append(u.runs, now)
		}
		now = nil
	}
	for i, s := range b {
		if !assigns(s) {
			end()
			u.others = append(u.others, s)
			_, loop := s.(*ir.Loop)
			for _, nested := range ir.Blocks(s) {
				u.collect(*nested, nil, loop)
			}
			continue
		}
		memory := usesMemory(s)
		if memory {
			end()
		}
		if now == nil {
			now = &run{}
		}
		now.stmts = append(now.stmts, s)
		if l, ok := s.(*ir.Let); ok {
			declared = append(declared, l.V)
		}
		now.endsLoop = loop && endsWith(b[i+1:])
		if memory {
			end()
		}
	}
	end()
}

// endsWith reports whether a block whose last statements are rest is left behind those before them.
func endsWith(rest ir.Block) bool {
	if len(rest) == 0 {
		return true
	}
	_, ok := rest[0].(*ir.Leave)
	return ok
}

// assigns reports whether s assigns to a variable as a whole or declares one.
func assigns(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Let:
		return true
	case *ir.Set:
		return len(s.P.Path) == 0
	}
	return false
}

// usesMemory reports whether an expression of s leads to memory through a slice or a pointer.
func usesMemory(s ir.Stmt) (found bool) {
	ir.EachExpr(s, func(e ir.Expr) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			p := ir.PlaceOf(e)
			found = found || p != nil && p.Indirect()
			return !found
		})
	})
	return found
}

// assignment returns the variable that s, a statement of a run, assigns to, and the value, nil for the zero value.
func assignment(s ir.Stmt) (*ir.Var, ir.Expr) {
	if l, ok := s.(*ir.Let); ok {
		return l.V, l.E
	}
	set := s.(*ir.Set)
	return set.P.Root, set.E
}

// leaveOutTemporaries removes the variables that are assigned in each run that uses them, before they are used, and
// that nothing else uses: after a run they share memory with those that have got it.
func (u *exchange) leaveOutTemporaries() {
	lasting := map[*ir.Var]bool{}
	for _, s := range u.others {
		uses(s, func(v *ir.Var, _ use) { lasting[v] = true })
	}
	for _, r := range u.runs {
		assigned := map[*ir.Var]bool{}
		for _, s := range r.stmts {
			ir.EachExpr(s, func(e ir.Expr) {
				exprUses(e, func(v *ir.Var, _ use) { lasting[v] = lasting[v] || !assigned[v] })
			})
			v, _ := assignment(s)
			assigned[v] = true
		}
	}
	for _, v := range u.list {
		if v.Kind == ir.Local && !lasting[v] {
			delete(u.members, v)
		}
	}
}

// findOrigins makes origins of members that are assigned once, parameters and new memory, and then given to variables
// that are assigned again, in one run of the same block.
func (u *exchange) findOrigins() {
	made := map[*ir.Var]bool{}    // declared with new memory
	given := map[*ir.Var][]*run{} // the runs that give it to such variables
	inside := map[*ir.Var]bool{}  // the last one is in the block that declares it
	for _, r := range u.runs {
		for _, s := range r.stmts {
			v, e := assignment(s)
			made[v] = made[v] || u.isNew(e)
			if w := sliced(e); w != nil && !u.use.keeps(v) && !slices.Contains(given[w], r) {
				given[w] = append(given[w], r)
				inside[w] = slices.Contains(r.declared, w)
			}
		}
	}
	for _, v := range u.list {
		if u.members[v] && u.use.keeps(v) && len(given[v]) == 1 && inside[v] && (v.Kind == ir.Param || made[v]) &&
			!given[v][0].endsLoop { // else it is not used any more
			delete(u.members, v)
			u.origins[v] = given[v][0]
		}
	}
}

// sliced returns the variable that the slice e is, or is a part of; nil if it is none.
func sliced(e ir.Expr) *ir.Var {
	for {
		if c, ok := e.(*ir.Slice); ok {
			e = c.X
			continue
		}
		if e == nil {
			return nil
		}
		return ir.VarOf(e)
	}
}

// shrink removes members that may share memory with others, and reports whether there are any.
func (u *exchange) shrink() bool {
	remove := map[*ir.Var]bool{}
	for _, s := range u.others {
		// The results of calls, of append and of loads may be any memory.
		if p := ir.Target(s); p != nil && len(p.Path) == 0 {
			remove[p.Root] = true
		}
		visitDefined(s, func(v *ir.Var) { remove[v] = true })
	}
	for _, r := range u.runs {
		u.check(r, remove)
	}
	n := len(u.members)
	for v := range remove {
		delete(u.members, v)
	}
	return len(u.members) < n
}

// An allocation represents new memory in a run, by the expression for it.
type allocation struct{ at ir.Expr }

// isNew reports whether e is memory that no variable holds: a make, or a slice of a buffer that no other expression is.
func (u *exchange) isNew(e ir.Expr) bool { return isMake(e) || u.taken[e] }

// check adds to remove the members that may share memory after r with others, given that they do not before it.
func (u *exchange) check(r *run, remove map[*ir.Var]bool) {
	// The memory that a variable holds: that of a variable before the run, an allocation, or none if it is nil.
	holds := map[*ir.Var]any{}
	for _, s := range r.stmts {
		v, e := assignment(s)
		switch w := sliced(e); {
		case e == nil:
			holds[v] = nil
		case w != nil:
			m, ok := holds[w]
			if !ok {
				m = w
			}
			holds[v] = m
		default:
			_, none := e.(*ir.Const)
			switch {
			case u.isNew(e):
				holds[v] = &allocation{e}
				if u.origins[v] != nil {
					holds[v] = v
				}
			case none:
				holds[v] = nil
			default:
				holds[v] = v // unknown; no member holds it, as v is removed
				remove[v] = true
			}
		}
	}
	holders := map[any][]*ir.Var{}
	for _, v := range u.list {
		if !u.members[v] || r.endsLoop && slices.Contains(r.declared, v) {
			continue
		}
		m, assigned := holds[v]
		if !assigned {
			m = v
		}
		if w, ok := m.(*ir.Var); ok && !u.members[w] && u.origins[w] != r {
			remove[v] = true
		}
		if m != nil {
			holders[m] = append(holders[m], v)
		}
	}
	for m, list := range holders {
		// One of them stays: that which the memory belonged to before, or else one that is assigned again.
		stays := list[0]
		for _, v := range list {
			_, assigned := holds[v]
			switch {
			case !assigned:
				stays = v
			case m != any(stays) && u.use.keeps(stays) && !u.use.keeps(v):
				stays = v
			}
		}
		for _, v := range list {
			if v != stays {
				remove[v] = true
			}
		}
	}
}
