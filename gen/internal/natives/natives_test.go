package natives_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/gen/internal/natives"
	"github.com/nabla-ad/nabla/gen/library"
)

// TestLibrary requires that Library has exactly the functions with a rule in package library.
func TestLibrary(t *testing.T) {
	got := slices.Sorted(maps.Keys(natives.Library()))
	if want := library.Names(); !slices.Equal(got, want) {
		t.Errorf("functions are %q, rules are of %q", got, want)
	}
}
