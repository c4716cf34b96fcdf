package nabla_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/tracker"
)

// switched is a function that misbehaves while bad is true.
func switched(bad *bool, misbehave func(x []nabla.Real) nabla.Real) *nabla.Func {
	return scalarFunc(func(x []nabla.Real) nabla.Real {
		if *bad {
			return misbehave(x)
		}
		return product(x)
	})
}

// eachError prepares, calls, misbehaves, and calls again: the prepared object has to
// be usable after an error. The engine may meet the misbehaviour only where it looks,
// so the policy looks at every call: another branch of a guard.
func eachError(t *testing.T, misbehave func(x []nabla.Real) nabla.Real, check func(t *testing.T, err error)) {
	good, other := []float64{1, 2}, []float64{-1, 2}
	eachOperator(t, func(t *testing.T, op operator, b nabla.Backend) {
		bad := false
		f := scalarFunc(func(x []nabla.Real) nabla.Real {
			if x[0].Less(nabla.Const(0)) && bad {
				return misbehave(x)
			}
			return product(x)
		})
		p, err := op.prepare(f, b, good)
		if err != nil {
			t.Fatal(err)
		}
		v := tangentFor(op, 2)
		for range 2 {
			if err := p(nil, good, v); err != nil {
				t.Fatal(err)
			}
			bad = true
			check(t, p(nil, other, v))
			bad = false
			if err := p(nil, good, v); err != nil {
				t.Errorf("after the error: %v", err)
			}
		}
		if err := p(nil, other, v); err != nil {
			t.Errorf("at the other point after the error: %v", err)
		}
		bad = true
		_, err = op.prepare(switched(&bad, misbehave), b, good)
		if err == nil { // an engine that does not run f to prepare
			p, _ := op.prepare(switched(&bad, misbehave), b, good)
			err = p(nil, good, v)
		}
		check(t, err)
	})
	for _, d := range derivatives {
		for _, b := range allEngines {
			bad := false
			p, err := d.prepare(switched(&bad, misbehave), nabla.Policy{Backend: b}, 1)
			if err != nil {
				t.Fatal(err)
			}
			bad = true
			check(t, p(1))
			bad = false
			if err := p(2); err != nil {
				t.Errorf("%s with %s after the error: %v", d.name, b.Name(), err)
			}
		}
	}
}

func TestPanicWithError(t *testing.T) {
	cause := errors.New("no such file")
	eachError(t, func(x []nabla.Real) nabla.Real { panic(cause) }, func(t *testing.T, err error) {
		var pe *nabla.PanicError
		if !errors.As(err, &pe) || pe.Value != cause || !errors.Is(err, cause) ||
			!strings.Contains(string(pe.Stack), "function_errors_test.go") {
			t.Errorf("%v", err)
		}
	})
}

func TestPanicWithString(t *testing.T) {
	eachError(t, func(x []nabla.Real) nabla.Real { panic("out of luck") }, func(t *testing.T, err error) {
		var pe *nabla.PanicError
		if !errors.As(err, &pe) || pe.Value != "out of luck" || pe.Unwrap() != nil ||
			!strings.Contains(err.Error(), "out of luck") || pe.Function == "" {
			t.Errorf("%v", err)
		}
	})
}

func TestPanicAtRunTime(t *testing.T) {
	eachError(t, func(x []nabla.Real) nabla.Real { return x[len(x)+1] }, func(t *testing.T, err error) {
		var re runtime.Error
		if !errors.As(err, &re) {
			t.Errorf("%v", err)
		}
	})
}

