package forwarddiff

import (
	"fmt"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/team"
)

// Hyper is the engine of hyper-dual numbers: one sweep carries first and second derivatives. It computes Hessians,
// Hessian-vector products and second derivatives in forward mode without recording the function; everything else is
// that of [Backend]. The zero value has the default settings.
//
// A sweep covers the Hessian entries of a pair of chunks of inputs, those on and above the diagonal if the chunks are
// the same. A Hessian of n inputs with k = ⌈n/Chunk⌉ chunks takes k(k+1)/2 sweeps, and a Hessian-vector product k.
// The second derivatives of a function with one output are a sum over its operations, which a sweep computes at its end
// from the first derivatives of the numbers. Where that may be inexact or is not finite, and in functions that call
// rules, each number gets second derivatives of its own: those that are not structurally zero because of the inputs it
// depends on, or because it is linear in them.
type Hyper struct {
	// Chunk is the number of inputs in a chunk, at most 64. Zero selects the fewest chunks of nearly equal size and at
	// most 24 inputs. Larger ones take fewer sweeps, and more memory.
	Chunk int

	// Workers and Limit are those of Backend. An operation takes 64 bytes and 8 for each input of its chunks or, where
	// numbers have second derivatives, up to 4·Chunk² bytes if the chunks are the same and 8·Chunk² otherwise.
	Workers, Limit int
}

// maxHyper is the largest chunk by default. By BenchmarkHyperChunk 24 takes half to nine tenths of the time of 12
// for 24 and 48 inputs, and 48 up to a third less again, but four times the memory.
const maxHyper = 24

// Name returns "hyperdual" with the settings that are not the default.
func (h Hyper) Name() string { return named("hyperdual", h.Chunk, h.Workers, h.Limit) }

// first returns the engine for operators of first order.
func (h Hyper) first() Backend { return Backend{Workers: h.Workers, Limit: h.Limit} }

// chunk returns the number of inputs in a chunk if there are n in all.
func (h Hyper) chunk(n int) int {
	if h.Chunk > 0 {
		return max(1, min(h.Chunk, n, core.MaxHyper))
	}
	return engine.BatchSize(n, maxHyper)
}

// Lanes implements engine.Laner.
func (h Hyper) Lanes(n int) int { return h.first().Lanes(n) }

// RecordLimit implements engine.Limiter.
func (h Hyper) RecordLimit() int { return h.Limit }

// PreparePushforward implements engine.Pusher.
func (h Hyper) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	return h.first().PreparePushforward(f, x, lanes)
}

// PrepareGradient implements engine.Gradienter.
func (h Hyper) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	return h.first().PrepareGradient(f, x)
}

// PrepareJacobian implements engine.Jacobianer.
func (h Hyper) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	return h.first().PrepareJacobian(f, x)
}

// GradientFunction implements engine.Transformer.
func (h Hyper) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, h, true)
}

// PushforwardFunction implements engine.Transformer.
func (h Hyper) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return engine.PushforwardFunction(f, h, true)
}

// A hyperRunner runs a function over hyper-dual numbers. It must not be used concurrently.
type hyperRunner struct {
	f      *engine.Function
	t      *engine.Tracer
	xs, ys []engine.Real
	limit  int

	// The sweep: inputs r to r+rows-1 are the rows. The columns are inputs c to c+cols-1, or the vectors of block v.
	r, rows, c, cols int
	v                engine.Block
}

func (h Hyper) newRunner(f *engine.Function) *hyperRunner {
	n, m := f.Dims()
	return &hyperRunner{f: f, t: new(engine.Tracer), xs: make([]engine.Real, n), ys: make([]engine.Real, m),
		limit: h.Limit}
}

// run runs f at x over the directions of the sweep. If a derivative is NaN, it runs f again with structural zeros.
func (r *hyperRunner) run(x []float64) error {
	if err := r.once(x, false); err != nil {
		return err
	}
	for _, y := range r.ys {
		if y.ID != 0 && r.t.HyperNaN(y.ID) {
			return r.once(x, true)
		}
	}
	return nil
}

