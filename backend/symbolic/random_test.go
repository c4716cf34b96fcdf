package symbolic_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// sameBits reports whether all numbers have the same bits, or are both NaN.
func sameBits(a, b []float64) bool {
	for i, v := range a {
		if math.Float64bits(v) != math.Float64bits(b[i]) && (v == v || b[i] == b[i]) {
			return false
		}
	}
	return true
}

// TestRandom compares random functions, at points near and far, with a compiled recording: with Exact, value, gradient
// and products with Hessians have the same bits. Functions with branches are refused.
func TestRandom(t *testing.T) {
	longtest.Serial(t)
	exact, compiled := symbolic.Backend{Exact: true}, reversediff.Backend{Compile: true}
	compared, refused := 0, 0
	for seed := range uint64(longtest.Cases(0, 20, 150, 4000)) {
		r := rand.New(rand.NewPCG(seed, 6))
		data := make([]byte, 10+r.IntN(100))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		p, points := randfunc.New(data, 3, randfunc.Options{Nested: seed%4 == 0})
		f := p.Real().Scalar
		got, err := nabla.PrepareGradient(f, exact, points[0])
		if branch := new(symbolic.BranchError); errors.As(err, &branch) && branch.Line > 0 {
			refused++
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, p)
		}
		want, err := nabla.PrepareGradient(f, compiled, points[0])
		if err != nil {
			t.Fatal(err)
		}
		gotH, err := nabla.PrepareHVP(f, exact, points[0])
		if err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, p)
		}
		wantH, err := nabla.PrepareHVP(f, compiled, points[0])
		if err != nil {
			t.Fatal(err)
		}
		v := make([]float64, len(points[0]))
		for i := range v {
			v[i] = r.NormFloat64()
		}
		for _, x := range points {
			y, g, err := got.ValueAndGradient(nil, x)
			if err != nil {
				t.Fatalf("seed %d: %v\n%v", seed, err, p)
			}
			z, h, err := want.ValueAndGradient(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			if !sameBits([]float64{y}, []float64{z}) || !sameBits(g, h) {
				t.Fatalf("seed %d at %v: value %v and gradient %v, want %v and %v\n%v", seed, x, y, g, z, h, p)
			}
			a, err := gotH.HVP(nil, x, v)
			if err != nil {
				t.Fatal(err)
			}
			b, err := wantH.HVP(nil, x, v)
			if err != nil {
				t.Fatal(err)
			}
			if !sameBits(a, b) {
				t.Fatalf("seed %d at %v along %v: %v, want %v\n%v", seed, x, v, a, b, p)
			}
			compared++
		}
		sparse(t, f, points[0])
	}
	if compared == 0 || refused == 0 {
		t.Errorf("%d points compared, %d functions refused", compared, refused)
	}
	t.Logf("%d points compared, %d functions refused", compared, refused)
}

// sparse compares a sparse Hessian with a dense one of the same engine.
func sparse(t *testing.T, f func(x []nabla.Real) nabla.Real, x []float64) {
	t.Helper()
	dense, err := nabla.Hessian(f, symbolic.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	h, err := nabla.Hessian(f, nabla.AutoSparse{Dense: symbolic.Backend{}}, x)
	if err != nil {
		t.Fatal(err)
	}
	n := len(x)
	a, b := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			a[i*n+j], b[i*n+j] = dense.At(i, j), h.At(i, j)
		}
	}
	for i := range a {
		if math.IsNaN(a[i]) || math.IsNaN(b[i]) || math.IsInf(a[i], 0) { // by programs with other structural zeros
			return
		}
	}
	if !mat.EqualApprox(mat.NewDense(n, n, a), mat.NewDense(n, n, b), 1e-9) {
		t.Fatalf("at %v the sparse Hessian is %v, want %v", x, b, a)
	}
}
