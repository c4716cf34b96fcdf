package sums

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// full is a query with all parts.
func full() *Query {
	return &Query{X: mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}), Gradient: true,
		V: mat.NewDense(3, 1, []float64{1, 0, math.Inf(-1)}), GaussNewton: true}
}

// of returns a sum of vectors for q.
func of(t testing.TB, q *Query, vectors ...[]float64) *Sum {
	t.Helper()
	s, err := NewSum(q)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		s.add(v)
		s.Rows++
	}
	return s
}

// TestSumIsCompensated compares with exact sums of numbers that cancel, merged in random trees.
func TestSumIsCompensated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	q := At([]float64{0}, false)
	for range 100 {
		exact, magnitude := new(big.Float).SetPrec(4000), 0.0
		var parts []*Sum
		for range 200 {
			x := math.Ldexp(r.NormFloat64(), r.IntN(60))
			for _, v := range []float64{x, -x * (1 + 1e-9*r.Float64()), r.Float64()} {
				exact.Add(exact, big.NewFloat(v))
				magnitude += math.Abs(v)
				parts = append(parts, of(t, q, []float64{v}))
			}
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for len(parts) > 1 {
			i := r.IntN(len(parts) - 1)
			if err := parts[i].Merge(parts[i+1]); err != nil {
				t.Fatal(err)
			}
			parts = append(parts[:i+1], parts[i+2:]...)
		}
		want, _ := exact.Float64()
		if got := parts[0].Value(0); math.Abs(got-want) > 2e-16*math.Abs(want)+1e-27*magnitude {
			t.Fatalf("got %v, want %v, difference %g", got, want, got-want)
		}
		if parts[0].Rows != 600 {
			t.Fatalf("%d rows", parts[0].Rows)
		}
	}
}

