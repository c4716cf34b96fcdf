package main

// functions are in the order of their numbers in package vector. Constants and the order of operations are those of
// package math: archExp and archLog of amd64, log1p, expm1, sin, cos and tanh.
var functions = []struct {
	name  string
	build func(c *code)
}{
	{"exp", exp}, {"log", log}, {"log1p", log1p}, {"expm1", expm1}, {"sin", sin}, {"cos", cos}, {"tanh", tanh},
}

// The coefficients of polynomials.
const (
	// log and log1p
	l1 = 6.666666666666735130e-01
	l2 = 3.999999999940941908e-01
	l3 = 2.857142874366239149e-01
	l4 = 2.222219843214978396e-01
	l5 = 1.818357216161805012e-01
	l6 = 1.531383769920937332e-01
	l7 = 1.479819860511658591e-01

	// sin and cos
	sin0 = 1.58962301576546568060e-10
	sin1 = -2.50507477628578072866e-8
	sin2 = 2.75573136213857245213e-6
	sin3 = -1.98412698295895385996e-4
	sin4 = 8.33333333332211858878e-3
	sin5 = -1.66666666666666307295e-1
	cos0 = -1.13585365213876817300e-11
	cos1 = 2.08757008419747316778e-9
	cos2 = -2.75573141792967388112e-7
	cos3 = 2.48015872888517045348e-5
	cos4 = -1.38888888888730564116e-3
	cos5 = 4.16666666666665929218e-2

	// tanh, a quotient
	p0 = -9.64399179425052238628e-1
	p1 = -9.92877231001918586564e1
	p2 = -1.61468768441708447952e3
	q0 = 1.12811678491632931402e2
	q1 = 2.23548839060100448583e3
	q2 = 4.84406305325125486048e3

	// expm1
	m1 = -3.33333333333331316428e-02
	m2 = 1.58730158725481460165e-03
	m3 = -7.93650757867487942473e-05
	m4 = 4.00821782732936239552e-06
	m5 = -2.01099218183624371326e-07
)

func (c *code) zero() value     { return c.number(0) }
func (c *code) one() value      { return c.number(1) }
func (c *code) two() value      { return c.number(2) }
func (c *code) half() value     { return c.number(0.5) }
func (c *code) bias() value     { return c.bits(1023) }
func (c *code) signs() value    { return c.bits(1 << 63) }
func (c *code) mantissa() value { return c.bits(1<<52 - 1) }
func (c *code) ln2Hi() value    { return c.number(6.93147180369123816490e-01) }
func (c *code) ln2Lo() value    { return c.number(1.90821492927058770002e-10) }

func (c *code) abs(x value) value { return c.and(x, c.bits(1<<63-1)) }

// exponent returns the exponent of a positive number: its upper bits as the lower ones of a number from 2⁵² on.
func (c *code) exponent(x value, bias float64) value {
	return c.sub(c.or(c.shiftRight(x, 52), c.number(1<<52)), c.number(1<<52+bias))
}

// polynomial returns that of x with these coefficients, the highest one first, by Horner's rule.
func (c *code) polynomial(x value, coefficients ...float64) value {
	y := c.number(coefficients[0])
	for _, a := range coefficients[1:] {
		y = c.add(c.mul(y, x), c.number(a))
	}
	return y
}

func exp(c *code) {
	x := c.load()
	c.require(c.compare(c.abs(x), atMost, c.number(708)))
	c.store(c.exponential(x))
}

// exponential returns that of x, which is at most 708 in absolute value.
func (c *code) exponential(x value) value {
	n := c.toInts(c.mul(x, c.number(1.4426950408889634073599246810018920)))
	k := c.fromInts(n)
	x = c.subProduct(x, k, c.number(0.69314718055966295651160180568695068359375))
	x = c.subProduct(x, k, c.number(0.28235290563031577122588448175013436025525412068e-12))
	x = c.mul(x, c.number(0.0625))
	y := c.number(2.4801587301587301587e-5)
	y = c.addProduct(c.number(1.9841269841269841270e-4), y, x)
	y = c.addProduct(c.number(1.3888888888888888889e-3), y, x)
	y = c.addProduct(c.number(8.3333333333333333333e-3), y, x)
	y = c.addProduct(c.number(4.1666666666666666667e-2), y, x)
	y = c.addProduct(c.number(1.6666666666666666667e-1), y, x)
	y = c.addProduct(c.half(), y, x)
	y = c.addProduct(c.one(), y, x)
	x = c.mul(x, y)
	for range 3 {
		x = c.mul(x, c.add(x, c.two()))
	}
	x = c.addProduct(c.one(), x, c.add(x, c.two()))
	return c.mul(x, c.shiftLeft(c.addInts(c.wide(n), c.bias()), 52))
}

