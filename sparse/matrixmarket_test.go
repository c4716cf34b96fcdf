package sparse_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// same compares bits, but for those of NaN.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(v, w float64) bool {
		return math.Float64bits(v) == math.Float64bits(w) || math.IsNaN(v) && math.IsNaN(w)
	})
}

func TestMatrixMarketRoundTrip(t *testing.T) {
	special := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), math.MaxFloat64,
		math.SmallestNonzeroFloat64, 0.1}
	each(func(r *rand.Rand, rows, cols int) {
		m, _ := random(r, rows, cols)
		for k := range m.Data() {
			if r.IntN(4) == 0 {
				m.Data()[k] = special[r.IntN(len(special))]
			}
		}
		var b bytes.Buffer
		if err := m.WriteMatrixMarket(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		back, err := sparse.ReadMatrixMarket(&b)
		if err != nil || !back.Pattern().Equal(m.Pattern()) || !same(back.Data(), m.Data()) {
			t.Fatalf("%s%v, %v", text, back, err)
		}
		p, err := sparsity.ReadMatrixMarket(strings.NewReader(text))
		if err != nil || !p.Equal(m.Pattern()) {
			t.Fatalf("the pattern: %v, %v", p, err)
		}
		for _, uplo := range parts {
			s, a := randomSym(r, rows, uplo)
			var b bytes.Buffer
			if err := s.WriteMatrixMarket(&b); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			for _, to := range parts {
				back, err := sparse.ReadSymMatrixMarket(strings.NewReader(text), to)
				if err != nil || back.Uplo() != to || !back.Pattern().Equal(s.To(to).Pattern()) ||
					!same(back.Data(), s.To(to).Data()) {
					t.Fatalf("%s%c: %v, %v", text, to, back, err)
				}
			}
			m, err := sparse.ReadMatrixMarket(strings.NewReader(text))
			if err != nil || rows > 0 && !mat.Equal(m, dense(a)) {
				t.Fatalf("%sexpanded: %v, %v", text, m, err)
			}
		}
	})
}

func TestReadMatrixMarket(t *testing.T) {
	const mm = "%%MatrixMarket matrix "
	for _, test := range []struct {
		file string
		want [][]float64
	}{
		{"coordinate real general\n2 2 3\n1 1 1\n2 1 2\n1 1 3\n", [][]float64{{4, 0}, {2, 0}}},
		{"coordinate pattern general\n1 2 3\n1 2\n1 2\n1 1\n", [][]float64{{1, 1}}},
		{"coordinate integer skew-symmetric\n2 2 1\n2 1 2\n", [][]float64{{0, -2}, {2, 0}}},
		{"coordinate real hermitian\n2 2 2\n2 1 2\n1 1 1\n", [][]float64{{1, 2}, {2, 0}}},
		{"array real general\n2 2\n1\n0\n3\n4\n", [][]float64{{1, 3}, {0, 4}}},
	} {
		m, err := sparse.ReadMatrixMarket(strings.NewReader(mm + test.file))
		if err != nil || !mat.Equal(m, dense(test.want)) {
			t.Errorf("%s%v, %v", test.file, m, err)
		}
	}
	for _, test := range []struct{ file, want string }{
		{"coordinate complex general\n1 1 1\n1 1 1 2\n", "line 1: the values are complex"},
		{"coordinate real general\n1 1 1\n1 2 1\n", "line 3: entry (1, 2) lies outside"},
		{"coordinate real general\n1 1\n", "line 2: the sizes"},
		{"coordinate real general\n1 1 0\n",
			"line 1: the matrix is general, want a symmetric one; ReadMatrixMarket reads it"},
	} {
		var format *sparse.FormatError
		_, err := sparse.ReadMatrixMarket(strings.NewReader(mm + test.file))
		_, serr := sparse.ReadSymMatrixMarket(strings.NewReader(mm+test.file), blas.All)
		if strings.Contains(test.want, "symmetric") {
			err = serr
		}
		if !errors.As(err, &format) || !errors.As(serr, &format) ||
			!strings.Contains(err.Error(), "sparse: "+test.want) {
			t.Errorf("%s%v, %v; want %s", test.file, err, serr, test.want)
		}
	}
	var pattern *sparse.PatternError
	if _, err := sparse.ReadSymMatrixMarket(nil, 0); !errors.As(err, &pattern) {
		t.Errorf("uplo 0: %v", err)
	}
}

// full is a writer without space.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	m := sparse.NewCSC(sparsity.Full(2, 2), nil)
	s, err := m.Sym(blas.Upper)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.WriteMatrixMarket(full{}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	if err := s.WriteMatrixMarket(full{}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

// FuzzReadMatrixMarket reads arbitrary bytes: a written copy reads as the same matrix, and the symmetric reader agrees
// with the general one.
func FuzzReadMatrixMarket(f *testing.F) {
	const mm = "%%MatrixMarket matrix "
	for _, file := range []string{
		"",
		mm + "coordinate real general\n2 3 2\n1 3 1.5\n2 1 -2e-3\n",
		mm + "coordinate integer symmetric\n% c\n3 3 2\n3 1 1\n2 2 -1\n",
		mm + "array real skew-symmetric\n3 3\n1\nNaN\n3\n",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := sparse.ReadMatrixMarket(bytes.NewReader(file))
		s, serr := sparse.ReadSymMatrixMarket(bytes.NewReader(file), blas.Upper)
		if err != nil {
			if _, ok := errors.AsType[*sparse.FormatError](err); !ok || serr == nil {
				t.Fatalf("%T %v; symmetric: %v", err, err, serr)
			}
			return
		}
		if serr == nil {
			if c := s.CSC(); !c.Pattern().Equal(m.Pattern()) || !same(c.Data(), m.Data()) {
				t.Fatalf("%v, symmetric %v", m, c)
			}
		}
		var b bytes.Buffer
		if err := m.WriteMatrixMarket(&b); err != nil {
			t.Fatal(err)
		}
		back, err := sparse.ReadMatrixMarket(&b)
		rows, cols := m.Dims()
		if err == nil && (!back.Pattern().Equal(m.Pattern()) || !same(back.Data(), m.Data())) ||
			err != nil && max(rows, cols) <= 1<<20 {
			t.Fatalf("%v, %v; want %v", back, err, m)
		}
	})
}
