package tangent_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/internal/natives"
	"github.com/nabla-ad/nabla/gen/tangent"
)

// TestRules compares derivatives of functions that call rules with finite differences.
func TestRules(t *testing.T) {
	p := load(t, "../lower/testdata/rules")
	x := func() []float64 { return []float64{0.7, 1.3, 2.1, 0.4} }
	for _, tt := range []struct {
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
		{"OneWay", activity.Bits(1), []any{0.7}}, {"Followed", activity.Bits(3), []any{x(), 1.5}},
		{"Followed", activity.Bits(1), []any{x(), 1.5}}, {"Followed", activity.Bits(2), []any{x(), 1.5}},
		{"Returned", activity.Bits(1), []any{x()}}, {"Values", activity.Bits(1), []any{x()}},
		{"Carried", activity.Bits(1), []any{x()}}, {"Owned", activity.Bits(1), []any{x()}},
		{"Summed", activity.Bits(1), []any{x()}}, {"Windows", activity.Bits(1), []any{x()}},
		{"Addressed", activity.Bits(1), []any{0.8}},
	} {
		t.Run(tt.name, func(t *testing.T) { check(t, function(t, p, natives.Path, tt.name), tt.m, tt.args...) })
	}
}

// TestRulesInLanes: tangents of rules that take numbers are called once per lane; other functions are differentiated
// from source.
func TestRulesInLanes(t *testing.T) {
	p := load(t, "../lower/testdata/rules")
	for _, n := range widths {
		tangents := tangent.NewLanes(n)
		checkLanes(t, tangents, function(t, p, natives.Path, "Special"), n, activity.Bits(3), 0.7, 1.6)
		checkLanes(t, tangents, function(t, p, natives.Path, "Special"), n, activity.Bits(2), 0.7, 1.6)
		checkLanes(t, tangents, function(t, p, natives.Path, "Roots"), n, activity.Bits(1), []float64{0.7, 1.3, 2.1})
		checkLanes(t, tangents, function(t, p, natives.Path, "Addressed"), n, activity.Bits(1), 0.8)
		checkLanes(t, tangents, function(t, p, natives.Path, "Followed"), n, activity.Bits(3), []float64{0.7, 1.3, 2.1},
			1.5)
	}
}

func TestRuleRefused(t *testing.T) {
	p := load(t, "../lower/testdata/rules")
	for name, want := range map[string]string{
		"OtherWay": "no tangent of rules.OtherWay: function " + natives.Path +
			".Backwards, whose rule has no tangent; name one with //nabla:rule tangent=…",
		"Shape": "no tangent of rules.Shape: the argument x of gonum.org/v1/gonum/mathext.Zeta, which " +
			"carries a derivative: its rule has none with respect to it; pass a constant, or wrap the call in a " +
			"function with a rule",
	} {
		_, _, err := tangent.New().Build(function(t, p, natives.Path, name), activity.Bits(1))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	_, _, err := tangent.NewLanes(4).Build(function(t, p, natives.Path, "Vectors"), activity.Bits(1))
	const want = "no tangent of rules.Vectors: function gonum.org/v1/gonum/floats.Norm in 4 directions: " +
		"its rule takes one direction of a slice or a struct; use the tangent in one direction"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
