# SPDX-License-Identifier: Apache-2.0
"""One step of an optimizer of Optax over 64 MB of parameters, with gradients that are given."""

import jax
import jax.numpy as jnp
import optax
from optax import contrib

from harness import row
from work_jax import normals, stepped


def leaves():
    return [normals(4096, 2048), normals(4096, 2048)]


def step_of(optimizer, more):
    def update(carry, gradients):
        parameters, state = carry
        updates, state = optimizer.update(gradients, state, parameters, **more)
        parameters = optax.apply_updates(parameters, updates)
        return (parameters, state), abs(parameters[1][0]).mean()

    parameters = leaves()
    # Some states begin with the parameters, which cannot be donated twice.
    state = jax.tree.map(jnp.array, optimizer.init(parameters))
    return stepped(update, (parameters, state), leaves())


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
    "ademamix": lambda: contrib.ademamix(1e-3),
    "adopt": lambda: contrib.adopt(1e-3),
    "fromage": lambda: optax.fromage(1e-3),
    "signum": lambda: optax.signum(1e-3),
    "optimistic": lambda: optax.optimistic_gradient_descent(1e-3),
    "madgrad": lambda: contrib.madgrad(1e-3),
    "schedule_free": lambda: contrib.schedule_free_adamw(1e-3),
    "prodigy": lambda: contrib.prodigy(1e-3),
    "cocob": lambda: contrib.cocob(1e-3),
    "noisy_sgd": lambda: optax.noisy_sgd(1e-3, key=0),
    "acprop": lambda: contrib.acprop(1e-3),
    "adamaxw": lambda: optax.adamaxw(1e-3),
    "dadapt_adamw": lambda: contrib.dadapt_adamw(),
    "dog": lambda: contrib.dog(),
    "dowg": lambda: contrib.dowg(),
    "momo": lambda: contrib.momo(),
    "momo_adam": lambda: contrib.momo_adam(1e-3),
    "nadamw": lambda: optax.nadamw(1e-3),
    "optimistic_adam": lambda: optax.optimistic_adam_v2(1e-3),
    "polyak_sgd": lambda: optax.polyak_sgd(),
    "schedule_free_sgd": lambda: contrib.schedule_free_sgd(1e-3),
    "simplified_ademamix": lambda: contrib.simplified_ademamix(1e-3),
    "sophia": lambda: contrib.sophia(1e-3),
}
# rprop is missing: Optax 0.2.8 applies each update one step late.


def half_sum_of_squares(parameters):
    return 0.5 * sum(jnp.sum(jnp.square(p)) for p in parameters)


# What the optimizer is given besides: the loss as a number or as a function.
MORE = {
    "momo": {"value": 1e5},
    "momo_adam": {"value": 1e5},
    "polyak_sgd": {"value": 1e5},
    "sophia": {"obj_fn": half_sum_of_squares},
}

for name, make in OPTIMIZERS.items():
    row(f"{name}_64mb")(lambda name=name, make=make: step_of(make(), MORE.get(name, {})))
