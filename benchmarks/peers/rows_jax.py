# SPDX-License-Identifier: Apache-2.0
"""The rows in JAX: jitted, with donated parameters and optimizer state in training steps.

    [taskset -c 0] python benchmarks/peers/rows_jax.py [row ...] [--memory]
    needs: pip install "jax[cpu]" optax

--memory compiles by itself before the first call: lower_ms is the time of that, and peak_bytes the
compiler's own figure: arguments, results and temporaries, less what is donated.
"""

import jax
import jax.numpy as jnp
import optax
from jax import random
from jax.flatten_util import ravel_pytree

import filters_jax  # noqa: F401  (enters its rows)
import gathers_jax  # noqa: F401
import joins_jax  # noqa: F401
import networks_jax  # noqa: F401
import optimizers_jax  # noqa: F401
from harness import ROWS, Work, main, row
from layers_jax import (block, block_init, cnn, cnn_init, conv, conv_init, cross_entropy,
                        layer_norm, linear, linear_init, max_pool, mlp, mlp_init, norm_init)
from work_jax import applied, integers, normals, numbers, trained


# --- training steps ---------------------------------------------------------------------------


@row("tiny_mlp")
def tiny_mlp():
    def loss(p, x, y):
        return cross_entropy(mlp(p, x, jnp.tanh), y)

    return trained(loss, optax.sgd(0.1), mlp_init([2, 32, 32, 2]), normals(100, 2),
                   integers(2, 100))


@row("mlp_adam")
def mlp_adam():
    def loss(p, x, y):
        return cross_entropy(mlp(p, x, jax.nn.relu), y)

    return trained(loss, optax.adam(1e-3), mlp_init([784, 512, 512, 10]), normals(128, 784),
                   integers(10, 128))


def lenet_init():
    keys = random.split(random.key(0), 5)
    return {"conv1": conv_init(keys[0], 1, 6, 5), "conv2": conv_init(keys[1], 6, 16, 5),
            "head": [linear_init(keys[2], 400, 120), linear_init(keys[3], 120, 84),
                     linear_init(keys[4], 84, 10)]}


def lenet(p, x):
    x = max_pool(jax.nn.relu(conv(p["conv1"], x, 2)))
    x = max_pool(jax.nn.relu(conv(p["conv2"], x, 0)))
    return mlp(p["head"], x.reshape(x.shape[0], 400), jax.nn.relu)


@row("lenet_bridge")
@row("lenet_by_hand")
@row("lenet")
def lenet_row():
    def loss(p, x, y):
        return cross_entropy(lenet(p, x), y)

    return trained(loss, optax.sgd(0.01), lenet_init(), normals(64, 1, 28, 28), integers(10, 64))


@row("cnn64_by_hand")
@row("cnn64")
def cnn64():
    def loss(p, x, y):
        return cross_entropy(cnn(p, x), y)

    return trained(loss, optax.adam(1e-3), cnn_init(), normals(32, 3, 32, 32), integers(10, 32))


@row("lstm_by_hand")
@row("lstm")
def lstm():
    input_key, hidden_key = random.split(random.key(0))
    parameters = {"input": linear_init(input_key, 64, 512),
                  "hidden": linear_init(hidden_key, 128, 512)}

    def loss(p, sequence):  # f32[64 steps, 32 examples, 64]
        def cell(state, x):
            hidden, memory = state
            gates = linear(p["input"], x) + linear(p["hidden"], hidden)
            i, f, g, o = jnp.split(gates, 4, axis=-1)
            memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(memory)
            return (hidden, memory), hidden

        start = jnp.zeros((sequence.shape[1], 128))
        return jnp.mean(jnp.square(jax.lax.scan(cell, (start, start), sequence)[1]))

    return trained(loss, optax.sgd(0.01), parameters, normals(64, 32, 64))


@row("transformer_by_hand")
@row("transformer")
def transformer():
    def loss(p, x):
        return jnp.mean(jnp.square(block(p, x, 8)))

    return trained(loss, optax.sgd(0.01), block_init(random.key(0), 256), normals(8, 128, 256))


@row("gpt_by_hand")
@row("gpt")
def gpt():
    width, letters = 128, 65
    keys = random.split(random.key(0), 7)
    parameters = {
        "letters": 0.02 * random.normal(keys[0], (letters, width)),
        "places": 0.02 * random.normal(keys[1], (128, width)),
        "blocks": [block_init(key, width) for key in keys[2:6]],
        "norm": norm_init(width), "out": linear_init(keys[6], width, letters),
    }

    def loss(p, x, y):
        h = p["letters"][x] + p["places"]
        for b in p["blocks"]:
            h = block(b, h, 4)
        logits = linear(p["out"], layer_norm(h, **p["norm"]))
        return cross_entropy(logits.reshape(-1, letters), y.reshape(-1))

    text = integers(letters, 16, 128)
    return trained(loss, optax.adamw(1e-3), parameters, text, text)


