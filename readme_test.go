package nabla_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/snippets"
)

// TestDocuments compiles and runs the Go programs in README.md and docs, and compares their output with the text block
// that follows, the usual form a sample of them. Programs that need generated code are run by the tests of package gen.
func TestDocuments(t *testing.T) {
	programs, err := snippets.All(".")
	if err != nil {
		t.Fatal(err)
	}
	programs = slices.DeleteFunc(programs, snippets.Program.Generated)
	if len(programs) < 12 {
		t.Fatalf("found %d programs", len(programs))
	}
	runTogether(t, longtest.Sample(programs, 12))
}

// runTogether runs the programs as packages of one program, which is linked once.
func runTogether(t *testing.T, programs []snippets.Program) {
	t.Helper()
	temp, replace := t.TempDir(), map[string]string{}
	put := func(dir, text string) {
		t.Helper()
		at, err := filepath.Abs(filepath.Join("internal", dir, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		replace[at] = filepath.Join(temp, dir+".go")
		if err := os.WriteFile(replace[at], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const mark = "-- the end of a program --\n"
	imports, calls := "", ""
	for i, p := range programs {
		dir := fmt.Sprintf("readme%d", i)
		put(dir, p.Package(dir))
		imports += fmt.Sprintf("\t%q\n", module+"/internal/"+dir)
		calls += fmt.Sprintf("\t%s.Main()\n\tfmt.Print(%q)\n", dir, mark)
	}
	put("readme", "package main\n\nimport (\n\t\"fmt\"\n\n"+imports+")\n\nfunc main() {\n"+calls+"}\n")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", "-ldflags=-w", "-overlay", overlay, "./internal/readme").CombinedOutput()
	outputs := strings.Split(string(out), mark)
	if err != nil || len(outputs) != len(programs)+1 {
		t.Fatalf("%v, after %d of %d programs\n%s", err, len(outputs)-1, len(programs), out)
	}
	for i, p := range programs {
		if outputs[i] != p.Want {
			t.Errorf("%v: got\n%s\nwant\n%s", p, outputs[i], p.Want)
		}
	}
}
