# SPDX-License-Identifier: Apache-2.0
"""Losses in PyTorch's conventions."""

import torch.nn.functional as F

from .draw import integers, ints, normal, uniform

REDUCTIONS = ({}, {"reduction": "sum"}, {"reduction": "none"})


def weighted_bce(x, target, weight, positive, **options):
    return F.binary_cross_entropy_with_logits(x, target, weight, pos_weight=positive, **options)


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
    yield "nn.bce_with_logits", F.binary_cross_entropy_with_logits, [
        ((normal(*s), uniform(0, 1, *s)), r) for s, r in pairs
    ] + [((uniform(-60, 60, 6), uniform(0, 1, 6)), {})]
    yield "nn.bce_with_logits_weighted", weighted_bce, [
        ((normal(4, 3), uniform(0, 1, 4, 3), uniform(0.5, 2, 3), uniform(0.5, 2, 3)), r)
        for r in REDUCTIONS
    ]
    yield "nn.cross_entropy_of_shares", F.cross_entropy, [
        ((normal(4, 3), uniform(0, 1, 4, 3)), dict(r, label_smoothing=l))
        for r in REDUCTIONS
        for l in (0.0, 0.1)
    ] + [((normal(2, 3, 4), uniform(0, 1, 2, 3, 4)), {})]
