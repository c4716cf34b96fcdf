package ir

// Traversal of functions: visitors, and lists of the parts of statements and expressions.

// Walk calls visit for the statements of b and those nested in them, in preorder. The blocks of a
// statement for which visit returns false are skipped.
func Walk(b Block, visit func(Stmt) bool) {
	for _, s := range b {
		if !visit(s) {
			continue
		}
		switch s := s.(type) {
		case *If:
			Walk(s.Then, visit)
			Walk(s.Else, visit)
		case *Scope:
			Walk(s.Body, visit)
		case *Loop:
			Walk(s.Body, visit)
		}
	}
}

// Blocks returns pointers to the blocks of s itself, nil if it has none.
func Blocks(s Stmt) []*Block {
	switch s := s.(type) {
	case *If:
		return []*Block{&s.Then, &s.Else}
	case *Scope:
		return []*Block{&s.Body}
	case *Loop:
		return []*Block{&s.Body}
	}
	return nil
}

// WalkExpr calls visit for e and its operands in preorder, indices of places included. The operands
// of an expression for which visit returns false are skipped. A nil e is ignored.
func WalkExpr(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	switch e := e.(type) {
	case *Load:
		e.P.walk(visit)
	case *Addr:
		e.P.walk(visit)
	case *Unary:
		WalkExpr(e.X, visit)
	case *Binary:
		WalkExpr(e.X, visit)
		WalkExpr(e.Y, visit)
	case *Convert:
		WalkExpr(e.X, visit)
	case *TypeTest:
		WalkExpr(e.X, visit)
	case *Unbox:
		WalkExpr(e.X, visit)
	case *Box:
		WalkExpr(e.X, visit)
	case *Len:
		WalkExpr(e.X, visit)
	case *Slice:
		WalkExpr(e.X, visit)
		WalkExpr(e.Lo, visit)
		WalkExpr(e.Hi, visit)
		WalkExpr(e.Max, visit)
	case *SliceAt:
		WalkExpr(e.Lo, visit)
		WalkExpr(e.Hi, visit)
		WalkExpr(e.Max, visit)
		e.P.walk(visit)
	default:
		for _, x := range Operands(e) {
			WalkExpr(x, visit)
		}
	}
}

// walk calls WalkExpr for the indices on the path of p.
func (p *Place) walk(visit func(Expr) bool) {
	for _, s := range p.Path {
		if s.isIndex() {
			WalkExpr(s.Index, visit)
		}
	}
}

// Operands returns the operands of e without those that are missing. The indices of its place, see
// [PlaceOf], are not operands. The result may be a slice of e itself.
func Operands(e Expr) []Expr {
	switch e := e.(type) {
	case *Unary:
		return []Expr{e.X}
	case *Binary:
		return []Expr{e.X, e.Y}
	case *Math:
		return e.Args
	case *Convert:
		return []Expr{e.X}
	case *TypeTest:
		return []Expr{e.X}
	case *Unbox:
		return []Expr{e.X}
	case *Box:
		return []Expr{e.X}
	case *Len:
		return []Expr{e.X}
	case *Slice:
		return present(e.X, e.Lo, e.Hi, e.Max)
	case *SliceAt:
		return present(e.Lo, e.Hi, e.Max)
	case *Make:
		return present(e.N, e.Cap)
	case *Literal:
		return e.Elems
	case *Opaque:
		return e.Args
	}
	return nil
}

