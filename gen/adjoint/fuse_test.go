package adjoint_test

import (
	"slices"
	"testing"
)

// TestBehind: a loop is run before the reversal of a call behind it where that needs what
// the loop or the call computed.
func TestBehind(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/gen/adjoint/testdata/funcs"
	p := load(t, path)
	for _, f := range []string{"Tail", "Gathered"} {
		for name, o := range variants {
			t.Run(f+" "+name, func(t *testing.T) {
				check(t, function(t, p, path, f), 1, o, []float64{0.1, 0.2, 0.4})
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
					check(t, function(t, p, path, f), 1, o, slices.Clone(x))
				}
				check(t, function(t, p, path, "LeftInPlace"), 3, o, slices.Clone(x), []float64{0.5, 0.25})
			}
		})
	}
}
