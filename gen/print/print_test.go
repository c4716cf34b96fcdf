package print_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/tangent"
)

var update = flag.Bool("update", false, "rewrite the golden file")

const module = "github.com/nabla-ad/nabla"

// source is a package that is loaded, with functions of it that are printed: as they
// are, and their tangents by the active parameters.
type source struct {
	dir   string
	pkg   *types.Package
	funcs []print.Func
}

type entry struct {
	name string
	m    activity.Mask
}

func load(t *testing.T, dir string, entries []entry) *source {
	t.Helper()
	pkgs, err := lower.Load(".", []string{dir}, lower.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &source{dir: dir, pkg: pkgs[0].Types}
	p, tangents := lower.New(pkgs, lower.Options{}), tangent.New()
	for _, e := range entries {
		fn := p.Lookup(s.pkg.Path(), e.name)
		f, err := p.Func(fn)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(e.name, ".", "")
		s.funcs = append(s.funcs, print.Func{Func: f, Name: "Same" + name})
		if e.m == 0 {
			continue
		}
		g, _, err := tangents.Of(f, e.m)
		if err != nil {
			t.Fatal(err)
		}
		s.funcs = append(s.funcs, print.Func{Func: g, Name: name + "Tangent", Doc: "computes " + name + " and its derivative."})
	}
	return s
}

func (s *source) file(t *testing.T) []byte {
	t.Helper()
	text, err := print.File(s.pkg, s.funcs...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sources are the packages with functions to print.
func sources(t *testing.T) []*source {
	return []*source{
		load(t, "../tangent/testdata/funcs", []entry{
			{"Scalars", 3}, {"More", 3}, {"Least", 7}, {"Sum", 1}, {"InPlace", 1}, {"Views", 1}, {"Appends", 1},
			{"Branches", 1}, {"Structs", 3}, {"Several", 3}, {"Calls", 1}, {"Captured", 1}, {"Passive", 1},
			{"Small", 1}, {"Kink", 1}, {"Matrix", 1},
		}),
		load(t, "./testdata/funcs", []entry{
			{"Constants", 1}, {"Precedence", 0}, {"Shadows", 1}, {"Loops", 1}, {"Bounds", 1}, {"Panics", 1}, {"Embedded", 1},
			{"Singles", 1}, {"Pairs", 1}, {"Literals", 1}, {"Named", 1}, {"Unused", 1}, {"Nested", 1}, {"Variadic", 1},
			{"Methods", 1},
		}),
	}
}

// TestTypes: what is printed type-checks together with its package.
func TestTypes(t *testing.T) {
	for _, s := range sources(t) {
		fset := token.NewFileSet()
		var files []*ast.File
		names, err := filepath.Glob(s.dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			f, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		text := s.file(t)
		f, err := parser.ParseFile(fset, lower.Output, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
		if _, err := c.Check(s.pkg.Path(), fset, append(files, f), nil); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if !bytes.Equal(text, s.file(t)) {
			t.Error("a second print is different")
		}
	}
}

// call is a function of what is compiled, with its arguments and what they and the
// results are afterwards.
type call struct {
	Package, Func string
	Args          []json.RawMessage
	want          string
}

// calls are evaluations of all functions on random arguments.
func (s *source) calls(t *testing.T, r *rand.Rand) (list []call) {
	for _, fn := range s.funcs {
		for range 20 {
			c := call{Package: s.pkg.Name(), Func: fn.Name}
			var args []any
			for _, v := range fn.Func.Params {
				var a any
				switch v.Type.String() {
				case "float64":
					a = r.NormFloat64() * 2
				case "int":
					a = r.IntN(7) - 1
				case "float32":
					a = float32(r.NormFloat64())
				case "[]float64":
					x := make([]float64, 4)
					for i := range x {
						x[i] = r.NormFloat64() + 1
					}
					a = x
				default:
					t.Fatalf("parameter of type %v", v.Type)
				}
				text, err := json.Marshal(a)
				if err != nil {
					t.Fatal(err)
				}
				args, c.Args = append(args, a), append(c.Args, text)
			}
			values := ir.ValuesOf(args...)
			results, err := ir.Eval(fn.Func, values)
			if err != nil {
				var p *ir.PanicError
				var limit *ir.LimitError
				if errors.As(err, &limit) {
					continue
				}
				if !errors.As(err, &p) {
					t.Fatal(err)
				}
				c.want = "panic"
			} else {
				for i, v := range fn.Func.Results {
					c.want += show(results[i], v.Type)
				}
				for i, v := range fn.Func.Params {
					c.want += show(values[i], v.Type)
				}
			}
			list = append(list, c)
		}
	}
	return list
}

// show is the floats of a value in the form that the compiled program prints.
func show(v ir.Value, t types.Type) string {
	switch t.String() {
	case "float64":
		return bits(ir.As[float64](v))
	case "float32":
		return bits(float64(ir.As[float32](v)))
	case "int":
		return fmt.Sprint(" ", ir.As[int](v))
	case "[]float64":
		s := ""
		for _, x := range ir.As[[]float64](v) {
			s += bits(x)
		}
		return s + ";"
	}
	return "?" + t.String()
}

func bits(x float64) string {
	if math.IsNaN(x) {
		return " nan"
	}
	return fmt.Sprintf(" %x", math.Float64bits(x))
}

// TestRun compiles what is printed and compares it with the evaluation. That is exact
// where the compiler fuses nothing, as on amd64.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// A module of the same name with the packages that generated code imports.
	write("go.mod", []byte("module "+module+"\n\ngo 1.26\n"))
	for _, sub := range []string{"rules", "gen/rt"} {
		copyPackage(t, "../../"+sub, sub, write)
	}
	var calls []call
	var imports, table string
	r := rand.New(rand.NewPCG(5, 6))
	for i, s := range sources(t) {
		at := fmt.Sprintf("p%d", i)
		copyPackage(t, s.dir, at, write)
		write(at+"/"+lower.Output, s.file(t))
		imports += fmt.Sprintf("%s %q\n", at, module+"/"+at)
		list := s.calls(t, r)
		for k := range list {
			list[k].Package = at
		}
		calls = append(calls, list...)
		for _, fn := range s.funcs {
			table += fmt.Sprintf("%q: %s.%s,\n", at+fn.Name, at, fn.Name)
		}
	}
	input, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/main.txt")
	if err != nil {
		t.Fatal(err)
	}
	write("main.go", []byte(strings.NewReplacer("IMPORTS", imports, "TABLE", table).Replace(string(text))))
	out := command(t, dir, input, "run", ".")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(calls) {
		t.Fatalf("%d results of %d calls", len(lines), len(calls))
	}
	panics := 0
	for i, c := range calls {
		if c.want == "panic" {
			panics++
		}
		if lines[i] != c.want {
			t.Errorf("%s.%s(%s) gives %s, want %s", c.Package, c.Func, c.Args, lines[i], c.want)
		}
	}
	t.Logf("%d calls, %d panics", len(calls), panics)
	command(t, dir, nil, "vet", "./p0", "./p1")
}

func copyPackage(t *testing.T, from, to string, write func(string, []byte)) {
	t.Helper()
	names, err := filepath.Glob(from + "/*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", from, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(to+"/"+filepath.Base(name), text)
	}
}

func command(t *testing.T, dir string, input []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, stderr.Bytes())
	}
	return string(out)
}

// TestGolden shows what is printed.
func TestGolden(t *testing.T) {
	for i, s := range sources(t) {
		file := fmt.Sprintf("testdata/printed%d.txt", i)
		text := s.file(t)
		if *update {
			if err := os.WriteFile(file, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(text, want) {
			t.Errorf("%s is not what is printed now; run with -update and read the difference: %v", file, err)
		}
	}
}
