package gen_test

import (
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/internal/loaded"
)

const demands = `package demands

import (
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/source"
)

type Data struct{ W []float64 }

func Gradient(x []float64) float64        { return math.Sin(x[0]) }
func Prepared(x []float64) float64        { return math.Sin(x[0]) }
func Value(x []float64) float64           { return math.Sin(x[0]) }
func Open(x []float64) float64            { return math.Sin(x[0]) }
func Forward(x []float64) float64         { return math.Sin(x[0]) }
func Product(x []float64) float64         { return math.Sin(x[0]) }
func Mixed(x []float64) float64           { return math.Sin(x[0]) }
func Reals(x []float64) float64           { return math.Sin(x[0]) }
func Differences(x []float64) float64     { return math.Sin(x[0]) }
func Nested(x []float64) float64          { return math.Sin(x[0]) }
func Curve(x float64) float64             { return math.Sin(x) }
func Bend(x float64) float64              { return math.Sin(x) }
func Map(x []float64) []float64           { return []float64{math.Sin(x[0])} }
func Called(x []float64) float64          { return math.Sin(x[0]) }
func Wrapped(x []float64, d *Data) float64 { return math.Sin(x[0]) * d.W[0] }
func Held(x []float64, d *Data) float64    { return math.Sin(x[0]) * d.W[0] }
func Escapes(x []float64, d *Data) float64 { return math.Sin(x[0]) * d.W[0] }
func Kept(x []float64, d *Data) float64    { return math.Sin(x[0]) * d.W[0] }
func Twice(x []float64) float64           { return math.Sin(x[0]) }
func Traced(x []float64) float64          { return math.Sin(x[0]) }

//nabla:differentiate
func Marked(x []float64) float64 { return math.Sin(x[0]) }

//nabla:differentiate gradient
func Listed(x []float64) float64 { return math.Sin(x[0]) }

//nabla:differentiate wrt=x derivative
func Also(x float64) float64 { return math.Sin(x) }

//nabla:differentiate gradient
func Table(x []float64, d *Data) float64 { return math.Sin(x[0]) * d.W[0] }

var kept = nabla.Bind(Kept, &Data{})

var table = []any{nabla.Bind(Table, &Data{})}

func Use(b nabla.Backend, x []float64) any {
	nabla.Gradient(Gradient, nil, x)
	nabla.PrepareGradient(Prepared, source.Reverse{}, x)
	nabla.ValueAndGradient(Value, nabla.Policy{Backend: source.Reverse{}}, x)
	nabla.Gradient(Open, b, x)
	nabla.Gradient(Forward, &source.Forward{}, x)
	nabla.HVP(Product, nabla.Auto{}, x, x)
	nabla.Hessian(Mixed, nabla.SecondOrder{Outer: source.Reverse{}, Inner: source.Forward{}}, x)
	nabla.Gradient(Reals, forwarddiff.Backend{}, x)
	nabla.Gradient(Differences, finitediff.Backend{}, x)
	nabla.GradientFunc(Nested, nil)
	nabla.Derivative(Curve, nil, x[0])
	nabla.ValueDerivativeAndSecondDerivative(Bend, nil, x[0])
	nabla.Jacobian(Map, nabla.AutoSparse{}, x)
	nabla.Gradient(Called, nil, x)
	CalledTangent(x, x)
	nabla.Gradient(nabla.Bind(Wrapped, &Data{}), nil, x)
	f := nabla.Bind(Held, &Data{})
	nabla.Gradient(f, nil, x)
	nabla.HVP(f, nil, x, x)
	nabla.Gradient(kept, nil, x)
	nabla.Gradient(Twice, nil, x)
	nabla.HVP(Twice, nil, x, x)
	nabla.Hessian(Marked, nil, x)
	nabla.Trace(Traced, x)
	nabla.TraceHessian(Traced, x)
	return nabla.Bind(Escapes, &Data{})
}
`

const demandsTest = `package demands

import (
	"testing"

	"github.com/nabla-ad/nabla"
)

func TestIt(t *testing.T) {
	nabla.HVP(Gradient, nil, nil, nil)
	nabla.Gradient(Prepared, nil, nil)
	nabla.Gradient(Twice, nil, nil)
}
`

// TestDemand: functions get the derivatives that the operators compute with which are called with them, those that
// their directives list, and those that the package calls.
func TestDemand(t *testing.T) {
	dir := module(t, map[string]string{"go.mod": "module demands\n\ngo 1.26\n", "demands.go": demands,
		"demands_test.go": demandsTest})
	r := generate(t, dir, ".")
	const gradient, product = "adjoint adjointOnly traced", "adjoint adjointOnly adjointTangent hvp traced"
	const forward = "tangent tangent4 adjoint adjointOnly traced"
	const all = "tangent tangent4 adjoint adjointOnly adjointTangent hvp traced"
	want := map[string]string{
		"Gradient": gradient, "Prepared": gradient, "Value": gradient, "Open": forward, "Forward": forward,
		"Product": product, "Mixed": all, "Reals": "traced", "Differences": "traced", "Nested": all,
		"Curve": "tangent traced", "Bend": product, "Map": "tangent tangent4 adjoint adjoint4 traced",
		"Called": "tangent " + gradient, "Wrapped": gradient, "Held": product, "Escapes": all, "Kept": gradient,
		"Traced": "traced", "Twice": product, "Marked": all, "Listed": gradient, "Also": "tangent traced",
		"Table": gradient,
	}
	got := map[string][]string{}
	for _, f := range r.Packages[0].Functions {
		got[f.Of] = append(got[f.Of], f.Build)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		has := strings.Join(got[name], " ")
		// That the value is left out depends on how much work it saves.
		if strip := strings.NewReplacer(" adjointOnly", "", " hvp", "").Replace; strip(has) != strip(want[name]) {
			t.Errorf("%s has %s, want %s", name, has, want[name])
		}
	}
	const warning = "demands_test.go:10:12: warning: function Gradient: only a test calls HVP with it, and tests ask " +
		"for no code; write //nabla:differentiate hvp above its declaration\n"
	if text := problems(r, dir); text != warning {
		t.Errorf("problems:\n%swant:\n%s", text, warning)
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	compiles(t, dir)
	if s := string(r.Packages[0].Files[0].Text); !strings.Contains(s, `RefusedSecond:  "nothing in package demands `+
		`asks for it; write //nabla:differentiate gradient hvp above Listed and run nabla gen"`) {
		t.Error("no reason for what nothing asks for")
	}
}

// TestOperators: the demand of each operator of package nabla is known, and functions that make functions have none.
func TestOperators(t *testing.T) {
	pkgs, err := loaded.Packages(&packages.Config{Mode: packages.LoadTypes}, "github.com/nabla-ad/nabla")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	scope := pkgs[0].Types.Scope()
	for _, name := range scope.Names() {
		f, ok := scope.Lookup(name).(*types.Func)
		if !ok || !f.Exported() || f.Signature().Params().Len() < 2 || f.Signature().Variadic() {
			continue
		}
		if second := f.Signature().Params().At(1).Type().String(); !strings.HasSuffix(second, ".Backend") {
			continue
		}
		n++
		makes := strings.HasSuffix(name, "Func") || strings.HasSuffix(name, "With")
		if known := gen.Demands(name); known == makes {
			t.Errorf("%s is known: %v", name, known)
		}
	}
	if n < 30 {
		t.Errorf("%d operators", n)
	}
}
