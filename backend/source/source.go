// Package source runs derivative code that was generated from plain Go functions
// over float64.
//
//	//go:generate go tool nabla gen
//
//	func Loss(x []float64) float64 { … }
//
//	g, err := nabla.Gradient(Loss, source.Reverse{}, x)
//
// The generated file registers its code with [nabla.Register]; the function is then
// passed as it is. Nothing is recorded and nothing is traced: a gradient takes a
// small multiple of the time of the function, whatever its control flow. A function
// without generated code is an UnsupportedError of Prepare that says what to run.
//
// # Out of date
//
// The code belongs to the function as it was when it was generated. At calls
// 1, 2, 4, 8, … of a prepared object the value that comes with the derivative is
// compared with the function's own, to 1e-9. A difference is an
// [engine.StaleCodeError], and from then on every call is compared. A
// nabla.Policy with NoStaleCheck turns that off.
//
// # Singular points
//
// Where a zero meets an infinite derivative the result follows the convention in
// package rules. A call that meets one runs the code twice more, and where it matters
// asks the form over nabla.Real. Without such a form a derivative there may be NaN
// where others have a number, and where neither is known to be right the call returns
// an UnsupportedError with the function and the input; it never is 0 instead of NaN.
//
// # Second order
//
// Generated code has the tangent of the adjoint, which gives Hessian-vector
// products: Reverse{} has Hessians by itself, and so have Forward{} and any
// nabla.SecondOrder of the two. Other engines as the outer one differentiate the
// form over nabla.Real that is generated too.
package source

import (
	"fmt"

	"github.com/nabla-ad/nabla/engine"
)

// Forward is forward mode: J·v, one or four tangents at a time. It is for few
// inputs and for Jacobians with more rows than columns. The zero value is all there
// is.
type Forward struct{}

// Reverse is reverse mode: Jᵀ·w, gradients and Hessian-vector products, at a cost
// that does not grow with the number of inputs. The zero value is all there is.
type Reverse struct{}

// Name is "source(forward)".
func (Forward) Name() string { return "source(forward)" }

// Name is "source(reverse)".
func (Reverse) Name() string { return "source(reverse)" }

// runner is generated code with what it needs at a call. It belongs to one
// goroutine.
type runner struct {
	f     *engine.Function
	gen   *engine.Generated
	code  engine.Code
	n, m  int
	watch engine.Watch

	settler settler
}

// newRunner makes code for f of which has is asked.
func newRunner(b engine.Backend, f *engine.Function, what string, has func(c *engine.Code) bool) (*runner, error) {
	gen := f.Generated()
	if gen == nil {
		return nil, f.Ungenerated()
	}
	n, m := f.Dims()
	r := &runner{f: f, gen: gen, n: n, m: m}
	err := r.renew()
	if err == nil && !has(&r.code) {
		err = r.lacks(b, what)
	}
	return r, err
}

// renew makes the code anew.
func (r *runner) renew() (err error) {
	defer func() { engine.Recovered(r.gen.Name, recover(), &err) }()
	r.code = r.gen.Code(r.n)
	return nil
}

// lacks says that there is no code for what is asked, and what to do.
func (r *runner) lacks(b engine.Backend, what string) error {
	e := &engine.UnsupportedError{What: fmt.Sprintf("%s: the generated code of %s has no %s", b.Name(), r.gen.Name,
		what)}
	why := r.gen.Refused
	if _, forward := b.(Forward); forward && r.gen.RefusedTangent != "" {
		why = r.gen.RefusedTangent
	}
	if why != "" {
		e.What += ": " + why
	}
	switch {
	case r.f.Traceable():
		e.Remedy = "use forwarddiff.Backend{} or reversediff.Backend{Compile: true}, which run its form over nabla.Real"
	case r.code.Tangent != nil || r.code.Tangent4 != nil:
		e.Remedy = "use source.Forward{} for first derivatives, and nabla.SecondOrder{Outer: finitediff.Backend{}, " +
			"Inner: source.Forward{}} for second ones"
	default:
		e.Remedy = "use finitediff.Backend{}, which needs values only"
	}
	return e
}

// arg is the bound struct.
func (r *runner) arg() any {
	if c := r.f.Context(); c != nil {
		return c.Arg()
	}
	return nil
}

// end is deferred by every call of the code: a panic in it is one of the function,
// and what the workspace is worth afterwards nobody knows.
func (r *runner) end(v any, err *error) {
	if v == nil {
		return
	}
	engine.Recovered(r.gen.Name, v, err)
	if e := r.renew(); e != nil {
		*err = e
	}
}

// done checks what code that returned k has written: y at x.
func (r *runner) done(k int, y, x []float64) error {
	if k != r.m {
		return &engine.ShapeError{Op: r.gen.Name, Arg: "outputs of f", Got: k, Want: r.m}
	}
	if r.watch.Due(r.f) {
		return r.watch.Check(r.f, y, x)
	}
	return nil
}

// vec is v without the room behind it, where code that appends to it would write.
func vec(v []float64) []float64 { return v[:len(v):len(v)] }

// column writes column k of b to dst.
func column(dst []float64, b engine.Block, k int) {
	for i := range dst {
		dst[i] = b.Row(i)[k]
	}
}

// setColumn writes v to column k of b.
func setColumn(b engine.Block, k int, v []float64) {
	for i, x := range v {
		b.Row(i)[k] = x
	}
}
