package engine

import (
	"errors"
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
)

// Context is the struct bound to a function, as this package needs it. Package
// nabla implements it.
type Context interface {
	// Params is the number of parameters: numbers the function reads that are not
	// differentiated and may change between calls.
	Params() int
	// Read writes the parameters' current values.
	Read(dst []float64)
	// Enter readies a private copy of the struct for one call: its parameters are
	// numbers of t from id first on, or constants where first is 0.
	Enter(t *Tracer, first int32) error
	// Leave ends the call and reports a field that the function may only read and
	// has changed.
	Leave() error
	// Snapshot appends what a recording freezes: the opaque fields and the lengths
	// of the parameters.
	Snapshot(dst []byte) []byte
	// Clone is a context for another goroutine, with scratch of its own. The struct of
	// a function over plain numbers is a copy, with all memory that it leads to and that
	// may be written; the error is a *ContextError where there can be none.
	Clone() (Context, error)
	// Beside is a context for the same goroutine.
	Beside() Context
	// Own makes this one a context beside which clones can be used: a function over
	// plain numbers gets a copy of the struct from now on.
	Own() error
	// Refresh reads the struct for the next call. No function may run at that time that
	// gets the struct itself.
	Refresh() error
	// Rebind reads another struct of the same type from now on.
	Rebind(p any) error
	// Arg is what the function gets: for a function over plain numbers, the struct
	// itself.
	Arg() any
}

// Def defines a Function. Functions given here may panic.
type Def struct {
	Name string
	N, M int
	// Plain evaluates f over plain numbers. Nil where f is traced only.
	Plain func(y, x []float64, c Context) error
	// Traced evaluates f over Reals. Nil where f is plain Go.
	Traced func(y, x []Real, c Context) error
	// Program is the recorded program at x where that is known without recording.
	// Its input group 0 is x, its output group 0 the value.
	Program func(x []float64, c Context) (*program.Program, error)
	// Strong is Program with structural zeros as -0, where f is itself a
	// derivative; see package program. Nil means Program.
	Strong func(x []float64, c Context) (*program.Program, error)
	// Replay says that engines may replay the program, under its guards, instead
	// of running Traced.
	Replay bool
	// Checked is how many outputs, the last ones, a replay is compared by with
	// Plain; 0 means all. A derivative that is computed in another way differs in
	// rounding, and where it is infinite.
	Checked int
	// checked writes these outputs alone. Nil means Plain or Traced.
	checked func(y, x []float64) error
	// prepare readies Plain for points of the length of x. Nil where it needs none.
	prepare func(x []float64) error
	// Directions is how many inputs, the last ones, are a direction in the others: a
	// zero among them is a structural zero.
	Directions int
	// Generated is the code that was generated from Plain, nil where there is none.
	// Ungenerated says why, and what to do.
	Generated   *Generated
	Ungenerated error
	// TracedPlain says that Traced was generated from Plain: their values are
	// compared at calls 1, 2, 4, 8, …
	TracedPlain bool
	Context     Context
	// Captures says that f may read variables that it captures: recordings of it are
	// compared with it at every call.
	Captures bool
	// Fork, where set, makes the definition anew for another goroutine: for
	// functions that keep state of their own. Without a Context it is given that of the
	// function, or a clone of it.
	Fork func() Def
}

// Function is the user's function as a map from n numbers to m numbers, whatever
// shape it had. It is used by one goroutine at a time.
type Function struct {
	def     Def
	policy  Policy
	tracer  *Tracer
	xs, ys  []Real
	calls   int
	clones  []*Function // that follow Rebind
	at      []float64   // where its derivative, as a function, is prepared; nil for its first call
	watch   Watch       // of TracedPlain
	shared  bool        // it computes in goroutines of its own
	replays *Replays    // of the recordings that are replayed; nil where nobody asks
	broken  error       // there is no copy of the bound struct
	call    *uint64     // counts calls of the prepared object, 0 if nobody counts them
}

// Policy says what a recording does when it meets a point it does not fit.
type Policy struct {
	// FailOnGuard returns ErrGuard or ErrStale instead of recording again.
	FailOnGuard bool
	// NoStaleCheck turns off the comparison of recordings with the function.
	NoStaleCheck bool
	// FixedCaptures says that what a function captures does not change.
	FixedCaptures bool
	// Memory is the limit of [Function.MemoryLimit]; 0 for the default.
	Memory int64
	// Task is the preparation that f is for, or nil.
	Task *Task
}

// NewFunction makes a Function.
func NewFunction(d Def) *Function { return &Function{def: d, call: new(uint64)} }

