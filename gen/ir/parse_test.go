package ir_test

import (
	"go/types"
	"os"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"func f() {", "1:10: not func name(parameters) (results) label {"},
		{"func f() exit {", "1:16: missing }"},
		{"func f() exit {\n} }", "2:3: text after the function"},
		{"func f() exit {\n}\nfunc f() exit {\n}", "3:1: function f twice"},
		{"r = 1", "1:1: a statement outside of functions"},
		{"func f(x) exit {\n}", "not a type"},
		{"func f(x odd) exit {\n}", "1:10: not a type"},
		{"func f(x int, x int) exit {\n}", "variable x twice"},
		{"func f(x ...int, y int) exit {\n}", "1:10: can only use ... with final parameter"},
		{"func f() int exit {\n}", "1:10: results are not in parentheses"},
		{"func f() (r ...int) exit {\n}", "... in results"},
		{"func f(_ int) exit {\n}", "a parameter without a name"},
		{"func f() exit {\nx = 1\n}", "2:1: no variable x"},
		{"func f(x int) exit {\n\tx = y\n}", "2:6: no variable y"},
		{"func f(x int) exit {\n\tx = 1 + 2 * z\n}", "2:14: no variable z"},
		{"func f(x int) exit {\nx = 0.5\n}", "2:5: the constant 0.5 is no int"},
		{"func f(x uint8) exit {\nx = 256\n}", "the constant 256 is no uint8"},
		{"func f(x int) exit {\nx = nil + 1\n}", "2:5: nil is no int"},
		{"func f(x int) exit {\nx = (1\n}", "2:"},
		{"func f(x int) exit {\nx = 1 2\n}", "2:"},
		{"func f(x int) exit {\nx\n}", "2:1: not a statement"},
		{"func f(x int) exit {\nx = 'ab'\n}", "2:"},
		{"func f(x int) exit {\nx = 3i\n}", "2:5: no constant of this kind"},
		{"func f(x int) exit {\nx = x.y\n}", "2:5: a field of a value that is not a struct"},
		{"func f(x int) exit {\nx = x[0]\n}", "2:5: an element of a value without elements"},
		{"func f(x int) exit {\nx = *x\n}", "2:5: a dereference of a value that is not a pointer"},
		{"func f(p geom.Point) exit {\np.Z = 1\n}", "2:3: no field Z"},
		{"func f(x int) exit {\nx = <-x\n}", "no operator <-"},
		{"func f(x int) exit {\nx = g(x)\n}", "2:5: not a function of an expression or a type"},
		{"func f(x int) exit {\nx = math.Sin(x, x)\n}", "2:5: wrong number of arguments"},
		{"func f(x int) exit {\nx = call g(x)\n}", "2:10: no function g"},
		{"func f(x int) exit {\nx = call 3\n}", "2:10: no name of a function"},
		{"func f(x int) exit {\nx, 3 = call f(x)\n}", "2:4: no variable"},
		{"func f(x int) exit {\nleave out\n}", "2:7: out is no label around"},
		{"func f(x int) exit {\nscope a {\n}\nleave a\n}", "4:7: a is no label around"},
		{"func f(x int) exit {\nscope exit {\n}\n}", "2:7: label exit twice"},
		{"func f(x int) exit {\nscope a\n}", "2:8: missing {"},
		{"func f(x int) exit {\nfor a {\n}\n}", "2:7: missing ,"},
		{"func f(x int) exit {\nfor a, b = 0; i < x; i += 1 {\n}\n}", "2:10: no index"},
		{"func f(x int) exit {\nfor a, b i int = 0; i < x; i += 0 {\n}\n}", "not a step in the direction"},
		{"func f(x int) exit {\nfor a, b i int = 0; i < x; i += -1 {\n}\n}", "not a step in the direction"},
		{"func f(x int) exit {\nfor a, b i int = 0; i <= x; i += 1 {\n}\n}", "not < or >"},
		{"func f(x int) exit {\nfor a, b i int = 0; j < x; i += 1 {\n}\n}", "not i"},
		{"func f(x int) exit {\nfor a, b i int = 0; i < x {\n}\n}", "missing ;"},
		{"func f(x int) exit {\nif {\n}\n}", "2:4: missing expression"},
		{"func f(x int) exit {\nif x == 1 {\n} else if x {\n}\n}", "3:3: text after }"},
		{"func f(x int) exit {\nlet y\n}", "missing expression"},
		{"func f(x int) exit {\nlet x int\n}", "2:5: variable x twice"},
		{"func f(x int) exit {\npanic()\n}", "panic takes 1 arguments"},
		{"func f(x int) exit {\nx = append()\n}", "append takes"},
		{"func f(x []int) exit {\nx = geom.Odd\n}", "no such variable"},
		{"func f(x [1000000000000000]int) exit {\n}", "array too long"},
		{"func f(x geom.Pair[int, int]) exit {\n}", "1:10: "},
		{"import a \"odd\"", "1:10: no package \"odd\""},
		{"func f() exit {\n\"\n}", "2:1: string literal not terminated"},
	} {
		funcs, err := ir.Parse(test.text, geom)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q:\ngot  %v %v\nwant %s", test.text, err, funcs, test.want)
		}
	}
	if _, err := ir.Parse("func f(x geom.Point) exit {\n}\n", nil); err == nil {
		t.Error("without an environment there is no geom.Point")
	}
}

