package adjoint_test

import (
	"fmt"
	"go/types"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// exchanging returns the function F(x []float64, k int), which repeats a body, k times, that may assign the slices a, b
// and c, the indices p and q and the numbers g and h, which it reads in loops.
func exchanging(t *testing.T, body string) *ir.Func {
	t.Helper()
	const head = `func F(x []float64, k int) (r float64) exit {
	let a []float64 = make([]float64, len(x))
	let b []float64 = make([]float64, len(x))
	let c []float64 = make([]float64, len(x))
	let p int = 0
	let q int = 1
	let g float64 = 0.7
	let h float64 = x[0]
	copy(a, x)
	copy(c, x)
	for l1, n1 t int = 0; t < k; t += 1 {
`
	const tail = `
		for l2, n2 i int = 1; i < len(x); i += 1 {
			b[i] = a[i] * a[i - 1] + 0.25 * c[i]
			c[i - 1] += b[i] * b[p] * g
		}
	}
	for l3, n3 j int = 0; j < len(x); j += 1 {
		r += a[j] * a[j] + 2 * b[j] + c[j] * a[q]
	}
}`
	funcs, err := ir.Parse(head+body+tail, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, head+body+tail)
	}
	return funcs[0]
}

// TestExchanges checks which assignments the reverse sweep undoes by others, without the tape.
func TestExchanges(t *testing.T) {
	const swap = "let s []float64 = a\na = b\nb = s\n"
	names := slices.Sorted(maps.Keys(variants))
	for i, c := range []struct {
		name, body string
		recorded   string // the variables whose old values are on the tape
	}{
		{"two", swap, ""},
		{"three", "let s []float64 = a\na = b\nb = c\nc = s\n", ""},
		{"three, the other way", "let s []float64 = c\nc = b\nb = a\na = s\n", ""},
		{"integers", "let s int = p\np = q\nq = s\n", ""},
		{"both at once", "let s []float64 = a\nlet o int = p\na = b\np = q\nb = s\nq = o\n", ""},
		{"with another temporary", "let s []float64 = a\nlet o []float64 = b\na = o\nb = s\n", ""},
		{"numbers", "let s float64 = g\ng = h\nh = s\n", ""},
		{"with itself", "let s []float64 = a\na = s\n", ""},
		{"declared in the loop", "let d []float64 = make([]float64, len(x))\ncopy(d, x[1:])\nlet s []float64 = a\n" +
			"a = d\nd = s\n", "d"},
		{"in a branch", "if t > 1 {\n" + swap + "}\n", ""},
		{"twice", swap + "b[0] = x[1] * 3\n" + strings.ReplaceAll(swap, "s", "o"), ""},
		{"twice in a run", swap + "let o []float64 = a\na = b\nb = o\n", "ab"}, // each is assigned twice
		{"one is new", "let s []float64 = a\na = b\nb = make([]float64, len(x))\ncopy(b, s)\n", "sab"},
		{"one is lost", "c = a\na = b\n", "ca"},
		{"a part", "let s []float64 = a\na = b[0:]\nb = s\n", "ab"},
		{"use between", "let s []float64 = a\na = b\na[0] = x[0] * 2\nb = s\n", "ab"},
	} {
		f := exchanging(t, c.body)
		m := activity.Bits(1)
		for _, name := range append([]string{""}, inTurn(i, names)...) {
			for _, k := range []int{0, 1, 4} {
				check(t, f, m, variants[name], []float64{0.7, 1.3, -0.4, 0.9}, k)
			}
		}
		p := adjoint.New(types.NewPackage("w", "w"), "Work", adjoint.Options{})
		p.Disable(adjoint.Optimizations["simplification"] | adjoint.Optimizations["record storage"])
		if _, err := p.Of(f, m); err != nil {
			t.Fatal(err)
		}
		got := ""
		fields := p.Workspace().Type.Underlying().(*types.Struct)
		for field := range fields.Fields() {
			name := strings.TrimRight(field.Name(), "123456789")
			if len(name) == 1 && field.Type().String() != "[]float64" && !strings.Contains(got, name) {
				got += name
			}
		}
		if got != c.recorded {
			t.Errorf("%s: old values of %q are recorded, want %q", c.name, got, c.recorded)
		}
	}
}

// TestExchangeOnce checks that the reverse sweep knows a variable from a block, which has the old value of another one.
func TestExchangeOnce(t *testing.T) {
	funcs, err := ir.Parse(`func F(x []float64, k int) (r float64) exit {
	let a []float64 = make([]float64, len(x))
	copy(a, x)
	r += a[0] * a[1]
	if k > 1 {
		let d []float64 = make([]float64, len(x))
		let s []float64 = a
		a = d
		d = s
	}
	a[1] = r * r
	r += a[0] + a[1]
}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, disabled := range variants {
		for _, k := range []int{1, 2} {
			check(t, funcs[0], activity.Bits(1), disabled, []float64{0.7, 1.3}, k)
		}
	}
}

// TestRandomExchanges checks adjoints of functions with random runs of assignments to variables.
func TestRandomExchanges(t *testing.T) {
	n := 150
	if longtest.Long() {
		n = 400
	}
	rng := rand.New(rand.NewPCG(3, 4))
	names := slices.Sorted(maps.Keys(variants))
	for k := range n {
		buffers, indices, numbers := []string{"a", "b", "c"}, []string{"p", "q"}, []string{"g", "h"}
		temporaries := 0
		var run func(depth int) string
		run = func(depth int) (out string) {
			for range 1 + rng.IntN(6) {
				list, typ := &buffers, "[]float64"
				switch rng.IntN(5) {
				case 0:
					list, typ = &indices, "int"
				case 1:
					list, typ = &numbers, "float64"
				}
				from := (*list)[rng.IntN(len(*list))]
				to := (*list)[rng.IntN(len(*list))]
				switch rng.IntN(8) {
				case 0, 1:
					to = fmt.Sprintf("s%d", temporaries)
					temporaries++
					out += fmt.Sprintf("let %s %s = %s\n", to, typ, from)
					*list = append(*list, to)
				case 2:
					if typ == "[]float64" {
						out += fmt.Sprintf("%s[%d] = %s[1] * 2\n", to, rng.IntN(3), from)
					}
				case 3:
					if depth < 2 {
						a, b, c := len(buffers), len(indices), len(numbers)
						out += fmt.Sprintf("if t %% 2 == %d {\n%s}\n", rng.IntN(2), run(depth+1))
						buffers, indices, numbers = buffers[:a], indices[:b], numbers[:c]
					}
				case 4, 5: // an exchange
					s := fmt.Sprintf("s%d", temporaries)
					temporaries++
					out += fmt.Sprintf("let %s %s = %s\n%s = %s\n%s = %s\n", s, typ, from, from, to, to, s)
				default:
					out += fmt.Sprintf("%s = %s\n", to, from)
				}
			}
			return out
		}
		f := exchanging(t, run(0))
		for _, name := range inTurn(k, names) {
			check(t, f, activity.Bits(1), variants[name], []float64{0.7, 0.3, -0.4}, 1+rng.IntN(4))
		}
		if t.Failed() {
			t.Fatalf("%v", f)
		}
	}
}
