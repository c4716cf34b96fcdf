package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
)

// facts are what has to be known of the variables of a declaration before its body is
// lowered. Closures inside of it count.
type facts struct {
	addressed map[types.Object]bool // a pointer to it, or to a part of it, is taken
	shared    map[types.Object]bool // written in a closure that does not declare it
	assigned  map[types.Object]int  // how often it is assigned, declarations with values included
	block     map[types.Object]ast.Node
	within    map[*ast.AssignStmt]ast.Node // the block an assignment stands in
	packages  map[string]bool              // whose variables are named
	perLoop   bool                         // loops declare their variables once, and not in each iteration
}

// byReference says whether a closure has to capture a variable by pointer.
func (f *facts) byReference(o types.Object) bool { return f.shared[o] || f.addressed[o] }

// findFacts sees to the facts of a declaration.
func (d *decl) findFacts() {
	if d.facts == nil {
		d.facts = findFacts(d.pkg.TypesInfo, d.node)
		v := languageVersion(d.pkg, d.node)
		d.facts.perLoop = v != "" && version.Compare(v, "go1.22") < 0
	}
}

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

type factWalker struct {
	*facts
	info   *types.Info
	stack  []ast.Node
	blocks []ast.Node
	lits   []*ast.FuncLit
}

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

func (w *factWalker) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Ident:
		if v, ok := w.info.Uses[n].(*types.Var); ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
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

// direct says whether no pointer lies on the way from x to the receiver in x.M.
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

// base is the variable that a place without pointers on its way belongs to.
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

func (w *factWalker) address(e ast.Expr) {
	if o := base(w.info, e); o != nil {
		w.addressed[o] = true
	}
}

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
