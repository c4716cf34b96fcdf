package bench

import (
	"math"
	"sync/atomic"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/problems"
)

// countCalls returns the number of calls of the function of p by the preparation of a derivative and by a call of it.
// The latter is the minimum over a few calls, since engines that replay a recording occasionally compare it with the
// function. The counting functions treat their data as constants.
func countCalls(p *problems.Problem, e Engine) (prepare, call float64) {
	var count atomic.Int64 // engines may use goroutines
	q := *p
	q.Func = nil
	if f := p.Plain; f != nil {
		q.Plain = func(x []float64) float64 { count.Add(1); return f(x) }
	}
	if f := p.PlainVector; f != nil {
		q.PlainVector = func(y, x []float64) { count.Add(1); f(y, x) }
	}
	if f := p.Traced; f != nil {
		q.Traced = func(x []nabla.Real) nabla.Real { count.Add(1); return f(x) }
	}
	if f := p.TracedVector; f != nil {
		q.TracedVector = func(y, x []nabla.Real) { count.Add(1); f(y, x) }
		q.Func = nabla.InPlace(p.M, q.TracedVector)
	}
	x := q.Select(0).X
	d, plan, err := e.prepare(&q)
	if err != nil {
		return math.NaN(), math.NaN()
	}
	prepare = float64(count.Load())
	y, jac := buffers(&q, plan)
	call = math.Inf(1)
	for i := range 4 {
		count.Store(0)
		if err := d(y, jac, x); err != nil {
			return prepare, math.NaN()
		}
		if i > 0 { // the first call may still record
			call = min(call, float64(count.Load()))
		}
	}
	return prepare, call
}
