package nabla

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/binding"
	"github.com/nabla-ad/nabla/internal/layout"
	"github.com/nabla-ad/nabla/rules"
)

// The constraints below are the function types that operators accept. A type parameter whose name
// begins with F takes the functions of one of these; a generic function must be instantiated
// (Loss[nabla.Real]). Functions of other types are first wrapped in a [Func]. A [Recorded] is a
// function too.
//
// A function may return an error as its last result. An error that is not nil ends the call of the operator, which
// returns it in a [*ReturnedError]; the value beside it is not used.
type (
	// ScalarFunc maps a slice of inputs to one output.
	ScalarFunc interface {
		~func([]Real) Real | ~func([]Real) (Real, error) |
			~func([]float64) float64 | ~func([]float64) (float64, error) | *Func | *Recorded
	}
	// VectorFunc maps a slice of inputs to a slice of outputs, whose length may depend on that of the inputs alone.
	VectorFunc interface {
		~func([]Real) []Real | ~func([]Real) ([]Real, error) |
			~func([]float64) []float64 | ~func([]float64) ([]float64, error) | *Func | *Recorded
	}
	// ScalarScalar maps one number to one number.
	ScalarScalar interface {
		~func(Real) Real | ~func(Real) (Real, error) |
			~func(float64) float64 | ~func(float64) (float64, error) | *Func | *Recorded
	}
	// CurveFunc maps one number to a slice of outputs, of the same length for all inputs.
	CurveFunc interface {
		~func(Real) []Real | ~func(Real) ([]Real, error) |
			~func(float64) []float64 | ~func(float64) ([]float64, error) | *Func | *Recorded
	}
	// AnyFunc is a ScalarFunc or a VectorFunc.
	AnyFunc interface {
		~func([]Real) Real | ~func([]Real) (Real, error) |
			~func([]float64) float64 | ~func([]float64) (float64, error) |
			~func([]Real) []Real | ~func([]Real) ([]Real, error) |
			~func([]float64) []float64 | ~func([]float64) ([]float64, error) | *Func | *Recorded
	}
	// InPlaceFunc writes its outputs to y, whose length is given to [InPlace].
	InPlaceFunc interface {
		~func(y, x []Real) | ~func(y, x []Real) error | ~func(y, x []float64) | ~func(y, x []float64) error
	}
	// FuncOf maps inputs to one output or a slice of them and reads the struct that P points to; see [Bind].
	FuncOf[P any] interface {
		~func([]Real, P) Real | ~func([]Real, P) (Real, error) |
			~func([]float64, P) float64 | ~func([]float64, P) (float64, error) |
			~func([]Real, P) []Real | ~func([]Real, P) ([]Real, error) |
			~func([]float64, P) []float64 | ~func([]float64, P) ([]float64, error)
	}
	// InPlaceOf writes its outputs to y and reads the struct that p points to; see [BindInPlace].
	InPlaceOf[P any] interface {
		~func(y, x []Real, p P) | ~func(y, x []Real, p P) error |
			~func(y, x []float64, p P) | ~func(y, x []float64, p P) error
	}
	// StructFunc maps the numbers of a struct to one output or a slice of them; see [StructPlain].
	StructFunc[S any] interface {
		~func(*S) float64 | ~func(*S) (float64, error) | ~func(*S) []float64 | ~func(*S) ([]float64, error)
	}
	// StructFuncOf maps the numbers of a struct to one output or a slice of them and reads the struct that P points
	// to; see [BindStructPlain].
	StructFuncOf[S, P any] interface {
		~func(*S, P) float64 | ~func(*S, P) (float64, error) | ~func(*S, P) []float64 | ~func(*S, P) ([]float64, error)
	}
	// Outputs is the result of a function of a struct over Reals; see [Struct].
	Outputs interface{ Real | []Real }
	// Number is the type that a function computes with; see [StructInPlace].
	Number interface{ Real | float64 }
	// MethodOf is a method expression such as (*Model).Loss, whose receiver is the struct; see [BindMethod].
	MethodOf[P any] interface {
		~func(P, []Real) Real | ~func(P, []Real) (Real, error) |
			~func(P, []float64) float64 | ~func(P, []float64) (float64, error) |
			~func(P, []Real) []Real | ~func(P, []Real) ([]Real, error) |
			~func(P, []float64) []float64 | ~func(P, []float64) ([]float64, error)
	}
)

