package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library"
)

// Rules: those passed in Options, those of //nabla:rule directives and library derivatives.
// They are looked up on demand, and their derivatives are lowered afterwards by resolve.

// A resolvedRule is a rule for a function, or the refusals that make it unusable.
type resolvedRule struct {
	rule              *ir.Rule
	tangent, pullback *types.Func
	parts             map[string]*types.Func // functions of a declared nabla.Rule by field, see declaredRule
	literals          map[*types.Func]bool   // those of parts that are function literals
	made              map[string]*types.Func // functions by name that call those of parts, see ruleText
	noTangent         []int                  // inputs of the declared nabla.Rule without derivative
	exact             bool                   // that has JVPReal or VJPReal
	plain             *types.Func            // plain form beside a library derivative, nil without one
	library           bool                   // it is a library derivative
	noSource          bool                   // the source of the function is not differentiated
	wider             *resolvedRule          // see ir.Rule.Wider, nil without one
	refusals          Refusals
}

// newRule returns a rule for fn without contents.
func newRule(fn *types.Func) *resolvedRule {
	return &resolvedRule{rule: &ir.Rule{Name: ruleName(fn), Object: fn}}
}

// part returns a function of a declared rule, or the one that calls others in its place; nil if there is none.
func (w *resolvedRule) part(field string) *types.Func {
	if f := w.parts[field]; f != nil {
		return f
	}
	together := w.parts["Value"+field]
	if together == nil {
		return nil
	}
	return w.made[strings.ToLower(field)]
}

// ruleIn returns the rule for calls of fn in the source of d, nil if there is none.
func (p *Program) ruleIn(fn *types.Func, d *decl) *resolvedRule {
	if p.optsOut(d, fn.FullName()) {
		return nil
	}
	if d.ruled != nil && d.ruled.rule.Object == fn {
		return d.ruled
	}
	if p.opts.Rules[fn.FullName()] == nil {
		if w := p.tableRule(fn, d); w != nil {
			return w
		}
	}
	return p.rule(fn)
}

// optsOut reports whether a directive //nabla:norule above d names a function or a table of rules, by its full name.
func (p *Program) optsOut(d *decl, name string) bool { return slices.Contains(p.noRules[d.fn], name) }

// rule returns the rule for fn apart from tables, nil if there is none.
func (p *Program) rule(fn *types.Func) *resolvedRule {
	if r := p.opts.Rules[fn.FullName()]; r != nil {
		return &resolvedRule{rule: r}
	}
	if w, ok := p.rules[fn]; ok {
		return w
	}
	var w *resolvedRule
	if d := p.ruleOf[fn]; d != nil {
		w = p.handwritten(fn, d)
	} else if !p.opts.NoLibrary {
		w = p.libraryRule(fn)
	}
	p.rules[fn] = w
	if w != nil && len(w.refusals) == 0 {
		p.pendingRules = append(p.pendingRules, w)
		if w.wider != nil {
			p.pendingRules = append(p.pendingRules, w.wider)
		}
	}
	return w
}

// ruleName returns the name of the rule of a function, path.Func.
func ruleName(fn *types.Func) string { return fn.FullName() }

