// Package edges has plain functions that apply any elementary function with a rule, selected at run time, and functions
// that return errors, with their generated derivatives. The tests compare these at the ends of the range of float64 and
// at singular points with references, and between engines.
package edges

//go:generate go run github.com/nabla-ad/nabla/cmd/nabla gen .

import "math"

// A Call selects a function, and factors of its first argument and of its value.
type Call struct {
	Op      int
	In, Out float64
}

// Names holds the names of the functions by Op. The first Singles of them have one argument.
var Names = []string{
	"inv", "sq", "sqrt", "cbrt", "log", "log2", "log10", "log1p", "asinh", "acosh", "atan", "exp", "expm1", "sin",
	"cos",
	"tan", "asin", "acos", "atanh", "sinh", "cosh", "tanh", "erf", "erfc", "gamma", "lgamma", "y0", "logerfc", "abs",
	"div", "over", "mul", "hypot", "atan2", "pow", "max", "add",
}

// Singles is the number of functions of one argument.
const Singles = 29

// Scaled computes c.Out·f(c.In·x[0], x[1]).
//
//nabla:differentiate
func Scaled(x []float64, c *Call) float64 { return c.Out * apply(c.Op, c.In*x[0], x[1]) }

// apply computes function op of Names. Those of one argument ignore y.
func apply(op int, u, y float64) float64 {
	switch op {
	case 0:
		return 1 / u
	case 1:
		return u * u
	case 2:
		return math.Sqrt(u)
	case 3:
		return math.Cbrt(u)
	case 4:
		return math.Log(u)
	case 5:
		return math.Log2(u)
	case 6:
		return math.Log10(u)
	case 7:
		return math.Log1p(u)
	case 8:
		return math.Asinh(u)
	case 9:
		return math.Acosh(u)
	case 10:
		return math.Atan(u)
	case 11:
		return math.Exp(u)
	case 12:
		return math.Expm1(u)
	case 13:
		return math.Sin(u)
	case 14:
		return math.Cos(u)
	case 15:
		return math.Tan(u)
	case 16:
		return math.Asin(u)
	case 17:
		return math.Acos(u)
	case 18:
		return math.Atanh(u)
	case 19:
		return math.Sinh(u)
	case 20:
		return math.Cosh(u)
	case 21:
		return math.Tanh(u)
	case 22:
		return math.Erf(u)
	case 23:
		return math.Erfc(u)
	case 24:
		return math.Gamma(u)
	case 25:
		l, _ := math.Lgamma(u)
		return l
	case 26:
		return math.Y0(u)
	case 27:
		return math.Log(math.Erfc(u))
	case 28:
		return math.Abs(u)
	case 29:
		return y / u
	case 30:
		return u / y
	case 31:
		return u * y
	case 32:
		return math.Hypot(u, y)
	case 33:
		return math.Atan2(u, y)
	case 34:
		return math.Pow(u, y)
	case 35:
		return max(u, y)
	}
	return u + y
}

// A Chain is a list of operations on registers: step i computes register len(x)+i.
type Chain struct{ Steps []Step }

// A Step computes Names[Op] of registers A and B. If Use is not negative and register Use is not above 0, it copies
// register A instead.
type Step struct{ Op, A, B, Use int }

// Run computes all registers and returns the last one.
//
//nabla:differentiate
func Run(x []float64, c *Chain) float64 {
	r := make([]float64, len(x)+len(c.Steps))
	copy(r, x)
	for i, s := range c.Steps {
		v := apply(s.Op, r[s.A], r[s.B])
		if s.Use < 0 || r[s.Use] > 0 {
			r[len(x)+i] = v
		} else {
			r[len(x)+i] = r[s.A]
		}
	}
	return r[len(r)-1]
}

// Three is Run for two numbers and three steps, in scalar variables. A step may read the inputs and the results of
// earlier steps, numbered as in Run. The Use of the last step is ignored.
//
//nabla:differentiate
func Three(x []float64, c *Chain) float64 {
	a, b := x[0], x[1]
	s := c.Steps[0]
	p, q := a, b
	if s.A == 1 {
		p = b
	}
	if s.B == 0 {
		q = a
	}
	first := apply(s.Op, p, q)
	if s.Use == 0 && a <= 0 || s.Use == 1 && b <= 0 {
		first = p
	}
	s = c.Steps[1]
	p, q = first, first
	switch s.A {
	case 0:
		p = a
	case 1:
		p = b
	}
	switch s.B {
	case 0:
		q = a
	case 1:
		q = b
	}
	second := apply(s.Op, p, q)
	if s.Use == 0 && a <= 0 || s.Use == 1 && b <= 0 || s.Use == 2 && !(first > 0) {
		second = p
	}
	s = c.Steps[2]
	p, q = second, second
	switch s.A {
	case 0:
		p = a
	case 1:
		p = b
	case 2:
		p = first
	}
	switch s.B {
	case 0:
		q = a
	case 1:
		q = b
	case 2:
		q = first
	}
	return apply(s.Op, p, q)
}

// Several returns the last three registers, or all if there are fewer.
//
//nabla:differentiate
func Several(x []float64, c *Chain) []float64 {
	r := make([]float64, len(x)+len(c.Steps))
	copy(r, x)
	for i, s := range c.Steps {
		v := apply(s.Op, r[s.A], r[s.B])
		if s.Use < 0 || r[s.Use] > 0 {
			r[len(x)+i] = v
		} else {
			r[len(x)+i] = r[s.A]
		}
	}
	y := make([]float64, min(3, len(r)))
	copy(y, r[len(r)-len(y):])
	return y
}

// Alone is Run followed by a function with a rule and a result that is no number, so that it has no form over Reals.
//
//nabla:differentiate
func Alone(x []float64, c *Chain) float64 {
	y, _ := identity(Run(x, c))
	return y
}

// AloneSeveral is Several with that rule.
//
//nabla:differentiate
func AloneSeveral(x []float64, c *Chain) []float64 {
	y := Several(x, c)
	for i, v := range y {
		y[i], _ = identity(v)
	}
	return y
}

//nabla:rule tangent=identityTangent pullback=identityPullback
func identity(v float64) (r float64, name string) { return v, "" }

func identityTangent(v, vDot float64) (r float64, name string, rDot float64) { return v, "", vDot }

func identityPullback(_, rBar float64) (vBar float64) { return rBar }
