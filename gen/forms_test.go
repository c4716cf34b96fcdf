package gen_test

import "testing"

// TestReplacedVariable: a variable that an init function assigns, in a file of another build which the generation did
// not see, has no code then, even if the value of the other function is the same at x.
func TestReplacedVariable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := module(t, map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"m.go": `package main

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

var square = func(x []float64) float64 { return x[0] * x[0] }

func main() {
	g, err := nabla.Gradient(square, source.Reverse{}, []float64{1})
	fmt.Print(g, err != nil)
}
`,
		"early.go": `//go:build early

package main

func init() { square = func(x []float64) float64 { return 3*x[0] - 2 } }
`,
	})
	if _, err := generate(t, dir, ".").Write(); err != nil {
		t.Fatal(err)
	}
	for tags, want := range map[string]string{"": "[2] false", "early": "[] true"} {
		if got := command(t, dir, "run", "-tags", tags, "."); got != want {
			t.Errorf("with tags %q: got %s, want %s", tags, got, want)
		}
	}
}
