package problems_test

import (
	"errors"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
	"github.com/nabla-ad/nabla/internal/problems"
)

// TestOverlap requires that generated adjoints panic if slices share memory.
func TestOverlap(t *testing.T) {
	defer func() {
		var e *rt.OverlapError
		if err, ok := recover().(error); !ok || !errors.As(err, &e) ||
			err.Error() != "RosenbrockPlainAdjoint: xBar and x share memory, and xBar is written to; pass slices "+
				"that share none (rt.OverlapError)" {
			t.Error("got", err)
		}
	}()
	x := make([]float64, 10)
	var ws problems.AdjointWork
	problems.RosenbrockPlainAdjoint(x[:6], x[5:], 1, &ws)
}
