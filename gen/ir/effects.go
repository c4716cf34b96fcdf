package ir

// Mod/ref information for single statements: the places that a statement reads and writes and the
// references through which it may write. It is local and knows no aliases; passes combine it with
// an alias analysis or with Indirect.

// An Effect holds the places that a statement reads and writes itself, without its blocks.
type Effect struct {
	Reads  []*Place // loaded places, and those of references that a path crosses
	Writes []*Place // assigned places, and declared variables
	// Through are the slices and pointers through which memory may be written by append, copy,
	// clear or a call. An append writes only elements beyond the length of the slice.
	Through []Expr
	// Opaque is set for a call: it may read all memory reachable from its arguments.
	Opaque bool
}

// EffectOf returns the effect of a statement. An assignment does not read its target, except for an
// Add, but it reads the references and indices on its path: x and i for x[i] = 1. An Addr or a
// SliceAt reads the references on its path but not the memory at its end.
func EffectOf(s Stmt) Effect {
	var out Effect
	for _, e := range Exprs(s) {
		WalkExpr(e, func(e Expr) bool {
			switch e := e.(type) {
			case *Load:
				out.readPath(e.P)
				out.Reads = append(out.Reads, e.P)
			case *Addr:
				out.readPath(e.P)
			case *SliceAt:
				out.readPath(e.P)
			}
			return true
		})
	}
	if p := Target(s); p != nil {
		out.readPath(p)
		out.Writes = append(out.Writes, p)
	}
	variables := func(list ...*Var) {
		for _, v := range list {
			if v != nil {
				out.Writes = append(out.Writes, v.Place())
			}
		}
	}
	switch s := s.(type) {
	case *Let:
		variables(s.V)
	case *Add:
		out.Reads = append(out.Reads, s.P)
	case *Call:
		variables(s.Results...)
		out.Through, out.Opaque = s.Args, true
	case *Append:
		out.Through = []Expr{s.S}
		if s.Spread {
			out.readElements(s.Elems[0])
		}
	case *Copy:
		variables(s.N)
		out.Through = []Expr{s.Dst}
		out.readElements(s.Src)
	case *Clear:
		out.Through = []Expr{s.S}
	case *Batch:
		out.Through = []Expr{s.Dst}
		for _, e := range s.Args {
			out.readElements(e)
		}
	case *Loop:
		variables(s.V)
	}
	return out
}

// readElements adds a read of all elements of the slice or array x, as AnyStep.
func (e *Effect) readElements(x Expr) {
	for {
		switch y := x.(type) {
		case *Slice:
			x = y.X
			continue
		case *Convert:
			x = y.X
			continue
		case *Load:
			e.Reads = append(e.Reads, &Place{y.P.Root, append(y.P.Path[:len(y.P.Path):len(y.P.Path)], AnyStep())})
		case *SliceAt:
			e.Reads = append(e.Reads, &Place{y.P.Root, append(y.P.Path[:len(y.P.Path):len(y.P.Path)], AnyStep())})
		}
		return
	}
}

// readPath adds reads of the pointers and slices that the path of p crosses.
func (e *Effect) readPath(p *Place) {
	t := p.Root.Type
	for i, s := range p.Path {
		if ElemOf(t) != nil || pointee(t) != nil {
			e.Reads = append(e.Reads, p.prefix(i))
		}
		t = s.typeFrom(t)
	}
}

// AnyStep returns a step that denotes all elements in a place that [EffectOf] reports. It does not
// occur in functions.
func AnyStep() Step { return Step{Field: -2} }

// mayRead reports whether e may read memory at p through the root of p. Reads through aliases are
// not considered.
func mayRead(e Expr, p *Place) bool {
	found := false
	WalkExpr(e, func(e Expr) bool {
		if l, ok := e.(*Load); ok && overlap(l.P, p) {
			found = true
		}
		return !found
	})
	return found
}

// overlap reports whether a read of r may read memory that is written at p, with both paths taken
// from the same root. Different fields and different constant indices are disjoint.
func overlap(r, p *Place) bool {
	if r.Root != p.Root {
		return false
	}
	for i, s := range p.Path {
		if i == len(r.Path) {
			// r is a prefix of p: it contains p unless p is behind a reference in r.
			t := r.Type()
			return ElemOf(t) == nil && pointee(t) == nil
		}
		q := r.Path[i]
		if s.Field >= 0 && q.Field >= 0 && s.Field != q.Field {
			return false
		}
		a, aok := s.Index.(*Const)
		b, bok := q.Index.(*Const)
		if aok && bok && a.Val != nil && b.Val != nil && a.Val.ExactString() != b.Val.ExactString() {
			return false
		}
	}
	return true
}
