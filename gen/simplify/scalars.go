package simplify

import (
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// mostParts is up to how many variables one is taken apart into.
const mostParts = 16

// Scalars replaces variables that are arrays or structs by one variable for each element
// or field, at any depth. Those are taken apart that have at most 16 parts and no
// address, that no index but a constant goes into, and that as a whole are only copied,
// assigned literals and assigned from other memory. A parameter is copied to its parts at
// the beginning; results stay as they are, and so do structs with fields that package
// pkg, that of the code, cannot name, unless pkg is nil.
func Scalars(f *ir.Func, pkg *types.Package) { scalars(f, pkg) }

// scalars is Scalars and gives what each variable that is no more was taken apart into.
func scalars(f *ir.Func, pkg *types.Package) map[*ir.Var]*part {
	s := &splitter{names: ir.NamerOf(f), pkg: pkg, parts: map[*ir.Var]*part{}}
	s.choose(f)
	if len(s.parts) == 0 {
		return nil
	}
	var head ir.Block
	for _, v := range f.Params {
		if p := s.parts[v]; p != nil {
			p.leaves(nil, func(w *ir.Var, path []ir.Step) {
				head = append(head,
					&ir.Let{At: ir.At{Pos: f.Pos}, V: w, E: load(&ir.Place{Root: v, Path: path}, w.Type)})
			})
		}
	}
	f.Body = append(head, s.block(f.Body)...)
	return s.parts
}

// part is a variable, or an element or a field of one at any depth: a variable of its
// own or parts again.
type part struct {
	t     types.Type
	v     *ir.Var
	parts []*part
}

// leaves visits the variables of p with the path to each.
func (p *part) leaves(path []ir.Step, visit func(v *ir.Var, path []ir.Step)) {
	if p.v != nil {
		visit(p.v, path)
		return
	}
	for i, q := range p.parts {
		q.leaves(append(path[:len(path):len(path)], stepOf(p.t, i)), visit)
	}
}

// stepOf is the step to part i of a value of type t.
func stepOf(t types.Type, i int) ir.Step {
	if _, ok := t.Underlying().(*types.Struct); ok {
		return ir.FieldStep(i)
	}
	return ir.IndexStep(number(integer, int64(i)))
}

// at follows a path into p. It gives the part and what is left of the path behind a
// variable. The indices into arrays are constants.
func (p *part) at(path []ir.Step) (*part, []ir.Step) {
	for len(path) > 0 && p.v == nil {
		i := path[0].Field
		if i < 0 {
			n, _ := constInt(path[0].Index)
			i = int(n)
		}
		p, path = p.parts[i], path[1:]
	}
	return p, path
}

type splitter struct {
	names *ir.Namer
	pkg   *types.Package
	parts map[*ir.Var]*part
	at    ir.At
	out   ir.Block
}

// part makes the variables of v, or of a part of it.
func (s *splitter) part(name string, v *ir.Var) *part {
	var make func(name string, t types.Type) *part
	make = func(name string, t types.Type) *part {
		p := &part{t: t}
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				p.parts = append(p.parts, make(name+upper(f.Name()), f.Type()))
			}
		case *types.Array:
			for i := range u.Len() {
				p.parts = append(p.parts, make(name+strconv.FormatInt(i, 10), u.Elem()))
			}
		default:
			p.v = &ir.Var{Name: s.names.Name(name), Type: t, Pos: v.Pos}
		}
		return p
	}
	return make(name, v.Type)
}

func upper(s string) string {
	b := []byte(s)
	if b[0] >= 'a' && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
	return string(b)
}

// of is the part that p is in a variable that is taken apart, nil if it is in none, and
// the path behind it.
func (s *splitter) of(p *ir.Place) (*part, []ir.Step) {
	if q := s.parts[p.Root]; q != nil {
		return q.at(p.Path)
	}
	return nil, nil
}

func (s *splitter) block(b ir.Block) ir.Block {
	var out ir.Block
	for _, st := range b {
		st = blocks(st, s.block)
		s.at, s.out = ir.At{Pos: st.Position()}, nil
		s.stmt(st)
		out = append(out, s.out...)
	}
	return out
}

func (s *splitter) stmt(st ir.Stmt) {
	switch st := st.(type) {
	case *ir.Let:
		if p := s.parts[st.V]; p != nil {
			s.declare(p, st.E)
			return
		}
		s.out = append(s.out, &ir.Let{At: st.At, V: st.V, E: s.top(st.E)})
		return
	case *ir.Set:
		if p, rest := s.of(st.P); p != nil && len(rest) == 0 && p.v == nil {
			s.assign(p, st.E)
			return
		}
		to := s.place(st.P)
		s.out = append(s.out, &ir.Set{At: st.At, P: to, E: s.top(st.E)})
		return
	}
	s.out = append(s.out, shell(s.rewriter(), st)) // its blocks are done
}

