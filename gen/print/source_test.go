package print_test

import (
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// TestSource checks that the text after the functions refers to packages and variables by the same
// names, and that the names of a replaced file are free.
func TestSource(t *testing.T) {
	pkg := types.NewPackage("example.com/p", "p")
	for _, name := range []string{"G", "y", "old"} {
		pkg.Scope().Insert(types.NewFunc(token.NoPos, pkg, name,
			types.NewSignatureType(nil, nil, nil, nil, nil, false)))
	}
	exit := &ir.Label{Name: "exit"}
	f := &ir.Func{Name: "p.f", Exit: exit}
	calls := &ir.Func{Name: "p.g", Exit: exit, Body: ir.Block{&ir.Call{Callee: &ir.Callee{Func: f}}}}
	src := print.Source{
		Pkg: pkg, Funcs: []print.Func{{Func: calls, Name: "G"}},
		Replaced: func(o types.Object) bool { return o.Name() == "G" || o.Name() == "old" },
		Rest: func(s *print.Scope, _ string) string {
			n := s.Namer()
			return "var " + n.Name("y") + ", " + n.Name("z") + " = " + s.Object(types.NewPackage("math", "math"),
				"Pi") + ", " +
				s.Object(types.NewPackage("example.com/math", "math"),
					"Pi") + "\n\nfunc init() { " + s.Func(calls) + "(); " + s.Func(f) + "(); _ = " +
				s.Type(types.NewSlice(types.Typ[types.Int])) + "(nil) }\n"
		},
	}
	text, err := src.Print()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"func G() {", "var y1, z = math1.Pi, math.Pi", `math1 "math"`, `"example.com/math"`,
		"G()\n", "f()\n", "[]int(nil)"} {
		if !strings.Contains(string(text), want) &&
			!strings.Contains(strings.ReplaceAll(string(text), "; ", "\n"), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	src.Replaced = nil
	if text, err := src.Print(); err == nil {
		t.Errorf("G is declared twice:\n%s", text)
	}
}
