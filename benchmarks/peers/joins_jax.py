# SPDX-License-Identifier: Apache-2.0
"""Rows of JAX that join arrays, read an element's neighbours, and make pictures ready."""

import jax
import jax.numpy as jnp
from jax import random

from harness import ROWS, row
from work_jax import applied, normals

MILLION = 1024 * 1024
JOINS = {
    "concat_first": (0, [(256, 1024)] * 4),
    "concat_middle": (1, [(64, 16, 256)] * 4),
    "concat_last": (-1, [(4096, 64)] * 4),
    "concat_last_bf16": (-1, [(4096, 64)] * 4, jnp.bfloat16),
    "concat_thin": (-1, [(262144, 3), (262144, 1)]),
    "concat_thin_bf16": (-1, [(262144, 5), (262144, 2)], jnp.bfloat16),
    "concat_thin_i32": (-1, [(262144, 2), (262144, 1), (262144, 3)], jnp.int32),
}
for name, (axis, shapes, *dtype) in JOINS.items():
    ROWS[name] = lambda axis=axis, shapes=shapes, dtype=(*dtype, jnp.float32)[0]: applied(
        lambda parts: jnp.concatenate(parts, axis), [normals(*shape).astype(dtype) for shape in shapes])


def stack_last(count, dtype):
    parts = [random.normal(random.key(k), (MILLION,)).astype(dtype) for k in range(count)]
    return applied(lambda parts: jnp.stack(parts, -1), parts)


ROWS["stack_last_1m"] = lambda: stack_last(2, jnp.float32)
ROWS["stack_last_bf16_1m"] = lambda: stack_last(3, jnp.bfloat16)


@row("stencil")
def stencil():
    def step(u, _):
        around = (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1)
                  + jnp.roll(u, -1, 1) - 4 * u)
        return u + 0.1 * around, None

    return applied(lambda u: jax.lax.scan(step, u, length=100)[0], normals(512, 512))


@row("ring")
def ring():
    def step(u, _):
        flux = 0.3 * u - 0.2 * (jnp.roll(u, -1) - u)
        return u - (flux - jnp.roll(flux, 1)), None

    return applied(lambda u: jax.lax.scan(step, u, length=100)[0], normals(4096))


@row("channels_first")
def channels_first():
    mean, deviation = jnp.array([0.485, 0.456, 0.406]), jnp.array([0.229, 0.224, 0.225])

    def run(pictures):
        x = (pictures.astype(jnp.float32) / 255 - mean) / deviation
        return jnp.transpose(x, (0, 3, 1, 2))

    return applied(run, (normals(32, 128, 128, 3) * 64 + 128).clip(0, 255).astype(jnp.uint8))


@row("differences_1m")
def differences():
    def step(u):
        left, mid, right = u[:-2], u[1:-1], u[2:]
        return mid + 0.1 * (right - 2 * mid + left) - 0.05 * mid * (right - left)

    return applied(step, normals(MILLION))
