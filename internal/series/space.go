package series

import "math"

// A Space is the form of the series that an Arithmetic computes with: what the blocks of the degrees hold and how they
// are multiplied. A Space is not modified after it is made and may be shared.
type Space struct {
	order  int
	off    []int // off[k] is where block k starts, for k from 1 to order+1; off[0] and off[1] are 0
	lanes  bool  // blocks are multiplied element by element
	powers *powers
}

// Line returns the space of series in one direction. Block k is one coefficient.
func Line(order int) *Space { return Lines(order, 1) }

// Lines returns the space of series in several directions that share their value. Block k has the coefficient of each
// of the directions.
func Lines(order, directions int) *Space {
	s := &Space{order: order, off: make([]int, order+2), lanes: true}
	for k := 1; k <= order; k++ {
		s.off[k+1] = s.off[k] + directions
	}
	return s
}

// Order returns the highest degree.
func (s *Space) Order() int { return s.order }

// Size returns the number of coefficients of a series, without the value.
func (s *Space) Size() int { return s.off[s.order+1] }

// Block returns where block k starts and ends.
func (s *Space) Block(k int) (from, to int) { return s.off[k], s.off[k+1] }

// line reports whether blocks are single numbers.
func (s *Space) line() bool { return s.Size() == s.order && s.lanes }

// part returns block k of the coefficients c.
func (s *Space) part(c []float64, k int) []float64 { return c[s.off[k]:s.off[k+1]] }

// structural is the coefficient that is structurally zero, in strong mode.
var structural = math.Copysign(0, -1)

// isStructural reports whether a coefficient in strong mode is a structural zero.
func isStructural(c float64) bool { return math.Float64bits(c) == 1<<63 }

// strongMul returns c·p for a coefficient c in strong mode and a number p.
func strongMul(c, p float64) float64 {
	if isStructural(c) {
		return c
	}
	return c*p + 0
}

// strongDiv returns c/p for a coefficient c in strong mode and a number p.
func strongDiv(c, p float64) float64 {
	if isStructural(c) {
		return c
	}
	return c/p + 0
}

// strongProduct returns the product of two coefficients in strong mode.
func strongProduct(a, b float64) float64 {
	if isStructural(b) {
		return b
	}
	return strongMul(a, b)
}

// product adds to dst, a block of degree i+j, the product of block i of a and block j of b.
func (s *Space) product(dst, a, b []float64, i, j int, strong bool) {
	a, b = s.part(a, i), s.part(b, j)
	switch {
	case s.powers != nil:
		s.powers.product(dst, a, b, s.powers.table(i, j), strong)
	case strong:
		for l, v := range a {
			dst[l] += strongProduct(v, b[l])
		}
	default:
		b, dst = b[:len(a)], dst[:len(a)]
		for l, v := range a {
			dst[l] += v * b[l]
		}
	}
}

// inner adds to dst, a block of degree k, the products of block j of a and block k-j of b for j = 1 … k-1. Blocks above
// the degrees da and db are left out.
func (s *Space) inner(dst, a, b []float64, da, db, k int, strong bool) {
	for j := max(1, k-db); j <= min(k-1, da); j++ {
		s.product(dst, a, b, j, k-j, strong)
	}
}

// dot returns the sum of a[j]·b[k-j] for j = 1 … k-1, where a[j] is element j-1 of a, without coefficients above the
// degrees da and db.
func dot(a, b []float64, da, db, k int) float64 {
	lo, hi := max(1, k-db), min(k-1, da)
	if lo > hi {
		return 0
	}
	a, b = a[lo-1:hi], b[k-hi-1:k-lo]
	b = b[:len(a)]
	s, t := 0.0, 0.0 // two sums that do not wait for each other
	i, j := 0, len(a)-1
	for ; i+1 < len(a); i, j = i+2, j-2 {
		s += a[i] * b[j]
		t += a[i+1] * b[j-1]
	}
	if i < len(a) {
		s += a[i] * b[j]
	}
	return s + t
}
