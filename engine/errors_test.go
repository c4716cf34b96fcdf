package engine

import (
	"strings"
	"testing"
)

// TestShapeErrorSaysWhatNext checks that the advice of a ShapeError fits the mistake.
func TestShapeErrorSaysWhatNext(t *testing.T) {
	for _, c := range []struct {
		err  ShapeError
		want string
	}{
		{ShapeError{"Gradient", "outputs of f", 2, 1},
			"nabla: Gradient: the function has 2 outputs, want 1; for several outputs use Jacobian, Pushforward or " +
				"Pullback"},
		{ShapeError{"Jacobian", "outputs of f", 2, 3},
			"want 3, as at Prepare; a function has the same number of outputs at every call"},
		{ShapeError{"BindInPlace", "m", -1, 0}, "m is -1, want 0 or more"},
		{ShapeError{"Gradient", "len(x)", 2, 3},
			"want 3; Prepare fixes the length and Resize changes it, unless the function has a fixed one"},
		{ShapeError{"Vec.Dot", "len(x)", 2, 3}, "len(x) is 2, want 3"},
		{ShapeError{"Gradient", "len(dst)", 2, 3}, "want 3; nil is allocated"},
		{ShapeError{"Plan.Jacobian", "len(dst)", 2, 3}, "want 3"},
	} {
		if got := c.err.Error(); !strings.HasSuffix(got, c.want+" (nabla.ShapeError)") {
			t.Errorf("%q, want … %q", got, c.want)
		}
	}
}
