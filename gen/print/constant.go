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

// Constants. They keep their spelling in the source if it has the same value in the generated file;
// otherwise they are printed as the shortest literal of the value.

// constant returns the text of a constant in a context of type want, nil if the text must imply its
// type, and the precedence of the text.
func (p *printer) constant(c *ir.Const, want types.Type) (string, int) {
	typed := want == nil || !types.Identical(want, c.T)
	if c.Val == nil {
		switch t := c.T.Underlying().(type) {
		case *types.Struct, *types.Array:
			return p.typ(c.T) + "{}", 0 // precedence 0, for parentheses before a block
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
	if whole := strings.TrimSuffix(s, ".0"); !typed && ir.IsContinuous(c.T) &&
		!strings.ContainsAny(whole, " /.") {
		s = whole // only for one literal: 1 / 10.0 would become a division of integers
	}
	// Without a context the literal has its default type.
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

// literalText returns a value as the shortest literal with that value in type t, and the untyped
// type of the literal.
func (p *printer) literalText(v constant.Value, t types.Type) (string, types.Type) {
	switch v.Kind() {
	case constant.Bool:
		return p.builtin(strconv.FormatBool(constant.BoolVal(v))), types.Typ[types.UntypedBool]
	case constant.String:
		return strconv.Quote(constant.StringVal(v)), types.Typ[types.UntypedString]
	}
	if ir.IsComplex(t) {
		re, def := p.literalText(constant.Real(v), ir.PartType(t))
		if constant.Sign(constant.Imag(v)) == 0 {
			return re, def
		}
		im, _ := p.literalText(constant.Imag(v), ir.PartType(t))
		im = strings.TrimSuffix(im, ".0") + "i"
		switch {
		case constant.Sign(constant.Real(v)) == 0:
			re = im
		case strings.HasPrefix(im, "-"):
			re += " - " + im[1:]
		default:
			re += " + " + im
		}
		return re, types.Typ[types.UntypedComplex]
	}
	if ir.HasInfo(t, types.IsFloat) {
		x, _ := constant.Float64Val(constant.ToFloat(v))
		bits := 64
		if t.Underlying().(*types.Basic).Kind() == types.Float32 {
			f, _ := constant.Float32Val(constant.ToFloat(v))
			x, bits = float64(f), 32
		}
		s := strconv.FormatFloat(x, 'g', -1, bits)
		// Infinities and NaN have no literals.
		if x-x != 0 {
			p.refuse("the constant %s", s)
		}
		// The literal must not be one of an integer, which would divide as one.
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

// source returns the spelling of a constant in the source, with package names of this file, and its
// type. It is empty if the spelling does not have the same value here.
func (p *printer) source(c *ir.Const) (string, types.Type) {
	if c.Text == "" {
		return "", nil
	}
	x, err := parser.ParseExpr(c.Text)
	if err != nil {
		return "", nil
	}
	// The text is evaluated in a scope with only the packages it refers to.
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
			// In place of a type that cannot be named this file has one of its own. The package is not imported.
			if !ok || !p.visible(o) || p.hidden(o.Type()) {
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
	// Constants of the same name may have another value in another build or package.
	v, t := evaluated(x, s, scope)
	if v == nil || !p.same(v, c.Val, c.T) {
		return "", nil
	}
	b, ok := t.(*types.Basic)
	if !types.Identical(t, c.T) && (!ok || b.Info()&types.IsUntyped == 0) {
		return "", nil
	}
	return s, t
}

// literalTypes are the types of literals.
var literalTypes = map[token.Token]types.Type{
	token.INT: types.Typ[types.UntypedInt], token.FLOAT: types.Typ[types.UntypedFloat],
	token.IMAG: types.Typ[types.UntypedComplex], token.CHAR: types.Typ[types.UntypedRune],
	token.STRING: types.Typ[types.UntypedString],
}

// evaluated returns the value and the type of the constant expression x, whose text in scope is s, or nil if it has
// none.
func evaluated(x ast.Expr, s string, scope *types.Package) (constant.Value, types.Type) {
	if l, ok := x.(*ast.BasicLit); ok { // most are
		return constant.MakeFromLiteral(l.Value, l.Kind, 0), literalTypes[l.Kind]
	}
	tv, err := types.Eval(token.NewFileSet(), scope, token.NoPos, s)
	if err != nil {
		return nil, nil
	}
	return tv.Value, tv.Type
}

// same reports whether two constants are the same value of type t.
func (p *printer) same(a, b constant.Value, t types.Type) bool {
	if a.Kind() == constant.Unknown || (a.Kind() == constant.Bool) != (b.Kind() == constant.Bool) ||
		(a.Kind() == constant.String) != (b.Kind() == constant.String) {
		return false
	}
	if ir.HasInfo(t, types.IsInteger) && constant.ToInt(a).Kind() != constant.Int {
		return false
	}
	if ir.HasInfo(t, types.IsNumeric) && !ir.IsComplex(t) && a.Kind() == constant.Complex {
		return false
	}
	x, _ := p.literalText(a, t)
	y, _ := p.literalText(b, t)
	return x == y
}

// packageNamed returns the package that a name in a constant's spelling refers to: that of the
// file, one it imports, that of the original function, or one that imports.
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
