package lower

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// outline returns the text of a file without the bodies of functions, the positions of its declarations included.
func outline(t testing.TB, name string, src []byte) string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			out.WriteString(fset.Position(d.Body.Rbrace).String() + " ")
			d.Body.List = nil
		}
		out.WriteString(fset.Position(d.Pos()).String() + " " + fset.Position(d.End()).String() + " ")
		if err := printer.Fprint(&out, fset, d); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// TestWithoutBodies compares the declarations of files of the standard library, whole and without bodies, and those of
// forms in which a brace is not that of a body.
func TestWithoutBodies(t *testing.T) {
	vars, err := goEnv(".", os.Environ(), "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	root := vars[0]
	files := map[string][]byte{"forms.go": []byte(`package p

import "os"

func f() struct{ a, b int } { return struct{ a, b int }{1, 2} }

func (t *T[A]) g(x interface{ M() }, c chan struct{}) (s []struct{ x int }, i interface{ N() }) {
	if x := (T[int]{}); x.a == '}' {
		/* } */
		println("}", ` + "`}`" + `)
	}
	return
}

var h, k = func() int { return 1 }, func() { for { } } // }

type T[A any] struct { a A; f func() }

func external(x int) int

type F func(x struct{}) interface{}

var list = []int{1, 2}; func last() {}
`)}
	for _, pattern := range []string{"sort/*.go", "go/*/*.go", "reflect/*.go", "text/template/parse/*.go"} {
		names, err := filepath.Glob(filepath.Join(root, "src", filepath.FromSlash(pattern)))
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, names, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = text
		}
	}
	for name, text := range files {
		short := withoutBodies(text)
		if bytes.Contains(short, []byte("return")) && name == "forms.go" && bytes.Count(short, []byte("return")) != 1 {
			t.Errorf("bodies are there:\n%s", short)
		}
		if got, want := outline(t, name, short), outline(t, name, text); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	broken := []string{"package p\n\nfunc f() { } }\n", "package p\n\nfunc f() { x := `a\n", "package p\nfunc f() {"}
	for _, broken := range broken {
		if got := withoutBodies([]byte(broken)); string(got) != broken {
			t.Errorf("%q became %q", broken, got)
		}
	}
}

// FuzzWithoutBodies requires the same declarations of every file that parses.
func FuzzWithoutBodies(f *testing.F) {
	f.Add([]byte("package p\n\nfunc f() struct{} { return struct{}{} }\n"))
	f.Add([]byte("package p\n\nvar x = func() { }; func (T) g() { '}' }\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		fset := token.NewFileSet()
		if _, err := parser.ParseFile(fset, "f.go", src, parser.SkipObjectResolution); err != nil {
			return
		}
		short := withoutBodies(src)
		g, err := parser.ParseFile(fset, "f.go", short, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%q became %q: %v", src, short, err)
		}
		h, _ := parser.ParseFile(fset, "f.go", src, parser.SkipObjectResolution)
		if len(g.Decls) != len(h.Decls) {
			t.Fatalf("%q became %q: %d declarations, not %d", src, short, len(g.Decls), len(h.Decls))
		}
		for i := range g.Decls {
			a, b := fset.PositionFor(g.Decls[i].Pos(), false), fset.PositionFor(h.Decls[i].Pos(), false)
			if a != b || g.Decls[i].End()-g.Decls[i].Pos() != h.Decls[i].End()-h.Decls[i].Pos() {
				t.Fatalf("%q became %q: declaration %d is elsewhere", src, short, i)
			}
		}
	})
}
