package adjoint_test

import (
	"go/types"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
)

// TestNotFusedBeforeCall checks loops that cannot be fused, since the reversal of a call after the loop needs values
// that the loop or the call computes.
func TestNotFusedBeforeCall(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/gen/adjoint/testdata/funcs"
	p := load(t, path)
	for _, f := range []string{"Tail", "Gathered"} {
		for name, o := range variants {
			t.Run(f+" "+name, func(t *testing.T) {
				check(t, function(t, p, path, f), activity.Bits(1), o, []float64{0.1, 0.2, 0.4})
			})
		}
	}
}

// TestNestedExits checks statements after an exit nested in two conditions: neither are they reversed if they were
// skipped, nor do analyses rely on them.
func TestNestedExits(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/gen/adjoint/testdata/funcs"
	p := load(t, path)
	for name, o := range variants {
		t.Run(name, func(t *testing.T) {
			for _, x := range [][]float64{{0.5, 0.25, 2}, {1.5, 0.25, 2}, {1.5, 1.25, 2}} {
				for _, f := range []string{"Left", "Skipped"} {
					check(t, function(t, p, path, f), activity.Bits(1), o, slices.Clone(x))
				}
				check(t, function(t, p, path, "LeftInPlace"), activity.Bits(3), o, slices.Clone(x),
					[]float64{0.5, 0.25})
			}
		})
	}
}

// TestNotFusedIfLoopCarried checks that a loop is not fused if iterations communicate active values in memory, and is
// if these are passive.
func TestNotFusedIfLoopCarried(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/gen/adjoint/testdata/funcs"
	p := load(t, path)
	for _, tt := range []struct {
		name  string
		fused bool
		more  []any
	}{{"Carried", false, nil}, {"CarriedIn", false, nil}, {"CarriedOut", false, nil}, {"Ordinal", true, nil},
		{"OrdinalIn", true, []any{[]float64{2}}}} {
		f := function(t, p, path, tt.name)
		for name, o := range variants {
			t.Run(tt.name+" "+name, func(t *testing.T) {
				check(t, f, activity.Bits(1), o, append([]any{[]float64{0.5, -0.25, 1.5, 0.75}}, clones(tt.more)...)...)
			})
		}
		a, err := adjoint.New(types.NewPackage("w", "w"), "Work", adjoint.Options{}).Of(f, activity.Bits(1))
		if err != nil {
			t.Fatal(err)
		}
		const remark = "each iteration is reversed right after it ran"
		fused := slices.ContainsFunc(a.Remarks, func(n adjoint.Remark) bool { return n.Text == remark })
		if fused != tt.fused {
			t.Errorf("%s: the loop is reversed one by one: %v, want %v", tt.name, fused, tt.fused)
		}
	}
}
