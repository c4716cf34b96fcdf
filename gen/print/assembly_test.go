package print_test

import (
	"fmt"
	"go/types"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// kernelParams are the parameters of a random kernel, and kernelArgs their names.
const (
	kernelParams = "n int, st []float64, a []float64, b []float64, c []float64, d []float64, u float64, v float64"
	kernelArgs   = "n, st, a, b, c, d, u, v"
)

// moreSlices are further parameters of kernels, which have more slices than registers, and moreArgs their values.
var moreSlices, moreArgs = func() (params, args string) {
	for k := range 9 {
		params += fmt.Sprintf(", g%d []float64", k)
		args += fmt.Sprintf(", b[%d:]", k%4)
	}
	return params, args
}()

// kernel returns the text of a random kernel with two carried variables and a sum: c is set, d added to.
func kernel(r *rand.Rand, name, more string, values int) string {
	names := []string{"u", "v", "a[i]", "a[i + 1]", "b[i + 3]", "b[i]", "2", "0.125"}
	for k := range strings.Count(more, "[]") {
		names = append(names, fmt.Sprintf("g%d[i]", k))
	}
	var formula func(depth int) string
	formula = func(depth int) string {
		if depth == 0 {
			return names[r.IntN(len(names))]
		}
		x, y := formula(depth-1), formula(r.IntN(depth))
		return []string{"(" + x + " + " + y + ")", "(" + x + " - " + y + ")", "(" + x + " * " + y + ")",
			"(" + x + " / (1 + " + y + "))", "(-" + x + ")",
			"math.Abs(" + x + ")", "math.Sqrt(math.Abs(" + x + "))"}[r.IntN(7)]
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("func %s(%s) exit {", name, kernelParams+more)
	line("let p float64 = st[0]\nlet q float64 = st[1]\nlet s float64 = st[2]")
	if r.IntN(2) == 0 {
		line("for l, m i int = 0; i < n; i += 1 {")
	} else {
		line("for l, m i int = n - 1; i > -1; i += -1 {")
	}
	var all []string
	first := r.IntN(values) // the values from here on depend on the carried variables, which have one before
	for k := range values {
		if k == first+1 {
			names = append(names, "p", "q", "p")
		}
		line("let t%d float64 = %s", k, formula(1+r.IntN(3)))
		names = append(names, fmt.Sprintf("t%d", k))
		all = append(all, fmt.Sprintf("t%d", k))
	}
	line("c[i + 1] = %s", formula(2))
	line("s += %s", strings.Join(all, " + "))
	line("d[i] += %s", formula(2))
	line("p = %s", []string{all[first], "a[i]", "b[i + 2] * u"}[r.IntN(3)])
	line("q = %s", []string{"3", all[0], "v"}[r.IntN(3)])
	line("}\nst[0] = p\nst[1] = q\nst[2] = s\n}")
	return b.String()
}

// TestKernels runs random kernels in assembly and compares their results with those of the evaluator.
func TestKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("there are kernels for amd64 only")
	}
	r := rand.New(rand.NewPCG(5, 9))
	pkg := types.NewPackage("kernels", "kernels")
	var list []print.Func
	forms := map[*ir.Func]*print.VectorForm{}
	var table strings.Builder
	for i := range longtest.Cases(0, 10, 60, 600) {
		more, args := "", ""
		if i%3 == 0 {
			more, args = moreSlices, moreArgs
		}
		text := kernel(r, fmt.Sprintf("K%d", i), more, 1+r.IntN(30))
		for _, call := range []bool{false, true} {
			text += fmt.Sprintf("func F%d(%s) exit {\n", i, kernelParams)
			if call {
				text += fmt.Sprintf("call K%d(%s)\n", i, kernelArgs+args)
			}
			text += "}\n"
		}
		funcs, err := ir.Parse(strings.Replace(text, fmt.Sprintf("func F%d", i), fmt.Sprintf("func G%d", i), 1), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		k, f, g := funcs[0], funcs[1], funcs[2]
		list = append(list, print.Func{Func: f, Name: fmt.Sprintf("F%d", i)})
		forms[f] = &print.VectorForm{Func: g, Kernels: []*ir.Func{k}}
		for range 3 {
			n := 4 * (1 + r.IntN(5))
			data := make([][]float64, 5)
			for j := range data {
				data[j] = make([]float64, []int{3, n + 1, n + 3, n + 1, n}[j])
				for e := range data[j] {
					data[j][e] = []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), 0, math.Inf(1)}[r.IntN(5)]
				}
			}
			u, v := r.NormFloat64(), r.NormFloat64()
			fmt.Fprintf(&table, "{f%dVectors, %d, %s, %v, %v, ", i, n, bitsOf(data), u, v)
			in := ir.ValuesOf(n, data[0], data[1], data[2], data[3], data[4], u, v)
			if _, err := (&ir.Machine{Steps: 1 << 20}).Eval(g, in); err != nil {
				t.Fatal(err)
			}
			for j := range data {
				data[j] = ir.As[[]float64](in[1+j])
			}
			table.WriteString(bitsOf(data) + "},\n")
		}
	}
	copies, err := ir.Parse("func Copy(n int, dst []float64, src []float64) exit {\n"+
		"for l, m i int = 0; i < n; i += 1 {\ndst[i] = src[i]\n}\n}\n"+
		"func C(n int, dst []float64, src []float64) exit {\n}\n"+
		"func D(n int, dst []float64, src []float64) exit {\ncall Copy(n, dst, src)\n}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	list = append(list, print.Func{Func: copies[1], Name: "C"})
	forms[copies[1]] = &print.VectorForm{Func: copies[2], Kernels: copies[:1]}
	source := print.Source{Pkg: pkg, Funcs: list, Vectors: func(f *ir.Func) *print.VectorForm { return forms[f] }}
	files, err := source.PrintParts()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(files.Kernels), "VMOVNTPD") {
		t.Error("no kernel stores past the caches")
	}
	if !strings.Contains(string(files.Kernels), "(SP), Y") {
		t.Error("no kernel needs more than the registers")
	}
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module kernels\n\ngo 1.26\n\nrequire github.com/nabla-ad/nabla v0.0.0\n\n" +
			"replace github.com/nabla-ad/nabla => " + root + "\n",
		"go.sum": string(sums), "f.go": string(files.Parts[""]), "vectors.go": string(files.Vectors),
		"vectors.s": string(files.Kernels), "kernels_test.go": kernelsTest + table.String() + "}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-count=1", "-vet=asmdecl", "-mod=mod", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOAMD64=v1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%.5000s", err, out)
	}
}

