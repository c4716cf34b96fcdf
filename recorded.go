package nabla

import (
	"fmt"
	"slices"
	"sync"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/internal/vector"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/sparsity"
)

// RecordableFunc is the constraint of [Record]: a function of any of the types that operators take. One over float64
// needs generated code.
type RecordableFunc interface {
	~func([]Real) Real | ~func([]Real) (Real, error) | ~func([]float64) float64 | ~func([]float64) (float64, error) |
		~func([]Real) []Real | ~func([]Real) ([]Real, error) |
		~func([]float64) []float64 | ~func([]float64) ([]float64, error) |
		~func(Real) Real | ~func(Real) (Real, error) | ~func(float64) float64 | ~func(float64) (float64, error) |
		~func(Real) []Real | ~func(Real) ([]Real, error) |
		~func(float64) []float64 | ~func(float64) ([]float64, error) | *Func | *Recorded
}

// A Recorded is a function as the list of operations that it executed at one point, made by [Record]. Its derivatives
// are Recorded again. It computes the function wherever the comparisons that the function made come out as they did
// when it was recorded; elsewhere every evaluation is a [GuardError].
//
// A Recorded is passed to operators like any other function, printed with String, and written as Go, C, LaTeX or
// JSON by package export. It is never changed, and may be shared by goroutines.
//
// A Recorded may have several groups of inputs, such as the point and the direction of a pushforward. As a function it
// has one vector of inputs, the groups one after another, and its derivatives are those with respect to all of them.
type Recorded struct {
	name    string
	program *program.Program
	strong  func() *program.Program // the program with structural zeros, nil if it is program itself
	dots    []bool                  // inputs in which a zero is a structural zero, nil if none
	number  bool                    // a function of one number
	scalar  bool                    // the output is a number, no slice of length 1
	pattern *sparsity.Pattern       // of the entries that the outputs are, or nil
	mu      sync.Mutex
	free    []*recordedMachines // not in use
}

// recordedMachines run a Recorded. strong is nil until it is needed.
type recordedMachines struct{ plain, strong *program.Machine }

// GuardError reports that a [Recorded] was evaluated at a point where the function takes another branch than the one
// that was recorded. It matches [ErrGuard].
type GuardError struct {
	Function string
	Guards   int // number of comparisons in the recording
}

func (e *GuardError) Error() string {
	return page.Namef("nabla.GuardError",
		"nabla: recorded function %s: %v: one of %d comparisons has another outcome at this point; "+
			"record the function there too", e.Function, ErrGuard, e.Guards)
}

// Is reports whether target is ErrGuard.
func (e *GuardError) Is(target error) bool { return target == ErrGuard }

// Record records f at x, which has length 1 for a function of one number. The recording has the values that f reads
// besides x as constants: data that it captures, and the fields of a bound struct, as they are now.
//
// Errors are those of f, an [UnsupportedError] for a function over float64 without generated code, and a [LimitError]
// for more than 10 million operations.
func Record[F RecordableFunc](f F, x []float64) (*Recorded, error) {
	const op = "Record"
	fn := funcOf(op, f)
	g, err := functionOf(op, f, x, wantAny)
	if err != nil {
		return nil, err
	}
	if err := g.Untraceable(); err != nil {
		return nil, err
	}
	p, err := g.Program(x)
	if err != nil {
		return nil, err
	}
	if p.Params > 0 {
		values := make([]float64, p.Params)
		g.Context().Read(values)
		p = program.Bind(p, values)
	}
	return &Recorded{name: fn.name, program: program.Simplify(p), number: fn.number, scalar: fn.scalar}, nil
}

// RecordedOf returns p, such as export.Load reads, as a function called name. Its outputs are those of all groups of p.
// The error is a [FuncError] if p is malformed, has no inputs or has parameters.
func RecordedOf(name string, p *program.Program) (*Recorded, error) {
	mistake := func(format string, args ...any) (*Recorded, error) {
		return nil, &FuncError{Op: "RecordedOf", Function: name, Problem: fmt.Sprintf(format, args...)}
	}
	if err := program.Check(p); err != nil {
		return mistake("%v", err)
	}
	if len(p.Ins) == 0 {
		return mistake("the program has no group of inputs")
	}
	if p.Params > 0 {
		return mistake("the program has %d parameters; make them constants with program.Bind", p.Params)
	}
	for i, g := range p.Ins {
		if slices.ContainsFunc(p.Ins[:i], func(h program.Group) bool { return h.Name == g.Name }) {
			return mistake("two groups of inputs are called %q", g.Name)
		}
	}
	if len(p.Outs) != 1 {
		all := make([]int, len(p.Outs))
		for i := range all {
			all[i] = i
		}
		p = program.Join(p, "y", all...)
	}
	return &Recorded{name: name, program: program.Simplify(p)}, nil
}

// Name returns the name of the function, such as "gradient of Rosenbrock".
func (r *Recorded) Name() string {
	if r == nil {
		return ""
	}
	return r.name
}

// Dims returns the number of inputs n and of outputs m.
func (r *Recorded) Dims() (n, m int) {
	if r.made("") != nil {
		return 0, 0
	}
	return r.program.NumIn(), r.program.NumOut()
}

// Guards returns the number of comparisons in the recording.
func (r *Recorded) Guards() int {
	if r.made("") != nil {
		return 0
	}
	return r.program.Guards()
}

