"""Writes reference.json: Taylor coefficients to order 10 of every operation of package rules along lines and curves,
computed with mpmath with 30 digits by numerical differentiation of the function itself, so that they share no recurrence
with package series.

    python3 reference.py > reference.json

A case of one operand is f(x + t) or f(x + s*(t - t^2/2 + t^3/4)), with s = 1/8; one of two operands f(x + t, y - t/2)
or f(x + s*(t - t^2/2), y + s*(t/2 + t^3/4)). Orders of Bessel and polygamma functions are constants.
"""
import json
from mpmath import mp, mpf

mp.dps = 30  # mpmath differentiates with a multiple of them
ORDER = 10


def psi(n, x):
    if x > 0:
        return mp.psi(n, x)
    n = int(n)
    return (-1) ** n * (mp.psi(n, 1 - x) + mp.pi * mp.diff(lambda t: mp.cot(mp.pi * t), 1 - x, n))


def cbrt(x):
    return mp.sign(x) * mp.cbrt(abs(x))


ONE = {
    "neg": (lambda x: -x, [1.5]),
    "inv": (lambda x: 1 / x, [0.5, -3.0, 40.0]),
    "sq": (lambda x: x * x, [1.5, 0.0]),
    "sqrt": (mp.sqrt, [0.5, 2.0, 100.0]),
    "cbrt": (cbrt, [0.5, -2.0]),
    "exp": (mp.exp, [-3.0, 0.0, 2.5]),
    "exp2": (lambda x: mpf(2) ** x, [-1.5, 3.0]),
    "expm1": (mp.expm1, [1e-9, -2.0]),
    "log": (mp.log, [0.25, 3.0]),
    "log2": (lambda x: mp.log(x, 2), [0.75]),
    "log10": (mp.log10, [7.0]),
    "log1p": (mp.log1p, [-0.5, 1e-9, 4.0]),
    "sin": (mp.sin, [0.0, 1.0, 10.0]),
    "cos": (mp.cos, [0.0, 1.0, 10.0]),
    "tan": (mp.tan, [0.25, -1.25]),
    "asin": (mp.asin, [0.0, 0.5, -0.875]),
    "acos": (mp.acos, [0.0, 0.5, -0.875]),
    "atan": (mp.atan, [0.0, 0.75, -20.0]),
    "sinh": (mp.sinh, [0.0, -1.5]),
    "cosh": (mp.cosh, [0.0, 1.5]),
    "tanh": (mp.tanh, [0.0, 0.75, -3.0]),
    "asinh": (mp.asinh, [0.0, 2.0]),
    "acosh": (mp.acosh, [1.25, 30.0]),
    "atanh": (mp.atanh, [0.0, 0.5, -0.9375]),
    "erf": (mp.erf, [0.0, 0.75]),
    "erfc": (mp.erfc, [0.25, 2.5]),
    "erfinv": (mp.erfinv, [0.25, -0.75]),
    "erfcinv": (lambda x: mp.erfinv(1 - x), [0.5, 1.25]),
    "gamma": (mp.gamma, [0.75, 4.5, -0.5]),
    "lgamma": (lambda x: mp.log(abs(mp.gamma(x))), [0.75, 4.5]),
    "digamma": (lambda x: psi(0, x), [0.75, 12.0, 1.4616321449683622]),
    "j0": (mp.j0, [0.0, 2.5, 20.0]),
    "j1": (mp.j1, [0.0, 2.5]),
    "y0": (lambda x: mp.bessely(0, x), [0.75, 5.0]),
    "y1": (lambda x: mp.bessely(1, x), [0.75, 5.0]),
    "logistic": (lambda x: 1 / (1 + mp.exp(-x)), [0.0, -2.0, 30.0]),
    "softplus": (lambda x: mp.log1p(mp.exp(x)), [0.0, -2.0, 30.0]),
    "abs": (abs, [-1.5]),
    "sechsq": (lambda x: mp.sech(x) ** 2, [0.0, 1.25]),
    "cosatan": (lambda x: 1 / mp.sqrt(1 + x * x), [0.0, 0.75, -20.0]),
}
TWO = {
    "add": (lambda x, y: x + y, [(1.5, -0.25)]),
    "sub": (lambda x, y: x - y, [(1.5, -0.25)]),
    "mul": (lambda x, y: x * y, [(1.5, -0.25), (0.0, 2.0)]),
    "mulz": (lambda x, y: x * y, [(1.5, -0.25)]),
    "div": (lambda x, y: x / y, [(1.5, -2.25), (0.0, 2.0)]),
    "divz": (lambda x, y: x / y, [(1.5, -2.25)]),
    "pow": (lambda x, y: x ** y, [(1.5, 2.25), (0.5, -3.0), (4.0, 0.5)]),
    "powdx": (lambda x, y: y * x ** (y - 1), [(1.5, 2.25), (2.0, 0.5)]),
    "powdp": (lambda x, y: x ** y * mp.log(x), [(1.5, 2.25), (3.0, -0.5)]),
    "hypot": (mp.hypot, [(1.5, -2.0), (0.0, 3.0)]),
    "hypotdx": (lambda x, y: x / mp.hypot(x, y), [(1.5, -2.0), (0.25, 3.0)]),
    "atan2": (mp.atan2, [(1.5, -2.0), (-0.5, 0.25)]),
    "mod": (lambda x, y: x - y * mp.sign(x) * mp.sign(y) * mp.floor(abs(x / y)), [(5.5, 2.0)]),
    "remainder": (lambda x, y: x - y * mp.nint(x / y), [(5.5, 2.25)]),
    "copysign": (lambda x, y: abs(x) * mp.sign(y), [(1.5, -2.0)]),
    "xlogy": (lambda x, y: x * mp.log(y), [(1.5, 2.25), (0.0, 3.0)]),
    "logaddexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), [(0.25, 0.0), (-3.0, 4.0)]),
}
# The order is a constant: only the second operand is a series.
ORDERED = {
    "jn": (lambda n, x: mp.besselj(n, x), [(2, 0.5), (5, 8.0)]),
    "yn": (lambda n, x: mp.bessely(n, x), [(2, 1.5), (5, 8.0)]),
    "polygamma": (psi, [(1, 0.5), (2, 4.0), (3, 12.5)]),
}


