package simplify

import (
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/ir"
)

// maxScalars is the largest number of variables that replace one. An amd64 has 16 floating-point registers.
const maxScalars = 16

// Scalars performs scalar replacement of aggregates: it replaces an array or struct variable by one variable per
// element or field, recursively. A variable qualifies if it has at most 16 leaves, its address is not taken, every
// index into it is constant, and whole values are only copied or assigned from literals and memory. Parameters are
// copied on entry; results are kept, and so are structs with fields that package pkg, that of the generated code,
// cannot name, unless pkg is nil.
//
//	let v [2]float64 = [2]float64{a, b}       let v0 float64 = a
//	v[0] = v[1]                               let v1 float64 = b
//	x[3] = v                                  v0 = v1
//	                                          x[3] = [2]float64{v0, v1}
func Scalars(f *ir.Func, pkg *types.Package) { scalars(f, pkg) }

// scalars is Scalars. It returns the replaced variables with their scalars.
func scalars(f *ir.Func, pkg *types.Package) map[*ir.Var]*scalarTree {
	s := &scalarizer{names: ir.NamerOf(f), pkg: pkg, trees: map[*ir.Var]*scalarTree{}}
	s.choose(f)
	if len(s.trees) == 0 {
		return nil
	}
	var head ir.Block
	// The signature stays, so parameters are copied.
	for _, v := range f.Params {
		if p := s.trees[v]; p != nil {
			p.eachScalar(nil, func(w *ir.Var, path []ir.Step) {
				head = append(head,
					&ir.Let{At: ir.At{Pos: f.Pos}, V: w, E: ir.LoadOf(&ir.Place{Root: v, Path: path}, w.Type)})
			})
		}
	}
	f.Body = append(head, s.block(f.Body)...)
	return s.trees
}

// A scalarTree describes the replacement of an aggregate variable or a part of one. A leaf has a scalar, any other node
// the trees of its fields or elements.
type scalarTree struct {
	typ    types.Type
	scalar *ir.Var // nil in inner nodes
	parts  []*scalarTree
}

// eachScalar visits the leaves of p in order, each with its path, which begins with path.
func (p *scalarTree) eachScalar(path []ir.Step, visit func(v *ir.Var, path []ir.Step)) {
	if p.scalar != nil {
		visit(p.scalar, path)
		return
	}
	for i, q := range p.parts {
		q.eachScalar(append(path[:len(path):len(path)], stepOf(p.typ, i)), visit)
	}
}

// stepOf returns the step from a value of the struct or array type t to its field or element i.
func stepOf(t types.Type, i int) ir.Step {
	if _, ok := t.Underlying().(*types.Struct); ok {
		return ir.FieldStep(i)
	}
	return ir.IndexStep(ir.IntConst(integer, int64(i)))
}

// descend follows path into p until a leaf or the end of the path. It returns the node and the rest of the path, which
// leads from the scalar. Array indices must be constants.
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

// A scalarizer applies Scalars to one function.
type scalarizer struct {
	names *ir.Namer
	pkg   *types.Package
	trees map[*ir.Var]*scalarTree // replaced variable → its scalars
	pos   ir.At                   // of the current statement
	out   ir.Block                // replaces the current statement
}

// newTree creates the scalars of v, with names made from name and the fields or indices on their paths.
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

// capitalize returns s with its first letter, if it is one of a to z, in upper case.
func capitalize(s string) string {
	b := []byte(s)
	if b[0] >= 'a' && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
	return string(b)
}

// lookup returns the node that p denotes and the rest of the path if p.Root is replaced, and nil otherwise.
func (s *scalarizer) lookup(p *ir.Place) (*scalarTree, []ir.Step) {
	if q := s.trees[p.Root]; q != nil {
		return q.descend(p.Path)
	}
	return nil, nil
}

// block rewrites b and its nested blocks.
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

// stmt appends the statements that replace st to s.out. The blocks of st are rewritten already.
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
	s.out = append(s.out, rewriteHead(s.rewriter(), st))
}

// rewriter returns a Map that replaces places in replaced variables by their scalars.
func (s *scalarizer) rewriter() *ir.Map {
	return &ir.Map{Place: func(p *ir.Place) *ir.Place {
		q, rest := s.lookup(p)
		if q == nil || q.scalar == nil {
			return p
		}
		return &ir.Place{Root: q.scalar, Path: rest}
	}}
}

// place returns p in terms of the scalars.
func (s *scalarizer) place(p *ir.Place) *ir.Place { return s.rewriter().RewritePlace(p) }

// assemble returns e, the value of a variable or place that is not replaced, in terms of the scalars: loads of replaced
// aggregates become literals. As ir does not nest literals of aggregates, inner ones are declared as variables first.
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

// isLiteral reports whether e is a composite literal.
func isLiteral(e ir.Expr) bool {
	_, ok := e.(*ir.Literal)
	return ok
}

// literal returns a literal of type t with the current values of p, an inner node. Nested aggregates are declared as
// variables.
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

// A scalarAssignment is the assignment of e to v. A nil e is the zero value.
type scalarAssignment struct {
	v *ir.Var
	e ir.Expr
}

// scalarAssignments returns the assignments to scalars that perform the assignment of e to p, in the order in which the
// operands of e are evaluated. They are meant to happen simultaneously; assign serialises them.
func (s *scalarizer) scalarAssignments(p *scalarTree, e ir.Expr) (out []scalarAssignment) {
	if p.scalar != nil {
		if e != nil {
			e = s.rewriter().RewriteExpr(e)
		}
		return []scalarAssignment{{p.scalar, e}}
	}
	switch x := e.(type) {
	// Elements that the literal does not mention are zero.
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
			out = append(out, scalarAssignment{v, ir.LoadOf(&ir.Place{Root: from.Root, Path: path}, v.Type)})
		})
		return out
	}
	p.eachScalar(nil, func(v *ir.Var, _ []ir.Step) { out = append(out, scalarAssignment{v, nil}) })
	return out
}

// declare appends declarations of the scalars of p with the values of e.
func (s *scalarizer) declare(p *scalarTree, e ir.Expr) {
	for _, x := range s.scalarAssignments(p, e) {
		s.out = append(s.out, &ir.Let{At: s.pos, V: x.v, E: x.e})
	}
}

// assign appends the assignment of e to p. A scalar that a later assignment reads, as in a swap of elements, is
// assigned after all others, from a temporary variable.
func (s *scalarizer) assign(p *scalarTree, e ir.Expr) {
	list := s.scalarAssignments(p, e)
	var late ir.Block
	for i, x := range list {
		if x.e == nil {
			x.e = zeroConst(x.v.Type)
		}
		// A scalar that keeps its value, as after v = v.
		if ir.VarOf(x.e) == x.v {
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

// zeroConst returns the zero value of t.
func zeroConst(t types.Type) ir.Expr {
	if ir.HasInfo(t, types.IsNumeric) {
		return ir.IntConst(t, 0)
	}
	return &ir.Const{Typed: ir.Typed{T: t}}
}
