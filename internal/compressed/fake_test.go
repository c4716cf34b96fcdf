package compressed

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// A table is an engine that computes products with the matrix that at returns, by a clock.
type table struct {
	at    func(x []float64) [][]float64
	lanes int // at a time
	log   *tableLog
	of    []*engine.Function    // of which pushforwards were prepared
	fail  func(sweep int) error // unless nil

	clock      *timingtest.Clock
	push, pull time.Duration // of a sweep
}

// A tableLog counts the computations of tables.
type tableLog struct{ sweeps, products int }

func (e *table) Name() string       { return "table" }
func (e *table) Lanes(n int) int    { return min(n, e.lanes) }
func (e *table) Recordings() int    { return 1 }
func (e *table) values(y []float64) { copy(y, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) }

func (e *table) PreparePushforward(f *engine.Function, _ []float64, _ int) (engine.Pushforward, error) {
	e.of = append(e.of, f)
	return e, nil
}

func (e *table) PreparePullback(*engine.Function, []float64, int) (engine.Pullback, error) {
	return e, nil
}
func (e *table) PrepareHVP(*engine.Function, []float64, int) (engine.HVP, error) { return e, nil }

func (e *table) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	return e.sweep(false, y, ydot, x, xdot, e.push)
}

func (e *table) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	return e.sweep(true, y, xbar, x, ybar, e.pull)
}

func (e *table) ValueGradientAndHVP(grad []float64, hv engine.Block, x []float64, v engine.Block) (float64, error) {
	return 7, e.sweep(false, grad, hv, x, v, e.push)
}

func (e *table) sweep(row bool, out []float64, result engine.Block, x []float64, seed engine.Block,
	takes time.Duration) error {
	if e.log != nil {
		e.log.sweeps++
		e.log.products += seed.B
	}
	if e.clock != nil {
		e.clock.Advance(takes)
	}
	if e.fail != nil {
		if err := e.fail(e.log.sweeps); err != nil {
			return err
		}
	}
	e.values(out)
	a := e.at(x)
	result.Zero()
	for i, r := range a {
		for j, v := range r {
			for k := range seed.B {
				if row && v != 0 {
					result.Row(j)[k] += v * seed.Row(i)[k]
				} else if v != 0 {
					result.Row(i)[k] += v * seed.Row(j)[k]
				}
			}
		}
	}
	return nil
}

// constant returns the engine of one matrix.
func constant(a [][]float64, lanes int) *table {
	return &table{at: func([]float64) [][]float64 { return a }, lanes: lanes, log: new(tableLog)}
}

// function returns the function of n inputs and m outputs that tables differentiate. It is a black box.
func function(n, m int) *engine.Function {
	return engine.NewFunction(engine.Def{Name: "f", N: n, M: m, Plain: func(y, x []float64, _ engine.Context) error {
		(&table{}).values(y)
		return nil
	}})
}

// patternOf returns the positions of a that are not zero.
func patternOf(t *testing.T, a [][]float64, n int) *sparsity.Pattern {
	t.Helper()
	var row, col []int
	for i, r := range a {
		for j, v := range r {
			if v != 0 {
				row, col = append(row, i), append(col, j)
			}
		}
	}
	p, err := sparsity.FromEntries(len(a), n, row, col)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// random returns an m×n matrix of small integers, in which a part of the elements is not zero.
func random(r *rand.Rand, m, n int, part float64, symmetric bool) [][]float64 {
	a := make([][]float64, m)
	for i := range a {
		a[i] = make([]float64, n)
		for j := range a[i] {
			if r.Float64() < part {
				a[i][j] = float64(1 + r.IntN(9))
			}
			if symmetric && j < i {
				a[i][j] = a[j][i]
			}
		}
	}
	return a
}

// colored returns a colouring of the pattern of a.
func colored(t *testing.T, a [][]float64, n int, problem coloring.Problem) *coloring.Coloring {
	t.Helper()
	c, err := coloring.Greedy{}.Color(patternOf(t, a, n), problem)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// entries returns the values of a in the order of the pattern.
func entries(a [][]float64, p *sparsity.Pattern) (all []float64) {
	_, n := p.Dims()
	for j := range n {
		for _, i := range p.Col(j) {
			all = append(all, a[i][j])
		}
	}
	return all
}
