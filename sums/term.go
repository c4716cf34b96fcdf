package sums

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla"
)

// A Policy is for bad rows: rows at which the function returns an error or panics, or at which a value or
// a derivative that was asked for is NaN or infinite.
type Policy int

const (
	// Fail ends the sum with a *[RowError].
	Fail Policy = iota
	// LeaveOut leaves bad rows out of all numbers of the sum, and lists them in Sum.Bad. At another point other rows
	// may be bad, and then the sums at the two points are not values of one function; compare Sum.BadRows.
	LeaveOut
	// Keep adds NaN and infinities like other numbers. An error or a panic ends the sum as with Fail.
	Keep
)

func (p Policy) String() string {
	if p < Fail || p > Keep {
		return fmt.Sprintf("Policy(%d)", int(p))
	}
	return [...]string{"Fail", "LeaveOut", "Keep"}[p]
}

// Options describe blocks, which are values of type B. The zero value is for blocks that are one row each.
type Options[B any] struct {
	// Rows returns the number of rows in block b. If it is nil, each block is one row.
	Rows func(b *B) int
	// Row makes dst row i of block b, as a block of one row; it may refer to the memory of b. If it is not nil, the
	// rows of a bad block are evaluated one by one: the bad ones are found, and LeaveOut leaves out no others. If it is
	// nil, a block is left out as a whole.
	Row func(dst, b *B, i int)
	// Bad is the policy for bad rows.
	Bad Policy
}

// A Term is what is summed: a function of parameters x and of a block of rows, and the engine that differentiates it.
// It is made by [Loss] or [Residuals], and may be shared by goroutines.
type Term[B any] struct {
	options Options[B]
	kernel  func(own *B) kernel
}

// A kernel computes the numbers of one block for a query.
type kernel interface {
	// evaluate writes the numbers of the block that the kernel is bound to, of the given number of rows, to v.
	evaluate(v []float64, q *question, rows int) error
	// answers returns an error if the kernel cannot answer queries of shape s.
	answers(s shape) error
}

// A question is a copy of a query, with its shape and hash.
type question struct {
	Query
	shape shape
	hash  uint64
}

// point returns point i.
func (q *question) point(i int) []float64 { return q.X.RawRowView(i) }

// A Worker evaluates blocks for one query after the other. It has its own copy of the struct that is bound to the
// function, and its own prepared operators, which it makes when the first block needs them. It serves one goroutine at
// a time.
type Worker[B any] struct {
	_        [128]byte // apart from the memory of other goroutines
	term     *Term[B]
	own, row B
	kernel   kernel
	q        question
	v        []float64
	_        [128]byte
}

// Worker returns a worker for q. q may be nil if Ask is called before Add.
//
// An error is one of the dimensions of q, or a *[QueryError].
func (t *Term[B]) Worker(q *Query) (*Worker[B], error) {
	w := &Worker[B]{term: t}
	w.kernel = t.kernel(&w.own)
	if q == nil {
		return w, nil
	}
	return w, w.Ask(q)
}

// Ask makes q the query of later calls of Add. q is copied.
//
// An error is one of the dimensions of q, or a *[QueryError]; w keeps the query that it had.
func (w *Worker[B]) Ask(q *Query) error {
	s, err := q.shape()
	if err != nil {
		return err
	}
	if err := w.kernel.answers(s); err != nil {
		return err
	}
	w.q = question{q.clone(), s, q.hash()}
	w.v = resized(w.v, s.size())
	return nil
}

// Add adds the numbers of block b to s, a sum for the query of w or the zero Sum. The index of a row is its place among
// all rows that s has and has left out. b is read, and its memory may be written by the function, until Add returns.
// After the first calls Add allocates nothing for functions over float64 with generated code.
//
// A *[RowError] says which row is bad: s then has the rows before it if Options.Row is given, and otherwise those of
// the blocks before. A *[MergeError] says that s is for another query. Other errors are those of the preparation, such
// as nabla.ErrUnsupported.
func (w *Worker[B]) Add(s *Sum, b *B) error {
	switch {
	case w.q.shape == shape{}:
		return &QueryError{"Worker.Add: there is no query; call Ask first"}
	case s.empty():
		s.reset(w.q.shape, w.q.hash)
	case s.shape != w.q.shape:
		return &MergeError{Got: s.shape.String(), Want: w.q.shape.String()}
	case s.query != w.q.hash:
		return &MergeError{}
	}
	rows := 1
	if f := w.term.options.Rows; f != nil {
		if rows = f(b); rows < 0 {
			return &nabla.ShapeError{Op: "sums.Options.Rows", Arg: "rows of a block", Got: rows, Want: 0}
		}
	}
	if rows == 0 {
		return nil
	}
	err := w.evaluate(b, rows)
	if err == nil {
		s.add(w.v)
		s.Rows += int64(rows)
		return nil
	}
	if !isBad(err) {
		return err
	}
	split := w.term.options.Row
	if rows == 1 || split == nil {
		return w.bad(s, rows, err)
	}
	for i := range rows {
		split(&w.row, b, i)
		err := w.evaluate(&w.row, 1)
		switch {
		case err == nil:
			s.add(w.v)
			s.Rows++
		case !isBad(err):
			return err
		default:
			if err := w.bad(s, 1, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// bad treats the next rows of s as bad.
func (w *Worker[B]) bad(s *Sum, rows int, err error) error {
	b := RowError{Row: s.Rows + s.BadRows, Rows: int64(rows), Err: err}
	if w.term.options.Bad != LeaveOut {
		return &b
	}
	s.leaveOut(Bad{Row: b.Row, Rows: b.Rows, Reason: err.Error()})
	return nil
}

// evaluate computes the numbers of block b.
func (w *Worker[B]) evaluate(b *B, rows int) error {
	w.own = *b
	if err := w.kernel.evaluate(w.v, &w.q, rows); err != nil || w.term.options.Bad == Keep {
		return err
	}
	for i, y := range w.v {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return &NonFiniteError{What: w.q.shape.name(i), Value: y}
		}
	}
	return nil
}

// NewSum returns a sum over no rows for the query of w, which must have one.
func (w *Worker[B]) NewSum() *Sum {
	s := new(Sum)
	s.reset(w.q.shape, w.q.hash)
	return s
}
