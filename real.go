package nabla

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// Real is a number that can be differentiated. Its zero value is the constant 0. Arithmetic on
// untraced Reals is as fast as on float64: its methods inline.
//
// A Real belongs to the call of the function that received it. Keeping one for a later call, or
// passing it to another trace, is an error ([ErrForeignReal]). Values are compared with [Real.Less]
// and the methods like it; == on Reals does not compile.
//
// The layout is that of core.Rep; see cast.go.
type Real struct {
	_ [0]func()
	v float64
	mark
	t *core.Tracer
}

// mark is core.Mark. A struct of more than four fields would stay in memory where
// it could live in registers.
type mark struct {
	id  int32
	gen uint32
}

// Const returns the number v as a constant, which is not differentiated.
func Const(v float64) Real { return Real{v: v} }

func (a Real) rep() core.Rep { return *(*core.Rep)(unsafe.Pointer(&a)) }
func real(r core.Rep) Real   { return *(*Real)(unsafe.Pointer(&r)) }

// The methods below have one shape: the untraced case first, so that it inlines,
// and a slow function of its own for the rest. real_test.go watches the compiler.

// Add returns a + b.
func (a Real) Add(b Real) Real {
	if a.id|b.id == 0 {
		return Real{v: a.v + b.v}
	}
	return addSlow(a, b)
}

// Sub returns a - b.
func (a Real) Sub(b Real) Real {
	if a.id|b.id == 0 {
		return Real{v: a.v - b.v}
	}
	return subSlow(a, b)
}

// Mul returns a·b.
func (a Real) Mul(b Real) Real {
	if a.id|b.id == 0 {
		return Real{v: a.v * b.v}
	}
	return mulSlow(a, b)
}

// Div returns a / b.
func (a Real) Div(b Real) Real {
	if a.id|b.id == 0 {
		return Real{v: a.v / b.v}
	}
	return divSlow(a, b)
}

// Neg returns -a.
func (a Real) Neg() Real {
	if a.id == 0 {
		return Real{v: -a.v}
	}
	return negSlow(a)
}

// Sq returns a².
func (a Real) Sq() Real {
	if a.id == 0 {
		return Real{v: float64(a.v * a.v)}
	}
	return sqSlow(a)
}

// Scale returns c·a.
func (a Real) Scale(c float64) Real {
	if a.id == 0 {
		return Real{v: float64(a.v * c)}
	}
	return mulSlow(a, Real{v: c})
}

// AddConst returns a + c.
func (a Real) AddConst(c float64) Real {
	if a.id == 0 {
		return Real{v: a.v + c}
	}
	return addSlow(a, Real{v: c})
}

//go:noinline
func addSlow(a, b Real) Real {
	return real(core.Binary(rules.Add, a.rep(), b.rep(), a.v+b.v))
}

//go:noinline
func subSlow(a, b Real) Real {
	return real(core.Binary(rules.Sub, a.rep(), b.rep(), a.v-b.v))
}

//go:noinline
func mulSlow(a, b Real) Real {
	return real(core.Binary(rules.Mul, a.rep(), b.rep(), a.v*b.v))
}

//go:noinline
func divSlow(a, b Real) Real {
	return real(core.Binary(rules.Div, a.rep(), b.rep(), a.v/b.v))
}

//go:noinline
func negSlow(a Real) Real { return real(core.Unary(rules.Neg, a.rep(), -a.v)) }

//go:noinline
func sqSlow(a Real) Real { return real(core.Unary(rules.Sq, a.rep(), a.v*a.v)) }

// Abs returns |a|; see [Abs].
func (a Real) Abs() Real { return Abs(a) }

// Inv returns 1/a.
func (a Real) Inv() Real { return Inv(a) }

// Sqrt returns √a.
func (a Real) Sqrt() Real { return Sqrt(a) }

// Pow returns a to the power of b; see [Pow].
func (a Real) Pow(b Real) Real { return Pow(a, b) }

// PowConst returns a to the constant power p; see [Pow].
func (a Real) PowConst(p float64) Real { return Pow(a, Const(p)) }

// The comparisons below are decided immediately. A recording keeps the outcome as a guard: if a
// replay has another outcome, the function is recorded again. To keep both branches in one program,
// use [Where].

// Less reports whether a < b. As with the other comparisons, a recording is valid while the outcome
// is the same: a replay with another outcome records the function again. [Where] with [Lt] keeps
// both branches.
func (a Real) Less(b Real) bool {
	if a.id|b.id == 0 {
		return a.v < b.v
	}
	return lessSlow(a, b)
}

// LessEq reports whether a <= b.
func (a Real) LessEq(b Real) bool {
	if a.id|b.id == 0 {
		return a.v <= b.v
	}
	return lessEqSlow(a, b)
}

// Greater reports whether a > b.
func (a Real) Greater(b Real) bool { return b.Less(a) }

// GreaterEq reports whether a >= b.
func (a Real) GreaterEq(b Real) bool { return b.LessEq(a) }

// Equal reports whether a == b in value. NaN is equal to nothing.
func (a Real) Equal(b Real) bool {
	if a.id|b.id == 0 {
		return a.v == b.v
	}
	return equalSlow(a, b)
}

// IsNaN reports whether a is NaN.
func (a Real) IsNaN() bool { return !a.Equal(a) }

// IsInf reports whether a is an infinity: +Inf for sign > 0, -Inf for sign < 0,
// either for sign == 0.
func (a Real) IsInf(sign int) bool {
	return sign >= 0 && a.Greater(Const(math.MaxFloat64)) || sign <= 0 && a.Less(Const(-math.MaxFloat64))
}

// Signbit reports whether a is negative or -0, or a NaN with that sign.
func (a Real) Signbit() bool {
	if a.id == 0 {
		return math.Signbit(a.v)
	}
	return Copysign(Const(1), a).Less(Real{})
}

//go:noinline
func lessSlow(a, b Real) bool {
	core.Compare(core.OpGuardLt, a.rep(), b.rep(), a.v < b.v)
	return a.v < b.v
}

//go:noinline
func lessEqSlow(a, b Real) bool {
	core.Compare(core.OpGuardLe, a.rep(), b.rep(), a.v <= b.v)
	return a.v <= b.v
}

//go:noinline
func equalSlow(a, b Real) bool {
	core.Compare(core.OpGuardEq, a.rep(), b.rep(), a.v == b.v)
	return a.v == b.v
}

// Value returns a as a plain number, which leaves the trace: numbers computed from it have no
// derivative with respect to a. A recording is valid only while the value is the same, so that a
// replay at another point records again. For a decision use the comparisons, for an index
// [Real.Int].
func (a Real) Value() float64 {
	if a.id != 0 {
		escape(core.OpGuardBits, a)
	}
	return a.v
}

// Int returns a truncated to an int, for use as an index or a count. A recording is valid while it
// is the same.
func (a Real) Int() int {
	if a.id != 0 {
		escape(core.OpGuardInt, a)
	}
	return int(a.v)
}

//go:noinline
func escape(op uint32, a Real) { core.Escape(op, a.rep(), a.v) }

// String formats the value. Printing a number of a trace is not an escape.
func (a Real) String() string { return strconv.FormatFloat(a.v, 'g', -1, 64) }
