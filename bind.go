package nabla

import (
	"fmt"
	"reflect"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/binding"
)

// Bind returns a Func that calls f with the struct that p points to as its last argument. The
// struct is read at every call: values that the caller writes to it between calls are seen, and
// nothing is passed at the call. The struct must not be written while a derivative is computed.
//
// A function over Reals treats the fields of the struct as follows:
//
//	Real, Vec                 parameters: not differentiated, may change freely
//	Scratch                   workspace, one for each prepared object
//	bool, numbers, strings    structure: a change causes a new recording
//	arrays, structs of these  as their elements
//	anything else             refused, with a *ContextError
//	tagged `nabla:"fixed"`    read as it is; the caller promises that it never changes
//
// Such a function gets a copy of the struct and must not change it; doing so is a *ContextError
// too. A function over plain numbers gets p itself. Its struct may have fields of any type, and the
// function may write to them and to memory that they refer to.
//
// If several goroutines work for such a function, as an engine's Workers or as a prepared object
// and its clones, each has its own copy of all memory that may be written, brought up to date
// before each call: no goroutine sees the writes of another, and the caller sees none of an object
// that has been cloned. Generated code lists the fields that neither the function nor its
// derivatives write, directly or through references. These fields are shared, and if they are all
// fields of the struct, so is the struct itself; a field that refers to written memory, or overlaps
// it, is not shared. For a function without such code, the struct and all memory reachable from it
// are copied. Fields tagged `nabla:"fixed"` are always shared, for large data that a black box only
// reads. Function values, channels and maps with pointers cannot be copied: they need the tag, and
// without it a copy is a *ContextError. The struct must not be written while a call is in progress.
// A [LinearOp] and a [HessianOp] work with the struct of the object that created them, and share it
// with that object: if the function writes to the struct, only one goroutine may use them at a
// time.
//
// If the function has generated code over Reals (see [Register]), an engine that replays recordings
// records again whenever anything reachable from the struct has changed. Workspace and large data
// that never change should therefore be tagged.
func Bind[F FuncOf[P], P any](f F, p P) *Func {
	fn, g := bound[P]("Bind", f, p)
	if fn.err != nil {
		return fn
	}
	return outOfPlace(fn, p, g)
}

// outOfPlace completes fn, the Func of function g with the struct p. The type of g, one of those in
// [FuncOf], determines the number of outputs and the body.
func outOfPlace[P any](fn *Func, p P, g any) *Func {
	fn.n, fn.m = -1, -1
	switch g := withoutErrorOf[P](g).(type) {
	case func([]Real, P) Real:
		fn.m, fn.scalar = 1, true
		return traced(fn, p, func(y, x []Real, c engine.Context) int {
			y[0] = g(x, argOf[P](c))
			return 1
		})
	case func([]Real, P) []Real:
		return traced(fn, p, func(y, x []Real, c engine.Context) int {
			return give(y, g(x, argOf[P](c)))
		})
	case func([]float64, P) float64:
		fn.m, fn.scalar = 1, true
		return stateless(*fn, body{plain: func(y, x []float64, c engine.Context) int {
			y[0] = g(x, argOf[P](c))
			return 1
		}})
	default:
		h := g.(func([]float64, P) []float64)
		return stateless(*fn, body{plain: func(y, x []float64, c engine.Context) int {
			return give(y, h(x, argOf[P](c)))
		}})
	}
}

// BindInPlace returns a Func that calls f(y, x, p), where f writes m outputs to y and reads the
// struct that p points to. See [Bind] for the struct and [InPlace] for the outputs.
func BindInPlace[F InPlaceOf[P], P any](m int, f F, p P) *Func {
	fn, g := bound[P]("BindInPlace", f, p)
	if fn.err == nil && m < 0 {
		fn.err = &ShapeError{Op: "BindInPlace", Arg: "m", Got: m, Want: 0}
	}
	if fn.err != nil {
		return fn
	}
	fn.inPlace, fn.n, fn.m = true, -1, m
	g = withoutErrorOf[P](g)
	if g, ok := g.(func(y, x []Real, p P)); ok {
		return traced(fn, p, func(y, x []Real, c engine.Context) int {
			g(y[:len(y):len(y)], x, argOf[P](c))
			return len(y)
		})
	}
	h := g.(func(y, x []float64, p P))
	return stateless(*fn, body{plain: func(y, x []float64, c engine.Context) int {
		h(y[:len(y):len(y)], x, argOf[P](c))
		return len(y)
	}})
}

// BindMethod returns a Func that calls the method f on the struct that p points to; see [Bind]. The
// method is given as a method expression such as (*Model).Loss or (*Model).Residuals. A method
// value, model.Loss, would hide the struct.
func BindMethod[F MethodOf[P], P any](f F, p P) *Func {
	fn, g := bound[P]("BindMethod", f, p)
	if fn.err != nil {
		return fn
	}
	switch h := withoutErrorOf[P](g).(type) {
	case func(P, []Real) Real:
		g = func(x []Real, p P) Real { return h(p, x) }
	case func(P, []Real) []Real:
		g = func(x []Real, p P) []Real { return h(p, x) }
	case func(P, []float64) float64:
		g = func(x []float64, p P) float64 { return h(p, x) }
	case func(P, []float64) []float64:
		g = func(x []float64, p P) []float64 { return h(p, x) }
	}
	return outOfPlace(fn, p, g)
}

// bound checks f and p. It returns an incomplete Func, whose struct is bound as for a function over
// plain numbers, and f converted to an unnamed type. Errors are stored in the Func.
func bound[P any](op string, f any, p P) (*Func, any) {
	name, g, err := namedFunc(op, f)
	if err != nil {
		return &Func{err: err}, nil
	}
	fn := &Func{name: name, origin: originOf(g), captures: mayCapture(g)}
	switch t := reflect.TypeFor[P](); {
	case t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct:
		fn.err = &FuncError{Op: op, Function: name,
			Problem: fmt.Sprintf("the bound value is a %s, want a pointer to a struct", t)}
	case reflect.ValueOf(p).IsNil():
		fn.err = &FuncError{Op: op, Function: name, Problem: fmt.Sprintf("the bound struct is nil (a %s)", t)}
	}
	fn.context = func() *binding.Binding { return binding.New(nil, p) }
	return fn, g
}

// traced completes fn as a function over Reals with the body b and checks the fields of the bound
// struct. If b is nil, the caller sets the body.
func traced[P any](fn *Func, p P, b func(y, x []Real, c engine.Context) int) *Func {
	fields, err := binding.FieldsOf(reflect.TypeFor[P]().Elem(), fieldTypes)
	if err != nil {
		fn.err = err
		return fn
	}
	fn.context = func() *binding.Binding { return binding.New(fields, p) }
	if b == nil {
		return fn
	}
	return stateless(*fn, body{traced: b})
}

// realType is the type of Real; fieldTypes are the types with a special meaning as fields of a
// bound struct.
var (
	realType   = reflect.TypeFor[Real]()
	fieldTypes = binding.Types{Real: realType, Vec: reflect.TypeFor[Vec](), Scratch: reflect.TypeFor[Scratch]()}
)

// argOf returns the struct to pass to the function bound to c.
func argOf[P any](c engine.Context) P { return c.Arg().(P) }
