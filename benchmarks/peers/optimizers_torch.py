# SPDX-License-Identifier: Apache-2.0
"""One step of an optimizer of PyTorch over 64 MB of parameters, fused where it can be."""

import torch

from harness import Work, row
from work_torch import finish, maybe_compiled, normals, numbers


def step_of(make):
    leaves = [torch.nn.Parameter(normals(4096, 2048)) for _ in range(2)]
    for leaf in leaves:
        leaf.grad = normals(4096, 2048)
    step = maybe_compiled(make(leaves).step)

    def call():
        step()
        return leaves[1][0].abs().mean()

    return Work(call, finish, numbers)


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 1e-3, fused=True),
    "momentum": lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, 1e-3, fused=True),
    "nadam": lambda p: torch.optim.NAdam(p, 1e-3),
    "amsgrad": lambda p: torch.optim.Adam(p, 1e-3, amsgrad=True, fused=True),
    "adamax": lambda p: torch.optim.Adamax(p, 1e-3),
    "radam": lambda p: torch.optim.RAdam(p, 1e-3),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 1e-3),
    "adagrad": lambda p: torch.optim.Adagrad(p, 1e-3, fused=True),
    "adadelta": lambda p: torch.optim.Adadelta(p, 1e-3),
    "adafactor": lambda p: torch.optim.Adafactor(p, 1e-3),
    "asgd": lambda p: torch.optim.ASGD(p, 1e-3),
    "rprop": lambda p: torch.optim.Rprop(p, 1e-3),
}

for name, make in OPTIMIZERS.items():
    row(f"{name}_64mb")(lambda make=make: step_of(make))
