package sparsity_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// dense returns a matrix of which about a third of the entries are not zero.
func dense(r *rand.Rand, rows, cols int) *mat.Dense {
	d := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			if r.IntN(3) == 0 {
				d.Set(i, j, r.NormFloat64())
			}
		}
	}
	return d
}

// structured has a pattern of its own, and hides its values.
type structured struct {
	mat.Matrix
	p *sparsity.Pattern
}

func (s structured) Pattern() *sparsity.Pattern { return s.p }

type structuredSymmetric struct{ structured }

func (s structuredSymmetric) SymmetricDim() int { n, _ := s.Dims(); return n }

func TestFromMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 30 {
		n, m := 1+r.IntN(7), 1+r.IntN(7)
		d, sq := dense(r, n, m), dense(r, n, n)
		d.Set(0, 0, math.NaN())
		d.Set(n-1, m-1, math.Copysign(0, -1))
		sym := mat.NewSymDense(n, nil)
		tri := mat.NewTriDense(n, mat.Lower, nil)
		band := mat.NewBandDense(n, m, min(1, n-1), min(2, m-1), nil)
		symBand := mat.NewSymBandDense(n, min(1, n-1), nil)
		for i := range n {
			for j := range n {
				sym.SetSym(i, j, sq.At(i, j))
				if j <= i {
					tri.SetTri(i, j, sq.At(i, j))
				}
				if j >= i && j-i <= min(1, n-1) {
					symBand.SetSymBand(i, j, sq.At(i, j))
				}
			}
			for j := range m {
				if j >= i-1 && j <= i+2 && i-j <= min(1, n-1) && j-i <= min(2, m-1) {
					band.SetBand(i, j, d.At(i, j))
				}
			}
		}
		for _, a := range []mat.Matrix{d, d.T(), d.T().T(), sym, tri, tri.T(), tri.TTri(), band, band.T(), symBand,
			mat.NewDiagDense(n, sq.RawMatrix().Data[:n]), d.ColView(0), d.ColView(0).T()} {
			p := sparsity.FromMatrix(a)
			rows, cols := a.Dims()
			if pr, pc := p.Dims(); pr != rows || pc != cols {
				t.Fatalf("%T: %d×%d, want %d×%d", a, pr, pc, rows, cols)
			}
			for i := range rows {
				for j := range cols {
					if p.Has(i, j) != (a.At(i, j) != 0) {
						t.Errorf("%T: entry (%d, %d) = %g: %v", a, i, j, a.At(i, j), p.Has(i, j))
					}
				}
			}
		}
	}
	p := sparsity.Banded(3, 3, 1, 0)
	a := structured{mat.NewDense(3, 3, nil), p}
	if sparsity.FromMatrix(a) != p || sparsity.FromMatrix(mat.Transpose{Matrix: a}) != p.Transpose() {
		t.Error("a matrix with a pattern has another")
	}
	if got := sparsity.FromMatrix(structuredSymmetric{a}); !got.Equal(sparsity.Banded(3, 3, 1, 1)) {
		t.Errorf("a stored triangle: %v", got)
	}
	if p := sparsity.FromMatrix(new(mat.Dense)); p.NNZ() != 0 {
		t.Errorf("%v", p)
	}
}

func TestTriangle(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 100 {
		rows, cols := r.IntN(7), r.IntN(7)
		i, j, has := random(r, rows, cols)
		p, _ := sparsity.FromEntries(rows, cols, i, j)
		up, low := p.Triangle(blas.Upper), p.Triangle(blas.Lower)
		below, above := 0, 0
		for a := range rows {
			for b := range cols {
				h := has[[2]int{a, b}]
				if up.Has(a, b) != (h && a <= b) || low.Has(a, b) != (h && a >= b) {
					t.Fatalf("(%d, %d) of %v: upper %v, lower %v", a, b, p, up.Has(a, b), low.Has(a, b))
				}
				if h {
					below, above = max(below, a-b), max(above, b-a)
				}
			}
		}
		if p.Triangle(blas.All) != p {
			t.Error("all is not all")
		}
		if gb, ga := p.Bandwidth(); gb != below || ga != above {
			t.Errorf("bandwidth %d, %d, want %d, %d", gb, ga, below, above)
		}
		if u, err := up.Union(low); err != nil || !u.Equal(p) {
			t.Errorf("the triangles do not make the whole")
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a triangle 'X'")
		}
	}()
	sparsity.Full(1, 1).Triangle('X')
}
