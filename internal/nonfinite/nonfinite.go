// Package nonfinite finds the operation at which a value or a derivative of a function becomes NaN or infinite.
//
// It runs the function once over numbers that keep every operation with its operands and the place in the source that
// called for it. Values are followed forward, and the derivative of each output backward, with the structural zeros and
// the factors of the engines. A value or cotangent that is not finite keeps the operation that first produced it.
package nonfinite

import (
	"math"
	"path"
	"runtime"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/linetable"
	"github.com/nabla-ad/nabla/rules"
)

// Limit is the largest number of operations that Find keeps.
const Limit = 10_000_000

// A Finding is an operation whose operands are finite and whose value or derivative is not, or one with an operand that
// comes from outside the trace and is not finite.
type Finding struct {
	Op         string    // name of the operation or rule; empty for an input or an output that no operation made
	Index      int       // number of operations before it
	Args       []float64 // operands
	Values     []float64 // results: one, or those of a rule
	Output     int       // output of the function that is not finite, or whose derivative is not
	Derivative bool      // the value of the output is finite, a derivative is not
	Input      int       // input with respect to which the derivative is not finite, or that is not finite itself
	Arg        int       // operand that is not finite, or with respect to which the derivative is not; -1 for none
	Cotangent  float64   // derivative of the output with respect to the result; 0 for rules with several results
	Frame      runtime.Frame

	// Second is set if first derivatives are finite, and the second one with respect to inputs Input and Input2 is not.
	// Arg2 is the other operand of the second derivative of the operation, and Tangent the derivative of that operand
	// with respect to Input2. If Arg2 is -1, it is a first derivative of the operation times Cotangent, which is then
	// the second derivative of the output with respect to the result and Input2.
	Second       bool
	Input2, Arg2 int
	Tangent      float64
}

// op is an operation on numbers a and b, 0 for a constant or none.
type op struct {
	op         rules.Op
	call       int32 // index of a call plus 1 if it is an output of one
	a, b       int32
	av, bv, v  float64
	site       *runtime.Frame
	badOperand int32 // index plus 1 of an operand that is a constant and not finite
}

// call is a call of a custom rule.
type call struct {
	rule  core.Custom
	args  []int32
	x, y  []float64
	first int32 // id of the first output
}

// observer implements engine.Hook: it keeps all operations.
type observer struct {
	n     int // inputs, numbers 1 … n
	ops   []op
	calls []call
	sites map[uintptr]*runtime.Frame // nil for a frame within nabla
}

// Find runs f at x, and returns the operation to blame, or nil if values and derivatives are finite: first derivatives,
// and second ones if order is 2.
func Find(f *engine.Function, x []float64, order int) (*Finding, error) {
	n, m := f.Dims()
	o := &observer{n: n, sites: map[uintptr]*runtime.Frame{}}
	t := engine.Overload(o)
	defer t.Close()
	xs, ys := make([]engine.Real, n), make([]engine.Real, m)
	for i, v := range x {
		xs[i] = t.Number(v, int32(i+1))
	}
	if err := f.OverIn(t, ys, xs); err != nil {
		return nil, err
	}
	if found := o.value(x, ys); found != nil {
		return found, nil
	}
	if found := o.derivative(ys); found != nil || order < 2 {
		return found, nil
	}
	return o.second(f.Name(), ys)
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// add keeps an operation and returns the number of its result.
func (o *observer) add(e op) int32 {
	if len(o.ops) == Limit {
		panic(core.Abort{Err: &core.LimitError{Limit: Limit}})
	}
	e.site = o.site()
	o.ops = append(o.ops, e)
	return int32(o.n + len(o.ops))
}

// Unary implements engine.Hook.
func (o *observer) Unary(f rules.Op, a int32, av, v float64) int32 {
	return o.add(op{op: f, a: a, av: av, v: v})
}

// Binary implements engine.Hook.
func (o *observer) Binary(f rules.Op, a, b int32, av, bv, v float64) int32 {
	e := op{op: f, a: a, b: b, av: av, bv: bv, v: v}
	switch {
	case a == 0 && !finite(av):
		e.badOperand = 1
	case b == 0 && !finite(bv):
		e.badOperand = 2
	}
	return o.add(e)
}

// Call implements core.CallHook.
func (o *observer) Call(c core.Custom, args []int32, x, y []float64, ids []int32) {
	k := call{rule: c, args: args, x: x, y: y, first: int32(o.n + len(o.ops) + 1)}
	o.calls = append(o.calls, k)
	var bad int32
	for i, v := range x {
		if args[i] == 0 && !finite(v) && bad == 0 {
			bad = int32(i + 1)
		}
	}
	for i, v := range y {
		ids[i] = o.add(op{call: int32(len(o.calls)), v: v, badOperand: bad})
	}
}

// site returns the innermost frame outside nabla.
func (o *observer) site() *runtime.Frame {
	var pcs [32]uintptr
	for _, pc := range pcs[:runtime.Callers(4, pcs[:])] {
		at, known := o.sites[pc]
		if !known {
			frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
			if p, generated := linetable.Of(frame.File, frame.Line); generated {
				frame.Function, frame.File, frame.Line = p.Function, p.File, p.Line
			}
			if frame.File != "" && !within(frame) {
				at = &frame
			}
			o.sites[pc] = at
		}
		if at != nil {
			return at
		}
	}
	return &runtime.Frame{}
}

// root is the directory of the module, as the compiler names it.
var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return path.Dir(path.Dir(path.Dir(file)))
}()

