package nabla_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// secondOrderBackends are engines and pairs, dense and sparse.
func secondOrderBackends() []nabla.Backend {
	dense := append(engines.Exact(),
		finitediff.Backend{},
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}},
		nabla.SecondOrder{Outer: reversediff.Backend{Compile: true}, Inner: forwarddiff.Backend{}},
	)
	all := slices.Clone(dense)
	for _, b := range dense {
		all = append(all, nabla.AutoSparse{Dense: b})
	}
	return append(all, nabla.AutoSparse{Dense: dense[len(dense)-2], Workers: 2},
		nabla.Policy{Backend: nabla.AutoSparse{Dense: dense[0]}})
}

// constraints has the outputs y₀ = s·Σ xᵢ³, where s is the bound Scale, y₁ = x₀·x₁ and y₂ = exp(x₂) + x₃.
type constraints struct{ Scale nabla.Real }

func (c *constraints) eval(x []nabla.Real) []nabla.Real {
	var s nabla.Real
	for _, v := range x {
		s = s.Add(v.Sq().Mul(v))
	}
	return []nabla.Real{s.Mul(c.Scale), x[0].Mul(x[1]), nabla.Exp(x[2]).Add(x[3])}
}

func TestWeightedHessian(t *testing.T) {
	x, w := []float64{1, 2, 0.5, -1}, []float64{2, -3, 0.25}
	hess := func(x, w []float64, scale float64) *mat.SymDense {
		h := mat.NewSymDense(len(x), nil)
		for i, v := range x {
			h.SetSym(i, i, 6*v*w[0]*scale)
		}
		h.SetSym(0, 1, w[1])
		h.SetSym(2, 2, h.At(2, 2)+w[2]*math.Exp(x[2]))
		return h
	}
	for _, b := range secondOrderBackends() {
		tol := 1e-12
		if _, ok := b.(finitediff.Backend); ok || b.Name() == "sparse(finitediff)" {
			tol = 1e-3
		}
		c := &constraints{Scale: nabla.Const(1)}
		f := nabla.BindMethod((*constraints).eval, c)
		p, err := nabla.PrepareWeightedHessian(f, b, make([]float64, 4))
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		near := func(what string, got, want mat.Matrix) {
			t.Helper()
			if got == nil || !mat.EqualApprox(got, want, tol) {
				t.Errorf("%s: %s is\n%v\nwant\n%v", b.Name(), what, mat.Formatted(got), mat.Formatted(want))
			}
		}
		for range 3 {
			h, err := p.Hessian(nil, x, w)
			if err != nil {
				t.Fatalf("%s: %v", b.Name(), err)
			}
			near("Hessian", h, hess(x, w, 1))
			if s, ok := h.(*sparse.SymCSC); ok != (p.Plan() != nil) || ok && s.NNZ() != 6 {
				t.Errorf("%s: a %T, %v", b.Name(), h, p.Plan())
			}
		}
		dst := mat.NewSymDense(4, nil)
		y, grad, h, err := p.ValueGradientAndHessian(make([]float64, 3), make([]float64, 4), dst, x, w)
		if err != nil || h != mat.Symmetric(dst) {
			t.Fatalf("%s: %v", b.Name(), err)
		}
		near("Hessian", dst, hess(x, w, 1))
		near("value", mat.NewVecDense(3, y), mat.NewVecDense(3, []float64{1 + 8 + 0.125 - 1, 2, math.Exp(0.5) - 1}))
		near("gradient", mat.NewVecDense(4, grad),
			mat.NewVecDense(4,
				[]float64{w[0]*3*x[0]*x[0] + w[1]*x[1], w[0]*3*x[1]*x[1] + w[1]*x[0],
					w[0]*3*x[2]*x[2] + w[2]*math.Exp(x[2]), w[0]*3*x[3]*x[3] + w[2]}))
		q := p.Clone()
		if err := p.Rebind(&constraints{Scale: nabla.Const(10)}); err != nil {
			t.Errorf("%s: %v", b.Name(), err)
		}
		h, _ = p.Hessian(nil, x, w)
		tol *= 10
		near("rebound", h, hess(x, w, 10))
		h, err = q.Hessian(nil, x, w)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
		}
		near("clone", h, hess(x, w, 1))
		var shape *nabla.ShapeError
		if _, err := p.Hessian(nil, x, w[:2]); !errors.As(err, &shape) || shape.Arg != "len(w)" {
			t.Errorf("%s: two weights: %v", b.Name(), err)
		}
		var alias *nabla.AliasError
		if _, _, _, err := p.ValueGradientAndHessian(x[:3], nil, nil, x, w); !errors.As(err, &alias) {
			t.Errorf("%s: y in x: %v", b.Name(), err)
		}
		x5 := append([]float64{1, 2, 0.5, -1}, 7)
		if err := p.Resize(x5); err != nil {
			t.Errorf("%s: %v", b.Name(), err)
		}
		h, err = p.Hessian(nil, x5, w)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
		}
		near("resized", h, hess(x5, w, 10))
		if p.Plan() == nil {
			continue
		}
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower, blas.All} {
			var half sparse.SymCSC
			half.ReuseAs(p.Plan().Pattern.Triangle(uplo), uplo)
			if _, err := p.Hessian(&half, x5, w); err != nil {
				t.Errorf("%s: %v", b.Name(), err)
			}
			near("triangle", &half, hess(x5, w, 10))
		}
		var pe *nabla.PatternError
		var other sparse.SymCSC
		other.ReuseAs(sparsity.Full(5, 5), blas.All)
		if _, err := p.Hessian(&other, x5, w); !errors.As(err, &pe) {
			t.Errorf("%s: another pattern: %v", b.Name(), err)
		}
	}
}

