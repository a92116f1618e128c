# SPDX-License-Identifier: Apache-2.0
"""Writes functional_cases.inc: values and gradients of torch.nn.functional, in f64.

    python tests/nn/make_functional_cases.py > tests/nn/functional_cases.inc     (torch 2.15.0, CPU)

One line a case: operation, options, inputs, result, gradients of sum(result * cos(0, 1, ...)) to each
input. An input is "shape@step": wave(shape, step), which the test computes as well.
"""

import math

import torch
import torch.nn.functional as F
from torch.nn.utils import prune

torch.set_default_dtype(torch.float64)
REDUCTIONS = ("mean", "sum", "none")


def text(values):
    return ",".join("%.12g" % v for v in values.detach().reshape(-1).tolist())


def wave(*shape, step=0.7):
    n = math.prod(shape)
    return torch.round(torch.sin(torch.arange(n) * step + 0.3) * 4e4).reshape(shape) / 1e4


def emit(op, options, inputs, f):
    xs = [wave(*shape, step=step).requires_grad_() for shape, step in inputs]
    y = f(*xs)
    weights = torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)
    gradients = torch.autograd.grad((y * weights).sum(), xs)
    named = ",".join(f"{k}={v}" for k, v in options.items())
    given = ";".join(",".join(map(str, shape)) + f"@{step}" for shape, step in inputs)
    print(f'{{"{op}", "{named}", "{given}", "{text(y)}", "{";".join(map(text, gradients))}"}},')


def signs(*shape):
    """1, -1, -1, 1, ..."""
    return torch.where(wave(*shape, step=1.3) > 0, 1.0, -1.0)


def focal(x, t, alpha, gamma, reduction):
    """torchvision.ops.sigmoid_focal_loss."""
    p = torch.sigmoid(x)
    ce = F.binary_cross_entropy_with_logits(x, t, reduction="none")
    p_t = p * t + (1 - p) * (1 - t)
    loss = ce * ((1 - p_t) ** gamma)
    if alpha >= 0:
        loss = (alpha * t + (1 - alpha) * (1 - t)) * loss
    return {"mean": loss.mean, "sum": loss.sum, "none": lambda: loss}[reduction]()


def probability_losses():
    weight = torch.tensor([0.5, 2.0, 1.25])
    for r in REDUCTIONS:
        for w in (None, weight):
            emit("binary_cross_entropy", {"reduction": r, "weight": int(w is not None)},
                 [((4, 3), 0.7), ((4, 3), 0.4)], lambda x, t: F.binary_cross_entropy(
                     torch.sigmoid(x), torch.sigmoid(t), w, reduction=r))
        for log, full in ((1, 0), (1, 1), (0, 0), (0, 1)):
            emit("poisson_nll_loss", {"reduction": r, "log": log, "full": full},
                 [((4, 3), 0.7), ((4, 3), 0.4)], lambda x, t: F.poisson_nll_loss(
                     x if log else x * x, torch.abs(t), bool(log), bool(full), eps=1e-2, reduction=r))
        for shape, full in (((4, 3), 0), ((4, 1), 1), ((4,), 0)):
            emit("gaussian_nll_loss", {"reduction": r, "full": full},
                 [((4, 3), 0.7), ((4, 3), 0.4), (shape, 0.9)], lambda x, t, v: F.gaussian_nll_loss(
                     x, t, v * v / 4, full=bool(full), eps=0.5, reduction=r))
        for alpha, gamma in ((0.25, 2.0), (-1.0, 0.5), (0.75, 3.0)):
            emit("sigmoid_focal_loss", {"reduction": r, "alpha": alpha, "gamma": gamma},
                 [((4, 3), 0.7)], lambda x: focal(x, (signs(4, 3) + 1) / 2, alpha, gamma, r))


