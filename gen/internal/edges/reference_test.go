package edges

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// A tree is a number with its derivative in a direction, which is nil if the number does not depend on the inputs that
// the direction changes (a structural zero). v and d may themselves have derivatives in a second direction. It is
// computed by forward mode from the table of rules alone, without an engine, and implements the convention for singular
// points.
type tree struct {
	f    float64 // the number, if v is nil
	v, d *tree
}

// extreme is set when a number was met whose products may overflow in one order of multiplication and not in another.
var extreme bool

// value returns the number without derivatives.
func (t *tree) value() float64 {
	for t.v != nil {
		t = t.v
	}
	return t.f
}

// lift returns the number f with depth derivatives, all of them structural zeros.
func lift(f float64, depth int) *tree {
	if depth == 0 {
		return &tree{f: f}
	}
	return &tree{v: lift(f, depth-1)}
}

func (t *tree) depth() (n int) {
	for ; t.v != nil; t = t.v {
		n++
	}
	return n
}

// operation applies op to arguments of equal depth.
func operation(op rules.Op, args ...*tree) *tree {
	if op == rules.Select {
		if args[0].value() != 0 {
			return args[1]
		}
		return args[2]
	}
	if op.Choice() {
		return args[rules.Chosen(op, args[0].value(), args[1].value())]
	}
	if args[0].v == nil {
		t := &tree{}
		switch len(args) {
		case 1:
			t.f = rules.Value1(op, args[0].f)
		case 2:
			t.f = rules.Value2(op, args[0].f, args[1].f)
		default:
			t.f = rules.Value3(op, args[0].f, args[1].f, args[2].f)
		}
		if a := math.Abs(t.f); a > 1e100 && a <= math.MaxFloat64 || a < 1e-100 && a > 0 {
			extreme = true
		}
		return t
	}
	inner := make([]*tree, len(args))
	for i, a := range args {
		inner[i] = a.v
	}
	t := &tree{v: operation(op, inner...)}
	for i, a := range args {
		if p := rules.Partial(op, i); p != nil && a.d != nil {
			term := operation(rules.Mul, expression(p, inner, t.v), a.d)
			if t.d != nil {
				term = operation(rules.Add, t.d, term)
			}
			t.d = term
		}
	}
	return t
}

// expression evaluates a partial derivative at the arguments x of an operation with the value v.
func expression(e *rules.Expr, x []*tree, v *tree) *tree {
	switch e.Kind {
	case rules.Num:
		return lift(e.Num, v.depth())
	case rules.ArgX:
		return x[0]
	case rules.ArgY:
		return x[1]
	case rules.ArgZ:
		return x[2]
	case rules.ArgV:
		return v
	}
	args := make([]*tree, len(e.Args))
	for i, a := range e.Args {
		args[i] = expression(a, x, v)
	}
	return operation(e.Op, args...)
}

// step applies function op of Names.
func step(op int, u, y *tree) *tree {
	switch name := Names[op]; name {
	case "div":
		return operation(rules.Div, y, u)
	case "over":
		return operation(rules.Div, u, y)
	case "logerfc":
		return operation(rules.Log, operation(rules.Erfc, u))
	default:
		o, ok := rules.Lookup(name)
		if !ok {
			panic("no rule " + name)
		}
		if o.Arity() == 1 {
			return operation(o, u)
		}
		return operation(o, u, y)
	}
}

// registers computes the registers of c at x with derivatives in one direction, or in two, one after the other. A
// direction changes the inputs where it is not 0.
func registers(c *Chain, x []float64, directions ...[]float64) []*tree {
	r := make([]*tree, len(x), len(x)+len(c.Steps))
	for i, v := range x {
		t := &tree{f: v}
		for k, d := range directions {
			t = &tree{v: t}
			if d[i] != 0 {
				t.d = lift(d[i], k)
			}
		}
		r[i] = t
	}
	for _, s := range c.Steps {
		t := r[s.A]
		if s.Use < 0 || r[s.Use].value() > 0 {
			t = step(s.Op, r[s.A], r[s.B])
		}
		r = append(r, t)
	}
	return r
}

// derivative returns the mixed derivative in all directions of t, and whether t depends on them.
func derivative(t *tree) (d float64, depends bool) {
	for t.v != nil {
		if t.d == nil {
			return 0, false
		}
		t = t.d
	}
	return t.f, true
}

// mixedDerivative returns the derivative of register i of c at x in all directions.
func mixedDerivative(c *Chain, i int, x []float64, directions ...[]float64) float64 {
	d, _ := derivative(registers(c, x, directions...)[i])
	return d
}

// unit returns unit vector i of length n.
func unit(n, i int) []float64 {
	e := make([]float64, n)
	e[i] = 1
	return e
}
