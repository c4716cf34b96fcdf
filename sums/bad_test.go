package sums_test

import (
	"errors"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/sums"
	"github.com/nabla-ad/nabla/sums/internal/coded"
)

// TestBadRows: under each policy, with rows that are NaN, the sum is that of the other rows, the list has the bad ones,
// and an error names the first of them, with the sum of all before.
func TestBadRows(t *testing.T) {
	all := data(900, 4)
	bad := []int64{0, 17, 18, 450, 899}
	x := []float64{1, -1, 0.5, 0}
	good := coded.Batch{}
	for i := range int64(900) {
		if slices.Contains(bad, i) {
			all.Y[i] = math.NaN()
			continue
		}
		good.X, good.Y = append(good.X, all.X[4*i:4*i+4]...), append(good.Y, all.Y[i])
	}
	value := func(b *coded.Batch) []float64 {
		g, err := nabla.PrepareGradient(coded.Bound("logistic", b), source.Reverse{}, x)
		if err != nil {
			t.Fatal(err)
		}
		y, grad, err := g.ValueAndGradient(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		return append(grad, y)
	}
	for _, size := range []int{1, 20, 900} {
		src := sums.Slice(blocks(all, size))
		for _, workers := range []int{1, 3} {
			set := &sums.Settings{Workers: workers}
			s, err := sums.NewLocal(coded.Logistic(sums.LeaveOut), src, set).Sum(background, sums.At(x, true))
			if err != nil {
				t.Fatal(err)
			}
			var listed []int64
			for _, b := range s.Bad {
				listed = append(listed, b.Row)
				if b.Rows != 1 || !strings.Contains(b.Reason, "NaN") {
					t.Errorf("bad row: %+v", b)
				}
			}
			if s.Rows != 895 || s.BadRows != 5 || !slices.Equal(listed, bad) ||
				!closeTo(append(s.Gradient(nil, 0), s.Value(0)), value(&good), 1e-12) {
				t.Errorf("blocks up to %d: %d rows, %d left out: %v", size, s.Rows, s.BadRows, s.Bad)
			}
			s, err = sums.NewLocal(coded.Logistic(sums.Keep), src, set).Sum(background, sums.At(x, true))
			if err != nil || !math.IsNaN(s.Value(0)) || s.Rows != 900 {
				t.Errorf("Keep: %v %v", s, err)
			}
			all.Y[0] = 1
			src := sums.Slice(blocks(all, size))
			s, err = sums.NewLocal(coded.Logistic(sums.Fail), src, set).Sum(background, sums.At(x, true))
			all.Y[0] = math.NaN()
			var row *sums.RowError
			var nonFinite *sums.NonFiniteError
			before := coded.Batch{X: all.X[:4*17], Y: slices.Clone(all.Y[:17])}
			before.Y[0] = 1
			if !errors.As(err, &row) || !errors.As(err, &nonFinite) || row.Row != 17 || row.Rows != 1 || s.Rows != 17 ||
				!closeTo(append(s.Gradient(nil, 0), s.Value(0)), value(&before), 1e-12) {
				t.Errorf("Fail, blocks up to %d, %d workers: %v, %d rows", size, workers, err, s.Rows)
			}
		}
	}
}

type pair struct{ A, B float64 }

var errOdd = errors.New("odd")

// fickle returns errors and panics for some rows.
func fickle(x []float64, p *pair) (float64, error) {
	switch p.A {
	case 1:
		return 0, errOdd
	case 2:
		panic("two")
	}
	return x[0] * p.A * p.B, nil
}

// TestFunctionsFail: errors and panics of the function are bad rows, also of the first row, at which it is prepared.
func TestFunctionsFail(t *testing.T) {
	for _, first := range []float64{1, 2, 3} {
		list := []pair{{first, 1}, {3, 2}, {1, 3}, {2, 4}, {5, 5}}
		want := 31.0
		if first == 3 {
			want = 34
		}
		term := func(bad sums.Policy) *sums.Term[pair] {
			return sums.Loss(fickle, finitediff.Backend{}, sums.Options[pair]{Bad: bad})
		}
		q := sums.At([]float64{1}, false)
		s, err := sums.NewLocal(term(sums.LeaveOut), sums.Slice(list), nil).Sum(background, q)
		if err != nil || s.Value(0) != want || s.Rows+s.BadRows != 5 {
			t.Fatalf("got %v, %v", s, err)
		}
		for _, b := range s.Bad {
			a := list[b.Row].A
			if a != 1 && a != 2 || !strings.Contains(b.Reason, map[float64]string{1: "odd", 2: "two"}[a]) {
				t.Errorf("%+v", b)
			}
		}
		for _, policy := range []sums.Policy{sums.Fail, sums.Keep} {
			_, err = sums.NewLocal(term(policy), sums.Slice(list), nil).Sum(background, q)
			var panicked *nabla.PanicError
			var row *sums.RowError
			if !errors.As(err, &row) || row.Row != map[float64]int64{1: 0, 2: 0, 3: 2}[first] ||
				(first == 2) != errors.As(err, &panicked) || (first != 2) != errors.Is(err, errOdd) {
				t.Errorf("%v: first row %v: %v", policy, first, err)
			}
		}
	}
}

// TestReaders: what a source reports, or a panic in it, ends the sum beside all rows before, for any number of workers.
func TestReaders(t *testing.T) {
	list := blocks(data(300, 4), 1)
	broken := errors.New("broken")
	x := make([]float64, 4)
	for _, at := range []int{0, 1, 100, 299, 300} {
		for _, panics := range []bool{false, true} {
			seq := func(yield func(*coded.Batch, error) bool) {
				for i := range list {
					if i == at {
						if panics {
							panic(broken)
						}
						yield(nil, broken)
						return
					}
					if !yield(&list[i], nil) {
						return
					}
				}
				if panics {
					panic(broken)
				}
				yield(nil, broken)
			}
			for _, workers := range []int{1, 2, 4} {
				for _, src := range []sums.Source[coded.Batch]{sums.Stream(seq), onePart{seq}} {
					l := sums.NewLocal(coded.Logistic(sums.LeaveOut), src, &sums.Settings{Workers: workers})
					for range 2 {
						s, err := l.Sum(background, sums.At(x, true))
						var read *sums.ReadError
						var panicked *nabla.PanicError
						if !errors.Is(err, broken) || panics != errors.As(err, &panicked) ||
							panics == errors.As(err, &read) {
							t.Fatalf("panic %t at %d: %v", panics, at, err)
						}
						if !panics && (s.Rows != int64(at) || read.Row != int64(at)) {
							t.Errorf("%d workers: row %d of %d, %v", workers, s.Rows, at, err)
						}
					}
				}
			}
		}
	}
	l := sums.NewLocal(coded.Logistic(sums.Fail), noParts{broken}, nil)
	var read *sums.ReadError
	if s, err := l.Sum(background, sums.At(x, true)); !errors.As(err, &read) || !errors.Is(err, broken) || s.Rows != 0 {
		t.Errorf("no parts: %v", err)
	}
}

type onePart struct {
	seq iter.Seq2[*coded.Batch, error]
}

func (p onePart) Parts() ([]iter.Seq2[*coded.Batch, error], error) {
	return []iter.Seq2[*coded.Batch, error]{p.seq}, nil
}

type noParts struct{ err error }

func (p noParts) Parts() ([]iter.Seq2[*coded.Batch, error], error) { return nil, p.err }

// TestGoexit: a source that ends the goroutine of a worker ends the sum with an error, not with a wait.
func TestGoexit(t *testing.T) {
	list := blocks(data(2000, 4), 1)
	src := shared(list)
	exits := ending{src, 40}
	done := make(chan error, 1)
	go func() {
		err := errors.New("the caller's goroutine has ended")
		defer func() { done <- err }()
		l := sums.NewLocal(coded.Logistic(sums.Fail), exits, &sums.Settings{Workers: 3})
		_, err = l.Sum(background, sums.At(make([]float64, 4), true))
	}()
	if err := <-done; err == nil {
		t.Error("no error")
	}
}

// ending is a source whose part of a number ends the goroutine.
type ending struct {
	shared
	part int
}

func (e ending) Parts() ([]iter.Seq2[*coded.Batch, error], error) {
	parts, err := e.shared.Parts()
	parts[e.part] = func(func(*coded.Batch, error) bool) { runtime.Goexit() }
	return parts, err
}
