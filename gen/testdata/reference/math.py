"""Writes math.json: for every function of Go's package math bodies of functions of x []float64 that call it, and at
some points their value, gradient and Hessian, see reference.py.

    python3 math.py > math.json
"""
from mpmath import mp, mpf

from reference import row, write


def sgn(x):
    return mpf(1) if x >= 0 else mpf(-1)


def trunc(x):
    return sgn(x) * mp.floor(abs(x))


def half_away(x):
    return sgn(x) * mp.floor(abs(x) + mpf(1) / 2)


def exponent(x):
    """The k with 2**k <= |x| < 2**(k+1)."""
    return int(mp.floor(mp.log(abs(x), 2)))


def step(x, digits):
    return mpf(2) ** (exponent(x) - digits + 1)


def loggamma(x):
    return mp.log(abs(mp.gamma(x)))


def gammasign(x):
    return sgn(mp.gamma(x))


def one(func, f, *points):
    row(func, "return math.%s(x[0])" % func, f, *[(p,) for p in points])


def stairs(func, f, *points):
    row(func, "return math.%s(x[0]) * x[0] * x[0]" % func, lambda x: f(x) * x * x, *[(p,) for p in points])


def two(func, f, *points):
    row(func, "return math.%s(x[0], x[1])" % func, f, *points)


one("Abs", abs, 1.5, -2.25)
one("Acos", mp.acos, 0.5, -0.875)
one("Acosh", mp.acosh, 1.25, 10.0)
one("Asin", mp.asin, 0.5, -0.875)
one("Asinh", mp.asinh, 0.5, -30.0)
one("Atan", mp.atan, 0.5, -30.0)
one("Atanh", mp.atanh, 0.5, -0.875)
one("Cbrt", lambda x: sgn(x) * mp.cbrt(abs(x)), 0.5, -30.0)
stairs("Ceil", mp.ceil, 0.5, -2.75)
one("Cos", mp.cos, 0.5, -30.0)
one("Cosh", mp.cosh, 0.5, -3.0)
one("Erf", mp.erf, 0.5, -2.5)
one("Erfc", mp.erfc, 0.5, 5.5)
one("Erfcinv", lambda x: mp.erfinv(1 - x), 0.5, 1.75)
one("Erfinv", mp.erfinv, 0.5, -0.75)
one("Exp", mp.exp, 0.5, -3.0)
one("Exp2", lambda x: mpf(2) ** x, 0.5, -3.25)
one("Expm1", mp.expm1, 1e-9, -3.0)
stairs("Floor", mp.floor, 0.5, -2.75)
one("Gamma", mp.gamma, 0.5, 4.25, -1.75)
one("J0", mp.j0, 0.5, 7.75)
one("J1", mp.j1, 0.5, 7.75, -3.25)
one("Log", mp.log, 0.5, 30.0)
one("Log10", mp.log10, 0.5, 30.0)
one("Log1p", mp.log1p, 1e-9, -0.75)
one("Log2", lambda x: mp.log(x, 2), 0.6, 30.0)
stairs("Logb", exponent, 0.6, 12.0, -1e300)
stairs("Round", half_away, 0.6, -2.75)
stairs("RoundToEven", mp.nint, 0.6, -2.75)
one("Sin", mp.sin, 0.5, -30.0)
one("Sinh", mp.sinh, 0.5, -3.0)
one("Sqrt", mp.sqrt, 0.5, 30.0)
one("Tan", mp.tan, 0.5, -1.25)
one("Tanh", mp.tanh, 0.5, -3.0)
stairs("Trunc", trunc, 0.6, -2.75)
one("Y0", lambda x: mp.bessely(0, x), 0.5, 7.75)
one("Y1", lambda x: mp.bessely(1, x), 0.5, 7.75)

two("Atan2", mp.atan2, (0.5, -2.0), (-3.0, 1.25))
two("Copysign", lambda x, y: abs(x) * sgn(y), (1.5, -2.0), (-1.5, 3.0))
row("Copysign", "return math.Copysign(x[0]*x[0], x[1]) * x[1]", lambda x, y: x * x * sgn(y) * y, (1.5, -2.0), (-1.5, 3.0))
two("Dim", lambda x, y: max(x - y, mpf(0)), (5.0, 3.0), (3.0, 5.0))
row("Dim", "return math.Dim(x[0]*x[1], x[1]) * x[0]", lambda x, y: max(x * y - y, mpf(0)) * x, (5.0, 3.0), (-3.0, 5.0))
two("Hypot", mp.hypot, (3.0, 4.0), (-1e-9, 2.0))
two("Max", max, (5.0, 3.0), (3.0, 5.0))
two("Min", min, (5.0, 3.0), (3.0, 5.0))
row("Max", "return math.Max(x[0]*x[1], x[1]*x[1])", lambda x, y: max(x * y, y * y), (5.0, 3.0), (-3.0, 5.0))
row("Min", "return math.Min(x[0]*x[1], x[1]*x[1])", lambda x, y: min(x * y, y * y), (5.0, 3.0), (-3.0, 5.0))
two("Mod", lambda x, y: x - y * trunc(x / y), (5.5, 2.0), (-5.5, 2.0), (5.5, -2.0))
two("Remainder", lambda x, y: x - y * mp.nint(x / y), (5.5, 2.0), (-4.5, 2.0), (5.5, -2.0))
two("Pow", lambda x, y: x ** y, (1.5, 2.0), (0.25, -3.5))
row("Pow", "return math.Pow(x[0], 3) * math.Pow(2, x[1])", lambda x, y: x ** 3 * mpf(2) ** y, (-1.5, 2.0), (0.25, -3.5))
two("Nextafter", lambda x, y: x + step(x, 53) if x < y else x - step(x, 53), (2.5, 3.0), (2.5, -3.0), (1e300, 2e300))
row("Nextafter", "y := math.Nextafter(x[0], 3); return y * y * x[1]", lambda x, y: (x + step(x, 53)) ** 2 * y, (2.5, 3.0))
row("Nextafter32", "y := float64(math.Nextafter32(float32(x[0]), 3)); return y * y * x[1]",
    lambda x, y: (x + step(x, 24)) ** 2 * y, (2.5, 3.0), real=False, first=1e-6, second=1e-6)
