package ir

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// Env says what the names in a text stand for.
type Env struct {
	// Packages are those whose types, constants and variables a text may name as
	// package.Name, besides what they import, at any distance. The first one's may stand
	// without the package.
	Packages []*types.Package
	// Types are further types by the names that they print as, such as those declared in
	// functions, or nabla.Real for [Real]. They come before those of packages.
	Types map[string]types.Type
	// Funcs are functions that are called but not in the text, by name.
	Funcs map[string]*Func
	// Rules are those that may be called, by name. Others are made with their name alone.
	Rules map[string]*Rule
}

// find is the package of a name, nil if there is none.
func (p *parser) find(name string) *types.Package { return p.packages[name] }

// known lists the packages by name, those of the environment before what they import.
func (env *Env) known() (byName, byPath map[string]*types.Package) {
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

// object is what pkg.name stands for, nil if nothing.
func (p *parser) object(x *ast.SelectorExpr) types.Object {
	id, ok := x.X.(*ast.Ident)
	if !ok {
		return nil
	}
	pkg := p.find(id.Name)
	if pkg == nil {
		return nil
	}
	return pkg.Scope().Lookup(x.Sel.Name)
}

// typ is the type that x names. It fails with a message.
func (p *parser) typ(x ast.Expr) types.Type {
	t := p.tryType(x)
	if t == nil {
		p.failAt(x, "not a type")
	}
	return t
}

// tryType is the type that x names, nil if x is no type.
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

// home is the package that lower-case fields of types without a name belong to.
func (p *parser) home() *types.Package {
	if len(p.env.Packages) > 0 {
		return p.env.Packages[0]
	}
	return nil
}
