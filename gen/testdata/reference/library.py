"""Writes library.json: functions of gonum's packages floats, blas64, mathext and stat/distuv and those that sort, see
reference.py.

    python3 library.py > library.json
"""
from functools import cache

from mpmath import mp, mpf

from reference import row, write


def lse(*x):
    m = max(x)
    return m + mp.log(mp.fsum(mp.exp(v - m) for v in x))


for shift in [0, 2.0 ** 20, 2.0 ** 33, -(2.0 ** 45)]:
    row("floats.LogSumExp", "return floats.LogSumExp(x)", lse, (shift, shift + 0.5, shift - 1))
row("floats.LogSumExp", "return floats.LogSumExp(x) * x[0]", lambda a, b: lse(a, b) * a, (1.5, 800.0), (-3.0, -3.0))
row("floats.Dot", "return floats.Dot(x, x) * x[0]", lambda a, b: (a * a + b * b) * a, (1.5, -2.0))
row("floats.Norm", "return floats.Norm(x, 2)", mp.hypot, (3.0, 4.0), (0.25, 2.0))
row("floats.Norm", "return floats.Norm(x, 3)", lambda a, b: mp.cbrt(abs(a) ** 3 + abs(b) ** 3), (1.5, -2.0))
row("floats.Norm", "return floats.Norm(x, 1)", lambda a, b: abs(a) + abs(b), (1.5, -2.0))
row("floats.Distance", "return floats.Distance(x, []float64{1, 2}, 2)", lambda a, b: mp.hypot(a - 1, b - 2), (4.0, 6.0))
row("floats.Prod", "return floats.Prod(x)", lambda a, b, c: a * b * c, (2.0, 0.0, 4.0), (1.5, -2.0, 3.0))
row("floats.Sum", "return floats.Sum(x) * x[0]", lambda a, b: (a + b) * a, (1.5, -2.0))
row("floats.Max", "return floats.Max(x) * x[0]", lambda a, b: max(a, b) * a, (1.5, -2.0), (1.5, 2.5))
row("floats.Min", "return floats.Min(x) * x[0]", lambda a, b: min(a, b) * a, (1.5, -2.0), (1.5, 2.5))
row("floats.CumProd", "y := floats.CumProd(make([]float64, 2), x); return y[1] * y[0]", lambda a, b: a * a * b, (1.5, -2.0))


def mixed(y):
    return y[0] * y[1] + y[1] * y[2] * y[2] + y[0] * y[2]


three = [(1.5, -2.0, 0.25), (-0.375, 40.0, 3.0), (1e-3, -5e-4, 2e-3)]
turned = "[]float64{x[1] * x[2], x[0], x[1] + 3}"
ends = "; return y[0]*y[1] + y[1]*y[2]*y[2] + y[0]*y[2]"


def memory(func, call, f, points=three):
    """A function that writes to y, which is x before, from t, which depends on x too. The result mixes what stands in y then."""
    def value(*x):
        return mixed(f(list(x), [x[1] * x[2], x[0], 2 * (x[1] + 3)]))
    row(func, "y, t := append([]float64(nil), x...), " + turned + "; t[2] *= 2; " + call + ends, value, *points)


def on(op):
    return lambda y, t: [op(a, b) for a, b in zip(y, t)]


memory("floats.Add", "floats.Add(y, t)", on(lambda a, b: a + b))
memory("floats.Add", "floats.Add(y, y); floats.Add(y, t)", on(lambda a, b: 2 * a + b))
memory("floats.AddTo", "y = floats.AddTo(make([]float64, 3), y, t)", on(lambda a, b: a + b))
memory("floats.AddTo", "floats.AddTo(y, t, y)", on(lambda a, b: a + b))
memory("floats.Sub", "floats.Sub(y, t)", on(lambda a, b: a - b))
memory("floats.SubTo", "y = floats.SubTo(t, y, t)", on(lambda a, b: a - b))
memory("floats.Mul", "floats.Mul(y, t)", on(lambda a, b: a * b))
memory("floats.Mul", "floats.Mul(y, t)", on(lambda a, b: a * b), [(0.0, -2.0, 0.5)])
memory("floats.Mul", "floats.Mul(y, y)", on(lambda a, b: a * a))
memory("floats.MulTo", "y = floats.MulTo(t, t, y)", on(lambda a, b: a * b))
memory("floats.Div", "floats.Div(y, t)", on(lambda a, b: a / b), three[:2])
memory("floats.DivTo", "floats.DivTo(y, t, y)", on(lambda a, b: b / a))
memory("floats.AddConst", "floats.AddConst(t[0], y)", lambda y, t: [a + t[0] for a in y])
memory("floats.Scale", "floats.Scale(t[0], y)", lambda y, t: [a * t[0] for a in y])
memory("floats.ScaleTo", "y = floats.ScaleTo(make([]float64, 3), t[2], y)", lambda y, t: [a * t[2] for a in y])
memory("floats.ScaleTo", "floats.ScaleTo(y, t[0], []float64{2, -1, 4})", lambda y, t: [a * t[0] for a in (2, -1, 4)])
memory("floats.AddScaled", "floats.AddScaled(y, t[0], t)", lambda y, t: [a + t[0] * b for a, b in zip(y, t)])
memory("floats.AddScaled", "floats.AddScaled(y, 3, t)", on(lambda a, b: a + 3 * b))
memory("floats.AddScaledTo", "y = floats.AddScaledTo(make([]float64, 3), y, t[1], t)", lambda y, t: [a + t[1] * b for a, b in zip(y, t)])
memory("floats.AddScaledTo", "floats.AddScaledTo(t, t, -2, y); y = t", on(lambda a, b: b - 2 * a))
memory("floats.CumSum", "floats.CumSum(y, y)", lambda y, t: [y[0], y[0] + y[1], y[0] + y[1] + y[2]])
memory("floats.CumSum", "y = floats.CumSum(make([]float64, 3), t)", lambda y, t: [t[0], t[0] + t[1], t[0] + t[1] + t[2]])
memory("floats.CumProd", "floats.CumProd(y, t)", lambda y, t: [t[0], t[0] * t[1], t[0] * t[1] * t[2]])
memory("floats.CumProd", "floats.CumProd(y, y)", lambda y, t: [y[0], y[0] * y[1], y[0] * y[1] * y[2]], [(3.0, 0.0, -2.0)])
memory("floats.Span", "floats.Span(y, t[0], t[1])", lambda y, t: [t[0], (t[0] + t[1]) / 2, t[1]])
memory("sort.Float64s", "sort.Float64s(y)", lambda y, t: sorted(y))
memory("slices.Sort", "slices.Sort(t); y = t", lambda y, t: sorted(t))

