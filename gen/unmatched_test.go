package gen_test

import (
	"strconv"
	"strings"
	"testing"
)

// TestUnmatched warns of functions that get no code, each with its position, and of no others.
func TestUnmatched(t *testing.T) {
	const imports = `import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/source"
)
`
	dir := module(t, map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"m.go": `package m

` + strings.Replace(imports, "\t\"testing\"\n\n", "", 1) + `
type model struct{ k float64 }

func (m model) Loss(x []float64) float64   { return m.k * x[0] }
func (m *model) Slope(x []float64) float64 { return m.k * x[0] }

func Named(x []float64) float64  { return x[0] }
func Tested(x []float64) float64 { return x[0] }
func Outside(x []float64) float64 { return x[0] }

//nabla:differentiate
func Marked(x []float64) float64 { return x[0] }
func Real(x []nabla.Real) nabla.Real { return x[0] }

var variable = func(x []float64) float64 { return x[0] }
var assigned = func(x []float64) float64 { return x[0] }
var shared = func(x []float64) float64 { return x[0] }

var config struct{ f func([]float64) float64 }

func uses(given func([]float64) float64) {
	x := []float64{1}
	rev := source.Reverse{}
	nabla.Gradient(func(x []float64) float64 { return x[0] }, rev, x) // want literal
	nabla.Gradient(model{2}.Loss, rev, x) // want method
	m := &model{2}
	nabla.Gradient(m.Slope, rev, x) // want method
	nabla.Gradient(variable, rev, x)
	nabla.Gradient(assigned, rev, x) // want variable
	assigned = Named
	nabla.Gradient(shared, rev, x) // want variable
	_ = &shared
	k := 2.0
	f := func(x []float64) float64 { return k * x[0] }
	nabla.Gradient(f, rev, x) // want holds
	mv := m.Slope
	nabla.Gradient(mv, rev, x) // want mv holds a method value, whose receiver generated code cannot reach; pass the method
	var mw = model{2}.Loss
	nabla.Gradient(mw, rev, x) // want mw holds a method value; pass that to nabla.Gradient without the variable
	nabla.Pushforward(nabla.InPlace(1, func(y, x []float64) { y[0] = x[0] }), rev, x, x) // want literal

	nabla.Gradient(Named, rev, x)
	nabla.Gradient(given, rev, x)
	nabla.Gradient(config.f, rev, x)
	nabla.Gradient(f, finitediff.Backend{}, x)
	nabla.Gradient(f, &finitediff.Backend{}, x)
	nabla.Gradient(func(x []nabla.Real) nabla.Real { return x[0] }, rev, x)
}
`,
		"m_test.go": "package m\n\n" + imports + `
func declared(x []float64) float64 { return x[0] }

func TestM(t *testing.T) {
	x := []float64{1}
	nabla.Gradient(Tested, source.Reverse{}, x) // want only a test passes Tested
	nabla.Gradient(declared, source.Reverse{}, x) // want declared in a test
	nabla.Gradient(func(x []float64) float64 { return x[0] }, source.Reverse{}, x) // want literal
	nabla.Gradient(func(x []nabla.Real) nabla.Real { return x[0] }, source.Reverse{}, x)
	nabla.Gradient(Named, source.Reverse{}, x)
	nabla.Gradient(Marked, source.Reverse{}, x)
	nabla.Gradient(Real, source.Reverse{}, x)
	nabla.Gradient(declared, finitediff.Backend{}, x)
	{
		Tested := Real
		nabla.Gradient(Tested, source.Reverse{}, x)
	}
}
`,
		"x_test.go": "package m_test\n\n" + strings.Replace(imports, "import (\n", "import (\n\tother \"m\"\n", 1) + `
var _ = finitediff.Backend{}

func TestX(t *testing.T) {
	nabla.Gradient(other.Outside, source.Reverse{}, []float64{1}) // want only a test passes Outside
	nabla.Gradient(other.Marked, source.Reverse{}, []float64{1})
}
`,
	})
	r := generate(t, dir, ".")
	got := map[string]string{}
	for _, p := range r.Problems() {
		got[strings.TrimPrefix(p.Pos.String(), dir+"/")] = p.Error()
	}
	for _, name := range []string{"m.go", "m_test.go", "x_test.go"} {
		for i, line := range strings.Split(read(t, dir+"/"+name), "\n") {
			_, want, ok := strings.Cut(line, "// want ")
			found := ""
			for pos, text := range got {
				if strings.HasPrefix(pos, name+":"+strconv.Itoa(i+1)+":") {
					found = text
					delete(got, pos)
				}
			}
			if ok != (found != "") || !strings.Contains(found, want) {
				t.Errorf("%s:%d: %s: got %q", name, i+1, line, found)
			}
		}
	}
	for pos, text := range got {
		t.Errorf("%s: %s", pos, text)
	}
	compiles(t, dir)
}

