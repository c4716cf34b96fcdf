package nabla_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestLayering keeps the arrows between packages pointing one way.
func TestLayering(t *testing.T) {
	const module = "github.com/nabla-ad/nabla"
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	// room: what of this module it may import. A room without an entry is free.
	allowed := map[string]string{
		"rules":                   "",
		"internal/timing":         "",
		"internal/mmio":           "",
		"sparsity":                "internal/core internal/mmio program rules",
		"coloring":                "sparsity",
		"sparse":                  "sparsity internal/mmio",
		"internal/tabular":        "",
		"internal/core":           "rules",
		"program":                 "internal/core rules",
		"engine":                  "internal/core program rules",
		".":                       "coloring engine internal/core internal/timing program rules sparse sparsity",
		"backend/finitediff":      "engine internal/core program rules",
		"backend/forwarddiff":     "engine internal/core program rules",
		"backend/reversediff":     "engine internal/core program rules",
		"backend/source":          "engine",
		"backend/tracker":         "engine internal/core program rules",
		"difftest":                ". engine internal/tabular internal/timing sparse sparsity",
		"problems":                ". gen/rt gen/rt/avx",
		"gen":                     "gen/activity gen/adjoint gen/ir gen/lanes gen/lower gen/print gen/simplify gen/tangent gen/traced",
		"gen/ir":                  "gen/rt/checkpoint rules",
		"gen/activity":            "gen/ir",
		"gen/elementary":          "gen/ir rules",
		"gen/adjoint":             "gen/activity gen/elementary gen/ir gen/simplify rules",
		"gen/simplify":            "gen/ir",
		"gen/lanes":               "gen/activity gen/ir",
		"gen/tangent":             "gen/activity gen/elementary gen/ir gen/lanes rules",
		"gen/traced":              "gen/activity gen/ir",
		"gen/lower":               "gen/ir gen/kernels rules",
		"gen/internal/census":     "gen/activity gen/adjoint gen/internal/natives gen/ir gen/kernels gen/lower gen/print gen/tangent",
		"gen/internal/randprog":   "gen/ir gen/lower",
		"gen/kernels":             "",
		"gen/kernels/floatsad":    "",
		"gen/kernels/blas64ad":    "",
		"gen/kernels/sortad":      "",
		"gen/kernels/mathextad":   "gen/rt",
		"gen/print":               "gen/ir",
		"gen/rt":                  "rules",
		"gen/rt/avx":              "",
		"gen/rt/checkpoint":       "",
		"rules/internal/rulegen":  "rules",
		"rules/internal/genrules": "rules/internal/rulegen",
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		room := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if room == "" {
			room = "."
		}
		may, ok := allowed[room]
		if !ok {
			if strings.HasPrefix(room, "backend/") {
				t.Errorf("%s: give the new engine its entry in this test", room)
			}
			continue
		}
		for _, imp := range p.Imports {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				continue
			}
			target := strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
			if target == "" {
				target = "."
			}
			if !strings.Contains(" "+may+" ", " "+target+" ") {
				t.Errorf("%s imports %s; it may import: %s", room, target, may)
			}
		}
	}
}
