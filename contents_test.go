package nabla_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestContents compares the table of contents of RATIONALE.md with its headings. -update rewrites it.
func TestContents(t *testing.T) {
	const file, begin, end = "RATIONALE.md", "<!-- contents: TestContents -->\n\n", "\n<!-- end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	old, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no table of contents", file)
	}
	var b strings.Builder
	seen := map[string]bool{}
	for line := range strings.Lines(after) {
		level, title, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.Trim(level, "#") != "" || len(level) < 2 {
			continue
		}
		if seen[title] {
			t.Errorf("%s has two headings %q", file, title)
		}
		seen[title] = true
		b.WriteString(strings.Repeat("  ", len(level)-2) + "- [" + title + "](#" + anchor(title) + ")\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+b.String()+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if old != b.String() {
		t.Errorf("the table of contents of %s is not up to date; run go test -run TestContents -update .", file)
	}
}

// anchor returns the anchor of a heading as GitHub and GitLab make it.
func anchor(title string) string {
	title = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(title), "")
	return strings.ReplaceAll(title, " ", "-")
}

// goTest matches a command that runs tests or benchmarks, up to the next quote.
var goTest = regexp.MustCompile("go test ([^`\n#]+)")

// TestCommandsExist finds the tests and benchmarks that go test is told to run in documents.
func TestCommandsExist(t *testing.T) {
	longtest.Serial(t)
	n := 0
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		joined := regexp.MustCompile("`[^`]*`").ReplaceAllStringFunc(string(text), func(s string) string {
			return strings.ReplaceAll(s, "\n", " ") // a command may be broken into lines
		})
		for _, m := range goTest.FindAllStringSubmatch(joined, -1) {
			args := strings.Fields(m[1])
			dir := "."
			for _, a := range args {
				if strings.HasPrefix(a, "./") && !strings.HasSuffix(a, "/...") {
					dir = a
				}
			}
			for i, a := range args[:max(0, len(args)-1)] {
				prefix := map[string]string{"-bench": "Benchmark", "-run": ""}
				want, ok := prefix[a]
				if !ok || args[i+1] == "XXX" {
					continue
				}
				n++
				first, _, _ := strings.Cut(strings.Trim(args[i+1], "'"), "/")
				if !declaresTest(t, dir, want, first) {
					t.Errorf("%s: go test %s: %s has no such test or benchmark", name, m[1], dir)
				}
			}
		}
	}
	if n < 15 {
		t.Errorf("only %d commands with -run or -bench", n)
	}
}

// declaresTest reports whether the tests of a package have a function whose name begins with prefix and matches expr.
func declaresTest(t *testing.T, dir, prefix, expr string) bool {
	t.Helper()
	declaration := regexp.MustCompile(`(?m)^func (?:Test|Benchmark|Fuzz)\w+`)
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range declaration.FindAllString(string(text), -1) {
			name, ok := strings.CutPrefix(strings.TrimPrefix(f, "func "), prefix)
			if ok && regexp.MustCompile(expr).MatchString(name) {
				return true
			}
		}
	}
	return false
}
