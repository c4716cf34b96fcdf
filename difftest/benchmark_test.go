package difftest

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
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
	"github.com/nabla-ad/nabla/engine"
)

func sumSquares(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for _, v := range x {
		s = s.Add(v.Sq())
	}
	return s
}

func ramp(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	return x
}

func ExampleBenchmark() {
	backends := []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}}
	scenarios := []Scenario{Of("gradient", sumSquares, ramp(10)), Of("hessian", sumSquares, ramp(10))}
	table, err := Benchmark(backends, scenarios, &BenchOptions{Budget: time.Millisecond})
	if err != nil {
		fmt.Println(err)
	}
	// fmt.Print(table) shows the times too.
	for _, r := range table.Rows {
		fmt.Println(r.Scenario, r.Backend, r.Call, r.Err == nil && r.NS > 0, r.Error, r.Allocs)
	}
	// Output:
	// gradient n=10 forwarddiff gradient true 0 0
	// gradient n=10 forwarddiff value and gradient true 0 0
	// gradient n=10 reversediff(compile) gradient true 0 0
	// gradient n=10 reversediff(compile) value and gradient true 0 0
	// hessian n=10 forwarddiff hessian true 0 0
	// hessian n=10 forwarddiff value and hessian true 0 0
	// hessian n=10 reversediff(compile) hessian true 0 0
	// hessian n=10 reversediff(compile) value and hessian true 0 0
}