row("floats.Dot", "return floats.Dot(x, []float64{3, -1, 0.5}) * floats.Dot(x[1:], x[:2])",
    lambda a, b, c: (3 * a - b + c / 2) * (a * b + b * c), *three)
for L in [1.0, 1.5, 2.0, 4.0]:
    p = [(3.0, -4.0, 0.25), (1e-3, 2e-3, -5e-4), (-7.0, 2.0, 3.0)]
    norm = lambda *x, L=L: mp.fsum(abs(v) ** L for v in x) ** (1 / mpf(L))
    row("floats.Norm", "return floats.Norm(x, %r) * x[0]" % L, lambda a, b, c, f=norm: f(a, b, c) * a, *p)
    row("floats.Distance", "return floats.Distance(x, []float64{1, x[0] / 2, 2}, %r)" % L, lambda a, b, c, f=norm: f(a - 1, b - a / 2, c - 2), *p)
row("floats.Norm", "return floats.Norm(x, 2)", mp.hypot, (0.0, -2.0), (3e-170, 4e-170), (-3e160, 4e160))
row("floats.Norm", "return floats.Norm(x, 2)", abs, (-2.0,), (0.5,))
row("floats.Norm", "return floats.Norm(x, math.Inf(1)) * x[0]", lambda a, b, c: max(abs(a), abs(b), abs(c)) * a, *three)
row("floats.Distance", "return floats.Distance(x, []float64{1, 2, 3}, math.Inf(1)) * x[0]", lambda a, b, c: max(abs(a - 1), abs(b - 2), abs(c - 3)) * a, *three)
row("floats.Sum", "return floats.Sum(x[1:]) * floats.Sum(x)", lambda a, b, c: (b + c) * (a + b + c), *three)
row("floats.SumCompensated", "return floats.SumCompensated(x[1:]) * floats.SumCompensated(x)", lambda a, b, c: (b + c) * (a + b + c), *three)
row("floats.Prod", "return floats.Prod(x[1:]) * floats.Prod(x)", lambda a, b, c: b * c * a * b * c, *three)
row("floats.LogSumExp", "return floats.LogSumExp(x)", lse, (-1e3, 0.5, 1e-3), (-0.7, -0.7, -0.69))


def vector(data, n, inc):
    return [data[i * inc] for i in range(n)] if inc > 0 else [data[(i - n + 1) * inc] for i in range(n)]


def blas(func, before, call, f, points=three):
    """A function that writes to d, which is the data of y."""
    row("blas64." + func, before + "; " + call + "; return d[0]*d[1] + d[1]*d[2]*d[2] + d[0]*d[2]", lambda *x: mixed(f(*x)), *points)


def times(m, v):
    return [mp.fsum(a * b for a, b in zip(r, v)) for r in m]


def transposed(m):
    return [list(r) for r in zip(*m)]


vec = lambda n, data, inc: "blas64.Vector{N: %d, Data: %s, Inc: %d}" % (n, data, inc)
row("blas64.Dot", "return blas64.Dot(%s, %s)" % (vec(2, "x", 2), vec(2, "x", -1)), lambda a, b, c: a * b + c * a, *three)
row("blas64.Dot", "return blas64.Dot(%s, %s)" % (vec(3, "x", -1), vec(3, "[]float64{2, -3, 0.5}", 1)), lambda a, b, c: 2 * c - 3 * b + a / 2, *three)
row("blas64.Nrm2", "return blas64.Nrm2(%s) * x[1]" % vec(2, "x", 2), lambda a, b, c: mp.hypot(a, c) * b, (3.0, -2.0, 4.0), (-1e-3, 2.0, 5e-4))
row("blas64.Nrm2", "return blas64.Nrm2(%s)" % vec(2, "x", 1), mp.hypot, (0.0, 2.0), (3e-170, -4e-170), (-3e160, 4e160))
row("blas64.Asum", "return blas64.Asum(%s) * x[0]" % vec(2, "x", 2), lambda a, b, c: (abs(a) + abs(c)) * a, *three)
for inc, d in [(1, "[]float64{x[1], x[0], 2 * x[2]}"), (-1, "[]float64{2 * x[2], x[0], x[1]}")]:
    order = 1 if inc > 0 else -1
    y = vec(3, "d", inc)
    blas("Axpy", "d := " + d, "blas64.Axpy(x[0], %s, %s)" % (vec(3, "x", 1), y), lambda a, b, c, o=order: [b + a * a, a + a * b, 2 * c + a * c][::o])
    blas("Copy", "d := " + d, "blas64.Copy(%s, %s)" % (vec(3, "[]float64{x[2], x[1] * x[0], x[0]}", 1), y), lambda a, b, c, o=order: [c, b * a, a][::o])
    blas("Swap", "d, e := %s, []float64{x[2], x[1] * x[0], x[0]}" % d, "blas64.Swap(%s, %s); d[1] *= e[1]" % (vec(3, "e", 1), y),
         lambda a, b, c, o=order: [[c, b * a, a][::o][0], b * a * a, [c, b * a, a][::o][2]])
