package entries_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/entries"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestMain(m *testing.M) { longtest.Main(m) }

// matrix is a function, its entries, and what both computed.
type matrix struct {
	t    *testing.T
	e    *entries.Entries
	dot  *ir.Func
	m, n int
	sums int  // how many lists were entries of rows
	last bool // the image is the last parameter of the function
}

// plan returns the plan at x: the places of all entries are row*n + col, after which those are added that a row has
// twice. Rows that are set lose the entries that they had.
type plan struct {
	list  []int32
	place []int // for each entry, row*n + col, -1 if it is lost
}

func (m *matrix) plan(args []ir.Value) plan {
	out, err := (&ir.Machine{Steps: 1 << 20}).Eval(m.e.Plan, append(args, ir.ValueOf(1<<20)))
	if err != nil {
		m.t.Fatal(err, m.e.Plan)
	}
	list := ir.As[[]int32](out[len(out)-1])
	var p plan
	last, lists := map[int32]int{}, int(list[0])
	each := func(store func(k int, sets bool, row int32, cols []int32), term func(id, col int32),
		sum func(cols []int32)) {
		for k, rest := 0, list[1+m.e.Head:]; len(rest) > 0; k++ {
			n := 0
			switch rest[0] {
			case entries.ListTerm:
				term(rest[1], rest[2])
				n = 1
			case entries.ListEntries:
				n = int(rest[1])
				sum(rest[2 : 2+n])
			default:
				n = int(rest[0] >> 1)
				store(k, rest[0]&1 == 0, rest[1], rest[2:2+n])
			}
			rest = rest[2+n:]
		}
	}
	terms := 0
	each(func(k int, sets bool, row int32, _ []int32) {
		if sets {
			last[row] = k
		}
	}, func(int32, int32) { terms++ }, func([]int32) {})
	p.list = append(p.list, list[1:1+m.e.Head]...)
	for k := range lists {
		p.list = append(p.list, int32(k*terms))
	}
	for range lists * terms {
		p.place = append(p.place, -1)
	}
	var row int32
	lost := false
	place := func(col int32) int32 {
		at := -1
		if !lost && col != entries.NoColumn {
			at = int(row)*m.n + int(col)
		}
		p.place = append(p.place, at)
		return int32(len(p.place) - 1)
	}
	each(func(k int, sets bool, r int32, cols []int32) {
		row = r
		before, ok := last[r]
		lost = ok && k < before
		if m.e.Head > 0 {
			for _, col := range cols {
				p.list = append(p.list, place(col))
			}
			return
		}
		p.list = append(p.list, ^row)
		if !sets {
			p.list[len(p.list)-1] -= 1 << 29
		}
		for _, col := range cols {
			p.list = append(p.list, col, place(col))
		}
	}, func(id, col int32) {
		p.list = append(p.list, math.MinInt32+id, col)
	}, func(cols []int32) {
		p.list = append(p.list, int32(-1<<30-len(cols)))
		for _, col := range cols {
			p.list = append(p.list, place(col))
		}
		m.sums++
	})
	return p
}

// entries returns the matrix that the values function computes, and whether the plan has changed.
func (m *matrix) entries(p plan, args []ir.Value) (jac []float64, changed bool) {
	out := make([]float64, len(p.place))
	args = append(args, ir.ValuesOf(out, p.list)...)
	results, err := (&ir.Machine{Steps: 1 << 20}).Eval(m.e.Values, args)
	if err != nil {
		m.t.Fatal(err, m.e.Values)
	}
	out = ir.As[[]float64](args[len(args)-2])
	jac = make([]float64, m.m*m.n)
	for k, v := range out {
		if p.place[k] >= 0 {
			jac[p.place[k]] += v
		}
	}
	return jac, ir.As[bool](results[len(results)-1])
}

// products returns the matrix by products with unit vectors.
func (m *matrix) products(args func() []ir.Value) []float64 {
	jac := make([]float64, m.m*m.n)
	for j := range m.n {
		in, out := make([]float64, m.n), make([]float64, m.m)
		in[j] = 1
		all := append(args(), ir.ValuesOf(out, in)...)
		if m.last {
			all = append(args(), ir.ValuesOf(in, out)...)
		}
		if _, err := (&ir.Machine{Steps: 1 << 20}).Eval(m.dot, all); err != nil {
			m.t.Fatal(err, m.dot)
		}
		image := all[len(all)-2]
		if m.last {
			image = all[len(all)-1]
		}
		for i, v := range ir.As[[]float64](image) {
			jac[i*m.n+j] = v
		}
	}
	return jac
}

// jacobian returns the tangent of F in a text and its entries.
func jacobian(t *testing.T, text string) (*ir.Func, *entries.Entries) {
	t.Helper()
	funcs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	dot, _, err := tangent.New().Build(funcs[0], activity.Bits(3))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p, k := dot.Params, len(dot.Params)-2
	e, err := entries.Build(entries.Linear{F: dot, In: p[k+1], InLike: p[1], Out: p[k], OutLike: p[0]})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return dot, e
}

