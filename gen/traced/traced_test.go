package traced_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/traced"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestMain(m *testing.M) { longtest.Main(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

const module = "github.com/nabla-ad/nabla"

func load(t *testing.T, overlay map[string][]byte, patterns ...string) ([]*packages.Package, *lower.Program) {
	t.Helper()
	pkgs, err := lower.Load(".", patterns, lower.LoadOptions{Packages: loaded.Once, Overlay: overlay})
	if err != nil {
		t.Fatal(err)
	}
	return pkgs, lower.New(pkgs, lower.Options{})
}

// floats returns the parameters of type float64 and those that lead to float64s, except the named ones.
func floats(f *ir.Func, without string) (m activity.Mask) {
	for i, v := range f.Params {
		if activity.HasPlainFloats(v.Type) && !strings.Contains(" "+without+" ", " "+v.Name+" ") {
			m = m.With(i)
		}
	}
	return m
}

// build returns the traced form of f.
func build(t *testing.T, p *traced.Program, f *ir.Func, m activity.Mask) *ir.Func {
	t.Helper()
	g, _, err := p.Build(f, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range reach(g) {
		if err := ir.Check(h); err != nil {
			t.Fatalf("%v\n%s", err, h)
		}
	}
	return g
}

func reach(f *ir.Func) (list []*ir.Func) {
	seen := map[*ir.Func]bool{f: true}
	list = append(list, f)
	for i := 0; i < len(list); i++ {
		ir.Walk(list[i].Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil && !seen[c.Callee.Func] {
				seen[c.Callee.Func] = true
				list = append(list, c.Callee.Func)
			}
			return true
		})
	}
	return list
}

// A source is a package with functions whose traced forms are printed.
type source struct {
	path  string
	pkg   *types.Package
	file  []byte
	names []string // of the functions
}

// trace prints the traced forms of functions of a package. Parameters named in plain are passive.
func trace(t *testing.T, p *lower.Program, pkg *packages.Package, names []string, plain map[string]string) *source {
	t.Helper()
	s := &source{path: pkg.PkgPath, pkg: pkg.Types}
	program := traced.New(pkg.Types)
	var list []print.Func
	for _, name := range names {
		f, err := p.Func(p.Lookup(pkg.PkgPath, name))
		if err != nil {
			t.Fatal(err)
		}
		g := build(t, program, f, floats(f, plain[name]))
		if g == f {
			continue // no floats
		}
		s.names = append(s.names, name)
		list = append(list,
			print.Func{Func: g, Name: strings.ReplaceAll(strings.TrimSuffix(name, "Plain"), ".", "") + "Traced",
				Doc: "is " + name + " over Reals."})
	}
	text, err := print.File(pkg.Types, list...)
	if err != nil {
		t.Fatal(err)
	}
	s.file = text
	return s
}

// refused are functions of the packages that have no traced form: of single precision,
// and with package variables beside traced numbers.
var refused = map[string]bool{"Small": true, "Constants": true, "Joined": true}

// functions returns the exported functions of a package that have a traced form.
func functions(pkg *packages.Package) (names []string) {
	for _, name := range pkg.Types.Scope().Names() {
		if _, ok := pkg.Types.Scope().Lookup(name).(*types.Func); ok && ast.IsExported(name) && !refused[name] {
			names = append(names, name)
		}
	}
	return names
}

// exported returns the functions of a package that can be lowered.
func exported(p *lower.Program, pkg *packages.Package) (names []string) {
	for _, file := range pkg.Syntax {
		for _, d := range file.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || !d.Name.IsExported() || d.Recv != nil || d.Type.TypeParams != nil {
				continue
			}
			if _, err := p.Func(pkg.TypesInfo.Defs[d.Name].(*types.Func)); err == nil {
				names = append(names, d.Name.Name)
			}
		}
	}
	return names
}

