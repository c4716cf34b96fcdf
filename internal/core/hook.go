package core

import "github.com/nabla-ad/nabla/rules"

// A Hook is a foreign engine's operator overloading: it is told of every
// operation on its numbers and names the result by an id of its own, 0 for a
// result without a derivative. A constant operand has id 0.
type Hook interface {
	Unary(op rules.Op, a int32, av, v float64) int32
	Binary(op rules.Op, a, b int32, av, bv, v float64) int32
}

// StartHook opens t for a foreign engine.
func (t *Tracer) StartHook(h Hook) {
	t.open(kindHook, 0)
	t.hook = h
}

// Number is the number of a foreign engine's trace with the given id.
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