def coefficients(g):
    c = mp.taylor(g, mpf(0), ORDER)
    return [mp.nstr(v if abs(v) > mpf(10) ** -25 else mpf(0), 25) for v in c]


S = mpf(1) / 8
line = [[1], [mpf(-1) / 2]]
curve = [[S, -S / 2, S / 4], [S / 2, 0, S / 4]]
curve2 = [[S, -S / 2, 0], [S / 2, 0, S / 4]]


def path(x, c):
    return lambda t: x + sum(v * t ** (k + 1) for k, v in enumerate(c))


out = []
for name, (f, points) in ONE.items():
    for i, x in enumerate(points):
        for c in ([line[0], curve[0]] if i == 0 else [curve[0]]):
            p = path(mpf(x), c)
            out.append({"op": name, "x": [x], "c": [[float(v) for v in c]], "want": coefficients(lambda t: f(p(t)))})
for name, (f, points) in TWO.items():
    for i, (x, y) in enumerate(points):
        for c in ([line, curve2] if i == 0 else [curve2]):
            p, q = path(mpf(x), c[0]), path(mpf(y), c[1])
            out.append({"op": name, "x": [x, y], "c": [[float(v) for v in w] for w in c],
                        "want": coefficients(lambda t: f(p(t), q(t)))})
for name, (f, points) in ORDERED.items():
    for n, x in points:
        p = path(mpf(x), curve[0])
        out.append({"op": name, "x": [n, x], "c": [[], [float(v) for v in curve[0]]],
                    "want": coefficients(lambda t: f(n, p(t)))})
print("[\n" + ",\n".join(json.dumps(r) for r in out) + "\n]")
