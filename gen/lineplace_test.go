package gen_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/internal/linetable"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// placed is a module with a function that calls those of another package, and of another module.
var placed = map[string]string{
	"go.mod": "module placed\n\ngo 1.26\n",
	"model/model.go": `// Package model has a model.
package model

import "math"

// A Decay is a decay.
type Decay struct{ Rate float64 }

// At returns the amount at time t.
func (d *Decay) At(t float64) float64 {
	u := d.Rate * t
	return math.Exp(-u)
}
`,
	"opt/opt.go": `package opt

import (
	"math"

	"gonum.org/v1/gonum/floats/scalar"
	"placed/model"
)

var square = func(v float64) float64 { return v * v }

//nabla:differentiate
func Loss(x []float64) float64 {
	d := model.Decay{Rate: x[0]}

	s := 0.0
	for _, v := range x { // a comment
		if v > 0 {
			s += d.At(v)
		} else {
			s -= square(v) +
				math.Sqrt(v)
		}
	}
	return s + scalar.Round(x[0], 2)*s
}
`,
}

// TestLineTable holds the table of lines of a package, which has no path of this machine, and asks it for the places of
// statements.
func TestLineTable(t *testing.T) {
	longtest.Skip(t, "generates the code of a module")
	dir := module(t, placed)
	r := layout(t, filepath.Join(dir, "opt"), gen.OnePerPackage, false)
	text := string(r.Packages[0].Files[0].Text)
	before, table, ok := strings.Cut(text, "var _ = rt.Lines(\n")
	if !ok {
		t.Fatalf("no table in\n%s\n%v", text, r.Packages[0].Problems)
	}
	if strings.Contains(text, dir) || strings.Contains(table, "\"/") || strings.Contains(table, "|/") {
		t.Errorf("the table has a path of this machine:\n%s", table)
	}
	var forms []string
	for line := range strings.Lines(table) {
		if form, ok := strings.CutSuffix(strings.TrimSpace(line), ","); ok {
			forms = append(forms, strings.Trim(form, `"`))
		}
	}
	lines := strings.Split(text, "\n")
	linetable.Register("/opt/gen.go", strings.Count(before, "\n")+1, "placed/opt.init", forms)
	found := map[string]bool{}
	for i, line := range lines {
		p, ok := linetable.Of("/opt/gen.go", i+1)
		if !ok {
			continue
		}
		for statement, want := range map[string]linetable.Place{
			"nabla.Exp(":  {Function: "placed/model.(*Decay).At", File: "/model/model.go", Line: 12, Declared: 10},
			"nabla.Sqrt(": {Function: "placed/opt.Loss", File: "/opt/opt.go", Line: 21, Declared: 13},
			".Sq()":       {Function: "placed/opt.init", File: "/opt/opt.go", Line: 10, Declared: 10},
			"return s.":   {Function: "placed/opt.Loss", File: "/opt/opt.go", Line: 25, Declared: 13},
		} {
			if !strings.Contains(line, statement) {
				continue
			}
			if found[statement] = true; p != want {
				t.Errorf("%s is at %+v, want %+v", strings.TrimSpace(line), p, want)
			}
		}
		if p.Function == "gonum.org/v1/gonum/floats/scalar.Round" &&
			p.File == "gonum.org/v1/gonum/floats/scalar/scalar.go" {
			found[p.Function] = true
		}
	}
	if len(found) != 5 {
		t.Errorf("found only %v in\n%s", found, text)
	}
}
