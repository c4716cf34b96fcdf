// Package finance has programs about money: bonds, options, loans and portfolios.
package finance

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// A Cashflow is a payment at a time in years.
type Cashflow struct {
	Time, Amount float64
}

// A Bond pays coupons and its face value.
type Bond struct {
	Face, Coupon float64
	Maturity     int
	PerYear      int
}

// Cashflows lists the payments.
func (b Bond) Cashflows() []Cashflow {
	n := b.Maturity * b.PerYear
	flows := make([]Cashflow, 0, n+1)
	for i := 1; i <= n; i++ {
		t := float64(i) / float64(b.PerYear)
		flows = append(flows, Cashflow{Time: t, Amount: b.Face * b.Coupon / float64(b.PerYear)})
	}
	flows = append(flows, Cashflow{Time: float64(b.Maturity), Amount: b.Face})
	return flows
}

// Price is the present value at a yield.
func (b Bond) Price(yield float64) float64 {
	sum := 0.0
	for _, c := range b.Cashflows() {
		sum += c.Amount / math.Pow(1+yield/float64(b.PerYear), c.Time*float64(b.PerYear))
	}
	return sum
}

// BondPrice is the price of a ten-year bond.
//
//corpus:at 0.04 0.035
func BondPrice(coupon, yield float64) float64 {
	b := Bond{Face: 1000, Coupon: coupon, Maturity: 10, PerYear: 2}
	return b.Price(yield)
}

// Convexity is a sum over cash flows.
//
//corpus:at 0.05
func Convexity(yield float64) float64 {
	b := Bond{Face: 100, Coupon: 0.06, Maturity: 5, PerYear: 2}
	p, c := 0.0, 0.0
	for _, f := range b.Cashflows() {
		d := math.Exp(-yield * f.Time)
		p += f.Amount * d
		c += f.Amount * f.Time * f.Time * d
	}
	return c / p
}

// IRR is the internal rate of return of an investment, by Newton's method.
//
//corpus:at -1000 300 420 380 250
func IRR(flows []float64) (float64, error) {
	r := 0.1
	for iter := 0; iter < 50; iter++ {
		v, dv := 0.0, 0.0
		for t, c := range flows {
			v += c / math.Pow(1+r, float64(t))
			dv -= float64(t) * c / math.Pow(1+r, float64(t+1))
		}
		next := r - v/dv
		if math.Abs(next-r) < 1e-13 {
			return next, nil
		}
		r = next
	}
	return 0, errors.New("no convergence")
}

// An Option is a European option.
type Option struct {
	Spot, Strike, Rate, Vol, Expiry float64
}

