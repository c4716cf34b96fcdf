package ir

// Bottom-up rewriting of functions. Passes are functional: they share unchanged parts with their
// input and never modify it.

// A Map rewrites functions bottom-up. A nil field rewrites nothing. Inputs are not modified:
// changed parts and statements with blocks are new, unchanged expressions and places are shared.
type Map struct {
	// Var and Label return the replacement of a variable or a label wherever it occurs,
	// declarations included. They are called once for each occurrence, so they must return the same
	// result each time.
	Var   func(*Var) *Var
	Label func(*Label) *Label
	// Expr and Place are called with an expression or place whose parts are rewritten already, and
	// return its replacement. A place is rewritten before the Load, Addr or SliceAt that contains
	// it.
	Expr  func(Expr) Expr
	Place func(*Place) *Place
	// Stmt is called with a statement whose parts are rewritten already and returns the statements
	// that replace it, possibly none.
	Stmt func(Stmt) []Stmt
}

// Func returns a copy of f with rewritten parameters, results, exit label and body.
func (m *Map) Func(f *Func) *Func {
	g := *f
	g.Params, g.Results = m.rewriteVars(f.Params), m.rewriteVars(f.Results)
	g.Exit = m.rewriteLabel(f.Exit)
	g.Body = m.Block(f.Body)
	return &g
}

// Block returns the rewritten statements of b as a new block; nil stays nil. Statements after one that became a leave
// or a panic are dropped.
func (m *Map) Block(b Block) Block {
	if b == nil {
		return nil
	}
	out := make(Block, 0, len(b))
	for _, s := range b {
		s = m.rewriteParts(s)
		if m.Stmt == nil {
			out = append(out, s)
		} else {
			out = append(out, m.Stmt(s)...)
			if EndsInJump(out) {
				break
			}
		}
	}
	return out
}

// EndsInJump reports whether b ends with a leave or a panic, so that no statement may follow it.
func EndsInJump(b Block) bool {
	if len(b) == 0 {
		return false
	}
	switch b[len(b)-1].(type) {
	case *Leave, *Panic:
		return true
	}
	return false
}

// rewriteParts returns s with its parts rewritten; it is s itself if they are unchanged and s has
// no blocks.
func (m *Map) rewriteParts(s Stmt) Stmt {
	switch s := s.(type) {
	case *Let:
		if v, e := m.rewriteVar(s.V), m.RewriteExpr(s.E); v != s.V || e != s.E {
			return &Let{s.At, v, e}
		}
	case *Set:
		if p, e := m.RewritePlace(s.P), m.RewriteExpr(s.E); p != s.P || e != s.E {
			return &Set{s.At, p, e}
		}
	case *Add:
		if p, e := m.RewritePlace(s.P), m.RewriteExpr(s.E); p != s.P || e != s.E {
			return &Add{s.At, p, e}
		}
	case *Call:
		return &Call{s.At, m.rewriteVars(s.Results), s.Callee, m.rewriteExprs(s.Args)}
	case *Append:
		return &Append{s.At, m.RewritePlace(s.P), m.RewriteExpr(s.S), m.rewriteExprs(s.Elems), s.Spread}
	case *Copy:
		return &Copy{s.At, m.rewriteVar(s.N), m.RewriteExpr(s.Dst), m.RewriteExpr(s.Src)}
	case *Clear:
		return &Clear{s.At, m.RewriteExpr(s.S)}
	case *Batch:
		return &Batch{s.At, s.Name, m.RewriteExpr(s.Dst), m.rewriteExprs(s.Args)}
	case *If:
		return &If{s.At, m.RewriteExpr(s.Cond), m.Block(s.Then), m.Block(s.Else)}
	case *Scope:
		return &Scope{s.At, m.rewriteLabel(s.L), m.Block(s.Body)}
	case *Loop:
		return &Loop{s.At, m.rewriteLabel(s.L), m.rewriteLabel(s.Next), m.rewriteVar(s.V), m.RewriteExpr(s.Lo),
			m.RewriteExpr(s.Hi), s.Step, m.Block(s.Body), s.Checkpoint, s.Marked}
	case *Leave:
		return &Leave{s.At, m.rewriteLabel(s.L)}
	case *Panic:
		return &Panic{s.At, m.RewriteExpr(s.E)}
	}
	return s
}

