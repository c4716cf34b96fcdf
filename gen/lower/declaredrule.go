package lower

import (
	"fmt"
	"go/ast"
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
	numbersRule            // func(a, b float64) (c, d float64), with any number of both
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
	n, m := sig.Params().Len(), sig.Results().Len()
	switch {
	case sig.Recv() != nil || n == 0:
	case n == 2 && m == 0 && all(sig.Params(), slice) && !sig.Variadic():
		return inPlaceRule
	case n == 1 && m == 1 && all(sig.Params(), slice) && all(sig.Results(), number):
		return sliceRule
	case m > 0 && all(sig.Params(), number) && all(sig.Results(), number):
		return numbersRule
	}
	return noRuleShape
}

// declaredRule completes w, the rule of a function whose directive names the variable, by functions that call those of
// the variable.
func (p *Program) declaredRule(w *resolvedRule, name string, refuse func(reason, remedy string)) {
	fn := w.rule.Object
	shape := ruleShapeOf(fn.Signature())
	if shape == noRuleShape {
		refuse("its type is "+types.TypeString(fn.Signature(), types.RelativeTo(fn.Pkg()))+
			", and a nabla.Rule is a function of a slice", "write a function of type "+ruleShapes+" with rule="+name)
		return
	}
	declare := "declare var " + name + " = nabla.Rule{Name: …, Value: …, VJP: …}"
	v, ok := fn.Pkg().Scope().Lookup(name).(*types.Var)
	switch {
	case !ok:
		refuse("its rule "+name+" is no variable of package "+fn.Pkg().Name(), declare)
		return
	case types.TypeString(types.Unalias(v.Type()), nil) != ruleTypeName:
		refuse("its rule "+name+" is of type "+types.TypeString(v.Type(), types.RelativeTo(fn.Pkg())), declare)
		return
	}
	for _, pkg := range p.requested {
		if at := p.assignment(v, pkg); at.IsValid() {
			refuse("its rule "+name+" may be changed at "+position(p.fset.Position(at)),
				"declare it with all its functions, and neither assign it nor take its address")
			return
		}
	}
	if problem := p.ruleFields(w, v, p.decls[fn].pkg); problem != "" {
		refuse("its rule "+name+" "+problem, declare+", where the functions are declared ones or literals")
		return
	}
	switch {
	case w.parts["Value"] == nil:
		refuse("its rule "+name+" has no Value", "give it one")
		return
	case w.parts["JVP"] == nil && w.parts["VJP"] == nil:
		refuse("its rule "+name+" has neither JVP nor VJP, which generated code calls",
			"give it one of them; JVPReal and VJPReal are for recordings only")
		return
	}
	w.rule.Declared = v
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

// assignment returns where a package variable, or a field of it, is assigned in a package after its declaration, or has
// its address taken.
func (p *Program) assignment(v *types.Var, pkg *packages.Package) token.Pos {
	u := p.usageOf(pkg)
	for _, id := range u.uses[v] {
		var e ast.Node = id
		for {
			parent := u.parents[e]
			if s, ok := parent.(*ast.SelectorExpr); ok && s.X == e {
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

// ruleFields stores the functions of a variable of type nabla.Rule in w. It returns a verb phrase that says why they
// are not known, "" if they are.
func (p *Program) ruleFields(w *resolvedRule, v *types.Var, pkg *packages.Package) (problem string) {
	if p.initialisers == nil {
		p.findWrittenVars()
	}
	lit, ok := ast.Unparen(p.initialisers[v].e).(*ast.CompositeLit)
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
		if name != "Value" && name != "JVP" && name != "VJP" {
			continue
		}
		switch x := ast.Unparen(kv.Value).(type) {
		case *ast.FuncLit:
			w.parts[name] = p.literalFunc(v, name, x, pkg)
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
	return ""
}

// literalFunc returns a function that stands for the literal in a field of a variable.
func (p *Program) literalFunc(v *types.Var, field string, lit *ast.FuncLit, pkg *packages.Package) *types.Func {
	fn := types.NewFunc(lit.Pos(), pkg.Types, v.Name()+field, pkg.TypesInfo.TypeOf(lit).(*types.Signature))
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
	text.WriteString(ruleText(shape, fn.Signature().Params().Len(), fn.Signature().Results().Len()))
	own := types.NewPackage(fn.Pkg().Path(), fn.Pkg().Name())
	for field, missing := range map[string]string{"Value": "", "JVP": jvpText, "VJP": vjpText} {
		if f := w.parts[field]; f == nil {
			text.WriteString(missing)
		} else {
			own.Scope().Insert(types.NewFunc(f.Pos(), f.Pkg(), strings.ToLower(field), f.Signature()))
		}
	}
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
		p.decls[of] = &decl{fn: of, node: d, pkg: pkg, canGenerate: p.decls[fn].canGenerate}
		made[d.Name.Name] = of
		for id, o := range info.Uses {
			if o == g {
				info.Uses[id] = of
			}
		}
	}
	return made["tangent"], made["pullback"]
}

// ruleText returns the source of a tangent and a pullback of a function of n parameters and m results.
func ruleText(shape ruleShape, n, m int) string {
	switch shape {
	case inPlaceRule:
		return inPlaceText
	case sliceRule:
		return sliceText
	}
	list := func(prefix string, n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint(prefix, i))
		}
		return strings.Join(names, ", ")
	}
	elements := func(name string, n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf("%s[%d]", name, i))
		}
		return strings.Join(parts, ", ")
	}
	return strings.NewReplacer("XDOT", list("d", n), "YBAR", list("w", m), "YDOT", elements("ydot", m), "XBAR",
		elements("xbar", n), "X", list("x", n), "Y", elements("y", m), "RESULTS", list("r", 2*m), "BARS", list("b", n),
		"M", fmt.Sprint(m), "N", fmt.Sprint(n)).Replace(numbersText)
}

// Derivatives of functions of each shape by those of a rule. As in a recording, the rule gets memory of its own.
const (
	inPlaceText = `
func tangent(y, x, yDot, xDot []float64) {
	at, d := make([]float64, len(x)), make([]float64, len(x))
	copy(at, x)
	copy(d, xDot)
	value(y, at)
	if yDot != nil {
		v := make([]float64, len(y))
		copy(v, y)
		jvp(yDot, at, v, d)
	}
}

func pullback(y, x, yBar, xBar []float64) {
	if yBar == nil {
		return
	}
	at, v, w := make([]float64, len(x)), make([]float64, len(y)), make([]float64, len(y))
	copy(at, x)
	copy(w, yBar)
	clear(yBar)
	if xBar != nil {
		value(v, at)
		vjp(xBar, at, v, w)
	}
}
`
	sliceText = `
func tangent(x, xDot []float64) (r, rDot float64) {
	y, ydot, d := make([]float64, 1), make([]float64, 1), make([]float64, len(x))
	copy(d, xDot)
	value(y, x)
	jvp(ydot, x, y, d)
	return y[0], ydot[0]
}

func pullback(x, xBar []float64, rBar float64) {
	if xBar != nil {
		y, w := make([]float64, 1), make([]float64, 1)
		value(y, x)
		w[0] = rBar
		vjp(xBar, x, y, w)
	}
}
`
	numbersText = `
func tangent(X, XDOT float64) (RESULTS float64) {
	x, d := []float64{X}, []float64{XDOT}
	y, ydot := make([]float64, M), make([]float64, M)
	value(y, x)
	jvp(ydot, x, y, d)
	return Y, YDOT
}

func pullback(X, YBAR float64) (BARS float64) {
	x, w := []float64{X}, []float64{YBAR}
	y, xbar := make([]float64, M), make([]float64, N)
	value(y, x)
	vjp(xbar, x, y, w)
	return XBAR
}
`
	jvpText = `
func jvp(ydot, x, y, xdot []float64) {
	for i := range ydot {
		row, unit := make([]float64, len(x)), make([]float64, len(y))
		unit[i] = 1
		vjp(row, x, y, unit)
		s := 0.0
		for j := range xdot {
			s += row[j] * xdot[j]
		}
		ydot[i] = s
	}
}
`
	vjpText = `
func vjp(xbar, x, y, ybar []float64) {
	for j := range xbar {
		col, unit := make([]float64, len(y)), make([]float64, len(x))
		unit[j] = 1
		jvp(col, x, y, unit)
		for i := range ybar {
			xbar[j] += col[i] * ybar[i]
		}
	}
}
`
)

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
