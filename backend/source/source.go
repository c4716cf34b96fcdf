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
// passed unchanged. Nothing is recorded or traced: a gradient takes a small multiple of
// the time of the function, whatever its control flow. For a function without generated
// code Prepare returns an UnsupportedError that names the command to run.
//
// # Out of date
//
// The code belongs to the version of the function that it was generated from. At calls
// 1, 2, 4, 8, … of a prepared object the value that comes with the derivative is
// compared with that of the function, to 1e-9, and so are the values at a point
// nearby, if the function has one there. A difference is an
// [engine.StaleCodeError], and from then on every call is compared. A
// nabla.Policy with NoStaleCheck turns the comparison off.
//
// # Singular points
//
// A product of a zero and an infinite derivative follows the convention in package
// rules. A call that has one runs the code twice more, and if the result depends on it,
// evaluates the form over nabla.Real. Without that form a derivative there may be NaN
// where other engines return a number. If neither is known to be right, the call returns
// an UnsupportedError with the function and the input; it never returns 0 for NaN.
//
// # Sparse matrices
//
// With nabla.AutoSparse the code of a local function, whose numbers depend on few inputs
// each or are sums in loops, computes the entries of a Jacobian or a Hessian one by one.
// Where control flow and indices depend on integers alone, it knows the pattern too. The
// matrices of other functions are recovered from products.
//
// # Second order
//
// Generated code has the tangent of the adjoint, which gives Hessian-vector
// products: Reverse{} has Hessians by itself, and so have Forward{} and any
// nabla.SecondOrder with one of the two as the outer engine, whatever the inner one:
// the derivatives of its gradient are products with the Hessian, which the code has.
// With finitediff as the inner engine Forward{} returns its difference quotients as
// the gradient, and the Hessian is exact. Other engines as the outer one differentiate the form over
// nabla.Real that is generated too.
package source

import (
	"cmp"
	"fmt"

	"github.com/nabla-ad/nabla/engine"
)

// Forward is forward mode: J·v, one or four tangents at a time. It suits functions with few inputs, and Jacobians with
// more rows than columns. It has no settings.
type Forward struct{}

// Reverse is reverse mode: Jᵀ·w, gradients and Hessian-vector products, at a cost that does not grow with the number of
// inputs. It has no settings.
type Reverse struct{}

// Name returns "source(forward)".
func (Forward) Name() string { return "source(forward)" }

// Name returns "source(reverse)".
func (Reverse) Name() string { return "source(reverse)" }

// RunsCode implements engine.CodeRunner.
func (Forward) RunsCode() bool { return true }

// RunsCode implements engine.CodeRunner.
func (Reverse) RunsCode() bool { return true }

// A runner is an instance of generated code, with its workspace. It must not be used concurrently.
type runner struct {
	f     *engine.Function
	gen   *engine.Generated
	code  engine.Code
	n, m  int
	watch engine.Watch

	zeros, unread []float64 // seeds and derivatives of Evaluate

	settler settler
}

// newRunner returns an instance of the code for f. If has reports false, it returns the error that the code lacks the
// derivative called what.
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

// renew replaces the code by a new instance.
func (r *runner) renew() (err error) {
	defer func() { engine.Recovered(r.gen.Name, recover(), &err) }()
	r.code = r.gen.Code(r.n)
	return nil
}

// lacks returns the error for a missing derivative, with its reason and remedy.
func (r *runner) lacks(b engine.Backend, what string) error {
	e := &engine.UnsupportedError{What: fmt.Sprintf("%s: the generated code of %s has no %s", b.Name(), r.gen.Name,
		what)}
	var why string
	switch _, forward := b.(Forward); {
	case r.code.Adjoint != nil && (!forward || r.code.Tangent != nil):
		why = cmp.Or(r.gen.RefusedSecond, r.gen.RefusedTangent) // second derivatives of derived functions need tangents
	case forward:
		why = cmp.Or(r.gen.RefusedTangent, r.gen.Refused)
	default:
		why = r.gen.Refused
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

// arg returns the bound struct, nil if there is none.
func (r *runner) arg() any {
	if c := r.f.Context(); c != nil {
		return c.Arg()
	}
	return nil
}

// end turns v, recovered from a panic in generated code, into an error of the user's function in *err. It also replaces
// the code, whose workspace may be inconsistent. A nil v is no panic. Every call of the code defers end.
func (r *runner) end(v any, err *error) {
	if v == nil {
		return
	}
	engine.Recovered(r.gen.Name, v, err)
	if e := r.renew(); e != nil {
		*err = e
	}
}

// done checks the values y that the code has written at x, and k, the number of outputs it returned.
func (r *runner) done(k int, y, x []float64) error {
	if k != r.m {
		return &engine.ShapeError{Op: r.gen.Name, Arg: "outputs of f", Got: k, Want: r.m}
	}
	if !r.watch.Due(r.f) {
		return nil
	}
	if err := r.watch.Check(r.f, y, x); err != nil {
		return err
	}
	return r.watch.CheckNear(r.f, x, r)
}

// Evaluate implements engine.Evaluator.
func (r *runner) Evaluate(y, x []float64) (ok bool) {
	if r.zeros == nil {
		r.zeros, r.unread = make([]float64, max(r.n, r.m)), make([]float64, max(r.n, r.m))
	}
	defer func() {
		if recover() != nil { // outside of the domain
			ok = false
			if err := r.renew(); err != nil {
				panic(err)
			}
		}
	}()
	clear(r.zeros)
	switch {
	case r.code.Tangent != nil:
		return r.code.Tangent(y, r.unread[:r.m], vec(x), r.zeros[:r.n], r.arg()) == r.m
	case r.code.Adjoint != nil:
		return r.code.Adjoint(y, r.unread[:r.n], vec(x), r.zeros[:r.m], r.arg()) == r.m
	}
	return false // all code has one of them
}

// vec returns v with its capacity limited to its length, since generated code may append to it.
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
