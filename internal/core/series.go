package core

import (
	"github.com/nabla-ad/nabla/internal/series"
	"github.com/nabla-ad/nabla/rules"
)

// expansion is the arena of a trace of truncated power series. The coefficients of number id are
// coef[id*stride:][:stride].
type expansion struct {
	arith      *series.Arithmetic
	stride     int
	coef       []float64
	degree     []int32       // number → degree; see series.Series
	univariate *series.Space // for rules at numbers
	pushDepth  int           // of derivatives of rules that are being run
	pushes     int           // derivatives of rules that were run in the outermost call of a rule
}

// StartSeries opens t for series of arith over nIn inputs, up to the given order. limit bounds the number of
// operations; 0 bounds the coefficients to 2 GiB. With strong set, -0 is a structural zero. The caller sets the
// coefficients of the inputs through SetSeries.
func StartSeries(t *Tracer, nIn int, arith *series.Arithmetic, order, limit int, strong bool) {
	_, end := arith.Space().Block(order)
	stride := max(end, 1)
	if limit <= 0 {
		limit = (1 << 28) / stride
	}
	t.open(kindSeries, limit)
	t.strong = strong
	t.arith, t.stride = arith, stride
	arith.Start(order, strong)
	t.pushDepth = 0
	t.begin(nIn + 1)
	if need := nIn + 1; len(t.degree) < need || len(t.coef) < need*stride {
		t.sizeSeries(2*need + 64)
	}
}

// sizeSeries enlarges the arena to n numbers.
func (t *Tracer) sizeSeries(n int) {
	coef, degree := make([]float64, n*t.stride), make([]int32, n)
	copy(coef, t.coef)
	copy(degree, t.degree)
	t.coef, t.degree = coef, degree
}

// Series returns the coefficients of number id and their degree. The slice aliases the arena and is valid until the
// next operation.
func (t *Tracer) Series(id int32) (c []float64, degree int) {
	o := int(id) * t.stride
	return t.coef[o : o+t.stride : o+t.stride], int(t.degree[id])
}

// SetSeries sets the degree of number id and returns its coefficients, which the caller writes.
func (t *Tracer) SetSeries(id int32, degree int) []float64 {
	t.degree[id] = int32(degree)
	c, _ := t.Series(id)
	return c
}

// freshSeries allocates the coefficients of a new number and returns its id. They are not cleared.
func (t *Tracer) freshSeries() int32 {
	id := t.next
	if id > t.limit || int(id) >= len(t.degree) || (int(id)+1)*t.stride > len(t.coef) {
		t.room(func() int { return 8 * len(t.coef) })
		t.sizeSeries(min(2*int(id)+1024, int(t.limit)+1))
	}
	t.next = id + 1
	return id
}

// operandSeries returns a as an operand.
func (t *Tracer) operandSeries(a Rep) series.Series {
	if a.ID == 0 {
		return series.Series{Value: a.V}
	}
	c, d := t.Series(a.ID)
	return series.Series{Value: a.V, C: c, Degree: min(d, t.arith.Order())}
}

// seriesApply returns op(a, b), with value v.
func (t *Tracer) seriesApply(op rules.Op, a, b Rep, v float64) Rep {
	id := t.freshSeries()
	x, y := t.operandSeries(a), t.operandSeries(b)
	o := int(id) * t.stride
	d := t.arith.Apply(op, t.coef[o:o+t.stride:o+t.stride], v, x, y)
	if d == 0 {
		t.next = id
		return Rep{V: v}
	}
	t.degree[id] = int32(d)
	return t.number(v, id)
}

// seriesBinary returns op(a, b), with value v.
func (t *Tracer) seriesBinary(op rules.Op, a, b Rep, v float64) Rep {
	switch op {
	case rules.Max, rules.Min:
		return chosen(op, a, b, v)
	case rules.Add:
		switch {
		case a.ID == 0:
			b.V = v
			return b
		case b.ID == 0:
			a.V = v
			return a
		}
	case rules.Sub:
		if b.ID == 0 {
			a.V = v
			return a
		}
	}
	return t.seriesApply(op, a, b, v)
}
