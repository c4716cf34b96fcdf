package difftest

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/timing"
)

// BenchOptions configures Benchmark. Nil and the zero value measure prepared calls for 100 ms a row.
type BenchOptions struct {
	// Full measures preparations and unprepared calls too.
	Full bool
	// Budget is the time for which each call is repeated, 100 ms if it is zero. A call that takes longer is made a few
	// times.
	Budget time.Duration
	// Plain passes functions over float64, for scenarios that have both.
	Plain bool
	// Context ends the measurement early: Benchmark returns the rows measured so far and the error of the context. Nil
	// is context.Background().
	Context context.Context
	// Progress, if not nil, is called before each of total steps with the number of finished ones and a description.
	Progress func(done, total int, what string)
}

// Benchmark measures every backend in every scenario, as in
//
//	f := func(x []nabla.Real) nabla.Real { … }
//	backends := []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}}
//	scenarios := []difftest.Scenario{difftest.Of("gradient", f, x), difftest.Of("hessian", f, x)}
//	table, err := difftest.Benchmark(backends, scenarios, nil)
//	fmt.Print(table)
//
// It returns two rows for each pair, one of the operator and one of value and operator. With Full there are three more:
// preparation, and both calls without it. A batch has one row.
//
// The backends of one scenario, and the function itself, are timed in turns, so that a change of the machine's speed
// affects all alike. Times are medians over the turns.
//
// A backend that fails has a row with its error and without numbers. The error of Benchmark is an invalid scenario or
// that of the context. Results are compared with the expected ones of the scenario or, if it has none, with those of
// the first backend that works. Differences are reported, but are no failure; see [Run] for that.
func Benchmark(backends []nabla.Backend, scenarios []Scenario, o *BenchOptions) (*Table, error) {
	var opts BenchOptions
	if o != nil {
		opts = *o
	}
	if opts.Budget <= 0 {
		opts.Budget = 100 * time.Millisecond
	}
	if opts.Context == nil {
		opts.Context = context.Background()
	}
	if len(backends) == 0 || len(scenarios) == 0 {
		return nil, fmt.Errorf("difftest: Benchmark of %d backends and %d scenarios: it needs at least one of each",
			len(backends), len(scenarios))
	}
	for i := range scenarios {
		if err := scenarios[i].validate(); err != nil {
			return nil, err
		}
	}
	t := new(Table)
	m := benchmarkRun{opts: &opts, total: len(scenarios) * (len(backends) + 2*timing.Rounds)}
	for _, s := range scenarios {
		rows, err := m.measureScenario(backends, s.withOutputs())
		t.Rows = append(t.Rows, rows...)
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// A benchmarkRun is the state of one call of Benchmark: its options and progress.
type benchmarkRun struct {
	opts        *BenchOptions
	done, total int
}

// step reports the next step.
func (m *benchmarkRun) step(format string, args ...any) {
	if m.opts.Progress != nil {
		m.opts.Progress(m.done, m.total, fmt.Sprintf(format, args...))
	}
	m.done++
}

// A timedRow is a row of the table with its timing.
type timedRow struct {
	row Measurement
	t   *timing.Timing // nil for a row with an error
}

// measureScenario returns the rows of one scenario. If the context ends, it returns those measured so far and its
// error.
func (m *benchmarkRun) measureScenario(backends []nabla.Backend, s Scenario) ([]Measurement, error) {
	var plain *timing.Timing
	if f, err := s.evaluator(m.opts.Plain); err == nil {
		plain = timing.New(evaluation(f, s.X), 1)
		plain.Calibrate(m.opts.Budget)
	}
	want := s.want()
	if len(s.Tangents) > 1 { // a batch returns one product per column
		want = Results{First: transposed(s.First, len(s.Tangents))}
		if s.secondOrder() {
			want = Results{Second: transposed(s.Second, len(s.Tangents))}
		}
	}
	var runners []*timedRow
	for _, b := range backends {
		m.step("%s: %s", s.Name, b.Name())
		if err := m.opts.Context.Err(); err != nil {
			return nil, err
		}
		runners = append(runners, m.prepareRows(b, &s, &want)...)
	}
	prepared, others := []*timing.Timing{}, []*timing.Timing{}
	if plain != nil {
		prepared = append(prepared, plain)
	}
	for _, r := range runners {
		switch {
		case r.t == nil:
		case r.row.Kind == Prepared:
			prepared = append(prepared, r.t)
		default:
			others = append(others, r.t)
		}
	}
	var stopped error
	for _, pass := range [][]*timing.Timing{prepared, others} {
		runtime.GC()
		for round := range timing.Rounds {
			m.step("%s: round %d", s.Name, round+1)
			if stopped = timing.TakeTurns(m.opts.Context, pass, round); stopped != nil {
				break
			}
		}
	}
	return medians(runners, plain), stopped
}

// evaluation returns a function that evaluates f at x, without allocation.
func evaluation(f *engine.Function, x []float64) func() error {
	_, n := f.Dims()
	y := make([]float64, n)
	return func() error { return f.Value(y, x) }
}

// prepareRows prepares s with b, makes each kind of call once, and returns their rows, calibrated for timing. Results
// that want does not have are set to those of the first call.
func (m *benchmarkRun) prepareRows(b nabla.Backend, s *Scenario, want *Results) []*timedRow {
	own := s.function(b, m.opts.Plain)
	before, after := own.before, own.after
	if before == nil {
		before, after = func() {}, func() {}
	}
	sub := subjectOf(s, b, own.f)
	name := s.Operator
	blank := Measurement{Backend: b.Name(), Scenario: s.Name, Operator: s.Operator}.unknown()
	row := func(kind Kind, call string) *timedRow {
		r := &timedRow{row: blank}
		r.row.Kind, r.row.Call = kind, call
		return r
	}
	before()
	p, err := sub.prepare(s.prepX())
	if err == nil && p.resize != nil && len(s.prepX()) != len(s.X) {
		err = p.resize(s.X)
	}
	after()
	if err != nil {
		r := row(Prepared, name)
		r.row.Err = fmt.Errorf("prepare: %w", err)
		return []*timedRow{r}
	}
	calls, errCalls := CountCalls(b, *s, m.opts.Plain)
	var all []*timedRow
	add := func(kind Kind, call string, run func() error, o *outcome) {
		r := row(kind, call)
		all = append(all, r)
		if err := m.firstCall(r, run, o, want); err != nil {
			r.row.Err = err
			return
		}
		if errCalls == nil && kind == Preparation {
			r.row.Calls = float64(calls.Prepare)
		}
		if errCalls == nil && kind == Prepared {
			r.row.Calls = float64(calls.Sixteen) / 16
		}
		budget := m.opts.Budget
		if kind != Prepared {
			budget /= 2
		}
		r.t = timing.New(run, 1)
		r.t.Calibrate(budget)
	}
	if len(s.Tangents) > 1 && p.batch != nil {
		o := new(outcome)
		add(Prepared, name+" batch", p.batch(o, filledDestination, s.X, sideBySide(s.Tangents)), o)
	} else {
		op, valueAndOp := p.hotVariants()
		o := new(outcome)
		add(Prepared, name, op.start(o, s.X, s.tangent()), o)
		o2 := new(outcome)
		add(Prepared, "value and "+name, valueAndOp.start(o2, s.X, s.tangent()), o2)
	}
	if !m.opts.Full {
		return all
	}
	add(Preparation, "prepare "+name, func() error {
		before()
		_, err := sub.prepare(s.prepX())
		after()
		return err
	}, nil)
	if len(s.Tangents) <= 1 && len(sub.unprepared) > 0 {
		last := len(sub.unprepared) - 1
		o := new(outcome)
		add(Unprepared, name, sub.unprepared[0].start(o, s.X, s.tangent()), o)
		o2 := new(outcome)
		add(Unprepared, "value and "+name, sub.unprepared[last].start(o2, s.X, s.tangent()), o2)
	}
	return all
}

// firstCall makes a call, stores the error of its results relative to want and its allocations in the row, and returns
// its error.
func (m *benchmarkRun) firstCall(r *timedRow, run func() error, o *outcome, want *Results) error {
	if err := run(); err != nil {
		return err
	}
	if o != nil {
		r.row.Error = o.distance(want)
	}
	mem, err := timing.Allocated(run, m.opts.Budget)
	if err != nil {
		return err
	}
	r.row.Allocs, r.row.Bytes, r.row.GC = mem.Allocs, mem.Bytes, mem.GC
	return nil
}

// distance returns the largest difference of the results in o from want, relative to the largest component of each, or
// NaN. Results that want does not have are copied to it.
func (o *outcome) distance(want *Results) float64 {
	worst := math.NaN()
	for _, c := range []struct {
		got  []float64
		want *[]float64
	}{{o.value.got(), &want.Value}, {o.first.got(), &want.First}, {o.second.got(), &want.Second}} {
		switch {
		case c.got == nil:
			continue
		case *c.want == nil:
			*c.want = slices.Clone(c.got)
		}
		d := relative(c.got, *c.want)
		if math.IsNaN(worst) || d > worst || math.IsNaN(d) {
			worst = d
		}
		if math.IsNaN(d) {
			return d
		}
	}
	return worst
}

// relative returns the largest difference of got from want, relative to the largest component of want. It is NaN if the
// lengths differ or a component is NaN in one of them only.
func relative(got, want []float64) float64 {
	if len(got) != len(want) {
		return math.NaN()
	}
	size, worst := 0.0, 0.0
	for i, w := range want {
		size = max(size, math.Abs(w))
		if got[i] != w && !(math.IsNaN(w) && math.IsNaN(got[i])) {
			worst = max(worst, math.Abs(got[i]-w)) // NaN stays NaN
		}
	}
	if size > 0 {
		worst /= size
	}
	return worst
}

// medians returns the rows with the medians of their samples; plain is the timing of the function itself, or nil.
func medians(runners []*timedRow, plain *timing.Timing) []Measurement {
	plainNS := math.NaN()
	if plain != nil && plain.Err() == nil {
		plainNS = timing.Median(plain.Samples().NS)
	}
	var rows []Measurement
	for _, r := range runners {
		row := r.row
		if r.t != nil {
			if err := r.t.Err(); err != nil {
				row = row.unknown()
				row.Err = err
			} else {
				s := r.t.Samples()
				row.Samples, row.Evals = len(s.NS), s.Calls
				row.NS, row.Spread, row.PlainNS = timing.Median(s.NS), timing.Spread(s.NS), plainNS
				row.Ratio = row.NS / plainNS
			}
		}
		rows = append(rows, row)
	}
	breakEven(rows)
	return rows
}

// breakEven sets the number of calls after which preparation has paid off, compared with the unprepared call of the
// same backend: the smallest whole k for which prepare + k·prepared ≤ k·unprepared.
func breakEven(rows []Measurement) {
	find := func(of Measurement, kind Kind) float64 {
		for _, r := range rows {
			if r.Backend == of.Backend && r.Kind == kind && (kind == Preparation || r.Call == of.Call) {
				return r.NS
			}
		}
		return math.NaN()
	}
	for i, r := range rows {
		if r.Kind != Prepared {
			continue
		}
		prepare, once := find(r, Preparation), find(r, Unprepared)
		switch gain := once - r.NS; {
		case math.IsNaN(prepare) || math.IsNaN(gain):
		case gain <= 0:
			rows[i].BreakEven = math.Inf(1)
		default:
			rows[i].BreakEven = max(1, math.Ceil(prepare/gain))
		}
	}
}
