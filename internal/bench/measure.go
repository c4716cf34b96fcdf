package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/nabla-ad/nabla/problems"
)

// rounds is how often all that is timed takes turns.
const rounds = 11

// entrant is an engine in a task.
type entrant struct {
	engine Engine
	p      *problems.Problem
	d      Derivative
	first  time.Duration // of the first preparation
	row    Row

	prepared, unprepared, prepare *timing // nil where there is nothing to time
}

// measure checks and times the engines in one task. tell gets the rows that there
// are after each round. The error is that of the task or of ctx; those of engines
// are in their rows.
func measure(ctx context.Context, t Task, engines []Engine, budget time.Duration, steps *progress, tell func([]Row)) ([]Row, error) {
	entrants := make([]*entrant, len(engines))
	for i, e := range engines {
		p, err := t.Entry.New(t.N) // anew, so that no engine finds another's traces
		if err != nil {
			return nil, err
		}
		steps.step(fmt.Sprintf("%s n=%d %s", p.Name, p.N, e.Name))
		entrants[i] = newEntrant(p, e)
		entrants[i].check(budget)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	p, err := t.Entry.New(t.N)
	if err != nil {
		return nil, err
	}
	plain := plainTiming(p)
	plain.calibrate(budget)
	prepared, others := []*timing{plain}, []*timing{}
	for _, e := range entrants {
		if e.row.OK {
			e.time(budget)
			prepared = append(prepared, e.prepared)
			others = append(others, e.unprepared, e.prepare)
		}
	}
	what := fmt.Sprintf("%s n=%d", p.Name, p.N)
	for _, pass := range []struct {
		name    string
		timings []*timing
	}{{"prepared", prepared}, {"unprepared", others}} {
		runtime.GC()
		for round := range rounds {
			steps.step(fmt.Sprintf("%s %s %d/%d", what, pass.name, round+1, rounds))
			if err := takeTurns(ctx, pass.timings, round); err != nil {
				return nil, err
			}
			tell(rowsOf(entrants, plain, false))
		}
	}
	return rowsOf(entrants, plain, true), nil
}

func newEntrant(p *problems.Problem, e Engine) *entrant {
	nan := math.NaN()
	return &entrant{engine: e, p: p, row: Row{
		Task: p.Name, Title: p.Title, N: p.N, Engine: e.Name, Approximate: e.Approximate,
		PlainNS: nan, DerivativeNS: nan, Ratio: nan, PrepareNS: nan, Allocs: nan, Error: nan,
		PlainSpread: nan, Spread: nan, UnpreparedNS: nan, BreakEven: nan, Bytes: nan, Calls: nan, PrepareCalls: nan,
	}}
}

// fail notes why there is no derivative.
func (e *entrant) fail(err error) { e.row.Err, e.row.OK = err, false }

// check prepares the derivative, compares it with the references and counts.
func (e *entrant) check(budget time.Duration) {
	e.p.Select(0)
	start := time.Now()
	d, err := e.engine.Prepare(e.p)
	e.first = time.Since(start)
	if err != nil {
		e.fail(fmt.Errorf("prepare: %w", err))
		return
	}
	e.d = d
	tol := e.p.Tolerance
	if e.engine.Approximate {
		tol = e.p.Difference
	}
	row := &e.row
	start = time.Now()
	row.Error, err = compare(e.p, d, len(e.p.Cases))
	once := time.Since(start)
	if err == nil && row.Error <= tol {
		var again float64
		if once < budget { // a second time: what was recorded is replayed now
			again, err = compare(e.p, d, len(e.p.Cases))
			row.Error = worse(row.Error, again)
		}
		if err == nil {
			again, err = compare(e.p, e.once(), 1)
			row.Error = worse(row.Error, again)
		}
	}
	if row.OK = err == nil && row.Error <= tol; !row.OK {
		row.Err = err
		return
	}
	if row.Allocs, row.Bytes, err = allocations(e.call(), budget); err != nil {
		e.fail(err)
		return
	}
	cases := float64(len(e.p.Cases))
	row.Allocs, row.Bytes = math.Floor(row.Allocs/cases), math.Floor(row.Bytes/cases)
	row.PrepareCalls, row.Calls = countCalls(e.p, e.engine)
}

// once is the derivative without preparation.
func (e *entrant) once() Derivative {
	if e.engine.Once != nil {
		return e.engine.Once(e.p)
	}
	return func(y, d, x []float64) error {
		f, err := e.engine.Prepare(e.p)
		if err != nil {
			return err
		}
		return f(y, d, x)
	}
}

// call computes the prepared derivatives of all cases.
func (e *entrant) call() func() error {
	p := e.p
	y, jac := make([]float64, p.M), make([]float64, p.M*p.N)
	return func() error {
		for i := range p.Cases {
			if err := e.d(y, jac, p.Select(i).X); err != nil {
				return err
			}
		}
		return nil
	}
}

// time makes the timings and finds how many calls fill a sample.
func (e *entrant) time(budget time.Duration) {
	p, once := e.p, e.once()
	y, jac := make([]float64, p.M), make([]float64, p.M*p.N)
	e.prepared = &timing{f: e.call(), per: len(p.Cases)}
	e.unprepared = &timing{per: 1, f: func() error { return once(y, jac, p.Select(0).X) }}
	e.prepare = &timing{per: 1, f: func() error {
		p.Select(0)
		_, err := e.engine.Prepare(p)
		return err
	}}
	e.prepared.calibrate(budget)
	e.unprepared.calibrate(budget / 2)
	e.prepare.calibrate(budget / 2)
}

func plainTiming(p *problems.Problem) *timing {
	y := make([]float64, p.M)
	return &timing{per: len(p.Cases), f: func() error {
		for i := range p.Cases {
			p.Eval(y, p.Select(i).X)
		}
		return nil
	}}
}

// rowsOf are the rows of a task: all of them, or those that have a time or will
// never have one.
func rowsOf(entrants []*entrant, plain *timing, all bool) []Row {
	var rows []Row
	for _, e := range entrants {
		if e.row.OK {
			for _, t := range []*timing{e.prepared, e.unprepared, e.prepare} {
				if t.err != nil {
					e.fail(t.err)
				}
			}
		}
		row := e.row
		if row.OK {
			if len(e.prepared.ns) == 0 && !all {
				continue
			}
			row.Plain, row.Derivative = plain.samples(), e.prepared.samples()
			row.Unprepared, row.Prepare = e.unprepared.samples(), e.prepare.samples()
			row.PlainNS, row.PlainSpread = median(row.Plain.NS), spread(row.Plain.NS)
			row.DerivativeNS, row.Spread = median(row.Derivative.NS), spread(row.Derivative.NS)
			row.Ratio = row.DerivativeNS / row.PlainNS
			row.UnpreparedNS = median(row.Unprepared.NS)
			row.PrepareNS = median(row.Prepare.NS)
			if len(row.Prepare.NS) == 0 {
				row.PrepareNS = float64(e.first)
			}
		}
		rows = append(rows, row)
	}
	breakEven(rows)
	return rows
}

// compare computes the first cases and compares values and derivatives with the
// references. The error is the largest, relative to the largest component of the
// case.
func compare(p *problems.Problem, d Derivative, cases int) (worst float64, err error) {
	y, jac := make([]float64, p.M), make([]float64, p.M*p.N)
	for i := range cases {
		c := p.Select(i)
		fill(y, math.NaN())
		fill(jac, math.NaN())
		if err := d(y, jac, c.X); err != nil {
			return math.NaN(), err
		}
		worst = worse(worst, relative(jac, c.Derivative))
		worst = worse(worst, relative(y, c.Value))
	}
	return worst, nil
}

func fill(v []float64, with float64) {
	for i := range v {
		v[i] = with
	}
}

// timing is something that is timed in turn with others.
type timing struct {
	f     func() error
	per   int       // how many derivatives f computes
	calls int       // of f, for one sample
	turns int       // of the rounds, in how many it takes part
	ns    []float64 // a sample each: the time of one of the calls
	err   error     // that of f, which ends its timing
}

func (t *timing) samples() Samples {
	s := Samples{Calls: t.calls * t.per}
	for _, ns := range t.ns {
		s.NS = append(s.NS, ns/float64(t.per))
	}
	return s
}

// calibrate finds how many calls fill a round's share of the budget. What takes
// longer than that is called once in fewer rounds.
func (t *timing) calibrate(budget time.Duration) {
	slice := budget / rounds
	once := time.Duration(0)
	for n := 1; ; n *= 2 {
		per, err := repeat(t.f, n)
		if err != nil {
			t.err = err
			return
		}
		if took := time.Duration(per * float64(n)); took >= slice/4 || n >= 1<<24 {
			t.calls, once = max(1, int(float64(slice)/max(per, 1))), time.Duration(per)
			break
		}
	}
	t.turns = rounds
	switch {
	case once > 10*budget:
		t.turns = 1
	case once > slice:
		t.turns = int(min(max(budget/once, 3), rounds))
	}
}

// takesPart spreads the turns evenly over the rounds, the first one included.
func (t *timing) takesPart(round int) bool { return round*t.turns%rounds < t.turns }

// takeTurns takes a sample of everything that takes part in a round. Each round
// begins with another one. The error is that of ctx.
func takeTurns(ctx context.Context, timings []*timing, round int) error {
	for i := range timings {
		t := timings[(round+i)%len(timings)]
		if t.err != nil || !t.takesPart(round) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		ns, err := repeat(t.f, t.calls)
		if t.err = err; err == nil {
			t.ns = append(t.ns, ns)
		}
	}
	return ctx.Err()
}

// repeat is the time of one of n calls.
func repeat(f func() error, n int) (float64, error) {
	start := time.Now()
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start)) / float64(n), nil
}

// allocations is how many one call makes, and of how many bytes, as
// testing.AllocsPerRun counts them.
func allocations(f func() error, budget time.Duration) (count, bytes float64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	start := time.Now()
	if err := f(); err != nil {
		return 0, 0, err
	}
	runs := int(min(max(budget/4/max(time.Since(start), 1), 1), 100))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		if err := f(); err != nil {
			return 0, 0, err
		}
	}
	runtime.ReadMemStats(&after)
	count = math.Floor(float64(after.Mallocs-before.Mallocs) / float64(runs))
	bytes = math.Floor(float64(after.TotalAlloc-before.TotalAlloc) / float64(runs))
	if count == 0 {
		bytes = 0 // of the runtime, not of f
	}
	return count, bytes, nil
}
