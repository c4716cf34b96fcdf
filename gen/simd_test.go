package gen_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// inVectors runs the go command with vectors, in dir.
func inVectors(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skipf("there are vectors for amd64 only, and this is %s", runtime.GOARCH)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(environ, "GOEXPERIMENT=simd", "GOAMD64=v1")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "unknown GOEXPERIMENT") {
		t.Skipf("this toolchain has no vectors: %s", out)
	}
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// withVectors generates a package with its SIMD file and writes both.
func withVectors(t *testing.T, dir string) *gen.Package {
	t.Helper()
	p, err := gen.Load(dir, []string{"."}, &gen.Options{SIMD: true, Load: loading})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	return r.Packages[0]
}

// TestSIMD runs the tests of package problems that compare SIMD variants with the scalar functions, and examines the
// machine code of their kernels.
func TestSIMD(t *testing.T) {
	longtest.Skip(t, "compiles the standard library with vectors")
	if longtest.Long() {
		inVectors(t, "..", "vet", "./internal/problems", "./gen/rt/avx")
	}
	kernels(t, 5, inVectors(t, "..", "test", "-count=1", "-vet=off", "-run", "SIMD|Lanes|Int",
		"-gcflags=github.com/nabla-ad/nabla/internal/problems=-S", "./internal/problems", "./gen/rt/avx"))
}

var (
	function    = regexp.MustCompile(`^(\S+) STEXT`)
	instruction = regexp.MustCompile(`\)\t([A-Z0-9_]+)\t(.*)`)
	lowerHalf   = regexp.MustCompile(`\bX[0-9]+\b`)
)

// kernels wants kernels in machine code, so many at least, to have no instruction that knows of the lower
// half of a vector register only: each would stop the processor twice.
func kernels(t *testing.T, least int, code string) {
	t.Helper()
	found, in := 0, ""
	for line := range strings.Lines(code) {
		if m := function.FindStringSubmatch(line); m != nil {
			if in = ""; strings.HasSuffix(m[1], "Kernel") {
				in = m[1]
				found++
			}
		}
		if m := instruction.FindStringSubmatch(line); in != "" && m != nil && m[1][0] != 'V' &&
			lowerHalf.MatchString(m[2]) {
			t.Errorf("%s has %s", in, strings.TrimSpace(line))
		}
	}
	if found < least {
		t.Errorf("%d kernels, want %d at least", found, least)
	}
}

// formula is a random expression.
func formula(r *rand.Rand, depth int, names []string) string {
	if depth == 0 || r.IntN(6) == 0 {
		if r.IntN(5) == 0 {
			return []string{"0.5", "3", "1e-3", "float64(i+n)"}[r.IntN(4)]
		}
		return names[r.IntN(len(names))]
	}
	x, y := formula(r, depth-1, names), formula(r, depth-1, names)
	switch r.IntN(9) {
	case 0, 1:
		return "(" + x + " - " + y + ")"
	case 2:
		return "(-" + x + ")"
	case 3:
		return x + " / (2 + " + y + "*" + y + ")"
	case 4, 5:
		return x + "*" + y
	}
	return "(" + x + " + " + y + ")"
}

// arithmetic returns the source of a random function: a loop with loop-carried variables.
func arithmetic(r *rand.Rand, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "//nabla:differentiate\nfunc %s(y, x []float64) {\n\tn := len(x)\n\tu, v := x[0], 0.25\n\ti := 0\n",
		name)
	names := []string{"u", "v", "x[0]"}
	line := func() {
		to := []string{"u", "v", "u", "y[n-1]"}[r.IntN(4)]
		op := []string{"=", "=", "+=", "-="}[r.IntN(4)]
		fmt.Fprintf(&b, "\t%s %s 0.5*%s\n", to, op, formula(r, 3, names))
	}
	line()
	b.WriteString("\tfor i = 1; i < n-1; i++ {\n")
	names = append(names, "x[i]", "x[i-1]", "y[i]", "y[i+1]", "w")
	fmt.Fprintf(&b, "\tw := %s\n", formula(r, 3, names[:3]))
	for range 1 + r.IntN(4) {
		line()
	}
	fmt.Fprintf(&b, "\tif i%%3 == %d {\n\ty[i] = -%s\n", r.IntN(3), formula(r, 3, names))
	fmt.Fprintf(&b, "\t%s\n\t} else {\n\ty[i+1] += %s\n\t}\n\tu, v = u/(1+u*u), w/(1+w*w)\n\t}\n\ty[0] = u - v\n}\n\n",
		[]string{"continue", "u = v", "break"}[r.IntN(3)], formula(r, 3, names))
	return b.String()
}

