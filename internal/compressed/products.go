package compressed

import (
	"cmp"
	"math"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/team"
)

// A products holds the compressed forms of a matrix A: A·s for each group of columns, Aᵀ·w for each group of rows and,
// if every call is compared, one more in the direction of the probe.
//
// If all of them together would take much memory, they are streamed: entries are recovered from each part before the
// next one is computed. Otherwise each part has memory of its own, laid out as engines take it, and entries are
// recovered at the end, by their places in the memory of all parts. With substitution an entry depends on several
// products; then those of a side are in one block.
type products struct {
	dec      *coloring.Decompressor
	workers  []*worker
	cols     side
	rows     side
	tasks    []part
	streamed bool
	all      []float64 // the products of all parts, nil with substitution
	place    []int32   // entry → its place in all
	part     [2][]int  // product → its part, by side
	data     []float64 // the values that the call under way fills
	probe    *probe    // has the direction
	task     *engine.Task
	team     *team.Team
	out, x   []float64 // arguments of the call under way
	y        float64   // result of the first part
}

// A side holds the products of columns, or those of rows.
type side struct {
	row          bool
	quads        bool // the engine computes four products at a time, whatever their number
	colors       int  // of the colouring
	width        int  // products: one for each colour, and one in the direction of the probe
	in, out      int  // lengths of a seed and of a product
	color        []int
	seed, result engine.Block // of all products, with substitution; otherwise without data
	members      [][]int      // streamed: the inputs of each colour
}

// A part is a range of products that are computed together. Its block of seeds, and that of its products, are without
// data if products are streamed.
type part struct {
	row          bool
	from, k      int
	seed, result engine.Block
}

// A worker holds the sweeper and the buffers of one goroutine.
type worker struct {
	sweeper
	seed, result [2]engine.Block // streamed: of a part, by columns and by rows
	filled       [2]bool         // the seeds are not zero: a part is under way, or one has ended by a panic
}

// streamBytes is the default of Spec.StreamBytes.
const streamBytes = 64 << 20

// A shape describes the products of a colouring.
type shape struct {
	in, out                    int     // of the function; there may be more inputs than columns
	forward, reverse           int     // products that an engine takes at a time
	quads                      [2]bool // by side: the engine computes four at a time, whatever their number
	extraForward, extraReverse int     // products without a colour
	probe                      *probe  // an extra product has its direction; nil if extra products are zero
}

// newProducts allocates the products of spec.F that dec decompresses, without sweepers. It is an error if they exceed
// the memory limit of the function.
func newProducts(dec *coloring.Decompressor, s shape, spec *Spec) (*products, error) {
	c := dec.Coloring()
	m, n := c.Pattern().Dims()
	p := &products{
		dec: dec, probe: s.probe, task: spec.F.Task(),
		cols: side{colors: c.Forward(), in: s.in, out: max(s.out, m), color: c.ColumnColors()},
		rows: side{row: true, colors: c.Reverse(), in: s.out, out: max(s.in, n), color: c.RowColors()},
	}
	p.cols.quads, p.rows.quads = s.quads[0], s.quads[1]
	p.cols.width, p.rows.width = p.cols.colors+s.extraForward, p.rows.colors+s.extraReverse
	workers := max(1, min(spec.Workers, p.cols.width+p.rows.width))
	p.workers = make([]*worker, workers)
	for i := range p.workers {
		p.workers[i] = new(worker)
	}
	p.split(&p.cols, s.forward)
	p.split(&p.rows, s.reverse)
	workers = max(1, min(workers, len(p.tasks)))
	p.workers = p.workers[:workers]
	p.team = team.New(workers, engine.PanicHandler(spec.F.Name()), p.some)
	whole := p.bytes()
	parts := int64(workers) * (p.cols.bytes(p.lanes(false)) + p.rows.bytes(p.lanes(true)))
	p.streamed = whole > cmp.Or(spec.StreamBytes, streamBytes) && parts < whole &&
		c.Problem().Decompression == coloring.Direct
	if p.streamed {
		whole = parts
	}
	if limit := spec.F.MemoryLimit(); whole > limit {
		return nil, engine.TooLarge("the products of "+c.String(), whole, limit)
	}
	if p.streamed {
		p.cols.members, p.rows.members = members(p.cols.color, p.cols.colors), members(p.rows.color, p.rows.colors)
		return p, nil
	}
	p.allocate()
	for _, s := range []*side{&p.cols, &p.rows} {
		for i, c := range s.color {
			if c > 0 {
				seed, k := p.seedOf(s, c-1)
				seed.Row(i)[k] = 1
			}
		}
	}
	p.aim()
	return p, nil
}

