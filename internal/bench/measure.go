package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/nabla-ad/nabla/problems"
)

// rounds is how often function and derivative take turns. On a machine whose speed
// changes, the two medians see the same changes.
const rounds = 11

// measure checks and times one engine on one problem. Its error is that of ctx; the
// engine's is in the row.
func measure(ctx context.Context, p *problems.Problem, e Engine, budget time.Duration) (Row, error) {
	nan := math.NaN()
	row := Row{
		Task: p.Name, N: p.N, Engine: e.Name,
		PlainNS: nan, DerivativeNS: nan, Ratio: nan, PrepareNS: nan, Allocs: nan, Error: nan,
	}
	p.Select(0)
	start := time.Now()
	d, err := e.Prepare(p)
	first := time.Since(start)
	if err != nil {
		row.Err = fmt.Errorf("prepare: %w", err)
		return row, ctx.Err()
	}
	start = time.Now()
	row.Error, row.OK, err = check(p, e, d)
	once := time.Since(start)
	if err == nil && row.OK && once < budget {
		// A second time: what was recorded is replayed now.
		var again float64
		again, row.OK, err = check(p, e, d)
		row.Error = worse(row.Error, again)
	}
	if err != nil {
		row.Err, row.OK = err, false
	}
	if !row.OK || ctx.Err() != nil {
		return row, ctx.Err()
	}

	row.PrepareNS = prepareTime(p, e, first, budget)
	y, jac := make([]float64, p.M), make([]float64, p.M*p.N)
	plain := func() error {
		for i := range p.Cases {
			p.Eval(y, p.Select(i).X)
		}
		return nil
	}
	derivative := func() error {
		for i := range p.Cases {
			if err := d(y, jac, p.Select(i).X); err != nil {
				return err
			}
		}
		return nil
	}
	cases := float64(len(p.Cases))
	if row.PlainNS, row.DerivativeNS, err = compare(ctx, plain, derivative, budget); err == nil {
		row.PlainNS /= cases
		row.DerivativeNS /= cases
		row.Ratio = row.DerivativeNS / row.PlainNS
		row.Allocs, err = allocations(derivative, budget)
		row.Allocs = math.Floor(row.Allocs / cases)
	}
	if ctx.Err() != nil {
		return row, ctx.Err()
	}
	if err != nil {
		row.Err, row.OK = err, false
	}
	return row, nil
}

// check compares value and derivative of every case with the reference. The error
// is the largest, relative to the largest component of the case.
func check(p *problems.Problem, e Engine, d Derivative) (worst float64, ok bool, err error) {
	tol := p.Tolerance
	if e.Approximate {
		tol = p.Difference
	}
	y, jac := make([]float64, p.M), make([]float64, p.M*p.N)
	for i := range p.Cases {
		c := p.Select(i)
		fill(y, math.NaN())
		fill(jac, math.NaN())
		if err := d(y, jac, c.X); err != nil {
			return math.NaN(), false, err
		}
		worst = worse(worst, relative(jac, c.Derivative))
		worst = worse(worst, relative(y, c.Value))
	}
	return worst, worst <= tol, nil
}

func fill(v []float64, with float64) {
	for i := range v {
		v[i] = with
	}
}

// prepareTime is the median time of a few preparations. The first one counts only
// where there is time for no other.
func prepareTime(p *problems.Problem, e Engine, first, budget time.Duration) float64 {
	var times []float64
	for begin := time.Now(); len(times) < 5 && time.Since(begin)+first < budget; {
		p.Select(0)
		start := time.Now()
		if _, err := e.Prepare(p); err != nil {
			break
		}
		times = append(times, float64(time.Since(start)))
	}
	if len(times) == 0 {
		return float64(first)
	}
	return median(times)
}

// compare times two functions in turn, each for about budget in all, and returns
// the medians of the rounds, in nanoseconds per call.
func compare(ctx context.Context, a, b func() error, budget time.Duration) (ta, tb float64, err error) {
	runtime.GC()
	slice := budget / rounds
	na, _, err := calibrate(a, slice)
	if err != nil {
		return 0, 0, err
	}
	nb, once, err := calibrate(b, slice)
	if err != nil {
		return 0, 0, err
	}
	n := rounds
	if once > slice { // a slow pair: fewer rounds of one call each
		n = int(min(max(budget/once, 3), rounds))
		if once > 10*budget {
			n = 1
		}
	}
	as, bs := make([]float64, 0, n), make([]float64, 0, n)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		x, y, err := pair(a, b, na, nb, i%2 == 1)
		if err != nil {
			return 0, 0, err
		}
		as, bs = append(as, x), append(bs, y)
	}
	return median(as), median(bs), nil
}

// pair times both functions once, the second one first where swapped.
func pair(a, b func() error, na, nb int, swapped bool) (ta, tb float64, err error) {
	if swapped {
		tb, ta, err = pair(b, a, nb, na, false)
		return ta, tb, err
	}
	if ta, err = repeat(a, na); err != nil {
		return 0, 0, err
	}
	tb, err = repeat(b, nb)
	return ta, tb, err
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

// calibrate finds how many calls fill a slice of time, and how long one takes.
func calibrate(f func() error, slice time.Duration) (n int, once time.Duration, err error) {
	for n = 1; ; n *= 2 {
		per, err := repeat(f, n)
		if err != nil {
			return 0, 0, err
		}
		took := time.Duration(per * float64(n))
		if took >= slice/4 || n >= 1<<24 {
			per = max(per, 1)
			return max(1, int(float64(slice)/per)), time.Duration(per), nil
		}
	}
}

// allocations is how many one call makes, as testing.AllocsPerRun counts them.
func allocations(f func() error, budget time.Duration) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	start := time.Now()
	if err := f(); err != nil {
		return 0, err
	}
	runs := int(min(max(budget/4/max(time.Since(start), 1), 1), 100))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		if err := f(); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return math.Floor(float64(after.Mallocs-before.Mallocs) / float64(runs)), nil
}
