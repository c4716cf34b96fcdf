package simplify

import (
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// mostParts is up to how many variables one is taken apart into.
const maxScalars = 16

// Scalars replaces variables that are arrays or structs by one variable for each element
// or field, at any depth. Those are taken apart that have at most 16 parts and no
// address, that no index but a constant goes into, and that as a whole are only copied,
// assigned literals and assigned from other memory. A parameter is copied to its parts at
// the beginning; results stay as they are, and so do structs with fields that package
// pkg, that of the code, cannot name, unless pkg is nil.
func Scalars(f *ir.Func, pkg *types.Package) { scalars(f, pkg) }

// scalars is Scalars and gives what each variable that is no more was taken apart into.
func scalars(f *ir.Func, pkg *types.Package) map[*ir.Var]*scalarTree {
	s := &scalarizer{names: ir.NamerOf(f), pkg: pkg, trees: map[*ir.Var]*scalarTree{}}
	s.choose(f)
	if len(s.trees) == 0 {
		return nil
	}
	var head ir.Block
	for _, v := range f.Params {
		if p := s.trees[v]; p != nil {
			p.eachScalar(nil, func(w *ir.Var, path []ir.Step) {
				head = append(head,
					&ir.Let{At: ir.At{Pos: f.Pos}, V: w, E: load(&ir.Place{Root: v, Path: path}, w.Type)})
			})
		}
	}
	f.Body = append(head, s.block(f.Body)...)
	return s.trees
}

// part is a variable, or an element or a field of one at any depth: a variable of its
// own or parts again.
type scalarTree struct {
	typ    types.Type
	scalar *ir.Var
	parts  []*scalarTree
}

// leaves visits the variables of p with the path to each.
func (p *scalarTree) eachScalar(path []ir.Step, visit func(v *ir.Var, path []ir.Step)) {
	if p.scalar != nil {
		visit(p.scalar, path)
		return
	}
	for i, q := range p.parts {
		q.eachScalar(append(path[:len(path):len(path)], stepOf(p.typ, i)), visit)
	}
}

// stepOf is the step to part i of a value of type t.
func stepOf(t types.Type, i int) ir.Step {
	if _, ok := t.Underlying().(*types.Struct); ok {
		return ir.FieldStep(i)
	}
	return ir.IndexStep(intConst(integer, int64(i)))
}

// at follows a path into p. It gives the part and what is left of the path behind a
// variable. The indices into arrays are constants.
func (p *scalarTree) descend(path []ir.Step) (*scalarTree, []ir.Step) {
	for len(path) > 0 && p.scalar == nil {
		i := path[0].Field
		if i < 0 {
			n, _ := constInt(path[0].Index)
			i = int(n)
		}
		p, path = p.parts[i], path[1:]
	}
	return p, path
}

type scalarizer struct {
	names *ir.Namer
	pkg   *types.Package
	trees map[*ir.Var]*scalarTree
	pos   ir.At
	out   ir.Block
}

// part makes the variables of v, or of a part of it.
func (s *scalarizer) newTree(name string, v *ir.Var) *scalarTree {
	var build func(name string, t types.Type) *scalarTree
	build = func(name string, t types.Type) *scalarTree {
		p := &scalarTree{typ: t}
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				p.parts = append(p.parts, build(name+capitalize(f.Name()), f.Type()))
			}
		case *types.Array:
			for i := range u.Len() {
				p.parts = append(p.parts, build(name+strconv.FormatInt(i, 10), u.Elem()))
			}
		default:
			p.scalar = &ir.Var{Name: s.names.Name(name), Type: t, Pos: v.Pos}
		}
		return p
	}
	return build(name, v.Type)
}

func capitalize(s string) string {
	b := []byte(s)
	if b[0] >= 'a' && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
	return string(b)
}

// of is the part that p is in a variable that is taken apart, nil if it is in none, and
// the path behind it.
func (s *scalarizer) lookup(p *ir.Place) (*scalarTree, []ir.Step) {
	if q := s.trees[p.Root]; q != nil {
		return q.descend(p.Path)
	}
	return nil, nil
}

func (s *scalarizer) block(b ir.Block) ir.Block {
	var out ir.Block
	for _, st := range b {
		st = mapBlocks(st, s.block)
		s.pos, s.out = ir.At{Pos: st.Position()}, nil
		s.stmt(st)
		out = append(out, s.out...)
	}
	return out
}

func (s *scalarizer) stmt(st ir.Stmt) {
	switch st := st.(type) {
	case *ir.Let:
		if p := s.trees[st.V]; p != nil {
			s.declare(p, st.E)
			return
		}
		s.out = append(s.out, &ir.Let{At: st.At, V: st.V, E: s.assemble(st.E)})
		return
	case *ir.Set:
		if p, rest := s.lookup(st.P); p != nil && len(rest) == 0 && p.scalar == nil {
			s.assign(p, st.E)
			return
		}
		to := s.place(st.P)
		s.out = append(s.out, &ir.Set{At: st.At, P: to, E: s.assemble(st.E)})
		return
	}
	s.out = append(s.out, rewriteHead(s.rewriter(), st)) // its blocks are done
}

