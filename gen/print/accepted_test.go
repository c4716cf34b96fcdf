package print_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// TestAccepted prints stacks, and variables of which only parts are assigned.
func TestAccepted(t *testing.T) {
	const text = `func p.f(x []float64) (r float64) exit {
	let st []float64
	let part [2]float64
	let never float64 = x[0]
	never += 2
	part[1] = x[1]
	for loop, next i int = 0; i < len(x); i += 1 {
		st = append(st, x[i])
		x[i] = x[i] * 2.0
	}
	for loop1, next1 j int = len(x) - 1; j > -1; j += -1 {
		x[j] = st[len(st) - 1]
		st = st[:len(st) - 1]
	}
	for loop2, next2 {
		if x[0] > 1.0 {
			r = x[0]
			leave exit
		}
		x[0] = x[0] + 1.0
	}
}
`
	funcs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := print.File(types.NewPackage("p", "p"), print.Func{Func: funcs[0]})
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", out, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := new(types.Config).Check("p", fset, []*ast.File{f}, nil); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
