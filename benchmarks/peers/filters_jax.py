# SPDX-License-Identifier: Apache-2.0
"""Rows of JAX that filter pictures and signals, multiply small matrices, and measure distances."""

import jax
import jax.numpy as jnp
from jax import lax

from harness import ROWS
from work_jax import applied, normals


def filtered(x, w, padding, groups=1):
    return lax.conv_general_dilated(x, w, (1,) * (x.ndim - 2), [(padding, padding)] * (x.ndim - 2),
                                    feature_group_count=groups)


def blur(x, w):
    return filtered(x, w, 1, x.shape[1])


def blur_gradient(x, w):
    return jax.grad(lambda x: 0.5 * jnp.sum(blur(x, w) ** 2))(x)


def chamfer(x, y):
    d = jnp.sum((x[:, None] - y) ** 2, -1)
    return jnp.mean(jnp.min(d, 1)) + jnp.mean(jnp.min(d, 0))


PICTURES, FILTERS = ((4, 3, 256, 256), (3, 1, 3, 3))
WORK = {
    "blur": (blur, PICTURES, FILTERS),
    "blur_grad": (blur_gradient, PICTURES, FILTERS),
    "slopes": (lambda x, w: filtered(x, w, 1), (1, 1, 512, 512), (2, 1, 3, 3)),
    "fir": (lambda x, w: filtered(x, w, 0), (4, 1, 32768), (1, 1, 31)),
    "products_3x3": (jnp.matmul, (16384, 3, 3), (16384, 3, 3)),
    "products_3x1": (jnp.matmul, (16384, 3, 3), (16384, 3, 1)),
    "chamfer": (chamfer, (1024, 3), (1000, 3)),
}
for name, (f, a, b) in WORK.items():
    ROWS[name] = lambda f=f, a=a, b=b: applied(f, normals(*a), normals(*b))
