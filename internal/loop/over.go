package loop

import (
	"math"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// This file runs loops over numbers of an open trace, one operation after the other, as truncated power series need
// them. All of the numbers stay in the trace.

// An overRun is a run of a loop over numbers.
type overRun struct {
	w      *worker
	l      loop
	strong bool
	args   []core.Rep
	x      []core.Rep // the inputs of a step
	nan    bool       // a result of a step was NaN
	work   program.Workspace
}

// over runs f, which writes the derivatives out, again with strong zeros if one of them, or a value, is NaN. With
// strong zeros tangents and cotangents that are the constant 0 are structural zeros.
func (l loop) over(args, out []core.Rep, f func(o *overRun)) {
	w := l.b.take()
	for _, strong := range []bool{false, true} {
		if !strong && core.Strong(args) {
			continue
		}
		o := &overRun{w: w, l: l, strong: strong, args: append([]core.Rep(nil), args...),
			x: make([]core.Rep, l.copies()*l.b.stepIn())}
		if strong {
			for j := l.in(); j < len(args); j++ {
				if r := &o.args[j]; r.ID == 0 {
					r.V = core.StrongSeed(r.V)
				}
			}
		}
		w.size(l.copies())
		f(o)
		for j, r := range out {
			out[j] = core.Apply2(rules.Add, r, core.Rep{}) // a derivative has no -0
		}
		if !o.nan && !hasNaN(out) {
			break
		}
	}
	l.b.give(w)
}

func hasNaN(x []core.Rep) bool {
	for _, r := range x {
		if r.V != r.V {
			return true
		}
	}
	return false
}

// begin sets the state and the parameters, those of the first step.
func (o *overRun) begin() {
	b := o.l.b
	for c := range o.l.copies() {
		copy(o.x[c*b.stepIn():], o.args[c*o.l.in():][:b.State+b.Params])
	}
}

// step runs kind k of step i over o.x and, for a reverse sweep, seed.
func (o *overRun) step(k kind, i int, seed []core.Rep) []core.Rep {
	for j, r := range o.x {
		o.w.x[j] = r.V
	}
	// The branch is found over plain numbers.
	br := o.w.find(o.w.list(kind{level: k.level}), i).of
	ins := [][]core.Rep{o.x}
	if k.reverse {
		ins = append(ins, seed)
	}
	y, err := o.work.Over(br.program(k), ins, []core.Rep{{V: float64(i)}})
	if err != nil {
		panic(core.Abort{Err: err})
	}
	o.nan = o.nan || hasNaN(y)
	return y
}

// inputs sets the inputs of step i.
func (o *overRun) inputs(i int) {
	b := o.l.b
	from := b.State + b.Params
	for c := range o.l.copies() {
		copy(o.x[c*b.stepIn()+from:], o.args[c*o.l.in()+from+i*b.Inputs:][:b.Inputs])
	}
}

// forward writes the outputs to y and calls before with the inputs of each step, unless it is nil.
func (o *overRun) forward(y []core.Rep, before func(x []core.Rep)) {
	b := o.l.b
	o.begin()
	for i := range o.l.n {
		o.inputs(i)
		if before != nil {
			before(o.x)
		}
		out := o.step(kind{level: o.l.level, strong: o.strong}, i, nil)
		for c := range o.l.copies() {
			from := out[c*b.stepOut():][:b.stepOut()]
			copy(o.x[c*b.stepIn():], from[:b.State])
			if y != nil {
				copy(y[c*o.l.out()+b.State+i*b.Output:], from[b.State:])
			}
		}
	}
	if y != nil {
		for c := range o.l.copies() {
			copy(y[c*o.l.out():], o.x[c*b.stepIn():][:b.State])
		}
	}
}

// EvaluateOver implements core.Evaluable.
func (l loop) EvaluateOver(y, x []core.Rep) {
	l.over(x, y[l.out():], func(o *overRun) { o.forward(y, nil) })
}

// EvaluateOver implements core.Evaluable.
func (p pullback) EvaluateOver(xbar, xw []core.Rep) {
	l, b := p.of, p.of.b
	l.over(xw, xbar, func(o *overRun) {
		ybar := o.args[l.inputs():]
		var before [][]core.Rep
		o.forward(nil, func(x []core.Rep) { before = append(before, append([]core.Rep(nil), x...)) })
		seed := make([]core.Rep, l.copies()*b.stepOut())
		for c := range l.copies() {
			copy(seed[c*b.stepOut():], ybar[c*l.out():][:b.State])
			for j := range b.Params {
				xbar[c*l.in()+b.State+j] = core.Rep{}
				if o.strong {
					xbar[c*l.in()+b.State+j].V = math.Copysign(0, -1)
				}
			}
		}
		for i := l.n - 1; i >= 0; i-- {
			o.x = before[i]
			for c := range l.copies() {
				copy(seed[c*b.stepOut()+b.State:], ybar[c*l.out()+b.State+i*b.Output:][:b.Output])
			}
			bar := o.step(kind{level: l.level, reverse: true, strong: o.strong}, i, seed)
			for c := range l.copies() {
				from, to := bar[c*b.stepIn():][:b.stepIn()], xbar[c*l.in():][:l.in()]
				copy(seed[c*b.stepOut():], from[:b.State])
				add(to[b.State:], from[b.State:][:b.Params])
				copy(to[b.State+b.Params+i*b.Inputs:], from[b.State+b.Params:])
			}
		}
		for c := range l.copies() {
			copy(xbar[c*l.in():], seed[c*b.stepOut():][:b.State])
		}
	})
}

// add adds src to dst.
func add(dst, src []core.Rep) {
	for j, r := range src {
		dst[j] = core.Apply2(rules.Add, dst[j], r)
	}
}
