package shortcut_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/shortcut"
	"github.com/nabla-ad/nabla/gen/tangent"
)

// parse returns the functions of a text.
func parse(t *testing.T, text string) []*ir.Func {
	t.Helper()
	fs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// bodies are statements with a branch, of a function with the parameters v, w and y and the result r.
var bodies = []struct {
	name, body string
	why        string // of the refusal if it is strict, empty if the branch is redundant
}{
	{"term", `if v != 0 {
		r += v * w
	}`, ""},
	{"quotient", `if v != 0 {
		y[1] += v / (w + 3)
	}`, ""},
	{"scale", `if v != 1 {
		for loop, next i int = 0; i < len(y); i += 1 {
			y[i] = y[i] * v
		}
	}`, ""},
	{"clear", `if v == 0 {
		for loop, next i int = 0; i < len(y); i += 1 {
			y[i] = 0
		}
	} else {
		for loop1, next1 j int = 0; j < len(y); j += 1 {
			y[j] = v * y[j]
		}
	}`, ""},
	{"early return", `if v == 0 {
		r = w
		leave exit
	}
	y[0] = y[0] + v * w
	r = w + math.Sin(w) * v`, ""},
	{"two", `if v == 0 || w == 0 {
		leave exit
	}
	r = v * w * math.Exp(v)`, ""},
	{"both scalars", `if v == 0 && w == 1 {
		leave exit
	}
	y[0] = w * y[0] + v * y[1]`, ""},
	{"local memory", `if v != 0 {
		let s []float64 = make([]float64, 2)
		s[0] = v
		s[1] = s[0] * w
		r += v * s[1]
	}`, ""},
	{"passive part", `if v == 0 || len(y) == 0 {
		leave exit
	}
	r += v * y[0]`, ""},

	// The derivative at 0 is infinite.
	{"logarithm", `if v != 0 {
		r += v * math.Log(v)
	}`, "same value"},
	{"root", `if v != 0 {
		r += math.Sqrt(v) * w
	}`, "same value"},
	// The sides differ.
	{"jump", `if v != 0 {
		r += 1 + v
	}`, "same value"},
	{"sine over", `if v == 0 {
		r = 1
	} else {
		r = math.Sin(v) / v
	}`, "same value"},
	{"store", `if v != 0 {
		y[0] = w
	}`, "same values"},
	{"other constant", `if v == 0 {
		y[0] = 2
	} else {
		y[0] = v * w
	}`, "same values"},
	{"count", `let n int = 0
	if v != 0 {
		n += 1
	}
	r = float64(n)`, "same value"},
	{"kink", `if v < 0 {
		r = -v
	} else {
		if v == 0 {
			r = 0
		} else {
			r = v
		}
	}`, "for order"},
	{"kink within", `if v != 0 {
		if v > 0 {
			r += v
		} else {
			r -= v
		}
	}`, "for order"},
	{"loop", `for loop, next {
		if v == 0 {
			leave loop
		}
		r += v
	}`, "ends a loop"},
	{"expression", `if v * w == 0 {
		leave exit
	}
	r = v * w`, "expression"},
	{"elsewhere", `let zero1 bool = v == 0
	if zero1 {
		leave exit
	}
	r = v`, "result is used"},
	{"read again", `if v == 0 {
		y[0] = 0
	} else {
		y[0] = y[0] * v
		r += y[0] * y[1] + w
	}`, "reads memory"},
}

// function returns the function with a body.
func function(t *testing.T, body string) *ir.Func {
	body = strings.ReplaceAll(body, "r -= v", "r += -v")
	return parse(t, "func f(v float64, w float64, y []float64) (r float64) exit {\n"+body+"\n}")[0]
}

// TestBranches requires that redundant branches get the derivatives of the other side, and that others are refused in
// libraries and left alone elsewhere.
func TestBranches(t *testing.T) {
	all := activity.Bits(7)
	for _, tt := range bodies {
		t.Run(tt.name, func(t *testing.T) {
			f := function(t, tt.body)
			before := f.String()
			g, err := shortcut.New(nil, func(string) bool { return true }).Complete(f, all)
			if f.String() != before {
				t.Errorf("the function has changed:\n%v", f)
			}
			var refused *shortcut.Error
			switch {
			case tt.why == "" && err != nil:
				t.Fatal(err)
			case tt.why == "":
				if err := ir.Check(g); err != nil {
					t.Fatalf("%v\n%v", err, g)
				}
				compare(t, f, g)
				return
			case !errors.As(err, &refused) || !strings.Contains(refused.What, tt.why):
				t.Fatalf("%v, want %s\n%v", err, tt.why, g)
			}
			g, err = shortcut.New(nil, nil).Complete(f, all)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(g.String(), "graft") {
				t.Errorf("the branch is changed:\n%v", g)
			}
		})
	}
}

// compare compares the tangent of g with differences of f, where v is a constant that a branch asks for, and the values
// of g with those of f, at infinities too.
func compare(t *testing.T, f, g *ir.Func) {
	t.Helper()
	d, facts, err := tangent.New().Build(g, activity.Bits(7))
	if err != nil {
		t.Fatal(err)
	}
	eval := func(f *ir.Func, x []float64, more ...ir.Value) ([]float64, []ir.Value) {
		args := append(ir.ValuesOf(x[0], x[1], x[2:4:4]), more...)
		results, err := ir.Eval(f, args)
		if err != nil {
			t.Fatalf("%v: %v\n%v", x, err, f)
		}
		return append([]float64{ir.As[float64](results[0])}, ir.As[[]float64](args[2])...), results
	}
	derivatives := func(x, dir []float64) []float64 {
		more := ir.ValuesOf(dir[0], dir[1], append([]float64(nil), dir[2:]...))
		_, results := eval(d, x, more...)
		out := []float64{0}
		if facts.Results.Has(0) {
			out[0] = ir.As[float64](results[1])
		}
		return append(out, ir.As[[]float64](more[2])...)
	}
	inf := math.Inf(1)
	for _, v := range []float64{0, 1, 0.5, math.Copysign(0, -1)} {
		for _, w := range []float64{0, 1, -0.75, inf} {
			for _, y := range [][]float64{{0.5, -2}, {0, 0}, {inf, math.NaN()}} {
				x := append([]float64{v, w}, y...)
				want, _ := eval(f, append([]float64(nil), x...))
				for _, h := range []*ir.Func{g, d} {
					var more []ir.Value
					if h == d {
						more = ir.ValuesOf(1.5, -0.5, []float64{2, 3})
					}
					got, _ := eval(h, append([]float64(nil), x...), more...)
					for i := range want {
						if math.Float64bits(want[i]) != math.Float64bits(got[i]) && want[i] == want[i] &&
							(want[i] != 0 || got[i] != 0) {
							t.Errorf("at %v: value %v, want %v\n%v", x, got, want, h)
						}
					}
				}
				if math.IsInf(w, 0) || math.IsInf(y[0], 0) {
					continue
				}
				dir := []float64{1.5, -0.5, 2, 3}
				at := func(h float64) []float64 {
					z := append([]float64(nil), x...)
					for i := range z {
						z[i] += h * dir[i]
					}
					out, _ := eval(f, z)
					return out
				}
				const h = 1e-6
				up, down, dot := at(h), at(-h), derivatives(append([]float64(nil), x...), dir)
				for i := range dot {
					if q := (up[i] - down[i]) / (2 * h); math.Abs(q-dot[i]) > 1e-6*(1+math.Abs(q)) {
						t.Errorf("at %v: derivative %d is %v, differences are %v\n%v", x, i, dot[i], q, g)
					}
				}
			}
		}
	}
}

// TestPassive requires that branches on numbers without derivatives stay, and with them the function.
func TestPassive(t *testing.T) {
	f := function(t, bodies[0].body)
	g, err := shortcut.New(nil, func(string) bool { return true }).Complete(f, activity.Bits(6))
	if err != nil || g != f {
		t.Errorf("%v, %v", g, err)
	}
}

// TestCalls requires that functions are completed for their arguments, through calls and recursion.
func TestCalls(t *testing.T) {
	fs := parse(t, `
func f(v float64, w float64, y []float64) (r float64) exit {
	if v != 0 {
		let d float64
		d = call dot(y, y)
		call axpy(v, y, y, 2)
		r += v * d
	}
}

func axpy(a float64, x []float64, y []float64, n int) exit {
	if n == 0 {
		leave exit
	}
	for loop, next i int = 0; i < len(x); i += 1 {
		y[i] += a * x[i]
	}
}

func dot(x []float64, y []float64) (s float64) exit {
	for loop, next i int = 0; i < len(x); i += 1 {
		s += x[i] * y[i]
	}
}
`)
	g, err := shortcut.New(nil, func(string) bool { return true }).Complete(fs[0], activity.Bits(7))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, fs[0], g)
	// A function that calls itself is not evaluated for a constant.
	fs = parse(t, `
func f(v float64, w float64, y []float64) (r float64) exit {
	if v != 0 {
		call again(v, y, 3)
	}
}

func again(a float64, y []float64, n int) exit {
	y[0] += a
	if n > 0 {
		call again(a, y, n - 1)
	}
}
`)
	if _, err := shortcut.New(nil, func(string) bool { return true }).Complete(fs[0], activity.Bits(7)); err == nil ||
		!strings.Contains(err.Error(), "itself") {
		t.Errorf("error %v", err)
	}
}