func TestHessianDiagonal(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		s := x[0].Mul(x[len(x)-1])
		for i := 1; i < len(x); i++ {
			s = s.Add(x[i].Sq().Mul(x[i-1].Sq()))
		}
		return s
	}
	diagonal := func(x []float64) []float64 {
		d := make([]float64, len(x))
		for i := 1; i < len(x); i++ {
			d[i] += 2 * x[i-1] * x[i-1]
			d[i-1] += 2 * x[i] * x[i]
		}
		return d
	}
	x := make([]float64, 30)
	for i := range x {
		x[i] = 1 + float64(i%7)
	}
	for _, b := range secondOrderBackends() {
		tol := 1e-11
		if _, ok := b.(finitediff.Backend); ok || b.Name() == "sparse(finitediff)" {
			tol = 1 // differences of differences of numbers of 1e5
		}
		p, err := nabla.PrepareHessianDiagonal(f, b, make([]float64, 30))
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		check := func(what string, p *nabla.HessianDiagonalPrep, x []float64) {
			t.Helper()
			y, grad, d, err := p.ValueGradientAndDiagonal(nil, nil, x)
			if err != nil {
				t.Errorf("%s: %s: %v", b.Name(), what, err)
				return
			}
			for i, want := range diagonal(x) {
				if math.Abs(d[i]-want) > tol {
					t.Errorf("%s: %s: component %d is %v, want %v", b.Name(), what, i, d[i], want)
				}
			}
			wantY, wantGrad, _ := nabla.ValueAndGradient(f, forwarddiff.Backend{}, x)
			if math.Abs(y-wantY) > tol*wantY || len(grad) != len(x) || math.Abs(grad[3]-wantGrad[3]) > tol*100 {
				t.Errorf("%s: %s: value %v and gradient %v", b.Name(), what, y, grad)
			}
			d2, err := p.HessianDiagonal(make([]float64, len(x)), x)
			if err != nil || !slices.Equal(d, d2) {
				t.Errorf("%s: %s: again %v", b.Name(), what, err)
			}
		}
		check("prepared", p, x)
		check("again", p, x)
		q := p.Clone()
		if err := p.Resize(x[:9]); err != nil {
			t.Errorf("%s: %v", b.Name(), err)
		}
		check("resized", p, x[:9])
		check("clone", q, x)
	}
}

