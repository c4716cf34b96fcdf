package adjoint_test

import (
	"go/types"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/adjoint"
)

// TestNodesUnchanged checks that no phase changes the statements and adjoints that an earlier one has paired: the plan
// and the emission keep their decisions elsewhere.
func TestNodesUnchanged(t *testing.T) {
	compared := 0
	for _, path := range []string{"gen/tangent/testdata/funcs", "gen/adjoint/testdata/funcs",
		"gen/adjoint/testdata/loops"} {
		path = "github.com/nabla-ad/nabla/" + path
		for _, f := range exported(t, load(t, path), path) {
			all, _ := activeParams(f)
			p := adjoint.New(types.NewPackage("w", "w"), "Work", adjoint.Options{})
			before, after, err := p.ChangedNodes(f, all)
			if err != nil {
				continue // refused, which other tests look at
			}
			compared++
			old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
			for i := range old {
				if i >= len(now) || old[i] != now[i] {
					t.Errorf("%s: a node has changed at line %d from\n%s", f.Name, i, old[i])
					break
				}
			}
		}
	}
	if compared < 70 {
		t.Errorf("%d functions were compared", compared)
	}
}
