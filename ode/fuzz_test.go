package ode_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/ode"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A system is a random differential equation: A·y + Σ pₖ·g(y), where g is by kind 0, which makes the system linear, a
// sine, a square, whose solutions may have a pole, or a square root, which is NaN for negative states.
type system struct {
	n, m, kind int
	stiff      bool
	a          []float64
	y0, p      []float64
}

func randomSystem(rng *rand.Rand, kind int) *system {
	s := &system{n: 1 + rng.IntN(4), m: rng.IntN(4), kind: kind}
	stiff := 1.0
	if s.stiff = rng.IntN(3) == 0; s.stiff {
		stiff = 100
	}
	s.a = make([]float64, s.n*s.n)
	for i := range s.a {
		s.a[i] = rng.NormFloat64()
		if i%(s.n+1) == 0 {
			s.a[i] = -stiff * rng.Float64() * float64(1+i)
		}
	}
	s.y0, s.p = make([]float64, s.n), make([]float64, s.m)
	for i := range s.y0 {
		s.y0[i] = rng.NormFloat64()
	}
	for i := range s.p {
		s.p[i] = rng.NormFloat64()
	}
	return s
}

func (s *system) rightHandSide(dy, z []nabla.Real) {
	for i := range dy {
		sum := nabla.Const(0)
		for j, a := range s.a[i*s.n : (i+1)*s.n] {
			sum = sum.Add(z[j].Scale(a))
		}
		for k := range s.m {
			y, p := z[(i+k)%s.n], z[s.n+k]
			switch s.kind {
			case 1:
				sum = sum.Add(p.Mul(nabla.Sin(y)))
			case 2:
				sum = sum.Add(p.Mul(y.Mul(y)))
			case 3:
				sum = sum.Add(p.Mul(nabla.Sqrt(y)))
			}
		}
		dy[i] = sum
	}
}

// typed reports whether err is one that Solve documents.
func typed(err error) bool {
	_, step := errors.AsType[*ode.StepError](err)
	_, limit := errors.AsType[*ode.LimitError](err)
	_, finite := errors.AsType[*ode.NonFiniteError](err)
	return step || limit || finite
}

// FuzzSolve: solutions of random systems are those of the matrix exponential if these are linear. Derivatives agree
// forwards and backwards, also of a solution that an error has ended, and do not depend on the memory that is allowed.
// Whatever the settings, the error is one of those documented.
func FuzzSolve(f *testing.F) {
	for kind := range uint8(4) {
		f.Add(uint64(kind), kind, 0.5, 1e-6, 200, uint8(3), false)
		f.Add(uint64(kind)+10, kind, -0.25, 1e-3, 1, uint8(0), true)
	}
	f.Add(uint64(1), uint8(1), math.NaN(), 1e-6, 0, uint8(0), false)
	f.Add(uint64(1), uint8(1), 1., math.Inf(1), -1, uint8(1), true)
	f.Add(uint64(1), uint8(1), 0., 1e-6, 100, uint8(2), false)
	f.Add(uint64(2997), uint8(1), -1.8531612876117276, 8.346019908949994, 200, uint8(0), true)
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8, span, relative float64, bytes int, times uint8, rodas bool) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := randomSystem(rng, int(kind%4))
		settings := ode.Settings{Relative: relative, Absolute: relative, MaxSteps: 500}
		if rodas {
			settings.Method = ode.Rodas
		}
		if math.Abs(span) < 1e3 {
			for range times % 5 {
				settings.Times = append(settings.Times, span*rng.Float64())
			}
			slices.SortFunc(settings.Times, func(a, b float64) int {
				if math.Abs(a) < math.Abs(b) {
					return -1
				}
				return 1
			})
		}
		right := nabla.InPlace(s.n, s.rightHandSide)
		q, err := ode.Prepare(right, nil, s.y0, s.p, &settings)
		if _, ok := errors.AsType[*ode.SettingError](err); ok {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		sol, err := q.Solve(nil, s.y0, s.p, 0, span)
		if _, ok := errors.AsType[*ode.SettingError](err); ok && sol == nil {
			return
		}
		if sol == nil || err != nil && !typed(err) {
			t.Fatalf("error %v, solution %v", err, sol)
		}
		if err == nil {
			s.checkValues(t, sol, &settings, span)
		}
		first := gradients(t, q, sol, s, seed, &settings)
		settings.Bytes = 1 + max(0, bytes%4096)
		small, err2 := ode.Prepare(right, nil, s.y0, s.p, &settings)
		if err2 != nil {
			t.Fatal(err2)
		}
		again, err2 := small.Solve(nil, s.y0, s.p, 0, span)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%v with much memory, %v with %d bytes", err, err2, settings.Bytes)
		}
		if second := gradients(t, small, again, s, seed, &settings); !sameBits(first, second) {
			t.Errorf("gradients %v with much memory, %v with %d bytes", first, second, settings.Bytes)
		}
	})
}

