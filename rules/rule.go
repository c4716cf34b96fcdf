package rules

import (
	"math"
	"strconv"
)

// A Rule is one row of the table: the definition of an op.
type Rule struct {
	// Name is the op's name in expressions, in Lookup and in printed programs.
	Name string

	// Arity is the number of arguments.
	Arity int

	// Value is the op's value as a Go expression in x, y and z. Functions
	// without a package are those of this package.
	Value string

	// Partials holds the derivative with respect to each argument, in the
	// expression language of this package. "0" is a structural zero. It is nil
	// for a Choice.
	Partials []string

	// Choice reports that the value is one of the arguments; see Op.Choice.
	Choice bool

	// Domain is the set where the function is real and the formulas hold.
	Domain string

	// Kinks describes the partials at points where the function is not differentiable or infinite, and at the edge of
	// its domain.
	Kinks string

	// Source is the source of the formulas.
	Source string
}

// Info returns the row of o. It is shared and must not be modified.
// Info panics if o is not an op.
func Info(o Op) *Rule {
	if o == Invalid || o >= NumOps {
		panic("rules: Info: " + o.String() + " is not an op")
	}
	return &table[o]
}

// String returns the name of o in lower case, "atan2" for Atan2.
func (o Op) String() string {
	if o >= NumOps {
		return "op(" + strconv.Itoa(int(o)) + ")"
	}
	return table[o].Name
}

// byName maps the name of every op but Invalid to the op.
var byName = func() map[string]Op {
	m := make(map[string]Op, NumOps)
	for o := Invalid + 1; o < NumOps; o++ {
		m[table[o].Name] = o
	}
	return m
}()

// Lookup returns the op with the given name and reports whether there is one.
func Lookup(name string) (Op, bool) {
	o, ok := byName[name]
	return o, ok
}

// Arity returns the number of arguments of o: 1, 2 or 3. It panics if o is not
// an op.
func (o Op) Arity() int {
	if n := arity[o]; n > 0 {
		return int(n)
	}
	return Info(o).Arity
}

// arity is the Arity column of the table, which fits into a few cache lines.
var arity = func() (n [256]uint8) {
	for o := Invalid + 1; o < NumOps; o++ {
		n[o] = uint8(table[o].Arity)
	}
	return n
}()

// Choice reports whether the value of o is one of its arguments, chosen by comparison: Max, Min and Select. The
// derivative is that of the chosen argument alone. The other contributes nothing, rather than zero times its
// derivative, which would be NaN if that derivative is infinite. Partial is nil for these ops.
func (o Op) Choice() bool { return o < NumOps && table[o].Choice }

// Differentiable reports whether o has a derivative that is not zero everywhere with respect to one of its arguments.
func (o Op) Differentiable() bool {
	for i := range o.Arity() {
		if Partial(o, i) != nil {
			return true
		}
	}
	return o.Choice()
}

// Jumps reports whether the value of o is discontinuous at points where it is finite, so that values at nearby points
// do not approximate it. Pow jumps only at 0^0, and not if its exponent is constant.
func (o Op) Jumps() bool {
	switch o {
	case Sign, Floor, Ceil, Trunc, Round, RoundToEven, Logb, GammaSign, Finite, Stop,
		Atan2, Mod, Remainder, Copysign, Nextafter, Lt, Le, Eq, Select, Pow, PowDx, PowScale, HypotDx:
		return true
	}
	return false
}

// Strong reports whether the first argument of o, and so its value, may be a structural zero, represented as -0: MulZ
// and DivZ.
func (o Op) Strong() bool { return o == MulZ || o == DivZ }

// Chosen returns the index of the argument that Max or Min chooses: 0 for x, 1 for y.
//
//	x == y                    the first
//	one argument is NaN       that one, as the value is NaN, except
//	Chosen(Max, NaN, +Inf)    the infinity, as math.Max returns it
//	Chosen(Min, NaN, -Inf)    the infinity, as math.Min returns it
//	both are NaN              the first
//
// It panics if o is neither.
func Chosen(o Op, x, y float64) int {
	if o != Max && o != Min {
		panic("rules: Chosen: " + o.String() + " is neither max nor min")
	}
	if o == Min {
		x, y = -x, -y
	}
	switch {
	case x >= y:
		return 0
	case y > x:
		return 1
	case x != x && !math.IsInf(y, 1), math.IsInf(x, 1):
		return 0
	}
	return 1
}

// badOp returns the panic message of fn for an o with another number of arguments.
func badOp(fn string, o Op) string {
	return "rules: " + fn + ": " + o.String() + " does not have that number of arguments"
}
