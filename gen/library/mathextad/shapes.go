package mathextad

import (
	"math"

	"github.com/nabla-ad/nabla/gen/rt"
)

// Derivatives of the incomplete gamma and beta functions with respect to their shapes.
//
// P(a, x) is the integral of the density p(t; a) from 0 to x, so its derivatives by a are integrals of those of p.
// These are p times a polynomial in log t - ψ(a) and polygamma functions, the complete Bell polynomial of the
// derivatives of log p. Over all t they are 0 but for the density itself, and the smaller of the two tails is
// integrated. With u = log t the integrand is log-concave and, for a ≥ 1, of one scale; the trapezoidal rule after a
// double exponential transformation (Takahasi and Mori, Publ. RIMS 9, 1974) then has nearly all digits with a fixed
// number of nodes. For smaller a the lower tail is long, and P(a, x) = x^a·e^(-x)/Γ(a+1) + P(a+1, x) (DLMF 8.8.5) leads
// to larger ones. The incomplete beta function is treated in the same way, with u = log(t/(1-t)) and DLMF 8.17.20.
// Series of derivatives, as those of Moore (AS 187, Applied Statistics 31, 1982) and Boik and Robison-Cox (J.
// Statistical Software 3, 1998), need the more terms the larger the shapes are, and end by a test.

// maxOrder is the largest order of a derivative with respect to shapes.
const maxOrder = 12

// Nodes and weights for integrals from 0 to infinity of functions that decay at least like e^(-s).
const (
	nodes = 130
	step  = 0.06
	first = -3.6 // the parameter of the first node
	least = -70  // the logarithm, relative to the first one, of densities that are left out
)

var node, weight = func() (s, w [nodes]float64) {
	for i := range s {
		e := math.Exp(-(first + step*float64(i)))
		s[i] = math.Exp(first + step*float64(i) - e)
		w[i] = step * (1 + e) * s[i]
	}
	return s, w
}()

// A cumulants holds the derivatives of log p with respect to two shapes: that of order i by the first and k by the
// second, for i+k > 0.
type cumulants [maxOrder + 1][maxOrder + 1]float64

// ratio returns the derivative of p of order j by the first shape and k by the second over p itself: the complete Bell
// polynomial of c.
func (c *cumulants) ratio(j, k int) float64 {
	switch {
	case j+k == 0:
		return 1
	case j+k == 1:
		return c[j][k]
	case j == 2 && k == 0:
		return c[1][0]*c[1][0] + c[2][0]
	case j == 0 && k == 2:
		return c[0][1]*c[0][1] + c[0][2]
	case j == 1 && k == 1:
		return c[1][0]*c[0][1] + c[1][1]
	}
	// p′ = p·(log p)′, differentiated by Leibniz' rule.
	var p cumulants
	p[0][0] = 1
	for n := 1; n <= k; n++ {
		binomial := 1.0
		for m := range n {
			p[0][n] += binomial * p[0][n-1-m] * c[0][m+1]
			binomial *= float64(n-1-m) / float64(m+1)
		}
	}
	for i := 1; i <= j; i++ {
		for n := range k + 1 {
			outer := 1.0
			for l := range i {
				inner := outer
				for m := range n + 1 {
					p[i][n] += inner * p[i-1-l][n-m] * c[l+1][m]
					inner *= float64(n-m) / float64(m+1)
				}
				outer *= float64(i-1-l) / float64(l+1)
			}
		}
	}
	return p[j][k]
}

// order panics if a derivative of order n is not available.
func order(n int) {
	if n > maxOrder {
		panic("mathextad: derivatives with respect to shapes are available up to order 12")
	}
}

// polygamma returns the polygamma function of order n.
func polygamma(n int, x float64) float64 {
	if n == 0 {
		return rt.Digamma(x)
	}
	return rt.Polygamma(float64(n), x)
}

// bernoulli holds B(2k)/(2k)!.
var bernoulli = [...]float64{1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000}

// excess returns ψ(n)(x+d) - ψ(n)(x) for d > 0 without cancellation, by recurrence and the asymptotic expansion (DLMF
// 5.5.2, 5.11.2 and 5.15.9).
func excess(n int, x, d float64) float64 {
	if x < large && d > x/8 {
		return polygamma(n, x+d) - polygamma(n, x)
	}
	factorial := 1.0 // of n, with the sign of the derivative of ψ(n)
	for i := 2; i <= n; i++ {
		factorial *= float64(i)
	}
	if n%2 == 1 {
		factorial = -factorial
	}
	sum := 0.0
	for ; x < large+float64(n); x++ {
		sum += less(x, d, n+1)
	}
	sum += less(x, d, n+1) / 2
	if n == 0 {
		sum += math.Log1p(d / x)
	} else {
		sum += less(x, d, n) / float64(n)
	}
	sum *= factorial
	for i, b := range bernoulli {
		m := 2*i + 2 + n
		for f := 2; f < m; f++ { // the coefficient is B(2k)·(2k+n-1)!/(2k)!
			b *= float64(f)
		}
		if n%2 == 1 {
			b = -b
		}
		sum += b * less(x, d, m)
	}
	return sum
}

