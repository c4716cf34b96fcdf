package lower

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Which numbers of package variables a function reads before it writes them, and which package variables have memory
// of their own.

// A numberSet is a set of numbers, strings and other values without parts in package variables, by the name of the
// variable and the path of fields. The elements of arrays and slices are not in it. Nil is the set of all, at a place
// that is not reached.
type numberSet map[string]bool

// A readAnalysis finds the numbers that one function reads before it has written them.
type readAnalysis struct {
	tracked map[*ir.Var]bool
	// summaries maps functions to the numbers that they read first and those that they write in any case.
	summaries map[*ir.Func]*readSummary
	f         *ir.Func
	s         *readSummary
	leaves    map[*ir.Label][]numberSet // the numbers written before a label is left
	read      map[string]bool           // numbers that are read anywhere
}

type readSummary struct {
	exposed map[string]ir.Stmt // number → where it is read first
	added   map[string]ir.Stmt // number → where something is added to it first
	in      map[string]*ir.Func
	written numberSet
}

// exposedScratch returns refusals for the numbers that f may read before it writes them. A number that is added to and
// not read otherwise counts something and is permitted.
func exposedScratch(f *ir.Func, vars []*ir.Var) (out Refusals) {
	a := &readAnalysis{tracked: map[*ir.Var]bool{}, summaries: map[*ir.Func]*readSummary{}, read: map[string]bool{}}
	for _, v := range vars {
		a.tracked[v] = true
	}
	s := a.function(f)
	for k, at := range s.added {
		if a.read[k] && s.exposed[k] == nil {
			s.exposed[k] = at
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.exposed)) {
		out = append(out, &Refusal{s.exposed[k].Position(), s.in[k].Name, "read of package variable " + k,
			"the function writes it, but may read it before: the value may be one that an earlier call has computed",
			"set it at the beginning of the function, or pass it as an argument"})
	}
	return out
}

// numbers calls visit for the keys of the numbers in a value of type t under key.
func numbers(key string, t types.Type, visit func(string)) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			numbers(key+"."+f.Name(), f.Type(), visit)
		}
	case *types.Array, *types.Slice:
	default:
		visit(key)
	}
}

// place calls visit for the numbers at p, which are those of the elements as a whole if p is an element.
func (a *readAnalysis) place(p *ir.Place, visit func(string)) {
	if !a.tracked[p.Root] {
		return
	}
	key, t := p.Root.Name, p.Root.Type
	for _, s := range p.Path {
		st, ok := t.Underlying().(*types.Struct)
		if !ok || s.Field < 0 {
			return // an element
		}
		key, t = key+"."+st.Field(s.Field).Name(), st.Field(s.Field).Type()
	}
	numbers(key, t, visit)
}

// function returns the summary of f.
func (a *readAnalysis) function(f *ir.Func) *readSummary {
	if s := a.summaries[f]; s != nil {
		return s
	}
	s := &readSummary{exposed: map[string]ir.Stmt{}, added: map[string]ir.Stmt{}, in: map[string]*ir.Func{},
		written: numberSet{}}
	a.summaries[f] = s // of a recursive call: it reads no more than the function itself
	outer := *a
	a.f, a.s, a.leaves = f, s, map[*ir.Label][]numberSet{}
	end := a.block(f.Body, numberSet{})
	for _, w := range a.leaves[f.Exit] {
		end = meet(end, w)
	}
	a.f, a.s, a.leaves = outer.f, outer.s, outer.leaves
	if s.written = end; end == nil {
		s.written = numberSet{}
	}
	return s
}

// meet returns the numbers in both sets.
func meet(x, y numberSet) numberSet {
	if x == nil {
		return y
	}
	if y == nil {
		return x
	}
	out := numberSet{}
	for k := range x {
		if y[k] {
			out[k] = true
		}
	}
	return out
}

// reads notes that s reads e when w has been written.
func (a *readAnalysis) reads(s ir.Stmt, e ir.Expr, w numberSet) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		p := ir.PlaceOf(e)
		if p == nil {
			return true
		}
		a.place(p, func(k string) {
			a.read[k] = true
			if _, load := e.(*ir.Load); !w[k] && (load || !ir.HasRefs(p.Type())) {
				a.expose(a.s.exposed, k, s, a.f)
			}
		})
		return true
	})
}

func (a *readAnalysis) expose(set map[string]ir.Stmt, k string, s ir.Stmt, f *ir.Func) {
	if set[k] == nil {
		set[k] = s
		if a.s.in[k] == nil {
			a.s.in[k] = f
		}
	}
}

// block returns the numbers that have been written after b, nil if its end is not reached.
func (a *readAnalysis) block(b ir.Block, w numberSet) numberSet {
	w = maps.Clone(w)
	for _, s := range b {
		ir.EachExpr(s, func(e ir.Expr) { a.reads(s, e, w) })
		switch s := s.(type) {
		case *ir.Set:
			a.place(s.P, func(k string) { w[k] = true })
		case *ir.Add:
			a.place(s.P, func(k string) {
				if !w[k] {
					a.expose(a.s.added, k, s, a.f)
				}
			})
		case *ir.Call:
			if s.Callee.Func == nil {
				break
			}
			t := a.function(s.Callee.Func)
			for k, at := range t.exposed {
				if !w[k] {
					a.expose(a.s.exposed, k, at, t.in[k])
				}
			}
			for k, at := range t.added {
				if !w[k] {
					a.expose(a.s.added, k, at, t.in[k])
				}
			}
			maps.Copy(w, t.written)
		case *ir.If:
			if w = meet(a.block(s.Then, w), a.block(s.Else, w)); w == nil {
				return nil
			}
			w = maps.Clone(w)
		case *ir.Scope:
			w = a.block(s.Body, w)
			for _, x := range a.leaves[s.L] {
				w = meet(w, x)
			}
			if w == nil {
				return nil
			}
			w = maps.Clone(w)
		case *ir.Loop:
			a.block(s.Body, w) // perhaps not at all
		case *ir.Leave:
			a.leaves[s.L] = append(a.leaves[s.L], w)
			return nil
		case *ir.Panic:
			return nil
		}
	}
	return w
}

