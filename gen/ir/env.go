package ir

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// Resolution of packages and types while parsing the text form.

// An Env resolves names in a text that Parse reads. The zero Env knows only predeclared names.
type Env struct {
	// Packages are the packages whose types, constants and variables a text may name as
	// package.Name; their imports, direct or not, are included. Types of the first one may be
	// unqualified.
	Packages []*types.Package
	// Types maps the names under which types print to further types, such as those declared in
	// functions, or nabla.Real for [Real]. They take precedence over those of packages.
	Types map[string]types.Type
	// Funcs maps names to functions that the text calls but does not declare.
	Funcs map[string]*Func
	// Rules maps names to rules that the text may call. A rule that is missing gets only its name.
	Rules map[string]*Rule
}

// packageNamed returns the package with a name in the text, or nil.
func (p *parser) packageNamed(name string) *types.Package { return p.packages[name] }

// packagesByName returns the packages of env and their imports by name and by path. If several have
// one name, the first in breadth-first order takes it.
func (env *Env) packagesByName() (byName, byPath map[string]*types.Package) {
	byName, byPath = make(map[string]*types.Package), make(map[string]*types.Package)
	queue := append([]*types.Package(nil), env.Packages...)
	for len(queue) > 0 {
		pkg := queue[0]
		queue = queue[1:]
		if byPath[pkg.Path()] != nil {
			continue
		}
		byPath[pkg.Path()] = pkg
		if byName[pkg.Name()] == nil {
			byName[pkg.Name()] = pkg
		}
		queue = append(queue, pkg.Imports()...)
	}
	return byName, byPath
}

// object returns the object that pkg.name denotes, or nil.
func (p *parser) object(x *ast.SelectorExpr) types.Object {
	id, ok := x.X.(*ast.Ident)
	if !ok {
		return nil
	}
	pkg := p.packageNamed(id.Name)
	if pkg == nil {
		return nil
	}
	return pkg.Scope().Lookup(x.Sel.Name)
}

// typ returns the type that x denotes. It fails if there is none.
func (p *parser) typ(x ast.Expr) types.Type {
	t := p.tryType(x)
	if t == nil {
		p.failAt(x, "not a type")
	}
	return t
}

// tryType returns the type that x denotes, or nil if x is no type. It fails within a type that is
// malformed.
func (p *parser) tryType(x ast.Expr) types.Type {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.tryType(x.X)
	case *ast.Ident:
		return p.namedType(x.Name)
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok && p.env.Types[id.Name+"."+x.Sel.Name] != nil {
			return p.env.Types[id.Name+"."+x.Sel.Name]
		}
		if n, ok := p.object(x).(*types.TypeName); ok {
			return n.Type()
		}
	case *ast.StarExpr:
		if t := p.tryType(x.X); t != nil {
			return types.NewPointer(t)
		}
	case *ast.ArrayType:
		if x.Len == nil {
			return types.NewSlice(p.typ(x.Elt))
		}
		n, ok := x.Len.(*ast.BasicLit)
		if !ok || n.Kind != token.INT {
			p.failAt(x.Len, "the length of an array is not a number")
		}
		v, exact := constant.Int64Val(constant.MakeFromLiteral(n.Value, n.Kind, 0))
		if !exact || v < 0 || v > 1<<40 {
			p.failAt(x.Len, "array too long")
		}
		return types.NewArray(p.typ(x.Elt), v)
	case *ast.MapType:
		return types.NewMap(p.typ(x.Key), p.typ(x.Value))
	case *ast.ChanType:
		dir := types.SendRecv
		if x.Dir == ast.SEND {
			dir = types.SendOnly
		} else if x.Dir == ast.RECV {
			dir = types.RecvOnly
		}
		return types.NewChan(dir, p.typ(x.Value))
	case *ast.FuncType:
		return p.signature(x)
	case *ast.StructType:
		return p.structType(x)
	case *ast.InterfaceType:
		return p.interfaceType(x)
	case *ast.IndexExpr:
		return p.instance(x, x.X, []ast.Expr{x.Index})
	case *ast.IndexListExpr:
		return p.instance(x, x.X, x.Indices)
	}
	return nil
}

