# SPDX-License-Identifier: Apache-2.0
"""Layers as functions: linear, convolutions, pooling, normalisation, embedding, dropout."""

import torch.nn.functional as F

from .draw import integers, normal, spread, uniform

CONV1 = [
    ((2, 3, 6), (4, 3, 3), {}),
    ((1, 2, 7), (3, 2, 3), {"stride": 2, "padding": 1}),
    ((1, 2, 8), (2, 2, 3), {"dilation": 2}),
    ((2, 4, 5), (4, 2, 2), {"groups": 2}),
    ((1, 3, 5), (3, 1, 3), {"groups": 3, "padding": 2}),
    ((1, 2, 6), (3, 2, 3), {"padding": "same"}),
    ((1, 2, 6), (3, 2, 4), {"padding": "same", "dilation": 1}),
    ((1, 2, 6), (3, 2, 3), {"padding": "valid"}),
    ((2, 6), (3, 2, 3), {"padding": 1}),
    ((1, 2, 9), (2, 2, 2), {"stride": 3, "dilation": 3}),
]
CONV2 = [
    ((1, 2, 4, 4), (2, 2, 3, 3), {}),
    ((2, 2, 4, 3), (3, 2, 2, 2), {"stride": [2, 1]}),
    ((1, 2, 4, 4), (2, 2, 3, 3), {"padding": 1}),
    ((1, 1, 5, 6), (2, 1, 3, 2), {"stride": 2, "padding": [1, 0]}),
    ((1, 2, 5, 5), (2, 2, 2, 2), {"dilation": [2, 1]}),
    ((1, 4, 3, 3), (2, 2, 2, 2), {"groups": 2}),
    ((1, 3, 3, 4), (6, 1, 2, 3), {"groups": 3, "padding": 1}),
    ((1, 2, 4, 4), (2, 2, 3, 2), {"padding": "same"}),
    ((2, 4, 4), (2, 2, 3, 3), {"padding": 1}),
    ((2, 3, 3, 3), (4, 3, 1, 1), {}),
    ((1, 1, 7, 7), (1, 1, 3, 3), {"stride": 3, "padding": 2, "dilation": 2}),
]
CONV3 = [
    ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), {}),
    ((1, 1, 4, 3, 4), (2, 1, 2, 2, 3), {"stride": [2, 1, 1], "padding": [0, 1, 1]}),
    ((1, 2, 3, 3, 2), (2, 1, 2, 1, 2), {"groups": 2}),
    ((1, 1, 3, 4, 5), (1, 1, 2, 2, 2), {"dilation": [1, 2, 3]}),
]

# options of pooling: kernel_size, stride, padding, dilation (maximum only), ceil_mode
POOL = {
    1: [
        ((2, 2, 6), {"kernel_size": 2}),
        ((1, 2, 7), {"kernel_size": 3, "stride": 2}),
        ((1, 2, 6), {"kernel_size": 3, "stride": 1, "padding": 1}),
        ((2, 5), {"kernel_size": 2}),
    ],
    2: [
        ((1, 2, 4, 4), {"kernel_size": 2}),
        ((1, 2, 5, 5), {"kernel_size": 3, "stride": 2, "padding": 1}),
        ((2, 1, 4, 6), {"kernel_size": [2, 3], "stride": [2, 1]}),
        ((1, 1, 5, 6), {"kernel_size": 3, "stride": 1}),
        ((2, 4, 4), {"kernel_size": 2}),
    ],
    3: [
        ((1, 1, 4, 4, 2), {"kernel_size": 2}),
        ((1, 1, 3, 4, 3), {"kernel_size": [2, 2, 1], "stride": 1}),
    ],
}


def convolution(rank):
    function = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
    return lambda *arrays, **options: function(*arrays, **options)


def batch_norm_training(x, weight, bias, eps=1e-5):
    return F.batch_norm(x, None, None, weight, bias, True, 0.1, eps)


def batch_norm_updates(x, mean, variance, momentum=0.1):
    """The new running mean and variance; torch changes its arguments, so they are copied first."""
    mean, variance = mean.detach().clone(), variance.detach().clone()
    F.batch_norm(x, mean, variance, None, None, True, momentum)
    return mean, variance


def operations():
    n = normal
    yield "nn.linear", F.linear, [
        ((n(*x), n(4, 3), n(4)), {}) for x in ((3,), (2, 3), (2, 2, 3))
    ] + [((n(2, 3), n(4, 3)), {}), ((n(0, 3), n(2, 3), n(2)), {})]
    for rank, table in ((1, CONV1), (2, CONV2), (3, CONV3)):
        samples = [
            ((n(*x), n(*w)) + ((n(w[0]),) if i % 2 == 0 else ()), o)
            for i, (x, w, o) in enumerate(table)
        ]
        yield f"nn.conv{rank}d", convolution(rank), samples
    for rank, table in POOL.items():
        maximum = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[rank - 1]
        average = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[rank - 1]
        size = (1, 2) + (5,) * rank if rank < 3 else (1, 1, 3, 3, 3)
        table = table + [(size, {"kernel_size": 2, "stride": 2, "ceil_mode": True})]
        padded = {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}
        dilated = {"kernel_size": 2, "stride": 1, "dilation": 2}
        yield f"nn.max_pool{rank}d", maximum, [
            ((spread(*s),), o) for s, o in table + [(size, dilated)]
        ]
        yield f"nn.avg_pool{rank}d", average, [((n(*s),), o) for s, o in table + [(size, padded)]]
    yield "nn.layer_norm", lambda x, w, b, axes, eps=1e-5: F.layer_norm(
        x, x.shape[-axes:], w, b, eps
    ), [
        ((n(3, 5), n(5), n(5)), {"axes": 1}),
        ((n(2, 3, 4), n(4), n(4)), {"axes": 1, "eps": 0.1}),
        ((n(2, 3, 4), n(3, 4), n(3, 4)), {"axes": 2}),
        ((n(6), n(6), n(6)), {"axes": 1}),
    ]
    yield "nn.layer_norm_plain", lambda x, axes: F.layer_norm(x, x.shape[-axes:]), [
        ((n(3, 5),), {"axes": 1}),
        ((n(2, 2, 3),), {"axes": 2}),
    ]
    shapes = ((4, 3), (2, 3, 4), (2, 3, 2, 2))
    yield "nn.batch_norm_eval", lambda x, m, v, w, b, **o: F.batch_norm(
        x, m, v, w, b, False, 0.1, **o
    ), [
        ((n(*s), n(3), uniform(0.5, 2, 3), n(3), n(3)), o)
        for s in shapes
        for o in ({}, {"eps": 0.1})
    ]
    yield "nn.batch_norm_training", batch_norm_training, [
        ((n(*s), n(3), n(3)), o) for s in shapes for o in ({}, {"eps": 0.1})
    ]
    yield "nn.batch_norm_updates", batch_norm_updates, [
        ((n(*s), n(3), uniform(0.5, 2, 3)), o) for s in shapes for o in ({}, {"momentum": 0.3})
    ]
    yield "nn.embedding", lambda i, w: F.embedding(i, w), [
        ((integers(0, 5, 4), n(5, 3)), {}),
        ((integers(0, 4, 2, 3), n(4, 2)), {}),
        ((integers(0, 4), n(4, 2)), {}),
    ]
    yield "nn.dropout_eval", lambda x, p: F.dropout(x, p, False), [
        ((n(5),), {"p": 0.5}),
        ((n(2, 3),), {"p": 0.9}),
    ]