// handwritten returns the rule of a directive on the declaration of fn, with refusals if the
// directive or the types of the derivatives are wrong.
func (p *Program) handwritten(fn *types.Func, d *Directive) *resolvedRule {
	w := &resolvedRule{rule: &ir.Rule{Name: ruleName(fn), Object: fn},
		library: strings.HasPrefix(fn.Pkg().Path(), library.Path+"/")}
	refuse := func(reason, remedy string) {
		w.refusals = append(w.refusals, &Refusal{d.Pos, fn.FullName(), "the rule of " + fn.Name(), reason, remedy})
	}
	if p.passive[fn] {
		refuse("it has the directive //nabla:passive too, which says that it has no derivative", "keep one of the two")
		return w
	}
	if isGeneric(fn) {
		refuse("it is generic", "write the rule for a function of one type, and call that")
		return w
	}
	for i := range fn.Signature().Params().Len() {
		if isFuncType(fn.Signature().Params().At(i).Type()) {
			refuse("it takes a function", "write the rule for a function that calls a specific one")
			return w
		}
	}
	names := ruleArguments(d, refuse)
	w.noSource = names["source"] != ""
	if names["rule"] != "" && len(w.refusals) == 0 {
		if len(names) > 1 {
			refuse("rule= stands beside other arguments", "name the functions in the variable")
			return w
		}
		p.declaredRule(w, names["rule"], refuse)
		return w
	}
	if len(w.refusals) == 0 && names["tangent"] == "" && names["pullback"] == "" {
		refuse("it names neither a tangent nor a pullback", ruleSyntax)
	}
	// listed returns which parameters the value of a key names, nil without the key.
	listed := func(key string) []bool {
		if names[key] == "" {
			return nil
		}
		params := (&ir.Rule{Object: fn}).Shape().Params
		out := make([]bool, len(params))
		if key == "writes" && names[key] == "none" {
			return out
		}
		for name := range strings.SplitSeq(names[key], ",") {
			i := slices.IndexFunc(params, func(v *types.Var) bool { return v.Name() == name })
			if i < 0 {
				refuse("there is no parameter "+name, "name parameters of "+fn.Name())
				continue
			}
			out[i] = true
		}
		return out
	}
	w.rule.NoDerivative = listed("passive")
	if w.rule.ReadOnly = listed("writes"); w.rule.ReadOnly != nil {
		for i, writes := range w.rule.ReadOnly {
			w.rule.ReadOnly[i] = !writes
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
	w.plain = find("plain", fn.Signature())
	if len(w.refusals) > 0 {
		return w
	}
	if p.checkWrites(w, refuse); len(w.refusals) > 0 {
		return w
	}
	if d := p.decls[fn]; d != nil {
		w.rule.Returns = returned(d)
	}
	return w
}

// ruleSyntax is the remedy for a wrong directive.
const ruleSyntax = "write //nabla:rule tangent=FTangent pullback=FPullback, or one of the two, or rule=FRule with a " +
	"variable of type nabla.Rule"

// ruleArguments returns the arguments of a directive by key.
func ruleArguments(d *Directive, refuse func(reason, remedy string)) map[string]string {
	keys := wordSet("tangent pullback passive writes plain source rule")
	names := map[string]string{}
	for _, arg := range strings.Fields(d.Args) {
		key, value, ok := strings.Cut(arg, "=")
		switch {
		case !ok || value == "" || !keys[key] || key == "source" && value != "none":
			refuse(arg+" is no argument of //nabla:rule", ruleSyntax+"; passive=a,b lists parameters without "+
				"derivative, writes=a,b those whose memory is written, and plain=FPlain is an equivalent for "+
				"code over nabla.Real")
		case names[key] != "":
			refuse(key+" is named twice", ruleSyntax)
		default:
			names[key] = value
		}
	}
	return names
}

// sameTypes reports whether two signatures are identical apart from names, and a is neither
// variadic nor generic.
func sameTypes(a, b *types.Signature) bool {
	return !a.Variadic() && a.TypeParams().Len() == 0 && types.Identical(a.Params(), b.Params()) &&
		types.Identical(a.Results(), b.Results())
}

// returned returns for each result of a declared function the parameter that it always is, or -1. A
// parameter that is assigned or addressed does not count.
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
	// A parameter that is never assigned and not addressed has its value at entry in every return.
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
		case *ast.FuncLit: // returns of a literal do not count, its assignments to parameters do
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

// resolve completes the rules in use: it lowers their derivatives, if possible, so that these can
// be differentiated in turn, and computes which memory is written and read. Lowering may add rules.
func (p *Program) resolve() {
	for len(p.pendingRules) > 0 {
		w := p.pendingRules[0]
		p.pendingRules = p.pendingRules[1:]
		r := w.rule
		p.nameParts(w)
		r.Tangent, r.Pullback = p.derivative(w.tangent), p.derivative(w.pullback)
		n := len((&ir.Rule{Object: r.Object}).Shape().Params)
		if r.Pullback != nil && r.Pullback.Func != nil && r.Unread == nil {
			_, read := effects(r.Pullback.Func)
			for i := range n {
				r.Unread = append(r.Unread, !read[i])
			}
		}
		if r.Declared != nil && !w.exact {
			r.JVP, r.VJP = p.lowerPart(w.part("JVP")), p.lowerPart(w.part("VJP"))
		}
		if w.plain != nil {
			r.Plain = p.lowerIfPossible(w.plain)
		}
		// The source of a function may branch on values of its fixed parameters, as one that iterates does, and so
		// have no derivative with respect to them.
		if w.library && !w.noSource && !slices.Contains(r.NoDerivative, true) {
			r.Source = p.lowerIfPossible(r.Object)
			if r.Source != nil && calls(r.Source, r, map[*ir.Func]bool{}) {
				r.Source = nil // it calls the function itself
			}
		}
		if r.ReadOnly != nil {
			continue
		}
		if f := p.lowerIfPossible(r.Object); f != nil {
			write, _ := effects(f)
			for i := range n {
				r.ReadOnly = append(r.ReadOnly, !write[i])
			}
		}
	}
}

// calls reports whether a function calls one with the rule r, directly or not. Functions in seen count as not calling
// it.
func calls(f *ir.Func, r *ir.Rule, seen map[*ir.Func]bool) (found bool) {
	if seen[f] {
		return false
	}
	seen[f] = true
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok {
			found = found || c.Callee.Rule == r || c.Callee.Func != nil && calls(c.Callee.Func, r, seen)
		}
		return !found
	})
	return found
}