// bitsOf returns the text of an array of slices, each number as its bits.
func bitsOf(data [][]float64) string {
	var b strings.Builder
	b.WriteString("[5][]uint64{")
	for _, list := range data {
		b.WriteString("{")
		for _, x := range list {
			fmt.Fprintf(&b, "%#x, ", math.Float64bits(x))
		}
		b.WriteString("}, ")
	}
	return b.String() + "}"
}

const kernelsTest = `package kernels

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
)

func TestKernels(t *testing.T) {
	if !rt.Vectors() {
		t.Skip("the processor has no AVX")
	}
	for i, c := range cases {
		var d [5][]float64
		for k, list := range c.before {
			for _, b := range list {
				d[k] = append(d[k], math.Float64frombits(b))
			}
		}
		c.f(c.n, d[0], d[1], d[2], d[3], d[4], c.u, c.v)
		for k, list := range c.after {
			for j, b := range list {
				want := math.Float64frombits(b)
				if got := d[k][j]; math.Float64bits(got) != b && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Fatalf("case %d: slice %d has %v at %d, want %v", i, k, got, j, want)
				}
			}
		}
	}
}

// TestCopy copies to places that are aligned in each way, with much memory behind them or little.
func TestCopy(t *testing.T) {
	if !rt.Vectors() {
		t.Skip("the processor has no AVX")
	}
	src := make([]float64, 300)
	for i := range src {
		src[i] = float64(i + 1)
	}
	all := make([]float64, 1<<20)
	for _, n := range []int{4, 28, 32, 36, 40, 64, 100, 104, 256} {
		for at := 5; at < 13; at++ {
			for _, dst := range [][]float64{all[at:], all[at : at+n : at+n]} {
				clear(all[:400])
				cVectors(n, dst, src[at%3:])
				for i, v := range all[:400] {
					want := 0.
					if at <= i && i < at+n {
						want = src[at%3+i-at]
					}
					if v != want {
						t.Fatalf("n %d at %d, capacity %d: element %d is %v, want %v", n, at, cap(dst), i, v, want)
					}
				}
			}
		}
	}
}

var cases = []struct {
	f             func(n int, st, a, b, c, d []float64, u, v float64)
	n             int
	before        [5][]uint64
	u, v          float64
	after         [5][]uint64
}{
`
