package ir_test

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// TestMarkedLoopText: the text of a loop says whether recordings are told of its iterations, and copies keep it.
func TestMarkedLoopText(t *testing.T) {
	const text = `func p.f(n int) (s int) exit {
    for all, next i int = 0; i < n; i += 1 marked {
        s = s + i
    }
    for marked, again marked {
        leave marked
    }
    for l, k {
        leave l
    }
}
`
	funcs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := funcs[0]
	g, _ := ir.Clone(f, nil)
	for _, f := range []*ir.Func{f, g} {
		if n := strings.Count(f.String(), " marked {"); n != 2 {
			t.Errorf("%d marked loops in\n%s", n, f)
		}
	}
}
