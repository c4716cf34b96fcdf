package nabla

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/page"
)

// A prep is the common part of all prepared objects: the function without its wrappers, the backend
// without its composites, and the flag that detects two goroutines in one object.
type prep struct {
	op      string
	want    shapeWant
	source  any     // the function as it was passed
	asked   Backend // as it was passed
	using   Backend // asked with engines in place of every Auto
	backend resolved
	why     []string // the reasons of an Auto
	f       *engine.Function
	x       []float64 // the point of preparation
	n, m    int
	bound   any  // the last argument of Rebind, nil before
	shared  bool // clones read the same struct
	busy    atomic.Bool
	failed  error // error of a clone that could not be made, returned by its calls
	build   func() error
	native  any           // the engine's prepared object
	matrix  *sparseMatrix // with AutoSparse, of operators that use one
	plan    *SparsePlan   // of a clone that is not prepared yet: the plan of the original
}

// An operator is a pointer to a prepared object of type T, one of those that the Prepare functions return.
type operator[T any] interface {
	*T
	common() *prep  // the common part; the object is not nil
	base() *prep    // the common part or, if the object is nil or the zero value, one whose calls return an error
	prepare() error // prepares the engine's part at the point in the common part
}

// common is a method of all operators, by embedding.
func (p *prep) common() *prep { return p }

// newOperator prepares the operator op of f on b at x.
func newOperator[T any, P operator[T]](op string, f any, want shapeWant, b Backend, x []float64) (P, error) {
	p := P(new(T))
	if err := p.common().setup(op, f, want, b, x, p.prepare); err != nil {
		return nil, err
	}
	return p, nil
}

// clone returns a copy of p for another goroutine. If it cannot be made, every call of it returns the error.
func clone[T any, P operator[T]](p P) P {
	q := P(new(T))
	q.common().cloneOf(p.base(), q.prepare)
	return q
}

// unmade returns a stand-in for an object that is nil or the zero value. All calls of it return an
// error.
func unmade(kind, maker string) *prep {
	return &prep{op: kind, failed: &UnsupportedError{
		What:   "the " + kind + " is nil or empty",
		Remedy: "make it with nabla." + maker,
	}}
}

// setup prepares op for f at x. build prepares the engine's part from p.f and p.x; it runs again
// for every other size.
func (p *prep) setup(op string, f any, want shapeWant, b Backend, x []float64, build func() error) (err error) {
	p.op, p.want, p.source, p.build, p.asked = op, want, f, build, b
	if !automatic(b) {
		if p.backend, err = resolve(op, b); err != nil {
			return err
		}
		p.using = b
	}
	return p.resize(x)
}

// resize builds the function for the length of x and prepares it at x.
func (p *prep) resize(x []float64) error {
	f, err := functionOf(p.op, p.source, x, p.want)
	if err != nil {
		return err
	}
	if automatic(p.asked) {
		return p.prepareChosen(f, x)
	}
	return p.prepareFor(f, x)
}

// prepareFor prepares p for f at x with the backend that is resolved.
func (p *prep) prepareFor(f *engine.Function, x []float64) error {
	n, m := f.Dims()
	p.f = f.With(n, m, p.backend.policy)
	task := p.task()
	task.Begin()
	defer task.End()
	if err := task.Check("recording", 0, 0); err != nil {
		return err
	}
	if p.bound != nil {
		if err := p.f.Rebind(p.bound); err != nil {
			return err
		}
	}
	if p.shared {
		if err := p.f.Own(); err != nil {
			return err
		}
	}
	for _, b := range []Backend{p.backend.outer, p.backend.inner} {
		if _, ok := b.(engine.Approximator); ok { // it evaluates over constants
			if err := p.f.Probe(x); err != nil {
				return err
			}
			break
		}
	}
	return p.prepareAt(x)
}

// task attaches a new task, with the context and progress of the backend, to the preparation of
// p.f, and returns it.
func (p *prep) task() *engine.Task {
	task := &engine.Task{Op: p.op, Memory: p.f.MemoryLimit()}
	if t := p.backend.policy.Task; t != nil {
		task.Context, task.Progress = t.Context, t.Progress
	}
	p.f.SetTask(task)
	return task
}

// prepareAt prepares the engine's part of p for p.f at x. A panic of the function or a rule is an error.
func (p *prep) prepareAt(x []float64) (err error) {
	p.x = append([]float64(nil), x...)
	p.n, p.m = p.f.Dims()
	if err := p.f.NewCall(); err != nil {
		return err
	}
	defer func() { panicked(p.op, recover(), &err) }()
	if err := p.build(); err != nil {
		return err
	}
	return p.f.Broken()
}