func (r *hyperRunner) once(x []float64, strong bool) error {
	cols := r.cols
	if r.v.B == 0 && r.r == r.c {
		cols = 0 // the same as the rows
	}
	r.t.StartHyper(len(x), r.rows, cols, r.limit, strong, len(r.ys) == 1)
	defer r.t.Close()
	for i, v := range x {
		row := i - r.r
		if row >= r.rows {
			row = -1
		}
		if r.v.B > 0 {
			r.xs[i] = r.t.AlongHyper(i, v, row, r.v.Row(i))
			continue
		}
		col := i - r.c
		if col >= r.cols {
			col = -1
		}
		r.xs[i] = r.t.UnitHyper(i, v, row, col)
	}
	return r.f.OverIn(r.t, r.ys, r.xs)
}

// gradient writes the derivatives of output 0 along the rows to their places in grad.
func (r *hyperRunner) gradient(grad []float64) {
	if dst := grad[r.r : r.r+r.rows]; r.ys[0].ID == 0 {
		clear(dst)
	} else {
		r.t.HyperFirst(dst, r.ys[0].ID)
	}
}

// second writes the second derivatives of output 0 to hess, the Hessian or the products with the vectors, which is zero
// before.
func (r *hyperRunner) second(hess engine.Block) {
	if r.ys[0].ID == 0 {
		return
	}
	d := r.t.HyperSecond(r.ys[0].ID)
	if r.v.B > 0 {
		for i := range r.rows {
			copy(hess.Row(r.r + i)[:r.cols], d[i*r.cols:])
		}
		return
	}
	for i := range r.rows {
		from := 0
		if r.r == r.c {
			from = i
		}
		row := d[i*r.cols+from : (i+1)*r.cols]
		copy(hess.Row(r.r + i)[r.c+from:], row)
		for j, s := range row {
			hess.Row(r.c + from + j)[r.r+i] = s
		}
	}
}

// PrepareHessian implements engine.Hessianer.
func (h Hyper) PrepareHessian(f *engine.Function, x []float64) (engine.Hessian, error) {
	if err := h.check(f); err != nil {
		return nil, err
	}
	n, _ := f.Dims()
	p := &hyperHessian{chunk: h.chunk(n)}
	k := (n + p.chunk - 1) / p.chunk
	for i := range k {
		for j := i; j < k; j++ {
			p.pairs = append(p.pairs, [2]int{i * p.chunk, j * p.chunk})
		}
	}
	for i := range max(1, min(max(h.Workers, f.Policy().Workers), len(p.pairs))) {
		g := f
		if i > 0 {
			g = f.Clone()
		}
		p.runners = append(p.runners, h.newRunner(g))
	}
	p.team = team.New(len(p.runners), engine.PanicHandler(f.Name()), p.pair)
	return p, p.runners[0].try(x)
}

// try runs f over one row, so that what f does not support is reported by the preparation.
func (r *hyperRunner) try(x []float64) error {
	r.r, r.rows, r.c, r.cols = 0, min(1, len(x)), 0, min(1, len(x))
	return r.once(x, false)
}

// check returns an error for invalid settings or for a function that is not traceable.
func (h Hyper) check(f *engine.Function) error {
	if h.Chunk > core.MaxHyper {
		return fmt.Errorf("nabla: hyperdual: Chunk is %d, want at most %d", h.Chunk, core.MaxHyper)
	}
	return settings("hyperdual", h.Chunk, h.Workers, f)
}

// A hyperHessian computes a Hessian pair by pair, on several goroutines if there are several runners.
type hyperHessian struct {
	runners []*hyperRunner
	chunk   int
	pairs   [][2]int // first rows and columns
	team    *team.Team

	grad, x []float64
	hess    engine.Block
	value   float64
}