// NewCall says that a call of the prepared object that uses f begins. Within a call a
// recording of f is compared with f once at most; without NewCall every use of a
// recording is a call.
//
// It makes the copies of the bound struct, of f and of its clones, like the struct.
func (f *Function) NewCall() error {
	*f.call++
	return f.refresh()
}

func (f *Function) refresh() error {
	if c := f.def.Context; c != nil && f.broken == nil {
		if err := c.Refresh(); err != nil {
			return err
		}
	}
	for _, g := range f.clones {
		if err := g.refresh(); err != nil {
			return err
		}
	}
	return nil
}

// Broken is why f or one of its clones cannot be used in a goroutine of its own, or nil.
func (f *Function) Broken() error {
	if f.broken != nil {
		return f.broken
	}
	for _, g := range f.clones {
		if err := g.Broken(); err != nil {
			return err
		}
	}
	return nil
}

// Own readies f to be used beside objects that are made by Detached. What the function
// writes to its bound struct is lost from then on.
func (f *Function) Own() error {
	if f.def.Context == nil {
		return nil
	}
	return f.def.Context.Own()
}

// Derived is a function given over Reals, for composites.
func Derived(name string, n, m int, over func(y, x []Real)) *Function {
	return NewFunction(Def{Name: name, N: n, M: m, Traced: func(y, x []Real, _ Context) error {
		over(y, x)
		return nil
	}})
}

// Name is the function's name in messages.
func (f *Function) Name() string { return f.def.Name }

// Dims is the number of inputs and of outputs. A scalar has length 1.
func (f *Function) Dims() (n, m int) { return f.def.N, f.def.M }

// Task is the preparation that f is for; it may be nil.
func (f *Function) Task() *Task { return f.policy.Task }

// SetTask makes f, and what is derived from it later, part of a preparation.
func (f *Function) SetTask(t *Task) { f.policy.Task = t }

// Policy is the user's choice for recordings of f.
func (f *Function) Policy() Policy { return f.policy }

// Traceable reports whether f can be run over Reals.
func (f *Function) Traceable() bool { return f.def.Traced != nil || f.def.Program != nil }

// Untraceable is why f cannot be run over Reals, and what to do about it; nil where it
// can. An engine that runs it over numbers of its own asks when it prepares, so that
// nothing is left to the first call.
func (f *Function) Untraceable() error {
	if f.Traceable() {
		return nil
	}
	return f.untraced()
}

// Replayable reports whether an engine may replay the program of f in place of
// running f over its own numbers.
func (f *Function) Replayable() bool { return f.def.Replay && f.def.Program != nil }

// Generated is the code that was generated from f, nil where there is none.
func (f *Function) Generated() *Generated { return f.def.Generated }

// Ungenerated is why there is no generated code, and what to do about it.
func (f *Function) Ungenerated() error {
	switch {
	case f.def.Generated != nil:
		return nil
	case f.def.Ungenerated != nil:
		return f.def.Ungenerated
	case f.def.Plain == nil || f.def.Traced != nil:
		return &UnsupportedError{
			What: fmt.Sprintf("function %s computes with nabla.Real, and code is generated from functions over "+
				"float64", f.def.Name),
			Remedy: "use another engine, such as forwarddiff.Backend{}, or write the function over float64",
		}
	}
	return &UnsupportedError{What: fmt.Sprintf("function %s has no generated derivative code", f.def.Name)}
}

// Calls is how often f was evaluated, in any way.
func (f *Function) Calls() int { return f.calls }

// With returns f with another size and policy. The two must not be used at the
// same time.
func (f *Function) With(n, m int, p Policy) *Function {
	g := *f
	g.def.N, g.def.M, g.policy = n, m, p
	g.xs, g.ys, g.clones, g.watch = nil, nil, nil, Watch{}
	return &g
}

// Clone is f for another goroutine that works for the same prepared object: it has
// a copy of the bound struct and its scratch, and a Rebind of f is one of the clone
// too.
func (f *Function) Clone() *Function {
	g := f.Detached()
	g.call = f.call
	g.replays = f.replays.fork()
	f.clones = append(f.clones, g)
	return g
}

// Detached is a Clone for another prepared object: Rebind of f leaves it alone. See
// [Function.Own] and [Function.Broken].
func (f *Function) Detached() *Function {
	g := f.forked()
	if c := f.def.Context; c != nil && g.def.Context == nil {
		if own, err := c.Clone(); err != nil {
			g.broken, g.def.Context = err, c
		} else {
			g.def.Context = own
		}
	}
	return g
}

