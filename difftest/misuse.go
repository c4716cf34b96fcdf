package difftest

import (
	"errors"
	"reflect"
	"sync/atomic"

	"github.com/nabla-ad/nabla"
)

// misuseJobs returns the subtests with invalid calls: they must return errors and leave the prepared object usable.
func misuseJobs() []job {
	return []job{
		{"misuse/overlap/gradient", (*checker).checkOverlap},
		{"misuse/reentry/gradient", (*checker).checkReentry},
		{"misuse/outputs/jacobian", (*checker).checkMoreOutputs},
		{"misuse/foreign/gradient", (*checker).checkForeignReal},
		{"misuse/rebind/gradient", (*checker).checkRebindType},
		{"misuse/blackbox/gradient", (*checker).checkBlackBox},
	}
}

// sumScenario returns the gradient of a sum at (1, 2, 3).
func sumScenario() Scenario {
	return Scenario{
		Name: "misuse/sum", Operator: "gradient", YShape: Shape{Number: true}, Outputs: oneOutput,
		Func: func(y, x []nabla.Real) { y[0] = sum(x) },
		X:    []float64{1, 2, 3}, Value: []float64{6}, First: []float64{1, 1, 1},
	}
}

// checkOverlap requires an error if the destination is x itself.
func (c *checker) checkOverlap() {
	s := sumScenario()
	if !c.setScenario(&s) {
		return
	}
	x := []float64{1, 2, 3}
	var p *nabla.GradientPrep
	var err error
	switch f := c.f.f.(type) {
	case func([]nabla.Real) nabla.Real:
		p, err = nabla.PrepareGradient(f, c.b, x)
	case func([]float64) float64:
		p, err = nabla.PrepareGradient(f, c.b, x)
	}
	if err != nil {
		c.failf("prepare", "", "prepared at %v: %v", x, err)
		return
	}
	var alias *nabla.AliasError
	if _, err := p.Gradient(x, x); !errors.As(err, &alias) || !identical(x, s.X) {
		c.failf("misuse", "Gradient(x, x)", "got %v and x = %v, want a *nabla.AliasError and x as it was", err, x)
	}
	for _, v := range preparedGradient(p).variants {
		c.call("misuse", v, s.X, nil, s.want())
	}
}

// checkReentry requires nabla.ErrBusy if the function calls the prepared object that is evaluating it.
func (c *checker) checkReentry() {
	if !c.mayMakeFunction() {
		return
	}
	s := sumScenario()
	c.s = &s
	var p *prepared
	var inner error
	called := false
	var within atomic.Bool // an engine may evaluate f in several goroutines at once
	sub := subjectOf(&s, c.b, shaped(&s, c.o.Plain, func(y, x []nabla.Real) {
		if p != nil && within.CompareAndSwap(false, true) {
			called = true
			inner = p.variants[0].start(new(outcome), []float64{1, 1, 1}, nil)()
			within.Store(false)
		}
		y[0] = sum(x)
	}))
	if p = c.prepare(sub, s.X); p == nil {
		return
	}
	for range 2 {
		for _, v := range p.variants {
			c.call("misuse", v, s.X, nil, s.want())
			if called && !errors.Is(inner, nabla.ErrBusy) {
				c.failf("misuse", v.name, "f called the object that was evaluating it and got %v, want nabla.ErrBusy",
					inner)
			}
		}
	}
}

// checkMoreOutputs changes the number of outputs that the function returns. That is an error if the function is
// evaluated; an engine that replays a recording returns the recorded outputs.
func (c *checker) checkMoreOutputs() {
	if !c.mayMakeFunction() {
		return
	}
	more := 0
	s := Scenario{Operator: "jacobian", Outputs: func(int) int { return 2 + more }, m: 2}
	c.s = &s
	sub := subjectOf(&s, c.b, shaped(&s, c.o.Plain, func(y, x []nabla.Real) {
		for i := range y {
			y[i] = x[i%2].Scale(float64(i + 1))
		}
	}))
	x := []float64{1, 2}
	want := Results{Value: []float64{1, 4}, First: []float64{1, 0, 0, 2}}
	p := c.prepare(sub, x)
	if p == nil {
		return
	}
	v := p.variants[0]
	c.call("misuse", v, x, nil, want)
	more = 1
	var shape *nabla.ShapeError
	o := new(outcome)
	if err := v.start(o, x, nil)(); err == nil {
		c.compare("misuse", v, o, x, nil, want)
	} else if !errors.As(err, &shape) {
		c.failf("misuse", v.name, "f returned 3 outputs after 2 and the operator gave %v, want a *nabla.ShapeError",
			err)
	}
	more = 0
	c.call("misuse", v, x, nil, want)
}

// checkForeignReal requires an error if the function returns a number of an earlier call. An engine that evaluates over
// plain numbers sees a constant.
func (c *checker) checkForeignReal() {
	if !c.mayMakeFunction() {
		return
	}
	if c.o.Plain {
		return
	}
	s := sumScenario()
	c.s = &s
	var kept atomic.Pointer[nabla.Real]
	f := func(x []nabla.Real) nabla.Real {
		y := sum(x)
		kept.CompareAndSwap(nil, &y)
		return *kept.Load()
	}
	for k := range 3 {
		g, err := nabla.Gradient(f, c.b, s.X)
		switch {
		case err != nil && !errors.Is(err, nabla.ErrForeignReal) && !errors.Is(err, nabla.ErrStale):
			c.failf("misuse", "",
				"f returned a number of another call and the operator gave %v, want nabla.ErrForeignReal", err)
		case err == nil && k > 0 && !identical(g, make([]float64, len(s.X))):
			c.failf("misuse", "",
				"f returned a number of another call and the gradient is %v, want nabla.ErrForeignReal", g)
		}
	}
}

// checkRebindType requires an error for a struct of another type, after which the old one stays bound.
func (c *checker) checkRebindType() {
	s := Constantify(sumScenario())
	if !c.setScenario(&s) {
		return
	}
	p := c.prepare(subjectOf(&s, c.b, c.f.f), s.X)
	if p == nil {
		return
	}
	own := reflect.ValueOf(c.f.own)
	for _, other := range []any{nil, &struct{ A nabla.Real }{}, own.Elem().Interface(),
		reflect.Zero(own.Type()).Interface()} {
		var fe *nabla.FuncError
		if err := p.rebind(other); !errors.As(err, &fe) {
			c.failf("misuse", "Rebind", "to a %T gave %v, want a *nabla.FuncError", other, err)
		}
		for _, v := range p.variants {
			c.call("misuse", v, s.X, nil, s.want())
		}
	}
}

// checkBlackBox passes a function over plain numbers without generated code. It must be differentiated, or be refused
// by the preparation, not by the call.
func (c *checker) checkBlackBox() {
	s := sumScenario()
	c.s = &s
	f := func(x []float64) float64 { return x[0] + x[1] + x[2] }
	p, err := nabla.PrepareGradient(f, c.b, s.X)
	if err != nil {
		if !errors.Is(err, nabla.ErrUnsupported) {
			c.failf("misuse", "", "a function over float64 without code gave %v, want nabla.ErrUnsupported", err)
		}
		return
	}
	if _, err := p.Gradient(nil, s.X); err != nil {
		c.failf("misuse", "", "a function over float64 without code was prepared, and the call gave %v; "+
			"an engine that runs f over Reals asks f.Untraceable() when it prepares", err)
	}
}
