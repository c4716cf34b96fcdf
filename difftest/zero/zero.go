// Package zero has engines whose derivatives are all zero. They measure what the interface itself costs: a call on
// [Forward] or [Reverse] takes the time of the operator around an engine, and of an evaluation of the function where a
// value is wanted, and allocates what the operator allocates.
//
//	p, err := nabla.PrepareGradient(f, zero.Reverse{}, x)
//
// BenchmarkOverhead prints the time of each operator.
package zero

import "github.com/nabla-ad/nabla/engine"

// Forward is an engine with pushforwards, all of them zero.
type Forward struct{}

// Reverse is an engine with pullbacks, all of them zero.
type Reverse struct{}

// Name returns "zero(forward)".
func (Forward) Name() string { return "zero(forward)" }

// Name returns "zero(reverse)".
func (Reverse) Name() string { return "zero(reverse)" }

// product is a Pushforward and a Pullback.
type product struct{ f *engine.Function }

// PreparePushforward implements engine.Pusher.
func (Forward) PreparePushforward(f *engine.Function, _ []float64, _ int) (engine.Pushforward, error) {
	return product{f}, nil
}

// Pushforward writes y = f(x) and zeros to ydot.
func (p product) Pushforward(y []float64, ydot engine.Block, x []float64, _ engine.Block) error {
	ydot.Zero()
	return p.f.Value(y, x)
}

// PreparePullback implements engine.Puller.
func (Reverse) PreparePullback(f *engine.Function, _ []float64, _ int) (engine.Pullback, error) {
	return product{f}, nil
}

// Pullback writes y = f(x) and zeros to xbar.
func (p product) Pullback(y []float64, xbar engine.Block, x []float64, _ engine.Block) error {
	xbar.Zero()
	return p.f.Value(y, x)
}

// A derived is a derivative as a function: zeros, and the value of f.
func derived(f *engine.Function, name string, n, m, zeros int) *engine.Function {
	k, _ := f.Dims()
	var fork func() engine.Def
	make := func(f *engine.Function) engine.Def {
		return engine.Def{Name: name + " of " + f.Name(), N: n, M: m, Context: f.Context(), Fork: fork,
			Plain: func(y, x []float64, _ engine.Context) error {
				clear(y[:zeros])
				return f.Value(y[zeros:], x[:k])
			}}
	}
	fork = func() engine.Def { return make(f.Clone()) }
	return f.Derive(make(f))
}

// GradientFunction implements engine.Transformer: the gradient is zero.
func (Forward) GradientFunction(f *engine.Function) (*engine.Function, error) { return gradient(f) }

// GradientFunction implements engine.Transformer: the gradient is zero.
func (Reverse) GradientFunction(f *engine.Function) (*engine.Function, error) { return gradient(f) }

func gradient(f *engine.Function) (*engine.Function, error) {
	n, m := f.Dims()
	if m != 1 {
		return nil, &engine.ShapeError{Op: "GradientFunction", Arg: "number of outputs of " + f.Name(), Got: m, Want: 1}
	}
	return derived(f, "zero gradient", n, n+1, n), nil
}

// PushforwardFunction implements engine.Transformer: the pushforward is zero.
func (Forward) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return pushforward(f)
}

// PushforwardFunction implements engine.Transformer: the pushforward is zero.
func (Reverse) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return pushforward(f)
}

func pushforward(f *engine.Function) (*engine.Function, error) {
	n, m := f.Dims()
	return derived(f, "zero pushforward", 2*n, 2*m, m), nil
}
