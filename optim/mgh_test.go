package optim_test

import (
	"math"

	"github.com/nabla-ad/nabla"
)

// The test problems of Moré, Garbow and Hillstrom (1981), over nabla.Real. Indices in comments count from 1, as there.

type (
	reals  = []nabla.Real
	system = func(x reals) reals
)

func constant(v float64) nabla.Real { return nabla.Const(v) }

// linearFullRank has fᵢ = xᵢ - 2/m·Σx - 1, without xᵢ for i > n.
func linearFullRank(m int) system {
	return func(x reals) reals {
		sum, f := nabla.Sum(x...).Scale(2/float64(m)).AddConst(1), make(reals, m)
		for i := range f {
			if f[i] = sum.Neg(); i < len(x) {
				f[i] = x[i].Sub(sum)
			}
		}
		return f
	}
}

// linearRankOne has fᵢ = i·Σ j·xⱼ - 1.
func linearRankOne(m int) system {
	return func(x reals) reals {
		sum, f := constant(0), make(reals, m)
		for j, v := range x {
			sum = sum.Add(v.Scale(float64(j + 1)))
		}
		for i := range f {
			f[i] = sum.Scale(float64(i + 1)).AddConst(-1)
		}
		return f
	}
}

// linearRankOneZeros is linearRankOne with zeros in the first and last row and column.
func linearRankOneZeros(m int) system {
	return func(x reals) reals {
		sum, f := constant(0), make(reals, m)
		for j := 1; j < len(x)-1; j++ {
			sum = sum.Add(x[j].Scale(float64(j + 1)))
		}
		for i := range f {
			f[i] = constant(-1)
			if i > 0 && i < m-1 {
				f[i] = sum.Scale(float64(i)).AddConst(-1)
			}
		}
		return f
	}
}

func rosenbrock(x reals) reals {
	return reals{x[1].Sub(x[0].Sq()).Scale(10), x[0].Neg().AddConst(1)}
}

// extendedRosenbrock is a Rosenbrock function of each pair of unknowns.
func extendedRosenbrock(x reals) (f reals) {
	for i := 0; i+1 < len(x); i += 2 {
		f = append(f, rosenbrock(x[i:i+2])...)
	}
	return f
}

func helicalValley(x reals) reals {
	theta := nabla.Atan(x[1].Div(x[0])).Scale(1 / (2 * math.Pi))
	if x[0].Less(constant(0)) {
		theta = theta.AddConst(0.5)
	}
	return reals{x[2].Sub(theta.Scale(10)).Scale(10), nabla.Hypot(x[0], x[1]).AddConst(-1).Scale(10), x[2]}
}

func powellSingular(x reals) reals {
	return reals{x[0].Add(x[1].Scale(10)), x[2].Sub(x[3]).Scale(math.Sqrt(5)), x[1].Sub(x[2].Scale(2)).Sq(),
		x[0].Sub(x[3]).Sq().Scale(math.Sqrt(10))}
}

// extendedPowell is Powell's singular function of every four unknowns.
func extendedPowell(x reals) (f reals) {
	for i := 0; i+3 < len(x); i += 4 {
		f = append(f, powellSingular(x[i:i+4])...)
	}
	return f
}

func freudensteinRoth(x reals) reals {
	a, b := x[0], x[1]
	return reals{
		a.AddConst(-13).Add(b.Neg().AddConst(5).Mul(b).AddConst(-2).Mul(b)),
		a.AddConst(-29).Add(b.AddConst(1).Mul(b).AddConst(-14).Mul(b)),
	}
}

var bardData = []float64{0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39}

func bard(x reals) reals {
	f := make(reals, 15)
	for i := range f {
		u := float64(i + 1)
		v := 16 - u
		w := min(u, v)
		f[i] = constant(bardData[i]).Sub(x[0].Add(constant(u).Div(x[1].Scale(v).Add(x[2].Scale(w)))))
	}
	return f
}

