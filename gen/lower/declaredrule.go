package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Rules that are package variables of type nabla.Rule, named by //nabla:rule rule=SolveRule. The derivatives of the
// function are written here as Go functions that call those of the variable, and lowered like handwritten ones.

// A ruleShape is the shape of a function that computes a nabla.Rule for plain numbers.
type ruleShape int

const (
	noRuleShape  ruleShape = iota
	inPlaceRule            // func(y, x []float64)
	sliceRule              // func(x []float64) float64, also variadic
	numbersRule            // func(a, b float64) (c, d float64), with any number of both; a may be an integer
	ruleShapes   = "func(y, x []float64), func(x []float64) float64, or one of numbers only"
	ruleTypeName = nablaPath + ".Rule"
)

// ruleShapeOf returns the shape of a function.
func ruleShapeOf(sig *types.Signature) ruleShape {
	number, slice := types.Type(types.Typ[types.Float64]), types.Type(types.NewSlice(types.Typ[types.Float64]))
	all := func(list *types.Tuple, t types.Type) bool {
		for v := range list.Variables() {
			if !types.Identical(v.Type(), t) {
				return false
			}
		}
		return true
	}
	numbers := true
	for v := range sig.Params().Variables() {
		numbers = numbers && (types.Identical(v.Type(), number) || isInteger(v.Type()))
	}
	n, m := sig.Params().Len(), sig.Results().Len()
	switch {
	case sig.Recv() != nil || n == 0:
	case n == 2 && m == 0 && all(sig.Params(), slice) && !sig.Variadic():
		return inPlaceRule
	case n == 1 && m == 1 && all(sig.Params(), slice) && all(sig.Results(), number):
		return sliceRule
	case m > 0 && numbers && all(sig.Results(), number):
		return numbersRule
	}
	return noRuleShape
}