// present returns the expressions that are not nil; it reuses the list.
func present(list ...Expr) []Expr {
	out := list[:0]
	for _, e := range list {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}

// PlaceOf returns the place of a Load, an Addr or a SliceAt, nil for other expressions.
func PlaceOf(e Expr) *Place {
	switch e := e.(type) {
	case *Load:
		return e.P
	case *Addr:
		return e.P
	case *SliceAt:
		return e.P
	}
	return nil
}

// Indices returns the indices on the path of p.
func (p *Place) Indices() []Expr {
	var out []Expr
	for _, s := range p.Path {
		if s.isIndex() {
			out = append(out, s.Index)
		}
	}
	return out
}

// Exprs returns the expressions of s itself, without its blocks, in order of evaluation and without
// those that are missing; the indices of its target come first.
func Exprs(s Stmt) (out []Expr) {
	EachExpr(s, func(e Expr) { out = append(out, e) })
	return out
}

// EachExpr calls visit for the expressions that [Exprs] returns, without allocating.
func EachExpr(s Stmt, visit func(Expr)) {
	if p := Target(s); p != nil {
		for _, t := range p.Path {
			if t.isIndex() {
				visit(t.Index)
			}
		}
	}
	one := func(e Expr) {
		if e != nil {
			visit(e)
		}
	}
	switch s := s.(type) {
	case *Let:
		one(s.E)
	case *Set:
		one(s.E)
	case *Add:
		one(s.E)
	case *Call:
		for _, e := range s.Args {
			visit(e)
		}
	case *Append:
		visit(s.S)
		for _, e := range s.Elems {
			visit(e)
		}
	case *Copy:
		one(s.Dst)
		one(s.Src)
	case *Clear:
		one(s.S)
	case *Batch:
		one(s.Dst)
		for _, e := range s.Args {
			visit(e)
		}
	case *If:
		one(s.Cond)
	case *Loop:
		one(s.Lo)
		one(s.Hi)
	case *Panic:
		one(s.E)
	}
}

// Target returns the place that a Set, an Add or an Append assigns to, nil for other statements.
func Target(s Stmt) *Place {
	switch s := s.(type) {
	case *Set:
		return s.P
	case *Add:
		return s.P
	case *Append:
		return s.P
	}
	return nil
}

// EachResult visits the variables that receive the results of a Call, or the number of elements of a Copy.
func EachResult(s Stmt, visit func(*Var)) {
	switch s := s.(type) {
	case *Call:
		for _, v := range s.Results {
			if v != nil {
				visit(v)
			}
		}
	case *Copy:
		if s.N != nil {
			visit(s.N)
		}
	}
}

// Vars returns the variables of f without repetition: parameters, results, then the others in order
// of occurrence, package-level ones included.
func Vars(f *Func) []*Var {
	var out []*Var
	seen := map[*Var]bool{nil: true}
	one := func(v *Var) {
		n := len(seen)
		if seen[v] = true; len(seen) > n {
			out = append(out, v)
		}
	}
	add := func(list ...*Var) {
		for _, v := range list {
			one(v)
		}
	}
	inside := func(e Expr) bool {
		if p := PlaceOf(e); p != nil {
			one(p.Root)
		}
		return true
	}
	add(f.Params...)
	add(f.Results...)
	Walk(f.Body, func(s Stmt) bool {
		EachExpr(s, func(e Expr) { WalkExpr(e, inside) })
		if p := Target(s); p != nil {
			one(p.Root)
		}
		EachResult(s, one)
		switch s := s.(type) {
		case *Let:
			one(s.V)
		case *Loop:
			one(s.V)
		}
		return true
	})
	return out
}

// Labels returns the labels of f without repetition, in order of occurrence.
func Labels(f *Func) []*Label {
	var out []*Label
	seen := map[*Label]bool{nil: true}
	add := func(list ...*Label) {
		for _, l := range list {
			if !seen[l] {
				seen[l] = true
				out = append(out, l)
			}
		}
	}
	add(f.Exit)
	Walk(f.Body, func(s Stmt) bool {
		switch s := s.(type) {
		case *Scope:
			add(s.L)
		case *Loop:
			add(s.L, s.Next)
		case *Leave:
			add(s.L)
		}
		return true
	})
	return out
}

// LeavesBeyond reports whether b contains a leave of a label that is neither defined in b nor
// listed in own, so that control may leave b other than at its end.
func LeavesBeyond(b Block, own ...*Label) (found bool) {
	inner := make(map[*Label]bool)
	for _, l := range own {
		inner[l] = true
	}
	Walk(b, func(s Stmt) bool {
		switch s := s.(type) {
		case *Scope:
			inner[s.L] = true
		case *Loop:
			inner[s.L], inner[s.Next] = true, true
		case *Leave:
			found = found || !inner[s.L]
		}
		return !found
	})
	return found
}

// Reachable returns f and the functions that it calls, directly or not, through calls and through rules that call a
// function.
func Reachable(f *Func) map[*Func]bool {
	out := map[*Func]bool{}
	var visit func(f *Func)
	visit = func(f *Func) {
		if out[f] {
			return
		}
		out[f] = true
		Walk(f.Body, func(s Stmt) bool {
			if c, ok := s.(*Call); ok {
				for _, g := range c.Callee.Funcs() {
					visit(g)
				}
			}
			return true
		})
	}
	visit(f)
	return out
}