blas("Scal", "d := []float64{x[1], x[0], 2 * x[2]}", "blas64.Scal(x[2], %s)" % vec(2, "d", 2), lambda a, b, c: [b * c, a, 2 * c * c])
blas("Scal", "d := []float64{x[1], x[0], 2 * x[2]}", "blas64.Scal(x[0], %s)" % vec(1, "d", 1), lambda a, b, c: [b * a, a, 2 * c], [(0.0, 2.0, -3.0)])

tall = "blas64.General{Rows: 3, Cols: 2, Stride: 3, Data: []float64{x[0], 2, 9, -1, x[2], 9, x[1], 0.5}}"
wide = "blas64.General{Rows: 2, Cols: 3, Stride: 4, Data: []float64{x[0], -1, x[1], 9, 2, x[2], 0.5}}"
matrix = lambda a, b, c: [[a, 2], [-1, c], [b, mpf(1) / 2]]
for a, t in [(tall, "NoTrans"), (wide, "Trans"), (wide, "ConjTrans")]:
    for inc in [1, -2]:
        data, to = ("[]float64{x[2], x[0]}", [0, 1, 2]) if inc > 0 else ("[]float64{x[0], 9, x[2]}", [2, 1, 0])
        f = lambda a, b, c, to=to: [(a * u + b * v) for u, v in zip(times(matrix(a, b, c), [c, a]), [[b, c, a * a][i] for i in to])]
        blas("Gemv", "d := []float64{x[1], x[2], x[0] * x[0]}", "blas64.Gemv(blas.%s, x[0], %s, %s, x[1], %s)" % (t, a, vec(0, data, inc), vec(0, "d", 1 if inc > 0 else -1)),
             lambda a, b, c, f=f, o=1 if inc > 0 else -1: f(a, b, c)[::o])
blas("Gemv", "d := []float64{math.NaN(), math.NaN(), math.NaN()}", "blas64.Gemv(blas.NoTrans, 2, %s, %s, 0, %s)" % (tall, vec(0, "x", 1), vec(0, "d", 1)),
     lambda a, b, c: [2 * v for v in times(matrix(a, b, c), [a, b])])
blas("Gemv", "d := []float64{x[1], x[2], x[0]}", "blas64.Gemv(blas.NoTrans, x[0], %s, %s, x[1], %s)" % (tall, vec(0, "x", 1), vec(0, "d", 1)),
     lambda a, b, c: [a * u + b * v for u, v in zip(times(matrix(a, b, c), [a, b]), [b, c, a])], [(0.0, 2.0, -3.0), (1.5, 0.0, 2.0)])
for inc, data in [(1, "[]float64{x[1], x[2], x[0]}"), (2, "[]float64{x[1], 9, x[2], 9, x[0]}")]:
    blas("Ger", "d := []float64{x[0], x[1], x[2] * x[0]}",
         "blas64.Ger(x[2], %s, %s, blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: d})" % (vec(0, data, inc), vec(0, "[]float64{x[0]}", 1)),
         lambda a, b, c: [a + c * b * a, b + c * c * a, c * a + c * a * a])
blas("Ger", "d := []float64{x[0], x[1], x[2], x[1]}", "blas64.Ger(x[2], %s, %s, blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: d}); d[0] *= d[3]" % (vec(0, "x", 2), vec(0, "[]float64{3, x[1]}", 1)),
     lambda a, b, c: [(a + c * a * 3) * (b + c * c * b), b + c * a * b, c + c * c * 3])
square = lambda a, b, c: [[a, b * c], [-1, c]]
for tA in ["NoTrans", "Trans"]:
    for tB in ["NoTrans", "ConjTrans"]:
        for beta in ["0", "x[2]"]:
            A = tall if tA == "NoTrans" else wide
            B = "blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{x[0], x[1] * x[2], -1, x[2]}}"
            if tB != "NoTrans":
                B = "blas64.General{Rows: 2, Cols: 2, Stride: 3, Data: []float64{x[0], -1, 9, x[1] * x[2], x[2]}}"

            def product(a, b, c, beta=beta):
                m = [times(transposed(square(a, b, c)), r) for r in matrix(a, b, c)]
                old = [[a, b], [c, a], [b, c]]
                m = [[b * u + (0 if beta == "0" else c) * v for u, v in zip(p, q)] for p, q in zip(m, old)]
                return [m[0][0] * m[1][1], m[0][1] * m[2][0], m[1][0] * m[2][1]]
            blas("Gemm", "d := []float64{x[0], x[1], x[2], x[0], x[1], x[2]}", "blas64.Gemm(blas.%s, blas.%s, x[1], %s, %s, %s, blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: d}); d[0], d[1], d[2] = d[0]*d[3], d[1]*d[4], d[2]*d[5]" % (tA, tB, A, B, beta), product)
