package nabla

import (
	"fmt"
	"math"
	"reflect"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/layout"
)

// Struct returns f, a function of a struct of parameters, as a function of the numbers in it, and
// the layout that copies them from a struct to a vector and back. The struct type is written once,
// with the number type as a parameter:
//
//	type Params[T any] struct { W []T; B T; Layers int }
//
//	f, layout, err := nabla.Struct(model, params) // model(*Params[nabla.Real]) nabla.Real
//	grad, err := nabla.Gradient(f, b, layout.Flatten(nil, params))
//
// A model that returns a slice is a function with several outputs: column i of its Jacobian belongs to the number
// layout.Name(i).
//
// Numbers that are float64 in S and Real in R, and the parts of those that are complex128 in S and [Complex] in R, are
// differentiated: fields, elements of arrays and slices, at any depth, also behind pointers and in unexported fields.
// The parts of Z are named Z.Re and Z.Im. The rest is structure and
// must be the same in both types; f sees it as it is in s now, lengths of slices included,
// regardless of later changes to s. Maps, channels, functions, interfaces and pointers to memory
// without numbers are shared with s instead. Memory reached by two pointers, or by two equal
// slices, counts once.
//
// Every prepared object has a struct of its own, which f may write to: it is restored before the
// next call, except for the parts shared with s.
func Struct[S, R any, Y Outputs](f func(*R) Y, s *S) (*Func, *Layout[S], error) {
	return structFunc[Real, R]("Struct", f, counted, s)
}

// StructWithError is [Struct] for a function that may return an error. An error that is not nil ends the call of the
// operator, which returns it in a [*ReturnedError].
func StructWithError[S, R any, Y Outputs](f func(*R) (Y, error), s *S) (*Func, *Layout[S], error) {
	return structFunc[Real, R]("StructWithError", f, counted, s)
}

// StructPlain is like [Struct] for a function over plain numbers, with or without an error. All fields and elements of
// type float64 or complex128, or of a type whose underlying type is one of them, are differentiated.
//
// If nabla gen has generated code from f, a function or method expression at package level, the engines of package
// source run it, and all others the form over Reals that comes with it:
//
//	f, layout, err := nabla.StructPlain(Energy, params) // func Energy(*Params) float64
//	prep, err := nabla.PrepareGradient(f, source.Reverse{}, layout.Flatten(nil, params))
//
// Slices of numbers in the struct that f gets, and in the struct that the generated code writes the derivatives to, are
// parts of the vectors that are passed to the operator; other numbers are copied. Pullbacks, gradients and
// Hessian-vector products take one run of the code.
func StructPlain[F StructFunc[S], S any](f F, s *S) (*Func, *Layout[S], error) {
	return structFunc[float64, S]("StructPlain", f, counted, s)
}

// StructInPlace is [Struct] for a function over Reals, and [StructPlain] for one over plain numbers, that writes its m
// outputs to y; see [InPlace]. A function over plain numbers takes the struct s itself: R is S.
func StructInPlace[S, R any, T Number](m int, f func(y []T, p *R), s *S) (*Func, *Layout[S], error) {
	return structFunc[T, R]("StructInPlace", f, m, s)
}

// StructInPlaceWithError is [StructInPlace] for a function that may return an error; see [StructWithError].
func StructInPlaceWithError[S, R any, T Number](m int, f func(y []T, p *R) error, s *S) (*Func, *Layout[S], error) {
	return structFunc[T, R]("StructInPlaceWithError", f, m, s)
}

// BindStruct is like [Struct] for a function that also reads a second struct, which is not
// differentiated. See [Bind] for the second struct.
func BindStruct[S, R, P any, Y Outputs](f func(*R, P) Y, s *S, p P) (*Func, *Layout[S], error) {
	return boundStruct[Real, R]("BindStruct", f, counted, s, p)
}

// BindStructWithError is [BindStruct] for a function that may return an error; see [StructWithError].
func BindStructWithError[S, R, P any, Y Outputs](f func(*R, P) (Y, error), s *S, p P) (*Func, *Layout[S], error) {
	return boundStruct[Real, R]("BindStructWithError", f, counted, s, p)
}

// BindStructPlain is like [StructPlain] for a function that also reads a second struct, its data, which is not
// differentiated: func Loss(m *Model, d *Data) float64, or the method expression (*Model).Loss. See [Bind] for the
// second struct. nabla gen generates derivatives with respect to the first one only if f is passed to BindStructPlain
// in its package, or has the comment //nabla:differentiate with wrt= and the name of the first parameter.
func BindStructPlain[F StructFuncOf[S, P], S, P any](f F, s *S, p P) (*Func, *Layout[S], error) {
	return boundStruct[float64, S]("BindStructPlain", f, counted, s, p)
}

