package gen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// builds is a package whose F has a variant under the tag fast, with the same value at 1 and
// another slope, and that has functions which depend on F, on a constant and on neither.
var builds = map[string]string{
	"go.mod": "module m\n\ngo 1.26\n",
	"slow.go": "//go:build !fast\n\npackage m\n\n// Slope is that of F at 1.\nconst Slope = 2.0\n\n" +
		"//nabla:differentiate\nfunc F(x []float64) float64 { return square(x[0]) }\n\nfunc square(x float64) " +
		"float64 { return x * x }\n",
	"fast.go": "//go:build fast\n\npackage m\n\n// Slope is that of F at 1.\nconst Slope = 3.0\n\nfunc dot() {}\n\n" +
		"//nabla:differentiate\nfunc F(x []float64) float64 { return x[0] * square(x[0]) }\n\nfunc square(x " +
		"float64) float64 { return x * x }\n",
	"m.go": `// Package m has one F or another.
package m

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

//nabla:differentiate
func G(x []float64) float64 { return 2 * F(x) }

//nabla:differentiate
func H(x []float64) float64 {
	dot := 0.0
	for _, v := range x {
		dot += cube(v)
	}
	return dot
}

func cube(x float64) float64 { return x * x * x }

// Newton calls the functions that are generated in each of the builds.
func Newton(x []float64) float64 {
	bar := make([]float64, len(x))
	var w FAdjointWork
	FAdjoint(x, bar, 1, &w)
	return bar[0]
}

func Slopes() (f, g, h float64, err error) {
	df, err := nabla.Gradient(F, source.Reverse{}, []float64{1})
	if err != nil {
		return 0, 0, 0, err
	}
	dg, err := nabla.Gradient(G, source.Reverse{}, []float64{1})
	if err != nil {
		return 0, 0, 0, err
	}
	dh, err := nabla.Gradient(H, source.Reverse{}, []float64{1})
	return df[0], dg[0], dh[0], err
}
`,
	"m_test.go": `package m

import (
	"errors"
	"os"
	"testing"

	"github.com/nabla-ad/nabla"
)

func TestSlopes(t *testing.T) {
	f, g, h, err := Slopes()
	if os.Getenv("WITHOUT") != "" {
		if !errors.Is(err, nabla.ErrUnsupported) {
			t.Fatal("code of another build is used")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if f != Slope || g != 2*Slope || h != 3 {
		t.Errorf("got %v, %v, %v", f, g, h)
	}
	if Newton([]float64{1}) != Slope {
		t.Error(Newton([]float64{1}))
	}
}
`,
}

