package optim

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// randomSparse returns a matrix of full structural rank with some entries per column.
func randomSparse(rng *rand.Rand, m, n, perColumn int) *sparse.CSC {
	var i, j []int
	for c := range n {
		i, j = append(i, c), append(j, c)
		for range perColumn {
			i, j = append(i, rng.IntN(m)), append(j, c)
		}
	}
	p, err := sparsity.FromEntries(m, n, i, j)
	if err != nil {
		panic(err)
	}
	data := make([]float64, p.NNZ())
	for k := range data {
		data[k] = rng.NormFloat64()
	}
	return sparse.NewCSC(p, data)
}

// TestAugmented compares steps of the augmented system with those of the dense QR factorisation: for dampings from 0 to
// 1, columns of very different norms and nearly dependent ones, and with unknowns that are not free.
func TestAugmented(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	failed := 0
	for k := range 400 {
		n := 1 + rng.IntN(12)
		m := n + rng.IntN(12)
		j := randomSparse(rng, m, n, 1+rng.IntN(3))
		nearly := 0.0
		if k%4 == 0 && n > 1 { // two columns nearly depend on each other
			nearly = math.Pow(10, -float64(rng.IntN(7)))
			j = dependent(rng, j, nearly)
		}
		d, s := newDense(m, n), newSparse(m, n, DirectSolver)
		s.jac = j
		d.jac.Copy(j)
		scale, r, free := make([]float64, n), make([]float64, m), make([]bool, n)
		d.norms(scale)
		for i := range scale {
			if scale[i] *= 1 + rng.Float64(); scale[i] == 0 {
				scale[i] = 1
			}
			free[i] = rng.IntN(5) > 0
		}
		for i := range r {
			r[i] = rng.NormFloat64()
		}
		root := []float64{0, 1e-9, 1e-3, 1}[rng.IntN(4)]
		got, want := make([]float64, n), make([]float64, n)
		d.damped(want, r, root, scale, free, 1e-10)
		s.damped(got, r, root, scale, free, 1e-10)
		failed += s.failed
		floats.Mul(got, scale)
		floats.Mul(want, scale)
		tol := 1e-8
		if nearly > 0 {
			tol = 1e-8 + 1e-15/(nearly*nearly)
		}
		if root <= 1e-9 && smallest(d, scale, free) < 1e-7 {
			continue // the limit for no damping depends on the rank that rounding errors leave
		}
		if diff := floats.Distance(got, want, 2); !(diff <= tol*(1+floats.Norm(want, 2))) {
			t.Errorf("case %d, %d×%d, damping %g, nearly %g: %v, want %v", k, m, n, root, nearly, got, want)
		}
	}
	if failed > 40 {
		t.Errorf("%d steps were left to the iteration", failed)
	}
}

// dependent replaces the last column by the first one and a little of itself.
func dependent(rng *rand.Rand, j *sparse.CSC, nearly float64) *sparse.CSC {
	m, n := j.Dims()
	a := mat.NewDense(m, n, nil)
	a.Copy(j)
	for i := range m {
		if v := a.At(i, 0); v != 0 {
			a.Set(i, n-1, v*(1+nearly*rng.NormFloat64()))
		} else {
			a.Set(i, n-1, a.At(i, n-1)*nearly)
		}
	}
	return sparse.FromMatrix(a)
}

// smallest returns the smallest singular value of J·D⁻¹ in the free columns.
func smallest(d *dense, scale []float64, free []bool) float64 {
	var cols [][]float64
	for j, f := range free {
		if f {
			c := mat.Col(nil, j, d.jac)
			floats.Scale(1/scale[j], c)
			cols = append(cols, c)
		}
	}
	if len(cols) == 0 {
		return math.Inf(1)
	}
	a := mat.NewDense(d.m, len(cols), nil)
	for j, c := range cols {
		a.SetCol(j, c)
	}
	var svd mat.SVD
	svd.Factorize(a, mat.SVDNone)
	return floats.Min(svd.Values(nil))
}

// TestSolverChoice: a factorisation is chosen for a band and for a grid, and not for a random graph, whose factor is
// dense.
func TestSolverChoice(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	if newAugmented(sparse.NewCSC(sparsity.Banded(5000, 5000, 2, 2), nil), false) == nil {
		t.Error("iteration for a band")
	}
	random := randomSparse(rng, 6000, 4000, 4)
	if newAugmented(random, false) != nil {
		t.Error("factorisation for a random graph")
	}
	if newAugmented(random, true) == nil {
		t.Error("iteration although DirectSolver was selected")
	}
}

// TestSparseCovariance compares elements with those of the dense Jacobian.
func TestSparseCovariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	compared := 0
	for range 100 {
		n := 1 + rng.IntN(15)
		m := n + 2 + rng.IntN(20)
		d, s := newDense(m, n), newSparse(m, n, AutoSolver)
		s.jac = randomSparse(rng, m, n, 2)
		for j, f := range s.jac.ColPtr()[:n] {
			floats.Scale(math.Pow(10, float64(rng.IntN(9)-4)), s.jac.Data()[f:s.jac.ColPtr()[j+1]])
		}
		d.jac.Copy(s.jac)
		want, err := d.covariance()
		if err != nil {
			continue
		}
		got, err := s.covariance()
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				v := got.At(i, j)
				if i != j && v == 0 {
					continue
				}
				compared++
				size := math.Sqrt(want.At(i, i) * want.At(j, j))
				if math.Abs(v-want.At(i, j)) > 1e-9*size {
					t.Errorf("element (%d, %d) is %v, want %v", i, j, v, want.At(i, j))
				}
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d elements compared", compared)
	}
}
