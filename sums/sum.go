package sums

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// A Sum is a sum over rows, or a part of one: values and derivatives at the points of a [Query], with compensations of
// their rounding errors. Parts that answer the same query merge, and travel as bytes between processes. The zero Sum is
// a sum over no rows that merges with every other.
//
// Each number is a pair of float64: its sum, and the sum of the rounding errors of all additions (Neumaier, 1974; with
// the error-free addition of Knuth). The order of additions then changes results by about one unit in the last place
// plus n²·10⁻³², for n rows, relative to the sum of the absolute values; and not at all if it is the same order.
type Sum struct {
	// Rows is the number of rows in the sum, and BadRows that of rows that were left out.
	Rows, BadRows int64
	// Bad describes the first blocks of rows that were left out, at most MaxBad of them, in the order of merging.
	Bad []Bad

	shape shape
	query uint64 // a hash of the numbers of the query
	hi    []float64
	lo    []float64
}

// MaxBad is the length of the list of bad rows that a [Sum] has at most.
const MaxBad = 100

// maxReason is the length of the reason of a [Bad] at most, in bytes.
const maxReason = 500

// A Bad describes rows that were left out of a sum.
type Bad struct {
	Row    int64  // the index of the first among all rows, those of the sum and those left out, from 0
	Rows   int64  // how many
	Reason string // what was wrong
}

// A shape has the dimensions of the numbers of a sum, in this order: a value for each point, a gradient for each point,
// a product for each direction, and the upper triangle of the Gauss–Newton matrix by rows.
type shape struct {
	points, n, directions int
	gradient, gaussNewton bool
}

// parts returns the numbers of elements of the four parts.
func (s shape) parts() (values, gradients, products, triangle int) {
	values, products = s.points, s.directions*s.n
	if s.gradient {
		gradients = s.points * s.n
	}
	if s.gaussNewton {
		triangle = s.n * (s.n + 1) / 2
	}
	return
}

func (s shape) size() int {
	v, g, p, t := s.parts()
	return v + g + p + t
}

// name says what number i is.
func (s shape) name(i int) string {
	values, gradients, products, _ := s.parts()
	switch {
	case i < values:
		return fmt.Sprintf("the value at point %d", i)
	case i < values+gradients:
		i -= values
		return fmt.Sprintf("derivative %d at point %d", i%s.n, i/s.n)
	case i < values+gradients+products:
		i -= values + gradients
		return fmt.Sprintf("element %d of the product with direction %d", i%s.n, i/s.n)
	}
	return "an element of the Gauss–Newton matrix"
}

// NewSum returns a sum over no rows for q.
//
// An error is one of the dimensions of q.
func NewSum(q *Query) (*Sum, error) {
	s := new(Sum)
	return s, s.Reset(q)
}

// Reset makes s a sum over no rows for q. It reuses the memory of s.
func (s *Sum) Reset(q *Query) error {
	shape, err := q.shape()
	if err != nil {
		return err
	}
	s.reset(shape, q.hash())
	return nil
}

// reset is Reset for a query whose shape and hash are known.
func (s *Sum) reset(shape shape, query uint64) {
	k := shape.size()
	s.Rows, s.BadRows, s.Bad = 0, 0, s.Bad[:0]
	s.shape, s.query = shape, query
	s.hi, s.lo = resized(s.hi, k), resized(s.lo, k)
	clear(s.hi)
	clear(s.lo)
}

// resized returns a slice of k numbers in the memory of v if that suffices. New memory shares no cache line, nor a pair
// of them that processors fetch together, with that of another goroutine: it has a multiple of 128 bytes.
func resized(v []float64, k int) []float64 {
	if k <= cap(v) {
		return v[:k]
	}
	return make([]float64, k, (k+15)/16*16)
}

// empty reports whether s is a sum for no query yet.
func (s *Sum) empty() bool { return s.shape == shape{} }

// twoSum returns a+b rounded, and its rounding error, which is exact unless a+b overflows.
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	v := sum - a
	return sum, (a - (sum - v)) + (b - v)
}

// add adds the numbers v to those of s.
func (s *Sum) add(v []float64) {
	hi, lo := s.hi[:len(v)], s.lo[:len(v)]
	for i, x := range v {
		var e float64
		hi[i], e = twoSum(hi[i], x)
		lo[i] += e
	}
}

