package gen_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// sweep returns the source of a random function F of two slices, or G of one, with a loop of arithmetic, of which many
// values are needed at the same time in its derivatives.
func sweep(r *rand.Rand, name string) string {
	var b strings.Builder
	w := "x"
	if name[0] == 'F' {
		w = "w"
		fmt.Fprintf(&b, "//nabla:differentiate\nfunc %s(x, w []float64) float64 {\n", name)
	} else {
		fmt.Fprintf(&b, "//nabla:differentiate\nfunc %s(x []float64) float64 {\n", name)
	}
	fmt.Fprintf(&b, "\ts, p, u, v := 0.0, 1.0, x[0], %s[1]\n", w)
	names := []string{"x[i]", "x[i+1]", w + "[i]", w + "[i+2]", "x[i+2]"}
	if r.IntN(5) == 0 {
		names = append(names, "u", "v")
	}
	fmt.Fprintf(&b, "\tfor i := %d; i < len(x)-2; i++ {\n", r.IntN(3))
	for k := range 1 + r.IntN(9) {
		t := fmt.Sprintf("t%d", k)
		fmt.Fprintf(&b, "\t\t%s := %s\n\t\ts += 0.25 * %[1]s\n", t, vectorFormula(r, 2+r.IntN(2), names))
		names = append(names, t)
	}
	for range r.IntN(3) {
		switch r.IntN(20) {
		case 0:
			fmt.Fprintf(&b, "\t\tif %s > 0.5 {\n\t\t\ts += %s\n\t\t}\n", vectorFormula(r, 1, names),
				vectorFormula(r, 1, names))
		case 1:
			fmt.Fprintf(&b, "\t\tp = p*0.5 + %s\n", vectorFormula(r, 2, names))
		default:
			fmt.Fprintf(&b, "\t\ts += %s\n", vectorFormula(r, 2, names))
		}
	}
	last := []string{"x[i+1]", w + "[i]", names[len(names)-1]}
	fmt.Fprintf(&b, "\t\tu, v = %s, %s\n\t}\n\treturn s + p*u - v\n}\n\n", last[r.IntN(3)], last[r.IntN(3)])
	return b.String()
}

// vectorFormula returns a random expression with functions of vectors.
func vectorFormula(r *rand.Rand, depth int, names []string) string {
	if depth == 0 {
		return names[r.IntN(len(names))]
	}
	x, y := vectorFormula(r, depth-1, names), vectorFormula(r, depth-1, names)
	switch r.IntN(10) {
	case 0:
		return "math.Abs(" + x + ")"
	case 1:
		return "math.Sqrt(1 + " + x + "*" + x + ")"
	case 2:
		return "(" + x + " / (3 + " + y + "*" + y + "))"
	case 3:
		return "(-" + x + ")"
	case 4, 5:
		return "(" + x + " + " + y + ")"
	case 6:
		return "(0.75*" + x + " - " + y + ")"
	}
	return x + "*" + y
}

const formsTest = `package random

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestForms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ws := new(AdjointWork)
	for _, f := range all {
		for n := 3; n < 90; n += 1 + r.IntN(4) {
			data := make([][]float64, 8)
			for i := range data {
				data[i] = make([]float64, n)
				for k := range data[i] {
					if data[i][k] = r.NormFloat64(); r.IntN(200) == 0 {
						data[i][k] = []float64{0, math.Inf(1), -0.0}[r.IntN(3)]
					}
				}
			}
			run := func() (out []float64) {
				var copies [8][]float64
				for i := range data {
					copies[i] = append([]float64(nil), data[i]...)
				}
				out = f.of(copies, ws)
				for _, c := range copies {
					out = append(out, c...)
				}
				return out
			}
			got := run()
			restore := f.without()
			want := run()
			restore()
			for k := range got {
				if math.Float64bits(got[k]) != math.Float64bits(want[k]) && !(math.IsNaN(got[k]) && math.IsNaN(want[k])) {
					t.Fatalf("%s, %d numbers: %v at %d, want %v", f.name, n, got[k], k, want[k])
				}
			}
		}
	}
}

type form struct {
	name    string
	of      func(d [8][]float64, ws *AdjointWork) []float64
	without func() (restore func())
}

func list(x ...float64) []float64 { return x }

func nothing(do func()) []float64 {
	do()
	return nil
}

var all = []form{
`

