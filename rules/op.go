package rules

// Op is the code of an elementary function. The set is closed: an engine that
// handles every Op below handles every program. A function that users add
// arrives as a custom rule, not as an Op.
type Op uint8

// The elementary functions. Names are those of package math, lower case.
const (
	Invalid Op = iota

	// One argument.
	Neg
	Inv
	Sq
	Sqrt
	Cbrt
	Exp
	Exp2
	Expm1
	Log
	Log2
	Log10
	Log1p
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Tanh
	Asinh
	Acosh
	Atanh
	Erf
	Erfc
	Erfinv
	Erfcinv
	Gamma
	Lgamma
	Digamma
	J0
	J1
	Y0
	Y1
	Logistic
	Softplus
	Abs
	Sign
	Floor
	Ceil
	Trunc
	Round
	RoundToEven
	Logb
	// GammaSign is the sign of Γ(x), the second result of math.Lgamma.
	GammaSign
	// Finite is x where x is finite and 0 elsewhere, with zero derivative: the
	// shift of a log-sum-exp, which must not carry a derivative.
	Finite
	// SechSq is 1/cosh(x)², the derivative of tanh without its cancellation.
	SechSq
	// CosAtan is cos(atan(x)) = 1/sqrt(1+x²), whose square is the derivative of atan.
	CosAtan

	// Two arguments.
	Add
	Sub
	Mul
	Div
	Pow
	Hypot
	Atan2
	Max
	Min
	Mod
	Remainder
	Copysign
	Nextafter
	XLogY
	LogAddExp
	// Jn, Yn and Polygamma take their integer order as first argument. The order
	// is a constant; there is no derivative with respect to it.
	Jn
	Yn
	Polygamma
	// PowDx·PowScale is p·x^(p-1), 0 for p == 0. PowScale is a power of two, 1 but
	// where x^(p-1) is out of range or nearly so; it takes half of the exponent then,
	// and counts as a constant. PowDp is x^p·log x, 0 where x^p is 0.
	PowDx
	PowScale
	PowDp
	// HypotDx is x/hypot(x, y).
	HypotDx
	// MulZ is a product whose first argument may be a structural zero, written as
	// -0: MulZ(-0, y) is -0 for every y, also ±Inf and NaN. All other products
	// are never -0. See package program for its use.
	MulZ
	// DivZ is the same of a quotient: DivZ(-0, y) is -0 for every y.
	DivZ
	// Lt, Le and Eq are 1 where the comparison holds and 0 elsewhere.
	Lt
	Le
	Eq

	// Three arguments.

	// Select is its second argument where the first is not 0, else its third.
	Select
	// FMA is x·y + z with one rounding.
	FMA

	NumOps
)
