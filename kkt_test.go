package nabla_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// kktOfConstraints returns the blocks of the KKT matrix of constraints, and of the whole.
func kktOfConstraints(x, w []float64, scale float64) (j *mat.Dense, h, whole *mat.SymDense) {
	n, m := len(x), 3
	j, h = mat.NewDense(m, n, nil), mat.NewSymDense(n, nil)
	for i, v := range x {
		j.Set(0, i, 3*v*v*scale)
		h.SetSym(i, i, 6*v*w[0]*scale)
	}
	j.Set(1, 0, x[1])
	j.Set(1, 1, x[0])
	j.Set(2, 2, math.Exp(x[2]))
	j.Set(2, 3, 1)
	h.SetSym(0, 1, w[1])
	h.SetSym(2, 2, h.At(2, 2)+w[2]*math.Exp(x[2]))
	whole = mat.NewSymDense(n+m, nil)
	for i := range n {
		for k := range n {
			whole.SetSym(i, k, h.At(i, k))
		}
		for k := range m {
			whole.SetSym(n+k, i, j.At(k, i))
		}
	}
	return j, h, whole
}

func TestKKT(t *testing.T) {
	x, w := []float64{1, 2, 0.5, -1}, []float64{2, -3, 0.25}
	for _, b := range secondOrderBackends() {
		tol := 1e-12
		if _, ok := b.(finitediff.Backend); ok || b.Name() == "sparse(finitediff)" {
			tol = 1e-3
		}
		f := nabla.BindMethod((*constraints).eval, &constraints{Scale: nabla.Const(1)})
		p, err := nabla.PrepareKKT(f, b, make([]float64, 4))
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		near := func(what string, got, want mat.Matrix) {
			t.Helper()
			if !mat.EqualApprox(got, want, tol) {
				t.Errorf("%s: %s is\n%v\nwant\n%v", b.Name(), what, mat.Formatted(got), mat.Formatted(want))
			}
		}
		check := func(what string, p *nabla.KKTPrep, jac mat.Matrix, hess mat.Symmetric, x []float64, scale float64) {
			t.Helper()
			j, h, err := p.KKT(jac, hess, x, w)
			if err != nil {
				t.Errorf("%s: %s: %v", b.Name(), what, err)
				return
			}
			wantJ, wantH, _ := kktOfConstraints(x, w, scale)
			near(what+": Jacobian", j, wantJ)
			near(what+": Hessian", h, wantH)
			if jac != nil && j != jac || hess != nil && h != hess {
				t.Errorf("%s: %s: other matrices than the destinations", b.Name(), what)
			}
		}
		for range 3 {
			check("allocated", p, nil, nil, x, 1)
		}
		jac, hess := mat.NewDense(3, 4, nil), mat.NewSymDense(4, nil)
		check("dense", p, jac, hess, x, 1)
		if isCompiled(b) {
			y, grad := make([]float64, 3), make([]float64, 4)
			if n := testing.AllocsPerRun(10, func() { p.ValueGradientAndKKT(y, grad, jac, hess, x, w) }); n > 0 {
				t.Errorf("%s: %v allocations", b.Name(), n)
			}
		}
		check("empty", p, new(mat.Dense), new(mat.SymDense), x, 1)
		y, grad, _, _, err := p.ValueGradientAndKKT(make([]float64, 3), nil, jac, hess, x, w)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		wantJ, _, whole := kktOfConstraints(x, w, 1)
		near("value", mat.NewVecDense(3, y), mat.NewVecDense(3, []float64{1 + 8 + 0.125 - 1, 2, math.Exp(0.5) - 1}))
		var wantGrad mat.VecDense
		wantGrad.MulVec(wantJ.T(), mat.NewVecDense(3, w))
		near("gradient", mat.NewVecDense(4, grad), &wantGrad)
		for _, dst := range []mat.Symmetric{nil, new(mat.SymDense), mat.NewSymDense(7, nil)} {
			got, err := p.Matrix(dst, x, w)
			if err != nil {
				t.Errorf("%s: %v", b.Name(), err)
				continue
			}
			near("whole", got, whole)
		}
		sparseMatrices(t, b, p, x, w, check, near, whole)
		q := p.Clone()
		if err := p.Rebind(&constraints{Scale: nabla.Const(10)}); err != nil {
			t.Errorf("%s: %v", b.Name(), err)
		}
		tol *= 10
		check("rebound", p, nil, nil, x, 10)
		check("clone", q, nil, nil, x, 1)
		var shape *nabla.ShapeError
		if _, _, err := p.KKT(nil, nil, x, w[:2]); !errors.As(err, &shape) || shape.Arg != "len(w)" {
			t.Errorf("%s: two weights: %v", b.Name(), err)
		}
		if _, _, err := p.KKT(mat.NewDense(4, 4, nil), nil, x, w); !errors.As(err, &shape) {
			t.Errorf("%s: a Jacobian of four rows: %v", b.Name(), err)
		}
		if _, err := p.Matrix(mat.NewSymDense(4, nil), x, w); !errors.As(err, &shape) {
			t.Errorf("%s: a whole matrix of order 4: %v", b.Name(), err)
		}
		var alias *nabla.AliasError
		if _, _, _, _, err := p.ValueGradientAndKKT(w, nil, nil, nil, x, w); !errors.As(err, &alias) {
			t.Errorf("%s: y is w: %v", b.Name(), err)
		}
		shared := make([]float64, 16)
		if _, _, err := p.KKT(mat.NewDense(3, 4, shared[:12]), mat.NewSymDense(4, shared), x, w); !errors.As(err,
			&alias) {
			t.Errorf("%s: blocks of one memory: %v", b.Name(), err)
		}
		x5 := append([]float64{1, 2, 0.5, -1}, 7)
		if err := p.Resize(x5); err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		check("resized", p, nil, nil, x5, 10)
	}
}

