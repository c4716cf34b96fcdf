package engine

import (
	"errors"
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
)

// Context is the struct bound to a function, in the form that this package needs. Package nabla implements it.
type Context interface {
	// Params returns the number of parameters: numbers that the function reads, that are not differentiated and that
	// may change between calls.
	Params() int
	// Read writes the current values of the parameters to dst, of length Params.
	Read(dst []float64)
	// Enter prepares a private copy of the struct for one call. Its parameters are numbers of t with ids from first on,
	// or constants if first is 0.
	Enter(t *Tracer, first int32) error
	// Leave ends the call. It returns a *[ContextError] if the call changed a field that the function may only read.
	Leave() error
	// Snapshot appends to dst the state that a recording freezes: the opaque fields and the lengths of the parameters.
	Snapshot(dst []byte) []byte
	// Clone returns a context for another goroutine, with its own scratch memory. For a function over plain numbers it
	// has a copy of the struct and of all memory reachable from it that may be written. The error is a *[ContextError]
	// if the struct cannot be copied.
	Clone() (Context, error)
	// Beside returns a context of the same struct for another prepared object in the same goroutine.
	Beside() Context
	// Own prepares the context for concurrent use of its clones: from now on a function over plain numbers gets a copy
	// of the struct, unless it only reads it.
	Own() error
	// Refresh updates that copy from the struct before a call. No function that uses the struct itself may run
	// meanwhile.
	Refresh() error
	// Rebind makes the context read the struct p, of the same type, from now on. On an error it stays as it was.
	Rebind(p any) error
	// Bound returns the struct that the context reads, as it was passed.
	Bound() any
	// Arg returns the argument for the function; for a function over plain numbers the struct itself or its copy.
	Arg() any
}

// Def defines a Function. The functions it holds may panic.
type Def struct {
	Name string
	N, M int
	// Plain evaluates f over plain numbers. It is nil if f is defined over Reals only.
	Plain func(y, x []float64, c Context) error
	// Traced evaluates f over Reals. It is nil if f is defined over plain numbers only.
	Traced func(y, x []Real, c Context) error
	// Program returns the program of f at x, if it can be obtained without recording f itself. Input group 0 is x and
	// output group 0 the value.
	Program func(x []float64, c Context) (*program.Program, error)
	// Strong is Program with structural zeros as -0, for an f that is a derivative itself; see package program. Nil
	// means Program.
	Strong func(x []float64, c Context) (*program.Program, error)
	// Replay permits engines to replay the program, under its guards, instead of running Traced.
	Replay bool
	// Checked is the number of outputs, counted from the last, in which a replay must agree with Plain; 0 means all.
	// Derivatives that are computed in another way are left out: they differ in rounding and at infinities.
	Checked int
	// checked computes only the last Checked outputs. Nil means Plain or Traced.
	checked func(y, x []float64) error
	// prepare prepares Plain for points of the length of x. Nil if nothing has to be prepared.
	prepare func(x []float64) error
	// Directions is the number of inputs, counted from the last, that form a direction of differentiation. A zero among
	// them is a structural zero.
	Directions int
	// Generated describes the code generated from Plain, nil if there is none. Ungenerated then holds the reason and
	// the remedy.
	Generated   *Generated
	Ungenerated error
	// TracedPlain reports that Traced was generated from Plain. The values of the two are compared at calls 1, 2, 4, 8,
	// …
	TracedPlain bool
	Context     Context
	// Captures reports that f may read captured variables, so that recordings of it are compared with it at every call.
	Captures bool
	// Fork returns a definition for another goroutine, for functions with state of their own. If it has no Context it
	// gets that of the function, or a clone of it. Nil means that the definition can be shared.
	Fork func() Def
}

// Function is the user's function as a map from n numbers to m numbers, whatever its Go signature. A Function must not
// be used by several goroutines at a time.
type Function struct {
	def     Def
	policy  Policy
	tracer  *Tracer
	xs, ys  []Real
	calls   int
	clones  []*Function // made by Clone; they follow Rebind and NewCall
	at      []float64   // where derivatives of f, as functions, are prepared; nil for the point of their first call
	watch   Watch       // comparison of Traced with Plain; see Def.TracedPlain
	shared  bool        // f computes in goroutines of its own
	replays *Replays    // record of replayed recordings; nil if not followed
	inexact bool        // an engine that approximates evaluates f; see Approximate
	broken  error       // why the bound struct cannot be copied for f, or nil
	swept   bool        // Workers divide sweeps; see DivideSweeps
	call    *uint64     // number of the current call, shared with clones and derived functions; 0 if not counted
}

