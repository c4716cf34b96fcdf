package implicit_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/implicit"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// An equation is a random one with the solution g(p) = C·p + D·sin(p): B·(x-g(p)) = 0, with a cubic term unless it is
// to be linear.
type equation struct {
	n, m    int
	b, c, d *mat.Dense
	cubic   float64
}

func randomEquation(rng *rand.Rand, kind int, singular bool) *equation {
	e := &equation{n: 1 + rng.IntN(5), m: 1 + rng.IntN(4), cubic: 0.3}
	random := func(r, c int) *mat.Dense {
		out := mat.NewDense(r, c, nil)
		for i := range out.RawMatrix().Data {
			out.RawMatrix().Data[i] = rng.NormFloat64()
		}
		return out
	}
	e.b, e.c, e.d = random(e.n, e.n), random(e.n, e.m), random(e.n, e.m)
	for i := range e.n {
		e.b.Set(i, i, e.b.At(i, i)+4)
	}
	if singular {
		for i := range e.n {
			sum := 0.
			for j := range e.n - 1 {
				sum += e.b.At(i, j)
			}
			e.b.Set(i, e.n-1, sum)
		}
	}
	switch kind {
	case minimizer:
		var h mat.Dense
		h.Mul(e.b.T(), e.b)
		e.b = &h
	case linear:
		e.cubic = 0
	case fixedPoint:
		e.b.Scale(0.1, e.b)
	}
	return e
}

const (
	root = iota
	fixedPoint
	minimizer
	linear
)

// solution computes g(p).
func (e *equation) solution(p []float64) []float64 {
	x := make([]float64, e.n)
	for i := range x {
		for k, v := range p {
			x[i] += e.c.At(i, k)*v + e.d.At(i, k)*math.Sin(v)
		}
	}
	return x
}

// residuals returns B·(x-g(p)) with the cubic term, and x-g(p).
func (e *equation) residuals(z []nabla.Real) (out, difference []nabla.Real) {
	x, p := z[:e.n], z[e.n:]
	for i := range x {
		d := x[i]
		for k, v := range p {
			d = d.Sub(v.Scale(e.c.At(i, k))).Sub(nabla.Sin(v).Scale(e.d.At(i, k)))
		}
		difference = append(difference, d)
	}
	for i, d := range difference {
		sum := d.Mul(d).Mul(d).Scale(e.cubic)
		for j, d := range difference {
			sum = sum.Add(d.Scale(e.b.At(i, j)))
		}
		out = append(out, sum)
	}
	return out, difference
}

func (e *equation) function(kind int, p []float64, solve implicit.Solver, s *implicit.Settings) (*implicit.Function,
	error) {
	residuals := func(z []nabla.Real) []nabla.Real { out, _ := e.residuals(z); return out }
	switch kind {
	case fixedPoint:
		return implicit.FixedPoint(func(z []nabla.Real) []nabla.Real {
			out, _ := e.residuals(z)
			for i := range out {
				out[i] = z[i].Sub(out[i])
			}
			return out
		}, nil, e.n, p, solve, s)
	case minimizer:
		return implicit.Minimizer(func(z []nabla.Real) nabla.Real {
			out, difference := e.residuals(z)
			return nabla.Dot(out, difference).Scale(0.5) // a quartic with the same minimum
		}, nil, e.n, p, solve, s)
	case linear:
		return implicit.LinearSolve(residuals, nil, e.n, p, s)
	}
	return implicit.Root(residuals, nil, e.n, p, solve, s)
}

