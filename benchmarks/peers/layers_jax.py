# SPDX-License-Identifier: Apache-2.0
"""Layers of the rows in JAX: parameters are dictionaries, from the keys that ours have."""

import jax
import jax.numpy as jnp
import optax
from jax import random


def linear_init(key, inputs, outputs, dtype=jnp.float32):
    weight_key, bias_key = random.split(key)
    bound = inputs**-0.5
    return {"weight": random.uniform(weight_key, (outputs, inputs), dtype, -bound, bound),
            "bias": random.uniform(bias_key, (outputs,), dtype, -bound, bound)}


def linear(layer, x):
    return jnp.matmul(x, layer["weight"].T) + layer["bias"]


def mlp_init(sizes, seed=0):
    keys = random.split(random.key(seed), len(sizes))
    return [linear_init(keys[i], sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)]


def mlp(layers, x, activation):
    for layer in layers[:-1]:
        x = activation(linear(layer, x))
    return linear(layers[-1], x)


def cross_entropy(logits, labels):
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
    return jnp.mean(losses)


def conv_init(key, inputs, outputs, size):
    flat = linear_init(key, inputs * size * size, outputs)
    return {**flat, "weight": flat["weight"].reshape(outputs, inputs, size, size)}


def conv(layer, x, padding):
    y = jax.lax.conv_general_dilated(
        x, layer["weight"], window_strides=(1, 1), padding=((padding, padding),) * 2,
        dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return y + layer["bias"].reshape(-1, 1, 1)


def max_pool(x):
    window = (1, 1, 2, 2)
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")


def cnn_init():
    keys = random.split(random.key(0), 3)
    return {"a": conv_init(keys[0], 3, 64, 3), "b": conv_init(keys[1], 64, 64, 3),
            "c": linear_init(keys[2], 64, 10)}


def cnn(p, x):
    h = max_pool(jax.nn.relu(conv(p["a"], x, 1)))
    h = jax.nn.relu(conv(p["b"], h, 1))
    return linear(p["c"], h.mean(axis=(2, 3)))


def layer_norm(x, scale=1.0, shift=0.0):
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def norm_init(width):
    return {"scale": jnp.ones(width), "shift": jnp.zeros(width)}


def block_init(key, width):
    keys = random.split(key, 4)
    return {
        "norm1": norm_init(width), "norm2": norm_init(width),
        "qkv": linear_init(keys[0], width, 3 * width), "out": linear_init(keys[1], width, width),
        "up": linear_init(keys[2], width, 4 * width),
        "down": linear_init(keys[3], 4 * width, width),
    }


def attention(q, k, v):
    time = q.shape[-2]
    scores = jnp.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    seen = jnp.tril(jnp.ones((time, time), dtype=bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1)
    return jnp.einsum("bhij,bhjd->bhid", weights, v)


def block(p, x, heads):
    batch, time, width = x.shape
    projected = linear(p["qkv"], layer_norm(x, **p["norm1"]))
    q, k, v = projected.reshape(batch, time, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
    mixed = attention(q, k, v).transpose(0, 2, 1, 3).reshape(batch, time, width)
    x = x + linear(p["out"], mixed)
    hidden = jax.nn.gelu(linear(p["up"], layer_norm(x, **p["norm2"])), approximate=True)
    return x + linear(p["down"], hidden)
