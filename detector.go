package nabla

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/sparsity"
)

// DenseDetector finds a pattern in the values of a dense derivative: an entry belongs to it if, at
// x or at one of Points, it is larger than Tol or NaN. It is meant for functions over float64,
// which no other detector can analyse, and as a check of other detectors.
//
// The pattern holds for these points: an entry that happens to be zero at all of them is missing.
// Detection takes the time of a dense derivative for each point, and the memory of a few columns or
// rows, unless Direct is set.
type DenseDetector struct {
	// Backend computes the derivatives. Hessians need second-order operators, for example of a
	// SecondOrder.
	Backend Backend
	// Tol is the largest absolute value of an entry that counts as zero. For finite differences of
	// functions that lose digits it must exceed the error.
	Tol float64
	// Points are further points at which the derivative is computed, in addition to x.
	Points [][]float64
	// Direct computes the whole matrix in one call.
	Direct bool
}

// Name returns "dense(backend)" with the settings that differ from the default.
func (d DenseDetector) Name() string {
	s := "dense(" + nameOf(d.Backend)
	if d.Tol != 0 {
		s += fmt.Sprintf(", tol=%v", d.Tol)
	}
	if len(d.Points) > 0 {
		s += fmt.Sprintf(", %d points", 1+len(d.Points))
	}
	if d.Direct {
		s += ", direct"
	}
	return s + ")"
}

// nearbySeed seeds the generator of points, so that patterns are reproducible.
const nearbySeed = 0x9e3779b97f4a7c15

// nearby returns two points near x that differ from it in all components.
func nearby(x []float64) [][]float64 {
	r := rand.New(rand.NewPCG(nearbySeed, uint64(len(x))))
	points := make([][]float64, 2)
	for i := range points {
		points[i] = slices.Clone(x)
		for j, v := range x {
			points[i][j] += 0.01 * (math.Abs(v) + 0.1) * (1 + r.Float64())
		}
	}
	return points
}

// Jacobian implements [sparsity.Detector].
func (d DenseDetector) Jacobian(f sparsity.Function, x []float64) (*sparsity.Pattern, error) {
	return d.find("Jacobian", f, x,
		func(g *engine.Function, b *resolved, x []float64, put func(i, j int, v float64)) error {
			n, m := g.Dims()
			if d.Direct && n > 0 && m > 0 {
				j, err := engine.PrepareJacobian(b.inner, g, x)
				if err != nil {
					return err
				}
				if err := g.Affords(m, n); err != nil {
					return err
				}
				jac := engine.NewBlock(m, n)
				if err := j.ValueAndJacobian(make([]float64, m), jac, x); err != nil {
					return err
				}
				each(jac, put)
				return nil
			}
			return d.products(g, b.inner, x, put)
		})
}

// products computes the Jacobian a few columns at a time, or rows for an engine that only pulls
// back, and calls put for each element.
func (d DenseDetector) products(f *engine.Function, b Backend, x []float64, put func(i, j int, v float64)) error {
	n, m := f.Dims()
	y := make([]float64, m)
	if _, ok := b.(engine.Pusher); ok || n == 0 || m == 0 {
		k := engine.LanesOf(b, max(n, 1))
		if n == 0 || m == 0 {
			return f.Value(y, x)
		}
		push, err := engine.PreparePushforward(b, f, x, k)
		if err != nil {
			return err
		}
		seed, out := engine.NewBlock(n, k), engine.NewBlock(m, k)
		return units(n, k, seed, func(first, k int) error {
			err := push.Pushforward(y, out.Cols(0, k), x, seed.Cols(0, k))
			each(out.Cols(0, k), func(i, j int, v float64) { put(i, first+j, v) })
			return err
		})
	}
	k := engine.LanesOf(b, m)
	pull, err := engine.PreparePullback(b, f, x, k)
	if err != nil {
		return err
	}
	seed, out := engine.NewBlock(m, k), engine.NewBlock(n, k)
	return units(m, k, seed, func(first, k int) error {
		err := pull.Pullback(y, out.Cols(0, k), x, seed.Cols(0, k))
		each(out.Cols(0, k), func(j, i int, v float64) { put(first+i, j, v) })
		return err
	})
}