def margin_losses():
    for r in REDUCTIONS:
        for m in (1.0, 0.25):
            o = {"reduction": r, "margin": m}
            emit("hinge_embedding_loss", o, [((4, 3), 0.7)], lambda x: F.hinge_embedding_loss(
                x, signs(4, 3), margin=m, reduction=r))
            emit("margin_ranking_loss", o, [((5,), 0.7), ((5,), 0.4)], lambda a, b: F.margin_ranking_loss(
                a, b, signs(5), margin=m, reduction=r))
            for shape in ((4, 3), (3,)):
                emit("cosine_embedding_loss", o, [(shape, 0.7), (shape, 0.4)],
                     lambda a, b: F.cosine_embedding_loss(
                         a, b, signs(*shape[:-1]), margin=m, reduction=r))
            for p, swap in ((2.0, 0), (2.0, 1), (1.0, 0), (3.0, 1)):
                emit("triplet_margin_loss", {**o, "p": p, "swap": swap},
                     [((4, 3), 0.7), ((4, 3), 0.4), ((4, 3), 0.9)], lambda a, b, c: F.triplet_margin_loss(
                         a, b, c, margin=m, p=p, swap=bool(swap), reduction=r))
            for swap in (0, 1):
                emit("triplet_margin_with_distance_loss", {**o, "swap": swap},
                     [((4, 3), 0.7), ((4, 3), 0.4), ((4, 3), 0.9)],
                     lambda a, b, c: F.triplet_margin_with_distance_loss(
                         a, b, c, distance_function=lambda a, b: (a - b).abs().sum(-1), margin=m,
                         swap=bool(swap), reduction=r))
            for p in (1, 2):
                for w in (None, torch.tensor([0.5, 2.0, 1.25])):
                    emit("multi_margin_loss", {**o, "p": p, "weight": int(w is not None)},
                         [((4, 3), 0.7)], lambda x: F.multi_margin_loss(
                             x, torch.tensor([0, 2, 1, 2]), p=p, margin=m, weight=w, reduction=r))
        emit("multi_margin_loss", {"reduction": r, "margin": 1.0, "p": 1, "weight": 0}, [((3,), 0.7)],
             lambda x: F.multi_margin_loss(x, torch.tensor(1), reduction=r))
        emit("soft_margin_loss", {"reduction": r}, [((4, 3), 0.7)], lambda x: F.soft_margin_loss(
            x, signs(4, 3), reduction=r))
        classes = torch.tensor([[3, 0, -1, 1], [2, -1, -1, -1], [0, 1, 2, 3], [-1, 1, 1, 1]])
        emit("multilabel_margin_loss", {"reduction": r}, [((4, 4), 0.7)], lambda x: F.multilabel_margin_loss(
            x, classes, reduction=r))
        emit("multilabel_margin_loss", {"reduction": r}, [((4,), 0.7)], lambda x: F.multilabel_margin_loss(
            x, classes[0], reduction=r))
        for w in (None, torch.tensor([0.5, 2.0, 1.25])):
            emit("multilabel_soft_margin_loss", {"reduction": r, "weight": int(w is not None)},
                 [((4, 3), 0.7)], lambda x: F.multilabel_soft_margin_loss(
                     x, (signs(4, 3) + 1) / 2, w, reduction=r))


def ctc():
    """Behind log_softmax, where PyTorch's gradient is the mathematical one."""
    targets = torch.tensor([[1, 1, 2], [2, 1, 3], [3, 3, 3], [1, 2, 3]])
    for r in REDUCTIONS:
        for blank, zero in ((0, 0), (3, 1)):
            labels = (targets - 1) % 3 if blank == 3 else targets
            emit("ctc_loss", {"reduction": r, "blank": blank, "zero": zero}, [((6, 4, 4), 0.7)],
                 lambda x: F.ctc_loss(
                     x.log_softmax(-1), labels, torch.tensor([6, 5, 6, 4]), torch.tensor([3, 2, 3, 0]),
                     blank=blank, reduction=r, zero_infinity=bool(zero)))
        emit("ctc_loss_single", {"reduction": r}, [((5, 4), 0.7)], lambda x: F.ctc_loss(
            x.log_softmax(-1), targets[0, :2], torch.tensor(5), torch.tensor(2), reduction=r))
        # The first example is too short for its target.
        emit("ctc_loss_infinite", {"reduction": r}, [((3, 2, 4), 0.7)], lambda x: F.ctc_loss(
            x.log_softmax(-1), targets[:2], torch.tensor([3, 3]), torch.tensor([3, 2]), reduction=r,
            zero_infinity=True))


def similarity():
    for p in (2.0, 1.0, 3.0, math.inf):
        for dim in (0, 1, -1):
            emit("normalize", {"p": p, "dim": dim, "eps": 1e-12}, [((2, 3, 2), 0.7)],
                 lambda x: F.normalize(x, p, dim))
        for keep in (0, 1):
            emit("pairwise_distance", {"p": p, "eps": 1e-3, "keep": keep},
                 [((2, 3), 0.7), ((2, 3), 0.4)],
                 lambda a, b: F.pairwise_distance(a, b, p, 1e-3, bool(keep)))
        emit("pdist", {"p": p}, [((4, 3), 0.7)], lambda x: F.pdist(x, p))
    emit("normalize", {"p": 2.0, "dim": 1, "eps": 7.5}, [((4, 3), 0.7)],
         lambda x: F.normalize(x, eps=7.5))
    for dim, shape in ((1, (2, 3)), (0, (2, 3)), (-1, (1, 3))):
        emit("cosine_similarity", {"dim": dim}, [((2, 3), 0.7), (shape, 0.4)],
             lambda a, b: F.cosine_similarity(a, b, dim))


