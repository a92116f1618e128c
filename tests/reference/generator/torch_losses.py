# SPDX-License-Identifier: Apache-2.0
"""Losses in PyTorch's conventions."""

import torch.nn.functional as F

from .draw import integers, ints, normal, uniform

REDUCTIONS = ({}, {"reduction": "sum"}, {"reduction": "none"})


def log_probabilities(function):
    return lambda x, target, **options: function(
        F.log_softmax(x, 1 if x.dim() > 1 else 0), target, **options
    )


def operations():
    classes = [((normal(4, 3), integers(0, 3, 4)), r) for r in REDUCTIONS]
    classes += [((normal(2, 3, 4), integers(0, 3, 2, 4)), r) for r in REDUCTIONS]
    classes += [((normal(5), ints(2)), {}), ((uniform(-50, 50, 3, 4), integers(0, 4, 3)), {})]
    ignored = [((normal(4, 3), ints([0, -100, 2, 1])), r) for r in REDUCTIONS]
    ignored.append(((normal(4, 3), ints([0, 1, 2, 1])), {"ignore_index": 1}))
    smooth = [((normal(4, 3), integers(0, 3, 4)), dict(r, label_smoothing=0.1)) for r in REDUCTIONS]
    yield "nn.cross_entropy", F.cross_entropy, classes + ignored + smooth
    yield "nn.cross_entropy_weighted", lambda x, t, w, **o: F.cross_entropy(x, t, weight=w, **o), [
        ((normal(4, 3), integers(0, 3, 4), uniform(0.5, 2, 3)), r) for r in REDUCTIONS
    ]
    yield "nn.nll_loss", F.nll_loss, classes[:7] + ignored
    pairs = [(s, r) for s in ((5,), (2, 3)) for r in REDUCTIONS]
    yield "nn.mse_loss", F.mse_loss, [((normal(*s), normal(*s)), r) for s, r in pairs]
    yield "nn.l1_loss", F.l1_loss, [((normal(*s), normal(*s)), r) for s, r in pairs]
    yield "nn.huber_loss", F.huber_loss, [((normal(*s), normal(*s)), r) for s, r in pairs] + [
        ((normal(6), normal(6)), {"delta": 0.5})
    ]
    yield "nn.smooth_l1_loss", F.smooth_l1_loss, [
        ((normal(*s), normal(*s)), r) for s, r in pairs
    ] + [((normal(6), normal(6)), {"beta": 0.5})]
    yield "nn.bce_with_logits", F.binary_cross_entropy_with_logits, [
        ((normal(*s), uniform(0, 1, *s)), r) for s, r in pairs
    ] + [((uniform(-60, 60, 6), uniform(0, 1, 6)), {})]
    yield "nn.kl_div", F.kl_div, [((uniform(-3, 0, *s), uniform(0.1, 1, *s)), r) for s, r in pairs]
