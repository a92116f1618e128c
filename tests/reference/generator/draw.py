# SPDX-License-Identifier: Apache-2.0
"""Seeded inputs. A draw is a function from (generator, floating dtype) to a NumPy array."""

import zlib

import numpy as np

SEED = 20
FLOAT = {"f32": np.float32, "f64": np.float64}


def generator(*parts):
    return np.random.Generator(np.random.PCG64([SEED, zlib.crc32(repr(parts).encode())]))


def normal(*shape):
    return lambda rng, dtype: np.asarray(rng.standard_normal(shape)).astype(FLOAT[dtype])


def uniform(low, high, *shape):
    return lambda rng, dtype: np.asarray(rng.uniform(low, high, shape)).astype(FLOAT[dtype])


def floats(values, *shape):
    """These very values: choose ones that are exact in f32."""
    return lambda rng, dtype: np.asarray(values, FLOAT[dtype]).reshape(shape or np.shape(values))


def integers(low, high, *shape):
    return lambda rng, dtype: np.asarray(rng.integers(low, high, shape)).astype(np.int32)


def ints(values, dtype=np.int32):
    return lambda rng, _: np.asarray(values, dtype)


def distinct(n, *shape):
    """Indices below n, none of them twice."""
    return (
        lambda rng, dtype: rng.permutation(n)[: int(np.prod(shape))].reshape(shape).astype(np.int32)
    )


def booleans(*shape):
    return lambda rng, dtype: np.asarray(rng.integers(0, 2, shape) == 1)


def spread(*shape):
    """Distinct floats with gaps of at least 0.05, shuffled: no ties and no near ties."""

    def make(rng, dtype):
        n = int(np.prod(shape))
        values = (np.arange(n) - n / 2) * 0.25 + rng.uniform(-0.1, 0.1, n)
        return rng.permutation(values).reshape(shape).astype(FLOAT[dtype])

    return make


def cotangent(rng, shape):
    """Multiples of 1/32 in -2..2: exact in every dtype, one byte each in the file."""
    return rng.integers(-64, 65, shape) / 32.0