def norms():
    for shape, groups, affine in (((2, 6, 3), 3, 0), ((2, 6, 3), 2, 1), ((2, 4), 2, 1),
                                  ((2, 4, 2, 3), 4, 1), ((1, 4, 3), 1, 0), ((2, 4, 1), 1, 0)):
        inputs = [(shape, 0.7)] + [((shape[1],), 0.4), ((shape[1],), 0.9)] * affine
        emit("group_norm", {"groups": groups, "affine": affine, "eps": 1e-3}, inputs,
             lambda x, *wb: F.group_norm(x, groups, *wb, eps=1e-3))
    for shape, affine in (((2, 3, 4), 0), ((2, 3, 4), 1), ((2, 3, 2, 3), 1), ((1, 2, 2, 2, 2), 0),
                          ((2, 2, 3, 2, 1), 1)):
        inputs = [(shape, 0.7)] + [((shape[1],), 0.4), ((shape[1],), 0.9)] * affine
        emit("instance_norm", {"affine": affine, "eps": 1e-3}, inputs, lambda x, *wb: F.instance_norm(
            x, None, None, *wb, eps=1e-3))
    for stats in (0, 1):
        def f(x, m, v):
            mean, var = m.detach().clone(), (v * v).detach().clone()
            y = F.instance_norm(x, mean, var, use_input_stats=bool(stats), momentum=0.3)
            return torch.cat([y.flatten(), mean + 0 * m, var + 0 * v])
        emit("instance_norm_running", {"stats": stats}, [((2, 3, 4), 0.7), ((3,), 0.4), ((3,), 0.9)], f)
    for axes, eps, weight in ((1, None, 0), (1, 1e-2, 1), (2, 1e-2, 1), (2, None, 0)):
        shape = (3, 4)[-axes:]
        emit("rms_norm", {"axes": axes} | ({"eps": eps} if eps else {}),
             [((2, 3, 4), 0.7)] + [(shape, 0.4)] * weight,
             lambda x, *w: F.rms_norm(x, shape, *w, eps=eps))
    for shape, size, alpha, beta, k in (((2, 5, 3), 3, 1e-4, 0.75, 1.0), ((2, 5, 3), 4, 0.9, 0.5, 2.0),
                                        ((1, 4, 2, 2), 5, 0.9, 1.5, 1.0), ((2, 4, 3), 1, 0.5, 0.75, 1.0)):
        emit("local_response_norm", {"size": size, "alpha": alpha, "beta": beta, "k": k}, [(shape, 0.7)],
             lambda x: F.local_response_norm(x, size, alpha, beta, k))


def with_indices(result):
    """Values, then indices, which have no gradient, in a row."""
    return torch.cat([result[0].flatten(), result[1].flatten().double()])


