// Package realrule performs functions with rules over nabla.Real, for generated code: as one operation, whose
// derivatives are those of the rule.
//
// The numbers of a call are in a [Frame]. They are the inputs of a [nabla.Rule]: first the numbers among the arguments,
// then the memory of the slices, where slices that overlap have their common memory once. Its outputs are the numbers
// among the results, then the memory that contains a slice to which the function writes. So a function and its
// derivatives get slices that overlap as those of the call do.
package realrule

import (
	"math"
	"reflect"
	"sync"

	"github.com/nabla-ad/nabla"
)

// A Frame holds the numbers of a call, or their derivatives.
type Frame[T float64 | nabla.Real] struct {
	Numbers []T   // among the arguments
	Slices  [][]T // among the arguments, with the results in those that are written
	Results []T   // numbers among the results
}

// A Rule is a function with its derivatives. The functions take the arguments in f. Value and the tangents perform the
// function: they write the memory of f. Tangents get the derivatives of the arguments in d and write those of the
// results there. Pullbacks get the cotangents of the results there and write those of the arguments.
type Rule struct {
	Name   string
	Writes []bool // by slice: the function may write to it
	Value  func(f *Frame[float64])
	// Tangent and Pullback may be nil, one of them at most.
	Tangent, Pullback func(f, d *Frame[float64])
	// TangentReal and PullbackReal are the same over Reals, nil if there are none.
	TangentReal, PullbackReal func(f, d *Frame[nabla.Real])
	// Pure is the field of [nabla.Rule].
	Pure bool
}

// most is the largest number of calls that an Operation keeps the rules for.
const most = 256

// An Operation performs calls of one function. Calls with the same data and the same lengths and overlaps of slices
// share a rule, so that recordings of them are equal. The zero value is ready to use, by several goroutines.
type Operation struct {
	mu    sync.Mutex
	known map[key]*call
}

// A key identifies the calls that share a rule.
type key struct {
	layout string
	data   any
}

// Call performs the function for the arguments in f, and stores its results there. Rule returns the rule for data, the
// arguments without derivative; it is called once for equal data if that is comparable.
func (o *Operation) Call(f *Frame[nabla.Real], data any, rule func() Rule) {
	l := layoutOf(f.Slices)
	c := o.call(key{l.text(), data}, func() *call { return newCall(rule(), f, l) })
	x := make([]nabla.Real, c.inputs())
	copy(x, f.Numbers)
	for i, s := range f.Slices {
		copy(c.memory(x[c.numbers:], i), s)
	}
	y := c.over(x...)
	copy(f.Results, y)
	memory := make([]nabla.Real, c.size)
	c.spread(memory, y[c.results:])
	for i, s := range f.Slices {
		if c.writes(i) {
			copy(s, c.memory(memory, i))
		}
	}
}

// call returns the call for k, made by build if it is not known.
func (o *Operation) call(k key, build func() *call) *call {
	if !reflect.ValueOf(k.data).Comparable() {
		return build()
	}
	o.mu.Lock()
	c := o.known[k]
	o.mu.Unlock()
	if c != nil {
		return c
	}
	c = build() // outside of the lock: it calls code of the user's package
	o.mu.Lock()
	defer o.mu.Unlock()
	if first := o.known[k]; first != nil {
		return first
	}
	if o.known == nil || len(o.known) >= most {
		o.known = map[key]*call{}
	}
	o.known[k] = c
	return c
}

// A call is a rule for arguments of one layout.
type call struct {
	layout
	rule             Rule
	numbers, results int
	written          []bool // by region
	outputs          int
	mu               sync.Mutex
	free             []*view[float64] // frames that are not in use
	over             func(x ...nabla.Real) []nabla.Real
}

// newCall returns the call of r for frames like f, whose slices have the layout l.
func newCall(r Rule, f *Frame[nabla.Real], l layout) *call {
	c := &call{layout: l, rule: r, numbers: len(f.Numbers), results: len(f.Results)}
	c.written = make([]bool, len(l.sizes))
	for i, at := range l.places {
		if at.region >= 0 && r.Writes[i] {
			c.written[at.region] = true
		}
	}
	c.outputs = c.results
	for k, n := range l.sizes {
		if c.written[k] {
			c.outputs += n
		}
	}
	c.over = c.nablaRule().Func()
	return c
}

func (c *call) inputs() int { return c.numbers + c.size }

// writes reports whether slice i shares memory with one that is written.
func (c *call) writes(i int) bool { return c.places[i].region >= 0 && c.written[c.places[i].region] }