for uplo in ["Upper", "Lower"]:
    data = "[]float64{x[0], x[1], 2, 9, 9, x[2], x[0] * x[1], 9, 9, 9, -1}" if uplo == "Upper" else "[]float64{x[0], 9, 9, 9, x[1], x[2], 9, 9, 2, x[0] * x[1], -1}"
    full = lambda a, b, c: [[a, b, 2], [b, c, a * b], [2, a * b, -1]]
    for inc in [1, -1]:
        blas("Symv", "d := []float64{x[1], x[2], x[0] * x[0]}", "blas64.Symv(x[2], blas64.Symmetric{Uplo: blas.%s, N: 3, Stride: 4, Data: %s}, %s, x[0], %s)" % (uplo, data, vec(0, "x", inc), vec(0, "d", 1)),
             lambda a, b, c, o=inc: [c * u + a * v for u, v in zip(times(full(a, b, c), [a, b, c][::o]), [b, c, a * a])])
    for diag in ["NonUnit", "Unit"]:
        def triangle(a, b, c, uplo=uplo, diag=diag):
            m = full(a, b, c)
            return [[1 if i == j and diag == "Unit" else m[i][j] if i == j or (i < j) == (uplo == "Upper") else mpf(0) for j in range(3)] for i in range(3)]
        for t in ["NoTrans", "Trans"]:
            for inc in [1, -1]:
                op = (lambda m: m) if t == "NoTrans" else transposed
                T = "blas64.Triangular{Uplo: blas.%s, Diag: blas.%s, N: 3, Stride: 4, Data: %s}" % (uplo, diag, data)
                before = "d := []float64{x[1], x[2] + 2, x[0] * x[0]}"
                blas("Trmv", before, "blas64.Trmv(blas.%s, %s, %s)" % (t, T, vec(0, "d", inc)),
                     lambda a, b, c, op=op, tri=triangle, o=inc: times(op(tri(a, b, c)), [b, c + 2, a * a][::o])[::o])
                blas("Trsv", before, "blas64.Trsv(blas.%s, %s, %s)" % (t, T, vec(0, "d", inc)),
                     lambda a, b, c, op=op, tri=triangle, o=inc: list(mp.lu_solve(mp.matrix(op(tri(a, b, c))), mp.matrix([b, c + 2, a * a][::o])))[::o],
                     [(1.5, -2.0, 0.25), (2.0, 3.0, -1.0)])

# Symmetric updates, and products with symmetric matrices and triangles. The other triangle is not read.
product = lambda p, q: [times(transposed(q), r) for r in p]
plus = lambda *ms: [[mp.fsum(v) for v in zip(*rows)] for rows in zip(*ms)]
scaled = lambda k, m: [[k * v for v in r] for r in m]
sides = [(1.5, -2.0, 0.25), (2.0, 3.0, -1.0), (0.0, 2.0, 0.5)]
other = {"NoTrans": "blas64.General{Rows: 2, Cols: 3, Stride: 3, Data: []float64{x[1], 0.25, x[0], x[2], x[1] * x[0], -2}}",
         "Trans": "blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: []float64{x[1], x[2], 0.25, x[1] * x[0], x[0], -2}}"}