// Policy configures recordings of a function.
type Policy struct {
	// FailOnGuard returns ErrGuard or ErrStale instead of recording again.
	FailOnGuard bool
	// NoStaleCheck turns off the comparison of recordings with the function.
	NoStaleCheck bool
	// FixedCaptures asserts that data captured by the function does not change.
	FixedCaptures bool
	// Interpret runs programs in the interpreter where they would be compiled to machine code.
	Interpret bool
	// Workers is the number of goroutines that divide the sweeps of dense Jacobians and Hessians, or the lanes of a
	// recording; 0 means 1.
	Workers int
	// Memory is the limit in bytes that [Function.MemoryLimit] returns; 0 for the default.
	Memory int64
	// Task is the preparation that f belongs to, or nil.
	Task *Task
}

// NewFunction returns the function that d defines.
func NewFunction(d Def) *Function { return &Function{def: d, call: new(uint64)} }

// NewCall marks the beginning of a call of the prepared object that uses f. Within a call a recording of f is compared
// with f at most once; without NewCall every use of a recording counts as a call.
//
// It updates the copies of the bound struct, those of f and of its clones, and returns an error if one cannot be
// copied.
func (f *Function) NewCall() error {
	*f.call++
	return f.refresh()
}

// refresh updates the copies of the bound struct of f and of its clones.
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

// Broken returns the reason why f or one of its clones cannot be used in its own goroutine, or nil.
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

// Own prepares f for use concurrently with functions made by Detached. Changes that the function makes to its bound
// struct are lost from then on. It returns an error if the struct cannot be copied.
func (f *Function) Own() error {
	if f.def.Context == nil {
		return nil
	}
	return f.def.Context.Own()
}

// Derived returns a function of n inputs and m outputs that is defined over Reals by over.
func Derived(name string, n, m int, over func(y, x []Real)) *Function {
	return NewFunction(Def{Name: name, N: n, M: m, Traced: func(y, x []Real, _ Context) error {
		over(y, x)
		return nil
	}})
}

// Name returns the name of the function in messages.
func (f *Function) Name() string { return f.def.Name }

// Dims returns the number of inputs n and of outputs m. A scalar counts as 1.
func (f *Function) Dims() (n, m int) { return f.def.N, f.def.M }

// Task returns the preparation that f belongs to, or nil.
func (f *Function) Task() *Task { return f.policy.Task }

// machine returns the machine that runs p, which need not be scheduled.
func (f *Function) machine(p *program.Program) *program.Machine {
	if f.policy.Interpret {
		return program.NewMachine(program.Schedule(p))
	}
	if f.swept {
		return program.Compile(p)
	}
	return program.CompileFor(p, f.policy.Workers)
}

// DivideSweeps declares that the Workers of f divide the sweeps for n directions, some lanes at a time, if these are
// several: then they do not divide a recording itself.
func (f *Function) DivideSweeps(n, lanes int) { f.swept = n > lanes }

// SetTask makes f, and functions derived from it later, part of preparation t.
func (f *Function) SetTask(t *Task) { f.policy.Task = t }

// Policy returns the user's configuration for recordings of f.
func (f *Function) Policy() Policy { return f.policy }

// Traceable reports whether f can be run over Reals.
func (f *Function) Traceable() bool { return f.def.Traced != nil || f.def.Program != nil }

// Untraceable returns nil if f can be run over Reals, and otherwise an *[UnsupportedError] with the reason and the
// remedy. An engine that runs f over its own numbers calls it during preparation, so that the error does not wait for
// the first call.
func (f *Function) Untraceable() error {
	if f.Traceable() {
		return nil
	}
	return f.untraced()
}

// Replayable reports whether an engine may replay the program of f instead of running f over its own numbers.
func (f *Function) Replayable() bool { return f.def.Replay && f.def.Program != nil }

