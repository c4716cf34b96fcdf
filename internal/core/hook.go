package core

import "github.com/nabla-ad/nabla/rules"

// A Hook is the operator overloading of a foreign engine. It is called for every operation on the numbers of a trace,
// with the ids and values of the operands and the value v of the result, and returns an id for the result, or 0 if it
// has no derivative. A constant operand has id 0.
type Hook interface {
	Unary(op rules.Op, a int32, av, v float64) int32
	Binary(op rules.Op, a, b int32, av, bv, v float64) int32
}

// A CallHook is a Hook that is called for custom rules too, in the order of execution. Call gets the rule, the ids and
// values of its arguments, 0 being the id of a constant, and its outputs y; it may keep these slices, and must not
// change them. It sets ids, which is as long as y, to the ids of the outputs. Other hooks see a rule as sums of
// products with its derivatives at the point.
type CallHook interface {
	Hook
	Call(c Custom, args []int32, x, y []float64, ids []int32)
}

// StartHook opens t for the foreign engine h.
func (t *Tracer) StartHook(h Hook) {
	t.open(kindHook, 0)
	t.hook = h
}

// Number returns the number with the given id and value in the trace of a foreign engine.
func (t *Tracer) Number(v float64, id int32) Rep { return t.number(v, id) }

func (t *Tracer) hookUnary(op rules.Op, a Rep, v float64) Rep {
	id := t.hook.Unary(op, a.ID, a.V, v)
	if id == 0 {
		return Rep{V: v}
	}
	return t.number(v, id)
}

func (t *Tracer) hookBinary(op rules.Op, a, b Rep, v float64) Rep {
	id := t.hook.Binary(op, a.ID, b.ID, a.V, b.V, v)
	if id == 0 {
		return Rep{V: v}
	}
	return t.number(v, id)
}
