package adjoint_test

import (
	"go/types"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/natives"
)

// TestRules checks adjoints of functions that call rules.
func TestRules(t *testing.T) {
	p := load(t, "../lower/testdata/rules")
	x := func() []float64 { return []float64{0.7, 1.3, 2.1, 0.4} }
	for i, tt := range []struct {
		name string
		m    activity.Mask
		args []any
	}{
		{"Root", activity.Bits(1), []any{1.7}}, {"Roots", activity.Bits(1), []any{x()}},
		{"Overwritten", activity.Bits(1), []any{x()}}, {"Still", activity.Bits(1), []any{x()}},
		{"Squares", activity.Bits(3), []any{x(), []float64{1, 2, 3}, 0.5}},
		{"Squares", activity.Bits(1), []any{x(), []float64{1, 2, 3, 4}, 0.5}},
		{"Method", activity.Bits(3), []any{x(), 1.5}}, {"Method", activity.Bits(1), []any{x(), 1.5}},
		{"Method", activity.Bits(2), []any{x(), 1.5}},
		{"Vectors", activity.Bits(3), []any{x(), 0.8}}, {"Vectors", activity.Bits(2), []any{x(), 0.8}},
		{"Vectors", activity.Bits(1), []any{x(), 0.8}},
		{"Matrices", activity.Bits(3), []any{x(), 0.8}}, {"Matrices", activity.Bits(2), []any{x(), 0.8}},
		{"Special", activity.Bits(3), []any{0.7, 1.6}},
		{"Followed", activity.Bits(3), []any{x(), 1.5}}, {"Followed", activity.Bits(1), []any{x(), 1.5}},
		{"Followed", activity.Bits(2), []any{x(), 1.5}}, {"Returned", activity.Bits(1), []any{x()}},
		{"Values", activity.Bits(1), []any{x()}},
		{"Carried", activity.Bits(1), []any{x()}}, {"Owned", activity.Bits(1), []any{x()}},
		{"Summed", activity.Bits(1), []any{x()}}, {"Windows", activity.Bits(1), []any{x()}},
		{"Addressed", activity.Bits(1), []any{0.8}},
	} {
		for _, name := range inTurn(i, variantNames()) {
			o := variants[name]
			t.Run(tt.name+" "+name,
				func(t *testing.T) { check(t, function(t, p, natives.Path, tt.name), tt.m, o, tt.args...) })
		}
	}
}

// TestRuleRefused checks the errors for rules without a pullback or with an active constant argument.
func TestRuleRefused(t *testing.T) {
	p := load(t, "../lower/testdata/rules")
	for name, want := range map[string]string{
		"OneWay": "no adjoint of rules.OneWay: function " + natives.Path +
			".Forwards, whose rule has no pullback; name one with //nabla:rule pullback=…",
		"Shape": "no adjoint of rules.Shape: the argument x of gonum.org/v1/gonum/mathext.Zeta, which " +
			"carries a derivative: its rule has none with respect to it; pass a constant, or wrap the call in a " +
			"function with a rule",
	} {
		_, err := adjoint.New(types.NewPackage("w", "w"), "Work",
			adjoint.Options{}).Of(function(t, p, natives.Path, name), activity.Bits(1))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestRuleUnreadNotRecorded checks that values that a pullback does not read are not recorded.
func TestRuleUnreadNotRecorded(t *testing.T) {
	p := load(t, "../lower/testdata/rules")
	work := func(name string) string {
		w := adjoint.New(types.NewPackage("w", "w"), "Work", adjoint.Options{})
		if _, err := w.Of(function(t, p, natives.Path, name), activity.Bits(1)); err != nil {
			t.Fatal(err)
		}
		return types.TypeString(w.Workspace().Type.Underlying(), nil)
	}
	if got := work("Additions"); strings.Contains(got, "kept") || strings.Contains(got, "view") ||
		strings.Contains(got, "arg") {
		t.Errorf("additions keep %s", got)
	}
	if got := work("Products"); !strings.Contains(got, "[]float64") {
		t.Errorf("products keep %s", got)
	}
}
