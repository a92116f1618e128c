# SPDX-License-Identifier: Apache-2.0
"""Rows of PyTorch that read, add and set elements and rows at index arrays, by the operation that
PyTorch has for each."""

import torch
import torch.nn.functional as F

import streams
from harness import ROWS, Work, row
from work_torch import applied, finish, integers, maybe_compiled, normals, numbers

MILLION = 1024 * 1024


def places(seed, high, *shape):
    return streams.randint(streams.key(seed), shape, high)


def shuffled(n):
    return torch.arange(n) * 7919 % n


def bf16(*shape):
    return normals(*shape).bfloat16()


def gradient(f):
    def of(x, w, *indices):
        y = f(x, *indices)
        return torch.autograd.grad(y, x, w)[0]

    return of


def with_gradient(x, *others):
    return x.requires_grad_(), *others


def rows(x, i):
    return x.index_select(0, i)


def take_two(x, i, j):
    return x[i, j]


def take_three(x, i, j, k):
    return x[i, j, k]


def take_along(x, k):
    return torch.gather(x, -1, k)


def bag(table, ids):
    return F.embedding_bag(ids, table, mode="sum")


def add(x, i, u):
    return x.index_add(0, i, u)


def by_segment(x, source, target):
    return torch.zeros_like(x).index_add(0, target, x.index_select(0, source))


# Name -> (function, what makes its arguments).
GATHERS = {
    "take_rows": (rows, lambda: (normals(50000, 128), places(1, 50000, 16384))),
    "take_rows_bf16": (rows, lambda: (bf16(50000, 128), places(1, 50000, 16384))),
    "take_rows_grad": (gradient(rows), lambda: with_gradient(
        normals(50000, 128), normals(16384, 128), places(1, 50000, 16384))),
    "take_points": (rows, lambda: (normals(4096, 3), places(1, 4096, 65536))),
    "take_1m": (rows, lambda: (normals(MILLION), places(1, MILLION, MILLION))),
    "take_sorted_1m": (rows, lambda: (
        integers(1000, MILLION).int(), torch.sort(places(1, MILLION, MILLION)).values)),
    "take_grad_1m": (gradient(rows), lambda: with_gradient(
        normals(MILLION), normals(MILLION), places(1, MILLION, MILLION))),
    "take_bf16_1m": (rows, lambda: (bf16(MILLION), places(1, MILLION, MILLION))),
    "take_rows_sorted": (rows, lambda: (
        integers(1000, 50000, 128).int(), torch.sort(places(1, 50000, 16384)).values)),
    "take_grad_bf16_1m": (gradient(rows), lambda: with_gradient(
        bf16(MILLION), bf16(MILLION), places(1, MILLION, MILLION))),
    "take_along_1m": (take_along, lambda: (
        normals(1024, 1024), places(1, 1024, 1024, 1024))),
    "take_along_grad_1m": (gradient(take_along), lambda: with_gradient(
        normals(1024, 1024), normals(1024, 1024), places(1, 1024, 1024, 1024))),
    "index_two_1m": (take_two, lambda: (
        normals(1024, 1024), places(1, 1024, MILLION), places(2, 1024, MILLION))),
    "index_two_grad_1m": (gradient(take_two), lambda: with_gradient(
        normals(1024, 1024), normals(MILLION), places(1, 1024, MILLION),
        places(2, 1024, MILLION))),
    "index_three_1m": (take_three, lambda: (
        normals(64, 128, 128), places(1, 64, MILLION), places(2, 128, MILLION),
        places(3, 128, MILLION))),
    "index_three_grad_1m": (gradient(take_three), lambda: with_gradient(
        normals(64, 128, 128), normals(MILLION), places(1, 64, MILLION), places(2, 128, MILLION),
        places(3, 128, MILLION))),
    "bag": (bag, lambda: (normals(50000, 64), places(1, 50000, 4096, 32))),
    "bag_bf16": (bag, lambda: (bf16(50000, 64), places(1, 50000, 4096, 32))),
    "bag_grad": (gradient(bag), lambda: with_gradient(
        normals(50000, 64), normals(4096, 64), places(1, 50000, 4096, 32))),
    "add_rows": (add, lambda: (
        normals(5000, 128), places(1, 5000, 65536), normals(65536, 128))),
    "add_rows_bf16": (add, lambda: (
        bf16(5000, 128), places(1, 5000, 65536), bf16(65536, 128))),
    "add_points": (add, lambda: (
        normals(4096, 4), places(1, 4096, 65536), normals(65536, 4))),
    "max_points": (
        lambda x, i, u: x.index_reduce(0, i, u, "amax"),
        lambda: (normals(4096, 8), places(1, 4096, 65536), normals(65536, 8))),
    "add_1m": (add, lambda: (
        normals(MILLION), places(1, MILLION, MILLION), normals(MILLION))),
    "add_two_1m": (
        lambda i, j: torch.zeros(1024, 1024).index_put((i, j), torch.ones(()), accumulate=True),
        lambda: (places(1, 1024, MILLION), places(2, 1024, MILLION))),
    "add_i32_1m": (add, lambda: (
        integers(1000, MILLION).int(), places(1, MILLION, MILLION), integers(1000, MILLION).int())),
    "add_sorted_1m": (add, lambda: (
        normals(MILLION), torch.sort(places(1, MILLION, MILLION)).values, normals(MILLION))),
    "max_1m": (
        lambda x, i, u: x.scatter_reduce(0, i, u, "amax"),
        lambda: (normals(MILLION), places(1, MILLION, MILLION), 2 * normals(MILLION))),
    "set_rows": (
        lambda x, i, u: x.index_copy(0, i, u),
        lambda: (torch.zeros(65536, 128), shuffled(65536), normals(65536, 128))),
    "count_1m": (
        lambda labels: torch.bincount(labels, minlength=1000),
        lambda: (places(1, 1000, MILLION),)),
    "set_1m": (
        lambda x, i, u: x.index_copy(0, i, u),
        lambda: (torch.zeros(MILLION), shuffled(MILLION), normals(MILLION))),
    "segment": (by_segment, lambda: (
        normals(10000, 64), places(1, 10000, 80000), places(2, 10000, 80000))),
    "segment_sorted": (by_segment, lambda: (
        normals(10000, 64), places(1, 10000, 80000),
        torch.sort(places(2, 10000, 80000)).values)),
}
for name, (function, make) in GATHERS.items():
    ROWS[name] = lambda f=function, make=make: applied(f, *make())


