// Package taylor is forward mode by truncated power series: each number of a run carries its Taylor coefficients up to
// some order, along one direction, along several, or in several variables.
//
//	c, err := nabla.TaylorCoefficients(f, x, v, 20)                // f(x+t·v) = c[0] + c[1]·t + c[2]·t² + …
//	d, err := nabla.Derivatives(g, t, 20)                          // g(t), g'(t), g″(t), …
//	p, err := nabla.PartialDerivatives(f, x, 3)                    // all partial derivatives up to order 3
//	h, err := nabla.Hessian(f, taylor.Backend{}, x)                // and all operators of the other engines
//
// # Cost
//
// The first d coefficients of an operation follow from those of its operands in O(d²), by recurrences: those of
// v = exp(x) from k·v[k] = Σ j·x[j]·v[k-j]. Nesting d derivatives of another engine takes time and memory in proportion
// to 2^d, and loses digits. Bessel functions and those of the gamma family, whose derivatives are ever new functions,
// take O(d³/6). Nothing is recorded, so that control flow may differ between calls. See package internal/series for the
// recurrences, which come from the table of package rules.
//
// # Which order
//
// Coefficients of degree k are derivatives divided by k!. Where f has a singularity at distance r in the complex plane
// they grow like r^-k, and the series converges for |t| < r. Derivatives, in contrast to coefficients, overflow by
// themselves beyond order 170.
//
// # Custom rules
//
// A nabla.Rule with JVPReal or VJPReal, and the operations of package linalg, have derivatives of all orders: their
// derivative is run over series, once for each order; products of matrices take the products of their parts. A rule
// whose derivative calls itself, as that of a solution of linear equations does, takes a time that doubles with every
// order, up to an *engine.OrderError. A rule with derivatives at numbers is differentiated by differences beyond order
// 1, as by all engines, up to order 4. nabla.DifferentiateWith ends at order 2. Preparation runs the function, so that
// these errors do not wait for the first call.
package taylor

import (
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/series"
)

// Backend is the engine. The zero value has the default settings.
type Backend struct {
	// Chunk is the number of directions carried by one sweep of first order. Zero selects all of them if there are at
	// most 12, and otherwise the fewest sweeps of nearly equal width and at most 12 directions.
	Chunk int

	// MaxOrder is the highest order that is accepted, so that a mistaken one does not exhaust time and memory; zero
	// means DefaultMaxOrder. A higher one is an *engine.OrderError.
	MaxOrder int

	// Limit is the largest number of operations in one sweep, which takes 8 bytes for each coefficient of each; zero
	// means as many as fit into 2 GiB. A call that exceeds it returns an *engine.LimitError.
	Limit int
}

// DefaultMaxOrder is the highest order if MaxOrder is 0.
const DefaultMaxOrder = 200

// maxLanes is the widest sweep of first order.
const maxLanes = 12

// Name returns "taylor" with the settings that are not the default.
func (b Backend) Name() string {
	var s []string
	for _, v := range []struct {
		name  string
		value int
	}{{"chunk", b.Chunk}, {"maxorder", b.MaxOrder}, {"limit", b.Limit}} {
		if v.value != 0 {
			s = append(s, fmt.Sprintf("%s=%d", v.name, v.value))
		}
	}
	if len(s) == 0 {
		return "taylor"
	}
	return "taylor(" + strings.Join(s, ", ") + ")"
}

// Lanes returns the number of directions in a sweep of first order if n are needed in all.
func (b Backend) Lanes(n int) int {
	if b.Chunk > 0 {
		return max(1, min(b.Chunk, n))
	}
	sweeps := max(1, (n+maxLanes-1)/maxLanes)
	return max(1, (n+sweeps-1)/sweeps)
}

// check returns an error for invalid settings, an order above the limit, or a function that is not traceable.
func (b Backend) check(f *engine.Function, order int) error {
	if b.Chunk < 0 || b.MaxOrder < 0 {
		return fmt.Errorf("nabla: taylor: Chunk is %d and MaxOrder is %d, want 0 or more; 0 is the default", b.Chunk,
			b.MaxOrder)
	}
	limit := DefaultMaxOrder
	if b.MaxOrder > 0 {
		limit = b.MaxOrder
	}
	if order > limit {
		return &engine.OrderError{Op: "taylor", Order: order, Max: limit,
			Remedy: "set MaxOrder of taylor.Backend for a higher one"}
	}
	return f.Untraceable()
}

// A runner runs a function over series of one space. It must not be used concurrently.
type runner struct {
	f      *engine.Function
	t      engine.Tracer
	arith  *series.Arithmetic
	xs, ys []engine.Real
	limit  int
}

func (b Backend) newRunner(f *engine.Function, s *series.Space) *runner {
	n, m := f.Dims()
	return &runner{f: f, arith: series.NewArithmetic(s), xs: make([]engine.Real, n), ys: make([]engine.Real, m),
		limit: b.Limit}
}