// derivative returns the callee for a derivative, nil for nil: its rule, its lowered form, or a
// rule with only its name.
func (p *Program) derivative(fn *types.Func) *ir.Callee {
	if fn == nil {
		return nil
	}
	if w := p.rule(fn); w != nil && len(w.refusals) == 0 {
		return &ir.Callee{Rule: w.rule}
	}
	if f := p.lowerIfPossible(fn); f != nil {
		return &ir.Callee{Func: f}
	}
	return &ir.Callee{Rule: &ir.Rule{Name: ruleName(fn), Object: fn}}
}

// lowerIfPossible returns the lowered form of fn, nil if it is refused.
func (p *Program) lowerIfPossible(fn *types.Func) *ir.Func {
	d := p.decls[fn]
	if d == nil {
		return nil
	}
	e := p.specialize(d, nil, nil)
	if e == nil {
		return nil
	}
	f, refusals := p.whole(e)
	if len(refusals) > 0 {
		return nil
	}
	return f
}

// ruleWrapper returns a function that only calls fn, which has a rule.
func (p *Program) ruleWrapper(fn *types.Func, w *resolvedRule) *specialization {
	key := "rule " + p.funcKey(fn)
	if r := w.rule; r.Entry != "" {
		key += " of " + r.Declared.Pkg().Path() + "." + r.Declared.Name()
	}
	if e := p.specializations[key]; e != nil {
		return e
	}
	pos := p.fset.Position(fn.Pos())
	f := p.function(fn.Pkg(), baseName(fn), pos)
	f.Object, f.Recv, f.Variadic, f.Exit = fn, fn.Signature().Recv() != nil, fn.Signature().Variadic(),
		&ir.Label{Name: "exit"}
	e := &specialization{f: f, refusals: w.refusals}
	p.specializations[key] = e
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

// ruleDirectives indexes the functions that have rule directives.
func (p *Program) ruleDirectives(pkg *packages.Package) {
	for i, d := range p.dirs[pkg] {
		if d.Name == "rule" && d.Func != nil {
			p.ruleOf[d.Func] = &p.dirs[pkg][i]
		}
		if d.Name == "norule" && d.Func != nil {
			p.noRules[d.Func] = append(p.noRules[d.Func], strings.Fields(d.Args)...)
		}
	}
}
