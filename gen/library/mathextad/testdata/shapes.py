"""Writes shapes.json: derivatives of P(a, x) and I(x; a, b) with respect to their shapes, at random points, computed with
mpmath as central differences of the function itself. No formula for a derivative is used. Shapes are 0.01 to 10000,
every third one an integer, and x is near the mean, in both tails, or, for small shapes, where the lower tail is long.

    python3 shapes.py > shapes.json
"""
import json
import random

from mpmath import mp, mpf

mp.dps = 90
random.seed(1)


def shape():
    return float(random.randint(1, 30)) if random.random() < 0.3 else float("%.4g" % 10 ** random.uniform(-2, 4))


def power(a, b, x):
    """I(x; a, b) by a series of positive terms (DLMF 8.17.8), which must be short."""
    s = t = mpf(1)
    n = 0
    while t > s * mpf(10) ** -95 or (a + b + n) * x > a + 1 + n:
        t *= (a + b + n) / (a + 1 + n) * x
        n += 1
        s += t
        if n > 6000:
            raise ValueError
    return s * mp.exp(a * mp.log(x) + b * mp.log(1 - x) + mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b))


def text(*list):
    return [mp.nstr(v, 20) for v in list]


gamma, beta = [], []
while len(gamma) < 160:
    a = shape()
    x = float(random.choice([a + mp.sqrt(a) * random.uniform(-6, 8), a * 10 ** random.uniform(-3, 1),
                             a * 10 ** random.uniform(-12, 1), mp.exp(-random.uniform(0, 1) / a), 10 ** random.uniform(-1, 1)]))
    if x <= 0:
        continue
    A, X, h = mpf(a), mpf(x), mpf(a) * mpf(10) ** -18
    # The smaller tail has all digits.
    f = [mp.gammainc(A + i * h, 0, X, regularized=True) if x < a else -mp.gammainc(A + i * h, X, regularized=True)
         for i in range(-2, 3)]
    gamma.append([a, x] + text((f[3] - f[1]) / (2 * h), (f[3] - 2 * f[2] + f[1]) / h ** 2,
                               (f[4] - 2 * f[3] + 2 * f[1] - f[0]) / (2 * h ** 3)))
while len(beta) < 240:
    a, b = shape(), shape()
    mean = a / (a + b)
    sd = (mean * (1 - mean) / (a + b + 1)) ** 0.5
    x = float(random.choice([mean + sd * random.uniform(-6, 8), mean * 10 ** random.uniform(-3, 0), random.random(),
                             1 - (1 - mean) * 10 ** random.uniform(-3, 0), 10 ** random.uniform(-12, 0), mp.exp(-random.random() / a)]))
    if not 0 < x < 1:
        continue
    A, B, X, h, g = mpf(a), mpf(b), mpf(x), mpf(a) * mpf(10) ** -18, mpf(b) * mpf(10) ** -18
    at = lambda i, k: power(A + i * h, B + k * g, X) if x < mean else -power(B + k * g, A + i * h, 1 - X)
    try:
        f = {(i, k): at(i, k) for i in (-1, 0, 1) for k in (-1, 0, 1)}
    except ValueError:
        continue
    beta.append([a, b, x] + text(
        (f[1, 0] - f[-1, 0]) / (2 * h), (f[0, 1] - f[0, -1]) / (2 * g), (f[1, 0] - 2 * f[0, 0] + f[-1, 0]) / h ** 2,
        (f[1, 1] + f[-1, -1] - f[1, -1] - f[-1, 1]) / (4 * h * g), (f[0, 1] - 2 * f[0, 0] + f[0, -1]) / g ** 2))
rows = lambda list: "[\n" + ",\n".join(json.dumps(r) for r in list) + "\n]"
print('{"Gamma": %s,\n"Beta": %s}' % (rows(gamma), rows(beta)))