// RewriteExpr returns the rewritten e; nil stays nil.
func (m *Map) RewriteExpr(e Expr) Expr {
	switch x := e.(type) {
	case nil:
		return nil
	case *Load:
		if p := m.RewritePlace(x.P); p != x.P {
			e = &Load{x.Typed, p}
		}
	case *Unary:
		if y := m.RewriteExpr(x.X); y != x.X {
			e = &Unary{x.Typed, x.Op, y}
		}
	case *Binary:
		if y, z := m.RewriteExpr(x.X), m.RewriteExpr(x.Y); y != x.X || z != x.Y {
			e = &Binary{x.Typed, x.Op, y, z}
		}
	case *Math:
		if list := m.rewriteExprs(x.Args); !sameExprs(list, x.Args) {
			e = &Math{x.Typed, x.Name, list}
		}
	case *Convert:
		if y := m.RewriteExpr(x.X); y != x.X {
			e = &Convert{x.Typed, y}
		}
	case *TypeTest:
		if y := m.RewriteExpr(x.X); y != x.X {
			e = &TypeTest{x.Typed, y, x.Of}
		}
	case *Unbox:
		if y := m.RewriteExpr(x.X); y != x.X {
			e = &Unbox{x.Typed, y}
		}
	case *Box:
		if y := m.RewriteExpr(x.X); y != x.X {
			e = &Box{x.Typed, y}
		}
	case *Len:
		if y := m.RewriteExpr(x.X); y != x.X {
			e = &Len{x.Typed, y, x.Cap}
		}
	case *Slice:
		e = &Slice{x.Typed, m.RewriteExpr(x.X), m.RewriteExpr(x.Lo), m.RewriteExpr(x.Hi), m.RewriteExpr(x.Max)}
	case *SliceAt:
		e = &SliceAt{x.Typed, m.RewritePlace(x.P), m.RewriteExpr(x.Lo), m.RewriteExpr(x.Hi), m.RewriteExpr(x.Max)}
	case *Addr:
		if p := m.RewritePlace(x.P); p != x.P {
			e = &Addr{x.Typed, p}
		}
	case *Make:
		e = &Make{x.Typed, m.RewriteExpr(x.N), m.RewriteExpr(x.Cap)}
	case *Literal:
		e = &Literal{x.Typed, x.Keys, m.rewriteExprs(x.Elems), x.Len}
	case *Opaque:
		e = &Opaque{x.Typed, x.Format, m.rewriteExprs(x.Args)}
	}
	if m.Expr != nil {
		return m.Expr(e)
	}
	return e
}

// RewritePlace returns the rewritten p, first its root and indices and then the place; nil stays
// nil.
func (m *Map) RewritePlace(p *Place) *Place {
	if p == nil {
		return nil
	}
	q := p
	if v := m.rewriteVar(p.Root); v != p.Root {
		q = &Place{Root: v, Path: p.Path}
	}
	for i, s := range p.Path {
		e := m.RewriteExpr(s.Index)
		if e == s.Index {
			continue
		}
		if q == p || &q.Path[0] == &p.Path[0] {
			q = &Place{Root: q.Root, Path: append([]Step(nil), p.Path...)}
		}
		q.Path[i].Index = e
	}
	if m.Place != nil {
		return m.Place(q)
	}
	return q
}

// rewriteExprs returns a new list of the rewritten expressions; nil stays nil.
func (m *Map) rewriteExprs(list []Expr) []Expr {
	if list == nil {
		return nil
	}
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = m.RewriteExpr(e)
	}
	return out
}

// sameExprs reports whether a and b, of one length, have the same expressions.
func sameExprs(a, b []Expr) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// rewriteVar returns the replacement of v; nil, a discarded result, stays nil.
func (m *Map) rewriteVar(v *Var) *Var {
	if v == nil || m.Var == nil {
		return v
	}
	return m.Var(v)
}

// rewriteVars returns a new list of the replacements; nil stays nil.
func (m *Map) rewriteVars(list []*Var) []*Var {
	if list == nil {
		return nil
	}
	out := make([]*Var, len(list))
	for i, v := range list {
		out[i] = m.rewriteVar(v)
	}
	return out
}

// rewriteLabel returns the replacement of l; nil stays nil.
func (m *Map) rewriteLabel(l *Label) *Label {
	if l == nil || m.Label == nil {
		return l
	}
	return m.Label(l)
}

// Renaming returns a function for the Var or Label field of a [Map] that replaces the keys of to by
// their values and returns anything else unchanged.
func Renaming[T Var | Label](to map[*T]*T) func(*T) *T {
	return func(v *T) *T {
		if w := to[v]; w != nil {
			return w
		}
		return v
	}
}

// Clone returns a copy of f with new variables and labels, and the map from the variables of f to
// those of the copy. Package-level variables and callees are shared; a recursive call still calls
// f. The copies get new names from n, or keep theirs if n is nil.
func Clone(f *Func, n *Namer) (*Func, map[*Var]*Var) {
	name := func(s string) string {
		if n == nil {
			return s
		}
		return n.Name(s)
	}
	vars := make(map[*Var]*Var)
	for _, v := range Vars(f) {
		if v.Kind == Global {
			vars[v] = v
			continue
		}
		w := *v
		w.Name = name(v.Name)
		vars[v] = &w
	}
	labels := make(map[*Label]*Label)
	for _, l := range Labels(f) {
		labels[l] = &Label{name(l.Name)}
	}
	m := &Map{
		Var:   func(v *Var) *Var { return vars[v] },
		Label: func(l *Label) *Label { return labels[l] },
	}
	return m.Func(f), vars
}