// TestForwarded: functions that are passed to a function which passes them on to an operator get code; of functions in
// maps, fields and loop variables it is said that they are not known, unless one of their type has a directive.
func TestForwarded(t *testing.T) {
	const text = `package forwarded

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"

	"forwarded/search"
)

func Rosen(x []float64) float64 { return x[0] * x[1] }
func Quad(x []float64) float64  { return x[0] * x[0] }
func Last(x []float64) float64  { return x[0] * x[0] }
func Other(x []float64) float64 { return x[0] * x[0] }

type Sample struct{ X []float64 }

func (s Sample) Value(x []float64) float64    { return x[0] * s.X[0] }
func (s *Sample) Pointer(x []float64) float64 { return x[0] * s.X[0] }

func minimize(f func([]float64) float64, x []float64) { step(x, f) }

func step(x []float64, f func([]float64) float64) { nabla.PrepareGradient(f, source.Reverse{}, x) }

func loop(f func([]float64) float64, n int) {
	if n > 0 {
		loop(f, n-1)
	}
}

// nabla:differentiate
func Spaced(x float64) float64 { return x }

func Use(x []float64, m map[string]func([]float64) float64, s *Sample) {
	minimize(Rosen, x)
	search.Newton(Quad, x)
	search.Value(Last, x)
	loop(Other, 3)
	for _, f := range m {
		minimize(f, x)
	}
	nabla.Gradient(m["a"], nil, x)
	minimize(func(x []float64) float64 { return x[0] }, x)
	nabla.Gradient(nabla.BindMethod((*Sample).Value, s), nil, x)
	nabla.Gradient(nabla.BindMethod(s.Pointer, s), nil, x)
	search.Value(s.Pointer, x)
}
`
	const helper = `package search

import "github.com/nabla-ad/nabla"

func Newton[F nabla.ScalarFunc](f F, x []float64) { nabla.Hessian(f, nil, x) }

func Value(f func([]float64) float64, x []float64) float64 { return f(x) }
`
	const want = `forwarded.go:30:1: warning: // nabla:differentiate is an ordinary comment, because of the space; ` +
		`write //nabla:differentiate
forwarded.go:39:12: warning: minimize is passed a function that gets no code: which function f holds is not known; ` +
		`write //nabla:differentiate above the functions that it may hold
forwarded.go:41:17: warning: Gradient is passed a function that gets no code: which function the element holds is ` +
		`not known; write //nabla:differentiate above the functions that it may hold
forwarded.go:42:11: warning: minimize is passed a function that gets no code: it is a function literal, to which ` +
		`generated code cannot be matched; declare it at package level, or let minimize take a *nabla.Func, as ` +
		`nabla.Bind and nabla.BindMethod return
forwarded.go:43:34: warning: BindMethod is passed a function that gets no code: Value has a value as its receiver, ` +
		`which is copied at each call; declare it with a pointer to Sample as its receiver
forwarded.go:44:34: warning: BindMethod is passed a function that gets no code: Pointer is a method value, and ` +
		`BindMethod binds the receiver; pass the method expression, (*Sample).Pointer
`
	files := map[string]string{"go.mod": "module forwarded\n\ngo 1.26\n", "forwarded.go": text,
		"search/search.go": helper}
	dir := module(t, files)
	r := generate(t, dir, ".")
	if got := problems(r, dir); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	builds := map[string]string{}
	for _, f := range r.Packages[0].Functions {
		builds[f.Of] += " " + f.Build
	}
	for name, second := range map[string]bool{"Rosen": false, "Quad": true} {
		got := builds[name]
		if !strings.Contains(got, " adjoint ") || strings.Contains(got, "adjointTangent") != second {
			t.Errorf("%s has%s", name, got)
		}
	}
	if len(builds) != 2 {
		t.Errorf("code for %v", builds)
	}
	files["forwarded.go"] = strings.Replace(text, "func Other", "//nabla:differentiate\nfunc Other", 1)
	dir = module(t, files)
	if got := problems(generate(t, dir, "."), dir); strings.Contains(got, "is not known") {
		t.Errorf("with a directive above a function of the type:\n%s", got)
	}
}
