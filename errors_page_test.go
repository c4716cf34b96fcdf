package nabla_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestErrorsNamePages: the text of each error of docs/errors.md ends with the name under which it is there: all that
// its method Error returns, and the text of a variable, is made by package page with that name, or with the name of the
// error inside; packages of other modules end it with a literal. Diagnostics of nabla gen have the place in the source
// instead.
func TestErrorsNamePages(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	returns := map[string][]string{}
	dirs := []string{filepath.Join("interop", "beam")}
	for _, p := range listed(t) {
		dirs = append(dirs, filepath.FromSlash(relative(p.ImportPath)))
	}
	for _, dir := range dirs {
		textsOfErrors(t, dir, returns)
	}
	checked := 0
	for _, row := range regexp.MustCompile("(?m)^\\| `(([\\w]+)\\.(\\w+))` ").FindAllStringSubmatch(string(text), -1) {
		name := row[1]
		switch row[2] {
		case "gen", "lower", "activity", "adjoint", "tangent", "lanes", "traced", "shortcut", "print", "ir":
			continue
		}
		switch name {
		case "nabla.ErrUnsupported", "nabla.ErrStale", "nabla.ErrGuard", "program.ErrGuard", "nabla.ErrDisagree":
			continue // parts of texts that end with a name
		}
		if len(returns[name]) == 0 {
			t.Errorf("%s: no text found", name)
		}
		for _, text := range returns[name] {
			checked++
			if !strings.Contains(text, `"`+name+`"`) && !strings.HasPrefix(text, "page.Namef(cause, ") &&
				!strings.Contains(text, "("+name+")") {
				t.Errorf("the text of %s does not end with that name: %s", name, text)
			}
		}
	}
	if checked < 120 {
		t.Errorf("only %d texts were found", checked)
	}
}

// textsOfErrors adds the source of the texts of the exported errors of a package, by their names.
func textsOfErrors(t *testing.T, dir string, into map[string][]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		add := func(name string, e ast.Expr) {
			pkg := f.Name.Name
			if pkg == "engine" || pkg == "core" {
				pkg = "nabla"
				if name == "BranchError" {
					pkg = "sparsity"
				}
			}
			var b strings.Builder
			if err := format.Node(&b, fset, e); err != nil {
				t.Fatal(err)
			}
			into[pkg+"."+name] = append(into[pkg+"."+name], b.String())
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "Error" {
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
						add(baseType(fn.Recv.List[0].Type), r.Results[0])
					}
					_, inner := n.(*ast.FuncLit)
					return !inner
				})
			}
			if vars, ok := d.(*ast.GenDecl); ok && vars.Tok == token.VAR {
				for _, s := range vars.Specs {
					if v := s.(*ast.ValueSpec); strings.HasPrefix(v.Names[0].Name, "Err") && len(v.Values) == 1 {
						if _, ok := v.Values[0].(*ast.CallExpr); ok {
							add(v.Names[0].Name, v.Values[0])
						}
					}
				}
			}
		}
	}
}

// TestErrorsHavePages: docs/errors.md has a row for each exported error type and variable of the packages that are
// not internal, with its meaning and the next step, and no others.
func TestErrorsHavePages(t *testing.T) {
	packages := moduleDeclarations(t)
	packages["nablabeam"] = declarationsIn(t, filepath.Join("interop", "beam"))
	var want []string
	for dir, names := range packages {
		if strings.Contains(dir, "internal") || strings.HasPrefix(dir, "cmd/") {
			continue
		}
		for name, alias := range names {
			typ, method, _ := strings.Cut(name, ".")
			isError := method == "Error" && (strings.HasSuffix(typ, "Error") || dir == "gen" || dir == "gen/lower")
			_, isAlias := alias.(string)
			isError = isError || method == "" && (isAlias && strings.HasSuffix(typ, "Error") ||
				strings.HasPrefix(typ, "Err") && len(typ) > len("Error"))
			if isError && ast.IsExported(typ) && (dir != "engine" || packages["nabla"][typ] == nil) {
				want = append(want, path.Base(dir)+"."+typ)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join("docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([\\w.]+)` \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(string(text), -1)
	var got []string
	for _, row := range rows {
		got = append(got, row[1])
		if len(row[2]) < 20 || len(row[3]) < 10 {
			t.Errorf("docs/errors.md: %s: want what happened, and the next step", row[1])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	for _, name := range slices.Compact(want) {
		if !slices.Contains(got, name) {
			t.Errorf("docs/errors.md has no row %s", name)
		}
	}
	for i, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("docs/errors.md: there is no error %s", name)
		}
		if i > 0 && got[i-1] == name {
			t.Errorf("docs/errors.md: two rows %s", name)
		}
	}
}