// TestDiagonalOfWrongPattern: a pattern that misses an entry is found.
func TestDiagonalOfWrongPattern(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return x[0].Mul(x[1]).Mul(x[1]) }
	b := nabla.AutoSparse{Dense: forwarddiff.Backend{}, Detector: sparsity.Known{H: sparsity.Banded(2, 2, 0, 0)}}
	var pe *nabla.PatternError
	if _, err := nabla.PrepareHessianDiagonal(f, b, []float64{1, 2}); !errors.As(err, &pe) {
		t.Errorf("%v", err)
	}
	p, err := nabla.PrepareHessianDiagonal(f, b, []float64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.HessianDiagonal(nil, []float64{1, 2}); !errors.As(err, &pe) {
		t.Errorf("%v", err)
	}
}

func TestSecondOrderAllocations(t *testing.T) {
	x, w := []float64{1, 2, 0.5, -1}, []float64{2, -3, 0.25}
	c := &constraints{Scale: nabla.Const(1)}
	for _, b := range []nabla.Backend{
		nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}},
		nabla.AutoSparse{Dense: nabla.SecondOrder{Outer: forwarddiff.Backend{},
			Inner: reversediff.Backend{Compile: true}}},
	} {
		p, err := nabla.PrepareWeightedHessian(nabla.BindMethod((*constraints).eval, c), b, x)
		if err != nil {
			t.Fatal(err)
		}
		h, _ := p.Hessian(nil, x, w)
		y, grad := make([]float64, 3), make([]float64, 4)
		if n := testing.AllocsPerRun(20, func() {
			if _, err := p.Hessian(h, x, w); err != nil {
				t.Fatal(err)
			}
			if _, _, _, err := p.ValueGradientAndHessian(y, grad, h, x, w); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: a weighted Hessian allocates %v times", b.Name(), n)
		}
		d, err := nabla.PrepareHessianDiagonal(squaredDifferences, b, x)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float64, 4)
		if n := testing.AllocsPerRun(20, func() {
			if _, err := d.HessianDiagonal(dst, x); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: a diagonal allocates %v times", b.Name(), n)
		}
	}
}

// TestSecondOrderEmpty: no inputs and no outputs are no errors.
func TestSecondOrderEmpty(t *testing.T) {
	three := func([]nabla.Real) nabla.Real { return nabla.Const(3) }
	none := func([]nabla.Real) []nabla.Real { return nil }
	two := func([]nabla.Real) []nabla.Real { return []nabla.Real{nabla.Const(2)} }
	for _, b := range secondOrderBackends() {
		d, err := nabla.PrepareHessianDiagonal(three, b, nil)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		if y, grad, diagonal, err := d.ValueGradientAndDiagonal(nil, nil, nil); err != nil || y != 3 ||
			len(grad)+len(diagonal) != 0 {
			t.Errorf("%s: diagonal: %v, %v, %v, %v", b.Name(), y, grad, diagonal, err)
		}
		if h, err := nabla.WeightedHessian(none, b, []float64{1, 2}, nil); err != nil || h.SymmetricDim() != 2 ||
			h.At(0, 1) != 0 {
			t.Errorf("%s: no outputs: %v, %v", b.Name(), h, err)
		}
		w, err := nabla.PrepareWeightedHessian(two, b, nil)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		if y, grad, h, err := w.ValueGradientAndHessian(nil, nil, nil, nil, []float64{1}); err != nil || len(y) != 1 ||
			y[0] != 2 || len(grad) != 0 || h.SymmetricDim() != 0 {
			t.Errorf("%s: no inputs: %v, %v, %v, %v", b.Name(), y, grad, h, err)
		}
	}
}
