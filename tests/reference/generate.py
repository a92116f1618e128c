#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes cases.bin: values and gradients of JAX and PyTorch for one operation at a time.

    python3 -m venv peers && peers/bin/pip install jax torch numpy expecttest pytest
    peers/bin/python tests/reference/generate.py            # writes cases.bin beside this file
    peers/bin/python tests/reference/generate.py --check    # would the file be the same?

Every expectation is computed in f64. An f32 case has inputs that are exact in f32 and the f64
result rounded once, so that its tolerance measures Spruce's error alone. The header of the file
holds the versions and the seed.
"""

import argparse
import collections
import os
import pathlib
import sys
import tempfile
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
warnings.filterwarnings("ignore")

import jax
import numpy as np
import torch

from generator import container, draw, jax_table, opinfo_table, torch_table

HERE = pathlib.Path(__file__).resolve().parent


def collect():
    torch.set_num_threads(1)
    cases = [*jax_table.cases(), *torch_table.cases(), *opinfo_table.cases()]
    return sorted(cases, key=lambda c: (c.op, c.source))


def header(cases):
    return {
        "seed": draw.SEED,
        "jax": jax.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "operations": len({c.op for c in cases}),
        "sources": dict(collections.Counter(c.source for c in cases)),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    cases = collect()
    path = HERE / "cases.bin"
    with tempfile.TemporaryDirectory() as folder:
        fresh = pathlib.Path(folder) / "cases.bin"
        container.write(fresh, header(cases), cases)
        made = fresh.read_bytes()
    same = path.exists() and path.read_bytes() == made
    if not arguments.check:
        path.write_bytes(made)
    gradients = sum(bool(c.gradients) for c in cases)
    print(
        f"{len(cases)} cases, {gradients} with gradients, {len({c.op for c in cases})} operations, "
        f"{len(made)} bytes; {'the same as' if same else 'different from'} the stored file"
    )
    return 0 if same or not arguments.check else 1


if __name__ == "__main__":
    sys.exit(main())
