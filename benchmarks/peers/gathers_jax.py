# SPDX-License-Identifier: Apache-2.0
"""Rows of JAX that read, add and set elements and rows at index arrays."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import random

from harness import ROWS, Work, row
from work_jax import applied, compilation_of, integers, normals, numbers

MILLION = 1024 * 1024


def places(seed, high, *shape):
    return random.randint(random.key(seed), shape, 0, high)


def shuffled(n):
    return jnp.asarray(np.arange(n, dtype=np.int64) * 7919 % n, jnp.int32)


def bf16(*shape):
    return normals(*shape).astype(jnp.bfloat16)


def gradient(f):
    return lambda x, w, *indices: jax.grad(lambda v: jnp.sum(w * f(v, *indices)))(x)


def take(x, *indices):
    return x[indices]


def take_along(x, k):
    return jnp.take_along_axis(x, k, axis=-1, mode="clip")


def bag(table, ids):
    return jnp.sum(table[ids], axis=1)


def add(x, i, u):
    return x.at[i].add(u)


def maximum(x, i, u):
    return x.at[i].max(u)


def by_segment(x, source, target):
    return jnp.zeros_like(x).at[target].add(x[source])


# Name -> (function, what makes its arguments).
GATHERS = {
    "take_rows": (take, lambda: (normals(50000, 128), places(1, 50000, 16384))),
    "take_rows_bf16": (take, lambda: (bf16(50000, 128), places(1, 50000, 16384))),
    "take_rows_grad": (gradient(take), lambda: (
        normals(50000, 128), normals(16384, 128), places(1, 50000, 16384))),
    "take_points": (take, lambda: (normals(4096, 3), places(1, 4096, 65536))),
    "take_1m": (take, lambda: (normals(MILLION), places(1, MILLION, MILLION))),
    "take_sorted_1m": (take, lambda: (
        integers(1000, MILLION), jnp.sort(places(1, MILLION, MILLION)))),
    "take_grad_1m": (gradient(take), lambda: (
        normals(MILLION), normals(MILLION), places(1, MILLION, MILLION))),
    "take_bf16_1m": (take, lambda: (bf16(MILLION), places(1, MILLION, MILLION))),
    "take_rows_sorted": (take, lambda: (
        integers(1000, 50000, 128), jnp.sort(places(1, 50000, 16384)))),
    "take_grad_bf16_1m": (gradient(take), lambda: (
        bf16(MILLION), bf16(MILLION), places(1, MILLION, MILLION))),
    "take_along_1m": (take_along, lambda: (
        normals(1024, 1024), places(1, 1024, 1024, 1024))),
    "take_along_grad_1m": (gradient(take_along), lambda: (
        normals(1024, 1024), normals(1024, 1024), places(1, 1024, 1024, 1024))),
    "index_two_1m": (take, lambda: (
        normals(1024, 1024), places(1, 1024, MILLION), places(2, 1024, MILLION))),
    "index_two_grad_1m": (gradient(take), lambda: (
        normals(1024, 1024), normals(MILLION), places(1, 1024, MILLION),
        places(2, 1024, MILLION))),
    "index_three_1m": (take, lambda: (
        normals(64, 128, 128), places(1, 64, MILLION), places(2, 128, MILLION),
        places(3, 128, MILLION))),
    "index_three_grad_1m": (gradient(take), lambda: (
        normals(64, 128, 128), normals(MILLION), places(1, 64, MILLION), places(2, 128, MILLION),
        places(3, 128, MILLION))),
    "bag": (bag, lambda: (normals(50000, 64), places(1, 50000, 4096, 32))),
    "bag_bf16": (bag, lambda: (bf16(50000, 64), places(1, 50000, 4096, 32))),
    "bag_grad": (gradient(bag), lambda: (
        normals(50000, 64), normals(4096, 64), places(1, 50000, 4096, 32))),
    "add_rows": (add, lambda: (
        normals(5000, 128), places(1, 5000, 65536), normals(65536, 128))),
    "add_rows_bf16": (add, lambda: (
        bf16(5000, 128), places(1, 5000, 65536), bf16(65536, 128))),
    "add_points": (add, lambda: (
        normals(4096, 4), places(1, 4096, 65536), normals(65536, 4))),
    "max_points": (maximum, lambda: (normals(4096, 8), places(1, 4096, 65536), normals(65536, 8))),
    "add_1m": (add, lambda: (
        normals(MILLION), places(1, MILLION, MILLION), normals(MILLION))),
    "add_two_1m": (
        lambda i, j: jnp.zeros((1024, 1024)).at[i, j].add(1.0),
        lambda: (places(1, 1024, MILLION), places(2, 1024, MILLION))),
    "add_i32_1m": (add, lambda: (
        integers(1000, MILLION), places(1, MILLION, MILLION), integers(1000, MILLION))),
    "add_sorted_1m": (add, lambda: (
        normals(MILLION), jnp.sort(places(1, MILLION, MILLION)), normals(MILLION))),
    "max_1m": (maximum, lambda: (
        normals(MILLION), places(1, MILLION, MILLION), 2 * normals(MILLION))),
    "set_rows": (
        lambda x, i, u: x.at[i].set(u),
        lambda: (jnp.zeros((65536, 128)), shuffled(65536), normals(65536, 128))),
    "count_1m": (
        lambda labels: jnp.bincount(labels, length=1000), lambda: (places(1, 1000, MILLION),)),
    "set_1m": (
        lambda x, i, u: x.at[i].set(u),
        lambda: (jnp.zeros(MILLION), shuffled(MILLION), normals(MILLION))),
    "segment": (by_segment, lambda: (
        normals(10000, 64), places(1, 10000, 80000), places(2, 10000, 80000))),
    "segment_sorted": (by_segment, lambda: (
        normals(10000, 64), places(1, 10000, 80000), jnp.sort(places(2, 10000, 80000)))),
}
for name, (function, make) in GATHERS.items():
    ROWS[name] = lambda f=function, make=make: applied(f, *make())


@row("tables")
def tables():
    def update(carry, i, j):
        a, b = carry
        u, v = a[i], b[j]
        p = jax.nn.sigmoid(jnp.sum(u * v, axis=-1))
        step = 0.05 * (1 - p)[:, None]
        return (a.at[i].add(step * v), b.at[j].add(step * u)), jnp.mean(p)

    step = jax.jit(update, donate_argnums=0)
    carry = [(0.1 * normals(50000, 128), 0.2 * normals(50000, 128))]
    data = places(1, 50000, 8192), places(2, 50000, 8192)

    def call():
        carry[0], value = step(carry[0], *data)
        return value

    return Work(call, lambda value: jax.block_until_ready((carry[0], value)), numbers,
                compilation_of(step, carry[0], *data))


@row("warp")
def warp():
    def one(image, dy, dx):
        h, w = image.shape
        y = jnp.clip(dy + jnp.arange(h, dtype=jnp.float32)[:, None], 0, h - 1.001)
        x = jnp.clip(dx + jnp.arange(w, dtype=jnp.float32), 0, w - 1.001)
        y0, x0 = jnp.floor(y), jnp.floor(x)
        fy, fx = y - y0, x - x0
        i, j = y0.astype(jnp.int32), x0.astype(jnp.int32)
        top = image[i, j] * (1 - fx) + image[i, j + 1] * fx
        bottom = image[i + 1, j] * (1 - fx) + image[i + 1, j + 1] * fx
        return top * (1 - fy) + bottom * fy

    shape = (16, 256, 256)
    return applied(jax.vmap(one), normals(*shape), 3 * random.normal(random.key(1), shape),
                   3 * random.normal(random.key(2), shape))
