package sparsity_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

// TestHostileSizes has headers that announce much and files that hold little.
func TestHostileSizes(t *testing.T) {
	for _, file := range []string{
		"coordinate real general\n2000000000 2000000000 2000000000\n1 1 1\n",
		"coordinate pattern general\n2000000000 1 0\n",
		"coordinate pattern general\n1 2000000000 1\n1 1\n",
		"array real general\n0 2000000000\n",
		"array real general\n2000000000 1\n1\n",
		"coordinate pattern symmetric\n1048576 1048576 0\n", // allowed
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := sparsity.ReadMatrixMarket(strings.NewReader("%%MatrixMarket matrix " + file))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
			t.Errorf("%s%v: %d MB allocated", file, err, got>>20)
		}
		if allowed := strings.Contains(file, "1048576"); (err == nil) != allowed {
			t.Errorf("%s%v", file, err)
		}
	}
}
