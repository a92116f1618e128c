# SPDX-License-Identifier: Apache-2.0
"""Nets and optimizers of the rows in PyTorch, with the parameters that JAX's keys give."""

import torch
import torch.nn.functional as F
from torch import nn

import streams


def sgd(parameters, rate):
    return torch.optim.SGD(parameters, lr=rate)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-3, fused=True)


def fill(layer, key):
    """Uniform in the layer's own bounds, from the two halves of its key."""
    fan_in = layer.weight[0].numel()
    for parameter, k in zip((layer.weight, layer.bias), streams.split(key)):
        # A convolution's weight is drawn as a matrix of out rows: the same elements in order.
        parameter.data = streams.uniform(k, tuple(parameter.shape), -(fan_in**-0.5), fan_in**-0.5)
    return layer


def mlp(sizes, activation, seed=0):
    keys, layers = streams.split(streams.key(seed), len(sizes)), []
    for i in range(len(sizes) - 1):
        layers += [fill(nn.Linear(sizes[i], sizes[i + 1]), keys[i]), activation()]
    return nn.Sequential(*layers[:-1])


def lenet():
    keys = streams.split(streams.key(0), 5)
    return nn.Sequential(
        fill(nn.Conv2d(1, 6, 5, padding=2), keys[0]), nn.ReLU(), nn.MaxPool2d(2),
        fill(nn.Conv2d(6, 16, 5), keys[1]), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        fill(nn.Linear(400, 120), keys[2]), nn.ReLU(),
        fill(nn.Linear(120, 84), keys[3]), nn.ReLU(), fill(nn.Linear(84, 10), keys[4]))


class Average(nn.Module):
    def forward(self, x):
        return x.mean(dim=(2, 3))


def cnn():
    keys = streams.split(streams.key(0), 3)
    return nn.Sequential(
        fill(nn.Conv2d(3, 64, 3, padding=1), keys[0]), nn.ReLU(), nn.MaxPool2d(2),
        fill(nn.Conv2d(64, 64, 3, padding=1), keys[1]), nn.ReLU(), Average(),
        fill(nn.Linear(64, 10), keys[2]))


class Block(nn.Module):
    def __init__(self, key, width, heads):
        super().__init__()
        keys = streams.split(key, 4)
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = fill(nn.Linear(width, 3 * width), keys[0])
        self.out = fill(nn.Linear(width, width), keys[1])
        self.mlp = nn.Sequential(fill(nn.Linear(width, 4 * width), keys[2]),
                                 nn.GELU(approximate="tanh"),
                                 fill(nn.Linear(4 * width, width), keys[3]))

    def forward(self, x):
        batch, time, width = x.shape
        split = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = split.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, time, width))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, width=128, letters=65):
        super().__init__()
        keys = streams.split(streams.key(0), 7)
        self.letters = nn.Embedding.from_pretrained(
            0.02 * streams.normal(keys[0], (letters, width)), freeze=False)
        self.places = nn.Parameter(0.02 * streams.normal(keys[1], (128, width)))
        self.blocks = nn.Sequential(*[Block(k, width, 4) for k in keys[2:6]])
        self.norm, self.out = nn.LayerNorm(width), fill(nn.Linear(width, letters), keys[6])

    def forward(self, x):
        return self.out(self.norm(self.blocks(self.letters(x) + self.places)))
