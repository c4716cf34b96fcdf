package compressed

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestReverseCost: the relative cost of a reverse product is measured, to a power of the square root of 2, within
// bounds and in few calls.
func TestReverseCost(t *testing.T) {
	a := random(rand.New(rand.NewPCG(1, 1)), 2, 8, 1, false)
	f, x := function(8, 2), make([]float64, 8)
	for _, c := range []struct {
		push, pull time.Duration
		lanes      int
		want       float64
	}{
		{1000, 1000, 1, 1},
		{1000, 2000, 1, 2},
		{1000, 1100, 2, 1},
		{1000, 300, 2, math.Exp2(-1.5)},
		{1000, 5700, 1, math.Exp2(2.5)},
		{1000, 300, 8, math.Sqrt2}, // a pullback has two lanes
		{100, 1, 1, leastReverse},
		{1, 100, 1, mostReverse},
		{0, 100, 1, usualReverse}, // no time passes
		{100, 0, 1, usualReverse},
		{3 * time.Millisecond, 3 * time.Millisecond, 1, 1},
	} {
		e := constant(a, c.lanes)
		e.clock, e.push, e.pull = new(timingtest.Clock), c.push, c.pull
		got := ReverseCost(e, e, f, x, e.clock.Now)
		if most := 32; math.Abs(got-c.want) > 1e-12 || e.log.sweeps > most || c.push > time.Millisecond &&
			e.log.sweeps != 4 {
			t.Errorf("%+v: %v after %d calls", c, got, e.log.sweeps)
		}
		e.fail = func(sweep int) error { return errors.New("broken") }
		if got := ReverseCost(e, e, f, x, e.clock.Now); got != usualReverse {
			t.Errorf("%+v: %v where products fail", c, got)
		}
	}
}

// An algorithm is a function that colours.
type algorithm func(p *sparsity.Pattern, problem coloring.Problem) (*coloring.Coloring, error)

func (algorithm) String() string { return "algorithm" }

func (a algorithm) Color(p *sparsity.Pattern, problem coloring.Problem) (*coloring.Coloring, error) {
	return a(p, problem)
}

// TestColorings: there is a colouring for each problem that has one, and the error of the first if none has.
func TestColorings(t *testing.T) {
	p := sparsity.Banded(20, 20, 1, 1)
	three := problems[:3]
	all, err := Colorings(p, three, nil, 0, nil)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for i, c := range all {
		if c.Problem() != three[i] || c.Pattern() != p || c.Colors() > 3 {
			t.Errorf("%v: %v", three[i], c)
		}
	}
	first, other := errors.New("first"), sparsity.Banded(20, 20, 1, 1)
	for _, c := range []struct {
		by   algorithm
		n    int
		fail error
	}{
		{func(p *sparsity.Pattern, problem coloring.Problem) (*coloring.Coloring, error) {
			if problem.Partition == coloring.Column {
				return nil, first
			}
			return coloring.Greedy{}.Color(p, problem)
		}, 2, nil},
		{func(_ *sparsity.Pattern, problem coloring.Problem) (*coloring.Coloring, error) {
			if problem.Partition == coloring.Column {
				return nil, first
			}
			return nil, errors.New("second")
		}, 0, first},
		{func(_ *sparsity.Pattern, problem coloring.Problem) (*coloring.Coloring, error) {
			return coloring.Greedy{}.Color(other, problem) // of another pattern
		}, 0, engine.ErrUnsupported},
		{func(p *sparsity.Pattern, _ coloring.Problem) (*coloring.Coloring, error) {
			return coloring.Greedy{}.Color(p, coloring.Problem{Structure: coloring.Symmetric}) // of another problem
		}, 0, engine.ErrUnsupported},
		{func(*sparsity.Pattern, coloring.Problem) (*coloring.Coloring, error) { return nil, nil }, 0,
			engine.ErrUnsupported},
	} {
		all, err := Colorings(p, three, c.by, 0, nil)
		if len(all) != c.n || !errors.Is(err, c.fail) {
			t.Errorf("%d colourings, want %d; error %v, want %v", len(all), c.n, err, c.fail)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	task := &engine.Task{Op: "Jacobian", Context: ctx}
	task.Begin()
	var ce *engine.CanceledError
	large := sparsity.Banded(9000, 9000, 1, 1)
	if all, err := Colorings(large, three, nil, 0, task); all != nil || !errors.As(err, &ce) {
		t.Errorf("cancelled: %v, %v", all, err)
	}
}

// TestCheapest: the colouring of least work is taken, and the cost of a reverse product asked for only if it matters.
func TestCheapest(t *testing.T) {
	wide := random(rand.New(rand.NewPCG(1, 1)), 2, 8, 1, false) // eight products of columns, or two of rows
	p := patternOf(t, wide, 8)
	all, err := Colorings(p, problems[:2], nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reverse, weighed float64
		rows             bool
		asks             bool
	}{
		{0, 1, true, true}, {0, 3.9, true, true}, {0, 4.1, false, true},
		{3.9, 0, true, false}, {4.1, 0, false, false},
	} {
		asked := false
		best := Cheapest(all, c.reverse, func() float64 { asked = true; return c.weighed })
		if (best.Reverse() > 0) != c.rows || asked != c.asks {
			t.Errorf("%+v: %v, asked %v", c, best, asked)
		}
	}
	long := random(rand.New(rand.NewPCG(1, 1)), 2, 40, 1, false) // rows at any cost within the bounds
	all, err = Colorings(patternOf(t, long, 40), problems[:2], nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if best := Cheapest(all, 0, nil); best.Reverse() != 2 {
		t.Errorf("%v", best)
	}
}

// TestOrdersTried: large patterns are coloured in fewer orders, and none that needs degrees where those take long.
func TestOrdersTried(t *testing.T) {
	small, large := sparsity.Banded(100, 100, 1, 1), sparsity.Banded(400_000, 400_000, 1, 1)
	row := make([]int, 9000) // a dense row, of which all columns are neighbours
	col := make([]int, len(row))
	for j := range col {
		col[j] = j
	}
	arrow, err := sparsity.FromEntries(len(row), len(row), row, col)
	if err != nil {
		t.Fatal(err)
	}
	column, byRow, both := problems[0], problems[1], problems[2]
	symmetric := problems[4]
	for _, c := range []struct {
		p       *sparsity.Pattern
		problem coloring.Problem
		orders  int
	}{
		{small, column, 5}, {small, byRow, 5}, {small, both, 7}, {small, symmetric, 7},
		{large, column, 2}, {large, byRow, 2}, {large, both, 4}, {large, symmetric, 4},
		{arrow, column, 1}, {arrow, byRow, 5}, {arrow, both, 7},
	} {
		if got := worthwhile(c.p, c.problem); len(got) != c.orders {
			t.Errorf("%v of %d entries: %d orders, want %d", c.problem, c.p.NNZ(), len(got), c.orders)
		}
	}
}
