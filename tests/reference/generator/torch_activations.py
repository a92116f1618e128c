# SPDX-License-Identifier: Apache-2.0
"""Activations and what normalises along an axis."""

import torch.nn.functional as F

from .draw import floats, normal, uniform

KINK = floats([0.0, 1.0, -1.0, 2.5])

# name -> function, lists of options
# F.hardsigmoid itself has the slope 1/6 rounded to f32, in f64 too.
ACTIVATIONS = {
    "nn.relu": (F.relu, {}),
    "nn.relu6": (F.relu6, {}),
    "nn.gelu": (F.gelu, {}, {"approximate": "tanh"}),
    "nn.silu": (F.silu, {}),
    "nn.elu": (F.elu, {}, {"alpha": 0.5}),
    "nn.selu": (F.selu, {}),
    "nn.celu": (F.celu, {}, {"alpha": 2.0}),
    "nn.leaky_relu": (F.leaky_relu, {}, {"negative_slope": 0.2}),
    "nn.hardtanh": (F.hardtanh, {}, {"min_val": -0.5, "max_val": 2.0}),
    "nn.hardswish": (F.hardswish, {}),
    "nn.hardsigmoid": (lambda x: F.relu6(x + 3) / 6, {}),
    "nn.mish": (F.mish, {}),
    "nn.softplus": (F.softplus, {}, {"beta": 2.0}, {"beta": 1.5, "threshold": 3.0}),
    "nn.softsign": (F.softsign, {}),
    "nn.logsigmoid": (F.logsigmoid, {}),
    "nn.hardshrink": (F.hardshrink, {}, {"lambd": 0.25}),
    "nn.softshrink": (F.softshrink, {}, {"lambd": 0.25}),
    "nn.tanhshrink": (F.tanhshrink, {}),
}
AXES = [((5,), -1), ((3, 4), 1), ((3, 4), 0), ((2, 3, 2), 1), ((2, 3, 2), -1)]


def softmax(function):
    return lambda x, axis: function(x, dim=axis)


def operations():
    for name, (function, *options) in ACTIVATIONS.items():
        samples = [((uniform(-4, 4, *shape),), o) for o in options for shape in ((9,), (2, 5), ())]
        samples += [
            ((uniform(-40, 40, 8),), {}),
            ((KINK,) if name in ("nn.relu", "nn.leaky_relu", "nn.elu") else (normal(2, 0),), {}),
        ]
        yield name, function, samples
    for name, function in (
        ("nn.softmax", F.softmax),
        ("nn.softmin", F.softmin),
        ("nn.log_softmax", F.log_softmax),
    ):
        samples = [((normal(*s),), {"axis": a}) for s, a in AXES]
        samples += [
            ((uniform(-60, 60, 3, 5),), {"axis": 1}),
            ((floats([1000.0, 1002.0, 999.0]),), {"axis": 0}),
        ]
        yield name, softmax(function), samples
    yield "nn.glu", lambda x, axis: F.glu(x, axis), [
        ((normal(3, 4),), {"axis": -1}),
        ((normal(4, 2),), {"axis": 0}),
    ]
