package linalg_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/linalg"
)

// TestAliases: arguments may be one matrix, share elements, or be views of each other, and are not modified; results
// have memory of their own.
func TestAliases(t *testing.T) {
	f := func(mul func(a, b *linalg.Matrix) *linalg.Matrix,
		solve func(a, b *linalg.Matrix) *linalg.Matrix) func(x []real) real {
		return func(x []real) real {
			a := &linalg.Matrix{Rows: 2, Cols: 2, Data: x} // the inputs themselves
			b := &linalg.Matrix{Rows: 2, Cols: 1, Data: a.Row(1)}
			same := linalg.New(2, 2)
			for i := range same.Data {
				same.Data[i] = x[0]
			}
			same.Set(1, 1, x[3].Add(x[0]))
			before := slices.Clone(x)
			c := mul(a, a)
			d := solve(same, b)
			e := solve(a, a)
			e.Data[1] = nabla.Const(7) // no memory of a
			c.Data[0] = c.Data[0].Add(d.Data[1])
			for i := range x {
				if x[i].Sub(before[i]).Value() != 0 {
					t.Error("an argument was modified")
				}
			}
			return mul(c, mul(d, d.T())).At(1, 0).Add(mul(a, e).At(0, 1))
		}
	}
	x := []float64{3, 0.5, 0.25, 2}
	ref := reversediff.Backend{Compile: true}
	want, err := nabla.Hessian(f(plainMul, plainSolve), ref, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		h, err := nabla.Hessian(f(linalg.MatMul, linalg.Solve), b, x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name(b), elements(h), elements(want), 1e-11)
	}
}

// TestNested: derivatives inside a differentiated function, third derivatives in all.
func TestNested(t *testing.T) {
	of := func(solve func(a, b *linalg.Matrix) *linalg.Matrix) func(x []real) real {
		return func(x []real) real {
			a := &linalg.Matrix{Rows: 2, Cols: 2, Data: x}
			return nabla.Sin(solve(a, solve(a.T(), a)).At(0, 1))
		}
	}
	x := []float64{2, 0.3, -0.4, 1.5}
	compiled := reversediff.Backend{Compile: true}
	for _, inner := range []nabla.Backend{forwarddiff.Backend{}, compiled, tracker.Backend{}} {
		norm := func(f func(x []real) real) func(x []real) real {
			g := nabla.GradientFunc(f, inner)
			return func(x []real) real {
				y := g(x)
				return nabla.Dot(y, y)
			}
		}
		f, plain := norm(of(linalg.Solve)), norm(of(plainSolve))
		want, err := nabla.Hessian(plain, compiled, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range list {
			h, err := nabla.Hessian(f, b, x)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name(inner)+" in "+name(b), elements(h), elements(want), 1e-9)
		}
	}
}

// TestStructuralZero: an infinite derivative that the result does not depend on has no effect on a derivative that
// passes through an operation.
func TestStructuralZero(t *testing.T) {
	f := func(x []real) real {
		root := nabla.Where(nabla.Lt(nabla.Const(0), x[0]), nabla.Sqrt(x[0]), nabla.Const(0))
		a := linalg.Identity(2)
		a.Set(0, 1, root)
		a.Set(1, 1, x[1])
		return linalg.Inverse(linalg.MatMul(a, a)).At(1, 1)
	}
	for _, b := range list {
		g, err := nabla.Gradient(f, b, []float64{0, 2})
		if err != nil {
			t.Fatal(err)
		}
		near(t, name(b), g, []float64{0, -0.25}, 1e-15)
	}
}

// likelihood is a function with all factorisations, of the 9 elements of a matrix.
func likelihood(x []real) real {
	a := &linalg.Matrix{Rows: 3, Cols: 3, Data: x}
	c := linalg.NewCholesky(a)
	l := linalg.NewLU(linalg.MatMul(c.Lower(), a.T()))
	log, _ := l.LogDet()
	v := linalg.SolveUpperVec(a, c.SolveVec(l.SolveVec(x[:3])))
	e := linalg.NewEigen(c.Inverse())
	s, q := linalg.NewSVD(a), linalg.NewQR(a)
	log = log.Add(nabla.Dot(s.Values(), s.V().Row(0))).Add(s.U().At(0, 1)).Add(q.Q().At(0, 1)).Add(q.R().At(0, 1))
	log = log.Add(linalg.LeastSquaresVec(&linalg.Matrix{Rows: 3, Cols: 2, Data: x[:6]}, x[6:])[1])
	return log.Add(nabla.Dot(v, e.Values())).Add(e.Vectors().At(1, 1)).Add(l.Inverse().At(0, 1)).Add(c.LogDet())
}

var likelihoodAt = []float64{3, 0.1, 0.2, 0.4, 5, 0.3, -0.3, 0.6, 8}

// TestAllocations: calls of prepared objects do not allocate.
func TestAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, which the short form is for, empties pools of the libraries")
	}
	b := reversediff.Backend{Compile: true}
	g, err := nabla.PrepareGradient(likelihood, b, likelihoodAt)
	if err != nil {
		t.Fatal(err)
	}
	h, err := nabla.PrepareHVP(likelihood, b, likelihoodAt)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 9)
	for what, call := range map[string]func(){
		"gradient": func() {
			if _, err := g.Gradient(dst, likelihoodAt); err != nil {
				t.Fatal(err)
			}
		},
		"HVP": func() {
			if _, err := h.HVP(dst, likelihoodAt, likelihoodAt); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for range 70 { // comparisons with the function are at calls 1, 2, 4, …, 64 and 128
			call()
		}
		if got := testing.AllocsPerRun(20, call); got > 0 {
			t.Errorf("%s: %v allocations", what, got)
		}
	}
}

// TestGoroutines: objects of one function may be used at the same time, each by one goroutine.
func TestGoroutines(t *testing.T) {
	for _, b := range list {
		want, err := nabla.Gradient(likelihood, b, likelihoodAt)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 5 {
					g, err := nabla.Gradient(likelihood, b, likelihoodAt)
					if err != nil || !slices.Equal(g, want) {
						t.Errorf("%s: %v, %v, want %v", name(b), g, err, want)
					}
				}
			})
		}
		wg.Wait()
	}
}
