package engine

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// steps is x ↦ k·x where ⌊x⌋ is even and -k·x where it is odd, a branch for each ⌊x⌋ below 20. It counts how often it
// runs in *calls.
func steps(k *float64, calls *int) Def {
	return Def{Name: "steps", N: 1, M: 1, Replay: true, Traced: func(y, x []Real, _ Context) error {
		*calls++
		n := 0
		for n < 20 && !less(x[0], Real{V: float64(n + 1)}) {
			n++
		}
		factor := *k
		if n%2 == 1 {
			factor = -factor
		}
		y[0] = core.Apply2(rules.Mul, x[0], Real{V: factor})
		return nil
	}}
}

// less is Real.Less of package nabla.
func less(a, b Real) bool {
	holds := a.V < b.V
	if a.ID|b.ID != 0 {
		core.Compare(core.OpGuardLt, a, b, holds)
	}
	return holds
}

// values compiles programs for the value of d alone.
func values(t *testing.T, d Def, policy Policy, x float64) *Compiled {
	t.Helper()
	f := NewFunction(d)
	f.policy = policy
	c, err := NewCompiled(f, []float64{x}, 0, 0, func(p *program.Program, strong bool) *program.Program { return p })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run is a call of c at x.
func run(c *Compiled, x float64) (float64, error) {
	if err := c.Function().NewCall(); err != nil {
		return 0, err
	}
	m, err := c.Run([]float64{x}, Block{})
	if err != nil {
		return 0, err
	}
	var y [1]float64
	m.Output(0, y[:])
	return y[0], nil
}

// TestCompiledBranches checks that a branch is recorded when it is first met, again after eight others, and replayed
// otherwise.
func TestCompiledBranches(t *testing.T) {
	k, calls := 2.0, 0
	c := values(t, steps(&k, &calls), Policy{NoStaleCheck: true}, 0.5)
	at := func(x float64, recordings int) {
		t.Helper()
		want := 2 * x
		if int(x)%2 == 1 {
			want = -want
		}
		if y, err := run(c, x); err != nil || y != want || c.Recordings() != recordings {
			t.Errorf("at %v: %v, %v after %d recordings, want %v after %d", x, y, err, c.Recordings(), want, recordings)
		}
	}
	at(0.25, 1)
	at(0.75, 1)
	for i := range maxBranches - 1 {
		at(float64(i)+1.5, i+2)
	}
	at(0.5, maxBranches)
	at(8.5, maxBranches+1) // in place of 1.5, which was used longest ago
	at(0.5, maxBranches+1)
	at(1.5, maxBranches+2)
	if calls != c.Recordings() {
		t.Errorf("the function ran %d times in %d recordings", calls, c.Recordings())
	}
}

// TestCompiledThrashing runs a function that takes another branch at every call.
func TestCompiledThrashing(t *testing.T) {
	k, calls := 2.0, 0
	c := values(t, steps(&k, &calls), Policy{NoStaleCheck: true}, 0.5)
	for i := range 30 {
		if _, err := run(c, float64(i%12)+0.5); err != nil {
			t.Fatal(err)
		}
		if got := c.Thrashing(); got != (i >= 8) && i != 7 && i != 6 && i != 5 {
			t.Errorf("after call %d: thrashing %v", i+1, got)
		}
	}
	if c.ForgetRecent(); c.Thrashing() {
		t.Error("thrashing after the count has started again")
	}
	for range 10 {
		if _, err := run(c, 0.5); err != nil || c.Thrashing() {
			t.Errorf("thrashing on one branch, %v", err)
		}
	}
}

// TestCompiledGuard checks that with FailOnGuard another branch is an error, after which the recording still works on
// its own branch.
func TestCompiledGuard(t *testing.T) {
	k, calls := 2.0, 0
	c := values(t, steps(&k, &calls), Policy{FailOnGuard: true}, 0.5)
	if _, err := run(c, 1.5); !errors.Is(err, ErrGuard) || !strings.Contains(err.Error(), "steps") {
		t.Errorf("on another branch: %v", err)
	}
	if y, err := run(c, 0.75); err != nil || y != 1.5 || c.Recordings() != 1 {
		t.Errorf("afterwards: %v, %v, %d recordings", y, err, c.Recordings())
	}
}

// TestCompiledStale changes a captured number before call 6. If the function is known to capture data, the change is
// detected in that call and the function recorded again; otherwise it is detected at call 8, as an error with the
// number of calls that may be wrong.
func TestCompiledStale(t *testing.T) {
	for _, captures := range []bool{true, false} {
		k, calls := 2.0, 0
		d := steps(&k, &calls)
		d.Captures = captures
		c := values(t, d, Policy{}, 0.5)
		for call := 1; call <= 20; call++ {
			if call == 6 {
				k = 3
			}
			y, err := run(c, 0.5)
			var stale *StaleError
			switch {
			case !captures && call == 8:
				if !errors.As(err, &stale) || stale.Unchecked < 2 || stale.Unchecked > 3 {
					t.Errorf("call 8: %v, %v", y, err)
				}
				continue
			case err != nil:
				t.Errorf("captures %v, call %d: %v", captures, call, err)
				continue
			}
			want := k / 2
			if !captures && (call == 6 || call == 7) {
				want = 1 // not compared
			}
			if y != want {
				t.Errorf("captures %v, call %d: %v, want %v", captures, call, y, want)
			}
		}
		if c.Recordings() != 2 {
			t.Errorf("captures %v: %d recordings", captures, c.Recordings())
		}
	}
}

// TestCompiledNoFunction checks the error for a function that returns another value at each evaluation.
func TestCompiledNoFunction(t *testing.T) {
	n := 0.0
	d := Def{Name: "clock", N: 1, M: 1, Replay: true, Captures: true, Traced: func(y, x []Real, _ Context) error {
		n++
		y[0] = core.Apply2(rules.Mul, x[0], Real{V: n})
		return nil
	}}
	c := values(t, d, Policy{}, 0.5)
	if _, err := run(c, 0.5); !errors.Is(err, ErrStale) {
		t.Errorf("%v", err)
	}
}

// TestCompiledSettles checks that the program with structural zeros runs if the plain one gives NaN.
func TestCompiledSettles(t *testing.T) {
	d := Def{Name: "square", N: 1, M: 1, Replay: true, Traced: func(y, x []Real, _ Context) error {
		y[0] = core.Apply1(rules.Sqrt, x[0])
		return nil
	}}
	f := NewFunction(d)
	var derived []bool
	c, err := NewCompiled(f, []float64{4}, 0, 0, func(p *program.Program, strong bool) *program.Program {
		derived = append(derived, strong)
		return p
	})
	if err != nil {
		t.Fatal(err)
	}
	if y, err := run(c, 9); err != nil || y != 3 || len(derived) != 1 {
		t.Errorf("%v, %v, programs %v", y, err, derived)
	}
	if y, err := run(c, -1); err != nil || !math.IsNaN(y) || len(derived) < 2 || !derived[1] {
		t.Errorf("at NaN: %v, %v, programs %v", y, err, derived)
	}
}
