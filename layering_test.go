package nabla_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/nabla-ad/nabla"

// A listedPackage is a package of this module. Deps is all that it needs, directly or not.
type listedPackage struct {
	ImportPath    string
	Imports, Deps []string
}

func listed(t *testing.T) (all []listedPackage) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// ours reports whether a package is of this module.
func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// room is the path of a package of this module, below it.
func room(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// TestDependencies: a program that uses nabla needs gonum and the standard library. Only the generator needs to load
// packages, and
// only the command the rest.
func TestDependencies(t *testing.T) {
	below := func(here string, dirs ...string) bool {
		return slices.ContainsFunc(dirs,
			func(dir string) bool { return here == dir || strings.HasPrefix(here, dir+"/") })
	}
	libraries := 0
	for _, p := range listed(t) {
		here := room(p.ImportPath)
		may := []string{"gonum.org/v1/gonum"}
		switch generator := below(here, "gen") && !below(here, "gen/rt", "gen/kernels"); {
		case below(here, "cmd"):
			may = append(may, "golang.org/x", "github.com/urfave/cli", "github.com/schollz/progressbar",
				"github.com/mitchellh/colorstring", "github.com/rivo/uniseg")
		case generator:
			may = append(may, "golang.org/x/tools", "golang.org/x/mod", "golang.org/x/sync")
		default:
			libraries++
		}
		for _, path := range p.Deps {
			host, _, _ := strings.Cut(path, "/")
			if strings.Contains(host, ".") && !ours(path) && !below(path, may...) {
				t.Errorf("%s needs %s; it may need the standard library, this module and %v", here, path, may)
			}
		}
	}
	if libraries < 20 {
		t.Errorf("only %d packages are looked at", libraries)
	}
}

// TestLayering keeps the arrows between packages pointing one way.
func TestLayering(t *testing.T) {
	// room: what of this module it may import. A room without an entry is free.
	allowed := map[string]string{
		"rules":               "",
		"internal/snapshot":   "",
		"internal/structcopy": "engine",
		"internal/timing":     "",
		"internal/longtest":   "",
		"internal/words":      "",
		"internal/dependent":  "",
		"internal/mmio":       "",
		"sparsity":            "internal/core internal/mmio program rules",
		"coloring":            "sparsity",
		"sparse":              "sparsity internal/mmio",
		"internal/tabular":    "",
		"internal/core":       "rules",
		"program":             "internal/core rules",
		"engine":              "internal/core program rules",
		".": "coloring engine internal/binding internal/core internal/snapshot internal/timing " +
			"program rules sparse sparsity",
		"backend/finitediff":  "engine internal/core program rules",
		"backend/forwarddiff": "engine internal/core program rules",
		"backend/reversediff": "engine internal/core program rules",
		"backend/source":      "engine gen/rt internal/core",
		"backend/tracker":     "engine internal/core program rules",
		"difftest": ". difftest/internal/banded engine internal/tabular internal/timing sparse " +
			"sparsity",
		"difftest/coded":           ". difftest difftest/internal/banded gen/rt",
		"difftest/internal/banded": "",
		"problems":                 ". gen/rt gen/rt/avx",
		"gen": "gen/activity gen/adjoint gen/ir gen/lanes gen/lower gen/print gen/simplify " +
			"gen/tangent gen/traced",
		"gen/ir":         "gen/rt/checkpoint rules",
		"gen/activity":   "gen/ir",
		"gen/elementary": "gen/ir rules",
		"gen/adjoint":    "gen/activity gen/elementary gen/ir gen/simplify rules",
		"gen/simplify":   "gen/ir",
		"gen/lanes":      "gen/activity gen/ir",
		"gen/tangent":    "gen/activity gen/elementary gen/ir gen/lanes rules",
		"gen/traced":     "gen/activity gen/ir",
		"gen/lower":      "gen/ir gen/kernels rules",
		"gen/internal/census": "gen/activity gen/adjoint gen/internal/natives gen/ir gen/kernels gen/lower " +
			"gen/print gen/tangent",
		"gen/internal/randprog":   "gen/ir gen/lower",
		"gen/kernels":             "",
		"gen/kernels/floatsad":    "",
		"gen/kernels/blas64ad":    "",
		"gen/kernels/sortad":      "",
		"gen/kernels/mathextad":   "gen/rt",
		"gen/kernels/mathextreal": ". gen/kernels/mathextad gen/rt",
		"gen/print":               "gen/ir",
		"gen/rt":                  "internal/core rules",
		"gen/rt/avx":              "",
		"gen/rt/checkpoint":       "",
		"rules/internal/rulegen":  "rules",
		"rules/internal/genrules": "rules/internal/rulegen",
	}
	for _, p := range listed(t) {
		here := room(p.ImportPath)
		may, ok := allowed[here]
		if !ok {
			if strings.HasPrefix(here, "backend/") {
				t.Errorf("%s: give the new engine its entry in this test", here)
			}
			continue
		}
		for _, imp := range p.Imports {
			if !ours(imp) {
				continue
			}
			target := room(imp)
			if !strings.Contains(" "+may+" ", " "+target+" ") {
				t.Errorf("%s imports %s; it may import: %s", here, target, may)
			}
		}
	}
}
