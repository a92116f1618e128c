# SPDX-License-Identifier: Apache-2.0
"""Writes torch_cases.inc: values and gradients of PyTorch, in f64.

    python tests/nn/make_torch_cases.py > tests/nn/torch_cases.inc     (torch 2.15.0, CPU)

One line a case: operation, options, shape of x, x, result, gradient of sum(result * cos(0, 1, ...)).
"""

import itertools
import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
KINKS = [-30, -6, -3, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 3, 6, 19, 21, 30]


def text(values):
    return ",".join("%.13g" % v for v in values.detach().reshape(-1).tolist())


def emit(op, options, x, f):
    x = x.clone().requires_grad_()
    y = f(x)
    weights = torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)
    (gradient,) = torch.autograd.grad((y * weights).sum(), x)
    named = ",".join(f"{k}={v}" for k, v in options.items() if v is not None)
    shape = ",".join(str(n) for n in x.shape)
    print(f'{{"{op}", "{named}", "{shape}", "{text(x)}", "{text(y)}", "{text(gradient)}"}},')


def wave(*shape, step=0.7):
    n = math.prod(shape)
    return torch.round(torch.sin(torch.arange(n) * step + 0.3) * 4e4).reshape(shape) / 1e4


def activations():
    table = {
        "relu": F.relu, "relu6": F.relu6, "sigmoid": torch.sigmoid, "tanh": torch.tanh,
        "silu": F.silu, "mish": F.mish, "selu": F.selu, "hardsigmoid": lambda x: F.relu6(x + 3) / 6,
        "hardswish": F.hardswish, "softsign": F.softsign, "logsigmoid": F.logsigmoid,
        "tanhshrink": F.tanhshrink, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "elu": F.elu, "elu_2": lambda x: F.elu(x, 2.0), "celu": F.celu, "celu_2": lambda x: F.celu(x, 2.0),
        "leaky_relu": F.leaky_relu, "leaky_relu_2": lambda x: F.leaky_relu(x, 0.2),
        "hardtanh": F.hardtanh, "hardtanh_3": lambda x: F.hardtanh(x, -3.0, 0.5),
        "softplus": F.softplus, "softplus_2": lambda x: F.softplus(x, 2.0, 1.0),
        "hardshrink": F.hardshrink, "hardshrink_0": lambda x: F.hardshrink(x, 0.0),
        "softshrink": F.softshrink, "softshrink_1": lambda x: F.softshrink(x, 1.0),
    }
    for name, f in table.items():
        emit(name, {}, torch.tensor(KINKS), f)
    for name, f in (("softmax", F.softmax), ("log_softmax", F.log_softmax), ("softmin", F.softmin)):
        for axis in (0, 1, 2, -1, -3):
            emit(name, {"dim": axis}, wave(2, 3, 2), lambda x: f(x, dim=axis))


def pools():
    flags = (0, 1)
    for n, k, s, p, c, d in itertools.product((5, 6), (2, 3), (1, 2, 3), flags, flags, (1, 2)):
        o = {"k": k, "s": s, "p": p, "ceil": c, "d": d}
        x = torch.tensor([1.0, 3, 3, 2, 5, 5, -1, -4, -4, -2, -9, -3][: 2 * n]).reshape(1, 2, n)
        if n + 2 * p >= d * (k - 1) + 1:
            emit("max_pool1d", o, x, lambda x: F.max_pool1d(x, k, s, p, d, bool(c)))
    for n, k, s, p, c, i in itertools.product((5, 6), (2, 3), (1, 2, 3), flags, flags, flags):
        o = {"k": k, "s": s, "p": p, "ceil": c, "include": i}
        emit("avg_pool1d", o, wave(1, 1, n), lambda x: F.avg_pool1d(x, k, s, p, bool(c), bool(i)))
    for k, s, p, c, i in itertools.product((2, 3), (2, 3), flags, flags, flags):
        o = {"k": k, "s": s, "p": p, "ceil": c, "include": i}
        emit("avg_pool2d", o, wave(1, 4, 5), lambda x: F.avg_pool2d(x, k, s, p, bool(c), bool(i)))
        if i:
            emit("max_pool2d", o, wave(1, 4, 5), lambda x: F.max_pool2d(x, k, s, p, 1, bool(c)))


