package sparse_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

func TestCSC(t *testing.T) {
	each(func(r *rand.Rand, rows, cols int) {
		m, want := random(r, rows, cols)
		if gr, gc := m.Dims(); gr != rows || gc != cols {
			t.Fatalf("%d×%d, want %d×%d", gr, gc, rows, cols)
		}
		tr := m.Transpose()
		if tr.Pattern() != m.Pattern().Transpose() {
			t.Error("the transpose has a pattern of its own")
		}
		i, j, v := m.Triplets([]int{7}, []int{8}, []float64{9})
		if len(i) != m.NNZ()+1 || i[0] != 7 || j[0] != 8 || v[0] != 9 {
			t.Fatalf("triplets %v %v %v", i, j, v)
		}
		back, err := sparse.FromTriplets(rows, cols, i[1:], j[1:], v[1:])
		if err != nil || !back.Pattern().Equal(m.Pattern()) || !slices.Equal(back.Data(), m.Data()) {
			t.Fatalf("from triplets: %v", err)
		}
		rt, ct := m.T().Dims()
		if rt != cols || ct != rows {
			t.Fatalf("T is %d×%d", rt, ct)
		}
		for i := range rows {
			for j := range cols {
				if m.At(i, j) != want[i][j] || tr.At(j, i) != want[i][j] || m.T().At(j, i) != want[i][j] ||
					back.At(i, j) != want[i][j] {
					t.Fatalf("(%d, %d): %g, transposed %g, want %g", i, j, m.At(i, j), tr.At(j, i), want[i][j])
				}
			}
		}
		c := m.Clone()
		m.Zero()
		if c.Pattern() != m.Pattern() || !slices.Equal(c.Data(), back.Data()) {
			t.Error("a clone has another pattern or other values")
		}
	})
}

func TestTripletsAdd(t *testing.T) {
	m, err := sparse.FromTriplets(2, 2, []int{1, 0, 1}, []int{0, 1, 0}, []float64{1, 5, 2})
	if err != nil || m.NNZ() != 2 || m.At(1, 0) != 3 || m.At(0, 1) != 5 {
		t.Errorf("%v, %v", m, err)
	}
	var shape *sparse.ShapeError
	if _, err := sparse.FromTriplets(2, 2, []int{1}, []int{0}, nil); !errors.As(err, &shape) {
		t.Errorf("no values: %v", err)
	}
	var format *sparsity.FormatError
	if _, err := sparse.FromTriplets(2, 2, []int{2}, []int{0}, []float64{1}); !errors.As(err, &format) {
		t.Errorf("outside: %v", err)
	}
}

func TestEmpty(t *testing.T) {
	var m sparse.CSC
	if rows, cols := m.Dims(); rows != 0 || cols != 0 || !m.IsEmpty() || m.NNZ() != 0 || len(m.ColPtr()) != 1 ||
		len(m.RowIndex()) != 0 {
		t.Errorf("the zero value: %d×%d", rows, cols)
	}
	m.DoNonZero(nil)
	if len(m.MulVec(nil, nil)) != 0 || m.Transpose().NNZ() != 0 || !m.Clone().IsEmpty() || !m.Dense(nil).IsEmpty() {
		t.Error("the zero value is not 0×0")
	}
	p := sparsity.Banded(3, 4, 1, 1)
	m.ReuseAs(p)
	m.Set(0, 0, 6)
	m.Set(1, 1, 5)
	if m.IsEmpty() || m.Pattern() != p || m.At(1, 1) != 5 {
		t.Error("not reused")
	}
	first := &m.Data()[0]
	m.Reset()
	m.ReuseAs(sparsity.Banded(2, 2, 0, 0))
	if &m.Data()[0] != first || slices.Max(m.Data()) != 0 {
		t.Error("the memory is not reused, or not zeroed")
	}
	var s sparse.SymCSC
	if s.SymmetricDim() != 0 || !s.IsEmpty() || s.Uplo() != blas.All || len(s.MulVec(nil, nil)) != 0 ||
		s.To(blas.Upper).NNZ() != 0 || !s.SymDense(nil).IsEmpty() {
		t.Error("the zero value is not 0×0")
	}
	s.DoNonZero(nil)
	s.ReuseAs(sparsity.Banded(3, 3, 0, 1), blas.Upper)
	s.SetSym(2, 1, 5)
	if s.At(1, 2) != 5 {
		t.Error("not reused")
	}
	s.Reset()
	if !s.IsEmpty() {
		t.Error("not reset")
	}
}