// sparseMatrices checks destinations that are sparse.
func sparseMatrices(t *testing.T, b nabla.Backend, p *nabla.KKTPrep, x, w []float64,
	check func(what string, p *nabla.KKTPrep, jac mat.Matrix, hess mat.Symmetric, x []float64, scale float64),
	near func(what string, got, want mat.Matrix), whole mat.Matrix) {
	t.Helper()
	if p.Plan() == nil {
		var unsupported *nabla.UnsupportedError
		if _, _, err := p.KKT(new(sparse.CSC), nil, x, w); !errors.As(err, &unsupported) {
			t.Errorf("%s: a sparse Jacobian: %v", b.Name(), err)
		}
		if _, _, err := p.KKT(nil, new(sparse.SymCSC), x, w); !errors.As(err, &unsupported) {
			t.Errorf("%s: a sparse Hessian: %v", b.Name(), err)
		}
		if _, err := p.Matrix(new(sparse.SymCSC), x, w); !errors.As(err, &unsupported) {
			t.Errorf("%s: a sparse matrix: %v", b.Name(), err)
		}
		return
	}
	j, h, err := p.KKT(nil, nil, x, w)
	if err != nil {
		t.Fatal(err)
	}
	js, ok := j.(*sparse.CSC)
	hs, ok2 := h.(*sparse.SymCSC)
	if !ok || !ok2 || js.NNZ() != 8 || hs.NNZ() != 6 {
		t.Errorf("%s: a %T and a %T with other patterns", b.Name(), j, h)
		return
	}
	if n := p.Plan().Pattern.NNZ(); n != 6+2*8 {
		t.Errorf("%s: a plan of %d entries, want 22", b.Name(), n)
	}
	for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower, blas.All} {
		var half, all sparse.SymCSC
		half.ReuseAs(hs.Pattern().Triangle(uplo), uplo)
		check("triangle", p, js, &half, x, 1)
		all.ReuseAs(p.Plan().Pattern.Triangle(uplo), uplo)
		got, err := p.Matrix(&all, x, w)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		near("triangle of the whole", got, whole)
	}
	var pe *nabla.PatternError
	var other sparse.SymCSC
	other.ReuseAs(sparsity.Full(4, 4), blas.All)
	if _, _, err := p.KKT(nil, &other, x, w); !errors.As(err, &pe) {
		t.Errorf("%s: another pattern of the Hessian: %v", b.Name(), err)
	}
	if _, _, err := p.KKT(sparse.NewCSC(sparsity.Full(3, 4), nil), nil, x, w); !errors.As(err, &pe) {
		t.Errorf("%s: another pattern of the Jacobian: %v", b.Name(), err)
	}
}

// TestKKTProducts: the dense row of an objective's gradient takes one product, not one for each input, and the values
// are those of the separate operators.
func TestKKTProducts(t *testing.T) {
	const n = 60
	f := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, n)
		for i, v := range x {
			y[0] = y[0].Add(v.Sq().Mul(nabla.Const(float64(1 + i))))
			if i > 0 {
				y[i] = v.Mul(x[i-1]).Sub(nabla.Sin(v))
			}
		}
		return y
	}
	x, w := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], w[i] = 1/float64(1+i), float64(i%7)-2.5
	}
	pair := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{}}
	for _, d := range []coloring.Decompression{coloring.Direct, coloring.Substitution} {
		p, err := nabla.PrepareKKT(f, nabla.AutoSparse{Dense: pair, Decompression: d}, x)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Plan().Products(); got > 8 {
			t.Errorf("%v: %d products, want at most 8: %v", d, got, p.Plan())
		}
		j, h, err := p.KKT(nil, nil, x, w)
		if err != nil {
			t.Fatal(err)
		}
		wantJ, err := nabla.Jacobian(f, forwarddiff.Backend{}, x)
		if err != nil {
			t.Fatal(err)
		}
		wantH, err := nabla.WeightedHessian(f, reversediff.Backend{}, x, w)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(j, wantJ, 1e-12) || !mat.EqualApprox(h, wantH, 1e-12) {
			t.Errorf("%v: blocks differ from Jacobian and weighted Hessian", d)
		}
	}
}

