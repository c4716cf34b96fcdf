package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/internal/timing"
)

// A contestant is an engine in a task.
type contestant struct {
	engine Engine
	p      *problems.Problem
	d      Derivative
	plan   *nabla.SparsePlan // nil for a dense matrix
	first  time.Duration     // time of the first preparation
	row    Row

	// Times that the preparations took for the sparse plan, if there is one.
	detection, coloring []float64

	prepared, unprepared, prepare *timing.Timing // nil if it is not timed
}

// measure checks and times the engines in one task. It passes the rows so far to tell after each round. The error is
// that of the task or of ctx; errors of engines are in their rows.
func measure(ctx context.Context, t Task, engines []Engine, c Config, steps *progress,
	tell func([]Row)) ([]Row, error) {
	budget := c.Budget
	entrants := make([]*contestant, len(engines))
	for i, e := range engines {
		p, err := t.Entry.New(t.N) // a new one, so that no engine finds another's traces
		if err != nil {
			return nil, err
		}
		steps.step(fmt.Sprintf("%s n=%d %s", p.Name, p.N, e.Name))
		entrants[i] = newEntrant(p, e)
		entrants[i].check(budget, c.Growth)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	p, err := t.Entry.New(t.N)
	if err != nil {
		return nil, err
	}
	plain := plainTiming(p)
	plain.Calibrate(budget)
	prepared, others := []*timing.Timing{plain}, []*timing.Timing{}
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
		timings []*timing.Timing
	}{{"prepared", prepared}, {"unprepared", others}} {
		runtime.GC()
		for round := range timing.Rounds {
			steps.step(fmt.Sprintf("%s %s %d/%d", what, pass.name, round+1, timing.Rounds))
			if err := timing.TakeTurns(ctx, pass.timings, round); err != nil {
				return nil, err
			}
			tell(rowsOf(entrants, plain, false))
		}
	}
	return rowsOf(entrants, plain, true), nil
}

// newEntrant returns a contestant whose row has no figures yet.
func newEntrant(p *problems.Problem, e Engine) *contestant {
	nan := math.NaN()
	return &contestant{engine: e, p: p, row: Row{
		Task: p.Name, Title: p.Title, Formula: p.Formula,
		Hessian: p.Hessian, N: p.N, Engine: e.Name, Approximate: e.Approximate,
		PlainNS: nan, DerivativeNS: nan, Ratio: nan, PrepareNS: nan, Allocs: nan, Error: nan,
		PlainSpread: nan, Spread: nan, UnpreparedNS: nan, BreakEven: nan, Bytes: nan, Calls: nan, PrepareCalls: nan,
		PrepareBytes: nan, KeptBytes: nan,
	}}
}

// fail stores the reason that there is no derivative.
func (e *contestant) fail(err error) { e.row.Err, e.row.OK = err, false }

// check prepares the derivative, compares it with the references, and counts calls and allocations, with growth those
// of the preparation too.
func (e *contestant) check(budget time.Duration, growth bool) {
	e.p.Select(0)
	var before, after runtime.MemStats
	if growth {
		runtime.GC()
		runtime.ReadMemStats(&before)
	}
	start := time.Now()
	d, plan, err := e.engine.prepare(e.p)
	e.first = time.Since(start)
	if growth {
		runtime.ReadMemStats(&after)
		e.row.PrepareBytes = float64(after.TotalAlloc - before.TotalAlloc)
		runtime.GC()
		runtime.ReadMemStats(&after)
		e.row.KeptBytes = max(0, float64(after.HeapAlloc)-float64(before.HeapAlloc))
		runtime.KeepAlive(d)
	}
	if err != nil {
		e.fail(fmt.Errorf("prepare: %w", err))
		return
	}
	e.d, e.plan = d, plan
	e.storePlanTimes(plan)
	tol := max(e.p.Tolerance, float64(e.p.N)*0x1p-53) // sums of n terms in another order
	if e.engine.Approximate {
		tol = e.p.Difference
	}
	row := &e.row
	start = time.Now()
	row.Error, err = compare(e.p, d, plan, len(e.p.Cases))
	once := time.Since(start)
	if err == nil && row.Error <= tol {
		var again float64
		if once < budget { // a second time: this replays the recording
			again, err = compare(e.p, d, plan, len(e.p.Cases))
			row.Error = maxError(row.Error, again)
		}
		if err == nil {
			again, err = compare(e.p, e.oneShot(), plan, 1)
			row.Error = maxError(row.Error, again)
		}
	}
	if row.OK = err == nil && row.Error <= tol; !row.OK {
		row.Err = err
		return
	}
	memory, err := timing.Allocated(e.call(), budget)
	if err != nil {
		e.fail(err)
		return
	}
	cases := float64(len(e.p.Cases))
	row.Allocs, row.Bytes = math.Floor(memory.Allocs/cases), math.Floor(memory.Bytes/cases)
	row.PrepareCalls, row.Calls = countCalls(e.p, e.engine)
}

