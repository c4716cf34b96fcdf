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
