package ir

import "go/types"

// Numbers of a trace in the evaluator: a float of an evaluated function may hold, besides its value, a number that an
// engine differentiates. So a traced function can be run by engines without being printed and compiled.

// A number is a number of a trace.
type number struct{ of any }

// Numbers performs the operations of a traced function that have a number of a trace among their operands. name is "-x"
// for the negation, an operator such as "+" or "<", "float" for a value that leaves the trace, and otherwise that of a
// [Math]. The result is false if the operation is not known.
type Numbers interface {
	Apply(name string, args []Value) (Value, bool)
}

// NumberValue returns a float with the value x and a number of a trace.
func NumberValue(x float64, of any) Value {
	v := floatValue(x)
	v.ref = number{of}
	return v
}

// Number returns the value of a float, and its number of a trace, nil if it holds none.
func (v Value) Number() (x float64, of any) {
	if n, ok := v.ref.(number); ok {
		return v.float(), n.of
	}
	return v.float(), nil
}

// traced reports whether one of the values holds a number of a trace.
func traced(list ...Value) bool {
	for _, v := range list {
		if _, ok := v.ref.(number); ok {
			return true
		}
	}
	return false
}

// numbers performs an operation that has a number of a trace as an operand.
func (m *Machine) numbers(name string, args ...Value) Value {
	if m.Numbers == nil {
		panic(limitError("a number of a trace, and no Numbers"))
	}
	v, ok := m.Numbers.Apply(name, args)
	if !ok {
		panic(limitError("the operation %s of a number of a trace", name))
	}
	return v
}

// leaves returns v, a number of a trace, as a value outside of it if it is converted to another type of numbers than
// Real.
func (m *Machine) leaves(v Value, to types.Type) Value {
	if types.Identical(to, Real) || basic(to) == nil {
		return v
	}
	return m.numbers("float", v)
}

// Leaves calls visit for each number, bool and string that is stored in the values or in memory that they refer to,
// with elements of slices beyond their lengths, once for each place. visit may replace them.
func Leaves(list []Value, visit func(v *Value)) {
	seen := map[*Value]bool{}
	var walk func(v *Value)
	walk = func(v *Value) {
		if seen[v] {
			return
		}
		seen[v] = true
		switch r := v.ref.(type) {
		case slice:
			r = r[:cap(r)]
			for i := range r {
				walk(&r[i])
			}
		case parts:
			for i := range r {
				walk(&r[i])
			}
		case pointer:
			walk(r)
		case boxed:
			walk(&r.v)
			v.ref = r
		default:
			visit(v)
		}
	}
	for i := range list {
		walk(&list[i])
	}
}
