package symbolic

import (
	"slices"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/expression"
)

// sparseLimit is the largest number of statements that sweeps may visit for each operation of the program and each
// entry, for a function that cannot be differentiated as expressions. Beyond it products are cheaper.
const sparseLimit = 16

// JacobianStructure implements engine.Structurer: the entries that are not zero everywhere.
func (b Backend) JacobianStructure(f *engine.Function, x []float64) (*engine.Structure, error) {
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	return b.structure(p, expression.Options{Exact: b.Exact})
}

// HessianStructure implements engine.Structurer.
func (b Backend) HessianStructure(f *engine.Function, x []float64) (*engine.Structure, error) {
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	return b.structure(b.gradientProgram(p, false), expression.Options{Group: 1, Symmetric: true, Exact: b.Exact})
}

// structure returns the structure of the Jacobian that o selects, nil if it takes too much work or calls custom rules.
func (b Backend) structure(p *program.Program, o expression.Options) (*engine.Structure, error) {
	if p.Ins[0].N == 0 {
		return nil, nil
	}
	m, err := expression.Differentiate(p, o)
	if err != nil || m == nil {
		return nil, nil
	}
	rows, cols := m.Dims()
	s := &engine.Structure{Rows: rows, Cols: cols, Ptr: make([]int, cols+1), Index: make([]int, 0, len(m.Entries))}
	for _, e := range m.Entries {
		s.Ptr[e.Col+1]++
		s.Index = append(s.Index, e.Row)
	}
	for j := range cols {
		s.Ptr[j+1] += s.Ptr[j]
	}
	return s, nil
}

// PrepareSparseJacobian implements engine.SparseJacobianer.
func (b Backend) PrepareSparseJacobian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseJacobian, error) {
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	n, m := f.Dims()
	if n == 0 || m == 0 {
		return nil, nil
	}
	o := program.EntriesOptions{Rows: s.Rows, Cols: s.Cols, Ptr: s.Ptr, Index: s.Index, Others: !some}
	e := b.entries(f, p, o, func(p *program.Program, _ bool) *program.Program { return p })
	if e == nil {
		return nil, nil
	}
	return engine.SparseJacobianOf(e), nil
}

// entries compiles the entries of the Jacobian of base(p) that o selects. It returns nil if products are cheaper.
func (b Backend) entries(f *engine.Function, p *program.Program, o program.EntriesOptions,
	base engine.Derive) *engine.CompiledEntries {
	first := base(p, false)
	limit := sparseLimit * (first.Operations() + len(o.Index))
	forward, reverse := program.EntriesCost(first, o, limit)
	matrix := b.matrix(first, o)
	if matrix == nil && min(forward, reverse) >= limit {
		return nil
	}
	o.Forward = forward < reverse
	group := len(first.Outs)
	if o.Alone {
		group = 1
	}
	derive := func(p *program.Program, strong bool) (*program.Program, []program.Entry) {
		b.refuse(f, p)
		m, q := matrix, first
		if matrix, first = nil, nil; strong || q == nil {
			q = base(p, strong)
			if m = nil; !strong {
				m = b.matrix(q, o)
			}
		}
		if m != nil {
			return m.Sparse(o.Ptr, o.Index, o.Alone)
		}
		o := o
		o.Strong = strong
		q, places := program.Entries(q, o)
		if strong {
			if m := b.matrix(base(p, false), o); m != nil {
				q, places = only(q, places, m.Entries)
			}
		}
		return b.simplified(q, strong), places
	}
	return engine.CompileEntries(f, p, o, group, b.Limit, derive)
}

// only returns p, whose last output group holds the entries at places, with those that are among known: the expressions
// show that all others are zero, where sweeps may have a NaN.
func only(p *program.Program, places, known []program.Entry) (*program.Program, []program.Entry) {
	all := make(map[program.Entry]bool, len(known))
	for _, e := range known {
		all[e] = true
	}
	q := *p
	first := len(p.Result) - len(places)
	q.Result = slices.Clone(p.Result[:first])
	var kept []program.Entry
	for k, e := range places {
		if all[e] {
			q.Result, kept = append(q.Result, p.Result[first+k]), append(kept, e)
		}
	}
	q.Outs = slices.Clone(p.Outs)
	q.Outs[len(q.Outs)-1].N = len(kept)
	return &q, kept
}

// matrix returns the Jacobian that o selects as expressions, nil if it takes too much work or calls custom rules, or if
// only a part of the entries is wanted.
func (b Backend) matrix(p *program.Program, o program.EntriesOptions) *expression.Matrix {
	if !o.Others {
		return nil
	}
	m, err := expression.Differentiate(p, expression.Options{Group: o.Group, Rows: o.Rows, Cols: o.Cols,
		Symmetric: o.Symmetric, Exact: b.Exact})
	if err != nil {
		return nil
	}
	return m
}

// PrepareSparseHessian implements engine.SparseHessianer. The entries are those of the Jacobian of the gradient.
func (b Backend) PrepareSparseHessian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseHessian, error) {
	p, err := b.record(f, x)
	if err != nil {
		return nil, err
	}
	if n, _ := f.Dims(); n == 0 || s.Cols == 0 {
		return nil, nil
	}
	o := program.EntriesOptions{Group: 1, Rows: s.Rows, Cols: s.Cols, Ptr: s.Ptr, Index: s.Index, Symmetric: true,
		Others: !some, Alone: true}
	bare := b.entries(f, p, o, b.gradientProgram)
	if bare == nil {
		return nil, nil
	}
	return engine.SparseHessianOf(f, bare, func(x []float64) (*engine.CompiledEntries, error) {
		p, err := b.record(f, x)
		if err != nil {
			return nil, err
		}
		o.Alone = false
		return b.entries(f, p, o, b.gradientProgram), nil
	}), nil
}
