package sums

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// A Query says what to compute in one pass over the rows.
type Query struct {
	// X has the points as its rows, at least one: values are computed at all of them. Several points in a pass cost
	// several times the arithmetic and one time the reading.
	X *mat.Dense
	// Gradient asks for the gradient at each point.
	Gradient bool
	// V, unless nil, has directions as its columns: products of the Hessian at the first point with all of them.
	V *mat.Dense
	// GaussNewton asks for the matrix JᵀJ at the first point, J being the Jacobian of residuals.
	GaussNewton bool
}

// At returns a query at the point x, which is not copied, for the value, and for the gradient if asked for.
func At(x []float64, gradient bool) *Query {
	q := &Query{X: new(mat.Dense), Gradient: gradient}
	if len(x) > 0 {
		q.X = mat.NewDense(1, len(x), x)
	}
	return q
}

// clone returns a copy of q.
func (q *Query) clone() Query {
	c := *q
	c.X = apart(q.X)
	if q.V != nil && !q.V.IsEmpty() {
		c.V = apart(q.V)
	}
	return c
}

// apart returns a copy of m with memory as that of [resized].
func apart(m *mat.Dense) *mat.Dense {
	r, k := m.Dims()
	c := mat.NewDense(r, k, resized(nil, r*k))
	c.Copy(m)
	return c
}

// shape returns the shape of the sums for q.
func (q *Query) shape() (shape, error) {
	if q == nil || q.X == nil || q.X.IsEmpty() {
		return shape{}, &nabla.ShapeError{Op: "sums.Query", Arg: "rows of X", Got: 0, Want: 1}
	}
	k, n := q.X.Dims()
	s := shape{points: k, n: n, gradient: q.Gradient, gaussNewton: q.GaussNewton}
	if q.V != nil && !q.V.IsEmpty() {
		var r int
		if r, s.directions = q.V.Dims(); r != n {
			return shape{}, &nabla.ShapeError{Op: "sums.Query", Arg: "rows of V", Got: r, Want: n}
		}
	}
	return s, nil
}

func (s shape) String() string {
	return fmt.Sprintf("%d points of %d parameters (gradients: %t), %d directions, Gauss–Newton matrix: %t",
		s.points, s.n, s.gradient, s.directions, s.gaussNewton)
}

// hash returns a hash of the bits of X and V (FNV-1a, of 64 bits at a time).
func (q *Query) hash() uint64 {
	h := uint64(14695981039346656037)
	add := func(m *mat.Dense) {
		if m == nil || m.IsEmpty() {
			return
		}
		r, _ := m.Dims()
		for i := range r {
			for _, x := range m.RawRowView(i) {
				h = (h ^ math.Float64bits(x)) * 1099511628211
				h ^= h >> 29 // spreads high bits, which a product keeps high
			}
		}
	}
	add(q.X)
	add(q.V)
	return h
}
