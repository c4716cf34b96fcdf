"""Writes ranges.json: first and second derivatives of out·f(in·x, y) at arguments u = in·x
close to the ends of the range of float64, computed with mpmath at 1000 digits from
differences of f itself, so that they share no formula with package rules.

    python3 ranges.py > ranges.json

A row is [name, exponent of out, exponent of in, x, y, gradient, Hessian]: in and out are
powers of two, so u is exact. Rows are those where float64 has all digits of the value, the
derivatives, and their parts that no order of products avoids: f and its derivatives times in
are tangents, those times out cotangents.
"""
import json
from mpmath import mp, mpf

mp.dps = 1000
STEP = mpf(10) ** -60


def psi(u):
    return mp.psi(0, u)


BOTH, LARGE, SMALL = "both", "large", "small"
# name: function of u, or of u and y, where it is differentiated, and values of y
FUNCTIONS = {
    "inv": (lambda u: 1 / u, BOTH), "sq": (lambda u: u * u, BOTH), "sqrt": (mp.sqrt, BOTH), "cbrt": (mp.cbrt, BOTH),
    "log": (mp.log, BOTH), "log2": (lambda u: mp.log(u, 2), BOTH), "log10": (lambda u: mp.log(u, 10), BOTH),
    "log1p": (lambda u: mp.log(1 + u), BOTH), "asinh": (mp.asinh, BOTH), "acosh": (mp.acosh, LARGE), "atan": (mp.atan, BOTH),
    "exp": (mp.exp, SMALL), "expm1": (lambda u: mp.exp(u) - 1, SMALL), "sin": (mp.sin, SMALL), "cos": (mp.cos, SMALL),
    "tan": (mp.tan, SMALL), "asin": (mp.asin, SMALL), "acos": (mp.acos, SMALL), "atanh": (mp.atanh, SMALL),
    "sinh": (mp.sinh, SMALL), "cosh": (mp.cosh, SMALL), "tanh": (mp.tanh, SMALL), "erf": (mp.erf, SMALL), "erfc": (mp.erfc, SMALL),
    "gamma": (mp.gamma, SMALL), "lgamma": (mp.loggamma, SMALL), "y0": (lambda u: mp.bessely(0, u), SMALL),
    "logistic": (lambda u: 1 / (1 + mp.exp(-u)), SMALL), "softplus": (lambda u: mp.log(1 + mp.exp(u)), SMALL),
    "logerfc": (lambda u: mp.log(mp.erfc(u)), [5.5, 12.0, 20.0, 25.0]),
}
PLANE = {
    "div": (lambda u, y: y / u, BOTH, [1.25, 1e200, 1e-200, 1e-300]),
    "over": (lambda u, y: u / y, BOTH, [1.25, 1e200, 1e-200, 1e-300]),
    "mul": (lambda u, y: u * y, BOTH, [1.25, 1e150, 1e-150]),
    "hypot": (mp.hypot, BOTH, [1.25, 1e200, 1e-200]),
    "atan2": (mp.atan2, BOTH, [1.25, 1e200, 1e-200, 1e300]),
    "pow": (lambda u, y: u ** y, BOTH, [0.5, -0.5, 1.0, 1.5, -1.0, 0.001, 2.0, -2.0]),
    "xlogy": (lambda u, y: y * mp.log(u), BOTH, [1.25, 1e200, 1e-200]),
}
EXPONENTS = {BOTH: [-1060, -1000, -664, -532, -200, 200, 532, 664, 1000], LARGE: [200, 532, 664, 1000], SMALL: [-1060, -1000, -664, -532, -200]}
X, TINY, HUGE = 1.25, mpf(10) ** -290, mpf(10) ** 300


def normal(v):
    return v == 0 or TINY < abs(v) < HUGE


def derivatives(f, at):
    """First and second partial derivatives by central differences."""
    h = [abs(a) * STEP for a in at]
    n = len(at)

    def f_at(*shift):
        return f(*[a + s * e for a, s, e in zip(at, shift, h)])

    unit = [tuple(int(i == j) for j in range(n)) for i in range(n)]
    minus = [tuple(-s for s in u) for u in unit]
    first = [(f_at(*unit[i]) - f_at(*minus[i])) / (2 * h[i]) for i in range(n)]
    second = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            plus = [tuple(a * p + b * q for a, b in zip(unit[i], unit[j])) for p, q in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
            if i == j:
                d = (f_at(*unit[i]) - 2 * f(*at) + f_at(*minus[i])) / h[i] ** 2
            else:
                d = (f_at(*plus[0]) - f_at(*plus[1]) - f_at(*plus[2]) + f_at(*plus[3])) / (4 * h[i] * h[j])
            second[i][j] = second[j][i] = d
    scale = abs(f(*at))
    for i in range(n):  # what is left of a difference that cancels
        for j in range(n):
            if abs(second[i][j]) * abs(at[i] * at[j]) < scale * mpf(10) ** (130 - mp.dps):
                second[i][j] = mpf(0)
    return first, second


def rows(name, f, exponents, ys):
    for e in exponents:
        k, x = (0, e) if isinstance(e, float) else (e, X)
        u = mpf(x) * mpf(2) ** k
        for y in ys:
            at = [u] if y is None else [u, mpf(y)]
            value = f(*at)
            if not normal(value) or name == "pow" and k < -1022:  # math.Log of subnormal numbers is wrong on amd64
                continue
            first, second = derivatives(f, at)
            scale = [mpf(2) ** k] + [mpf(1)] * (len(at) - 1)
            g = [d * s for d, s in zip(first, scale)]
            h = [[second[i][j] * scale[i] * scale[j] for j in range(len(at))] for i in range(len(at))]
            seen = set()
            for want in [value] + g + [h[i][j] for i in range(len(at)) for j in range(i + 1)] + [mpf(1)]:
                if want == 0:
                    continue
                out = -int(mp.floor(mp.log(abs(want), 2)))
                s = mpf(2) ** out
                all_of = [value * s] + [d * s for d in g] + [d * s for r in h for d in r] + g + [d for r in h for d in r]
                all_of += [d * s for d in first] + [d * s * e for r in second for d, e in zip(r, scale)]
                if out in seen or abs(out) > 1020 or not all(normal(d) for d in all_of):
                    continue
                seen.add(out)
                yield [name, out, k, x, y, [mp.nstr(d * s, 20) for d in g], [mp.nstr(d * s, 20) for r in h for d in r]]


table = []
for name, (f, where) in FUNCTIONS.items():
    table += rows(name, f, where if isinstance(where, list) else EXPONENTS[where], [None])
for name, (f, where, ys) in PLANE.items():
    table += rows(name, f, EXPONENTS[where], ys)
print("[\n" + ",\n".join(json.dumps(r) for r in table) + "\n]")
