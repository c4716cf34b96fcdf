package engine

import (
	"errors"
	"math"
	"testing"
)

// plain is a function of n numbers over plain numbers.
func plain(n int, f func(x []float64) []float64) *Function {
	m := len(f(make([]float64, n)))
	return NewFunction(Def{Name: "plain", N: n, M: m, Plain: func(y, x []float64, _ Context) error {
		copy(y, f(x))
		return nil
	}})
}

func TestDiffers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want, slack []float64
		first            int
	}{
		{[]float64{1, 2}, []float64{1, 2}, nil, -1},
		{[]float64{1, 2 + 1e-9}, []float64{1, 2}, nil, -1},
		{[]float64{1, 2 + 1e-8}, []float64{1, 2}, nil, 1},
		{[]float64{1e-20, 1}, []float64{0, 1}, nil, 0}, // each output by its own size
		{[]float64{0, 1}, []float64{math.Copysign(0, -1), 1}, nil, -1},
		{[]float64{nan, inf, -inf}, []float64{nan, inf, -inf}, nil, -1},
		{[]float64{nan}, []float64{1}, nil, 0},
		{[]float64{1}, []float64{nan}, nil, 0},
		{[]float64{inf}, []float64{-inf}, nil, 0},
		{[]float64{math.MaxFloat64}, []float64{inf}, nil, 0},
		{[]float64{1.5, 1.5}, []float64{1, 1}, []float64{1, 0.1}, 1},
		{[]float64{nan}, []float64{1}, []float64{inf}, 0},
		{nil, nil, nil, -1},
	} {
		if got := differs(c.got, c.want, c.slack); got != c.first {
			t.Errorf("%v and %v with slack %v: %d, want %d", c.got, c.want, c.slack, got, c.first)
		}
	}
}

// TestDisagreement: where terms cancel, code made from a plain function may be off by more than its value. A recording
// of a function over Reals may not, and no output hides behind a larger one.
func TestDisagreement(t *testing.T) {
	cancels := func(x []float64) []float64 { return []float64{x[0]*x[0] - x[1]*x[1], 1e12 * x[0]} }
	at := []float64{3, 3}
	var d disagreement
	f := plain(2, cancels)
	if i := d.first(f, []float64{4e-9, 3e12}, cancels(at), at); i >= 0 {
		t.Errorf("output %d, which is rounding error, differs", i)
	}
	if i := d.first(f, []float64{4e-7, 3e12}, cancels(at), at); i != 0 {
		t.Errorf("a difference larger than rounding errors: %d", i)
	}
	recorded := f.def
	recorded.Plain, recorded.Traced = nil, func(y, x []Real, _ Context) error { panic("is not evaluated") }
	if i := d.first(NewFunction(recorded), []float64{4e-9, 3e12}, cancels(at), at); i != 0 {
		t.Errorf("a recording, off where terms cancel: %d", i)
	}
	derived := f.def // whose values come from generated code alone
	derived.Plain, derived.TracedPlain = nil, true
	derived.checked = func(y, x []float64) error {
		copy(y, cancels(x))
		return nil
	}
	if i := d.first(NewFunction(derived), []float64{4e-9, 3e12}, cancels(at), at); i >= 0 {
		t.Errorf("output %d of a derived function, which is rounding error, differs", i)
	}
	edge := plain(1, func(x []float64) []float64 {
		if x[0] != 0 && x[0] != 2 {
			panic("not defined")
		}
		return []float64{1}
	})
	if i := d.first(edge, []float64{1.1}, []float64{1}, []float64{2}); i != 0 {
		t.Errorf("next to points where the function is not defined: %d", i)
	}
}

// TestWatch: a wrong value is an error that names the output, and then every call is compared.
func TestWatch(t *testing.T) {
	f := plain(1, func(x []float64) []float64 { return []float64{x[0], 2 * x[0]} })
	var w Watch
	for call := 1; call <= 5; call++ {
		next := w.Next(f)
		if due := w.Due(f); due != next || due != (call != 3 && call != 5) {
			t.Errorf("call %d: compared %v, announced %v", call, due, next)
		}
	}
	if err := w.Check(f, []float64{3, 6}, []float64{3}); err != nil {
		t.Error(err)
	}
	err := w.Check(f, []float64{3, 7}, []float64{3})
	var stale *StaleCodeError
	if !errors.As(err, &stale) || stale.Output != 1 || stale.Got != 7 || stale.Want != 6 || !errors.Is(err, ErrStale) {
		t.Errorf("a wrong output: %v", err)
	}
	if !w.Next(f) || !w.Due(f) {
		t.Error("the call after a wrong one is not compared")
	}
	f.policy.NoStaleCheck = true
	if w.Next(f) || w.Due(f) {
		t.Error("a call is compared though the policy says not to")
	}
}