func TestPanics(t *testing.T) {
	p := sparsity.Banded(3, 4, 0, 0)
	m := sparse.NewCSC(p, nil)
	s, err := sparse.NewSymCSC(sparsity.Banded(3, 3, 1, 0), blas.Lower, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 4)
	var v mat.VecDense
	visit := func(int, int, float64) {}
	for name, test := range map[string]struct {
		f    func()
		want any // a gonum error, or a part of a message
	}{
		"At row":       {func() { m.At(3, 0) }, mat.ErrRowAccess},
		"At col":       {func() { m.At(0, -1) }, mat.ErrColAccess},
		"At empty":     {func() { new(sparse.CSC).At(0, 0) }, mat.ErrRowAccess},
		"Set col":      {func() { m.Set(0, 4, 1) }, mat.ErrColAccess},
		"row":          {func() { m.DoRowNonZero(3, visit) }, mat.ErrRowAccess},
		"col":          {func() { m.DoColNonZero(4, visit) }, mat.ErrColAccess},
		"sym At":       {func() { s.At(0, 3) }, mat.ErrColAccess},
		"sym At row":   {func() { s.At(-1, 0) }, mat.ErrRowAccess},
		"sym row":      {func() { s.DoRowNonZero(3, visit) }, mat.ErrRowAccess},
		"sym col":      {func() { s.DoColNonZero(3, visit) }, mat.ErrColAccess},
		"sym empty":    {func() { new(sparse.SymCSC).At(0, 0) }, mat.ErrRowAccess},
		"reuse":        {func() { m.ReuseAs(p) }, mat.ErrReuseNonEmpty},
		"sym reuse":    {func() { s.ReuseAs(s.Pattern(), blas.Lower) }, mat.ErrReuseNonEmpty},
		"MulVecTo x":   {func() { m.MulVecTo(&v, false, mat.NewVecDense(3, nil)) }, mat.ErrShape},
		"MulVecTo dst": {func() { m.MulVecTo(mat.NewVecDense(4, nil), false, mat.NewVecDense(4, nil)) }, mat.ErrShape},
		"MulVecTo 0": {func() {
			sparse.NewCSC(sparsity.Empty(0, 4), nil).MulVecTo(&v, false, mat.NewVecDense(4, nil))
		}, mat.ErrZeroLength},
		"norm":        {func() { mat.Norm(m, 3) }, mat.ErrNormOrder},
		"sym norm":    {func() { mat.Norm(s, 3) }, mat.ErrNormOrder},
		"norm 0":      {func() { new(sparse.CSC).Norm(1) }, mat.ErrZeroLength},
		"sym norm 0":  {func() { new(sparse.SymCSC).Norm(1) }, mat.ErrZeroLength},
		"trace":       {func() { mat.Trace(m) }, mat.ErrSquare},
		"trace 0":     {func() { new(sparse.CSC).Trace() }, mat.ErrZeroLength},
		"sym trace 0": {func() { new(sparse.SymCSC).Trace() }, mat.ErrZeroLength},

		"Set": {func() { m.Set(0, 1, 0) },
			"sparse: CSC.Set: entry (0, 1) is not in the pattern, which is fixed; make a matrix over a pattern with " +
				"that entry"},
		"SetSym":        {func() { s.SetSym(0, 2, 1) }, "SymCSC.SetSym: entry (0, 2) is not in the pattern"},
		"nil pattern":   {func() { sparse.NewCSC(nil, nil) }, "NewCSC: the pattern is nil; make one"},
		"nil reuse":     {func() { new(sparse.CSC).ReuseAs(nil) }, "CSC.ReuseAs: the pattern is nil"},
		"nil sym reuse": {func() { new(sparse.SymCSC).ReuseAs(nil, blas.All) }, "SymCSC.ReuseAs: the pattern is nil"},
		"data":          {func() { sparse.NewCSC(p, x) }, "sparse: NewCSC: len(data) is 4, want 3"},
		"x":             {func() { m.MulVec(nil, x[:3]) }, "CSC.MulVec: len(x) is 3, want 4"},
		"dst":           {func() { m.MulVec(make([]float64, 4), x) }, "CSC.MulVec: len(dst) is 4, want 3"},
		"overlap": {func() { m.MulVec(x[1:], x) },
			"CSC.MulVec: dst and x share memory; give dst separate memory, or nil"},
		"trans x":     {func() { m.MulVecTrans(nil, x) }, "CSC.MulVecTrans: len(x) is 4, want 3"},
		"sym x":       {func() { s.MulVec(nil, x) }, "SymCSC.MulVec: len(x) is 4, want 3"},
		"sym overlap": {func() { s.MulVec(x[:3], x[1:]) }, "share memory"},
		"dense":       {func() { m.Dense(mat.NewDense(4, 3, nil)) }, "CSC.Dense: the shape of dst is 4×3, want 3×4"},
		"symdense": {func() { s.SymDense(mat.NewSymDense(4, nil)) },
			"SymCSC.SymDense: the shape of dst is 4×4, want 3×3"},
		"to":   {func() { s.To('X') }, "SymCSC.To: uplo is 'X', want blas.Upper, blas.Lower or blas.All"},
		"from": {func() { sparse.FromSymmetric(s, 0) }, "FromSymmetric: uplo is '\\x00'"},
	} {
		got := panics(test.f)
		if want, ok := test.want.(string); ok {
			if err, ok := got.(error); !ok || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, got, want)
			}
		} else if got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestAliasing checks the documented ownership of the slices.
func TestAliasing(t *testing.T) {
	data := []float64{1, 2, 3}
	m := sparse.NewCSC(sparsity.Banded(3, 3, 0, 0), data)
	data[1] = 7
	if m.At(1, 1) != 7 || m.T().At(1, 1) != 7 {
		t.Error("NewCSC copied its data, or T is no view")
	}
	tr, c := m.Transpose(), m.Clone()
	m.Data()[1] = 8
	if data[1] != 8 || tr.At(1, 1) != 7 || c.At(1, 1) != 7 {
		t.Error("Data is a copy, or Transpose or Clone are none")
	}
	buf := []float64{1, 2, 3, 0, 0, 0}
	m.MulVec(buf[3:], buf[:3]) // neighbours do not overlap
	if !slices.Equal(buf, []float64{1, 2, 3, 1, 16, 9}) {
		t.Errorf("%v", buf)
	}
}
