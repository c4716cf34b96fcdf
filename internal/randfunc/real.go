package randfunc

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/rules"
)

// A Real runs a program over nabla.Real, so that engines can differentiate it: its methods Scalar, Vector and Into are
// the functions to pass to operators.
type Real struct {
	prog  *Prog
	boxes map[*Prog]func([]nabla.Real) nabla.Real // function of a Box statement → its differentiated form
}

// Real returns a Real that runs p.
func (p *Prog) Real() *Real {
	return &Real{prog: p, boxes: map[*Prog]func([]nabla.Real) nabla.Real{}}
}

// Scalar returns the first output of p at x.
func (r *Real) Scalar(x []nabla.Real) nabla.Real {
	var y [1]nabla.Real
	run[nabla.Real](r, r.prog, y[:], x, nil)
	return y[0]
}

// Vector returns all outputs of p at x in a new slice.
func (r *Real) Vector(x []nabla.Real) []nabla.Real {
	y := make([]nabla.Real, r.prog.M)
	run[nabla.Real](r, r.prog, y, x, nil)
	return y
}

// Into writes the outputs of p at x to y.
func (r *Real) Into(y, x []nabla.Real) { run[nabla.Real](r, r.prog, y, x, nil) }

func (r *Real) constant(c float64) nabla.Real { return nabla.Const(c) }
func (r *Real) value(a nabla.Real) float64    { return a.Value() }
func (r *Real) toInt(a nabla.Real) int        { return a.Int() }

func (r *Real) compare(c Cond, a, b nabla.Real) bool {
	switch c {
	case Lt:
		return a.Less(b)
	case Le:
		return a.LessEq(b)
	case Eq:
		return a.Equal(b)
	case Gt:
		return a.Greater(b)
	}
	return a.IsNaN()
}

func (r *Real) where(c Cond, a, b, yes, no nabla.Real) nabla.Real {
	var d nabla.Cond
	switch c {
	case Lt:
		d = nabla.Lt(a, b)
	case Le:
		d = nabla.Le(a, b)
	case Eq:
		d = nabla.Eq(a, b)
	case Gt:
		d = nabla.Lt(b, a)
	case LtAnd:
		d = nabla.Lt(a, b).And(nabla.Lt(no, yes))
	case LtOr:
		d = nabla.Lt(a, b).Or(nabla.Eq(yes, no))
	default:
		d = nabla.Lt(a, b).Not()
	}
	return nabla.Where(d, yes, no)
}

// real1 maps operations of one argument to functions of package nabla.
var real1 = map[rules.Op]func(nabla.Real) nabla.Real{
	rules.Neg: nabla.Real.Neg, rules.Sq: nabla.Real.Sq, rules.Inv: nabla.Inv, rules.Sqrt: nabla.Sqrt,
	rules.Cbrt: nabla.Cbrt,
	rules.Exp:  nabla.Exp, rules.Exp2: nabla.Exp2, rules.Expm1: nabla.Expm1, rules.Log: nabla.Log,
	rules.Log2:  nabla.Log2,
	rules.Log10: nabla.Log10, rules.Log1p: nabla.Log1p, rules.Sin: nabla.Sin, rules.Cos: nabla.Cos,
	rules.Tan:  nabla.Tan,
	rules.Asin: nabla.Asin, rules.Acos: nabla.Acos, rules.Atan: nabla.Atan, rules.Sinh: nabla.Sinh,
	rules.Cosh: nabla.Cosh,
	rules.Tanh: nabla.Tanh, rules.Asinh: nabla.Asinh, rules.Acosh: nabla.Acosh, rules.Atanh: nabla.Atanh,
	rules.Erf:  nabla.Erf,
	rules.Erfc: nabla.Erfc, rules.Erfinv: nabla.Erfinv, rules.Erfcinv: nabla.Erfcinv, rules.Gamma: nabla.Gamma,
	rules.Digamma: nabla.Digamma, rules.J0: nabla.J0, rules.J1: nabla.J1, rules.Y0: nabla.Y0, rules.Y1: nabla.Y1,
	rules.Logistic: nabla.Logistic, rules.Softplus: nabla.Softplus, rules.Abs: nabla.Abs, rules.Floor: nabla.Floor,
	rules.Ceil: nabla.Ceil, rules.Trunc: nabla.Trunc, rules.Round: nabla.Round, rules.RoundToEven: nabla.RoundToEven,
	rules.Logb: nabla.Logb,
}

