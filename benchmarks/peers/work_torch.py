# SPDX-License-Identifier: Apache-2.0
"""What the programs in PyTorch share: numbers from JAX's keys, and the work of a row."""

import os
import sys

import torch

import streams
from harness import Work

COMPILED = "--compile" in sys.argv
ON_GPU = "--cuda" in sys.argv
DATA_KEY = streams.key(9)
torch.set_num_threads(len(os.sched_getaffinity(0)))
if ON_GPU:
    torch.set_default_device("cuda")
    torch.backends.cudnn.allow_tf32 = False  # of products it is off


def normals(*shape):
    return streams.normal(DATA_KEY, shape)


def integers(high, *shape):
    return streams.randint(DATA_KEY, shape, high)


# --- timing -----------------------------------------------------------------------------------


def flat(results):
    if isinstance(results, torch.Tensor):
        return [results]
    parts = results.values() if isinstance(results, dict) else results
    return [leaf for part in parts for leaf in flat(part)]


def numbers(results):
    leaves = [leaf.detach() for leaf in flat(results)]
    return sum(leaf.abs().double().sum().item() for leaf in leaves), sum(map(torch.numel, leaves))


def maybe_compiled(function):
    if not COMPILED:
        return function
    return torch.compile(function, mode="max-autotune" if ON_GPU else None)


def finish(results):
    if ON_GPU:
        torch.cuda.synchronize()


def applied(function, *arguments):
    run = maybe_compiled(function)
    return Work(lambda: run(*arguments), finish, numbers)


def trained(loss, optimizer, *data):
    run = maybe_compiled(loss)

    def call():
        optimizer.zero_grad()
        value = run(*data)
        value.backward()
        optimizer.step()
        return value

    return Work(call, finish, numbers)
