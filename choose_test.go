package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// fakeEngine is an exact engine that says how long it takes, and may lie or fail.
type fakeEngine struct {
	name     string
	clock    *timingtest.Clock
	prepares time.Duration
	takes    func(call int) time.Duration
	spoil    func(call int, xbar []float64) error
	refuse   error
	calls    *int
}

func (e fakeEngine) Name() string { return e.name }

func (e fakeEngine) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	if e.refuse != nil {
		return nil, e.refuse
	}
	e.clock.Advance(e.prepares)
	p, err := tracker.Backend{}.PreparePullback(f, x, lanes)
	if e.calls == nil {
		e.calls = new(int)
	}
	return &fakePullback{e, p}, err
}

type fakePullback struct {
	e fakeEngine
	p engine.Pullback
}

func (p *fakePullback) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	*p.e.calls++
	if p.e.takes != nil {
		p.e.clock.Advance(p.e.takes(*p.e.calls))
	}
	if err := p.p.Pullback(y, xbar, x, ybar); err != nil || p.e.spoil == nil {
		return err
	}
	column := make([]float64, xbar.N)
	for k := range xbar.B {
		for i := range column {
			column[i] = xbar.Row(i)[k]
		}
		if err := p.e.spoil(*p.e.calls, column); err != nil {
			return err
		}
		for i, v := range column {
			xbar.Row(i)[k] = v
		}
	}
	return nil
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

func wrongSign(_ int, xbar []float64) error { xbar[1] = -xbar[1]; return nil }

func names(c *nabla.Choice) []string {
	var s []string
	for _, r := range c.Rows {
		s = append(s, nabla.NameOfForTest(r.Backend))
	}
	return s
}

func TestChoose(t *testing.T) {
	clock := new(timingtest.Clock)
	refusal := errors.New("no gears")
	slowCalls := 0
	candidates := []nabla.Backend{
		fakeEngine{name: "slow", clock: clock, takes: always(50 * time.Millisecond), prepares: time.Millisecond,
			calls: &slowCalls},
		fakeEngine{name: "steady", clock: clock, takes: always(3 * time.Microsecond), prepares: 7 * time.Millisecond},
		fakeEngine{name: "liar", clock: clock, takes: always(time.Nanosecond), spoil: wrongSign},
		fakeEngine{name: "fast", clock: clock, takes: always(2 * time.Microsecond)},
		fakeEngine{name: "failing", clock: clock, refuse: refusal},
		fakeEngine{name: "gives up", clock: clock, spoil: func(call int, _ []float64) error {
			if call > 5 {
				return refusal
			}
			return nil
		}},
		fakeEngine{name: "wears out", clock: clock, takes: always(2500 * time.Nanosecond),
			spoil: func(call int, xbar []float64) error {
				if call > 100 {
					xbar[0]++
				}
				return nil
			}},
		(*tracker.Backend)(nil),
	}
	x := []float64{1, 2}
	c, err := nabla.ChooseForTest(clock.Now, paraboloid, x, candidates...)
	if err != nil {
		t.Fatal(err)
	}
	if c.Backend == nil || c.Backend.Name() != "fast" {
		t.Errorf("chose %v", c.Backend)
	}
	if want := []string{"fast", "steady", "slow", "liar", "failing", "gives up", "wears out",
		"<nil>"}; !slices.Equal(names(c), want) {
		t.Fatalf("rows %q, want %q", names(c), want)
	}
	for i, want := range []time.Duration{2 * time.Microsecond, 3 * time.Microsecond, 50 * time.Millisecond} {
		if r := c.Rows[i]; r.Err != nil || r.Call != want || r.Spread != 0 || r.Difference != 0 {
			t.Errorf("%s: %+v, want %v", r.Backend.Name(), r, want)
		}
	}
	if c.Rows[0].Samples != 15 || c.Rows[2].Samples != 1 || slowCalls != 3 {
		t.Errorf("the fastest has %d samples, one far behind %d after %d calls", c.Rows[0].Samples, c.Rows[2].Samples,
			slowCalls)
	}
	if got := c.Rows[1].Prepare; got != 7*time.Millisecond {
		t.Errorf("preparation took %v", got)
	}
	for i, want := range []struct {
		is  error
		say string
	}{
		{nabla.ErrDisagree, "component 1 is -13, and 13 by slow (nabla.ErrDisagree)"},
		{refusal, "no gears"},
		{refusal, "no gears"},
		{nabla.ErrDisagree,
			"after many calls at one point component 0 is 5, and 4 in the first call (nabla.ErrDisagree)"},
		{nabla.ErrUnsupported, "the backend is nil"},
	} {
		r := c.Rows[3+i]
		if !errors.Is(r.Err, want.is) || !strings.Contains(r.Err.Error(), want.say) {
			t.Errorf("%s: thrown out because %v, want %q", names(c)[3+i], r.Err, want.say)
		}
		if r.Call != 0 || r.Prepare != 0 || r.Samples != 0 {
			t.Errorf("%s has times: %+v", names(c)[3+i], r)
		}
	}
	want := `engine     call  spread      ratio    prepare  difference
fast       2µs   ±0%         1        0s       0
steady     3µs   ±0%         1.5      7ms      0
slow       50ms  one sample  2.5e+04  1ms      0
liar       thrown out: derivatives disagree: component 1 is -13, and 13 by slow (nabla.ErrDisagree)
failing    thrown out: no gears
gives up   thrown out: no gears
wears out  thrown out: derivatives disagree: after many calls at one point component 0 is 5, and 4 in the first call (nabla.ErrDisagree)
<nil>      thrown out: Choose: the backend is nil (a *tracker.Backend); pass an engine such as forwarddiff.Backend{} (nabla.UnsupportedError)`
	if c.String() != want {
		t.Errorf("got\n%s\nwant\n%s", c, want)
	}
	if x[0] != 1 || x[1] != 2 {
		t.Errorf("x became %v", x)
	}
}

