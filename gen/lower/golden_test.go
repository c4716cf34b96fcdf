package lower_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestMain(m *testing.M) { longtest.Main(m) }

var update = flag.Bool("update", false, "write golden files")

// foreignLine matches a position in another module, whose line changes with its version.
var foreignLine = regexp.MustCompile(`\((\w+/\w+\.go):\d+\)`)

// TestGolden lowers the exported functions of the packages under testdata and compares the lowered
// functions, or their refusals.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	dir := t.TempDir()
	archives := map[string]*txtar.Archive{}
	write(t, filepath.Join(dir, "go.mod"), "module golden\n\ngo 1.26\n")
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimSuffix(filepath.Base(name), ".txtar")
		archives[pkg] = a
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".go") || strings.HasSuffix(f.Name, ".s") {
				write(t, filepath.Join(dir, pkg, f.Name), string(f.Data))
			}
		}
	}
	pkgs, err := lower.Load(dir, []string{"./..."}, lower.LoadOptions{Packages: loaded.Packages})
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range pkgs {
		p := lower.New(pkgs, lower.Options{})
		var out bytes.Buffer
		printed := map[*ir.Func]bool{}
		for _, file := range pkg.Syntax {
			for _, d := range file.Decls {
				d, ok := d.(*ast.FuncDecl)
				if !ok || !d.Name.IsExported() || d.Type.TypeParams != nil {
					continue
				}
				fn := pkg.TypesInfo.Defs[d.Name].(*types.Func)
				if r := fn.Signature().RecvTypeParams(); r.Len() > 0 {
					continue
				}
				f, err := p.Func(fn)
				if err != nil {
					text := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
					text = foreignLine.ReplaceAllString(text, "($1:…)")
					out.WriteString(d.Name.Name + " is refused:\n" + filepath.ToSlash(text) + "\n\n")
					continue
				}
				verify(t, f)
				var fresh []*ir.Func
				for _, g := range reach(f) {
					if !printed[g] {
						printed[g] = true
						fresh = append(fresh, g)
					}
				}
				if err := ir.Print(&out, fresh...); err != nil {
					t.Error(err)
				}
				out.WriteString("\n")
			}
		}
		compare(t, "testdata/"+pkg.Name+".txtar", archives[pkg.Name], out.Bytes())
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// compare compares the file want of an archive.
func compare(t *testing.T, name string, a *txtar.Archive, got []byte) {
	t.Helper()
	got = append(bytes.TrimSpace(got), '\n')
	at := -1
	for i, f := range a.Files {
		if f.Name == "want" {
			at = i
		}
	}
	if *update {
		if at < 0 {
			a.Files = append(a.Files, txtar.File{Name: "want"})
			at = len(a.Files) - 1
		}
		a.Files[at].Data = got
		if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if at < 0 || !bytes.Equal(a.Files[at].Data, got) {
		t.Errorf("%s differs; run with -update and look at the change:\n%s", name, got)
	}
}
