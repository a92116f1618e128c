# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations: name -> function, ranges of the arguments."""

import jax
import jax.numpy as jnp
from jax import lax

from .draw import booleans, floats, integers, normal, spread, uniform

INF, NAN = float("inf"), float("nan")
SPECIAL = floats([NAN, INF, -INF, 0.0, 1.0, -1.0, 0.5, -2.5])

# name -> function, ranges; the first is drawn in several shapes, the others in one.
UNARY = {
    "abs": (jnp.abs, (-3, 3)),
    "neg": (jnp.negative, (-3, 3)),
    "exp": (jnp.exp, (-3, 3), (-85, 85), (-1e-4, 1e-4)),
    "exp2": (jnp.exp2, (-3, 3), (-120, 120)),
    "expm1": (jnp.expm1, (-3, 3), (-80, 80), (-1e-5, 1e-5)),
    "log": (jnp.log, (0.1, 4), (0.9, 1.1), (1e-30, 1e30)),
    "log2": (jnp.log2, (0.1, 4), (0.9, 1.1), (1e-10, 1e20)),
    "log10": (jnp.log10, (0.1, 4), (0.9, 1.1), (1e-10, 1e20)),
    "log1p": (jnp.log1p, (-0.9, 4), (-1e-5, 1e-5), (0, 1e20)),
    "sqrt": (jnp.sqrt, (0.1, 4), (1e-20, 1e20)),
    "rsqrt": (lax.rsqrt, (0.1, 4), (1e-3, 1e10)),
    "cbrt": (jnp.cbrt, (0.1, 4), (-8, -0.2), (1, 1e20)),
    "square": (jnp.square, (-3, 3), (-1e10, 1e10)),
    "reciprocal": (jnp.reciprocal, (0.2, 3), (-1e10, -1)),
    "sin": (jnp.sin, (-4, 4), (-1000, 1000), (-1e5, 1e5)),
    "cos": (jnp.cos, (-4, 4), (-1000, 1000), (-1e5, 1e5)),
    "tan": (jnp.tan, (-1.4, 1.4), (1.8, 4.5), (-1e-3, 1e-3)),
    "asin": (jnp.arcsin, (-0.95, 0.95), (-1e-3, 1e-3)),
    "acos": (jnp.arccos, (-0.95, 0.95)),
    "atan": (jnp.arctan, (-3, 3), (-1e4, 1e4)),
    "sinh": (jnp.sinh, (-3, 3), (-80, 80), (-1e-4, 1e-4)),
    "cosh": (jnp.cosh, (-3, 3), (-80, 80)),
    "tanh": (jnp.tanh, (-3, 3), (-30, 30), (-1e-4, 1e-4)),
    "asinh": (jnp.arcsinh, (-3, 3), (-1e6, 1e6), (-1e-4, 1e-4)),
    "acosh": (jnp.arccosh, (1.1, 4), (10, 1e6)),
    "atanh": (jnp.arctanh, (-0.95, 0.95), (-1e-4, 1e-4)),
    "erf": (lax.erf, (-3, 3), (-8, 8), (-1e-4, 1e-4)),
    "erfc": (lax.erfc, (-3, 3), (3, 8)),
    "erf_inv": (lax.erf_inv, (-0.95, 0.95), (0.99, 0.9999), (-1e-4, 1e-4)),
    "lgamma": (lax.lgamma, (0.2, 6), (10, 1e4), (-3.9, -3.1)),
    "digamma": (lax.digamma, (0.2, 6), (10, 1e4)),
    "sinc": (jnp.sinc, (0.1, 4)),
    "deg2rad": (jnp.deg2rad, (-180, 180)),
    "rad2deg": (jnp.rad2deg, (-4, 4)),
    "sigmoid": (jax.nn.sigmoid, (-3, 3), (-60, 60)),
}
STEPS = {
    "sign": jnp.sign,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "round": jnp.round,
    "trunc": jnp.trunc,
}
PREDICATES = {
    "isnan": jnp.isnan,
    "isinf": jnp.isinf,
    "isfinite": jnp.isfinite,
    "isposinf": jnp.isposinf,
    "isneginf": jnp.isneginf,
    "signbit": jnp.signbit,
}
WITH_SPECIAL = (
    "abs neg exp exp2 expm1 sqrt square sin cos atan sinh cosh tanh asinh erf erfc log log1p "
    "sigmoid sign floor ceil trunc"
).split()

# name -> function, range of the first and of the second argument
BINARY = {
    "add": (jnp.add, (-3, 3), (-3, 3)),
    "subtract": (jnp.subtract, (-3, 3), (-3, 3)),
    "multiply": (jnp.multiply, (-3, 3), (-3, 3)),
    "divide": (jnp.divide, (-3, 3), (0.3, 3)),
    "power": (jnp.power, (0.2, 3), (-3, 3)),
    "maximum": (jnp.maximum, (-3, 3), (-3, 3)),
    "minimum": (jnp.minimum, (-3, 3), (-3, 3)),
    "atan2": (jnp.arctan2, (-3, 3), (-3, 3)),
    "hypot": (jnp.hypot, (0.2, 3), (-3, -0.2)),
    "logaddexp": (jnp.logaddexp, (-5, 5), (-5, 5)),
    "logaddexp2": (jnp.logaddexp2, (-5, 5), (-5, 5)),
    "fmax": (jnp.fmax, (-3, 3), (-3, 3)),
    "fmin": (jnp.fmin, (-3, 3), (-3, 3)),
    "float_power": (jnp.float_power, (0.2, 3), (-3, 3)),
    "copysign": (jnp.copysign, (0.1, 3), (-3, 3)),
    "remainder": (jnp.remainder, (-9, 9), (0.7, 3)),
    "fmod": (jnp.fmod, (-9, 9), (-3, -0.7)),
}
INTEGER_BINARY = {
    "add": jnp.add,
    "subtract": jnp.subtract,
    "multiply": jnp.multiply,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "bitwise_and": jnp.bitwise_and,
    "bitwise_or": jnp.bitwise_or,
    "bitwise_xor": jnp.bitwise_xor,
}
COMPARE = {
    "equal": jnp.equal,
    "not_equal": jnp.not_equal,
    "less": jnp.less,
    "less_equal": jnp.less_equal,
    "greater": jnp.greater,
    "greater_equal": jnp.greater_equal,
}
LOGIC = {
    "logical_and": jnp.logical_and,
    "logical_or": jnp.logical_or,
    "logical_xor": jnp.logical_xor,
}
SHAPES = [((4,), (4,)), ((3, 4), (4,)), ((2, 1), (1, 3)), ((), (5,)), ((2, 0), (1,))]