// isInteger reports whether t is a predeclared integer type.
func isInteger(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// declaredRule completes w, the rule of a function whose directive names the variable, by functions that call those of
// the variable.
func (p *Program) declaredRule(w *resolvedRule, name string, refuse func(reason, remedy string)) {
	fn := w.rule.Object
	declare := "declare var " + name + " = nabla.Rule{Name: …, Value: …, VJP: …}"
	v, ok := fn.Pkg().Scope().Lookup(name).(*types.Var)
	switch {
	case ruleShapeOf(fn.Signature()) == noRuleShape: // reported by completeRule
	case !ok:
		refuse("its rule "+name+" is no variable of package "+fn.Pkg().Name(), declare)
		return
	case types.TypeString(types.Unalias(v.Type()), nil) != ruleTypeName:
		refuse("its rule "+name+" is of type "+types.TypeString(v.Type(), types.RelativeTo(fn.Pkg())), declare)
		return
	}
	w.rule.Declared = v
	p.completeRule(w, name, declare, v, refuse)
}

// completeRule completes w by functions that call those of the variable v of type nabla.Rule. name is what the rule is
// called in messages, and declare a remedy.
func (p *Program) completeRule(w *resolvedRule, name, declare string, v *types.Var,
	refuse func(reason, remedy string)) {
	if !p.fits(w, name, refuse) {
		return
	}
	pkg := p.packageOf(v)
	for _, in := range append([]*packages.Package{pkg}, p.requested...) {
		if in == nil {
			continue
		}
		if at := p.assignment(v, in); at.IsValid() {
			refuse("its rule "+name+" may be changed at "+position(p.fset.Position(at)),
				"declare it with all its functions, and neither assign it nor take its address")
			return
		}
	}
	if p.initialisers == nil {
		p.findWrittenVars()
	}
	p.completeLiteral(w, name, declare, v.Name(), p.initialisers[v].e, pkg, refuse)
}

// fits reports whether a function has the shape of a rule, and refuses it otherwise.
func (p *Program) fits(w *resolvedRule, name string, refuse func(reason, remedy string)) bool {
	fn := w.rule.Object
	if ruleShapeOf(fn.Signature()) != noRuleShape {
		return true
	}
	refuse("its type is "+types.TypeString(fn.Signature(), types.RelativeTo(fn.Pkg()))+
		", and a nabla.Rule is a function of a slice", "write a function of type "+ruleShapes+" with rule="+name)
	return false
}

// completeLiteral is completeRule for the expression e in pkg. Functions in it are named after prefix.
func (p *Program) completeLiteral(w *resolvedRule, name, declare, prefix string, e ast.Expr, pkg *packages.Package,
	refuse func(reason, remedy string)) {
	fn := w.rule.Object
	shape := ruleShapeOf(fn.Signature())
	if problem := p.ruleFields(w, prefix, e, pkg); problem != "" {
		refuse("its rule "+name+" "+problem, declare+", where the functions are declared ones or literals")
		return
	}
	switch {
	case w.parts["Value"] == nil:
		refuse("its rule "+name+" has no Value", "give it one")
		return
	case w.parts["JVP"] == nil && w.parts["VJP"] == nil && w.parts["ValueJVP"] == nil && w.parts["ValueVJP"] == nil:
		refuse("its rule "+name+" has neither JVP nor VJP, which generated code calls",
			"give it one of them, or ValueJVP or ValueVJP; JVPReal and VJPReal are for recordings only")
		return
	}
	if !p.noTangents(w, shape, name, refuse) {
		return
	}
	if shape == inPlaceRule {
		w.rule.ReadOnly = []bool{false, true}
	} else {
		w.rule.ReadOnly = make([]bool, fn.Signature().Params().Len())
		for i := range w.rule.ReadOnly {
			w.rule.ReadOnly[i] = true
		}
	}
	w.tangent, w.pullback = p.ruleDerivatives(w, shape)
}

// noTangents applies NoTangent of the rule to the parameters of its function, and reports whether they agree.
func (p *Program) noTangents(w *resolvedRule, shape ruleShape, name string, refuse func(reason, remedy string)) bool {
	params := w.rule.Object.Signature().Params()
	if shape != numbersRule {
		if len(w.noTangent) > 0 {
			refuse("its rule "+name+" has inputs without derivative, and they are elements of a slice",
				"write a function with a parameter for each input: func(n int, x float64) float64")
			return false
		}
		return true
	}
	if len(w.noTangent) > 0 {
		w.rule.NoDerivative = make([]bool, params.Len())
	}
	for _, i := range w.noTangent {
		if i < 0 || i >= params.Len() {
			refuse(fmt.Sprintf("its rule %s lists input %d in NoTangent, and there are %d inputs", name, i,
				params.Len()), "list indices from 0 on")
			return false
		}
		w.rule.NoDerivative[i] = true
	}
	for i := range params.Len() {
		if v := params.At(i); isInteger(v.Type()) && !w.rule.LacksDerivative(i) {
			refuse(fmt.Sprintf("its parameter %s is of type %s, and input %d of its rule %s carries a derivative",
				v.Name(), v.Type(), i, name), fmt.Sprintf("write NoTangent: []int{%d} in the rule", i))
			return false
		}
	}
	return true
}

// assignment returns where a package variable, or a field of it, is assigned in a package after its declaration, or has
// its address taken.
func (p *Program) assignment(v *types.Var, pkg *packages.Package) token.Pos {
	u := p.usageOf(pkg)
	for _, id := range u.uses[v] {
		var e ast.Node = id
		for {
			parent := u.parents[e]
			if s, ok := parent.(*ast.SelectorExpr); ok && (s.X == e || s.Sel == e) {
				e = s
				continue
			}
			if s, ok := parent.(*ast.IndexExpr); ok && s.X == e {
				e = s
				continue
			}
			if s, ok := parent.(*ast.ParenExpr); ok {
				e = s
				continue
			}
			switch s := parent.(type) {
			case *ast.AssignStmt:
				for _, l := range s.Lhs {
					if l == e {
						return id.Pos()
					}
				}
			case *ast.UnaryExpr:
				if s.Op == token.AND {
					return id.Pos()
				}
			}
			break
		}
	}
	return token.NoPos
}

// ruleFields stores the functions in e, an expression of type nabla.Rule in pkg, in w. It returns a verb phrase that
// says why they are not known, "" if they are.
func (p *Program) ruleFields(w *resolvedRule, prefix string, e ast.Expr, pkg *packages.Package) (problem string) {
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return "is not declared with a literal of nabla.Rule"
	}
	w.parts, w.literals = map[string]*types.Func{}, map[*types.Func]bool{}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return "is declared without the names of the fields"
		}
		name := kv.Key.(*ast.Ident).Name
		w.exact = w.exact || name == "JVPReal" || name == "VJPReal"
		if name == "NoTangent" {
			if w.noTangent, ok = integers(pkg.TypesInfo, kv.Value); !ok {
				return "has a NoTangent that is computed"
			}
		}
		switch name {
		case "Value", "JVP", "VJP", "ValueJVP", "ValueVJP":
		default:
			continue
		}
		switch x := ast.Unparen(kv.Value).(type) {
		case *ast.FuncLit:
			w.parts[name] = p.literalFunc(prefix+name, x, pkg)
			w.literals[w.parts[name]] = true
			continue
		case *ast.Ident:
			if pkg.TypesInfo.Types[x].IsNil() {
				continue
			}
			w.parts[name], _ = pkg.TypesInfo.Uses[x].(*types.Func)
		case *ast.SelectorExpr:
			w.parts[name], _ = pkg.TypesInfo.Uses[x.Sel].(*types.Func)
		}
		if f := w.parts[name]; f == nil || f.Signature().Recv() != nil || isGeneric(f) {
			return "has a " + name + " that is computed"
		}
	}
	if f := w.parts["ValueVJP"]; f != nil {
		whole := p.wholePullback(prefix, f)
		if whole == nil {
			return "has a ValueVJP whose pullback is not known; return a function literal, in its last statement only"
		}
		w.parts["ValueVJP"] = whole
		w.literals[whole] = true
	}
	return ""
}

