package rules_test

import (
	"math"

	. "github.com/nabla-ad/nabla/rules"
)

// A dual is a value and its tangent. A dual that is not active is constant: its
// tangent multiplies nothing.
type dual struct {
	v, d   float64
	active bool
}

// value applies o to numbers.
func value(o Op, a ...float64) float64 {
	switch len(a) {
	case 1:
		return Value1(o, a[0])
	case 2:
		return Value2(o, a[0], a[1])
	}
	return Value3(o, a[0], a[1], a[2])
}

// apply differentiates one op forward, with the partials as expressions.
func apply(o Op, args ...dual) dual {
	a := make([]float64, len(args))
	for i := range args {
		a[i] = args[i].v
	}
	r := dual{v: value(o, a...)}
	if o.Choice() {
		i := 2
		switch {
		case o != Select:
			i = Chosen(o, a[0], a[1])
		case a[0] != 0:
			i = 1
		}
		r.d, r.active = args[i].d, args[i].active
		return r
	}
	for i := range args {
		p := Partial(o, i)
		if p == nil || !args[i].active {
			continue
		}
		r.active = true
		r.d += args[i].d * eval(p, constants(a), dual{v: r.v}).v
	}
	return r
}

func constants(a []float64) []dual {
	d := make([]dual, len(a))
	for i := range a {
		d[i].v = a[i]
	}
	return d
}

// eval evaluates e and differentiates it forward; v is the value of the op that
// e is a partial of.
func eval(e *Expr, args []dual, v dual) dual {
	switch e.Kind {
	case Num:
		return dual{v: e.Num}
	case ArgX:
		return args[0]
	case ArgY:
		return args[1]
	case ArgZ:
		return args[2]
	case ArgV:
		return v
	}
	a := make([]dual, len(e.Args))
	for i := range a {
		a[i] = eval(e.Args[i], args, v)
	}
	return apply(e.Op, a...)
}

// partialAt returns ∂o/∂argument i at a and its derivative with respect to
// argument j.
func partialAt(o Op, i, j int, a ...float64) (first, second float64) {
	if o.Choice() {
		d := constants(a)
		d[i] = dual{v: a[i], d: 1, active: true}
		return apply(o, d...).d, 0
	}
	p := Partial(o, i)
	if p == nil {
		return 0, 0
	}
	d := constants(a)
	d[j].d, d[j].active = 1, true
	r := eval(p, d, apply(o, d...))
	return r.v, r.d
}

// numeric returns the generated partial of o with respect to argument i.
func numeric(o Op, i int, a ...float64) float64 {
	v := value(o, a...)
	switch {
	case len(a) == 1:
		return Partial1(o, a[0], v)
	case len(a) == 2 && i == 0:
		return PartialX2(o, a[0], a[1], v)
	case len(a) == 2:
		return PartialY2(o, a[0], a[1], v)
	}
	first, _ := partialAt(o, i, i, a...)
	return first
}

// numericSecond returns the generated second partial of o with respect to arguments i and j. used reports whether
// engines use it: it is 0 and not used if the op is not curved, and not used where it may be out of range.
func numericSecond(o Op, i, j int, a ...float64) (d float64, used bool) {
	v := value(o, a...)
	switch len(a) {
	case 1:
		d = Second1(o, a[0], v)
	case 2:
		xx, xy, yy := Seconds2(o, a[0], a[1], v)
		d = []float64{xx, xy, yy}[i+j]
	default:
		return 0, false
	}
	for k := range a {
		if Extreme(o, k, numeric(o, k, a...)) {
			return d, false
		}
	}
	if Curved(o)&(1<<(i+j)) == 0 {
		return d, d != 0
	}
	return d, d-d == 0 && !Extreme(o, i, d) && !Extreme(o, j, d)
}

// same reports whether two floats are equal, NaNs too.
func same(a, b float64) bool { return a == b || a != a && b != b }

// relErr is |got-want|/max(|want|, 1e-300), 0 for equal infinities and NaNs.
func relErr(got, want float64) float64 {
	if same(got, want) {
		return 0
	}
	e := math.Abs(got-want) / max(math.Abs(want), 1e-300)
	if e != e {
		return math.Inf(1)
	}
	return e
}