// Expand implements engine.Expansion. If a coefficient of the result is NaN, it runs the function again with structural
// zeros.
func (r *runner) Expand(y []float64, yc engine.Block, x []float64, xc engine.Block, order int) error {
	for _, strong := range [...]bool{false, true} {
		if err := r.once(x, xc, order, strong); err != nil {
			return err
		}
		nan := false
		for i, v := range r.ys {
			y[i] = v.V
			nan = r.put(yc.Row(i), v) || nan
		}
		if !nan {
			break
		}
	}
	return nil
}

// once runs f at x with the coefficients xc of the inputs.
func (r *runner) once(x []float64, xc engine.Block, order int, strong bool) error {
	core.StartSeries(&r.t, len(x), r.arith, order, r.limit, strong)
	defer r.t.Close()
	for i, v := range x {
		// An input without coefficients is a constant of this run: operations on constants cost as much as in the plain
		// function, and their infinite derivatives have no effect.
		r.xs[i] = engine.Real{V: v}
		if xc.B == 0 {
			continue
		}
		row := xc.Row(i)
		degree := r.degree(row, order)
		if degree == 0 {
			continue
		}
		r.xs[i] = r.t.Input(i, v)
		if strong {
			degree = order
		}
		dst := r.t.SetSeries(int32(i)+1, degree)
		clear(dst[copy(dst, row):])
		if strong {
			for k, c := range dst {
				dst[k] = core.StrongSeed(c)
			}
		}
	}
	return r.f.OverIn(&r.t, r.ys, r.xs)
}

// degree returns the degree of the coefficients in row, at most order.
func (r *runner) degree(row []float64, order int) int {
	s := r.arith.Space()
	for k := order; k > 0; k-- {
		from, end := s.Block(k)
		for _, c := range row[min(from, len(row)):min(end, len(row))] {
			if c != 0 {
				return k
			}
		}
	}
	return 0
}

// put writes the coefficients of an output to dst and reports whether there is a NaN.
func (r *runner) put(dst []float64, v engine.Real) (nan bool) {
	if v.ID == 0 {
		clear(dst)
		return false
	}
	c, _ := r.t.Series(v.ID)
	for i := range dst {
		w := c[i] + 0 // a structural zero is written as -0
		dst[i] = w
		nan = nan || w != w
	}
	return nan
}

// PrepareExpansion implements engine.Expander.
func (b Backend) PrepareExpansion(f *engine.Function, _ []float64, order, curves int) (engine.Expansion, error) {
	if err := b.check(f, order); err != nil {
		return nil, err
	}
	if need := engine.MatrixBytes(order, curves); need > f.MemoryLimit() {
		return nil, engine.TooLarge("a series", need, f.MemoryLimit())
	}
	return b.newRunner(f, series.Lines(order, curves)), nil
}

// PreparePartials implements engine.Expander.
func (b Backend) PreparePartials(f *engine.Function, x []float64, order int, orders []int) (engine.Partials, error) {
	if err := b.check(f, order); err != nil {
		return nil, err
	}
	return b.newPartials(f, order, orders)
}

func (b Backend) newPartials(f *engine.Function, order int, orders []int) (*partials, error) {
	if order > series.MaxExponent {
		return nil, &engine.OrderError{Op: "taylor", Order: order, Max: series.MaxExponent,
			Remedy: "use nabla.TaylorCoefficients along directions"}
	}
	// The table of products has four bytes for each term, and a monomial some hundred.
	size, terms := series.ProductTerms(order, orders)
	if size == maxInt || terms == maxInt || 4*int64(terms)+100*int64(size) > f.MemoryLimit() {
		return nil, engine.TooLarge(fmt.Sprintf("the polynomials of order %d in %d variables", order, len(orders)),
			max(4*int64(terms), 4), f.MemoryLimit())
	}
	n := len(orders)
	p := &partials{runner: b.newRunner(f, series.Powers(order, orders)), seeds: engine.NewBlock(n, 0)}
	if p.order = p.arith.Space().Order(); p.order > 0 {
		from, end := p.arith.Space().Block(1)
		p.seeds = engine.NewBlock(n, end-from)
		exponents := make([]int, n)
		for i := range n {
			clear(exponents)
			exponents[i] = 1
			if at, ok := p.arith.Space().Find(exponents); ok {
				p.seeds.Row(i)[at] = 1
			}
		}
	}
	return p, nil
}

const maxInt = int(^uint(0) >> 1)

// partials are the inputs as variables of polynomials.
type partials struct {
	*runner
	seeds engine.Block
	order int
}

// Partials implements engine.Partials.
func (p *partials) Partials(y []float64, c engine.Block, x []float64) error {
	return p.Expand(y, c, x, p.seeds, p.order)
}