// Beside is f for another prepared object in the same goroutine.
func (f *Function) Beside() *Function {
	g := f.forked()
	if c := f.def.Context; c != nil && g.def.Context == nil {
		g.def.Context = c.Beside()
	}
	return g
}

// forked is f without what f keeps from call to call.
func (f *Function) forked() *Function {
	g := &Function{def: f.def, policy: f.policy, at: f.at, shared: f.shared, call: new(uint64)}
	g.def.Context = nil
	if f.def.Fork != nil {
		g.def = f.def.Fork()
	}
	return g
}

// Derive is a function that is derived from f, for the same prepared object.
func (f *Function) Derive(d Def) *Function {
	d.Captures = f.def.Captures
	g := NewFunction(d)
	g.policy, g.call, g.replays = f.policy, f.call, f.replays
	return g
}

// Rebind reads the context from another struct from now on.
func (f *Function) Rebind(p any) error {
	if f.def.Context == nil {
		return &UnsupportedError{What: "Rebind: function " + f.def.Name + " has no bound struct",
			Remedy: "make it with nabla.Bind"}
	}
	if err := f.def.Context.Rebind(p); err != nil {
		return err
	}
	for _, g := range f.clones {
		if err := g.Rebind(p); err != nil {
			return err
		}
	}
	return nil
}

// Context is the bound struct, nil where there is none.
func (f *Function) Context() Context { return f.def.Context }

// Params is the number of parameters.
func (f *Function) Params() int {
	if f.def.Context == nil {
		return 0
	}
	return f.def.Context.Params()
}

// Value writes y = f(x), computed over plain numbers.
func (f *Function) Value(y, x []float64) (err error) {
	f.calls++
	if err := f.policy.Task.Check("evaluation", 0, 0); err != nil {
		return err
	}
	if f.def.Plain != nil {
		return f.plain(y, x)
	}
	if f.xs == nil {
		f.xs, f.ys = make([]Real, f.def.N), make([]Real, f.def.M)
	}
	xs := f.xs[:len(x)]
	for i, v := range x {
		r := &xs[i]
		if r.ID != 0 || r.T != nil { // f has written to it
			*r = Real{}
		}
		r.V = v
	}
	if err := f.once(nil, f.ys, f.xs); err != nil {
		return err
	}
	for i, r := range f.ys {
		if r.ID != 0 {
			return fmt.Errorf("nabla: function %s: output %d: %w", f.def.Name, i, ErrForeignReal)
		}
		y[i] = r.V
	}
	return nil
}

func (f *Function) plain(y, x []float64) (err error) {
	defer func() { Recovered(f.def.Name, recover(), &err) }()
	return f.def.Plain(y, x, f.def.Context)
}

// Over runs f over numbers of an open trace. All outputs are then constants or
// numbers of that trace. A function over plain numbers returns an
// UnsupportedError that says what to do.
func (f *Function) Over(y, x []Real) error {
	f.calls++
	var t *Tracer
	for i := range x {
		if x[i].ID != 0 {
			t = x[i].T
			break
		}
	}
	return f.run(t, y, x)
}

// OverIn is Over for a trace that x alone may not show: a function without inputs
// can still read parameters of t.
func (f *Function) OverIn(t *Tracer, y, x []Real) error {
	f.calls++
	return f.run(t, y, x)
}

// run runs f over numbers of t, nil for constants. A function that computes in
// goroutines of its own runs twice the first time, over a trace that they share the
// second time.
func (f *Function) run(t *Tracer, y, x []Real) error {
	if t == nil {
		return f.once(nil, y, x)
	}
	t.Begin(f.shared, f.policy.Task)
	err := f.once(t, y, x)
	again, failed := t.End(x)
	if again {
		f.shared = true
		err = f.once(t, y, x)
		_, failed = t.End(x)
	}
	Recovered(f.def.Name, failed, &err)
	return err
}

// once is run without regard to other goroutines.
func (f *Function) once(t *Tracer, y, x []Real) (err error) {
	if f.def.Traced == nil {
		return f.untraced()
	}
	c := f.def.Context
	if c != nil {
		first := int32(0)
		if t != nil {
			first = t.Parameters()
		}
		if err := c.Enter(t, first); err != nil {
			return err
		}
	}
	for i := range y {
		y[i] = core.Poison()
	}
	if err := f.traced(y, x); err != nil {
		return err
	}
	if c != nil {
		if err := c.Leave(); err != nil {
			return err
		}
	}
	for i, r := range y {
		switch {
		case r.Poisoned():
			return fmt.Errorf("nabla: function %s: output %d: %w", f.def.Name, i, ErrOutputNotWritten)
		case r.ID != 0 && t == nil:
			return fmt.Errorf("nabla: function %s: output %d: %w", f.def.Name, i, ErrForeignReal)
		case r.ID != 0 && (r.T != t || !t.Owns(r)):
			return fmt.Errorf("nabla: function %s: output %d: %w", f.def.Name, i, ErrForeignReal)
		}
	}
	return f.current(y, x)
}