@row("adam_64mb")
def adam_64mb():
    def loss(p):
        return jnp.mean(jnp.square(p["a"])) + jnp.mean(jnp.square(p["b"]))

    # Two arrays, or donating one of them would take the other with it.
    return trained(loss, optax.adam(1e-3), {"a": normals(4096, 2048), "b": normals(4096, 2048)})


# --- transforms of transforms -----------------------------------------------------------------


@row("maml")
def maml():
    def error(p, x, y):
        return jnp.mean(jnp.square(mlp(p, x, jax.nn.relu) - y))

    def after_five_steps(p, x, y, x_test, y_test):
        for _ in range(5):
            slopes = jax.grad(error)(p, x, y)
            p = jax.tree.map(lambda a, slope: a - 0.01 * slope, p, slopes)
        return error(p, x_test, y_test)

    def loss(p, *tasks):
        return jnp.mean(jax.vmap(after_five_steps, in_axes=(None, 0, 0, 0, 0))(p, *tasks))

    tasks = [normals(25, 10, 1) for _ in range(4)]
    return trained(loss, optax.adam(1e-3), mlp_init([1, 40, 40, 1]), *tasks)


@row("per_example_by_hand")
@row("per_example")
def per_example():
    def loss(p, x, y):
        return cross_entropy(lenet(p, x[None]), y[None])

    return applied(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0)), lenet_init(),
                   normals(64, 1, 28, 28), integers(10, 64))


@row("hessian")
def hessian():
    flat, unravel = ravel_pytree(mlp_init([4, 16, 16, 1]))

    def loss(v, x, y):
        return jnp.mean(jnp.square(mlp(unravel(v), x, jnp.tanh) - y))

    return applied(jax.hessian(loss), flat, normals(32, 4), normals(32, 1))


@row("pinn")
def pinn():
    def loss(p, points):
        def laplacian(point):
            return jnp.trace(jax.hessian(lambda x: mlp(p, x, jnp.tanh)[0])(point))

        return jnp.mean(jnp.square(jax.vmap(laplacian)(points)))

    return trained(loss, optax.adam(1e-3), mlp_init([2, 64, 64, 64, 1]), normals(256, 2))


@row("ensemble")
def ensemble():
    nets = [mlp_init([20, 64, 64, 5], seed) for seed in range(10)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *nets)

    def loss(nets, x, y):
        return jnp.sum(jax.vmap(lambda p: cross_entropy(mlp(p, x, jax.nn.relu), y))(nets))

    return trained(loss, optax.adam(1e-3), stacked, normals(128, 20), integers(5, 128))


@row("lorenz_jac")
def lorenz_jac():
    def final_state(constants):
        sigma, rho, beta = constants

        def slope(s):
            x, y, z = s
            return jnp.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

        def runge_kutta(s, _):
            h = 0.005
            k1 = slope(s)
            k2 = slope(s + h / 2 * k1)
            k3 = slope(s + h / 2 * k2)
            k4 = slope(s + h * k3)
            return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        return jax.lax.scan(runge_kutta, jnp.ones(3), length=60)[0]

    return applied(jax.jacfwd(final_state), jnp.array([10.0, 28.0, 8 / 3]))


# --- functions, products, calls ---------------------------------------------------------------

FUNCTIONS = {
    "exp": jnp.exp,
    "tanh": jnp.tanh,
    "erf": jax.scipy.special.erf,
    "gelu": lambda x: jax.nn.gelu(x, approximate=True),
    "softmax": jax.nn.softmax,
    "sum": jnp.sum,
    "layer_norm": layer_norm,
    "transpose": lambda x: x.T + 0,
}
for name, function in FUNCTIONS.items():
    ROWS[f"{name}_1m"] = lambda f=function: applied(f, normals(1024, 1024))
for m, k, n in ((64, 64, 64), (128, 784, 512), (1024, 1024, 1024)):
    ROWS[f"matmul_{m}x{k}x{n}"] = lambda m=m, k=k, n=n: applied(
        jnp.matmul, normals(m, k), normals(k, n))


@row("eager_add10")
def eager_add10():
    a, b = normals(10), normals(10)
    return Work(lambda: jnp.add(a, b), jax.block_until_ready, numbers)


@row("call10")
def call10():
    return applied(lambda ten: [a + 1 for a in ten], [normals(16) for _ in range(10)])


if __name__ == "__main__":
    main("jax", ["--memory"])
