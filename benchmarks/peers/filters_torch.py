# SPDX-License-Identifier: Apache-2.0
"""Rows of PyTorch that filter pictures and signals, multiply small matrices, and measure distances."""

import torch
import torch.nn.functional as F

from harness import ROWS
from work_torch import applied, normals


def blur(x, w):
    return F.conv2d(x, w, padding=1, groups=x.shape[1])


def blur_gradient(x, w):
    x = x.detach().requires_grad_()
    with torch.enable_grad():
        value = 0.5 * blur(x, w).square().sum()
    return torch.autograd.grad(value, x)[0]


def chamfer(x, y):
    d = (x[:, None] - y).square().sum(-1)
    return d.amin(1).mean() + d.amin(0).mean()


PICTURES, FILTERS = ((4, 3, 256, 256), (3, 1, 3, 3))
WORK = {
    "blur": (blur, PICTURES, FILTERS),
    "blur_grad": (blur_gradient, PICTURES, FILTERS),
    "slopes": (lambda x, w: F.conv2d(x, w, padding=1), (1, 1, 512, 512), (2, 1, 3, 3)),
    "fir": (F.conv1d, (4, 1, 32768), (1, 1, 31)),
    "products_3x3": (torch.matmul, (16384, 3, 3), (16384, 3, 3)),
    "products_3x1": (torch.matmul, (16384, 3, 3), (16384, 3, 1)),
    "chamfer": (chamfer, (1024, 3), (1000, 3)),
}
for name, (f, a, b) in WORK.items():
    ROWS[name] = lambda f=f, a=a, b=b: applied(f, normals(*a), normals(*b))
