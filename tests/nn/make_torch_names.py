# SPDX-License-Identifier: Apache-2.0
"""Writes torch_names.txt: the names of torch.nn, one a line, with what they are.

    python tests/nn/make_torch_names.py > tests/nn/torch_names.txt     (torch 2.15.0, CPU)

Left out are names that begin with _, constants and modules, what torch.nn.functional only imports,
and functions that end in _ beside one without it, which change their argument (arrays never change
here).
"""

import inspect
import types

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn import init
from torch.nn.utils import parametrizations, prune


def functions_of(module):
    names = [n for n in dir(module) if not n.startswith("_")]
    out = []
    for n in names:
        f = getattr(module, n)
        builtin = isinstance(f, types.BuiltinFunctionType)
        own = getattr(f, "__module__", "") or ""
        if inspect.isclass(f) or not callable(f):
            continue
        if not (builtin or own in (module.__name__, "torch._jit_internal", "torch._C._nn", "torch")):
            continue
        if n.endswith("_") and n[:-1] in names:
            continue
        out.append(n)
    return out


SKIP = {"boolean_dispatch", "handle_torch_function", "has_torch_function", "has_torch_function_unary",
        "has_torch_function_variadic", "overload", "assert_int_or_pair", "warn", "importlib", "cast"}

if __name__ == "__main__":
    print(f"# Made by make_torch_names.py with torch {torch.__version__.split('+')[0]}.")
    for name in sorted(nn.modules.__all__):
        print("class", name)
    for name in functions_of(F):
        if name not in SKIP:
            print("function", name)
    for name in sorted(n[:-1] for n in dir(init) if n.endswith("_") and not n.startswith("_")):
        print("init", name)
    print("init calculate_gain")
    for name in sorted(n for n in vars(nn.Module) if not n.startswith("_") and callable(getattr(nn.Module, n))):
        print("method", name)
    for name in sorted(n for n in dir(nn.utils) if not n.startswith("_") and inspect.isfunction(getattr(nn.utils, n))):
        print("utility", name)
    for name in functions_of(parametrizations):
        print("parametrization", name)
    for name in functions_of(prune):
        print("pruning", name)
    for name in sorted(nn.utils.rnn.__all__):
        print("sequence", name)
