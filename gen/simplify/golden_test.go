package simplify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// TestGolden compares the output of each pass with testdata/PASS.ir. A file has cases separated by a line of equal
// signs; a case is a list of functions, a line of dashes, and the last function after the pass. UPDATE=1 rewrites the
// files.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ir")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(filepath.Base(name), ".ir")
		pass := passes[base]
		if pass == nil {
			pass = sumPasses[base]
		}
		if pass == nil {
			pass = untestedPasses[base]
		}
		if pass == nil {
			t.Fatalf("no pass %s", base)
		}
		var out []string
		for _, c := range strings.Split(string(text), "\n====\n") {
			before, after, _ := strings.Cut(c, "\n----")
			f := parse(t, before)
			pass(f)
			if err := ir.Check(f); err != nil {
				t.Errorf("%s: %v\n%s", base, err, f)
			}
			got := f.String()
			if got != strings.Trim(after, "\n")+"\n" {
				t.Errorf("%s: got\n%swant\n%s", base, got, after)
			}
			out = append(out, before+"\n----\n"+strings.TrimSuffix(got, "\n"))
		}
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(name, []byte(strings.Join(out, "\n====\n")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}
