# SPDX-License-Identifier: Apache-2.0
"""Indexing, updates at indices, sorting and searching."""

import jax.numpy as jnp
from jax import lax

from .draw import booleans, distinct, floats, integers, ints, normal, spread, uniform


def parse(spec):
    """`1:3,...,-1,newaxis` -> an index of NumPy's."""
    items = []
    for item in spec.split(","):
        if item == "...":
            items.append(Ellipsis)
        elif item == "newaxis":
            items.append(None)
        elif ":" in item:
            items.append(slice(*[int(p) if p else None for p in item.split(":")]))
        else:
            items.append(int(item))
    return tuple(items)


def update(method):
    def apply(x, *rest, spec=None):
        index = parse(spec) if spec is not None else rest[0]
        options = {"unique_indices": True} if method == "multiply" else {}
        return getattr(x.at[index], method)(rest[-1], **options)

    return apply


def put_along_axis(x, indices, values, axis):
    return jnp.put_along_axis(x, indices, values, axis, inplace=False)


def operations():
    n = normal
    yield "index", lambda x, spec: x[parse(spec)], True, [
        ((n(*s),), {"spec": p})
        for s, p in (
            ((5,), "2"),
            ((5,), "-1"),
            ((5,), "1:4"),
            ((5,), "::-1"),
            ((6,), "1::2"),
            ((6,), "-2:0:-2"),
            ((3, 4), "1"),
            ((3, 4), "1,2"),
            ((3, 4), ":,1"),
            ((3, 4), "...,0"),
            ((3, 4), "1:,:-1"),
            ((3, 4), ":,newaxis,::2"),
            ((2, 3, 4), "0,...,-1"),
            ((2, 3, 4), "...,1:3,0"),
            ((2, 3, 4), ":,1,:"),
            ((4,), "4:"),
            ((3, 2), "newaxis"),
        )
    ]
    yield "index_array", lambda x, i: x[i], True, [
        ((n(5), integers(-5, 5, 4)), {}),
        ((n(5, 2), integers(0, 5, 2, 3)), {}),
        ((n(4), ints([])), {}),
        ((n(4, 3), ints([1, 1, 1])), {}),
    ]
    yield "index_arrays", lambda x, i, j: x[i, j], True, [
        ((n(3, 4), integers(0, 3, 5), integers(-4, 4, 5)), {}),
        ((n(3, 4), integers(0, 3, 2, 1), integers(0, 4, 3)), {}),
    ]
    yield "index_mask", lambda x, m: x[m], False, [
        ((n(5), ints([True, False, True, True, False], bool)), {}),
        ((n(3, 2), ints([False, True, True], bool)), {}),
    ]
    for method in ("set", "add", "multiply", "min", "max"):
        smooth = method in ("set", "add", "multiply")
        yield "at_" + method, update(method), smooth, [
            ((n(6), distinct(6, 3), n(3)), {}),
            ((n(4, 3), distinct(4, 2), n(2, 3)), {}),
            ((n(4, 3), distinct(4, 2), n()), {}),
        ]
        yield "at_slice_" + method, update(method), smooth, [
            ((n(6), n(3)), {"spec": "1:4"}),
            ((n(3, 4), n(3)), {"spec": ":,1"}),
            ((n(3, 4), n(2, 2)), {"spec": "1:,::2"}),
            ((n(5), n()), {"spec": "-1"}),
        ]
    yield "at_add", update("add"), True, [
        ((n(4), ints([1, 1, 2, 1]), n(4)), {}),
        ((n(3, 2), ints([0, -1, 2]), n(3, 2)), {}),
    ]
    yield "take", lambda x, i, axis: jnp.take(x, i, axis), True, [
        ((n(5), integers(0, 5, 4)), {"axis": 0}),
        ((n(3, 4), integers(0, 4, 2)), {"axis": 1}),
        ((n(3, 4), integers(0, 3, 2, 2)), {"axis": 0}),
        ((n(3, 4), integers(0, 4)), {"axis": -1}),
        ((n(3, 4), ints([-1, 0, 2])), {"axis": 0}),
        ((n(3), ints([])), {"axis": 0}),
    ]
    yield "take_along_axis", lambda x, i, axis: jnp.take_along_axis(x, i, axis), True, [
        ((n(5), integers(0, 5, 3)), {"axis": 0}),
        ((n(3, 4), integers(0, 4, 3, 2)), {"axis": 1}),
        ((n(3, 4), integers(0, 3, 1, 4)), {"axis": 0}),
        ((n(2, 3, 2), integers(0, 3, 2, 2, 2)), {"axis": 1}),
        ((n(3, 4), integers(0, 4, 3, 1)), {"axis": -1}),
    ]
    yield "put_along_axis", put_along_axis, True, [
        ((n(5), distinct(5, 3), n(3)), {"axis": 0}),
        ((n(3, 4), ints([[0], [3], [1]]), n(3, 1)), {"axis": 1}),
    ]
    axes = [
        ((6,), {"axis": 0}),
        ((3, 4), {"axis": 0}),
        ((3, 4), {"axis": -1}),
        ((2, 3, 2), {"axis": 1}),
    ]
    yield "sort", lambda x, axis: jnp.sort(x, axis), True, [((spread(*s),), p) for s, p in axes] + [
        ((integers(-9, 9, 8),), {"axis": 0})
    ]
    yield "argsort", lambda x, axis: jnp.argsort(x, axis), False, [
        ((spread(*s),), p) for s, p in axes
    ] + [((ints([3, 1, 3, 1, 2, 3]),), {"axis": 0})]
    yield "top_k", lambda x, k: lax.top_k(x, k), True, [
        ((spread(6),), {"k": 2}),
        ((spread(3, 5),), {"k": 3}),
        ((spread(2, 2, 4),), {"k": 1}),
        ((spread(4),), {"k": 4}),
    ]
    for side in ("left", "right"):
        yield "searchsorted", lambda a, v, side: jnp.searchsorted(a, v, side=side), False, [
            ((floats([-1.0, 0.0, 0.0, 0.5, 2.0]), uniform(-2, 3, 6)), {"side": side}),
            ((floats([-1.0, 0.0, 0.0, 0.5, 2.0]), floats([0.0, 2.0, -1.0, 3.0])), {"side": side}),
            ((ints([1, 3, 3, 7]), ints([[0, 1, 3], [7, 8, 2]])), {"side": side}),
        ]