func log(c *code) {
	x := c.load()
	positive := c.above(x, c.bits(1<<52-1))
	c.require(c.above(c.bits(0x7ff<<52), x, positive))
	k := c.exponent(x, 1022)
	f := c.andOr(x, c.mantissa(), c.half()) // from 1/2 to 1
	low := c.compare(c.number(7.07106781186547524401e-01), atLeast, f)
	k = c.subWhere(low, k, c.one())
	f = c.sub(c.addWhere(low, f, f), c.one())
	s := c.div(f, c.add(f, c.two()))
	s2 := c.mul(s, s)
	s4 := c.mul(s2, s2)
	t1 := c.mul(s2, c.polynomial(s4, l7, l5, l3, l1))
	t2 := c.mul(s4, c.polynomial(s4, l6, l4, l2))
	r := c.add(t1, t2)
	hfsq := c.mul(c.mul(f, c.half()), f)
	r = c.add(c.mul(s, c.add(hfsq, r)), c.mul(k, c.ln2Lo()))
	c.store(c.sub(c.mul(k, c.ln2Hi()), c.sub(c.sub(hfsq, r), f)))
}

func log1p(c *code) {
	x := c.load()
	value := c.abs(x)
	inside := c.compare(value, less, c.number(1<<53))
	inside = c.compare(x, greater, c.number(-1), inside)
	near := c.compare(value, less, c.number(4.142135623730950488017e-01))
	near = c.compare(x, greater, c.number(-2.928932188134524755992e-01), near) // x is f, and k = 0
	u := c.add(x, c.one())
	m := c.and(u, c.mantissa())
	// Package math has other formulas for a u just below a power of two, and for the power itself, where f is zero: the
	// one here returns the same for the latter.
	c.require(c.both(inside, c.either(near, c.above(c.bits(0x000ffffffffffffd), m))))
	k := c.exponent(u, 1023)
	more := c.compare(k, greater, c.zero())
	e := c.choose(more, c.sub(c.one(), c.sub(u, x)), c.sub(x, c.sub(u, c.one())))
	e = c.div(e, u)
	halved := c.above(m, c.bits(0x0006a09e667f3bcc)) // the mantissa of √2, -1
	f := c.or(m, c.one())
	f = c.subInts(f, c.keep(halved, c.bits(1<<52))) // an exponent less by one
	k = c.addWhere(halved, k, c.one())
	f = c.choose(near, x, c.sub(f, c.one()))
	k = c.choose(near, c.zero(), k)
	e = c.keep(c.compare(k, notEqual, c.zero()), e)
	hfsq := c.mul(c.mul(f, c.half()), f)
	s := c.div(f, c.add(f, c.two()))
	z := c.mul(s, s)
	r := c.mul(z, c.polynomial(z, l7, l6, l5, l4, l3, l2, l1))
	r = c.mul(s, c.add(hfsq, r))
	r = c.add(r, c.add(c.mul(k, c.ln2Lo()), e))
	y := c.sub(c.mul(k, c.ln2Hi()), c.sub(c.sub(hfsq, r), f))
	// Below 2⁻⁵⁴, where package math returns x, hfsq is less than half of the last bit of x.
	c.store(c.choose(c.compare(value, less, c.number(1.0/(1<<29))), c.sub(x, hfsq), y))
}

// octant returns x, the even octant j of |x|, and the distance of |x| from it.
func (c *code) octant() (x, j, rest value) {
	x = c.load()
	value := c.abs(x)
	c.require(c.compare(value, less, c.number(1<<29)))
	j = c.even(c.truncToInts(c.mul(value, c.number(1.2732395447351626862))))
	y := c.fromInts(j)
	rest = c.sub(value, c.mul(y, c.number(7.85398125648498535156e-1)))
	rest = c.sub(rest, c.mul(y, c.number(3.77489470793079817668e-8)))
	rest = c.sub(rest, c.mul(y, c.number(2.69515142907905952645e-15)))
	return x, c.wide(j), rest
}

// series returns the sine and the cosine of a number from -π/4 to π/4.
func (c *code) series(x value) (sin, cos value) {
	xx := c.mul(x, x)
	sin = c.add(x, c.mul(c.mul(x, xx), c.polynomial(xx, sin0, sin1, sin2, sin3, sin4, sin5)))
	cos = c.mul(c.mul(xx, xx), c.polynomial(xx, cos0, cos1, cos2, cos3, cos4, cos5))
	return sin, c.add(c.sub(c.one(), c.mul(xx, c.half())), cos)
}

