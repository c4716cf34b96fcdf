package nabla_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// preparation is one kind of prepared object, by a function that every operator takes.
type preparation struct {
	nil     any // a nil pointer to the object
	n       int // inputs
	prepare func(f *nabla.Func, b nabla.Backend, x []float64) (any, error)
}

// made is p as an any that is nil where there is an error.
func made[P any](p *P, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// preparations are all kinds of prepared objects; TestMethodsOfNilAndZeroValues looks that none is missing.
var preparations = []preparation{
	{(*nabla.GradientPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareGradient(f, b, x))
	}},
	{(*nabla.JacobianPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareJacobian(f, b, x))
	}},
	{(*nabla.GradientManyPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareGradientMany(f, b, x, 2))
	}},
	{(*nabla.JacobianManyPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareJacobianMany(f, b, x, 2))
	}},
	{(*nabla.HessianPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareHessian(f, b, x))
	}},
	{(*nabla.HessianDiagonalPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareHessianDiagonal(f, b, x))
	}},
	{(*nabla.WeightedHessianPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareWeightedHessian(f, b, x))
	}},
	{(*nabla.KKTPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareKKT(f, b, x))
	}},
	{(*nabla.HessiansPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareHessians(f, b, x))
	}},
	{(*nabla.GradientWithAuxPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareGradientWithAux(f, b, x))
	}},
	{(*nabla.HVPPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareHVP(f, b, x))
	}},
	{(*nabla.HessianOp)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		p, err := nabla.PrepareHVP(f, b, x)
		if err != nil {
			return nil, err
		}
		return made(p.At(x))
	}},
	{(*nabla.PushforwardPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PreparePushforward(f, b, x))
	}},
	{(*nabla.PullbackPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PreparePullback(f, b, x))
	}},
	{(*nabla.LinearOp)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.Linearize(f, b, x))
	}},
	{(*nabla.DerivativePrep)(nil), 1, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareDerivative(f, b, x[0]))
	}},
	{(*nabla.CurveDerivativePrep)(nil), 1, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareCurveDerivative(f, b, x[0]))
	}},
	{(*nabla.SecondDerivativePrep)(nil), 1, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareSecondDerivative(f, b, x[0]))
	}},
	{(*nabla.CurveSecondDerivativePrep)(nil), 1, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareCurveSecondDerivative(f, b, x[0]))
	}},
	{(*nabla.TaylorPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareTaylorCoefficients(f, b, x, 3))
	}},
	{(*nabla.VectorTaylorPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareVectorTaylorCoefficients(f, b, x, 3))
	}},
	{(*nabla.DerivativesPrep)(nil), 1, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareDerivatives(f, b, x[0], 3))
	}},
	{(*nabla.CurveDerivativesPrep)(nil), 1, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PrepareCurveDerivatives(f, b, x[0], 3))
	}},
	{(*nabla.PartialsPrep)(nil), 2, func(f *nabla.Func, b nabla.Backend, x []float64) (any, error) {
		return made(nabla.PreparePartialDerivatives(f, b, x, 3, nil))
	}},
}

func (p preparation) typ() reflect.Type { return reflect.TypeOf(p.nil).Elem() }

// method is an exported method, with the names of its parameters.
type method struct {
	name   string
	params []string
}

// declared has the exported methods of every exported type of the package, those of
// embedded types included, and the names of the types with a method that is called with
// something and returns an error.
func declared(t *testing.T) (methods map[string][]method, failing map[string]bool) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	methods, failing = map[string][]method{}, map[string]bool{}
	embedded := map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil || !n.Name.IsExported() {
					return false
				}
				typ := receiver(n.Recv.List[0].Type)
				methods[typ] = append(methods[typ], method{n.Name.Name, fieldNames(n.Type.Params)})
				if r := n.Type.Results; r != nil {
					if id, ok := r.List[len(r.List)-1].Type.(*ast.Ident); ok && id.Name == "error" {
						failing[typ] = true
					}
				}
				return false
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						if len(f.Names) == 0 {
							embedded[n.Name.Name] = append(embedded[n.Name.Name], receiver(f.Type))
						}
					}
				}
			}
			return true
		})
	}
	for typ, in := range embedded {
		for _, e := range in {
			methods[typ] = append(methods[typ], methods[e]...)
		}
	}
	for typ := range methods {
		if !ast.IsExported(typ) {
			delete(methods, typ)
			delete(failing, typ)
		}
	}
	return methods, failing
}

// receiver is the name of a type, without its star and its type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func fieldNames(fields *ast.FieldList) (all []string) {
	for _, f := range fields.List {
		if len(f.Names) == 0 {
			all = append(all, "_")
		}
		for _, n := range f.Names {
			all = append(all, n.Name)
		}
	}
	return all
}

// arguments returns arguments for a method, selected by the names of its parameters: a point of n
// numbers, vectors of ones, and nil for destinations. The function has one output.
func arguments(typ reflect.Type, m method, n int) []reflect.Value {
	ones := func(k int) []float64 {
		v := make([]float64, k)
		for i := range v {
			v[i] = 1
		}
		return v
	}
	var args []reflect.Value
	for i, name := range m.params {
		in := typ.In(i + 1) // after the receiver
		var v any
		switch {
		case in.Kind() == reflect.Float64:
			v = 1.0
		case in == reflect.TypeFor[*mat.VecDense]():
			v = new(mat.VecDense) // MulVecTo has no form that allocates
		case in == reflect.TypeFor[mat.Vector]():
			v = mat.NewVecDense(max(n, 1), ones(max(n, 1)))
		case name == "V":
			v = mat.NewDense(max(n, 1), 1, ones(max(n, 1)))
		case name == "X":
			v = mat.NewDense(2, max(n, 1), ones(2*max(n, 1)))
		case name == "ctx":
			v = context.Background()
		case name == "C":
			v = mat.NewDense(max(n, 1), 1, ones(max(n, 1)))
		case name == "W":
			v = mat.NewDense(1, 1, ones(1))
		case name == "x", name == "dx", name == "v":
			v = ones(n)
		case name == "w", name == "dy" && !strings.Contains(m.name, "Second"):
			v = ones(1)
		}
		if v == nil {
			args = append(args, reflect.Zero(in))
		} else {
			args = append(args, reflect.ValueOf(v))
		}
	}
	return args
}

// call calls a method and returns its results; err is the last of them, nil where that
// is no error.
func call(p any, m method, n int) (results []reflect.Value, err error) {
	f, _ := reflect.TypeOf(p).MethodByName(m.name)
	args := append([]reflect.Value{reflect.ValueOf(p)}, arguments(f.Type, m, n)...)
	results = f.Func.Call(args)
	if k := len(results); k > 0 {
		err, _ = results[k-1].Interface().(error)
	}
	return results, err
}
