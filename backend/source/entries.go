package source

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// Sparse derivatives whose entries generated code computes one by one, each at the place that a plan gives it.

// PrepareSparseJacobian implements engine.SparseJacobianer. It returns nil if the code does not compute entries.
func (b Forward) PrepareSparseJacobian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseJacobian, error) {
	return prepareEntries(f, x, s, some)
}

// PrepareSparseJacobian is that of [Forward].
func (b Reverse) PrepareSparseJacobian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseJacobian, error) {
	return prepareEntries(f, x, s, some)
}

// PrepareSparseHessian implements engine.SparseHessianer. It returns nil if the code does not compute entries.
func (b Forward) PrepareSparseHessian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseHessian, error) {
	return prepareHessianEntries(f, x, s, some)
}

// PrepareSparseHessian is that of [Forward].
func (b Reverse) PrepareSparseHessian(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseHessian, error) {
	return prepareHessianEntries(f, x, s, some)
}

// JacobianStructure implements engine.Structurer, for code whose entries are the same at all points.
func (b Forward) JacobianStructure(f *engine.Function, x []float64) (*engine.Structure, error) {
	return structureOf(f, x, false)
}

// JacobianStructure is that of [Forward].
func (b Reverse) JacobianStructure(f *engine.Function, x []float64) (*engine.Structure, error) {
	return structureOf(f, x, false)
}

// HessianStructure implements engine.Structurer, for code whose entries are the same at all points.
func (b Forward) HessianStructure(f *engine.Function, x []float64) (*engine.Structure, error) {
	return structureOf(f, x, true)
}

// HessianStructure is that of [Forward].
func (b Reverse) HessianStructure(f *engine.Function, x []float64) (*engine.Structure, error) {
	return structureOf(f, x, true)
}

// structureOf returns the structure of the entries that the code of f computes. It is nil if there is no such code, if
// the entries depend on x, or if they are too many.
func structureOf(f *engine.Function, x []float64, hessian bool) (*engine.Structure, error) {
	n, m := f.Dims()
	s := engine.Structure{Rows: m, Cols: n, Ptr: make([]int, n+1)}
	fixed := func(c *engine.Code) bool { return c.Entries != nil && c.PlanFixed }
	if hessian {
		s.Rows, fixed = n, func(c *engine.Code) bool { return c.HessianEntries != nil && c.HessianPlanFixed }
	}
	e, err := newEntries(f, s, hessian, true, fixed)
	if e == nil || err != nil {
		return nil, err
	}
	list, err := e.list(x)
	if list == nil || err != nil {
		return nil, err
	}
	set, err := e.lastSet(list)
	if err != nil {
		return nil, err
	}
	var is, js []int
	row, lost := 0, false
	for k, r := range e.records(list) {
		switch r.kind {
		case term:
			continue
		case sets, adds:
			row, lost = r.row, k+1 < set[r.row]
		}
		for _, col := range r.cols {
			if lost || col == noColumn {
				continue
			}
			if is, js = append(is, row), append(js, int(col)); hessian {
				is, js = append(is, int(col)), append(js, row)
			}
		}
	}
	p, err := sparsity.FromEntries(s.Rows, s.Cols, is, js)
	if err != nil {
		return nil, err
	}
	s.Ptr, s.Index = p.ColPtr(), p.RowIndex()
	return &s, nil
}

func prepareHessianEntries(f *engine.Function, x []float64, s engine.Structure,
	some bool) (engine.SparseHessian, error) {
	if n, _ := f.Dims(); s.Rows != n {
		return nil, nil
	}
	e, err := newEntries(f, s, true, some, func(c *engine.Code) bool { return c.HessianEntries != nil })
	if e == nil || err != nil {
		return nil, err
	}
	if err := e.replan(x); e.unplanned || err != nil {
		return nil, err
	}
	return hessianEntries{e}, nil
}

