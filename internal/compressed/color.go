package compressed

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// ordersOfGraph are the orders tried for symmetric and bidirectional problems. If some vertices
// have very many neighbours, the first order takes by far the fewest colours: such vertices come
// last, after all their neighbours, and get colours of their own. It is therefore the first, since
// its result bounds the search in the other orders.
var ordersOfGraph = []coloring.Order{
	coloring.SmallestFirst{}, coloring.Natural{}, coloring.Random{Seed: 1}, coloring.SmallestLast,
	coloring.IncidenceDegree, coloring.LargestFirst{}, coloring.DynamicLargestFirst,
}

// ordersOfColumns are the orders tried for columns and rows. Only the first does not need degrees.
var ordersOfColumns = []coloring.Order{
	coloring.Natural{}, coloring.LargestFirst{}, coloring.SmallestLast,
	coloring.IncidenceDegree, coloring.DynamicLargestFirst,
}

// With more entries than manyEntries only some orders are tried, and with more work for degrees
// than muchWork none that needs degrees.
const (
	manyEntries = 1_000_000
	muchWork    = 1 << 26
)

// worthwhile returns the orders to try for a problem.
func worthwhile(p *sparsity.Pattern, problem coloring.Problem) []coloring.Order {
	if problem.Structure == coloring.Symmetric || problem.Partition == coloring.Bidirectional {
		if p.NNZ() > manyEntries {
			return ordersOfGraph[:4]
		}
		return ordersOfGraph
	}
	if problem.Partition == coloring.Column {
		p = p.Transpose()
	}
	work := 0 // the sum of the squared lengths of rows or columns
	_, n := p.Dims()
	for j := range n {
		k := len(p.Col(j))
		if work += k * k; work > muchWork {
			return ordersOfColumns[:1]
		}
	}
	if p.NNZ() > manyEntries {
		return ordersOfColumns[:2]
	}
	return ordersOfColumns
}

// Colorings returns a colouring of the pattern for each problem that has one, by the given algorithm. If that is nil,
// several orders are tried, and reverse is the cost of a product of rows relative to one of columns, 0 if unknown. The
// error, if no problem has a colouring, is that of the first, or a *[engine.CanceledError] of task.
func Colorings(p *sparsity.Pattern, problems []coloring.Problem, by coloring.Algorithm, reverse float64,
	task *engine.Task) ([]*coloring.Coloring, error) {
	var all []*coloring.Coloring
	var failed error
	for _, problem := range problems {
		a := by
		if a == nil {
			a = coloring.Greedy{
				Orders: worthwhile(p, problem), Postprocess: true, ReverseCost: reverse,
				Monitor: func(done, total int) error { return task.Check("colouring", done, total) },
			}
		}
		c, err := a.Color(p, problem)
		if err == nil && (c == nil || c.Pattern() != p || c.Problem() != problem) {
			err = &engine.UnsupportedError{
				What: fmt.Sprintf("the %v colouring by %v is none of this pattern", problem, a),
				Remedy: "let Color return the colouring that an algorithm of package coloring, such as " +
					"coloring.Greedy, computed for its arguments",
			}
		}
		var canceled *engine.CanceledError
		switch {
		case errors.As(err, &canceled):
			return nil, err
		case err != nil:
			failed = cmp.Or(failed, err)
			continue
		}
		all = append(all, c)
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, failed
}

// costAt returns the cost of the products of c if one of rows has the given cost.
func costAt(c *coloring.Coloring, reverse float64) float64 {
	return float64(c.Forward()) + reverse*float64(c.Reverse())
}

// Cheapest returns the colouring whose products cost least, if one of rows costs reverse times one of columns. If
// reverse is 0 and the answer depends on it, Cheapest calls weigh, which returns it.
func Cheapest(all []*coloring.Coloring, reverse float64, weigh func() float64) *coloring.Coloring {
	at := func(reverse float64) *coloring.Coloring {
		best := all[0]
		for _, c := range all[1:] {
			if costAt(c, reverse) < costAt(best, reverse) {
				best = c
			}
		}
		return best
	}
	if reverse > 0 {
		return at(reverse)
	}
	if best := at(leastReverse); best == at(mostReverse) && best == at(1) {
		return best
	}
	return at(weigh())
}

// The cost of a reverse product relative to a forward one: its bounds, and the value used if it
// cannot be measured.
const (
	leastReverse = 1. / 8
	mostReverse  = 8
	usualReverse = 2
)

// ReverseCost measures the cost of a product of rows, by reverse, relative to one of columns, by forward, both of f at
// x, with the clock now. The result is a power of the square root of 2, so that noise seldom changes it, within fixed
// bounds. If a product cannot be measured, it is 2.
func ReverseCost(forward, reverse engine.Backend, f *engine.Function, x []float64, now func() time.Time) float64 {
	w := weigher{forward, reverse, f, x, now}
	return w.weigh()
}

// A weigher holds the arguments of ReverseCost.
type weigher struct {
	forward, reverse engine.Backend
	f                *engine.Function
	x                []float64
	now              func() time.Time
}

func (w *weigher) weigh() float64 {
	push, errF := w.timeForward()
	pull, errR := w.timeReverse()
	if errF != nil || errR != nil || push <= 0 || pull <= 0 {
		return usualReverse
	}
	ratio := math.Exp2(math.Round(2*math.Log2(pull/push)) / 2)
	return min(max(ratio, leastReverse), mostReverse)
}

// timeForward returns the time of one product, in calls of as many as the engine computes at a
// time.
func (w *weigher) timeForward() (float64, error) {
	n, m := w.f.Dims()
	k := engine.LanesOf(w.forward, n)
	push, err := engine.PreparePushforward(w.forward, w.f, w.x, k)
	if err != nil {
		return 0, err
	}
	y, seed, out := make([]float64, m), blockOfOnes(n, k), engine.NewBlock(m, k)
	return w.each(k, func() error { return push.Pushforward(y, out, w.x, seed) })
}

func (w *weigher) timeReverse() (float64, error) {
	n, m := w.f.Dims()
	k := engine.LanesOf(w.reverse, m)
	pull, err := engine.PreparePullback(w.reverse, w.f, w.x, k)
	if err != nil {
		return 0, err
	}
	y, seed, out := make([]float64, m), blockOfOnes(m, k), engine.NewBlock(n, k)
	return w.each(k, func() error { return pull.Pullback(y, out, w.x, seed) })
}

// blockOfOnes returns an n×k block of ones.
func blockOfOnes(n, k int) engine.Block {
	b := engine.NewBlock(n, k)
	for i := range b.Data {
		b.Data[i] = 1
	}
	return b
}

// The bounds on the number of timed calls, and the total time after which no more are made.
const (
	leastTimed = 2
	mostTimed  = 16
	longTimed  = 2 * time.Millisecond
)

// each returns the least time of a few calls that compute k products each, divided by k.
func (w *weigher) each(k int, call func() error) (float64, error) {
	best, total := time.Duration(math.MaxInt64), time.Duration(0)
	for i := 0; i < leastTimed || i < mostTimed && total < longTimed; i++ {
		start := w.now()
		if err := call(); err != nil {
			return 0, err
		}
		took := w.now().Sub(start)
		best, total = min(best, took), total+took
	}
	return float64(best) / float64(k), nil
}
