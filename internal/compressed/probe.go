package compressed

import (
	"math/rand/v2"
	"slices"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// A probe compares a sparse matrix with its derivative in a random direction.
type probe struct {
	r                   *rand.Rand
	direction           []float64 // the components are far from zero
	v                   []float64 // the direction, with the components that are left out set to zero
	got, want, scale    []float64
	tol                 float64 // of a component, relative to the sum of its terms
	common              float64 // relative to the largest sum: errors that components have from others
	differences, turned bool    // turned: it multiplies with the transposed matrix
}

// probeSeed seeds the generator of directions, so that results are reproducible.
const probeSeed = 0x9e3779b97f4a7c15

// newProbe returns a probe for a matrix of n columns, or n rows for a transposed product, and
// products of m components. A direction has in components, of which those beyond n stay zero.
// accuracy is that of the engine.
func newProbe(in, n, m int, accuracy float64, c *coloring.Coloring) *probe {
	p := &probe{r: rand.New(rand.NewPCG(probeSeed, uint64(n))), tol: 1e-11, differences: accuracy > 0}
	if c.Problem().Decompression == coloring.Substitution { // errors accumulate in the matrix
		p.tol, p.common = 1e-7, 1e-13
	}
	if p.tol = max(p.tol, accuracy); p.differences { // all components share the errors of the largest
		p.common = p.tol
	}
	p.direction, p.v = make([]float64, in), make([]float64, in)
	p.want, p.got, p.scale = make([]float64, m), make([]float64, m), make([]float64, m)
	p.draw(n)
	return p
}

// draw sets the direction to a random one.
func (p *probe) draw(n int) {
	for i := range n {
		p.direction[i] = 0.5 + p.r.Float64()
		if p.r.Uint64()&1 == 0 {
			p.direction[i] = -p.direction[i]
		}
	}
}

// compare returns a *PatternError if the matrix with the given data is not the derivative. product
// writes the product of the derivative with a direction to p.want. at is the point or, if products
// are transposed, the value of the function. If taken is set, p.want already holds the product with
// the whole direction.
func (p *probe) compare(op string, s *sparsity.Pattern, data, at []float64, taken bool,
	product func(v []float64) error) error {
	copy(p.v, p.direction)
	// Values that are not finite hide those added to them. They are left out in the second round.
	for range 2 {
		if !taken {
			if err := product(p.v); err != nil {
				return err
			}
		}
		taken = false
		p.times(s, data)
		if err := p.verdict(op, product); err != nil {
			return err
		}
		if !p.leaveOut(s, data, at) {
			break
		}
	}
	return nil
}

// times multiplies the matrix with p.v. It stores the product in p.got and the sums of absolute
// values in p.scale.
func (p *probe) times(s *sparsity.Pattern, data []float64) {
	clear(p.got)
	clear(p.scale)
	ptr, idx := s.ColPtr(), s.RowIndex()
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			i, from := idx[k], j
			if p.turned {
				i, from = j, idx[k]
			}
			if p.v[from] != 0 { // one that was left out
				t := data[k] * p.v[from]
				p.got[i] += t
				p.scale[i] += abs(t)
			}
		}
	}
}

// leaveOut sets to zero the components of p.v at which at is NaN or whose products involve an entry
// that is not finite, and reports whether there are any.
func (p *probe) leaveOut(s *sparsity.Pattern, data, at []float64) bool {
	any := false
	for i, v := range at {
		if v != v {
			p.v[i], any = 0, true
		}
	}
	ptr, idx := s.ColPtr(), s.RowIndex()
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			if finite(data[k]) {
				continue
			}
			if p.turned {
				p.v[idx[k]] = 0
			} else {
				p.v[j] = 0
			}
			any = true
		}
	}
	return any
}

// verdict compares p.got with p.want and returns an error if they differ by more than the noise.
func (p *probe) verdict(op string, product func(v []float64) error) error {
	bad := p.worst(nil)
	if bad < 0 {
		return nil
	}
	g, w := p.got[bad], p.want[bad]
	// A derivative that consists of rounding errors is not linear in the direction.
	if noise, err := p.noise(product); err != nil || p.worst(noise) < 0 {
		return err
	}
	return engine.WrongPattern(op, g, w)
}

// noise returns, for each component, the largest deviation in a few tries of the sum of two
// products, with directions that add up to p.v, from p.want. For differences it is the same for all
// components.
func (p *probe) noise(product func(v []float64) error) ([]float64, error) {
	want, part := slices.Clone(p.want), make([]float64, len(p.v))
	most, sum := make([]float64, len(want)), make([]float64, len(want))
	for try := range 6 {
		clear(sum)
		for i, v := range p.v {
			switch {
			case try&1 == 1:
				part[i] = v * p.r.Float64()
			case v == 0 || try > 0 && p.r.Uint64()&1 == 0:
				part[i] = 0
			default: // as in the groups: 1 has other rounding errors than other numbers
				part[i] = 1
			}
		}
		for range 2 {
			if err := product(part); err != nil {
				return nil, err
			}
			for i, w := range p.want {
				sum[i] += w
			}
			for i := range part { // the rest
				part[i] = p.v[i] - part[i]
			}
		}
		for i, s := range sum {
			if d := abs(s - want[i]); finite(d) {
				most[i] = max(most[i], d)
			}
		}
	}
	copy(p.want, want)
	if p.differences {
		all := slices.Max(most)
		for i := range most {
			most[i] = all
		}
	}
	return most, nil
}

// worst returns the component whose error exceeds its tolerance by the most, or -1. noise may be
// nil. Products that are not finite are skipped, since NaNs spread in some engines.
func (p *probe) worst(noise []float64) int {
	largest := 0.0
	if p.common > 0 {
		for i, s := range p.scale {
			if s = max(s, abs(p.want[i])); finite(s) {
				largest = max(largest, s)
			}
		}
	}
	bad, most := -1, 0.0
	for i, g := range p.got {
		s, w := p.scale[i], p.want[i]
		if !finite(w) || !finite(s) || s > 1e300 { // or nearly an overflow
			continue
		}
		may := p.tol*s + p.common*largest
		if noise != nil {
			may = max(may, 100*noise[i])
		}
		if d := abs(g - w); d > may && d > most {
			bad, most = i, d
		}
	}
	return bad
}

func abs(v float64) float64 {
	if v < 0 {
		return -v
	}
	return v
}

func finite(v float64) bool { return v-v == 0 }

// accuracy returns the accuracy of the least accurate engine, 0 for exact ones.
func accuracy(engines ...engine.Backend) float64 {
	a := 0.0
	for _, b := range engines {
		if p, ok := b.(engine.Approximator); ok {
			a = max(a, p.Accuracy())
		}
	}
	return a
}

// approximate reports whether one of the engines is, at least to second order.
func approximate(engines ...engine.Backend) bool {
	return slices.ContainsFunc(engines, func(b engine.Backend) bool { _, ok := b.(engine.Approximator); return ok })
}
