package ir

// Map rewrites functions. A nil field changes nothing. Nothing that it is given is
// changed: what differs is made anew, and what does not is shared.
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

// parts is a copy of s with rewritten parts.
func (m *Map) parts(s Stmt) Stmt {
	switch s := s.(type) {
	case *Let:
		return &Let{s.At, m.v(s.V), m.Of(s.E)}
	case *Set:
		return &Set{s.At, m.OfPlace(s.P), m.Of(s.E)}
	case *Add:
		return &Add{s.At, m.OfPlace(s.P), m.Of(s.E)}
	case *Call:
		return &Call{s.At, m.vars(s.Results), s.Callee, m.exprs(s.Args)}
	case *Append:
		return &Append{s.At, m.OfPlace(s.P), m.Of(s.S), m.exprs(s.Elems), s.Spread}
	case *Copy:
		return &Copy{s.At, m.v(s.N), m.Of(s.Dst), m.Of(s.Src)}
	case *Clear:
		return &Clear{s.At, m.Of(s.S)}
	case *If:
		return &If{s.At, m.Of(s.Cond), m.Block(s.Then), m.Block(s.Else)}
	case *Scope:
		return &Scope{s.At, m.label(s.L), m.Block(s.Body)}
	case *Loop:
		return &Loop{s.At, m.label(s.L), m.label(s.Next), m.v(s.V), m.Of(s.Lo), m.Of(s.Hi), s.Step, m.Block(s.Body)}
	case *Leave:
		return &Leave{s.At, m.label(s.L)}
	case *Panic:
		return &Panic{s.At, m.Of(s.E)}
	}
	return s
}

// Of rewrites an expression; nil stays nil.
func (m *Map) Of(e Expr) Expr {
	switch x := e.(type) {
	case nil:
		return nil
	case *Load:
		e = &Load{x.Typed, m.OfPlace(x.P)}
	case *Unary:
		e = &Unary{x.Typed, x.Op, m.Of(x.X)}
	case *Binary:
		e = &Binary{x.Typed, x.Op, m.Of(x.X), m.Of(x.Y)}
	case *Math:
		e = &Math{x.Typed, x.Name, m.exprs(x.Args)}
	case *Convert:
		e = &Convert{x.Typed, m.Of(x.X)}
	case *Len:
		e = &Len{x.Typed, m.Of(x.X), x.Cap}
	case *Slice:
		e = &Slice{x.Typed, m.Of(x.X), m.Of(x.Lo), m.Of(x.Hi), m.Of(x.Max)}
	case *SliceAt:
		e = &SliceAt{x.Typed, m.OfPlace(x.P), m.Of(x.Lo), m.Of(x.Hi), m.Of(x.Max)}
	case *Addr:
		e = &Addr{x.Typed, m.OfPlace(x.P)}
	case *Make:
		e = &Make{x.Typed, m.Of(x.N), m.Of(x.Cap)}
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

// OfPlace rewrites a place.
func (m *Map) OfPlace(p *Place) *Place {
	if p == nil {
		return nil
	}
	q := &Place{Root: m.v(p.Root)}
	if p.Path != nil {
		q.Path = make([]Step, len(p.Path))
	}
	for i, s := range p.Path {
		q.Path[i] = Step{s.Field, m.Of(s.Index)}
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
		out[i] = m.Of(e)
	}
	return out
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
