package nabla

import (
	"bytes"
	"reflect"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/layout"
)

// A StructArg is the argument p of the generated code of a function of a struct of numbers. Each of the first five
// fields is nil unless the function of [Code] that gets it has the operand, and otherwise a pointer to a struct. Those
// of Dot and Bar have the type of LanesStruct of [Generated] for Tangent4 and Adjoint4.
type StructArg struct {
	Value  any // the struct with the numbers x
	Dot    any // its tangent, with the numbers xdot
	Bar    any // its cotangent: the code adds to its numbers, which become xbar
	BarDot any // the tangent of the cotangent, which becomes xbardot
	Traced any // the struct over Reals, for Generated.Traced
	Bound  any // the bound struct, nil without one
}

// A structCaller calls generated code of a function of a struct with vectors. The views are made when they are first
// needed.
type structCaller struct {
	layout, lanes           *layout.Layout // of the struct, and of that for derivatives in vector mode
	arg                     StructArg
	value, dot, bar, barDot *layout.View[float64]
	dot4, bar4              *layout.View[[4]float64]
}

// structCode returns c, the code of a function of a struct with layout l, as code of a function of vectors. lanes is
// the layout of its derivatives in vector mode, nil if there is none: such functions are left out then.
func structCode(l, lanes *layout.Layout, c Code) (w Code) {
	s := &structCaller{layout: l, lanes: lanes}
	if f := c.Tangent4; f != nil && lanes != nil {
		w.Tangent4 = func(y []float64, ydot [][4]float64, x []float64, xdot [][4]float64, p any) int {
			s.begin(x, p)
			s.arg.Dot = shadow(&s.dot4, s.lanes, xdot)
			return f(y, ydot, x, xdot, &s.arg)
		}
	}
	if f := c.Adjoint4; f != nil && lanes != nil {
		w.Adjoint4 = func(y []float64, xbar [][4]float64, x []float64, ybar [][4]float64, p any) int {
			s.begin(x, p)
			clear(xbar)
			s.arg.Bar = shadow(&s.bar4, s.lanes, xbar)
			k := f(y, xbar, x, ybar, &s.arg)
			s.bar4.Store(xbar)
			return k
		}
	}
	if f := c.Tangent; f != nil {
		w.Tangent = func(y, ydot, x, xdot []float64, p any) int {
			s.begin(x, p)
			s.arg.Dot = shadow(&s.dot, l, xdot)
			return f(y, ydot, x, xdot, &s.arg)
		}
	}
	if f := c.Adjoint; f != nil {
		w.Adjoint = func(y, xbar, x, ybar []float64, p any) int {
			s.begin(x, p)
			s.arg.Bar = s.output(&s.bar, xbar)
			k := f(y, xbar, x, ybar, &s.arg)
			s.bar.Store(xbar)
			return k
		}
	}
	if f := c.Gradient; f != nil {
		w.Gradient = func(xbar, x []float64, p any) {
			s.begin(x, p)
			s.arg.Bar = s.output(&s.bar, xbar)
			f(xbar, x, &s.arg)
			s.bar.Store(xbar)
		}
	}
	if f := c.AdjointTangent; f != nil {
		w.AdjointTangent = func(y, xbar, xbardot, x, xdot, ybar []float64, p any) int {
			s.begin(x, p)
			s.arg.Dot = shadow(&s.dot, l, xdot)
			s.arg.Bar, s.arg.BarDot = s.output(&s.bar, xbar), s.output(&s.barDot, xbardot)
			k := f(y, xbar, xbardot, x, xdot, ybar, &s.arg)
			s.bar.Store(xbar)
			s.barDot.Store(xbardot)
			return k
		}
	}
	if f := c.HVP; f != nil {
		w.HVP = func(hv, x, v []float64, p any) {
			s.begin(x, p)
			s.arg.Dot, s.arg.BarDot = shadow(&s.dot, l, v), s.output(&s.barDot, hv)
			f(hv, x, v, &s.arg)
			s.barDot.Store(hv)
		}
	}
	return w
}

// begin makes x the numbers of the struct and p the bound struct.
func (s *structCaller) begin(x []float64, p any) {
	if s.value == nil {
		s.value = s.layout.View()
	}
	s.value.Bind(x)
	s.arg = StructArg{Value: s.value.Ptr(), Bound: p}
}