func (p *hyperHessian) ValueGradientAndHessian(grad []float64, hess engine.Block, x []float64) (float64, error) {
	hess.Zero()
	p.grad, p.hess, p.x = grad, hess, x
	defer func() { p.grad, p.hess, p.x = nil, engine.Block{}, nil }()
	if len(x) == 0 {
		y := [1]float64{}
		err := p.runners[0].f.Value(y[:], x)
		return y[0], err
	}
	if err := p.team.Run(len(p.pairs)); err != nil {
		return 0, err
	}
	return p.value, nil
}

// pair computes a pair of chunks.
func (p *hyperHessian) pair(worker, k int) error {
	r, n := p.runners[worker], len(p.x)
	r.r, r.c = p.pairs[k][0], p.pairs[k][1]
	r.rows, r.cols = min(p.chunk, n-r.r), min(p.chunk, n-r.c)
	if err := r.run(p.x); err != nil {
		return err
	}
	if k == 0 {
		p.value = r.ys[0].V
	}
	if r.r == r.c && p.grad != nil {
		r.gradient(p.grad)
	}
	r.second(p.hess)
	return nil
}

// PrepareHVP implements engine.HVPer.
func (h Hyper) PrepareHVP(f *engine.Function, x []float64, lanes int) (engine.HVP, error) {
	if err := h.check(f); err != nil {
		return nil, err
	}
	n, _ := f.Dims()
	p := &hyperHVP{hyperRunner: h.newRunner(f), chunk: h.chunk(n), lanes: min(lanes, core.MaxHyper)}
	return p, p.try(x)
}

// A hyperHVP computes Hessian-vector products, the rows of a chunk in each sweep.
type hyperHVP struct {
	*hyperRunner
	chunk, lanes int
}

func (p *hyperHVP) ValueGradientAndHVP(grad []float64, hv engine.Block, x []float64, v engine.Block) (float64, error) {
	hv.Zero()
	if v.B == 0 || len(x) == 0 {
		return p.withoutVectors(grad, x)
	}
	defer func() { p.v = engine.Block{} }()
	for first := 0; first < v.B; first += p.lanes {
		k := min(p.lanes, v.B-first)
		p.v = v.Cols(first, k)
		p.cols = k
		for p.r = 0; p.r < len(x); p.r += p.chunk {
			p.rows = min(p.chunk, len(x)-p.r)
			if err := p.run(x); err != nil {
				return 0, err
			}
			if first == 0 && grad != nil {
				p.gradient(grad)
			}
			p.second(hv.Cols(first, k))
		}
	}
	return p.ys[0].V, nil
}

// withoutVectors returns f(x) and writes the gradient.
func (p *hyperHVP) withoutVectors(grad, x []float64) (float64, error) {
	if grad == nil || len(x) == 0 {
		y := [1]float64{}
		err := p.f.Value(y[:], x)
		return y[0], err
	}
	for p.r = 0; p.r < len(x); p.r += p.chunk {
		p.c, p.rows = p.r, min(p.chunk, len(x)-p.r)
		if err := p.run(x); err != nil {
			return 0, err
		}
		p.gradient(grad)
	}
	return p.ys[0].V, nil
}

// PrepareSecond implements engine.Seconder.
func (h Hyper) PrepareSecond(f *engine.Function, t float64) (engine.Second, error) {
	if err := h.check(f); err != nil {
		return nil, err
	}
	s := &hyperSecond{hyperRunner: h.newRunner(f)}
	return s, s.try([]float64{t})
}

// A hyperSecond computes the second derivatives of a function of one number in one sweep.
type hyperSecond struct {
	*hyperRunner
	x [1]float64
}

func (s *hyperSecond) ValueDerivativeAndSecond(y, dy, d2y []float64, t float64) error {
	s.x[0] = t
	if err := s.run(s.x[:]); err != nil {
		return err
	}
	for i, v := range s.ys {
		y[i], dy[i], d2y[i] = v.V, 0, 0
		if v.ID != 0 {
			s.t.HyperFirst(dy[i:i+1], v.ID)
			d2y[i] = s.t.HyperSecond(v.ID)[0]
		}
	}
	return nil
}