// rewriter replaces places in variables that are taken apart.
func (s *splitter) rewriter() *ir.Map {
	return &ir.Map{Place: func(p *ir.Place) *ir.Place {
		q, rest := s.of(p)
		if q == nil || q.v == nil {
			return p
		}
		return &ir.Place{Root: q.v, Path: rest}
	}}
}

func (s *splitter) place(p *ir.Place) *ir.Place { return s.rewriter().RewritePlace(p) }

// top is what a variable or a place that is not taken apart is assigned: whole variables
// that are taken apart are put together again.
func (s *splitter) top(e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Load:
		if p, _ := s.of(x.P); p != nil && p.v == nil {
			return s.together(p, x.T)
		}
	case *ir.Convert:
		if y := s.top(x.X); isLiteral(y) {
			l := *y.(*ir.Literal)
			l.T = x.T
			return &l
		}
	case *ir.Literal:
		l := *x
		l.Elems = nil
		for _, y := range x.Elems {
			y = s.top(y)
			if isLiteral(y) {
				v := &ir.Var{Name: s.names.Name("whole"), Type: y.Type()}
				s.out = append(s.out, &ir.Let{At: s.at, V: v, E: y})
				y = v.Load()
			}
			l.Elems = append(l.Elems, y)
		}
		return &l
	}
	return s.rewriter().RewriteExpr(e)
}

func isLiteral(e ir.Expr) bool {
	_, ok := e.(*ir.Literal)
	return ok
}

// together is a literal of what p is made of.
func (s *splitter) together(p *part, t types.Type) ir.Expr {
	l := &ir.Literal{Typed: ir.Typed{T: t}}
	for i, q := range p.parts {
		e := ir.Expr(nil)
		if q.v != nil {
			e = q.v.Load()
		} else {
			v := &ir.Var{Name: s.names.Name("whole"), Type: q.t}
			s.out = append(s.out, &ir.Let{At: s.at, V: v, E: s.together(q, q.t)})
			e = v.Load()
		}
		l.Keys, l.Elems = append(l.Keys, i), append(l.Elems, e)
	}
	return l
}

// piece is a variable and what it is assigned, nil for its zero value.
type piece struct {
	v *ir.Var
	e ir.Expr
}

// pieces are the assignments that one of e to p is, in the order in which what e is made
// of is evaluated. They happen at the same time.
func (s *splitter) pieces(p *part, e ir.Expr) (out []piece) {
	if p.v != nil {
		if e != nil {
			e = s.rewriter().RewriteExpr(e)
		}
		return []piece{{p.v, e}}
	}
	switch x := e.(type) {
	case *ir.Literal:
		given := map[int]bool{}
		for i, k := range x.Keys {
			given[k] = true
			out = append(out, s.pieces(p.parts[k], x.Elems[i])...)
		}
		for k, q := range p.parts {
			if !given[k] {
				out = append(out, s.pieces(q, nil)...)
			}
		}
		return out
	case *ir.Convert:
		return s.pieces(p, x.X)
	case *ir.Load:
		if from, _ := s.of(x.P); from != nil && from.v == nil {
			var list []*ir.Var
			from.leaves(nil, func(v *ir.Var, _ []ir.Step) { list = append(list, v) })
			p.leaves(nil, func(v *ir.Var, _ []ir.Step) {
				out = append(out, piece{v, list[0].Load()})
				list = list[1:]
			})
			return out
		}
		from := s.place(x.P)
		p.leaves(from.Path, func(v *ir.Var, path []ir.Step) {
			out = append(out, piece{v, load(&ir.Place{Root: from.Root, Path: path}, v.Type)})
		})
		return out
	}
	p.leaves(nil, func(v *ir.Var, _ []ir.Step) { out = append(out, piece{v, nil}) })
	return out
}

// declare declares the variables of p with the values in e.
func (s *splitter) declare(p *part, e ir.Expr) {
	for _, x := range s.pieces(p, e) {
		s.out = append(s.out, &ir.Let{At: s.at, V: x.v, E: x.e})
	}
}

// assign assigns e to p. A value whose variable is read for another first goes to one of
// its own.
func (s *splitter) assign(p *part, e ir.Expr) {
	list := s.pieces(p, e)
	var late ir.Block
	for i, x := range list {
		if x.e == nil {
			x.e = zeroOf(x.v.Type)
		}
		if whole(x.e) == x.v {
			continue
		}
		set := &ir.Set{At: s.at, P: x.v.Place(), E: x.e}
		read := false
		for _, y := range list[i+1:] {
			read = read || y.e != nil && readsVar(y.e, x.v)
		}
		if read {
			t := &ir.Var{Name: s.names.Name(x.v.Name), Type: x.v.Type}
			s.out = append(s.out, &ir.Let{At: s.at, V: t, E: x.e})
			set.E = t.Load()
			late = append(late, set)
			continue
		}
		s.out = append(s.out, set)
	}
	s.out = append(s.out, late...)
}

// zeroOf is the zero value of a type.
func zeroOf(t types.Type) ir.Expr {
	if hasInfo(t, types.IsNumeric) {
		return number(t, 0)
	}
	return &ir.Const{Typed: ir.Typed{T: t}}
}
