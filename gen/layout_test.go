package gen_test

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// divided is a package with targets in three files: near is called from two of them, far from one.
var divided = map[string]string{
	"go.mod": "module divided\n\ngo 1.26\n",
	"a.go": `package divided

func near(v [3]float64) [3]float64 {
	for i := range v {
		for range 7 {
			v[i] *= v[(i+1)%3]
		}
	}
	return v
}

//nabla:differentiate
func A(x []float64) float64 {
	v := near([3]float64{x[0], x[1], x[2]})
	return v[0] * v[1]
}

func slope(x, v []float64) float64 {
	_, dot := ATangent(x, v)
	return dot
}
`,
	"b.go": `package divided

import "math"

func far(x []float64) {
	for i := range x {
		for k := range 5 {
			x[i] = math.Sin(x[i]) * float64(k)
		}
	}
}

//nabla:differentiate
func B(x []float64) float64 {
	far(x)
	v := near([3]float64{x[0], x[1], x[2]})
	return v[2] + A(x)
}

//nabla:differentiate
func B2(x []float64) float64 {
	far(x)
	return x[0]
}
`,
	"refused.go": `package divided

import "github.com/nabla-ad/nabla"

func Refused(x []float64) float64 {
	c := make(chan float64, 1)
	c <- x[0]
	return <-c
}

func engine(b nabla.Backend) { _, _ = nabla.Gradient(Refused, b, nil) }
`,
}