// TestVectorForms checks that the forms of derivatives of random functions with loops in assembly return the bits of
// the others, and that the go command finds no fault with them.
func TestVectorForms(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("there are kernels for amd64 only")
	}
	many := longtest.Cases(0, 10, 30, 300)
	r := rand.New(rand.NewPCG(7, 8))
	var text strings.Builder
	for i := range many {
		text.WriteString(sweep(r, fmt.Sprintf("%c%d", "FG"[i%2], i)))
	}
	dir := module(t, map[string]string{
		"go.mod":    "module random\n\ngo 1.26\n",
		"random.go": "package random\n\nimport \"math\"\n\nvar _ = math.Abs\n\n" + text.String(),
	})
	f := withVectors(t, dir).Files[0]
	var table strings.Builder
	calls := map[string]string{
		"FAdjoint":            "list(%s(d[0], d[1], d[2], d[3], 1.5, ws))",
		"FAdjointTangent":     "list(%s(d[0], d[1], d[2], d[3], 1.5, ws, d[4], d[5], d[6], d[7]))",
		"GAdjoint":            "list(%s(d[0], d[1], 1.5, ws))",
		"GAdjointOverwriting": "list(%s(d[0], d[1], 1.5, ws))",
		"GAdjointOnly":        "nothing(func() { %s(d[0], d[1], 1.5, ws) })",
		"GAdjointTangent":     "list(%s(d[0], d[1], 1.5, ws, d[2], d[3]))",
		"GHVP":                "nothing(func() { %s(d[0], 1.5, ws, d[1], d[2]) })",
	}
	found := map[string]int{}
	for _, m := range regexp.MustCompile(`\t(([fg])(\d+)(\w+)Twin) = `).FindAllStringSubmatch(string(f.Vectors), -1) {
		kind := strings.ToUpper(m[2]) + m[4]
		call, ok := calls[kind]
		found[kind]++
		if !ok {
			continue
		}
		name := strings.ToUpper(m[2]) + m[3] + m[4]
		if strings.HasSuffix(kind, "Overwriting") {
			name = m[2] + m[3] + m[4]
		}
		fmt.Fprintf(&table, "\t{%q, func(d [8][]float64, ws *AdjointWork) []float64 { return %s }, "+
			"func() func() {\n\t\twas := %[3]s\n\t\t%[3]s = nil\n\t\treturn func() { %[3]s = was }\n\t}},\n",
			name, fmt.Sprintf(call, name), m[1])
	}
	kernels := strings.Count(string(f.Kernels), "TEXT")
	t.Logf("%d functions have forms %v with %d kernels", many, found, kernels)
	if kernels < many/2 {
		t.Error("want more kernels")
	}
	write(t, dir+"/forms_test.go", formsTest+table.String()+"}\n")
	command(t, dir, "test", "-count=1", "-vet=asmdecl", ".")
}

// TestVectorNames checks that the go command accepts kernels whose parameters have names of registers or letters that
// are not ASCII, and those of a function whose name begins with such a letter.
func TestVectorNames(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("there are kernels for amd64 only")
	}
	dir := module(t, map[string]string{"go.mod": bootMod, "names.go": `package boot

//nabla:differentiate
func Énergie(X, ñ, π []float64, Y, F, g, µ float64) float64 {
	s := 0.0
	for i := range X {
		s += Y*X[i]*ñ[i] + F*g*ñ[i]*π[i] - µ*X[i]*π[i]
	}
	return s
}
`})
	if p := withVectors(t, dir); !strings.Contains(string(p.Files[0].Kernels), "énergieAdjointLoop1(SB)") {
		t.Error("want a kernel")
	}
	command(t, dir, "vet", "-asmdecl", ".")
	command(t, dir, "build", ".")
}

// TestVectorFiles follows the files with forms and kernels from the run that asks for them, through one that keeps them
// current, to their removal when no function has a form.
func TestVectorFiles(t *testing.T) {
	const chain = "package boot\n\n//nabla:differentiate\nfunc F(x []float64) float64 {\n\ts := 0.0\n" +
		"\tfor i := range len(x) - 1 {\n\t\td := x[i+1] - x[i]*x[i]\n\t\ts += d * d\n\t}\n\treturn s\n}\n"
	dir := module(t, map[string]string{"go.mod": bootMod, "boot.go": chain})
	forms, kernels := lower.VectorFileNames(filepath.Join(dir, lower.Output))
	if filepath.Base(forms) != lower.VectorOutput {
		t.Errorf("the file with forms is %s, want %s", filepath.Base(forms), lower.VectorOutput)
	}
	withVectors(t, dir)
	asked := read(t, forms) + read(t, kernels)
	if stale, err := generate(t, dir, ".").Stale(); err != nil || stale != nil {
		t.Errorf("stale without being asked for: %v, %v", stale, err)
	}
	write(t, forms, lower.Header+"\n\npackage boot\n\nfunc fAdjointTwin( {\n")
	write(t, kernels, lower.Header+"\n\nTEXT ·old(SB)\n")
	changed, err := generate(t, dir, ".").Write()
	if err != nil || strings.Join(changed, " ") != forms+" "+kernels || read(t, forms)+read(t, kernels) != asked {
		t.Errorf("changed %v, %v, want both files as they were", changed, err)
	}
	write(t, filepath.Join(dir, "boot.go"), strings.ReplaceAll(chain, "d * d", "d * d * 0.5"))
	if stale, err := generate(t, dir, ".").Stale(); err != nil || len(stale) < 3 {
		t.Errorf("stale are %v, %v, want all files", stale, err)
	}
	write(t, filepath.Join(dir, "cgo.go"), "//go:build windows && cgo\n\npackage boot\n\nimport \"C\"\n")
	if _, err := generate(t, dir, ".").Write(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{forms, kernels} {
		if _, err := os.Stat(name); !os.IsNotExist(err) {
			t.Errorf("%s is there in a package with cgo: %v", filepath.Base(name), err)
		}
	}
}