var (
	kowalikU = []float64{4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625}
	kowalikY = []float64{0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246}
)

func kowalikOsborne(x reals) reals {
	f := make(reals, 11)
	for i, u := range kowalikU {
		f[i] = constant(kowalikY[i]).Sub(x[0].Mul(x[1].Scale(u).AddConst(u * u)).
			Div(x[2].Scale(u).AddConst(u * u).Add(x[3])))
	}
	return f
}

var meyerData = []float64{34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820,
	3307, 2872}

func meyer(x reals) reals {
	f := make(reals, 16)
	for i, y := range meyerData {
		f[i] = x[0].Mul(nabla.Exp(x[1].Div(x[2].AddConst(45 + 5*float64(i+1))))).AddConst(-y)
	}
	return f
}

func watson(x reals) reals {
	f := make(reals, 31)
	for i := range 29 {
		t := float64(i+1) / 29
		slope, sum, power := constant(0), constant(0), 1.0
		for j, v := range x {
			if j > 0 {
				slope = slope.Add(v.Scale(float64(j) * power))
				power *= t
			}
			sum = sum.Add(v.Scale(power))
		}
		f[i] = slope.Sub(sum.Sq()).AddConst(-1)
	}
	f[29], f[30] = x[0], x[1].Sub(x[0].Sq()).AddConst(-1)
	return f
}

func box3(x reals) reals {
	f := make(reals, 10)
	for i := range f {
		t := float64(i+1) / 10
		f[i] = nabla.Exp(x[0].Scale(-t)).Sub(nabla.Exp(x[1].Scale(-t))).
			Add(x[2].Scale(math.Exp(-float64(i+1)) - math.Exp(-t)))
	}
	return f
}

func jennrichSampson(x reals) reals {
	f := make(reals, 10)
	for i := range f {
		k := float64(i + 1)
		f[i] = constant(2 + 2*k).Sub(nabla.Exp(x[0].Scale(k)).Add(nabla.Exp(x[1].Scale(k))))
	}
	return f
}

func brownDennis(x reals) reals {
	f := make(reals, 20)
	for i := range f {
		t := float64(i+1) / 5
		f[i] = x[0].Add(x[1].Scale(t)).AddConst(-math.Exp(t)).Sq().
			Add(x[2].Add(x[3].Scale(math.Sin(t))).AddConst(-math.Cos(t)).Sq())
	}
	return f
}

// chebyquad has the means of the shifted Chebyshev polynomials at x minus their integrals.
func chebyquad(m int) system {
	return func(x reals) reals {
		f := make(reals, m)
		for _, v := range x {
			t0, t1 := constant(1), v.Scale(2).AddConst(-1)
			twice := t1.Scale(2)
			for i := range f {
				f[i] = f[i].Add(t1)
				t0, t1 = t1, twice.Mul(t1).Sub(t0)
			}
		}
		for i := range f {
			f[i] = f[i].Scale(1 / float64(len(x)))
			if k := float64(i + 1); i%2 == 1 {
				f[i] = f[i].AddConst(1 / (k*k - 1))
			}
		}
		return f
	}
}

func brownAlmostLinear(x reals) reals {
	n := len(x)
	f, sum, product := make(reals, n), nabla.Sum(x...).AddConst(-float64(n+1)), constant(1)
	for i, v := range x {
		f[i], product = v.Add(sum), product.Mul(v)
	}
	f[n-1] = product.AddConst(-1)
	return f
}

var osborne1Data = []float64{
	0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658, 0.628,
	0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420,
	0.414, 0.411, 0.406,
}

func osborne1(x reals) reals {
	f := make(reals, 33)
	for i, y := range osborne1Data {
		t := 10 * float64(i)
		f[i] = constant(y).Sub(x[0].Add(x[1].Mul(nabla.Exp(x[3].Scale(-t)))).Add(x[2].Mul(nabla.Exp(x[4].Scale(-t)))))
	}
	return f
}