// Requirements on a function wherever it is passed:
//
//  1. It does not keep its arguments or its in-place output after it returns.
//  2. At one point it takes the same branches and returns the same outputs, as
//     many as before.
//  3. Over Reals, it computes with Reals from its inputs to its outputs.
//
// It may write to its input x, which is a copy of the caller's.

// A Func is a function of one of the less usual types: in place, with a bound struct, or over a
// struct of parameters. It is made by [InPlace], [Bind], [BindInPlace], [BindMethod], [Struct],
// [StructPlain], [StructInPlace], [BindStruct], [BindStructPlain], [BindStructInPlace] and the forms of these for
// functions with an error, and by [Output]. It is never changed, and may be shared by goroutines. Mistakes in it are
// reported by Prepare.
type Func struct {
	name     string
	err      error
	captures bool // may read variables that it captures
	number   bool // takes one number: inputs have length 1
	scalar   bool // returns one number
	inPlace  bool
	n        int // number of inputs; -1 if any number is accepted
	m        int // number of outputs; -1 if it takes an evaluation to count them
	fresh    func() body
	context  func() *binding.Binding // nil without a bound struct
	layout   *layout.Layout          // of a function over float64 of a struct of numbers, otherwise nil
	origin   origin
	of       *Func // unless nil, the function is an output of it
	output   int
}

// A body evaluates the user's function in the form that engines call. It fills y and returns the
// number of outputs, which the caller compares with len(y). For a function that returns a slice, y
// may be nil to ask for the number only.
type body struct {
	plain  func(y, x []float64, c engine.Context) int
	traced func(y, x []Real, c engine.Context) int
}

// A shapeWant says which kind of function an operator accepts: with one output, as for a gradient, or with a slice of
// outputs, as for a Jacobian. functionOf returns an error for other functions.
type shapeWant uint8

const (
	wantAny    shapeWant = iota // either
	wantScalar                  // one output
	wantVector                  // a slice of outputs, which may be of length 1
)

// functionOf returns the engine's view of f for inputs of the length of x, which is 1 for a scalar
// input. op names the operator in messages. A function that returns a slice is evaluated once at x
// to learn its length.
func functionOf(op string, f any, x []float64, want shapeWant) (*engine.Function, error) {
	fn := funcOf(op, f)
	switch {
	case fn.err != nil:
		return nil, fn.err
	case want == wantVector && fn.scalar:
		return nil, &FuncError{Op: op, Function: fn.name,
			Problem: "it returns one number, want a slice of outputs; a gradient or a pushforward takes it as it is"}
	case fn.n >= 0 && fn.n != len(x):
		return nil, &ShapeError{Op: op, Arg: "len(x)", Got: len(x), Want: fn.n}
	case fn.of != nil:
		return fn.single(op, x)
	}
	var c engine.Context
	if fn.context != nil {
		c = fn.context()
	}
	m := fn.m
	if m < 0 {
		var err error
		if m, err = fn.outputs(x, c); err != nil {
			return nil, err
		}
	}
	if want == wantScalar && m != 1 {
		return nil, &ShapeError{Op: op, Arg: "outputs of f", Got: m, Want: 1}
	}
	return engine.NewFunction(fn.def(op, len(x), m, c)), nil
}

// outputs evaluates f at x and returns the number of outputs. A function over Reals is given
// numbers of a trace, so that a number which it keeps for a later call is recognised there.
func (f *Func) outputs(x []float64, c engine.Context) (m int, err error) {
	b := f.fresh()
	d := engine.Def{Name: f.name, N: len(x), Context: c}
	if b.plain != nil {
		d.Plain = func(_, x []float64, c engine.Context) error {
			m = b.plain(nil, append([]float64(nil), x...), c)
			return nil
		}
	} else {
		d.Traced = func(_, x []engine.Real, c engine.Context) error {
			m = b.traced(nil, reals(x), c)
			return nil
		}
		xs, t := make([]engine.Real, len(x)), engine.Overload(onlooker{})
		for i, v := range x {
			xs[i] = t.Number(v, 1)
		}
		err = engine.NewFunction(d).OverIn(t, nil, xs)
		t.Close()
		if err == nil {
			return m, nil
		}
		// f may still have values, though no derivatives.
	}
	err = engine.NewFunction(d).Value(nil, x)
	return m, err
}

