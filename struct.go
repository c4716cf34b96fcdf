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
	l, name, err := layoutOf[R]("Struct", f, s, false)
	if err != nil {
		return nil, nil, err
	}
	fn := &Func{name: name, scalar: true, n: l.Len(), m: 1, captures: l.Shares() || mayCapture(f)}
	fn.fresh = func() body {
		r := new(R)
		in := l.Instance(reflect.ValueOf(r).Elem())
		return body{traced: func(y, x []Real, _ engine.Context) int {
			layout.Load(in, x)
			y[0] = f(r)
			return 1
		}}
	}
	return fn, &Layout[S]{l}, nil
}

// StructPlain is like [Struct] for a function over plain numbers. All fields and elements of type
// float64 or complex128, or of a type whose underlying type is one of them, are differentiated.
func StructPlain[S any](f func(*S) float64, s *S) (*Func, *Layout[S], error) {
	l, name, err := layoutOf[S]("StructPlain", f, s, true)
	if err != nil {
		return nil, nil, err
	}
	fn := &Func{name: name, scalar: true, n: l.Len(), m: 1}
	fn.fresh = func() body {
		r := new(S)
		in := l.Instance(reflect.ValueOf(r).Elem())
		return body{plain: func(y, x []float64, _ engine.Context) int {
			layout.Load(in, x)
			y[0] = f(r)
			return 1
		}}
	}
	return fn, &Layout[S]{l}, nil
}

// BindStruct is like [Struct] for a function that also reads a second struct, which is not
// differentiated. See [Bind] for the second struct.
func BindStruct[S, R, P any](f func(*R, P) Real, s *S, p P) (*Func, *Layout[S], error) {
	l, _, err := layoutOf[R]("BindStruct", f, s, false)
	if err != nil {
		return nil, nil, err
	}
	fn, _ := bound[P]("BindStruct", f, p)
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
			y[0] = f(r, argOf[P](c))
			return 1
		}}
	}
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
		panic(&FuncError{Op: op, Problem: "the Layout is nil or empty; Struct, StructPlain and BindStruct give one"})
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

// layoutOf returns the layout of the struct s for f, whose parameter has the type R, and the name of f. plain selects
// the pairing for functions over float64.
func layoutOf[R, S any](op string, f any, s *S, plain bool) (*layout.Layout, string, error) {
	name, _, err := namedFunc(op, f)
	switch {
	case err != nil:
		return nil, "", err
	case s == nil:
		return nil, "", &FuncError{Op: op, Function: name, Problem: fmt.Sprintf("the struct is nil (a %T)", s)}
	}
	l, err := layout.New(layout.Source{Op: op, Function: name, Struct: reflect.ValueOf(s).Elem(),
		Param: reflect.TypeFor[R](), Real: realType, Plain: plain})
	return l, name, err
}