var osborne2Data = []float64{
	1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608, 0.655, 0.616,
	0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661, 0.612, 0.558, 0.533, 0.495,
	0.500, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428, 0.429, 0.523, 0.562, 0.607, 0.653, 0.672,
	0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559, 0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581,
	0.428, 0.292, 0.162, 0.098, 0.054,
}

func osborne2(x reals) reals {
	f := make(reals, 65)
	for i, y := range osborne2Data {
		t := float64(i) / 10
		bump := func(a, center, rate int) nabla.Real {
			return x[a].Mul(nabla.Exp(constant(t).Sub(x[center]).Sq().Mul(x[rate]).Neg()))
		}
		f[i] = constant(y).Sub(x[0].Mul(nabla.Exp(x[4].Scale(-t)))).Sub(bump(1, 8, 5)).Sub(bump(2, 9, 6)).
			Sub(bump(3, 10, 7))
	}
	return f
}

// Problems of the paper that are not among the eighteen of MINPACK's test of lmder.

func brownBadlyScaled(x reals) reals {
	return reals{x[0].AddConst(-1e6), x[1].AddConst(-2e-6), x[0].Mul(x[1]).AddConst(-2)}
}

func powellBadlyScaled(x reals) reals {
	return reals{x[0].Mul(x[1]).Scale(1e4).AddConst(-1),
		nabla.Exp(x[0].Neg()).Add(nabla.Exp(x[1].Neg())).AddConst(-1.0001)}
}

func beale(x reals) reals {
	f, power := make(reals, 3), constant(1)
	for i, y := range []float64{1.5, 2.25, 2.625} {
		power = power.Mul(x[1])
		f[i] = constant(y).Sub(x[0].Mul(power.Neg().AddConst(1)))
	}
	return f
}

func wood(x reals) reals {
	return reals{x[1].Sub(x[0].Sq()).Scale(10), x[0].Neg().AddConst(1), x[3].Sub(x[2].Sq()).Scale(math.Sqrt(90)),
		x[2].Neg().AddConst(1), x[1].Add(x[3]).AddConst(-2).Scale(math.Sqrt(10)),
		x[1].Sub(x[3]).Scale(1 / math.Sqrt(10))}
}

// biggsExp6 has fᵢ = x₃·exp(-t·x₁) - x₄·exp(-t·x₂) + x₆·exp(-t·x₅) - y.
func biggsExp6(x reals) reals {
	f := make(reals, 13)
	for i := range f {
		t := float64(i+1) / 10
		y := math.Exp(-t) - 5*math.Exp(-10*t) + 3*math.Exp(-4*t)
		e := func(j int) nabla.Real { return nabla.Exp(x[j].Scale(-t)) }
		f[i] = x[2].Mul(e(0)).Sub(x[3].Mul(e(1))).Add(x[5].Mul(e(4))).AddConst(-y)
	}
	return f
}

// penalty1 has √a·(xᵢ-1) and Σx² - ¼.
func penalty1(x reals) (f reals) {
	for _, v := range x {
		f = append(f, v.AddConst(-1).Scale(math.Sqrt(1e-5)))
	}
	return append(f, nabla.Dot(x, x).AddConst(-0.25))
}

// trigonometric has fᵢ = n - Σ cos xⱼ + i·(1 - cos xᵢ) - sin xᵢ.
func trigonometric(x reals) reals {
	f, sum := make(reals, len(x)), constant(float64(len(x)))
	for _, v := range x {
		sum = sum.Sub(nabla.Cos(v))
	}
	for i, v := range x {
		f[i] = sum.Add(nabla.Cos(v).Neg().AddConst(1).Scale(float64(i + 1))).Sub(nabla.Sin(v))
	}
	return f
}

