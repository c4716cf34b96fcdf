package finitediff

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/program"
)

// GradientFunction returns the function x ↦ (∇f(x), f(x)), whose gradient consists of the difference quotients of
// PrepareGradient. Over plain numbers it computes them as PrepareGradient does; over Reals it runs f at shifted Reals
// and combines the results, so that another engine differentiates the quotient itself, with the steps held fixed. The
// result has the truncation error of the quotient's derivative, and its rounding error divided by the step.
//
// In a recording the steps are part of the program and follow x. If bounds move the nodes, the recording is valid at
// its point only, which guards ensure.
//
// An engine that runs generated code differentiates the function that the quotients approximate instead, since code
// for the quotients is not generated: its derivatives are those of the exact gradient of f, by the code of f.
//
// Complex has no complex Reals; over Reals its gradient is the reverse sweep of the recorded program, which agrees with
// it to rounding.
func (b Backend) GradientFunction(f *engine.Function) (*engine.Function, error) {
	if err := scalar(f, "GradientFunction"); err != nil {
		return nil, err
	}
	n, _ := f.Dims()
	return b.derived(f, "gradient of "+f.Name(), n, n+1, func(s *settings, f *engine.Function) transform {
		return transform{
			plain: func() (func(y, x []float64) error, error) {
				var g engine.Gradient
				return func(y, x []float64) (err error) {
					if g == nil {
						if g, err = b.PrepareGradient(f, x); err != nil {
							return err
						}
					}
					y[n], err = g.ValueAndGradient(y[:n], x)
					return err
				}, nil
			},
			traced: func(y, x []engine.Real, c engine.Context) error {
				if err := s.tracedGradient(f, y[:n], x, c); err != nil {
					return err
				}
				return f.Within(y[n:], x, c)
			},
			exact: func() (*engine.Function, error) { return engine.GradientFunction(f, b, false) },
			code:  engine.GradientCode,
			of:    1,
		}
	})
}

// PushforwardFunction returns the function (x, v) ↦ (J(x)·v, f(x)): the directional difference of f at x along v. As a
// function of 2n numbers it is differentiated like GradientFunction. The quotient is taken along v even if v has a
// single nonzero component.
func (b Backend) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	n, m := f.Dims()
	return b.derived(f, "pushforward of "+f.Name(), 2*n, 2*m, func(s *settings, f *engine.Function) transform {
		return transform{
			plain: func() (func(y, x []float64) error, error) {
				if s.method == Complex {
					return b.complexPushforward(f)
				}
				w := newPool(f, 1).workers[0]
				return func(y, xv []float64) error {
					if err := s.plainPushforward(w, y[m:], y[:m], xv); err != nil {
						return err
					}
					return f.Value(y[m:], xv[:n])
				}, nil
			},
			traced: func(y, xv []engine.Real, c engine.Context) error {
				if err := s.tracedPushforward(f, y[:m], xv, c); err != nil {
					return err
				}
				return f.Within(y[m:], xv[:n], c)
			},
			exact: func() (*engine.Function, error) { return engine.PushforwardFunction(f, b, false) },
			code:  engine.PushforwardCode,
			of:    m,
		}
	})
}

// A transform holds the ways to compute a derived function of one base. The last of its outputs, as many as of says,
// are those of the base.
type transform struct {
	plain  func() (func(y, x []float64) error, error)
	traced func(y, x []engine.Real, c engine.Context) error
	exact  func() (*engine.Function, error) // of the recorded program
	code   func(f *engine.Function, plain func(y, x []float64) error) *engine.Generated
	of     int
}

// derived makes a Function with state of its own: a clone has its own base.
func (b Backend) derived(f *engine.Function, name string, n, m int,
	ways func(*settings, *engine.Function) transform) (*engine.Function, error) {
	s, err := b.first(f)
	if err != nil {
		return nil, err
	}
	if s.method == Complex && !f.Traceable() {
		return nil, complexUnsupported(f)
	}
	var define func(f *engine.Function) (engine.Def, error)
	define = func(f *engine.Function) (engine.Def, error) {
		t := ways(s, f)
		plain, err := t.plain()
		if err != nil {
			return engine.Def{}, err
		}
		def := engine.Def{
			Name: name, N: n, M: m, Context: f.Context(), Checked: t.of,
			Plain:     func(y, x []float64, _ engine.Context) error { return plain(y, x) },
			Generated: t.code(f, plain), Ungenerated: f.Ungenerated(),
			Fork: func() engine.Def {
				d, err := define(f.Clone())
				if err != nil {
					panic(err) // the same settings were accepted before
				}
				return d
			},
		}
		switch {
		case !f.Traceable():
		case s.method == Complex:
			g, err := t.exact()
			if err != nil {
				return engine.Def{}, err
			}
			def.Traced = func(y, x []engine.Real, c engine.Context) error { return g.Within(y, x, c) }
			def.Program = func(x []float64, _ engine.Context) (*program.Program, error) { return g.Program(x) }
		default:
			def.Traced = t.traced
		}
		return def, nil
	}
	def, err := define(f)
	if err != nil {
		return nil, err
	}
	return f.Derive(def), nil
}

func (b Backend) complexPushforward(f *engine.Function) (func(y, x []float64) error, error) {
	n, m := f.Dims()
	b.Workers = 0
	var p engine.Pushforward
	return func(y, xv []float64) (err error) {
		if p == nil {
			if p, err = b.PreparePushforward(f, xv[:n], 1); err != nil {
				return err
			}
		}
		return p.Pushforward(y[m:], engine.Column(y[:m]), xv[:n], engine.Column(xv[n:]))
	}, nil
}