def pools():
    sizes = {1: [((2, 2, 7), 3), ((1, 2, 6), 3), ((2, 5), 5), ((1, 1, 3), 5)],
             2: [((1, 2, 5, 7), (3, 2)), ((2, 6, 4), (3, 2)), ((1, 2, 4, 5), 1), ((1, 1, 5, 3), (None, 2))],
             3: [((1, 2, 3, 4, 5), (2, 3, 4)), ((1, 4, 2, 4), (2, 1, 2))]}
    for axes, cases in sizes.items():
        for shape, out in cases:
            named = "x".join(str(-1 if n is None else n) for n in (out if isinstance(out, tuple) else (out,)))
            for op in ("avg", "max"):
                f = getattr(F, f"adaptive_{op}_pool{axes}d")
                emit(f"adaptive_{op}_pool{axes}d", {"out": named}, [(shape, 0.7)], lambda x: f(x, out))
            f = getattr(F, f"adaptive_max_pool{axes}d")
            emit(f"adaptive_max_pool{axes}d_with_indices", {"out": named}, [(shape, 1.7)],
                 lambda x: with_indices(f(x, out, return_indices=True)))
    for p, k, s, ceil in ((2.0, 2, None, 0), (1.0, 3, 2, 0), (3.0, 2, 1, 0), (2.0, 3, 2, 1), (1.5, 2, 3, 1)):
        o = {"p": p, "k": k, "ceil": ceil} | ({"s": s} if s else {})
        for axes, shape in ((1, (2, 2, 6)), (2, (1, 2, 4, 5)), (3, (1, 4, 3, 4))):
            f = getattr(F, f"lp_pool{axes}d")
            emit(f"lp_pool{axes}d", o, [(shape, 0.7)],
                 lambda x: f(x if p == 1.0 else x.abs(), p, k, s, bool(ceil)))
    for k, s, pad, d, ceil in ((2, None, 0, 1, 0), (3, 2, 1, 1, 0), (2, 1, 0, 2, 0), (3, 2, 1, 1, 1), (2, 3, 1, 2, 1)):
        o = {"k": k, "pad": pad, "d": d, "ceil": ceil} | ({"s": s} if s else {})
        for axes, shape in ((1, (2, 2, 7)), (2, (2, 5, 6)), (3, (1, 1, 4, 5, 4))):
            f = getattr(F, f"max_pool{axes}d")
            emit(f"max_pool{axes}d_with_indices", o, [(shape, 1.7)], lambda x: with_indices(
                f(x, k, s, pad, d, bool(ceil), True)))
    for axes, shape in ((1, (2, 2, 6)), (2, (1, 2, 4, 6)), (3, (1, 2, 4, 2))):
        pool, unpool = getattr(F, f"max_pool{axes}d"), getattr(F, f"max_unpool{axes}d")
        for k, s, pad in ((2, None, 0), (2, 2, 0), (2, 2, 1)):
            o = {"k": k, "pad": pad} | ({"s": s} if s else {})
            def f(x):
                y, i = pool(x, k, s, pad, return_indices=True)
                return unpool(y, i, k, s, pad, output_size=shape[-axes:])
            emit(f"max_unpool{axes}d", o | {"sized": 1}, [(shape, 1.7)], f)
        emit(f"max_unpool{axes}d", {"k": 2, "pad": 0, "sized": 0}, [(shape, 1.7)], lambda x: unpool(
            *pool(x, 2, return_indices=True), 2))
    for axes, shape in ((2, (1, 2, 4, 5)), (3, (1, 4, 3, 4))):
        f = getattr(F, f"avg_pool{axes}d")
        emit(f"avg_pool{axes}d_divisor", {"divisor": 3}, [(shape, 0.7)], lambda x: f(
            x, 2, 2, 1, divisor_override=3))


def activations():
    for threshold, value in ((0.1, 20.0), (-0.5, -1.0)):
        emit("threshold", {"threshold": threshold, "value": value}, [((3, 4), 0.7)],
             lambda x: F.threshold(x, threshold, value))
    for shape, channels in (((3, 4), 1), ((3, 4), 4), ((2, 3, 2), 3), ((5,), 1)):
        emit("prelu", {}, [(shape, 0.7), ((channels,), 0.4)], F.prelu)
    emit("rrelu", {"lower": 0.1, "upper": 0.4}, [((3, 4), 0.7)], lambda x: F.rrelu(x, 0.1, 0.4))
    emit("log_sigmoid", {}, [((3, 4), 0.7)], F.logsigmoid)


def rearrangements():
    for shape, r in (((2, 8, 3, 2), 2), ((9, 1, 2), 3), ((2, 1, 4, 2, 2), 2), ((1, 2, 3, 2), 1)):
        emit("pixel_shuffle", {"r": r}, [(shape, 0.7)], lambda x: F.pixel_shuffle(x, r))
    for shape, r in (((2, 2, 4, 6), 2), ((1, 3, 6), 3), ((2, 1, 1, 2, 4), 2)):
        emit("pixel_unshuffle", {"r": r}, [(shape, 0.7)], lambda x: F.pixel_unshuffle(x, r))
    for shape, g in (((2, 6, 2, 2), 3), ((1, 4, 2, 2), 2), ((2, 6, 3), 2)):
        emit("channel_shuffle", {"groups": g}, [(shape, 0.7)], lambda x: F.channel_shuffle(x, g))
    for pad, mode, shape in (
        ((1, 2), "constant", (2, 3)), ((1, 2, 0, 1), "constant", (2, 3)), ((-1, 2), "constant", (2, 3)),
        ((1, -2, -1, 1), "constant", (2, 3, 4)), ((2, 1), "reflect", (2, 3, 4)), ((2, 1, 1, 2), "reflect", (1, 2, 3, 4)),
        ((1, 0, 1, 1, 0, 2), "reflect", (1, 1, 3, 2, 2)), ((3, 5), "replicate", (2, 3, 4)),
        ((1, 2, 0, 3), "replicate", (2, 3, 4)), ((1, 2, 2, 0, 0, 1), "replicate", (1, 1, 2, 3, 2)),
        ((4, 2), "circular", (1, 3, 4)), ((1, 2, 3, 0), "circular", (1, 2, 3, 4)),
        ((1, 2, 0, 1, 2, 1), "circular", (1, 1, 2, 3, 2)),
    ):
        emit("pad", {"pad": "x".join(map(str, pad)), "mode": mode}, [(shape, 0.7)],
             lambda x: F.pad(x, pad, mode, 2.5 if mode == "constant" else None))
    for k, d, pad, s, shape in ((2, 1, 0, 1, (2, 2, 4, 3)), ((2, 3), (2, 1), (1, 0), (1, 2), (1, 2, 5, 6)),
                                (3, 1, 1, 2, (2, 5, 4)), ((1, 2), 1, (0, 1), (2, 1), (1, 3, 4))):
        spell = lambda v: "x".join(map(str, v if isinstance(v, tuple) else (v,)))
        o = {"k": spell(k), "d": spell(d), "pad": spell(pad), "s": spell(s)}
        emit("unfold", o, [(shape, 0.7)], lambda x: F.unfold(x, k, d, pad, s))
        columns = tuple(F.unfold(torch.zeros(shape), k, d, pad, s).shape)
        emit("fold", o | {"out": spell(shape[-2:])}, [(columns, 0.7)],
             lambda x: F.fold(x, shape[-2:], k, d, pad, s))


