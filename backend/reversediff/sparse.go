package reversediff

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/program"
)

// sparseLimit is the largest number of statements that the sweeps for sparse entries may visit, per statement and
// entry. Beyond it, a compressed Jacobian is cheaper.
const sparseLimit = 16

// PrepareSparseJacobian implements engine.SparseJacobianer. The entries are one program, with a sweep for each row or
// column over the statements related to it. It returns nil, nil if f is not replayed or the sweeps cost too much.
func (b Backend) PrepareSparseJacobian(f *engine.Function, x []float64,
	s engine.Structure) (engine.SparseJacobian, error) {
	n, m := f.Dims()
	if !b.replays(f) || n == 0 || m == 0 {
		return nil, nil
	}
	p, err := f.ProgramLimit(x, b.Limit)
	if err != nil {
		return nil, err
	}
	o := program.EntriesOptions{Rows: s.Rows, Cols: s.Cols, Ptr: s.Ptr, Index: s.Index, Others: true}
	e := b.compileEntries(f, p, o, func(p *program.Program, _ bool) *program.Program { return program.Simplify(p) })
	if e == nil {
		return nil, nil
	}
	return &sparseJacobian{e}, nil
}

// A compiled is a program that computes the entries of a pattern, and the entries off the pattern, which must be zero.
type compiled struct {
	c      *engine.Compiled
	derive func(p *program.Program, strong bool) (*program.Program, []program.Entry)
	group  int // index of the output group of the entries
	others []float64
}

// compileEntries derives a program of the entries o from base(p), where p has just been recorded from f. It returns nil
// if the sweeps would cost too much.
func (b Backend) compileEntries(f *engine.Function, p *program.Program, o program.EntriesOptions,
	base engine.Derive) *compiled {
	first := base(p, false)
	limit := sparseLimit * (len(first.Stmts) + len(o.Index))
	forward, reverse := program.EntriesCost(first, o, limit)
	if min(forward, reverse) >= limit {
		return nil
	}
	o.Forward = forward < reverse
	e := &compiled{group: len(first.Outs)}
	if o.Alone {
		e.group = 1
	}
	e.derive = func(p *program.Program, strong bool) (*program.Program, []program.Entry) {
		q := first
		if first = nil; q == nil {
			q = base(p, strong)
		}
		o := o
		o.Strong = strong
		return program.Entries(q, o)
	}
	last := e.group
	if o.Others {
		last++
	}
	e.c = engine.CompileRecorded(f, p, last, b.Limit, func(p *program.Program, strong bool) *program.Program {
		q, _ := e.derive(p, strong)
		return program.Simplify(q)
	})
	if o.Alone {
		e.c.Alone()
	}
	return e
}

// run computes the entries at x. It returns an error of operator op if an entry off the pattern is not zero.
func (e *compiled) run(op string, entries, x []float64) (*program.Machine, error) {
	m, err := e.c.Run(x, engine.Block{})
	if err != nil {
		return nil, err
	}
	m.Output(e.group, entries)
	if outs := m.Program().Outs; len(outs) > e.group+1 && outs[e.group+1].N > 0 {
		n := outs[e.group+1].N
		if len(e.others) < n {
			e.others = make([]float64, n)
		}
		m.Output(e.group+1, e.others[:n])
		for k, v := range e.others[:n] {
			if v != 0 {
				_, places := e.derive(e.c.Recorded(), false)
				if k >= len(places) || len(places) != n { // of the program that ran where a NaN came out
					_, places = e.derive(e.c.Recorded(), true)
				}
				return nil, engine.MissingEntry(op, places[k].Row, places[k].Col, v)
			}
		}
	}
	return m, nil
}

type sparseJacobian struct{ *compiled }

func (j *sparseJacobian) Recordings() int { return j.c.Recordings() }

func (j *sparseJacobian) ValueAndEntries(y, entries, x []float64) error {
	m, err := j.run("Jacobian", entries, x)
	if err == nil {
		m.Output(0, y)
	}
	return err
}

// PrepareSparseHessian implements engine.SparseHessianer. The entries are those of the Jacobian of the gradient's
// program; constant ones are folded. A second program that also computes value and gradient is compiled when the
// gradient is first requested.
func (b Backend) PrepareSparseHessian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseHessian, error) {
	n, _ := f.Dims()
	if !b.replays(f) || n == 0 {
		return nil, nil
	}
	p, err := f.ProgramLimit(x, b.Limit)
	if err != nil {
		return nil, err
	}
	h := &sparseHessian{f: f, b: b, y: make([]float64, 1)}
	h.o = program.EntriesOptions{Group: 1, Rows: s.Rows, Cols: s.Cols, Ptr: s.Ptr, Index: s.Index, Symmetric: true,
		Others: !some, Alone: true}
	if h.bare = b.compileEntries(f, p, h.o, gradientProgram); h.bare == nil {
		return nil, nil
	}
	return h, nil
}

type sparseHessian struct {
	f          *engine.Function
	b          Backend
	o          program.EntriesOptions
	bare, full *compiled
	y          []float64
}

func (h *sparseHessian) Recordings() int {
	n := h.bare.c.Recordings()
	if h.full != nil {
		n += h.full.c.Recordings()
	}
	return n
}

func (h *sparseHessian) ValueGradientAndEntries(grad, entries, x []float64) (float64, error) {
	if grad == nil {
		_, err := h.bare.run("Hessian", entries, x)
		return 0, err
	}
	if h.full == nil {
		p, err := h.f.ProgramLimit(x, h.b.Limit)
		if err != nil {
			return 0, err
		}
		h.o.Alone = false
		if h.full = h.b.compileEntries(h.f, p, h.o, gradientProgram); h.full == nil {
			return 0, tooMuch(h.f)
		}
	}
	m, err := h.full.run("Hessian", entries, x)
	if err != nil {
		return 0, err
	}
	m.Output(0, h.y)
	m.Output(1, grad)
	return h.y[0], nil
}

// tooMuch returns the error for a function that, evaluated again, takes a branch whose derivatives are much denser.
func tooMuch(f *engine.Function) error {
	return &engine.UnsupportedError{
		What:   "the Hessian of function " + f.Name() + " is denser than it was at the point of preparation",
		Remedy: "prepare at a point of this branch",
	}
}
