package lanes_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
)

// inFour returns the lane form of a function for four lanes, and its vector form.
func inFour(t *testing.T, text string) (g *ir.Func, v *lanes.Vector) {
	t.Helper()
	f, params, results := parse(t, text)
	p := lanes.New(lanes.NewTypes(ir.VectorLanes), nil)
	p.EnableVectors()
	g, err := p.Build(f, params, results)
	if err != nil {
		t.Fatal(err)
	}
	return g, p.Vector(g)
}

// TestVectors compares vector forms with testdata, and their results with those of the lane forms.
func TestVectors(t *testing.T) {
	const name = "testdata/vectors.ir"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range strings.Split(strings.TrimSpace(string(text)), "\n====\n") {
		before, after, _ := strings.Cut(c, "\n----")
		g, v := inFour(t, before)
		if v == nil {
			t.Fatalf("no vectors of\n%s", before)
		}
		for _, f := range []*ir.Func{v.Func, v.Kernel} {
			if err := ir.Check(f); err != nil {
				t.Errorf("%v\n%s", err, f)
			}
		}
		for _, x := range []float64{0, -1.5, 1e200, math.Inf(1)} {
			var got, want []string
			for i, f := range []*ir.Func{g, v.Func} {
				args := arguments(f, x)
				results, err := ir.Eval(f, args)
				if err != nil {
					t.Fatal(err)
				}
				var list []string
				for k, r := range f.Results {
					list = append(list, results[k].Text(r.Type))
				}
				for k, p := range f.Params {
					list = append(list, args[k].Text(p.Type))
				}
				if want = list; i == 0 {
					got = list
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("at %v: %v in vectors, want %v\n%s", x, want, got, v.Kernel)
			}
		}
		got := strings.TrimSpace(v.Kernel.String()) + "\n" + strings.TrimSpace(v.Func.String())
		if got != strings.TrimSpace(after) {
			t.Errorf("got\n%s\nwant\n%s", got, after)
		}
		out = append(out, before+"\n----\n"+got)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, []byte(strings.Join(out, "\n====\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// arguments returns values for the parameters of a function; its numbers are near x.
func arguments(f *ir.Func, x float64) (args []ir.Value) {
	const n = 5
	for i, p := range f.Params {
		var v any
		switch p.Type.String() {
		case "int":
			v = n - 1
		case "float64":
			v = x + float64(i)*0.5
		case "[]float64":
			list := make([]float64, n)
			for k := range list {
				list[k] = x - float64(k)
			}
			v = list
		case "[][4]float64":
			list := make([][4]float64, n)
			for k := range list {
				list[k] = [4]float64{1, x, float64(k) - x, math.Copysign(0, -1)}
			}
			v = list
		}
		args = append(args, ir.ValueOf(v))
	}
	return args
}

// TestNoVectors: functions that would need scalar floating-point instructions, or would not gain, have no vector form.
func TestNoVectors(t *testing.T) {
	loop := func(s string) string {
		return "func F(n int, x []float64, xbar []float64, t float64) (rbar float64) exit {\n\trbar = t\n\tfor l, m " +
			"i int = 0; i < n; i += 1 {\n\t\t" +
			strings.ReplaceAll(s, "\n", "\n\t\t") + "\n\t}\n}"
	}
	for _, tt := range []struct {
		what, text string
		want       bool
	}{
		{"a loop", loop("rbar += xbar[i] * x[i]"), true},
		{"a root", loop("rbar += xbar[i] * math.Sqrt(x[i])"), true},
		{"a function of package math", loop("rbar += xbar[i] * math.Exp(x[i])"), false},
		{"a branch on a number", loop("if x[i] > 0 {\n\trbar += xbar[i] * x[i]\n}"), false},
		{"a number as an index", loop("rbar += xbar[int(x[i])] * x[i]"), false},
		{"a number of another type", loop("rbar += xbar[i] * float64(float32(x[i]))"), false},
		{"an array", loop("let a [2]float64\na[0] = x[i]\nrbar += xbar[i] * a[0]"), false},
		{"a large integer", loop("rbar += xbar[i] * float64(uint64(i))"), false},
		{"what is cleared", loop("rbar += xbar[i] * x[i]\nclear(xbar)"), false},
		{"little", "func F(a float64, t float64) (rbar float64) exit {\n\trbar = t * a\n}", false},
	} {
		if _, v := inFour(t, tt.text); (v != nil) != tt.want {
			t.Errorf("%s: vectors are there: %v, want %v", tt.what, v != nil, tt.want)
		}
	}
}