def convolutions():
    cases = (  # x, weight, stride, padding, output_padding, groups, dilation
        ((2, 2, 4), (2, 3, 3), 1, 0, 0, 1, 1), ((1, 4, 4), (4, 2, 3), 2, 1, 1, 2, 1), ((2, 5), (2, 1, 2), 3, 0, 2, 1, 2),
        ((1, 2, 3, 3), (2, 2, 2, 3), (2, 1), (1, 0), (1, 0), 1, 1), ((1, 4, 3, 2), (4, 1, 3, 2), 2, 1, 1, 4, (1, 2)),
        ((2, 3, 2), (2, 3, 3, 3), 2, 2, 0, 1, 2), ((1, 2, 2, 2, 3), (2, 1, 2, 2, 2), (1, 2, 1), (0, 1, 0), (0, 1, 0), 1, 1),
        ((1, 2, 2, 2, 2), (2, 1, 1, 2, 3), 2, 0, 1, 2, 1),
    )
    spell = lambda v: "x".join(map(str, v if isinstance(v, tuple) else (v,)))
    for x, w, s, pad, more, groups, d in cases:
        axes = len(w) - 2
        f = getattr(F, f"conv_transpose{axes}d")
        for bias in (0, 1):
            o = {"s": spell(s), "pad": spell(pad), "more": spell(more), "groups": groups, "d": spell(d)}
            emit(f"conv_transpose{axes}d", o, [(x, 0.7), (w, 0.4)] + [((w[1] * groups,), 0.9)] * bias,
                 lambda x, w, b=None: f(x, w, b, s, pad, more, groups, d))
    for mode in ("zeros", "reflect", "replicate", "circular"):
        for axes, x, k, pad, s, d, groups in ((1, (2, 2, 6), 3, 2, 2, 1, 1), (1, (1, 2, 5), 4, "same", 1, 1, 2),
                                              (2, (1, 2, 4, 5), 3, (1, 2), 1, 1, 1), (2, (2, 5, 4), (2, 3), "same", 1, (2, 1), 1),
                                              (3, (1, 1, 3, 4, 3), 2, 1, 2, 1, 1)):
            layer = getattr(torch.nn, f"Conv{axes}d")(x[-axes - 1], 2, k, s, pad, d, groups, padding_mode=mode)
            def f(x, w, b):
                return torch.func.functional_call(layer, {"weight": w, "bias": b}, (x,))
            emit(f"conv{axes}d_layer", {"mode": mode, "k": spell(k), "pad": spell(pad) if pad != "same" else pad, "s": s,
                                        "d": spell(d), "groups": groups},
                 [(x, 0.7), (tuple(layer.weight.shape), 0.4), ((2,), 0.9)], f)


