# SPDX-License-Identifier: Apache-2.0
"""Writes optax_cases.inc: parameters along seven steps of Optax's optimizers, and values of its schedules, in f64.

    python tests/optim/make_optax_cases.py > tests/optim/optax_cases.inc     (optax 0.2.8, jax 0.10.2)

The parameters are two arrays, a f64[3] and b f64[]; the gradient at step t of element i is
sin(1.3 t + i) + 0.1 p, where b is element 3. One line a case: name, the four numbers after each step.
"""

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import optax

OPTIMIZERS = {
    "sgd": optax.sgd(0.1),
    "momentum": optax.sgd(0.1, momentum=0.75),
    "nesterov": optax.sgd(0.1, momentum=0.75, nesterov=True),
    "adam": optax.adam(0.1),
    "adam_options": optax.adam(0.1, b1=0.5, b2=0.75, eps=0.25, eps_root=0.125),
    "adamw": optax.adamw(0.1, weight_decay=0.25),
    "rmsprop": optax.rmsprop(0.1),
    "rmsprop_centered": optax.rmsprop(0.1, centered=True, initial_scale=1.0),
    "rmsprop_momentum": optax.rmsprop(0.1, decay=0.75, momentum=0.5),
    "rmsprop_nesterov": optax.rmsprop(
        0.1, decay=0.75, momentum=0.5, nesterov=True, centered=True, eps=0.125
    ),
    "clip_sgd": optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(0.1)),
    "clip_off": optax.chain(optax.clip_by_global_norm(50.0), optax.sgd(0.1)),
    "chain": optax.chain(
        optax.scale_by_adam(), optax.add_decayed_weights(0.5), optax.scale(-0.25)
    ),
    "trace": optax.chain(optax.trace(0.5, nesterov=True), optax.scale_by_learning_rate(0.1)),
    "schedule": optax.adam(optax.linear_schedule(0.5, 0.125, 4)),
}
SCHEDULES = {
    "constant": optax.constant_schedule(0.25),
    "linear": optax.linear_schedule(0.5, 0.125, 10),
    "exponential": optax.exponential_decay(0.5, 10, 0.75),
    "staircase": optax.exponential_decay(0.5, 10, 0.75, staircase=True),
    "cosine": optax.cosine_decay_schedule(0.5, 20),
    "cosine_alpha": optax.cosine_decay_schedule(0.5, 20, alpha=0.25),
    "warmup": optax.warmup_cosine_decay_schedule(0.125, 1.0, 5, 25, 0.25),
    "piecewise": optax.piecewise_constant_schedule(1.0, {5: 0.5, 15: 0.25}),
}
COUNTS = (0, 1, 4, 5, 6, 9, 10, 15, 16, 20, 25, 40)


def text(values):
    return ",".join("%.13g" % float(v) for v in values)


def trajectory(optimizer):
    params = {"a": jnp.array([1.0, -2.0, 0.5]), "b": jnp.array(3.0)}
    state = optimizer.init(params)
    for t in range(7):
        grads = {
            "a": jnp.sin(1.3 * t + jnp.arange(3.0)) + 0.1 * params["a"],
            "b": jnp.sin(1.3 * t + 3.0) + 0.1 * params["b"],
        }
        updates, state = optimizer.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        yield from (*params["a"], params["b"])


print("// SPDX-License-Identifier: Apache-2.0")
print(f"// Made by make_optax_cases.py with optax {optax.__version__}, jax {jax.__version__}.")
for name, optimizer in OPTIMIZERS.items():
    print(f'{{"{name}", "{text(trajectory(optimizer))}"}},')
for name, schedule in SCHEDULES.items():
    print(f'{{"{name}", "{text(schedule(jnp.int32(c)) for c in COUNTS)}"}},')
