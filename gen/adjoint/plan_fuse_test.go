package adjoint_test

import (
	"go/types"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
)

// TestBehind: a loop is run before the reversal of a call behind it where that needs what
// the loop or the call computed.
func TestBehind(t *testing.T) {
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

// TestExits: what is behind an exit within two conditions is not reversed, nor run, nor
// counted on, where it is not reached.
func TestExits(t *testing.T) {
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

// TestCarried: a loop whose iterations hand numbers with derivatives on in memory is not
// reversed one by one, and one that hands on others is.
func TestCarried(t *testing.T) {
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
		if fused := slices.ContainsFunc(a.Remarks,
			func(n adjoint.Remark) bool { return n.Text == "each iteration is reversed at once" }); fused != tt.fused {
			t.Errorf("%s: the loop is reversed one by one: %v, want %v", tt.name, fused, tt.fused)
		}
	}
}