// BindStructInPlace is [StructInPlace] for a function that also reads a second struct, which is not differentiated; see
// [BindStruct] and [BindStructPlain].
func BindStructInPlace[S, R, P any, T Number](m int, f func(y []T, s *R, p P), s *S, p P) (*Func, *Layout[S], error) {
	return boundStruct[T, R]("BindStructInPlace", f, m, s, p)
}

// BindStructInPlaceWithError is [BindStructInPlace] for a function that may return an error; see [StructWithError].
func BindStructInPlaceWithError[S, R, P any, T Number](m int, f func(y []T, s *R, p P) error, s *S, p P) (
	*Func, *Layout[S], error,
) {
	return boundStruct[T, R]("BindStructInPlaceWithError", f, m, s, p)
}

// counted stands for the number of outputs of a function that returns them.
const counted = math.MinInt

// structFunc returns the Func of f, a function of an R over numbers of type T, and its layout. m is the number of
// outputs of a function in place, and counted for others.
func structFunc[T Number, R, S any](op string, f any, m int, s *S) (*Func, *Layout[S], error) {
	l, name, g, err := layoutOf[T, R](op, f, m, s)
	if err != nil {
		return nil, nil, err
	}
	call, shape := structCall[T, R](g)
	fn := &Func{name: name, origin: originOf(g), captures: l.Shares() || mayCapture(g)}
	completeStruct(fn, l, shape.outputs(m), func(y []T, r *R, _ engine.Context) int { return call(y, r) })
	return fn, &Layout[S]{l}, nil
}

// boundStruct is structFunc for a function with the bound struct p.
func boundStruct[T Number, R, S, P any](op string, f any, m int, s *S, p P) (*Func, *Layout[S], error) {
	l, _, g, err := layoutOf[T, R](op, f, m, s)
	if err != nil {
		return nil, nil, err
	}
	fn, _ := bound[P](op, f, p)
	if fn.err == nil && !plainNumbers[T]() {
		fn = traced(fn, p, nil)
	}
	if fn.err != nil {
		return nil, nil, fn.err
	}
	call, shape := boundCall[T, R, P](g)
	fn.captures = fn.captures || l.Shares()
	completeStruct(fn, l, shape.outputs(m), func(y []T, r *R, c engine.Context) int { return call(y, r, argOf[P](c)) })
	return fn, &Layout[S]{l}, nil
}

// completeStruct completes f as the function call of a struct with layout l. out is the kind of its outputs.
func completeStruct[T Number, R any](f *Func, l *layout.Layout, out Func, call func([]T, *R, engine.Context) int) {
	f.scalar, f.inPlace, f.n, f.m = out.scalar, out.inPlace, l.Len(), out.m
	if plain, ok := any(call).(func([]float64, *R, engine.Context) int); ok {
		f.layout = l
		f.fresh = func() body {
			v := l.View()
			r := v.Ptr().(*R)
			return body{plain: func(y, x []float64, c engine.Context) int {
				v.Bind(x)
				return plain(y, r, c)
			}}
		}
		return
	}
	over := any(call).(func([]Real, *R, engine.Context) int)
	f.fresh = func() body {
		r := new(R)
		in := l.Instance(reflect.ValueOf(r).Elem())
		return body{traced: func(y, x []Real, c engine.Context) int {
			layout.Load(in, x)
			return over(y, r, c)
		}}
	}
}

// An outputShape says how a function returns its outputs.
type outputShape uint8

const (
	oneNumber outputShape = iota
	aSlice
	inPlace
)

// outputs returns a Func with the fields that the shape determines. m is the number of outputs of a function in place.
func (s outputShape) outputs(m int) Func {
	switch s {
	case oneNumber:
		return Func{scalar: true, m: 1}
	case aSlice:
		return Func{m: -1}
	}
	return Func{inPlace: true, m: m}
}

// structCall returns f, a function of a struct R over numbers of type T, as one that writes its outputs to y and
// returns their number.
func structCall[T Number, R any](f any) (call func(y []T, r *R) int, shape outputShape) {
	switch f := f.(type) {
	case func(*R) (T, error):
		return structCall[T, R](valueIn(f))
	case func(*R) ([]T, error):
		return structCall[T, R](valueIn(f))
	case func([]T, *R) error:
		return structCall[T, R](func(y []T, r *R) { endOn(f(y, r)) })
	case func(*R) T:
		return func(y []T, r *R) int {
			y[0] = f(r)
			return 1
		}, oneNumber
	case func(*R) []T:
		return func(y []T, r *R) int { return give(y, f(r)) }, aSlice
	}
	write := f.(func([]T, *R))
	return func(y []T, r *R) int {
		write(y[:len(y):len(y)], r)
		return len(y)
	}, inPlace
}

