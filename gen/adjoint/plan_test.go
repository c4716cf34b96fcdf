package adjoint_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
)

// inspectedPath is the package of functions whose adjoints are inspected.
const inspectedPath = "github.com/nabla-ad/nabla/gen/adjoint/testdata/funcs"

// inspectedAdjoint returns the adjoint of a function of testdata/funcs with a slice parameter, the text of the
// workspace type, and the optimizations that are possible. It checks the function under every variant first.
func inspectedAdjoint(t *testing.T, name string) (*adjoint.Adjoint, string, adjoint.Optimization) {
	t.Helper()
	f := function(t, load(t, inspectedPath), inspectedPath, name)
	for _, o := range variants {
		check(t, f, activity.Bits(1), o, []float64{0.5, 1.25, 0.75, 1.5})
	}
	p := adjoint.New(types.NewPackage("w", "w"), "Work", adjoint.Options{})
	applicable := p.Applicable()
	a, err := p.Of(f, activity.Bits(1))
	if err != nil {
		t.Fatal(err)
	}
	return a, types.TypeString(p.Workspace().Type.Underlying(), nil), *applicable
}

// TestArrayKill checks that a loop that assigns all elements of a slice is recognised, however its length is written
// and though an inner loop exits early, and one that may exit is not.
func TestArrayKill(t *testing.T) {
	for name, want := range map[string]bool{"Sized": true, "Broken": true, "Skipped": false} {
		a, _, applicable := inspectedAdjoint(t, name)
		if got := applicable&adjoint.ArrayKills != 0; got != want {
			t.Errorf("%s: all of the slice is set: %v, want %v\n%v", name, got, want, a.Func)
		}
	}
}

// TestElementaryEvaluatedOnce checks that each elementary function is evaluated once, and that there is one count of
// omitted products for each that may have an unbounded derivative.
func TestElementaryEvaluatedOnce(t *testing.T) {
	a, _, _ := inspectedAdjoint(t, "Within")
	var got []string
	ir.Walk(a.Func.Body, func(s ir.Stmt) bool {
		for _, e := range ir.Exprs(s) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if m, ok := e.(*ir.Math); ok {
					got = append(got, strings.TrimPrefix(m.Name, "math."))
				}
				return true
			})
		}
		return true
	})
	if slices.Sort(got); !slices.Equal(got, []string{"Cos", "Exp", "Sin", "Sqrt", ir.SkipName, ir.SkipName}) {
		t.Errorf("there are %v\n%v", got, a.Func)
	}
}

// TestSlicesRecomputed checks that slices of an array are recomputed rather than recorded, though the array is
// overwritten.
func TestSlicesRecomputed(t *testing.T) {
	a, work, _ := inspectedAdjoint(t, "Windows")
	if strings.Contains(work, "[][]float64") {
		t.Errorf("it keeps %s\n%v", work, a.Func)
	}
}

// TestPointerToSlice checks an adjoint of a function with a pointer to a slice.
func TestPointerToSlice(t *testing.T) {
	f := function(t, load(t, inspectedPath), inspectedPath, "Pop")
	for _, o := range variants {
		a, err := programWithout(o).Of(f, activity.Bits(1))
		if err != nil {
			t.Fatal(err)
		}
		checkAll(t, a.Func, map[*ir.Func]bool{})
	}
}
