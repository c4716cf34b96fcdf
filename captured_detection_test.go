package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// Data that changes while x does. Most of these calls are compared by the value at x, which
// a change may leave alone.

// between is how many calls a change may stay unseen that leaves all values alone.
const between = 16

// moving are engines that replay a recording for a gradient.
var moving = []nabla.Backend{
	compiled,
	finitediff.Backend{Method: finitediff.Complex},
	nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled},
	nabla.SecondOrder{Outer: tracker.Backend{}, Inner: compiled},
	nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: compiled},
}

// edge is a function of three numbers: at x[0] = 0 its value does not show factor, and
// elsewhere it does. Where x[2] is negative it takes another branch.
type edge struct{ factor, shift float64 }

func (e *edge) at(x []nabla.Real) nabla.Real {
	s := x[0].Scale(e.factor).Mul(x[1]).Add(x[1].Sq())
	if x[2].Less(nabla.Const(0)) {
		return s.Add(x[2].Sq().Scale(e.shift))
	}
	return s.Add(x[2].Scale(e.shift))
}

func (e *edge) gradient(x []float64) []float64 {
	g := []float64{e.factor * x[1], e.factor*x[0] + 2*x[1], e.shift}
	if x[2] < 0 {
		g[2] = 2 * e.shift * x[2]
	}
	return g
}

// A history holds the outcomes of the calls of a prepared object.
type history struct {
	wrong   []int // calls with wrong results that no error has named yet
	errors  []int
	covered int // calls that were wrong and that a later error named
	longest int // calls from a wrong one to the error
}

// call adds call number k.
func (h *history) call(t *testing.T, k int, got, want []float64, err error) {
	t.Helper()
	var stale *nabla.StaleError
	switch {
	case errors.As(err, &stale):
		h.errors = append(h.errors, k)
		for _, w := range h.wrong {
			if h.longest = max(h.longest, k-w); w < k-stale.Unchecked {
				t.Errorf("call %d was wrong, and the error at call %d is for %d calls", w, k, stale.Unchecked)
			}
		}
		h.covered += len(h.wrong)
		h.wrong = nil
		if stale.Unchecked > 0 && !strings.Contains(err.Error(), " only, and ") {
			t.Errorf("call %d: %v", k, err)
		}
	case err != nil:
		t.Errorf("call %d: %v", k, err)
	default:
		for i, v := range got {
			if !(math.Abs(v-want[i]) <= 1e-9*math.Max(1, math.Abs(want[i]))) {
				h.wrong = append(h.wrong, k)
				break
			}
		}
	}
}

// TestCapturedDataSeenByValue: a change that moves the value at x is seen at the call after
// it, and no call was wrong: there is no error.
func TestCapturedDataSeenByValue(t *testing.T) {
	for _, b := range moving {
		for first := 1; first <= 40; first++ {
			e := &edge{factor: 1, shift: 1}
			p := mustGradient(t, e.at, b, 1, 1, 1)
			var h history
			for k := 1; k <= first+4; k++ {
				if k >= first {
					e.factor, e.shift = float64(k), 1/float64(k+1)
				}
				x := []float64{1 + float64(k)/7, 2 - float64(k%5), 1 + float64(k%3)}
				got, err := p.Gradient(nil, x)
				h.call(t, k, got, e.gradient(x), err)
			}
			if len(h.wrong)+len(h.errors) > 0 {
				t.Errorf("%s, change before call %d: %d wrong, errors at %d", b.Name(), first, h.wrong, h.errors)
			}
		}
	}
}

// TestCapturedDataNotSeenByValue: a change that leaves the value at x alone is seen within
// 16 calls, and the error names all that were wrong. From then on it is seen at once.
func TestCapturedDataNotSeenByValue(t *testing.T) {
	for _, b := range moving {
		for first := 1; first <= 40; first++ {
			e := &edge{factor: 1, shift: 1}
			p := mustGradient(t, e.at, b, 0, 1, 1)
			var h history
			for k := 1; k <= first+between+8; k++ {
				if k == first || k > first+between {
					e.factor = float64(k + 1)
				}
				x := []float64{0, 1 + float64(k)/7, 1 + float64(k%3)}
				got, err := p.Gradient(nil, x)
				h.call(t, k, got, e.gradient(x), err)
			}
			if len(h.wrong) > 0 || len(h.errors) > 1 || h.longest >= between {
				t.Errorf("%s, change before call %d: %d wrong without an error, errors at %d, %d calls late", b.Name(),
					first, h.wrong, h.errors, h.longest)
			}
		}
	}
}

