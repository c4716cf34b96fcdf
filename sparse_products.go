package nabla

import (
	"math/rand/v2"
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
	off                 bool
}

// Directions are drawn from a generator with this seed, so that what happens, happens
// again.
const probeSeed = 0x9e3779b97f4a7c15

// newProbe makes a probe for a matrix of n columns, or rows for a transposed product,
// and m components of the product. accuracy is that of the engine.
func newProbe(n, m int, accuracy float64, off bool) *probe {
	p := &probe{off: off, r: rand.New(rand.NewPCG(probeSeed, uint64(n))), tol: max(1e-7, 100*accuracy)}
	p.v, p.want = make([]float64, n), make([]float64, n+m)
	p.got, p.scale = make([]float64, m), make([]float64, m)
	p.want = p.want[:m]
	return p
}

// due counts the calls and reports whether this one is compared.
func (p *probe) due() bool {
	p.calls++
	return !p.off && p.calls&(p.calls-1) == 0
}

// direction draws the next direction; all of its components are far from zero.
func (p *probe) direction(n int) []float64 {
	for i := range n {
		p.v[i] = 0.5 + p.r.Float64()
		if p.r.Uint64()&1 == 0 {
			p.v[i] = -p.v[i]
		}
	}
	return p.v[:n]
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
			t := data[k] * p.v[from]
			p.got[i] += t
			p.scale[i] += abs(t)
		}
	}
}

// verdict compares p.got with p.want. What is not finite is not compared.
func (p *probe) verdict(op string) error {
	largest := 0.0
	for i, s := range p.scale {
		if s = max(s, abs(p.want[i])); finite(s) {
			largest = max(largest, s)
		}
	}
	// Differences share the size of the largest, and so do the roundings of a function
	// that cancels large numbers.
	floor := 1e-12 * largest
	if p.tol > 1e-7 {
		floor = p.tol * largest
	}
	for i, g := range p.got {
		w := p.want[i]
		if finite(g) && finite(w) && abs(g-w) > p.tol*p.scale[i]+floor {
			return engine.WrongPattern(op, g, w)
		}
	}
	return nil
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
