package nabla_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// Functions over float64, alike but for the code that they have.

func squares(y, x []float64) {
	y[0] = 0
	for _, v := range x {
		y[0] += v * v
	}
}

func codeless(y, x []float64)   { squares(y, x) }
func coded(y, x []float64)      { squares(y, x) }
func tracedOnly(y, x []float64) { squares(y, x) }
func untraced(y, x []float64)   { squares(y, x) }
func noAdjoint(y, x []float64)  { squares(y, x) }

func tracedSquares(y, x []nabla.Real, _ any) int {
	y[0] = nabla.Dot(x, x)
	return 1
}

// squaresCode is the code of squares, the adjoint only if it is wanted.
func squaresCode(adjoint bool) func() nabla.Code {
	return func() nabla.Code {
		c := nabla.Code{Tangent: func(y, ydot, x, xdot []float64, _ any) int {
			squares(y, x)
			ydot[0] = 0
			for i, v := range x {
				ydot[0] += 2 * v * xdot[i]
			}
			return 1
		}}
		if !adjoint {
			return c
		}
		c.Adjoint = func(y, xbar, x, ybar []float64, _ any) int {
			squares(y, x)
			for i, v := range x {
				xbar[i] = 2 * v * ybar[0]
			}
			return 1
		}
		c.AdjointTangent = func(y, xbar, xbardot, x, xdot, ybar []float64, _ any) int {
			squares(y, x)
			for i, v := range x {
				xbar[i], xbardot[i] = 2*v*ybar[0], 2*xdot[i]*ybar[0]
			}
			return 1
		}
		return c
	}
}

func init() {
	refused := "squares.go:7: a goto into a loop"
	for _, r := range []struct {
		f any
		g nabla.Generated
	}{
		{coded, nabla.Generated{New: squaresCode(true), Traced: tracedSquares}},
		{tracedOnly, nabla.Generated{Traced: tracedSquares, Refused: refused}},
		{untraced, nabla.Generated{New: squaresCode(true)}},
		{noAdjoint, nabla.Generated{New: squaresCode(false), Refused: refused}},
	} {
		r.g.Version = nabla.CodeVersion
		nabla.Register(r.f, r.g)
	}
}

// sparseOnly are methods that refuse engines with dense matrices, whatever the function.
var sparseOnly = map[string]bool{
	"Sparse": true, "ValueAndSparse": true, "ValueGradientAndSparse": true, "Extend": true,
}

// prepareFuncs are functions of each kind.
func prepareFuncs() map[string]*nabla.Func {
	calls := 0
	return map[string]*nabla.Func{
		"codeless": nabla.InPlace(1, codeless), "coded": nabla.InPlace(1, coded),
		"tracedOnly": nabla.InPlace(1, tracedOnly), "untraced": nabla.InPlace(1, untraced),
		"noAdjoint": nabla.InPlace(1, noAdjoint),
		"literal":   nabla.InPlace(1, func(y, x []float64) { calls++; squares(y, x) }),
		"bound":     nabla.BindInPlace(1, func(y, x []float64, _ *bound) { squares(y, x) }, new(bound)),
		"slices":    nabla.Bind(func(x []float64, _ *bound) []float64 { return []float64{x[0] * x[0]} }, new(bound)),
		"reals":     nabla.BindInPlace(1, func(y, x []nabla.Real, _ *bound) { tracedSquares(y, x, nil) }, new(bound)),
	}
}

type bound struct{ A int }

// prepareBackends returns the engines, all pairs of them, and wrappers around them.
func prepareBackends() []nabla.Backend {
	single := append(engines.Exact(),
		source.Forward{}, source.Reverse{}, finitediff.Backend{}, finitediff.Backend{Method: finitediff.Complex})
	all := append([]nabla.Backend{forwarddiff.Backend{Workers: 2, Chunk: 1}}, single...)
	all = append(all, finitediff.Adaptive{})
	known := sparsity.Known{J: sparsity.Full(1, 2), H: sparsity.Banded(2, 2, 0, 0)}
	for _, e := range single {
		all = append(all, nabla.Policy{Backend: e, NoStaleCheck: true}, nabla.AutoSparse{Dense: e},
			nabla.AutoSparse{Dense: e, Detector: known, NoProbe: true})
		for _, inner := range single {
			pair := nabla.SecondOrder{Outer: e, Inner: inner}
			all = append(all, pair, nabla.AutoSparse{Dense: pair, Detector: known, NoProbe: true},
				nabla.MixedMode{Forward: e, Reverse: inner},
				nabla.AutoSparse{Dense: nabla.MixedMode{Forward: e, Reverse: inner}, Detector: known})
		}
	}
	return all
}

