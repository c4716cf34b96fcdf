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

// TestBoxes reads, prints and evaluates pointers to copies of values in interfaces, and interface values of what
// pointers
// refer to.
func TestBoxes(t *testing.T) {
	const text = `func geom.F(v any) (r float64, s float64) exit {
	let p *float64 = unboxto[*float64](v)
	*p = *p * 3
	r = v.(float64)
	let w any = boxto[any](p)
	*p = 0
	s = w.(float64)
}
`
	f := parse(t, text)[0]
	if got := printed(t, f); got != text {
		t.Errorf("printed as\n%s", got)
	}
	eval := func(in any, text string) ([]ir.Value, error) {
		p := ir.ValueOf(&in)
		g := parse(t, "func geom.G(p *any) (r float64, s float64) exit {\nr, s = call geom.F(*p)\n}\n"+text)[0]
		return ir.Eval(g, []ir.Value{p})
	}
	out, err := eval(2.5, text)
	real := f.Results[0].Type
	if err != nil || out[0].Text(real) != "2.5" || out[1].Text(real) != "7.5" {
		t.Errorf("%v, %v", out, err)
	}
	if _, err := eval(3, text); err == nil || !strings.Contains(err.Error(), "dynamic type is not float64") {
		t.Error(err)
	}
	const null = "func geom.F(v any) (r float64, s float64) exit {\nlet p *float64\nlet w any = boxto[any](p)\n}\n"
	if _, err := eval(3, null); err == nil || !strings.Contains(err.Error(), "nil pointer") {
		t.Error(err)
	}
	for body, want := range map[string]string{
		"let p *int = unboxto[*int](v)":         "no pointer to a value with numbers",
		"let p float64 = unboxto[float64](v)":   "no pointer to a value with numbers",
		"let p *float64 = unboxto[*float64](e)": "does not hold a float64",
		"let p *int; let w any = boxto[any](p)": "holds no value",
		"let p *float64; e = boxto[error](p)":   "holds no value",
	} {
		body = strings.ReplaceAll(body, "; ", "\n")
		funcs, err := ir.Parse("func geom.F(v any, e error) exit {\n"+body+"\n}\n", geom)
		if err == nil {
			err = ir.Check(funcs[0])
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestZeroShadow evaluates zeros in the shape of a value.
func TestZeroShadow(t *testing.T) {
	const results = "(a float64, b float64, n int, m int, k int)"
	const text = `func geom.F(p *geom.Point, s [][]float64) ` + results + ` exit {
	let q *geom.Point = opaque[*geom.Point]("rt.ShadowOf(%v)", p)
	let r [][]float64 = opaque[[][]float64]("rt.ShadowOf(%v)", s)
	q.X += 1
	r[1][0] += 2
	a = p.X
	b = s[1][0] + q.X + q.Y + r[1][0]
	n = len(r)
	m = len(r[0])
	k = cap(r[1])
}
`
	f := parse(t, text)[0]
	g := parse(t, "func geom.G(x float64, s [][]float64) "+results+" exit {\nlet p geom.Point\n"+
		"p.X = x\np.Y = x\na, b, n, m, k = call geom.F(&p, s)\n}\n"+text)[0]
	out, err := ir.Eval(g, []ir.Value{ir.ValueOf(5.0), ir.ValueOf([][]float64{{1}, make([]float64, 1, 4)})})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []any{5.0, 3.0, 2, 1, 4} {
		if got := out[i].Text(f.Results[i].Type); got != ir.ValueOf(want).Text(f.Results[i].Type) {
			t.Errorf("result %d is %s, want %v", i, got, want)
		}
	}
}
