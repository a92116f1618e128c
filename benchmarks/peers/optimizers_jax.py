# SPDX-License-Identifier: Apache-2.0
"""One step of an optimizer of Optax over 64 MB of parameters, with gradients that are given."""

import optax

from harness import row
from work_jax import normals, stepped


def leaves():
    return [normals(4096, 2048), normals(4096, 2048)]


def step_of(optimizer):
    def update(carry, gradients):
        parameters, state = carry
        updates, state = optimizer.update(gradients, state, parameters)
        parameters = optax.apply_updates(parameters, updates)
        return (parameters, state), abs(parameters[1][0]).mean()

    parameters = leaves()
    return stepped(update, (parameters, optimizer.init(parameters)), leaves())


OPTIMIZERS = {
    "sgd": lambda: optax.sgd(1e-3),
    "momentum": lambda: optax.sgd(1e-3, momentum=0.9),
    "adamw": lambda: optax.adamw(1e-3),
    "nadam": lambda: optax.nadam(1e-3),
    "amsgrad": lambda: optax.amsgrad(1e-3),
    "adamax": lambda: optax.adamax(1e-3),
    "radam": lambda: optax.radam(1e-3),
    "rmsprop": lambda: optax.rmsprop(1e-3),
    "adagrad": lambda: optax.adagrad(1e-3),
    "adadelta": lambda: optax.adadelta(1e-3),
    "adafactor": lambda: optax.adafactor(1e-3),
    "adabelief": lambda: optax.adabelief(1e-3),
    "adan": lambda: optax.adan(1e-3),
    "lion": lambda: optax.lion(1e-3),
    "yogi": lambda: optax.yogi(1e-3),
    "novograd": lambda: optax.novograd(1e-3),
    "sign_sgd": lambda: optax.sign_sgd(1e-3),
    "lamb": lambda: optax.lamb(1e-3),
    "lars": lambda: optax.lars(1e-3),
    "sm3": lambda: optax.sm3(1e-3),
}

for name, make in OPTIMIZERS.items():
    row(f"{name}_64mb")(lambda make=make: step_of(make()))
