package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// written is a rule that has been asked for, or why it cannot be used.
type written struct {
	rule              *ir.Rule
	tangent, pullback *types.Func
	plain             *types.Func // of a rule that comes with nabla, nil where there is none
	shipped           bool        // it comes with nabla
	refusals          Refusals
}

// rule is the rule for fn, nil if there is none.
func (p *Program) rule(fn *types.Func) *written {
	if r := p.opts.Rules[fn.FullName()]; r != nil {
		return &written{rule: r}
	}
	if w, ok := p.rules[fn]; ok {
		return w
	}
	var w *written
	if d := p.ruleOf[fn]; d != nil {
		w = p.handwritten(fn, d)
	} else if !p.opts.NoShipped {
		w = p.shipped(fn)
	}
	p.rules[fn] = w
	if w != nil && len(w.refusals) == 0 {
		p.unresolved = append(p.unresolved, w)
	}
	return w
}

// ruleName is the name of the function of a rule, path.Func.
func ruleName(fn *types.Func) string { return fn.FullName() }

// handwritten is the rule that a directive on the declaration of fn names.
func (p *Program) handwritten(fn *types.Func, d *Directive) *written {
	w := &written{rule: &ir.Rule{Name: ruleName(fn), Object: fn}}
	refuse := func(reason, remedy string) {
		w.refusals = append(w.refusals, &Refusal{d.Pos, fn.FullName(), "the rule of " + fn.Name(), reason, remedy})
	}
	const syntax = "write //nabla:rule tangent=FTangent pullback=FPullback, or one of the two"
	if isGeneric(fn) {
		refuse("it is generic", "write the rule for a function of one type, and call that")
		return w
	}
	for i := range fn.Signature().Params().Len() {
		if isFuncType(fn.Signature().Params().At(i).Type()) {
			refuse("it takes a function", "write the rule for a function that calls a certain one")
			return w
		}
	}
	names := map[string]string{}
	for _, arg := range strings.Fields(d.Args) {
		key, value, ok := strings.Cut(arg, "=")
		switch {
		case !ok || value == "" || key != "tangent" && key != "pullback" && key != "passive":
			refuse("what is "+arg+"?", syntax+"; passive=a,b are parameters by which there is no derivative")
		case names[key] != "":
			refuse(key+" is named twice", syntax)
		default:
			names[key] = value
		}
	}
	if len(w.refusals) == 0 && names["tangent"] == "" && names["pullback"] == "" {
		refuse("it names neither a tangent nor a pullback", syntax)
	}
	if names["passive"] != "" {
		params := (&ir.Rule{Object: fn}).Shape().Params
		w.rule.Fixed = make([]bool, len(params))
		for name := range strings.SplitSeq(names["passive"], ",") {
			i := slices.IndexFunc(params, func(v *types.Var) bool { return v.Name() == name })
			if i < 0 {
				refuse("there is no parameter "+name, "name parameters of "+fn.Name())
				continue
			}
			w.rule.Fixed[i] = true
		}
	}
	if len(w.refusals) > 0 {
		return w
	}
	shape := w.rule.Shape()
	find := func(key string, want *types.Signature) *types.Func {
		name := names[key]
		if name == "" {
			return nil
		}
		text := "declare func " + name + strings.TrimPrefix(types.TypeString(want, types.RelativeTo(fn.Pkg())), "func")
		f, ok := fn.Pkg().Scope().Lookup(name).(*types.Func)
		switch {
		case !ok:
			refuse("its "+key+" "+name+" is no function of package "+fn.Pkg().Name(), text)
		case !sameTypes(f.Signature(), want):
			refuse("its "+key+" is func "+name+
				strings.TrimPrefix(types.TypeString(f.Signature(), types.RelativeTo(fn.Pkg())), "func"), text)
		default:
			return f
		}
		return nil
	}
	w.tangent = find("tangent", shape.Tangent())
	w.pullback = find("pullback", shape.Pullback())
	if len(w.refusals) > 0 {
		return w
	}
	if d := p.decls[fn]; d != nil {
		w.rule.Returns = returned(d)
	}
	return w
}

// sameTypes compares signatures but for the names in them.
func sameTypes(a, b *types.Signature) bool {
	return !a.Variadic() && a.TypeParams().Len() == 0 && types.Identical(a.Params(), b.Params()) &&
		types.Identical(a.Results(), b.Results())
}

// returned says of each result of a declared function which parameter it always is.
func returned(d *decl) []int {
	info := d.pkg.TypesInfo
	sig := d.fn.Signature()
	out := make([]int, sig.Results().Len())
	for i := range out {
		out[i] = -1
	}
	if d.node.Body == nil {
		return out
	}
	params := map[types.Object]int{}
	for i, v := range (&ir.Rule{Object: d.fn}).Shape().Params {
		params[v] = i
	}
	object := func(e ast.Expr) types.Object {
		id, ok := ast.Unparen(e).(*ast.Ident)
		if !ok {
			return nil
		}
		return info.Uses[id]
	}
	first := true
	ast.Inspect(d.node.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit: // its returns are not those of d, but it may assign to parameters
			ast.Inspect(n, func(n ast.Node) bool {
				if s, ok := n.(*ast.AssignStmt); ok {
					for _, e := range s.Lhs {
						delete(params, object(e))
					}
				}
				return true
			})
			return false
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				delete(params, object(e))
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e != nil {
					delete(params, object(e))
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				delete(params, object(n.X))
			}
		}
		return true
	})
	ast.Inspect(d.node.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		r, ok := n.(*ast.ReturnStmt)
		if !ok {
			return true
		}
		for i := range out {
			k := -1
			if len(r.Results) == len(out) {
				if j, ok := params[object(r.Results[i])]; ok {
					k = j
				}
			}
			if !first && k != out[i] {
				k = -1
			}
			out[i] = k
		}
		first = false
		return true
	})
	return out
}

