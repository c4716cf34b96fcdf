package adjoint_test

import (
	"errors"
	"testing"

	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestAliases checks adjoints of functions that write memory through another name or type, under every variant. It also
// checks that most families of such functions detect the mistake NameCells.
func TestAliases(t *testing.T) {
	list, err := randprog.Aliases()
	if err != nil {
		t.Fatal(err)
	}
	families, missed := map[string]bool{}, map[string]bool{}
	for i, a := range list {
		names := variantNames()
		if !longtest.Long() { // functions take turns with the variants
			names = names[i%len(names):][:1]
		}
		if err := adjoints(names)(a.Case, new(randprog.Tally)); err != nil {
			t.Errorf("%s: %v\n%s", a.What, err, a.Func)
		}
		families[a.Family] = true
		b, _, err := buildWithMistake(a.Case, 0, 0, (*adjoint.Program).NameCells)
		if err == nil {
			err = a.Adjoints(tangents()).Check(b, new(randprog.Tally))
		}
		if f := (*randprog.Failure)(nil); errors.As(err, &f) && f.Oracle == "transpose" {
			missed[a.Family] = true
		}
	}
	if len(missed)*2 < len(families) {
		t.Errorf("%d of %d families show that memory is told apart by the names of types: %v", len(missed),
			len(families), missed)
	}
}
