package nabla_test

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestWorkersOfFunctionsThatWrite is like TestClonesOfFunctionsThatWrite, for operators that share products among
// workers.
func TestWorkersOfFunctionsThatWrite(t *testing.T) {
	const n = 60
	d := newDesk(n)
	var row, col []int
	for i := range n {
		row, col = append(row, i, i), append(col, i, (i+1)%n)
	}
	pattern, _ := sparsity.FromEntries(n, n, row, col)
	for _, b := range []nabla.Backend{
		nabla.AutoSparse{Dense: finitediff.Backend{Workers: 3}, Detector: sparsity.Known{J: pattern}},
		nabla.AutoSparse{Dense: finitediff.Backend{}, Detector: sparsity.Known{J: pattern}, Workers: 3,
			Coloring: coloring.None{}},
		nabla.AutoSparse{Dense: finitediff.Backend{}},
	} {
		p, err := nabla.PrepareJacobian(nabla.BindInPlace(n, deskNext, d), b, pointOf(n, 0))
		if err != nil {
			t.Fatalf("%s: %v", b.Name(), err)
		}
		for k := range 10 {
			x := pointOf(n, k)
			d.K = float64(k%3 + 1)
			j, err := p.Jacobian(nil, x)
			if err != nil {
				t.Fatalf("%s: %v", b.Name(), err)
			}
			for i := range n {
				if want := 2 * d.K * x[i] * x[(i+1)%n]; math.Abs(j.At(i, i)-want) > 1e-5 {
					t.Fatalf("%s: entry %d is %v, want %v", b.Name(), i, j.At(i, i), want)
				}
			}
		}
	}
}

// gains is a struct whose function writes to it.
type gains struct {
	A, Tmp []float64
	any    any
}

// gained returns Σ Aᵢxᵢ² and Σ xᵢ.
func gained(x []float64, g *gains) []float64 {
	copy(g.Tmp, x)
	y := make([]float64, 2)
	for i, v := range g.Tmp {
		y[0] += g.A[i] * v * v
		y[1] += v
	}
	return y
}

// TestWeightedHessianWorkersFollow: goroutines that share the products of a weighted Hessian see changes of the struct,
// and another struct after Rebind. A struct that cannot be copied for them is an error of the preparation.
func TestWeightedHessianWorkersFollow(t *testing.T) {
	const n = 13
	b := nabla.AutoSparse{Dense: finitediff.Backend{}, Workers: 3, Coloring: coloring.None{},
		Detector: sparsity.Known{H: sparsity.Full(n, n)}}
	g := &gains{A: make([]float64, n), Tmp: make([]float64, n)}
	x := pointOf(n, 1)
	p, err := nabla.PrepareWeightedHessian(nabla.Bind(gained, g), b, x)
	if err != nil {
		t.Fatal(err)
	}
	q := p.Clone()
	other := &gains{A: make([]float64, n), Tmp: make([]float64, n)}
	for i := range other.A {
		other.A[i] = float64(19 - i)
	}
	if err := q.Rebind(other); err != nil {
		t.Fatal(err)
	}
	check := func(p *nabla.WeightedHessianPrep, a func(i int) float64) {
		t.Helper()
		h, err := p.Hessian(nil, x, []float64{3, 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if want := 6 * a(i); math.Abs(h.At(i, i)-want) > 1e-3*want {
				t.Errorf("entry %d is %v, want %v", i, h.At(i, i), want)
			}
		}
	}
	for k := range 3 {
		for i := range g.A {
			g.A[i] = float64(1 + i + 10*k)
		}
		check(p, func(i int) float64 { return g.A[i] })
		check(q, func(i int) float64 { return float64(19 - i) })
	}
	var ce *nabla.ContextError
	uncopied := &gains{A: make([]float64, n), Tmp: make([]float64, n), any: make(chan int)}
	_, err = nabla.PrepareWeightedHessian(nabla.Bind(gained, uncopied), b, x)
	if !errors.As(err, &ce) || !ce.Uncopied {
		t.Errorf("a struct that cannot be copied: %v", err)
	}
}

// TestRebindReachesWorkers: an engine that clones the function for goroutines of its own
// reads the struct that was bound last in all of them; a clone of the prepared
// object goes on with its own.
func TestRebindReachesWorkers(t *testing.T) {
	type context struct{ A nabla.Real }
	f := func(x []nabla.Real, c *context) nabla.Real {
		var s nabla.Real
		for _, v := range x {
			s = s.Add(v.Mul(c.A))
		}
		return s
	}
	x := []float64{1, 2, 3, 4, 5, 6}
	for _, b := range []nabla.Backend{forwarddiff.Backend{Chunk: 1, Workers: 3}, finitediff.Backend{Workers: 3}} {
		p, err := nabla.PrepareGradient(nabla.Bind(f, &context{nabla.Const(2)}), b, x)
		if err != nil {
			t.Fatal(err)
		}
		q := p.Clone()
		if err := p.Rebind(&context{nabla.Const(7)}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			p    *nabla.GradientPrep
			want float64
		}{{p, 7}, {q, 2}, {p.Clone(), 7}} {
			g, err := c.p.Gradient(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range g {
				if d := v - c.want; d < -1e-6 || d > 1e-6 {
					t.Errorf("%s: component %d is %v, want %v", b.Name(), i, v, c.want)
				}
			}
		}
	}
}

// TestRebindRefused: if the new struct cannot be copied for the goroutines of an engine, all of them, and the object
// itself, keep the old one.
func TestRebindRefused(t *testing.T) {
	const n = 6
	g := &gains{A: []float64{1, 2, 3, 4, 5, 6}, Tmp: make([]float64, n)}
	x := pointOf(n, 1)
	p, err := nabla.PrepareJacobian(nabla.Bind(gained, g), finitediff.Backend{Workers: 3}, x)
	if err != nil {
		t.Fatal(err)
	}
	var ce *nabla.ContextError
	uncopied := &gains{A: make([]float64, n), Tmp: make([]float64, n), any: make(chan int)}
	if err := p.Rebind(uncopied); !errors.As(err, &ce) || !ce.Uncopied {
		t.Fatalf("Rebind: %v", err)
	}
	for range 2 {
		j, err := p.Dense(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if want := 2 * g.A[i] * x[i]; math.Abs(j.At(0, i)-want) > 1e-5 {
				t.Errorf("column %d: %v, want %v", i, j.At(0, i), want)
			}
		}
		g.A[2]++
	}
}
