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
		"main.go": `package main

import (
	"fmt"

	"m/lib"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

func main() {
	fmt.Println(nabla.Gradient(lib.Square, source.Reverse{}, []float64{2, 3}))
	fmt.Println(nabla.Gradient(lib.Declared, source.Reverse{}, []float64{2}))
	m := &lib.Model{W: []float64{2}}
	f, layout, err := nabla.BindStructPlain(lib.Loss, m, &lib.Data{X: []float64{5}})
	fmt.Println(layout.Len(), err)
	fmt.Println(nabla.Gradient(f, source.Reverse{}, []float64{2}))
}
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
	r := generate(t, dir, "./lib")
	for _, p := range r.Problems() {
		t.Error(p)
	}
	if testing.Short() {
		t.Skip("builds a program")
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	if got, want := command(t, dir, "run", "."), "[12 4] <nil>\n[12] <nil>\n1 <nil>\n[20] <nil>\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
