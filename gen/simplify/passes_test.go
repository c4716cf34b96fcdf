package simplify

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestPassTables compares the lists of passes in passes.go with the tables in the package comment.
func TestPassTables(t *testing.T) {
	tables := docTables(t)
	if len(tables) != 2 {
		t.Fatalf("the package comment has %d tables, want one of passes and one of stages", len(tables))
	}
	passes, documented := tables[0], tables[1]
	all := []stage{primalStage, bodyStage, adjointStage, deadCodeStage, pruneStage}
	if len(documented) != len(all) {
		t.Errorf("the table has %d stages, the code %d", len(documented), len(all))
	}
	// Some are called by package gen.
	used := map[string]bool{"Unread": true, "Calls": true, "Overwrite": true, "Stacks": true, "Batch": true,
		"Vectors": true}
	for i, s := range all {
		var names []string
		for _, p := range s.passes {
			names = append(names, p.name)
			used[p.name] = true
		}
		if i < len(documented) && (documented[i].name != s.name || documented[i].text != strings.Join(names, " ")) {
			t.Errorf("stage %d is %q with passes %q in the table, %q with %q in the code",
				i, documented[i].name, documented[i].text, s.name, names)
		}
		delete(used, "DeadCode") // a stage used as a pass
	}
	exported := exportedFuncs(t)
	for _, row := range passes {
		if !used[row.name] {
			t.Errorf("pass %s of the table is in no stage", row.name)
		}
		if !exported[row.name] {
			t.Errorf("pass %s of the table is not an exported function", row.name)
		}
		delete(used, row.name)
	}
	for name := range used {
		t.Errorf("pass %s is not in the table", name)
	}
	for _, s := range all {
		if !exported[s.name] {
			t.Errorf("stage %s is not an exported function", s.name)
		}
	}
}

// A row is a line of a table: the first word and the rest, separated by single spaces.
type row struct{ name, text string }

// docTables returns the indented blocks of the package comment.
func docTables(t *testing.T) (tables [][]row) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	inTable := false
	for line := range strings.Lines(file.Doc.Text()) {
		if !strings.HasPrefix(line, "\t") {
			inTable = false
			continue
		}
		if !inTable {
			tables = append(tables, nil)
		}
		inTable = true
		words := strings.Fields(line)
		last := len(tables) - 1
		tables[last] = append(tables[last], row{words[0], strings.Join(words[1:], " ")})
	}
	return tables
}

// exportedFuncs returns the names of the exported functions of the package.
func exportedFuncs(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}
