package constrain

import (
	"math"

	"github.com/nabla-ad/nabla"
)

// PositiveReal is [Positive] over Reals.
func PositiveReal(u nabla.Real) (x, logJ nabla.Real) { return nabla.Exp(u), u }

// AboveReal is [Above] over Reals.
func AboveReal(u nabla.Real, lower float64) (x, logJ nabla.Real) {
	return nabla.Exp(u).AddConst(lower), u
}

// BelowReal is [Below] over Reals.
func BelowReal(u nabla.Real, upper float64) (x, logJ nabla.Real) {
	return nabla.Exp(u).Neg().AddConst(upper), u
}

// BetweenReal is [Between] over Reals.
func BetweenReal(u nabla.Real, lower, upper float64) (x, logJ nabla.Real) {
	logPart, logRest := logLogistic(u)
	return nabla.Logistic(u).Scale(upper - lower).AddConst(lower),
		logPart.Add(logRest).AddConst(math.Log(upper - lower))
}

// logLogistic returns the logarithms of the logistic function of u and of what it leaves of 1.
func logLogistic(u nabla.Real) (part, rest nabla.Real) {
	return nabla.Softplus(u.Neg()).Neg(), nabla.Softplus(u).Neg()
}

// OrderedReal is [Ordered] over Reals.
func OrderedReal(x, u []nabla.Real) (logJ nabla.Real) {
	if len(x) != len(u) {
		panic(&LengthError{"OrderedReal", "x", len(x), len(u)})
	}
	var last nabla.Real
	for i, v := range u {
		if i == 0 {
			last = v
		} else {
			logJ = logJ.Add(v)
			last = last.Add(nabla.Exp(v))
		}
		x[i] = last
	}
	return logJ
}

// SimplexReal is [Simplex] over Reals.
func SimplexReal(x, u []nabla.Real) (logJ nabla.Real) {
	if len(x) != len(u)+1 {
		panic(&LengthError{"SimplexReal", "x", len(x), len(u) + 1})
	}
	var logRest nabla.Real
	for i, v := range u {
		logPart, left := logLogistic(v.AddConst(-math.Log(float64(len(u) - i))))
		taken := logRest.Add(logPart)
		x[i] = nabla.Exp(taken)
		logJ = logJ.Add(taken).Add(left)
		logRest = logRest.Add(left)
	}
	x[len(u)] = nabla.Exp(logRest)
	return logJ
}

// CorrelationReal is [Correlation] over Reals.
func CorrelationReal(l, u []nabla.Real, n int) (logJ nabla.Real) {
	if len(l) != n*n {
		panic(&LengthError{"CorrelationReal", "l", len(l), n * n})
	}
	if len(u) != n*(n-1)/2 {
		panic(&LengthError{"CorrelationReal", "u", len(u), n * (n - 1) / 2})
	}
	k := 0
	for i := range n {
		var logRest nabla.Real
		for j := range i {
			logPart, rest := logLogistic(u[k].Scale(2))
			remains := logPart.Add(rest).AddConst(2 * math.Ln2)
			half := logRest.Scale(0.5)
			l[i*n+j] = nabla.Tanh(u[k]).Mul(nabla.Exp(half))
			logJ = logJ.Add(half).Add(remains)
			logRest = logRest.Add(remains)
			k++
		}
		l[i*n+i] = nabla.Exp(logRest.Scale(0.5))
		for j := i + 1; j < n; j++ {
			l[i*n+j] = nabla.Const(0)
		}
	}
	return logJ
}