second = lambda a, b, c: [[b, mpf(1) / 4, a], [c, b * a, -2]]
for uplo in ["Upper", "Lower"]:
    k = 1 if uplo == "Upper" else 2
    before = "d := []float64{x[1], math.NaN(), math.NaN(), x[0]}; d[%d] = x[2]" % k
    C = "blas64.Symmetric{Uplo: blas.%s, N: 2, Stride: 2, Data: d}" % uplo
    stored = lambda m: [m[0][0], m[0][1], m[1][1]]
    old = lambda a, b, c: [[b, c], [c, a]]
    order = "; d[1], d[2] = d[%d], d[3]" % k
    for inc in [1, -1]:
        o = inc
        blas("Syr", before, "blas64.Syr(x[2], %s, %s)" % (vec(2, "[]float64{x[1], x[0]}", inc), C) + order,
             lambda a, b, c, o=o: stored(plus(old(a, b, c), scaled(c, product(*[[[v] for v in [b, a][::o]], [[b, a][::o]]])))), sides)
        blas("Syr2", before, "blas64.Syr2(x[2], %s, %s, %s)" % (vec(2, "[]float64{x[1], x[0]}", inc), vec(2, "[]float64{x[2], 3}", -inc), C) + order,
             lambda a, b, c, o=o: stored(plus(old(a, b, c), *[scaled(c, m) for p in [product([[v] for v in [b, a][::o]], [[c, 3][::-o]])] for m in (p, transposed(p))])), sides)
    for t, A in [("NoTrans", wide), ("Trans", tall)]:
        for beta in ["0", "x[2]"]:
            last = lambda a, b, c, beta=beta: scaled(0 if beta == "0" else c, old(a, b, c))
            op = lambda a, b, c: transposed(matrix(a, b, c))
            blas("Syrk", before, "blas64.Syrk(blas.%s, x[1], %s, %s, %s)" % (t, A, beta, C) + order,
                 lambda a, b, c, last=last: stored(plus(last(a, b, c), scaled(b, product(op(a, b, c), transposed(op(a, b, c)))))), sides)
            blas("Syr2k", before, "blas64.Syr2k(blas.%s, x[1], %s, %s, %s, %s)" % (t, A, other[t], beta, C) + order,
                 lambda a, b, c, last=last: stored(plus(last(a, b, c), *[scaled(b, m) for p in [product(op(a, b, c), transposed(second(a, b, c)))] for m in (p, transposed(p))])), sides)
    S = "blas64.Symmetric{Uplo: blas.%s, N: 2, Stride: 2, Data: []float64{x[0], %s, %s, -1}}" % ((uplo, "x[1] * x[2]", "math.NaN()") if k == 1 else (uplo, "math.NaN()", "x[1] * x[2]"))
    for side in ["Left", "Right"]:
        for beta in ["0", "x[2]"]:
            def symm(a, b, c, side=side, beta=beta):
                p, q = [[a, b * c], [b * c, -1]], [[c, 3], [a, b]]
                m = plus(scaled(0 if beta == "0" else c, [[b, a], [2, c]]), scaled(b, product(p, q) if side == "Left" else product(q, p)))
                return [m[0][0] * m[1][1], m[0][1], m[1][0]]
            blas("Symm", "d := []float64{x[1], x[0], 2, x[2]}", "blas64.Symm(blas.%s, x[1], %s, blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{x[2], 3, x[0], x[1]}}, %s, blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: d}); d[0] *= d[3]" % (side, S, beta), symm, sides)
        for diag in ["NonUnit", "Unit"]:
            for t in ["NoTrans", "Trans"]:
                data = "[]float64{x[0], x[1], 2, 9, 9, x[2], x[0] * x[1], 9, 9, 9, -1}" if uplo == "Upper" else "[]float64{x[0], 9, 9, 9, x[1], x[2], 9, 9, 2, x[0] * x[1], -1}"
                T = "blas64.Triangular{Uplo: blas.%s, Diag: blas.%s, N: 3, Stride: 4, Data: %s}" % (uplo, diag, data)

                def parts(a, b, c, uplo=uplo, diag=diag, t=t, side=side):
                    """op(T) and B, both transposed on the right side."""
                    m = full(a, b, c)
                    m = [[1 if i == j and diag == "Unit" else m[i][j] if i == j or (i < j) == (uplo == "Upper") else mpf(0) for j in range(3)] for i in range(3)]
                    d = [b, c + 2, a * a, c, a, b * a]
                    if (t == "NoTrans") != (side == "Left"):
                        m = transposed(m)
                    return m, [d[0:2], d[2:4], d[4:6]] if side == "Left" else transposed([d[0:3], d[3:6]])

                def ends(m, side=side):
                    d = [v for r in (m if side == "Left" else transposed(m)) for v in r]
                    return [d[0] * d[3], d[1] * d[4], d[2] * d[5]]
                rows, cols = (3, 2) if side == "Left" else (2, 3)
                call = "(blas.%s, blas.%s, x[2], %s, blas64.General{Rows: %d, Cols: %d, Stride: %d, Data: d}); d[0], d[1], d[2] = d[0]*d[3], d[1]*d[4], d[2]*d[5]" % (side, t, T, rows, cols, cols)
                before = "d := []float64{x[1], x[2] + 2, x[0] * x[0], x[2], x[0], x[1] * x[0]}"
                blas("Trmm", before, "blas64.Trmm" + call, lambda a, b, c, parts=parts, ends=ends: ends(scaled(c, product(*parts(a, b, c)))), sides[:2])

                def solved(a, b, c, parts=parts, ends=ends):
                    m, q = parts(a, b, c)
                    return ends(scaled(c, transposed([list(mp.lu_solve(mp.matrix(m), mp.matrix(v))) for v in transposed(q)])))
                blas("Trsm", before, "blas64.Trsm" + call, solved, [(-2.0, 3.0, 0.5), (2.0, 3.0, -1.0)])

one = [(0.3,), (1.0,), (1.5,), (5.25,), (40.0,), (1e6,)]
row("mathext.Digamma", "return mathext.Digamma(x[0])", lambda x: mp.psi(0, x), *one, (-0.5,), (-7.3,), (1e-8,), (-40.75,), value=2e-9)
row("mathext.Beta", "return mathext.Beta(x[0], x[1])", mp.beta, (1.5, 2.5), (0.3, 7.0), (20.0, 30.0))
row("mathext.Lbeta", "return mathext.Lbeta(x[0], x[1])", lambda a, b: mp.log(mp.beta(a, b)), (1.5, 2.5), (0.3, 7.0), (2000.0, 3000.0))
row("mathext.MvLgamma", "return mathext.MvLgamma(x[0], 3)", lambda v: mp.log(mp.pi) * 3 / 2 + mp.fsum(mp.loggamma(v - mpf(j) / 2) for j in range(3)), (2.5,), (70.0,), (1.001,))
row("mathext.MvLgamma", "return mathext.MvLgamma(x[0], 1) * mathext.MvLgamma(x[0], 2)",
    lambda v: mp.loggamma(v) * (mp.log(mp.pi) / 2 + mp.loggamma(v) + mp.loggamma(v - mpf(1) / 2)), (0.75,), (12.0,))