// TestPrepareRefusesWhatCallsWouldRefuse covers every operator, backend and kind of function. Prepare
// refuses functions that cannot be differentiated; if it accepts one, every method works, also
// after Clone, Resize and Rebind.
func TestPrepareRefusesWhatCallsWouldRefuse(t *testing.T) {
	methods, _ := declared(t)
	backends := prepareBackends()
	if testing.Short() {
		backends = backends[:2] // the others say nothing about races
	} else {
		backends = longtest.Sample(backends, 60)
	}
	for kind, f := range prepareFuncs() {
		for _, b := range backends {
			for _, p := range preparations {
				name := kind + "/" + b.Name() + "/" + p.typ().Name()
				x := []float64{1, 2}[:p.n]
				o, err := p.prepare(f, b, x)
				black := kind == "codeless" || kind == "literal" || kind == "bound" || kind == "slices"
				switch {
				case err != nil && !errors.Is(err, nabla.ErrUnsupported):
					t.Errorf("%s: Prepare gave %v, want an UnsupportedError", name, err)
				case err == nil && black && !strings.Contains(b.Name(), "finitediff"):
					t.Errorf("%s: prepared, want an UnsupportedError", name)
				}
				if err != nil {
					continue
				}
				callAll(t, name, methods[p.typ().Name()], o, p.n)
				if r, ok := o.(interface{ Rebind(any) error }); ok && (kind == "reals" || kind == "bound") {
					if err := r.Rebind(new(bound)); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					callAll(t, name+" bound anew", methods[p.typ().Name()], o, p.n)
				}
				if clone := reflect.ValueOf(o).MethodByName("Clone"); clone.IsValid() {
					callAll(t, name+" cloned", methods[p.typ().Name()], clone.Call(nil)[0].Interface(), p.n)
				}
			}
		}
	}
}

// callAll calls every method of o that computes something.
func callAll(t *testing.T, name string, methods []method, o any, n int) {
	t.Helper()
	for _, m := range methods {
		if m.name == "Rebind" {
			continue // see below
		}
		if strings.HasSuffix(m.name, "WithError") && !strings.Contains(name, "/finitediff(adaptive)/") {
			continue // the others estimate no errors
		}
		if plan := reflect.ValueOf(o).MethodByName("Plan"); sparseOnly[m.name] &&
			(!plan.IsValid() || plan.Call(nil)[0].IsNil()) {
			continue
		}
		if _, err := call(o, m, n); err != nil {
			t.Errorf("%s: prepared, and %s gave %v", name, m.name, err)
		}
	}
}

// TestPrepareRefusesBlackBoxes has a black box that its engine cannot differentiate: an
// operator that runs the function when it prepares says so then, the others at the call.
func TestPrepareRefusesBlackBoxes(t *testing.T) {
	for _, inner := range []nabla.Backend{forwarddiff.Backend{}, tracker.Backend{}, reversediff.Backend{},
		source.Reverse{}} {
		box := nabla.DifferentiateWith(func(x []float64) float64 { return x[0] * x[1] }, inner)
		f := func(x []nabla.Real) nabla.Real { return box(x).Add(x[0]) }
		x := []float64{1, 2}
		if y := box([]nabla.Real{nabla.Const(2), nabla.Const(3)}); y.Value() != 6 {
			t.Errorf("the value alone is %v, want 6", y.Value())
		}
		for _, prepare := range []func(b nabla.Backend) error{
			func(b nabla.Backend) error { _, err := nabla.PrepareGradient(f, b, x); return err },
			func(b nabla.Backend) error { _, err := nabla.PrepareHVP(f, b, x); return err },
			func(b nabla.Backend) error { _, err := nabla.PrepareHessian(f, b, x); return err },
			func(b nabla.Backend) error {
				_, err := nabla.PrepareJacobian(func(x []nabla.Real) []nabla.Real { return []nabla.Real{f(x)} }, b, x)
				return err
			},
		} {
			if err := prepare(reversediff.Backend{Compile: true}); !errors.Is(err, nabla.ErrUnsupported) {
				t.Errorf("with %s, recorded when prepared: %v, want an UnsupportedError", inner.Name(), err)
			}
		}
		for _, b := range firstOrder {
			if _, err := nabla.Gradient(f, b, x); !errors.Is(err, nabla.ErrUnsupported) {
				t.Errorf("with %s in %s: %v, want an UnsupportedError", inner.Name(), b.Name(), err)
			}
		}
	}
}
