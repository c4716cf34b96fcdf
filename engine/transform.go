package engine

import (
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// This file makes derivatives that are functions again. They return the value of the function too, so that
// differentiating them gives value, first and second derivatives in one sweep.

// GradientFunction returns x ↦ (∇f(x), f(x)), with n+1 outputs, for an f with one output. Over Reals and as a program
// it is the reverse of the recorded program of f; over plain numbers it is the gradient of b. If replay is set, engines
// may replay the program under its guards; otherwise it is recorded at every call. The error is a *[ShapeError] if f
// has another number of outputs.
func GradientFunction(f *Function, b Backend, replay bool) (*Function, error) {
	n, m := f.Dims()
	if m != 1 {
		return nil, &ShapeError{Op: "GradientFunction", Arg: "number of outputs of " + f.Name(), Got: m, Want: 1}
	}
	return derivedFunction(f, b, replay, gradientProgram, n, func(f *Function) Def {
		var g Gradient
		prepare := func(x []float64) (err error) {
			if g == nil {
				g, err = PrepareGradient(b, f, f.start(x))
			}
			return err
		}
		return Def{
			Name: "gradient of " + f.Name(), N: n, M: n + 1, Checked: 1,
			Generated: GradientCode(f, nil),
			Plain: func(y, x []float64, _ Context) (err error) {
				if err = prepare(x); err != nil {
					return err
				}
				y[n], err = g.ValueAndGradient(y[:n], x)
				return err
			},
			prepare: prepare,
		}
	}), nil
}

// PushforwardFunction returns (x, v) ↦ (J(x)·v, f(x)), with 2n inputs and 2m outputs. Over Reals and as a program it is
// the tangent of the recorded program of f; over plain numbers it is the pushforward of b. replay is as in
// [GradientFunction].
func PushforwardFunction(f *Function, b Backend, replay bool) (*Function, error) {
	n, m := f.Dims()
	return derivedFunction(f, b, replay, pushforwardProgram, n, func(f *Function) Def {
		var g Pushforward
		prepare := func(x []float64) (err error) {
			if g == nil {
				g, err = PreparePushforward(b, f, f.start(x[:n]), 1)
			}
			return err
		}
		return Def{
			Name: "pushforward of " + f.Name(), N: 2 * n, M: 2 * m, Checked: m, Directions: n,
			Generated: PushforwardCode(f, nil),
			Plain: func(y, x []float64, _ Context) (err error) {
				if err = prepare(x); err != nil {
					return err
				}
				return g.Pushforward(y[m:], Column(y[:m]), x[:n], Column(x[n:]))
			},
			prepare: prepare,
		}
	}), nil
}

// ahead prepares Plain of the derived function f at x if b is going to evaluate it, so that an unsupported derivative
// is reported during preparation and not at the first call.
func (f *Function) ahead(b Backend, x []float64) error {
	if _, evaluates := b.(Approximator); f.def.prepare == nil || f.Traceable() && !evaluates {
		return nil
	}
	return f.def.prepare(x)
}

// start returns the point at which to prepare a derivative of f that is evaluated at x: f.at if it has the length of x,
// otherwise x.
func (f *Function) start(x []float64) []float64 {
	if len(f.at) == len(x) && f.at != nil {
		return f.at
	}
	return x
}

// gradientProgram returns a program with the inputs of p, captured numbers included, and output group 0 = (gradient,
// value).
func gradientProgram(p *program.Program, strong bool) *program.Program {
	v := program.VJP(p, program.VJPOptions{Unit: true, Strong: strong})
	return program.Simplify(program.Join(v, "y", 1, 0))
}

// pushforwardProgram returns a program with input group 0 = (x, v) and output group 0 = (J·v, value).
func pushforwardProgram(p *program.Program, strong bool) *program.Program {
	v := program.JoinInputs(program.JVP(p, program.JVPOptions{Strong: strong}), "xdot")
	return program.Simplify(program.Join(v, "y", 1, 0))
}

// recordLimit returns the number of operations that b may record.
func recordLimit(b Backend) int {
	if l, ok := b.(Limiter); ok {
		if n := l.RecordLimit(); n > 0 {
			return n
		}
	}
	return DefaultLimit
}

// derivedFunction completes the definition of a derivative of f. plain returns the part over plain numbers;
// derivedFunction adds the forms over Reals and as a program, which transform derives from the recording of f. n is the
// number of inputs of f.
func derivedFunction(f *Function, b Backend, replay bool, transform Derive, n int,
	plain func(f *Function) Def) *Function {
	def := plain(f)
	def.Context, def.Replay, def.Ungenerated = f.def.Context, replay, f.Ungenerated()
	def.checked = func(y, x []float64) error { return f.Value(y, x[:n]) }
	def.Fork = func() Def {
		return derivedFunction(f.Clone(), b, replay, transform, n, plain).def
	}
	if f.Traceable() {
		limit := recordLimit(b)
		d := &derivation{transform: transform, limit: limit}
		def.Traced = func(y, x []Real, c Context) error {
			out, err := d.over(f, n, x, c)
			copy(y, out)
			return err
		}
		def.Program = func(x []float64, _ Context) (*program.Program, error) {
			p, err := f.ProgramLimit(x[:n], limit)
			if err != nil {
				return nil, err
			}
			return transform(p, false), nil
		}
		def.Strong = func(x []float64, _ Context) (*program.Program, error) {
			p, err := f.ProgramLimit(x[:n], limit)
			if err != nil {
				return nil, err
			}
			return transform(p, true), nil
		}
	}
	return f.Derive(def)
}

// A derivation evaluates the derivative of a function over numbers of outer traces. It caches the derived programs and
// reuses them if the next recording of the function is identical.
type derivation struct {
	transform     Derive
	limit         int
	busy          bool // over is running
	shared        bool // the function computes in goroutines of its own
	t             Tracer
	work          program.Workspace
	kept          core.Kept // the recording of base
	plain, strong *program.Program
	base          *program.Program
}

// over evaluates the derivative of base at x, whose first nb elements are the inputs of base. It records base in a
// nested trace, which may capture numbers of outer ones, transforms the program and runs the result over x and the
// captured numbers. The plain program runs first, unless x carries structural zeros; if its results contain a NaN, the
// strong program runs.
func (d *derivation) over(base *Function, nb int, x []Real, c Context) ([]Real, error) {
	if d.busy { // the function differentiates itself
		d = &derivation{transform: d.transform, limit: d.limit}
	}
	d.busy = true
	defer func() { d.busy = false }()
	captured, err := d.record(base, x[:nb], c)
	if err != nil {
		return nil, err
	}
	ins := [][]Real{x}
	if len(captured) > 0 {
		ins = append(ins, captured)
	}
	// A NaN among first derivatives shows in the values, but one among the derivatives that x carries does not. If
	// these may need structural zeros, the strong program runs at once.
	if !core.Strong(x) {
		if d.plain == nil {
			d.plain = d.transform(d.base, false)
		}
		out, err := d.work.Over(d.plain, ins, nil)
		if err != nil {
			return nil, err
		}
		if !anyNaN(out) {
			// As in strong mode, turn -0 into +0: f may distinguish them.
			for i := range len(out) - base.def.M {
				out[i] = core.Apply2(rules.Add, out[i], Real{})
			}
			return out, nil
		}
	}
	if len(x) > nb {
		// A tangent that is zero is structurally zero. A custom rule would lose the derivative with respect to such a
		// tangent.
		ins[0] = append([]Real(nil), x...)
		for i, v := range x[nb:] {
			if v.ID == 0 || len(d.base.Customs) == 0 {
				ins[0][nb+i].V = core.StrongSeed(v.V)
			}
		}
	}
	if d.strong == nil {
		d.strong = d.transform(d.base, true)
	}
	return d.work.Over(d.strong, ins, nil)
}

// anyNaN reports whether a value in x is NaN.
func anyNaN(x []Real) bool {
	for _, r := range x {
		if r.V != r.V {
			return true
		}
	}
	return false
}

// record records f at the values of x in a nested trace, updates d.base, and returns the numbers of outer traces that f
// captured. c is the context, which the outer call has already entered. If the recording equals the previous one,
// d.base and the derived programs stay. It panics with the value of a panic in a goroutine that f started.
func (d *derivation) record(f *Function, x []Real, c Context) ([]Real, error) {
	t := &d.t
	t.StartRecording(len(x), 0, core.RecordOptions{Nested: true, Limit: d.limit, Blind: core.Blind(x), Loops: true})
	defer t.Close()
	xs, ys := make([]Real, len(x)), make([]Real, f.def.M)
	for i, r := range x {
		xs[i] = t.Input(i, r.V)
	}
	t.Begin(d.shared, f.policy.Task)
	err := f.Within(ys, xs, c)
	again, failed := t.End(xs)
	if again {
		d.shared = true
		err = f.Within(ys, xs, c)
		_, failed = t.End(xs)
	}
	switch {
	case failed != nil:
		panic(failed)
	case err != nil:
		return nil, err
	}
	for i, r := range ys {
		if r.ID != 0 && !t.Owns(r) {
			ys[i] = t.Capture(r)
		}
	}
	rec := t.Recorded()
	captured := append([]Real(nil), rec.Captures...)
	if d.kept.Same(&rec, ys) {
		return captured, nil
	}
	p, err := program.FromRecordingFor(rec, ys, f.policy.Task)
	if err != nil {
		return nil, err
	}
	d.base, d.plain, d.strong = p, nil, nil
	d.kept.Keep(&rec, ys)
	return captured, nil
}
