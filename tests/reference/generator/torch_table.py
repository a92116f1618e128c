# SPDX-License-Identifier: Apache-2.0
"""Runs the tables of nn functions; PyTorch in f64 gives values and gradients."""

import numpy as np
import torch

from . import draw, torch_activations, torch_layers, torch_losses
from .container import Case

CONSTANT = {
    "nn.batch_norm_eval": (1, 2),
    "nn.batch_norm_updates": (1, 2),
    "nn.cross_entropy_weighted": (2,),
    "nn.bce_with_logits_weighted": (2, 3),
}
TABLES = (torch_activations, torch_layers, torch_losses)


def tensor(array):
    """f64 for floats, i64 for integers: what torch's functions take as indices."""
    array = np.asarray(array)
    return torch.from_numpy(
        array.astype({"f": np.float64, "i": np.int64, "b": np.bool_}[array.dtype.kind])
    )


def narrow(value, dtype):
    array = value.detach().numpy()
    with np.errstate(over="ignore", under="ignore"):
        return array.astype(draw.FLOAT[dtype]) if array.dtype.kind == "f" else array


def evaluate(name, source, function, inputs, params, dtype, rng, differentiable=True):
    """`inputs` are as Spruce will get them; `function` takes tensors of the widest dtype."""
    tensors = [tensor(a) for a in inputs]
    constant = CONSTANT.get(name, ())
    active = [
        i
        for i, t in enumerate(tensors)
        if differentiable and t.is_floating_point() and i not in constant
    ]
    for i in active:
        tensors[i].requires_grad_(True)
    out = function(*tensors, **params)
    outputs = list(out) if isinstance(out, (list, tuple)) else [out]
    inexact = [o for o in outputs if o.is_floating_point()]
    cotangents, gradients = [], {}
    if active and inexact and any(o.requires_grad for o in inexact):
        cotangents = [draw.cotangent(rng, tuple(o.shape)) for o in inexact]
        kept = [(o, c) for o, c in zip(inexact, cotangents) if o.requires_grad]
        found = torch.autograd.grad(
            [o for o, _ in kept],
            [tensors[i] for i in active],
            [torch.from_numpy(np.asarray(c)) for _, c in kept],
            allow_unused=True,
        )
        gradients = {
            i: narrow(torch.zeros_like(tensors[i]) if g is None else g, dtype)
            for i, g in zip(active, found)
        }
    return Case(
        name,
        source,
        dtype,
        params,
        inputs,
        [narrow(o, dtype) for o in outputs],
        [np.asarray(c).astype(draw.FLOAT[dtype]) for c in cotangents],
        gradients,
    )


def cases():
    for table in TABLES:
        for name, function, samples in table.operations():
            for index, (draws, params) in enumerate(samples):
                for dtype in ("f64", "f32"):
                    rng = draw.generator("torch", name, index, dtype)
                    inputs = [d(rng, dtype) for d in draws]
                    yield evaluate(name, "torch", function, inputs, params, dtype, rng)
