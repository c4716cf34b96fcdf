package linalg_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/linalg"
)

// TestKit runs the conformance kit with functions of this package in every engine that takes functions over Reals, also
// with sparse matrices of two of them, and in one of those that take differences.
func TestKit(t *testing.T) {
	longtest.Skip(t, "the kit in every engine")
	scenarios := kitScenarios(t, operations)
	for _, e := range engines.All() {
		if e.Functions == engines.Generated {
			continue
		}
		backends := []nabla.Backend{e.Backend}
		switch e.Backend {
		case reversediff.Backend{Compile: true}, forwarddiff.Backend{}: // the entries and the products of all others
			backends = append(backends, nabla.AutoSparse{Dense: e.Backend})
		}
		if e.Functions == engines.BlackBox {
			if e.Backend != (finitediff.Backend{}) {
				continue // all differences call the functions in the same way, and use no derivative of theirs
			}
		}
		for _, b := range backends {
			t.Run(b.Name(), func(t *testing.T) {
				o := e.Conform
				o.Scenarios, o.AllocFree = scenarios, false
				o.Tol, o.SecondTol = max(o.Tol, 1e-11), max(o.SecondTol, 1e-9)
				if e.Functions == engines.BlackBox { // differences
					o.Tol, o.SecondTol = 1e-5, 1e-2
					o.Skip = map[string]string{"MatMul of one matrix": "sines of large numbers"}
				}
				difftest.Run(t, b, &o)
			})
		}
	}
}

// TestKitShort is TestKit for some operations and two engines.
func TestKitShort(t *testing.T) {
	scenarios := kitScenarios(t, longtest.Sample(operations, 6))
	compiled := reversediff.Backend{Compile: true}
	for _, b := range []nabla.Backend{compiled, nabla.AutoSparse{Dense: compiled}, forwarddiff.Hyper{}} {
		difftest.Run(t, b, &difftest.Options{Scenarios: scenarios, SecondTol: 1e-10})
	}
}

// kitScenarios returns scenarios of all operators with the operations, with the results of the functions by scalars.
func kitScenarios(t *testing.T, operations []operation) (list []difftest.Scenario) {
	ref := reversediff.Backend{Compile: true}
	must := func(v []float64, err error) []float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, o := range operations {
		shapes := o.shapes(3, 2)
		x, v := likelihoodAt, []float64{0.3, -1, 0.5, 2, 1, -0.2, 0.4, 0.1, 1, 1, 2, -1, 3, 0.5, -0.5}
		x = append(append([]float64(nil), x...), 0.3, 0.7, -0.2, 1.1, 0.9, -0.4)
		for len(x) < count(shapes) {
			x, v = append(x, 0.5*float64(len(x)%3)-0.3), append(v, v[len(v)-7])
		}
		x = x[:count(shapes)]
		v = v[:count(shapes)]
		f, plain := scalarOf(o.of, shapes), scalarOf(o.plain, shapes)
		vector := func(x []real) []real { return o.of(matrices(x, shapes)) }
		plainVector := func(x []real) []real { return o.plain(matrices(x, shapes)) }
		y, g, err := nabla.ValueAndGradient(plain, ref, x)
		must(nil, err)
		h, err := nabla.Hessian(plain, ref, x)
		must(nil, err)
		ys, j, err := nabla.ValueAndJacobian(plainVector, ref, x)
		must(nil, err)
		for _, s := range []difftest.Scenario{
			with(difftest.Of("gradient", f, x), []float64{y}, g, nil),
			with(difftest.Of("hessian", f, x), []float64{y}, g, elements(h)),
			with(difftest.Of("hvp", f, x, v), []float64{y}, g, must(nabla.HVP(plain, ref, x, v))),
			with(difftest.Of("jacobian", vector, x), ys, elements(j), nil),
			with(difftest.Of("pushforward", vector, x, v), ys, must(nabla.Pushforward(plainVector, ref, x, v)), nil),
		} {
			s.Name = o.name + " " + s.Operator
			list = append(list, s)
		}
	}
	return list
}

// with returns s with expected results.
func with(s difftest.Scenario, value, first, second []float64) difftest.Scenario {
	s.Value, s.First, s.Second = value, first, second
	return s
}

// TestSparse: block-diagonal systems have block-diagonal Jacobians and Hessians.
func TestSparse(t *testing.T) {
	const blocks, n = 12, 3
	f := func(solve func(a, b *linalg.Matrix) *linalg.Matrix) func(x []real) []real {
		return func(x []real) (y []real) {
			for k := range blocks {
				z := x[k*n:][:n]
				a := linalg.Identity(n)
				for i := range n {
					for j := range n {
						a.Set(i, j, a.At(i, j).Scale(4).Add(nabla.Sin(z[i].Mul(z[j]))))
					}
				}
				y = append(y, solve(a, &linalg.Matrix{Rows: n, Cols: 1, Data: z}).Data...)
			}
			return y
		}
	}
	x := make([]float64, blocks*n)
	for i := range x {
		x[i] = 0.1 + 0.05*float64(i%7)
	}
	norm := func(f func(x []real) []real) func(x []real) real {
		return func(x []real) real { y := f(x); return nabla.Dot(y, y) }
	}
	ref := reversediff.Backend{Compile: true}
	j, err := nabla.Jacobian(f(plainSolve), ref, x)
	if err != nil {
		t.Fatal(err)
	}
	h, err := nabla.Hessian(norm(f(plainSolve)), ref, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range sparseEngines {
		sparse := nabla.AutoSparse{Dense: b}
		if got, err := nabla.Jacobian(f(linalg.Solve), sparse, x); err != nil {
			t.Error(name(b), err)
		} else {
			near(t, "Jacobian by "+name(b), elements(got), elements(j), 1e-12)
		}
		if got, err := nabla.Hessian(norm(f(linalg.Solve)), sparse, x); err != nil {
			t.Error(name(b), err)
		} else {
			near(t, "Hessian by "+name(b), elements(got), elements(h), 1e-11)
		}
		if p, err := nabla.PrepareHessian(norm(f(linalg.Solve)), sparse, x); err != nil {
			t.Error(name(b), err)
		} else if nnz := p.Plan().Pattern.NNZ(); nnz != blocks*n*n {
			t.Errorf("%s: pattern of %d entries, want %d", name(b), nnz, blocks*n*n)
		}
	}
}

var sparseEngines = list[:5]
