package nabla_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