// rewriter replaces places in variables that are taken apart.
func (s *scalarizer) rewriter() *ir.Map {
	return &ir.Map{Place: func(p *ir.Place) *ir.Place {
		q, rest := s.lookup(p)
		if q == nil || q.scalar == nil {
			return p
		}
		return &ir.Place{Root: q.scalar, Path: rest}
	}}
}

func (s *scalarizer) place(p *ir.Place) *ir.Place { return s.rewriter().RewritePlace(p) }

// top is what a variable or a place that is not taken apart is assigned: whole variables
// that are taken apart are put together again.
func (s *scalarizer) assemble(e ir.Expr) ir.Expr {
	switch x := e.(type) {
	case *ir.Load:
		if p, _ := s.lookup(x.P); p != nil && p.scalar == nil {
			return s.literal(p, x.T)
		}
	case *ir.Convert:
		if y := s.assemble(x.X); isLiteral(y) {
			l := *y.(*ir.Literal)
			l.T = x.T
			return &l
		}
	case *ir.Literal:
		l := *x
		l.Elems = nil
		for _, y := range x.Elems {
			y = s.assemble(y)
			if isLiteral(y) {
				v := &ir.Var{Name: s.names.Name("whole"), Type: y.Type()}
				s.out = append(s.out, &ir.Let{At: s.pos, V: v, E: y})
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
func (s *scalarizer) literal(p *scalarTree, t types.Type) ir.Expr {
	l := &ir.Literal{Typed: ir.Typed{T: t}}
	for i, q := range p.parts {
		e := ir.Expr(nil)
		if q.scalar != nil {
			e = q.scalar.Load()
		} else {
			v := &ir.Var{Name: s.names.Name("whole"), Type: q.typ}
			s.out = append(s.out, &ir.Let{At: s.pos, V: v, E: s.literal(q, q.typ)})
			e = v.Load()
		}
		l.Keys, l.Elems = append(l.Keys, i), append(l.Elems, e)
	}
	return l
}

// piece is a variable and what it is assigned, nil for its zero value.
type scalarAssignment struct {
	v *ir.Var
	e ir.Expr
}

// pieces are the assignments that one of e to p is, in the order in which what e is made
// of is evaluated. They happen at the same time.
func (s *scalarizer) scalarAssignments(p *scalarTree, e ir.Expr) (out []scalarAssignment) {
	if p.scalar != nil {
		if e != nil {
			e = s.rewriter().RewriteExpr(e)
		}
		return []scalarAssignment{{p.scalar, e}}
	}
	switch x := e.(type) {
	case *ir.Literal:
		given := map[int]bool{}
		for i, k := range x.Keys {
			given[k] = true
			out = append(out, s.scalarAssignments(p.parts[k], x.Elems[i])...)
		}
		for k, q := range p.parts {
			if !given[k] {
				out = append(out, s.scalarAssignments(q, nil)...)
			}
		}
		return out
	case *ir.Convert:
		return s.scalarAssignments(p, x.X)
	case *ir.Load:
		if from, _ := s.lookup(x.P); from != nil && from.scalar == nil {
			var list []*ir.Var
			from.eachScalar(nil, func(v *ir.Var, _ []ir.Step) { list = append(list, v) })
			p.eachScalar(nil, func(v *ir.Var, _ []ir.Step) {
				out = append(out, scalarAssignment{v, list[0].Load()})
				list = list[1:]
			})
			return out
		}
		from := s.place(x.P)
		p.eachScalar(from.Path, func(v *ir.Var, path []ir.Step) {
			out = append(out, scalarAssignment{v, load(&ir.Place{Root: from.Root, Path: path}, v.Type)})
		})
		return out
	}
	p.eachScalar(nil, func(v *ir.Var, _ []ir.Step) { out = append(out, scalarAssignment{v, nil}) })
	return out
}

// declare declares the variables of p with the values in e.
func (s *scalarizer) declare(p *scalarTree, e ir.Expr) {
	for _, x := range s.scalarAssignments(p, e) {
		s.out = append(s.out, &ir.Let{At: s.pos, V: x.v, E: x.e})
	}
}

// assign assigns e to p. A value whose variable is read for another first goes to one of
// its own.
func (s *scalarizer) assign(p *scalarTree, e ir.Expr) {
	list := s.scalarAssignments(p, e)
	var late ir.Block
	for i, x := range list {
		if x.e == nil {
			x.e = zeroConst(x.v.Type)
		}
		if loadedVar(x.e) == x.v {
			continue
		}
		set := &ir.Set{At: s.pos, P: x.v.Place(), E: x.e}
		read := false
		for _, y := range list[i+1:] {
			read = read || y.e != nil && readsVar(y.e, x.v)
		}
		if read {
			t := &ir.Var{Name: s.names.Name(x.v.Name), Type: x.v.Type}
			s.out = append(s.out, &ir.Let{At: s.pos, V: t, E: x.e})
			set.E = t.Load()
			late = append(late, set)
			continue
		}
		s.out = append(s.out, set)
	}
	s.out = append(s.out, late...)
}

// zeroOf is the zero value of a type.
func zeroConst(t types.Type) ir.Expr {
	if hasInfo(t, types.IsNumeric) {
		return intConst(t, 0)
	}
	return &ir.Const{Typed: ir.Typed{T: t}}
}
