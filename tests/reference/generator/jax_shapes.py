# SPDX-License-Identifier: Apache-2.0
"""Shape work: nothing is computed, everything is moved; and what is made from nothing."""

import jax
import jax.numpy as jnp

from .draw import booleans, floats, integers, normal, uniform

AS = {"i32": jnp.int32, "i64": jnp.int64, "bool": bool, "float": jnp.float64}


def pad(x, widths, mode, value=0.0):
    pairs = [(widths[2 * i], widths[2 * i + 1]) for i in range(x.ndim)]
    return (
        jnp.pad(x, pairs, mode, constant_values=value)
        if mode == "constant"
        else jnp.pad(x, pairs, mode)
    )


def joined(function):
    return lambda *arrays, axis: function(arrays, axis)


def many(*arrays):
    return tuple(arrays)


def operations():
    n = normal
    yield "reshape", lambda x, shape: x.reshape(shape), True, [
        ((n(2, 6),), {"shape": [3, 4]}),
        ((n(2, 6),), {"shape": [-1]}),
        ((n(),), {"shape": [1, 1]}),
        ((n(2, 3, 2),), {"shape": [3, -1]}),
        ((n(0, 3),), {"shape": [3, 0]}),
    ]
    yield "transpose", lambda x, axes=None: jnp.transpose(x, axes), True, [
        ((n(3, 4),), {}),
        ((n(2, 3, 4),), {}),
        ((n(2, 3, 4),), {"axes": [1, 2, 0]}),
        ((n(2, 3, 4),), {"axes": [-1, 0, 1]}),
        ((n(2, 0, 3),), {"axes": [2, 0, 1]}),
        ((n(5),), {}),
    ]
    yield "swapaxes", lambda x, first, second: jnp.swapaxes(x, first, second), True, [
        ((n(2, 3, 4),), {"first": 0, "second": -1}),
        ((n(2, 3),), {"first": 1, "second": 0}),
    ]
    yield "moveaxis", lambda x, source, destination: jnp.moveaxis(x, source, destination), True, [
        ((n(2, 3, 4),), {"source": 0, "destination": 2}),
        ((n(2, 3, 4),), {"source": -1, "destination": 0}),
        ((n(2, 3),), {"source": 1, "destination": -1}),
    ]
    yield "expand_dims", lambda x, axis: jnp.expand_dims(x, axis), True, [
        ((n(2, 3),), {"axis": 0}),
        ((n(2, 3),), {"axis": -1}),
        ((n(),), {"axis": 0}),
    ]
    yield "squeeze", lambda x, axis=None: jnp.squeeze(x, axis), True, [
        ((n(1, 3, 1),), {}),
        ((n(1, 3, 1),), {"axis": 0}),
        ((n(1, 3, 1),), {"axis": -1}),
    ]
    yield "broadcast_to", lambda x, shape: jnp.broadcast_to(x, tuple(shape)), True, [
        ((n(3),), {"shape": [2, 3]}),
        ((n(2, 1),), {"shape": [2, 4]}),
        ((n(),), {"shape": [2, 2]}),
        ((n(1, 3),), {"shape": [2, 0, 3]}),
    ]
    yield "stack", joined(jnp.stack), True, [
        ((n(3), n(3)), {"axis": 0}),
        ((n(2, 3), n(2, 3), n(2, 3)), {"axis": -1}),
        ((n(), n()), {"axis": 0}),
        ((n(2, 3), n(2, 3)), {"axis": 1}),
    ]
    yield "concatenate", joined(jnp.concatenate), True, [
        ((n(3), n(2)), {"axis": 0}),
        ((n(2, 3), n(2, 1), n(2, 2)), {"axis": 1}),
        ((n(2, 3), n(0, 3)), {"axis": 0}),
        ((n(2, 3), n(2, 3)), {"axis": -1}),
        ((integers(0, 9, 3), integers(0, 9, 4)), {"axis": 0}),
    ]
    yield "split", lambda x, parts, axis: many(*jnp.split(x, parts, axis)), True, [
        ((n(6),), {"parts": 3, "axis": 0}),
        ((n(2, 6),), {"parts": 2, "axis": 1}),
        ((n(4, 3),), {"parts": 4, "axis": 0}),
    ]
    yield "split_at", lambda x, at, axis: many(*jnp.split(x, at, axis)), True, [
        ((n(6),), {"at": [1, 4], "axis": 0}),
        ((n(2, 5),), {"at": [2], "axis": -1}),
    ]
    yield "tile", lambda x, times: jnp.tile(x, times), True, [
        ((n(3),), {"times": [2]}),
        ((n(2, 3),), {"times": [2, 2]}),
        ((n(3),), {"times": [2, 3]}),
        ((n(2, 3),), {"times": [2]}),
    ]
    yield "repeat", lambda x, times, axis: jnp.repeat(x, times, axis), True, [
        ((n(3),), {"times": 2, "axis": 0}),
        ((n(2, 3),), {"times": 3, "axis": 1}),
        ((n(2, 3),), {"times": 2, "axis": -2}),
    ]
    yield "flip", lambda x, axis=None: jnp.flip(x, axis), True, [
        ((n(5),), {}),
        ((n(2, 3),), {"axis": 0}),
        ((n(2, 3),), {"axis": -1}),
        ((n(2, 3),), {}),
    ]
    yield "rot90", lambda x, turns: jnp.rot90(x, turns), True, [
        ((n(2, 3),), {"turns": t}) for t in (1, 2, -1)
    ]
    yield "roll", lambda x, shift, axis=None: jnp.roll(x, shift, axis), True, [
        ((n(5),), {"shift": 2, "axis": 0}),
        ((n(2, 4),), {"shift": -1, "axis": 1}),
        ((n(3, 2),), {"shift": 7, "axis": 0}),
        ((n(2, 3),), {"shift": 2}),
    ]
    yield "pad", pad, True, [
        ((n(4),), {"widths": [2, 1], "mode": m})
        for m in ("constant", "edge", "reflect", "symmetric", "wrap")
    ] + [
        ((n(3, 3),), {"widths": [1, 0, 2, 1], "mode": m})
        for m in ("constant", "edge", "reflect", "symmetric", "wrap")
    ] + [
        ((n(2, 3),), {"widths": [0, 1, 1, 0], "mode": "constant", "value": 1.5})
    ]
    yield "tril", lambda x, k=0: jnp.tril(x, k), True, [
        ((n(3, 3),), {}),
        ((n(3, 4),), {"k": 1}),
        ((n(2, 3, 3),), {"k": -1}),
    ]
    yield "triu", lambda x, k=0: jnp.triu(x, k), True, [
        ((n(3, 3),), {}),
        ((n(3, 4),), {"k": 1}),
        ((n(2, 3, 3),), {"k": -1}),
    ]
    yield "diag", lambda x, k=0: jnp.diag(x, k), True, [
        ((n(3),), {}),
        ((n(3),), {"k": 1}),
        ((n(3),), {"k": -2}),
        ((n(3, 3),), {}),
        ((n(3, 4),), {"k": 1}),
        ((n(4, 3),), {"k": -1}),
    ]
    yield "trace", jnp.trace, True, [((n(3, 3),), {}), ((n(2, 4),), {})]
    yield "astype", lambda x, to: x.astype(AS[to]), False, [
        ((uniform(-9, 9, 6),), {"to": "i32"}),
        ((floats([0.0, 1.0, -0.5]),), {"to": "bool"}),
        ((integers(-9, 9, 5),), {"to": "i64"}),
        ((integers(-9, 9, 5),), {"to": "float"}),
        ((booleans(4),), {"to": "float"}),
        ((booleans(4),), {"to": "i32"}),
    ]
    yield "one_hot", lambda x, classes: jax.nn.one_hot(x, classes, dtype=jnp.float64), False, [
        ((integers(0, 4, 5),), {"classes": 4}),
        ((integers(0, 3, 2, 2),), {"classes": 3}),
        ((integers(-1, 4, 6),), {"classes": 3}),
    ]
    yield "arange", lambda start, stop, step: jnp.arange(
        start, stop, step, dtype=jnp.float64
    ), False, [
        ((), {"start": 0.0, "stop": 5.0, "step": 1.0}),
        ((), {"start": 1.0, "stop": -1.0, "step": -0.5}),
    ]
    yield "linspace", lambda start, stop, count: jnp.linspace(start, stop, count), False, [
        ((), {"start": 0.0, "stop": 1.0, "count": 7}),
        ((), {"start": 2.0, "stop": -3.0, "count": 4}),
        ((), {"start": 1.0, "stop": 2.0, "count": 1}),
    ]
    yield "eye", lambda rows, columns, k: jnp.eye(rows, columns, k), False, [
        ((), {"rows": 3, "columns": 3, "k": 0}),
        ((), {"rows": 2, "columns": 4, "k": 1}),
        ((), {"rows": 4, "columns": 2, "k": -1}),
    ]
