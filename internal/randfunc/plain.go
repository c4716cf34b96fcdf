package randfunc

import (
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/rules"
)

// A Plain runs a program over float64, with package math where it has the operation. It is not for concurrent use.
type Plain struct {
	prog *Prog
	real *Real
	// Branch is a hash of the decisions of the last run: outcomes of comparisons, signs, rounded numbers. If it is
	// equal at two near points, the function is taken to be smooth between them.
	Branch uint64
}

// Plain returns a Plain that runs p.
func (p *Prog) Plain() *Plain { return &Plain{prog: p, real: p.Real()} }

// Run writes p(x) to y.
func (p *Plain) Run(y, x []float64) {
	p.Branch = 14695981039346656037
	run[float64](p, p.prog, y, x, nil)
}

// record mixes a decision into the hash Branch (FNV-1a).
func (p *Plain) record(v int) { p.Branch = (p.Branch ^ uint64(v)) * 1099511628211 }

func (p *Plain) constant(c float64) float64 { return c }
func (p *Plain) value(a float64) float64    { return a }

func (p *Plain) toInt(a float64) int {
	p.record(int(a))
	return int(a)
}

func (p *Plain) compare(c Cond, a, b float64) bool {
	d := decide(c, a, b, 0, 0)
	p.record(int(rules.Value2(rules.Eq, 1, 0)) + truth(d))
	return d
}

// truth returns the number to record for a decision: 1 for true, 2 for false.
func truth(b bool) int {
	if b {
		return 1
	}
	return 2
}

func (p *Plain) where(c Cond, a, b, yes, no float64) float64 {
	if c == NaN {
		c = NotLt
	}
	d := decide(c, a, b, yes, no)
	p.record(truth(d))
	if d {
		return yes
	}
	return no
}

// inMath1 maps operations of one argument to functions of package math.
var inMath1 = map[rules.Op]func(float64) float64{
	rules.Sqrt: math.Sqrt, rules.Cbrt: math.Cbrt, rules.Exp: math.Exp, rules.Exp2: math.Exp2, rules.Expm1: math.Expm1,
	rules.Log: math.Log, rules.Log2: math.Log2, rules.Log10: math.Log10, rules.Log1p: math.Log1p,
	rules.Sin: math.Sin, rules.Cos: math.Cos, rules.Tan: math.Tan, rules.Asin: math.Asin, rules.Acos: math.Acos,
	rules.Atan: math.Atan, rules.Sinh: math.Sinh, rules.Cosh: math.Cosh, rules.Tanh: math.Tanh,
	rules.Asinh: math.Asinh, rules.Acosh: math.Acosh, rules.Atanh: math.Atanh, rules.Erf: math.Erf,
	rules.Erfc:   math.Erfc,
	rules.Erfinv: math.Erfinv, rules.Erfcinv: math.Erfcinv, rules.Gamma: math.Gamma, rules.J0: math.J0,
	rules.J1: math.J1,
	rules.Y0: math.Y0, rules.Y1: math.Y1, rules.Abs: math.Abs, rules.Floor: math.Floor, rules.Ceil: math.Ceil,
	rules.Trunc: math.Trunc, rules.Round: math.Round, rules.RoundToEven: math.RoundToEven, rules.Logb: math.Logb,
}

// inMath2 maps operations of two arguments to functions of package math.
var inMath2 = map[rules.Op]func(x, y float64) float64{
	rules.Pow: math.Pow, rules.Hypot: math.Hypot, rules.Atan2: math.Atan2, rules.Max: math.Max, rules.Min: math.Min,
	rules.Mod: math.Mod, rules.Remainder: math.Remainder, rules.Copysign: math.Copysign,
	rules.Nextafter: math.Nextafter,
}

// apply returns op of a, computed by package math if that has op, otherwise by package rules. It records the branch
// taken where op is not smooth, such as the sign of the argument of Abs.
func (p *Plain) apply(op rules.Op, a []float64) float64 {
	switch op {
	case rules.Add:
		return a[0] + a[1]
	case rules.Sub:
		return a[0] - a[1]
	case rules.Mul:
		return float64(a[0] * a[1])
	case rules.Div:
		return a[0] / a[1]
	case rules.Neg:
		return -a[0]
	case rules.Sq:
		return float64(a[0] * a[0])
	case rules.Inv:
		return 1 / a[0]
	case rules.FMA:
		return math.FMA(a[0], a[1], a[2])
	case rules.Abs:
		p.record(truth(a[0] < 0))
	case rules.Copysign:
		p.record(truth(a[0] < 0))
		p.record(truth(math.Signbit(a[1])))
	case rules.Max, rules.Min, rules.Nextafter:
		p.record(truth(a[0] < a[1]))
	case rules.Mod, rules.Remainder:
		p.record(int(math.Round((a[0] - inMath2[op](a[0], a[1])) / a[1])))
	case rules.Floor, rules.Ceil, rules.Trunc, rules.Round, rules.RoundToEven, rules.Logb:
		p.record(int(math.Float64bits(inMath1[op](a[0])))) // as an int a number beyond its range is the same for all
	}
	if f, ok := inMath1[op]; ok {
		return f(a[0])
	}
	if f, ok := inMath2[op]; ok {
		return f(a[0], a[1])
	}
	if len(a) == 1 {
		return rules.Value1(op, a[0])
	}
	return rules.Value2(op, a[0], a[1])
}

func (p *Plain) composite(s *Stmt, a []float64) (float64, bool) {
	switch functions[s.Fn].comp {
	case ldexp:
		return math.Ldexp(a[0], ldexpBy[s.K&3]), true
	case modfWhole:
		w, _ := math.Modf(a[0])
		p.record(int(w))
		return w, true
	case modfFrac:
		w, f := math.Modf(a[0])
		p.record(int(w))
		return f, true
	case lgamma:
		l, _ := math.Lgamma(a[0])
		return l, true
	}
	return 0, false
}

// grad returns the value of a nested derivative. Package nabla computes it from constants; the tests require the same
// value if the derivative is part of a differentiated function.
func (p *Plain) grad(s *Stmt, a, caps []float64) float64 {
	return p.real.grad(s, constants(a), constants(caps)).Value()
}

func (p *Plain) box(s *Stmt, a []float64) float64 {
	y := make([]float64, 1)
	run[float64](p, s.Sub, y, a, nil)
	return y[0]
}

// constants returns the elements of a as Reals without derivative.
func constants(a []float64) []nabla.Real {
	out := make([]nabla.Real, len(a))
	for i, v := range a {
		out[i] = nabla.Const(v)
	}
	return out
}