// TestRun compiles traced forms and compares them with the functions: values bit for bit, derivatives with finite
// differences, and those of the problems with reference values and handwritten functions over Reals.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the compiler may fuse multiplications and additions")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	virtual := map[string][]byte{} // for the loader
	put := func(name string, text []byte) {
		t.Helper()
		at := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(at, text, 0o666); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = at
	}
	var imports, rows strings.Builder
	add := func(s *source, at string) {
		if len(s.names) == 0 {
			return
		}
		put(at+"/"+lower.Output, s.file)
		id := fmt.Sprintf("p%d", imports.Len())
		fmt.Fprintf(&imports, "import %s %q\n", id, module+"/"+at)
		for _, name := range s.names {
			fmt.Fprintf(&rows, "{%q, %s.%s, %s.%sTraced},\n", at+"."+name, id, name, id, name)
		}
	}
	for _, at := range []string{"gen/traced/testdata/funcs", "gen/tangent/testdata/funcs"} {
		pkgs, p := load(t, nil, module+"/"+at)
		add(trace(t, p, pkgs[0], functions(pkgs[0]), plain), at)
	}
	// The packages of the archives are not on the disk.
	archives, err := filepath.Glob("../lower/testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, name := range longtest.Sample(archives, 6) {
		// Values of complex functions differ by rounding; TestRunComplex of package gen compares derivatives.
		if filepath.Base(name) == "complex.txtar" {
			continue
		}
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := "gen/traced/testdata/" + strings.TrimSuffix(filepath.Base(name), ".txtar")
		if strings.HasSuffix(at, "refusals") {
			continue
		}
		clear(virtual)
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".go") {
				put(at+"/"+f.Name, f.Data)
				virtual[filepath.Join(root, at, f.Name)] = f.Data
			}
		}
		pkgs, p := load(t, virtual, module+"/"+at)
		var names []string
		for _, name := range exported(p, pkgs[0]) {
			if f, err := p.Func(p.Lookup(pkgs[0].PkgPath, name)); err == nil {
				var e *traced.Error
				var behind *activity.Error // numbers behind an interface
				_, _, err := traced.New(pkgs[0].Types).Build(f, floats(f, ""))
				if !errors.As(err, &e) && !errors.As(err, &behind) {
					names = append(names, name)
				} else {
					t.Log(err)
				}
			}
		}
		add(trace(t, p, pkgs[0], names, nil), at)
	}
	for name, text := range problemFiles(t) {
		put("internal/problems/"+name, text)
	}
	put("gen/traced/testdata/harness/table.go",
		[]byte("package main\n"+imports.String()+"func init() {\ntable = []entry{\n"+rows.String()+"}\n}\n"))

	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-ldflags=-w", "-overlay", overlay, "./gen/traced/testdata/harness")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// plain are parameters that are passed plain numbers.
var plain = map[string]string{
	"Comparisons": "w", "Arithmetic": "w", "Extremes": "w", "Least": "w", "Indices": "table", "Lifted": "w",
	"Passive": "w",
}

// problemFiles returns the files of package problems, with traced forms of the plain functions in fields of their own.
func problemFiles(t *testing.T) map[string][]byte {
	t.Helper()
	pkgs, p := load(t, nil, module+"/internal/problems")
	var names []string
	for _, name := range exported(p, pkgs[0]) {
		if strings.HasSuffix(name, "Plain") {
			names = append(names, name)
		}
	}
	if len(names) < 11 {
		t.Fatalf("only %v can be lowered", names)
	}
	s := trace(t, p, pkgs[0], names, map[string]string{
		"LogisticLossPlain": "r", "LogPosteriorPlain": "c", "ReprojectionPlain": "f", "AdjustmentPlain": "a",
		"RecurrentLossPlain": "d", "HandPlain": "h",
	})
	out := map[string][]byte{lower.Output: s.file}
	files, err := filepath.Glob("../../internal/problems/*.go")
	if err != nil {
		t.Fatal(err)
	}
	scalar := regexp.MustCompile(`\bPlain: +func\((\w+) \[\]float64\) float64 \{ return (\w+)Plain\((.*)\) \},`)
	named := regexp.MustCompile(`\bPlain: +(\w+)Plain,`)
	vector := regexp.MustCompile(`\bPlainVector: +func\(y, x \[\]float64\) \{ (\w+)Plain\((.*)\) \},`)
	n := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if lower.IsOutput(name, text) {
			if base := filepath.Base(name); out[base] == nil { // replaced by the file with the traced forms
				out[base] = []byte("package problems\n")
			}
			continue
		}
		n += len(scalar.FindAll(text, -1)) + len(named.FindAll(text, -1)) + len(vector.FindAll(text, -1))
		text = scalar.ReplaceAll(text, []byte("$0\nTwin: func($1 []nabla.Real) nabla.Real { return ${2}Traced($3) },"))
		text = named.ReplaceAll(text, []byte("$0\nTwin: ${1}Traced,"))
		text = vector.ReplaceAll(text, []byte("$0\nTwinVector: func(y, x []nabla.Real) { ${1}Traced($2) },"))
		text = bytes.Replace(text, []byte("\n\tFunc *nabla.Func\n"),
			[]byte("\n\tFunc *nabla.Func\n\tTwin func(x []nabla.Real) nabla.Real\n\tTwinVector func(y, x "+
				"[]nabla.Real)\n"), 1)
		out[filepath.Base(name)] = text
	}
	if n < 11 {
		t.Fatalf("traced forms of %d problems", n)
	}
	return out
}
