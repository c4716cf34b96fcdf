package ir_test

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// TestDynamicTypes reads, prints and evaluates type tests and assertions.
func TestDynamicTypes(t *testing.T) {
	const text = `func geom.F(v any) (r float64, ok bool) exit {
	ok = typeis[error](v) || typeis[float32](v)
	if typeis[float64](v) {
		r = v.(float64)
	} else {
		r = float64(v.(int))
	}
}
`
	f := parse(t, text)[0]
	if got := printed(t, f); got != text {
		t.Errorf("printed as\n%s", got)
	}
	for _, tt := range []struct {
		in     any
		r      float64
		panics string
	}{
		{2.5, 2.5, ""}, {3, 3, ""}, {"x", 0, "dynamic type is not int"}, {float32(1), 0, "dynamic type is not int"},
	} {
		box := tt.in
		in := ir.ValueOf(&box)
		g := parse(t, "func geom.G(p *any) (r float64) exit {\nlet ok bool\nr, ok = call geom.F(*p)\n}\n"+text)[0]
		out, err := ir.Eval(g, []ir.Value{in})
		switch {
		case tt.panics != "":
			if err == nil || !strings.Contains(err.Error(), tt.panics) {
				t.Errorf("%v: %v", tt.in, err)
			}
		case err != nil || out[0].Text(g.Results[0].Type) != ir.ValueOf(tt.r).Text(g.Results[0].Type):
			t.Errorf("%v: %v, %v", tt.in, out, err)
		}
	}
	for body, want := range map[string]string{
		"ok = typeis[int](ok)":              "a bool does not hold a int",
		"ok = typeis[geom.Point](e)":        "does not hold a geom.Point",
		"let p geom.Point = e.(geom.Point)": "does not hold a geom.Point",
		"let typeis int":                    "cannot be a name",
	} {
		funcs, err := ir.Parse("func geom.F(ok bool, e error) exit {\n"+body+"\n}\n", geom)
		if err == nil {
			err = ir.Check(funcs[0])
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
