# SPDX-License-Identifier: Apache-2.0
"""Rows of PyTorch that train and call layers: running statistics, dropout and masks, images that
become smaller and larger, inference of one example."""

import torch
import torch.nn.functional as F
from torch import nn

import streams
from harness import ROWS, row
from layers_torch import Average, cnn, fill, mlp, sgd
from work_torch import applied, integers, normals, trained


class ResBlock(nn.Module):
    def __init__(self, key, inputs, outputs, stride):
        super().__init__()
        k = streams.split(key, 3)
        self.a = fill(nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1), k[0])
        self.b = fill(nn.Conv2d(outputs, outputs, 3, padding=1), k[1])
        self.na, self.nb = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.shortcut = (nn.Identity() if stride == 1 else
                         fill(nn.Conv2d(inputs, outputs, 1, stride=stride), k[2]))

    def forward(self, x):
        y = self.nb(self.b(F.relu(self.na(self.a(x)))))
        return F.relu(y + self.shortcut(x))


@row("resnet")
def resnet():
    k = streams.split(streams.key(0), 5)
    net = nn.Sequential(
        fill(nn.Conv2d(3, 32, 3, padding=1), k[0]), nn.BatchNorm2d(32), nn.ReLU(),
        ResBlock(k[1], 32, 32, 1), ResBlock(k[2], 32, 64, 2), ResBlock(k[3], 64, 128, 2),
        Average(), fill(nn.Linear(128, 10), k[4]))
    return trained(lambda x, y: F.cross_entropy(net(x), y), sgd(net.parameters(), 0.01),
                   normals(32, 3, 32, 32), integers(10, 32))


@row("gru")
def gru():
    net = nn.GRU(64, 128)
    for half, key in zip(("ih", "hh"), streams.split(streams.key(0))):
        like = fill(nn.Linear(64 if half == "ih" else 128, 384), key)
        getattr(net, f"weight_{half}_l0").data.copy_(like.weight.data)
        getattr(net, f"bias_{half}_l0").data.copy_(like.bias.data)
    return trained(lambda x: net(x)[0].square().mean(), sgd(net.parameters(), 0.01),
                   normals(64, 32, 64))


def encoder_layer(key, width):
    k = streams.split(key, 4)
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, norm_first=True)
    inside = fill(nn.Linear(width, 3 * width), k[0])
    layer.self_attn.in_proj_weight.data.copy_(inside.weight.data)
    layer.self_attn.in_proj_bias.data.copy_(inside.bias.data)
    fill(layer.self_attn.out_proj, k[1])
    fill(layer.linear1, k[2])
    fill(layer.linear2, k[3])
    return layer


@row("encoder")
def encoder():
    layers = [encoder_layer(k, 128) for k in streams.split(streams.key(0), 2)]
    net = nn.ModuleList(layers)
    padding = torch.arange(64) >= (64 - 3 * torch.arange(16))[:, None]

    def loss(x):
        for layer in layers:
            x = layer(x, src_key_padding_mask=padding)
        return x.square().mean()

    return trained(loss, sgd(net.parameters(), 0.01), normals(16, 64, 128))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        k = streams.split(streams.key(0), 7)

        def conv(key, inputs, outputs, stride=1):
            return fill(nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1), key)

        self.first, self.down1, self.down2 = (
            conv(k[0], 1, 16), conv(k[1], 16, 32, 2), conv(k[2], 32, 64, 2))
        self.join1, self.join2 = conv(k[3], 64, 32), conv(k[4], 32, 1)
        self.up1 = fill(nn.ConvTranspose2d(64, 32, 2, stride=2), k[5])
        self.up2 = fill(nn.ConvTranspose2d(32, 16, 2, stride=2), k[6])

    def forward(self, x):
        a = F.relu(self.first(x))
        b = F.relu(self.down1(a))
        c = F.relu(self.down2(b))
        d = F.relu(self.join1(torch.cat([F.relu(self.up1(c)), b], 1)))
        return self.join2(torch.cat([F.relu(self.up2(d)), a], 1))


@row("unet")
def unet():
    net = UNet()
    return trained(lambda x: F.mse_loss(net(x), x), sgd(net.parameters(), 0.01),
                   normals(8, 1, 64, 64))


def gradient_of(f, weighed=lambda x, y: y.square()):
    def of(x, *others):
        return torch.autograd.grad(weighed(x, f(x, *others)).sum(), x)[0]

    return of


def with_gradient(make):
    def of():
        x, *others = make()
        return x.requires_grad_(), *others

    return of


def bags(table, ids, offsets):
    return F.embedding_bag(ids, table, offsets)


def table_of_bags():
    return (normals(50000, 64), streams.randint(streams.key(1), (131072,), 50000),
            32 * torch.arange(4096))


def pooled():
    return (normals(32, 64, 33, 33),)


def channels():
    return (normals(32, 64, 32, 32),)


def average(x):
    return F.adaptive_avg_pool2d(x, 7)


def group_norm(x):
    return F.group_norm(x, 8)


def twice(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear")


def small():
    return (normals(8, 16, 64, 64),)


CALLS = {
    "adaptive_avg_pool": (average, pooled),
    "adaptive_avg_pool_grad": (gradient_of(average), with_gradient(pooled)),
    "adaptive_max_pool": (lambda x: F.adaptive_max_pool2d(x, 7), pooled),
    "group_norm": (group_norm, channels),
    "group_norm_grad": (
        gradient_of(group_norm, lambda x, y: y * x.square()), with_gradient(channels)),
    "embedding_bag": (bags, table_of_bags),
    "embedding_bag_grad": (gradient_of(bags), with_gradient(table_of_bags)),
    "interpolate": (twice, small),
    "interpolate_grad": (gradient_of(twice), with_gradient(small)),
}
for name, (function, make) in CALLS.items():
    ROWS[name] = lambda f=function, make=make: applied(f, *make())


def inference(net, x):
    net.requires_grad_(False)
    return applied(lambda x: net(x), x)


@row("mlp_one")
def mlp_one():
    return inference(mlp([784, 512, 512, 10], nn.ReLU), normals(1, 784))


@row("cnn_one")
def cnn_one():
    return inference(cnn(), normals(1, 3, 32, 32))