// storePlanTimes stores the times that a preparation took for its plan.
func (e *contestant) storePlanTimes(plan *nabla.SparsePlan) {
	if plan == nil {
		return
	}
	e.detection = append(e.detection, float64(plan.Detection))
	if plan.Coloring != nil {
		e.coloring = append(e.coloring, float64(plan.ColoringTime))
	}
}

// oneShot returns the derivative without preparation.
func (e *contestant) oneShot() Derivative {
	if e.engine.Once != nil {
		return e.engine.Once(e.p)
	}
	return func(y, d, x []float64) error {
		f, _, err := e.engine.prepare(e.p)
		if err != nil {
			return err
		}
		return f(y, d, x)
	}
}

// call returns a function that computes the prepared derivatives of all cases.
func (e *contestant) call() func() error {
	p := e.p
	y, jac := buffers(p, e.plan)
	return func() error {
		for i := range p.Cases {
			if err := e.d(y, jac, p.Select(i).X); err != nil {
				return err
			}
		}
		return nil
	}
}

// time creates the timings and calibrates them.
func (e *contestant) time(budget time.Duration) {
	p, once := e.p, e.oneShot()
	y, jac := buffers(p, e.plan)
	e.prepared = timing.New(e.call(), len(p.Cases))
	e.unprepared = timing.New(func() error { return once(y, jac, p.Select(0).X) }, 1)
	e.prepare = timing.New(func() error {
		p.Select(0)
		_, plan, err := e.engine.prepare(p)
		if err == nil {
			e.storePlanTimes(plan)
		}
		return err
	}, 1)
	e.prepared.Calibrate(budget)
	e.unprepared.Calibrate(budget / 2)
	e.prepare.Calibrate(budget / 2)
}

// plainTiming returns the timing of the plain function in all cases of p.
func plainTiming(p *problems.Problem) *timing.Timing {
	y := make([]float64, p.M)
	return timing.New(func() error {
		for i := range p.Cases {
			p.Eval(y, p.Select(i).X)
		}
		return nil
	}, len(p.Cases))
}

// rowsOf returns the rows of a task: all of them, or those that have a time or will never have one.
func rowsOf(entrants []*contestant, plain *timing.Timing, all bool) []Row {
	var rows []Row
	for _, e := range entrants {
		if e.row.OK {
			for _, t := range []*timing.Timing{e.prepared, e.unprepared, e.prepare} {
				if err := t.Err(); err != nil {
					e.fail(err)
				}
			}
		}
		row := e.row
		if row.OK {
			if len(e.prepared.Samples().NS) == 0 && !all {
				continue
			}
			row.Plain, row.Derivative = plain.Samples(), e.prepared.Samples()
			row.Unprepared, row.Prepare = e.unprepared.Samples(), e.prepare.Samples()
			row.PlainNS, row.PlainSpread = timing.Median(row.Plain.NS), timing.Spread(row.Plain.NS)
			row.DerivativeNS, row.Spread = timing.Median(row.Derivative.NS), timing.Spread(row.Derivative.NS)
			row.Ratio = row.DerivativeNS / row.PlainNS
			row.UnpreparedNS = timing.Median(row.Unprepared.NS)
			row.PrepareNS = timing.Median(row.Prepare.NS)
			if len(row.Prepare.NS) == 0 {
				row.PrepareNS = float64(e.first)
			}
			if e.plan != nil {
				row.Sparse = &Sparse{
					NNZ: e.plan.Pattern.NNZ(), Colors: e.plan.Products(),
					DetectionNS: timing.Median(e.detection), ColoringNS: timing.Median(e.coloring),
				}
			}
		}
		rows = append(rows, row)
	}
	breakEven(rows)
	return rows
}

// compare computes the first cases and compares values and derivatives with the references. It returns the largest
// error, relative to the largest component of the case.
func compare(p *problems.Problem, d Derivative, plan *nabla.SparsePlan, cases int) (worst float64, err error) {
	y, jac := buffers(p, plan)
	for i := range cases {
		c := p.Select(i)
		fill(y, math.NaN())
		fill(jac, math.NaN())
		if err := d(y, jac, c.X); err != nil {
			return math.NaN(), err
		}
		if plan != nil {
			worst = maxError(worst, relativeSparse(plan.Pattern, jac, c.Elements))
		} else {
			worst = maxError(worst, relative(jac, p.Dense(c)))
		}
		if !p.Hessian {
			worst = maxError(worst, relative(y, c.Value))
		}
	}
	return worst, nil
}

// buffers returns slices for the value and the derivative.
func buffers(p *problems.Problem, plan *nabla.SparsePlan) (y, d []float64) {
	size := p.Rows() * p.N
	if plan != nil {
		size = plan.Pattern.NNZ()
	}
	return make([]float64, p.M), make([]float64, size)
}

func fill(v []float64, with float64) {
	for i := range v {
		v[i] = with
	}
}