func cdf(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// Price is the price of a call by Black and Scholes.
func (o Option) Price() float64 {
	d1 := (math.Log(o.Spot/o.Strike) + (o.Rate+o.Vol*o.Vol/2)*o.Expiry) / (o.Vol * math.Sqrt(o.Expiry))
	d2 := d1 - o.Vol*math.Sqrt(o.Expiry)
	return o.Spot*cdf(d1) - o.Strike*math.Exp(-o.Rate*o.Expiry)*cdf(d2)
}

// Call is the price of a European call.
//
//corpus:at 100 105 0.03 0.2 0.75
func Call(o Option) float64 { return o.Price() }

// ImpliedVolatility finds the volatility for a price by bisection and two Newton steps.
//
//corpus:at 8.5 100
func ImpliedVolatility(price, spot float64) float64 {
	o := Option{Spot: spot, Strike: 100, Rate: 0.01, Expiry: 1}
	lo, hi := 1e-3, 3.0
	for i := 0; i < 20; i++ {
		o.Vol = (lo + hi) / 2
		if o.Price() > price {
			hi = o.Vol
		} else {
			lo = o.Vol
		}
	}
	for i := 0; i < 3; i++ {
		d1 := (math.Log(o.Spot/o.Strike) + (o.Rate+o.Vol*o.Vol/2)*o.Expiry) / (o.Vol * math.Sqrt(o.Expiry))
		vega := o.Spot * math.Exp(-d1*d1/2) / math.Sqrt(2*math.Pi) * math.Sqrt(o.Expiry)
		o.Vol -= (o.Price() - price) / vega
	}
	return o.Vol
}

// American is the price of an American put in a binomial tree.
//
//corpus:at 100 0.25 0.04
func American(spot, vol, rate float64) float64 {
	const steps = 40
	strike, expiry := 103.0, 0.5
	dt := expiry / steps
	u := math.Exp(vol * math.Sqrt(dt))
	p := (math.Exp(rate*dt) - 1/u) / (u - 1/u)
	values := make([]float64, steps+1)
	for i := range values {
		values[i] = math.Max(strike-spot*math.Pow(u, float64(2*i-steps)), 0)
	}
	for n := steps - 1; n >= 0; n-- {
		for i := 0; i <= n; i++ {
			hold := math.Exp(-rate*dt) * (p*values[i+1] + (1-p)*values[i])
			exercise := strike - spot*math.Pow(u, float64(2*i-n))
			values[i] = math.Max(hold, exercise)
		}
	}
	return values[0]
}

// A Curve is a yield curve given by points, interpolated linearly.
type Curve struct {
	points map[float64]float64
	times  []float64
}

// NewCurve makes a curve.
func NewCurve(times, rates []float64) (*Curve, error) {
	if len(times) != len(rates) {
		return nil, fmt.Errorf("%d times and %d rates", len(times), len(rates))
	}
	c := &Curve{points: make(map[float64]float64)}
	for i, t := range times {
		c.points[t] = rates[i]
		c.times = append(c.times, t)
	}
	sort.Float64s(c.times)
	return c, nil
}

// Rate interpolates.
func (c *Curve) Rate(t float64) float64 {
	i := sort.SearchFloat64s(c.times, t)
	switch {
	case i == 0:
		return c.points[c.times[0]]
	case i == len(c.times):
		return c.points[c.times[i-1]]
	}
	a, b := c.times[i-1], c.times[i]
	w := (t - a) / (b - a)
	return (1-w)*c.points[a] + w*c.points[b]
}

// SwapRate is the fair fixed rate of a swap on a curve.
//
//corpus:at 0.02 0.024 0.027 0.03
func SwapRate(rates []float64) (float64, error) {
	c, err := NewCurve([]float64{5, 1, 2, 10}, rates)
	if err != nil {
		return 0, err
	}
	annuity := 0.0
	last := 1.0
	for y := 1; y <= 7; y++ {
		last = math.Exp(-c.Rate(float64(y)) * float64(y))
		annuity += last
	}
	return (1 - last) / annuity, nil
}

// NelsonSiegel fits a curve: the sum of squared errors of rates.
//
//corpus:at 0.04 -0.02 0.01 1.7
func NelsonSiegel(p []float64) float64 {
	market := []struct{ t, r float64 }{{0.5, 0.021}, {1, 0.024}, {2, 0.028}, {5, 0.034}, {10, 0.037}, {30, 0.039}}
	sum := 0.0
	for _, m := range market {
		z := m.t / p[3]
		load := (1 - math.Exp(-z)) / z
		e := p[0] + p[1]*load + p[2]*(load-math.Exp(-z)) - m.r
		sum += e * e
	}
	return sum * 1e4
}

// Sharpe is the ratio of a portfolio with weights that are normalised.
//
//corpus:at 0.2 0.5 0.9
func Sharpe(weights []float64) float64 {
	mean := []float64{0.05, 0.08, 0.11}
	cov := [][]float64{{0.01, 0.002, 0.001}, {0.002, 0.03, 0.004}, {0.001, 0.004, 0.07}}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	r, v := 0.0, 0.0
	for i, w := range weights {
		r += w / total * mean[i]
		for j, u := range weights {
			v += w * u / (total * total) * cov[i][j]
		}
	}
	return (r - 0.02) / math.Sqrt(v)
}

// Payment is the monthly payment of a loan with a fee, and the interest in all.
//
//corpus:at 250000 0.045 25
func Payment(principal, rate, years float64) (payment, interest float64, err error) {
	if rate <= 0 || years <= 0 {
		return 0, 0, errors.New("rate and years have to be positive")
	}
	i := rate / 12
	n := years * 12
	payment = principal * i / (1 - math.Pow(1+i, -n))
	return payment, payment*n - principal, nil
}

// Drawdown is the largest fall of a price below its maximum so far.
//
//corpus:at 100 104 99 103 96 97 110 105
func Drawdown(prices []float64) float64 {
	peak, worst := math.Inf(-1), 0.0
	for _, p := range prices {
		if p > peak {
			peak = p
		}
		if d := (peak - p) / peak; d > worst {
			worst = d
		}
	}
	return worst
}

// GARCH is the negative log likelihood of returns.
//
//corpus:at 0.00001 0.08 0.9
func GARCH(p []float64) float64 {
	returns := []float64{0.01, -0.012, 0.004, 0.021, -0.03, 0.002, 0.007, -0.011, 0.015, -0.004}
	omega, alpha, beta := p[0], p[1], p[2]
	h := 0.0
	for _, r := range returns {
		h += r * r
	}
	h /= float64(len(returns))
	ll := 0.0
	for i, r := range returns {
		if i > 0 {
			last := returns[i-1]
			h = omega + alpha*last*last + beta*h
		}
		ll += 0.5 * (math.Log(2*math.Pi) + math.Log(h) + r*r/h)
	}
	return ll
}

// Heston is a call price by integration of a characteristic function.
//
//corpus:at 0.04 1.5 0.05 0.3 -0.6
func Heston(p []float64) float64 {
	v0, kappa, theta, sigma, rho := p[0], p[1], p[2], p[3], p[4]
	const s, k, t = 100.0, 100.0, 1.0
	cf := func(u complex128) complex128 {
		iu := complex(0, 1) * u
		b := complex(kappa, 0) - complex(rho*sigma, 0)*iu
		d := cmplxSqrt(b*b + complex(sigma*sigma, 0)*(iu+u*u))
		g := (b - d) / (b + d)
		e := cmplxExp(-d * complex(t, 0))
		c := complex(kappa*theta/(sigma*sigma), 0) * ((b-d)*complex(t, 0) - 2*cmplxLog((1-g*e)/(1-g)))
		dd := complex(v0/(sigma*sigma), 0) * (b - d) * (1 - e) / (1 - g*e)
		return cmplxExp(c + dd + iu*complex(math.Log(s), 0))
	}
	integral := 0.0
	const n = 64
	for j := 0; j < n; j++ {
		u := (float64(j) + 0.5) * 0.5
		z := cf(complex(u, -0.5)) * cmplxExp(complex(0, -u*math.Log(k)))
		integral += real(z) / (u*u + 0.25) * 0.5
	}
	return s - math.Sqrt(k)/math.Pi*integral
}

// MonteCarlo is the mean payoff of an Asian option on fixed random numbers.
//
//corpus:at 100 0.2
func MonteCarlo(spot, vol float64) float64 {
	seed := uint64(12345)
	next := func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
	normal := func() float64 {
		u, v := next(), next()
		return math.Sqrt(-2*math.Log(u+1e-300)) * math.Cos(2*math.Pi*v)
	}
	sum := 0.0
	const paths, steps = 100, 12
	for range paths {
		s, mean := spot, 0.0
		for range steps {
			s *= math.Exp(-vol*vol/2/steps + vol*normal()/math.Sqrt(steps))
			mean += s / steps
		}
		if mean > 100 {
			sum += mean - 100
		}
	}
	return sum / paths
}
