# SPDX-License-Identifier: Apache-2.0
"""northstar/04_maml.cc as a JAX user writes it: whole programs are timed side by side.

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/peers/maml_program_jax.py
    OMP_NUM_THREADS=1 taskset -c 0 build/.../04_maml

The last line is the loss on unseen tasks from the learned start and from the random one; the latter
is the same number in both programs, for keys and initial parameters are the same.
"""

import functools
import math

import jax
import jax.numpy as jnp
import optax

random = jax.random


def linear(key, inputs, outputs):
    weight_key, bias_key = random.split(key)
    bound = 1 / math.sqrt(inputs)
    weight = random.uniform(weight_key, (outputs, inputs), minval=-bound, maxval=bound)
    return weight, random.uniform(bias_key, (outputs,), minval=-bound, maxval=bound)


def apply(net, x):
    for i, (weight, bias) in enumerate(net):
        x = x @ weight.T + bias
        x = jax.nn.relu(x) if i < 2 else x
    return x


def make_task(key):
    k1, k2, k3, k4 = random.split(key, 4)
    amplitude = random.uniform(k1, (), minval=0.1, maxval=5.0)
    phase = random.uniform(k2, (), minval=0.0, maxval=3.14159)
    x = random.uniform(k3, (10, 1), minval=-5.0, maxval=5.0)
    x_test = random.uniform(k4, (10, 1), minval=-5.0, maxval=5.0)
    return x, amplitude * jnp.sin(x + phase), x_test, amplitude * jnp.sin(x_test + phase)


def loss(net, x, y):
    return jnp.mean((apply(net, x) - y) ** 2)


def adapted_loss(net, task):
    x, y, x_test, y_test = task
    for _ in range(5):
        grads = jax.grad(loss)(net, x, y)
        net = jax.tree.map(lambda p, g: p - 0.01 * g, net, grads)
    return loss(net, x_test, y_test)


def meta_loss(net, tasks):
    return jnp.mean(jax.vmap(adapted_loss, in_axes=(None, 0))(net, tasks))


def main():
    key, k1, k2, k3, k4 = random.split(random.key(1), 5)
    net = [linear(k1, 1, 40), linear(k2, 40, 40), linear(k3, 40, 1)]
    random_start = jax.tree.map(jnp.copy, net)
    optimizer = optax.adam(1e-3)
    state = optimizer.init(net)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def meta_step(net, state, key):
        tasks = jax.vmap(make_task)(random.split(key, 25))
        value, grads = jax.value_and_grad(meta_loss)(net, tasks)
        updates, state = optimizer.update(grads, state, net)
        return optax.apply_updates(net, updates), state, value

    for i in range(5000):
        net, state, value = meta_step(net, state, random.fold_in(key, i))
        if i % 500 == 0:
            print(f"meta step {i:4d}  loss {float(value):.4f}")

    unseen = jax.vmap(make_task)(random.split(k4, 200))
    print(f"learned start {float(meta_loss(net, unseen)):.4f}, "
          f"random start {float(meta_loss(random_start, unseen)):.4f}")


if __name__ == "__main__":
    main()