// IsDerivative reports whether f was made by [GradientFunction] or [PushforwardFunction].
func (f *Function) IsDerivative() bool { return f.def.prepare != nil }

// Generated returns the description of the code generated from f, nil if there is none.
func (f *Function) Generated() *Generated { return f.def.Generated }

// Ungenerated returns nil if there is generated code, and otherwise an error with the reason and the remedy.
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

// Calls returns the number of evaluations of f so far, over plain numbers, over Reals and as a program.
func (f *Function) Calls() int { return f.calls }

// With returns a copy of f with n inputs, m outputs and policy p. The two share the bound struct and must not be used
// at the same time.
func (f *Function) With(n, m int, p Policy) *Function {
	g := *f
	g.def.N, g.def.M, g.policy = n, m, p
	g.xs, g.ys, g.clones, g.watch = nil, nil, nil, Watch{}
	return &g
}

// Clone returns f for another goroutine that works for the same prepared object. It has its own copy of the bound
// struct and scratch memory, and Rebind and NewCall of f apply to it too. If the struct cannot be copied, Broken of the
// clone returns the error.
func (f *Function) Clone() *Function {
	g := f.Detached()
	g.call, g.swept = f.call, true
	g.replays = f.replays.fork()
	f.clones = append(f.clones, g)
	return g
}

// Detached is Clone for another prepared object: Rebind and NewCall of f do not apply to the result. See [Function.Own]
// and [Function.Broken].
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

// Beside returns f for another prepared object in the same goroutine.
func (f *Function) Beside() *Function {
	g := f.forked()
	if c := f.def.Context; c != nil && g.def.Context == nil {
		g.def.Context = c.Beside()
	}
	return g
}

// forked returns a copy of f without its state and, unless Fork of its definition sets one, without context.
func (f *Function) forked() *Function {
	g := &Function{def: f.def, policy: f.policy, at: f.at, shared: f.shared, call: new(uint64)}
	g.def.Context = nil
	if f.def.Fork != nil {
		g.def = f.def.Fork()
	}
	return g
}

// Derive returns the function defined by d, which is derived from f and belongs to the same prepared object.
func (f *Function) Derive(d Def) *Function {
	d.Captures = f.def.Captures
	g := NewFunction(d)
	g.policy, g.call, g.replays, g.inexact, g.swept = f.policy, f.call, f.replays, f.inexact, f.swept
	return g
}

// Rebind makes f and its clones read the struct p, of the type of the bound one, from now on. The error is an
// *[UnsupportedError] if f has no bound struct. On an error, such as that of a struct that cannot be copied for a
// clone, all of them stay as they were.
func (f *Function) Rebind(p any) error {
	if f.def.Context == nil {
		return &UnsupportedError{What: "Rebind: function " + f.def.Name + " has no bound struct",
			Remedy: "make it with nabla.Bind"}
	}
	old := f.def.Context.Bound()
	if err := f.def.Context.Rebind(p); err != nil {
		return err
	}
	for i, g := range f.clones {
		err := g.Rebind(p)
		if err == nil {
			continue
		}
		for _, done := range f.clones[:i] {
			err = errors.Join(err, done.Rebind(old))
		}
		return errors.Join(err, f.def.Context.Rebind(old))
	}
	return nil
}

// Context returns the bound struct, nil if there is none.
func (f *Function) Context() Context { return f.def.Context }

// Params returns the number of parameters of the bound struct.
func (f *Function) Params() int {
	if f.def.Context == nil {
		return 0
	}
	return f.def.Context.Params()
}

