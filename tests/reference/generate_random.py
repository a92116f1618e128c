#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes random.json: what JAX's partitionable threefry gives for keys, bits and distributions.

    peers/bin/python tests/reference/generate_random.py [--check]     # needs jax and numpy

A case is {"function", "key" (two words), "dtype", "shape", "params", "values"}; floats stand as the
unsigned integer of their bits, so that nothing is lost on the way. 64-bit dtypes are made under
x64, all others without it.
"""

import argparse
import json
import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

FLOATS = {"f16": jnp.float16, "bf16": jnp.bfloat16, "f32": jnp.float32, "f64": jnp.float64}
INTEGERS = {
    "u8": jnp.uint8,
    "u16": jnp.uint16,
    "u32": jnp.uint32,
    "u64": jnp.uint64,
    "i8": jnp.int8,
    "i16": jnp.int16,
    "i32": jnp.int32,
    "i64": jnp.int64,
}
WORD = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
SHAPES = ((), (5,), (2, 3), (0,))
SEEDS = (0, 1, 42, 123456789)


def stored(array):
    array = np.asarray(array)
    if array.dtype.kind in "fV" or array.dtype == jnp.bfloat16:
        array = np.ascontiguousarray(array).view(WORD[array.dtype.itemsize])
    return np.asarray(array).ravel().astype(object).tolist()


def key(seed):
    return jax.random.key(seed, impl="threefry2x32")


def words(k):
    return [int(w) for w in np.asarray(jax.random.key_data(k)).ravel()]


def case(function, k, values, dtype="", shape=None, **params):
    array = np.asarray(values)
    return {
        "function": function,
        "key": words(k),
        "dtype": dtype,
        "shape": list(array.shape if shape is None else shape),
        "params": params,
        "values": stored(array),
    }


def keys():
    for seed in (0, 1, 7, 42, 2**31, 2**32 - 1):
        yield case("key", key(seed), [seed])
    with jax.enable_x64(True):
        for seed in (2**32 + 5, 2**62 + 3, 2**40):
            yield case("key", key(seed), [seed])
    for seed in SEEDS:
        k = key(seed)
        for n in (1, 2, 3, 10):
            yield case("split", k, jax.random.key_data(jax.random.split(k, n)), n=n)
        for data in (0, 1, 4, 7, 1000, 2**32 - 1):
            yield case("fold_in", k, jax.random.key_data(jax.random.fold_in(k, data)), data=data)


def bits():
    for seed in SEEDS:
        for name in ("u8", "u16", "u32", "u64"):
            with jax.enable_x64(name == "u64"):
                for shape in ((), (7,), (2, 3)):
                    yield case(
                        "bits", key(seed), jax.random.bits(key(seed), shape, INTEGERS[name]), name
                    )


def randints():
    ranges = {
        "i32": ((0, 10), (-5, 6), (0, 1), (-(2**31), 2**31 - 1), (100, 100000), (0, 2**30 + 1)),
        "i64": ((0, 10), (-5, 6), (-(2**62), 2**62), (0, 10**12)),
        "u8": ((0, 200), (3, 7)),
        "i8": ((-128, 127), (-3, 4)),
        "u32": ((0, 1000), (5, 2**32 - 1)),
        "i16": ((-300, 20000),),
    }
    for name, limits in ranges.items():
        with jax.enable_x64(name == "i64"):
            for low, high in limits:
                for seed in (0, 42):
                    values = jax.random.randint(
                        key(seed), (8,), INTEGERS[name](low), INTEGERS[name](high), INTEGERS[name]
                    )
                    yield case("randint", key(seed), values, name, low=low, high=high)

    low, high = np.array([0, -5, 100, 7], np.int32), np.array([10, 5, 1000, 8], np.int32)
    for seed in SEEDS:
        values = jax.random.randint(key(seed), (3, 4), low, high, jnp.int32)
        yield case("randint_arrays", key(seed), values, "i32", low=low.tolist(), high=high.tolist())


def floats():
    for name, dtype in FLOATS.items():
        with jax.enable_x64(name == "f64"):
            for seed in SEEDS:
                for shape in SHAPES:
                    k = key(seed)
                    yield case("uniform", k, jax.random.uniform(k, shape, dtype), name)
                yield case(
                    "uniform",
                    k,
                    jax.random.uniform(k, (6,), dtype, -2.0, 3.0),
                    name,
                    low=-2.0,
                    high=3.0,
                )
                yield case("normal", k, jax.random.normal(k, (12,), dtype), name)
            if name not in ("f32", "f64"):
                continue
            for seed in SEEDS:
                k = key(seed)
                yield case("normal", k, jax.random.normal(k, (2, 3), dtype), name)
                yield case(
                    "truncated_normal",
                    k,
                    jax.random.truncated_normal(k, -2.0, 2.0, (8,), dtype),
                    name,
                    low=-2.0,
                    high=2.0,
                )
                yield case(
                    "truncated_normal",
                    k,
                    jax.random.truncated_normal(k, 0.5, 1.5, (8,), dtype),
                    name,
                    low=0.5,
                    high=1.5,
                )
                for function in ("gumbel", "exponential", "laplace", "cauchy", "logistic"):
                    yield case(function, k, getattr(jax.random, function)(k, (8,), dtype), name)
                yield case("rademacher", k, jax.random.rademacher(k, (8,), dtype), name)


def discrete():
    for seed in SEEDS:
        k = key(seed)
        for p in (0.5, 0.1, 0.9):
            yield case("bernoulli", k, jax.random.bernoulli(k, p, (10,)), "bool", p=p)
        yield case("rademacher", k, jax.random.rademacher(k, (8,), jnp.int32), "i32")
        logits = np.array([[0.0, 1.0, -1.0, 0.5], [2.0, -3.0, 0.25, 0.0]], np.float32)
        yield case(
            "categorical",
            k,
            jax.random.categorical(k, logits, axis=-1),
            "i32",
            logits=logits.ravel().tolist(),
            logits_shape=[2, 4],
            axis=-1,
        )
        yield case(
            "categorical",
            k,
            jax.random.categorical(k, logits, axis=0),
            "i32",
            logits=logits.ravel().tolist(),
            logits_shape=[2, 4],
            axis=0,
        )
        yield case(
            "categorical",
            k,
            jax.random.categorical(k, logits[0], shape=(9,)),
            "i32",
            logits=logits[0].tolist(),
            logits_shape=[4],
            axis=-1,
        )


def orders():
    for seed in (0, 7, 42):
        for n in (1, 2, 10, 100, 1797) + ((2000,) if seed == 0 else ()):
            yield case("permutation", key(seed), jax.random.permutation(key(seed), n), "i32", n=n)
    for seed in SEEDS:
        k = key(seed)
        table = np.arange(12, dtype=np.float32).reshape(4, 3)
        for axis in (0, 1):
            yield case(
                "permutation_array", k, jax.random.permutation(k, table, axis), "f32", axis=axis
            )
        lines = jax.random.permutation(k, table, 1, independent=True)
        yield case("permutation_array", k, lines, "f32", axis=1, independent=True)
        for axis in (0, 1):
            drawn = jax.random.choice(k, table, (5,), axis=axis)
            yield case("choice_array", k, drawn, "f32", axis=axis, replace=True)
            drawn = jax.random.choice(k, table, (2,), replace=False, axis=axis)
            yield case("choice_array", k, drawn, "f32", axis=axis, replace=False)
        p = np.array([0.1, 0.2, 0.05, 0.4, 0.25], np.float32)
        yield case("choice", k, jax.random.choice(k, 10, (6,)), "i32", n=10, replace=True)
        yield case(
            "choice", k, jax.random.choice(k, 10, (2, 3), replace=False), "i32", n=10, replace=False
        )
        yield case(
            "choice", k, jax.random.choice(k, 5, (7,), p=p), "i32", n=5, replace=True, p=p.tolist()
        )
        yield case(
            "choice",
            k,
            jax.random.choice(k, 5, (3,), replace=False, p=p),
            "i32",
            n=5,
            replace=False,
            p=p.tolist(),
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    assert jax.config.jax_threefry_partitionable
    cases = [*keys(), *bits(), *randints(), *floats(), *discrete(), *orders()]
    versions = {"jax": jax.__version__, "numpy": np.__version__, "python": sys.version.split()[0]}
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    made = f'{{"made_by":{json.dumps(versions)},\n"cases":[\n{lines}\n]}}\n'
    path = pathlib.Path(__file__).resolve().parent / "random.json"
    same = path.exists() and path.read_text() == made
    if not arguments.check:
        path.write_text(made)
    print(
        f"{len(cases)} cases, {len(made)} bytes; "
        f"{'the same as' if same else 'different from'} the stored file"
    )
    return 0 if same or not arguments.check else 1


if __name__ == "__main__":
    sys.exit(main())