// within reports whether a frame belongs to the part of nabla that functions are differentiated with, not to its tests,
// commands and examples. Files tell, not functions: a closure of nabla that is inlined has a name of its caller.
func within(f runtime.Frame) bool {
	rest, ok := strings.CutPrefix(f.File, root+"/")
	if !ok {
		return strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "reflect.")
	}
	if strings.HasSuffix(rest, "_test.go") {
		return false
	}
	switch dir := path.Dir(rest); dir {
	case ".", "engine", "linalg", "program", "rules", "internal/binding", "internal/core", "internal/nonfinite":
		return true
	default:
		return strings.HasPrefix(dir, "gen/rt") || strings.HasPrefix(dir, "gen/library/")
	}
}

// describe fills in the operation that made number id.
func (o *observer) describe(f *Finding, id int32) *Finding {
	f.Index = int(id) - o.n - 1
	e := &o.ops[f.Index]
	f.Frame = *e.site
	if e.call > 0 {
		c := &o.calls[e.call-1]
		f.Op, f.Args, f.Values = c.rule.Name(), c.x, c.y
		f.Index = int(c.first) - o.n - 1
		return f
	}
	f.Op, f.Args, f.Values = e.op.String(), []float64{e.av, e.bv}[:e.op.Arity()], []float64{e.v}
	return f
}

// value returns the origin of the first output that is not finite, or nil.
func (o *observer) value(x []float64, ys []engine.Real) *Finding {
	origin := make([]int32, o.n+1+len(o.ops)) // number that is to blame, 0 for a finite one
	for i, v := range x {
		if !finite(v) {
			origin[i+1] = int32(i + 1)
		}
	}
	for k := range o.ops {
		e, id := &o.ops[k], int32(o.n+1+k)
		if finite(e.v) {
			continue
		}
		origin[id] = id
		if e.call > 0 {
			for _, a := range o.calls[e.call-1].args {
				if origin[a] != 0 {
					origin[id] = origin[a]
					break
				}
			}
		} else if origin[e.a] != 0 {
			origin[id] = origin[e.a]
		} else if origin[e.b] != 0 {
			origin[id] = origin[e.b]
		}
	}
	for i, y := range ys {
		if finite(y.V) {
			continue
		}
		f := &Finding{Output: i, Input: -1, Arg: -1, Values: []float64{y.V}}
		switch id := origin[y.ID]; {
		case id == 0: // a constant
			return f
		case int(id) <= o.n:
			f.Input, f.Values = int(id)-1, []float64{x[id-1]}
			return f
		default:
			f.Arg = int(o.ops[int(id)-o.n-1].badOperand) - 1
			return o.describe(f, id)
		}
	}
	return nil
}

