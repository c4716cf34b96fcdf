package snippets_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/snippets"
)

const (
	program = "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(1)\n}\n"
	block   = "```go\n" + program + "```\n"
	output  = "```text\n1\n```\n"
)

func TestParse(t *testing.T) {
	got, err := snippets.Parse("a.md", "# A\n\n```sh\ngo run .\n```\n\n"+block+"\nprints\n\n"+output+
		"\n```text\nmore\n```\n"+block+output)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].String() != "a.md:8" || got[0].Code != program || got[0].Want != "1\n" {
		t.Errorf("got %+v", got)
	}
	want := strings.NewReplacer("package main", "package p", "func main", "func Main").Replace(program)
	if p := got[1].Package("p"); p != want {
		t.Errorf("as a package:\n%s", p)
	}
	if got[0].Generated() {
		t.Error("needs generated code")
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"```\nx\n```\n":                           "a.md:1: a block without a language",
		"\n```sh\nx\n":                            "a.md:3: a block without an end",
		"```sh\n```go\n```\n":                     "a.md:2: a block begins in another one",
		block:                                     "a.md:2: a program without output",
		block + block + output:                    "a.md:2: a program without output",
		"```go\nx := 1\n```\n" + output:           "a.md:2: Go that is no whole program with one func main",
		"```go\npackage main\n```\n" + output:     "a.md:2: Go that is no whole program with one func main",
		"```go\nfunc main() {\n}\n```\n" + output: "a.md:2: Go that is no whole program with one func main",
	} {
		if got, err := snippets.Parse("a.md", text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
}

// TestDocuments checks the length of pages and of lines of code, and that relative links of the documents lead to
// files, and to headings if they name one.
func TestDocuments(t *testing.T) {
	const root = "../.."
	names, err := snippets.Documents(root)
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)
	for _, name := range names {
		text := read(t, filepath.Join(root, name))
		lines, limit := strings.Count(text, "\n"), 300
		if name == "README.md" {
			limit = 150
		}
		if lines > limit {
			t.Errorf("%s has %d lines, more than %d", name, lines, limit)
		}
		programs, err := snippets.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range programs {
			for line := range strings.Lines(p.Code) {
				if n := len([]rune(strings.ReplaceAll(line, "\t", "    "))) - 1; n > 100 {
					t.Errorf("%v: a line of %d columns: %s", p, n, line)
				}
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := filepath.Join(root, name)
			if m[1] != "" {
				target = filepath.Join(root, filepath.Dir(name), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: %v", name, m[0], err)
			} else if m[2] != "" && !headings(read(t, target))[m[2]] {
				t.Errorf("%s: link to %s: no such heading", name, m[0])
			}
		}
	}
}

// TestIndex requires that the index links to every page.
func TestIndex(t *testing.T) {
	names, err := snippets.Documents("../..")
	if err != nil {
		t.Fatal(err)
	}
	index := read(t, "../../docs/README.md")
	for _, name := range names[1:] {
		if page := filepath.Base(name); page != "README.md" && !strings.Contains(index, "]("+page+")") {
			t.Errorf("docs/README.md has no link to %s", page)
		}
	}
}

// headings returns the anchors of the headings of a document.
func headings(text string) map[string]bool {
	drop := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	anchors, code := map[string]bool{}, false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if _, heading, ok := strings.Cut(line, "# "); ok && !code && strings.HasPrefix(line, "#") {
			heading = drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			anchors["#"+strings.ReplaceAll(heading, " ", "-")] = true
		}
	}
	return anchors
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