func prepareEntries(f *engine.Function, x []float64, s engine.Structure, some bool) (engine.SparseJacobian, error) {
	e, err := newEntries(f, s, false, some, func(c *engine.Code) bool { return c.Entries != nil })
	if e == nil || err != nil {
		return nil, err
	}
	if err := e.replan(x); e.unplanned || err != nil {
		return nil, err
	}
	return jacobianEntries{e}, nil
}

// entries computes the entries of a sparse matrix.
type entries struct {
	*runner
	structure engine.Structure
	some      bool // the structure has only a part of the entries
	hessian   bool
	y, grad   []float64 // spare

	plan      []int32
	unplanned bool // there is no plan
	// buffer receives all that the code computes, if that is more than the values: the values, an element for entries
	// that are not wanted, those in more, and the terms of lists.
	buffer  []float64
	more    []entry
	spare   bool  // some entries are not wanted
	missing []int // values that are not computed, and 0
	covers  bool  // all outputs are written

	products *products
}

// An entry is one that the code computes in addition to the values.
type entry struct {
	to       int // the value that it is added to, -1 if it is outside of the structure
	row, col int
}

// newEntries returns nil if the code of f does not compute the entries.
func newEntries(f *engine.Function, s engine.Structure, hessian, some bool,
	has func(c *engine.Code) bool) (*entries, error) {
	n, m := f.Dims()
	if f.Generated() == nil || max(n, m, len(s.Index)) > math.MaxInt32/4 {
		return nil, nil
	}
	r, err := newRunner(Forward{}, f, "entries", has)
	if err != nil {
		return nil, nil // products report what is missing
	}
	return &entries{runner: r, structure: s, hessian: hessian, some: some, y: make([]float64, m),
		grad: make([]float64, n)}, nil
}

// leastLimit is the length of lists that are always read.
const leastLimit = 1 << 12

// replan makes the plan for x. Without one, for a function that computes much more than the entries in the structure,
// the values are computed from products.
func (e *entries) replan(x []float64) error {
	list, err := e.list(x)
	if e.unplanned = list == nil; e.unplanned || err != nil {
		return err
	}
	return e.place(list)
}

// list returns the number of lists and the records that the plan function returns at x, nil if they are much more than
// the structure has entries.
func (e *entries) list(x []float64) (list []int32, err error) {
	defer func() { e.end(recover(), &err) }()
	s := &e.structure
	limit := leastLimit + 16*(len(s.Index)+s.Rows+s.Cols)
	if e.hessian {
		list = e.code.HessianPlan(e.y, e.grad, vec(x), limit, e.arg())
	} else {
		list = e.code.Plan(e.y, vec(x), limit, e.arg())
	}
	if len(list) > limit {
		return nil, nil
	}
	return list, nil
}

// A record is an element of the list that a plan function returns.
type record struct {
	kind recordKind
	row  int // of sets and adds; more belongs to the record before
	list int // that a term is added to
	cols []int32
}

type recordKind uint8

const (
	sets recordKind = iota // the entries of a row
	adds                   // entries that are added to those of the row
	more                   // further entries of the row, the terms of a list
	term                   // of a list
)

// head returns the number of integers in the list of the plan function, before the records, that the plan begins with.
func (e *entries) head() int {
	if e.hessian {
		return e.code.HessianPlanHead
	}
	return e.code.PlanHead
}

// records returns the records of a list that the plan function has returned.
func (e *entries) records(list []int32) iter.Seq2[int, record] {
	return func(yield func(int, record) bool) {
		list := list[1+e.head():]
		for k := 0; len(list) > 0; k++ {
			r := record{kind: recordKind(list[0] & 1), row: int(list[1])}
			n := int(list[0] >> 1)
			switch list[0] {
			case -1:
				r, n = record{kind: term, list: int(list[1])}, 1
			case -2:
				r, n = record{kind: more}, int(list[1])
			}
			r.cols = list[2 : 2+n]
			if !yield(k, r) {
				return
			}
			list = list[2+n:]
		}
	}
}

// noColumn is the column of a term that is absent.
const noColumn = math.MaxInt32

