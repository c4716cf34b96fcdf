package difftest

import (
	"errors"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sparsity"
)

// failureJobs returns the subtests with functions that fail.
func failureJobs() []job {
	return []job{
		{"behaviour/panics/gradient", (*checker).checkPanics},
		{"behaviour/leaves_output/jacobian", (*checker).checkOutputNotWritten},
	}
}

// checkPanics requires that a panic of the function becomes a *nabla.PanicError that unwraps to its value, and that the
// prepared object stays usable.
func (c *checker) checkPanics() {
	if !c.mayMakeFunction() {
		return
	}
	s := &Scenario{Operator: "gradient", YShape: Shape{Number: true}, Outputs: oneOutput, m: 1}
	problem := errors.New("a problem of the function's own")
	fail := false
	sub := subjectOf(s, c.b, shaped(s, c.o.Plain, func(y, x []nabla.Real) {
		if fail {
			panic(problem)
		}
		y[0] = sum(x)
	}))
	c.s = s
	x := []float64{1, 2, 3}
	p := c.prepare(sub, x)
	if p == nil {
		return
	}
	want := Results{[]float64{6}, []float64{1, 1, 1}, nil}
	for range 2 {
		for _, v := range p.variants {
			c.call("behaviour", v, x, nil, want)
		}
		fail = true
		_, err := sub.prepare(x)
		if err == nil { // an engine that does not run f in preparation
			err = sub.unprepared[0].start(new(outcome), x, nil)()
		}
		fail = false
		var pe *nabla.PanicError
		if !errors.As(err, &pe) || !errors.Is(err, problem) {
			c.failf("behaviour", "",
				"f panicked with an error and the operator gave %v, want a *nabla.PanicError with that error", err)
		}
		// An engine that replays a recording need not notice the panic; if it does, it must return it.
		for _, v := range p.variants {
			fail = true
			err := v.start(new(outcome), append([]float64{}, x...), nil)()
			fail = false
			if err != nil && !errors.Is(err, problem) {
				c.failf("behaviour", v.name, "f panicked with an error and the operator gave %v", err)
			}
		}
	}
}

// checkOutputNotWritten requires an error, not a row of zeros, for an in-place function that does not write an output.
func (c *checker) checkOutputNotWritten() {
	if !c.mayMakeFunction() {
		return
	}
	s := &Scenario{Operator: "jacobian", InPlace: true, m: 2}
	c.s = s
	f := shaped(s, c.o.Plain, func(y, x []nabla.Real) { y[0] = x[0] })
	_, err := nabla.Jacobian(f.(*nabla.Func), c.b, []float64{1, 2})
	if !errors.Is(err, nabla.ErrOutputNotWritten) {
		c.failf("behaviour", "Jacobian", "f left output 1 alone, got %v, want nabla.ErrOutputNotWritten", err)
	}
}

// checkRefusal requires that a function with branches is refused.
func (c *checker) checkRefusal(sub subject) {
	refused := func(what string, err error) {
		branch := new(sparsity.BranchError)
		switch {
		case err == nil:
			c.failf("prepare", what, "a function that compares numbers is accepted, want a *sparsity.BranchError")
		case !errors.As(err, &branch) || !errors.Is(err, nabla.ErrUnsupported):
			c.failf("prepare", what, "%v, want a *sparsity.BranchError that matches nabla.ErrUnsupported", err)
		case branch.File == "" || branch.Line == 0:
			c.failf("prepare", what, "%v does not name the line", err)
		}
	}
	c.before()
	for _, x := range [][]float64{c.s.prepX(), c.x} {
		_, err := sub.prepare(append([]float64(nil), x...))
		refused("", err)
	}
	c.after()
	for _, v := range sub.unprepared {
		refused(v.name, v.start(new(outcome), append([]float64{}, c.x...), append([]float64{}, c.t...))())
	}
}