// generateWith generates a package for a build.
func generateWith(t *testing.T, dir, tags string, env ...string) *gen.Report {
	t.Helper()
	p, err := gen.Load(dir, []string{"."},
		&gen.Options{Load: lower.LoadOptions{Packages: loaded.Packages, Env: append(slices.Clip(environ), env...),
			Flags: []string{"-tags=" + tags}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBuilds generates for two builds and runs both: each has code of its own functions, and
// generating for one leaves the files of the other alone.
func TestBuilds(t *testing.T) {
	longtest.Skip(t, "generates and compiles for several builds")
	dir := module(t, builds)
	written := func(r *gen.Report, want ...string) {
		t.Helper()
		if p := problems(r, dir); p != "" {
			t.Error(p)
		}
		changed, err := r.Write()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, name := range changed {
			names = append(names, filepath.Base(name))
		}
		if !slices.Equal(names, want) {
			t.Errorf("changed %q, want %q", names, want)
		}
	}
	run := func(tags string, env ...string) {
		t.Helper()
		if testing.Short() {
			return
		}
		for _, args := range [][]string{append([]string{"test", "-count=1"}, quick()...), {"vet"}} {
			if args[0] == "vet" && !longtest.Long() {
				continue
			}
			cmd := exec.Command("go", append(args, "-tags="+tags, ".")...)
			cmd.Dir, cmd.Env = dir, append(slices.Clip(environ), env...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("go %s with tags %q: %v\n%s", args, tags, err, out)
			}
		}
	}
	written(generateWith(t, dir, ""), "nabla_gen.go", "nabla_gen-not-fast.go")
	run("")
	both := read(t, filepath.Join(dir, "nabla_gen.go"))
	if !strings.Contains(both, "func HTangent(") || strings.Contains(both, "func GTangent(") {
		t.Errorf("the file for all builds is\n%s", both)
	}
	slow := filepath.Join(dir, "nabla_gen-not-fast.go")
	if text := read(t, slow); !strings.HasPrefix(text, lower.Header+"\n\n//go:build !fast\n\npackage m\n") ||
		!strings.Contains(text, "func GTangent(") {
		t.Errorf("the file for builds without fast is\n%s", text)
	}
	// Without the second run Newton does not compile with the tag, so that is left out.
	m := filepath.Join(dir, "m.go")
	text := read(t, m)
	before, rest, _ := strings.Cut(text, "\tvar w FAdjointWork")
	_, after, _ := strings.Cut(rest, "1, &w)\n")
	write(t, m, before+after)
	run("fast", "WITHOUT=1")
	write(t, m, text)

	written(generateWith(t, dir, "fast"), "nabla_gen-fast.go")
	run("fast")
	if longtest.Long() {
		run("")
	}
	for _, tags := range longtest.Sample([]string{"", "fast"}, 1) {
		written(generateWith(t, dir, tags))
	}
	// A file that is not up to date is one of its own build.
	write(t, filepath.Join(dir, "nabla_gen-fast.go"),
		lower.Header+"\n\n//go:build fast\n\npackage m\n\nfunc GTangent( {\n")
	written(generateWith(t, dir, ""))
	written(generateWith(t, dir, "fast"), "nabla_gen-fast.go")

	// F has no variants any longer.
	for _, name := range []string{"slow.go", "fast.go"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, plain, _ := strings.Cut(builds["slow.go"], "\n\n")
	write(t, filepath.Join(dir, "f.go"), plain)
	write(t, m, strings.ReplaceAll(text, "FAdjointWork", "AdjointWork"))
	written(generateWith(t, dir, ""), "nabla_gen.go", "nabla_gen-not-fast.go")
	if _, err := os.Stat(slow); !os.IsNotExist(err) {
		t.Error("a file without functions is left")
	}
	compile := func(tags string) {
		if compiles(t, dir, "-tags="+tags); longtest.Long() {
			run(tags)
		}
	}
	compile("")
	written(generateWith(t, dir, "fast"), "nabla_gen-fast.go")
	compile("fast")
}

// TestSystems names files by systems, also those of the file that passes a function to an
// operator.
func TestSystems(t *testing.T) {
	longtest.Skip(t, "generates for several systems")
	dir := module(t, map[string]string{
		"go.mod":       "module m\n\ngo 1.26\n",
		"f_linux.go":   "package m\n\n//nabla:differentiate\nfunc F(x float64) float64 { return x }\n",
		"f_windows.go": "package m\n\n//nabla:differentiate\nfunc F(x float64) float64 { return 2 * x }\n",
		"g.go": "package m\n\nfunc G(x float64) float64 { return x }\n\n//nabla:differentiate\nfunc K(x " +
			"float64) float64 { return x }\n",
		"use.go": "//go:build windows && arm64 && go1.20\n\npackage m\n\nimport (\n\t\"github.com/nabla-ad/nabla\"\n" +
			"\t\"github.com/nabla-ad/nabla/backend/source\"\n)\n\n" +
			"var D, _ = nabla.Derivative(G, source.Reverse{}, 1)\n",
	})
	type system struct {
		env  []string
		want string
	}
	systems := []system{ // each of them type-checks the standard library again
		{[]string{"GOOS=linux", "GOARCH=amd64"}, "nabla_gen.go nabla_gen-linux.go"},
		{[]string{"GOOS=windows", "GOARCH=arm64"}, "nabla_gen-arm64-windows.go nabla_gen-windows.go"},
	}
	if longtest.Long() {
		systems = []system{
			systems[0],
			{[]string{"GOOS=windows", "GOARCH=amd64"}, "nabla_gen-windows.go"},
			{[]string{"GOOS=windows", "GOARCH=arm64"}, "nabla_gen-arm64-windows.go"},
			{[]string{"GOOS=linux", "GOARCH=arm64"}, ""},
			{[]string{"GOOS=darwin", "GOARCH=arm64"}, ""},
		}
	}
	for _, tt := range systems {
		r := generateWith(t, dir, "", append(tt.env, "CGO_ENABLED=0")...)
		if p := problems(r, dir); p != "" {
			t.Errorf("%s: %s", tt.env, p)
		}
		changed, err := r.Write()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, name := range changed {
			names = append(names, filepath.Base(name))
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: changed %s, want %s", tt.env, got, tt.want)
		}
	}
	for _, tt := range []struct{ system, arch, want string }{
		{"linux", "amd64", "nabla_gen-linux.go nabla_gen.go"},
		{"windows", "amd64", "nabla_gen-windows.go nabla_gen.go"},
		{"windows", "arm64", "nabla_gen-arm64-windows.go nabla_gen-windows.go nabla_gen.go"},
		{"darwin", "arm64", "nabla_gen.go"},
	} {
		cmd := exec.Command("go", "list", "-f", "{{join .GoFiles \" \"}}", ".")
		cmd.Dir, cmd.Env = dir, append(slices.Clip(environ), "GOOS="+tt.system, "GOARCH="+tt.arch, "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		files := slices.DeleteFunc(strings.Fields(string(out)),
			func(name string) bool { return !strings.HasPrefix(name, "nabla_gen") })
		if got := strings.Join(files, " "); got != tt.want {
			t.Errorf("%s/%s compiles %s, want %s", tt.system, tt.arch, got, tt.want)
		}
	}
}
