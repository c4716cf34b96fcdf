package print

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// constant is a constant where want is expected, and the precedence of its text.
func (p *printer) constant(c *ir.Const, want types.Type) (string, int) {
	typed := want == nil || !types.Identical(want, c.T)
	if c.Val == nil {
		switch t := c.T.Underlying().(type) {
		case *types.Struct, *types.Array:
			return p.typ(c.T) + "{}", 0 // in parentheses where a block may follow
		case *types.Basic:
			zero := "0"
			switch {
			case t.Info()&types.IsBoolean != 0:
				zero = p.builtin("false")
			case t.Info()&types.IsString != 0:
				zero = `""`
			}
			if typed {
				return p.typ(c.T) + "(" + zero + ")", postfix
			}
			return zero, postfix
		}
		if typed {
			return p.typeCall(c.T) + "(" + p.builtin("nil") + ")", postfix
		}
		return p.builtin("nil"), postfix
	}
	s, def := p.source(c)
	if s == "" {
		s, def = p.literalText(c.Val, c.T)
	}
	if whole := strings.TrimSuffix(s, ".0"); !typed && hasInfo(c.T, types.IsFloat) &&
		!strings.ContainsAny(whole, " /.") {
		s = whole // of one literal: in 1 / 10.0 it would be a division of integers
	}
	if typed && (def == nil || !types.Identical(types.Default(def), c.T)) {
		return p.typ(c.T) + "(" + s + ")", postfix
	}
	switch {
	case strings.ContainsAny(s, " +-*/%<>&|^"):
		if x, err := parser.ParseExpr(s); err == nil {
			switch x.(type) {
			case *ast.BasicLit, *ast.ParenExpr, *ast.SelectorExpr:
			case *ast.UnaryExpr:
				return s, unary
			default:
				return "(" + s + ")", postfix
			}
		}
	}
	return s, postfix
}

// literalText is a value as a literal, the shortest that gives it in its type, and the
// type it has by itself.
func (p *printer) literalText(v constant.Value, t types.Type) (string, types.Type) {
	switch v.Kind() {
	case constant.Bool:
		return p.builtin(strconv.FormatBool(constant.BoolVal(v))), types.Typ[types.UntypedBool]
	case constant.String:
		return strconv.Quote(constant.StringVal(v)), types.Typ[types.UntypedString]
	}
	if hasInfo(t, types.IsFloat) {
		x, _ := constant.Float64Val(constant.ToFloat(v))
		bits := 64
		if t.Underlying().(*types.Basic).Kind() == types.Float32 {
			f, _ := constant.Float32Val(constant.ToFloat(v))
			x, bits = float64(f), 32
		}
		s := strconv.FormatFloat(x, 'g', -1, bits)
		if x-x != 0 {
			p.refuse("the constant %s", s)
		}
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s, types.Typ[types.UntypedFloat]
	}
	i := constant.ToInt(v)
	if i.Kind() != constant.Int {
		p.refuse("the constant %s", v.ExactString())
	}
	return i.ExactString(), types.Typ[types.UntypedInt]
}

// source is a constant as the source writes it, with the names that packages have in
// this file, and its type; empty if it is not known to mean the same here.
func (p *printer) source(c *ir.Const) (string, types.Type) {
	if c.Text == "" {
		return "", nil
	}
	x, err := parser.ParseExpr(c.Text)
	if err != nil {
		return "", nil
	}
	// The text is evaluated where only the packages that it may mean are known.
	scope := types.NewPackage("constants", "constants")
	var used []*types.Package
	known := true
	var text func(e ast.Expr) string
	text = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			return e.Value
		case *ast.ParenExpr:
			return "(" + text(e.X) + ")"
		case *ast.UnaryExpr:
			return e.Op.String() + text(e.X)
		case *ast.BinaryExpr:
			return text(e.X) + " " + e.Op.String() + " " + text(e.Y)
		case *ast.SelectorExpr:
			id, ok := e.X.(*ast.Ident)
			if !ok {
				break
			}
			pkg := p.packageNamed(id.Name)
			if pkg == nil {
				break
			}
			o, ok := pkg.Scope().Lookup(e.Sel.Name).(*types.Const)
			if !ok || !p.visible(o) {
				break
			}
			used = append(used, pkg)
			name := p.qualified(pkg, o.Name())
			if q, _, ok := strings.Cut(name, "."); ok {
				scope.Scope().Insert(types.NewPkgName(token.NoPos, scope, q, pkg))
			} else {
				scope.Scope().Insert(types.NewConst(token.NoPos, scope, name, o.Type(), o.Val()))
			}
			return name
		}
		known = false
		return ""
	}
	s := text(x)
	if !known {
		return "", nil
	}
	tv, err := types.Eval(token.NewFileSet(), scope, token.NoPos, s)
	if err != nil || tv.Value == nil || !p.same(tv.Value, c.Val, c.T) {
		return "", nil
	}
	b, ok := tv.Type.(*types.Basic)
	if !types.Identical(tv.Type, c.T) && (!ok || b.Info()&types.IsUntyped == 0) {
		return "", nil
	}
	return s, tv.Type
}

// same reports whether two constants are one value of type t.
func (p *printer) same(a, b constant.Value, t types.Type) bool {
	if a.Kind() == constant.Unknown || (a.Kind() == constant.Bool) != (b.Kind() == constant.Bool) ||
		(a.Kind() == constant.String) != (b.Kind() == constant.String) {
		return false
	}
	if hasInfo(t, types.IsInteger) && constant.ToInt(a).Kind() != constant.Int {
		return false
	}
	if hasInfo(t, types.IsNumeric) && a.Kind() == constant.Complex {
		return false
	}
	x, _ := p.literalText(a, t)
	y, _ := p.literalText(b, t)
	return x == y
}

// packageNamed is the package that a constant's text names: the file's own, one that it
// imports already or one that its package does.
func (p *printer) packageNamed(name string) *types.Package {
	if p.pkg.Name() == name {
		return p.pkg
	}
	for _, pkg := range p.pkg.Imports() {
		if pkg.Name() == name {
			return pkg
		}
	}
	if o := p.f.Object; o != nil && o.Pkg() != nil {
		if o.Pkg().Name() == name {
			return o.Pkg()
		}
		for _, pkg := range o.Pkg().Imports() {
			if pkg.Name() == name {
				return pkg
			}
		}
	}
	return nil
}
