# SPDX-License-Identifier: Apache-2.0
"""Fits erf(x) / x and tanh(x) / x by pieces, tabulates 2^(i/16), writes core/cpu/math/tables.h.

From the repository root:
  python3 tools/fit_tables.py | clang-format > core/cpu/math/tables.h
Made with Python 3.11, NumPy 2.4 and mpmath 1.3.0: Chebyshev's polynomial of each piece, the constant
rounded first and the rest fitted to what that leaves.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 40
PIECES = 32


def rounded(value):
    return mp.mpf(float(np.float32(float(value))))


def over_x(function, at_zero):
    return lambda x: function(x) / x if abs(x) > mp.mpf(10) ** -15 else at_zero


def piece(ratio, i, scale, degree):
    f = lambda t: ratio((i + t) / scale)
    first, half = rounded(f(mp.mpf(0))), mp.mpf(1) / 2
    rest = mp.chebyfit(lambda t: f(t) - first, [-half, half], degree + 1)[::-1]
    # What the rounded constant leaves is small beside it: the others are rounded as they come.
    rest[0] += first
    c = [rounded(v) for v in rest]
    error = max(
        abs(sum(v * t**k for k, v in enumerate(c)) / f(t) - 1)
        for t in (half * n / 200 for n in range(-200, 201))
    )
    return c, error


def literal(value):
    v = f"{np.float32(float(value))!s}"
    return (v if "." in v or "e" in v else v + ".0") + "f"


def table(name, values):
    print(f"alignas(64) inline constexpr float {name} = {{" + ",".join(values) + "};")


def pieces(name, function, at_zero, scale, degree):
    scale = mp.mpf(scale)
    fits = [piece(over_x(getattr(mp, function), at_zero), i, scale, degree) for i in range(PIECES)]
    error = mp.nstr(max(e for _, e in fits), 2)
    print(f"\n/// {function}(x) / x = sum over k of {name}[k][i] (s x - i)^k for s = {scale} and")
    print(f"/// |s x - i| <= 1/2; error {error}.")
    print(f"inline constexpr float {name}Scale = {literal(scale)};")
    rows = ["{" + ",".join(literal(c[k]) for c, _ in fits) + "}" for k in range(degree + 1)]
    table(f"{name}[{degree + 1}][{PIECES}]", rows)


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print("#pragma once")
    print("\n// Written by tools/fit_tables.py; do not edit.")
    print("namespace spruce::cpu::math {")
    pieces("kErfTable", "erf", 2 / mp.sqrt(mp.pi), 8, 4)
    pieces("kTanhTable", "tanh", mp.mpf(1), 3.4375, 5)
    powers = [mp.mpf(2) ** (mp.mpf(i) / 16) for i in range(16)]
    print("\n/// 2^(i/16), and what rounding took from it.")
    table("kPowerTable[2][16]",
          ["{" + ",".join(literal(p) for p in powers) + "}",
           "{" + ",".join(literal(p - rounded(p)) for p in powers) + "}"])
    coefficients = mp.chebyfit(
        lambda r: (mp.expm1(r) - r) / r**2 if abs(r) > mp.mpf(10) ** -12 else mp.mpf(1) / 2,
        [-mp.log(2) / 32, mp.log(2) / 32], 2)[::-1]
    print("\n/// (e^r - 1 - r) / r^2 = kPowerRest[0] + kPowerRest[1] r for |r| <= ln(2) / 32.")
    table("kPowerRest[2]", [literal(c) for c in coefficients])
    print("\n}  // namespace spruce::cpu::math")


main()
