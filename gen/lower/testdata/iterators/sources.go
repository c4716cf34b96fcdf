// Package iterators ranges over functions of every kind, in every way.
package iterators

import "iter"

func Count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// Until asks in the condition of its loop, and has something to do behind it.
func Until(n int, after *float64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
		*after += 100
	}
}

// Twice does not look at what yield gives: it may call it once too often.
func Twice(a, b float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		yield(a)
		yield(b)
	}
}

func Pairs[T any](x, y []T) iter.Seq2[T, T] {
	n := min(len(x), len(y))
	return func(yield func(T, T) bool) {
		for i := range n {
			if i == 3 || !yield(x[i], y[n-1-i]) {
				return
			}
		}
	}
}

func Positive(seq iter.Seq[float64]) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for v := range seq {
			if v > 0 && !yield(v) {
				return
			}
		}
	}
}

// Ends yields the first and the last element at once.
func Ends(x []float64) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		if !yield(0, x[0]) || !yield(len(x)-1, x[len(x)-1]) {
			return
		}
		yield(-1, 1)
	}
}

// Joined hands its yield on.
func Joined(a, b iter.Seq[float64], log *float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		a(yield)
		*log += 1000
		each := func(v float64) bool { return yield(v * 2) }
		b(each)
		*log += 2000
	}
}

// Careful hands its yield on to a function that says whether to go on.
func Careful(x []float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		if !part(x[:1], yield) {
			return
		}
		ok := part(x[1:], yield)
		if ok && len(x) > 1 {
			yield(x[0] * x[1])
		}
	}
}

func part(x []float64, yield func(float64) bool) bool {
	for _, v := range x {
		if !yield(v) {
			return false
		}
	}
	return true
}

func Nothing(func() bool) {}

type List struct {
	V    float64
	Next *List
}

func (l *List) Push(v float64) *List { return &List{v, l} }

func (l *List) All(yield func(float64) bool) {
	for ; l != nil; l = l.Next {
		if !yield(l.V) {
			return
		}
	}
}

func (l *List) Each() iter.Seq[*List] {
	return func(yield func(*List) bool) {
		for e := l; e != nil; e = e.Next {
			if !yield(e) {
				return
			}
		}
	}
}

func Halves[T int | float64](x []T) iter.Seq[T] {
	half := func(v T) T { return v / 2 }
	return func(yield func(T) bool) {
		for i := range x {
			if !yield(half(x[i])) {
				return
			}
		}
	}
}

type Shape interface{ Area() float64 }

type Square struct{ A float64 }

func (s Square) Area() float64 { return s.A * s.A }

type Disc struct{ R float64 }

func (d Disc) Area() float64 { return 3 * d.R * d.R }

func Areas(s Shape, n int) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for i := range n {
			if !yield(s.Area() * float64(i)) {
				return
			}
		}
	}
}

func Nested(x [][]float64) iter.Seq2[[2]int, float64] {
	return func(yield func([2]int, float64) bool) {
		for i := range Count(len(x)) {
			for j := range Count(len(x[i])) {
				if !yield([2]int{i, j}, x[i][j]) {
					return
				}
			}
		}
	}
}