// Value writes y = f(x), of length m, computed over plain numbers. Errors are those of the user's function, a
// *[PanicError] if it panics, and a *[CanceledError] if the preparation was cancelled.
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
		if r.ID != 0 || r.T != nil { // left by a function that writes to its argument
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

// plain calls Plain of the definition and turns a panic into an error.
func (f *Function) plain(y, x []float64) (err error) {
	defer func() { Recovered(f.def.Name, recover(), &err) }()
	return f.def.Plain(y, x, f.def.Context)
}

// Over runs f over numbers of an open trace. All outputs are then constants or numbers of that trace. The error is an
// *[UnsupportedError] if f is defined over plain numbers only.
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

// OverIn is Over for the trace t, also if no element of x belongs to it: a function without active inputs can still
// read parameters of t.
func (f *Function) OverIn(t *Tracer, y, x []Real) error {
	f.calls++
	return f.run(t, y, x)
}

// run runs f over numbers of t, or over constants if t is nil. If f turns out to compute in goroutines of its own, it
// runs a second time, over a trace that the goroutines share; f.shared remembers that for later calls.
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

// once runs f over numbers of t once and checks its outputs: each must be written, and a constant or a number of t.
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
	stops := f.watched(x)
	if err := f.traced(y, x); err != nil {
		return err
	}
	if c != nil {
		if err := c.Leave(); err != nil {
			return err
		}
	}
	if err := f.stopped(stops, x); err != nil {
		return err
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

// untraced returns the error for an f that cannot be run over Reals, with the remedy.
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

// current compares the outputs y of a generated Traced at x with Plain, in the calls that the watch selects. A trace
// without values cannot be compared.
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
	if err := f.watch.Check(f, v[len(x):], v[:len(x)]); err != nil {
		return err
	}
	return f.watch.CheckNear(f, v[:len(x)], tracedValue{f})
}

// A tracedValue is the generated Traced of a function over constants.
type tracedValue struct{ f *Function }

// Evaluate implements Evaluator.
func (v tracedValue) Evaluate(y, x []float64) bool {
	xs, ys := make([]Real, len(x)), make([]Real, len(y))
	for i, a := range x {
		xs[i].V = a
	}
	if v.f.traced(ys, xs) != nil {
		return false
	}
	for i, r := range ys {
		if y[i] = r.V; r.ID != 0 {
			return false
		}
	}
	return true
}

// traced calls Traced of the definition and turns a panic into an error.
func (f *Function) traced(y, x []Real) (err error) {
	defer func() { Recovered(f.def.Name, recover(), &err) }()
	return f.def.Traced(y, x, f.def.Context)
}

// Inputs sets xs[i] to input i of t, with the value x[i].
func Inputs(t *Tracer, xs []Real, x []float64) {
	for i, v := range x {
		xs[i] = t.Input(i, v)
	}
}

// Record records f at x in t and writes the inputs to xs and the outputs to ys. The caller must close t.
func (f *Function) Record(t *Tracer, ys, xs []Real, x []float64, o program.RecordOptions) error {
	np := f.Params()
	t.StartRecording(len(x), np, o)
	if np > 0 && o.Keep {
		f.def.Context.Read(t.ParamValues())
	}
	Inputs(t, xs, x)
	return f.OverIn(t, ys, xs)
}

// Program returns the program of f recorded at x, with at most DefaultLimit operations. Input group 0 is x and output
// group 0 the value.
func (f *Function) Program(x []float64) (*program.Program, error) {
	return f.ProgramLimit(x, 0)
}

// ProgramLimit is Program with another limit on the number of recorded operations; 0 means DefaultLimit. A recording
// that exceeds the limit gives a *[LimitError].
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
	err := f.Record(f.tracer, ys, xs, x, core.RecordOptions{Limit: limit, Loops: true})
	defer f.tracer.Close()
	if err != nil {
		return nil, withDerived(err)
	}
	return program.FromRecordingFor(f.tracer.Recorded(), ys, f.policy.Task)
}

// DefaultLimit is the number of operations in a recording for backends that do not set a limit.
const DefaultLimit = 10_000_000

// derivedBytes is a typical memory need in bytes, per recorded operation, of the programs derived from a recording:
// measured were 600 for a gradient, 2100 for products with a Hessian and 3500 for the programs of the entries of a
// Hessian.
const derivedBytes = 1300

// withDerived adds to a *LimitError in err the memory that programs derived from a recording of that length would take,
// and returns err. It modifies the LimitError.
func withDerived(err error) error {
	var e *core.LimitError
	if errors.As(err, &e) && e.What == "" {
		e.Bytes = int(min(int64(e.Bytes)+derivedBytes*int64(e.Limit), math.MaxInt))
		e.Derived = true
	}
	return err
}