row("mathext.CompleteK", "return mathext.CompleteK(x[0])", mp.ellipk, (1e-6,), (0.05,), (0.5,), (0.95,), (0.999999,), (1 - 2.0 ** -40,), (0.0,))
row("mathext.CompleteE", "return mathext.CompleteE(x[0])", mp.ellipe, (1e-6,), (0.05,), (0.5,), (0.95,), (0.999999,), (1 - 2.0 ** -40,), (0.0,))
elliptic = [(0.7, 0.3), (1.2, 0.9), (0.01, 0.5), (1.5, 1e-6), (-1.2, 0.25), (1.0, -3.0), (0.7, -1e4), (1.5, 0.999), (1.0, 0.9999999)]
row("mathext.EllipticF", "return mathext.EllipticF(x[0], x[1])", mp.ellipf, *elliptic)
row("mathext.EllipticE", "return mathext.EllipticE(x[0], x[1])", mp.ellipe, *elliptic)
P = lambda a, x: mp.gammainc(a, 0, x, regularized=True)
Q = lambda a, x: mp.gammainc(a, x, regularized=True)
gamma = [(0.5, 0.1), (2.5, 3.0), (30.0, 25.0), (3.0, 40.0), (1.0, 0.5), (0.01, 1e-3), (20.0, 5.0), (3000.0, 2950.0), (16.0, 40.0)]
for a, x in gamma:
    row("mathext.GammaIncReg", "return mathext.GammaIncReg(%r, x[0])" % a, lambda x, a=a: P(a, x), (x,))
    row("mathext.GammaIncRegComp", "return mathext.GammaIncRegComp(%r, x[0])" % a, lambda x, a=a: Q(a, x), (x,))
I = lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True)
for a, b, x in [(1.5, 2.5, 0.3), (30.0, 20.0, 0.62), (0.5, 0.5, 0.9), (1.0, 3.0, 0.25), (4.0, 1.0, 1e-3), (2.0, 2.0, 1 - 2.0 ** -20), (2000.0, 3000.0, 0.41), (16.0, 25.0, 0.1)]:
    row("mathext.RegIncBeta", "return mathext.RegIncBeta(%r, %r, x[0])" % (a, b), lambda x, a=a, b=b: I(a, b, x), (x,))

# With derivatives with respect to the shapes too. The tail that is computed is the smaller one, which has all digits, and
# has the derivatives of the other up to sign.
def tails(lower, upper, split):
    """The function and its complement, by a function that returns whether the lower tail is the smaller one."""
    return lambda *x: lower(*x) if split(*x) else 1 - upper(*x), lambda *x: 1 - lower(*x) if split(*x) else upper(*x)


Pa, Qa = tails(P, Q, lambda a, x: x < a)
shapes = [(2.0, 3.0), (1.0, 0.5), (2.5, 3.0), (0.5, 0.125), (30.0, 25.0), (3.0, 40.0), (0.01, 1e-3), (0.01, 3.0), (0.25, 1.0), (20.0, 5.0), (3000.0, 2950.0), (10000.0, 10150.0), (16.0, 40.0), (4.0, 4.0), (1.5, 1e-12)]
# (4, 4) and the inverse at 2.5 are near zeros of the second derivative.
row("mathext.GammaIncReg", "return mathext.GammaIncReg(x[0], x[1])", Pa, *shapes, second=4e-12)
row("mathext.GammaIncRegComp", "return mathext.GammaIncRegComp(x[0], x[1])", Qa, *shapes, second=4e-12)


@cache
def factor(a, b):
    return mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b)


@cache
def power(a, b, x):
    """I(x; a, b) by a series of positive terms (DLMF 8.17.8)."""
    s = t = mpf(1)
    n = 0
    while t > s * mpf(10) ** -140 or (a + b + n) * x > a + 1 + n:
        t *= (a + b + n) / (a + 1 + n) * x
        n += 1
        s += t
    return s * mp.exp(a * mp.log(x) + b * mp.log(1 - x) + factor(a, b))


Ib, _ = tails(power, lambda a, b, x: power(b, a, 1 - x), lambda a, b, x: x * (a + b) < a)
row("mathext.RegIncBeta", "return mathext.RegIncBeta(x[0], x[1], x[2])", Ib,
    (2.0, 3.0, 0.5), (1.5, 2.5, 0.3), (30.0, 20.0, 0.62), (0.5, 0.5, 0.9), (1.0, 3.0, 0.25), (4.0, 1.0, 1e-3), (2.0, 2.0, 1 - 2.0 ** -20), (300.0, 500.0, 0.41), (16.0, 25.0, 0.1), (0.01, 0.01, 0.75), (0.01, 100.0, 2.0 ** -16), (5.0, 0.125, 0.96875), (0.25, 1.0, 0.5), (100.0, 0.5, 0.96875))


def inverse(f, start):
    """The inverse of f near start."""
    return lambda y: mp.findroot(lambda x: f(x) - y, start, tol=mpf(10) ** -150)


row("mathext.NormalQuantile", "return mathext.NormalQuantile(x[0])", lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), (0.3,), (0.975,), (1e-5,), (1e-40,), (1 - 2.0 ** -30,))
for a, y, start in [(2.5, 0.7, 3.0), (0.5, 0.2, 0.03), (30.0, 0.4, 28.0)]:
    row("mathext.GammaIncRegInv", "return mathext.GammaIncRegInv(%r, x[0])" % a, inverse(lambda x, a=a: P(a, x), start), (y,))
    row("mathext.GammaIncRegCompInv", "return mathext.GammaIncRegCompInv(%r, x[0])" % a,
        lambda q, g=inverse(lambda x, a=a: P(a, x), start): g(1 - q), (1 - y,))
