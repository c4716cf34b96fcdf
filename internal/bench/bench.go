// Package bench measures the time of derivatives relative to the functions they are derivatives of, and reports it. A
// derivative is compared with the reference before it is timed; a wrong one is not timed.
//
// The plain function and the prepared derivatives of all engines in one task are timed in turns. Each round begins with
// another one, so that a change of the machine's speed affects all alike. Preparations and unprepared calls follow in
// separate rounds, since their garbage would slow the others. Reports show medians of the rounds; a spread is the
// interquartile range divided by the median.
package bench

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/internal/timing"
	"github.com/nabla-ad/nabla/sparsity"
)

// An Engine computes derivatives of test problems.
type Engine struct {
	Name string
	// Approximate reports whether the engine is held to Problem.Difference instead of Problem.Tolerance.
	Approximate bool
	// Prepare prepares the derivative of p at the selected case: the Hessian if p asks for it, otherwise the gradient
	// of a function with one output, otherwise the Jacobian.
	Prepare func(p *problems.Problem) (Derivative, error)
	// Sparse, if set, replaces Prepare for problems whose derivative is sparse; the engine takes part in no others.
	Sparse func(p *problems.Problem) (Derivative, *nabla.SparsePlan, error)
	// SkipSparse keeps an engine without Sparse out of those problems.
	SkipSparse bool
	// Has, if set, says in which tasks the engine takes part, in all of them by Sparse, whose plan is nil for a dense
	// derivative.
	Has func(t Task) bool
	// Once is the derivative without preparation. Nil means Prepare followed by one call.
	Once func(p *problems.Problem) Derivative
}

// LargestDense is the largest number of inputs for which sparse derivatives are also computed as dense matrices.
const LargestDense = 3000

// Takes reports whether the engine takes part in a task.
func (e Engine) Takes(t Task) bool {
	switch {
	case e.Has != nil:
		return e.Has(t)
	case e.Sparse != nil:
		return t.Entry.Sparse
	case t.Entry.Sparse:
		return !e.SkipSparse && t.N <= LargestDense
	}
	return true
}

// prepare calls Prepare or Sparse. The plan is nil for a dense matrix.
func (e Engine) prepare(p *problems.Problem) (Derivative, *nabla.SparsePlan, error) {
	if e.Sparse != nil {
		return e.Sparse(p)
	}
	d, err := e.Prepare(p)
	return d, nil, err
}

// A Derivative writes y = f(x) and d, the derivative at x, where f is the function of the problem's selected case: a
// dense matrix row by row, a sparse one in the order of its pattern. For a Hessian it does not write y.
type Derivative func(y, d, x []float64) error

// A Task is a problem with a size.
type Task struct {
	Entry problems.Entry
	N     int
}

// Tasks returns the problems with their usual sizes or, if a problem's size is free and sizes is not empty, with these.
func Tasks(entries []problems.Entry, sizes []int) []Task {
	var tasks []Task
	for _, e := range entries {
		ns := e.Sizes
		if e.Free && len(sizes) > 0 {
			ns = sizes
		}
		for _, n := range ns {
			tasks = append(tasks, Task{e, n})
		}
	}
	return tasks
}

// A Config selects the tasks and engines of a run, and its budget.
type Config struct {
	Tasks   []Task
	Engines []Engine
	// Budget is the time for which each function and each prepared derivative is repeated. Preparations and unprepared
	// calls get half of it each.
	Budget time.Duration
	// Growth adds the memory of preparations to the rows, and columns per input.
	Growth bool
	// Progress, if set, is called with the name of the next step, step done of total. It is called by one goroutine at
	// a time, and never during a timing.
	Progress func(done, total int, what string)
}

// Rows returns the number of rows of a complete run.
func (c Config) Rows() int {
	n := 0
	for _, t := range c.Tasks {
		n += len(c.enginesFor(t))
	}
	return n
}

// enginesFor returns the engines that take part in a task.
func (c Config) enginesFor(t Task) []Engine {
	return slices.DeleteFunc(slices.Clone(c.Engines), func(e Engine) bool { return !e.Takes(t) })
}

