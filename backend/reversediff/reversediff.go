// Package reversediff is reverse mode over a recorded program.
//
//	g, err := nabla.PrepareGradient(f, reversediff.Backend{Compile: true}, x)
//
// With Compile the function is recorded when it is prepared; the program is
// differentiated, simplified and scheduled, and every call replays it: a gradient
// costs a small multiple of the function whatever the number of inputs. Every
// comparison the function made is a guard of the program. If one fails the
// function is recorded again, so a replay is never of the wrong branch; see
// nabla.Policy. Without Compile the function is recorded at every call, into memory
// that later calls reuse, and the reverse sweep reads the recording itself. The
// preparation with Compile takes 20 to 50 times as long as a call without.
package reversediff

import (
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/program"
)

// Backend is the engine. The zero value records at every call.
type Backend struct {
	// Compile records the function when it is prepared and replays the recording in
	// calls. It is the best choice for many calls of a function whose branches
	// seldom change.
	Compile bool

	// Limit is the largest number of operations in a recording; zero means
	// engine.DefaultLimit. A preparation or call that exceeds it returns an
	// *engine.LimitError.
	Limit int
}

// Name returns "reversediff" with the settings that are not the default.
func (b Backend) Name() string {
	var s []string
	if b.Compile {
		s = append(s, "compile")
	}
	if b.Limit != 0 {
		s = append(s, fmt.Sprintf("limit=%d", b.Limit))
	}
	if len(s) == 0 {
		return "reversediff"
	}
	return "reversediff(" + strings.Join(s, ", ") + ")"
}

func (b Backend) limit() int {
	if b.Limit > 0 {
		return b.Limit
	}
	return engine.DefaultLimit
}

func (b Backend) replays(f *engine.Function) bool { return b.Compile || f.Replayable() }

// OneShot implements engine.OneShotter. It returns b without Compile: deriving a
// program takes about a hundred times as long as sweeping the recording it is
// derived from.
func (b Backend) OneShot() engine.Backend {
	b.Compile = false
	return b
}

// RecordLimit implements engine.Limiter.
func (b Backend) RecordLimit() int { return b.Limit }

// GradientFunction implements engine.Transformer. With Compile the gradient may be
// replayed by the engine that differentiates it.
func (b Backend) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, b.Compile)
}

// PushforwardFunction implements engine.Transformer.
func (b Backend) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return engine.PushforwardFunction(f, b, b.Compile)
}

// PreparePullback implements engine.Puller.
func (b Backend) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	if !b.replays(f) {
		return &recordedPullback{newTape(f, b.limit())}, f.Untraceable()
	}
	return engine.CompilePullback(f, x, lanes, b.Limit)
}

// PrepareGradient implements engine.Gradienter.
func (b Backend) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	_, m := f.Dims()
	if m != 1 {
		return nil, &engine.ShapeError{Op: "PrepareGradient", Arg: "number of outputs of " + f.Name(), Got: m, Want: 1}
	}
	if !b.replays(f) {
		return &recordedGradient{newTape(f, b.limit())}, f.Untraceable()
	}
	c, err := engine.NewCompiled(f, x, 1, b.Limit, gradientProgram)
	if err != nil {
		return nil, err
	}
	return &compiledGradient{c: c, b: b, y: make([]float64, 1)}, nil
}

// pause is the number of calls for which a function that often takes new branches is recorded without deriving a
// program.
const pause = 64

// gradientProgram returns the program of value and gradient, with the outputs "y" and "xbar".
func gradientProgram(p *program.Program, strong bool) *program.Program {
	return program.Simplify(program.VJP(p, program.VJPOptions{Unit: true, Strong: strong}))
}

type compiledGradient struct {
	c *engine.Compiled
	b Backend
	y []float64
	// If calls keep taking other branches, recordings are swept in place for a while before a program is derived again.
	tape   *recordedGradient
	paused int
	swept  int
}

func (g *compiledGradient) Recordings() int { return g.c.Recordings() + g.swept }

