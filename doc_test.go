package nabla_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestMain(m *testing.M) { longtest.Main(m) }

// TestOperatorsAreListed compares the operators in the package documentation and in docs/engines.md with those that
// have a Prepare function.
func TestOperatorsAreListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var operators, listed []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			if operator, ok := strings.CutPrefix(fn.Name.Name, "Prepare"); ok {
				operators = append(operators, operator)
			}
		}
		if name == "doc.go" {
			row := regexp.MustCompile(`(?m)^\t(\w+) +(?:any|numbers?) `)
			for _, m := range row.FindAllStringSubmatch(strings.ReplaceAll(f.Doc.Text(), " →", ""), -1) {
				listed = append(listed, m[1])
			}
		}
	}
	slices.Sort(operators)
	slices.Sort(listed)
	if !slices.Equal(operators, listed) {
		t.Errorf("the documentation lists\n\t%q, and the operators are\n\t%q", listed, operators)
	}
	page, err := os.ReadFile("docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "All engines support all operators")
	list, _, _ = strings.Cut(list, "\n\n")
	for _, operator := range operators {
		if !strings.Contains(list, "`"+operator+"`") {
			t.Errorf("docs/engines.md does not list %s", operator)
		}
	}
}

// TestEnginesAreListed compares package engines with the directories of engines and with the tables of the package
// documentation, of docs/engines.md and of the layering, which TestLayering compares with CONTRIBUTING.
func TestEnginesAreListed(t *testing.T) {
	packages, values := map[string]bool{}, map[string]bool{}
	for _, e := range engines.All() {
		typ := reflect.TypeOf(e.Backend)
		if dir := relative(typ.PkgPath()); dir != "." {
			packages[dir] = true
			values[literal(e.Backend)] = true
		}
	}
	compare := func(where string, got []string, want map[string]bool) {
		t.Helper()
		slices.Sort(got)
		if all := slices.Sorted(maps.Keys(want)); !slices.Equal(got, all) {
			t.Errorf("%s lists the engines\n\t%q, want those of package engines,\n\t%q", where, got, all)
		}
	}
	var dirs, layers, rows []string
	names, err := filepath.Glob("backend/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		dirs = append(dirs, filepath.ToSlash(name))
	}
	compare("the directory backend", dirs, packages)
	for _, p := range layering {
		if strings.HasPrefix(p.path, "backend/") {
			layers = append(layers, p.path)
		}
	}
	compare("the layering", layers, packages)
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	compare("doc.go", all(`(?m)^//\t(backend/\w+) `, string(doc)), packages)
	page, err := os.ReadFile("docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## The engines\n\n|")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range all("(?m)^\\| `([^`]+)` \\|", table) {
		if !strings.HasPrefix(row, "nabla.") { // the others are composites
			rows = append(rows, row)
		}
	}
	compare("docs/engines.md", rows, values)
}

// all returns the matches of the first group of a regular expression in text.
func all(expr, text string) (list []string) {
	for _, m := range regexp.MustCompile(expr).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// literal returns the composite literal of a struct with the fields that are not zero.
func literal(v any) string {
	var fields []string
	for f, v := range reflect.ValueOf(v).Fields() {
		if !v.IsZero() {
			fields = append(fields, fmt.Sprintf("%s: %#v", f.Name, v))
		}
	}
	return fmt.Sprintf("%T{%s}", v, strings.Join(fields, ", "))
}
