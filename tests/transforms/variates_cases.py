# SPDX-License-Identifier: Apache-2.0
"""Writes variates_cases.inc: variates of JAX and the derivatives of those that have one.

    python tests/transforms/variates_cases.py > tests/transforms/variates_cases.inc     (jax 0.10.2, CPU)

One line a case: distribution, dtype, seed, parameters (one list each, split by ';'), variates,
derivatives of their sum by the first parameter.
"""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_threefry_partitionable", True)
R = jax.random


def text(x):
    return ",".join("%.17g" % v for v in np.asarray(x, np.float64).reshape(-1))


def emit(name, dtype, seed, parameters, draw, differentiable=True):
    parameters = [jnp.asarray(p, dtype) for p in parameters]
    x = draw(R.key(seed), *parameters)
    slope = ""
    if differentiable:
        slope = text(jax.grad(lambda p: draw(R.key(seed), p, *parameters[1:]).sum())(parameters[0]))
    lists = ";".join(text(p) for p in parameters)
    print(f'{{"{name}", "{np.dtype(dtype).name}", {seed}, "{lists}", "{text(x)}", "{slope}"}},')


shapes = np.geomspace(0.01, 2000, 64)
for dtype in (np.float32, np.float64):
    for seed in (0, 7):
        emit("gamma", dtype, seed, [shapes], lambda k, a: R.gamma(k, a, dtype=a.dtype))
        emit("loggamma", dtype, seed, [shapes], lambda k, a: R.loggamma(k, a, dtype=a.dtype))
        emit("chisquare", dtype, seed, [shapes], lambda k, a: R.chisquare(k, a, dtype=a.dtype))
        emit("t", dtype, seed, [shapes + 0.5], lambda k, a: R.t(k, a, dtype=a.dtype))
        emit("beta", dtype, seed, [shapes, shapes[::-1]],
             lambda k, a, b: R.beta(k, a, b, dtype=a.dtype))
        emit("dirichlet", dtype, seed, [shapes[8:40].reshape(8, 4)],
             lambda k, a: R.dirichlet(k, a, dtype=a.dtype)[:, :2], True)
        n = np.tile([1, 5, 20, 100, 1000, 1e6], 20)
        p = np.repeat(np.linspace(0.005, 0.995, 20), 6)
        emit("binomial", dtype, seed, [n, p], lambda k, n, p: R.binomial(k, n, p, dtype=p.dtype),
             False)
for seed in (0, 7):
    rates = np.geomspace(0.02, 1e6, 200)
    emit("poisson", np.float32, seed, [rates], lambda k, r: R.poisson(k, r, dtype=np.int32), False)
