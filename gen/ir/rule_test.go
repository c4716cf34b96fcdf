package ir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/rt/checkpoint"
)

// TestShape checks the types of derivatives of functions of several types.
func TestShape(t *testing.T) {
	const text = `package p

type vec struct{ n int; data []float64 }
type point struct{ x, y float64; next *point }

func nothing(n int, s string) bool
func numbers(x float64, n int, y float32) (a float64, ok bool, b float32)
func slices(dst []float64, a [2]float64, n []int, rows [][]float64) []float64
func structs(v vec, p *point, q point)
func (v *vec) method(_ float64, rest ...float64) (float64)
func passive(a []float64, b, c float64) float64
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{IgnoreFuncBodies: true, Error: func(error) {}}
	pkg, _ := conf.Check("p", fset, []*ast.File{f}, info)
	want := map[string][2]string{
		"nothing": {"(n int, s string) (v bool)", "(n int, s string)"},
		"numbers": {
			"(x float64, n int, y float32, xDot float64, yDot float32) (a float64, ok bool, b float32, aDot " +
				"float64, bDot float32)",
			"(x float64, n int, y float32, aBar float64, bBar float32) (xBar float64, yBar float32)",
		},
		"slices": {
			"(dst []float64, a [2]float64, n []int, rows [][]float64, dstDot []float64, aDot [2]float64, rowsDot " +
				"[][]float64) (v []float64, vDot []float64)",
			"(dst []float64, a [2]float64, n []int, rows [][]float64, dstBar []float64, rowsBar [][]float64) (aBar " +
				"[2]float64)",
		},
		"structs": {
			"(v vec, p *point, q point, vDot vec, pDot *point, qDot point)",
			"(v vec, p *point, q point, vBar vec, pBar *point, qBar point) (qBar1 point)",
		},
		"method": {
			"(v *vec, p float64, rest []float64, vDot *vec, pDot float64, restDot []float64) (v1 float64, vDot1 " +
				"float64)",
			"(v *vec, p float64, rest []float64, vBar *vec, restBar []float64, vBar1 float64) (pBar float64)",
		},
		"passive": {"(a []float64, b float64, c float64, cDot float64) (v float64, vDot float64)",
			"(a []float64, b float64, c float64, vBar float64) (cBar float64)"},
	}
	for _, o := range info.Defs {
		fn, ok := o.(*types.Func)
		if !ok || want[fn.Name()][0] == "" {
			continue
		}
		r := &ir.Rule{Object: fn}
		if fn.Name() == "passive" {
			r.NoDerivative = []bool{true, true}
		}
		s := r.Shape()
		for i, sig := range []*types.Signature{s.Tangent(), s.Pullback()} {
			if got := strings.TrimPrefix(types.TypeString(sig, types.RelativeTo(pkg)),
				"func"); got != want[fn.Name()][i] {
				t.Errorf("%s: %s, want %s", fn.Name(), got, want[fn.Name()][i])
			}
		}
		delete(want, fn.Name())
	}
	if len(want) > 0 {
		t.Errorf("not tried: %v", want)
	}
}

// TestScheduleRules requires that the functions of package checkpoint have the types of their rules.
func TestScheduleRules(t *testing.T) {
	for name, f := range map[string]any{"Size": checkpoint.Size, "Next": checkpoint.Next, "Fit": checkpoint.Fit,
		"Endless": checkpoint.Endless} {
		if got, want := ir.ScheduleRule(name).Object.Type().String(), reflect.TypeOf(f).String(); got != want {
			t.Errorf("%s is a %s, want %s", name, got, want)
		}
	}
}
