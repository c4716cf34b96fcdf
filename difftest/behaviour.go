package difftest

import (
	"errors"

	"github.com/nabla-ad/nabla"
)

// behaviours are scenarios that the catalogue does not have: what a function may
// do that an engine has to bear.
func behaviours() []scenario {
	vec := func(x ...float64) array { return array{data: x} }
	num := func(x float64) array { return array{number: true, data: []float64{x}} }
	var all []scenario
	add := func(name, operator, form string, x, prepX array, t []float64, y array, first, second []float64) {
		s := scenario{
			ID: "behaviour/" + name + "/" + operator + "/" + form, Group: "behaviour", Family: name, Operator: operator, Form: form,
			X: x, PrepX: &prepX, Y: y, want: results{y.data, first, second},
		}
		if t != nil {
			s.T = []array{{data: t}}
		}
		all = append(all, s)
	}

	// Prepared in one branch, called in the other.
	x, other := vec(-0.3, 2), vec(0.5, 2)
	for _, form := range []string{"out", "in"} {
		add("branch", "jacobian", form, x, other, nil, vec(0.09, -0.6), []float64{-0.6, 0, 2, -0.3}, nil)
		add("branch", "pushforward", form, x, other, []float64{1, -1}, vec(0.09, -0.6), []float64{-0.6, 2.3}, nil)
		add("branch", "pullback", form, x, other, []float64{1, -1}, vec(0.09, -0.6), []float64{-2.6, 0.3}, nil)
	}
	add("branch_scalar", "gradient", "out", x, other, nil, num(-0.054), []float64{0.54, -0.027}, nil)
	add("branch_scalar", "hvp", "out", x, other, []float64{1, -1}, num(-0.054), []float64{0.54, -0.027}, []float64{-3.87, 0.27})
	add("branch_scalar", "hessian", "out", x, other, nil, num(-0.054), []float64{0.54, -0.027}, []float64{-3.6, 0.27, 0.27, 0})

	// Outputs that do not depend on the inputs.
	three := vec(1, 2, 3)
	for _, form := range []string{"out", "in"} {
		add("constant_output", "jacobian", form, three, vec(0, 0, 0), nil, vec(4, 2), []float64{0, 0, 0, 0, 1, 0}, nil)
		add("constant_output", "pullback", form, three, vec(0, 0, 0), []float64{5, 6}, vec(4, 2), []float64{0, 6, 0}, nil)
		add("constant_output", "pushforward", form, three, vec(0, 0, 0), []float64{5, 6, 7}, vec(4, 2), []float64{0, 6}, nil)
	}
	add("constant_scalar", "gradient", "out", three, vec(0, 0, 0), nil, num(4), []float64{0, 0, 0}, nil)
	add("constant_scalar", "hessian", "out", three, vec(0, 0, 0), nil, num(4), []float64{0, 0, 0}, make([]float64, 9))
	add("sum", "hessian", "out", three, vec(0, 0, 0), nil, num(6), []float64{1, 1, 1}, make([]float64, 9))

	// A function that returns the slice it was given, and one that overwrites it.
	add("returns_input", "jacobian", "out", three, vec(0, 0, 0), nil, three, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, nil)
	add("returns_input", "pullback", "out", three, vec(0, 0, 0), []float64{4, 5, 6}, three, []float64{4, 5, 6}, nil)
	add("overwrites_input", "gradient", "out", three, vec(0, 0, 0), nil, num(56), []float64{8, 16, 24}, nil)
	add("overwrites_input", "hvp", "out", three, vec(0, 0, 0), []float64{1, 0, -1}, num(56), []float64{8, 16, 24}, []float64{8, 0, -8})

	// Sizes that no number of directions divides.
	const n, m = 23, 29
	wide, zeros := make([]float64, n), make([]float64, n)
	t, dy := make([]float64, n), make([]float64, m)
	grad, hess, hv := make([]float64, n), make([]float64, n*n), make([]float64, n)
	value := 0.0
	for j := range n {
		wide[j], t[j] = 0.1*float64(j%7)-0.25, float64(j%5)-2
		c := float64(j + 1)
		value += c * wide[j] * wide[j]
		grad[j], hess[j*n+j], hv[j] = 2*c*wide[j], 2*c, 2*c*t[j]
	}
	y, jac := make([]float64, m), make([]float64, m*n)
	ydot, xbar := make([]float64, m), make([]float64, n)
	for i := range m {
		a, b, c := i%n, (i+1)%n, float64(i+1)
		dy[i] = float64(i%3) - 1.5
		y[i] = c*wide[a]*wide[a] + wide[b]
		jac[i*n+a], jac[i*n+b] = 2*c*wide[a], 1
		for j := range n {
			ydot[i] += jac[i*n+j] * t[j]
			xbar[j] += jac[i*n+j] * dy[i]
		}
	}
	for _, form := range []string{"out", "in"} {
		add("wide", "jacobian", form, vec(wide...), vec(zeros...), nil, vec(y...), jac, nil)
		add("wide", "pushforward", form, vec(wide...), vec(zeros...), t, vec(y...), ydot, nil)
		add("wide", "pullback", form, vec(wide...), vec(zeros...), dy, vec(y...), xbar, nil)
	}
	add("wide_scalar", "gradient", "out", vec(wide...), vec(zeros...), nil, num(value), grad, nil)
	add("wide_scalar", "hvp", "out", vec(wide...), vec(zeros...), t, num(value), grad, hv)
	add("wide_scalar", "hessian", "out", vec(wide...), vec(zeros...), nil, num(value), grad, hess)
	return all
}

