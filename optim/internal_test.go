package optim

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// TestSecular checks the parameter and the step for random Jacobians, scales and radii of the trust region: the step
// solves (JᵀJ + par·D²)·p = Jᵀb, and its scaled length is within a tenth of the radius, or less with the parameter 0.
func TestSecular(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	damped := 0
	for range 300 {
		n := 1 + rng.IntN(5)
		m := n + rng.IntN(4)
		d := newDense(m, n)
		d.jac.Apply(func(i, j int, _ float64) float64 { return rng.NormFloat64() * math.Pow(10, float64(2*j)) }, d.jac)
		if rng.IntN(3) == 0 && n > 1 { // dependent columns
			d.jac.SetCol(n-1, mat.Col(nil, 0, d.jac))
		}
		diag, b := make([]float64, n), make([]float64, m)
		for i := range diag {
			diag[i] = math.Pow(10, float64(rng.IntN(5)))
		}
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		f, qtb, p := newSecular(n, diag), make([]float64, n), make([]float64, n)
		d.factorise(f, qtb, b)
		delta := math.Pow(10, float64(rng.IntN(7)-3))
		par := f.solve(p, qtb, delta, []float64{0, 1e-3, 1e3}[rng.IntN(3)])
		length := norm2(make([]float64, n), diag, p)
		if par < 0 || length > 1.1*delta*(1+1e-9) || par > 0 && length < 0.9*delta*(1-1e-9) {
			t.Errorf("%d×%d: the length is %v with the radius %v and the parameter %v", m, n, length, delta, par)
		}
		if par == 0 {
			continue
		}
		damped++
		var normal mat.Dense
		normal.Mul(d.jac.T(), d.jac)
		want := mat.NewVecDense(n, nil)
		want.MulVec(d.jac.T(), mat.NewVecDense(m, b))
		for i, v := range p {
			sum, size := par*diag[i]*diag[i]*v, math.Abs(want.AtVec(i))
			for j, w := range p {
				sum += normal.At(i, j) * w
				size += math.Abs(normal.At(i, j) * w)
			}
			if math.Abs(sum-want.AtVec(i)) > 1e-8*size {
				t.Errorf("%d×%d, parameter %v: row %d of the normal equations is %v, want %v", m, n, par, i, sum,
					want.AtVec(i))
			}
		}
	}
	if damped < 50 {
		t.Errorf("only %d steps were damped", damped)
	}
}

// TestSteihaug checks the step for random matrices, definite or not: the reduction is that of the model, at least that
// of the best point along the gradient, and the step is on the boundary if it says so.
func TestSteihaug(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	bounded := 0
	for range 300 {
		n := 1 + rng.IntN(6)
		h := mat.NewSymDense(n, nil)
		shift := float64(rng.IntN(3)) * 2
		for i := range n {
			for j := i; j < n; j++ {
				h.SetSym(i, j, rng.NormFloat64())
			}
			h.SetSym(i, i, h.At(i, i)+shift)
		}
		g := make([]float64, n)
		for i := range g {
			g[i] = rng.NormFloat64()
		}
		product := func(dst, v []float64) error {
			mat.NewVecDense(n, dst).MulVec(h, mat.NewVecDense(n, v))
			return nil
		}
		model := func(p []float64) float64 {
			w := make([]float64, n)
			product(w, p)
			return floats.Dot(g, p) + floats.Dot(p, w)/2
		}
		c := newSteihaug(n)
		c.product = product
		radius := []float64{0.1, 1, 10}[rng.IntN(3)]
		reduction, boundary, err := c.solve(g, radius, 1e-10)
		if err != nil {
			t.Fatal(err)
		}
		length := floats.Norm(c.p, 2)
		if length > radius*(1+1e-10) || boundary && length < radius*(1-1e-10) {
			t.Errorf("the length is %v with the radius %v, boundary %v", length, radius, boundary)
		}
		if m := -model(c.p); math.Abs(reduction-m) > 1e-9*max(1, m) {
			t.Errorf("the reduction is %v, said to be %v", m, reduction)
		}
		for k := 1; k <= 20; k++ {
			p := make([]float64, n)
			floats.ScaleTo(p, -float64(k)/20*radius/floats.Norm(g, 2), g)
			if reduction < -model(p)-1e-9 {
				t.Errorf("the reduction %v is less than %v along the gradient", reduction, -model(p))
			}
		}
		if !boundary { // the minimiser
			w := make([]float64, n)
			product(w, c.p)
			floats.Add(w, g)
			if floats.Norm(w, 2) > 1e-7 {
				t.Errorf("the gradient of the model is %v inside of the boundary", w)
			}
		} else {
			bounded++
		}
	}
	if bounded < 50 || bounded > 250 {
		t.Errorf("%d of 300 steps are on the boundary", bounded)
	}
}