// TestCapturedDataSeenLater: a change that the values of some calls do not show, and that of
// a later one does, is an error there: those calls were wrong.
func TestCapturedDataSeenLater(t *testing.T) {
	covered := 0
	for _, b := range moving {
		for first := 1; first <= 20; first++ {
			e := &edge{factor: 1, shift: 1}
			p := mustGradient(t, e.at, b, 0, 1, 1)
			var h history
			for k := 1; k <= first+6; k++ {
				if k == first {
					e.factor = 3
				}
				x := []float64{0, 1 + float64(k)/7, 1}
				if k >= first+3 {
					x[0] = 1
				}
				got, err := p.Gradient(nil, x)
				h.call(t, k, got, e.gradient(x), err)
			}
			if covered += h.covered; len(h.wrong) > 0 {
				t.Errorf("%s, change before call %d: %d wrong without an error, errors at %d", b.Name(), first, h.wrong,
					h.errors)
			}
		}
	}
	if covered == 0 {
		t.Error("no call was wrong: the test shows nothing")
	}
}

// TestCapturedDataAtOnePoint: calls for one x are compared near it every time, and at x too
// where values may jump, so that a change which shows at one of the two is seen at once.
func TestCapturedDataAtOnePoint(t *testing.T) {
	longtest.Serial(t)
	jump := 1.0
	for _, f := range []struct {
		x        []float64
		of       func(x []nabla.Real) nabla.Real
		gradient func() []float64
	}{
		{[]float64{0, 1}, func(x []nabla.Real) nabla.Real { return x[0].Mul(x[1]).Scale(jump) },
			func() []float64 { return []float64{jump, 0} }},
		{[]float64{1, 1}, func(x []nabla.Real) nabla.Real { return nabla.Floor(x[0]).Mul(x[1]).Scale(jump) },
			func() []float64 { return []float64{0, jump} }},
		{[]float64{-2, 1}, func(x []nabla.Real) nabla.Real { return nabla.Logb(x[0]).Mul(x[1]).Scale(jump).Add(x[0]) },
			func() []float64 { return []float64{1, jump} }},
		{[]float64{0, 0}, func(x []nabla.Real) nabla.Real {
			if x[0].Equal(x[1]) { // nearly no other point has the same branch
				return x[0].Scale(jump)
			}
			return x[0].Mul(x[1])
		}, func() []float64 { return []float64{jump, 0} }},
		{[]float64{0, 3}, func(x []nabla.Real) nabla.Real {
			if x[0].Equal(nabla.Const(0)) { // no other point has
				return x[0].Mul(x[1]).Scale(jump)
			}
			return x[1]
		}, func() []float64 { return []float64{3 * jump, 0} }},
	} {
		for _, b := range moving {
			for first := 1; first <= 40; first++ {
				jump = 1
				p := mustGradient(t, f.of, b, f.x...)
				var h history
				for k := 1; k <= first+4; k++ {
					if k >= first {
						jump = float64(k) + 1
					}
					got, err := p.Gradient(nil, f.x)
					h.call(t, k, got, f.gradient(), err)
				}
				if len(h.wrong)+len(h.errors) > 0 {
					t.Errorf("%s at %v, change before call %d: %d wrong, errors at %d", b.Name(), f.x, first, h.wrong,
						h.errors)
				}
			}
		}
	}
}

// TestCapturedDataOnBranches changes the data once, at any call, while x goes over two
// branches, points at which the value shows nothing, and points where it was before.
func TestCapturedDataOnBranches(t *testing.T) {
	longtest.Serial(t)
	rng := rand.New(rand.NewPCG(1, 2))
	covered, found := 0, 0
	for trial := range 400 {
		b := moving[trial%len(moving)]
		e := &edge{factor: 1, shift: 1}
		p := mustGradient(t, e.at, b, 1, 1, 1)
		first := 1 + rng.IntN(40)
		period := 1 + rng.IntN(20) // of the branch that is rare
		var seen [][]float64
		var h history
		for k := 1; k <= first+40*period; k++ {
			if k == first {
				e.factor = 5
				if trial%3 == 0 {
					e.shift = 2
				}
			}
			x := []float64{float64(rng.IntN(2)), 1 + rng.Float64(), 1 + rng.Float64()}
			if k%period == 0 {
				x[2] = -x[2]
			}
			switch rng.IntN(4) {
			case 0:
				if len(seen) > 0 {
					x = seen[rng.IntN(len(seen))]
				}
			case 1:
				seen = append(seen, x)
			}
			got, err := p.Gradient(nil, x)
			h.call(t, k, got, e.gradient(x), err)
		}
		covered, found = covered+h.covered, found+len(h.errors)
		if len(h.wrong) > 0 {
			t.Errorf("%s, trial %d, change before call %d: calls %d wrong without an error, errors at %d", b.Name(),
				trial, first, h.wrong, h.errors)
		}
	}
	if covered == 0 || found > 200 {
		t.Errorf("%d wrong calls, %d errors: the test shows nothing", covered, found)
	}
}

