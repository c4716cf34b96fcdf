package gen_test

import (
	"strings"
	"testing"
)

// TestRunComplex compiles the derivatives of functions of complex numbers and compares them with differences.
func TestRunComplex(t *testing.T) {
	p := together(t, "complexes")
	for _, line := range strings.Split(strings.TrimSpace(p.problems["complexes"]), "\n") {
		if !strings.Contains(line, "which have no lane type") && !strings.Contains(line, "Single: no traced form") {
			t.Error(line)
		}
	}
	p.passes(t)
}
