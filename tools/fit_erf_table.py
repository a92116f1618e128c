# SPDX-License-Identifier: Apache-2.0
"""Fits erf(x) / x by pieces and writes core/math/erf_table.h.

From the repository root:
  python3 tools/fit_erf_table.py | clang-format > core/math/erf_table.h
Made with Python 3.11 and mpmath 1.3.0: Chebyshev's polynomial of each piece, the constant rounded
first and the rest fitted to what that leaves.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 40
PIECES, DEGREE = 32, 4


def ratio(x):
    return mp.erf(x) / x if abs(x) > mp.mpf(10) ** -15 else 2 / mp.sqrt(mp.pi)


def piece(i):
    center, half = mp.mpf(i) / 8, mp.mpf(1) / 16
    f = lambda t: ratio(center + t)
    first = mp.mpf(float(np.float32(float(f(mp.mpf(0))))))
    rest = mp.chebyfit(lambda t: f(t) - first, [-half, half], DEGREE + 1)[::-1]
    # What the rounded constant leaves is small beside it: the others are rounded as they come.
    rest[0] += first
    c = [mp.mpf(float(np.float32(float(v)))) for v in rest]
    error = max(
        abs(sum(v * t**k for k, v in enumerate(c)) / f(t) - 1)
        for t in (half * n / 200 for n in range(-200, 201))
    )
    return c, error


def main():
    pieces = [piece(i) for i in range(PIECES)]
    print("// SPDX-License-Identifier: Apache-2.0")
    print("#pragma once")
    print("\n// Written by tools/fit_erf_table.py; do not edit.")
    print("namespace spruce::math {")
    print("\n/// erf(x) / x = sum over k of kErfTable[k][i] (x - i/8)^k for |x - i/8| <= 1/16; error"
          f" {mp.nstr(max(e for _, e in pieces), 2)}.")
    print(f"alignas(64) inline constexpr float kErfTable[{DEGREE + 1}][{PIECES}] = {{")
    for k in range(DEGREE + 1):
        values = [f"{np.float32(float(c[k]))!s}" for c, _ in pieces]
        print("{" + ",".join((v if "." in v or "e" in v else v + ".0") + "f" for v in values) + "},")
    print("};")
    print("\n}  // namespace spruce::math")


main()
