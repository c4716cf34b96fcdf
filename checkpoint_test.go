package nabla_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/taylor"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
	"github.com/nabla-ad/nabla/sparsity"
)

// layer is a function with a branch, and an output that is a constant.
func layer(x []nabla.Real) []nabla.Real {
	y := make([]nabla.Real, len(x))
	for i := range x {
		y[i] = nabla.Tanh(x[i].Mul(x[(i+1)%len(x)])).Add(x[i].Sq())
		if x[i].Less(nabla.Const(0)) {
			y[i] = nabla.Exp(x[i])
		}
	}
	y[0] = nabla.Const(3)
	return y
}

// TestCheckpoint compares chains of checkpoints with plain functions, in all engines, to third order.
func TestCheckpoint(t *testing.T) {
	run := nabla.Checkpoint(layer)
	chain := func(layer func(x []nabla.Real) []nabla.Real) func(x []nabla.Real) []nabla.Real {
		return func(x []nabla.Real) []nabla.Real { return layer(layer(x)) }
	}
	x := []float64{0.3, -0.4, 0.7}
	var c scanCase
	for _, b := range scanEngines {
		compareFirst(t, b.Name(), b, chain(run), chain(layer), x)
	}
	for _, b := range append([]nabla.Backend{taylor.Backend{}}, secondOrder...) {
		compareSecond(t, b.Name(), b, c.weigh(chain(run)), c.weigh(chain(layer)), x)
	}
	inner := func(layer func(x []nabla.Real) []nabla.Real) func(x []nabla.Real) nabla.Real {
		return c.weigh(nabla.GradientFunc(c.weigh(chain(layer)), tracker.Backend{}))
	}
	compareSecond(t, "third order", reversediff.Backend{Compile: true}, inner(run), inner(layer), x)
}

// TestCheckpointOfRandomFunctions compares random functions with their checkpoints.
func TestCheckpointOfRandomFunctions(t *testing.T) {
	longtest.Serial(t)
	engines := []nabla.Backend{reversediff.Backend{Compile: true}, tracker.Backend{}}
	for seed := range longtest.Seeds(20, 50, 1000) {
		p, xs := randfunc.New(randomData(seed), 2, randfunc.Options{M: 2})
		f := p.Real().Vector
		run := nabla.Checkpoint(f)
		for _, b := range engines {
			got, err := nabla.PrepareJacobian(run, b, xs[0])
			if err != nil {
				t.Fatal(err)
			}
			want, err := nabla.PrepareJacobian(f, b, xs[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range xs {
				j1, err := got.Dense(nil, x)
				if err != nil {
					t.Fatal(err)
				}
				j2, err := want.Dense(nil, x)
				if err != nil {
					t.Fatal(err)
				}
				if calm(j2) && !closeUpTo(j1, j2, 1e-11) {
					t.Errorf("seed %d, %s at %v: Jacobian\n%v, want\n%v", seed, b.Name(), x, mat.Formatted(j1),
						mat.Formatted(j2))
				}
			}
		}
	}
}

// TestCheckpointKeepsNothing changes data that the function captures.
func TestCheckpointKeepsNothing(t *testing.T) {
	factor := 2.0
	run := nabla.Checkpoint(func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Sq().Scale(factor)} })
	f := func(x []nabla.Real) nabla.Real { return run(x)[0] }
	p, err := nabla.PrepareGradient(f, reversediff.Backend{Compile: true}, []float64{3})
	if err != nil {
		t.Fatal(err)
	}
	for _, factor = range []float64{2, 5, -1} {
		if g, err := p.Gradient(nil, []float64{3}); err != nil || g[0] != 6*factor {
			t.Errorf("gradient %v, %v, want %v", g, err, 6*factor)
		}
	}
}

