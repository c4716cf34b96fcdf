package lower_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// variants is a package whose files have constraints, and functions that reach them by every
// way there is.
var variants = map[string]string{
	"go.mod":     "module m\n\ngo 1.26\n\nrequire dep v0.0.0\n\nreplace dep => ./dep\n",
	"dep/go.mod": "module dep\n\ngo 1.20\n",
	"dep/dep.go": "package dep\n\nfunc Twice(x float64) float64 { return twice(x) }\n\nfunc Plain(x float64) " +
		"float64 { return x }\n",
	"dep/a.go": "//go:build !dep\n\npackage dep\n\nfunc twice(x float64) float64 { return 2 * x }\n",
	"dep/b.go": "//go:build dep\n\npackage dep\n\nfunc twice(x float64) float64 { return x + x }\n",

	"func.go":  "//go:build !f\n\npackage m\n\nfunc inner(x float64) float64 { return x }\n",
	"const.go": "//go:build !c\n\npackage m\n\nconst slope = 2.0\n",
	"var.go":   "//go:build !v\n\npackage m\n\nvar table = []float64{1}\n",
	"type.go": "//go:build !t\n\npackage m\n\ntype number = float64\n\ntype model struct{ k " +
		"float64 }\n",
	"method.go": "//go:build !n\n\npackage m\n\nfunc (m *plain) Scale(x float64) float64 { return " +
		"m.k * x }\n",
	"value.go": "//go:build !w\n\npackage m\n\nfunc made() plain { return plain{} }\n",
	"rule.go": "//go:build !r\n\npackage m\n\nfunc ruledTangent(x, xDot float64) (r, rDot " +
		"float64) { return x, xDot + inside(x) }\n",
	"inside.go":  "//go:build !i\n\npackage m\n\nfunc inside(x float64) float64 { return 0 }\n",
	"passive.go": "//go:build !p\n\npackage m\n\nfunc ignored() float64 { return 1 }\n",
	"go.go": "//go:build go1.18 && !g\n\npackage m\n\nfunc versioned(x float64) float64 { " +
		"return x }\n",
	"new.go": "//go:build go1.18\n\npackage m\n\nfunc modern(x float64) float64 { return x }\n",
	"iterator.go": "//go:build !y\n\npackage m\n\nfunc each(x []float64) func(func(float64) bool) " +
		"{\n\treturn func(yield func(float64) bool) {\n\t\tfor _, v := range x {\n\t\t\tif !yield(v) {\n" +
		"\t\t\t\treturn\n\t\t\t}\n\t\t}\n\t}\n}\n",
	"sys_" + runtime.GOOS + ".go": "package m\n\nfunc system(x float64) float64 { return x }\n",
	"both_" + runtime.GOOS + "_" + runtime.GOARCH +
		".go": "//go:build !b\n\npackage m\n\nfunc both(x float64) float64 { return x }\n",

	"m.go": `package m

import (
	"dep"
	"math"
	"math/bits"
	"slices"
)

type plain struct{ k float64 }

type outer struct{ plain }

type scaler interface{ Scale(x float64) float64 }

const derived = 2 * base

const (
	one = iota + 1
	base
	repeated
)

var inferred = made()

func Free(x float64) float64   { return math.Sin(x) + plain{k: x}.k + derived + repeated + float64(bits.Len(8)) }
func Func(x float64) float64   { return inner(x) }
func Deep(x float64) float64   { return Func(x) + Deep2(x) }
func Deep2(x float64) float64  { return Func(x) }
func Const(x float64) float64  { return slope * x }
func Consts(x float64) float64 { return steep * x }
func Var(x float64) float64    { return table[0] * x }
func Size(x [size]float64) float64 { return x[0] }
func Type(x number) float64    { return x }
func Local(x float64) float64  { m := model{x}; return m.k }
func Method(x float64) float64 { return (&plain{2}).Scale(x) }
func Promoted(x float64) float64 { o := outer{}; return o.Scale(x) }
func Expression(x float64) float64 { return (*plain).Scale(&plain{2}, x) }
func Dynamic(x float64) float64 { return through(&plain{2}, x) }
func through(s scaler, x float64) float64 { return s.Scale(x) }
func Inferred(x float64) float64 { return inferred.k * x }
func Value(x float64) float64  { return apply(inner, x) }
func Closure(x float64) float64 { f := func(x float64) float64 { return inner(x) }; return f(x) }
func apply(f func(float64) float64, x float64) float64 { return f(x) }
func Stored(x float64) float64 { h := holding(inner); return h.f(x) }
func Compared(x float64, h *holder) float64 { return h.g(x) }
func Ruled(x float64) float64  { return ruled(x) }
func Passive(x float64) float64 { return x * constant() }
func Version(x float64) float64 { return versioned(x) }
func Modern(x float64) float64 { return modern(x) }
func System(x float64) float64 { return system(x) }
func Both(x float64) float64   { return both(x) }
func Module(x float64) float64 { return dep.Twice(x) }
func Plain(x float64) float64  { return dep.Plain(x) }
func Iterated(x []float64) (s float64) { for v := range each(x) { s += v }; return s }
func Sorted(x []float64) float64 { slices.Sort(x); return x[0] }
func Generic(x float64) float64 { return generic[number](x) }
func generic[T ~float64](x T) T { return x }
func Refused(x float64) float64 { c := make(chan float64, 1); c <- inner(x); return <-c }
func Two(x float64) float64    { return Func(x) + Const(x) }

type holder struct{ f, g func(float64) float64 }

func holding(f func(float64) float64) *holder { return &holder{f: f} }

func (h *holder) Set() { h.g = versioned }

const steep = 2 * slope
const size = int(slope)

//nabla:rule tangent=ruledTangent
func ruled(x float64) float64 { return x }

//nabla:passive
func constant() float64 { return ignored() }
`,
}

// TestConstraint requires that the constraint of a function covers the files of all objects that it uses.
func TestConstraint(t *testing.T) {
	dir := t.TempDir()
	for name, text := range variants {
		write(t, filepath.Join(dir, name), text)
	}
	pkgs, err := lower.Load(dir, []string{"."}, lower.LoadOptions{Packages: loaded.Packages})
	if err != nil {
		t.Fatal(err)
	}
	p := lower.New(pkgs, lower.Options{})
	for name, want := range map[string]string{
		"Free": "", "Func": "!f", "Deep": "!f", "Const": "!c", "Consts": "!c", "Var": "!v", "Size": "!c", "Type": "!t",
		"Local":  "!t",
		"Method": "!n", "Promoted": "!n", "Expression": "!n", "Dynamic": "!n", "Inferred": "!w", "Value": "!f",
		"Closure": "!f",
		"Ruled":   "!i && !r", "Passive": "!p", "Version": "!g", "Modern": "", "System": runtime.GOOS,
		"Both":   "!b && " + runtime.GOARCH + " && " + runtime.GOOS,
		"Module": "!dep", "Plain": "", "Iterated": "!y", "Sorted": "", "Generic": "!t", "Refused": "!f",
		"Two": "!c && !f", "Stored": "!f", "Compared": "!g",
	} {
		fn := p.Lookup("m", name)
		if _, err := p.Func(fn); (err == nil) != (name != "Refused") {
			t.Errorf("%s: %v", name, err)
		}
		if got := p.Constraint(lower.Target{Func: fn}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
