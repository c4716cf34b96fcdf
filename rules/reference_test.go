package rules_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	. "github.com/nabla-ad/nabla/rules"
)

// Tolerances relative to the result. Values and first derivatives are a few
// roundings of accurate functions; a second derivative is a sum of products and
// may cancel a little.
const (
	tolFirst  = 1e-13
	tolSecond = 1e-13
)

// valueOfMath lists the points where package math is farther from the truth than
// tolFirst. The value is math's there; the derivatives are not excused.
var valueOfMath = map[string]float64{
	"acos(0.999999)": 1e-11,
}

func TestReference(t *testing.T) {
	text, err := os.ReadFile("testdata/scalar_rules_40.json")
	if err != nil {
		t.Fatal(err)
	}
	type table map[string]struct{ Points []map[string]string }
	var file struct{ Univariate, Bivariate table }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	alias := map[string]string{"square": "sq", "besselj0": "j0"}
	worst := map[string]float64{}
	check := func(t *testing.T, kind, at string, got float64, want string, tol float64) {
		e := relErr(got, parseFloat(t, want))
		worst[kind] = max(worst[kind], e)
		if e > tol {
			t.Errorf("%s of %s: got %v, want %s, relative error %.2g", kind, at, got, want, e)
		}
	}
	n := 0
	for arity, rows := range map[int]table{1: file.Univariate, 2: file.Bivariate} {
		for name, row := range rows {
			if a, ok := alias[name]; ok {
				name = a
			}
			o, ok := Lookup(name)
			if !ok {
				t.Errorf("no op %q", name)
				continue
			}
			t.Run(name, func(t *testing.T) {
				for _, p := range row.Points {
					n++
					at := fmt.Sprintf("%s(%s)", name, p["x"])
					args := []float64{parseFloat(t, p["x"])}
					firsts, seconds := []string{p["d1"]}, [][]string{{p["d2"]}}
					if arity == 2 {
						at = fmt.Sprintf("%s(%s, %s)", name, p["x"], p["y"])
						args = append(args, parseFloat(t, p["y"]))
						firsts = []string{p["dx"], p["dy"]}
						seconds = [][]string{{p["dxx"], p["dxy"]}, {p["dxy"], p["dyy"]}}
					}
					tol := tolFirst
					if excuse, ok := valueOfMath[at]; ok {
						tol = excuse
					}
					check(t, "value", at, value(o, args...), p["value"], tol)
					for i := range args {
						check(t, fmt.Sprint("d", i), at, numeric(o, i, args...), firsts[i], tolFirst)
						for j := range args {
							first, second := partialAt(o, i, j, args...)
							check(t, fmt.Sprint("d", i), at, first, firsts[i], tolFirst)
							check(t, fmt.Sprint("d", i, j), at, second, seconds[i][j], tolSecond)
							if d, used := numericSecond(o, i, j, args...); used {
								check(t, fmt.Sprint("generated d", i, j), at, d, seconds[i][j], tolSecond)
							}
						}
					}
				}
			})
		}
	}
	if n != 200 {
		t.Errorf("%d points, want 200", n)
	}
	t.Logf("%d points, worst relative errors %v", n, worst)
}

// parseFloat reads a decimal number; beyond the range of float64 it is ±Inf.
func parseFloat(t *testing.T, s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(x, 0) {
		t.Fatal(err)
	}
	return x
}
