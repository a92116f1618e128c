# SPDX-License-Identifier: Apache-2.0
"""What the programs in JAX share: numbers from JAX's keys, and the work of a row."""

import sys
import time

import jax
import jax.numpy as jnp
import optax
from jax import random

from harness import Work

jax.config.update("jax_threefry_partitionable", True)
DATA_KEY = random.key(9)


def normals(*shape):
    return random.normal(DATA_KEY, shape)


def integers(high, *shape):
    return random.randint(DATA_KEY, shape, 0, high)


# --- timing -----------------------------------------------------------------------------------


def numbers(results):
    leaves = jax.tree.leaves(results)
    total = sum(float(jnp.abs(a).astype(jnp.float32).sum()) for a in leaves)
    return total, sum(a.size for a in leaves)


def compilation_of(jitted, *arguments):
    if "--memory" not in sys.argv:
        return None
    shapes = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), arguments)

    def figures():
        begin = time.perf_counter()
        compiled = jitted.lower(*shapes).compile()
        took = time.perf_counter() - begin
        m = compiled.memory_analysis()
        return {"lower_ms": round(took * 1e3, 1),
                "peak_bytes": (m.argument_size_in_bytes + m.output_size_in_bytes
                               + m.temp_size_in_bytes - m.alias_size_in_bytes)}

    return figures


def applied(function, *arguments):
    jitted = jax.jit(function)
    return Work(lambda: jitted(*arguments), jax.block_until_ready, numbers,
                compilation_of(jitted, *arguments))


def stepped(update, first, *data):
    """Calls update(carry, *data) -> (next carry, value), beginning with the carry `first`."""
    step = jax.jit(update, donate_argnums=0)
    carry = [first]

    def call():
        carry[0], value = step(carry[0], *data)
        return value

    def finish(value):
        jax.block_until_ready((carry[0], value))

    return Work(call, finish, numbers, compilation_of(step, carry[0], *data))


def trained(loss, optimizer, parameters, *data):
    def update(carry, *data):
        parameters, state = carry
        value, gradients = jax.value_and_grad(loss)(parameters, *data)
        updates, state = optimizer.update(gradients, state, parameters)
        return (optax.apply_updates(parameters, updates), state), value

    return stepped(update, (parameters, optimizer.init(parameters)), *data)