func TestChooseMajority(t *testing.T) {
	clock := new(timingtest.Clock)
	honest := fakeEngine{name: "honest", clock: clock}
	liar := fakeEngine{name: "liar", clock: clock, spoil: wrongSign}
	off := func(name string, by float64) fakeEngine {
		return fakeEngine{name: name, clock: clock,
			spoil: func(_ int, xbar []float64) error { xbar[0] *= 1 + by; return nil }}
	}
	nan := fakeEngine{name: "nan", clock: clock,
		spoil: func(_ int, xbar []float64) error { xbar[0] = math.NaN(); return nil }}
	fd, forward := finitediff.Backend{}, finitediff.Backend{Method: finitediff.Forward}
	for _, tt := range []struct {
		title      string
		candidates []nabla.Backend
		thrown     string // names, "draw" where there is no majority
	}{
		{"alone", []nabla.Backend{honest}, ""},
		{"one against one", []nabla.Backend{honest, liar}, "draw"},
		{"two against one", []nabla.Backend{liar, honest, fd}, "liar"},
		{"a small lie among the exact", []nabla.Backend{honest, off("off", 1e-6), forwarddiff.Backend{}}, "off"},
		{"differences see small lies no better than they see", []nabla.Backend{off("off", 1e-7), fd}, ""},
		{"a draw that differences do not decide", []nabla.Backend{honest, off("off", 1e-7), fd}, "draw"},
		{"a draw that differences decide", []nabla.Backend{off("off", 1e-2), honest, fd}, "off"},
		{"differences of all kinds",
			[]nabla.Backend{honest, fd, forward, finitediff.Backend{Method: finitediff.Complex}}, ""},
		{"NaN", []nabla.Backend{nan, honest, fd}, "nan"},
		{"liars who agree are right", []nabla.Backend{liar, honest, liar}, "honest"},
		{"within rounding", []nabla.Backend{honest, off("off", 1e-12)}, ""},
	} {
		c, err := nabla.Choose(paraboloid, []float64{1, 2}, tt.candidates...)
		var thrown []string
		for _, r := range c.Rows {
			if r.Err != nil {
				thrown = append(thrown, r.Backend.Name())
			}
		}
		if tt.thrown == "draw" {
			if !errors.Is(err, nabla.ErrDisagree) || c.Backend != nil || len(thrown) != 2 ||
				len(c.Rows) != len(tt.candidates) {
				t.Errorf("%s: %v\n%v", tt.title, c, err)
			}
			continue
		}
		if err != nil || strings.Join(thrown, " ") != tt.thrown {
			t.Errorf("%s: %v\n%v", tt.title, c, err)
		}
	}
}

