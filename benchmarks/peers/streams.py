# SPDX-License-Identifier: Apache-2.0
"""JAX's random streams (partitionable Threefry-2x32) in NumPy, so that a peer without JAX starts
from the same numbers."""

import numpy as np
import torch

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key, high, low):
    """Twenty rounds of Threefry-2x32 over two arrays of u32."""
    schedule = (key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA))
    with np.errstate(over="ignore"):
        a, b = high + schedule[0], low + schedule[1]
        for group in range(5):
            for r in ROTATIONS[group % 2]:
                a = a + b
                b = (b << np.uint32(r)) | (b >> np.uint32(32 - r))
                b = a ^ b
            a = a + schedule[(group + 1) % 3]
            b = b + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return a, b


def counted(key, count):
    return threefry(key, np.zeros(count, np.uint32), np.arange(count, dtype=np.uint32))


def key(seed):
    return np.array([0, seed], np.uint32)


def split(parent, count=2):
    return list(np.stack(counted(parent, count), axis=1))


def bits(k, shape):
    a, b = counted(k, int(np.prod(shape)))
    return (a ^ b).reshape(shape)


def on_device(numbers):
    return torch.from_numpy(numbers).to(torch.get_default_device())


def uniform(k, shape, low=0.0, high=1.0):
    low, high = np.float32(low), np.float32(high)
    unit = ((bits(k, shape) >> np.uint32(9)) | np.uint32(0x3F800000)).view(np.float32) - 1
    return on_device(np.maximum(low, unit * (high - low) + low))


def normal(k, shape):
    u = uniform(k, shape, np.nextafter(np.float32(-1), np.float32(0)), 1)
    return float(np.float32(np.sqrt(2))) * torch.erfinv(u)


def randint(k, shape, high):
    first, second = split(k)
    span = np.uint64(high)
    carry = (np.uint64(1 << 16) % span) ** 2 % span
    a, b = bits(first, shape).astype(np.uint64), bits(second, shape).astype(np.uint64)
    return on_device(((a % span * carry + b % span) % span).astype(np.int64))