def resampling():
    spell = lambda v: "x".join(map(str, v if isinstance(v, tuple) else (v,)))
    modes = {1: ("nearest", "nearest-exact", "linear", "area"),
             2: ("nearest", "nearest-exact", "bilinear", "bicubic", "area"),
             3: ("nearest", "nearest-exact", "trilinear", "area")}
    shapes = {1: (2, 1, 5), 2: (1, 2, 3, 4), 3: (1, 1, 2, 3, 2)}
    sizes = {1: (8, 3), 2: ((5, 7), (2, 3)), 3: ((3, 4, 5), (1, 2, 3))}
    for axes, shape in shapes.items():
        for mode in modes[axes]:
            for corners in (0, 1) if mode.endswith(("linear", "cubic")) else (None,):
                o = {"mode": mode} | ({"corners": corners} if corners is not None else {})
                align = None if corners is None else bool(corners)
                for size in sizes[axes]:
                    emit("interpolate", o | {"size": spell(size)}, [(shape, 0.7)],
                         lambda x: F.interpolate(x, size, mode=mode, align_corners=align))
                for scale, again in ((2.0, 0), (1.7, 0), (0.6, 1), (1.3, 1), (0.75, 0)):
                    emit("interpolate", o | {"scale": scale, "again": again}, [(shape, 0.7)],
                         lambda x: F.interpolate(x, scale_factor=scale, mode=mode, align_corners=align,
                                                 recompute_scale_factor=bool(again)))
    for mode in ("bilinear", "bicubic"):
        for corners in (0, 1):
            for size in ((2, 3), (5, 2), (4, 6)):
                emit("interpolate", {"mode": mode, "corners": corners, "antialias": 1, "size": spell(size)},
                     [((1, 2, 5, 6), 0.7)], lambda x: F.interpolate(
                         x, size, mode=mode, align_corners=bool(corners), antialias=True))
    emit("interpolate", {"mode": "bilinear", "corners": 0, "antialias": 1, "scale": 0.45, "again": 0},
         [((1, 1, 7, 6), 0.7)], lambda x: F.interpolate(
             x, scale_factor=0.45, mode="bilinear", align_corners=False, antialias=True))
    for pad in ("zeros", "border", "reflection"):
        for corners in (0, 1):
            for mode, x, grid in (("bilinear", (2, 2, 3, 4), (2, 3, 2, 2)), ("nearest", (1, 2, 4, 3), (1, 2, 3, 2)),
                                  ("bicubic", (1, 2, 4, 3), (1, 3, 2, 2)), ("bilinear", (1, 1, 2, 3, 4), (1, 2, 2, 2, 3)),
                                  ("nearest", (1, 2, 2, 3, 2), (1, 2, 1, 3, 3))):
                emit("grid_sample", {"mode": mode, "pad": pad, "corners": corners}, [(x, 0.7), (grid, 0.83)],
                     lambda x, g: F.grid_sample(x, 1.4 * g, mode, pad, bool(corners)))
    for corners in (0, 1):
        for theta, size in (((2, 2, 3), (2, 1, 3, 4)), ((1, 3, 4), (1, 2, 2, 1, 3))):
            emit("affine_grid", {"corners": corners, "size": spell(size)}, [(theta, 0.7)],
                 lambda t: F.affine_grid(t, size, bool(corners)))


def tables():
    for lead, bias in (((), 1), ((3,), 0), ((2, 3), 1)):
        emit("bilinear", {}, [((*lead, 2), 0.7), ((*lead, 4), 0.4), ((3, 2, 4), 0.9)] + [((3,), 0.5)] * bias, F.bilinear)
    index = torch.tensor([[1, 4, 1], [0, 2, 3]])
    for padding in (0, 1, -4):
        emit("embedding", {"padding": padding}, [((5, 3), 0.7)],
             lambda w: F.embedding(index, w, padding_idx=padding))
    flat, offsets = torch.tensor([1, 4, 1, 0, 2, 3, 3]), torch.tensor([0, 2, 2, 5])
    for mode in ("mean", "sum", "max"):
        for padding in (None, 1, -2):
            o = {"mode": mode} | ({"padding": padding} if padding is not None else {})
            emit("embedding_bag", o | {"form": "rows"}, [((5, 3), 0.7)], lambda w: F.embedding_bag(
                index, w, mode=mode, padding_idx=padding))
            emit("embedding_bag", o | {"form": "offsets"}, [((5, 3), 0.7)], lambda w: F.embedding_bag(
                flat, w, offsets, mode=mode, padding_idx=padding))
            emit("embedding_bag", o | {"form": "last"}, [((5, 3), 0.7)], lambda w: F.embedding_bag(
                flat, w, torch.tensor([0, 2, 2, 5, 7]), mode=mode, padding_idx=padding, include_last_offset=True))
    for padding in (None, 1):
        o = {"mode": "sum"} | ({"padding": padding} if padding is not None else {})
        emit("embedding_bag", o | {"form": "rows"}, [((5, 3), 0.7), ((2, 3), 0.4)], lambda w, s: F.embedding_bag(
            index, w, mode="sum", padding_idx=padding, per_sample_weights=s))
        emit("embedding_bag", o | {"form": "offsets"}, [((5, 3), 0.7), ((7,), 0.4)], lambda w, s: F.embedding_bag(
            flat, w, offsets, mode="sum", padding_idx=padding, per_sample_weights=s))