for a, b, y, start in [(1.5, 2.5, 0.7, 0.5), (30.0, 20.0, 0.4, 0.58)]:
    row("mathext.InvRegIncBeta", "return mathext.InvRegIncBeta(%r, %r, x[0])" % (a, b), inverse(lambda x, a=a, b=b: I(a, b, x), start), (y,))
# The same with respect to the shapes. The start is a neighbour of the root, of which the secants need two.
def inverseOf(f, start):
    return lambda *p: mp.findroot(lambda x: f(*p[:-1], x) - p[-1], (start, start * mpf(1.0001)), tol=mpf(10) ** -240)


for a, y, start in [(2.5, 0.625, 2.8), (2.0, 0.375, 1.3), (0.5, 0.25, 0.05), (30.0, 0.375, 28.0)]:
    row("mathext.GammaIncRegInv", "return mathext.GammaIncRegInv(x[0], x[1])", inverseOf(P, start), (a, y), second=4e-12)
    row("mathext.GammaIncRegCompInv", "return mathext.GammaIncRegCompInv(x[0], x[1])", inverseOf(Q, start), (a, 1 - y), second=4e-12)
for a, b, y, start in [(1.5, 2.5, 0.625, 0.45), (2.0, 3.0, 0.25, 0.25), (30.0, 20.0, 0.375, 0.58)]:
    row("mathext.InvRegIncBeta", "return mathext.InvRegIncBeta(x[0], x[1], x[2])", inverseOf(power, start), (a, b, y))
for s in [1.5, 3.0, 12.0]:
    row("mathext.Zeta", "return mathext.Zeta(%r, x[0])" % s, lambda q, s=s: mp.zeta(s, q), (0.75,), (3.5,), (40.0,))