// units calls do for each group of up to k unit vectors of length n. Before each call the columns
// of seed hold the unit vectors first, first+1, ….
func units(n, k int, seed engine.Block, do func(first, k int) error) error {
	for first := 0; first < n; first += k {
		k := min(k, n-first)
		seed.Zero()
		for j := range k {
			seed.Row(first + j)[j] = 1
		}
		if err := do(first, k); err != nil {
			return err
		}
	}
	return nil
}

// each calls put for each element of b.
func each(b engine.Block, put func(i, j int, v float64)) {
	for i := range b.N {
		for j, v := range b.Row(i) {
			put(i, j, v)
		}
	}
}

// Hessian implements [sparsity.Detector]. An entry and its mirror image are both in the
// pattern if one is.
func (d DenseDetector) Hessian(f sparsity.Function, x []float64) (*sparsity.Pattern, error) {
	return d.find("Hessian", f, x,
		func(g *engine.Function, b *resolved, x []float64, put func(i, j int, v float64)) error {
			n := len(x)
			if n == 0 {
				return g.Value(make([]float64, 1), x)
			}
			both := func(i, j int, v float64) { put(i, j, v); put(j, i, v) }
			if d.Direct {
				h, err := engine.PrepareHessian(b.outer, b.inner, g, x)
				if err != nil {
					return err
				}
				if err := g.Affords(n, n); err != nil {
					return err
				}
				hess := engine.NewBlock(n, n)
				_, err = h.ValueGradientAndHessian(nil, hess, x)
				each(hess, both)
				return err
			}
			k := engine.LanesOf(b.outer, n)
			hvp, err := engine.PrepareHVP(b.outer, b.inner, g, x, k)
			if err != nil {
				return err
			}
			seed, out := engine.NewBlock(n, k), engine.NewBlock(n, k)
			return units(n, k, seed, func(first, k int) error {
				_, err := hvp.ValueGradientAndHVP(nil, out.Cols(0, k), x, seed.Cols(0, k))
				each(out.Cols(0, k), func(i, j int, v float64) { both(i, first+j, v) })
				return err
			})
		})
}

// find calls at for x and all points, and returns the pattern of the elements that at puts and that
// are larger than Tol or NaN. of is "Jacobian" or "Hessian".
func (d DenseDetector) find(of string, f sparsity.Function, x []float64,
	at func(g *engine.Function, b *resolved, x []float64,
		put func(i, j int, v float64)) error) (*sparsity.Pattern, error) {
	const op = "DenseDetector"
	g, ok := f.(*engine.Function)
	if !ok {
		return nil, &UnsupportedError{What: fmt.Sprintf("%s: the function is a %T", op, f),
			Remedy: "pass an *engine.Function"}
	}
	b, err := resolveFor(of, d.Backend, g)
	if err != nil {
		return nil, core.Within(op, err)
	}
	if math.IsNaN(d.Tol) || d.Tol < 0 {
		return nil, &UnsupportedError{What: fmt.Sprintf("%s: Tol is %v", op, d.Tol), Remedy: "use a size from 0 on"}
	}
	n, rows := f.Dims()
	if of == "Hessian" {
		if rows != 1 {
			return nil, &UnsupportedError{
				What:   fmt.Sprintf("DenseDetector: the union of the Hessians of %d outputs", rows),
				Remedy: "use sparsity.Global, sparsity.Recorded or sparsity.Known",
			}
		}
		rows = n
	}
	var is, js []int
	for _, p := range append([][]float64{x}, d.Points...) {
		if len(p) != n {
			return nil, &ShapeError{Op: op, Arg: "len of a point", Got: len(p), Want: n}
		}
		err := at(g.Beside(), &b, p, func(i, j int, v float64) {
			if !(math.Abs(v) <= d.Tol) {
				is, js = append(is, i), append(js, j)
			}
		})
		if err != nil {
			return nil, err
		}
		// Duplicates are removed after each point, so that memory stays proportional to the
		// pattern.
		s, err := sparsity.FromEntries(rows, n, is, js)
		if err != nil {
			return nil, err
		}
		is, js = entriesOf(s, is[:0], js[:0])
	}
	return sparsity.FromEntries(rows, n, is, js)
}

// entriesOf appends the rows and columns of the entries of s.
func entriesOf(s *sparsity.Pattern, is, js []int) ([]int, []int) {
	_, n := s.Dims()
	for j := range n {
		for _, i := range s.Col(j) {
			is, js = append(is, i), append(js, j)
		}
	}
	return is, js
}