func TestSumOfInfinities(t *testing.T) {
	q := At([]float64{0}, false)
	inf := math.Inf(1)
	for _, c := range []struct {
		name  string
		terms []float64
		want  float64
	}{
		{"infinite", []float64{1, inf, 2}, inf},
		{"negative", []float64{-inf, 1}, -inf},
		{"both", []float64{-inf, inf}, math.NaN()},
		{"overflow", []float64{math.MaxFloat64, math.MaxFloat64}, inf},
		{"NaN", []float64{1, math.NaN()}, math.NaN()},
		{"none", nil, 0},
	} {
		s := new(Sum)
		s.Merge(of(t, q))
		for _, x := range c.terms {
			s.Merge(of(t, q, []float64{x}))
		}
		if got := s.Value(0); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMergeRefusesOtherQueries(t *testing.T) {
	q := full()
	for name, change := range map[string]func(*Query){
		"point":       func(q *Query) { q.X.Set(1, 2, 7) },
		"order":       func(q *Query) { q.X.Set(0, 0, 2); q.X.Set(0, 1, 1) },
		"direction":   func(q *Query) { q.V.Set(0, 0, 7) },
		"gradient":    func(q *Query) { q.Gradient = false },
		"matrix":      func(q *Query) { q.GaussNewton = false },
		"no products": func(q *Query) { q.V = nil },
	} {
		other := full()
		change(other)
		s, u := of(t, q, make([]float64, 1)), of(t, other)
		before := s.Clone()
		var wrong *MergeError
		if err := s.Merge(u); !errors.As(err, &wrong) || !reflect.DeepEqual(s, before) {
			t.Errorf("%s: got %v and %v", name, err, s)
		}
		if err := s.Merge(of(t, full())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadListIsCapped(t *testing.T) {
	s := of(t, full())
	for i := range int64(MaxBad + 5) {
		one := of(t, full())
		one.leaveOut(Bad{Row: i % 2, Rows: 2, Reason: strings.Repeat("x", 2*maxReason)})
		if err := s.Merge(one); err != nil {
			t.Fatal(err)
		}
	}
	if s.BadRows != 2*(MaxBad+5) || len(s.Bad) != MaxBad || s.Bad[3].Row != 7 || len(s.Bad[3].Reason) != maxReason {
		t.Errorf("%d bad rows, list of %d", s.BadRows, len(s.Bad))
	}
	round := new(Sum)
	if b, _ := s.MarshalBinary(); round.UnmarshalBinary(b) != nil || !reflect.DeepEqual(round, s) {
		t.Error("the encoding differs")
	}
}

// sample is a sum with numbers of all kinds.
func sample(t testing.TB) *Sum {
	v := []float64{1, -2, math.Inf(1), math.Copysign(0, -1), 1e-320, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}
	s := of(t, full(), v, v)
	s.leaveOut(Bad{Row: 7, Rows: 1, Reason: "the value is NaN"})
	return s
}

func TestSumEncoding(t *testing.T) {
	for name, s := range map[string]*Sum{"zero": new(Sum), "full": sample(t), "empty": of(t, full())} {
		b, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var r Sum
		if err := r.UnmarshalBinary(b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again, _ := r.MarshalBinary(); !bytes.Equal(again, b) {
			t.Errorf("%s: the encoding differs after a round", name)
		}
		if err := r.Merge(s); err != nil || r.Rows != 2*s.Rows {
			t.Errorf("%s: %v", name, err)
		}
	}
	b, _ := sample(t).MarshalBinary()
	for i := range b {
		for _, damaged := range [][]byte{b[:i], append(b[:i:i], append([]byte{b[i] ^ 0x41}, b[i+1:]...)...)} {
			var wrong *FormatError
			s := sample(t)
			if err := s.UnmarshalBinary(damaged); !errors.As(err, &wrong) {
				t.Fatalf("byte %d: error %v", i, err)
			}
			if got, _ := s.MarshalBinary(); !bytes.Equal(got, b) {
				t.Fatalf("byte %d: a failed decoding changed the sum", i)
			}
		}
	}
}

func TestQueryEncoding(t *testing.T) {
	for _, q := range []*Query{full(), At([]float64{1, math.NaN()}, true)} {
		b, err := q.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var r Query
		if err := r.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if q.hash() != r.hash() || q.Gradient != r.Gradient || q.GaussNewton != r.GaussNewton {
			t.Errorf("got %v, want %v", r, q)
		}
		var wrong *FormatError
		for i := range b {
			if err := r.UnmarshalBinary(b[:i]); !errors.As(err, &wrong) {
				t.Fatalf("%d bytes: error %v", i, err)
			}
		}
	}
	for _, q := range []*Query{nil, {}, {X: new(mat.Dense)}, {X: mat.NewDense(1, 2, nil), V: mat.NewDense(3, 1, nil)}} {
		if _, err := q.MarshalBinary(); err == nil {
			t.Errorf("no error for %v", q)
		}
	}
}

// FuzzUnmarshal: bytes with a right checksum decode to something that encodes to a fixed point, or are refused.
func FuzzUnmarshal(f *testing.F) {
	b, _ := sample(f).MarshalBinary()
	f.Add(b[:len(b)-4])
	b, _ = new(Sum).MarshalBinary()
	f.Add(b[:len(b)-4])
	b, _ = full().MarshalBinary()
	f.Add(b[:len(b)-4])
	f.Fuzz(func(t *testing.T, b []byte) {
		b = appendCheck(b, 0)
		var s, again Sum
		if s.UnmarshalBinary(b) == nil {
			c, err := s.MarshalBinary()
			if err != nil || again.UnmarshalBinary(c) != nil {
				t.Fatal(err)
			}
			if d, _ := again.MarshalBinary(); !bytes.Equal(c, d) || len(s.hi) != s.shape.size() {
				t.Fatal("no fixed point")
			}
			if err := again.Merge(&s); err != nil {
				t.Fatal(err)
			}
		}
		var q, r Query
		if q.UnmarshalBinary(b) == nil {
			if c, err := q.MarshalBinary(); err != nil || r.UnmarshalBinary(c) != nil || r.hash() != q.hash() {
				t.Fatal("no fixed point")
			}
		}
	})
}
