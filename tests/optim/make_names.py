# SPDX-License-Identifier: Apache-2.0
"""Writes names.txt: what Optax and torch.optim offer by name, for the table of docs/optimizer_names.md.

    python tests/optim/make_names.py > tests/optim/names.txt     (optax 0.2.8, torch 2.15.0)

Functions, and classes that are used as functions; without states, types and submodules.
"""

import inspect
import warnings

import optax
import torch
from optax import contrib, losses, schedules, transforms

warnings.filterwarnings("ignore")


def functions(module):
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        if inspect.isfunction(value) or name == "MultiSteps" or (callable(value) and name.islower()):
            yield name


print(f"# Made by make_names.py with optax {optax.__version__}, torch {torch.__version__.split('+')[0]}.")
seen = set()
for module in (optax, transforms, schedules, losses, contrib):
    for name in functions(module):
        if name not in seen:
            print(f"{module.__name__}.{name}")
        seen.add(name)
optim = torch.optim
for module in (optim, optim.lr_scheduler, optim.swa_utils):
    for name in sorted(module.__all__):
        if not inspect.ismodule(getattr(module, name)):
            print(f"{module.__name__}.{name}")
