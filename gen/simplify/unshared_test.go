package simplify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestUnshared compares the variables that share no memory with those of functions in which they do.
func TestUnshared(t *testing.T) {
	// Two buffers, and one that is not exchanged with them.
	const buffers = `
	let a []float64 = make([]float64, n)
	let b []float64 = make([]float64, n)
	let c []float64 = make([]float64, n)
	a[0] = b[0] * c[0]
`
	loop := func(body string) string {
		return "for l, m i int = 0; i < n; i += 1 {\n" + body + "\n}\n"
	}
	const exchange = "let t []float64 = a\na = b\nb = t\n"
	for _, c := range []struct{ name, body, want string }{
		{"nothing is exchanged", buffers, ""},
		{"exchange", buffers + loop(exchange), "a b c x y"},
		{"an outer temporary", "let t []float64\n" + buffers + loop("t = a\na = b\nb = t"), "a b c x y"},
		{"a temporary is used", "let t []float64\n" + buffers + loop("t = a\na = b\nb = t\nt[0] = 1"), "c x y"},
		{"a temporary lasts", "let t []float64\n" + buffers + loop("b = t\nt = a\na = b"), "a c t x y"},
		{"rotation", buffers + loop("let t []float64 = a\na = b\nb = c\nc = t"), "a b c x y"},
		{"in a branch", buffers + loop("if i > 2 {\n"+exchange+"}"), "a b c x y"},
		{"copy", buffers + loop("a = b"), "b c x y"},
		{"half of an exchange", buffers + loop("if i > 2 {\na = b\n}\nb = c"), "c x y"},
		{"part", buffers + loop("let t []float64 = a\na = b[1:]\nb = t[:2]"), "a b c x y"},
		{"two parts", buffers + loop("let t []float64 = a\na = t[1:]\nb = t[:2]"), "a c x y"},
		{"new memory", buffers + loop("a = b\nb = make([]float64, n)"), "a b c x y"},
		{"one allocation twice", buffers + loop("let t []float64 = make([]float64, n)\na = t\nb = t"), "a c x y"},
		{"none", buffers + loop("a = b\nb = nil"), "a b c x y"},
		{"both have none", buffers + loop("a = nil\nb = nil"), "a b c x y"},
		{"package variable", buffers + loop(exchange+"c = global"), "a b x y"},
		{"from one that is assigned again", buffers + "c = a\na[0] = 1\nlet u []float64 = c\n" +
			loop(exchange+"u = u[1:]"), "a b x y"},
		{"from a view", buffers + "let d []float64 = a[1:]\nd[0] = 1\nlet u []float64 = d\n" + loop("u = u[1:]"),
			"a b c x y"},
		{"by a temporary", "let t []float64\n" + buffers + "t = c\nlet u []float64 = t\n" +
			loop("t = u\nu = a\na = t"), "a b u x y"},
		{"memory is used between", buffers + loop("let t []float64 = a\na = b\na[0] = 1\nb = t"), "c x y"},
		{"used by a value", buffers + loop("let t []float64 = a\na = b\nlet s float64 = a[0]\nb = t"), "c x y"},
		{"used by the value assigned", buffers + loop("let t []float64 = a\na = b\nb = t[int(a[0]):]"), "c x y"},
		{"append", buffers + loop(exchange+"c = append(b, 1.0)"), "a b x y"},
		{"call", buffers + loop(exchange+"c = call g(b)"), "a b x y"},
		{"loaded", buffers + loop(exchange+"c = z.P"), "a b x y"},
		{"address", buffers + "let p *[]float64 = &c\n" + loop(exchange), "a b x y"},
		{"parameters", loop("let t []float64 = x\nx = y\ny = t"), "x y"},
		{"from a parameter", "let a []float64 = x\nlet b []float64 = y\n" + loop(exchange), "a b"},
		{"from one parameter", "let a []float64 = x\nlet b []float64 = x\n" + loop(exchange), "y"},
		{"from a parameter in a loop", buffers + loop("let t []float64 = a\na = x\nb = t\n"), "c x y"},
		{"from a variable", buffers + "let u []float64 = c\n" + loop("let t []float64 = u\nu = a\na = t"), "a b u x y"},
		{"after a use", buffers + "c[0] = 1\nlet u []float64 = c\n" + loop("let t []float64 = u\nu = a\na = t"),
			"a b u x y"},
		{"with a view", "let c []float64 = make([]float64, n)\nlet w []float64 = c\nw[0] = 1\nlet u []float64 = c\n" +
			loop("u = u[1:]"), "u x y"},
		{"in another block", buffers + "let u []float64\nif n > 2 {\nu = c\n}\n" + loop("u = u[1:]"), "a b c x y"},
		{"twice", buffers + "let u []float64 = c\n" + loop("let t []float64 = u\nu = a\na = t\nif i > 2 {\nu = c\n}"),
			"b c x y"},
		{"twice in one block", buffers + "let u []float64 = c\nu[0] = 1\nlet w []float64 = c\n" +
			loop("u = u[1:]\nw = w[1:]"), "a b c x y"},
		{"new memory in each iteration", buffers + loop("let d []float64 = make([]float64, n)\nd[0] = b[0]\nb = d"),
			"a b c d x y"},
		{"lasting memory in each iteration", buffers + "let d []float64\n" +
			loop("d = make([]float64, n)\nd[0] = b[0]\nb = d"), "a c d x y"},
		{"used after it is given", buffers + loop("let d []float64 = make([]float64, n)\nd[0] = b[0]\nb = d\nd[0] = 1"),
			"a b c x y"},
		{"an iteration ends early", buffers + loop("let d []float64 = make([]float64, n)\nd[0] = b[0]\nb = d\nleave l"),
			"a b c d x y"},
		{"a branch ends", buffers + loop("let d []float64 = make([]float64, n)\nif n > 2 {\nb = d\nleave m\n}"),
			"a c d x y"},
		{"a scope ends", buffers + "scope s {\nlet d []float64 = make([]float64, n)\nd[0] = 1\nb = d\n}", "a b c x y"},
	} {
		const head = "func g(v []float64) (w []float64) exit {\nw = v\n}\n" +
			"func F(x []float64, y []float64, z *" + loopDataType + ", n int, global []float64) exit {\n"
		f := parse(t, head+c.body+"\n}\n")
		f.Params[len(f.Params)-1].Kind = ir.Global
		f.Params = f.Params[:len(f.Params)-1]
		var got []string
		for v := range simplify.Unshared(f, func(*ir.Var) bool { return true }) {
			got = append(got, v.Name)
		}
		slices.Sort(got)
		if list := strings.Join(got, " "); list != c.want {
			t.Errorf("%s: got %q, want %q\n%s", c.name, list, c.want, f)
		}
		// Of parameters that may overlap nothing is known.
		for v := range simplify.Unshared(f, nil) {
			if v.Kind == ir.Param {
				t.Errorf("%s: %s may overlap another parameter", c.name, v.Name)
			}
		}
	}
}