func (g *compiledGradient) ValueAndGradient(grad, x []float64) (float64, error) {
	if g.paused > 0 {
		g.paused--
		g.swept++
		return g.tape.ValueAndGradient(grad, x)
	}
	machine, err := g.c.Into(1, grad).Run(x, engine.Block{})
	if err != nil {
		return 0, err
	}
	machine.Output(0, g.y)
	machine.Output(1, grad)
	if g.c.Thrashing() {
		if g.tape == nil {
			g.tape = &recordedGradient{newTape(g.c.Function(), g.b.limit())}
		}
		g.paused = pause
		g.c.ForgetRecent()
	}
	return g.y[0], nil
}

// PrepareHVP implements engine.HVPer. If the function is replayed, the product is the tangent of the gradient program.
func (b Backend) PrepareHVP(f *engine.Function, x []float64, lanes int) (engine.HVP, error) {
	if !b.replays(f) {
		g, err := b.GradientFunction(f)
		if err != nil {
			return nil, err
		}
		return engine.HVPByPullback(b, g, x, lanes)
	}
	c, err := engine.NewCompiled(f, x, 2, b.Limit, func(p *program.Program, strong bool) *program.Program {
		g := program.VJP(p, program.VJPOptions{Unit: true, Strong: strong})
		return program.Simplify(program.JVP(program.Simplify(g), program.JVPOptions{Lanes: lanes, Strong: strong}))
	})
	if err != nil {
		return nil, err
	}
	return engine.HVPOf(c, lanes), nil
}

// sweepLimit is the largest number of operations that the sweeps of a whole Jacobian or Hessian may visit while its
// program is built, and of the elements that it may have. Beyond it, the program of a few directions is run several
// times.
const sweepLimit = 1 << 20

// PrepareJacobian implements engine.Jacobianer. A small Jacobian is one program, with a sweep for each row or column
// over the statements related to it; a large one takes several columns or rows at a time, whichever are fewer.
func (b Backend) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	n, m := f.Dims()
	if !b.replays(f) || n == 0 || m == 0 {
		return engine.DeriveJacobian(b, f, x)
	}
	p, err := f.ProgramLimit(x, b.Limit)
	if err != nil {
		return nil, err
	}
	if max(p.Operations()*min(n, m), n*m) > sweepLimit {
		if n < m { // a pullback for each output would be the wrong way round
			return engine.DeriveJacobian(tangents{b}, f, x)
		}
		return engine.DeriveJacobian(b, f, x)
	}
	c, err := engine.NewCompiled(f, x, 1, b.Limit, func(p *program.Program, strong bool) *program.Program {
		return program.Simplify(program.Jacobian(p, program.JacobianOptions{Forward: n < m, Strong: strong}))
	})
	if err != nil {
		return nil, err
	}
	return engine.JacobianOf(c), nil
}

// A tangents is the backend as a Pusher: it replays the tangent of the program.
type tangents struct{ b Backend }

func (t tangents) Name() string { return t.b.Name() }

func (t tangents) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	return engine.CompilePushforward(f, x, lanes, t.b.Limit)
}

// Tangents implements engine.Tangenter.
func (b Backend) Tangents() engine.Backend {
	if !b.Compile {
		return nil
	}
	return tangents{b}
}

// PrepareHessian implements engine.Hessianer. A small Hessian is one program, with a tangent of the gradient for each
// column over the statements that depend on its input.
func (b Backend) PrepareHessian(f *engine.Function, x []float64) (engine.Hessian, error) {
	n, _ := f.Dims()
	if b.replays(f) && n > 0 {
		p, err := f.ProgramLimit(x, b.Limit)
		if err != nil {
			return nil, err
		}
		if max(4*p.Operations()*n, n*n) <= sweepLimit { // the gradient is about as much longer
			return b.compileHessian(f, x)
		}
	}
	k := engine.LanesOf(b, n)
	f.DivideSweeps(n, k)
	hvp, err := b.PrepareHVP(f, x, k)
	if err != nil {
		return nil, err
	}
	return engine.HessianByHVP(hvp, f, k), nil
}

func (b Backend) compileHessian(f *engine.Function, x []float64) (engine.Hessian, error) {
	c, err := engine.NewCompiled(f, x, 2, b.Limit, func(p *program.Program, strong bool) *program.Program {
		g := gradientProgram(p, strong)
		return program.Simplify(program.Jacobian(g, program.JacobianOptions{Group: 1, Forward: true, Strong: strong}))
	})
	if err != nil {
		return nil, err
	}
	return engine.HessianOf(c), nil
}
