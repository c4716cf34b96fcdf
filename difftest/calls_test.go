package difftest_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/engine"
)

type expectation = func(operator string, n, m int) (difftest.Calls, bool)

// everyCall is an expectation of so many evaluations in every call and none before.
func everyCall(per func(operator string, n, m int) int) expectation {
	return func(operator string, n, m int) (difftest.Calls, bool) {
		k := per(operator, n, m)
		return difftest.Calls{Sixteen: 16 * k}, k > 0
	}
}

func ceil(a, b int) int { return (a + b - 1) / b }

// sweeps returns the counts of forward mode with chunks, in which each sweep runs the function once. Operators of
// second order replay a program and are not counted.
func sweeps(chunk int) expectation {
	return everyCall(func(operator string, n, m int) int {
		switch operator {
		case "pushforward", "derivative":
			return 1
		case "gradient", "jacobian", "pullback":
			return ceil(n, chunk)
		}
		return 0
	})
}

// tapes returns the count of reverse mode that records in every call, with eight cotangents in a sweep. A tangent is
// propagated over one tape.
func tapes(operator string, n, m int) int {
	if operator == "jacobian" {
		return ceil(m, 8)
	}
	return 1
}

// recorded returns the counts of reversediff without compilation. A tangent is propagated by a program for the
// derivative at a point, which is replayed and checked, and the value is evaluated.
func recorded(operator string, n, m int) (difftest.Calls, bool) {
	if operator == "pushforward" {
		return difftest.Calls{Prepare: 1, Sixteen: 16 + 16}, true
	}
	return everyCall(tapes)(operator, n, m)
}

// replayed returns the counts of reverse mode that records in preparation, twice for jacobian, hessian and
// second_derivative. checks of the sixteen replays are compared with the function, which evaluates it.
func replayed(checks int) expectation {
	return func(operator string, n, m int) (difftest.Calls, bool) {
		c := difftest.Calls{Prepare: 1}
		switch operator {
		case "jacobian", "hessian", "second_derivative":
			c.Prepare = 2
		}
		if operator == "pushforward" {
			c.Sixteen = 16 // the value, beside the derivative at the point
		}
		c.Sixteen += checks
		return c, true
	}
}

// probed returns the counts of an engine that evaluates functions over Reals: preparation runs f twice more, to find
// out whether it keeps numbers from call to call.
func probed(e expectation) expectation {
	return func(operator string, n, m int) (difftest.Calls, bool) {
		c, ok := e(operator, n, m)
		c.Prepare += 2
		return c, ok
	}
}

// differences returns the counts in the table of package finitediff, plus one for the value.
func differences(side int) expectation {
	return everyCall(func(operator string, n, m int) int {
		switch operator {
		case "second_derivative":
			return 3
		case "hvp":
			return 4*n + 1
		case "hessian":
			return 2*n*n + 1
		case "pushforward", "derivative":
			return side + 1
		}
		return side*n + 1
	})
}

// TestCallCounts compares the number of evaluations by each engine with a table.
func TestCallCounts(t *testing.T) {
	compiled := reversediff.Backend{Compile: true}
	for _, c := range []struct {
		b     nabla.Backend
		calls expectation
		plain bool
	}{
		{forwarddiff.Backend{}, sweeps(12), false},
		{forwarddiff.Backend{Chunk: 1}, sweeps(1), false},
		{forwarddiff.Backend{Chunk: 5}, sweeps(5), false},
		{reversediff.Backend{}, recorded, false},
		{tracker.Backend{}, everyCall(tapes), false},
		{compiled, replayed(16), false},
		{nabla.Policy{Backend: compiled, FixedCaptures: true}, replayed(5), false},
		{nabla.Policy{Backend: compiled, NoStaleCheck: true}, replayed(0), false},
		{finitediff.Backend{}, probed(differences(2)), false},
		{finitediff.Backend{}, differences(2), true},
		{finitediff.Backend{Method: finitediff.Forward}, probed(differences(1)), false},
		{finitediff.Backend{Method: finitediff.Backward}, differences(1), true},
		{finitediff.Backend{Method: finitediff.Complex}, probed(func(operator string, n, m int) (difftest.Calls, bool) {
			switch operator { // the rest are runs of the program
			case "second_derivative", "hvp", "hessian":
				return difftest.Calls{}, false
			}
			return difftest.Calls{Prepare: 1, Sixteen: 16}, true
		}), false},
	} {
		r := newRecorder("calls/")
		difftest.Check(r, c.b, &difftest.Options{Calls: c.calls, Plain: c.plain, NoModifiers: true})
		for _, m := range *r.failed {
			t.Error(m)
		}
	}
}

// wasteful is a correct engine that evaluates the function once too often.
type wasteful struct{ reversediff.Backend }

func (wasteful) Name() string { return "wasteful" }

func (b wasteful) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	g, err := b.Backend.PrepareGradient(f, x)
	return wastefulGradient{g, f}, err
}

type wastefulGradient struct {
	engine.Gradient
	f *engine.Function
}

func (g wastefulGradient) ValueAndGradient(grad, x []float64) (float64, error) {
	if err := g.f.Value(make([]float64, 1), x); err != nil {
		return 0, err
	}
	return g.Gradient.ValueAndGradient(grad, x)
}

// TestRepeatedEvaluationsCounted requires that an engine that evaluates the function twice in each call is reported.
func TestRepeatedEvaluationsCounted(t *testing.T) {
	r := newRecorder("calls/")
	difftest.Check(r, wasteful{}, &difftest.Options{Calls: recorded, NoModifiers: true})
	if want := "[calls] calls/gradient on wasteful: evaluated f 0 times when prepared and 32 times in 16 calls, " +
		"want 0 and 16"; !contains(*r.failed, want) {
		t.Errorf("no message with %q in %q", want, *r.failed)
	}
}
