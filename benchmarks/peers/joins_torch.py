# SPDX-License-Identifier: Apache-2.0
"""Rows of PyTorch that join arrays, read an element's neighbours, and make pictures ready."""

import torch

import streams
from harness import ROWS, row
from work_torch import applied, normals

MILLION = 1024 * 1024
JOINS = {
    "concat_first": (0, [(256, 1024)] * 4),
    "concat_middle": (1, [(64, 16, 256)] * 4),
    "concat_last": (-1, [(4096, 64)] * 4),
    "concat_last_bf16": (-1, [(4096, 64)] * 4, torch.bfloat16),
    "concat_thin": (-1, [(262144, 3), (262144, 1)]),
    "concat_thin_bf16": (-1, [(262144, 5), (262144, 2)], torch.bfloat16),
    "concat_thin_i32": (-1, [(262144, 2), (262144, 1), (262144, 3)], torch.int32),
}
for name, (axis, shapes, *dtype) in JOINS.items():
    ROWS[name] = lambda axis=axis, shapes=shapes, dtype=(*dtype, torch.float32)[0]: applied(
        lambda *parts: torch.cat(parts, axis), *[normals(*shape).to(dtype) for shape in shapes])


def stack_last(count, dtype):
    parts = [streams.normal(streams.key(k), (MILLION,)).to(dtype) for k in range(count)]
    return applied(lambda *parts: torch.stack(parts, -1), *parts)


ROWS["stack_last_1m"] = lambda: stack_last(2, torch.float32)
ROWS["stack_last_bf16_1m"] = lambda: stack_last(3, torch.bfloat16)


@row("stencil")
def stencil():
    def step(u):
        around = (torch.roll(u, 1, 0) + torch.roll(u, -1, 0) + torch.roll(u, 1, 1)
                  + torch.roll(u, -1, 1) - 4 * u)
        return u + 0.1 * around

    def run(u):
        for _ in range(100):
            u = step(u)
        return u

    return applied(run, normals(512, 512))


@row("ring")
def ring():
    def run(u):
        for _ in range(100):
            flux = 0.3 * u - 0.2 * (torch.roll(u, -1) - u)
            u = u - (flux - torch.roll(flux, 1))
        return u

    return applied(run, normals(4096))


@row("channels_first")
def channels_first():
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])

    def run(pictures):
        x = (pictures.to(torch.float32) / 255 - mean) / deviation
        return x.permute(0, 3, 1, 2).contiguous()

    return applied(run, (normals(32, 128, 128, 3) * 64 + 128).clip(0, 255).to(torch.uint8))


@row("differences_1m")
def differences():
    def step(u):
        left, mid, right = u[:-2], u[1:-1], u[2:]
        return mid + 0.1 * (right - 2 * mid + left) - 0.05 * mid * (right - left)

    return applied(step, normals(MILLION))