// exchanges returns a random function that exchanges slices, and otherwise assigns some to others, between loops that
// add to neighbouring elements of one and use another.
func exchanges(seed uint64) string {
	w := &accumulation{Rand: rand.New(rand.NewPCG(seed, 23))}
	slices := []string{"a", "b", "c", "x", "y"}
	if w.IntN(2) == 0 {
		slices = slices[:3]
	}
	var assign func()
	assign = func() {
		p := w.Perm(len(slices))
		u, v, z := slices[p[0]], slices[p[1]], slices[p[2]]
		switch w.IntN(14) {
		case 0, 1, 2, 3:
			t := w.name("t")
			w.line("let %s []float64 = %s", t, u)
			w.line("%s = %s", u, v)
			w.line("%s = %s", v, t)
		case 4, 5:
			w.line("t = %s", u)
			w.line("%s = %s", u, v)
			w.line("%s = %s", v, z)
			w.line("%s = t", z)
		case 6:
			w.line("%s = make([]float64, 100)", u)
		case 7:
			w.line("%s = %s[1:]", u, u)
		case 8:
			if w.IntN(2) == 0 {
				w.line("%s = %s", u, v)
			}
		case 9:
			if w.IntN(3) == 0 {
				w.line("%s = append(%s, 1.0)", u, v)
			}
		case 10:
			if w.IntN(3) == 0 {
				w.line("%s = %s", w.of("t", u), w.of("m", "x", "y"))
			}
		case 11:
			if w.IntN(4) == 0 {
				w.line("%s[2] += 0.5", w.of(u, "m"))
			}
		default:
			w.block("if "+w.of("k > 1", "r > 0.5", "n > 12"), assign)
			w.line("}")
		}
	}
	stencil := func() {
		p := w.Perm(len(slices))
		u, v := slices[p[0]], slices[p[1]]
		if w.IntN(8) == 0 {
			u = "m"
		}
		i, e := w.name("i"), w.name("e")
		w.block(fmt.Sprintf("for %s, %s %s int = 0; %s < n; %s += 1", w.name("l"), w.name("m"), i, i, i), func() {
			w.line("let %s float64 = %s[%s%s]", e, u, i, w.of("", " + 1", " + 2"))
			if w.IntN(2) == 0 {
				w.line("%s[%s + 1] = 0.25", u, i)
			}
			for _, k := range w.Perm(2 + w.IntN(2)) {
				w.line("%s[%s + %d] += 0.5 * %s", v, i, k, e)
			}
		})
		w.line("}")
	}
	w.block("func F(x []float64, y []float64, s *"+loopDataType+", ws *"+loopWorkType+
		", wd *"+loopWorkType+", n int, k int) (r float64) exit", func() {
		w.line("let t []float64")
		w.line("let m []float64 = make([]float64, 100)")
		w.line("m[2] = 0.5")
		for _, v := range slices[:3] {
			w.line("let %s []float64 = %s", v, w.of("make([]float64, 100)", "make([]float64, 100)", "m", "x", "y"))
		}
		body := func() {
			for range 1 + w.IntN(3) {
				assign()
			}
			stencil()
			if w.IntN(3) == 0 {
				assign()
			}
			if w.IntN(4) == 0 {
				d := w.name("d")
				w.line("let %s []float64 = make([]float64, 100)", d)
				slices = append(slices, d)
				stencil()
				slices = slices[:len(slices)-1]
				w.line("%s = %s", w.of("a", "b"), d)
			}
		}
		w.block(fmt.Sprintf("for %s, %s o int = 0; o < 4; o += 1", w.name("l"), w.name("m")), body)
		w.line("}")
		body()
		w.block("for lr, mr j int = 0; j < 40; j += 1", func() {
			w.line("r = 0.9 * r + a[j] + 0.5 * b[j] - 0.25 * c[j] + 0.125 * m[j]")
			if w.IntN(2) == 0 {
				w.line("r = 0.9 * r + t[j]")
			}
		})
		w.line("}")
	})
	w.line("}")
	return w.b.String()
}

