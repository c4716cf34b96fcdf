package gen_test

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/lower"
)

// internals has a library with internal packages, and functions of a user that reach them.
var internals = map[string]string{
	"go.mod":     "module m\n\ngo 1.26\n\nrequire dep v0.0.0\n\nreplace dep => ./dep\n",
	"dep/go.mod": "module dep\n\ngo 1.26\n",
	"dep/dep.go": `package dep

import "dep/internal/x"

type Alias = x.T

func Func(v float64) float64 { return x.Square(v) }
func Const(v float64) float64 { return x.K * v }
func Var(v float64) float64 { return x.Table[0] * v }
func Deep(v float64) float64 { return x.Deep(v) }
func Type(v float64) float64 { t := x.T{V: v}; return t.V }
func Method(v float64) float64 { return Alias{V: v}.Twice() }
func Make(v float64) Alias { return Alias{V: v} }
func Generic(v float64) float64 { return x.Generic(v) }
func Plain(v float64) float64 { return v * v }
`,
	"dep/internal/x/x.go": `package x

import "dep/internal/y"

const K = 3.0

var Table = []float64{2}

type T struct{ V float64 }

func (t T) Twice() float64 { return 2 * t.V }

func Square(v float64) float64 { return v * v }
func Deep(v float64) float64 { return y.Loop(v, 3) }
func Generic[F ~float64](v F) F { return v * v }
`,
	"dep/internal/y/y.go": `package y

func Loop(v float64, n int) float64 {
	for range n {
		v = v * v * Half
	}
	return v
}

const Half = 0.5
`,
	"internal/own/own.go": "package own\n\nvar Table = []float64{2}\n\ntype T struct{ V float64 }\n\nfunc Square(v " +
		"float64) float64 { return v * v * Table[0] }\n",
	"m.go": `package m

import (
	"dep"
	"m/internal/own"
)

//nabla:differentiate
func Func(v float64) float64 { return dep.Func(v) }

//nabla:differentiate
func Const(v float64) float64 { return dep.Const(v) }

//nabla:differentiate
func Var(v float64) float64 { return dep.Var(v) }

//nabla:differentiate
func Deep(v float64) float64 { return dep.Deep(v) }

//nabla:differentiate
func Type(v float64) float64 { return dep.Type(v) }

//nabla:differentiate
func Method(v float64) float64 { return dep.Method(v) }

//nabla:differentiate
func Alias(v float64) float64 { t := dep.Alias{V: v}; return t.V * v }

//nabla:differentiate
func Make(v float64) float64 { return dep.Make(v).V }

//nabla:differentiate
func Generic(v float64) float64 { return dep.Generic(v) }

//nabla:differentiate
func Constant(v float64) float64 { return v * dep.Func(2) }

//nabla:differentiate
func Plain(v float64) float64 { return dep.Plain(v) }

//nabla:differentiate
func Own(v float64) float64 { return own.Square(v) * own.T{V: v}.V * own.Table[0] }
`,
}

// TestInternal copies functions of internal packages. A function that refers to something that cannot be named is
// refused at its position; the code for the others compiles.
func TestInternal(t *testing.T) {
	dir := module(t, internals)
	r := generate(t, dir, ".")
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, f := range r.Packages[0].Functions {
		got[f.Name] = true
	}
	for _, name := range []string{"Func", "Const", "Deep", "Generic", "Constant", "Plain", "Own"} {
		for _, build := range []string{"Tangent", "Tangent4", "Adjoint", "AdjointTangent", "Traced"} {
			if !got[name+build] {
				t.Errorf("no %s%s", name, build)
			}
		}
	}
	for _, p := range r.Problems() {
		if strings.Contains(p.Reason, "which has no licence file") {
			continue // the module has none
		}
		if !strings.HasPrefix(p.Error(), dir) ||
			!strings.Contains(p.Reason, "internal") && !strings.Contains(p.Reason, "cannot be named") {
			t.Error(p)
		}
	}
	for _, f := range r.Packages[0].Files {
		if text := string(f.Text); strings.Contains(text, "\t\"dep/internal") {
			t.Errorf("an internal package is imported:\n%s", text)
		}
	}
	compiles(t, dir)
}

// TestTypeCheck checks that typeCheck finds the errors of the compiler in a file, and no others.
func TestTypeCheck(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod": internals["go.mod"], "dep/go.mod": internals["dep/go.mod"], "dep/dep.go": internals["dep/dep.go"],
		"dep/internal/x/x.go": internals["dep/internal/x/x.go"],
		"dep/internal/y/y.go": internals["dep/internal/y/y.go"],
		"dep/above/a.go":      "package above\n\nimport _ \"m/sub\"\n",
		"sub/s.go": "package sub\n\nimport \"dep\"\n\nvar _ = dep.Plain\n\nfunc taken() {}\n\ntype point " +
			"struct{ x, y float64 }\n\nfunc uses() float64 { _, d := LossTangent(1, undefined); return d }\n",
		"main/main.go": "package main\n\nfunc main() {}\n\nfunc F() {}\n",
	})
	p, err := gen.Load(dir, []string{"./sub"}, &gen.Options{Load: loading})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, want string }{
		{"func F() {}", ""},
		{"func LossTangent(x, xDot float64) (r, rDot float64) { return x, xDot }", ""},
		{"func F() float64 { p := point{1, 2}; return p.x + taken2 }\n\nvar taken2 = 1.0", ""},
		{"import \"dep\"\n\nfunc F() float64 { return dep.Plain(1) }", ""},
		{"import \"github.com/nabla-ad/nabla\"\n\nfunc F(x nabla.Real) nabla.Real { return x.Mul(x) }", ""},
		{"func F() { for i := range 3 { _ = min(i, 2) } }", ""},
		{"import \"no/such\"\n\nfunc F() float64 { return such.F(1) }", ""}, // the module does not require it yet
		{"func F() {", "expected '}'"},
		{"func F() { x := 1 }", "declared and not used: x, at func F() { x := 1 }"},
		{"func taken() {}", "taken redeclared"},
		{"func F() float64 { return \"\" }", "cannot use"},
		{"func F() float64 { return undefined }", "undefined: undefined"},
		{"func F() {}\n\nfunc F() {}", "F redeclared"},
		{"import \"math\"\n\nfunc F() {}", "\"math\" imported and not used"},
		{"import \"math\"\n\nfunc F() float64 { return math.Sine(1) }", "undefined: math.Sine"},
		{"import \"github.com/nabla-ad/nabla\"\n\nfunc F(x nabla.Real) nabla.Real { return x.Times(x) }",
			"x.Times undefined"},
		{"import \"dep/internal/x\"\n\nfunc F() float64 { return x.Square(1) }",
			"package dep/internal/x may not be imported by m/sub"},
		{"import \"internal/bytealg\"\n\nvar F = bytealg.MaxLen", "package internal/bytealg may not be imported"},
		{"import \"m/main\"\n\nvar X = main.F", "package m/main may not be imported"},
		{"import \"dep/above\"\n\nvar X = above.X", "package dep/above imports m/sub"},
		{"import \"m/sub\"\n\nvar X = sub.X", "package m/sub imports m/sub"},
	} {
		err := p.TypeCheck("m/sub", lower.Header+"\n\npackage sub\n\n"+tt.text+"\n")
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %s", tt.text, err, tt.want)
		}
	}
}
