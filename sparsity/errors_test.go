package sparsity_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sparsity"
)

func TestKnown(t *testing.T) {
	f := func(x []real) []real { return x[:1] }
	g := func(x []real) real { return x[0] }
	x := []float64{1, 2}
	j, h := sparsity.Full(1, 2), sparsity.Empty(2, 2)
	d := sparsity.Known{J: j, H: h}
	if p, err := nabla.JacobianSparsity(f, d, x); p != j || err != nil {
		t.Errorf("Jacobian: %v, %v", p, err)
	}
	if p, err := nabla.HessianSparsity(g, d, x); p != h || err != nil {
		t.Errorf("Hessian: %v, %v", p, err)
	}
	for _, c := range []struct {
		d    sparsity.Known
		want string
	}{
		{sparsity.Known{H: h}, "no Jacobian pattern of function sparsity_test.TestKnown"},
		{sparsity.Known{J: sparsity.Full(2, 1)},
			"the Jacobian pattern is 2×1, that of function sparsity_test.TestKnown"},
	} {
		_, err := nabla.JacobianSparsity(f, c.d, x)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	for _, c := range []struct {
		d    sparsity.Known
		want string
	}{
		{sparsity.Known{J: j}, "no Hessian pattern of function"},
		{sparsity.Known{H: sparsity.Full(1, 2)}, "is 2×2"},
	} {
		_, err := nabla.HessianSparsity(g, c.d, x)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if p, err := nabla.JacobianSparsity(f, sparsity.None{}, x); err != nil || picture(p) != "xx" {
		t.Errorf("none: %v, %v", picture(p), err)
	}
	if p, err := nabla.HessianSparsity(g, sparsity.None{}, x); err != nil || picture(p) != "xx xx" {
		t.Errorf("none: %v, %v", picture(p), err)
	}
}

// TestWhatGoesWrong has the errors of a function under a detector.
func TestWhatGoesWrong(t *testing.T) {
	var kept real
	x := []float64{1, 2}
	for _, c := range []struct {
		name string
		f    *nabla.Func
		d    sparsity.Detector
		is   error
		want string
	}{
		{"panic", nabla.InPlace(1, func(y, x []real) { panic("boom") }), sparsity.Global{}, nil, "panicked: boom"},
		{"not written", nabla.InPlace(2, func(y, x []real) { y[0] = x[0] }), sparsity.Local{},
			nabla.ErrOutputNotWritten, "output 1"},
		{"not written", nabla.InPlace(2, func(y, x []real) { y[0] = x[0] }), sparsity.Recorded{},
			nabla.ErrOutputNotWritten, "output 1"},
		{"foreign", nabla.InPlace(1, func(y, x []real) { y[0] = kept; kept = x[0]; y[0] = y[0].Add(kept) }),
			sparsity.Recorded{Points: [][]float64{x}}, nabla.ErrForeignReal, ""},
		{"plain", nabla.InPlace(1, func(y, x []float64) { y[0] = x[0] }), sparsity.Global{}, nabla.ErrUnsupported,
			"a function literal, to which generated code cannot be matched"},
		{"plain", nabla.InPlace(1, func(y, x []float64) { y[0] = x[0] }), sparsity.Recorded{}, nabla.ErrUnsupported,
			"a function literal, to which generated code cannot be matched"},
		{"points", nabla.InPlace(1, func(y, x []real) { y[0] = x[0] }), sparsity.Recorded{Points: [][]float64{{1}}},
			nil, "a point of length 1 for function"},
		{"limit", nabla.InPlace(1, func(y, x []real) { y[0] = x[0].Sq().Sq().Sq() }), sparsity.Global{Limit: 2}, nil,
			"limit of 2 operations"},
		{"pattern of a rule", nabla.InPlace(2, func(y, x []real) { copy(y, badRule.Func()(x...)) }), sparsity.Global{},
			nil, "Pattern(2) is 1×1, want 2×2"},
		{"panic in the pattern of a rule", nabla.InPlace(2, func(y, x []real) { copy(y, panickyRule.Func()(x...)) }),
			sparsity.Recorded{}, nil, "rule panicky.Pattern panicked: no pattern"},
		{"no detector", nabla.InPlace(1, func(y, x []real) { y[0] = x[0] }), nil, nabla.ErrUnsupported,
			"the detector is nil"},
	} {
		_, err := nabla.JacobianSparsity(c.f, c.d, x)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %v %q", c.name, err, c.is, c.want)
		}
	}
	if _, err := nabla.HessianSparsity(func(x []real) real { return x[0] }, sparsity.Global{}, nil); err == nil {
		t.Error("an index out of range is no error")
	}
}

var badRule = nabla.Rule{
	Name:    "bad",
	Out:     func(n int) int { return n },
	Value:   func(y, x []float64) { copy(y, x) },
	JVP:     func(ydot, _, _, xdot []float64) { copy(ydot, xdot) },
	Pattern: func(int) *sparsity.Pattern { return sparsity.Full(1, 1) },
}

var panickyRule = nabla.Rule{
	Name:    "panicky",
	Out:     func(n int) int { return n },
	Value:   func(y, x []float64) { copy(y, x) },
	JVP:     func(ydot, _, _, xdot []float64) { copy(ydot, xdot) },
	Pattern: func(int) *sparsity.Pattern { panic("no pattern") },
}

func TestNames(t *testing.T) {
	for want, d := range map[string]sparsity.Detector{
		"global": sparsity.Global{}, "global(limit=3)": sparsity.Global{Limit: 3}, "local": sparsity.Local{},
		"recorded": sparsity.Recorded{}, "recorded(points=1)": sparsity.Recorded{Points: make([][]float64, 1)},
		"known": sparsity.Known{}, "none": sparsity.None{},
	} {
		if d.Name() != want {
			t.Errorf("%q, want %q", d.Name(), want)
		}
	}
}
