package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"reflect"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A globals holds the initial values of package-level variables.
type globals struct {
	// initial maps variables to their initialisers; a variable without one is zero.
	initial map[types.Object]*initialValue
	// values holds the evaluated ones.
	values map[types.Object]ir.Value
}

// An initialValue is an expression with the type information of its package.
type initialValue struct {
	e    ast.Expr // initialiser
	info *types.Info
}

// newGlobals indexes the initialisers of all packages. Assignments of several variables are left out.
func newGlobals(pkgs []*packages.Package) *globals {
	g := &globals{initial: map[types.Object]*initialValue{}, values: map[types.Object]ir.Value{}}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		if p.TypesInfo == nil {
			return
		}
		for _, in := range p.TypesInfo.InitOrder {
			if len(in.Lhs) == 1 {
				g.initial[in.Lhs[0]] = &initialValue{in.Rhs, p.TypesInfo}
			}
		}
	})
	return g
}

// bind returns the values of the variables that functions read, by name.
func (g *globals) bind(funcs []*ir.Func) (map[string]ir.Value, error) {
	out := map[string]ir.Value{}
	for _, f := range funcs {
		for _, v := range ir.Vars(f) {
			if v.Kind != ir.Global {
				continue
			}
			if _, ok := g.values[v.Object]; !ok {
				t, err := goType(v.Type, map[types.Type]bool{})
				if err != nil {
					return nil, err
				}
				x := reflect.New(t)
				if in := g.initial[v.Object]; in != nil {
					if err := in.set(x.Elem(), in.e); err != nil {
						return nil, fmt.Errorf("variable %s: %w", v.Name, err)
					}
				}
				g.values[v.Object] = ir.Value{}
				if t.Kind() != reflect.Interface {
					g.values[v.Object] = ir.ValueOf(x.Elem().Interface())
				}
			}
			out[v.Name] = g.values[v.Object]
		}
	}
	return out, nil
}

// set assigns the value of an expression of constants, literals and some functions of package math to v.
func (in *initialValue) set(v reflect.Value, e ast.Expr) error {
	tv := in.info.Types[e]
	if v.Kind() == reflect.Interface {
		return nil // an error, which is only passed on
	}
	if tv.Value != nil {
		setConstant(v, tv.Value)
		return nil
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return in.set(v, e.X)
	case *ast.CompositeLit:
		return in.literal(v, e)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			v.Set(reflect.New(v.Type().Elem()))
			return in.set(v.Elem(), e.X)
		}
	}
	if v.CanFloat() {
		x, err := in.float(e)
		v.SetFloat(x)
		return err
	}
	return fmt.Errorf("its value is not known")
}

// literal assigns a composite literal to v.
func (in *initialValue) literal(v reflect.Value, lit *ast.CompositeLit) error {
	if v.Kind() == reflect.Slice {
		n := 0
		if err := in.elements(lit, func(i int, _ ast.Expr) error { n = max(n, i+1); return nil }); err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	}
	return in.elements(lit, func(i int, e ast.Expr) error {
		if v.Kind() == reflect.Struct {
			return in.set(v.Field(i), e)
		}
		if x, ok := e.(*ast.CompositeLit); ok && v.Type().Elem().Kind() == reflect.Pointer {
			v.Index(i).Set(reflect.New(v.Type().Elem().Elem())) // the & is left out
			return in.literal(v.Index(i).Elem(), x)
		}
		return in.set(v.Index(i), e)
	})
}

// elements calls visit with the index and the expression of each element of a literal.
func (in *initialValue) elements(lit *ast.CompositeLit, visit func(int, ast.Expr) error) error {
	st, _ := in.info.TypeOf(lit).Underlying().(*types.Struct)
	next := 0
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
			if st != nil {
				for i := range st.NumFields() {
					if st.Field(i).Name() == kv.Key.(*ast.Ident).Name {
						next = i
					}
				}
			} else {
				k := reflect.New(reflect.TypeFor[int]()).Elem()
				setConstant(k, in.info.Types[kv.Key].Value)
				next = int(k.Int())
			}
		}
		if err := visit(next, e); err != nil {
			return err
		}
		next++
	}
	return nil
}

// float evaluates an expression of type float64.
func (in *initialValue) float(e ast.Expr) (float64, error) {
	if c := in.info.Types[e].Value; c != nil {
		v := reflect.New(reflect.TypeFor[float64]()).Elem()
		setConstant(v, c)
		return v.Float(), nil
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return in.float(e.X)
	case *ast.UnaryExpr:
		x, err := in.float(e.X)
		if e.Op == token.SUB {
			x = -x
		}
		return x, err
	case *ast.BinaryExpr:
		x, err := in.float(e.X)
		y, err2 := in.float(e.Y)
		if err != nil || err2 != nil {
			return 0, fmt.Errorf("its value is not known")
		}
		switch e.Op {
		case token.ADD:
			return x + y, nil
		case token.SUB:
			return x - y, nil
		case token.MUL:
			return x * y, nil
		case token.QUO:
			return x / y, nil
		}
	case *ast.CallExpr:
		s, ok := e.Fun.(*ast.SelectorExpr)
		if !ok || len(e.Args) == 0 {
			break
		}
		if len(e.Args) == 2 && s.Sel.Name == "Copysign" {
			x, err := in.float(e.Args[0])
			y, err2 := in.float(e.Args[1])
			return math.Copysign(x, y), errors.Join(err, err2)
		}
		if c := in.info.Types[e.Args[0]].Value; c != nil && s.Sel.Name == "Float64frombits" {
			v := reflect.New(reflect.TypeFor[uint64]()).Elem()
			setConstant(v, c)
			return math.Float64frombits(v.Uint()), nil
		}
		f := map[string]func(float64) float64{"Log": math.Log, "Sqrt": math.Sqrt, "Exp": math.Exp}[s.Sel.Name]
		if fn := in.info.Uses[s.Sel]; f != nil && fn.Pkg() != nil && fn.Pkg().Path() == "math" {
			x, err := in.float(e.Args[0])
			return f(x), err
		}
	}
	return 0, fmt.Errorf("its value is not known")
}