func TestForeignReal(t *testing.T) {
	var kept nabla.Real
	if _, err := nabla.Gradient(func(x []nabla.Real) nabla.Real { kept = x[0]; return x[0] }, tracker.Backend{},
		[]float64{1}); err != nil {
		t.Fatal(err)
	}
	for _, use := range []func(x []nabla.Real) nabla.Real{
		func(x []nabla.Real) nabla.Real { return x[0].Add(kept) },
		func(x []nabla.Real) nabla.Real { return kept.Mul(x[0]) },
		func(x []nabla.Real) nabla.Real { return nabla.Sin(kept) },
		func(x []nabla.Real) nabla.Real { return kept },
		func(x []nabla.Real) nabla.Real { return nabla.Where(nabla.Lt(x[0], x[0]), kept, x[0]) },
		func(x []nabla.Real) nabla.Real { return x[0].Scale(kept.Value()) },
		func(x []nabla.Real) nabla.Real {
			if kept.Less(x[0]) {
				return x[0]
			}
			return x[0].Neg()
		},
	} {
		eachError(t, use, func(t *testing.T, err error) {
			if !errors.Is(err, nabla.ErrForeignReal) {
				t.Errorf("%v", err)
			}
		})
	}
	// A Real of the very same prepared object, one call earlier.
	for _, b := range allEngines {
		var last nabla.Real
		steps := 0
		p, err := nabla.PrepareGradient(func(x []nabla.Real) nabla.Real {
			if steps++; steps > 1 && x[0].Greater(nabla.Const(0)) {
				return x[0].Add(last)
			}
			last = x[0].Sq()
			return x[0]
		}, b, []float64{-1})
		if err == nil {
			_, err = p.Gradient(nil, []float64{-1})
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(b.Name(), "finitediff") || strings.Contains(b.Name(), "compile") {
			continue // the call before ran over constants, which may be kept
		}
		if _, err := p.Gradient(nil, []float64{1}); !errors.Is(err, nabla.ErrForeignReal) {
			t.Errorf("a Real of the call before with %s: %v", b.Name(), err)
		}
	}
}

// TestRealKeptFromCountingOutputs has functions that keep a Real of their first call, which
// only counts their outputs, in a slice that they return or beside it.
func TestRealKeptFromCountingOutputs(t *testing.T) {
	for _, b := range allEngines {
		var out []nabla.Real
		var first nabla.Real
		calls := 0
		for name, f := range map[string]func(x []nabla.Real) []nabla.Real{
			"output": func(x []nabla.Real) []nabla.Real {
				if out == nil {
					out = []nabla.Real{x[0], x[1]}
				}
				out[0] = x[0].Sq()
				return out
			},
			"operand": func(x []nabla.Real) []nabla.Real {
				if calls++; calls == 1 {
					first = nabla.Sin(x[1])
				}
				return []nabla.Real{x[0].Mul(first)}
			},
		} {
			p, err := nabla.PrepareJacobian(f, b, []float64{1, 2})
			if err == nil {
				_, err = p.Dense(nil, []float64{3, 4})
			}
			if !errors.Is(err, nabla.ErrForeignReal) {
				t.Errorf("%s with %s: %v", name, b.Name(), err)
			}
		}
	}
	// A rule without derivatives has values, which is all that finite differences want.
	box := nabla.Rule{Name: "box", Value: func(y, x []float64) { y[0] = 3 * x[0] }}.Func()
	j, err := nabla.Jacobian(func(x []nabla.Real) []nabla.Real { return box(x[0]) }, finitediff.Backend{}, []float64{2})
	if err != nil || math.Abs(j.At(0, 0)-3) > 1e-8 {
		t.Errorf("a rule without derivatives with finitediff: %v, %v", j, err)
	}
}

func TestLengthOfOutputsChanges(t *testing.T) {
	for _, b := range allEngines {
		n := 2
		p, err := nabla.PrepareJacobian(func(x []nabla.Real) []nabla.Real {
			if x[0].Less(nabla.Const(0)) {
				return make([]nabla.Real, n)
			}
			return x
		}, b, []float64{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, n = range []int{0, 1, 3} {
			var se *nabla.ShapeError
			if _, err := p.Dense(nil, []float64{-1, 2}); !errors.As(err, &se) || se.Got != n || se.Want != 2 {
				t.Errorf("%s: %d outputs: %v", b.Name(), n, err)
			}
			if j, err := p.Dense(nil, []float64{1, 2}); err != nil || math.Abs(j.At(0, 0)-1) > 1e-6 {
				t.Errorf("%s: after: %v, %v", b.Name(), j, err)
			}
		}
	}
}

func TestOutputsNotWritten(t *testing.T) {
	for name, f := range map[string]func(y, x []nabla.Real){
		"never":           func(y, x []nabla.Real) { y[0] = x[0] },
		"read before":     func(y, x []nabla.Real) { y[0] = x[0]; y[1] = y[1].Add(x[0]) },
		"read in passing": func(y, x []nabla.Real) { y[0] = nabla.Sin(y[1]); y[1] = x[0] },
		"compared":        func(y, x []nabla.Real) { y[0], y[1] = x[0], nabla.Where(nabla.Lt(x[0], y[1]), x[0], x[0]) },
		"branched on": func(y, x []nabla.Real) {
			if y[0].Less(x[0]) {
				y[0] = x[0]
			}
			y[0], y[1] = x[0], x[0]
		},
		"copied": func(y, x []nabla.Real) { y[0] = x[0]; y[1] = y[1].Neg() },
	} {
		for _, b := range allEngines {
			p, err := nabla.PrepareJacobian(nabla.InPlace(2, f), b, []float64{1})
			if err == nil {
				_, err = p.Dense(nil, []float64{1})
			}
			if !errors.Is(err, nabla.ErrOutputNotWritten) {
				t.Errorf("%s with %s: %v", name, b.Name(), err)
			}
		}
	}
	plain := nabla.InPlace(2, func(y, x []float64) { y[0] = x[0] })
	if _, err := nabla.Jacobian(plain, finitediff.Backend{}, []float64{1}); !errors.Is(err, nabla.ErrOutputNotWritten) {
		t.Errorf("plain: %v", err)
	}
}

func TestPlainFunctionOnExactEngines(t *testing.T) {
	f := func(x []float64) float64 { return x[0] * x[1] }
	x := []float64{2, 3}
	for _, b := range append(slices.Clone(firstOrder), secondOrder...) {
		_, e1 := nabla.Gradient(f, b, x)
		_, e2 := nabla.Hessian(f, b, x)
		_, e3 := nabla.Pushforward(f, b, x, x)
		_, e4 := nabla.Derivative(math.Sin, b, 1)
		for i, err := range []error{e1, e2, e3, e4} {
			if !errors.Is(err, nabla.ErrUnsupported) || !strings.Contains(err.Error(), "nabla.Real") ||
				!strings.Contains(err.Error(), "finitediff") {
				t.Errorf("%s, case %d: %v", b.Name(), i, err)
			}
		}
	}
	if g, err := nabla.Gradient(f, finitediff.Backend{}, x); err != nil || math.Abs(g[0]-3) > 1e-6 {
		t.Errorf("finite differences: %v, %v", g, err)
	}
}

// TestRealKeptFromCallToCall has a function that computes with its argument of the call
// before: an error on every engine, at Prepare or at the first call that would use it.
func TestRealKeptFromCallToCall(t *testing.T) {
	for _, b := range allEngines {
		var kept nabla.Real
		p, err := nabla.PrepareGradient(func(x []nabla.Real) nabla.Real {
			before := kept
			kept = x[0]
			return x[0].Mul(before)
		}, b, []float64{2})
		for i := 0; i < 3 && err == nil; i++ {
			_, err = p.Gradient(nil, []float64{2})
		}
		if !errors.Is(err, nabla.ErrForeignReal) {
			t.Errorf("%s: %v", b.Name(), err)
		}
	}
}
