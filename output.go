package nabla

import "github.com/nabla-ad/nabla/engine"

// Output returns output i of f, counted from 0, as a function with one output, for operators such as [Gradient] and
// [Hessian]. An infinite derivative of another output does not turn its derivatives into NaN, as a weight of 0 does in
// [WeightedHessian]. f runs as a whole at each evaluation; an engine that compiles leaves out what output i does not
// depend on. If f has no output i, Prepare returns a [ShapeError].
func Output[F VectorFunc](f F, i int) *Func {
	of := funcOf("Output", f)
	if of.err == nil && i < 0 {
		return &Func{err: &ShapeError{Op: "Output", Arg: "i", Got: i, Want: 0}}
	}
	return of.outputFunc(i)
}

// outputFunc returns output i of f.
func (f *Func) outputFunc(i int) *Func {
	g := *f
	g.of, g.output = f, i
	g.scalar, g.m = true, 1
	return &g
}

// single returns the engine's view of a function that Output returned.
func (f *Func) single(op string, x []float64) (*engine.Function, error) {
	whole, err := functionOf(op, f.of, x, wantVector)
	if err != nil {
		return nil, err
	}
	if _, m := whole.Dims(); f.output >= m {
		return nil, &ShapeError{Op: "Output", Arg: "outputs of f", Got: m, Want: f.output + 1}
	}
	return engine.Output(whole, f.output), nil
}
