package adjoint_test

import "testing"

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
