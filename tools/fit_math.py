# SPDX-License-Identifier: Apache-2.0
"""Fits the polynomials of core/math and writes core/math/coefficients.h.

From the repository root:
  python3 tools/fit_math.py | clang-format > core/math/coefficients.h
Made with Python 3.11.7, mpmath 1.3.0 and numpy 2.4.6 (Remez exchange on a dense Chebyshev grid,
40 digits; coefficients are rounded one after another, lowest power first, and the rest refitted
each time). The relative error of each fit, before rounding in its evaluation, stands beside it.
"""
import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 40
GRID = 1500


def solve(columns, target, weight, count):
    """Discrete minimax of (target - sum c_k columns_k) * weight: coefficients and error."""
    points = len(target)
    if count == 0:
        return [], max(abs(t * w) for t, w in zip(target, weight))
    nodes = [round(i * (points - 1) / count) for i in range(count + 1)]
    coefficients, best, best_error = None, None, mp.inf
    for _ in range(40):
        matrix = mp.matrix(count + 1, count + 1)
        right = mp.matrix(count + 1, 1)
        for row, node in enumerate(nodes):
            for k in range(count):
                matrix[row, k] = columns[k][node] * weight[node]
            matrix[row, count] = (-1) ** row
            right[row] = target[node] * weight[node]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[k] for k in range(count)]
        level = abs(solution[count])
        errors = []
        for i in range(points):
            value = target[i]
            for k in range(count):
                value -= coefficients[k] * columns[k][i]
            errors.append(value * weight[i])
        largest = max(abs(e) for e in errors)
        if largest < best_error:
            best, best_error = coefficients, largest
        if largest <= level * mp.mpf("1.001") or largest < mp.mpf(10) ** -35:
            break
        extrema = []
        for i, e in enumerate(errors):
            if extrema and (errors[extrema[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > count + 1:
            if len(extrema) == count + 2:
                ends = abs(errors[extrema[0]]) < abs(errors[extrema[-1]])
                extrema.pop(0 if ends else -1)
            else:
                gaps = [
                    (max(abs(errors[extrema[j]]), abs(errors[extrema[j + 1]])), j)
                    for j in range(len(extrema) - 1)
                ]
                del extrema[min(gaps)[1] : min(gaps)[1] + 2]
        if len(extrema) < count + 1:
            break
        nodes = extrema
    return best, best_error


def rounded(value, single):
    """`value` as the nearest float (single) or double."""
    with mp.workprec(24 if single else 53):
        return +mp.mpf(value)


def fit(function, low, high, powers, weight, single=True, fixed=(), refit=True):
    """Coefficients of function(x) ~ sum c_k x**powers[k]; `fixed` leading ones are given.

    Without `refit` all are rounded at once: for an interval about 0, where without the constant
    the powers are no Chebyshev system and the exchange may fail to converge.
    """
    low, high = mp.mpf(low), mp.mpf(high)
    xs = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / (GRID - 1)) for i in range(GRID)
    ]
    xs = [x if x != 0 else mp.mpf(10) ** -12 for x in xs]
    target = [function(x) for x in xs]
    weights = [weight(x) for x in xs]
    columns = [[x**p for x in xs] for p in powers]
    chosen = [rounded(c, single) for c in fixed]
    for k, c in enumerate(chosen):
        target = [t - c * v for t, v in zip(target, columns[k])]
    if not refit:
        coefficients, _ = solve(columns, target, weights, len(columns))
        chosen = [rounded(c, single) for c in coefficients]
        for c, column in zip(chosen, columns):
            target = [t - c * v for t, v in zip(target, column)]
    while len(chosen) < len(powers):
        rest = columns[len(chosen) :]
        coefficients, _ = solve(rest, target, weights, len(rest))
        c = rounded(coefficients[0], single)
        target = [t - c * v for t, v in zip(target, rest[0])]
        chosen.append(c)
    return chosen, max(abs(t * w) for t, w in zip(target, weights))


def emit(name, note, result, single=True):
    chosen, error = result
    kind = "float" if single else "double"
    print(f"\n/// {note}; error {mp.nstr(error, 2)}.")
    print(f"inline constexpr {kind} {name}[] = {{")
    for c in chosen:
        text = f"{np.float32(float(c))!s}f" if single else repr(float(c))
        print(f"    {text},")
    print("};")
    sys.stdout.flush()


def odd(function):
    """(function(x) - x) / x^3 in the variable z = x^2."""
    return lambda z: (function(mp.sqrt(z)) - mp.sqrt(z)) / (z * mp.sqrt(z))


def odd_weight(function):
    return lambda z: z * mp.sqrt(z) / function(mp.sqrt(z))


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print("#pragma once")
    print("\n// Written by tools/fit_math.py; do not edit. Lowest power first.")
    print("namespace spruce::math {")
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0005")
    low, high = mp.sqrt(0.5) - 1, mp.sqrt(2) - 1
    quarter = mp.pi / 4 * mp.mpf("1.0005")

    for single in (True, False):
        end = "" if single else "Double"
        emit("kExp" + end, "(e^r - 1 - r) / r^2, |r| <= ln(2)/2", fit(
            lambda r: (mp.expm1(r) - r) / r**2, -half_ln2, half_ln2, range(6 if single else 11),
            lambda r: abs(r**2 / mp.expm1(r)), single), single)
    emit("kExp2", "(2^r - 1) / r, |r| <= 1/2", fit(
        lambda r: mp.expm1(r * mp.log(2)) / r, -0.5005, 0.5005, range(7),
        lambda r: r / mp.mpf(2)**r))
    emit("kLog", "(log(1 + f) - f + f^2/2) / f^3, 1 + f in [sqrt(1/2), sqrt(2)]", fit(
        lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, low, high, range(9),
        lambda f: f**3 / mp.log1p(f)))
    emit("kLog2", "log2(1 + f) / f less its value 1.4427 at 0, which is kept apart", fit(
        lambda f: mp.log1p(f) / mp.log(2) / f - rounded(1 / mp.log(2), True), low, high,
        range(10), lambda f: f / mp.log1p(f), fixed=[1 / mp.log(2) - rounded(1 / mp.log(2), True)]))
    emit("kLog10", "log10(1 + f) / f less its value 0.4343 at 0, which is kept apart", fit(
        lambda f: mp.log1p(f) / mp.log(10) / f - rounded(1 / mp.log(10), True), low, high,
        range(10), lambda f: f / mp.log1p(f),
        fixed=[1 / mp.log(10) - rounded(1 / mp.log(10), True)]))
    emit("kLogDouble", "(log(1 + f) - 2 s) / s^3 in s^2, s = f / (2 + f)", fit(
        lambda z: (2 * mp.atanh(mp.sqrt(z)) - 2 * mp.sqrt(z)) / (z * mp.sqrt(z)),
        mp.mpf(10)**-9, (high / (2 + high))**2, range(7),
        lambda z: z / 2, False), False)
    emit("kPowLog2", "log2(1 + f) / f in double, for pow of floats", fit(
        lambda f: mp.log1p(f) / mp.log(2) / f, low, high, range(14),
        lambda f: f / mp.log1p(f), False), False)
    c0, c1 = 2 / mp.log(2), 2 / (3 * mp.log(2))
    emit("kPowLog2Double", "(log2(1 + f) / s - 2 / log(2) - 2 z / (3 log(2))) / z^2 in z = s^2,"
         " s = f / (2 + f), for pow", fit(
             lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) / mp.log(2) - c0 - c1 * z) / z**2,
             mp.mpf(10)**-6, (high / (2 + high))**2, range(7), lambda z: z**2 / c0, False), False)
    tiny = mp.mpf(10)**-9
    emit("kSin", "(sin r - r) / r^3 in r^2, |r| <= pi/4", fit(
        odd(mp.sin), tiny, quarter**2, range(4), odd_weight(mp.sin)))
    emit("kCos", "(cos r - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4", fit(
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, tiny, quarter**2, range(4),
        lambda z: z**2))
    emit("kSinDouble", "(sin r - r) / r^3 in r^2, |r| <= pi/4", fit(
        odd(mp.sin), tiny, quarter**2, range(6), odd_weight(mp.sin), False), False)
    emit("kCosDouble", "(cos r - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4", fit(
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, tiny, quarter**2, range(6),
        lambda z: z**2, False), False)
    emit("kTan", "(tan r - r) / r^3 in r^2, |r| <= pi/4", fit(
        odd(mp.tan), tiny, quarter**2, range(7), odd_weight(mp.tan)))
    for single in (True, False):
        end = "" if single else "Double"
        emit("kAsin" + end, "(asin x - x) / x^3 in x^2, |x| <= 1/2", fit(
            odd(mp.asin), tiny, 0.25, range(6 if single else 12), odd_weight(mp.asin), single,
            refit=single), single)
        emit("kAtan" + end, "(atan x - x) / x^3 in x^2, |x| <= 1", fit(
            odd(mp.atan), tiny, 1, range(10 if single else 20), odd_weight(mp.atan), single),
            single)
    emit("kSinh", "(sinh x - x) / x^3 in x^2, |x| <= 1", fit(
        odd(mp.sinh), tiny, 1, range(4), odd_weight(mp.sinh)))
    for single in (True, False):
        end = "" if single else "Double"
        emit("kErf" + end, "erf(x) / x - 1 in x^2, |x| <= 1", fit(
            lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, tiny, 1, range(8 if single else 13),
            lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)), single, refit=single), single)
        last = 4 if single else 6
        emit("kErfTail" + end, f"-(log(erfc(x)) + x) / x, 1 <= x <= {last}", fit(
            lambda x: -(mp.log(mp.erfc(x)) + x) / x, "0.99", last, range(8 if single else 18),
            lambda x: x * mp.erfc(x) / mp.erf(x), single, refit=single), single)
        low_x, high_x = ("0", "10.5") if single else ("0.46", "27.5")
        emit("kErfcx" + end,
             f"e^(x^2) erfc(x) (2 + x) / 2 in q = (x - 2) / (x + 2), {low_x} <= x <= {high_x}", fit(
                 lambda q: erfcx(2 * (1 + q) / (1 - q)) * 2 / (1 - q),
                 *((mp.mpf(x) - 2) / (mp.mpf(x) + 2) for x in (low_x, high_x)),
                 range(12 if single else 23),
                 lambda q: (1 - q) / (2 * erfcx(2 * (1 + q) / (1 - q))), single, refit=single),
             single)
    emit("kCbrt", "cbrt(m), 1/2 <= m <= 1", fit(
        mp.cbrt, 0.5, 1, range(5), lambda m: 1 / mp.cbrt(m)))
    emit("kCbrtDouble", "cbrt(m), sqrt(1/2) <= m <= sqrt(2)", fit(
        mp.cbrt, 1 + low, 1 + high, range(10), lambda m: 1 / mp.cbrt(m), False, refit=False), False)
    emit("kSinPi", "sin(pi r) / r in r^2, |r| <= 1/2", fit(
        lambda z: mp.sin(mp.pi * mp.sqrt(z)) / mp.sqrt(z), tiny, 0.25, range(9),
        lambda z: mp.sqrt(z) / mp.sin(mp.pi * mp.sqrt(z)), False), False)
    emit("kCosPi", "cos(pi r) / (1 - 4 r^2) in r^2, |r| <= 1/2", fit(
        lambda z: mp.cos(mp.pi * mp.sqrt(z)) / (1 - 4 * z), tiny, mp.mpf("0.2499999999"), range(9),
        lambda z: (1 - 4 * z) / mp.cos(mp.pi * mp.sqrt(z)), False), False)
    emit("kLgamma", "(lgamma(z) - (z - 1/2) log z + z - log(2 pi)/2) z in 1/z^2, z >= 4", fit(
        lambda t: stirling(1 / mp.sqrt(t)), mp.mpf(10)**-8, mp.mpf(1) / 16, range(9),
        lambda t: mp.mpf(1), False), False)
    emit("kDigamma", "(log z - 1/(2 z) - psi(z)) z^2 in 1/z^2, z >= 3", fit(
        lambda t: (-mp.log(t) / 2 - mp.sqrt(t) / 2 - mp.digamma(1 / mp.sqrt(t))) / t,
        mp.mpf(10)**-8, mp.mpf(1) / 9, range(12), lambda t: t, False), False)
    root = mp.findroot(mp.digamma, mp.mpf("1.4616"))
    emit("kDigammaRoot", "psi(r + d) / d where psi(r) = 0, 1 <= r + d <= 2", fit(
        lambda d: mp.digamma(root + d) / d, 1 - root, 2 - root, range(23),
        lambda d: d / mp.digamma(root + d), False, refit=False), False)
    emit_giles()
    for name, note, low_w, high_w, shift, power, count, apart in (
            ("Central", "w - 3.125, w < 6.25", "0", "6.26", "3.125", 1, 23, "1.65625"),
            ("Middle", "sqrt(w) - 3.25, w < 16", "6.24", "16.01", "3.25", 2, 20, "3.09375"),
            ("Tail", "sqrt(w) - 5, w < 37", "15.99", "37", "5", 2, 19, "4.84375")):
        low_t, high_t = (mp.mpf(v) ** (mp.mpf(1) / power) - mp.mpf(shift) for v in (low_w, high_w))
        note = f"erfinv(x) / x - {apart} in {note}, where w = -log(1 - x^2)"
        emit(f"kErfInvDouble{name}", note, fit(
            lambda t: erf_inv_ratio((t + mp.mpf(shift))**power) - mp.mpf(apart),
            low_t, high_t, range(count),
            lambda t: 1 / erf_inv_ratio((t + mp.mpf(shift))**power), False, refit=False), False)
    print("\n}  // namespace spruce::math")