// wholePullback returns the function (y, x, xbar, ybar) that does what f, a ValueVJP, does and then what the pullback
// does that f returns: the statements of f and of the literal in its only return, which is the last statement. It
// returns nil if f is another function.
func (p *Program) wholePullback(prefix string, f *types.Func) *types.Func {
	d := p.decls[f]
	if d == nil || d.node.Body == nil || len(d.node.Body.List) == 0 {
		return nil
	}
	list := d.node.Body.List
	last, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || len(last.Results) != 1 {
		return nil
	}
	lit, ok := ast.Unparen(last.Results[0]).(*ast.FuncLit)
	if !ok {
		return nil
	}
	others := false
	for _, s := range list[:len(list)-1] {
		ast.Inspect(s, func(n ast.Node) bool {
			_, inner := n.(*ast.FuncLit)
			_, returns := n.(*ast.ReturnStmt)
			others = others || returns
			return !inner
		})
	}
	if others {
		return nil
	}
	pull, ok := d.pkg.TypesInfo.TypeOf(lit).(*types.Signature)
	if !ok {
		return nil
	}
	var params []*types.Var
	for _, sig := range []*types.Signature{f.Signature(), pull} {
		params = slices.AppendSeq(params, sig.Params().Variables())
	}
	sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), nil, false)
	fn := types.NewFunc(f.Pos(), f.Pkg(), prefix+"Pullback", sig)
	node := &ast.FuncDecl{Name: &ast.Ident{NamePos: f.Pos(), Name: fn.Name()},
		Type: &ast.FuncType{Func: lit.Type.Func, Params: &ast.FieldList{
			List: slices.Concat(d.node.Type.Params.List, lit.Type.Params.List)}},
		Body: &ast.BlockStmt{Lbrace: d.node.Body.Lbrace, Rbrace: d.node.Body.Rbrace,
			List: append(slices.Clone(list[:len(list)-1]), lit.Body)}}
	p.decls[fn] = &decl{fn: fn, node: node, pkg: d.pkg, canGenerate: d.canGenerate}
	return fn
}

// integers returns the elements of a literal of type []int, and whether e is one with constants only, or nil.
func integers(info *types.Info, e ast.Expr) (list []int, ok bool) {
	if info.Types[e].IsNil() {
		return nil, true
	}
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	for _, x := range lit.Elts {
		v := info.Types[x].Value // nil for a pair of index and value
		if v == nil {
			return nil, false
		}
		k, exact := constant.Int64Val(v)
		if !exact {
			return nil, false
		}
		list = append(list, int(k))
	}
	return list, true
}

// literalFunc returns a function with a name that stands for the literal in a field of a variable.
func (p *Program) literalFunc(name string, lit *ast.FuncLit, pkg *packages.Package) *types.Func {
	fn := types.NewFunc(lit.Pos(), pkg.Types, name, pkg.TypesInfo.TypeOf(lit).(*types.Signature))
	node := &ast.FuncDecl{Name: &ast.Ident{NamePos: lit.Pos(), Name: fn.Name()}, Type: lit.Type, Body: lit.Body}
	p.decls[fn] = &decl{fn: fn, node: node, pkg: pkg, canGenerate: true}
	return fn
}