// behaviourFamilies are the functions of behaviours.
var behaviourFamilies = map[string]family{
	// (x0², x0·x1) for negative x0, (3·x1, x0) otherwise.
	"branch": {outputs: func(int) int { return 2 }, into: func(y, x []nabla.Real) {
		if x[0].Less(nabla.Const(0)) {
			y[0], y[1] = x[0].Sq(), x[0].Mul(x[1])
		} else {
			y[0], y[1] = x[1].Scale(3), x[0]
		}
	}},
	// x0³·x1 for negative x0, x0·x1² otherwise.
	"branch_scalar": ofScalar(func(x []nabla.Real) nabla.Real {
		if x[0].Less(nabla.Const(0)) {
			return x[0].Mul(x[0].Sq()).Mul(x[1])
		}
		return x[0].Mul(x[1].Sq())
	}),
	"constant_output": {outputs: func(int) int { return 2 }, into: func(y, x []nabla.Real) {
		y[0], y[1] = nabla.Const(4), x[1]
	}},
	"constant_scalar": ofScalar(func(x []nabla.Real) nabla.Real { return nabla.Const(4) }),
	"returns_input": {
		into: func(y, x []nabla.Real) { copy(y[:len(x)], x) }, outputs: same,
		vector: func(x []nabla.Real) []nabla.Real { return x },
	},
	// Σ (2x)².
	"overwrites_input": ofScalar(func(x []nabla.Real) nabla.Real {
		var s nabla.Real
		for i := range x {
			x[i] = x[i].Scale(2)
			s = s.Add(x[i].Sq())
		}
		return s
	}),
	"wide": {outputs: func(int) int { return 29 }, into: func(y, x []nabla.Real) {
		for i := range y {
			y[i] = x[i%len(x)].Sq().Scale(float64(i + 1)).Add(x[(i+1)%len(x)])
		}
	}},
	"wide_scalar": ofScalar(func(x []nabla.Real) nabla.Real {
		var s nabla.Real
		for i, v := range x {
			s = s.Add(v.Sq().Scale(float64(i + 1)))
		}
		return s
	}),
}

// failures are the jobs about functions that fail.
func failures() []job {
	return []job{
		{"behaviour/panics/gradient", (*checker).panics},
		{"behaviour/leaves_output/jacobian", (*checker).leavesOutput},
	}
}

// panics: a panic of the function is a *nabla.PanicError that unwraps to its value,
// and the prepared object stays usable.
func (c *checker) panics() {
	s := &scenario{Operator: "gradient", Family: "sum", Form: "out", Y: array{number: true}, want: results{value: []float64{0}}}
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
	want := results{[]float64{6}, []float64{1, 1, 1}, nil}
	for range 2 {
		for _, v := range p.variants {
			c.call("behaviour", v, x, nil, want)
		}
		fail = true
		_, err := sub.prepare(x)
		if err == nil { // an engine that does not run f when it prepares
			err = sub.unprepared[0].start(new(outcome), x, nil)()
		}
		fail = false
		var pe *nabla.PanicError
		if !errors.As(err, &pe) || !errors.Is(err, problem) {
			c.failf("behaviour", "", "f panicked with an error and the operator gave %v, want a *nabla.PanicError with that error", err)
		}
		// An engine that replays may not notice; if it does, it says so.
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

// leavesOutput: an in-place function that leaves an output alone is an error, not a
// row of zeros.
func (c *checker) leavesOutput() {
	s := &scenario{Operator: "jacobian", Family: "copyto", Form: "in", want: results{value: make([]float64, 2)}}
	c.s = s
	f := shaped(s, c.o.Plain, func(y, x []nabla.Real) { y[0] = x[0] })
	_, err := nabla.Jacobian(f.(*nabla.Func), c.b, []float64{1, 2})
	if !errors.Is(err, nabla.ErrOutputNotWritten) {
		c.failf("behaviour", "Jacobian", "f left output 1 alone, got %v, want nabla.ErrOutputNotWritten", err)
	}
}