// real2 maps operations of two arguments to functions of package nabla.
var real2 = map[rules.Op]func(x, y nabla.Real) nabla.Real{
	rules.Add: nabla.Real.Add, rules.Sub: nabla.Real.Sub, rules.Mul: nabla.Real.Mul, rules.Div: nabla.Real.Div,
	rules.Pow: nabla.Pow, rules.Hypot: nabla.Hypot, rules.Atan2: nabla.Atan2, rules.Max: nabla.Max,
	rules.Min: nabla.Min,
	rules.Mod: nabla.Mod, rules.Remainder: nabla.Remainder, rules.Copysign: nabla.Copysign, rules.XLogY: nabla.XLogY,
	rules.LogAddExp: nabla.LogAddExp, rules.Nextafter: nabla.Nextafter,
}

func (r *Real) apply(op rules.Op, a []nabla.Real) nabla.Real {
	switch len(a) {
	case 1:
		return real1[op](a[0])
	case 2:
		return real2[op](a[0], a[1])
	}
	return nabla.FMA(a[0], a[1], a[2])
}

func (r *Real) composite(s *Stmt, a []nabla.Real) (nabla.Real, bool) {
	switch functions[s.Fn].comp {
	case scale:
		return a[0].Scale(s.C), true
	case addConst:
		return a[0].AddConst(s.C), true
	case powConst:
		return a[0].PowConst(s.C), true
	case dim:
		return nabla.Dim(a[0], a[1]), true
	case sum3:
		return nabla.Sum(a...), true
	case dot2:
		return nabla.Dot(a[:2], a[2:]), true
	case logSumExp3:
		return nabla.LogSumExp(a...), true
	case ldexp:
		return nabla.Ldexp(a[0], ldexpBy[s.K&3]), true
	case modfWhole:
		w, _ := nabla.Modf(a[0])
		return w, true
	case modfFrac:
		_, f := nabla.Modf(a[0])
		return f, true
	case lgamma:
		l, _ := nabla.Lgamma(a[0])
		return l, true
	case polygamma:
		return nabla.Polygamma(s.K, a[0]), true
	case jn:
		return nabla.Jn(s.K-1, a[0]), true
	case yn:
		return nabla.Yn(s.K-1, a[0]), true
	}
	return nabla.Real{}, false
}

// Engines lists the backends that compute nested derivatives. Stmt.Engine is an index into it.
var Engines = []nabla.Backend{
	forwarddiff.Backend{}, reversediff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{},
	forwarddiff.Backend{Chunk: 1},
}

// grad differentiates s.Sub at a with nabla.GradientFunc and returns component s.K. The captured numbers caps may
// depend on the inputs of the outer function.
func (r *Real) grad(s *Stmt, a, caps []nabla.Real) nabla.Real {
	inner := func(z []nabla.Real) nabla.Real {
		var y [1]nabla.Real
		run[nabla.Real](r, s.Sub, y[:], z, caps)
		return y[0]
	}
	return nabla.GradientFunc(inner, Engines[s.Engine])(a)[s.K]
}

// box returns s.Sub of a by nabla.DifferentiateWith. The differentiated function is made once for each s.Sub, as users
// would.
func (r *Real) box(s *Stmt, a []nabla.Real) nabla.Real {
	f, ok := r.boxes[s.Sub]
	if !ok {
		sub := *r
		sub.prog = s.Sub
		f = nabla.DifferentiateWith(sub.Scalar, Engines[s.Engine])
		r.boxes[s.Sub] = f
	}
	return f(a)
}