const twinTest = `//go:build goexperiment.simd && amd64 && !amd64.v3

package random

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSIMD(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range all {
		twin := *f.hook
		if twin == nil {
			t.Skip("the processor has no AVX2")
		}
		for range 10 {
			x, xdot := make([]float64, 9), make([][4]float64, 9)
			y, ydot := make([]float64, 9), make([][4]float64, 9)
			for i := range x {
				x[i], y[i] = r.NormFloat64(), r.NormFloat64()
				for k := range 4 {
					xdot[i][k], ydot[i][k] = r.NormFloat64(), float64(k)
				}
			}
			y2, ydot2 := append([]float64(nil), y...), append([][4]float64(nil), ydot...)
			*f.hook = nil
			f.of(y, x, ydot, xdot)
			*f.hook = twin
			f.of(y2, x, ydot2, xdot)
			for i := range y {
				got, want := append(ydot2[i][:], y2[i]), append(ydot[i][:], y[i])
				for k := range got {
					if math.Float64bits(got[k]) != math.Float64bits(want[k]) && !(math.IsNaN(got[k]) && math.IsNaN(want[k])) {
						t.Fatalf("%s: %v at %d, want %v", f.name, got, i, want)
					}
				}
			}
		}
	}
}

type entry struct {
	name string
	hook *func(y, x []float64, yDot, xDot [][4]float64)
	of   func(y, x []float64, yDot, xDot [][4]float64)
}

var all = []entry{
`

// TestRandomSIMD checks that the SIMD variants of random functions return the same bits as the scalar forms.
func TestRandomSIMD(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library with vectors")
	}
	many := longtest.Cases(0, 4, 4, 40)
	r := rand.New(rand.NewPCG(5, 6))
	var text, table strings.Builder
	for i := range many {
		name := fmt.Sprintf("F%d", i)
		text.WriteString(arithmetic(r, name))
		fmt.Fprintf(&table, "\t{%q, &f%dTangent4Twin, %sTangent4},\n", name, i, name)
	}
	dir := module(t, map[string]string{
		"go.mod":       "module random\n\ngo 1.26\n",
		"random.go":    "package random\n\n" + text.String(),
		"twin_test.go": twinTest + table.String() + "}\n",
	})
	if withVectors(t, dir).Files[0].SIMD == nil {
		t.Fatal("no function in vectors")
	}
	kernels(t, many, inVectors(t, dir, "test", "-count=1", "-vet=off", "-run", "SIMD", "-gcflags=random=-S",
		"-trimpath", "."))
	if longtest.Long() {
		command(t, dir, "vet", ".") // without vectors
	}
}

// TestSIMDFile follows the second file from the run that asks for it, through runs that keep it current, to its removal
// when no function has a variant or it was deleted.
func TestSIMDFile(t *testing.T) {
	longtest.Skip(t, "generates ten times")
	const waves = "package boot\n\nfunc sq(x float64) float64 { return x * x }\n\n//nabla:differentiate\nfunc F(x " +
		"[]float64) float64 {\n\ts := 0.0\n\tfor _, v := range x {\n\t\ts += sq(v)\n\t}\n\treturn s\n}\n"
	dir := module(t, map[string]string{"go.mod": bootMod, "boot.go": waves})
	main, twin := filepath.Join(dir, lower.Output), filepath.Join(dir, lower.SIMDOutput)
	update := func(r *gen.Report, want ...string) {
		t.Helper()
		changed, err := r.Write()
		if err != nil || strings.Join(changed, " ") != strings.Join(want, " ") {
			t.Errorf("changed %v, %v, want %v", changed, err, want)
		}
	}
	withVectors(t, dir)
	asked := read(t, twin)
	if stale, err := generate(t, dir, ".").Stale(); err != nil || stale != nil {
		t.Errorf("stale without being asked for: %v, %v", stale, err)
	}
	write(t, twin, lower.Header+
		"\n\npackage boot\n\nimport \"no/such\"\n\nvar FTangent4 = such.X\n\nfunc fTangent4Twin( {\n")
	p, err := gen.Load(dir, []string{"."},
		&gen.Options{Load: lower.LoadOptions{Packages: loaded.Packages, Env: append(environ, "GOEXPERIMENT=simd")}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	update(r, twin)
	if read(t, twin) != asked {
		t.Errorf("a second file that does not compile is input of a generation:\n%s", read(t, twin))
	}
	write(t, filepath.Join(dir, "boot.go"), strings.ReplaceAll(waves, "x * x", "x * x * x"))
	if stale, err := generate(t, dir, ".").Stale(); err != nil || len(stale) != 4 {
		t.Errorf("stale are %v, %v, want all files", stale, err)
	}
	write(t, filepath.Join(dir, "boot.go"),
		"package boot\n\n//nabla:differentiate\nfunc F(x float64) float64 { return x }\n")
	forms, kernels := lower.VectorFileNames(main)
	update(generate(t, dir, "."), main, twin, forms, kernels)
	if _, err := os.Stat(twin); !os.IsNotExist(err) {
		t.Errorf("with nothing left for it the second file is there: %v", err)
	}
	write(t, filepath.Join(dir, "boot.go"), waves)
	update(generate(t, dir, "."), main)
	if text := read(t, main); !strings.Contains(text, "func FTangent4(") || strings.Contains(text, "Twin") {
		t.Errorf("after the second file is removed the first one is\n%s", text)
	}
	write(t, twin, "package boot\n")
	p, err = gen.Load(dir, []string{"."}, &gen.Options{SIMD: true, Load: loading})
	if err != nil {
		t.Fatal(err)
	}
	if r, err = p.Generate(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(); err == nil || !strings.Contains(err.Error(), "not generated by nabla gen") ||
		read(t, twin) != "package boot\n" {
		t.Errorf("somebody else's file is overwritten: %v", err)
	}
}