def fractional():
    """Input 1 becomes the random samples, which are no part of the gradient."""
    for axes, shape, k, size, ratio in ((2, (1, 2, 6, 7), 2, (3, 4), None), (2, (2, 2, 5, 5), (1, 2), None, 0.6),
                                        (2, (2, 5, 4), 3, 1, None), (3, (1, 2, 4, 4, 5), 2, (2, 2, 3), None),
                                        (3, (1, 1, 4, 4, 4), (2, 1, 2), None, 0.5)):
        spell = lambda v: "x".join(map(str, v if isinstance(v, tuple) else (v,)))
        n = (*(shape[:2] if len(shape) == axes + 2 else (1, shape[0])), axes)
        f = getattr(F, f"fractional_max_pool{axes}d")
        o = {"k": spell(k)} | ({"size": spell(size)} if size else {"ratio": ratio})
        def run(x, u):
            samples = (u * u / 20).detach()
            ratios = [ratio] * axes if ratio else None
            y, i = f(x, k, size, ratios, True, _random_samples=samples)
            return torch.cat([y.flatten(), i.flatten().double(), 0 * u.flatten()])
        emit(f"fractional_max_pool{axes}d", o, [(shape, 1.7), (n, 0.4)], run)
    for bias in (0, 1):
        emit("linear_cross_entropy", {}, [((4, 3), 0.7), ((5, 3), 0.4)] + [((5,), 0.9)] * bias,
             lambda x, w, b=None: F.linear_cross_entropy(x, w, torch.tensor([0, 4, 2, 1]), linear_bias=b,
                                                         label_smoothing=0.1))


def adaptive_softmax():
    """Inputs: x, then the parameters in PyTorch's order; the result is the output, then the loss."""
    target = torch.tensor([0, 7, 2, 4])
    for bias in (0, 1):
        layer = torch.nn.AdaptiveLogSoftmaxWithLoss(8, 9, [3, 6], div_value=2.0, head_bias=bool(bias))
        names = [n for n, _ in layer.named_parameters()]
        def f(x, *values):
            y = torch.func.functional_call(layer, dict(zip(names, values)), (x, target))
            return torch.cat([y.output, y.loss.reshape(1)])
        shapes = [(tuple(p.shape), 0.4 + i / 7) for i, p in enumerate(layer.parameters())]
        emit("adaptive_softmax", {"bias": bias}, [((4, 8), 0.7)] + shapes, f)


def time_first():
    for pad, bias in ((0, 1), (1, 1), (2, 0)):
        emit("conv_tbc", {"pad": pad}, [((5, 2, 3), 0.7), ((3, 3, 4), 0.4)] + [((4,), 0.9)] * bias,
             lambda x, w, b=torch.zeros(4): F.conv_tbc(x, w, b, pad))


def attention_function():
    """Inputs: query, key, value, out_proj_weight, out_proj_bias, in_proj_bias, then in_proj_weight or the
    three in its place, then bias_k and bias_v, each divided by 4. The result is the output, then the weights."""
    t, s, n, e = 3, 4, 2, 4
    padding = torch.tensor([[0, 0, 0, 1], [0, 1, 0, 0]], dtype=torch.bool)
    for separate, kv, zero, average, mask in ((0, 0, 0, 1, 0), (0, 0, 0, 0, 1), (0, 1, 0, 1, 1), (0, 0, 1, 1, 0),
                                              (1, 0, 0, 1, 0), (1, 1, 1, 0, 1)):
        kdim, vdim = (3, 2) if separate else (e, e)
        shapes = [(t, n, e), (s, n, kdim), (s, n, vdim), (e, e), (e,), (3 * e,)]
        shapes += [(e, e), (e, kdim), (e, vdim)] if separate else [(3 * e, e)]
        shapes += [(1, 1, e)] * 2 * kv

        def f(*given):
            q, k, v, ow, ob, ib, *rest = [x / 4 for x in given]
            weights, rest = (rest[:3], rest[3:]) if separate else (rest[:1], rest[1:])
            named = dict(zip(("q_proj_weight", "k_proj_weight", "v_proj_weight"), weights)) if separate else {}
            y, w = F.multi_head_attention_forward(
                q, k, v, e, 2, None if separate else weights[0], ib, *(rest or [None, None]), bool(zero), 0.0,
                ow, ob, key_padding_mask=padding if mask else None, use_separate_proj_weight=bool(separate),
                average_attn_weights=bool(average), **named)
            return torch.cat([y.flatten(), w.flatten()])

        emit("multi_head_attention_forward",
             {"separate": separate, "kv": kv, "zero": zero, "average": average, "mask": mask},
             [(shape, 0.4 + i / 8) for i, shape in enumerate(shapes)], f)