// TestPatternsOfLoops compares the patterns of loops and checkpoints with those of the plain functions.
func TestPatternsOfLoops(t *testing.T) {
	// A moving stencil: after two steps an element depends on its neighbours at a distance of two.
	stencil := nabla.Scan{Outputs: 1, Step: func(s *nabla.ScanStep) {
		n := len(s.State)
		for i := range s.State {
			s.Next[i] = s.State[i].Mul(s.State[(i+1)%n])
		}
		s.Outputs[0] = nabla.Sin(s.Inputs[0].Add(s.State[0]).Add(s.Params[0]))
	}}
	c := scanCase{s: stencil, n: 2, state: 6, params: 2, inputs: 1, x: make([]float64, 10)}
	for i := range c.x {
		c.x[i] = 1 + float64(i)/8
	}
	chain := func(run func(x []nabla.Real) []nabla.Real) func(x []nabla.Real) []nabla.Real {
		return func(x []nabla.Real) []nabla.Real {
			return append(run(x[:2]), run(x[2:4])...)
		}
	}
	smooth := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Mul(x[1]), x[1]} }
	for _, d := range []sparsity.Detector{sparsity.Global{}, sparsity.Recorded{}} {
		b := nabla.AutoSparse{Dense: reversediff.Backend{}, Detector: d}
		for name, f := range map[string][2]func(x []nabla.Real) []nabla.Real{
			"scan":       {c.over(stencil.Func()), c.over(unrolled(stencil))},
			"checkpoint": {chain(nabla.Checkpoint(smooth)), chain(smooth)},
		} {
			p, err := nabla.PrepareJacobian(f[0], b, c.x)
			if err != nil {
				t.Fatal(err)
			}
			q, err := nabla.PrepareJacobian(f[1], b, c.x)
			if err != nil {
				t.Fatal(err)
			}
			// At a point a call is not looked into: the checkpoint's pattern is full there.
			if got, want := p.Plan().Pattern, q.Plan().Pattern; !got.Equal(want) &&
				(name == "scan" || d == sparsity.Detector(sparsity.Global{})) {
				t.Errorf("%s, %s: the pattern is\n%v, want\n%v", name, d.Name(), got, want)
			}
			j1, err := p.Sparse(nil, c.x)
			if err != nil {
				t.Fatal(err)
			}
			j2, err := q.Sparse(nil, c.x)
			if err != nil {
				t.Fatal(err)
			}
			if !closeMatrices(j1, j2) {
				t.Errorf("%s, %s: Jacobian\n%v, want\n%v", name, d.Name(), mat.Formatted(j1), mat.Formatted(j2))
			}
		}
	}
}

// TestRecordingsOfLoopsAreShort: with a limit on the operations of a recording that the plain functions exceed, loops
// and chains of checkpoints have derivatives.
func TestRecordingsOfLoopsAreShort(t *testing.T) {
	long := func(x []nabla.Real) []nabla.Real {
		y := x[0]
		for range 500 {
			y = nabla.Sin(y.Mul(x[0]))
		}
		return []nabla.Real{y}
	}
	chain := func(f func(x []nabla.Real) []nabla.Real) func(x []nabla.Real) nabla.Real {
		return func(x []nabla.Real) nabla.Real { return f(f(f(x)))[0] }
	}
	step := nabla.Scan{Step: func(s *nabla.ScanStep) { s.Next[0] = nabla.Sin(s.State[0].Mul(s.State[0])) }}
	loop := func(run nabla.ScanFunc) func(x []nabla.Real) nabla.Real {
		return func(x []nabla.Real) nabla.Real {
			last, _ := run(500, x, nil, nil)
			return last[0]
		}
	}
	for _, b := range []nabla.Backend{
		reversediff.Backend{Limit: 100}, reversediff.Backend{Limit: 100, Compile: true}, tracker.Backend{Limit: 100},
	} {
		for name, f := range map[string][2]func(x []nabla.Real) nabla.Real{
			"checkpoint": {chain(nabla.Checkpoint(long)), chain(long)},
			"scan":       {loop(step.Func()), loop(unrolled(step))},
		} {
			x := []float64{0.9}
			want, err := nabla.Gradient(f[1], reversediff.Backend{}, x)
			if err != nil {
				t.Fatal(err)
			}
			g, err := nabla.Gradient(f[0], b, x)
			if err != nil || !closeMatrices(mat.NewVecDense(1, g), mat.NewVecDense(1, want)) {
				t.Errorf("%s, %s: gradient %v, %v, want %v", name, b.Name(), g, err, want)
			}
			var limit *nabla.LimitError
			if _, err = nabla.Gradient(f[1], b, x); !errors.As(err, &limit) {
				t.Errorf("%s, %s, plain: %v, want a LimitError", name, b.Name(), err)
			}
		}
	}
}
