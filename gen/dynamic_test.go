package gen_test

import (
	"strings"
	"testing"
)

// TestRunDynamic compiles derivatives of functions with interface values and function values that are chosen at run
// time.
func TestRunDynamic(t *testing.T) {
	p := together(t, "dynamic")
	// Numbers behind interfaces carry derivatives in one direction, and not in forms over Reals.
	if text := withoutNotes(p.problems["dynamic"]); text != "" {
		t.Error(text)
	}
	p.passes(t)
}

// TestNumbersBehindInterfaces: numbers that carry derivatives are not taken out of interfaces without methods, where
// they would lose them, but out of those with methods.
func TestNumbersBehindInterfaces(t *testing.T) {
	const text = `package behind

type Layer interface{ Apply(x float64) float64 }

type Dense struct{ W []float64 }

func (d *Dense) Apply(x float64) float64 { return d.W[0] * x }

type Net struct {
	Scale  float64
	Layers []any
}

// Weights has derivatives with respect to the weights, too.
//
//nabla:differentiate
func Weights(net *Net, x float64) float64 {
	if d, ok := net.Layers[0].(*Dense); ok {
		return d.W[0] * net.Scale * x
	}
	return net.Layers[0].(Layer).Apply(net.Scale * x)
}

var all = []Layer{&Dense{}}
`
	const remedy = "hold the value in an interface type that is declared and has methods"
	dir := module(t, map[string]string{"go.mod": "module behind\n\ngo 1.26\n", "behind/a.go": text})
	problems := generate(t, dir, "./...").Problems()
	if len(problems) == 0 {
		t.Fatal("not refused")
	}
	for _, p := range problems {
		s := p.Error()
		if !strings.Contains(s, "a.go:18") && !strings.Contains(s, "a.go:21") ||
			!strings.Contains(s, "behind which numbers carry derivatives") || !strings.Contains(s, remedy) {
			t.Error(s)
		}
	}
	declared := strings.ReplaceAll(text, "Layers []any", "Layers []Layer")
	dir = module(t, map[string]string{"go.mod": "module behind\n\ngo 1.26\n", "behind/a.go": declared})
	if text := refusals(generate(t, dir, "./..."), dir); text != "" {
		t.Error(text)
	}
}