// An onlooker is a hook that differentiates nothing and gives every result the id 1. It marks
// numbers as part of a trace.
type onlooker struct{}

func (onlooker) Unary(rules.Op, int32, float64, float64) int32                  { return 1 }
func (onlooker) Binary(rules.Op, int32, int32, float64, float64, float64) int32 { return 1 }

// def returns the definition of f for n inputs and m outputs, with state of its own.
func (f *Func) def(op string, n, m int, c engine.Context) engine.Def {
	b := f.fresh()
	d := engine.Def{Name: f.name, N: n, M: m, Context: c, Captures: f.captures}
	if b.plain != nil {
		var own []float64 // copy of x, so that the caller does not see writes of f
		d.Plain = func(y, x []float64, c engine.Context) error {
			own = append(own[:0], x...)
			if f.inPlace {
				engine.Unwrite(y)
			}
			if got := b.plain(y, own, c); got != len(y) {
				return &ShapeError{Op: op, Arg: "outputs of f", Got: got, Want: len(y)}
			}
			if f.inPlace {
				if i := engine.Unwritten(y); i >= 0 {
					return fmt.Errorf("nabla: function %s: output %d: %w", f.name, i, ErrOutputNotWritten)
				}
			}
			return nil
		}
		f.generate(op, &d)
	}
	if b.traced != nil {
		d.Traced = func(y, x []engine.Real, c engine.Context) error {
			if got := b.traced(reals(y), reals(x[:len(x):len(x)]), c); got != len(y) {
				return &ShapeError{Op: op, Arg: "outputs of f", Got: got, Want: len(y)}
			}
			return nil
		}
	}
	d.Fork = func() engine.Def { return f.def(op, n, m, nil) }
	return d
}

// funcOf returns the Func for f, the function passed to an operator. Errors are stored in it.
func funcOf(op string, f any) *Func {
	if r, ok := f.(*Recorded); ok {
		return r.function(op)
	}
	if fn, ok := f.(*Func); ok {
		switch {
		case fn == nil:
			return &Func{err: &FuncError{Op: op, Problem: "the *Func is nil"}}
		case fn.err == nil && fn.fresh == nil:
			return &Func{err: &FuncError{Op: op,
				Problem: "the *Func is empty; make it with InPlace, Bind, BindInPlace, BindMethod or Struct"}}
		}
		return fn
	}
	name, g, err := namedFunc(op, f)
	if err != nil {
		return &Func{err: err}
	}
	if fn := shapeOf(name, g); fn != nil {
		fn.origin, fn.captures = originOf(g), mayCapture(g)
		return fn
	}
	return &Func{err: &FuncError{Op: op, Function: name,
		Problem: fmt.Sprintf("its type %T does not fit; want func([]nabla.Real) nabla.Real, func([]float64) "+
			"float64, one that returns a slice or an error too, or a *nabla.Func", f)}}
}

// shapeOf returns a Func for g if its type is one of those that operators take, and nil otherwise.
func shapeOf(name string, g any) *Func {
	switch g := withoutError(g).(type) {
	case func(Real) Real:
		return stateless(Func{name: name, number: true, scalar: true, n: 1, m: 1},
			body{traced: func(y, x []Real, _ engine.Context) int {
				y[0] = g(x[0])
				return 1
			}})
	case func(float64) float64:
		return stateless(Func{name: name, number: true, scalar: true, n: 1, m: 1},
			body{plain: func(y, x []float64, _ engine.Context) int {
				y[0] = g(x[0])
				return 1
			}})
	case func(Real) []Real:
		return stateless(Func{name: name, number: true, n: 1, m: -1},
			body{traced: func(y, x []Real, _ engine.Context) int {
				return give(y, g(x[0]))
			}})
	case func(float64) []float64:
		return stateless(Func{name: name, number: true, n: 1, m: -1},
			body{plain: func(y, x []float64, _ engine.Context) int {
				return give(y, g(x[0]))
			}})
	case func([]Real) Real:
		return stateless(Func{name: name, scalar: true, n: -1, m: 1},
			body{traced: func(y, x []Real, _ engine.Context) int {
				y[0] = g(x)
				return 1
			}})
	case func([]float64) float64:
		return stateless(Func{name: name, scalar: true, n: -1, m: 1},
			body{plain: func(y, x []float64, _ engine.Context) int {
				y[0] = g(x)
				return 1
			}})
	case func([]Real) []Real:
		return stateless(Func{name: name, n: -1, m: -1}, body{traced: func(y, x []Real, _ engine.Context) int {
			return give(y, g(x))
		}})
	case func([]float64) []float64:
		return stateless(Func{name: name, n: -1, m: -1}, body{plain: func(y, x []float64, _ engine.Context) int {
			return give(y, g(x))
		}})
	}
	return nil
}