// namedType resolves an unqualified type name: those of the environment come first, then
// predeclared ones, then those of the first package.
func (p *parser) namedType(name string) types.Type {
	if t := p.env.Types[name]; t != nil {
		return t
	}
	if n, ok := types.Universe.Lookup(name).(*types.TypeName); ok {
		return n.Type()
	}
	if len(p.env.Packages) > 0 {
		if n, ok := p.env.Packages[0].Scope().Lookup(name).(*types.TypeName); ok {
			return n.Type()
		}
	}
	return nil
}

// instance returns the instantiation of a generic type, nil if generic denotes none.
func (p *parser) instance(x, generic ast.Expr, args []ast.Expr) types.Type {
	switch generic.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return nil
	}
	g := p.tryType(generic)
	if g == nil {
		return nil
	}
	list := make([]types.Type, len(args))
	for i, a := range args {
		list[i] = p.typ(a)
	}
	t, err := types.Instantiate(nil, g, list, true)
	if err != nil {
		p.failAt(x, err.Error())
	}
	return t
}

// signature returns a function type. The names of parameters are kept, though they do not matter
// for identity.
func (p *parser) signature(x *ast.FuncType) *types.Signature {
	if x.TypeParams != nil {
		p.failAt(x, "a type with type parameters")
	}
	params, variadic := p.tuple(x.Params)
	results, bad := p.tuple(x.Results)
	if bad {
		p.failAt(x, "... in results")
	}
	return types.NewSignatureType(nil, nil, nil, params, results, variadic)
}

// tuple returns the variables of a parameter list and whether its last parameter is variadic.
func (p *parser) tuple(list *ast.FieldList) (*types.Tuple, bool) {
	var vars []*types.Var
	variadic := false
	if list != nil {
		for i, f := range list.List {
			var t types.Type
			if e, ok := f.Type.(*ast.Ellipsis); ok {
				if i != len(list.List)-1 || len(f.Names) > 1 || e.Elt == nil {
					p.failAt(f.Type, "... is not at the end")
				}
				variadic = true
				t = types.NewSlice(p.typ(e.Elt))
			} else {
				t = p.typ(f.Type)
			}
			names := f.Names
			if len(names) == 0 {
				names = []*ast.Ident{{Name: ""}}
			}
			for _, n := range names {
				vars = append(vars, types.NewParam(0, nil, n.Name, t))
			}
		}
	}
	return types.NewTuple(vars...), variadic
}

// structType returns a struct type without a name. Its lower-case fields belong to the first
// package.
func (p *parser) structType(x *ast.StructType) types.Type {
	var (
		fields []*types.Var
		tags   []string
		seen   = make(map[string]bool)
	)
	home := p.home()
	for _, f := range x.Fields.List {
		t := p.typ(f.Type)
		tag := ""
		if f.Tag != nil {
			tag = constant.StringVal(constant.MakeFromLiteral(f.Tag.Value, token.STRING, 0))
		}
		if len(f.Names) == 0 {
			p.failAt(f.Type, "an embedded field in a type without a name")
		}
		for _, n := range f.Names {
			if seen[n.Name] && n.Name != "_" {
				p.failAt(n, "field "+n.Name+" twice")
			}
			seen[n.Name] = true
			fields = append(fields, types.NewField(0, home, n.Name, t, false))
			tags = append(tags, tag)
		}
	}
	return types.NewStruct(fields, tags)
}

// interfaceType returns an interface type without a name that has only methods.
func (p *parser) interfaceType(x *ast.InterfaceType) types.Type {
	var methods []*types.Func
	seen := make(map[string]bool)
	for _, f := range x.Methods.List {
		sig, ok := f.Type.(*ast.FuncType)
		if !ok || len(f.Names) != 1 || seen[f.Names[0].Name] {
			p.failAt(f.Type, "not a method")
		}
		seen[f.Names[0].Name] = true
		methods = append(methods, types.NewFunc(0, p.home(), f.Names[0].Name, p.signature(sig)))
	}
	return types.NewInterfaceType(methods, nil).Complete()
}

// home returns the package of the lower-case fields and methods of types without a name, nil if the
// environment has no packages.
func (p *parser) home() *types.Package {
	if len(p.env.Packages) > 0 {
		return p.env.Packages[0]
	}
	return nil
}