func TestChooseFunctions(t *testing.T) {
	type data struct{ A nabla.Vec }
	bound := nabla.Bind(func(x []nabla.Real, d *data) nabla.Real { return d.A.Dot(x).Sq() },
		&data{nabla.VecOf([]float64{1, 2})})
	inPlace := nabla.InPlace(3, func(y, x []nabla.Real) { y[0], y[1], y[2] = x[0], x[1].Sq(), x[0].Mul(x[1]) })
	one := nabla.InPlace(1, func(y, x []nabla.Real) { y[0] = x[0].Mul(x[1]) })
	x := []float64{1, 2}
	two := []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}}
	check := func(title string, c *nabla.Choice, err error, want int) {
		t.Helper()
		ok := 0
		if c != nil {
			for _, r := range c.Rows {
				if r.Err == nil && r.Samples > 0 {
					ok++
				}
			}
		}
		if err != nil || ok != want || c.Backend == nil {
			t.Errorf("%s: %v\n%v", title, c, err)
		}
	}
	c, err := nabla.Choose(polar, x, two...)
	check("vector", c, err, 2)
	c, err = nabla.Choose(bound, x, two...)
	check("bound", c, err, 2)
	c, err = nabla.Choose(inPlace, x, two...)
	check("in place", c, err, 2)
	c, err = nabla.Choose(one, x, two...)
	check("in place, one output", c, err, 2)
	c, err = nabla.Choose(func(x []float64) float64 { return x[0] * x[1] }, x, append(two, finitediff.Backend{})...)
	check("plain", c, err, 1)
	c, err = nabla.Choose(func(x []float64) []float64 { return []float64{x[0], x[1], 1} }, x, finitediff.Backend{})
	check("plain vector", c, err, 1)
	c, err = nabla.Choose(func(x []nabla.Real) []nabla.Real { return x[:1] }, x, two...)
	check("vector of length 1", c, err, 2)
	c, err = nabla.Choose(func(x []nabla.Real) []nabla.Real { return nil }, x, two...)
	check("no outputs", c, err, 2)
	c, err = nabla.Choose(func(x []nabla.Real) nabla.Real { return nabla.Const(3) }, nil, two...)
	check("no inputs", c, err, 2)
	c, err = nabla.Choose(paraboloid, x, nabla.SecondOrder{Outer: two[0], Inner: two[1]}, nabla.Policy{Backend: two[0]})
	check("composites", c, err, 2)
}

func TestChooseErrors(t *testing.T) {
	x := []float64{1, 2}
	if c, err := nabla.Choose(paraboloid, x); c != nil || !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("no candidates: %v, %v", c, err)
	}
	var fe *nabla.FuncError
	if c, err := nabla.Choose((*nabla.Func)(nil), x, forwarddiff.Backend{}); c != nil || !errors.As(err, &fe) {
		t.Errorf("no function: %v, %v", c, err)
	}
	c, err := nabla.Choose(func([]float64) float64 { return 0 }, x, forwarddiff.Backend{}, reversediff.Backend{})
	if !errors.Is(err, nabla.ErrUnsupported) || c == nil || c.Backend != nil || len(c.Rows) != 2 {
		t.Errorf("plain function: %v, %v", c, err)
	}
	for _, part := range []string{"no candidate works", "forwarddiff: ", "; reversediff: "} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	boom := errors.New("boom")
	_, err = nabla.Choose(func(x []nabla.Real) nabla.Real { panic(boom) }, x, forwarddiff.Backend{},
		finitediff.Backend{})
	var pe *nabla.PanicError
	if !errors.As(err, &pe) || !errors.Is(err, boom) {
		t.Errorf("panic: %v", err)
	}
}

func sumOfSquares(x []nabla.Real) nabla.Real { return nabla.Dot(x, x) }

// A function at package level: recordings of function literals, which may capture data,
// are compared with the function at every call.
func ExampleChoose() {
	x := make([]float64, 200)
	c, err := nabla.Choose(sumOfSquares, x, finitediff.Backend{}, forwarddiff.Backend{},
		reversediff.Backend{Compile: true})
	if err != nil {
		panic(err)
	}
	// fmt.Println(c) prints the table.
	g, err := nabla.Gradient(sumOfSquares, c.Backend, x)
	fmt.Println(c.Backend.Name(), len(g), err)
	// Output: reversediff(compile) 200 <nil>
}
