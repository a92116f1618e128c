# SPDX-License-Identifier: Apache-2.0
"""Writes schedule_cases.inc: values of Optax's and PyTorch's schedules at COUNTS.

    python tests/optim/make_schedule_cases.py > tests/optim/schedule_cases.inc
    (optax 0.2.8, jax 0.10.2, torch 2.15.0)
"""

import warnings

import jax

jax.config.update("jax_enable_x64", True)
warnings.filterwarnings("ignore")
import jax.numpy as jnp
import optax
import torch
from torch.optim import lr_scheduler as lr
from torch.optim.swa_utils import SWALR

COUNTS = (0, 1, 4, 5, 6, 9, 10, 15, 16, 19, 20, 25, 29, 30, 40, 60)
CYCLE = {"init_value": 0.125, "peak_value": 1.0, "warmup_steps": 4, "decay_steps": 10, "end_value": 0.25}
OPTAX = {
    "constant": optax.constant_schedule(0.25),
    "linear": optax.linear_schedule(0.5, 0.125, 10),
    "linear_begin": optax.linear_schedule(0.5, 0.125, 10, 5),
    "polynomial": optax.polynomial_schedule(0.5, 0.125, 2.0, 10),
    "polynomial_begin": optax.polynomial_schedule(0.25, 1.0, 0.5, 20, 5),
    "exponential": optax.exponential_decay(0.5, 10, 0.75),
    "staircase": optax.exponential_decay(0.5, 10, 0.75, staircase=True),
    "exponential_end": optax.exponential_decay(0.5, 10, 0.75, 5, False, 0.3125),
    "exponential_rising": optax.exponential_decay(0.5, 10, 1.5, 5, True, 0.75),
    "cosine": optax.cosine_decay_schedule(0.5, 20),
    "cosine_alpha": optax.cosine_decay_schedule(0.5, 20, alpha=0.25),
    "cosine_exponent": optax.cosine_decay_schedule(0.5, 20, 0.25, 2.0),
    "warmup": optax.warmup_cosine_decay_schedule(0.125, 1.0, 5, 25, 0.25),
    "warmup_exponent": optax.warmup_cosine_decay_schedule(0.125, 1.0, 5, 25, 0.25, 3.0),
    "warmup_constant": optax.warmup_constant_schedule(0.125, 1.0, 10),
    "warmup_exponential": optax.warmup_exponential_decay_schedule(0.125, 1.0, 5, 10, 0.5),
    "warmup_exponential_options": optax.warmup_exponential_decay_schedule(
        0.125, 1.0, 5, 4, 0.5, 3, True, 0.125
    ),
    "piecewise": optax.piecewise_constant_schedule(1.0, {5: 0.5, 15: 0.25}),
    "interpolate_linear": optax.piecewise_interpolate_schedule("linear", 1.0, {5: 2.0, 15: 0.25}),
    "interpolate_cosine": optax.piecewise_interpolate_schedule("cosine", 1.0, {5: 2.0, 15: 0.25}),
    "linear_onecycle": optax.linear_onecycle_schedule(40, 1.0),
    "linear_onecycle_options": optax.linear_onecycle_schedule(30, 0.5, 0.2, 0.7, 10.0, 100.0),
    "cosine_onecycle": optax.cosine_onecycle_schedule(40, 1.0),
    "cosine_onecycle_options": optax.cosine_onecycle_schedule(30, 0.5, 0.2, 10.0, 100.0),
    "join": optax.join_schedules(
        [optax.constant_schedule(0.5), optax.linear_schedule(0.25, 1.0, 10), optax.constant_schedule(0.125)],
        [5, 20],
    ),
    "sgdr": optax.sgdr_schedule([CYCLE, CYCLE | {"decay_steps": 20, "exponent": 2.0}]),
}
TORCH = {
    "multi_step": lambda o: lr.MultiStepLR(o, [5, 16], gamma=0.25),
    "step": lambda o: lr.StepLR(o, 10, gamma=0.5),
    "annealing": lambda o: lr.CosineAnnealingLR(o, 10, eta_min=0.125),
    "restarts": lambda o: lr.CosineAnnealingWarmRestarts(o, 10, eta_min=0.125),
    "restarts_factor": lambda o: lr.CosineAnnealingWarmRestarts(o, 5, T_mult=2),
    "cyclic": lambda o: lr.CyclicLR(o, 0.125, 1.0, step_size_up=5, step_size_down=10),
    "cyclic2": lambda o: lr.CyclicLR(o, 0.125, 1.0, step_size_up=5, mode="triangular2"),
    "cyclic_exp": lambda o: lr.CyclicLR(
        o, 0.125, 1.0, step_size_up=8, mode="exp_range", gamma=0.9375
    ),
    "one_cycle": lambda o: lr.OneCycleLR(o, 1.0, total_steps=61),
    "one_cycle_linear": lambda o: lr.OneCycleLR(
        o, 0.5, 61, pct_start=0.25, anneal_strategy="linear", div_factor=10, final_div_factor=100
    ),
    "multiplicative": lambda o: lr.MultiplicativeLR(o, lambda c: 1 - 1 / (c + 4)),
    "chained": lambda o: lr.ChainedScheduler(
        [lr.ExponentialLR(o, 0.9375), lr.ConstantLR(o, 0.5, 5)], optimizer=o
    ),
    "swa": lambda o: SWALR(o, 0.125, 15),
    "swa_linear": lambda o: SWALR(o, 0.125, 15, "linear"),
    "one_cycle_three": lambda o: lr.OneCycleLR(o, 1.0, total_steps=61, three_phase=True),
}


def text(values):
    return ",".join("%.9g" % float(v) for v in values)


def torch_values(make):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(()))], lr=0.5, momentum=0.5)
    scheduler = make(optimizer)
    for count in range(max(COUNTS) + 1):
        if count in COUNTS:
            yield optimizer.param_groups[0]["lr"]
        optimizer.step()
        if count < max(COUNTS):
            scheduler.step()


print("// SPDX-License-Identifier: Apache-2.0")
print(
    f"// Made by make_schedule_cases.py with optax {optax.__version__}, jax {jax.__version__}, "
    f"torch {torch.__version__.split('+')[0]}."
)
for name, schedule in OPTAX.items():
    print(f'{{"{name}", "{text(schedule(jnp.int32(c)) for c in COUNTS)}"}},')
for name, make in TORCH.items():
    print(f'{{"{name}", "{text(torch_values(make))}"}},')