// cloneOf makes the new object p a copy of q for another goroutine. It has the plan of q for a sparse matrix. An error
// is stored in p.failed.
func (p *prep) cloneOf(q *prep, build func() error) {
	p.op, p.want, p.source, p.backend, p.build = q.op, q.want, q.source, q.backend, build
	p.asked, p.using, p.why = q.asked, q.using, q.why
	if p.failed = q.enter(); p.failed != nil {
		if errors.Is(p.failed, ErrBusy) {
			p.failed = fmt.Errorf("nabla: %s: Clone was called while a call was under way, clone before the "+
				"goroutines start: %w", q.op, ErrBusy)
		}
		return
	}
	defer q.busy.Store(false)
	p.bound, p.plan, p.f, p.shared = q.bound, q.chosenPlan(), q.f.Detached(), true
	task := p.task()
	task.Begin()
	defer task.End()
	if p.failed = p.f.Broken(); p.failed == nil {
		q.shared, p.failed = true, q.f.Own()
	}
	if p.failed == nil {
		p.failed = p.prepareAt(q.x)
	}
}

// enter opens a call without a point. Every successful enter must be followed by end. It fails if another call is in
// progress, if p is a clone that could not be made, or if the bound struct cannot be copied.
func (p *prep) enter() error {
	if !p.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("nabla: %s: %w", p.op, ErrBusy)
	}
	if p.failed != nil {
		p.busy.Store(false)
		return p.failed
	}
	if err := p.f.NewCall(); err != nil {
		p.busy.Store(false)
		return err
	}
	return nil
}

// begin opens a call at x. Every successful begin must be followed by end.
func (p *prep) begin(x []float64) error {
	if err := p.enter(); err != nil {
		return err
	}
	if len(x) != p.n {
		p.busy.Store(false)
		return &ShapeError{Op: p.op, Arg: "len(x)", Got: len(x), Want: p.n}
	}
	return nil
}

// end, which is deferred, closes the call. A panic of user code that an engine ran, such as a custom
// rule, becomes the error of the call.
func (p *prep) end(err *error) {
	panicked(p.op, recover(), err)
	p.busy.Store(false)
}

// panicked stores in err the error of a recovered value, unless that is nil.
func panicked(op string, v any, err *error) {
	switch v := v.(type) {
	case nil:
	case core.Abort:
		*err = core.Within(op, v.Err)
	default:
		*err = &PanicError{Function: op, Value: v, Stack: debug.Stack()}
	}
}

// use makes m, unless err is set, the matrix of p, and returns err.
func (p *prep) use(m *sparseMatrix, err error) error {
	if p.matrix = m; err != nil {
		return err
	}
	p.native, p.plan = m, nil
	return nil
}

// chosenPlan returns the plan of an AutoSparse, nil for other backends.
func (p *prep) chosenPlan() *SparsePlan {
	if p.matrix == nil {
		return nil
	}
	return p.matrix.plan
}

// rebind makes later calls read the bound struct from q. The next call compares a sparse matrix with the derivative.
func (p *prep) rebind(q any) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.busy.Store(false)
	p.compareNext()
	err := p.f.Rebind(q)
	if err == nil {
		p.bound = q
	}
	return err
}

// compareNext makes the next call compare a sparse matrix with the derivative.
func (p *prep) compareNext() {
	if p.matrix != nil && p.matrix.products != nil {
		p.matrix.products.CompareNext()
	}
}

// resizeTo prepares p again for points of the length of x. On an error p keeps its old size.
func (p *prep) resizeTo(x []float64) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.busy.Store(false)
	old, oldX, backend, using, why := p.f, p.x, p.backend, p.using, p.why
	err := p.resize(x)
	if err != nil { // stay usable at the old size
		p.f, p.backend, p.using, p.why = old, backend, using, why
		if e := p.prepareAt(oldX); e != nil {
			p.failed = e
		}
	}
	return err
}

// recordings returns how often p recorded its function.
func (p *prep) recordings() int { return recordings(p.native) }

// recordings returns how often the prepared objects recorded their functions; objects that do not
// record count as 0.
func recordings(prepared ...any) (n int) {
	for _, p := range prepared {
		if r, ok := p.(engine.Recorder); ok {
			n += r.Recordings()
		}
	}
	return n
}

// value writes f(x) alone to y and returns it.
func (p *prep) value(y, x []float64) (_ []float64, err error) {
	if err := p.begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if y, err = p.vector("y", y, p.m, x); err != nil {
		return nil, err
	}
	if err := p.f.Value(y, x); err != nil {
		return nil, err
	}
	return y, nil
}

// vector returns dst, allocated with length n if nil. It is an error if dst has another length or
// overlaps x.
func (p *prep) vector(arg string, dst []float64, n int, x []float64) ([]float64, error) {
	if dst == nil {
		return make([]float64, n), nil
	}
	if len(dst) != n {
		return dst, &ShapeError{Op: p.op, Arg: "len(" + arg + ")", Got: len(dst), Want: n}
	}
	if overlap(dst, x) {
		return dst, &AliasError{Op: p.op, Arg: arg, With: "x"}
	}
	return dst, nil
}

