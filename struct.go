package nabla

import (
	"fmt"
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
func Struct[S, R any](f func(*R) Real, s *S) (*Func, *Layout[S], error) {
	return structFunc("Struct", f, f, s)
}

// StructWithError is [Struct] for a function that may return an error. An error that is not nil ends the call of the
// operator, which returns it in a [*ReturnedError].
func StructWithError[S, R any](f func(*R) (Real, error), s *S) (*Func, *Layout[S], error) {
	return structFunc("StructWithError", f, valueIn(f), s)
}

// structFunc returns the Func of the function f over Reals, and its layout. call is f without an error.
func structFunc[S, R any](op string, f any, call func(*R) Real, s *S) (*Func, *Layout[S], error) {
	l, name, _, err := layoutOf[R](op, f, s, false)
	if err != nil {
		return nil, nil, err
	}
	fn := &Func{name: name, scalar: true, n: l.Len(), m: 1, captures: l.Shares() || mayCapture(f)}
	fn.fresh = func() body {
		r := new(R)
		in := l.Instance(reflect.ValueOf(r).Elem())
		return body{traced: func(y, x []Real, _ engine.Context) int {
			layout.Load(in, x)
			y[0] = call(r)
			return 1
		}}
	}
	return fn, &Layout[S]{l}, nil
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
	l, name, g, err := layoutOf[S]("StructPlain", f, s, true)
	if err != nil {
		return nil, nil, err
	}
	call, ok := g.(func(*S) float64)
	if !ok {
		call = valueIn(g.(func(*S) (float64, error)))
	}
	fn := &Func{name: name, origin: originOf(g), captures: l.Shares() || mayCapture(g)}
	fn.plainStruct(l, func(s any, _ engine.Context) float64 { return call(s.(*S)) })
	return fn, &Layout[S]{l}, nil
}

// plainStruct completes f as the function call of a struct of numbers with layout l.
func (f *Func) plainStruct(l *layout.Layout, call func(s any, c engine.Context) float64) {
	f.scalar, f.n, f.m, f.layout = true, l.Len(), 1, l
	f.fresh = func() body {
		v := l.View()
		return body{plain: func(y, x []float64, c engine.Context) int {
			v.Bind(x)
			y[0] = call(v.Ptr(), c)
			return 1
		}}
	}
}

// BindStruct is like [Struct] for a function that also reads a second struct, which is not
// differentiated. See [Bind] for the second struct.
func BindStruct[S, R, P any](f func(*R, P) Real, s *S, p P) (*Func, *Layout[S], error) {
	return boundStruct("BindStruct", f, f, s, p)
}

// BindStructWithError is [BindStruct] for a function that may return an error; see [StructWithError].
func BindStructWithError[S, R, P any](f func(*R, P) (Real, error), s *S, p P) (*Func, *Layout[S], error) {
	return boundStruct("BindStructWithError", f, valueAt(f), s, p)
}

// boundStruct returns the Func of the function f over Reals with the bound struct p, and its layout. call is f without
// an error.
func boundStruct[S, R, P any](op string, f any, call func(*R, P) Real, s *S, p P) (*Func, *Layout[S], error) {
	l, _, _, err := layoutOf[R](op, f, s, false)
	if err != nil {
		return nil, nil, err
	}
	fn, _ := bound[P](op, f, p)
	if fn.err != nil {
		return nil, nil, fn.err
	}
	fn.scalar, fn.n, fn.m, fn.captures = true, l.Len(), 1, fn.captures || l.Shares()
	if fn = traced(fn, p, nil); fn.err != nil {
		return nil, nil, fn.err
	}
	fn.fresh = func() body {
		r := new(R)
		in := l.Instance(reflect.ValueOf(r).Elem())
		return body{traced: func(y, x []Real, c engine.Context) int {
			layout.Load(in, x)
			y[0] = call(r, argOf[P](c))
			return 1
		}}
	}
	return fn, &Layout[S]{l}, nil
}

// BindStructPlain is like [StructPlain] for a function that also reads a second struct, its data, which is not
// differentiated: func Loss(m *Model, d *Data) float64, or the method expression (*Model).Loss. See [Bind] for the
// second struct. nabla gen generates derivatives with respect to the first one only if f is passed to BindStructPlain
// in its package, or has the comment //nabla:differentiate with wrt= and the name of the first parameter.
func BindStructPlain[F StructFuncOf[S, P], S, P any](f F, s *S, p P) (*Func, *Layout[S], error) {
	l, _, g, err := layoutOf[S]("BindStructPlain", f, s, true)
	if err != nil {
		return nil, nil, err
	}
	fn, _ := bound[P]("BindStructPlain", f, p)
	if fn.err != nil {
		return nil, nil, fn.err
	}
	call, ok := g.(func(*S, P) float64)
	if !ok {
		call = valueAt(g.(func(*S, P) (float64, error)))
	}
	fn.captures = fn.captures || l.Shares()
	fn.plainStruct(l, func(s any, c engine.Context) float64 { return call(s.(*S), argOf[P](c)) })
	return fn, &Layout[S]{l}, nil
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

// layoutOf returns the layout of the struct s for f, whose parameter has the type R, and the name of f and f converted
// to an unnamed type. plain selects the pairing for functions over float64.
func layoutOf[R, S any](op string, f any, s *S, plain bool) (*layout.Layout, string, any, error) {
	name, g, err := namedFunc(op, f)
	switch {
	case err != nil:
		return nil, "", nil, err
	case s == nil:
		return nil, "", nil, &FuncError{Op: op, Function: name, Problem: fmt.Sprintf("the struct is nil (a %T)", s)}
	}
	l, err := layout.New(layout.Source{Op: op, Function: name, Struct: reflect.ValueOf(s).Elem(),
		Param: reflect.TypeFor[R](), Real: realType, Plain: plain})
	return l, name, g, err
}
