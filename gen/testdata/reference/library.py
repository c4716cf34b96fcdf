"""Writes library.json: functions of gonum's packages floats, mathext and stat/distuv, see reference.py.

    python3 library.py > library.json
"""
from mpmath import mp, mpf

from reference import row, write


def lse(*x):
    m = max(x)
    return m + mp.log(mp.fsum(mp.exp(v - m) for v in x))


for shift in [0, 2.0 ** 20, 2.0 ** 33, -(2.0 ** 45)]:
    row("floats.LogSumExp", "return floats.LogSumExp(x)", lse, (shift, shift + 0.5, shift - 1))
row("floats.LogSumExp", "return floats.LogSumExp(x) * x[0]", lambda a, b: lse(a, b) * a, (1.5, 800.0), (-3.0, -3.0))
row("floats.Dot", "return floats.Dot(x, x) * x[0]", lambda a, b: (a * a + b * b) * a, (1.5, -2.0), real=False)
row("floats.Norm", "return floats.Norm(x, 2)", mp.hypot, (3.0, 4.0), (0.25, 2.0), real=False)
row("floats.Norm", "return floats.Norm(x, 3)", lambda a, b: mp.cbrt(abs(a) ** 3 + abs(b) ** 3), (1.5, -2.0), real=False)
row("floats.Norm", "return floats.Norm(x, 1)", lambda a, b: abs(a) + abs(b), (1.5, -2.0), real=False)
row("floats.Distance", "return floats.Distance(x, []float64{1, 2}, 2)", lambda a, b: mp.hypot(a - 1, b - 2), (4.0, 6.0), real=False)
row("floats.Prod", "return floats.Prod(x)", lambda a, b, c: a * b * c, (2.0, 0.0, 4.0), (1.5, -2.0, 3.0))
row("floats.Sum", "return floats.Sum(x) * x[0]", lambda a, b: (a + b) * a, (1.5, -2.0), real=False)
row("floats.Max", "return floats.Max(x) * x[0]", lambda a, b: max(a, b) * a, (1.5, -2.0), (1.5, 2.5))
row("floats.Min", "return floats.Min(x) * x[0]", lambda a, b: min(a, b) * a, (1.5, -2.0), (1.5, 2.5))
row("floats.CumProd", "y := floats.CumProd(make([]float64, 2), x); return y[1] * y[0]", lambda a, b: a * a * b, (1.5, -2.0), real=False)

one = [(0.3,), (1.0,), (1.5,), (5.25,), (40.0,), (1e6,)]
row("mathext.Digamma", "return mathext.Digamma(x[0])", lambda x: mp.psi(0, x), *one, (-0.5,), (-7.3,), value=2e-9, reals=1e-8)
row("mathext.Beta", "return mathext.Beta(x[0], x[1])", mp.beta, (1.5, 2.5), (0.3, 7.0), (20.0, 30.0))
row("mathext.Lbeta", "return mathext.Lbeta(x[0], x[1])", lambda a, b: mp.log(mp.beta(a, b)), (1.5, 2.5), (0.3, 7.0), (2000.0, 3000.0))
row("mathext.MvLgamma", "return mathext.MvLgamma(x[0], 3)", lambda v: mp.log(mp.pi) * 3 / 2 + mp.fsum(mp.loggamma(v - mpf(j) / 2) for j in range(3)), (2.5,), (70.0,))
row("mathext.CompleteK", "return mathext.CompleteK(x[0])", mp.ellipk, (1e-6,), (0.05,), (0.5,), (0.95,), (0.999999,), reals=1e-10)
row("mathext.CompleteE", "return mathext.CompleteE(x[0])", mp.ellipe, (1e-6,), (0.05,), (0.5,), (0.95,), (0.999999,), reals=1e-10)
elliptic = [(0.7, 0.3), (1.2, 0.9), (0.01, 0.5), (1.5, 1e-6)]
row("mathext.EllipticF", "return mathext.EllipticF(x[0], x[1])", mp.ellipf, *elliptic, reals=1e-7)
row("mathext.EllipticE", "return mathext.EllipticE(x[0], x[1])", mp.ellipe, *elliptic, reals=1e-7)
P = lambda a, x: mp.gammainc(a, 0, x, regularized=True)
Q = lambda a, x: mp.gammainc(a, x, regularized=True)
gamma = [(0.5, 0.1), (2.5, 3.0), (30.0, 25.0), (3.0, 40.0)]
for a, x in gamma:
    row("mathext.GammaIncReg", "return mathext.GammaIncReg(%r, x[0])" % a, lambda x, a=a: P(a, x), (x,), real=False)
    row("mathext.GammaIncRegComp", "return mathext.GammaIncRegComp(%r, x[0])" % a, lambda x, a=a: Q(a, x), (x,), real=False)
I = lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True)
for a, b, x in [(1.5, 2.5, 0.3), (30.0, 20.0, 0.62), (0.5, 0.5, 0.9)]:
    row("mathext.RegIncBeta", "return mathext.RegIncBeta(%r, %r, x[0])" % (a, b), lambda x, a=a, b=b: I(a, b, x), (x,), reals=1e-10)


def inverse(f, start):
    """The inverse of f near start."""
    return lambda y: mp.findroot(lambda x: f(x) - y, start, tol=mpf(10) ** -150)


row("mathext.NormalQuantile", "return mathext.NormalQuantile(x[0])", lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), (0.3,), (0.975,), (1e-5,), real=False)
for a, y, start in [(2.5, 0.7, 3.0), (0.5, 0.2, 0.03), (30.0, 0.4, 28.0)]:
    row("mathext.GammaIncRegInv", "return mathext.GammaIncRegInv(%r, x[0])" % a, inverse(lambda x, a=a: P(a, x), start), (y,), real=False)
    row("mathext.GammaIncRegCompInv", "return mathext.GammaIncRegCompInv(%r, x[0])" % a,
        lambda q, g=inverse(lambda x, a=a: P(a, x), start): g(1 - q), (1 - y,), real=False)
for a, b, y, start in [(1.5, 2.5, 0.7, 0.5), (30.0, 20.0, 0.4, 0.58)]:
    row("mathext.InvRegIncBeta", "return mathext.InvRegIncBeta(%r, %r, x[0])" % (a, b), inverse(lambda x, a=a, b=b: I(a, b, x), start), (y,), real=False)
for s in [1.5, 3.0, 12.0]:
    row("mathext.Zeta", "return mathext.Zeta(%r, x[0])" % s, lambda q, s=s: mp.zeta(s, q), (0.75,), (3.5,), (40.0,), real=False)

phi = lambda z: mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)
normal = [(0.5, 1.0, 2.0), (-7.0, 1.0, 0.5)]
row("distuv.Normal.LogProb", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.LogProb(x[0])", lambda x, m, s: mp.log(phi((x - m) / s) / s), *normal)
row("distuv.Normal.Prob", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.Prob(x[0])", lambda x, m, s: phi((x - m) / s) / s, *normal)
row("distuv.Normal.CDF", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.CDF(x[0])", lambda x, m, s: mp.ncdf((x - m) / s), *normal)
row("distuv.Normal.Survival", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.Survival(x[0])", lambda x, m, s: mp.ncdf((m - x) / s), (0.5, 1.0, 2.0), (2.0, 1.0, 0.5))
row("distuv.Normal.Quantile", "return distuv.Normal{Mu: x[1], Sigma: x[2]}.Quantile(x[0])",
    lambda p, m, s: m + s * mp.sqrt(2) * mp.erfinv(2 * p - 1), (0.3, 1.0, 2.0), real=False)
row("distuv.Gamma.LogProb", "return distuv.Gamma{Alpha: x[1], Beta: x[2]}.LogProb(x[0])",
    lambda x, a, b: a * mp.log(b) - mp.loggamma(a) + (a - 1) * mp.log(x) - b * x, (0.5, 1.5, 2.0))
row("distuv.Gamma.CDF", "return distuv.Gamma{Alpha: 2.5, Beta: 2}.CDF(x[0])", lambda x: P(mpf(2.5), x * 2), (0.5,), real=False)
row("distuv.Beta.LogProb", "return distuv.Beta{Alpha: x[1], Beta: x[2]}.LogProb(x[0])",
    lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - mp.log(mp.beta(a, b)), (0.3, 1.5, 2.5))
row("distuv.Beta.CDF", "return distuv.Beta{Alpha: 1.5, Beta: 2.5}.CDF(x[0])", lambda x: I(mpf(1.5), mpf(2.5), x), (0.3,))
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

write()
