package sums_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/sums"
	"github.com/nabla-ad/nabla/sums/internal/coded"
)

var background = context.Background()

// data returns rows of k normal features and targets 0 or 1.
func data(rows, k int) coded.Batch {
	r := rand.New(rand.NewPCG(7, uint64(k)))
	var b coded.Batch
	for range rows {
		for range k {
			b.X = append(b.X, r.NormFloat64())
		}
		b.Y = append(b.Y, float64(r.IntN(2)))
	}
	return b
}

// blocks cuts all into blocks of random sizes up to most.
func blocks(all coded.Batch, most int) (list []coded.Batch) {
	r := rand.New(rand.NewPCG(1, 1))
	k := len(all.X) / len(all.Y)
	for i := 0; i < len(all.Y); {
		j := min(len(all.Y), i+1+r.IntN(most))
		list = append(list, coded.Batch{X: slices.Clone(all.X[i*k : j*k]), Y: slices.Clone(all.Y[i:j])})
		i = j
	}
	return list
}

// terms are terms with their numbers of features and parameters.
var terms = map[string]struct {
	term        func(sums.Policy) *sums.Term[coded.Batch]
	features, n int
	residuals   bool
}{
	"logistic": {coded.Logistic, 4, 4, false},
	"mixture":  {coded.Mixture, 2, 10, false},
	"decay":    {coded.Decay, 1, 3, true},
}

// query is a query at two points, with directions, and a Gauss–Newton matrix for residuals.
func query(n int, residuals bool) *sums.Query {
	r := rand.New(rand.NewPCG(3, 3))
	random := func(r0, c int) *mat.Dense {
		m := mat.NewDense(r0, c, nil)
		m.Apply(func(int, int, float64) float64 { return 0.5 * r.NormFloat64() }, m)
		return m
	}
	return &sums.Query{X: random(2, n), Gradient: true, V: random(n, 3), GaussNewton: residuals}
}

// numbers returns all numbers of s.
func numbers(s *sums.Sum, q *sums.Query) (v []float64) {
	points, n, directions := s.Dims()
	for i := range points {
		v = append(v, s.Value(i))
		if q.Gradient {
			v = append(v, s.Gradient(nil, i)...)
		}
	}
	for j := range directions {
		v = append(v, s.Product(nil, j)...)
	}
	if q.GaussNewton {
		m := s.GaussNewton(nil)
		for i := range n {
			for j := range n {
				v = append(v, m.At(i, j))
			}
		}
	}
	return v
}

// whole returns the numbers for q of the sum over one block, by the operators of package nabla.
func whole(t *testing.T, name string, all *coded.Batch, q *sums.Query) (v []float64) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	f, dims := coded.Bound(name, all), q.X.RawMatrix()
	n := dims.Cols
	if !terms[name].residuals {
		g, err := nabla.PrepareGradient(f, source.Reverse{}, q.X.RawRowView(0))
		check(err)
		for i := range dims.Rows {
			y, grad, err := g.ValueAndGradient(nil, q.X.RawRowView(i))
			check(err)
			v = append(append(v, y), grad...)
		}
		h, err := nabla.PrepareHVP(f, source.Reverse{}, q.X.RawRowView(0))
		check(err)
		m, err := h.HVPBatch(nil, q.X.RawRowView(0), q.V)
		check(err)
		for j := range m.RawMatrix().Cols {
			v = append(v, mat.Col(nil, j, m)...)
		}
		return v
	}
	jac, err := nabla.PrepareJacobian(f, source.Forward{}, q.X.RawRowView(0))
	check(err)
	var first mat.Dense
	for i := range dims.Rows {
		r, j, err := jac.ValueAndDense(nil, nil, q.X.RawRowView(i))
		check(err)
		if i == 0 {
			first.CloneFrom(j)
		}
		res := mat.NewVecDense(len(r), r)
		grad := mat.NewVecDense(n, nil)
		grad.MulVec(j.T(), res)
		v = append(append(v, mat.Dot(res, res)/2), grad.RawVector().Data...)
	}
	var gn, p mat.Dense
	gn.Mul(first.T(), &first)
	p.Mul(&gn, q.V)
	for j := range p.RawMatrix().Cols {
		v = append(v, mat.Col(nil, j, &p)...)
	}
	return append(v, gn.RawMatrix().Data...)
}

