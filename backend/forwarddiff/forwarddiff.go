// Package forwarddiff is forward mode by dual numbers: each number of a run carries
// its derivatives along several directions, which are stored in one slice for all
// numbers.
//
//	g, err := nabla.Gradient(f, forwarddiff.Backend{}, x)
//
// One sweep runs the function once and carries Chunk directions, so a gradient of
// n inputs takes n/Chunk sweeps. Operations that do not depend on the sweep's inputs cost as
// much as in the plain function, the others a constant times Chunk. Forward mode suits
// functions with few inputs, Jacobians with more rows than columns, and functions whose
// control flow changes at every call, as nothing is recorded.
//
// [Hyper] is second order in one sweep, by hyper-dual numbers: Hessians of few inputs
// without a recording.
//
// Derivatives that are structurally zero stay zero where they meet an infinite
// partial derivative. Second order of [Backend] differentiates the gradient that
// the reverse of the recorded program computes; see engine.GradientFunction.
package forwarddiff

import (
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/team"
	"github.com/nabla-ad/nabla/internal/vector"
)

// Backend is the engine. The zero value has the default settings.
type Backend struct {
	// Chunk is the number of directions carried by one sweep. Zero selects all of
	// them if there are at most 12, as in ForwardDiff.jl, and otherwise the fewest
	// chunks of nearly equal size and at most 12 directions.
	Chunk int

	// Workers is the number of goroutines that share the chunks of a gradient or Jacobian; zero or one means the
	// caller's alone. Each has its own copy of the bound struct and its scratch, but the function itself is called from
	// several goroutines: it must not write to captured data.
	Workers int

	// Limit is the largest number of operations in one sweep, which takes 8·Chunk bytes for each; zero means as many as
	// fit into 2 GiB. A call that exceeds it returns an *engine.LimitError.
	Limit int
}

// maxChunk is the chunk threshold of ForwardDiff.jl.
const maxChunk = 12

// Name returns "forwarddiff" with the settings that are not the default.
func (b Backend) Name() string { return named("forwarddiff", b.Chunk, b.Workers, b.Limit) }

// named returns the name of an engine with those of its settings that are not the default.
func named(engine string, chunk, workers, limit int) string {
	var s []string
	if chunk != 0 {
		s = append(s, fmt.Sprintf("chunk=%d", chunk))
	}
	if workers > 1 {
		s = append(s, fmt.Sprintf("workers=%d", workers))
	}
	if limit != 0 {
		s = append(s, fmt.Sprintf("limit=%d", limit))
	}
	if len(s) == 0 {
		return engine
	}
	return engine + "(" + strings.Join(s, ", ") + ")"
}

// Lanes returns the chunk size for n directions.
func (b Backend) Lanes(n int) int {
	if b.Chunk > 0 {
		return max(1, min(b.Chunk, n))
	}
	return engine.BatchSize(n, maxChunk)
}

// check returns an error for invalid settings or for a function that is not traceable.
func (b Backend) check(f *engine.Function) error {
	return settings("forwarddiff", b.Chunk, b.Workers, f)
}

// settings returns an error for a negative setting of an engine or for a function that is not traceable.
func settings(name string, chunk, workers int, f *engine.Function) error {
	for _, v := range []struct {
		name  string
		value int
	}{{"Chunk", chunk}, {"Workers", workers}} {
		if v.value < 0 {
			return fmt.Errorf("nabla: %s: %s is %d, want 0 or more; 0 is the default", name, v.name, v.value)
		}
	}
	return f.Untraceable()
}

// A runner runs a function over dual numbers. It must not be used concurrently.
type runner struct {
	f      *engine.Function
	t      *engine.Tracer
	xs, ys []engine.Real
	lanes  int
	limit  int
}

func (b Backend) newRunner(f *engine.Function, lanes int) *runner {
	n, m := f.Dims()
	return &runner{f: f, t: new(engine.Tracer), xs: make([]engine.Real, n), ys: make([]engine.Real, m), lanes: lanes,
		limit: b.Limit}
}

// sweep runs f at x with lanes tangents, seeded by s. If a tangent is NaN, it runs f again with structural zeros.
func (r *runner) sweep(x []float64, lanes int, s seeds) error {
	if err := r.once(x, lanes, s, false); err != nil {
		return err
	}
	for i := range r.ys {
		if vector.AnyNaN(r.tangents(i)) {
			return r.once(x, lanes, s, true)
		}
	}
	return nil
}

// A seeds holds the tangents of the inputs: the columns of a block, or unit vectors from first on if the block is
// empty.
type seeds struct {
	block engine.Block
	unit  bool
	first int
}

func (r *runner) once(x []float64, lanes int, s seeds, strong bool) error {
	r.t.StartDual(len(x), lanes, r.limit, strong)
	defer r.t.Close()
	// An input whose tangents are all zero is a constant of this sweep: operations on constants cost as much as in the
	// plain function, and their infinite derivatives have no effect.
	for i, v := range x {
		r.xs[i] = engine.Real{V: v}
		switch {
		case !s.unit:
			row := s.block.Row(i)
			if !moves(row) {
				continue
			}
			copy(r.t.Tangents(int32(i)+1), row)
		case i < s.first || i >= s.first+lanes:
			continue
		default:
			dst := r.t.Tangents(int32(i) + 1)
			clear(dst)
			dst[i-s.first] = 1
		}
		r.xs[i] = r.t.Input(i, v)
		if strong {
			dst := r.t.Tangents(int32(i) + 1)
			for k, t := range dst {
				dst[k] = core.StrongSeed(t)
			}
		}
	}
	return r.f.OverIn(r.t, r.ys, r.xs)
}

