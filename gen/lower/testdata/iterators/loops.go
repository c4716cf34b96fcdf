package iterators

import (
	"iter"
	"slices"
)

func Plain(x []float64, n int) (s float64) {
	for i := range Count(n) {
		s += x[i%len(x)] * float64(i)
	}
	return s
}

func Breaks(x []float64, n int) (s float64) {
	for i := range Count(n) {
		if i == 1 {
			continue
		}
		if i > 2 {
			break
		}
		s += x[i%len(x)]
	}
	return s
}

func Returns(x []float64, n int) float64 {
	s := 1.0
	for i := range Count(n) {
		if x[i%len(x)] < 0 {
			return s * x[i%len(x)]
		}
		s += x[i%len(x)]
	}
	return s
}

func Condition(x []float64, n int) float64 {
	after, s := 0.0, 0.0
	for i := range Until(n, &after) {
		s += x[i%len(x)]
	}
	for i := range Until(n, &after) {
		if i == 2 {
			break
		}
		s *= 2
	}
	return s + after
}

func Labels(x []float64, n int) (s float64, k int) {
	after := 0.0
outer:
	for i := range Until(n, &after) {
	middle:
		for j, v := range Ends(x) {
			switch {
			case i == j:
				continue outer
			case v > 2:
				break outer
			case v < -2:
				return s + after, -1
			}
			for range Until(3, &after) {
				k++
				if v > 1 {
					continue middle
				}
				if v < -1 {
					break middle
				}
				if k > 20 {
					continue outer
				}
				s += v
			}
			s *= 0.5
		}
		k += 10
	}
	return s + after, k
}

// Too is a break out of an iterator that calls yield again, which panics.
func Too(x []float64, n int) (s float64) {
	for v := range Twice(x[0], x[len(x)-1]) {
		s += v
		if n == 2 {
			break
		}
	}
	return s
}

func Generic(x []float64, n int) (s float64) {
	for a, b := range Pairs(x, x) {
		s += a * b
	}
	for i, v := range slices.All(x) {
		s += float64(i) * v
	}
	for i, v := range slices.Backward(x) {
		if i < n {
			break
		}
		s -= v
	}
	for v := range slices.Values(x) {
		s *= 0.5
		s += v
	}
	for p := range slices.Chunk(x, max(n, 1)) {
		s += p[0] * p[len(p)-1]
	}
	return s
}

func Adapted(x []float64, n int) (s float64) {
	for v := range Positive(Positive(slices.Values(x))) {
		if n--; n < 0 {
			break
		}
		s += v
	}
	return s
}

func Collected(x []float64, n int) (s float64) {
	y := slices.Collect(Positive(slices.Values(x)))
	for _, v := range y {
		s += v * v
	}
	return s + sum(Count(n)) + float64(len(y))
}

func sum(seq iter.Seq[int]) (s float64) {
	for i := range seq {
		s += float64(i)
	}
	return s
}

func HandedOn(x []float64, n int) (s float64) {
	for v := range Joined(slices.Values(x), Positive(slices.Values(x)), &s) {
		if n--; n == 0 {
			return s + v
		}
		s += v
	}
	for v := range Careful(x) {
		if v > 1.5 {
			break
		}
		s += v
	}
	return s
}

// Again leaves a first part that does not tell, so that the second calls yield again.
func Again(x []float64, n int) (s float64) {
	for v := range Joined(slices.Values(x), slices.Values(x), &s) {
		if v > 1 {
			break
		}
		s += v
	}
	return s
}

// Literals: what the iterator counts and what the body counts are variables outside.
func Literals(x []float64, n int) (s float64) {
	calls := 0
	seq := func(yield func(int, float64) bool) {
		for i, v := range x {
			calls++
			if !yield(i, v) {
				calls += 100
				return
			}
		}
	}
	for i, v := range seq {
		if i == n {
			break
		}
		s += v * float64(calls)
	}
	for i := range seq {
		calls += i
	}
	for range seq {
		s++
	}
	for range func(yield func() bool) {
		for i := range n {
			_ = i
			if !yield() {
				return
			}
		}
	} {
		s += 0.25
	}
	for range Nothing {
		s = 0
	}
	return s + float64(calls)
}

// State is kept by an iterator between loops.
func State(x []float64, n int) (s float64) {
	next := func(d int) iter.Seq[float64] {
		at := 0
		return func(yield func(float64) bool) {
			for at < len(x) {
				at += d
				if !yield(x[at-d]) {
					return
				}
			}
		}
	}
	seq := next(1)
	for v := range seq {
		s += v
		if v < 0 {
			break
		}
	}
	for v := range seq {
		s += 10 * v
	}
	for v := range next(1) {
		s += v * 0.125
	}
	return s
}