// Merge adds the sum t to s. t is not modified. If s is the zero Sum, it becomes a copy of t. The rows of t come after
// those of s: the indices of its bad rows grow by the number of rows that s has or has left out.
//
// A *[MergeError] says that the two are sums for different queries; s is not modified then.
func (s *Sum) Merge(t *Sum) error {
	if t == nil || t.empty() && t.Rows == 0 && t.BadRows == 0 {
		return nil
	}
	if s.empty() {
		s.reset(t.shape, t.query)
	}
	switch {
	case s.shape != t.shape:
		return &MergeError{Got: t.shape.String(), Want: s.shape.String()}
	case s.query != t.query:
		return &MergeError{}
	}
	for i, x := range t.hi {
		c := t.lo[i]
		var e float64
		s.hi[i], e = twoSum(s.hi[i], x)
		s.lo[i] += e + c
	}
	before := s.Rows + s.BadRows
	for _, b := range t.Bad[:min(len(t.Bad), max(0, MaxBad-len(s.Bad)))] {
		b.Row += before
		s.Bad = append(s.Bad, b)
	}
	s.Rows += t.Rows
	s.BadRows += t.BadRows
	return nil
}

// leaveOut counts rows that are left out.
func (s *Sum) leaveOut(b Bad) {
	s.BadRows += b.Rows
	if len(s.Bad) < MaxBad {
		if len(b.Reason) > maxReason {
			b.Reason = b.Reason[:maxReason]
		}
		s.Bad = append(s.Bad, b)
	}
}

// Clone returns a copy of s.
func (s *Sum) Clone() *Sum {
	c := *s
	c.Bad, c.hi, c.lo = slices.Clone(s.Bad), slices.Clone(s.hi), slices.Clone(s.lo)
	return &c
}

// at returns number i.
func (s *Sum) at(i int) float64 {
	if y := s.hi[i] + s.lo[i]; !math.IsNaN(y) {
		return y
	}
	return s.hi[i] // ±Inf, whose compensation is NaN
}

// Dims returns the number of points, the number of parameters and the number of directions of the query.
func (s *Sum) Dims() (points, n, directions int) {
	return s.shape.points, s.shape.n, s.shape.directions
}

// Value returns the value at point i. It panics unless the query has this point.
func (s *Sum) Value(i int) float64 { return s.at(s.index("point", i, s.shape.points)) }

// Gradient writes the gradient at point i to dst and returns it. A nil dst is allocated; otherwise its length must be
// the number of parameters. It panics unless the query has this point and asks for gradients.
func (s *Sum) Gradient(dst []float64, i int) []float64 {
	if !s.shape.gradient {
		panic("sums: Gradient of a sum whose query has Gradient false")
	}
	v, _, _, _ := s.shape.parts()
	return s.vector("Gradient", dst, v+s.index("point", i, s.shape.points)*s.shape.n)
}

// Product writes the product of the Hessian at the first point with direction j to dst and returns it, for a sum of
// residuals that of the Gauss–Newton matrix. A nil dst is allocated; otherwise its length must be the number of
// parameters. It panics unless the query has this direction.
func (s *Sum) Product(dst []float64, j int) []float64 {
	v, g, _, _ := s.shape.parts()
	return s.vector("Product", dst, v+g+s.index("direction", j, s.shape.directions)*s.shape.n)
}

// GaussNewton writes the Gauss–Newton matrix JᵀJ at the first point to dst and returns it. A nil or empty dst is
// allocated; otherwise its order must be the number of parameters. It panics unless the query asks for the matrix.
func (s *Sum) GaussNewton(dst *mat.SymDense) *mat.SymDense {
	if !s.shape.gaussNewton {
		panic("sums: GaussNewton of a sum whose query has GaussNewton false")
	}
	n := s.shape.n
	if dst == nil {
		dst = mat.NewSymDense(n, nil)
	} else if dst.IsEmpty() {
		dst.ReuseAsSym(n)
	}
	if got := dst.SymmetricDim(); got != n {
		panic(&nabla.ShapeError{Op: "Sum.GaussNewton", Arg: "dst", Got: got, Want: n})
	}
	v, g, k, _ := s.shape.parts()
	at := v + g + k
	for i := range n {
		for j := i; j < n; j++ {
			dst.SetSym(i, j, s.at(at))
			at++
		}
	}
	return dst
}

// index returns i, which must be one of n.
func (s *Sum) index(what string, i, n int) int {
	if i < 0 || i >= n {
		panic(&IndexError{What: what, Index: i, Len: n})
	}
	return i
}

// vector writes n numbers from index at on to dst.
func (s *Sum) vector(op string, dst []float64, at int) []float64 {
	if dst == nil {
		dst = make([]float64, s.shape.n)
	}
	if len(dst) != s.shape.n {
		panic(&nabla.ShapeError{Op: "Sum." + op, Arg: "len(dst)", Got: len(dst), Want: s.shape.n})
	}
	for i := range dst {
		dst[i] = s.at(at + i)
	}
	return dst
}
