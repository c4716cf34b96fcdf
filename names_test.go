package nabla_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/snippets"
)

// documents are the files whose names of packages, files and declarations are checked, beside README.md and docs.
var documents = []string{"RATIONALE.md", "CONTRIBUTING.md", "CHANGELOG.md"}

// A declarations maps the names that a package declares, T.M for fields and methods, to true, or for an alias to the
// type it stands for, package.T.
type declarations map[string]any

// moduleDeclarations returns the declarations of the packages of this module, exported or not, without those of tests,
// by path relative to the module; package nabla has the path "nabla".
func moduleDeclarations(t *testing.T) map[string]declarations {
	t.Helper()
	out := map[string]declarations{}
	for _, p := range listed(t) {
		dir := relative(p.ImportPath)
		names := declarationsIn(t, filepath.FromSlash(dir))
		if dir == "." {
			dir = "nabla"
		}
		out[dir] = names
	}
	return out
}

// declarationsIn returns the declarations of the package in a directory.
func declarationsIn(t *testing.T, dir string) declarations {
	t.Helper()
	names := declarations{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			names.add(d)
		}
	}
	return names
}

// add adds the names that d declares.
func (n declarations) add(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = baseType(d.Recv.List[0].Type) + "." + name
		}
		n[name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, id := range s.Names {
					n[id.Name] = true
				}
			case *ast.TypeSpec:
				n[s.Name.Name] = true
				if e, ok := s.Type.(*ast.SelectorExpr); ok && s.Assign.IsValid() {
					n[s.Name.Name] = baseType(e.X) + "." + e.Sel.Name
				}
				n.addMembers(s)
			}
		}
	}
}

// addMembers adds the fields of a struct and the methods of an interface.
func (n declarations) addMembers(s *ast.TypeSpec) {
	var list *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	for _, f := range list.List {
		for _, id := range f.Names {
			n[s.Name.Name+"."+id.Name] = true
		}
		if len(f.Names) == 0 {
			n[s.Name.Name+"."+baseType(f.Type)] = true
		}
	}
}

// baseType returns the name of a type without package, pointer and type arguments.
func baseType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return baseType(e.X)
	case *ast.IndexExpr:
		return baseType(e.X)
	case *ast.IndexListExpr:
		return baseType(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// inBackquotes matches code in a line of Markdown, qualified the beginning of a name with the path or the name of a
// package, goFile a path of a file in it.
var (
	inBackquotes = regexp.MustCompile("`([^`\n]+)`")
	qualified    = regexp.MustCompile(`^&?((?:\w+/)*\w+)\.([A-Za-z]\w*(?:\.\w+)?)(?:$|[{(\[ ,])`)
	goFile       = regexp.MustCompile(`^(\w+/)*\w+\.(go|txt|md|py)$`)
	packagePath  = regexp.MustCompile(`^(\w+/)+\w+$`)
)

// missing returns why a text in backquotes names something that does not exist, or "" if it does or is no name of this
// module.
func missing(text string, packages map[string]declarations) string {
	if goFile.MatchString(text) {
		if _, err := os.Stat(filepath.FromSlash(text)); err != nil && strings.Contains(text, "/") {
			return "there is no such file"
		}
		return ""
	}
	if packagePath.MatchString(text) {
		// Paths of other modules and of the standard library begin with other directories.
		first, _, _ := strings.Cut(text, "/")
		if _, err := os.Stat(first); err == nil && packages[text] == nil {
			if _, err := os.Stat(filepath.FromSlash(text)); err != nil {
				return "there is no such package or directory"
			}
		}
		return ""
	}
	m := qualified.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	var found []string
	for p := range packages {
		if p == m[1] || path.Base(p) == m[1] {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return "" // of another module
	}
	for _, p := range found {
		if packages[p][m[2]] != nil {
			return ""
		}
		typ, member, _ := strings.Cut(m[2], ".")
		if of, ok := packages[p][typ].(string); ok {
			return missing(of+"."+member, packages)
		}
	}
	slices.Sort(found)
	return "package " + strings.Join(found, " or ") + " declares no " + m[2]
}

// TestNamesExist looks up the packages, files and declarations of this module that documents name in backquotes.
func TestNamesExist(t *testing.T) {
	longtest.Serial(t)
	packages := moduleDeclarations(t)
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{"nabla.PrepareGradient(f, b, x)", true}, {"nabla.prep.setup", true}, {"nabla.prep.none", false},
		{"engine.Nothing", false}, {"engine/explain.go", true}, {"engine/nothing.go", false}, {"gen/lower", true},
		{"gen/none", false}, {"floats.Dot", true}, {"internal/compressed.Matrix", true},
		{"reversediff.Backend{Compile: true}", true}, {"reversediff.Engine{}", false},
	} {
		if why := missing(tt.text, packages); (why == "") != tt.ok {
			t.Errorf("%s: %q", tt.text, why)
		}
	}
	pages, err := snippets.Documents(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, documents...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		fenced, gone, number := false, false, 0 // gone: old names are mentioned
		for line := range strings.Lines(string(text)) {
			number++
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if section, ok := strings.CutPrefix(line, "### "); ok {
				gone = name == "CHANGELOG.md" && strings.TrimSpace(section) == "Changed"
			}
			if fenced || gone {
				continue
			}
			for _, m := range inBackquotes.FindAllStringSubmatch(line, -1) {
				n++
				if why := missing(m[1], packages); why != "" {
					t.Errorf("%s:%d: `%s`: %s", name, number, m[1], why)
				}
			}
		}
		if n == 0 || n < 10 && slices.Contains(documents, name) { // pages are short
			t.Errorf("only %d names in %s", n, name)
		}
	}
}

// TestGlossary checks that the terms are in alphabetical order and different, and that each has a meaning and a place.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "<!-- glossary: TestGlossary -->")
	table, _, found := strings.Cut(table, "<!-- end -->")
	var terms []string
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) == 1 || strings.HasPrefix(line, "| term ") {
			continue
		}
		if len(cells) != 3 || !strings.Contains(cells[2], "`") {
			t.Errorf("%s: want a term, a meaning and where it lives", strings.TrimSpace(line))
		}
		terms = append(terms, strings.ToLower(strings.TrimPrefix(cells[0], "| ")))
	}
	if !found || len(terms) < 30 {
		t.Fatalf("CONTRIBUTING.md has a glossary of %d terms", len(terms))
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(terms))); !slices.Equal(terms, sorted) {
		t.Errorf("the terms are\n\t%q, want them in alphabetical order and once:\n\t%q", terms, sorted)
	}
}