// pairOfPatterns is a detector that returns fixed patterns.
type pairOfPatterns struct{ j, h *sparsity.Pattern }

func (pairOfPatterns) Name() string { return "pair" }

func (p pairOfPatterns) Jacobian(sparsity.Function, []float64) (*sparsity.Pattern, error) {
	return p.j, nil
}

func (p pairOfPatterns) Hessian(sparsity.Function, []float64) (*sparsity.Pattern, error) {
	return p.h, nil
}

// TestKKTKnownPatterns: a detector is asked for both patterns, and their sizes are checked.
func TestKKTKnownPatterns(t *testing.T) {
	f := nabla.BindMethod((*constraints).eval, &constraints{Scale: nabla.Const(1)})
	x, w := []float64{1, 2, 0.5, -1}, []float64{2, -3, 0.25}
	wantJ, wantH, _ := kktOfConstraints(x, w, 1)
	b := nabla.AutoSparse{Dense: reversediff.Backend{}}
	for _, c := range []struct {
		j, h  *sparsity.Pattern
		wrong string
	}{
		{sparsity.Full(3, 4), sparsity.Full(4, 4), ""},
		{sparsity.Full(4, 3), sparsity.Full(4, 4), "4×3, want 3×4"},
		{sparsity.Full(3, 4), sparsity.Full(7, 7), "7×7, want 4×4"},
		{sparsity.Banded(3, 4, 0, 0), sparsity.Full(4, 4), "misses entries"},
	} {
		b.Detector = pairOfPatterns{c.j, c.h}
		j, h, err := nabla.KKT(f, b, x, w)
		if c.wrong != "" {
			var pe *nabla.PatternError
			if !errors.As(err, &pe) || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v, want a *PatternError about %q", err, c.wrong)
			}
			continue
		}
		if err != nil || !mat.EqualApprox(j, wantJ, 1e-12) || !mat.EqualApprox(h, wantH, 1e-12) {
			t.Errorf("%v", err)
		}
	}
}

// chainOfProducts has the objective Σ xᵢ⁴ and a constraint for each pair of neighbours.
func chainOfProducts(x []nabla.Real) []nabla.Real {
	y := make([]nabla.Real, len(x))
	for i, v := range x {
		y[0] = y[0].Add(v.Sq().Sq())
		if i > 0 {
			y[i] = v.Mul(x[i-1]).Sub(nabla.Sin(v))
		}
	}
	return y
}

// BenchmarkKKT compares a KKT matrix with a Jacobian and a weighted Hessian that are prepared apart, by products, by
// entries, and by a pair whose inner engine computes the entries of the Jacobian, but not those of the Hessian. The
// metric is the number of products in a call.
func BenchmarkKKT(b *testing.B) {
	const n = 200
	x, w := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], w[i] = 1/float64(1+i), float64(i%7)-2.5
	}
	for _, dense := range []nabla.Backend{
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{}},
		reversediff.Backend{Compile: true},
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}},
	} {
		engine := nabla.AutoSparse{Dense: dense}
		b.Run(dense.Name()+"/together", func(b *testing.B) {
			p, err := nabla.PrepareKKT(chainOfProducts, engine, x)
			if err != nil {
				b.Fatal(err)
			}
			j, h, err := p.KKT(nil, nil, x, w)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := p.KKT(j, h, x, w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(p.Plan().Products()), "products")
		})
		b.Run(dense.Name()+"/apart", func(b *testing.B) {
			pj, err := nabla.PrepareJacobian(chainOfProducts, engine, x)
			if err != nil {
				b.Fatal(err)
			}
			ph, err := nabla.PrepareWeightedHessian(chainOfProducts, engine, x)
			if err != nil {
				b.Fatal(err)
			}
			j, err := pj.Jacobian(nil, x)
			if err != nil {
				b.Fatal(err)
			}
			h, err := ph.Hessian(nil, x, w)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := pj.Jacobian(j, x); err != nil {
					b.Fatal(err)
				}
				if _, err := ph.Hessian(h, x, w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pj.Plan().Products()+ph.Plan().Products()), "products")
		})
	}
}
