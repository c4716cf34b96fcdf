package reversediff

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/program"
)

// sparseLimit is the largest number of statements that the sweeps for sparse entries may visit, per operation and
// entry. Beyond it, a compressed Jacobian is cheaper.
const sparseLimit = 16

// PrepareSparseJacobian implements engine.SparseJacobianer. The entries are one program, with a sweep for each row or
// column over the statements related to it. It returns nil, nil if f is not replayed or the sweeps cost too much.
func (b Backend) PrepareSparseJacobian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseJacobian, error) {
	n, m := f.Dims()
	if !b.replays(f) || n == 0 || m == 0 {
		return nil, nil
	}
	p, err := f.ProgramLimit(x, b.Limit)
	if err != nil {
		return nil, err
	}
	o := program.EntriesOptions{Rows: s.Rows, Cols: s.Cols, Ptr: s.Ptr, Index: s.Index, Others: !some}
	e := b.compileEntries(f, p, o, func(p *program.Program, _ bool) *program.Program { return program.Simplify(p) })
	if e == nil {
		return nil, nil
	}
	return engine.SparseJacobianOf(e), nil
}

// compileEntries derives a program of the entries o from base(p), where p has just been recorded from f. It returns nil
// if the sweeps would cost too much.
func (b Backend) compileEntries(f *engine.Function, p *program.Program, o program.EntriesOptions,
	base engine.Derive) *engine.CompiledEntries {
	first := base(p, false)
	limit := sparseLimit * (first.Operations() + len(o.Index))
	forward, reverse := program.EntriesCost(first, o, limit)
	if min(forward, reverse) >= limit {
		return nil
	}
	o.Forward = forward < reverse
	group := len(first.Outs)
	if o.Alone {
		group = 1
	}
	derive := func(p *program.Program, strong bool) (*program.Program, []program.Entry) {
		q := first
		if first = nil; q == nil {
			q = base(p, strong)
		}
		o := o
		o.Strong = strong
		q, places := program.Entries(q, o)
		return program.Simplify(q), places
	}
	return engine.CompileEntries(f, p, o, group, b.Limit, derive)
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
	o := program.EntriesOptions{Group: 1, Rows: s.Rows, Cols: s.Cols, Ptr: s.Ptr, Index: s.Index, Symmetric: true,
		Others: !some, Alone: true}
	bare := b.compileEntries(f, p, o, gradientProgram)
	if bare == nil {
		return nil, nil
	}
	return engine.SparseHessianOf(f, bare, func(x []float64) (*engine.CompiledEntries, error) {
		p, err := f.ProgramLimit(x, b.Limit)
		if err != nil {
			return nil, err
		}
		o.Alone = false
		return b.compileEntries(f, p, o, gradientProgram), nil
	}), nil
}
