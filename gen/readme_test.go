package gen_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestREADME generates the code of the programs in the README that ask for it, runs them and compares their output with
// the text after each program.
func TestREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	// The go command runs a tool only if go.mod states at least the version of Go that the tool does.
	language := regexp.MustCompile(`\ngo .*\n`).FindString(read(t, "../go.mod"))
	programs := 0
	for _, part := range strings.Split(read(t, "../README.md"), "\n```go\n")[1:] {
		code, rest, _ := strings.Cut(part, "\n```\n")
		if !strings.Contains(code, "//go:generate") {
			continue
		}
		programs++
		_, want, found := strings.Cut(rest, "\n```text\n")
		if !found {
			t.Fatal("no output beside the program")
		}
		want, _, _ = strings.Cut(want, "```\n")
		dir := module(t,
			map[string]string{"go.mod": "module example\n" + language + "\ntool github.com/nabla-ad/nabla/cmd/nabla\n",
				"main.go": code + "\n"})
		for _, args := range [][]string{{"generate", "."}, {"tool", "nabla", "gen", "-check", "./..."}, {"vet", "."}} {
			command(t, dir, args...)
		}
		cmd := exec.Command("go", "run", ".")
		cmd.Dir, cmd.Env = dir, environ
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("got\n%s%v\nwant\n%s", out, err, want)
		}
	}
	if programs == 0 {
		t.Error("no program asks for generated code")
	}
}
