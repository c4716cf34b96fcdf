package gen_test

import (
	"strings"
	"testing"
)

// TestHiddenTypes: the refusal of a call of an interface method names the types that generated code of this package
// cannot name, where there are only those.
func TestHiddenTypes(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod": "module example.com/hidden\n\ngo 1.26\n",
		"shapes/shapes.go": "package shapes\n\ntype Shape interface{ Area(r float64) float64 }\n\n" +
			"type disc struct{}\n\nfunc (disc) Area(r float64) float64 { return 3 * r * r }\n\n" +
			"type square struct{}\n\nfunc (square) Area(r float64) float64 { return 4 * r * r }\n\n" +
			"func Of(corners int) Shape {\n\tif corners == 0 {\n\t\treturn disc{}\n\t}\n\treturn square{}\n}\n",
		"loss/loss.go": "package loss\n\nimport \"example.com/hidden/shapes\"\n\n//nabla:differentiate\n" +
			"func Loss(x []float64, n *struct{ Corners int }) float64 {\n\treturn shapes.Of(n.Corners).Area(x[0])\n}\n",
	})
	const want = "cannot name the types that are converted to shapes.Shape, shapes.disc and shapes.square"
	problems := generate(t, dir, "./loss").Problems()
	for _, problem := range problems {
		if strings.Contains(problem.Error(), want) {
			return
		}
	}
	t.Errorf("no problem says %q: %v", want, problems)
}
