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
	// Finite is x if x is finite and 0 otherwise, with zero derivative: the shift of a log-sum-exp, which must not
	// carry a derivative.
	Finite
	// Stop is x, with zero derivative of every order.
	Stop
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
	// PowDx·PowScale is p·x^(p-1), 0 for p == 0. PowScale is 1 unless x^(p-1) overflows or underflows or nearly so;
	// then it is a power of two with half of the exponent. It counts as a constant. PowDp is x^p·log x, 0 if x^p is 0.
	PowDx
	PowScale
	PowDp
	// HypotDx is x/hypot(x, y).
	HypotDx
	// MulZ is a product whose first argument may be a structural zero, represented as -0: MulZ(-0, y) is -0 for every
	// y, including ±Inf and NaN. All other products are never -0. See package program for its use.
	MulZ
	// DivZ is a quotient whose first argument may be a structural zero: DivZ(-0, y) is -0 for every y, and other
	// quotients are never -0.
	DivZ
	// Lt, Le and Eq are 1 if the comparison is true and 0 otherwise.
	Lt
	Le
	Eq

	// Three arguments.

	// Select is its second argument if the first is not 0, otherwise its third.
	Select
	// FMA is x·y + z with one rounding.
	FMA

	NumOps
)
