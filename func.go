package nabla

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/binding"
	"github.com/nabla-ad/nabla/rules"
)

// What operators accept. A type parameter whose name begins with F takes the
// functions of one of these; a generic function must be instantiated
// (Loss[nabla.Real]). Anything of another shape becomes a [Func] first.
type (
	// ScalarFunc is a function with many inputs and one output.
	ScalarFunc interface {
		~func([]Real) Real | ~func([]float64) float64 | *Func
	}
	// VectorFunc is a function with many inputs and many outputs.
	VectorFunc interface {
		~func([]Real) []Real | ~func([]float64) []float64 | *Func
	}
	// ScalarScalar is a function with one input and one output.
	ScalarScalar interface {
		~func(Real) Real | ~func(float64) float64 | *Func
	}
	// CurveFunc is a function with one input and many outputs.
	CurveFunc interface {
		~func(Real) []Real | ~func(float64) []float64 | *Func
	}
	// AnyFunc is a function with many inputs and one output or many.
	AnyFunc interface {
		~func([]Real) Real | ~func([]float64) float64 | ~func([]Real) []Real | ~func([]float64) []float64 | *Func
	}
	// InPlaceFunc is a function that writes its outputs into y.
	InPlaceFunc interface {
		~func(y, x []Real) | ~func(y, x []float64)
	}
	// FuncOf is a function that reads a struct besides its inputs.
	FuncOf[P any] interface {
		~func([]Real, P) Real | ~func([]float64, P) float64 | ~func([]Real, P) []Real | ~func([]float64, P) []float64
	}
	// InPlaceOf is a function that writes into y and reads a struct.
	InPlaceOf[P any] interface {
		~func(y, x []Real, p P) | ~func(y, x []float64, p P)
	}
	// MethodOf is a method expression such as (*Model).Loss.
	MethodOf[P any] interface {
		~func(P, []Real) Real | ~func(P, []float64) float64 | ~func(P, []Real) []Real | ~func(P, []float64) []float64
	}
)

// What is asked of a function wherever it is passed:
//
//  1. It does not keep its arguments or its in-place output after it returns.
//  2. At one point it takes the same branches and gives the same outputs, as
//     many as before.
//  3. Over Reals, it computes with Reals from its inputs to its outputs.
//
// It may write to its input x, which is a copy of the caller's.

// Func is a function in one of the unusual shapes: in place, with a bound struct,
// or over a struct of parameters. It is made by [InPlace], [Bind], [BindInPlace],
// [BindMethod], [Struct], [StructPlain] and [BindStruct], is never changed, and may
// be shared by goroutines. What is wrong with it is reported by Prepare.
type Func struct {
	name     string
	err      error
	captures bool // may read variables that it captures
	number   bool // takes one number: inputs have length 1
	scalar   bool // returns one number
	inPlace  bool
	n        int // inputs; -1 where any number will do
	m        int // outputs; -1 where only an evaluation tells
	fresh    func() body
	context  func() *binding.Binding // nil where no struct is bound
	origin   origin
}

// body evaluates the user's function in the one shape that engines see. It fills y
// and returns how many outputs there are, which the caller compares with len(y).
// For a function that returns a slice, y may be nil to ask for the number only.
type body struct {
	plain  func(y, x []float64, c engine.Context) int
	traced func(y, x []Real, c engine.Context) int
}

// shapeWant is what an operator asks of a function's outputs.
type shapeWant uint8

const (
	wantAny    shapeWant = iota
	wantScalar           // one output
	wantVector           // a slice of outputs, which may be of length 1
)

// functionOf makes the engine's view of f for inputs of the length of x, which is
// 1 for a scalar input. op names the operator in messages. A function that returns
// a slice is evaluated once at x to learn its length.
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

// outputs evaluates f at x to count what it returns. A function over Reals gets
// numbers of a trace, so that one it keeps for a later call is known there.
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
		// It may be that f has values and no derivatives.
	}
	err = engine.NewFunction(d).Value(nil, x)
	return m, err
}

// onlooker is an engine that computes nothing: all numbers are number 1.
type onlooker struct{}

func (onlooker) Unary(rules.Op, int32, float64, float64) int32                  { return 1 }
func (onlooker) Binary(rules.Op, int32, int32, float64, float64, float64) int32 { return 1 }

// def is f for n inputs and m outputs, with state of its own.
func (f *Func) def(op string, n, m int, c engine.Context) engine.Def {
	b := f.fresh()
	d := engine.Def{Name: f.name, N: n, M: m, Context: c, Captures: f.captures}
	if b.plain != nil {
		var own []float64 // f's x: what f does to it, the caller does not see
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

// funcOf describes whatever an operator was given.
func funcOf(op string, f any) *Func {
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
			"float64, one "+
			"that returns a slice, or a *nabla.Func", f)}}
}

// shapeOf is g, of one of the types that operators take, or nil.
func shapeOf(name string, g any) *Func {
	switch g := g.(type) {
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
				return giveReals(y, g(x[0]))
			}})
	case func(float64) []float64:
		return stateless(Func{name: name, number: true, n: 1, m: -1},
			body{plain: func(y, x []float64, _ engine.Context) int {
				return giveFloats(y, g(x[0]))
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
			return giveReals(y, g(x))
		}})
	case func([]float64) []float64:
		return stateless(Func{name: name, n: -1, m: -1}, body{plain: func(y, x []float64, _ engine.Context) int {
			return giveFloats(y, g(x))
		}})
	}
	return nil
}

// giveReals copies what f returned, which may be its own input, and counts it.
func giveReals(y, out []Real) int {
	copy(y, out)
	return len(out)
}

func giveFloats(y, out []float64) int {
	copy(y, out)
	return len(out)
}

// stateless is a Func whose evaluations share nothing but the user's function.
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

// funcName is the function with the given entry as package.Func.
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

// mayCapture reports whether function f may capture variables: it is a function literal,
// a method value, or made by package reflect. Other functions are named as
// package.Function, package.Type.Method or package.(*Type).Method.
//
// It is a variable for a test that takes no function for one that does.
var mayCapture = func(f any) bool {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	if fn == nil {
		return true
	}
	name := withoutArguments(fn.Name())
	parts := strings.Split(name[strings.LastIndexByte(name, '/')+1:], ".")
	return strings.HasSuffix(name, "-fm") || literal(name) || len(parts) > 3 || parts[0] == "reflect"
}

// InPlace is a function that writes its m outputs into y. Every output must be
// written before it is read: y holds no zeros and no earlier values, and an output
// left alone is [ErrOutputNotWritten].
func InPlace[F InPlaceFunc](m int, f F) *Func {
	name, g, err := namedFunc("InPlace", f)
	if err == nil && m < 0 {
		err = &ShapeError{Op: "InPlace", Arg: "m", Got: m, Want: 0}
	}
	if err != nil {
		return &Func{err: err}
	}
	fn := Func{name: name, inPlace: true, n: -1, m: m, origin: originOf(g), captures: mayCapture(g)}
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
