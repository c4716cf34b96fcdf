package lower_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
)

const targets = `package targets

import "github.com/nabla-ad/nabla"

type T struct{ K float64 }

//nabla:differentiate
func Marked(x float64) float64 { return x }

// Loss is one of several.
//
//nabla:rule sparse
func Ruled(x float64) float64 { return x }

func Loss(x []float64) float64 { return x[0] }

func Traced(x []nabla.Real) nabla.Real { return x[0] }

func InPlace(y, x []float64) {}

func Generic[F ~float64](x []F) F {
	//nabla:checkpoint snapshots=20
	for range 3 {
	}
	return x[0]
}

func Bound(x []float64, p *T) float64 { return x[0] * p.K }

func (t *T) Method(x []float64) float64 { return t.K }

//nabla:passive
func count(x []float64) int { return len(x) }

func _(b nabla.Backend, x []float64) {
	nabla.Gradient(Loss, b, x)
	nabla.PrepareGradient(Loss, b, x)
	nabla.Gradient(Traced, b, x)
	nabla.Gradient(Generic[float64], b, x)
	nabla.InPlace(2, InPlace)
}
`

// TestTargets finds functions by directives and by the operators they are passed to.
func TestTargets(t *testing.T) {
	name, err := filepath.Abs("../../internal/problems/targets_overlay.go")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(targets, "package targets", "package problems", 1)
	pkgs, err := lower.Load("../..", []string{problems},
		lower.LoadOptions{Packages: loaded.Packages, Overlay: map[string][]byte{name: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	p := lower.New(pkgs, lower.Options{})
	var got []string
	for _, x := range p.Targets() {
		if !strings.HasSuffix(x.Pos.Filename, "targets_overlay.go") {
			continue // of the package itself
		}
		got = append(got, fmt.Sprint(x.Pos.Line, " ", x.Func.Name(), x.TypeArgs, x.Operator))
		if _, err := p.Func(x.Func, x.TypeArgs...); err != nil {
			t.Error(err)
		}
	}
	want := "[7 Marked[] 36 Loss[]Gradient 39 Generic[float64]Gradient 40 InPlace[]InPlace]"
	if fmt.Sprint(got) != want {
		t.Errorf("targets %v, want %s", got, want)
	}
	got = nil
	for _, d := range p.Directives() {
		if !strings.HasSuffix(d.Pos.Filename, "targets_overlay.go") {
			continue
		}
		on := ""
		if d.Func != nil {
			on = d.Func.Name()
		}
		got = append(got, fmt.Sprint(d.Pos.Line, " ", d.Name, "(", d.Args, ") ", on))
	}
	want = "[7 differentiate() Marked 12 rule(sparse) Ruled 22 checkpoint(snapshots=20)  32 passive() count]"
	if fmt.Sprint(got) != want {
		t.Errorf("directives %v, want %s", got, want)
	}
}

// TestRules calls functions with rules without lowering their source.
func TestRules(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "a.go"),
		"package m\n\ntype T struct{}\n\nfunc (T) known(x float64) (float64, bool)\n\nfunc F(x float64) float64 { "+
			"y, _ := T{}.known(x); return y }\n")
	pkgs, err := lower.Load(dir, []string{"."}, lower.LoadOptions{Packages: loaded.Packages})
	if err != nil {
		t.Fatal(err)
	}
	rule := &ir.Rule{Name: "m.known"}
	p := lower.New(pkgs, lower.Options{Rules: map[string]*ir.Rule{"(m.T).known": rule}})
	f, err := p.Func(p.Lookup("m", "F"))
	if err != nil {
		t.Fatal(err)
	}
	verify(t, f)
	if !strings.Contains(f.String(), `call rule "m.known"`) {
		t.Errorf("the rule is not called:\n%s", f)
	}
	if _, err := lower.New(pkgs, lower.Options{}).Func(p.Lookup("m", "F")); err == nil {
		t.Error("a function without a body is called")
	}
}

// TestPortable requires that the source of a function in assembly is that which the package has for machines without.
func TestPortable(t *testing.T) {
	files := map[string]string{
		"asm.go": `//go:build !noasm

package m

func Twice(x float64) float64

func half(x float64) float64

func none(x float64) float64

func other(x float64) float64
`,
		"stub.go": `//go:build noasm || (!amd64 && !arm64)

package m

func Twice(x float64) float64 { return scale * x * half(4) }

func half(x float64) float64 { return x / 2 }

func other(x float32) float32 { return x }
`,
		"again.go":   "//go:build noasm && never\n\npackage m\n\nfunc none(x float64) float64 { return 17 }\n",
		"b_s390x.go": "package m\n\nfunc none(x float64) float64 { return 18 }\n",
		"second.go":  "//go:build purego\n\npackage m\n\nfunc half(x float64) float64 { return 19 }\n",
		"ignore.go":  "//go:build ignore\n\npackage main\n\nfunc none(x float64) float64 { return 20 }\n",
		"a.go":       "package m\n\nconst scale = 1\n\nfunc F(x float64) float64 { return Twice(x) }\n",
		"no.go": "package m\n\nfunc G(x float64) float64 { return none(x) }\n\n" +
			"func H(x float64) float64 { return other(x) }\n",
		"asm_amd64.s": "",
		"asm_arm64.s": "",
	}
	p, _ := module(t, files)
	f, err := p.Func(p.Lookup("m", "F"))
	if err != nil {
		t.Fatal(err)
	}
	verify(t, f)
	if text := f.String(); !strings.Contains(text, "call m.Twice(") {
		t.Errorf("the function is not called:\n%s", text)
	}
	text := ""
	var add func(f *ir.Func)
	add = func(f *ir.Func) {
		text += f.String()
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil {
				add(c.Callee.Func)
			}
			return true
		})
	}
	add(f)
	if !strings.Contains(text, "x / 2") || strings.Contains(text, "19") {
		t.Errorf("it calls another form:\n%s", text)
	}
	if got := p.Constraint(lower.Target{Func: p.Lookup("m", "F")}); got != "" {
		t.Errorf("the derivative is restricted to %s", got)
	}
	for _, name := range []string{"G", "H"} {
		if f, err := p.Func(p.Lookup("m", name)); err == nil {
			t.Errorf("a function without a body is called:\n%s", f)
		}
	}
}