// checkValues compares the states with those that At and, for linear systems, the matrix exponential return.
func (s *system) checkValues(t *testing.T, sol *ode.Solution, settings *ode.Settings, span float64) {
	t.Helper()
	if sol.T != span || len(sol.States) != len(settings.Times) {
		t.Fatalf("ended at %v with %d states, want %v with %d", sol.T, len(sol.States), span, len(settings.Times))
	}
	var a mat.Dense
	size := 0.0
	if s.kind == 0 || s.m == 0 {
		a.Scale(span, mat.NewDense(s.n, s.n, s.a))
		a.Exp(&a)
		size = mat.Norm(mat.NewDense(s.n, s.n, s.a), 1) * math.Abs(span)
	}
	if !a.IsEmpty() && size < 10 && settings.Relative > 0 && settings.Relative < 1e-2 {
		want := mat.NewVecDense(s.n, nil)
		want.MulVec(&a, mat.NewVecDense(s.n, s.y0))
		tol := 1e3 * max(settings.Relative, 1e-12) * math.Exp(size) * (1 + floats.Norm(s.y0, 2))
		if d := floats.Distance(want.RawVector().Data, sol.Y, math.Inf(1)); !(d <= tol) {
			t.Errorf("state %v, want %v; the difference is %.3g, and %.3g is allowed", sol.Y, want.RawVector().Data, d,
				tol)
		}
	}
	at := make([]float64, s.n)
	for i, time := range append([]float64{0, span}, settings.Times...) {
		want := sol.Y
		if i == 0 {
			want = s.y0
		} else if i >= 2 {
			want = sol.States[i-2]
		}
		if _, err := sol.At(at, time); err != nil {
			t.Fatal(err)
		}
		if d := floats.Distance(at, want, math.Inf(1)); !(d <= 1e-11*(1+floats.Norm(want, math.Inf(1)))) {
			t.Errorf("At(%v) is %v, want %v", time, at, want)
		}
	}
}

// gradients returns the gradient of a random linear function of the final state, and compares it with the derivative
// along a random tangent.
func gradients(
	t *testing.T, q *ode.Problem, sol *ode.Solution, s *system, seed uint64, settings *ode.Settings,
) []float64 {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	dot, bar := make([]float64, s.n+s.m), make([]float64, s.n+s.m)
	ybar := make([]float64, s.n)
	for i := range dot {
		dot[i] = rng.NormFloat64()
	}
	for i := range ybar {
		ybar[i] = rng.NormFloat64()
	}
	if err := q.Pullback(bar[:s.n], bar[s.n:], sol, ybar, 0, nil); err != nil {
		t.Fatal(err)
	}
	// Explicit steps at the limit of stability amplify rounding errors, and so do implicit steps of any size, which
	// tolerances above 1 allow.
	if s.stiff && settings.Method != ode.Rodas || settings.Relative > 1 || math.Abs(sol.T) > 5 {
		return bar
	}
	// Where a solution decays, rounding errors are those of the larger numbers before; a pole amplifies them.
	backwards, scale := 0.0, 1e-4*floats.Norm(dot, 2)*floats.Norm(ybar, 2)
	for i, v := range dot {
		backwards += v * bar[i]
		scale += math.Abs(v * bar[i])
	}
	if _, err := q.Pushforward(dot[:s.n], dot[s.n:], sol, nil); err != nil {
		t.Fatal(err)
	}
	forwards := floats.Dot(ybar, dot[:s.n])
	for i, v := range ybar {
		scale += math.Abs(v * dot[i])
	}
	if d := math.Abs(forwards - backwards); !(d <= 1e-6*scale) && !math.IsInf(scale, 0) && !math.IsNaN(scale) {
		t.Errorf("the derivative is %v forwards and %v backwards", forwards, backwards)
	}
	return bar
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	})
}
