package source_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
)

// bound is a function that is made before init has registered its code.
var bound = nabla.Bind(fit, data)

var data = &table{
	rows: [][]float64{{1, 2, -1}, {0.5, -1, 3}, {2, 0, 1}, {1, 1, 1}},
	y:    []float64{1, -2, 0.5, 3}, Weight: 0.5,
}

// both are the engines, and their composites for second order.
var both = []nabla.Backend{
	source.Forward{}, source.Reverse{},
	nabla.SecondOrder{Outer: source.Forward{}, Inner: source.Reverse{}},
	nabla.SecondOrder{Outer: source.Reverse{}, Inner: source.Forward{}},
	nabla.MixedMode{Forward: source.Forward{}, Reverse: source.Reverse{}},
}

// TestShapes runs each operator that fits on a function in each shape, against
// differences of the function.
func TestShapes(t *testing.T) {
	x1, x3 := []float64{0.3}, []float64{0.4, -1.2, 0.9}
	var scenarios []difftest.Scenario
	add := func(name string, s difftest.Scenario) {
		s.Name = name + "/" + s.Name
		scenarios = append(scenarios, expected(t, s))
	}
	add("bell", difftest.Of("derivative", bell, x1))
	add("bell", difftest.Of("second_derivative", bell, x1))
	add("helix", difftest.Of("derivative", helix, x1))
	add("helix", difftest.Of("second_derivative", helix, x1))
	for name, f := range map[string]any{
		"valley": valley, "cubes": cubes[float64], "bound": bound,
		"method": nabla.BindMethod((*table).Loss, data),
	} {
		of := func(op string, v ...[]float64) {
			switch f := f.(type) {
			case func([]float64) float64:
				add(name, difftest.Of(op, f, x3, v...))
			case *nabla.Func:
				add(name, difftest.Of(op, f, x3, v...))
			}
		}
		of("gradient")
		of("hessian")
		of("hvp", []float64{1, -2, 0.5})
		of("pushforward", []float64{1, -2, 0.5})
		of("pullback", []float64{-1.5})
	}
	for name, f := range map[string]any{
		"ring": ring, "residuals": nabla.BindMethod((*table).Residuals, data),
		"swirl": nabla.InPlace(3, swirl), "lotka": nabla.BindInPlace(2, lotka, &rates{1.5, 0.5}),
	} {
		n, m := 3, map[string]int{"ring": 3, "residuals": 4, "swirl": 3, "lotka": 2}[name]
		if name == "swirl" || name == "lotka" {
			n = 2
		}
		of := func(op string, v ...[]float64) {
			switch f := f.(type) {
			case func([]float64) []float64:
				add(name, difftest.Of(op, f, x3[:n], v...))
			case *nabla.Func:
				add(name, difftest.Of(op, f, x3[:n], v...))
			}
		}
		of("jacobian")
		of("pushforward", []float64{1, -2, 0.5}[:n])
		of("pullback", []float64{1, -2, 0.5, 3}[:m])
	}
	for _, b := range both {
		t.Run(b.Name(), func(t *testing.T) {
			difftest.Run(t, b, &difftest.Options{Scenarios: scenarios, Tol: 1e-7, SecondTol: 1e-5})
		})
	}
}