def emit_giles():
    """The published coefficients of Giles (2012), table 1, for float; highest power first."""
    central = """2.81022636e-08 3.43273939e-07 -3.5233877e-06 -4.39150654e-06 0.00021858087
        -0.00125372503 -0.00417768164 0.246640727 1.50140941"""
    tail = """-0.000200214257 0.000100950558 0.00134934322 -0.00367342844 0.00573950773
        -0.0076224613 0.00943887047 1.00167406 2.83297682"""
    for name, text, note in (("Central", central, "w - 2.5, w < 5"), ("Tail", tail, "sqrt(w) - 3")):
        print(f"\n/// Giles' erfinv(x) / x in {note}, where w = -log(1 - x^2).")
        print(f"inline constexpr float kErfInv{name}[] = {{")
        for c in reversed(text.split()):
            print(f"    {c}f,")
        print("};")


def erf_inv_ratio(w):
    """erfinv(x) / x at the x with w = -log(1 - x^2), by Newton's method on log erfc."""
    if w < mp.mpf(10)**-20:
        return mp.sqrt(mp.pi) / 2
    u = mp.exp(-w)
    x = mp.sqrt(-mp.expm1(-w))
    if w < 1:
        return mp.erfinv(x) / x
    target = mp.log(u / (1 + x))
    y = mp.sqrt(w) * mp.mpf("0.95")
    for _ in range(60):
        c = mp.erfc(y)
        step = (mp.log(c) - target) * c / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
        y += step
        if abs(step) < mp.mpf(10)**-36:
            break
    return y / x


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def stirling(z):
    with mp.workdps(60):
        return (mp.loggamma(z) - (z - mp.mpf(1) / 2) * mp.log(z) + z - mp.log(2 * mp.pi) / 2) * z


main()