// TestForms compares the entries of functions with products, each of which needs something else of Build.
func TestForms(t *testing.T) {
	compared := 0
	for _, c := range []struct {
		name, body string
		sums       bool // some dots are lists
		fixed      bool // the plan is the same at all points
	}{
		{"clear", "clear(y[1:3])\n y[2] += x[1]", false, true},
		{"clear after entries", "y[2] = x[3]\n y[0] = x[0]\n clear(y[1:])\n y[2] += x[1] * a", false, true},
		{"copy", "copy(y[2:], x[1:4])\n y[0] = x[0] * x[0]", false, true},
		{"copy to a shorter slice", "copy(y[len(y) - 2:], x)", false, true},
		{"fused", "y[0] = math.FMA(x[0], x[1], a)\n y[1] = math.FMA(a, x[1], x[2])", false, true},
		{"scaled by a power of two", "y[0] = math.Ldexp(x[0], n)", false, true},
		{"in single precision", "let v float32 = float32(x[0])\n y[0] = float64(v * v)", false, true},
		{"quotient", "y[0] = x[0] / x[1]\n y[1] = a / x[1]\n y[2] = x[2] / a", false, true},
		{"constant", "y[0] = 2.0\n y[1] = x[0] - x[0]", false, true},
		{"parts of parts", "let u []float64 = x[1:]\n let v []float64 = u[n - 1:n + 3]\n" +
			"let w []float64 = y[2:]\n w[n - 2] = v[0] * v[3]", false, true},
		{"moving part", "let u []float64 = x\n for l, m i int = 0; i < n; i += 1 {\n" +
			"y[i] = u[0] * u[1]\n u = u[1:]\n}", false, true},
		{"least", "y[0] = min(x[0], x[1], x[2] * a)\n y[1] = max(x[3], a)", false, false},
		{"a branch", "let v float64 = x[0]\n if x[1] > 0.0 {\n v = x[n] * x[0]\n}\n y[0] = v * a", false, false},
		{"a branch by an integer", "let v float64\n if n > 3 {\n v = x[n] * x[0]\n}\n y[0] = v * a", false, true},
		{"a rounded index", "y[0] = x[int(x[1] * x[1]) % n]", false, false},
		{"values of the iteration before", "let p float64 = x[0]\n let q float64 = x[1]\n" +
			"for l, m i int = 2; i < n + 4; i += 1 {\n let r float64 = x[i] * q\n y[i] = p * q * r\n p = q\n" +
			"q = x[i]\n}", false, true},
		{"a window", "let p float64 = x[0]\n let c float64\n for l, m i int = 1; i < n + 4; i += 1 {\n" +
			"let r float64 = x[i]\n let d float64 = r - p\n let t float64 = d * d\n let e float64 = p * t + d * t\n" +
			"y[i] = c - e\n c = e\n p = r\n}", false, true},
		{"a branch with a sum", "let s float64\n for k, j c int = 0; c < n; c += 1 {\n s += x[c] * x[1]\n}\n" +
			"let v float64 = x[1]\n if n > 3 {\n v = s * 2.0 + x[2]\n}\n y[0] = v * x[2]", true, true},
		{"a sum", "for l, m i int = 0; i < n; i += 1 {\n let s float64\n for k, j c int = 0; c < i; c += 1 {\n" +
			"s += x[c] * x[i]\n}\n y[i] = math.Sin(s)\n y[i + 1] = s * x[i]\n}", true, true},
		{"Horner's rule", "let s float64 = a\n for l, m i int = 0; i < n; i += 1 {\n s = s * x[n] + x[i]\n}\n y[0] = s",
			true, true},
		{"multiples of a sum", "let s float64\n for l, m i int = 0; i < n; i += 1 {\n s = s * 0.5 + x[i] * x[i]\n}\n" +
			"let t float64 = s * x[1]\n y[0] = t - s\n y[1] = t * t", true, true},
	} {
		dot, e := jacobian(t, "func F(y []float64, x []float64, a float64, n int) exit {\n"+c.body+"\n}\n")
		if e.Fixed != c.fixed {
			t.Errorf("%s: fixed is %v, want %v", c.name, e.Fixed, c.fixed)
		}
		if (e.Head > 0) != (c.fixed && !c.sums) {
			t.Errorf("%s: the plan begins with %d integers that are compared", c.name, e.Head)
		}
		for k, size := range []int{3, 5, 5, 4} {
			m := &matrix{t: t, e: e, dot: dot, m: 2*size + 8, n: size + 12}
			r := rand.New(rand.NewPCG(uint64(k), 9))
			x := make([]float64, m.n)
			for i := range x {
				x[i] = r.NormFloat64()
			}
			args := func() []ir.Value {
				return ir.ValuesOf(make([]float64, m.m), append([]float64(nil), x...), 0.75, size)
			}
			want := m.products(args)
			got, changed := m.entries(m.plan(args()), args())
			for i := range got {
				if changed || math.Abs(got[i]-want[i]) > 1e-12 {
					t.Fatalf("%s: changed is %v, entry %d, %d: got %v, want %v\n%v", c.name, changed, i/m.n, i%m.n,
						got[i], want[i], e.Values)
				}
			}
			if c.sums != (m.sums > 0) {
				t.Errorf("%s: %d sums are lists", c.name, m.sums)
			}
			// A plan is for one number n, if n is read.
			if strings.Contains(e.Values.String(), "!= int32(n)") {
				compared++
				other := ir.ValuesOf(make([]float64, m.m), append([]float64(nil), x...), 0.75, size+1)
				if _, changed := m.entries(m.plan(args()), other); !changed {
					t.Errorf("%s: the plan for n = %d is not found to be one for another n", c.name, size)
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no plan depends on n")
	}
}

// TestRefused requires that functions without entries are refused, with the reason.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ why, results, body string }{
		{"a derivative of a result is read", "", "y[0] = x[0]\n y[1] = y[0] * a"},
		{"derivatives in memory other than", "", "let t []float64 = make([]float64, 3)\n t[n] = x[0]\n y[0] = t[n]"},
		{"derivatives of type [3]float64", "", "let t [3]float64\n t[n] = x[0]\n y[0] = t[n]"},
		{"derivatives of type *float64", "", "let p *float64 = &x[0]\n y[0] = *p"},
		{"it assigns to the parameter", "", "x = x[1:]\n y[0] = x[0]"},
		{"a number depends on more than 64 inputs", "", "let s float64\n" +
			strings.Repeat("s = s + x[n] * a\n n += 1\n", 70) + "y[0] = s"},
		{"a sum of an inner loop", "", "let s float64\n for l, m i int = 0; i < n; i += 1 {\n let r float64\n" +
			"for k, j c int = 0; c < n; c += 1 {\n r += x[c] * x[i]\n}\n s += r\n}\n y[0] = s"},
		{"a sum of sums", "", "let r float64\n for k, j c int = 0; c < n; c += 1 {\n r += x[c]\n}\n let s float64\n" +
			"for l, m i int = 0; i < n; i += 1 {\n s = s + r * x[i]\n}\n y[0] = s"},
		{"a sum changes while", "", "let s float64\n let r float64\n for l, m i int = 0; i < n; i += 1 {\n" +
			"let v float64 = s * a\n s += x[i]\n y[i] = v * s\n}\n y[0] = r"},
		{"a sum changes while", "", "let s float64\n for k, j c int = 0; c < n; c += 1 {\n s += x[c]\n}\n" +
			"let v float64 = s * a\n for l, m i int = 0; i < n; i += 1 {\n y[i] = v\n s += x[i]\n}\n y[n] = s"},
		{"other than the results", "r []float64",
			"r = make([]float64, n)\n r[0] = x[0]\n r = make([]float64, 2)\n r[1] = x[1]"},
		{"a result is a part", "r []float64", "let t []float64 = make([]float64, n)\n t[1] = x[0]\n r = t[1:]"},
		{"a result is a part", "r []float64", "r = x"},
		{"a slice of derivatives is one of inputs and of outputs", "",
			"let u []float64 = x\n if n > 2 {\n u = y\n}\n y[0] = u[1]"},
	} {
		text := "func F(y []float64, x []float64, a float64, n int) (" + c.results + ") exit {\n" + c.body + "\n}\n"
		funcs, err := ir.Parse(text, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		active := activity.Bits(3)
		if c.results != "" {
			active = activity.Bits(2)
		}
		dot, _, err := tangent.New().Build(funcs[0], active)
		if err != nil {
			t.Fatal(err)
		}
		p := dot.Params
		l := entries.Linear{F: dot, InLike: p[1], In: p[len(p)-1], Out: p[4], OutLike: p[0]}
		if c.results != "" {
			l.Out = dot.Results[1]
		}
		if _, err := entries.Build(l); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %v, want %q:\n%v", err, c.why, dot)
		}
	}
}

// TestFixedCall: a passive function that is called may choose indices by numbers, through a slice too.
func TestFixedCall(t *testing.T) {
	funcs, err := ir.Parse(`
func F(y []float64, x []float64) exit {
	let k []int = make([]int, 2)
	call choose(k, x)
	y[0] = x[k[0]]
}
func choose(k []int, x []float64) exit {
	if x[0] > 0.0 {
		k[0] = 1
	}
}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	funcs[1].Passive = true
	dot, _, err := tangent.New().Build(funcs[0], activity.Bits(3))
	if err != nil {
		t.Fatal(err)
	}
	p := dot.Params
	e, err := entries.Build(entries.Linear{F: dot, In: p[3], InLike: p[1], Out: p[2], OutLike: p[0]})
	if err != nil {
		t.Fatal(err)
	}
	if e.Fixed {
		t.Error("the plan is said to be the same at all points")
	}
}
