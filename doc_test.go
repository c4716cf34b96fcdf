package nabla_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOperatorsAreListed compares the operators in the package documentation and in README with those that have a
// Prepare function.
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
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(readme), "All of them do all operators")
	list, _, _ = strings.Cut(list, "\n\n")
	for _, operator := range operators {
		if !strings.Contains(list, "`"+operator+"`") {
			t.Errorf("README does not list %s", operator)
		}
	}
}

// TestEnginesAreListed finds every package in backend in the documentation and in README.
func TestEnginesAreListed(t *testing.T) {
	dirs, err := filepath.Glob("backend/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no engines", err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		path := filepath.ToSlash(dir)
		if !strings.Contains(string(doc), "//\t"+path+" ") {
			t.Errorf("doc.go does not list %s", path)
		}
		if !strings.Contains(string(readme), filepath.Base(dir)+".") {
			t.Errorf("README.md has no engine of package %s", path)
		}
	}
}
