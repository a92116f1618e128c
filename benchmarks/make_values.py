# SPDX-License-Identifier: Apache-2.0
"""Writes values.jsonl, which the test bench.values compares ours with: JAX's value of each row, and
PyTorch's of those that Optax has not.

    (python benchmarks/peers/rows_jax.py --seconds 0
     python benchmarks/peers/rows_torch.py asgd_64mb rprop_64mb --seconds 0) |
        python benchmarks/make_values.py
    (jax 0.10.2, optax 0.2.8, torch 2.15.0; the versions at hand are noted in the first line)
"""

import importlib.metadata
import json
import pathlib
import sys

# Second derivatives in f32 differ by the order of sums; JAX rounds each sum of a scatter to bf16;
# what dropout drops is another choice in each program.
TOLERANCES = {"hessian": 5e-3, "pinn": 5e-3, "add_rows_bf16": 2e-3, "encoder": 5e-3}

out = pathlib.Path(__file__).with_name("values.jsonl")
versions = {p: importlib.metadata.version(p) for p in ("jax", "jaxlib", "optax", "torch")}
lines = [{"made_by": "make_values.py", **versions}]
for line in sys.stdin:
    r = json.loads(line)
    lines.append({"row": r["row"], "value": r["value"],
                  "tolerance": TOLERANCES.get(r["row"], 1e-4)})
out.write_text("".join(json.dumps(line) + "\n" for line in lines))
