"""Value, gradient and Hessian of functions, computed with mpmath at 130 digits. The derivatives are central differences of
the function itself, with steps 2**-90 of the coordinate. No formula for a derivative
is used.
"""
import json
from mpmath import mp, mpf

mp.dps = 130
rows = []


def row(func, body, f, *points, real=True, value=0, first=0, second=0):
    """Adds f, which the Go statements in body compute of x []float64. Without real there is no form over Reals. The others
    are tolerances other than the usual ones: of the value, which is the library's, and of derivatives."""
    rows.append(dict(Func=func, Body=body, f=f, Real=real, Value=value, First=first, Second=second, points=points))


def differences(f, x):
    n = len(x)
    h = [(abs(v) or 1) * mpf(2) ** -90 for v in x]

    def at(*steps):
        p = list(x)
        for i, k in steps:
            p[i] += k * h[i]
        return mpf(f(*p))

    y = at()
    size = max(abs(y), max(abs(at((i, k))) for i in range(n) for k in (1, -1)))

    def rounded(v, *by):
        """v, or 0 for what the rounding of f alone can make of a derivative."""
        limit = size * mpf(10) ** -100
        for i in by:
            limit /= h[i]
        return mpf(0) if abs(v) <= limit else v

    g = [rounded((at((i, 1)) - at((i, -1))) / (2 * h[i]), i) for i in range(n)]
    hessian = [[None] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if i == j:
                v = (at((i, 1)) - 2 * y + at((i, -1))) / h[i] ** 2
            else:
                v = sum(p * q * at((i, p), (j, q)) for p in (1, -1) for q in (1, -1)) / (4 * h[i] * h[j])
            hessian[i][j] = rounded(v, i, j)
    return y, g, hessian


def text(v):
    return mp.nstr(v, 25)


def write():
    out = []
    for r in rows:
        points = []
        for p in r.pop("points"):
            y, g, h = differences(r["f"], [mpf(v) for v in p])
            points.append(dict(X=list(p), Y=text(y), Gradient=[text(v) for v in g], Hessian=[[text(v) for v in l] for l in h]))
        del r["f"]
        out.append(json.dumps(dict(r, Points=points)))
    print("[\n" + ",\n".join(out) + "\n]")
