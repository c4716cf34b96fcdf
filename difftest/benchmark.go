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

// BenchOptions configures Benchmark. The zero value, and nil, are a prepared
// measurement of 100 ms a row.
type BenchOptions struct {
	// Full measures preparations and unprepared calls too.
	Full bool
	// Budget is how long each thing is repeated, 100 ms if it is zero. What takes
	// longer is called a few times.
	Budget time.Duration
	// Plain passes functions over float64, for scenarios that have both.
	Plain bool
	// Context ends the measurement early: the table has what was measured until then,
	// beside the context's error. Nil is context.Background().
	Context context.Context
	// Progress, where set, is told what is done next, as step done of total.
	Progress func(done, total int, what string)
}

// Benchmark measures every backend in every scenario, as
//
//	f := func(x []nabla.Real) nabla.Real { … }
//	backends := []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}}
//	scenarios := []difftest.Scenario{difftest.Of("gradient", f, x), difftest.Of("hessian", f, x)}
//	table, err := difftest.Benchmark(backends, scenarios, nil)
//	fmt.Print(table)
//
// and returns two rows for each, one of the operator and one of value and operator;
// with Full there are three more: preparation, and both without it. A batch has one.
//
// What backends do in one scenario is timed in turns, together with the function
// itself, so that a machine whose speed changes changes all alike. The numbers are
// medians over the turns.
//
// A backend that fails has a row that says why, and no numbers: the error of Benchmark
// is only one of the scenarios or of the context. Results are compared with those of
// the scenario, or, where it has none, with those of the first backend that works. A
// difference is shown, not judged: [Run] judges.
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
		if err := scenarios[i].misfit(); err != nil {
			return nil, err
		}
	}
	t := new(Table)
	m := meeting{opts: &opts, total: len(scenarios) * (len(backends) + 2*timing.Rounds)}
	for _, s := range scenarios {
		rows, err := m.scenario(backends, s.measured())
		t.Rows = append(t.Rows, rows...)
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// meeting is one run of Benchmark.
type meeting struct {
	opts        *BenchOptions
	done, total int
}

func (m *meeting) step(format string, args ...any) {
	if m.opts.Progress != nil {
		m.opts.Progress(m.done, m.total, fmt.Sprintf(format, args...))
	}
	m.done++
}

// runner is a row while it is measured.
type runner struct {
	row Measurement
	t   *timing.Timing // nil where there is nothing to time
}

func (m *meeting) scenario(backends []nabla.Backend, s Scenario) ([]Measurement, error) {
	var plain *timing.Timing
	if f, err := s.evaluator(m.opts.Plain); err == nil {
		plain = timing.New(evaluation(f, s.X), 1)
		plain.Calibrate(m.opts.Budget)
	}
	want := s.want()
	if len(s.Tangents) > 1 { // a batch gives one product per column
		want = Results{First: transposed(s.First, len(s.Tangents))}
		if s.secondOrder() {
			want = Results{Second: transposed(s.Second, len(s.Tangents))}
		}
	}
	var runners []*runner
	for _, b := range backends {
		m.step("%s: %s", s.Name, b.Name())
		if err := m.opts.Context.Err(); err != nil {
			return nil, err
		}
		runners = append(runners, m.runners(b, &s, &want)...)
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
	return summary(runners, plain), stopped
}

// evaluation evaluates f at x.
func evaluation(f *engine.Function, x []float64) func() error {
	_, n := f.Dims()
	y := make([]float64, n)
	return func() error { return f.Value(y, x) }
}

// runners prepares b and has it called once in each way. want is filled in where the
// scenario has no results.
func (m *meeting) runners(b nabla.Backend, s *Scenario, want *Results) []*runner {
	own := s.function(b, m.opts.Plain)
	before, after := own.before, own.after
	if before == nil {
		before, after = func() {}, func() {}
	}
	sub := subjectOf(s, b, own.f)
	name := s.Operator
	blank := Measurement{Backend: b.Name(), Scenario: s.Name, Operator: s.Operator}.unknown()
	row := func(kind Kind, call string) *runner {
		r := &runner{row: blank}
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
		return []*runner{r}
	}
	calls, errCalls := CountCalls(b, *s, m.opts.Plain)
	var all []*runner
	add := func(kind Kind, call string, run func() error, o *outcome) {
		r := row(kind, call)
		all = append(all, r)
		if err := m.first(r, run, o, want); err != nil {
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
		add(Prepared, name+" batch", p.batch(o, filledDst, s.X, sideBySide(s.Tangents)), o)
	} else {
		op, valueAndOp := p.usual()
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

// first calls run, compares what it left in o, and looks at the memory of a call.
func (m *meeting) first(r *runner, run func() error, o *outcome, want *Results) error {
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

// distance is how far o is from want, relative to the largest of each result. What want
// does not have, it gets from o.
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

// relative is the largest difference of got from want, relative to the largest of want.
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

// summary are the rows with what was sampled.
func summary(runners []*runner, plain *timing.Timing) []Measurement {
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

// breakEven fills in after how many calls a preparation has paid for itself, against
// the unprepared call of the same backend: the smallest whole k for which
// prepare + k·prepared ≤ k·unprepared.
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
