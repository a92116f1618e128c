# SPDX-License-Identifier: Apache-2.0
"""Writes initializer_cases.inc: what jax.nn.initializers give for key 7 in f32, what the
initialisers of torch.nn.init that draw nothing give, and the parameters that layers begin with under
each preset, computed with JAX by what the preset's comment says.

    python tests/nn/make_initializer_cases.py > tests/nn/initializer_cases.inc     (jax 0.10.2, torch 2.15.0)

One line a case: name, options, shape, values. Axes are PyTorch's: outputs first, then inputs.
"""

import itertools

import jax
import numpy as np
import torch
from jax.nn import initializers as I

KEY = jax.random.key(7)
SHAPES = ((6, 4), (3, 7), (5, 5), (4, 2, 3))


def emit(name, options, shape, values):
    flat = np.asarray(values, np.float32).reshape(-1)
    named = ",".join(f"{k}={v}" for k, v in options.items())
    text = ",".join("%.9g" % v for v in flat)
    print(f'{{"{name}", "{named}", "{",".join(map(str, shape))}", "{text}"}},')


AXES = {"in_axis": 1, "out_axis": 0}
PRESETS = {"torch_v1": (None, None), "flax_v1": (I.lecun_normal(**AXES), I.zeros),
           "keras_v1": (I.glorot_uniform(**AXES), I.zeros)}


def begun(chosen, key, shape, fan_in):
    """What a preset chooses, or else PyTorch's default: uniform in +-1/sqrt(fan_in)."""
    if chosen is not None:
        return chosen(key, shape)
    return jax.random.uniform(key, shape, minval=-(fan_in ** -0.5), maxval=fan_in ** -0.5)


def presets():
    for name, (weight, bias) in PRESETS.items():
        for layer, shape in (("linear", (4, 6)), ("conv2d", (3, 2, 3, 2))):
            fan_in = int(np.prod(shape[1:]))
            k_weight, k_bias = jax.random.split(KEY)
            emit("preset", {"of": name, "layer": layer, "part": "weight"}, shape, begun(weight, k_weight, shape, fan_in))
            emit("preset", {"of": name, "layer": layer, "part": "bias"}, shape[:1], begun(bias, k_bias, shape[:1], fan_in))
        parts = (("weight_ih", (8, 3), weight), ("weight_hh", (8, 2), weight), ("bias_ih", (8,), bias), ("bias_hh", (8,), bias))
        for (part, shape, chosen), key in zip(parts, jax.random.split(KEY, 4)):
            emit("preset", {"of": name, "layer": "lstm_cell", "part": part}, shape, begun(chosen, key, shape, 2))
        table = jax.random.normal if weight is None else weight
        emit("preset", {"of": name, "layer": "embedding", "part": "weight"}, (5, 3), table(KEY, (5, 3)))


print("// SPDX-License-Identifier: Apache-2.0")
print(f"// Made by make_initializer_cases.py with jax {jax.__version__} and torch {torch.__version__.split('+')[0]}.")
for shape in SHAPES:
    for mode, distribution in itertools.product(("fan_in", "fan_out", "fan_avg"), ("truncated_normal", "normal", "uniform")):
        emit("variance_scaling", {"scale": 1.5, "mode": mode, "distribution": distribution}, shape,
             I.variance_scaling(1.5, mode, distribution, **AXES)(KEY, shape))
    emit("variance_scaling_jax", {}, shape, I.variance_scaling(1.0, "fan_in", "truncated_normal")(KEY, shape))
    emit("lecun_normal", {}, shape, I.lecun_normal(**AXES)(KEY, shape))
    emit("lecun_uniform", {}, shape, I.lecun_uniform(**AXES)(KEY, shape))
    emit("xavier_uniform", {}, shape, I.glorot_uniform(**AXES)(KEY, shape))
    emit("kaiming_uniform", {}, shape, I.he_uniform(**AXES)(KEY, shape))
    emit("trunc_normal", {}, shape, I.truncated_normal(0.02, lower=-1.0, upper=3.0)(KEY, shape))
    emit("normal", {}, shape, I.normal(0.5)(KEY, shape))
    emit("orthogonal", {}, shape, I.orthogonal(1.5, column_axis=0)(KEY, shape))
for out, inputs, window in ((4, 3, (3,)), (5, 5, (2, 3)), (3, 1, (1, 2, 2))):
    w = I.delta_orthogonal(2.0)(KEY, (*window, inputs, out))
    emit("delta_orthogonal", {}, (out, inputs, *window), np.moveaxis(np.asarray(w), (-1, -2), (0, 1)))
for shape, groups in (((4, 3, 3), 1), ((6, 2, 2, 3), 2), ((4, 4, 1, 3, 2), 1)):
    emit("dirac", {"groups": groups}, shape, torch.nn.init.dirac_(torch.empty(shape), groups))
for shape in ((3, 4), (4, 2)):
    emit("eye", {}, shape, torch.nn.init.eye_(torch.empty(shape)))
for name, gain in (("linear", "linear"), ("tanh", "tanh"), ("relu", "relu"), ("leaky_relu", "leaky_relu"), ("selu", "selu")):
    emit("gain", {"of": name}, (1,), torch.nn.init.calculate_gain(gain))
presets()