func Assigned(x []float64, n int) (s float64) {
	var i int
	y := make([]float64, len(x)+1)
	for i, y[n%len(y)] = range slices.All(x) {
		if i == n {
			break
		}
	}
	for y[len(x)] = range slices.Values(x) {
		s += y[len(x)]
	}
	for _, s = range Ends(y) {
	}
	for k, v := range y {
		s += float64(k+i) * v
	}
	return s
}

func Methods(x []float64, n int) (s float64) {
	var l *List
	for _, v := range x {
		l = l.Push(v)
	}
	for v := range l.All {
		if v < 0 {
			break
		}
		s += v
	}
	for e := range l.Each() {
		e.V *= 2
		s += e.V
	}
	all := l.All
	l = l.Next
	for v := range all {
		s += v
	}
	for v := range (*List).Each(l) {
		s -= v.V
	}
	return s
}

func Dynamic(x []float64, n int) (s float64) {
	for v := range Areas(Square{x[0]}, n) {
		s += v
	}
	for v := range Areas(Disc{x[0]}, n) {
		s += v
	}
	return s
}

func Deep(x []float64, n int) (s float64, k int) {
	rows := [][]float64{x, x[1:], nil, x[:1]}
	for at, v := range Nested(rows) {
		if at[0] == at[1] {
			continue
		}
		if k++; k > n+2 {
			return s, -k
		}
		s += v * float64(at[0]-at[1])
	}
	return s, k
}

// Declares has declarations of all kinds in a body that stands in the code more than once.
func Declares(x []float64, n int) (s float64) {
	for i, v := range Ends(x) {
		a, b := v, float64(i)
		a, b = b, a
		c, d := both(a, b)
		var e, f = c, d
		g := func(u float64) float64 { s += u; return u * e }
		for j := range 2 {
			e += g(f) + float64(j)
		}
		if w := e; w > 3 {
			s += w
		}
		switch t := i; t {
		case 0:
			s -= a
		}
	}
	return s
}

func both(a, b float64) (float64, float64) { return a + b, a - b }

// PerIteration: each iteration has variables of its own.
func PerIteration(x []float64, n int) (s float64) {
	var last *float64
	for _, v := range slices.All(x) {
		if last != nil {
			s += *last
		}
		v *= 2
		last = &v
	}
	return s
}

// Panics leaves the loop by a panic, and with a panic in the iterator.
func Panics(x []float64, n int) (s float64) {
	for i := range Until(n, &s) {
		s += x[i]
		if s > 1e6 {
			panic("too large")
		}
	}
	for range Until(min(n, 1), &s) {
		panic("not empty")
	}
	return s
}

// Order: what the iterator is made of is evaluated once, and what it yields before the
// body runs.
func Order(x []float64, n int) (s float64) {
	k := 0
	next := func() int { k++; return k }
	for i := range Count(next() + n) {
		s += float64(i * next())
		n = 0
	}
	for a, b := range func(yield func(a, b int) bool) {
		if yield(next(), next()) == yield(next(), k) {
			s += 0.5
		}
	} {
		s += float64(a - 2*b)
		k *= 2
	}
	return s + float64(k)
}

func Infinite(x []float64, n int) (s float64) {
	for v := range func(yield func(float64) bool) {
		a, b := 0.0, x[0]
		for {
			if !yield(b) {
				return
			}
			a, b = b, a+b
		}
	} {
		if n--; n < 0 {
			return s
		}
		s += v
	}
	return -1
}

// Equal: what yield gives is asked for again.
func Equal(x []float64, n int) (s float64) {
	for v := range func(yield func(float64) bool) {
		a := yield(x[0])
		if !a {
			s += 7
			return
		}
		if b := yield(x[len(x)-1]); a != b {
			s += 9
			return
		}
		if yield(0.5) == yield(3) {
			s += 11
		}
	} {
		s += v
		if int(v) == n || v < -1 {
			break
		}
	}
	return s
}

// Instances: one iterator for two types, with a function of its own.
func Instances(x []float64, n int) (s float64) {
	for v := range Halves(x) {
		s += v
	}
	ints := []int{n, n + 1, 7}
	for v := range Halves(ints) {
		s += float64(v)
	}
	return s
}

// NestedLeaves leaves through two iterators that each have something to do after.
func NestedLeaves(x []float64, n int) (r float64, k int) {
	log := 0.0
	defer0 := func(v float64) float64 { return v + log }
	for i := range Until(4, &log) {
		for j := range Until(4, &log) {
			k++
			if i+j == n {
				return defer0(1), k
			}
			if x[j%len(x)] < 0 {
				break
			}
		}
		r += log
	}
	return r + log, k
}