// give copies out, the result of a function, to y and returns its length. out may be the
// function's own input.
func give[T Number](y, out []T) int {
	copy(y, out)
	return len(out)
}

// stateless returns a copy of f with the body b, whose evaluations share nothing but the user's
// function.
func stateless(f Func, b body) *Func {
	f.fresh = func() body { return b }
	return &f
}

// namedFunc returns the name of function f and f as a value of an unnamed type.
func namedFunc(op string, f any) (string, any, error) {
	v := reflect.ValueOf(f)
	switch {
	case !v.IsValid():
		return "", nil, &FuncError{Op: op, Problem: "the function is nil"}
	case v.Kind() != reflect.Func:
		return "", nil, &FuncError{Op: op, Problem: fmt.Sprintf("got a %T, want a function", f)}
	case v.IsNil():
		return "", nil, &FuncError{Op: op, Problem: fmt.Sprintf("the function is nil (a %T)", f)}
	}
	t := v.Type()
	if t.Name() != "" {
		ins, outs := make([]reflect.Type, t.NumIn()), make([]reflect.Type, t.NumOut())
		for i := range ins {
			ins[i] = t.In(i)
		}
		for i := range outs {
			outs[i] = t.Out(i)
		}
		f = v.Convert(reflect.FuncOf(ins, outs, t.IsVariadic())).Interface()
	}
	return funcName(v.Pointer()), f, nil
}

// funcName returns the name of the function with the given entry, in the form package.Func.
func funcName(entry uintptr) string {
	fn := runtime.FuncForPC(entry)
	if fn == nil {
		return "unknown"
	}
	name := strings.TrimSuffix(fn.Name(), "-fm")
	path, args, generic := strings.Cut(name, "[")
	path = path[strings.LastIndexByte(path, '/')+1:]
	if generic {
		path += "[" + args
	}
	return path
}

// mayCapture reports whether function f may capture variables: it is a function literal, a method
// value, or made by package reflect. Other functions are named as package.Function,
// package.Type.Method or package.(*Type).Method.
//
// It is a variable for a test that treats all functions as capturing none.
var mayCapture = func(f any) bool {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	if fn == nil {
		return true
	}
	name := withoutArguments(fn.Name())
	parts := strings.Split(name[strings.LastIndexByte(name, '/')+1:], ".")
	return strings.HasSuffix(name, "-fm") || literal(name) || len(parts) > 3 || parts[0] == "reflect"
}

// InPlace returns a Func for f, which writes its m outputs to y. f must write every output before
// reading it: y holds neither zeros nor earlier values, and an output that f leaves unwritten is
// [ErrOutputNotWritten].
func InPlace[F InPlaceFunc](m int, f F) *Func {
	name, g, err := namedFunc("InPlace", f)
	if err == nil && m < 0 {
		err = &ShapeError{Op: "InPlace", Arg: "m", Got: m, Want: 0}
	}
	if err != nil {
		return &Func{err: err}
	}
	fn := Func{name: name, inPlace: true, n: -1, m: m, origin: originOf(g), captures: mayCapture(g)}
	g = withoutError(g)
	if g, ok := g.(func(y, x []Real)); ok {
		return stateless(fn, body{traced: func(y, x []Real, _ engine.Context) int {
			g(y[:len(y):len(y)], x)
			return len(y)
		}})
	}
	h := g.(func(y, x []float64))
	return stateless(fn, body{plain: func(y, x []float64, _ engine.Context) int {
		h(y[:len(y):len(y)], x)
		return len(y)
	}})
}