// resolve finds what the rules that have been asked for lead to: derivatives in the form
// of package ir where they can be lowered, so that they have derivatives too, and what is
// written and read.
func (p *Program) resolve() {
	for len(p.unresolved) > 0 {
		w := p.unresolved[0]
		p.unresolved = p.unresolved[1:]
		r := w.rule
		r.Tangent, r.Pullback = p.derivative(w.tangent), p.derivative(w.pullback)
		n := len((&ir.Rule{Object: r.Object}).Shape().Params)
		if r.Pullback != nil && r.Pullback.Func != nil && r.Unread == nil {
			_, read := effects(r.Pullback.Func)
			for i := range n {
				r.Unread = append(r.Unread, !read[i])
			}
		}
		if w.plain != nil {
			r.Plain = p.lowered(w.plain)
		}
		// The code of a function with a plain form may compute in another way for each value of
		// what is fixed, and so have no derivative by it.
		if w.shipped && (r.Plain == nil || !slices.Contains(r.Fixed, true)) {
			r.Source = p.lowered(r.Object)
		}
		if r.ReadOnly != nil {
			continue
		}
		if f := p.lowered(r.Object); f != nil {
			write, _ := effects(f)
			for i := range n {
				r.ReadOnly = append(r.ReadOnly, !write[i])
			}
		}
	}
}

// derivative is what is called for a derivative: nil for none.
func (p *Program) derivative(fn *types.Func) *ir.Callee {
	if fn == nil {
		return nil
	}
	if w := p.rule(fn); w != nil && len(w.refusals) == 0 {
		return &ir.Callee{Rule: w.rule}
	}
	if f := p.lowered(fn); f != nil {
		return &ir.Callee{Func: f}
	}
	return &ir.Callee{Rule: &ir.Rule{Name: ruleName(fn), Object: fn}}
}

// lowered is the body of fn, nil if it is refused.
func (p *Program) lowered(fn *types.Func) *ir.Func {
	d := p.decls[fn]
	if d == nil {
		return nil
	}
	e := p.entry(d, nil, nil)
	if e == nil || len(e.reaches()) > 0 {
		return nil
	}
	return e.f
}

// called is a function that does nothing but call fn, which has a rule.
func (p *Program) called(fn *types.Func, w *written) *entry {
	key := "rule " + fn.FullName()
	if e := p.entries[key]; e != nil {
		return e
	}
	pos := p.fset.Position(fn.Pos())
	f := &ir.Func{Name: p.functionName(baseName(fn)), Object: fn, Pos: pos, Recv: fn.Signature().Recv() != nil,
		Variadic: fn.Signature().Variadic(), Exit: &ir.Label{Name: "exit"}}
	e := &entry{f: f, refusals: w.refusals}
	p.entries[key] = e
	names := ir.NewNamer()
	names.Reserve("exit")
	variable := func(v *types.Var, base string, k ir.VarKind) *ir.Var {
		if v.Name() != "" && v.Name() != "_" {
			base = v.Name()
		}
		return &ir.Var{Name: names.Name(base), Type: v.Type(), Kind: k, Object: v, Pos: p.fset.Position(v.Pos())}
	}
	c := &ir.Call{At: ir.At{Pos: pos}, Callee: &ir.Callee{Rule: w.rule}}
	shape := w.rule.Shape()
	for _, v := range shape.Params {
		q := variable(v, "p", ir.Param)
		f.Params = append(f.Params, q)
		c.Args = append(c.Args, q.Load())
	}
	for _, v := range shape.Results {
		r := variable(v, "r", ir.Result)
		t := &ir.Var{Name: names.Name("t"), Type: v.Type(), Pos: pos}
		f.Results = append(f.Results, r)
		f.Body = append(f.Body, &ir.Let{At: c.At, V: t})
		c.Results = append(c.Results, t)
	}
	f.Body = append(f.Body, c)
	for i, r := range f.Results {
		f.Body = append(f.Body, &ir.Set{At: c.At, P: r.Place(), E: c.Results[i].Load()})
	}
	p.done[f] = true
	return e
}

// ruleDirectives finds the functions whose rule is declared.
func (p *Program) ruleDirectives(pkg *packages.Package) {
	for i, d := range p.dirs[pkg] {
		if d.Name == "rule" && d.Func != nil {
			p.ruleOf[d.Func] = &p.dirs[pkg][i]
		}
	}
}