// TestExchanges runs Windows on functions that exchange slices.
func TestExchanges(t *testing.T) {
	type list = []func(f *ir.Func)
	compareLoops(t, longtest.Cases(0, 200, 500, 5000), exchanges, []loopPipeline{
		{passes: list{func(f *ir.Func) { simplify.Windows(f, false, nil) }}, tolerance: 1e-9},
		{passes: list{func(f *ir.Func) { simplify.Windows(f, true, nil) }}, distinct: true, tolerance: 1e-9},
	})
}

// TestUnsharedWindows compares the loops in which additions are carried with those in which other slices may lead to
// the same memory. Other slices than u and v, which come from the tape, are unknown.
func TestUnsharedWindows(t *testing.T) {
	const head = "func F(x []float64, ws *struct{S []float64; L [][]float64; M []float64}, n int) exit {\n"
	const popped = `
	let u []float64 = ws.L[0]
	let v []float64 = ws.L[1]
	let m []float64 = ws.M[:n]
`
	loop := func(body string) string {
		return "for l, m1 i int = 0; i < n; i += 1 {\n" + body + "\nu[i] += e\nu[i + 1] += e\n}\n"
	}
	for _, c := range []struct {
		name, body string
		same       bool // u and v are the same slice of the primal
		carried    bool
	}{
		{"none", loop("let e float64 = 1"), false, true},
		{"another slice", loop("let e float64 = v[i]\nv[i] = 0"), false, true},
		{"the same one", loop("let e float64 = v[i]\nv[i] = 0"), true, false},
		{"an unknown one", loop("let e float64 = x[i]\nx[i] = 0"), false, false},
		{"a number of the tape", loop("let e float64 = ws.S[i]"), false, true},
		{"a stack of the tape", loop("let e float64 = ws.S[len(ws.S) - 1]\nws.S = ws.S[:len(ws.S) - 1]"), false, true},
		{"an allocation in the workspace", loop("let e float64 = ws.M[i]"), false, false},
		{"memory given to the workspace", "let y []float64 = make([]float64, n)\nws.S = y\n" +
			loop("let e float64 = ws.S[i]"), false, false},
		{"through a variable", loop("let e float64 = m[i]"), false, false},
		{"a slice of the tape", loop("let e float64 = ws.L[1][i]"), false, false},
		{"an assigned slice", loop("let e float64 = v[i]\nv = v[1:]"), false, false},
	} {
		f := parse(t, head+popped+c.body+"}\n")
		unshared := map[*ir.Var]*ir.Var{}
		var u *ir.Var
		for _, v := range ir.Vars(f) {
			switch {
			case v.Name == "u":
				u = v
				unshared[v] = v
			case v.Name == "v" && c.same:
				unshared[v] = u
			case v.Name == "v":
				unshared[v] = v
			}
		}
		simplify.Adjoint(f, nil, true, f.Params[1], func(v *ir.Var) bool { return v.Name != "ws" },
			unshared)
		if got := strings.Contains(f.String(), "carry"); got != c.carried {
			t.Errorf("%s: carried is %t\n%s", c.name, got, f)
		}
	}
}