def losses():
    weight = torch.tensor([0.5, 2.0, 1.25])
    reductions = ("mean", "sum", "none")
    targets = {(4, 3): [0, 2, 1, 2], (2, 3, 2): [[0, 2], [1, 2]], (3,): 1}
    for (shape, target), w, ignore, smooth, r in itertools.product(
        targets.items(), (None, weight), (-100, 2), (0.0, 0.1, 1.0), reductions
    ):
        o = {"weight": int(w is not None), "ignore": ignore, "smooth": smooth, "reduction": r}
        t = torch.tensor(target)
        emit("cross_entropy", o, wave(*shape), lambda x: F.cross_entropy(
            x, t, w, ignore_index=ignore, label_smoothing=smooth, reduction=r))
        if smooth == 0:
            emit("nll_loss", o, wave(*shape), lambda x: F.nll_loss(
                x, t, w, ignore_index=ignore, reduction=r))
    for shape, w, smooth, r in itertools.product(targets, (None, weight), (0.0, 0.1), reductions):
        o = {"weight": int(w is not None), "smooth": smooth, "reduction": r}
        emit("soft_cross_entropy", o, wave(*shape), lambda x: F.cross_entropy(
            x, torch.abs(wave(*shape, step=0.4)), w, label_smoothing=smooth, reduction=r))
    for w, pos, r in itertools.product((None, weight), (None, 1 / weight), reductions):
        o = {"weight": int(w is not None), "pos": int(pos is not None), "reduction": r}
        x = torch.tensor([[0.0, -40, 40], [1.5, -0.5, 0]])
        t = torch.tensor([[0.0, 1, 0.25], [1, 0, 1]])
        emit("bce", o, x, lambda x: F.binary_cross_entropy_with_logits(
            x, t, w, pos_weight=pos, reduction=r))
    for r in reductions:
        for name, f in (("mse", F.mse_loss), ("l1", F.l1_loss)):
            emit(name, {"reduction": r}, wave(2, 3), lambda x: f(x, torch.ones(2, 3), reduction=r))
    for r, d in itertools.product(reductions, (0.25, 0.5, 1.0)):
        emit("huber", {"reduction": r, "d": d}, wave(2, 4), lambda x: F.huber_loss(
            x, torch.ones(2, 4) / 4, reduction=r, delta=d))
    for r, d in itertools.product(reductions, (0.0, 0.5, 1.0)):
        emit("smooth_l1", {"reduction": r, "d": d}, wave(2, 4), lambda x: F.smooth_l1_loss(
            x, torch.ones(2, 4) / 4, reduction=r, beta=d))
    for r, log in itertools.product((*reductions, "batchmean"), (0, 1)):
        t = torch.abs(wave(3, 2, step=0.4))
        t[1, 1] = -1.0 if log else 0.0
        emit("kl_div", {"reduction": r, "log": log}, wave(3, 2), lambda x: F.kl_div(
            x, t, reduction=r, log_target=bool(log)))


def batch_norm():
    """Three steps of training and one of evaluation; after each the running mean and variance."""
    kinds = {"": {"momentum": 0.3}, "_cumulative": {"momentum": None},
             "_untracked": {"track_running_stats": False}}
    for kind, options in kinds.items():
        layer = torch.nn.BatchNorm1d(3, eps=1e-3, **options)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor([1.0, 2.0, -0.5]))
            layer.bias.copy_(torch.tensor([0.0, 0.5, 1.0]))
        for step in range(4):
            layer.train(step < 3)
            x = wave(2, 3, 2, step=0.5 + step)
            emit("batch_norm" + kind, {"step": step}, x, layer)
            if layer.running_mean is not None:
                print(f'{{"running{kind}", "step={step}", "3", "{text(layer.running_mean)}", "{text(layer.running_var)}", ""}},')


def attention():
    """x holds query, key and value along axis -2; t queries, s keys."""
    t, s = 4, 3
    masks = {
        "none": None, "causal": None,
        "bool": torch.tensor([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 0, 1]]) > 0,
        "float": wave(2, 1, t, s),
        "infinite": torch.tensor([[0, -math.inf, 1], [-math.inf] * 3, [0, 0, 0], [1, 2, 3]]),
    }
    for (name, mask), scale in itertools.product(masks.items(), (None, 0.3)):
        def f(x):
            q, k, v = x.split([t, s, s], -2)
            causal = name == "causal"
            return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, scale=scale)
        emit("attention", {"mask": name, "scale": scale}, wave(2, 2, t + 2 * s, 5), f)


def multihead():
    """x holds queries, then keys along the axis of time; the values are the keys times two."""
    t, s, n, e = 3, 4, 2, 6
    key_mask = torch.tensor([[0, 0, 1, 0], [1, 0, 0, 1]]) > 0
    masks = {"none": {}, "padding": {"key_padding_mask": key_mask},
             "attn": {"attn_mask": wave(t, s)}, "heads": {"attn_mask": wave(n * 3, t, s)},
             "both": {"key_padding_mask": key_mask, "attn_mask": torch.ones(t, s).triu(2) > 0}}
    for (name, mask), first, bias in itertools.product(masks.items(), (0, 1), (0, 1)):
        layer = torch.nn.MultiheadAttention(e, 3, bias=bool(bias), batch_first=bool(first))
        with torch.no_grad():
            for i, p in enumerate(layer.parameters()):
                p.copy_(wave(*p.shape, step=0.31 + i) / 10)
        def f(x):
            q, k = x.split([t, s], 1 if first else 0)
            return layer(q, k, 2 * k, need_weights=False, **mask)[0]
        shape = (n, t + s, e) if first else (t + s, n, e)
        emit("multihead", {"mask": name, "first": first, "bias": bias}, wave(*shape), f)


def lstm():
    """The result is the output, then the last h and c, all in a row."""
    t, n, inputs, hidden = 4, 2, 3, 5
    for layers, both, first, bias in itertools.product((1, 2), (0, 1), (0, 1), (0, 1)):
        net = torch.nn.LSTM(inputs, hidden, layers, bool(bias), bool(first), bidirectional=bool(both))
        with torch.no_grad():
            for i, p in enumerate(net.parameters()):
                p.copy_(wave(*p.shape, step=0.31 + i) / 10)
        start = wave(2, layers * (1 + both), n, hidden, step=0.9) / 4
        def f(x):
            output, (h, c) = net(x, (start[0], start[1]))
            return torch.cat([output.flatten(), h.flatten(), c.flatten()])
        options = {"layers": layers, "both": both, "first": first, "bias": bias}
        emit("lstm", options, wave(*((n, t) if first else (t, n)), inputs), f)


print("// SPDX-License-Identifier: Apache-2.0")
print(f"// Made by make_torch_cases.py with torch {torch.__version__.split('+')[0]}.")
activations()
pools()
losses()
batch_norm()
attention()
multihead()
lstm()
