package ir

// Map rewrites functions. A nil field changes nothing. Nothing that it is given is
// changed: what differs is made anew, and so are statements with blocks; what does not is
// shared.
type Map struct {
	Var   func(*Var) *Var
	Label func(*Label) *Label
	// Expr and Place get an expression or a place whose parts are rewritten already. A
	// place is rewritten before the Load, Addr or SliceAt that it stands in.
	Expr  func(Expr) Expr
	Place func(*Place) *Place
	// Stmt gets a statement whose parts are rewritten already and returns what stands for
	// it: none, one or more.
	Stmt func(Stmt) []Stmt
}

// Func rewrites parameters, results and body of a copy of f.
func (m *Map) Func(f *Func) *Func {
	g := *f
	g.Params, g.Results = m.vars(f.Params), m.vars(f.Results)
	g.Exit = m.label(f.Exit)
	g.Body = m.Block(f.Body)
	return &g
}

// Block rewrites statements.
func (m *Map) Block(b Block) Block {
	if b == nil {
		return nil
	}
	out := make(Block, 0, len(b))
	for _, s := range b {
		s = m.parts(s)
		if m.Stmt == nil {
			out = append(out, s)
		} else {
			out = append(out, m.Stmt(s)...)
		}
	}
	return out
}

// parts is s with rewritten parts.
func (m *Map) parts(s Stmt) Stmt {
	switch s := s.(type) {
	case *Let:
		if v, e := m.v(s.V), m.RewriteExpr(s.E); v != s.V || e != s.E {
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
		return &Call{s.At, m.vars(s.Results), s.Callee, m.exprs(s.Args)}
	case *Append:
		return &Append{s.At, m.RewritePlace(s.P), m.RewriteExpr(s.S), m.exprs(s.Elems), s.Spread}
	case *Copy:
		return &Copy{s.At, m.v(s.N), m.RewriteExpr(s.Dst), m.RewriteExpr(s.Src)}
	case *Clear:
		return &Clear{s.At, m.RewriteExpr(s.S)}
	case *If:
		return &If{s.At, m.RewriteExpr(s.Cond), m.Block(s.Then), m.Block(s.Else)}
	case *Scope:
		return &Scope{s.At, m.label(s.L), m.Block(s.Body)}
	case *Loop:
		return &Loop{s.At, m.label(s.L), m.label(s.Next), m.v(s.V), m.RewriteExpr(s.Lo), m.RewriteExpr(s.Hi), s.Step, m.Block(s.Body),
			s.Checkpoint}
	case *Leave:
		return &Leave{s.At, m.label(s.L)}
	case *Panic:
		return &Panic{s.At, m.RewriteExpr(s.E)}
	}
	return s
}

// RewriteExpr rewrites an expression; nil stays nil.
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
		if list := m.exprs(x.Args); !sameExprs(list, x.Args) {
			e = &Math{x.Typed, x.Name, list}
		}
	case *Convert:
		if y := m.RewriteExpr(x.X); y != x.X {
			e = &Convert{x.Typed, y}
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
		e = &Literal{x.Typed, x.Keys, m.exprs(x.Elems), x.Len}
	case *Opaque:
		e = &Opaque{x.Typed, x.Format, m.exprs(x.Args)}
	}
	if m.Expr != nil {
		return m.Expr(e)
	}
	return e
}

// RewritePlace rewrites a place.
func (m *Map) RewritePlace(p *Place) *Place {
	if p == nil {
		return nil
	}
	q := p
	if v := m.v(p.Root); v != p.Root {
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

func (m *Map) exprs(list []Expr) []Expr {
	if list == nil {
		return nil
	}
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = m.RewriteExpr(e)
	}
	return out
}

func sameExprs(a, b []Expr) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (m *Map) v(v *Var) *Var {
	if v == nil || m.Var == nil {
		return v
	}
	return m.Var(v)
}

func (m *Map) vars(list []*Var) []*Var {
	if list == nil {
		return nil
	}
	out := make([]*Var, len(list))
	for i, v := range list {
		out[i] = m.v(v)
	}
	return out
}

func (m *Map) label(l *Label) *Label {
	if l == nil || m.Label == nil {
		return l
	}
	return m.Label(l)
}

// Renaming is a field of a [Map]: what stands for a variable or a label in a map, or itself
// where nothing does.
func Renaming[T Var | Label](to map[*T]*T) func(*T) *T {
	return func(v *T) *T {
		if w := to[v]; w != nil {
			return w
		}
		return v
	}
}

// Clone copies f with variables and labels of its own and says which stands for which.
// Variables of packages are shared, and calls call what they called, f itself included.
// With a namer the copies get new names from it, else they keep theirs.
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
