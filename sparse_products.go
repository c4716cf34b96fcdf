package nabla

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// products are the compressed forms of a sparse derivative: A·s for each group of
// columns, Aᵀ·w for each group of rows.
type products struct {
	workers []*product
	col     engine.Block // rows × column colours
	row     engine.Block // columns × row colours
	colSeed engine.Block // columns × column colours
	rowSeed engine.Block // rows × row colours
	tasks   []part
	wg      sync.WaitGroup
}

// part is some products that are taken together.
type part struct {
	row     bool
	from, k int
}

// product is what one goroutine takes products with. Not all of it is there.
type product struct {
	push engine.Pushforward
	pull engine.Pullback
	hvp  engine.HVP
	y    []float64
	err  error
}

// newProducts makes room for the products of a colouring. in is the number of inputs,
// which may be more than there are columns; forward and reverse are how many products an
// engine likes to take at a time.
func newProducts(c *coloring.Coloring, in, out, forward, reverse, workers int) *products {
	m, n := c.Pattern().Dims()
	workers = max(1, min(workers, c.Colors()))
	p := &products{workers: make([]*product, workers)}
	if k := c.Forward(); k > 0 {
		p.colSeed, p.col = seeds(in, c.ColumnColors(), k), engine.NewBlock(max(out, m), k)
		p.split(false, k, forward, workers)
	}
	if k := c.Reverse(); k > 0 {
		p.rowSeed, p.row = seeds(out, c.RowColors(), k), engine.NewBlock(max(in, n), k)
		p.split(true, k, reverse, workers)
	}
	return p
}

// seeds is the block whose column k is 1 where the colour is k+1.
func seeds(n int, colors []int, k int) engine.Block {
	b := engine.NewBlock(n, k)
	for i, c := range colors {
		if c > 0 {
			b.Row(i)[c-1] = 1
		}
	}
	return b
}

// split divides k products into parts of at most lanes, as even as they can be, so that
// there is one for each worker if there are enough.
func (p *products) split(row bool, k, lanes, workers int) {
	count := max((k+lanes-1)/lanes, min(workers, k))
	for i := range count {
		from, to := i*k/count, (i+1)*k/count
		p.tasks = append(p.tasks, part{row, from, to - from})
	}
}

// lanes is the largest number of products that are taken at a time.
func (p *products) lanes(row bool) int {
	most := 1
	for _, t := range p.tasks {
		if t.row == row {
			most = max(most, t.k)
		}
	}
	return most
}

// all does the parts, worker w those that begin with it. The error is that of the first
// worker which has one.
func (p *products) all(do func(w *product, first bool, t part) error) error {
	if len(p.workers) == 1 {
		for i, t := range p.tasks {
			if err := do(p.workers[0], i == 0, t); err != nil {
				return err
			}
		}
		return nil
	}
	for i, w := range p.workers[1:] {
		p.wg.Add(1)
		go func() {
			defer p.wg.Done()
			p.some(w, i+1, do)
		}()
	}
	p.some(p.workers[0], 0, do)
	p.wg.Wait()
	for _, w := range p.workers {
		if w.err != nil {
			return w.err
		}
	}
	return nil
}

func (p *products) some(w *product, first int, do func(w *product, first bool, t part) error) {
	w.err = nil
	defer func() { panicked("AutoSparse", recover(), &w.err) }()
	for i := first; i < len(p.tasks) && w.err == nil; i += len(p.workers) {
		w.err = do(w, i == 0, p.tasks[i])
	}
}

// A probe compares a sparse matrix with its derivative in random directions.
type probe struct {
	r                   *rand.Rand
	calls               uint64
	v, got, want, scale []float64
	tol                 float64
	differences         bool
	off                 bool
}

// Directions are drawn from a generator with this seed, so that what happens, happens
// again.
const probeSeed = 0x9e3779b97f4a7c15