// allocate makes the blocks of all parts: parts of one block for each side with substitution, otherwise blocks of their
// own, one behind the other in p.all.
func (p *products) allocate() {
	sources := p.dec.Sources()
	total := 0
	for _, t := range p.tasks {
		s := p.side(t.row)
		total += s.out * s.room(t.k)
	}
	if sources == nil || total > math.MaxInt32 {
		for _, s := range []*side{&p.cols, &p.rows} {
			s.seed, s.result = engine.NewBlock(s.in, s.width), engine.NewBlock(s.out, s.width)
		}
		for i := range p.tasks {
			t := &p.tasks[i]
			s := p.side(t.row)
			t.seed, t.result = s.seed.Cols(t.from, t.k), s.result.Cols(t.from, t.k)
		}
		return
	}
	p.all, p.place = make([]float64, total), make([]int32, len(sources))
	base := make([]int, len(p.tasks)) // where the products of a part begin
	at := 0
	for i := range p.tasks {
		t := &p.tasks[i]
		s := p.side(t.row)
		step := s.room(t.k)
		end := at + s.out*step
		t.seed = engine.NewBlock(s.in, step)
		t.result = engine.Block{N: s.out, B: step, Stride: step, Data: p.all[at:end:end]}
		base[i], at = at, end
	}
	for k, s := range sources {
		i := p.part[p.side(s.Row).index()][s.Color]
		t := p.tasks[i]
		p.place[k] = int32(base[i] + int(s.Index)*t.result.Stride + int(s.Color) - t.from)
	}
}

// room returns the number of columns of a block of k products: there are others, whose seeds are zero, if the engine
// computes them anyway.
func (s *side) room(k int) int {
	if s.quads && 1 < k && k < quad {
		return quad
	}
	return k
}

// quad is the number of products that generated code computes at a time.
const quad = 4

// quads reports whether b computes four products with a Jacobian at a time, or one.
func quads(b engine.Backend) bool { return engine.LanesOf(b, math.MaxInt32) == quad }

// seedOf returns the block that has the seed of product j of a side, and the column of the seed in it.
func (p *products) seedOf(s *side, j int) (seed engine.Block, column int) {
	t := p.tasks[p.part[s.index()][j]]
	return t.seed, j - t.from
}

// index returns the index of the side in the buffers of a worker.
func (s *side) index() int {
	if s.row {
		return 1
	}
	return 0
}

// bytes returns the memory in bytes of the blocks of all parts.
func (p *products) bytes() (n int64) {
	for _, t := range p.tasks {
		s := p.side(t.row)
		n += s.bytes(s.room(t.k))
	}
	return n
}

// bytes returns the memory in bytes of k seeds and k products.
func (s *side) bytes(k int) int64 { return 8 * int64(k) * (int64(s.in) + int64(s.out)) }

// members returns the inputs of each colour.
func members(color []int, colors int) [][]int {
	size := make([]int, colors)
	for _, c := range color {
		if c > 0 {
			size[c-1]++
		}
	}
	all := make([][]int, colors)
	for c := range all {
		all[c] = make([]int, 0, size[c])
	}
	for i, c := range color {
		if c > 0 {
			all[c-1] = append(all[c-1], i)
		}
	}
	return all
}

// aim copies the direction of the probe to the seed of the extra product.
func (p *products) aim() {
	s := p.extra()
	if s == nil || p.streamed {
		return
	}
	seed, k := p.seedOf(s, s.colors)
	for i, v := range p.probe.direction {
		seed.Row(i)[k] = v
	}
}

// extra returns the side that has the product in the direction of the probe, or nil.
func (p *products) extra() *side {
	switch {
	case p.probe == nil:
	case p.cols.width > p.cols.colors:
		return &p.cols
	case p.rows.width > p.rows.colors:
		return &p.rows
	}
	return nil
}

func (p *products) side(row bool) *side {
	if row {
		return &p.rows
	}
	return &p.cols
}

// leastShare is the smallest number of products for which a worker gets a part of its own that the engine would not
// make: a part has the cost of the function, and of its gradient, once more.
const leastShare = 4

