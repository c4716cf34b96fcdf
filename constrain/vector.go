package constrain

import "math"

// Ordered writes ascending numbers to x, of the length of u: u[0], then each the one before plus the exponential of the
// next element of u. It returns the logarithm of the determinant of the Jacobian. x may be u.
func Ordered(x, u []float64) (logJ float64) {
	if len(x) != len(u) {
		panic(&LengthError{"Ordered", "x", len(x), len(u)})
	}
	last := 0.0
	for i, v := range u {
		if i == 0 {
			last = v
		} else {
			logJ += v
			last += math.Exp(v)
		}
		x[i] = last
	}
	return logJ
}

// FreeOrdered writes to u, of the length of x, the numbers for which [Ordered] returns x. u may be x.
func FreeOrdered(u, x []float64) {
	if len(x) != len(u) {
		panic(&LengthError{"FreeOrdered", "u", len(u), len(x)})
	}
	last := 0.0
	for i, v := range x {
		if i == 0 {
			u[i] = v
		} else {
			u[i] = math.Log(v - last)
		}
		last = v
	}
}

// Simplex writes positive numbers whose sum is 1 to x, which has one element more than u: each takes a part of what
// those before it have left, by the logistic function of an element of u, shifted so that all parts are equal for u =
// 0. It returns the logarithm of the determinant of the Jacobian of x without its last element.
func Simplex(x, u []float64) (logJ float64) {
	if len(x) != len(u)+1 {
		panic(&LengthError{"Simplex", "x", len(x), len(u) + 1})
	}
	logRest := 0.0
	for i, v := range u {
		_, _, logPart, left := logistic(v - math.Log(float64(len(u)-i)))
		x[i] = math.Exp(logRest + logPart)
		logJ += logRest + logPart + left
		logRest += left
	}
	x[len(u)] = math.Exp(logRest)
	return logJ
}

// FreeSimplex writes to u, of one element less than x, the numbers for which [Simplex] returns x.
func FreeSimplex(u, x []float64) {
	if len(x) != len(u)+1 {
		panic(&LengthError{"FreeSimplex", "u", len(u), len(x) - 1})
	}
	rest := x[len(x)-1]
	for i := len(u) - 1; i >= 0; i-- {
		u[i] = math.Log(x[i]/rest) + math.Log(float64(len(u)-i))
		rest += x[i]
	}
}

// Correlation writes to l, n×n numbers row by row, the lower triangular Cholesky factor of a correlation matrix: rows
// have the norm 1, and positive numbers are on the diagonal. u has n·(n-1)/2 elements, whose hyperbolic tangents are
// canonical partial correlations. It returns the logarithm of the determinant of the Jacobian of the elements below the
// diagonal.
func Correlation(l, u []float64, n int) (logJ float64) {
	if len(l) != n*n {
		panic(&LengthError{"Correlation", "l", len(l), n * n})
	}
	if len(u) != n*(n-1)/2 {
		panic(&LengthError{"Correlation", "u", len(u), n * (n - 1) / 2})
	}
	k := 0
	for i := range n {
		logRest := 0.0 // of the square of the norm that the row has left
		for j := range i {
			logRemains := logSech2(u[k])
			l[i*n+j] = math.Tanh(u[k]) * math.Exp(logRest/2)
			logJ += logRest/2 + logRemains
			logRest += logRemains
			k++
		}
		l[i*n+i] = math.Exp(logRest / 2)
		for j := i + 1; j < n; j++ {
			l[i*n+j] = 0
		}
	}
	return logJ
}

// logSech2 is the logarithm of 1-tanh²(u), which is 4 times a logistic function times what it leaves of 1.
func logSech2(u float64) float64 {
	_, _, logPart, logRest := logistic(2 * u)
	return 2*math.Ln2 + logPart + logRest
}

// FreeCorrelation writes to u, of n·(n-1)/2 elements, the numbers for which [Correlation] returns l.
func FreeCorrelation(u, l []float64, n int) {
	if len(l) != n*n {
		panic(&LengthError{"FreeCorrelation", "l", len(l), n * n})
	}
	if len(u) != n*(n-1)/2 {
		panic(&LengthError{"FreeCorrelation", "u", len(u), n * (n - 1) / 2})
	}
	k := 0
	for i := range n {
		rest := 1.0
		for j := range i {
			v := l[i*n+j]
			u[k] = math.Atanh(v / math.Sqrt(rest))
			rest -= v * v
			k++
		}
	}
}
