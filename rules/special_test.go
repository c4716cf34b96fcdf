package rules_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	. "github.com/nabla-ad/nabla/rules"
)

// looseMath lists ops whose value package math computes to fewer digits, with
// the tolerance of everything built on it.
var looseMath = map[string]float64{}

// TestSpecial compares ops and ranges that the first table leaves out with
// values computed by testdata/special.py.
func TestSpecial(t *testing.T) {
	text, err := os.ReadFile("testdata/special.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Op            string
		Args          []float64
		Value         string
		First, Second map[string]string
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	worst := map[string]float64{}
	for _, r := range rows {
		o, ok := Lookup(r.Op)
		if !ok {
			t.Errorf("no op %q", r.Op)
			continue
		}
		check := func(kind string, got float64, want string, tol float64) {
			e := relErr(got, parseFloat(t, want))
			worst[r.Op] = max(worst[r.Op], e)
			if e > max(tol, looseMath[r.Op]) {
				t.Errorf("%s of %v%v: got %v, want %s, relative error %.2g", kind, o, r.Args, got, want, e)
			}
		}
		check("value", value(o, r.Args...), r.Value, tolFirst)
		for i := range r.Args {
			if want, ok := r.First[fmt.Sprint(i)]; ok {
				check(fmt.Sprint("d", i), numeric(o, i, r.Args...), want, tolFirst)
			}
			for j := range r.Args {
				if want, ok := r.Second[fmt.Sprint(i)+fmt.Sprint(j)]; ok {
					_, second := partialAt(o, i, j, r.Args...)
					check(fmt.Sprint("d", i, j), second, want, tolSecond)
					if d, used := numericSecond(o, i, j, r.Args...); used {
						check(fmt.Sprint("generated d", i, j), d, want, tolSecond)
					}
				}
			}
		}
	}
	t.Logf("%d points, worst relative errors %v", len(rows), worst)
}
