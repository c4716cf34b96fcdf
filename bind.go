package nabla

import (
	"fmt"
	"reflect"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/binding"
)

// Bind is f with the struct that p points to as its last argument. The struct is
// read at every call: what the caller writes to it between calls is seen, and
// nothing is passed at the call. The struct must not be written while a derivative
// is computed.
//
// What the fields of the struct are to a function over Reals:
//
//	Real, Vec                 parameters: not differentiated, may change freely
//	Scratch                   workspace, one for each prepared object
//	bool, numbers, strings    structure: a change makes a recording anew
//	arrays, structs of these  as their elements
//	anything else             refused, with a *ContextError
//	tagged `nabla:"fixed"`    read as it is; the caller promises that it never changes
//
// Such a function gets a copy of the struct and may not change it: that is a
// *ContextError too. A function over plain numbers gets p itself, any fields will do,
// and it may write to them and to what they lead to.
//
// Where several goroutines work for such a function, an engine's Workers or a prepared
// object and its clones, each has memory of its own for all that may be written, brought
// up to date before each call: what one writes the others do not see, and of an object
// that was cloned nobody. Generated code says which fields the function and its
// derivatives leave alone, with all that these lead to. They are shared, and the struct
// itself is where they are all its fields; what leads to written memory, or overlaps it,
// is not. Of a function without such code, the struct and all memory that it leads to is
// copied. Fields tagged `nabla:"fixed"` are shared in any case, for large data that a black box only
// reads. Function values, channels and maps with pointers have no copy: the tag, or a
// *ContextError where one is needed. Nobody may write to the struct while a call is under way.
// A [LinearOp] and a [HessianOp] work with the struct of the object that they come from,
// and with that in one goroutine at a time where the function writes to it.
//
// Where the function has generated code over Reals (see [Register]), an
// engine that replays records anew whenever anything that can be reached from the
// struct has changed; workspace and large data that never changes are better tagged.
func Bind[F FuncOf[P], P any](f F, p P) *Func {
	fn, g := bound[P]("Bind", f, p)
	if fn.err != nil {
		return fn
	}
	return outOfPlace(fn, p, g)
}

// outOfPlace completes fn, which is g with the struct p.
func outOfPlace[P any](fn *Func, p P, g any) *Func {
	fn.n, fn.m = -1, -1
	switch g := g.(type) {
	case func([]Real, P) Real:
		fn.m, fn.scalar = 1, true
		return traced(fn, p, func(y, x []Real, c engine.Context) int {
			y[0] = g(x, argOf[P](c))
			return 1
		})
	case func([]Real, P) []Real:
		return traced(fn, p, func(y, x []Real, c engine.Context) int {
			return giveReals(y, g(x, argOf[P](c)))
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
			return giveFloats(y, h(x, argOf[P](c)))
		}})
	}
}

// BindInPlace is f(y, x, p), which writes m outputs into y, with the struct that p
// points to. See [Bind] for the struct and [InPlace] for the outputs.
func BindInPlace[F InPlaceOf[P], P any](m int, f F, p P) *Func {
	fn, g := bound[P]("BindInPlace", f, p)
	if fn.err == nil && m < 0 {
		fn.err = &ShapeError{Op: "BindInPlace", Arg: "m", Got: m, Want: 0}
	}
	if fn.err != nil {
		return fn
	}
	fn.inPlace, fn.n, fn.m = true, -1, m
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

// BindMethod is the method f, given as a method expression such as (*Model).Loss or
// (*Model).Residuals, of the struct that p points to. See [Bind]. A method value,
// model.Loss, would hide the struct.
func BindMethod[F MethodOf[P], P any](f F, p P) *Func {
	fn, g := bound[P]("BindMethod", f, p)
	if fn.err != nil {
		return fn
	}
	switch h := g.(type) {
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

// bound checks f and p and returns the beginnings of a Func, whose struct is that
// of a plain function so far, and f as a value of an unnamed type.
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

// traced makes fn a function over Reals.
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

// realType is that of Real; fieldTypes are the types with a meaning as fields of a bound struct.
var (
	realType   = reflect.TypeFor[Real]()
	fieldTypes = binding.Types{Real: realType, Vec: reflect.TypeFor[Vec](), Scratch: reflect.TypeFor[Scratch]()}
)

// argOf returns the struct that the function bound to c gets.
func argOf[P any](c engine.Context) P { return c.Arg().(P) }
