# SPDX-License-Identifier: Apache-2.0
"""Runs the tables of operations that follow NumPy; JAX in f64 gives values and gradients."""

import jax
import jax.numpy as jnp
import numpy as np

from . import draw, jax_indexing, jax_linear, jax_reductions, jax_scalar, jax_shapes
from .container import Case

jax.config.update("jax_enable_x64", True)

TABLES = (jax_scalar, jax_reductions, jax_shapes, jax_indexing, jax_linear)


def wide(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def run(name, function, draws, params, differentiable, dtype, rng):
    inputs = [d(rng, dtype) for d in draws]
    values = [jnp.asarray(wide(a)) for a in inputs]
    active = [i for i, a in enumerate(inputs) if a.dtype.kind == "f"] if differentiable else []

    def apply(*floats):
        args = list(values)
        for i, f in zip(active, floats):
            args[i] = f
        out = function(*args, **params)
        return list(out) if isinstance(out, (list, tuple)) else [out]

    def narrow(array):
        array = np.asarray(array)
        if array.dtype.kind == "f":
            with np.errstate(over="ignore", under="ignore"):
                return array.astype(draw.FLOAT[dtype])
        return array

    if not active:
        return Case(name, "jax", dtype, params, inputs, [narrow(o) for o in apply()], [], {})
    outputs, pullback = jax.vjp(apply, *[values[i] for i in active])
    cotangents, own = [], []
    for o in outputs:
        if o.dtype == np.float64:
            own.append(draw.cotangent(rng, o.shape))
            cotangents.append(jnp.asarray(own[-1]))
        else:
            cotangents.append(np.zeros(o.shape, jax.dtypes.float0))
    gradients = pullback(cotangents)
    return Case(
        name,
        "jax",
        dtype,
        params,
        inputs,
        [narrow(o) for o in outputs],
        [narrow(c) for c in own],
        {i: narrow(g) for i, g in zip(active, gradients)},
    )


def cases():
    for table in TABLES:
        for name, function, differentiable, samples in table.operations():
            for index, (draws, params) in enumerate(samples):
                no_gradient = params.get("values_only", False)
                params = {k: v for k, v in params.items() if k != "values_only"}
                for dtype in ("f64", "f32"):
                    rng = draw.generator("jax", name, index, dtype)
                    yield run(
                        name,
                        function,
                        draws,
                        params,
                        differentiable and not no_gradient,
                        dtype,
                        rng,
                    )
