package edges

import (
	"errors"
	"fmt"
	"testing"
)

// TestFunctionsInVariables: function literals in package variables, and declared functions in variables, have code.
func TestFunctionsInVariables(t *testing.T) {
	got, errs := variables([]float64{2})
	if fmt.Sprint(got) != "[12 36 2 2 5]" || errors.Join(errs...) != nil {
		t.Errorf("derivatives %v, want [12 36 2 2 5]; errors %v", got, errs)
	}
}
