package sparse_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

func TestSymCSC(t *testing.T) {
	each(func(r *rand.Rand, n, _ int) {
		for _, uplo := range parts {
			s, want := randomSym(r, n, uplo)
			if s.Uplo() != uplo || s.SymmetricDim() != n {
				t.Fatalf("%c of %d", s.Uplo(), s.SymmetricDim())
			}
			check := func(what string, m mat.Matrix) {
				t.Helper()
				for i := range n {
					for j := range n {
						if m.At(i, j) != want[i][j] {
							t.Fatalf("%s of %c: (%d, %d) is %g, want %g", what, uplo, i, j, m.At(i, j), want[i][j])
						}
					}
				}
			}
			check("itself", s)
			c := s.Clone()
			if c.Pattern() != s.Pattern() {
				t.Error("a clone has another pattern")
			}
			full := s.CSC()
			for _, to := range parts {
				other := s.To(to)
				check("To", other)
				if other.Uplo() != to {
					t.Errorf("To %c is %c", to, other.Uplo())
				}
				if _, err := sparse.NewSymCSC(other.Pattern(), to, other.Data()); err != nil {
					t.Error(err)
				}
				back := other.To(uplo)
				if !back.Pattern().Equal(s.Pattern()) {
					t.Errorf("%c to %c and back:\n%v\nwant\n%v", uplo, to, back.Pattern(), s.Pattern())
				}
				sym, err := full.Sym(to)
				if err != nil || !sym.Pattern().Equal(other.Pattern()) {
					t.Fatalf("Sym: %v", err)
				}
				check("Sym", sym)
				from := sparse.FromSymmetric(s, to)
				check("FromSymmetric", from)
				if !from.Pattern().Equal(other.Pattern()) {
					t.Error("FromSymmetric has another pattern")
				}
				if n > 0 {
					check("FromSymmetric dense", sparse.FromSymmetric(s.SymDense(nil), to))
				}
			}
			s.Zero()
			check("a clone", c)
			check("CSC", full)
			if p := full.Pattern(); !p.Symmetric() || !p.Equal(sparsity.FromMatrix(s)) {
				t.Errorf("CSC has the pattern %v", p)
			}
		}
	})
}

func TestNewSymCSC(t *testing.T) {
	nan := math.NaN()
	full, up := sparsity.Full(2, 2), sparsity.Banded(2, 2, 0, 1)
	for _, test := range []struct {
		p    *sparsity.Pattern
		uplo blas.Uplo
		data []float64
		want string // "" is no error
	}{
		{full, blas.All, []float64{1, 2, 2, 1}, ""},
		{full, blas.All, []float64{nan, nan, nan, nan}, ""},
		{up, blas.Upper, []float64{1, 2, 3}, ""},
		{up.Transpose(), blas.Lower, nil, ""},
		{full, blas.All, []float64{1, 2, 3, 1}, "the values at (1, 0) and (0, 1) differ"},
		{full, blas.All, []float64{1, nan, 3, 1}, "differ"},
		{up, blas.All, nil, "not symmetric; take its union"},
		{up, blas.Lower, nil, "outside the Lower triangle; Triangle(blas.Lower)"},
		{full, blas.Upper, nil, "outside the Upper triangle; Triangle(blas.Upper)"},
		{up, 'X', nil, "uplo is 'X'"},
		{sparsity.Full(2, 3), blas.All, nil, "2×3, want a square one"},
		{nil, blas.All, nil, "the pattern is nil"},
	} {
		s, err := sparse.NewSymCSC(test.p, test.uplo, test.data)
		var pattern *sparse.PatternError
		if test.want == "" && err != nil ||
			test.want != "" && (!errors.As(err, &pattern) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%c: %v, %v; want %s", test.uplo, s, err, test.want)
		}
	}
	var shape *sparse.ShapeError
	if _, err := sparse.NewSymCSC(full, blas.All, []float64{1}); !errors.As(err, &shape) {
		t.Errorf("one number: %v", err)
	}
}

func TestSym(t *testing.T) {
	m := sparse.NewCSC(sparsity.Banded(2, 2, 0, 1), []float64{1, 0, 3}) // a zero on one side
	s, err := m.Sym(blas.All)
	if err != nil || s.NNZ() != 4 || !mat.Equal(s, m) {
		t.Errorf("%v, %v", s, err)
	}
	m.Set(0, 1, 5)
	var pattern *sparse.PatternError
	if _, err := m.Sym(blas.Upper); !errors.As(err, &pattern) ||
		!strings.Contains(err.Error(), "(0, 1) and (1, 0) differ: 5 and 0") {
		t.Errorf("not symmetric: %v", err)
	}
	if _, err := sparse.NewCSC(sparsity.Full(2, 3), nil).Sym(blas.Upper); !errors.As(err, &pattern) {
		t.Errorf("not square: %v", err)
	}
	if _, err := m.Sym(0); !errors.As(err, &pattern) {
		t.Errorf("uplo 0: %v", err)
	}
}