// boundCall is structCall for a function with a bound struct of type P.
func boundCall[T Number, R, P any](f any) (call func(y []T, r *R, p P) int, shape outputShape) {
	switch f := f.(type) {
	case func(*R, P) (T, error):
		return boundCall[T, R, P](valueAt(f))
	case func(*R, P) ([]T, error):
		return boundCall[T, R, P](valueAt(f))
	case func([]T, *R, P) error:
		return boundCall[T, R, P](func(y []T, r *R, p P) { endOn(f(y, r, p)) })
	case func(*R, P) T:
		return func(y []T, r *R, p P) int {
			y[0] = f(r, p)
			return 1
		}, oneNumber
	case func(*R, P) []T:
		return func(y []T, r *R, p P) int { return give(y, f(r, p)) }, aSlice
	}
	write := f.(func([]T, *R, P))
	return func(y []T, r *R, p P) int {
		write(y[:len(y):len(y)], r, p)
		return len(y)
	}, inPlace
}

// Layout is the order of the numbers of a struct in a slice. It is never changed and may be shared
// by goroutines.
type Layout[S any] struct{ l *layout.Layout }

// Len returns the number of numbers.
func (l *Layout[S]) Len() int {
	if l == nil || l.l == nil {
		return 0
	}
	return l.l.Len()
}

// made returns the layout of l. It panics if l is nil or the zero value, or if the struct s is nil.
func (l *Layout[S]) made(op string, s *S) *layout.Layout {
	switch {
	case l == nil || l.l == nil:
		panic(&FuncError{Op: op,
			Problem: "the Layout is nil or empty; Struct, StructPlain, BindStruct and BindStructPlain return one"})
	case s == nil:
		panic(&FuncError{Op: op, Problem: fmt.Sprintf("the struct is nil (a %T)", s)})
	}
	return l.l
}

// Name returns the path of number i in the struct, such as "Layers[0].W[3]".
func (l *Layout[S]) Name(i int) string {
	known := l.made("Layout.Name", new(S))
	if n := known.Len(); i < 0 || i >= n {
		panic(fmt.Sprintf("nabla: Layout.Name: there is no number %d, want one of %d", i, n))
	}
	return known.Name(i)
}

// Flatten writes the numbers of s to dst and returns it. A nil dst is allocated; otherwise its
// length must be Len. It panics with a *ShapeError if that is not so or if a slice of s has another
// length than in the struct that Struct was given, and with a *FuncError if a pointer of one of the
// two is nil and not the other, or if s or l is nil.
func (l *Layout[S]) Flatten(dst []float64, s *S) []float64 {
	known := l.made("Layout.Flatten", s)
	if dst == nil {
		dst = make([]float64, known.Len())
	}
	if n := known.Len(); len(dst) != n {
		panic(&ShapeError{Op: "Layout.Flatten", Arg: "len(dst)", Got: len(dst), Want: n})
	}
	known.Flatten("Layout.Flatten", dst, reflect.ValueOf(s).Elem())
	return dst
}

// Unflatten writes the numbers in x to their places in s. Slices of another length than in the
// struct that Struct was given and nil pointers are replaced by new ones, with its structure; the
// rest of s is not modified. It panics with a *ShapeError unless the length of x is Len, and with a
// *FuncError if s or l is nil.
func (l *Layout[S]) Unflatten(s *S, x []float64) {
	known := l.made("Layout.Unflatten", s)
	if n := known.Len(); len(x) != n {
		panic(&ShapeError{Op: "Layout.Unflatten", Arg: "len(x)", Got: len(x), Want: n})
	}
	known.Unflatten(reflect.ValueOf(s).Elem(), x)
}

// layoutOf returns the layout of the struct s for f, whose parameter is an R and which computes with numbers of type T,
// and the name of f and f converted to an unnamed type. m is as in structFunc.
func layoutOf[T Number, R, S any](op string, f any, m int, s *S) (*layout.Layout, string, any, error) {
	name, g, err := namedFunc(op, f)
	switch {
	case err != nil:
		return nil, "", nil, err
	case m < 0 && m != counted:
		return nil, "", nil, &ShapeError{Op: op, Arg: "m", Got: m, Want: 0}
	case s == nil:
		return nil, "", nil, &FuncError{Op: op, Function: name, Problem: fmt.Sprintf("the struct is nil (a %T)", s)}
	case plainNumbers[T]() && reflect.TypeFor[R]() != reflect.TypeFor[S]():
		return nil, "", nil, &FuncError{Op: op, Function: name, Problem: fmt.Sprintf("it takes a %T and the struct is "+
			"a %T; want one type for a function over float64", new(R), s)}
	}
	l, err := layout.New(layout.Source{Op: op, Function: name, Struct: reflect.ValueOf(s).Elem(),
		Param: reflect.TypeFor[R](), Real: realType, Plain: plainNumbers[T]()})
	return l, name, g, err
}

// plainNumbers reports whether T is float64.
func plainNumbers[T Number]() bool { return reflect.TypeFor[T]() != realType }
