# SPDX-License-Identifier: Apache-2.0
"""Writes binary_derivatives_cases.inc: derivatives of binary functions at special points.

    python3 tests/transforms/binary_derivatives_cases.py > tests/transforms/binary_derivatives_cases.inc

(mpmath 1.3.0). One line a case: primitive, x, y, how often it is derived by x and by y, derivative.
Points at which a function is not smooth have only the derivatives that exist. At infinity stands
the limit.
"""

import mpmath as mp

mp.mp.dps = 60
INF = float("inf")


def text(v):
    if abs(v) == INF:
        return "-kInf" if v < 0 else "kInf"
    return repr(float(v))


def emit(name, x, y, i, j, value):
    print(f'{{"{name}", {text(x)}, {text(y)}, {i}, {j}, {text(value)}}},')


ORDERS = [(i, n - i) for n in (1, 2, 3) for i in range(n, -1, -1)]


def smooth(name, f, points):
    for x, y in points:
        for i, j in ORDERS:
            v = mp.diff(f, (mp.mpf(x), mp.mpf(y)), (i, j), h=mp.mpf(10) ** -15)
            emit(name, x, y, i, j, 0 if abs(v) < 1e-12 else v)


def given(name, x, y, first, second=(0, 0, 0), third=(0, 0, 0, 0)):
    """All derivatives in the order of ORDERS; None for one that does not exist."""
    for (i, j), v in zip(ORDERS, (*first, *second, *third)):
        if v is not None:
            emit(name, x, y, i, j, v)


def angle_near(a, b):
    """The angle up to a constant, without a cut near the point (0, -1) or (a, 0)."""
    z = mp.mpc(b, a)
    turned = z if b > 0.5 else -z if b < -0.5 else z * mp.mpc(0, -1 if a > 0 else 1)
    return mp.arg(turned)


PLAIN = [(0, 0), (0, 1), (1, 0), (1, 1), (-1, 1), (2, 2), (2, 0), (0, 2), (2, 1), (-3, 0.5)]
smooth("add", lambda x, y: x + y, PLAIN)
smooth("sub", lambda x, y: x - y, PLAIN)
smooth("mul", lambda x, y: x * y, PLAIN)
smooth("div", lambda x, y: x / y, [(0, 1), (1, 1), (2, 2), (0, 2), (-3, 0.5), (1, -1), (-2, -2)])
smooth("pow", lambda x, y: x**y,
       [(2, 0), (2, 1), (2, 2), (2, 3), (1, 0), (1, 1), (1, 2), (2, -1), (0.5, 0), (0.5, 0.5),
        (3, 3), (2, 0.5), (10, 0), (0.5, 1), (1, -1), (1.5, -2)])
for x in (0, -1, -2, 2):  # by x alone, for whole exponents
    for y in (0, 1, 2, 3, 4, -1, -2):
        if x == 0 and y < 0:
            continue
        for k in (1, 2, 3):
            factor = mp.ff(y, k)
            emit("pow", x, y, k, 0, 0 if factor == 0 else factor * mp.mpf(x) ** (y - k))
# Limits from the right: x^2 log x and the like.
emit("pow", 0, 2, 0, 1, 0)
emit("pow", 0, 2, 1, 1, 0)
emit("pow", 0, 3, 1, 1, 0)
emit("pow", 0, 3, 2, 1, 0)
emit("pow", 0, 3, 1, 2, 0)
smooth("atan2", angle_near, [(0, 1), (1, 0), (1, 1), (-1, 0), (0, -1), (2, 2), (-2, 2), (1, -1)])
smooth("hypot", lambda x, y: mp.sqrt(x * x + y * y),
       [(0, 1), (1, 0), (1, 1), (-1, 0), (0, -1), (2, 2), (-2, 2), (3, 4)])
smooth("logaddexp", lambda x, y: mp.log(mp.e**x + mp.e**y),
       [(0, 0), (0, 1), (1, 1), (2, 2), (-1, 1), (50, 50), (700, 700), (40, 0), (0, 40)])
smooth("max", lambda x, y: max(x, y), [(0, 1), (1, 0), (-1, 1), (2, -2)])
smooth("min", lambda x, y: min(x, y), [(0, 1), (1, 0), (-1, 1), (2, -2)])
smooth("copysign", lambda x, y: abs(x) * mp.sign(y), [(1, 1), (-1, 1), (2, -2), (-1, -1)])
smooth("rem", lambda x, y: x - y * (mp.floor(x / y) if x / y > 0 else mp.ceil(x / y)),
       [(0.5, 1), (-0.5, 1), (3.5, 2), (-3.5, 2), (5, 3)])
smooth("nextafter", lambda x, y: x, [(0, 1), (1, 1), (2, 1)])

# Limits at infinity, where there are any: hypot has none where both are infinite. Left out are those
# of pow in which a rule multiplies infinity by zero: by an exponent of 0 or more, log(x)' x^y, and by
# x for an infinite exponent, y x^(y-1).
given("add", INF, 1, (1, 1))
given("sub", 1, INF, (1, -1))
given("mul", INF, 2, (2, INF), (0, 1, 0))
given("mul", INF, INF, (INF, INF), (0, 1, 0))
given("div", 1, INF, (0, 0))
given("div", INF, 2, (0.5, -INF), (0, -0.25, INF), (0, 0, 0.25, -INF))
given("logaddexp", INF, 1, (1, 0))
given("logaddexp", 1, INF, (0, 1))
given("logaddexp", -INF, 1, (0, 1))
given("logaddexp", 1, -INF, (1, 0))
given("max", INF, 1, (1, 0))
given("max", -INF, 1, (0, 1))
given("min", INF, 1, (0, 1))
given("min", -INF, 1, (1, 0))
given("copysign", INF, -1, (-1, 0))
given("pow", INF, 2, (INF, INF), (2, None, None), (0, None, None, None))
given("pow", INF, 1, (1, INF), (0, None, None), (0, None, None, None))
given("pow", INF, 0, (0, INF), (0, None, None), (0, None, None, None))
for y in (-1, -2):
    given("pow", INF, y, (0, 0), (0, 0, 0), (0, 0, 0, 0))
for x, y in ((0.5, INF), (2, -INF)):
    given("pow", x, y, (None, 0), (None, None, 0), (None, None, None, 0))
for y in (1, 0, -2):
    for x in (INF, -INF):
        given("hypot", x, y, (1 if x > 0 else -1, 0), (0, 0, 0), (0, 0, 0, 0))
        given("hypot", y, x, (0, 1 if x > 0 else -1), (0, 0, 0), (0, 0, 0, 0))
        given("atan2", x, y, (0, 0), (0, 0, 0), (0, 0, 0, 0))
        given("atan2", y, x, (0, 0), (0, 0, 0), (0, 0, 0, 0))
for x in (INF, -INF):
    for y in (INF, -INF):
        given("atan2", x, y, (0, 0), (0, 0, 0), (0, 0, 0, 0))
