package ir

// Effect is what a statement itself does to memory, not what its blocks do.
type Effect struct {
	Reads  []*Place // that are loaded, and variables whose header is
	Writes []*Place // that are assigned to, declared ones included
	// Through are the slices and pointers behind which memory may be written besides, by
	// append, copy, clear or a call. For append that is at most what is behind the length
	// of the slice.
	Through []Expr
	// Opaque is set for a call: what it reaches through its arguments it may read.
	Opaque bool
}

// EffectOf finds the effect of a statement. A place that is assigned to is not read by
// that, except by an Add; what its path goes through is: x and i for x[i] = 1. An Addr
// or a SliceAt reads what its path goes through but not what is there.
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
			out.behind(s.Elems[0])
		}
	case *Copy:
		variables(s.N)
		out.Through = []Expr{s.Dst}
		out.behind(s.Src)
	case *Clear:
		out.Through = []Expr{s.S}
	case *Loop:
		variables(s.V)
	}
	return out
}

// behind adds the elements of a slice that is read as a whole. Their index is nil.
func (e *Effect) behind(x Expr) {
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

// readPath adds the pointers and slices on the path to p.
func (e *Effect) readPath(p *Place) {
	t := p.Root.Type
	for i, s := range p.Path {
		if elem(t) != nil || pointee(t) != nil {
			e.Reads = append(e.Reads, p.prefix(i))
		}
		t = s.from(t)
	}
}

// AnyStep stands for all elements in a place that [EffectOf] reports. It is no step of
// a function.
func AnyStep() Step { return Step{Field: -2} }

// mayRead reports whether e may read what is at p by the variable of p: by other names
// for the same memory it may do so in any case.
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

// overlap reports whether a read of r may read what is written at p.
func overlap(r, p *Place) bool {
	if r.Root != p.Root {
		return false
	}
	for i, s := range p.Path {
		if i == len(r.Path) {
			// r is on the way to p: it contains p unless p is behind it.
			t := r.Type()
			return elem(t) == nil && pointee(t) == nil
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