// Program returns the recorded operations, simplified, as a program with a group of outputs. The caller must not modify
// it.
func (r *Recorded) Program() *program.Program {
	if r == nil {
		return nil
	}
	return r.program
}

// String returns the recorded operations in the text form of package program.
func (r *Recorded) String() string {
	if r.made("") != nil {
		return ""
	}
	return r.program.String()
}

// Pattern returns the positions of the outputs of a SparseJacobian or SparseHessian, which are in the order of the
// pattern, column after column; nil for other functions.
func (r *Recorded) Pattern() *sparsity.Pattern {
	if r == nil {
		return nil
	}
	return r.pattern
}

// made returns an error of method op if nothing has made r.
func (r *Recorded) made(op string) error {
	if r != nil && r.program != nil {
		return nil
	}
	return &UnsupportedError{What: op + " of an empty Recorded",
		Remedy: "make it with nabla.Record or nabla.RecordedOf"}
}

// Value evaluates the function at x, the groups of inputs one after another, and returns the outputs in dst, which is
// allocated if it is nil. Errors are a [ShapeError], an [AliasError] and a [GuardError]. Calls do not allocate
// otherwise, those of custom rules aside.
//
// A derivative is computed a second time if it has a NaN, with the rules for structural zeros: what does not depend on
// an input has derivative 0, also where it meets an infinite factor. Exported programs do not do this; see Strong.
func (r *Recorded) Value(dst, x []float64) (_ []float64, err error) {
	if err := r.made("Recorded.Value"); err != nil {
		return nil, err
	}
	n, m := r.Dims()
	switch {
	case len(x) != n:
		return nil, &ShapeError{Op: "Recorded.Value", Arg: "len(x)", Got: len(x), Want: n}
	case dst == nil:
		dst = make([]float64, m)
	case len(dst) != m:
		return nil, &ShapeError{Op: "Recorded.Value", Arg: "len(dst)", Got: len(dst), Want: m}
	case overlap(dst, x):
		return nil, &AliasError{Op: "Recorded.Value", Arg: "dst", With: "x"}
	}
	defer func() { engine.Recovered(r.name, recover(), &err) }()
	c := r.take()
	defer r.give(c)
	if !r.run(c.plain, dst, x, false) {
		return nil, r.guardError()
	}
	if r.strong != nil && vector.AnyNaN(dst) {
		if c.strong == nil {
			c.strong = program.NewMachine(program.Schedule(r.strong()))
		}
		if !r.run(c.strong, dst, x, true) {
			return nil, r.guardError()
		}
	}
	return dst, nil
}

func (r *Recorded) guardError() error { return &GuardError{Function: r.name, Guards: r.Guards()} }

// run runs x on c and reports whether the guards hold.
func (r *Recorded) run(c *program.Machine, dst, x []float64, strong bool) bool {
	at := 0
	for i, g := range c.Program().Ins {
		in := c.Input(i)
		copy(in, x[at:at+g.N])
		for j := range in {
			if strong && r.dots != nil && r.dots[at+j] {
				in[j] = core.StrongSeed(in[j])
			}
		}
		at += g.N
	}
	if !c.Run() {
		return false
	}
	c.Output(0, dst)
	return true
}

// take returns machines that no other call uses.
func (r *Recorded) take() *recordedMachines {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.free); n > 0 {
		c := r.free[n-1]
		r.free = r.free[:n-1]
		return c
	}
	return &recordedMachines{plain: program.NewMachine(program.Schedule(r.program))}
}

func (r *Recorded) give(c *recordedMachines) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = append(r.free, c)
}

// function returns r in the form in which operators take functions.
func (r *Recorded) function(op string) *Func {
	if r == nil {
		return &Func{err: &FuncError{Op: op, Problem: "the *Recorded is nil"}}
	}
	if r.program == nil {
		return &Func{err: &FuncError{Op: op, Problem: "the *Recorded is empty; make it with Record"}}
	}
	n, m := r.Dims()
	f := &Func{name: r.name, number: r.number, scalar: r.scalar, n: n, m: m}
	f.fresh = func() body {
		var w program.Workspace
		return body{traced: func(y, x []Real, _ engine.Context) int {
			r.over(&w, reps(y), reps(x))
			return m
		}}
	}
	return f
}

// over evaluates r over numbers. It ends the calling function with an error if a guard fails.
func (r *Recorded) over(w *program.Workspace, y, x []core.Rep) {
	if y == nil { // only the number of outputs is wanted
		return
	}
	run := func(p *program.Program) {
		ins, at := make([][]core.Rep, len(p.Ins)), 0
		for i, g := range p.Ins {
			ins[i] = x[at : at+g.N]
			at += g.N
		}
		out, err := w.Over(p, ins, nil)
		if err != nil {
			err = r.guardError()
		}
		abort(err)
		copy(y, out)
	}
	if !core.Strong(x) || r.strong == nil {
		run(r.program)
		if r.strong == nil || !slices.ContainsFunc(y, func(v core.Rep) bool { return v.V != v.V }) {
			return
		}
	}
	if r.dots != nil {
		x = slices.Clone(x)
		for i := range x {
			if r.dots[i] && (x[i].ID == 0 || len(r.program.Customs) == 0) {
				x[i].V = core.StrongSeed(x[i].V)
			}
		}
	}
	run(r.strong())
}
