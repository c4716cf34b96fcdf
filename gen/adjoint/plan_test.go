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

const formPath = "github.com/nabla-ad/nabla/gen/adjoint/testdata/funcs"

// form is the adjoint of a function of testdata/funcs by its slice, which is right under
// all options, and the workspace.
func form(t *testing.T, name string) (*adjoint.Adjoint, string) {
	t.Helper()
	f := function(t, load(t, formPath), formPath, name)
	for _, o := range variants {
		check(t, f, activity.Bits(1), o, []float64{0.5, 1.25, 0.75, 1.5})
	}
	p := adjoint.New(types.NewPackage("w", "w"), "Work", adjoint.Options{})
	a, err := p.Of(f, activity.Bits(1))
	if err != nil {
		t.Fatal(err)
	}
	return a, types.TypeString(p.Workspace().Type.Underlying(), nil)
}

// TestCovers: a loop is noticed that sets all of a slice, whatever its length is called and
// though an inner loop is left.
func TestCovers(t *testing.T) {
	for name, want := range map[string]bool{"Sized": true, "Broken": true, "Skipped": false} {
		if a, _ := form(t, name); a.Matter.NoCover != want {
			t.Errorf("%s: all of the slice is set: %v, want %v\n%v", name, a.Matter.NoCover, want, a.Func)
		}
	}
}

// TestOnce: an elementary function is computed once, wherever it stands; and where a zero is
// not multiplied by a derivative that is not finite that is counted, once for each that may be so.
func TestOnce(t *testing.T) {
	a, _ := form(t, "Within")
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

// TestViewsRerun: a slice of an array is cut again rather than kept, though the array is
// overwritten.
func TestViewsRerun(t *testing.T) {
	a, work := form(t, "Windows")
	if strings.Contains(work, "[][]float64") {
		t.Errorf("it keeps %s\n%v", work, a.Func)
	}
}

// TestListBehindPointer: what a pointer leads to need not be a struct.
func TestListBehindPointer(t *testing.T) {
	f := function(t, load(t, formPath), formPath, "Pop")
	for _, o := range variants {
		a, err := adjoint.New(types.NewPackage("w", "w"), "Work", o).Of(f, activity.Bits(1))
		if err != nil {
			t.Fatal(err)
		}
		checkAll(t, a.Func, map[*ir.Func]bool{})
	}
}
