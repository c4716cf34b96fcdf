package nabla_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestREADME compiles and runs the Go programs in the README and compares their output with the
// text block that follows. Programs that need generated code are run by the tests of package gen.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	type snippet struct{ code, want string }
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
	for _, s := range found {
		if strings.Contains(s.code, "//go:generate") {
			continue
		}
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
