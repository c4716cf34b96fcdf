package difftest_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
)

// TestModifiersCompose applies several modifiers to one scenario.
func TestModifiersCompose(t *testing.T) {
	elsewhere(t)
	var some []difftest.Scenario
	for _, s := range difftest.Scenarios("default") {
		switch s.Name {
		case "vec_to_vec/pullback/in/in", "mat_to_vec/pushforward/out/in", "arr_to_num(matrix)/hvp/out/in",
			"num_to_vec/second_derivative/out/in", "vec_to_mat/jacobian/out/in", "arr_to_num(vector)/hessian/out/in":
			some = append(some, s)
		}
	}
	if len(some) != 6 {
		t.Fatalf("%d scenarios, want 6", len(some))
	}
	var all []difftest.Scenario
	for _, m := range [][]difftest.Modifier{
		{difftest.Constantify, difftest.Cachify},
		{difftest.Cachify, difftest.Constantify},
		{difftest.Constantify, difftest.Constantify},
		{difftest.Closurify, difftest.ConstantOrCachify, difftest.Structurify, difftest.CachifyStruct},
		{difftest.Batchify, difftest.Constantify, difftest.Batchify},
		{difftest.Zero, difftest.Closurify},
		{difftest.Constantify, difftest.Zero},
	} {
		all = append(all, difftest.Modify(some, m...)...)
	}
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{}} {
		t.Run(b.Name(), func(t *testing.T) {
			difftest.Run(t, b, &difftest.Options{Scenarios: all})
		})
	}
	// 3·7 = (3)(7) of the sine at 0.42: the numbers follow the modifiers.
	s := difftest.Modify(difftest.Scenarios("default")[:1], difftest.Constantify, difftest.Closurify)[0]
	if want := 21 * 0.40776045305957015; s.Value[0] != want ||
		s.Name != "num_to_num/pushforward/out/out/constant/closure" {
		t.Errorf("%s: value %v, want %v", s.Name, s.Value[0], want)
	}
}

// TestUserScenario runs a scenario as a user writes it, without a closed form.
func TestUserScenario(t *testing.T) {
	s := difftest.Scenario{
		Name: "product", Operator: "gradient",
		Func:    func(y, x []nabla.Real) { y[0] = x[0].Mul(x[1]) },
		Outputs: func(int) int { return 1 },
		X:       []float64{2, 3}, Value: []float64{6}, First: []float64{3, 2},
	}
	right := difftest.Modify([]difftest.Scenario{s}, difftest.Constantify)
	difftest.Run(t, reversediff.Backend{Compile: true},
		&difftest.Options{Scenarios: append(right, s, difftest.Zero(s))})

	s.First = []float64{2, 3}
	r := newRecorder("product")
	difftest.Check(r, reversediff.Backend{Compile: true}, &difftest.Options{Scenarios: []difftest.Scenario{s}})
	if !contains(*r.failed,
		"[unprepared] product on reversediff(compile): Gradient: the derivative is wrong: number 0 is 3, want 2") {
		t.Errorf("a wrong expectation is not noticed: %q", first(*r.failed, 3))
	}
}