// FuzzDerivative: tangents and cotangents of random implicit functions are those of their closed forms; a solver that
// returns no solution, and equations with a singular derivative, are errors.
func FuzzDerivative(f *testing.F) {
	for kind := range uint8(4) {
		f.Add(uint64(kind), kind, 0., false, false)
		f.Add(uint64(kind), kind, 0., true, false)
		f.Add(uint64(kind), kind, 1e-3, true, false)
		f.Add(uint64(kind), kind, 1e-9, false, false)
		f.Add(uint64(kind), kind, 0., false, true)
	}
	f.Add(uint64(1), uint8(0), math.NaN(), false, false)
	f.Fuzz(func(t *testing.T, seed uint64, of uint8, distance float64, matrixFree, singular bool) {
		rng := rand.New(rand.NewPCG(seed, 3))
		kind := int(of % 4)
		if kind == linear {
			distance = 0 // there is no solver
		}
		e := randomEquation(rng, kind, singular)
		if singular && (matrixFree || e.n == 1) {
			return // not found out: by products in solvable systems, and where a derivative is tiny but not 0
		}
		p := make([]float64, e.m)
		for i := range p {
			p[i] = rng.NormFloat64()
		}
		solve := func(x, p []float64) error {
			copy(x, e.solution(p))
			x[0] += distance
			return nil
		}
		fn, err := e.function(kind, p, solve, &implicit.Settings{MatrixFree: matrixFree})
		if err != nil {
			t.Fatal(err)
		}
		x, err := fn.Solve(nil, p)
		_, isSingular := errors.AsType[*implicit.SingularError](err)
		_, notFinite := errors.AsType[*implicit.NonFiniteError](err)
		switch {
		case kind == linear && singular && (isSingular || notFinite):
			return
		case notFinite && (math.IsNaN(distance) || math.IsInf(distance, 0)):
			return
		case err != nil:
			t.Fatal(err)
		}
		pdot, xbar := make([]float64, e.m), make([]float64, e.n)
		for i := range pdot {
			pdot[i] = rng.NormFloat64()
		}
		for i := range xbar {
			xbar[i] = rng.NormFloat64()
		}
		xdot, err := fn.Pushforward(nil, x, p, pdot)
		pbar, err2 := fn.Pullback(nil, x, p, xbar)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("errors %v forwards and %v backwards", err, err2)
		}
		if err != nil {
			e.checkError(t, err, kind, distance, singular)
			return
		}
		size := max(1, floats.Norm(x, math.Inf(1)))
		if d := math.Abs(distance); kind != linear && d > 1e-5*size || singular && d < 1e-9 {
			t.Fatalf("no error at a distance of %v from the solution, singular %v", distance, singular)
		}
		if singular {
			return // the cubic term makes the derivative regular beside the solution
		}
		want := make([]float64, e.n)
		for i := range want {
			for k, v := range pdot {
				want[i] += (e.c.At(i, k) + e.d.At(i, k)*math.Cos(p[k])) * v
			}
		}
		tol := 1e-8 + 1e3*math.Abs(distance)*math.Abs(distance)
		if d := floats.Distance(xdot, want, math.Inf(1)); !(d <= tol*(1+floats.Norm(want, 2))) {
			t.Errorf("tangent %v, want %v", xdot, want)
		}
		forwards, backwards := floats.Dot(xbar, want), floats.Dot(pbar, pdot)
		if d := math.Abs(forwards - backwards); !(d <= tol*(1+floats.Norm(want, 2)*floats.Norm(xbar, 2))) {
			t.Errorf("derivative %v backwards, want %v", backwards, forwards)
		}
	})
}

func (e *equation) checkError(t *testing.T, err error, kind int, distance float64, singular bool) {
	t.Helper()
	_, unconverged := errors.AsType[*implicit.UnconvergedError](err)
	_, isSingular := errors.AsType[*implicit.SingularError](err)
	_, notMinimum := errors.AsType[*implicit.NotMinimumError](err)
	_, notFinite := errors.AsType[*implicit.NonFiniteError](err)
	switch {
	case singular && (isSingular || notMinimum && kind == minimizer || unconverged):
	case unconverged && math.Abs(distance) > 1e-8:
	case math.Abs(distance) > 1e-2 && (isSingular || notMinimum || notFinite): // the point is another
	default:
		t.Fatalf("error %v at a distance of %v from the solution, singular %v", err, distance, singular)
	}
}
