// Package bench measures how long derivatives take, compared with the functions
// they are derivatives of. A derivative is checked against the reference before it
// is timed: a wrong one has no time.
package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/nabla-ad/nabla/problems"
)

// An Engine is something that computes derivatives.
type Engine struct {
	Name string
	// Approximate says that the engine is held to Problem.Difference instead of
	// Problem.Tolerance.
	Approximate bool
	// Prepare prepares the derivative of p at the case that is selected: the
	// gradient of a function with one output, else the Jacobian.
	Prepare func(p *problems.Problem) (Derivative, error)
}

// Derivative writes y = f(x) and d = the derivative at x, row after row, where f is
// that of the problem's selected case.
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

// Config says what to run.
type Config struct {
	Tasks   []Task
	Engines []Engine
	// Budget is for how long each function and each derivative is repeated.
	Budget time.Duration
	// Progress, where set, is told what is measured next. It is called by one
	// goroutine at a time.
	Progress func(done, total int, what string)
}

// A Row is what was measured of one engine in one task. Numbers that were not
// measured are NaN.
type Row struct {
	Task         string
	N            int
	Engine       string
	PlainNS      float64 // of one call of the plain function
	DerivativeNS float64 // of one call of the prepared derivative
	Ratio        float64 // of the two
	PrepareNS    float64
	Allocs       float64 // of one call of the prepared derivative
	Error        float64 // the largest, relative to the largest component
	OK           bool
	// Err is why there is no derivative, where the engine could not compute it.
	Err error
}

// Run measures every engine in every task. When ctx ends it returns the rows it has
// and ctx's error, and does not wait for what is being measured.
func Run(ctx context.Context, c Config) ([]Row, error) {
	results := make(chan Row)
	failed := make(chan error, 1)
	go func() {
		defer close(results)
		done, total := 0, len(c.Tasks)*len(c.Engines)
		for _, t := range c.Tasks {
			for _, e := range c.Engines {
				if ctx.Err() != nil {
					return
				}
				p, err := t.Entry.New(t.N) // anew, so that no engine finds another's traces
				if err != nil {
					failed <- err
					return
				}
				if c.Progress != nil {
					c.Progress(done, total, fmt.Sprintf("%s n=%d %s", p.Name, p.N, e.Name))
				}
				done++
				row, err := measure(ctx, p, e, c.Budget)
				if err != nil {
					return // interrupted
				}
				select {
				case results <- row:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	var rows []Row
	for {
		select {
		case row, more := <-results:
			if !more {
				select {
				case err := <-failed:
					return rows, err
				default:
					return rows, ctx.Err()
				}
			}
			rows = append(rows, row)
		case <-ctx.Done():
			return rows, ctx.Err()
		}
	}
}