// newProbe makes a probe for a matrix of n columns, or rows for a transposed product,
// and m components of the product. accuracy is that of the engine.
func newProbe(n, m int, accuracy float64, c *coloring.Coloring, off bool) *probe {
	p := &probe{off: off, r: rand.New(rand.NewPCG(probeSeed, uint64(n))), tol: 1e-11, differences: accuracy > 0}
	if c.Problem().Decompression == coloring.Substitution { // errors add up in the matrix
		p.tol = 1e-7
	}
	p.tol = max(p.tol, accuracy)
	p.v, p.want = make([]float64, n), make([]float64, m)
	p.got, p.scale = make([]float64, m), make([]float64, m)
	return p
}

// due counts the calls and reports whether this one is compared.
func (p *probe) due() bool {
	p.calls++
	return !p.off && p.calls&(p.calls-1) == 0
}

// soon makes the next call one that is compared, and those after it as after a
// preparation. p may be nil.
func (p *probe) soon() {
	if p != nil {
		p.calls = 0
	}
}

// direction draws the next direction, whose components are far from zero. There may be
// more of them than columns: those stay zero.
func (p *probe) direction(s *sparsity.Pattern, transposed bool) {
	m, n := s.Dims()
	if transposed {
		n = m
	}
	for i := range n {
		p.v[i] = 0.5 + p.r.Float64()
		if p.r.Uint64()&1 == 0 {
			p.v[i] = -p.v[i]
		}
	}
}

// compare is the error of a matrix that is not the derivative. product writes the
// product of the derivative with a direction to p.want.
// at is the point or, where products are transposed, the value of the function.
func (p *probe) compare(op string, s *sparsity.Pattern, data, at []float64, transposed bool, product func(v []float64) error) error {
	p.direction(s, transposed)
	// What is not finite hides what is added to it, and is left out the second time.
	for range 2 {
		if err := product(p.v); err != nil {
			return err
		}
		p.times(s, data, transposed)
		if err := p.verdict(op, product); err != nil {
			return err
		}
		if !p.leaveOut(s, data, at, transposed) {
			break
		}
	}
	return nil
}

// times multiplies the matrix with p.v.
func (p *probe) times(s *sparsity.Pattern, data []float64, transposed bool) {
	clear(p.got)
	clear(p.scale)
	ptr, idx := s.ColPtr(), s.RowIndex()
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			i, from := idx[k], j
			if transposed {
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

// leaveOut sets to zero the components of p.v that are of a NaN or meet an entry which is
// not finite, and reports whether there are any.
func (p *probe) leaveOut(s *sparsity.Pattern, data, at []float64, transposed bool) bool {
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
			if transposed {
				p.v[idx[k]] = 0
			} else {
				p.v[j] = 0
			}
			any = true
		}
	}
	return any
}

// verdict compares p.got with p.want, where the matrix is finite.
func (p *probe) verdict(op string, product func(v []float64) error) error {
	bad := p.worst(nil)
	if bad < 0 {
		return nil
	}
	g, w := p.got[bad], p.want[bad]
	// A derivative that is no more than its errors is not linear in the direction.
	if noise, err := p.noise(product); err != nil || p.worst(noise) < 0 {
		return err
	}
	p.soon()
	return engine.WrongPattern(op, g, w)
}

// noise is how far, in a few tries, products with parts of the direction are from adding
// up to p.want, at most. That of differences is the same for all components.
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
			default: // as in the groups: the roundings of 1 are not those of other numbers
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

// worst is a component that is off by more than it may be, or -1. noise may be nil. A
// product that is not finite says nothing: in some engines NaNs spread.
func (p *probe) worst(noise []float64) int {
	largest := 0.0
	if p.differences { // that share the errors of the largest
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
		may := p.tol * (s + largest)
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

// accuracy is that of the least accurate of the engines.
func accuracy(engines ...Backend) float64 {
	a := 0.0
	for _, b := range engines {
		if p, ok := b.(engine.Approximator); ok {
			a = max(a, p.Accuracy())
		}
	}
	return a
}

// approximate reports whether one of the engines is, at least to second order.
func approximate(engines ...Backend) bool {
	return slices.ContainsFunc(engines, func(b Backend) bool { _, ok := b.(engine.Approximator); return ok })
}