// shadow returns the struct of a derivative with the numbers v and the layout l.
func shadow[T any](view **layout.View[T], l *layout.Layout, v []T) any {
	if *view == nil {
		*view = layout.Shadow[T](l)
	}
	(*view).Bind(v)
	return (*view).Ptr()
}

// output clears v and returns the struct of a derivative with its numbers.
func (s *structCaller) output(view **layout.View[float64], v []float64) any {
	clear(v)
	return shadow(view, s.layout, v)
}

// lanesOf returns the layout of the derivatives of f in vector mode, nil if g, the code of f, has no struct for them
// that has all numbers.
func (f *Func) lanesOf(g *Generated) *layout.Layout {
	t := reflect.TypeOf(g.LanesStruct)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil
	}
	l, err := f.layout.InLanes("Register", f.name, t.Elem(), reflect.TypeFor[[4]float64]())
	if err != nil {
		return nil
	}
	return l
}

// A tracedForm is Traced of a [Generated] with the structs that it takes. c has the bound struct, nil without one.
type tracedForm func(y, x []Real, c engine.Context) (outputs int, err error)

// tracedForm returns Traced of g, the code of f, nil if there is none. An error reports a type of g that does not match
// the struct of f. The result must not be called by two goroutines at the same time.
func (f *Func) tracedForm(g Generated) (tracedForm, error) {
	if g.Traced == nil {
		return nil, nil
	}
	bound := func(c engine.Context) (any, error) {
		if c == nil {
			return nil, nil
		}
		return c.Arg(), nil
	}
	if t := reflect.TypeOf(g.TracedBound); t != nil && t.Kind() == reflect.Pointer {
		bound = (&constantStruct{name: f.name, typ: t.Elem()}).of
	}
	if f.layout == nil {
		return func(y, x []Real, c engine.Context) (int, error) {
			p, err := bound(c)
			if err != nil {
				return 0, err
			}
			return g.Traced(y, x, p), nil
		}, nil
	}
	t := reflect.TypeOf(g.TracedStruct)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil, &FuncError{Op: "Register", Function: f.name,
			Problem: "Generated has Traced and no TracedStruct"}
	}
	l, err := f.layout.Over("Register", f.name, t.Elem(), realType)
	if err != nil {
		return nil, err
	}
	r := reflect.New(t.Elem())
	in, arg := l.Instance(r.Elem()), &StructArg{Traced: r.Interface()}
	return func(y, x []Real, c engine.Context) (_ int, err error) {
		if arg.Bound, err = bound(c); err != nil {
			return 0, err
		}
		layout.Load(in, x)
		return g.Traced(y, x, arg), nil
	}, nil
}

// A constantStruct is a copy of a bound struct, of type typ, which has constants in place of floats. It is made again
// when the bound struct has changed.
type constantStruct struct {
	name     string
	typ      reflect.Type
	was, now []byte // snapshots of the bound struct: of the copy, and the last one
	in       *layout.Instance
	x        []Real // its numbers
	ptr      any    // pointer to the copy
}

// of returns a pointer to the copy of the bound struct of c. The function that got it last may have written to it. It
// does not allocate unless the bound struct has changed or leads to a map.
func (s *constantStruct) of(c engine.Context) (any, error) {
	if s.now = c.Snapshot(s.now[:0]); s.in == nil || !bytes.Equal(s.was, s.now) {
		s.in = nil
		if err := s.copy(c.Arg()); err != nil {
			return nil, err
		}
		s.was, s.now = s.now, s.was
	}
	layout.Load(s.in, s.x)
	return s.ptr, nil
}

// copy makes the copy of the struct that p points to.
func (s *constantStruct) copy(p any) error {
	v := reflect.ValueOf(p).Elem()
	l, err := layout.New(layout.Source{Op: "Bind", Function: s.name, Struct: v, Param: v.Type(), Real: realType,
		Plain: true})
	if err != nil {
		return err
	}
	o, err := l.Over("Bind", s.name, s.typ, realType)
	if err != nil {
		return err
	}
	x := make([]float64, l.Len())
	l.Flatten("Bind", x, v)
	s.x = make([]Real, len(x))
	for i := range x {
		s.x[i] = Const(x[i])
	}
	r := reflect.New(s.typ)
	s.in, s.ptr = o.Instance(r.Elem()), r.Interface()
	return nil
}