// split divides the products of a side into parts of at most lanes and of nearly equal size, at least one for each
// worker if there are enough products.
func (p *products) split(s *side, lanes int) {
	count := max((s.width+lanes-1)/lanes, min(len(p.workers), s.width/leastShare))
	for i := range count {
		from, to := i*s.width/count, (i+1)*s.width/count
		for range to - from {
			p.part[s.index()] = append(p.part[s.index()], len(p.tasks))
		}
		p.tasks = append(p.tasks, part{row: s.row, from: from, k: to - from})
	}
}

// lanes returns the largest number of products of a side that are computed at a time, 0 if it has none.
func (p *products) lanes(row bool) int {
	most := 0
	for _, t := range p.tasks {
		if t.row == row {
			most = max(most, t.k, t.result.B)
		}
	}
	return most
}

// compute computes all products at x and recovers the values. out and y are those of a sweep.
func (p *products) compute(out, data, x []float64) (y float64, err error) {
	p.out, p.data, p.x = out, data, x
	if err = p.team.Run(len(p.tasks)); err == nil {
		p.end()
	}
	p.out, p.data, p.x = nil, nil, nil
	return p.y, err
}

// some computes a part. The value of the first one is the result.
func (p *products) some(worker, i int) error {
	w, t := p.workers[worker], &p.tasks[i]
	out := p.out
	if i > 0 {
		out = nil
	}
	if err := p.task.Check("products", t.from, p.side(t.row).width); err != nil {
		return err
	}
	seed, result := p.open(w, t)
	y, err := w.sweep(t.row, out, result, p.x, seed)
	p.close(w, t, seed, result)
	if i == 0 {
		p.y = y
	}
	return err
}

// open returns the seeds of a part, and memory for its products.
func (p *products) open(w *worker, t *part) (seed, result engine.Block) {
	s := p.side(t.row)
	if !p.streamed {
		return t.seed, t.result
	}
	at := s.index()
	if w.seed[at].Data == nil {
		k := p.lanes(t.row)
		w.seed[at], w.result[at] = engine.NewBlock(s.in, k), engine.NewBlock(s.out, k)
	}
	if w.filled[at] {
		w.seed[at].Zero()
	}
	w.filled[at] = true
	seed = w.seed[at].Cols(0, t.k)
	s.fill(p.probe, seed, t, 1)
	return seed, w.result[at].Cols(0, t.k)
}

// fill writes v, 1 or 0, to the nonzero positions of the seeds of a part; for the direction of the
// probe it writes v times the direction.
func (s *side) fill(probe *probe, seed engine.Block, t *part, v float64) {
	for k := range t.k {
		if c := t.from + k; c < s.colors {
			for _, i := range s.members[c] {
				seed.Row(i)[k] = v
			}
		} else if probe != nil {
			for i, d := range probe.direction {
				seed.Row(i)[k] = v * d
			}
		}
	}
}

// close recovers entries from a streamed part, since the next part overwrites it.
func (p *products) close(w *worker, t *part, seed, result engine.Block) {
	if !p.streamed {
		return
	}
	s := p.side(t.row)
	s.fill(p.probe, seed, t, 0)
	w.filled[s.index()] = false
	k := min(t.k, s.colors-t.from)
	p.dec.DecompressPart(p.data, result.Data, result.Stride, t.row, t.from, max(k, 0))
	if p.probe != nil && t.from+t.k > s.colors {
		s.directional(p.probe.want, result, s.colors-t.from)
	}
}

// directional copies the product in the direction of the probe, column k.
func (s *side) directional(dst []float64, result engine.Block, k int) {
	for i := range dst {
		dst[i] = result.Row(i)[k]
	}
}

// end completes a call in which all parts have been computed.
func (p *products) end() {
	if p.streamed {
		return
	}
	if p.all == nil {
		p.dec.Decompress(p.data, p.cols.result.Data, p.cols.result.Stride, p.rows.result.Data, p.rows.result.Stride)
	} else {
		data := p.data[:len(p.place)]
		for k, at := range p.place {
			data[k] = p.all[at]
		}
	}
	if s := p.extra(); s != nil {
		t := p.tasks[p.part[s.index()][s.colors]]
		s.directional(p.probe.want, t.result, s.colors-t.from)
	}
}