// grid is defined at whole numbers only where its first one is more than 10.
var grid = nabla.Rule{
	Name: "grid",
	Value: func(y, x []float64) {
		if x[0] > 10 && (x[0] != math.Trunc(x[0]) || x[1] != math.Trunc(x[1])) {
			panic("not a whole number")
		}
		y[0] = x[0]
	},
	VJP: func(xbar, x, y, ybar []float64) { xbar[0] += ybar[0] },
}.Func()

// TestCapturedDataWithoutPointsNear: a recording that can be compared only at x itself is made
// again. If the new one shows that earlier results were wrong, that is an error, and otherwise
// there is none.
func TestCapturedDataWithoutPointsNear(t *testing.T) {
	for _, b := range moving[:2] {
		for _, change := range []bool{false, true} {
			factor := 1.0
			f := func(x []nabla.Real) nabla.Real { return grid(x[0], x[1])[0].Add(x[1].Scale(factor)) }
			p := mustGradient(t, f, b, 1, 0)
			var h history
			for k := 1; k <= 40; k++ {
				if k == 14 && change {
					factor = 7
				}
				x := []float64{float64(k), 0}
				got, err := p.Gradient(nil, x)
				h.call(t, k, got, []float64{1, factor}, err)
			}
			if len(h.wrong) > 0 || (len(h.errors) > 0) != change || len(h.errors) > 1 {
				t.Errorf("%s, change %v: %d wrong without an error, errors at %d", b.Name(), change, h.wrong, h.errors)
			}
		}
	}
}

// TestComparisonsPerCall counts how often the function is evaluated: once in each call,
// whether x moves or not, and once more where a new point near x is tried.
func TestComparisonsPerCall(t *testing.T) {
	for _, moves := range []bool{false, true} {
		for _, b := range moving[:3] {
			evaluations := 0
			p := mustGradient(t, func(x []nabla.Real) nabla.Real { evaluations++; return x[0].Mul(x[1]) }, b, 1, 2)
			evaluations = 0
			x := []float64{1, 2}
			const calls = 100
			for range calls {
				if _, err := p.Gradient(nil, x); err != nil {
					t.Fatal(err)
				}
				if moves {
					x[0]++
				}
			}
			if evaluations < calls || evaluations > calls+calls/between+8 || p.Recordings() != 1 {
				t.Errorf("%s, x moves: %v: %d evaluations in %d calls, %d recordings", b.Name(), moves, evaluations,
					calls, p.Recordings())
			}
		}
	}
}

// TestStaleErrorMessages: the error lists the points that were and were not compared.
func TestStaleErrorMessages(t *testing.T) {
	e := &edge{factor: 1, shift: 1}
	p := mustGradient(t, e.at, nabla.Policy{Backend: compiled, OnGuard: nabla.Fail}, 1, 1, 1)
	e.shift = 2
	_, err := p.Gradient(nil, []float64{1, 1, 1})
	var stale *nabla.StaleError
	if !errors.As(err, &stale) || stale.Unchecked != 0 || strings.Contains(err.Error(), "calls") {
		t.Errorf("every change is an error where the policy is Fail: %v", err)
	}
	var words []string
	for _, first := range []int{6, 7} {
		e := &edge{factor: 1, shift: 1}
		p := mustGradient(t, e.at, compiled, 0, 1, 1)
		for k := 1; k <= 8; k++ {
			if k == first {
				e.factor = 2
			}
			if _, err := p.Gradient(nil, []float64{0, float64(k), float64(k * (8 - k) / (8 - k + k/8))}); err != nil {
				words = append(words,
					fmt.Sprint(k, strings.TrimPrefix(err.Error(), "nabla: function "),
						err.(*nabla.StaleError).Unchecked))
			}
		}
	}
	if !slices.ContainsFunc(words, func(s string) bool {
		return strings.Contains(s,
			"the last 3 calls were compared by their values only, and their derivatives may be wrong")
	}) {
		t.Errorf("%q", words)
	}
}