// TestBenchmarkFull measures a scenario of every operator in every way.
func TestBenchmarkFull(t *testing.T) {
	var scenarios []Scenario
	for _, s := range Scenarios("default") {
		if slices.Contains(countedScenarios, s.Name) {
			scenarios = append(scenarios, s)
		}
	}
	batch := slices.Clone(scenarios)
	batch = slices.DeleteFunc(batch, func(s Scenario) bool { return s.Operator != "hvp" })
	scenarios = append(scenarios, Modify(batch, Constantify)...)
	scenarios = append(scenarios, Modify(batch, Batchify)...)
	steps, total := 0, 0
	forward := nabla.Policy{Backend: forwarddiff.Backend{}, FixedCaptures: true} // the functions allocate
	table, err := Benchmark([]nabla.Backend{forward, finitediff.Backend{}}, scenarios, &BenchOptions{
		Full: true, Budget: time.Millisecond,
		Progress: func(done, all int, _ string) {
			if done != steps {
				t.Errorf("step %d comes after %d", done, steps-1)
			}
			steps, total = steps+1, all
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * (5*9 + 2); len(table.Rows) != want || steps != total {
		t.Errorf("%d rows, want %d; %d steps of %d", len(table.Rows), want, steps, total)
	}
	for _, r := range table.Rows {
		tol := 1e-11
		if r.Backend == "finitediff" {
			tol = 1e-3
		}
		switch {
		case r.Err != nil || !(r.NS > 0) || !(r.PlainNS > 0) || r.Samples < 1 || r.Evals < 1 ||
			math.Abs(r.Ratio-r.NS/r.PlainNS) > 1e-9*r.Ratio:
			t.Errorf("%+v", r)
		case r.Kind == Preparation && (!math.IsNaN(r.Error) || !math.IsNaN(r.BreakEven)):
			t.Errorf("a preparation has a result: %+v", r)
		case r.Kind != Preparation && !(r.Error <= tol):
			t.Errorf("%s: %s on %s is off by %v", r.Scenario, r.Call, r.Backend, r.Error)
		case r.Kind == Prepared && r.Backend == forward.Name() && r.Allocs != 0:
			t.Errorf("%s: %s on %s allocates %v times", r.Scenario, r.Call, r.Backend, r.Allocs)
		case r.Kind == Prepared && !strings.HasSuffix(r.Call, "batch") && math.IsNaN(r.BreakEven):
			t.Errorf("%s: %s on %s never breaks even or does, but which", r.Scenario, r.Call, r.Backend)
		case r.Kind == Prepared && !(r.Calls > 0):
			t.Errorf("%s: %s on %s: %v calls", r.Scenario, r.Call, r.Backend, r.Calls)
		}
	}
}

// wrongGradient is off by 1 in every component of a gradient.
type wrongGradient struct{ reversediff.Backend }

func (wrongGradient) Name() string { return "wrong" }

func (b wrongGradient) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	g, err := b.Backend.PrepareGradient(f, x)
	return wrongGradientPrep{g}, err
}

type wrongGradientPrep struct{ engine.Gradient }

func (p wrongGradientPrep) ValueAndGradient(grad, x []float64) (float64, error) {
	y, err := p.Gradient.ValueAndGradient(grad, x)
	for i := range grad {
		grad[i]++
	}
	return y, err
}

var errRefused = errors.New("refused")

type refusing struct{ late bool }

func (refusing) Name() string { return "refusing" }

func (b refusing) PreparePushforward(*engine.Function, []float64, int) (engine.Pushforward, error) {
	if b.late {
		return b, nil
	}
	return nil, errRefused
}

func (refusing) Pushforward([]float64, engine.Block, []float64, engine.Block) error {
	return errRefused
}

// TestBenchmarkFailures requires that a backend that fails or is wrong has one row, beside those of the others.
func TestBenchmarkFailures(t *testing.T) {
	backends := []nabla.Backend{forwarddiff.Backend{}, wrongGradient{}, refusing{}, refusing{late: true}}
	table, err := Benchmark(backends, []Scenario{Of("gradient", sumSquares, ramp(5))},
		&BenchOptions{Budget: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]Measurement{}
	for _, r := range table.Rows {
		got[r.Backend] = append(got[r.Backend], r)
	}
	if r := got["forwarddiff"]; len(r) != 2 || r[0].Err != nil || r[0].Error != 0 {
		t.Errorf("%+v", r)
	}
	if r := got["wrong"]; len(r) != 2 || r[0].Err != nil || math.Abs(r[0].Error-0.1) > 1e-15 {
		t.Errorf("%+v", r)
	}
	if r := got["refusing"]; len(r) != 3 || !errors.Is(r[0].Err, errRefused) || !errors.Is(r[1].Err, errRefused) ||
		!math.IsNaN(r[0].NS) {
		t.Errorf("%+v", r)
	}
	for _, format := range Formats {
		var b bytes.Buffer
		if err := table.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		switch format {
		case "csv":
			lines, err := csv.NewReader(&b).ReadAll()
			if err != nil || len(lines) != 1+len(table.Rows) || len(lines[0]) != len(fields) {
				t.Errorf("%v, %v", lines, err)
			}
		case "json":
			var rows []map[string]any
			if err := json.Unmarshal(b.Bytes(), &rows); err != nil || len(rows) != len(table.Rows) {
				t.Fatalf("%v: %s", err, b.String())
			}
			if r := rows[len(rows)-1]; r["ns"] != nil || !strings.Contains(r["failure"].(string), "refused") ||
				rows[0]["ns"].(float64) <= 0 {
				t.Errorf("%v", rows)
			}
		default:
			if s := b.String(); strings.Count(s, "FAILED") != 3 ||
				strings.Count(s, "refused") != 3 && format == "table" {
				t.Errorf("%s", s)
			}
		}
	}
	if err := table.Write(new(bytes.Buffer), "yaml"); err == nil || !strings.Contains(err.Error(), "markdown") {
		t.Errorf("format yaml: %v", err)
	}
}

func TestBenchmarkInput(t *testing.T) {
	one := []nabla.Backend{forwarddiff.Backend{}}
	for name, tt := range map[string]struct {
		backends  []nabla.Backend
		scenarios []Scenario
		want      string
	}{
		"no backend":  {nil, []Scenario{Of("gradient", sumSquares, ramp(2))}, "at least one"},
		"no scenario": {one, nil, "at least one"},
		"operator":    {one, []Scenario{Of("laplacian", sumSquares, ramp(2))}, "second_derivative"},
		"tangent":     {one, []Scenario{Of("hvp", sumSquares, ramp(2))}, "needs a tangent"},
		"function":    {one, []Scenario{{Operator: "gradient", X: ramp(2)}}, "no function"},
	} {
		if table, err := Benchmark(tt.backends, tt.scenarios, nil); err == nil || table != nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	table, err := Benchmark(one, []Scenario{Of("jacobian", sumSquares, ramp(2))}, nil)
	if err != nil || len(table.Rows) != 1 || table.Rows[0].Err == nil ||
		!strings.Contains(table.Rows[0].Err.Error(), "[]nabla.Real) []nabla.Real") {
		t.Errorf("a Jacobian of a scalar function: %v, %v", table, err)
	}
}

func TestBenchmarkInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	table, err := Benchmark([]nabla.Backend{forwarddiff.Backend{}}, []Scenario{
		Of("gradient", sumSquares, ramp(2)), Of("hessian", sumSquares, ramp(2)),
	}, &BenchOptions{Budget: time.Millisecond, Context: ctx, Progress: func(_, _ int, what string) {
		if seen++; strings.HasPrefix(what, "hessian") {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || len(table.Rows) != 2 || table.Rows[0].Operator != "gradient" ||
		!(table.Rows[0].NS > 0) {
		t.Errorf("%v, %v", table, err)
	}
}

// TestOf runs scenarios made by Of from functions of every type, with the results of the same functions in the
// catalogue.
func TestOf(t *testing.T) {
	square := func(x nabla.Real) nabla.Real { return x.Sq() }
	twice := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Sq(), x[1].Mul(x[0])} }
	curve := func(x nabla.Real) []nabla.Real { return []nabla.Real{x.Sq(), x} }
	with := func(s Scenario, value, first, second []float64) Scenario {
		s.Value, s.First, s.Second = value, first, second
		return s
	}
	all := []Scenario{
		with(Of("derivative", square, []float64{3}), []float64{9}, []float64{6}, nil),
		with(Of("derivative", curve, []float64{3}), []float64{9, 3}, []float64{6, 1}, nil),
		with(Of("second_derivative", square, []float64{3}), []float64{9}, []float64{6}, []float64{2}),
		with(Of("jacobian", twice, []float64{3, 2}), []float64{9, 6}, []float64{6, 0, 2, 3}, nil),
		with(Of("jacobian", nabla.InPlace(1, func(y, x []nabla.Real) { y[0] = x[1].Sq() }), []float64{3, 2}),
			[]float64{4}, []float64{0, 4}, nil),
		with(Of("pullback", twice, []float64{3, 2}, []float64{1, 10}), []float64{9, 6}, []float64{26, 30}, nil),
		with(Of("pushforward", sumSquares, []float64{3, 2}, []float64{1, 10}), []float64{13}, []float64{46}, nil),
		with(Of("hvp", sumSquares, []float64{3, 2}, []float64{1, 10}), []float64{13}, []float64{6, 4},
			[]float64{2, 20}),
		Of("gradient", sumSquares, []float64{3, 2}),
		Of("gradient", func(x []float64) float64 { return x[0] }, []float64{3, 2}),
	}
	for i := range all {
		all[i].Name = fmt.Sprintf("own %d", i)
	}
	square2 := func(x nabla.Real) (nabla.Real, error) { return square(x), nil }
	twice2 := func(x []nabla.Real) ([]nabla.Real, error) { return twice(x), nil }
	curve2 := func(x nabla.Real) ([]nabla.Real, error) { return curve(x), nil }
	sumSquares2 := func(x []nabla.Real) (nabla.Real, error) { return sumSquares(x), nil }
	withErrors := []Scenario{
		with(Of("derivative", square2, []float64{3}), []float64{9}, []float64{6}, nil),
		with(Of("derivative", curve2, []float64{3}), []float64{9, 3}, []float64{6, 1}, nil),
		with(Of("jacobian", twice2, []float64{3, 2}), []float64{9, 6}, []float64{6, 0, 2, 3}, nil),
		with(Of("gradient", sumSquares2, []float64{3, 2}), []float64{13}, []float64{6, 4}, nil),
		with(Of("hessian", sumSquares2, []float64{3, 2}), []float64{13}, []float64{6, 4}, []float64{2, 0, 0, 2}),
	}
	for i := range withErrors {
		withErrors[i].Name = fmt.Sprintf("with an error %d", i)
	}
	Run(t, forwarddiff.Backend{}, &Options{Scenarios: withErrors})
	plain := []Scenario{
		with(Of("derivative", func(x float64) (float64, error) { return x * x, nil }, []float64{3}),
			[]float64{9}, []float64{6}, nil),
		with(Of("derivative", func(x float64) ([]float64, error) { return []float64{x, 2 * x}, nil }, []float64{3}),
			[]float64{3, 6}, []float64{1, 2}, nil),
		with(Of("jacobian", func(x []float64) ([]float64, error) { return []float64{x[0], x[0] * x[1]}, nil },
			[]float64{3, 2}), []float64{3, 6}, []float64{1, 0, 2, 3}, nil),
		with(Of("gradient", func(x []float64) (float64, error) { return x[0] * x[1], nil }, []float64{3, 2}),
			[]float64{6}, []float64{2, 3}, nil),
	}
	for i := range plain {
		plain[i].Name = fmt.Sprintf("plain with an error %d", i)
	}
	Run(t, finitediff.Backend{}, &Options{Scenarios: plain, Tol: 1e-7, SecondTol: 1e-3})
	for _, s := range slices.Concat(withErrors, plain) {
		calls, err := CountCalls(finitediff.Backend{}, s, true)
		if err != nil || calls.Sixteen == 0 {
			t.Errorf("%s: counted %+v, %v", s.Name, calls, err)
		}
	}
	Run(t, finitediff.Backend{}, &Options{Scenarios: all, Tol: 1e-7, SecondTol: 1e-3})
	Run(t, forwarddiff.Backend{}, &Options{Scenarios: all[:9]})
	wrong := with(all[3], []float64{9, 6}, []float64{6, 0, 2, 4}, nil)
	wrong.Name = "wrong"
	if r := report(forwarddiff.Backend{}, &Options{Scenarios: []Scenario{wrong}}); r == 0 {
		t.Error("a wrong element is not found")
	}
	for _, s := range all {
		c, err := CountCalls(finitediff.Backend{}, s, false)
		if s.Name == "own 4" {
			if err == nil {
				t.Errorf("%s: evaluations of a *nabla.Func are counted: %v", s.Name, c)
			}
			continue
		}
		if err != nil || c.Sixteen < 16 {
			t.Errorf("%s: %v, %v", s.Name, c, err)
		}
	}
}

// report is how often a run complains.
func report(b nabla.Backend, o *Options) int {
	r := new(complaints)
	Check(r, b, o)
	return r.n
}

type complaints struct{ n int }

func (r *complaints) Errorf(string, ...any)          { r.n++ }
func (r *complaints) Skipf(string, ...any)           {}
func (r *complaints) Run(_ string, f func(Reporter)) { f(r) }