// less returns x^-n - (x+d)^-n.
func less(x, d float64, n int) float64 {
	p, q := 1/x, 1/(x+d)
	sum, power := 0.0, 1.0
	for range n {
		sum = sum*p + power
		power *= q
	}
	return d * p * q * sum
}

// logLess returns log a - ψ(a).
func logLess(a float64) float64 {
	if a < large {
		return math.Log(a) - rt.Digamma(a)
	}
	t := 1 / (a * a)
	return (0.5 + (1./12-t*(1./120-t*(1./252-t*(1./240-t/132))))/a) / a
}

// gammaCumulants sets c to the derivatives of log p(x; a) by a up to order k. Those of order 2 and more do not depend
// on x.
func gammaCumulants(c *cumulants, k int, a, x float64) {
	c[1][0] = logRatio(x, a, x-a) + logLess(a)
	for i := 2; i <= k; i++ {
		c[i][0] = -polygamma(i-1, a)
	}
}

// gammaRatio returns the derivative of order k ≥ 1 of P(a, x) with respect to a, over x·GammaDensity. It is NaN
// unless a and x are positive and finite.
func gammaRatio(k int, a, x float64) float64 {
	order(k)
	if !(a > 0 && x > 0 && a <= math.MaxFloat64 && x <= math.MaxFloat64) {
		return math.NaN()
	}
	lifted := a < 1 && x < 1
	if lifted {
		a++
	}
	var c cumulants
	gammaCumulants(&c, k, a, x)
	sum := 0.0
	start := c[1][0]
	scale := 1 / (math.Abs(x-a) + math.Sqrt(x))
	if x >= a { // the upper tail
		scale = -scale
	}
	for i, s := range node {
		s *= scale
		c[1][0] = start - s
		e := -a*s - x*math.Expm1(-s)
		if e < least {
			break
		}
		sum += weight[i] * math.Exp(e) * c.ratio(k, 0)
	}
	sum *= scale
	if lifted {
		a--
		c[1][0] = start
		sum = (sum*x + c.ratio(k, 0)) / a
	}
	return sum
}

// betaCumulants sets c to the derivatives of log p(x; a, b) by a and b up to the orders j and k, given the logarithms
// of x and 1-x.
func betaCumulants(c *cumulants, j, k int, a, b, logX, logRest float64) {
	c[1][0] = logX + excess(0, a, b)
	c[0][1] = logRest + excess(0, b, a)
	for n := 1; n < j+k; n++ {
		both := polygamma(n, a+b)
		for i := range n + 2 {
			c[i][n+1-i] = both
		}
		c[n+1][0] = excess(n, a, b)
		c[0][n+1] = excess(n, b, a)
	}
}

// betaRatio returns the derivative of I(x; a, b) of order j with respect to a and k with respect to b, j+k ≥ 1,
// over x·(1-x)·BetaDensity. It is NaN unless a and b are positive and finite and x is between 0 and 1.
func betaRatio(j, k int, a, b, x float64) float64 {
	order(j + k)
	if !(a > 0 && b > 0 && a <= math.MaxFloat64 && b <= math.MaxFloat64 && x > 0 && x < 1) {
		return math.NaN()
	}
	// The split is the mean, of larger shapes for those below 1.
	left, right := a, b
	if a < 1 {
		left++
	}
	if b < 1 {
		right++
	}
	logX, logRest := math.Log(x), math.Log1p(-x)
	if x <= left/(left+right) {
		return betaTail(j, k, a, b, x, 1-x, logX, logRest)
	}
	return -betaTail(k, j, b, a, 1-x, x, logRest, logX)
}

// betaTail is betaRatio for x below the split, given y = 1-x and the logarithms of both.
func betaTail(j, k int, a, b, x, y, logX, logY float64) float64 {
	lifted := a < 1
	if lifted {
		a++
	}
	var c cumulants
	betaCumulants(&c, j, k, a, b, logX, logY)
	startA, startB := c[1][0], c[0][1]
	n := a + b
	scale := 1 / (math.Abs(a-n*x) + math.Sqrt(n*x*y))
	sum := 0.0
	for i, s := range node {
		s *= scale
		// With t/(1-t) = x/y·e^(-s), down and up are log(x/t) and log((1-t)/y). The smaller one is computed.
		var down, up float64
		if x <= 0.5 {
			up = -math.Log1p(x * math.Expm1(-s))
			down = s - up
		} else {
			down = math.Log1p(y * math.Expm1(s))
			up = s - down
		}
		c[1][0], c[0][1] = startA-down, startB+up
		e := b*up - a*down
		if e < least {
			break
		}
		sum += weight[i] * math.Exp(e) * c.ratio(j, k)
	}
	sum *= scale
	if lifted {
		// The term is x^a·(1-x)^b·Γ(a+b)/(Γ(a+1)·Γ(b)), where p has Γ(a+b+1).
		a--
		n--
		c[1][0], c[0][1] = startA, startB
		pole := 1 / n // the difference of polygamma functions at n+1 and n
		for m := 1; m <= j+k; m++ {
			for i := range m + 1 {
				c[i][m-i] -= pole
			}
			pole *= -float64(m) / n
		}
		sum = (sum*x*n + c.ratio(j, k)) / a
	}
	return sum
}