// ruleDerivatives returns the tangent and the pullback of a function with a declared rule.
func (p *Program) ruleDerivatives(w *resolvedRule, shape ruleShape) (tangent, pullback *types.Func) {
	fn := w.rule.Object
	name := p.fset.Position(fn.Pos())
	var text strings.Builder
	fmt.Fprintf(&text, "package %s\n", fn.Pkg().Name())
	text.WriteString(w.ruleText(shape))
	own := types.NewPackage(fn.Pkg().Path(), fn.Pkg().Name())
	for _, f := range slices.Sorted(maps.Keys(w.parts)) {
		if f, name := w.parts[f], strings.ToLower(f); f != nil {
			own.Scope().Insert(types.NewFunc(f.Pos(), f.Pkg(), name, f.Signature()))
		}
	}
	own.Scope().Insert(types.NewFunc(fn.Pos(), fn.Pkg(), originalName, fn.Signature()))
	f, err := parser.ParseFile(p.fset, name.Filename+" "+fn.Name(), text.String(), parser.SkipObjectResolution)
	if err != nil {
		panic(fmt.Sprintf("lower: the derivatives of %s: %v", fn.Name(), err))
	}
	// All of it is reported at the function.
	p.fset.File(f.FileStart).AddLineColumnInfo(0, name.Filename, name.Line, name.Column)
	info := newInfo()
	pkg := &packages.Package{ID: own.Path(), PkgPath: own.Path(), Name: own.Name(), Fset: p.fset, Types: own,
		TypesInfo: info, Syntax: []*ast.File{f}}
	if err := types.NewChecker(&types.Config{}, p.fset, own, info).Files(pkg.Syntax); err != nil {
		panic(fmt.Sprintf("lower: the derivatives of %s: %v", fn.Name(), err))
	}
	for id, o := range info.Uses { // the functions of the variable themselves
		if g, ok := o.(*types.Func); ok {
			if g.Name() == originalName {
				info.Uses[id] = fn
			}
			for field, f := range w.parts {
				if g.Name() == strings.ToLower(field) {
					info.Uses[id] = f
				}
			}
		}
	}
	made := map[string]*types.Func{}
	for _, d := range f.Decls {
		d := d.(*ast.FuncDecl)
		g := info.Defs[d.Name].(*types.Func)
		suffix := strings.ToUpper(d.Name.Name[:1]) + d.Name.Name[1:]
		// Without a scope, since no source declares it.
		of := types.NewFunc(fn.Pos(), fn.Pkg(), fn.Name()+suffix, g.Signature())
		p.decls[of] = &decl{fn: of, node: d, pkg: pkg, ruled: w,
			canGenerate: p.decls[fn] != nil && p.decls[fn].canGenerate}
		made[d.Name.Name] = of
		for id, o := range info.Uses {
			if o == g {
				info.Uses[id] = of
			}
		}
	}
	w.made = made
	return made["tangent"], made["pullback"]
}

// lowerPart returns the lowered form of a function of a declared rule, nil for nil and if it is refused.
func (p *Program) lowerPart(f *types.Func) *ir.Func {
	if f == nil {
		return nil
	}
	return p.lowerIfPossible(f)
}

// nameParts makes the functions of a declared rule that have no source to be lowered ones that are known by their
// names: they are called, and their derivatives are missing. A literal has no name, so it makes the rule unusable.
func (p *Program) nameParts(w *resolvedRule) {
	for _, field := range slices.Sorted(maps.Keys(w.parts)) {
		f := w.parts[field]
		if f == nil || p.rule(f) != nil || p.lowerIfPossible(f) != nil {
			continue
		}
		if !w.literals[f] {
			p.rules[f] = &resolvedRule{rule: &ir.Rule{Name: ruleName(f), Object: f}}
			continue
		}
		w.rule.Unusable = "its " + field + " is a function literal that has no copy"
		if _, refusals := p.whole(p.specialize(p.decls[f], nil, nil)); len(refusals) > 0 {
			w.rule.Unusable += ": " + refusals[0].Error()
		}
		w.tangent, w.pullback = nil, nil
	}
}

// packageOf returns the loaded package that declares an object, nil if it is not loaded.
func (p *Program) packageOf(o types.Object) *packages.Package {
	if o == nil || o.Pkg() == nil {
		return nil
	}
	return p.loaded[o.Pkg().Path()]
}