// closeTo reports whether a and b agree to about 1e-12 of the largest numbers.
func closeTo(a, b []float64, tol float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !scalar.EqualWithinAbsOrRel(a[i], b[i], tol*100, tol) {
			return false
		}
	}
	return true
}

// shared returns the blocks as parts of a few, in memory that is reused.
type shared []coded.Batch

func (s shared) Parts() (parts []iter.Seq2[*coded.Batch, error], err error) {
	for part := range slices.Chunk(s, 3) {
		parts = append(parts, func(yield func(*coded.Batch, error) bool) {
			var b coded.Batch
			for _, from := range part {
				b.X, b.Y = append(b.X[:0], from.X...), append(b.Y[:0], from.Y...)
				if !yield(&b, nil) {
					return
				}
				clear(b.X)
				clear(b.Y)
			}
		})
	}
	return parts, nil
}

func stream(list []coded.Batch) iter.Seq2[*coded.Batch, error] {
	return func(yield func(*coded.Batch, error) bool) {
		for _, b := range list {
			if !yield(&coded.Batch{X: slices.Clone(b.X), Y: slices.Clone(b.Y)}, nil) {
				return
			}
		}
	}
}

// TestLocal compares sums over blocks, from all kinds of sources and with several numbers of workers, with the
// operators on one block of all rows, and the bits of the sums for one source with each other.
func TestLocal(t *testing.T) {
	for name, c := range terms {
		all := data(1500, c.features)
		q := query(c.n, c.residuals)
		want := whole(t, name, &all, q)
		for _, size := range []int{1, 7, 400, 1500} {
			list := blocks(all, size)
			for kind, src := range map[string]sums.Source[coded.Batch]{
				"slice": sums.Slice(list), "stream": sums.Stream(stream(list)), "parts": shared(list),
			} {
				var first []float64
				for _, workers := range []int{1, 2, 5} {
					l := sums.NewLocal(c.term(sums.Fail), src, &sums.Settings{Workers: workers})
					for range 2 {
						s, err := l.Sum(background, q)
						if err != nil {
							t.Fatal(err)
						}
						got := numbers(s, q)
						if first == nil {
							first = got
						}
						if s.Rows != 1500 || s.BadRows != 0 || !closeTo(got, want, 1e-12) || !slices.Equal(got, first) {
							t.Errorf("%s, blocks up to %d, %s, %d workers: %d rows, %d left out,\n"+
								"got   %v\nfirst %v\nwant  %v",
								name, size, kind, workers, s.Rows, s.BadRows, got, first, want)
						}
					}
				}
			}
		}
	}
}

// TestQueries: what is asked for does not change the numbers, and a worker answers one query after the other.
func TestQueries(t *testing.T) {
	for name, c := range terms {
		all := data(100, c.features)
		l := sums.NewLocal(c.term(sums.Fail), sums.Slice(blocks(all, 10)), nil)
		full := query(c.n, c.residuals)
		s, err := l.Sum(background, full)
		if err != nil {
			t.Fatal(err)
		}
		want := numbers(s, full)
		for mask := range 8 {
			q := &sums.Query{X: full.X, Gradient: mask&1 != 0}
			if mask&2 != 0 {
				q.V = full.V
			}
			if mask&4 != 0 && c.residuals {
				q.GaussNewton = true
			}
			s, err := l.Sum(background, q)
			if err != nil {
				t.Fatalf("%s, %d: %v", name, mask, err)
			}
			var expect []float64
			at := 0
			for range 2 {
				expect = append(expect, want[at])
				if q.Gradient {
					expect = append(expect, want[at+1:at+1+c.n]...)
				}
				at += 1 + c.n
			}
			if q.V != nil {
				expect = append(expect, want[at:at+3*c.n]...)
			}
			at += 3 * c.n
			if q.GaussNewton {
				expect = append(expect, want[at:]...)
			}
			if got := numbers(s, q); !closeTo(got, expect, 1e-12) {
				t.Errorf("%s, %d: got %v, want %v", name, mask, got, expect)
			}
		}
	}
	l := sums.NewLocal(coded.Logistic(sums.Fail), sums.Slice(blocks(data(10, 4), 3)), nil)
	var wrong *sums.QueryError
	if _, err := l.Sum(background, query(4, true)); !errors.As(err, &wrong) {
		t.Errorf("the Gauss–Newton matrix of a loss: %v", err)
	}
	var shape *nabla.ShapeError
	if _, err := l.Sum(background, sums.At(nil, true)); !errors.As(err, &shape) {
		t.Errorf("no point: %v", err)
	}
	if _, err := l.Sum(background, sums.At(make([]float64, 4), true)); err != nil {
		t.Errorf("after errors: %v", err)
	}
}