row("FMA", "return math.FMA(x[0], x[1], x[2]) * x[2]", lambda x, y, z: (x * y + z) * z, (1.5, -2.0, 3.0))

row("Frexp", "f, n := math.Frexp(x[0]); return f * float64(n) * f * x[1]",
    lambda x, y: (x * mpf(2) ** -(exponent(x) + 1)) ** 2 * (exponent(x) + 1) * y, (6.5, 2.0), (-0.3, 3.0), (1e-310, 1.0), (1.7e308, 1.0))
row("Frexp", "f, _ := math.Frexp(x[0] * x[0]); return f", lambda x: x * x * mpf(2) ** -(exponent(x * x) + 1), (6.5,), (-0.3,))
row("Lgamma", "l, _ := math.Lgamma(x[0]); return l", loggamma, (0.5,), (30.25,), (-1.75,), (-0.5,))
row("Lgamma", "l, s := math.Lgamma(x[0]); return l * float64(s) * x[1]", lambda x, y: loggamma(x) * gammasign(x) * y,
    (0.5, 2.0), (-0.5, 2.0), (-1.75, 3.0))
row("Modf", "w, f := math.Modf(x[0]); return w*f*f + f*x[1]",
    lambda x, y: trunc(x) * (x - trunc(x)) ** 2 + (x - trunc(x)) * y, (6.5, 2.0), (-7.25, 3.0), (0.75, 1.5))
row("Sincos", "s, c := math.Sincos(x[0]); return s*c*x[1] + s", lambda x, y: mp.sin(x) * mp.cos(x) * y + mp.sin(x), (0.5, 2.0), (-30.0, 1.0))

for n in [0, 1, 2, 7, -1, -2, -3]:
    row("Jn", "return math.Jn(%d, x[0])" % n, lambda x, n=n: mp.besselj(n, x), (0.5,), (7.75,), (-3.25,))
    row("Yn", "return math.Yn(%d, x[0])" % n, lambda x, n=n: mp.bessely(n, x), (0.5,), (7.75,))
for func, f in [("Jn", mp.besselj), ("Yn", mp.bessely)]:
    row(func, "s := 0.0; for n := -3; n < 5; n++ { s += math.%s(n, x[0]) * x[1] * x[1] }; return s" % func,
        lambda x, y, f=f: mp.fsum(f(n, x) for n in range(-3, 5)) * y * y, (2.25, 1.5))
    row(func, "return math.%s(int(x[1]), x[0])" % func, lambda x, y, f=f: f(int(mp.floor(y)), x), (2.25, 3.5), (2.25, 0.5))

row("Ldexp", "return math.Ldexp(x[0], 3) * x[1]", lambda x, y: 8 * x * y, (5.0, 3.0))
row("Ldexp", "return math.Ldexp(x[0] * x[0], 1040) * 0x1p-40", lambda x: x * x * mpf(2) ** 1000, (1e-6,), (-3e-6,))
row("Ldexp", "return math.Ldexp(x[0] * x[0], -1080) * 0x1p1000", lambda x: x * x * mpf(2) ** -80, (1e30,), (-1e30,))
row("Ldexp", "return math.Ldexp(x[0], -1070)", lambda x: x * mpf(2) ** -1070, (2.0 ** 1000,))
row("Ldexp", "y := 0.0; for n := range 4 { y += math.Ldexp(x[0], -n) * x[0] }; return y",
    lambda x: x * x * mp.fsum(mpf(2) ** -n for n in range(4)), (1.5,))
row("Ldexp", "_, n := math.Frexp(x[0]); return math.Ldexp(x[1]*x[1], n)", lambda x, y: y * y * mpf(2) ** (exponent(x) + 1), (6.5, 3.0))

row("Ilogb", "return float64(math.Ilogb(x[0])) * x[1] * x[0]", lambda x, y: exponent(x) * y * x, (5.0, 3.0), (-0.3, 3.0))
row("Inf", "if x[0] > math.Inf(-1) { return x[0] * x[0] }; return 0", lambda x: x * x, (3.0,))
row("NaN", "y := math.NaN(); if x[0] > 0 { y = x[0] * x[0] }; return y", lambda x: x * x, (3.0,))
row("IsInf", "if math.IsInf(x[0], 0) { return 0 }; return x[0] * x[0]", lambda x: x * x, (3.0,))
row("IsNaN", "if math.IsNaN(x[0]) { return 0 }; return x[0] * x[0]", lambda x: x * x, (3.0,))
row("Signbit", "if math.Signbit(x[0]) { return -x[0] * x[0] }; return x[0] * x[0]", lambda x: x * x * sgn(x), (3.0,), (-3.0,))
row("Pow10", "return math.Pow10(3) * x[0] * x[0]", lambda x: 1000 * x * x, (3.0,))
row("Float64bits", "return float64(math.Float64bits(x[0])>>52) * x[0] * x[0]", lambda x: (exponent(x) + 1023) * x * x, (3.0,))
row("Float32bits", "return float64(math.Float32bits(float32(x[0]))>>23) * x[0] * x[0]",
    lambda x: (exponent(x) + 127) * x * x, (3.0,), real=False)


write()
