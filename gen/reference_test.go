package gen_test

import (
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// reference is a row of a file in testdata/reference, as far as the test that writes functions has to know it.
type reference struct {
	Func, Body string
	row        json.RawMessage
}

func (r *reference) UnmarshalJSON(row []byte) error {
	type plain reference
	r.row = slices.Clone(row)
	return json.Unmarshal(row, (*plain)(r))
}

// sampled is the first row of every other function, or all rows in the long form of the tests.
func sampled(rows []reference) []reference {
	if longtest.Long() {
		return rows
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(rows, func(r reference) bool {
		again := seen[r.Func]
		seen[r.Func] = true
		return again || len(seen)%2 == 0
	})
}

// references reads a file of testdata/reference.
func references(t *testing.T, name string) (rows []reference) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, "testdata/reference/"+name)), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// referenceFiles has a function for each row, and the test that compares their derivatives with the numbers in the
// file.
func referenceFiles(t *testing.T, name string, imports ...string) map[string]string {
	t.Helper()
	var b strings.Builder
	b.WriteString("package reference\n\n")
	of := sampled(references(t, name))
	for _, at := range imports {
		if slices.ContainsFunc(of, func(r reference) bool { return strings.Contains(r.Body, path.Base(at)+".") }) {
			fmt.Fprintf(&b, "import %q\n", at)
		}
	}
	list := "\nvar functions = []func([]float64) float64{"
	var rows []json.RawMessage
	for i, r := range of {
		rows = append(rows, r.row)
		fmt.Fprintf(&b, "\n//nabla:differentiate\nfunc F%d(x []float64) float64 { %s }\n", i, r.Body)
		list += fmt.Sprintf("F%d, ", i)
	}
	data, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"functions.go": b.String() + list + "}\n", "reference.json": string(data),
		"reference_test.go": read(t, "testdata/reference/harness.txt"),
	}
}

// TestMath takes first and second derivatives of every function of package math with every engine, and compares them
// with numbers of many digits. Functions that have none are refused where they are called.
func TestMath(t *testing.T) {
	refused := map[string]string{
		"Float32frombits": "converts bits to a number", "Float64frombits": "converts bits to a number",
	}
	covered := map[string]bool{}
	for _, r := range references(t, "math.json") {
		covered[r.Func] = true
	}
	pkg, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import("math")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pkg.Scope().Names() {
		if fn, ok := pkg.Scope().Lookup(name).(*types.Func); ok && fn.Exported() &&
			covered[name] == (refused[name] != "") {
			t.Errorf("math.%s: add it to testdata/reference/math.py, or to what is refused", name)
		}
	}
	dir := module(t, map[string]string{"go.mod": "module golden/refused\n\ngo 1.26\n", "f.go": `package refused

import "math"

//nabla:differentiate
func Float32frombits(x []float64) float64 {
	return x[0] * float64(math.Float32frombits(math.Float32bits(float32(x[0]))^1))
}

//nabla:differentiate
func Float64frombits(x []float64) float64 {
	return x[0] * math.Float64frombits(math.Float64bits(x[0])^1)
}
`})
	text := problems(generate(t, dir, "."), dir)
	for name, why := range refused {
		want := map[string]string{"Float32frombits": "f.go:7:24",
			"Float64frombits": "f.go:12:16"}[name] + ": function " + name + ": call of math." + name
		if !strings.Contains(text, want) || !strings.Contains(text, why) {
			t.Errorf("%s is refused with\n%swant %s … %s", name, text, want, why)
		}
	}
	together(t, "math").matches(t)
}

func mathFiles(t *testing.T) map[string]string { return referenceFiles(t, "math.json", "math") }

// matches requires that the tests of a part pass and that its file has no paths of this machine.
func (p outcome) matches(t *testing.T) {
	t.Helper()
	if text := withoutNotes(p.problems[p.part]); text != "" {
		t.Error(text)
	}
	for _, path := range []string{p.dir, goEnv(t, "GOROOT"), goEnv(t, "GOMODCACHE")} {
		if !strings.Contains(p.texts[p.part], "func ") || strings.Contains(p.texts[p.part], path) {
			t.Errorf("the file of %d bytes names %s", len(p.texts[p.part]), path)
		}
	}
	p.passes(t)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestLibrary repeats TestMath for functions with derivatives in package library and for some of their callers.
func TestLibrary(t *testing.T) {
	together(t, "library").matches(t)
}

func libraryFiles(t *testing.T) map[string]string {
	return referenceFiles(t, "library.json", "math", "slices", "sort", "gonum.org/v1/gonum/blas",
		"gonum.org/v1/gonum/blas/blas64", "gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/mathext",
		"gonum.org/v1/gonum/stat/distuv")
}