// A realBatch is a block for functions over Reals.
type realBatch struct{ T, Y nabla.Vec }

func overReals(x []nabla.Real, b *realBatch) nabla.Real {
	sum := nabla.Const(0)
	for i := range b.T.Len() {
		sum = sum.Add(nabla.Sin(x[0].Mul(b.T.At(i))).Sub(x[1].Mul(b.Y.At(i))).Sq())
	}
	return sum
}

// TestOverReals sums a function over Reals with several engines, which record once for each number of rows.
func TestOverReals(t *testing.T) {
	var list []realBatch
	want := 0.0
	grad := []float64{0, 0}
	x := []float64{0.7, -0.2}
	r := rand.New(rand.NewPCG(2, 9))
	for i := range 40 {
		var ts, ys []float64
		for range 3 + i/20 {
			u, y := r.NormFloat64(), r.NormFloat64()
			ts, ys = append(ts, u), append(ys, y)
			d := math.Sin(x[0]*u) - x[1]*y
			want += d * d
			grad[0] += 2 * d * math.Cos(x[0]*u) * u
			grad[1] -= 2 * d * y
		}
		list = append(list, realBatch{nabla.VecOf(ts), nabla.VecOf(ys)})
	}
	for _, b := range []nabla.Backend{nil, forwarddiff.Backend{}, reversediff.Backend{Compile: true},
		reversediff.Backend{}, tracker.Backend{}} {
		term := sums.Loss(overReals, b, sums.Options[realBatch]{Rows: func(b *realBatch) int { return b.T.Len() }})
		s, err := sums.NewLocal(term, sums.Slice(list), &sums.Settings{Workers: 2}).Sum(background, sums.At(x, true))
		if err != nil {
			t.Fatal(err)
		}
		got := append(s.Gradient(nil, 0), s.Value(0))
		if !closeTo(got, append(slices.Clone(grad), want), 1e-13) || s.Rows != 140 {
			t.Errorf("%v: got %v of %d rows, want %v %v", b, got, s.Rows, grad, want)
		}
	}
}

// TestEmpty: a sum over nothing is zero.
func TestEmpty(t *testing.T) {
	for _, src := range []sums.Source[coded.Batch]{sums.Slice[coded.Batch](nil), sums.Slice(make([]coded.Batch, 3)),
		sums.Stream(stream(nil))} {
		s, err := sums.NewLocal(coded.Decay(sums.Fail), src, nil).Sum(background, query(3, true))
		if err != nil || s.Rows != 0 || s.Value(0) != 0 || !slices.Equal(s.Gradient(nil, 1), []float64{0, 0, 0}) {
			t.Errorf("got %v, %v", s, err)
		}
	}
}

// TestNothingToSum: a term or a source that is nil is an error of the call.
func TestNothingToSum(t *testing.T) {
	q := &sums.Query{X: mat.NewDense(1, 4, nil)}
	for what, l := range map[string]interface {
		Sum(context.Context, *sums.Query) (*sums.Sum, error)
	}{
		"nil term":   sums.NewLocal(nil, sums.Slice(blocks(data(10, 4), 3)), nil),
		"nil source": sums.NewLocal(coded.Logistic(sums.Fail), nil, nil),
	} {
		if s, err := l.Sum(background, q); !errors.As(err, new(*sums.QueryError)) {
			t.Errorf("%s: %v, %v, want a QueryError", what, s, err)
		}
	}
}

