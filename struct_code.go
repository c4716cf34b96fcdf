package nabla

import (
	"reflect"

	"github.com/nabla-ad/nabla/internal/layout"
)

// A StructArg is the argument p of the generated code of a function of a struct of numbers. Each of the first five
// fields is nil unless the function of [Code] that gets it has the operand, and otherwise a pointer to a struct.
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
	layout                  *layout.Layout
	arg                     StructArg
	value, dot, bar, barDot *layout.View
}

// structCode returns c, the code of a function of a struct with layout l, as code of a function of vectors. Functions
// for several directions are left out.
func structCode(l *layout.Layout, c Code) (w Code) {
	s := &structCaller{layout: l}
	if f := c.Tangent; f != nil {
		w.Tangent = func(y, ydot, x, xdot []float64, p any) int {
			s.begin(x, p)
			s.arg.Dot = s.shadow(&s.dot, xdot)
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
			s.arg.Dot = s.shadow(&s.dot, xdot)
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
			s.arg.Dot, s.arg.BarDot = s.shadow(&s.dot, v), s.output(&s.barDot, hv)
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

// shadow returns the struct of a derivative with the numbers v.
func (s *structCaller) shadow(view **layout.View, v []float64) any {
	if *view == nil {
		*view = s.layout.Shadow()
	}
	(*view).Bind(v)
	return (*view).Ptr()
}

// output clears v and returns the struct of a derivative with its numbers.
func (s *structCaller) output(view **layout.View, v []float64) any {
	clear(v)
	return s.shadow(view, v)
}

// A tracedForm is Traced of a [Generated] with the structs that it takes.
type tracedForm func(y, x []Real, p any) (outputs int, err error)

// tracedForm returns Traced of g, the code of f, nil if there is none. An error reports a type of g that does not match
// the struct of f.
func (f *Func) tracedForm(g Generated) (tracedForm, error) {
	if g.Traced == nil {
		return nil, nil
	}
	run := func(y, x []Real, p any) (int, error) { return g.Traced(y, x, p), nil }
	if f.layout != nil {
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
		run = func(y, x []Real, p any) (int, error) {
			layout.Load(in, x)
			arg.Bound = p
			return g.Traced(y, x, arg), nil
		}
	}
	if t := reflect.TypeOf(g.TracedBound); t != nil && t.Kind() == reflect.Pointer {
		inner := run
		run = func(y, x []Real, p any) (int, error) {
			q, err := boundConstants(f.name, p, t.Elem())
			if err != nil {
				return 0, err
			}
			return inner(y, x, q)
		}
	}
	return run, nil
}

// boundConstants returns a pointer to a copy, of type t, of the struct that p points to, which has constants in place
// of floats.
func boundConstants(name string, p any, t reflect.Type) (any, error) {
	s := reflect.ValueOf(p).Elem()
	l, err := layout.New(layout.Source{Op: "Bind", Function: name, Struct: s, Param: s.Type(), Real: realType,
		Plain: true})
	if err != nil {
		return nil, err
	}
	o, err := l.Over("Bind", name, t, realType)
	if err != nil {
		return nil, err
	}
	x, v := make([]float64, l.Len()), make([]Real, l.Len())
	l.Flatten("Bind", x, s)
	for i := range v {
		v[i] = Const(x[i])
	}
	r := reflect.New(t)
	layout.Load(o.Instance(r.Elem()), v)
	return r.Interface(), nil
}