// place makes the plan from the list that a plan function has returned: it gives each entry its place.
func (e *entries) place(list []int32) error {
	set, err := e.lastSet(list)
	if err != nil {
		return err
	}
	nnz, terms := len(e.structure.Index), make([]int, list[0])
	e.plan, e.more, e.missing = e.plan[:0], e.more[:0], e.missing[:0]
	e.covers = !slices.Contains(set, 0)
	used, row, lost := make([]bool, nnz), 0, false
	e.spare = false
	at := func(col int32) int32 {
		if lost || col == noColumn {
			e.spare = true
			return int32(nnz)
		}
		p := e.find(row, int(col))
		switch {
		case p >= 0 && !used[p]:
			used[p] = true
			return int32(p)
		case p >= 0 || !e.some:
			e.more = append(e.more, entry{p, row, int(col)})
			return int32(nnz + len(e.more))
		}
		e.spare = true
		return int32(nnz)
	}
	for range terms {
		e.plan = append(e.plan, 0)
	}
	head := e.head()
	e.plan = append(e.plan, list[1:1+head]...)
	for k, r := range e.records(list) {
		switch r.kind {
		case term:
			terms[r.list]++
			e.plan = append(e.plan, int32(math.MinInt32+r.list), r.cols[0])
			continue
		case more:
			e.plan = append(e.plan, int32(-1<<30-len(r.cols)))
			for _, col := range r.cols {
				e.plan = append(e.plan, at(col))
			}
			continue
		}
		row, lost = r.row, k+1 < set[r.row]
		first := ^int32(row)
		if r.kind == adds {
			first -= 1 << 29
		}
		if head > 0 {
			for _, col := range r.cols {
				e.plan = append(e.plan, at(col))
			}
			continue
		}
		e.plan = append(e.plan, first)
		for _, col := range r.cols {
			e.plan = append(e.plan, col, at(col))
		}
	}
	for p, ok := range used {
		if !ok {
			e.missing = append(e.missing, p)
		}
	}
	size := nnz + 1 + len(e.more)
	for k, n := range terms { // each list has room for all terms, though it may be emptied between them
		e.plan[k] = int32(size)
		size += n
	}
	if e.buffer = e.buffer[:0]; size > nnz+1 || e.spare {
		e.buffer = slices.Grow(e.buffer, size)[:size]
	}
	return nil
}

// lastSet returns, for each row, the number of the last record that sets it, counted from 1. Entries of the row before
// that are lost.
func (e *entries) lastSet(list []int32) ([]int, error) {
	set := make([]int, e.structure.Rows)
	for k, r := range e.records(list) {
		if r.kind > adds {
			continue
		}
		if r.row < 0 || r.row >= len(set) {
			return nil, &engine.ShapeError{Op: e.gen.Name, Arg: "number of outputs", Got: r.row + 1, Want: len(set)}
		}
		if r.kind == sets {
			set[r.row] = k + 1
		}
	}
	return set, nil
}

// find returns the index of an entry in the structure, or -1.
func (e *entries) find(row, col int) int {
	s := &e.structure
	if col >= s.Cols {
		return -1
	}
	first := s.Ptr[col]
	if k, ok := slices.BinarySearch(s.Index[first:s.Ptr[col+1]], row); ok {
		return first + k
	}
	return -1
}

// values writes the values at x, and y or, for a Hessian, y and the gradient.
func (e *entries) values(y, grad, values, x []float64) (err error) {
	defer func() { e.end(recover(), &err) }()
	unwritten := e.gen.InPlace && !e.covers
	for try := 0; !e.unplanned; try++ {
		into := values
		if len(e.buffer) > 0 {
			into = e.buffer
		}
		if unwritten {
			engine.Unwrite(y)
		}
		e.begin()
		var outputs int
		var changed bool
		if e.hessian {
			outputs, changed = e.code.HessianEntries(y, grad, into, vec(x), e.plan, e.arg())
		} else {
			outputs, changed = e.code.Entries(y, into, vec(x), e.plan, e.arg())
		}
		if outputs != e.m {
			return e.done(outputs, y, x)
		}
		if !changed {
			break
		}
		if try > 0 {
			return fmt.Errorf("source: %s: its control flow differs between two calls at one point: let it depend on "+
				"its arguments alone", e.gen.Name)
		}
		if err := e.replan(x); err != nil {
			return err
		}
		unwritten = e.gen.InPlace && !e.covers
	}
	if e.unplanned {
		if err := e.fromProducts(y, grad, values, x); err != nil {
			return err
		}
		return e.done(e.m, y, x)
	}
	if unwritten {
		if i := engine.Unwritten(y); i >= 0 {
			return fmt.Errorf("output %d: %w", i, engine.ErrOutputNotWritten)
		}
	}
	if err := e.collect(values); err != nil {
		return err
	}
	if !e.sure(values) {
		if err := e.fromProducts(y, grad, values, x); err != nil {
			return err
		}
	}
	return e.done(e.m, y, x)
}

