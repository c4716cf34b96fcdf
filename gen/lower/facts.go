package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
)

// Facts about variables that are needed before a function body is lowered: how often they are
// assigned, whether their addresses are taken, and whether closures modify them. Bodies of closures
// count.

// facts holds the facts about the variables of a declaration.
type facts struct {
	addressed map[types.Object]bool // the address of the variable or of a part of it is taken
	shared    map[types.Object]bool // assigned in a closure that captures it
	assigned  map[types.Object]int  // number of assignments in the source, declarations with values included
	// block maps a variable to the block that declares it.
	block    map[types.Object]ast.Node
	within   map[*ast.AssignStmt]ast.Node // innermost block of each assignment
	packages map[string]bool              // names of packages whose variables are used
	perLoop  bool                         // loop variables are per loop, as before Go 1.22, not per iteration
}

// byReference reports whether closures must capture o by pointer.
func (f *facts) byReference(o types.Object) bool { return f.shared[o] || f.addressed[o] }

// findFacts computes d.facts, unless they are known.
func (d *decl) findFacts() {
	if d.facts == nil {
		d.facts = findFacts(d.pkg.TypesInfo, d.node)
		v := languageVersion(d.pkg, d.node)
		d.facts.perLoop = v != "" && version.Compare(v, "go1.22") < 0
	}
}

// findFacts returns the facts about the variables in body.
func findFacts(info *types.Info, body ast.Node) *facts {
	f := &facts{
		addressed: map[types.Object]bool{}, shared: map[types.Object]bool{}, assigned: map[types.Object]int{},
		block: map[types.Object]ast.Node{}, within: map[*ast.AssignStmt]ast.Node{},
		packages: map[string]bool{},
	}
	w := &factWalker{facts: f, info: info}
	w.walk(body)
	return f
}

// A factWalker traverses a declaration with the stacks of enclosing nodes, blocks and function
// literals.
type factWalker struct {
	*facts
	info *types.Info
	// stack are the enclosing nodes, innermost last; ast.Inspect calls with nil pop one.
	stack  []ast.Node
	blocks []ast.Node
	// lits are the enclosing function literals, innermost last.
	lits []*ast.FuncLit
}

// walk visits n and all its children.
func (w *factWalker) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil {
			switch w.stack[len(w.stack)-1].(type) {
			case *ast.FuncLit:
				w.lits = w.lits[:len(w.lits)-1]
			case *ast.BlockStmt, *ast.CaseClause:
				w.blocks = w.blocks[:len(w.blocks)-1]
			}
			w.stack = w.stack[:len(w.stack)-1]
			return true
		}
		w.stack = append(w.stack, n)
		w.node(n)
		switch n := n.(type) {
		case *ast.FuncLit:
			w.lits = append(w.lits, n)
		case *ast.BlockStmt, *ast.CaseClause:
			w.blocks = append(w.blocks, n)
		}
		return true
	})
}

// node records the facts that n itself establishes.
func (w *factWalker) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Ident:
		if v, ok := w.info.Uses[n].(*types.Var); ok && isGlobal(v) {
			w.packages[v.Pkg().Name()] = true
		}
		if v, ok := w.info.Defs[n].(*types.Var); ok && len(w.blocks) > 0 {
			w.block[v] = w.blocks[len(w.blocks)-1]
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			w.address(n.X)
		}
	case *ast.SliceExpr:
		if t := w.info.TypeOf(n.X); t != nil {
			if _, ok := arrayOf(t); ok {
				w.address(n.X)
			}
		}
	case *ast.SelectorExpr:
		// x.M takes the address of x where M has a pointer receiver and x is none.
		s := w.info.Selections[n]
		if s == nil || s.Kind() != types.MethodVal {
			return
		}
		recv := s.Obj().(*types.Func).Signature().Recv()
		if recv != nil && isPointer(recv.Type()) && direct(s) {
			w.address(n.X)
		}
	case *ast.AssignStmt:
		if len(w.blocks) > 0 {
			w.within[n] = w.blocks[len(w.blocks)-1]
		}
		for _, e := range n.Lhs {
			w.write(e)
		}
	case *ast.IncDecStmt:
		w.write(n.X)
	case *ast.RangeStmt:
		if n.Key != nil {
			w.write(n.Key)
		}
		if n.Value != nil {
			w.write(n.Value)
		}
	case *ast.ValueSpec:
		for _, id := range n.Names {
			if len(n.Values) > 0 {
				w.assigned[w.info.Defs[id]]++
			}
		}
	}
}

// direct reports whether the receiver in x.M is a part of x, without a pointer in between.
func direct(s *types.Selection) bool {
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return false
		}
		t = st.Field(i).Type()
	}
	_, pointer := t.Underlying().(*types.Pointer)
	return !pointer
}

// base returns the variable that e denotes a part of, nil if e is indirect or no variable.
func base(info *types.Info, e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			if v, ok := info.ObjectOf(x).(*types.Var); ok {
				return v
			}
			return nil
		case *ast.SelectorExpr:
			s := info.Selections[x]
			if s == nil || s.Indirect() {
				return nil
			}
			e = x.X
		case *ast.IndexExpr:
			t := info.TypeOf(x.X)
			if t == nil {
				return nil
			}
			if _, ok := arrayOf(t); !ok {
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}

// address records that the address of e is taken.
func (w *factWalker) address(e ast.Expr) {
	if o := base(w.info, e); o != nil {
		w.addressed[o] = true
	}
}

// write records an assignment to e, and whether that is in a closure that captures the variable.
func (w *factWalker) write(e ast.Expr) {
	o := base(w.info, e)
	if o == nil {
		return
	}
	w.assigned[o]++
	if n := len(w.lits); n > 0 {
		lit := w.lits[n-1]
		if o.Pos() < lit.Pos() || o.Pos() >= lit.End() {
			w.shared[o] = true
		}
	}
}