// layout generates the package in dir with a layout and vectors if asked for.
func layout(t *testing.T, dir string, l gen.Layout, simd bool, flags ...string) *gen.Report {
	t.Helper()
	p, err := gen.Load(dir, []string{"."},
		&gen.Options{Layout: l, SIMD: simd,
			Load: lower.LoadOptions{Env: environ, Flags: flags, Packages: loaded.Packages}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// updated writes the files of a report and compares the names of those that change.
func updated(t *testing.T, r *gen.Report, want ...string) {
	t.Helper()
	stale, err := r.Stale()
	if err != nil {
		t.Fatal(err)
	}
	changed, err := r.Write()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(stale, changed) {
		t.Errorf("changed %q, and stale were %q", changed, stale)
	}
	for i, name := range changed {
		changed[i] = filepath.Base(name)
	}
	if !slices.Equal(changed, want) {
		t.Errorf("changed %q, want %q", changed, want)
	}
}

// generated returns the names and contents of the generated files in dir.
func generated(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range list {
		if text := read(t, name); lower.IsOutput(name, []byte(text)) {
			out[filepath.Base(name)] = text
		}
	}
	return out
}

// declarationsIn returns the declarations in files without their comments, and for each the file that has it. The
// statements of init functions are declarations here.
func declarationsIn(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	out := map[string]string{}
	fset := token.NewFileSet()
	for name, text := range files {
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		add := func(n any) {
			var b strings.Builder
			if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
				t.Fatal(err)
			}
			if other := out[b.String()]; other != "" {
				t.Errorf("both %s and %s have\n%s", other, name, b.String())
			}
			out[b.String()] = name
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && (g.Tok == token.IMPORT || strings.Contains(text[fset.Position(g.Pos()).
				Offset:fset.Position(g.End()).Offset], "rt.Lines(")) {
				continue // imports and tables of lines, which each file has
			}
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "init" {
				for _, s := range fn.Body.List {
					add(s)
				}
				continue
			}
			add(d)
		}
	}
	return out
}

// home returns the file in which a declaration begins with head.
func home(t *testing.T, decls map[string]string, head string) string {
	t.Helper()
	for text, name := range decls {
		if strings.HasPrefix(text, head) {
			return name
		}
	}
	t.Errorf("nothing begins with %s", head)
	return ""
}

// TestLayout divides the code of a package by source files: the declarations are those of one file, each is in the file
// of the source that needs it, or in the common one, and the package compiles.
func TestLayout(t *testing.T) {
	longtest.Skip(t, "generates many times")
	dir := module(t, divided)
	updated(t, layout(t, dir, gen.KeepLayout, true), "nabla_gen.go", "nabla_gen_simd.go")
	one := generated(t, dir)
	updated(t, layout(t, dir, gen.OnePerSource, true),
		"nabla_gen.go", "a_nabla.go", "b_nabla.go", "refused_nabla.go")
	parts := generated(t, dir)
	if want := []string{"a_nabla.go", "b_nabla.go", "nabla_gen.go", "nabla_gen_simd.go", "refused_nabla.go"}; !slices.
		Equal(slices.Sorted(maps.Keys(parts)), want) {
		t.Fatalf("files %q, want %q", slices.Sorted(maps.Keys(parts)), want)
	}
	if one["nabla_gen_simd.go"] != parts["nabla_gen_simd.go"] {
		t.Error("the second file depends on the layout")
	}
	decls := declarationsIn(t, parts)
	for text := range declarationsIn(t, one) {
		if decls[text] == "" {
			t.Errorf("by source there is no\n%s", text)
		}
	}
	if n := len(declarationsIn(t, one)); n != len(decls) {
		t.Errorf("%d declarations by source, %d in one file", len(decls), n)
	}
	for head, want := range map[string]string{
		"func ATangent(": "a_nabla.go", "func BAdjoint(": "b_nabla.go", "func B2Adjoint(": "b_nabla.go",
		"func nearTraced1(": "nabla_gen.go", "func farTraced1(": "b_nabla.go",
		"type AdjointWork struct": "nabla_gen.go",
		"nabla.Register(Refused,": "refused_nabla.go", "nabla.Register(A,": "a_nabla.go",
	} {
		if got := home(t, decls, head); got != want {
			t.Errorf("%s is in %s, want %s", head, got, want)
		}
	}
	updated(t, layout(t, dir, gen.KeepLayout, false)) // from its own files, with the layout they have
	compiles(t, dir)
	if longtest.Long() {
		command(t, dir, "vet", ".")
		inVectors(t, dir, "vet", ".")
	}
}

// TestLayoutChanges removes the files that are left over when a source file is deleted or no longer has targets, when
// declarations are no longer shared, and when the layout changes.
func TestLayoutChanges(t *testing.T) {
	longtest.Skip(t, "generates ten times")
	dir := module(t, divided)
	updated(t, layout(t, dir, gen.OnePerSource, false),
		"nabla_gen.go", "a_nabla.go", "b_nabla.go", "refused_nabla.go")
	all := generated(t, dir)
	remove := func(name string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	remove("b.go")
	remove("refused.go")
	updated(t, layout(t, dir, gen.KeepLayout, false), "nabla_gen.go", "a_nabla.go", "b_nabla.go", "refused_nabla.go")
	if files := generated(t, dir); len(files) != 1 || !strings.Contains(files["a_nabla.go"], "type AdjointWork") ||
		!strings.Contains(files["a_nabla.go"], "func nearTraced1(") {
		t.Errorf("with one source file left: %q", slices.Sorted(maps.Keys(files)))
	}
	write(t, filepath.Join(dir, "b.go"), divided["b.go"])
	write(t, filepath.Join(dir, "refused.go"), divided["refused.go"])
	updated(t, layout(t, dir, gen.KeepLayout, false), "nabla_gen.go", "a_nabla.go", "b_nabla.go", "refused_nabla.go")
	if files := generated(t, dir); !maps.Equal(files, all) {
		t.Error("the code depends on the files that there were")
	}
	updated(t, layout(t, dir, gen.OnePerPackage, false), "nabla_gen.go", "a_nabla.go", "b_nabla.go",
		"refused_nabla.go")
	one := generated(t, dir)
	if len(one) != 1 {
		t.Errorf("in one file: %q", slices.Sorted(maps.Keys(one)))
	}
	// Files of both layouts, as a merge of two branches may leave them, declare everything twice.
	for name, text := range all {
		if name != lower.Output {
			write(t, filepath.Join(dir, name), text)
		}
	}
	updated(t, layout(t, dir, gen.KeepLayout, false), "nabla_gen.go")
	if files := generated(t, dir); !maps.Equal(files, all) {
		t.Error("the code depends on files of another layout")
	}
	// Files that are broken are no input.
	write(t, filepath.Join(dir, "a_nabla.go"), lower.Header+"\n\npackage divided\n\nfunc ATangent(")
	write(t, filepath.Join(dir, "b_nabla.go"), lower.Header+"\n\npackage divided\n\nfunc nearTangent1() {}\n")
	updated(t, layout(t, dir, gen.KeepLayout, false), "a_nabla.go", "b_nabla.go")
	if files := generated(t, dir); !maps.Equal(files, all) {
		t.Error("the code depends on broken files")
	}
	write(t, filepath.Join(dir, "a_nabla.go"), "package divided\n")
	if _, err := layout(t, dir, gen.KeepLayout, false).Write(); err == nil ||
		!strings.Contains(err.Error(), "not generated by nabla gen") ||
		read(t, filepath.Join(dir, "a_nabla.go")) != "package divided\n" {
		t.Errorf("somebody else's file is overwritten: %v", err)
	}
	updated(t, layout(t, dir, gen.OnePerPackage, false), "nabla_gen.go", "b_nabla.go", "refused_nabla.go")
	if read(t, filepath.Join(dir, "a_nabla.go")) != "package divided\n" {
		t.Error("somebody else's file is removed")
	}
	if _, err := gen.Load(dir, []string{"."}, &gen.Options{Layout: 3}); err == nil {
		t.Error("no error for layout 3")
	}
}

// TestLayoutBuilds divides the code of functions with build constraints: it has the constraint of the source, whose
// file name it does not repeat, and files of other builds stay, and keep the layout.
func TestLayoutBuilds(t *testing.T) {
	longtest.Skip(t, "generates for several builds")
	const loss = "\n\n//nabla:differentiate\nfunc F(x []float64) float64 { return size(x[0]) }\n"
	dir := module(t, map[string]string{
		"go.mod": "module builds\n\ngo 1.26\n", "f.go": "package builds" + loss,
		"fast.go": "//go:build fast\n\npackage builds\n\nfunc size(x float64) float64 { return x }\n",
		"slow.go": "//go:build !fast\n\npackage builds\n\nfunc size(x float64) float64 { return x * x }\n",
		"g.go":    "package builds\n\n//nabla:differentiate\nfunc G(x float64) float64 { return x }\n",
	})
	updated(t, layout(t, dir, gen.OnePerSource, false, "-tags=fast"), "g_nabla.go", "f_nabla-fast.go")
	updated(t, layout(t, dir, gen.KeepLayout, false), "f_nabla-not-fast.go")
	files := generated(t, dir)
	if !strings.Contains(files["f_nabla-not-fast.go"], "\n//go:build !fast\n") || len(files) != 3 {
		t.Errorf("files %q", slices.Sorted(maps.Keys(files)))
	}
	for _, tags := range []string{"", "fast"} {
		compiles(t, dir, "-tags="+tags)
		if longtest.Long() {
			command(t, dir, "vet", "-tags="+tags, ".")
		}
	}
	write(t, filepath.Join(dir, "f.go"), "package builds"+strings.ReplaceAll(loss, "size(x[0])", "x[0]"))
	updated(t, layout(t, dir, gen.KeepLayout, false), "nabla_gen.go", "f_nabla.go",
		"g_nabla.go", "f_nabla-not-fast.go")
	updated(t, layout(t, dir, gen.KeepLayout, false, "-tags=fast"), "f_nabla-fast.go")
	// A build without generated files has the layout of the others.
	dir = module(t, map[string]string{
		"go.mod": "module builds\n\ngo 1.26\n",
		"f.go":   "//go:build fast\n\npackage builds\n\nfunc size(x float64) float64 { return x }" + loss,
		"g.go":   "//go:build !fast\n\npackage builds\n\nfunc size(x float64) float64 { return x * x }" + loss,
	})
	updated(t, layout(t, dir, gen.OnePerSource, false, "-tags=fast"), "f_nabla-fast.go")
	updated(t, layout(t, dir, gen.KeepLayout, false), "g_nabla-not-fast.go")
}
