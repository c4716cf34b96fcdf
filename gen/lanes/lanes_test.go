package lanes_test

import (
	"errors"
	"go/types"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
)

// parse parses functions and returns the last one, with its parameters and results to be divergent: those named t, u,
// or ending in bar, and all float results but r.
func parse(t *testing.T, text string) (f *ir.Func, params, results activity.Mask) {
	t.Helper()
	funcs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f = funcs[len(funcs)-1]
	if err := ir.Check(f); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	for i, v := range f.Params {
		if v.Name == "t" || v.Name == "u" || strings.HasSuffix(v.Name, "bar") {
			params = params.With(i)
		}
	}
	for i, v := range f.Results {
		if len(f.Results) == 1 || v.Name != "r" {
			results = results.With(i)
		}
	}
	return f, params, results
}

// TestGolden compares the lane forms of functions for three lanes with testdata.
func TestGolden(t *testing.T) {
	const name = "testdata/lanes.ir"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range strings.Split(strings.TrimSpace(string(text)), "\n====\n") {
		before, after, _ := strings.Cut(c, "\n----")
		f, params, results := parse(t, before)
		g, err := lanes.New(lanes.NewTypes(3), nil).Build(f, params, results)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, h := range reached(g) {
			if err := ir.Check(h); err != nil {
				t.Errorf("%v\n%s", err, h)
			}
			list = append(list, strings.TrimSpace(h.String()))
		}
		slices.Reverse(list)
		got := strings.Join(list, "\n")
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

// TestRefused lists functions without lane forms.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"func F(t float64) (r int, rbar float64) exit {\n\tr = int(t)\n\trbar = t\n}",
			"used where all lanes share one"},
		{"func F(t float64) (rbar float64) exit {\n\tif t > 0 {\n\t\tleave exit\n\t}\n\trbar = t\n}",
			"contains an exit"},
		{"func F(t float64) (rbar float64) exit {\n\tif t > 0 {\n\t\tpanic(1)\n\t}\n\trbar = t\n}",
			"a panic under a condition"},
		{"func F(t float64) (rbar float64) exit {\n\tlet n int = 0\n\tif t > 0 {\n\t\tn = 1\n\t}\n\trbar = " +
			"float64(n)\n}", "n"},
		{"func F(x []float64, tbar float64) (rbar float64) exit {\n\tx[0] = tbar\n\trbar = x[0]\n}",
			"x depends on the lane"},
		{"func F(t float64, x []float64) (rbar float64) exit {\n\tif t > 0 {\n\t\tclear(x)\n\t}\n\trbar = t\n}",
			"x depends on the lane"},
		{"func F(xbar []float64, t float64) (rbar float64) exit {\n\tif t > 0 {\n\t\tclear(xbar)\n\t}\n\trbar = t\n}",
			"memory that is changed"},
		{"func F(t float64) (s float64, rbar float64) exit {\n\ts = t\n\trbar = t\n}", ""},
	} {
		f, params, results := parse(t, tt.text)
		_, err := lanes.New(lanes.NewTypes(2), nil).Build(f, params, results)
		var e *lanes.Error
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%v\n%s", err, f)
		case tt.want != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%v, want %q\n%s", err, tt.want, f)
		}
	}
	f, params, results := parse(t, "func F(t float64) (rbar float64) exit {\n\trbar = t\n}")
	if _, err := lanes.New(lanes.NewTypes(1), nil).Build(f, params, results); err == nil {
		t.Error("one lane")
	}
	if _, err := lanes.New(lanes.NewTypes(2), nil).Build(f, params, activity.Bits(0)); err == nil {
		t.Error("a result that depends on the lane and is not named")
	}
}

// TestZeros: an overflow in one lane does not turn the zero of another into a NaN.
func TestZeros(t *testing.T) {
	f, params, results := parse(t,
		"func F(a float64, b float64, t float64) (rbar float64) exit {\n\trbar = t * a * b\n}")
	g, err := lanes.New(lanes.NewTypes(2), nil).Build(f, params, results)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ir.Eval(g, ir.ValuesOf(1e200, 1e200, 0.0, 1e-300))
	if err != nil || ir.As[float64](got[0]) != 0 || math.Abs(ir.As[float64](got[1])/1e100-1) > 1e-15 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestTypes: lane types are recursive where the types are, and hold floats only.
func TestTypes(t *testing.T) {
	number := types.Typ[types.Float64]
	obj := types.NewTypeName(0, nil, "List", nil)
	list := types.NewNamed(obj, nil, nil)
	list.SetUnderlying(types.NewStruct([]*types.Var{
		types.NewField(0, nil, "n", types.Typ[types.Int], false),
		types.NewField(0, nil, "v", number, false),
		types.NewField(0, nil, "next", types.NewPointer(list), false),
	}, nil))
	l := lanes.NewTypes(3)
	twin := l.LaneType(list)
	st := twin.Underlying().(*types.Struct)
	if st.NumFields() != 2 || st.Field(0).Type().String() != "[3]float64" ||
		!types.Identical(st.Field(1).Type(), types.NewPointer(twin)) || l.LaneType(list) != twin {
		t.Errorf("%v %v", twin, st)
	}
	if l.Field(list.Underlying().(*types.Struct), 2) != 1 || l.LaneType(types.Typ[types.Int]) != types.Typ[types.Int] {
		t.Error("fields")
	}
}