// moves reports whether any tangent in row is not zero.
func moves(row []float64) bool {
	for _, v := range row {
		if v != 0 {
			return true
		}
	}
	return false
}

// tangents returns the tangents of output i, nil if it is a constant.
func (r *runner) tangents(i int) []float64 {
	if r.ys[i].ID == 0 {
		return nil
	}
	return r.t.Tangents(r.ys[i].ID)
}

// put writes the tangents of output i to dst and reports whether there is a NaN.
func (r *runner) put(dst []float64, i int) (nan bool) {
	t := r.tangents(i)
	if t == nil {
		clear(dst)
		return false
	}
	for k, v := range t[:len(dst)] {
		dst[k] = v + 0 // a structural zero is written as -0
		if v != v {
			nan = true
		}
	}
	return nan
}

func (r *runner) values(y []float64) {
	for i, v := range r.ys {
		y[i] = v.V
	}
}

// PreparePushforward implements engine.Pusher.
func (b Backend) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	if err := b.check(f); err != nil {
		return nil, err
	}
	if f.Replayable() {
		return engine.CompilePushforward(f, x, lanes, b.Limit)
	}
	return &pushforward{b.newRunner(f, lanes)}, nil
}

type pushforward struct{ *runner }

func (p *pushforward) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	for _, strong := range [...]bool{false, true} {
		if err := p.once(x, xdot.B, seeds{block: xdot}, strong); err != nil {
			return err
		}
		nan := false
		for i := range p.ys {
			nan = p.put(ydot.Row(i), i) || nan
		}
		if !nan {
			break
		}
	}
	p.values(y)
	return nil
}

// A columns evaluates all columns of a Jacobian chunk by chunk, on several goroutines if there are several runners.
type columns struct {
	runners []*runner
	chunk   int
	team    *team.Team
	x       []float64 // of the call
	put     func(r *runner, first, lanes int)
}

func (b Backend) newColumns(f *engine.Function) (*columns, error) {
	if err := b.check(f); err != nil {
		return nil, err
	}
	n, _ := f.Dims()
	c := &columns{chunk: b.Lanes(n)}
	workers := max(1, min(max(b.Workers, f.Policy().Workers), (n+c.chunk-1)/c.chunk))
	for i := range workers {
		g := f
		if i > 0 {
			g = f.Clone()
		}
		c.runners = append(c.runners, b.newRunner(g, c.chunk))
	}
	c.team = team.New(workers, engine.PanicHandler(f.Name()), c.sweep)
	return c, nil
}

// each calls put after every chunk with the runner that has it.
func (c *columns) each(x []float64, put func(r *runner, first, lanes int)) error {
	n := len(x)
	if n == 0 {
		r := c.runners[0]
		if err := r.sweep(x, 1, seeds{unit: true}); err != nil {
			return err
		}
		put(r, 0, 0)
		return nil
	}
	c.x, c.put = x, put
	err := c.team.Run((n + c.chunk - 1) / c.chunk)
	c.x, c.put = nil, nil
	return err
}

// sweep computes a chunk.
func (c *columns) sweep(worker, chunk int) error {
	first := chunk * c.chunk
	lanes := min(c.chunk, len(c.x)-first)
	r := c.runners[worker]
	if err := r.sweep(c.x, lanes, seeds{unit: true, first: first}); err != nil {
		return err
	}
	c.put(r, first, lanes)
	return nil
}

// PrepareGradient implements engine.Gradienter.
func (b Backend) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	c, err := b.newColumns(f)
	if err != nil {
		return nil, err
	}
	g := &gradient{columns: c}
	g.store = func(r *runner, first, lanes int) {
		if first == 0 {
			g.value = r.ys[0].V
		}
		r.put(g.dst[first:first+lanes], 0)
	}
	return g, nil
}

type gradient struct {
	*columns
	dst   []float64
	value float64
	store func(r *runner, first, lanes int)
}

func (g *gradient) ValueAndGradient(grad, x []float64) (float64, error) {
	g.dst = grad
	err := g.each(x, g.store)
	g.dst = nil
	return g.value, err
}

// PrepareJacobian implements engine.Jacobianer.
func (b Backend) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	c, err := b.newColumns(f)
	if err != nil {
		return nil, err
	}
	j := &jacobian{columns: c}
	j.store = func(r *runner, first, lanes int) {
		if first == 0 {
			r.values(j.y)
		}
		for i := range r.ys {
			r.put(j.jac.Row(i)[first:first+lanes], i)
		}
	}
	return j, nil
}

type jacobian struct {
	*columns
	y     []float64
	jac   engine.Block
	store func(r *runner, first, lanes int)
}

func (j *jacobian) ValueAndJacobian(y []float64, jac engine.Block, x []float64) error {
	j.y, j.jac = y, jac
	err := j.each(x, j.store)
	j.y, j.jac = nil, engine.Block{}
	return err
}

// RecordLimit implements engine.Limiter.
func (b Backend) RecordLimit() int { return b.Limit }

// GradientFunction implements engine.Transformer. The gradient over Reals is the
// reverse of the recorded program, whichever branch it takes.
func (b Backend) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, true)
}

// PushforwardFunction implements engine.Transformer.
func (b Backend) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return engine.PushforwardFunction(f, b, true)
}