@row("tables")
def tables():
    def update(a, b, i, j):
        u, v = a.index_select(0, i), b.index_select(0, j)
        p = torch.sigmoid((u * v).sum(-1))
        step = 0.05 * (1 - p)[:, None]
        a.index_add_(0, i, step * v)
        b.index_add_(0, j, step * u)
        return p.mean()

    run = maybe_compiled(update)
    a, b = 0.1 * normals(50000, 128), 0.2 * normals(50000, 128)
    i, j = places(1, 50000, 8192), places(2, 50000, 8192)
    return Work(lambda: run(a, b, i, j), finish, numbers)


@row("warp")
def warp():
    def moved(images, dy, dx):
        n, h, w = images.shape
        y = torch.clip(dy + torch.arange(h, dtype=torch.float32)[:, None], 0, h - 1.001)
        x = torch.clip(dx + torch.arange(w, dtype=torch.float32), 0, w - 1.001)
        y0, x0 = torch.floor(y), torch.floor(x)
        fy, fx = y - y0, x - x0
        k, i, j = torch.arange(n)[:, None, None], y0.long(), x0.long()
        top = images[k, i, j] * (1 - fx) + images[k, i, j + 1] * fx
        bottom = images[k, i + 1, j] * (1 - fx) + images[k, i + 1, j + 1] * fx
        return top * (1 - fy) + bottom * fy

    shape = (16, 256, 256)
    return applied(moved, normals(*shape), 3 * streams.normal(streams.key(1), shape),
                   3 * streams.normal(streams.key(2), shape))