def head_losses():
    layer = torch.nn.LinearCrossEntropyLoss(3, 5, bias=True, label_smoothing=0.1)
    emit("linear_cross_entropy_loss", {}, [((4, 3), 0.7), ((5, 3), 0.4), ((5,), 0.9)],
         lambda x, w, b: torch.func.functional_call(
             layer, {"linear.weight": w, "linear.bias": b}, (x, torch.tensor([0, 4, 2, 1]))))


def pruned(x, *methods):
    """x where the masks that the methods register on a module's weight leave it."""
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(x.detach().clone())
    for method in methods:
        method(module, "weight")
    return x * module.weight_mask


def pruning():
    for shape in ((3, 4), (2, 3, 2, 2)):
        for amount in (0.3, 0.5, 5, 0):
            for times in (1, 2):
                emit("prune_l1", {"amount": amount, "times": times, "scores": 0}, [(shape, 0.7)], lambda x: pruned(
                    x, *[lambda m, name: prune.l1_unstructured(m, name, amount)] * times))
        emit("prune_l1", {"amount": 0.4, "times": 1, "scores": 1}, [(shape, 0.7)], lambda x: pruned(
            x, lambda m, name: prune.l1_unstructured(m, name, 0.4, importance_scores=torch.cos(3 * m.weight))))
        for dim in (0, 1, -1):
            for n in (1, 2, 0.5, math.inf):
                for amount, times in ((1, 1), (0.5, 1), (0.4, 2)):
                    emit("prune_ln", {"amount": amount, "times": times, "n": n, "dim": dim}, [(shape, 0.7)],
                         lambda x: pruned(x, *[lambda m, name: prune.ln_structured(m, name, amount, n, dim)] * times))
    for amount in (0.25, 0.6, 7):
        def together(a, b):
            modules = [torch.nn.Module(), torch.nn.Module()]
            for m, x in zip(modules, (a, b)):
                m.weight = torch.nn.Parameter(x.detach().clone())
            prune.global_unstructured([(m, "weight") for m in modules], prune.L1Unstructured, amount=amount)
            return torch.cat([(x * m.weight_mask).flatten() for m, x in zip(modules, (a, b))])
        emit("prune_global", {"amount": amount}, [((3, 4), 0.7), ((2, 2, 3), 0.45)], together)


def grouped(a, b, offs):
    """F.grouped_mm, which knows no f64: its products group by group, held against it in f32."""
    if offs is None:
        y = a @ b
    else:
        ends = offs.tolist()
        spans = list(zip([0] + ends[:-1], ends))
        if a.dim() == 3:
            y = torch.cat([a[i] @ b[:, i0:i1] for i, (i0, i1) in enumerate(spans)], 1)
        elif b.dim() == 3:
            y = torch.cat([a[i0:i1] @ b[i] for i, (i0, i1) in enumerate(spans)], 0)
        else:
            y = torch.stack([a[:, i0:i1] @ b[i0:i1] for i0, i1 in spans])
    with torch.no_grad():
        own = F.grouped_mm(a.float(), b.float(), offs=offs)
    torch.testing.assert_close(own.double(), y, rtol=0, atol=1e-5)
    return y


def grouped_products():
    """Rows of 16 bytes, which F.grouped_mm asks for; the last group ends at the end of the axis."""
    offs = {"none": None, "even": torch.tensor([4, 8], dtype=torch.int32),
            "empty": torch.tensor([4, 4, 8], dtype=torch.int32)}
    for name, ends in offs.items():
        g = 2 if ends is None else len(ends)
        shapes = {"both": ((g, 8, 4), (g, 4, 8))} if ends is None else {
            "rows": ((8, 4), (g, 4, 8)), "columns": ((g, 8, 4), (4, 8)), "inner": ((4, 8), (8, 4))}
        for form, (a, b) in shapes.items():
            emit("grouped_mm", {"offs": name, "form": form}, [(a, 0.7), (b, 0.4)],
                 lambda a, b: grouped(a, b, ends))


PARTS = (probability_losses, margin_losses, ctc, similarity, norms, pools, activations, rearrangements,
         convolutions, resampling, tables, fractional, adaptive_softmax, time_first, attention_function,
         head_losses, pruning, grouped_products)

if __name__ == "__main__":
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"// Made by make_functional_cases.py with torch {torch.__version__.split('+')[0]}.")
    for part in PARTS:
        part()
