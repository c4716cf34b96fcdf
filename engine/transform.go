package engine

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// GradientFunction is x ↦ ∇f(x), for a function with one output, by the reverse of
// the recorded program: the way of every engine that has no other. value computes
// the gradient over plain numbers with the engine itself; nil uses the program.
func GradientFunction(f *Function, value func(grad, x []float64) error) (*Function, error) {
	n, m := f.Dims()
	if m != 1 {
		return nil, &ShapeError{Op: "GradientFunction", Arg: "outputs of " + f.Name(), Got: m, Want: 1}
	}
	return derivedFunction("gradient of "+f.Name(), f, n, n, value, gradientProgram)
}

// PushforwardFunction is (x, v) ↦ J(x)·v by the tangent of the recorded program.
func PushforwardFunction(f *Function, value func(ydot, xv []float64) error) (*Function, error) {
	n, m := f.Dims()
	return derivedFunction("pushforward of "+f.Name(), f, 2*n, m, value, pushforwardProgram)
}

// gradientProgram has the inputs of p, its captured numbers included, and the
// gradient as output group 0.
func gradientProgram(p *program.Program, strong bool) *program.Program {
	return program.Simplify(program.Only(program.VJP(p, program.VJPOptions{Unit: true, Strong: strong}), 1))
}

func pushforwardProgram(p *program.Program, strong bool) *program.Program {
	return program.Simplify(program.JoinInputs(program.Only(program.JVP(p, program.JVPOptions{Strong: strong}), 1), "xdot"))
}

func derivedFunction(name string, f *Function, n, m int, value func(y, x []float64) error, transform Derive) (*Function, error) {
	def := Def{Name: name, N: n, M: m, Context: f.def.Context}
	base := f
	nb := f.def.N
	if f.Traceable() {
		def.Traced = func(y, x []Real, c Context) error {
			out, err := overDerived(base, nb, x, c, transform)
			copy(y, out)
			return err
		}
		def.Program = func(x []float64, _ Context) (*program.Program, error) {
			p, err := base.Program(x[:nb])
			if err != nil {
				return nil, err
			}
			return transform(p, false), nil
		}
	}
	if value != nil {
		def.Plain = func(y, x []float64, _ Context) error { return value(y, x) }
	}
	g := NewFunction(def)
	g.policy = f.policy
	return g, nil
}

// overDerived records base at x, in a trace that may capture the numbers of outer
// ones, transforms the program, and runs the result over x.
func overDerived(base *Function, nb int, x []Real, c Context, transform Derive) ([]Real, error) {
	p, captured, err := recordNested(base, x[:nb], c)
	if err != nil {
		return nil, err
	}
	ins := [][]Real{x}
	if len(captured) > 0 {
		ins = append(ins, captured)
	}
	out, err := program.Over(transform(p, false), ins, nil)
	if err != nil || !anyNaN(out) {
		return out, err
	}
	if len(x) > nb {
		// A tangent that does not move an input is structurally zero there.
		ins[0] = append([]Real(nil), x...)
		for i, v := range x[nb:] {
			if v.ID == 0 {
				ins[0][nb+i].V = core.StrongSeed(v.V)
			}
		}
	}
	out, err = program.Over(transform(p, true), ins, nil)
	for i := range out {
		if out[i].ID == 0 {
			out[i].V += 0
		} else if core.IsStructuralZero(out[i].V) {
			out[i] = core.Apply2(rules.Add, out[i], Real{})
		}
	}
	return out, err
}

func anyNaN(x []Real) bool {
	for _, r := range x {
		if r.V != r.V {
			return true
		}
	}
	return false
}

// recordNested records f at the values of x. c is the context that the outer call
// has entered already.
func recordNested(f *Function, x []Real, c Context) (*program.Program, []Real, error) {
	t := new(Tracer)
	t.StartRecording(len(x), 0, core.RecordOptions{Nested: true, Limit: DefaultLimit})
	defer t.Close()
	xs, ys := make([]Real, len(x)), make([]Real, f.def.M)
	for i, r := range x {
		xs[i] = t.Input(i, r.V)
	}
	for i := range ys {
		ys[i] = core.Poison()
	}
	if f.def.Traced == nil {
		return nil, nil, f.run(t, ys, xs) // the error that says so
	}
	if err := f.def.Traced(ys, xs, c); err != nil {
		return nil, nil, err
	}
	for i, r := range ys {
		switch {
		case r.Poisoned():
			return nil, nil, fmt.Errorf("nabla: function %s: output %d: %w", f.def.Name, i, ErrOutputNotWritten)
		case r.ID != 0 && !t.Owns(r):
			ys[i] = t.Capture(r)
		}
	}
	rec := t.Recorded()
	p, err := program.FromRecording(rec, ys)
	return p, append([]Real(nil), rec.Captures...), err
}

// Nested runs the derivative that transform makes of f over numbers of traces
// that may be open: what a derivative inside a differentiated function is.
func Nested(f *Function, x []Real, gradient bool) ([]Real, error) {
	transform, nb := Derive(gradientProgram), len(x)
	if !gradient {
		transform, nb = pushforwardProgram, len(x)/2
	}
	if c := f.def.Context; c != nil {
		if err := c.Enter(nil, 0); err != nil {
			return nil, err
		}
		defer c.Leave()
	}
	return overDerived(f, nb, x, f.def.Context, transform)
}
