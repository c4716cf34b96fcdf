package core

import (
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// choosy is a foreign engine for which squares and products have no derivative.
type choosy struct{ told []rules.Op }

func (c *choosy) Unary(op rules.Op, a int32, _, _ float64) int32 {
	c.told = append(c.told, op)
	if op == rules.Sq {
		return 0
	}
	return 7
}

func (c *choosy) Binary(op rules.Op, a, b int32, _, _, _ float64) int32 {
	c.told = append(c.told, op)
	if op == rules.Mul {
		return 0
	}
	return 8
}

// TestHookWithoutDerivative: a result that the engine gives no id is a constant, and the engine does not see
// operations on it.
func TestHookWithoutDerivative(t *testing.T) {
	var tr Tracer
	h := new(choosy)
	tr.StartHook(h)
	defer tr.Close()
	x := tr.Number(3, 1)
	for _, y := range []Rep{Unary(rules.Sq, x, 9), Binary(rules.Mul, x, x, 9)} {
		if y.ID != 0 || y.T != nil || y.V != 9 {
			t.Errorf("%+v, want the constant 9", y)
		}
		if z := Apply1(rules.Exp, y); z.ID != 0 || z.T != nil {
			t.Errorf("exp of a constant is %+v", z)
		}
	}
	if a, b := Unary(rules.Sin, x, 0.5), Binary(rules.Add, x, x, 6); tr.Own(a) != 7 || tr.Own(b) != 8 {
		t.Errorf("%+v, %+v", a, b)
	}
	if len(h.told) != 4 {
		t.Errorf("the engine was told of %v", h.told)
	}
}
