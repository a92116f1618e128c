# SPDX-License-Identifier: Apache-2.0
"""Writes gradient_cases.inc: derivatives through ten steps of Optax's optimizers, in f64.

    python tests/optim/make_gradient_cases.py > tests/optim/gradient_cases.inc
    (optax 0.2.8, jax 0.10.2)

Parameters and gradients are those of make_optax_cases.py. A case has half the sum of squares of the
parameters after ten steps with the learning rate 0.05, its ten derivatives by the parameters at the
start, and that by the learning rate.
"""

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np
import optax
from optax import contrib

START = {
    "a": np.array([1.0, -2.0, 0.5]),
    "b": np.array(3.0),
    "w": np.array([[0.5, -1.5, 2.5], [-0.25, 1.25, 0.75]]),
}

CASES = {
    "sgd": lambda rate: optax.sgd(rate),
    "nesterov": lambda rate: optax.sgd(rate, momentum=0.75, nesterov=True),
    "adam": lambda rate: optax.adam(rate),
    "adamw": lambda rate: optax.adamw(rate, weight_decay=0.25),
    "nadam": lambda rate: optax.nadam(rate),
    "amsgrad": lambda rate: optax.amsgrad(rate),
    "adamax": lambda rate: optax.adamax(rate),
    "adabelief": lambda rate: optax.adabelief(rate, eps=1e-4),
    "yogi": lambda rate: optax.yogi(rate),
    "rmsprop": lambda rate: optax.rmsprop(rate, eps=1e-4),
    "adagrad": lambda rate: optax.adagrad(rate),
    "lamb": lambda rate: optax.lamb(rate, weight_decay=0.25),
    "novograd": lambda rate: optax.novograd(rate),
    "adan": lambda rate: optax.adan(rate),
    "ademamix": lambda rate: contrib.ademamix(rate),
    "clipped": lambda rate: optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(rate)),
}


def gradient(params, t):
    return {
        "a": jnp.sin(1.3 * t + jnp.arange(3.0)) + 0.1 * params["a"],
        "b": jnp.sin(1.3 * t + 3.0) + 0.1 * params["b"],
        "w": jnp.sin(1.3 * t + 4.0 + jnp.arange(6.0).reshape(2, 3)) + 0.1 * params["w"],
    }


def outcome(make):
    def f(params, rate):
        optimizer = make(rate)
        state = optimizer.init(params)
        for t in range(10):
            updates, state = optimizer.update(gradient(params, float(t)), state, params)
            params = optax.apply_updates(params, updates)
        return 0.5 * sum(jnp.sum(p**2) for p in jax.tree.leaves(params))

    return f


print("// SPDX-License-Identifier: Apache-2.0")
print(f"// Made by make_gradient_cases.py with optax {optax.__version__}, jax {jax.__version__}.")
for name, make in CASES.items():
    start = jax.tree.map(jnp.asarray, START)
    value, (by_start, by_rate) = jax.value_and_grad(outcome(make), (0, 1))(start, jnp.float64(0.05))
    flat = [float(v) for n in "abw" for v in np.asarray(by_start[n]).reshape(-1)]
    text = ", ".join("%.16g" % v for v in [float(value), *flat, float(by_rate)])
    print(f'{{"{name}", {{{text}}}}},')