// A blame is a cotangent and, if it is not finite, the operation that made it so.
type blame struct {
	bar float64
	id  int32   // result of the operation to blame
	arg int32   // its operand
	out float64 // its cotangent
}

// add adds a contribution g·p of result id to the cotangent of operand arg.
func (b *blame) add(from *blame, id int32, arg int, contribution float64) {
	was := finite(b.bar)
	b.bar += contribution + 0
	switch {
	case finite(b.bar) || !was:
	case !finite(from.bar):
		b.id, b.arg, b.out = from.id, from.arg, from.out
	default:
		b.id, b.arg, b.out = id, int32(arg), from.bar
	}
}

// derivative returns the operation at which the derivative of an output first stopped being finite, or nil.
func (o *observer) derivative(ys []engine.Real) *Finding {
	negZero := math.Copysign(0, -1)
	bars := make([]blame, o.n+1+len(o.ops))
	for i, y := range ys {
		if y.ID == 0 {
			continue
		}
		for k := range bars {
			bars[k] = blame{bar: negZero}
		}
		bars[y.ID].bar = 1
		for id := int(y.ID); id > o.n; id-- {
			e := &o.ops[id-o.n-1]
			if e.call > 0 {
				c := &o.calls[e.call-1]
				o.back(c, bars)
				id = int(c.first)
				continue
			}
			if b := &bars[id]; !core.IsStructuralZero(b.bar) {
				e.back(bars, b, int32(id))
			}
		}
		for j := range o.n {
			b := &bars[j+1]
			if finite(b.bar) {
				continue
			}
			f := &Finding{Output: i, Derivative: true, Input: j, Arg: int(b.arg), Cotangent: b.out}
			return o.describe(f, b.id)
		}
	}
	return nil
}

// back adds the contributions of the cotangent b of result id to the cotangents of the operands.
func (e *op) back(bars []blame, b *blame, id int32) {
	switch e.op {
	case rules.Max, rules.Min:
		if rules.Chosen(e.op, e.av, e.bv) == 1 {
			bars[e.b].add(b, id, 1, b.bar)
		} else {
			bars[e.a].add(b, id, 0, b.bar)
		}
		return
	}
	for i, a := range []int32{e.a, e.b}[:e.op.Arity()] {
		if a != 0 && rules.Partial(e.op, i) != nil {
			bars[a].add(b, id, i, e.times(b.bar, i))
		}
	}
}

// times returns the product of a cotangent and the partial derivative with respect to operand i.
func (e *op) times(g float64, i int) float64 {
	var p float64
	switch {
	case e.op.Arity() == 1:
		p = rules.Partial1(e.op, e.av, e.v)
	case i == 0:
		p = rules.PartialX2(e.op, e.av, e.bv, e.v)
	default:
		p = rules.PartialY2(e.op, e.av, e.bv, e.v)
	}
	if !rules.Extreme(e.op, i, p) {
		return g * p
	}
	var f rules.Factors
	if e.op.Arity() == 1 {
		f = rules.Factors1(e.op, e.av, e.v)
	} else {
		f = rules.Factors2(e.op, i, e.av, e.bv, e.v)
	}
	if f.Zero() {
		return g * 0
	}
	for _, v := range f {
		if v != 1 {
			g *= v
		}
	}
	return g
}

// back adds the contributions of the outputs of a call to the cotangents of its arguments.
func (o *observer) back(c *call, bars []blame) {
	ybar, zero := make([]float64, len(c.y)), true
	from := blame{}
	for i := range ybar {
		b := &bars[int(c.first)+i]
		zero = zero && core.IsStructuralZero(b.bar)
		ybar[i] = b.bar + 0
		if finite(from.bar) && !finite(b.bar) {
			from = *b
		}
	}
	if zero {
		return
	}
	if len(ybar) == 1 {
		from = bars[c.first]
	}
	xbar := make([]float64, len(c.x))
	c.rule.VJP(xbar, c.x, c.y, ybar)
	for j, a := range c.args {
		if a != 0 && xbar[j] != 0 {
			bars[a].add(&from, c.first, j, xbar[j])
		}
	}
}
