package traced_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/traced"
)

// TestMarked: loops that may record operations in sixteen iterations or more are marked, those with a comment in
// testdata/marks, and no others.
func TestMarked(t *testing.T) {
	const path = module + "/gen/traced/testdata/marks"
	pkgs, p := load(t, nil, path)
	text, err := os.ReadFile("testdata/marks/marks.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	program := traced.New(pkgs[0].Types)
	seen := map[int]bool{}
	var check func(f *ir.Func)
	check = func(f *ir.Func) {
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Loop:
				line := s.Pos.Line
				seen[line] = true
				if want := strings.HasSuffix(lines[line-1], "// marked"); s.Marked != want {
					t.Errorf("line %d: marked %t: %s", line, s.Marked, strings.TrimSpace(lines[line-1]))
				}
			case *ir.Call:
				for _, g := range s.Callee.Funcs() {
					if strings.Contains(g.Name, "traced") {
						check(g)
					}
				}
			}
			return true
		})
	}
	for _, name := range functions(pkgs[0]) {
		f, err := p.Func(p.Lookup(path, name))
		if err != nil {
			t.Fatal(err)
		}
		check(build(t, program, f, floats(f, "")))
	}
	for i, line := range lines {
		if strings.HasSuffix(line, "// marked") && !seen[i+1] {
			t.Errorf("line %d: no loop", i+1)
		}
	}
}