// A Row holds the measurements of one engine in one task. Times are medians of samples, in nanoseconds per call.
// Numbers that were not measured are NaN.
type Row struct {
	Task         string
	N            int
	Engine       string
	PlainNS      float64 // time of the plain function, measured once for all engines of a task
	DerivativeNS float64 // time of the prepared derivative
	Ratio        float64 // DerivativeNS / PlainNS
	PrepareNS    float64
	Allocs       float64 // of one call of the prepared derivative
	Error        float64 // largest error, relative to the largest component
	OK           bool
	// Err is the reason that there is no derivative, nil if there is one.
	Err error

	Title        string  // of the task
	Formula      string  // of its function
	Hessian      bool    // the derivative is a Hessian, computed without the value
	Approximate  bool    // the error is compared with the accuracy of difference quotients
	PlainSpread  float64 // interquartile range / median of the samples of the plain function
	Spread       float64 // the same of the prepared derivative
	UnpreparedNS float64 // time of the derivative without preparation
	// BreakEven is the number of calls after which preparation has paid off, see [breakEven]; +Inf for never.
	BreakEven    float64
	Bytes        float64 // allocated by one call of the prepared derivative
	Calls        float64 // of the user's function in one call of the prepared derivative
	PrepareCalls float64 // of the user's function in the preparation
	// PrepareBytes is the memory that a preparation allocates, and KeptBytes the part of it that the prepared
	// derivative keeps, without machine code. They are NaN without Config.Growth.
	PrepareBytes, KeptBytes float64

	Sparse *Sparse // nil for a dense matrix

	// The samples that the medians are taken of.
	Plain, Derivative, Unprepared, Prepare timing.Samples
}

// Refused reports whether the engine does not differentiate functions with branches, and the function has some, or
// whether the preparation would exceed a limit.
func (r Row) Refused() bool {
	branch, limit := new(sparsity.BranchError), new(nabla.LimitError)
	return errors.As(r.Err, &branch) || errors.As(r.Err, &limit)
}

// Sparse holds the detected pattern and the chosen method for a sparse matrix, with their costs.
type Sparse struct {
	NNZ    int // entries of the pattern
	Colors int // 0 if the engine computes entries
	// DetectionNS and ColoringNS are parts of the preparation, medians over all preparations. ColoringNS is NaN without
	// a colouring.
	DetectionNS, ColoringNS float64
}

// Run measures every engine in every task that it takes part in. When ctx ends it returns the rows so far and ctx's
// error, without waiting for a measurement in progress. Of the current task it returns the engines that have a sample.
func Run(ctx context.Context, c Config) ([]Row, error) {
	type result struct {
		rows  []Row
		final bool // the task is done
		err   error
	}
	results := make(chan result)
	go func() {
		defer close(results)
		progress := progress{tell: c.Progress}
		tasks := slices.DeleteFunc(slices.Clone(c.Tasks), func(t Task) bool { return len(c.enginesFor(t)) == 0 })
		for _, t := range tasks {
			progress.total += len(c.enginesFor(t)) + 2*timing.Rounds
		}
		for _, t := range tasks {
			send := func(rows []Row, final bool, err error) {
				select {
				case results <- result{rows, final, err}:
				case <-ctx.Done():
				}
			}
			rows, err := measure(
				ctx,
				t,
				c.enginesFor(t),
				c,
				&progress,
				func(rows []Row) { send(rows, false, nil) },
			)
			send(rows, true, err)
			if err != nil {
				return
			}
		}
	}()
	var done, current []Row
	for {
		select {
		case r, more := <-results:
			switch {
			case !more:
				return append(done, current...), ctx.Err()
			case r.err != nil && ctx.Err() == nil:
				return done, r.err
			case r.err != nil: // interrupted: the rows sent before are kept
			case r.final:
				done, current = append(done, r.rows...), nil
			default:
				current = r.rows
			}
		case <-ctx.Done():
			return append(done, current...), ctx.Err()
		}
	}
}

// A progress counts steps and reports them.
type progress struct {
	tell        func(done, total int, what string)
	done, total int
}

// step reports that the next step begins.
func (p *progress) step(what string) {
	if p.tell != nil {
		p.tell(p.done, p.total, what)
	}
	p.done++
}
