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
)

// A snippet is a program in the README with its output.
type snippet struct{ code, want string }

// TestREADME compiles and runs the Go programs in the README and compares their output with the
// text block that follows. Programs that need generated code are run by the tests of package gen.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []snippet
	lang, body := "", ""
	for line := range strings.Lines(string(text)) {
		switch mark, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); {
		case ok && lang == "":
			lang, body = mark, ""
			if lang == "" {
				t.Fatalf("a code block without a language")
			}
		case ok:
			switch lang {
			case "go":
				found = append(found, snippet{code: body})
			case "text": // the output of the program above it
				if last := &found[len(found)-1]; last.want == "" {
					last.want = body
				}
			}
			lang = ""
		default:
			body += line
		}
	}
	if len(found) < 4 {
		t.Fatalf("found %d programs", len(found))
	}
	found = slices.DeleteFunc(found, func(s snippet) bool { return strings.Contains(s.code, "//go:generate") })
	if !longtest.Long() {
		runTogether(t, found)
		return
	}
	for _, s := range found {
		name := s.code[strings.LastIndex(s.code, "func main"):]
		t.Run(name[:min(len(name), 40)], func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(s.code), 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", "run", file).CombinedOutput()
			if err != nil || string(out) != s.want {
				t.Errorf("got\n%s%v\nwant\n%s", out, err, s.want)
			}
		})
	}
}

// runTogether runs the programs as packages of one program, which is linked once.
func runTogether(t *testing.T, programs []snippet) {
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
	for i, s := range programs {
		dir := fmt.Sprintf("readme%d", i)
		if strings.Count(s.code, "package main\n") != 1 || strings.Count(s.code, "func main() {") != 1 {
			t.Fatalf("not a program:\n%s", s.code)
		}
		put(dir, strings.NewReplacer("package main\n", "package "+dir+"\n", "func main() {", "func Main() {").
			Replace(s.code))
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
		t.Fatalf("%v\n%s", err, out)
	}
	for i, s := range programs {
		if outputs[i] != s.want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", s.code, outputs[i], s.want)
		}
	}
}
