"""Writes special.json: values and derivatives of the ops that the other table
leaves out, computed with mpmath at 120 digits. Derivatives are taken by numerical
differentiation of the function itself at that precision, so they share no
formula with package rules.

    python3 special.py > special.json
"""
import json
from mpmath import mp, mpf

mp.dps = 120

def psi(n, x):
    """DLMF 5.15.6 for x < 0, as a sum over positive arguments; psi(0, x) too."""
    if x > 0:
        return mp.psi(n, x)
    n = int(n)
    return (-1) ** n * (mp.psi(n, 1 - x) + mp.pi * mp.diff(lambda t: mp.cot(mp.pi * t), 1 - x, n))

ONE = {
    "atanh": (mp.atanh, [-0.99, -0.3, 1e-9, 0.5, 0.999999]),
    "erfinv": (mp.erfinv, [-0.9, 1e-9, 0.3, 0.75, 0.999999]),
    "erfcinv": (lambda x: mp.erfinv(1 - x), [0.125, 0.5, 0.75, 1.25, 1.9375]),
    "digamma": (lambda x: psi(0, x), [1e-5, 0.3, 1.0, 1.46, 1.4616321449683622, 1.5, 2.0, 7.3, 10.0, 1e6, 1e100,
                                      -0.25, -2.5, -100.75, -1000000.25]),
    "lgamma": (lambda x: mp.log(abs(mp.gamma(x))), [1e-10, 0.3, 2.5, 170.5, -0.25, -20.75]),
    "gamma": (mp.gamma, [1e-5, 1.25, 100.5, -0.25, -10.75]),
    "j1": (mp.j1, [1e-9, 0.5, 2.5, 7.75, -3.25]),
    "y0": (lambda x: mp.bessely(0, x), [0.1, 0.5, 2.5, 7.75]),
    "y1": (lambda x: mp.bessely(1, x), [0.1, 0.5, 2.5, 7.75]),
    "sechsq": (lambda x: mp.sech(x) ** 2, [-300.5, -1.25, 1e-9, 0.5, 20.0]),
    "softplus": (lambda x: mp.log1p(mp.exp(x)), [-700.0, -0.5, 1e-9, 3.0, 100.0]),
    "logistic": (lambda x: 1 / (1 + mp.exp(-x)), [-700.0, -0.5, 1e-9, 3.0, 100.0]),
    "atan": (mp.atan, [1e50, -1e-20]),
    "acosh": (mp.acosh, [1e160, 1.5]),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), [1e-100, -1e100]),
}
POWERS = [(1.5, 2.0), (0.25, -3.5), (1e-100, 2.5), (3.0, 0.0), (7.0, 1e-3), (1e50, 3.0)]
PLANE = [(1.5, -2.25), (-7.0, 0.5), (1e-100, 3e-100), (1e100, -3e100), (1e-9, 1.0), (1.0, 1e-9)]
TWO = {
    "powdx": (lambda x, y: y * x ** (y - 1), POWERS),
    "powdp": (lambda x, y: x ** y * mp.log(x), POWERS),
    "pow": (lambda x, y: x ** y, POWERS),
    "hypotdx": (lambda x, y: x / mp.hypot(x, y), PLANE),
    "hypot": (mp.hypot, PLANE),
    "atan2": (mp.atan2, PLANE),
    "xlogy": (lambda x, y: x * mp.log(y), [(1.5, 2.25), (0.0, 3.0), (-2.0, 1e-100), (1e-9, 0.75)]),
    "logaddexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), [(1e-9, 0.0), (-3.0, 80.0), (5.0, -80.0), (-2.0, 2.0)]),
    "copysign": (lambda x, y: abs(x) * mp.sign(y), [(1.5, -2.0), (-1.5, -2.0), (-1.5, 2.0), (1.5, 2.0)]),
    "mod": (lambda x, y: x - y * mp.sign(x) * mp.sign(y) * mp.floor(abs(x / y)),
            [(5.5, 2.0), (-5.5, 2.0), (5.5, -2.0), (1e10, 0.375), (1.0, 0.1)]),
    "remainder": (lambda x, y: x - y * mp.nint(x / y), [(5.5, 2.0), (-4.5, 2.0), (5.5, -2.0), (1e10, 0.4375)]),
}
# The order is a constant: only the second argument is differentiated.
ORDER = {
    "jn": (lambda n, x: mp.besselj(n, x), [(0, 1.5), (1, 2.5), (2, 0.5), (3, -3.25), (5, 8.0), (20, 4.0)]),
    "yn": (lambda n, x: mp.bessely(n, x), [(0, 1.5), (1, 2.5), (2, 0.5), (3, 3.25), (5, 8.0)]),
    "polygamma": (psi, [(0, 0.5), (1, 1e-8), (1, 0.5), (1, 1.5), (1, 25.0), (1, 1e10), (1, 1e200), (2, 0.75), (2, 40.0), (3, 3.5),
                        (10, 0.125), (10, 18.5), (40, 2.5), (100, 1e4), (400, 300.0), (1, -0.5), (1, -2.25), (2, -0.75), (2, -2.5),
                        (3, -100.125), (4, -7.75), (7, -1.25)]),
}

def text(x):
    return mp.nstr(x, 20, min_fixed=-3, max_fixed=3)

def rel(f, p, i):
    """A first or second derivative with steps in proportion to the argument."""
    n = [0] * len(p)
    for k in i:
        n[k] += 1
    scale = [abs(q) if q != 0 else mpf(1) for q in p]
    g = lambda *t: f(*[q * s for q, s in zip(t, scale)])
    t = tuple(q / s for q, s in zip(p, scale))
    d = mp.diff(g, t, tuple(n)) if len(p) > 1 else mp.diff(g, t[0], n[0])
    if abs(d) < mpf(10) ** -90 * abs(f(*p)):
        return mpf(0)  # rounding of the differences
    for k in i:
        d /= scale[k]
    return d

out = []
for table, wrt in ((ONE, [0]), (TWO, [0, 1]), (ORDER, [1])):
    for name, (f, points) in table.items():
        for p in points:
            args = p if isinstance(p, tuple) else (p,)
            e = tuple(mpf(a) for a in args)
            row = {"op": name, "args": [float(a) for a in args], "value": text(f(*e)), "first": {}, "second": {}}
            g, at, shift = f, e, 0
            if wrt == [1]:
                g, at, shift = (lambda n: lambda x: f(n, x))(int(args[0])), e[1:], 1
            for i in wrt:
                row["first"][str(i)] = text(rel(g, at, [i - shift]))
                for j in wrt:
                    row["second"][str(i) + str(j)] = text(rel(g, at, [i - shift, j - shift]))
            out.append(row)
print("[\n" + ",\n".join(json.dumps(r) for r in out) + "\n]")
