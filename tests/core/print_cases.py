#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes print_cases.inc: arrays as C++ expressions and what NumPy prints for them.

    python3 tests/core/print_cases.py > tests/core/print_cases.inc      (made with NumPy 2.4.6)
"""
import numpy as np

f16, f32, f64, i32 = np.float16, np.float32, np.float64, np.int32
nan, inf = np.nan, np.inf


def literal(v, dtype):
    if dtype == bool:
        return "true" if v else "false"
    if np.isnan(v) or np.isinf(v):
        text = "NAN" if np.isnan(v) else "INFINITY" if v > 0 else "-INFINITY"
        return text if dtype == f32 else f"double{{{text}}}"
    if dtype == i32:
        return str(v)
    text = repr(float(v))
    return text + ("f" if dtype == f32 else "")


def row(expression, value):
    print(f'{{{expression}, R"({str(value)})"}},')


def listed(values, dtype=f32):
    array = np.array(values, dtype)
    if dtype == f16:
        texts = ", ".join(literal(f32(v), f32) for v in array)
        return row(f"astype(array({{{texts}}}), float16)", array)
    nested = [array] if array.ndim == 1 else array
    texts = ["{" + ", ".join(literal(v, dtype) for v in r) + "}" for r in nested]
    elements = texts[0] if array.ndim == 1 else "{" + ", ".join(texts) + "}"
    row(f"array({elements}{', float64' if dtype == np.float64 else ''})", array)


def alone(v, dtype=f32):
    wide = ", float64" if dtype == np.float64 else ""
    row(f"array({literal(v, dtype)}{wide})", np.array(v, dtype))


def counted(shape, dtype=i32, divisor=None):
    n = int(np.prod(shape))
    value, text = np.arange(n, dtype=dtype).reshape(shape), f"arange({n}{'.0f' if dtype == f32 else ''})"
    text = f"{text}.reshape({{{', '.join(map(str, shape))}}})"
    if divisor:
        value, text = value / dtype(divisor), f"{text} / {divisor}.0f"
    row(text, value)


print("// SPDX-License-Identifier: Apache-2.0")
print(f"// Made by print_cases.py with NumPy {np.__version__}.")
for floats in [
    [1, 2, 3], [[1, 2.5], [-3.25, 100]], [0.1, 0.2, 1 / 3], [1e-5, 1], [1e10, 1, -2.5], [1234567, 1],
    [999999, 1000], [0.0001, 0.01], [0.00005, 0.01], [nan, 1, inf], [nan, -inf], [nan, inf], [-inf, 0.5],
    [1e-7, nan, -inf], [0.0, -0.0], [3e38, 1e-38], [1e-45], [0.5, 1000.25, 16777216],
]:
    listed(floats)
for doubles in [
    [0.1, 0.2, 1 / 3], [12345678.0, 23456.0], [1e-300, 1.0], [1e100, -1e-100], [0.123456789123, 12.5],
    [123.456789123456, 999.5], [1.23456789123456e-7, 5.0], [0.999999999, 1.0], [nan, 2.0], [99999999.5, 1e6],
]:
    listed(doubles, f64)
listed([1, 20, -300], i32)
listed([True, False, True], bool)
listed([[True, False], [False, False]], bool)
listed([1.5, 0.1, -3], f16)
listed([2000, 0.1], f16)
for v in [1.5, 0.1, 1e8, 1.25e-5, 2, -inf, nan, 1e20, 0]:
    alone(v)
for v in [0.1, 1e16, 1e15, 1e-5, 123456789.125, 5e-324]:
    alone(v, f64)
alone(3, i32)
alone(True, bool)
row("zeros({0})", np.zeros(0))
row("zeros({2, 0})", np.zeros((2, 0)))
row("zeros({1, 1, 1})", np.zeros((1, 1, 1)))
row("full({3, 30}, true)", np.full((3, 30), True))
counted((2, 3, 4), f32)
counted((2, 2, 2, 2))
counted((100,))
counted((1000,))
counted((1001,))
counted((40, 50), f32)
counted((2, 1000))
counted((10, 10, 12))
counted((7, 25))
counted((2, 10, 54), f32, 7)
counted((2, 20), f32, 3)