func sin(c *code) {
	x, j, rest := c.octant()
	s, t := c.series(rest)
	y := c.choose(c.hasBit(j, 1), t, s) // in octants 2 and 6
	y = c.xor(y, c.and(c.xor(c.shiftLeft(j, 61), x), c.signs()))
	c.store(c.choose(c.compare(x, equal, c.zero()), x, y)) // the sine of a zero is that zero
}

func cos(c *code) {
	_, j, rest := c.octant()
	s, t := c.series(rest)
	y := c.choose(c.hasBit(j, 1), s, t) // in octants 2 and 6
	sign := c.xor(c.shiftLeft(j, 61), c.shiftLeft(j, 62))
	c.store(c.xor(y, c.and(sign, c.signs())))
}

func tanh(c *code) {
	x := c.load()
	c.require(c.compare(x, ordered, x))
	value := c.abs(x)
	y := c.min(value, c.number(44)) // the result is 1 from there on
	y = c.add(c.exponential(c.add(y, y)), c.one())
	y = c.sub(c.one(), c.div(c.two(), y))
	y = c.andOr(x, c.signs(), y)
	s := c.mul(x, x)
	p := c.mul(c.mul(x, s), c.polynomial(s, p0, p1, p2))
	q := c.add(s, c.number(q0))
	q = c.add(c.mul(q, s), c.number(q1))
	q = c.add(c.mul(q, s), c.number(q2))
	y = c.choose(c.compare(value, less, c.number(0.625)), c.add(x, c.div(p, q)), y)
	c.store(c.choose(c.compare(x, equal, c.zero()), x, y)) // that of a zero is that zero
}

func expm1(c *code) {
	x := c.load()
	value := c.abs(x)
	c.require(c.compare(value, less, c.number(3.88162421113569373274e+01))) // 56·ln 2
	k := c.mul(x, c.number(1.44269504088896338700e+00))
	k = c.trunc(c.add(k, c.andOr(x, c.signs(), c.half())))
	low := c.compare(value, less, c.number(1.03972077083991796413e+00)) // 1.5·ln 2
	k = c.choose(low, c.andOr(x, c.signs(), c.one()), k)
	k = c.keep(c.compare(value, greater, c.number(3.46573590279972654709e-01)), k) // 0.5·ln 2
	hi := c.sub(x, c.mul(k, c.ln2Hi()))
	lo := c.mul(k, c.ln2Lo())
	r := c.sub(hi, lo) // the reduced x
	rest := c.sub(c.sub(hi, r), lo)
	hfx := c.mul(r, c.half())
	hxs := c.mul(r, hfx)
	r1 := c.add(c.mul(hxs, c.polynomial(hxs, m5, m4, m3, m2, m1)), c.one())
	t := c.sub(c.number(3), c.mul(r1, hfx))
	e := c.mul(hxs, c.div(c.sub(r1, t), c.sub(c.number(6), c.mul(r, t))))
	zero := c.sub(r, c.sub(c.mul(r, e), hxs)) // the result for k = 0
	e = c.sub(c.sub(c.mul(r, c.sub(e, rest)), rest), hxs)

	n := c.wide(c.toInts(k))
	low = c.compare(k, atMost, c.number(-2))
	power := c.subInts(c.one(), c.shiftRightBy(c.bits(1<<53), n)) // 1 - 2⁻ᵏ
	few := c.sub(c.choose(low, c.one(), power), c.sub(e, r))
	power = c.shiftLeft(c.subInts(c.bias(), n), 52) // 2⁻ᵏ
	many := c.add(c.sub(r, c.add(e, power)), c.one())
	y := c.choose(c.compare(k, less, c.number(20)), few, many)
	y = c.subWhere(low, c.addInts(y, c.shiftLeft(n, 52)), c.one()) // for k < -1 or k > 1

	d := c.sub(r, e)
	minus := c.sub(c.mul(d, c.half()), c.half())
	y = c.choose(c.compare(k, equal, c.number(-1)), minus, y)
	plus := c.add(c.mul(d, c.two()), c.one())
	minusQuarter := c.compare(r, less, c.number(-0.25))
	plus = c.choose(minusQuarter, c.mul(c.sub(e, c.add(r, c.half())), c.number(-2)), plus)
	y = c.choose(c.compare(k, equal, c.one()), plus, y)
	y = c.choose(c.compare(k, equal, c.zero()), zero, y)
	c.store(c.choose(c.compare(value, less, c.number(1.0/(1<<54))), x, y))
}