// variablyDimensioned has xᵢ-1, Σ i·(xᵢ-1) and its square.
func variablyDimensioned(x reals) (f reals) {
	sum := constant(0)
	for i, v := range x {
		f = append(f, v.AddConst(-1))
		sum = sum.Add(v.AddConst(-1).Scale(float64(i + 1)))
	}
	return append(f, sum, sum.Sq())
}

// discreteBoundary is the discrete boundary value function.
func discreteBoundary(x reals) reals {
	n := len(x)
	f, h := make(reals, n), 1/float64(n+1)
	for i, v := range x {
		cube := v.AddConst(float64(i+1)*h + 1)
		f[i] = v.Scale(2).Add(cube.Sq().Mul(cube).Scale(h * h / 2))
		if i > 0 {
			f[i] = f[i].Sub(x[i-1])
		}
		if i < n-1 {
			f[i] = f[i].Sub(x[i+1])
		}
	}
	return f
}

// discreteIntegral is the discrete integral equation function.
func discreteIntegral(x reals) reals {
	n := len(x)
	f, h := make(reals, n), 1/float64(n+1)
	for i, v := range x {
		t, sum := float64(i+1)*h, constant(0)
		for j, w := range x {
			s := float64(j+1) * h
			cube := w.AddConst(s + 1)
			cube = cube.Sq().Mul(cube)
			if j <= i {
				sum = sum.Add(cube.Scale((1 - t) * s))
			} else {
				sum = sum.Add(cube.Scale(t * (1 - s)))
			}
		}
		f[i] = v.Add(sum.Scale(h / 2))
	}
	return f
}

var gaussianData = []float64{0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989, 0.3521, 0.2420, 0.1295,
	0.0540, 0.0175, 0.0044, 0.0009}

// gaussian has x₁·exp(-x₂·(t-x₃)²/2) - y.
func gaussian(x reals) reals {
	f := make(reals, 15)
	for i, y := range gaussianData {
		t := float64(7-i) / 2
		f[i] = x[0].Mul(nabla.Exp(constant(t).Sub(x[2]).Sq().Mul(x[1]).Scale(-0.5))).AddConst(-y)
	}
	return f
}

func broydenTridiagonal(x reals) reals {
	n := len(x)
	f := make(reals, n)
	for i, v := range x {
		f[i] = v.Scale(-2).AddConst(3).Mul(v).AddConst(1)
		if i > 0 {
			f[i] = f[i].Sub(x[i-1])
		}
		if i < n-1 {
			f[i] = f[i].Sub(x[i+1].Scale(2))
		}
	}
	return f
}

func broydenBanded(x reals) reals {
	n := len(x)
	f := make(reals, n)
	for i, v := range x {
		f[i] = v.Mul(v.Sq().Scale(5).AddConst(2)).AddConst(1)
		for j := max(0, i-5); j <= min(n-1, i+1); j++ {
			if j != i {
				f[i] = f[i].Sub(x[j].Mul(x[j].AddConst(1)))
			}
		}
	}
	return f
}

// A start has a problem with a standard starting point.
type start struct {
	name string
	f    system
	x    []float64
}

func same(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// along returns n elements f(i), i from 1.
func along(n int, f func(i float64) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(float64(i + 1))
	}
	return x
}

// even returns n numbers that divide the interval from 0 to 1.
func even(n int) []float64 { return along(n, func(i float64) float64 { return i / float64(n+1) }) }

var (
	kowalikStart  = []float64{0.25, 0.39, 0.415, 0.39}
	osborne2Start = []float64{1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5}
)

// repeat returns n elements of the cycle.
func repeat(n int, cycle ...float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = cycle[i%len(cycle)]
	}
	return x
}

// objective is the sum of squares of a system, the objective of the paper's unconstrained problems.
func objective(f system) func(x reals) nabla.Real {
	return func(x reals) nabla.Real { r := f(x); return nabla.Dot(r, r) }
}