func TestPositions(t *testing.T) {
	const text = `func geom.F(n int) (r float64) exit { //@ a:b.go:3:1
	if n > 0 { //@ a:b.go:4:2
		r = "//@"[0] == 'a' //@ a:b.go:5:3
	}
	for l, m { //@ 7:2
		leave l //@ c.go:8:3
	}
	panic(n) // as it is
}
`
	clean := strings.ReplaceAll(strings.ReplaceAll(text, " // as it is", ""), `r = "//@"[0] == 'a'`, "r = 2")
	f := parse(t, strings.ReplaceAll(text, `r = "//@"[0] == 'a'`, "r = 2"))
	if at := f[0].Body[1].Position(); at.Line != 7 || at.Column != 2 || at.Filename != "" {
		t.Errorf("position %v", at)
	}
	var b strings.Builder
	if err := ir.PrintPositions(&b, f...); err != nil {
		t.Fatal(err)
	}
	compare(t, b.String(), clean)
	add(f[0], &ir.Panic{At: ir.At{Pos: f[0].Pos}})
	if err := ir.Check(f[0]); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("got %v", err)
	}
}

func TestParseUsesEnv(t *testing.T) {
	local := geom.Packages[0].Scope().Lookup("Point").Type()
	g := parse(t, "func geom.G(x float64) (r float64) exit {\nr = x\n}\n")[0]
	rule := &ir.Rule{Name: "example.com/blas.Dot"}
	env := *geom
	env.Types = map[string]types.Type{"mine": local}
	env.Funcs = map[string]*ir.Func{"geom.G": g}
	env.Rules = map[string]*ir.Rule{rule.Name: rule}
	funcs, err := ir.Parse(`func geom.F(p mine, q Point) (r float64) exit {
	r = call geom.G(p.X)
	r = call rule "example.com/blas.Dot"(q.Y)
	r = call rule "example.com/blas.Other"(q.Y)
}`, &env)
	if err != nil {
		t.Fatal(err)
	}
	callee := func(i int) *ir.Callee { return funcs[0].Body[i].(*ir.Call).Callee }
	if callee(0).Func != g || callee(1).Rule != rule || callee(2).Rule.Name != "example.com/blas.Other" {
		t.Error("callees are not those of the environment")
	}
	m := &ir.Machine{Rules: map[string]func([]ir.Value) []ir.Value{
		rule.Name: func(a []ir.Value) []ir.Value {
			return []ir.Value{ir.ValueOf(ir.As[float64](a[0]) * 2)}
		},
		"example.com/blas.Other": func(a []ir.Value) []ir.Value {
			return []ir.Value{ir.ValueOf(ir.As[float64](a[0]) + 7)}
		},
	}}
	out, err := m.Eval(funcs[0], ir.ValuesOf(Point{1, 2}, Point{3, 4}))
	if err != nil || ir.As[float64](out[0]) != 11 {
		t.Errorf("got %v, %v", out, err)
	}
}

// FuzzParse checks that parsed text can be printed and that parsing the print gives the same text.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"testdata/all.ir", "testdata/normal.ir"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
		for _, one := range strings.SplitAfter(string(text), "\n}\n") {
			f.Add(one)
		}
	}
	for _, b := range broken {
		f.Add(head + b.body + "\n}\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		funcs, err := ir.Parse(text, geom)
		if err != nil {
			return
		}
		for _, f := range funcs {
			if ir.Check(f) != nil {
				return
			}
		}
		once := printed(t, funcs...)
		again, err := ir.Parse(once, geom)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		compare(t, printed(t, again...), once)
		for _, f := range again {
			if err := ir.Check(f); err != nil {
				t.Fatalf("%v\n%s", err, once)
			}
			ir.Normalize(f)
			if err := ir.Check(f); err != nil {
				t.Fatalf("%v\n%s", err, f)
			}
			if err := ir.CheckNormal(f); err != nil {
				t.Fatalf("%v\n%s\n%s", err, once, f)
			}
		}
	})
}
