# SPDX-License-Identifier: Apache-2.0
"""Rows of JAX that train and call layers: running statistics, dropout and masks, images that become
smaller and larger, inference of one example."""

import jax
import jax.numpy as jnp
import optax
from jax import random

from harness import ROWS, row
from layers_jax import (cnn, cnn_init, conv, conv_init, cross_entropy, layer_norm, linear,
                        linear_init, mlp, mlp_init, norm_init)
from work_jax import applied, integers, normals, stepped, trained


def trained_with_state(loss, optimizer, parameters, state, *data):
    """As trained, with what is no parameter, running statistics or a key, handed from step to
    step: loss(parameters, state, *data) -> (value, next state)."""

    def update(carry, *data):
        parameters, state, moments = carry
        (value, state), gradients = jax.value_and_grad(loss, has_aux=True)(parameters, state, *data)
        updates, moments = optimizer.update(gradients, moments, parameters)
        return (optax.apply_updates(parameters, updates), state, moments), value

    return stepped(update, (parameters, state, optimizer.init(parameters)), *data)


def strided(layer, x, stride, padding):
    y = jax.lax.conv_general_dilated(
        x, layer["weight"], window_strides=(stride, stride), padding=((padding, padding),) * 2,
        dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return y + layer["bias"].reshape(-1, 1, 1)


def batch_norm(p, running, x):
    mean, variance = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
    count = x.size // x.shape[1]
    running = {"mean": 0.9 * running["mean"] + 0.1 * mean,
               "var": 0.9 * running["var"] + 0.1 * variance * count / (count - 1)}
    scale = jax.lax.rsqrt(variance + 1e-5) * p["scale"]
    y = (x - mean.reshape(-1, 1, 1)) * scale.reshape(-1, 1, 1) + p["shift"].reshape(-1, 1, 1)
    return y, running


@row("resnet")
def resnet():
    sizes = [(32, 32, 1), (32, 64, 2), (64, 128, 2)]
    keys = random.split(random.key(0), 5)
    parameters = {"stem": conv_init(keys[0], 3, 32, 3), "norm": norm_init(32), "blocks": [],
                  "head": linear_init(keys[4], 128, 10)}

    def start(width):
        return {"mean": jnp.zeros(width), "var": jnp.ones(width)}

    running = [start(32)]
    for key, (inputs, outputs, stride) in zip(keys[1:4], sizes):
        k = random.split(key, 3)
        block = {"a": conv_init(k[0], inputs, outputs, 3), "na": norm_init(outputs),
                 "b": conv_init(k[1], outputs, outputs, 3), "nb": norm_init(outputs)}
        if stride != 1:
            block["shortcut"] = conv_init(k[2], inputs, outputs, 1)
        parameters["blocks"].append(block)
        running += [start(outputs), start(outputs)]

    def loss(p, running, x, y):
        h, first = batch_norm(p["norm"], running[0], conv(p["stem"], x, 1))
        h, after = jax.nn.relu(h), [first]
        for i, (block, (_, _, stride)) in enumerate(zip(p["blocks"], sizes)):
            z, s = batch_norm(block["na"], running[2 * i + 1], strided(block["a"], h, stride, 1))
            z, t = batch_norm(block["nb"], running[2 * i + 2], conv(block["b"], jax.nn.relu(z), 1))
            after += [s, t]
            h = jax.nn.relu(z + (h if stride == 1 else strided(block["shortcut"], h, stride, 0)))
        return cross_entropy(linear(p["head"], h.mean(axis=(2, 3))), y), after

    return trained_with_state(loss, optax.sgd(0.01), parameters, running, normals(32, 3, 32, 32),
                              integers(10, 32))


@row("gru")
def gru():
    input_key, hidden_key = random.split(random.key(0))
    parameters = {"input": linear_init(input_key, 64, 384),
                  "hidden": linear_init(hidden_key, 128, 384)}

    def loss(p, sequence):  # f32[64 steps, 32 examples, 64]
        def cell(h, x):
            ri, zi, ni = jnp.split(linear(p["input"], x), 3, axis=-1)
            rh, zh, nh = jnp.split(linear(p["hidden"], h), 3, axis=-1)
            r, z = jax.nn.sigmoid(ri + rh), jax.nn.sigmoid(zi + zh)
            h = (1 - z) * jnp.tanh(ni + r * nh) + z * h
            return h, h

        start = jnp.zeros((sequence.shape[1], 128))
        return jnp.mean(jnp.square(jax.lax.scan(cell, start, sequence)[1]))

    return trained(loss, optax.sgd(0.01), parameters, normals(64, 32, 64))


def dropout(key, x):
    return jnp.where(random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)


@row("encoder")
def encoder():
    width, heads = 128, 4

    def layer_init(key):
        k = random.split(key, 4)
        return {"in": linear_init(k[0], width, 3 * width), "out": linear_init(k[1], width, width),
                "up": linear_init(k[2], width, 4 * width),
                "down": linear_init(k[3], 4 * width, width),
                "norm1": norm_init(width), "norm2": norm_init(width)}

    def layer(p, x, padding, key):
        k = random.split(key, 4)
        batch, time, _ = x.shape
        projected = linear(p["in"], layer_norm(x, **p["norm1"]))
        q, k_, v = projected.reshape(batch, time, 3, heads, -1).transpose(2, 0, 3, 1, 4)
        scores = jnp.einsum("bhid,bhjd->bhij", q, k_) * q.shape[-1] ** -0.5
        scores = jnp.where(padding[:, None, None], -jnp.inf, scores)
        weights = dropout(k[0], jax.nn.softmax(scores, axis=-1))
        mixed = jnp.einsum("bhij,bhjd->bhid", weights, v).transpose(0, 2, 1, 3)
        x = x + dropout(k[1], linear(p["out"], mixed.reshape(batch, time, width)))
        hidden = jax.nn.relu(linear(p["up"], layer_norm(x, **p["norm2"])))
        return x + dropout(k[2], linear(p["down"], dropout(k[3], hidden)))

    def loss(p, key, x, padding):
        own, key = random.split(key)
        for one, k in zip(p, random.split(own, 2)):
            x = layer(one, x, padding, k)
        return jnp.mean(jnp.square(x)), key

    padding = jnp.arange(64) >= (64 - 3 * jnp.arange(16))[:, None]
    return trained_with_state(loss, optax.sgd(0.01),
                              [layer_init(k) for k in random.split(random.key(0), 2)],
                              random.key(1), normals(16, 64, 128), padding)


def up_init(key, inputs, outputs):
    """The weight f32[in, out, 2, 2] of a transposed convolution, uniform by its outputs."""
    flat = linear_init(key, outputs * 4, inputs)
    bias = linear_init(key, outputs * 4, outputs)["bias"]
    return {"weight": flat["weight"].reshape(inputs, outputs, 2, 2), "bias": bias}


def up(layer, x):
    weight = jnp.flip(layer["weight"], (2, 3))
    y = jax.lax.conv_general_dilated(
        x, weight, window_strides=(1, 1), padding=((1, 1),) * 2, lhs_dilation=(2, 2),
        dimension_numbers=("NCHW", "IOHW", "NCHW"))
    return y + layer["bias"].reshape(-1, 1, 1)


@row("unet")
def unet():
    k = random.split(random.key(0), 7)
    parameters = {
        "in": conv_init(k[0], 1, 16, 3), "down1": conv_init(k[1], 16, 32, 3),
        "down2": conv_init(k[2], 32, 64, 3), "join1": conv_init(k[3], 64, 32, 3),
        "join2": conv_init(k[4], 32, 1, 3), "up1": up_init(k[5], 64, 32),
        "up2": up_init(k[6], 32, 16)}

    def loss(p, x):
        a = jax.nn.relu(conv(p["in"], x, 1))
        b = jax.nn.relu(strided(p["down1"], a, 2, 1))
        c = jax.nn.relu(strided(p["down2"], b, 2, 1))
        d = jax.nn.relu(conv(p["join1"], jnp.concatenate([jax.nn.relu(up(p["up1"], c)), b], 1), 1))
        y = conv(p["join2"], jnp.concatenate([jax.nn.relu(up(p["up2"], d)), a], 1), 1)
        return jnp.mean(jnp.square(y - x))

    return trained(loss, optax.sgd(0.01), parameters, normals(8, 1, 64, 64))


def windows(x, axis, size, reduce):
    n = x.shape[axis]
    parts = [jax.lax.slice_in_dim(x, i * n // size, -(-(i + 1) * n // size), axis=axis)
             for i in range(size)]
    return jnp.stack([reduce(part, axis=axis) for part in parts], axis)


def average(x):
    return windows(windows(x, 3, 7, jnp.mean), 2, 7, jnp.mean)


def largest(x):
    return windows(windows(x, 3, 7, jnp.max), 2, 7, jnp.max)


def gradient_of(f):
    return jax.grad(lambda *x: jnp.sum(jnp.square(f(*x))))


def group_norm(x):
    grouped = x.reshape(x.shape[0], 8, -1)
    return layer_norm(grouped).reshape(x.shape)


def bags(table, ids, offsets):
    bag = jnp.searchsorted(offsets, jnp.arange(ids.shape[0]), side="right") - 1
    count = offsets.shape[0]
    total = jax.ops.segment_sum(table[ids], bag, count, indices_are_sorted=True)
    sizes = jax.ops.segment_sum(jnp.ones(ids.shape[0]), bag, count, indices_are_sorted=True)
    return total / jnp.maximum(sizes, 1)[:, None]


def twice(x):
    return jax.image.resize(x, (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3]), "bilinear")


def table_of_bags():
    return (normals(50000, 64), random.randint(random.key(1), (131072,), 0, 50000),
            32 * jnp.arange(4096))


CALLS = {
    "adaptive_avg_pool": (average, lambda: (normals(32, 64, 33, 33),)),
    "adaptive_avg_pool_grad": (gradient_of(average), lambda: (normals(32, 64, 33, 33),)),
    "adaptive_max_pool": (largest, lambda: (normals(32, 64, 33, 33),)),
    "group_norm": (group_norm, lambda: (normals(32, 64, 32, 32),)),
    "group_norm_grad": (
        jax.grad(lambda x: jnp.sum(group_norm(x) * jnp.square(x))),
        lambda: (normals(32, 64, 32, 32),)),
    "embedding_bag": (bags, table_of_bags),
    "embedding_bag_grad": (gradient_of(bags), table_of_bags),
    "interpolate": (twice, lambda: (normals(8, 16, 64, 64),)),
    "interpolate_grad": (gradient_of(twice), lambda: (normals(8, 16, 64, 64),)),
    "mlp_one": (
        lambda p, x: mlp(p, x, jax.nn.relu),
        lambda: (mlp_init([784, 512, 512, 10]), normals(1, 784))),
}
for name, (function, make) in CALLS.items():
    ROWS[name] = lambda f=function, make=make: applied(f, *make())


@row("cnn_one")
def cnn_one():
    return applied(cnn, cnn_init(), normals(1, 3, 32, 32))