// collect completes the values from the buffer.
func (e *entries) collect(values []float64) error {
	nnz := len(values)
	if len(e.buffer) > 0 {
		copy(values, e.buffer)
	}
	for _, p := range e.missing {
		values[p] = 0
	}
	for k, m := range e.more {
		v := e.buffer[nnz+1+k]
		switch {
		case m.to >= 0:
			values[m.to] += v
		case v != 0:
			what := "Jacobian"
			if e.hessian {
				what = "Hessian"
			}
			return &engine.PatternError{Op: what, Row: m.row, Col: m.col, Value: v}
		}
	}
	return nil
}

// products computes entries from products with sums of columns that have no row in common. The code for products
// knows which of its zeros are structural.
type products struct {
	groups [][]int
	in     []float64
	out    []float64
	push   *sweeper
	second *second
}

// fromProducts computes all results from products, which are settled.
func (e *entries) fromProducts(y, grad, values, x []float64) error {
	p := e.products
	if p == nil {
		var err error
		if p, err = e.makeProducts(); err != nil {
			return err
		}
		e.products = p
	}
	s := &e.structure
	for _, group := range p.groups {
		for _, j := range group {
			p.in[j] = 1
		}
		var err error
		if p.second != nil {
			err = p.second.push(grad, p.out, x, p.in)
			copy(y, p.second.y)
		} else {
			err = p.push.push(y, p.out, x, p.in)
		}
		clear(p.in)
		if err != nil {
			return err
		}
		for _, j := range group {
			for k := s.Ptr[j]; k < s.Ptr[j+1]; k++ {
				values[k] = p.out[s.Index[k]]
			}
		}
	}
	return nil
}

// makeProducts prepares the products.
func (e *entries) makeProducts() (p *products, err error) {
	p = &products{in: make([]float64, e.n), out: make([]float64, e.structure.Rows)}
	if e.hessian {
		if p.second, err = (Reverse{}).newSecond(e.f); err != nil {
			return nil, err
		}
		p.second.ybar[0] = 1
	} else if p.push, err = (Forward{}).tangents(e.f); err != nil {
		return nil, err
	}
	s := &e.structure
	if e.some { // the other entries of a column may be in any row
		for j := range s.Cols {
			if s.Ptr[j] < s.Ptr[j+1] || len(p.groups) == 0 {
				p.groups = append(p.groups, []int{j})
			}
		}
		return p, nil
	}
	pattern, err := sparsity.New(s.Rows, s.Cols, s.Ptr, s.Index)
	if err != nil {
		return nil, err
	}
	c, err := coloring.Greedy{}.Color(pattern, coloring.Problem{})
	if err != nil {
		return nil, err
	}
	if p.groups = c.ColumnGroups(); len(p.groups) == 0 {
		p.groups = [][]int{nil} // for the value
	}
	return p, nil
}

type jacobianEntries struct{ *entries }

func (e jacobianEntries) ValueAndEntries(y, values, x []float64) error {
	return e.values(y, nil, values, x)
}

type hessianEntries struct{ *entries }

func (e hessianEntries) ValueGradientAndEntries(grad, values, x []float64) (float64, error) {
	if grad == nil {
		grad = e.grad
	}
	err := e.values(e.y, grad, values, x)
	return e.y[0], err
}
