// Package primitive makes engines of one function: a pushforward or a pullback that the user wrote, by whatever method.
// All operators follow from it, as for every engine, so that the conformance kit can test it and other engines can be
// compared with it.
//
//	// differences is the engine of central differences with a fixed step.
//	push := func(f primitive.Func, y, ydot, x, xdot []float64) error { … }
//	differences := primitive.Forward{Label: "differences", Push: push}
//	g, err := nabla.Gradient(f, differences, x)
//
// A function that differentiates everything that it is given computes derivatives of second order too: it is given the
// gradient as a function then. One that knows a single function, and does not call the Func, gives derivatives of
// first order, and of second order below another engine that evaluates: SecondOrder{finitediff.Backend{}, engine}.
package primitive

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/engine"
)

// A Func writes y = f(x), of the function that is differentiated.
type Func func(y, x []float64) error

// Forward is an engine that is given as its pushforward.
type Forward struct {
	// Label is the name in reports, "primitive" if it is empty.
	Label string
	// Push writes all of y = f(x), of length m, and ydot = J(x)·xdot. It must not retain or modify the other
	// arguments, and is called by one goroutine at a time for each prepared object.
	Push func(f Func, y, ydot, x, xdot []float64) error
}

// Reverse is an engine that is given as its pullback.
type Reverse struct {
	// Label is the name in reports, "primitive" if it is empty.
	Label string
	// Pull writes all of y = f(x), of length m, and xbar = J(x)ᵀ·ybar. Otherwise it is as Push.
	Pull func(f Func, y, xbar, x, ybar []float64) error
}

// Name returns "forward(label)".
func (b Forward) Name() string { return "forward(" + label(b.Label) + ")" }

// Name returns "reverse(label)".
func (b Reverse) Name() string { return "reverse(" + label(b.Label) + ")" }

func label(s string) string {
	if s == "" {
		return "primitive"
	}
	return s
}

// PreparePushforward implements engine.Pusher. It calls Push at x, and returns the errors of that: an
// *engine.UnsupportedError if Push is nil, leaves results unwritten, contradicts f, or does not call the Func although
// f is a derivative; see the package comment.
func (b Forward) PreparePushforward(f *engine.Function, x []float64, _ int) (engine.Pushforward, error) {
	if b.Push == nil {
		return nil, missing(b, "Push")
	}
	p := newProduct(b, b.Push, f, false)
	return p, p.try(x)
}

// PreparePullback implements engine.Puller. It calls Pull at x, and returns the errors of that; see PreparePushforward
// of Forward.
func (b Reverse) PreparePullback(f *engine.Function, x []float64, _ int) (engine.Pullback, error) {
	if b.Pull == nil {
		return nil, missing(b, "Pull")
	}
	p := newProduct(b, b.Pull, f, true)
	return p, p.try(x)
}

func missing(b engine.Backend, field string) error {
	return &engine.UnsupportedError{What: fmt.Sprintf("engine %s has no %s", b.Name(), field),
		Remedy: "set the field to a function that computes the derivative"}
}

// A product computes products with the Jacobian, or with its transpose, one at a time.
type product struct {
	name    string
	call    func(f Func, y, out, x, in []float64) error
	f       *engine.Function
	value   Func
	called  bool
	in, out []float64
}

func newProduct(b engine.Backend, call func(f Func, y, out, x, in []float64) error, f *engine.Function,
	reverse bool) *product {
	n, m := f.Dims()
	if reverse {
		n, m = m, n
	}
	p := &product{name: b.Name(), call: call, f: f, in: make([]float64, n), out: make([]float64, m)}
	p.value = func(y, x []float64) error {
		p.called = true
		return f.Value(y, x)
	}
	return p
}

// try computes a product at x and checks what the user's function did.
func (p *product) try(x []float64) error {
	_, m := p.f.Dims()
	y, want := make([]float64, m), make([]float64, m)
	if err := p.f.Value(want, x); err != nil {
		return err
	}
	for i := range y {
		y[i] = math.Inf(1)
	}
	for i := range p.out {
		p.out[i] = math.Inf(1)
	}
	if err := p.run(y, x); err != nil {
		return err
	}
	unsupported := func(what, remedy string) error {
		return &engine.UnsupportedError{What: fmt.Sprintf("engine %s on %s: %s", p.name, p.f.Name(), what),
			Remedy: remedy}
	}
	if p.f.IsDerivative() && !p.called {
		return unsupported("its function does not call the Func, so that it has no derivative of a derivative",
			"use SecondOrder{finitediff.Backend{}, engine}, or call the Func that it is given")
	}
	for i, v := range y {
		if d := math.Abs(v - want[i]); d > 1e-6*(1+math.Abs(want[i])) || v != v && want[i] == want[i] {
			return unsupported(fmt.Sprintf("output %d is %v, and %v by the function", i, v, want[i]),
				"write all of y = f(x), and use the engine for the function that it knows")
		}
	}
	for i, v := range p.out {
		if math.IsInf(v, 1) {
			return unsupported(fmt.Sprintf("element %d of the product with a zero vector is not written", i),
				"write the whole product")
		}
	}
	return nil
}

// run calls the user's function with the vector p.in. A panic in it is an *engine.PanicError.
func (p *product) run(y, x []float64) (err error) {
	defer func() { engine.Recovered(p.name, recover(), &err) }()
	return p.call(p.value, y, p.out, x, p.in)
}

// columns computes the products with the columns of in.
func (p *product) columns(y []float64, out engine.Block, x []float64, in engine.Block) error {
	if in.B == 0 {
		return p.f.Value(y, x)
	}
	for k := range in.B {
		for i := range p.in {
			p.in[i] = in.Row(i)[k]
		}
		if err := p.run(y, x); err != nil {
			return err
		}
		for i, v := range p.out {
			out.Row(i)[k] = v
		}
	}
	return nil
}

// Pushforward implements engine.Pushforward.
func (p *product) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	return p.columns(y, ydot, x, xdot)
}

// Pullback implements engine.Pullback.
func (p *product) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	return p.columns(y, xbar, x, ybar)
}