// nablaRule returns the rule of c for the engines.
func (c *call) nablaRule() nabla.Rule {
	r := nabla.Rule{Name: c.rule.Name, Out: func(int) int { return c.outputs }, Pure: c.rule.Pure}
	r.Value = func(y, x []float64) {
		f := c.borrow(x)
		c.rule.Value(&f.of)
		f.outputs(c, y)
		c.giveBack(f)
	}
	if g := c.rule.Tangent; g != nil {
		r.JVP = func(ydot, x, _, xdot []float64) {
			f, d := c.borrow(x), c.borrow(xdot)
			g(&f.of, &d.of)
			d.outputs(c, ydot)
			c.giveBack(f, d)
		}
	}
	if g := c.rule.Pullback; g != nil {
		r.VJP = func(xbar, x, _, ybar []float64) {
			f, d := c.borrow(x), c.borrow(nil)
			d.seed(c, ybar, math.Copysign(0, -1)) // a structural zero stays one
			g(&f.of, &d.of)
			for i, v := range d.inputs {
				xbar[i] += v
			}
			c.giveBack(f, d)
		}
	}
	if g := c.rule.TangentReal; g != nil {
		r.JVPReal = func(ydot, x, _, xdot []nabla.Real) {
			f, d := newView[nabla.Real](c), newView[nabla.Real](c)
			copy(f.inputs, x)
			copy(d.inputs, xdot)
			g(&f.of, &d.of)
			d.outputs(c, ydot)
		}
	}
	if g := c.rule.PullbackReal; g != nil {
		r.VJPReal = func(xbar, x, _, ybar []nabla.Real) {
			f, d := newView[nabla.Real](c), newView[nabla.Real](c)
			copy(f.inputs, x)
			d.seed(c, ybar, nabla.Real{})
			g(&f.of, &d.of)
			for i, v := range d.inputs {
				xbar[i] = xbar[i].Add(v)
			}
		}
	}
	return r
}

// A view is a frame in memory of its own: that of the inputs, in order, and that of the results.
type view[T float64 | nabla.Real] struct {
	of     Frame[T]
	inputs []T
}

// newView returns a frame for c.
func newView[T float64 | nabla.Real](c *call) *view[T] {
	own := make([]T, c.inputs())
	v := &view[T]{inputs: own}
	v.of = Frame[T]{Numbers: own[:c.numbers:c.numbers], Results: make([]T, c.results)}
	v.of.Slices = make([][]T, len(c.places))
	for i, at := range c.places {
		if !at.missing {
			v.of.Slices[i] = memoryAt(c.layout, own[c.numbers:], i)
		}
	}
	return v
}

// borrow returns a frame with copies of the inputs in x, and results that are 0.
func (c *call) borrow(x []float64) *view[float64] {
	c.mu.Lock()
	var v *view[float64]
	if n := len(c.free); n > 0 {
		v, c.free = c.free[n-1], c.free[:n-1]
	}
	c.mu.Unlock()
	if v == nil {
		return c.filled(newView[float64](c), x)
	}
	return c.filled(v, x)
}

// filled returns v with copies of the inputs in x.
func (c *call) filled(v *view[float64], x []float64) *view[float64] {
	copy(v.inputs, x)
	clear(v.of.Results)
	return v
}

// giveBack makes frames available to later calls. Those of calls that panic are not.
func (c *call) giveBack(list ...*view[float64]) {
	c.mu.Lock()
	c.free = append(c.free, list...)
	c.mu.Unlock()
}

// outputs writes the outputs in v to y.
func (v *view[T]) outputs(c *call, y []T) {
	copy(y, v.of.Results)
	c.eachOutput(func(output, memory, n int) {
		copy(y[c.results+output:][:n], v.inputs[c.numbers+memory:])
	})
}

// seed sets the results and the memory in v to the cotangents ybar of the outputs, and all other numbers to zero.
func (v *view[T]) seed(c *call, ybar []T, zero T) {
	for i := range v.inputs {
		v.inputs[i] = zero
	}
	copy(v.of.Results, ybar)
	c.eachOutput(func(output, memory, n int) {
		copy(v.inputs[c.numbers+memory:][:n], ybar[c.results+output:])
	})
}

// spread copies the outputs in memory, without the results, to where they are in all memory.
func (c *call) spread(memory, y []nabla.Real) {
	c.eachOutput(func(output, at, n int) { copy(memory[at:][:n], y[output:]) })
}

// eachOutput visits the regions that are outputs: n numbers at output among the outputs in memory, and at memory among
// all memory.
func (c *call) eachOutput(visit func(output, memory, n int)) {
	output := 0
	for k, n := range c.sizes {
		if c.written[k] {
			visit(output, c.starts[k], n)
			output += n
		}
	}
}

// memory returns the part of all memory that is slice i.
func (c *call) memory(all []nabla.Real, i int) []nabla.Real { return memoryAt(c.layout, all, i) }

// Number returns 1 for true and 0 for false: a bool among the results of a rule.
func Number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