// TestStopped: a context ends the sum, and the rows of the sum beside the error are those that it counts.
func TestStopped(t *testing.T) {
	list := blocks(data(2000, 4), 2)
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancelCause(context.Background())
		enough := errors.New("enough")
		var last sums.Progress
		l := sums.NewLocal(coded.Logistic(sums.Fail), shared(list), &sums.Settings{Workers: workers,
			Progress: func(p sums.Progress) {
				if p.Part != last.Part+1 || p.Rows <= last.Rows || p.Parts != (len(list)+2)/3 {
					t.Errorf("progress %+v after %+v", p, last)
				}
				if last = p; p.Part == 50 {
					cancel(enough)
				}
			}})
		s, err := l.Sum(ctx, sums.At(make([]float64, 4), true))
		var stopped *sums.StoppedError
		if !errors.As(err, &stopped) || !errors.Is(err, enough) || stopped.Rows != s.Rows || s.Rows < 50 ||
			s.Rows == 2000 {
			t.Fatalf("%v, %d rows", err, s.Rows)
		}
		if want := float64(s.Rows) * math.Ln2; math.Abs(s.Value(0)-want) > 1e-12*want {
			t.Errorf("the sum of %d rows is %v, want %v", s.Rows, s.Value(0), want)
		}
		last = sums.Progress{}
		s, err = l.Sum(background, sums.At(make([]float64, 4), true))
		if err != nil || s.Rows != 2000 || last.Rows != 2000 {
			t.Errorf("after that: %v", err)
		}
	}
}

// TestBusy: one call at a time.
func TestBusy(t *testing.T) {
	var l *sums.Local[coded.Batch]
	q := sums.At(make([]float64, 4), true)
	calls := 0
	l = sums.NewLocal(coded.Logistic(sums.Fail), sums.Slice(blocks(data(5, 4), 5)), &sums.Settings{
		Progress: func(sums.Progress) {
			calls++
			if _, err := l.Sum(background, q); !errors.Is(err, nabla.ErrBusy) {
				t.Errorf("within a call: %v", err)
			}
		}})
	if _, err := l.Sum(background, q); err != nil || calls == 0 {
		t.Error(calls, err)
	}
}

// TestAddAllocatesNothing: with generated code a worker adds blocks without allocation.
func TestAddAllocatesNothing(t *testing.T) {
	for name, c := range terms {
		for _, q := range []*sums.Query{sums.At(make([]float64, c.n), true), query(c.n, c.residuals),
			query(c.n, false)} {
			w, err := c.term(sums.LeaveOut).Worker(q)
			if err != nil {
				t.Fatal(err)
			}
			list := blocks(data(60, c.features), 4)
			var s sums.Sum
			add := func() {
				for i := range list {
					if err := w.Add(&s, &list[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			add()
			if got := testing.AllocsPerRun(20, add); got != 0 {
				t.Errorf("%s: %v allocations for %d blocks", name, got, len(list))
			}
		}
	}
}

// TestMemory: while the first part is late, only a few others are begun, so that their sums do not pile up.
func TestMemory(t *testing.T) {
	const workers = 2
	begun := 0
	term := sums.Loss(wide, nil, sums.Options[pair]{})
	l := sums.NewLocal(term, late{&begun, 4 * workers}, &sums.Settings{Workers: workers})
	s, err := l.Sum(background, sums.At(make([]float64, 100), true))
	if err != nil || s.Rows != 500 {
		t.Fatal(s, err)
	}
	if begun > 4*workers {
		t.Errorf("%d parts were begun before the first was done", begun)
	}
}

func wide(x []nabla.Real, p *pair) nabla.Real { return x[0].Scale(p.A) }

// late is a source of 500 parts, the first of which waits until so many are begun that no worker may begin another one,
// and a while longer. Then it counts them.
type late struct {
	begun  *int
	window int
}

func (l late) Parts() (parts []iter.Seq2[*pair, error], err error) {
	started := make(chan struct{}, 500)
	for i := range 500 {
		parts = append(parts, func(yield func(*pair, error) bool) {
			started <- struct{}{}
			if i == 0 {
				for len(started) < l.window {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(20 * time.Millisecond)
				*l.begun = len(started)
			}
			yield(&pair{1, 1}, nil)
		})
	}
	return parts, nil
}