// untraced says what to do where f cannot be run over Reals.
func (f *Function) untraced() error {
	if g := f.def.Generated; g != nil {
		e := &UnsupportedError{
			What: fmt.Sprintf("function %s computes with float64, and its generated code has no form over nabla.Real",
				f.def.Name),
			Remedy: "use source.Reverse{} or source.Forward{}, which run what there is, or finitediff.Backend{}, " +
				"which needs values only",
		}
		if g.RefusedTraced != "" {
			e.What += ": " + g.RefusedTraced
		}
		return e
	}
	e := &UnsupportedError{
		What:   fmt.Sprintf("function %s computes with float64 and has no generated derivative code", f.def.Name),
		Remedy: "write it over nabla.Real, or use finitediff.Backend{}, which needs values only",
	}
	if why, ok := f.def.Ungenerated.(*UnsupportedError); ok {
		e.What, e.Remedy = why.What, why.Remedy+"; or "+e.Remedy
	}
	return e
}

// current compares the outputs of a generated Traced with the function, now and then.
func (f *Function) current(y, x []Real) error {
	if !f.def.TracedPlain || !f.watch.Due(f) || core.Blind(x) {
		return nil
	}
	v := make([]float64, len(x)+len(y))
	for i, r := range x {
		v[i] = r.V
	}
	for i, r := range y {
		v[len(x)+i] = r.V
	}
	return f.watch.Check(f, v[len(x):], v[:len(x)])
}

func (f *Function) traced(y, x []Real) (err error) {
	defer func() { Recovered(f.def.Name, recover(), &err) }()
	return f.def.Traced(y, x, f.def.Context)
}

// Inputs fills xs with the first len(x) numbers of t.
func Inputs(t *Tracer, xs []Real, x []float64) {
	for i, v := range x {
		xs[i] = t.Input(i, v)
	}
}

// Record runs f at x over recorder t, which is left open, and writes the outputs.
func (f *Function) Record(t *Tracer, ys, xs []Real, x []float64, o program.RecordOptions) error {
	np := f.Params()
	t.StartRecording(len(x), np, o)
	if np > 0 && o.Keep {
		f.def.Context.Read(t.ParamValues())
	}
	Inputs(t, xs, x)
	return f.OverIn(t, ys, xs)
}

// Program is f recorded at x: input group 0 is x, output group 0 the value.
func (f *Function) Program(x []float64) (*program.Program, error) {
	return f.ProgramLimit(x, 0)
}

// ProgramLimit is Program with a limit on the number of recorded operations; 0
// for DefaultLimit.
func (f *Function) ProgramLimit(x []float64, limit int) (*program.Program, error) {
	if f.def.Program != nil {
		f.calls++
		return f.def.Program(x, f.def.Context)
	}
	if limit <= 0 {
		limit = DefaultLimit
	}
	if f.tracer == nil {
		f.tracer = new(Tracer)
	}
	xs, ys := make([]Real, f.def.N), make([]Real, f.def.M)
	err := f.Record(f.tracer, ys, xs, x, core.RecordOptions{Limit: limit})
	defer f.tracer.Close()
	if err != nil {
		return nil, withDerived(err)
	}
	return program.FromRecordingFor(f.tracer.Recorded(), ys, f.policy.Task)
}

// DefaultLimit is the number of operations that a program may have where a
// backend does not say otherwise.
const DefaultLimit = 10_000_000

// derivedBytes is about the memory that deriving programs takes for each operation of a
// recording: 600 for a gradient, 2100 for products with a Hessian, 3500 for the programs of
// a Hessian's entries.
const derivedBytes = 1300

// withDerived is err, in which a *LimitError says how much memory it would take to derive
// programs from a recording that long, and not only to record it.
func withDerived(err error) error {
	var e *core.LimitError
	if errors.As(err, &e) && e.What == "" {
		e.Bytes = int(min(int64(e.Bytes)+derivedBytes*int64(e.Limit), math.MaxInt))
		e.Derived = true
	}
	return err
}
