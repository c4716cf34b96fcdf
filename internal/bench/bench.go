// Package bench measures how long derivatives take, compared with the functions
// they are derivatives of, and reports it. A derivative is checked against the
// reference before it is timed: a wrong one has no time.
//
// The plain function and the prepared derivatives of all engines of one task take
// turns, in rounds that each begin with another one, so that a machine whose speed
// changes changes all of them alike. Preparations and unprepared calls follow in
// rounds of their own, because the garbage that they make would slow the others.
// Reports show medians of the rounds; a spread is the distance between the
// quartiles divided by the median.
package bench

import (
	"context"
	"slices"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/internal/timing"
)

// An Engine is something that computes derivatives.
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
	// Once is the derivative without preparation. Nil means Prepare and one call of its result.
	Once func(p *problems.Problem) Derivative
}

// LargestDense is the number of inputs up to which derivatives that are sparse are
// computed as dense matrices too.
const LargestDense = 3000

// Takes tells whether the engine takes part in a task.
func (e Engine) Takes(t Task) bool {
	switch {
	case e.Sparse != nil:
		return t.Entry.Sparse
	case t.Entry.Sparse:
		return !e.SkipSparse && t.N <= LargestDense
	}
	return true
}

// prepare is Prepare or Sparse. The plan is nil where the matrix is dense.
func (e Engine) prepare(p *problems.Problem) (Derivative, *nabla.SparsePlan, error) {
	if e.Sparse != nil {
		return e.Sparse(p)
	}
	d, err := e.Prepare(p)
	return d, nil, err
}

// Derivative writes y = f(x) and d = the derivative at x, where f is that of the
// problem's selected case: a dense matrix row after row, a sparse one in the order of
// its pattern. A Hessian is computed alone, without y.
type Derivative func(y, d, x []float64) error

// A Task is a problem with a size.
type Task struct {
	Entry problems.Entry
	N     int
}

// Tasks expands the problems with their usual sizes, or with these sizes where they
// are free and sizes is not empty.
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

// Config is the selection of tasks and engines of a run, with its budget.
type Config struct {
	Tasks   []Task
	Engines []Engine
	// Budget is for how long each function and each prepared derivative is repeated.
	// Preparations and unprepared calls get half of it each.
	Budget time.Duration
	// Progress, if set, is called with the name of the next step, step done of total. It is called by one goroutine at
	// a time, and never during a timing.
	Progress func(done, total int, what string)
}

// Rows is how many there will be.
func (c Config) Rows() int {
	n := 0
	for _, t := range c.Tasks {
		n += len(c.in(t))
	}
	return n
}

// in are the engines that take part in a task.
func (c Config) in(t Task) []Engine {
	return slices.DeleteFunc(slices.Clone(c.Engines), func(e Engine) bool { return !e.Takes(t) })
}

// A Row holds the measurements of one engine in one task. Times are medians of samples, in nanoseconds per call.
// Numbers that were not measured are NaN.
type Row struct {
	Task         string
	N            int
	Engine       string
	PlainNS      float64 // of the plain function, measured once for all engines of a task
	DerivativeNS float64 // of the prepared derivative
	Ratio        float64 // of the two
	PrepareNS    float64
	Allocs       float64 // of one call of the prepared derivative
	Error        float64 // the largest, relative to the largest component
	OK           bool
	// Err is why there is no derivative, where the engine could not compute it.
	Err error

	Title        string  // of the task
	Hessian      bool    // the derivative is a Hessian, computed without the value
	Approximate  bool    // the error is held to what difference quotients reach
	PlainSpread  float64 // interquartile range / median, of the samples
	Spread       float64 // the same of the prepared derivative
	UnpreparedNS float64 // of the derivative asked for once
	// BreakEven is after how many calls preparation has paid for itself, see
	// [breakEven]; +Inf where it never does.
	BreakEven    float64
	Bytes        float64 // allocated by one call of the prepared derivative
	Calls        float64 // of the user's function in one call of the prepared derivative
	PrepareCalls float64 // of the user's function in the preparation

	Sparse *Sparse // nil where the matrix is dense

	// The samples that the medians are taken of.
	Plain, Derivative, Unprepared, Prepare timing.Samples
}

// Sparse holds the detected pattern and the chosen method for a sparse matrix, with their costs.
type Sparse struct {
	NNZ    int // entries of the pattern
	Colors int // 0 where the engine computes entries
	// DetectionNS and ColoringNS are parts of the preparation, medians over as many of
	// them as there were. ColoringNS is NaN where there was none.
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
		tasks := slices.DeleteFunc(slices.Clone(c.Tasks), func(t Task) bool { return len(c.in(t)) == 0 })
		for _, t := range tasks {
			progress.total += len(c.in(t)) + 2*timing.Rounds
		}
		for _, t := range tasks {
			send := func(rows []Row, final bool, err error) {
				select {
				case results <- result{rows, final, err}:
				case <-ctx.Done():
				}
			}
			rows, err := measure(ctx, t, c.in(t), c.Budget, &progress, func(rows []Row) { send(rows, false, nil) })
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
			case r.err != nil: // interrupted: what was sent before stands
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

// progress counts steps.
type progress struct {
	tell        func(done, total int, what string)
	done, total int
}

func (p *progress) step(what string) {
	if p.tell != nil {
		p.tell(p.done, p.total, what)
	}
	p.done++
}