def operations():
    for name, (function, first, *others) in UNARY.items():
        samples = [((uniform(*first, *shape),), {}) for shape in ((), (7,), (3, 4), (2, 0))]
        samples += [((uniform(*r, 8),), {}) for r in others]
        if name in WITH_SPECIAL:
            samples.append(((SPECIAL,), {"values_only": True}))
        yield name, function, True, samples
    for name, function in STEPS.items():
        samples = [((uniform(-4, 4, *shape),), {}) for shape in ((), (9,), (2, 0))]
        samples.append(
            ((floats([0.5, 1.5, 2.5, -0.5, -1.5, 0.0, 3.0, -4.0]),), {"values_only": True})
        )
        yield name, function, True, samples
    for name, function in PREDICATES.items():
        yield name, function, False, [((SPECIAL,), {}), ((normal(2, 3),), {}), ((normal(0),), {})]
    yield "logical_not", jnp.logical_not, False, [
        ((booleans(5),), {}),
        ((floats([0.0, 1.0, -2.0]),), {}),
    ]
    yield "bitwise_not", jnp.bitwise_not, False, [
        ((integers(-99, 99, 6),), {}),
        ((booleans(4),), {}),
    ]
    for name, (function, a, b) in BINARY.items():
        samples = [((uniform(*a, *s), uniform(*b, *t)), {}) for s, t in SHAPES]
        if name in ("maximum", "minimum"):
            samples.append(((floats([1.0, 2.0, 3.0]), floats([1.0, 5.0, 3.0])), {}))
            samples.append(((SPECIAL, floats([0.0] * 8)), {"values_only": True}))
        if name in INTEGER_BINARY:
            samples.append(((integers(-50, 50, 2, 3), integers(-50, 50, 3)), {}))
        yield name, function, True, samples
    yield "power", jnp.power, True, [
        ((floats([-2.0, 3.0, 0.5]), floats([3.0, 2.0, 0.0])), {"values_only": True})
    ]
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        function = INTEGER_BINARY[name]
        yield name, function, False, [
            ((integers(-99, 99, 6), integers(-99, 99, 6)), {}),
            ((booleans(2, 3), booleans(3)), {}),
        ]
    yield "floor_divide", jnp.floor_divide, False, [
        ((uniform(-9, 9, 7), uniform(0.7, 3, 7)), {}),
        ((integers(-50, 50, 8), integers(1, 9, 8)), {}),
        ((integers(-50, 50, 8), integers(-9, 0, 8)), {}),
    ]
    yield "remainder", jnp.remainder, False, [
        ((integers(-50, 50, 8), integers(1, 9, 8)), {}),
        ((integers(-50, 50, 8), integers(-9, 0, 8)), {}),
    ]
    whole = [((integers(-50, 50, 8), integers(1, 40, 8)), {})]
    yield "gcd", jnp.gcd, False, whole
    yield "lcm", jnp.lcm, False, whole
    yield "left_shift", jnp.left_shift, False, [((integers(-50, 50, 8), integers(0, 9, 8)), {})]
    yield "right_shift", jnp.right_shift, False, [((integers(-999, 999, 8), integers(0, 9, 8)), {})]
    yield "population_count", lax.population_count, False, [((integers(-999, 999, 8),), {})]
    yield "polygamma", lambda x, n: jax.scipy.special.polygamma(n, x), True, [
        ((uniform(0.3, 5, 6),), {"n": n}) for n in (1, 2, 3)
    ]
    yield "nan_to_num", lambda x: jnp.nan_to_num(x, nan=0.5, posinf=9.0, neginf=-9.0), False, [
        ((SPECIAL,), {})
    ]
    for name, function in COMPARE.items():
        yield name, function, False, [
            ((floats([1.0, 2.0, 3.0, NAN]), floats([1.0, 3.0, 2.0, NAN])), {}),
            ((normal(3, 1), normal(4)), {}),
            ((integers(0, 3, 6), integers(0, 3, 6)), {}),
        ]
    for name, function in LOGIC.items():
        yield name, function, False, [
            ((booleans(6), booleans(6)), {}),
            ((booleans(2, 1), booleans(3)), {}),
        ]
    yield "where", jnp.where, True, [
        ((booleans(5), normal(5), normal(5)), {}),
        ((booleans(3, 1), normal(4), normal()), {}),
        ((booleans(2, 3), normal(2, 3), normal(1, 3)), {}),
        ((booleans(0), normal(0), normal(0)), {}),
    ]
    yield "clip", lambda x, low, high: jnp.clip(x, low, high), True, [
        ((spread(9),), {"low": -0.6, "high": 0.6}),
        ((spread(2, 4),), {"low": -0.3, "high": 2.0}),
        ((uniform(-3, 3),), {"low": -1.0, "high": 1.0}),
    ]
