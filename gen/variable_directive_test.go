package gen_test

import (
	"strings"
	"testing"
)

// TestVariableDirective: a directive above a package variable asks for the derivatives of the function in it, with the
// parameters that it lists, and is an error if that function is not known.
func TestVariableDirective(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"bad/bad.go": `package bad

//nabla:differentiate
var Assigned = func(x []float64) float64 { return x[0] }

func init() { Assigned = nil }

//nabla:differentiate
var Number = 3.0

//nabla:differentiate
var (
	A = func(x []float64) float64 { return x[0] }
	B = func(x []float64) float64 { return x[0] }
)
`,
	})
	var got []string
	for _, p := range generate(t, dir, "./bad").Problems() {
		got = append(got, strings.TrimPrefix(p.Error(), dir+"/bad/"))
	}
	for i, want := range []string{"bad.go:3:1: ", "bad.go:8:1: ", "bad.go:11:1: "} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) || !strings.Contains(got[i], "//nabla:differentiate is") {
			t.Errorf("problems %q, want one at %s", got, want)
			break
		}
	}
	p := together(t, "variable")
	if text := p.problems["variable"]; text != "" {
		t.Error(text)
	}
	p.passes(t)
}

func variableFiles(*testing.T) map[string]string {
	return map[string]string{
		"lib/lib.go": `package lib

type Model struct{ W []float64 }
type Data struct{ X []float64 }

// Square is exported for another package.
//
//nabla:differentiate
var Square = func(x []float64) float64 { return x[0] * x[0] * x[1] }

var (
	//nabla:differentiate wrt=m
	Loss = func(m *Model, d *Data) float64 { return m.W[0] * m.W[0] * d.X[0] }

	// Declared holds a declared function.
	//nabla:differentiate
	Declared = helper

	unmarked = func(x []float64) float64 { return x[0] }
)

func helper(x []float64) float64 { return 3 * x[0] * x[0] }
`,
		"use/use.go": "package use\n",
		"use/use_test.go": `package use

import (
	"fmt"
	"testing"

	"golden/variable/lib"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

func TestVariables(t *testing.T) {
	square, err := nabla.Gradient(lib.Square, source.Reverse{}, []float64{2, 3})
	declared, err2 := nabla.Gradient(lib.Declared, source.Reverse{}, []float64{2})
	m := &lib.Model{W: []float64{2}}
	f, layout, err3 := nabla.BindStructPlain(lib.Loss, m, &lib.Data{X: []float64{5}})
	if err3 != nil {
		t.Fatal(err3)
	}
	loss, err4 := nabla.Gradient(f, source.Reverse{}, []float64{2})
	got := fmt.Sprintln(square, err, declared, err2, layout.Len(), loss, err4)
	if want := "[12 4] <nil> [12] <nil> 1 [20] <nil>\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
`,
	}
}