// isFresh reports whether the memory of a slice variable is its own when the program starts: it has no initialiser, or
// one that makes it.
func (p *Program) isFresh(o *types.Var) bool {
	if p.initialisers == nil {
		p.findWrittenVars()
	}
	in, ok := p.initialisers[o]
	if !ok {
		return true
	}
	switch e := ast.Unparen(in.e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		if !ok {
			return false
		}
		_, ok = in.pkg.TypesInfo.Uses[id].(*types.Builtin)
		return ok && id.Name == "make"
	}
	return false
}

// leaks returns a position at which a reference to the memory of a package variable is stored elsewhere, "" if there is
// none in the loaded packages.
func (p *Program) leaks(o *types.Var) string { return p.leaksOf(o, map[types.Object]bool{}) }

func (p *Program) leaksOf(o types.Object, seen map[types.Object]bool) (at string) {
	if seen[o] {
		return ""
	}
	seen[o] = true
	packages.Visit(p.requested, nil, func(pkg *packages.Package) {
		if at != "" || !p.indexed[pkg] || pkg.TypesInfo == nil || pkg.Types != o.Pkg() && !o.Exported() {
			return
		}
		for _, f := range pkg.Syntax {
			var stack []ast.Node
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil {
					stack = stack[:len(stack)-1]
					return true
				}
				if id, ok := n.(*ast.Ident); ok && at == "" && pkg.TypesInfo.Uses[id] == o {
					if p.useLeaks(pkg.TypesInfo, id, stack, seen) {
						pos := p.fset.Position(id.Pos())
						at = pos.Filename[strings.LastIndexAny(pos.Filename, `/\`)+1:] + ":" + strconv.Itoa(pos.Line)
					}
				}
				stack = append(stack, n)
				return true
			})
		}
	})
	return at
}

// useLeaks reports whether the use id of a variable, in the nodes of stack, may store a reference to its memory where
// the variable is not followed.
func (p *Program) useLeaks(info *types.Info, id *ast.Ident, stack []ast.Node, seen map[types.Object]bool) bool {
	var at ast.Expr = id
	address := false // the value is an address or a slice of the variable
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.ParenExpr:
			at = n
		case *ast.SelectorExpr:
			if n.Sel == at {
				at = n
				continue
			}
			s := info.Selections[n]
			if s == nil || s.Kind() != types.FieldVal {
				fn, ok := info.Uses[n.Sel].(*types.Func)
				return !ok || !isPointer(fn.Signature().Recv().Type()) && !isSlice(fn.Signature().Recv().Type()) ||
					p.paramLeaks(fn, -1, seen)
			}
			at, address = n, false
		case *ast.IndexExpr:
			if n.X != at {
				return false
			}
			at, address = n, false
		case *ast.StarExpr:
			at, address = n, false
		case *ast.SliceExpr:
			if n.X != at {
				return false
			}
			at, address = n, true
		case *ast.UnaryExpr:
			at, address = n, n.Op.String() == "&"
		case *ast.BinaryExpr, *ast.RangeStmt, *ast.IncDecStmt, *ast.ExprStmt, *ast.IfStmt, *ast.SwitchStmt,
			*ast.ForStmt:
			return false
		case *ast.AssignStmt:
			if !address && !passesReference(info, at) || slices.Contains(n.Lhs, at) {
				return false
			}
			k := slices.Index(n.Rhs, at)
			if k < 0 || len(n.Lhs) != len(n.Rhs) {
				return true
			}
			to, ok := ast.Unparen(n.Lhs[k]).(*ast.Ident)
			return !ok || to.Name != "_" && p.leaksOf(info.ObjectOf(to), seen) != "" ||
				isGlobal(info.ObjectOf(to)) && !seen[info.ObjectOf(to)]
		case *ast.CallExpr:
			if !address && !passesReference(info, at) {
				return false
			}
			k := slices.Index(n.Args, at)
			if f, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
				if _, ok := info.Uses[f].(*types.Builtin); ok {
					if f.Name == "append" && k == 0 {
						at, address = n, true
						continue
					}
					return false
				}
			}
			fn := calledFunc(info, n)
			return k < 0 || fn == nil || p.paramLeaks(fn, k, seen)
		default:
			return address || passesReference(info, at)
		}
	}
	return true
}

// isGlobal reports whether o is a package-level variable.
func isGlobal(o types.Object) bool {
	return o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope()
}

// calledFunc returns the declared function that a call calls, or nil.
func calledFunc(info *types.Info, n *ast.CallExpr) *types.Func {
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		fn, _ := info.Uses[f].(*types.Func)
		return fn
	case *ast.SelectorExpr:
		fn, _ := info.Uses[f.Sel].(*types.Func)
		return fn
	}
	return nil
}

// paramLeaks reports whether a function may store a reference that it gets as argument k, its receiver if k is -1.
func (p *Program) paramLeaks(fn *types.Func, k int, seen map[types.Object]bool) bool {
	sig := fn.Origin().Signature()
	v := sig.Recv()
	if k >= 0 {
		if sig.Variadic() && k >= sig.Params().Len()-1 {
			return true
		}
		v = sig.Params().At(k)
	}
	return p.decls[fn.Origin()] == nil || p.leaksOf(v, seen) != ""
}