// expected is s with the results by differences, which has no part of the code.
func expected(t *testing.T, s difftest.Scenario) difftest.Scenario {
	t.Helper()
	f, fd := s.Form(true), finitediff.Backend{}
	var err error
	number := func(y, d float64) { s.Value, s.First = []float64{y}, []float64{d} }
	switch g := f.(type) {
	case func(float64) float64:
		y, d, d2, e := nabla.ValueDerivativeAndSecondDerivative(g, fd, s.X[0])
		number(y, d)
		if err = e; s.Operator == "second_derivative" {
			s.Second = []float64{d2}
		}
	case func(float64) []float64:
		y, d, d2, e := nabla.ValueDerivativeAndCurveSecondDerivative(g, fd, s.X[0])
		s.Value, s.First = y, d
		if err = e; s.Operator == "second_derivative" {
			s.Second = d2
		}
	case func([]float64) float64:
		err = results(&s, g, fd)
	case func([]float64) []float64:
		err = vectorResults(&s, g, fd)
	case *nabla.Func:
		if s.Operator == "jacobian" || s.YShape.Number {
			err = vectorResults(&s, g, fd)
		} else if err = results(&s, g, fd); err != nil {
			err = vectorResults(&s, g, fd)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return s
}

// results are those of a function with one output.
func results[F nabla.ScalarFunc](s *difftest.Scenario, f F, b nabla.Backend) error {
	y, g, err := nabla.ValueAndGradient(f, b, s.X)
	if err != nil {
		return err
	}
	s.Value, s.First = []float64{y}, g
	var v []float64
	if len(s.Tangents) > 0 {
		v = s.Tangents[0]
	}
	switch s.Operator {
	case "pushforward":
		d := 0.0
		for i := range g {
			d += g[i] * v[i]
		}
		s.First = []float64{d}
	case "pullback":
		for i := range g {
			g[i] *= v[0]
		}
	case "hvp":
		s.Second, err = nabla.HVP(f, b, s.X, v)
	case "hessian":
		h, e := nabla.Hessian(f, b, s.X)
		if e != nil {
			return e
		}
		for i := range s.X {
			for j := range s.X {
				s.Second = append(s.Second, h.At(i, j))
			}
		}
	}
	return err
}

// vectorResults are those of a function with several outputs.
func vectorResults[F nabla.VectorFunc](s *difftest.Scenario, f F, b nabla.Backend) (err error) {
	y, j, err := nabla.ValueAndJacobian(f, b, s.X)
	if err != nil {
		return err
	}
	s.Value = y
	switch s.Operator {
	case "jacobian":
		for i := range y {
			for k := range s.X {
				s.First = append(s.First, j.At(i, k))
			}
		}
	case "pushforward":
		s.First, err = nabla.Pushforward(f, b, s.X, s.Tangents[0])
	case "pullback":
		s.First, err = nabla.Pullback(f, b, s.X, s.Tangents[0])
	}
	return err
}

// TestAllocations checks that hot calls allocate no more than the generated code itself, which allocates nothing for
// valley.
func TestAllocations(t *testing.T) {
	x, v := []float64{0.4, -1.2, 0.9, 0.3, 2}, []float64{1, 2, 3, 4, 5}
	scenarios := []difftest.Scenario{
		difftest.Of("gradient", valley, x), difftest.Of("hvp", valley, x, v), difftest.Of("hessian", valley, x),
		difftest.Of("pushforward", valley, x, v), difftest.Of("pullback", valley, x, []float64{2}),
	}
	for _, b := range both[:3] {
		t.Run(b.Name(), func(t *testing.T) {
			difftest.Run(t, b, &difftest.Options{Scenarios: scenarios, AllocFree: true})
		})
	}
}

// TestWeightedHessian is Σ wᵢ·∇²yᵢ of ring in closed form.
func TestWeightedHessian(t *testing.T) {
	x, w := []float64{0.4, -1.2, 0.9}, []float64{2, -1, 0.5}
	h := ringExact(x, nil).hess
	for _, b := range both {
		got, err := nabla.WeightedHessian(ring, b, x, w)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		for i := range x {
			for j := range x {
				want := 0.0
				for k := range w {
					want += w[k] * h[k*9+i*3+j]
				}
				if math.Abs(got.At(i, j)-want) > 1e-14 {
					t.Errorf("%s: element %d,%d is %v, want %v", b.Name(), i, j, got.At(i, j), want)
				}
			}
		}
	}
}

// TestOverDifferences: with finitediff as the inner engine the Hessian is that of the code, bit for bit. The gradient
// of Forward is the difference quotient, that of Reverse, which differentiates pushforwards, is exact. Errors of the
// inner engine are those of the call.
func TestOverDifferences(t *testing.T) {
	x := []float64{1.4, 0.9, 2}
	exact, err := nabla.Hessian(valley, source.Reverse{}, x)
	if err != nil {
		t.Fatal(err)
	}
	inner := finitediff.Backend{Bounds: &finitediff.Bounds{Upper: []float64{2, 2, 2}}}
	quotient, err := nabla.Gradient(valley, inner, x)
	if err != nil {
		t.Fatal(err)
	}
	smooth, err := nabla.Gradient(valley, source.Reverse{}, x)
	if err != nil || slices.Equal(smooth, quotient) {
		t.Fatalf("the gradients %v and %v do not differ, %v", smooth, quotient, err)
	}
	for outer, want := range map[nabla.Backend][]float64{source.Forward{}: quotient, source.Reverse{}: smooth} {
		b := nabla.SecondOrder{Outer: outer, Inner: inner}
		_, gradient, h, err := nabla.ValueGradientAndHessian(valley, b, x)
		if err != nil || !slices.Equal(gradient, want) || !mat.Equal(h, exact) {
			t.Errorf("%s: gradient %v, want %v; Hessian %v, want %v; %v", b.Name(), gradient, want, h, exact, err)
		}
		_, err = nabla.Hessian(valley, b, []float64{1, 3, 1})
		var outside *finitediff.BoundsError
		if !errors.As(err, &outside) || outside.Index != 1 {
			t.Errorf("%s outside of the bounds: %v, want a *BoundsError", b.Name(), err)
		}
	}
}

// TestStaleOverDifferences: values of the code are compared with those of the function, whose code is out of date, also
// if the inner engine evaluates the function itself.
func TestStaleOverDifferences(t *testing.T) {
	defer func() { shift = 0 }()
	for _, outer := range []nabla.Backend{source.Forward{}, source.Reverse{}} {
		for i, want := range []error{nil, nabla.ErrStale} {
			shift = float64(i)
			b := nabla.SecondOrder{Outer: outer, Inner: finitediff.Backend{}}
			if _, err := nabla.Hessian(shifted, b, []float64{3}); !errors.Is(err, want) {
				t.Errorf("%s with shift %v: %v, want %v", b.Name(), shift, err, want)
			}
		}
	}
}

// TestVectorInside: generated code of a function with several outputs inside a function over Reals, whose first and
// second derivatives another engine takes, is as the form over Reals in its place.
func TestVectorInside(t *testing.T) {
	x := []float64{0.4, -1.2, 0.9}
	weigh := func(x, y []nabla.Real) nabla.Real { return y[0].Mul(y[1]).Add(y[2].Sq().Mul(x[0])) }
	direct := func(x []nabla.Real) nabla.Real { return weigh(x, ringOverReals(x)) }
	y, g, h, err := nabla.ValueGradientAndHessian(direct, forwarddiff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	inside := append(slices.Clone(both[:4]), nabla.SecondOrder{Outer: source.Reverse{}, Inner: finitediff.Backend{}},
		nabla.SecondOrder{Outer: finitediff.Backend{}, Inner: source.Reverse{}})
	for _, in := range inside {
		tol := 1e-13
		if strings.Contains(in.Name(), "finitediff") {
			tol = 1e-6
		}
		box := nabla.DifferentiateVectorWith(ring, in)
		f := func(x []nabla.Real) nabla.Real { return weigh(x, box(x)) }
		for _, outer := range []nabla.Backend{
			forwarddiff.Backend{}, reversediff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{},
			nabla.SecondOrder{Outer: tracker.Backend{}, Inner: forwarddiff.Backend{}},
			nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: tracker.Backend{}},
		} {
			y2, g2, h2, err := nabla.ValueGradientAndHessian(f, outer, x)
			if err != nil || math.Abs(y2-y) > tol || !floats.EqualApprox(g, g2, tol) || !mat.EqualApprox(h, h2, tol) {
				t.Errorf("%s inside %s: %v %v %v, want %v %v %v; %v", in.Name(), outer.Name(), y2, g2, h2, y, g, h, err)
			}
		}
	}
}

// ringOverReals is ring over Reals.
func ringOverReals(x []nabla.Real) []nabla.Real {
	y := make([]nabla.Real, len(x))
	for i, v := range x {
		y[i] = v.Sq().Mul(x[(i+1)%len(x)])
	}
	return y
}
