package linalg

import (
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// The derivatives of an operation are written once, over arrays of plain numbers or of numbers under differentiation:
// engines that compute with plain derivatives run them on the former, and derived programs record them on the latter.

// An array is a slice of plain numbers, or of numbers under differentiation if over is set. Arrays are not modified.
type array struct {
	f    []float64
	r    []core.Rep
	over bool
}

func plain(f []float64) array   { return array{f: f} }
func traced(r []core.Rep) array { return array{r: r, over: true} }

func (a array) len() int {
	if a.over {
		return len(a.r)
	}
	return len(a.f)
}

// part returns the elements from i up to j.
func (a array) part(i, j int) array {
	if a.over {
		return traced(a.r[i:j:j])
	}
	return plain(a.f[i:j:j])
}

// zeros returns n zeros of the kind of a.
func (a array) zeros(n int) array {
	if a.over {
		return traced(make([]core.Rep, n))
	}
	return plain(make([]float64, n))
}

// isZero reports whether all elements are zeros and, under differentiation, constants.
func (a array) isZero() bool {
	for _, v := range a.f {
		if v != 0 {
			return false
		}
	}
	for _, r := range a.r {
		if !nothing(r) {
			return false
		}
	}
	return true
}

// nothing reports whether r is the constant 0.
func nothing(r core.Rep) bool { return r.ID == 0 && r.V == 0 }

// pick returns element index(i) for i from 0 up to n, or 0 where index is negative.
func (a array) pick(n int, index func(i int) int) array {
	out := a.zeros(n)
	for i := range n {
		j := index(i)
		switch {
		case j < 0:
		case a.over:
			out.r[i] = a.r[j]
		default:
			out.f[i] = a.f[j]
		}
	}
	return out
}

// join returns the elements of all arrays, which have one kind.
func join(parts ...array) array {
	n := 0
	for _, p := range parts {
		n += p.len()
	}
	out := parts[0].zeros(n)
	n = 0
	for _, p := range parts {
		copy(out.f[min(n, len(out.f)):], p.f)
		copy(out.r[min(n, len(out.r)):], p.r)
		n += p.len()
	}
	return out
}

// plus returns a + b.
func (a array) plus(b array) array {
	out := a.zeros(a.len())
	for i, v := range a.f {
		out.f[i] = v + b.f[i]
	}
	for i, v := range a.r {
		switch w := b.r[i]; {
		case nothing(v):
			out.r[i] = w
		case nothing(w):
			out.r[i] = v
		default:
			out.r[i] = core.Apply2(rules.Add, v, w)
		}
	}
	return out
}

// minus returns a - b.
func (a array) minus(b array) array {
	out := a.zeros(a.len())
	for i, v := range a.f {
		out.f[i] = v - b.f[i]
	}
	for i, v := range a.r {
		switch w := b.r[i]; {
		case nothing(w):
			out.r[i] = v
		case nothing(v):
			out.r[i] = core.Apply1(rules.Neg, w)
		default:
			out.r[i] = core.Apply2(rules.Sub, v, w)
		}
	}
	return out
}

// scaled returns the products of the elements with weight(i).
func (a array) scaled(weight func(i int) float64) array {
	out := a.zeros(a.len())
	for i, v := range a.f {
		out.f[i] = v * weight(i)
	}
	for i, v := range a.r {
		switch w := weight(i); {
		case w == 1 || nothing(v):
			out.r[i] = v
		case w == -1:
			out.r[i] = core.Apply1(rules.Neg, v)
		case w != 0:
			out.r[i] = core.Apply2(rules.Mul, v, core.Rep{V: w})
		}
	}
	return out
}

// neg returns -a.
func (a array) neg() array { return a.scaled(func(int) float64 { return -1 }) }

// times returns the products of the elements with elements index(i) of b.
func (a array) times(b array, index func(i int) int) array {
	out := a.zeros(a.len())
	for i, v := range a.f {
		out.f[i] = v * b.f[index(i)]
	}
	for i, v := range a.r {
		if w := b.r[index(i)]; !nothing(v) && !nothing(w) {
			out.r[i] = core.Apply2(rules.Mul, v, w)
		}
	}
	return out
}

// fill returns n constants v of the kind of a.
func (a array) fill(n int, v float64) array {
	out := a.zeros(n)
	for i := range out.f {
		out.f[i] = v
	}
	for i := range out.r {
		out.r[i].V = v
	}
	return out
}

// transposed returns the n×m transpose of a, an m×n matrix.
func (a array) transposed(m, n int) array {
	return a.pick(m*n, func(i int) int { return i%m*n + i/m })
}

// A symmetric or lower triangular n×n matrix is stored as its lower triangle, row by row, in packed(n) numbers.

func packed(n int) int { return n * (n + 1) / 2 }

// tri returns the position of element (i, j) of a lower triangle, j ≤ i.
func tri(i, j int) int { return i*(i+1)/2 + j }

// symmetric returns the symmetric n×n matrix with lower triangle a.
func (a array) symmetric(n int) array {
	return a.pick(n*n, func(k int) int { i, j := k/n, k%n; return tri(max(i, j), min(i, j)) })
}

// triangular returns the lower triangular n×n matrix with lower triangle a.
func (a array) triangular(n int) array {
	return a.pick(n*n, func(k int) int {
		if i, j := k/n, k%n; j <= i {
			return tri(i, j)
		}
		return -1
	})
}

// lower returns the lower triangle of a, an n×n matrix.
func (a array) lower(n int) array {
	i, j := 0, -1
	return a.pick(packed(n), func(int) int {
		if j++; j > i {
			i, j = i+1, 0
		}
		return i*n + j
	})
}

// upper returns the lower triangle of the transpose of a, an n×n matrix.
func (a array) upper(n int) array {
	i, j := 0, -1
	return a.pick(packed(n), func(int) int {
		if j++; j > i {
			i, j = i+1, 0
		}
		return j*n + i
	})
}

// weighted multiplies the diagonal of a, a lower triangle, by d and the other elements by o.
func (a array) weighted(d, o float64) array {
	i, j := 0, -1
	return a.scaled(func(int) float64 {
		if j++; j > i {
			i, j = i+1, 0
		}
		if i == j {
			return d
		}
		return o
	})
}