// TestNeverAssigned calls methods of the initial values of package-level variables listed in Options.NeverAssigned,
// if their types have no state.
func TestNeverAssigned(t *testing.T) {
	_, dir := module(t, map[string]string{"a.go": `package m

type Doer interface{ Do(x float64) float64 }

type Plain struct{}

func (Plain) Do(x float64) float64 { return 2 * x }

type Scaled struct{ By float64 }

func (s Scaled) Do(x float64) float64 { return s.By * x }

var plain, other Doer = Plain{}, Plain{}

var one Doer = Plain{}

var scaled Doer = Scaled{2}

func Use(d Doer) { one = d }

func Get() Doer { return one }

func Direct(x float64) float64 { return one.Do(x) }

func Through(x float64) float64 {
	d := Get()
	return d.Do(x) + Ruled(d, x)
}

func Ruled(d Doer, x float64) float64

func Other(x float64) float64 { return other.Do(x) }

func State(x float64) float64 { return scaled.Do(x) }
`})
	pkgs, err := lower.Load(dir, []string{"."}, lower.LoadOptions{Packages: loaded.Packages})
	if err != nil {
		t.Fatal(err)
	}
	rule := map[string]*ir.Rule{"m.Ruled": {Name: "m.Ruled"}}
	q := lower.New(pkgs, lower.Options{NeverAssigned: map[string]bool{"m.one": true, "m.scaled": true}, Rules: rule})
	for _, name := range []string{"Direct", "Through"} {
		f, err := q.Func(q.Lookup("m", name))
		if err != nil {
			t.Error(err)
			continue
		}
		verify(t, f)
		if !strings.Contains(f.String(), "call (m.Plain).Do(") {
			t.Errorf("the method is not called:\n%s", f)
		}
	}
	if f, err := q.Func(q.Lookup("m", "Use")); err == nil {
		t.Errorf("Use is lowered:\n%s", f)
	}
	// The type of the values of other variables is tested.
	tested := func(p *lower.Program, name string) {
		f, err := p.Func(p.Lookup("m", name))
		if err != nil || !strings.Contains(f.String(), "typeis[m.Plain](dyn)") {
			t.Errorf("what a variable holds is guessed: %v\n%s", err, f)
		}
	}
	tested(q, "Other")
	tested(q, "State")
	tested(lower.New(pkgs, lower.Options{Rules: rule}), "Direct")
}

// TestLocalTypes requires that types of one name that are declared in different functions are different types.
func TestLocalTypes(t *testing.T) {
	p, _ := module(t, map[string]string{"a.go": `package m

type I interface{ M() float64 }

type A struct{ X float64 }

func (a A) M() float64 { return a.X }

type B struct{ Y, X float64 }

func (b B) M() float64 { return 10 * b.X }

func F(x float64) float64 { return one(x) + two(x) }

func one(x float64) float64 {
	type own struct{ A }
	return call(own{A{x}}) + of(own{A{x}})
}

func two(x float64) float64 {
	type own struct{ B }
	return call(own{B{0, x}}) + of(own{B{0, x}})
}

func call(i I) float64 { return i.M() }

func of[T I](x T) float64 { return call(x) }
`})
	f, err := p.Func(p.Lookup("m", "F"))
	if err != nil {
		t.Fatal(err)
	}
	verify(t, f)
	got, err := ir.Eval(f, ir.ValuesOf(3.0))
	if err != nil || ir.As[float64](got[0]) != 66 {
		t.Errorf("%v, %v, want 66", got, err)
	}
}

// TestForeign lowers functions of other modules that refer to unexported objects, of which generated code can have
// private copies, and refuses those that write to an unexported variable.
func TestForeign(t *testing.T) {
	p, dir := module(t, map[string]string{
		"a.go": "package m\n\nimport \"m/dep\"\n\nfunc Good(x float64) float64 { return dep.Good(x) }\n\n" +
			"func Bad(x float64) float64 { return dep.Bad(x) }\n\n" +
			"func Worse(x float64) float64 { return dep.Worse(x) }\n",
		"dep/dep.go": "package dep\n\nconst k = 2\n\nvar g = 3.0\n\ntype t struct{ x float64 }\n\nfunc help(x " +
			"float64) float64 { return x * k }\n\nfunc Good(x float64) float64 { return help(x) + k/3.0 }\n\nfunc " +
			"Bad(x float64) float64 { return t{x}.x + g }\n\nvar n = 1.0\n\n" +
			"func Worse(x float64) float64 { return x*n }\n\n" +
			"func Set(x float64) { n = x }\n",
		"dep/other.go": "package dep\n",
	})
	lowers(t, p, "Bad", true)
	pkgs, err := lower.Load(dir, []string{"."}, lower.LoadOptions{Packages: loaded.Packages})
	if err != nil {
		t.Fatal(err)
	}
	p = lower.New(pkgs, lower.Options{CanGenerate: func(path string) bool { return path == "m" }})
	lowers(t, p, "Good", true)
	lowers(t, p, "Bad", true)
	err = lowers(t, p, "Worse", false)
	const want = "variable n: package m/dep does not export it, and it cannot be copied: it is written at dep/dep.go:"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