// TestSharedCallee requires that each function that calls one with a branch is completed, not only the first.
func TestSharedCallee(t *testing.T) {
	fs := parse(t, `
func f(v float64, w float64, y []float64) (r float64) exit {
	r = call term(v, w)
}

func g(v float64, w float64, y []float64) (r float64) exit {
	let t float64
	t = call term(v, w)
	r = t + w
}

func term(v float64, w float64) (r float64) exit {
	if v != 0 {
		r += v * w
	}
}
`)
	p := shortcut.New(nil, func(string) bool { return true })
	for _, f := range fs[:2] {
		g, err := p.Complete(f, activity.Bits(7))
		if err != nil {
			t.Fatal(err)
		}
		if g == f {
			t.Errorf("%s is not completed", f.Name)
		}
		compare(t, f, g)
	}
}

// TestReports requires that a branch is followed if a result of type bool tells that it was taken, and refused if the
// result is the same on both sides.
func TestReports(t *testing.T) {
	for _, tt := range []struct {
		body    string
		refused bool
	}{
		{`if v == 0 {
		ok = false
		leave exit
	}
	r = w / v
	ok = true`, false},
		{`if v == 0 {
		ok = true
		leave exit
	}
	r = w / v
	ok = true`, true},
		{`for loop, next i int = 0; i < len(y); i += 1 {
		if y[i] == 0 {
			ok = false
			leave exit
		}
	}
	r = w / v
	ok = true`, false},
		{`for loop, next i int = 0; i < len(y); i += 1 {
		if y[i] == 0 {
			leave exit
		}
	}
	r = w / v
	ok = true`, true},
		{`ok = true
	if v == 0 {
		ok = false
	} else {
		r = w / v
	}
	y[0] = w`, false},
		{`if v == 0 {
		ok = true
	} else {
		r = w / v
		ok = true
	}`, true},
	} {
		f := parse(t, "func f(v float64, w float64, y []float64) (r float64, ok bool) exit {\n"+tt.body+"\n}")[0]
		g, err := shortcut.New(nil, func(string) bool { return true }).Complete(f, activity.Bits(7))
		if (err != nil) != tt.refused {
			t.Errorf("error %v\n%v", err, f)
		}
		if err == nil && strings.Contains(g.String(), "graft") {
			t.Errorf("the branch is changed:\n%v", g)
		}
	}
}

// TestValues requires that functions for values have no trace of derivatives.
func TestValues(t *testing.T) {
	p := shortcut.New(nil, nil)
	g, err := p.Complete(function(t, bodies[0].body), activity.Bits(7))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(g.String(), "graft") {
		t.Fatalf("no graft:\n%v", g)
	}
	v := shortcut.Values{Programs: []*shortcut.Program{p}}
	if h := v.Of(g); strings.Contains(h.String(), "graft") || h == g || v.Of(g) != h || v.Of(h) != h {
		t.Errorf("%v", h)
	}
}