// input checks the length of an argument that is only read.
func (p *prep) input(arg string, v []float64, n int) error {
	if len(v) != n {
		return &ShapeError{Op: p.op, Arg: "len(" + arg + ")", Got: len(v), Want: n}
	}
	return nil
}

// AliasError reports that a destination shares memory with an argument.
type AliasError struct{ Op, Arg, With string }

func (e *AliasError) Error() string {
	return page.Namef("nabla.AliasError",
		"nabla: %s: %s overlaps %s; pass a separate slice, or nil", e.Op, e.Arg, e.With)
}

// A named is an argument with its name in errors.
type named struct {
	name string
	v    []float64
}

// apart returns an error if one of the arguments overlaps another. The first k are destinations; those after may
// overlap each other.
func (p *prep) apart(k int, args ...named) error {
	for i, a := range args[:k] {
		for _, b := range args[i+1:] {
			if overlap(a.v, b.v) {
				return &AliasError{Op: p.op, Arg: a.name, With: b.name}
			}
		}
	}
	return nil
}

// overlap reports whether a and b share memory.
func overlap(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+8*uintptr(len(b)) && b0 < a0+8*uintptr(len(a))
}

// dense returns dst, allocated if nil and sized if empty, and its data as an r×c block. It is an
// error if dst has other dimensions or overlaps x.
func (p *prep) dense(arg string, dst *mat.Dense, r, c int, x []float64) (*mat.Dense, engine.Block, error) {
	var b engine.Block
	dst, err := p.denseTo(&b, arg, dst, r, c, x)
	return dst, b, err
}

// denseTo is dense for calls of less than a microsecond: the block is stored in b, since to pass it on takes longer
// than to compute it.
func (p *prep) denseTo(b *engine.Block, arg string, dst *mat.Dense, r, c int, x []float64) (*mat.Dense, error) {
	if r == 0 || c == 0 { // gonum has no empty matrices
		if dst == nil {
			dst = &mat.Dense{}
		}
		if !dst.IsEmpty() {
			gr, _ := dst.Dims()
			return dst, &ShapeError{Op: p.op, Arg: "rows of " + arg, Got: gr, Want: r}
		}
		*b = engine.Block{N: r, B: c, Stride: c}
		return dst, nil
	}
	if dst == nil || dst.IsEmpty() {
		if err := p.allocate(r, c); err != nil {
			return dst, err
		}
		if dst == nil {
			dst = new(mat.Dense)
		}
		dst.ReuseAs(r, c)
	}
	if err := p.blockTo(b, arg, dst, r, c); err != nil {
		return dst, err
	}
	if overlap(b.Data, x) {
		return dst, &AliasError{Op: p.op, Arg: arg, With: "x"}
	}
	return dst, nil
}

// allocate returns an error if an r×c matrix would exceed the memory limit.
func (p *prep) allocate(r, c int) error {
	if err := p.f.Affords(r, c); err != nil {
		return core.Within(p.op, err)
	}
	return nil
}

// block returns the data of the r×c matrix a without a copy. Other dimensions are an error.
func (p *prep) block(arg string, a *mat.Dense, r, c int) (b engine.Block, err error) {
	err = p.blockTo(&b, arg, a, r, c)
	return b, err
}

// blockTo is block with the result in b.
func (p *prep) blockTo(b *engine.Block, arg string, a *mat.Dense, r, c int) error {
	b.N, b.B = r, c
	if a == nil || a.IsEmpty() {
		if r == 0 || c == 0 {
			b.Stride = c
			return nil
		}
		return &ShapeError{Op: p.op, Arg: "rows of " + arg, Got: 0, Want: r}
	}
	if gr, gc := a.Dims(); gr != r {
		return &ShapeError{Op: p.op, Arg: "rows of " + arg, Got: gr, Want: r}
	} else if gc != c {
		return &ShapeError{Op: p.op, Arg: "columns of " + arg, Got: gc, Want: c}
	}
	raw := a.RawMatrix()
	b.Stride, b.Data = raw.Stride, raw.Data
	return nil
}

// columns returns V, whose in rows hold vectors side by side, and dst as blocks. dst has out rows
// and as many columns as V, and is allocated if nil or empty.
func (p *prep) columns(dst *mat.Dense, out int, arg string, V *mat.Dense, in int,
	x []float64) (_ *mat.Dense, res, v engine.Block, err error) {
	k := 0
	if V != nil {
		_, k = V.Dims()
	}
	if v, err = p.block(arg, V, in, k); err != nil {
		return nil, res, v, err
	}
	if dst, res, err = p.dense("dst", dst, out, k, x); err != nil {
		return nil, res, v, err
	}
	if overlap(res.Data, v.Data) {
		return nil, res, v, &AliasError{Op: p.op, Arg: "dst", With: arg}
	}
	return dst, res, v, nil
}