phi = lambda z: mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)
normal = [(0.5, 1.0, 2.0), (-7.0, 1.0, 0.5)]
row("distuv.Normal.LogProb", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.LogProb(x[0])", lambda x, m, s: mp.log(phi((x - m) / s) / s), *normal)
row("distuv.Normal.Prob", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.Prob(x[0])", lambda x, m, s: phi((x - m) / s) / s, *normal)
row("distuv.Normal.CDF", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.CDF(x[0])", lambda x, m, s: mp.ncdf((x - m) / s), *normal)
row("distuv.Normal.Survival", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.Survival(x[0])", lambda x, m, s: mp.ncdf((m - x) / s), (0.5, 1.0, 2.0), (2.0, 1.0, 0.5))
row("distuv.Normal.Quantile", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.Quantile(x[0])",
    lambda p, m, s: m + s * mp.sqrt(2) * mp.erfinv(2 * p - 1), (0.3, 1.0, 2.0), (0.99, -1.0, 0.5))
row("distuv.Gamma.LogProb", "return distuv.Gamma{Alpha: x[1], Beta: x[2]}.LogProb(x[0])",
    lambda x, a, b: a * mp.log(b) - mp.loggamma(a) + (a - 1) * mp.log(x) - b * x, (0.5, 1.5, 2.0), (0.5, 1.0, 3.0))
row("distuv.Gamma.CDF", "return distuv.Gamma{Alpha: 2.5, Beta: 2}.CDF(x[0])", lambda x: P(mpf(2.5), x * 2), (0.5,))
row("distuv.Gamma.Survival", "return distuv.Gamma{Alpha: 2.5, Beta: 2}.Survival(x[0] * x[1])", lambda x, y: Q(mpf(2.5), x * y * 2), (0.5, 2.0))
row("distuv.Gamma.Quantile", "return distuv.Gamma{Alpha: 2.5, Beta: 2}.Quantile(x[0])", inverse(lambda x: P(mpf(2.5), 2 * x), 1.5), (0.7,))
row("distuv.ChiSquared.CDF", "return distuv.ChiSquared{K: 3}.CDF(x[0])", lambda x: P(mpf(1.5), x / 2), (0.5,), (4.0,))
row("distuv.Beta.LogProb", "return distuv.Beta{Alpha: x[1], Beta: x[2]}.LogProb(x[0])",
    lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - mp.log(mp.beta(a, b)), (0.3, 1.5, 2.5), (0.3, 1.0, 2.5), (0.375, 1.75, 1.0))
row("distuv.Beta.CDF", "return distuv.Beta{Alpha: 1.5, Beta: 2.5}.CDF(x[0])", lambda x: I(mpf(1.5), mpf(2.5), x), (0.3,))
row("distuv.Beta.Quantile", "return distuv.Beta{Alpha: 1.5, Beta: 2.5}.Quantile(x[0])", inverse(lambda x: I(mpf(1.5), mpf(2.5), x), 0.5), (0.7,))
row("distuv.F.CDF", "return distuv.F{D1: 3, D2: 5}.CDF(x[0])", lambda x: I(mpf(1.5), mpf(2.5), 3 * x / (3 * x + 5)), (0.75,), (4.0,))
row("distuv.StudentsT.CDF", "return distuv.StudentsT{Mu: x[1], Sigma: x[2], Nu: 3.5}.CDF(x[0])",
    lambda x, m, s: 1 - I(mpf(1.75), mpf(0.5), mpf(3.5) / (mpf(3.5) + ((x - m) / s) ** 2)) / 2, (6.0, 1.0, 2.0))
row("distuv.StudentsT.LogProb", "return distuv.StudentsT{Mu: x[1], Sigma: x[2], Nu: x[3]}.LogProb(x[0])",
    lambda x, m, s, n: mp.loggamma((n + 1) / 2) - mp.loggamma(n / 2) - mp.log(n * mp.pi) / 2 - mp.log(s) - (n + 1) / 2 * mp.log(1 + ((x - m) / s) ** 2 / n),
    (0.5, 1.0, 2.0, 3.5))
row("distuv.Exponential.LogProb", "return distuv.Exponential{Rate: x[1]}.LogProb(x[0])", lambda x, r: mp.log(r) - r * x, (0.75, 2.0))
row("distuv.LogNormal.LogProb", "return distuv.LogNormal{Mu: x[1], Sigma: x[2]}.LogProb(x[0])",
    lambda x, m, s: mp.log(phi((mp.log(x) - m) / s) / (x * s)), (0.5, 1.0, 2.0))
row("distuv.Poisson.LogProb", "return distuv.Poisson{Lambda: x[0]}.LogProb(4)", lambda l: 4 * mp.log(l) - l - mp.log(24), (2.5,))
row("distuv.Laplace.LogProb", "return distuv.Laplace{Mu: x[1], Scale: x[2]}.LogProb(x[0])", lambda x, m, s: -mp.log(2 * s) - abs(x - m) / s, (0.5, 1.0, 2.0))
row("distuv.Weibull.LogProb", "return distuv.Weibull{K: x[1], Lambda: x[2]}.LogProb(x[0])",
    lambda x, k, l: mp.log(k / l) + (k - 1) * mp.log(x / l) - (x / l) ** k, (0.5, 1.5, 2.0))
row("distuv.Gamma.CDF", "return distuv.Gamma{Alpha: x[1], Beta: x[2]}.CDF(x[0])", lambda x, a, b: P(a, x * b), (0.5, 2.5, 2.0), (1.5, 2.0, 1.0))
row("distuv.Gamma.Survival", "return distuv.Gamma{Alpha: x[1], Beta: x[2]}.Survival(x[0])", lambda x, a, b: Q(a, x * b), (0.5, 2.5, 2.0), (1.5, 2.0, 1.0))
row("distuv.Gamma.Quantile", "return distuv.Gamma{Alpha: x[1], Beta: x[2]}.Quantile(x[0])",
    lambda p, a, b: inverseOf(P, 2.8)(a, p) / b, (0.625, 2.5, 2.0), second=4e-12)
row("distuv.ChiSquared.CDF", "return distuv.ChiSquared{K: x[1]}.CDF(x[0])", lambda x, k: P(k / 2, x / 2), (0.5, 3.0), (4.0, 2.0))
row("distuv.Beta.CDF", "return distuv.Beta{Alpha: x[1], Beta: x[2]}.CDF(x[0])", lambda x, a, b: Ib(a, b, x), (0.5, 2.0, 3.0), (0.25, 1.5, 2.5))
row("distuv.Beta.Quantile", "return distuv.Beta{Alpha: x[1], Beta: x[2]}.Quantile(x[0])", lambda p, a, b: inverseOf(power, 0.45)(a, b, p), (0.625, 1.5, 2.5))
row("distuv.F.CDF", "return distuv.F{D1: x[1], D2: x[2]}.CDF(x[0])", lambda x, d, e: Ib(d / 2, e / 2, d * x / (d * x + e)), (0.75, 3.0, 5.0), (1.5, 4.0, 6.0))
row("distuv.StudentsT.CDF", "return distuv.StudentsT{Mu: x[1], Sigma: x[2], Nu: x[3]}.CDF(x[0])",
    lambda x, m, s, n: 1 - Ib(n / 2, mpf(0.5), n / (n + ((x - m) / s) ** 2)) / 2, (6.0, 1.0, 2.0, 3.5), (3.5, 1.0, 2.0, 4.0))
# At the centre, by a formula without a branch there.
T = lambda y, n: mpf(0.5) + y * mp.gamma((n + 1) / 2) / mp.gamma(n / 2) / mp.sqrt(mp.pi * n) * mp.hyp2f1(0.5, (n + 1) / 2, 1.5, -y * y / n)
row("distuv.StudentsT.CDF", "return distuv.StudentsT{Mu: x[1], Sigma: x[2], Nu: x[3]}.CDF(x[0])", lambda x, m, s, n: T((x - m) / s, n), (0.75, 0.75, 2.0, 3.5))
row("distuv.StudentsT.Survival", "return distuv.StudentsT{Mu: x[1], Sigma: x[2], Nu: x[3]}.Survival(x[0])", lambda x, m, s, n: 1 - T((x - m) / s, n), (0.75, 0.75, 2.0, 3.5))
row("distuv.StudentsT.Quantile", "return distuv.StudentsT{Mu: x[1], Sigma: x[2], Nu: x[3]}.Quantile(x[0])",
    lambda p, m, s, n: m + s * (0 if p == 0.5 else mp.findroot(lambda y: T(y, n) - p, ((p - 0.5) * 2, (p - 0.5) * 3), tol=mpf(10) ** -250)), (0.5, 0.75, 2.0, 3.5))
row("distuv.Poisson.CDF", "return distuv.Poisson{Lambda: x[0]}.CDF(4)", lambda l: Q(mpf(5), l), (2.5,))
row("distuv.Binomial.CDF", "return distuv.Binomial{N: 7, P: x[0]}.CDF(3)", lambda p: Ib(mpf(4), mpf(4), 1 - p), (0.25,))

write()
