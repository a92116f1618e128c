# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own OpInfo samples, where their arguments map onto one operation of Spruce.

An adapter takes a sample and returns (tensors, params), or None where the mapping would not be
simple.
"""

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

from . import draw
from .torch_table import evaluate

LARGEST, SAMPLES = 128, 8  # elements of an array, samples of an operation and dtype

UNARY = (
    "abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos tan "
    "asin acos atan sinh cosh tanh asinh acosh atanh erf "
    "erfc lgamma sigmoid sign floor ceil trunc isnan isinf isfinite"
).split()
ACTIVATIONS = (
    "relu relu6 gelu silu elu selu celu leaky_relu hardtanh hardswish mish "
    "softplus softsign logsigmoid tanhshrink"
).split()
BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "true_divide": "divide",
    "pow": "power",
    "maximum": "maximum",
    "minimum": "minimum",
    "atan2": "atan2",
    "remainder": "remainder",
    "fmod": "fmod",
    "hypot": "hypot",
    "logaddexp": "logaddexp",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
REDUCTIONS = {
    "sum": "sum",
    "mean": "mean",
    "prod": "prod",
    "amax": "max",
    "amin": "min",
    "argmax": "argmax",
    "argmin": "argmin",
    "logsumexp": "logsumexp",
    "std": "std",
    "var": "var",
}
RUNNING = {
    "cumsum": "cumsum",
    "cumprod": "cumprod",
    "logcumsumexp": "cumlogsumexp",
    "softmax": "nn.softmax",
    "log_softmax": "nn.log_softmax",
}


def plain(sample, tensors):
    """All arguments are tensors and there are no options."""
    values = [sample.input, *sample.args]
    good = (
        not sample.kwargs
        and len(values) == tensors
        and all(isinstance(v, torch.Tensor) for v in values)
    )
    return (values, {}) if good else None


def options(sample, *names):
    """The options by name, given by position or by keyword; None where there are others."""
    if len(sample.args) > len(names) or set(sample.kwargs) - set(names):
        return None
    return {**dict(zip(names, sample.args)), **sample.kwargs}


def activation(sample):
    return (
        ([sample.input], dict(sample.kwargs))
        if not sample.args and "inplace" not in sample.kwargs
        else None
    )


def reduction(sample):
    found = options(sample, "dim", "keepdim", "correction", "unbiased")
    if (
        found is None
        or found.get("dim") == ()
        or isinstance(found.get("dim"), bool)
        or sample.input.dim() == 0
    ):
        return None
    axis, ddof = found.get("dim"), found.get("correction")
    if "unbiased" in found:
        ddof = 1 if found["unbiased"] else 0
    if ddof is not None and ddof != int(ddof):
        return None
    params = {
        "axis": list(axis) if isinstance(axis, tuple) else axis,
        "ddof": None if ddof is None else int(ddof),
    }
    return [sample.input], dict(params, keepdims=bool(found.get("keepdim", False)))


def spread_reduction(sample):
    """std and var divide by n - 1 unless told otherwise; nothing is left of one value."""
    found = reduction(sample) if not {0, 1} & set(sample.input.shape) else None
    if found and found[1]["ddof"] is None:
        found[1]["ddof"] = 1
    return found


def along(sample):
    found = options(sample, "dim")
    if (
        sample.input.dtype == torch.float64
        and sample.input.numel()
        and sample.input.abs().max() > 99
    ):
        return None  # of logcumsumexp: PyTorch's own gradient rounds as 1e4 does
    return ([sample.input], {"axis": found["dim"]}) if found and sample.input.dim() else None


def renamed(**names):
    """Options under other names, one tensor."""

    def adapt(sample):
        found = options(sample, *names)
        if found is None or any(isinstance(v, torch.Tensor) for v in found.values()):
            return None
        return [sample.input], {
            names[k]: list(v) if isinstance(v, (tuple, torch.Size)) else v for k, v in found.items()
        }

    return adapt


def swapped(sample):
    return renamed(dim0="first", dim1="second")(sample) if sample.input.dim() else None


def listed(sample):
    found = options(sample, "dim")
    ranks = {t.dim() for t in sample.input}  # PyTorch lets an empty vector stand beside matrices
    if found is None or len(ranks) > 1:
        return None
    return list(sample.input), {"axis": found.get("dim", 0)}


def take(sample):
    dim, index = sample.args
    return ([sample.input, index], {"axis": dim}) if sample.input.dim() and index.dim() else None


def along_axis(sample):
    dim, index = sample.args
    x = sample.input
    same = (
        x.dim() == index.dim()
        and x.dim()
        and all(a == b for i, (a, b) in enumerate(zip(x.shape, index.shape)) if i != dim % x.dim())
    )
    return ([x, index], {"axis": dim}) if same and not sample.kwargs else None


def where(sample):
    return [sample.args[0], sample.input, sample.args[1]], {}


def matrices(sample):
    return plain(sample, 2)


def convolution(sample):
    arrays = [sample.input, *sample.args]
    arrays = [a for a in arrays if a is not None]
    named = {k: list(v) if isinstance(v, tuple) else v for k, v in sample.kwargs.items()}
    return (
        (arrays, named)
        if all(isinstance(a, torch.Tensor) for a in arrays) and len(arrays) > 1
        else None
    )


def average(sample):
    names = "kernel_size stride padding ceil_mode count_include_pad divisor_override".split()
    named = dict(zip(names, sample.args), **sample.kwargs)
    if named.pop("divisor_override", None) is not None:
        return None
    return [sample.input], {
        k: list(v) if isinstance(v, tuple) else v
        for k, v in named.items()
        if v is not None and v != ()
    }


def pairwise(sample):
    return [sample.input, *sample.args], dict(sample.kwargs)


ADAPTERS = [(name, "", name, lambda s: plain(s, 1)) for name in UNARY]
ADAPTERS += [("erfinv", "", "erf_inv", lambda s: plain(s, 1))]
ADAPTERS += [("nn.functional." + name, "", "nn." + name, activation) for name in ACTIVATIONS]
ADAPTERS += [(theirs, "", ours, matrices) for theirs, ours in BINARY.items()]
ADAPTERS += [
    (theirs, "", ours, spread_reduction if ours in ("std", "var") else reduction)
    for theirs, ours in REDUCTIONS.items()
]
ADAPTERS += [(theirs, "", ours, along) for theirs, ours in RUNNING.items()]
ADAPTERS += [
    ("reshape", "", "reshape", renamed(shape="shape")),
    ("permute", "", "transpose", renamed(dims="axes")),
    ("transpose", "", "swapaxes", swapped),
    ("unsqueeze", "", "expand_dims", renamed(dim="axis")),
    ("flip", "", "flip", renamed(dims="axis")),
    ("broadcast_to", "", "broadcast_to", renamed(size="shape")),
    ("tril", "", "tril", renamed(diagonal="k")),
    ("triu", "", "triu", renamed(diagonal="k")),
    ("diag", "", "diag", renamed(diagonal="k")),
    ("trace", "", "trace", renamed()),
    ("stack", "", "stack", listed),
    ("cat", "", "concatenate", listed),
    ("index_select", "", "take", take),
    ("gather", "", "take_along_axis", along_axis),
    ("where", "", "where", where),
    ("dot", "", "dot", matrices),
    ("outer", "", "outer", matrices),
    ("mm", "", "matmul", matrices),
    ("mv", "", "matmul", matrices),
    ("bmm", "", "matmul", matrices),
    ("matmul", "", "matmul", matrices),
    ("nn.functional.linear", "", "nn.linear", convolution),
    ("nn.functional.conv1d", "", "nn.conv1d", convolution),
    ("nn.functional.conv2d", "", "nn.conv2d", convolution),
    ("nn.functional.conv3d", "", "nn.conv3d", convolution),
    ("nn.functional.avg_pool1d", "", "nn.avg_pool1d", average),
    ("nn.functional.avg_pool2d", "", "nn.avg_pool2d", average),
    ("nn.functional.mse_loss", "", "nn.mse_loss", pairwise),
    ("nn.functional.l1_loss", "", "nn.l1_loss", pairwise),
]


def usable(tensors):
    sizes = [t.numel() for t in tensors]
    kinds = {t.dtype for t in tensors}
    return max(sizes) <= LARGEST and kinds <= {
        torch.float32,
        torch.float64,
        torch.int32,
        torch.int64,
        torch.bool,
    }


def cropped(sample):
    """The first values of a sample of an elementwise function, of which many are 20 x 20."""
    if sample.input.numel() > 40:
        sample.input = sample.input.flatten()[:40].clone()
    return sample


def substituted(op, sample, tensors):
    """The operation as a function of the tensors that the adapter chose."""

    def apply(*values, **_):
        def swap(leaf):
            found = [v for v, t in zip(values, tensors) if t is leaf]
            return found[0] if found else leaf

        first, args, kwargs = _pytree.tree_map(
            swap, (sample.input, tuple(sample.args), dict(sample.kwargs))
        )
        return op(first, *args, **kwargs)

    return apply


def cases():
    known = {(op.name, op.variant_test_name): op for op in op_db}
    for theirs, variant, ours, adapt in ADAPTERS:
        op = known.get((theirs, variant)) or next(o for o in op_db if o.name == theirs)
        for dtype, wanted in (("f64", torch.float64), ("f32", torch.float32)):
            if wanted not in op.dtypes:
                continue
            rng = draw.generator("opinfo", theirs, dtype)
            torch.manual_seed(draw.SEED)
            seen = {}
            for sample in op.sample_inputs("cpu", wanted, requires_grad=False):
                adapted = adapt(
                    cropped(sample) if theirs in UNARY or adapt is activation else sample
                )
                if adapted is None or not usable(adapted[0]):
                    continue
                tensors, params = adapted
                kind = repr(([tuple(t.shape) for t in tensors], params))
                if kind in seen or len(seen) == SAMPLES:
                    continue
                seen[kind] = True
                inputs = [t.detach().contiguous().numpy() for t in tensors]
                case = evaluate(
                    ours, "opinfo", substituted(op, sample, tensors), inputs, params, dtype, rng
                )
                finite = all(np.isfinite(g).all() for g in case.gradients.values())
                if finite and all(o.size <= LARGEST for o in case.outputs):
                    yield case
