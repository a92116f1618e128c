# SPDX-License-Identifier: Apache-2.0
"""Reductions, searches and running reductions."""

import jax
import jax.numpy as jnp
from jax import lax

from .draw import booleans, floats, integers, normal, spread, uniform

NAN = float("nan")
AXES = [
    ((), {}),
    ((6,), {}),
    ((3, 4), {}),
    ((3, 4), {"axis": 0}),
    ((3, 4), {"axis": -1, "keepdims": True}),
    ((2, 3, 4), {"axis": [0, 2]}),
    ((2, 3, 4), {"axis": [-1, 0], "keepdims": True}),
    ((2, 3, 2), {"keepdims": True}),
]
ONE_AXIS = [
    ((6,), {"axis": 0}),
    ((3, 4), {"axis": 0}),
    ((3, 4), {"axis": -1}),
    ((2, 3, 4), {"axis": 1}),
]


def axes(function, **fixed):
    def apply(x, axis=None, **params):
        return function(x, axis=tuple(axis) if isinstance(axis, list) else axis, **fixed, **params)

    return apply


def at(function):
    return lambda x, axis: function(x, axis % x.ndim)


def norm(x, axis=None, keepdims=False):
    return jnp.sqrt(jnp.sum(x * x, axis=axis, keepdims=keepdims))


def operations():
    empty = [((0,), {}), ((2, 0), {"axis": 1}), ((0, 3), {"axis": 1})]
    yield "sum", axes(jnp.sum), True, [((normal(*s),), p) for s, p in AXES + empty] + [
        ((integers(-9, 9, 3, 4),), {"axis": 1})
    ]
    yield "mean", axes(jnp.mean), True, [((normal(*s),), p) for s, p in AXES] + [
        ((uniform(100, 101, 40),), {})
    ]
    for name, function in (("var", jnp.var), ("std", jnp.std)):
        samples = [((normal(*s),), dict(p, ddof=d)) for s, p in AXES[1:] for d in (0, 1)]
        yield name, axes(function), True, samples
    yield "prod", axes(jnp.prod), True, [((normal(*s),), p) for s, p in AXES] + [
        ((floats([2.0, 0.0, 3.0, -1.5]),), {}),
        ((floats([2.0, 0.0, 3.0, 0.0]),), {}),
        ((floats([1.0, 0.0, 2.0, 3.0, 0.5, 4.0], 2, 3),), {"axis": 1}),
    ]
    for name, function in (("min", jnp.min), ("max", jnp.max)):
        samples = [((spread(*s),), p) for s, p in AXES]
        samples.append(((floats([1.0, 3.0, 3.0, 1.0, 2.0]),), {}))
        samples.append(((floats([1.0, 1.0, 0.0, 2.0, 2.0, 2.0], 2, 3),), {"axis": 1}))
        samples.append(((integers(-50, 50, 3, 4),), {"axis": 0}))
        samples.append(((floats([1.0, float("nan"), 2.0]),), {"values_only": True}))
        yield name, axes(function), True, samples
    for name, function in (("any", jnp.any), ("all", jnp.all)):
        yield name, axes(function), False, [((booleans(*s),), p) for s, p in AXES + empty]
    for name, function in (("argmin", jnp.argmin), ("argmax", jnp.argmax)):
        samples = [((spread(*s),), p) for s, p in [((6,), {}), ((3, 4), {})] + ONE_AXIS]
        samples.append(((floats([1.0, 3.0, 3.0, 1.0]),), {}))
        samples.append(((spread(3, 4),), {"axis": 1, "keepdims": True}))
        yield name, function, False, samples
    yield "logsumexp", axes(jax.scipy.special.logsumexp), True, [
        ((normal(*s),), p) for s, p in AXES
    ] + [
        ((floats([1000.0, 1001.0, -1000.0]),), {}),
        ((uniform(-80, 80, 3, 4),), {"axis": 1}),
        ((floats([-float("inf"), -float("inf")]),), {"values_only": True}),
    ]
    holes = floats([1.0, NAN, -2.0, 0.5, NAN, 3.0], 2, 3)
    for name, function in (
        ("nansum", jnp.nansum),
        ("nanmean", jnp.nanmean),
        ("nanmax", jnp.nanmax),
        ("nanmin", jnp.nanmin),
    ):
        yield name, axes(function), True, [
            ((holes,), {}),
            ((holes,), {"axis": 1}),
            ((spread(2, 3),), {"axis": 0}),
        ]
    yield "ptp", axes(jnp.ptp), True, [((spread(*s),), p) for s, p in AXES[1:5]]
    yield "count_nonzero", axes(jnp.count_nonzero), False, [
        ((integers(0, 2, *s),), p) for s, p in AXES
    ]
    yield "average", lambda x, w, axis: jnp.average(x, axis, w), True, [
        ((normal(3, 4), uniform(0.5, 2, 3, 4)), {"axis": 1}),
        ((normal(3, 4), uniform(0.5, 2, 3, 4)), {"axis": 0}),
    ]
    yield "norm_of_order", lambda x, order, axis: jnp.linalg.norm(x, order, axis), True, [
        ((spread(3, 4),), {"order": o, "axis": 1}) for o in (1.0, 3.0, float("inf"), float("-inf"))
    ]
    yield "norm", axes(norm), True, [((normal(*s),), p) for s, p in AXES[1:]]
    yield "diff", lambda x, times, axis: jnp.diff(x, times, axis), True, [
        ((normal(6),), {"times": 1, "axis": 0}),
        ((normal(3, 4),), {"times": 2, "axis": 1}),
    ]
    yield "cumsum_reverse", lambda x, axis: lax.cumsum(x, axis, reverse=True), True, [
        ((normal(3, 4),), {"axis": 0}),
        ((normal(3, 4),), {"axis": 1}),
    ]
    yield "cumsum", at(jnp.cumsum), True, [((normal(*s),), p) for s, p in ONE_AXIS] + [
        ((integers(-9, 9, 7),), {"axis": 0})
    ]
    yield "cumprod", at(jnp.cumprod), True, [((normal(*s),), p) for s, p in ONE_AXIS] + [
        ((floats([2.0, 0.0, 3.0, 4.0]),), {"axis": 0})
    ]
    yield "cummax", at(lax.cummax), True, [((spread(*s),), p) for s, p in ONE_AXIS]
    yield "cummin", at(lax.cummin), True, [((spread(*s),), p) for s, p in ONE_AXIS]
    yield "cumlogsumexp", at(lax.cumlogsumexp), True, [((normal(*s),), p) for s, p in ONE_AXIS] + [
        ((uniform(-80, 80, 6),), {"axis": 0})
    ]
