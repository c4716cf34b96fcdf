package natives_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/gen/internal/natives"
	"github.com/nabla-ad/nabla/gen/kernels"
)

// TestShipped requires that Shipped has exactly the functions with a rule in package kernels.
func TestShipped(t *testing.T) {
	got := slices.Sorted(maps.Keys(natives.Shipped()))
	if want := kernels.Names(); !slices.Equal(got, want) {
		t.Errorf("functions are %q, rules are of %q", got, want)
	}
}
