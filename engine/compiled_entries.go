package engine

import "github.com/nabla-ad/nabla/program"

// DeriveEntries is a Derive of programs that compute entries of a Jacobian, with the places of those that were not
// selected.
type DeriveEntries func(p *program.Program, strong bool) (*program.Program, []program.Entry)

// CompiledEntries runs programs that compute selected entries of a Jacobian, and notices entries that were not selected
// and are not zero.
type CompiledEntries struct {
	c      *Compiled
	derive DeriveEntries
	group  int // index of the output group of the entries
	others []float64
}

// CompileEntries compiles programs that derive returns for recordings of f, of which p is the first. Their output group
// called group has the selected entries, and with o.Others the group after it has all others. limit is that of
// [NewCompiled].
func CompileEntries(f *Function, p *program.Program, o program.EntriesOptions, group, limit int,
	derive DeriveEntries) *CompiledEntries {
	last := group
	if o.Others {
		last++
	}
	c := CompileRecorded(f, p, last, limit, func(p *program.Program, strong bool) *program.Program {
		q, _ := derive(p, strong)
		return q
	})
	if o.Alone {
		c.Alone()
	}
	return &CompiledEntries{c: c, derive: derive, group: group}
}

// run computes the entries at x. A nonzero entry that was not selected is a *PatternError of operator op.
func (e *CompiledEntries) run(op string, dst, x []float64) (*program.Machine, error) {
	m, err := e.c.Into(e.group, dst).Run(x, Block{})
	if err != nil {
		return nil, err
	}
	m.Output(e.group, dst)
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
				return nil, MissingEntry(op, places[k].Row, places[k].Col, v)
			}
		}
	}
	return m, nil
}

// SparseJacobianOf returns a SparseJacobian that runs e, whose programs have the value as first output group.
func SparseJacobianOf(e *CompiledEntries) SparseJacobian { return &compiledSparseJacobian{e} }

type compiledSparseJacobian struct{ e *CompiledEntries }

func (j *compiledSparseJacobian) Recordings() int { return j.e.c.records }

func (j *compiledSparseJacobian) ValueAndEntries(y, entries, x []float64) error {
	m, err := j.e.run("Jacobian", entries, x)
	if err == nil {
		m.Output(0, y)
	}
	return err
}

// SparseHessianOf returns a SparseHessian of f that runs bare, which computes the entries alone. full returns programs
// that compute value, gradient and entries, as output groups 0, 1 and 2, for a new recording at x; it is called when
// the gradient is first requested, and returns nil if entries are too expensive on the branch of x.
func SparseHessianOf(f *Function, bare *CompiledEntries,
	full func(x []float64) (*CompiledEntries, error)) SparseHessian {
	return &compiledSparseHessian{f: f, bare: bare, build: full, y: make([]float64, 1)}
}

type compiledSparseHessian struct {
	f          *Function
	bare, full *CompiledEntries
	build      func(x []float64) (*CompiledEntries, error)
	y          []float64
}

func (h *compiledSparseHessian) Recordings() int {
	n := h.bare.c.records
	if h.full != nil {
		n += h.full.c.records
	}
	return n
}

func (h *compiledSparseHessian) ValueGradientAndEntries(grad, entries, x []float64) (float64, error) {
	if grad == nil {
		_, err := h.bare.run("Hessian", entries, x)
		return 0, err
	}
	if h.full == nil {
		full, err := h.build(x)
		if err != nil {
			return 0, err
		}
		if full == nil {
			return 0, &UnsupportedError{
				What:   "the Hessian of function " + h.f.Name() + " is denser than it was at the point of preparation",
				Remedy: "prepare at a point of this branch",
			}
		}
		h.full = full
	}
	m, err := h.full.run("Hessian", entries, x)
	if err != nil {
		return 0, err
	}
	m.Output(0, h.y)
	m.Output(1, grad)
	return h.y[0], nil
}
