# SPDX-License-Identifier: Apache-2.0
"""Writes layer_cases.inc: values and gradients of torch.nn's layers, in f64.

    python tests/nn/make_layer_cases.py > tests/nn/layer_cases.inc     (torch 2.15.0, CPU)

One line a case: operation, options, inputs, result, gradients of sum(result * cos(0, 1, ...)) to each
input: first the arguments, then the parameters, sorted by PyTorch's name, each divided by 4. An input
is "shape@step": wave(shape, step), which the test computes as well. A list that begins with # does not
hold the numbers g themselves but the sums of g[i] cos(k i + k) for k = 1..8.
"""

import itertools
import math

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def text(values):
    flat = values.detach().reshape(-1)
    if flat.numel() > 24:
        i = torch.arange(flat.numel(), dtype=torch.float64)
        flat = torch.stack([(flat * torch.cos(k * i + k)).sum() for k in range(1, 9)])
        return "#" + ",".join("%.14g" % v for v in flat.tolist())
    return ",".join("%.12g" % v for v in flat.tolist())


def wave(*shape, step=0.7):
    n = math.prod(shape)
    return torch.round(torch.sin(torch.arange(n) * step + 0.3) * 4e4).reshape(shape) / 1e4


def emit(op, options, inputs, layer, f):
    """`f(call, *inputs)` gives a list of results; call(...) is the layer with its parameters."""
    names = sorted(name for name, _ in layer.named_parameters()) if layer else []
    shapes = [tuple(layer.get_parameter(name).shape) for name in names]
    given = [(shape, 0.7 + 0.2 * i) for i, shape in enumerate(inputs)]
    given += [(shape, 0.31 + i) for i, shape in enumerate(shapes)]
    given = [(shape, round(step, 2)) for shape, step in given]
    xs = [wave(*shape, step=step).requires_grad_() for shape, step in given]
    parameters = {name: x / 4 for name, x in zip(names, xs[len(inputs):])}

    def call(*args, **options):
        return torch.func.functional_call(layer, parameters, args, options)

    y = torch.cat([part.flatten() for part in f(call, *xs[: len(inputs)])])
    weights = torch.cos(torch.arange(y.numel(), dtype=torch.float64))
    gradients = torch.autograd.grad((y * weights).sum(), xs)
    named = ",".join(f"{k}={v}" for k, v in options.items())
    listed = ";".join(",".join(map(str, shape)) + f"@{step}" for shape, step in given)
    print(f'{{"{op}", "{named}", "{listed}", "{text(y)}", "{";".join(map(text, gradients))}"}},')


T, N, IN, HIDDEN = 4, 3, 2, 3
LENGTHS = torch.tensor([2, 4, 1])


def recurrent():
    kinds = {
        "rnn": lambda *a, **k: nn.RNN(*a, **k),
        "rnn_relu": lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k),
        "lstm_layer": nn.LSTM,
        "gru": nn.GRU,
    }
    shapes = [  # layers, both, first, bias, start, form
        (1, 0, 0, 1, 1, "batch"), (1, 0, 0, 0, 0, "batch"), (1, 1, 1, 1, 1, "batch"),
        (2, 0, 1, 1, 0, "batch"), (2, 1, 0, 0, 1, "batch"), (3, 1, 0, 1, 0, "batch"),
        (1, 0, 0, 1, 1, "single"), (2, 1, 1, 1, 0, "single"),
        (1, 0, 0, 1, 1, "lengths"), (1, 1, 1, 1, 0, "lengths"), (2, 1, 0, 1, 1, "lengths"),
        (2, 1, 1, 0, 1, "mask"), (1, 0, 0, 1, 0, "mask"),
    ]
    for (kind, make), (layers, both, first, bias, start, form) in itertools.product(kinds.items(), shapes):
        for proj in (0, 2) if kind == "lstm_layer" else (0,):
            options = {"proj_size": proj} if proj else {}
            net = make(IN, HIDDEN, layers, bias=bool(bias), batch_first=bool(first),
                       bidirectional=bool(both), **options)
            cells, single = layers * (1 + both), form == "single"
            x = (T, IN) if single else (N, T, IN) if first else (T, N, IN)
            sizes = [proj or HIDDEN, HIDDEN] if kind == "lstm_layer" else [HIDDEN]
            states = [(cells, size) if single else (cells, N, size) for size in sizes]

            def f(call, x, *state):
                given = () if not state else (state[0],) if len(state) == 1 else (state,)
                if form in ("lengths", "mask"):
                    x = nn.utils.rnn.pack_padded_sequence(x, LENGTHS, bool(first), enforce_sorted=False)
                output, last = call(x, *given)
                if form in ("lengths", "mask"):
                    output, _ = nn.utils.rnn.pad_packed_sequence(output, bool(first), total_length=T)
                return [output, *(last if isinstance(last, tuple) else [last])]

            o = {"layers": layers, "both": both, "first": first, "bias": bias, "start": start,
                 "form": form, "proj": proj}
            emit(kind, o, [x] + states * start, net, f)


def cells():
    for bias, start, lead in itertools.product((0, 1), (0, 1), ((), (N,))):
        o, x, h = {"bias": bias, "start": start}, lead + (IN,), lead + (HIDDEN,)
        for kind in ("tanh", "relu"):
            emit("rnn_cell", o | {"kind": kind}, [x] + [h] * start, nn.RNNCell(IN, HIDDEN, bool(bias), kind),
                 lambda call, *a: [call(*a)])
        emit("gru_cell", o, [x] + [h] * start, nn.GRUCell(IN, HIDDEN, bool(bias)), lambda call, *a: [call(*a)])
        emit("lstm_cell", o, [x] + [h, h] * start, nn.LSTMCell(IN, HIDDEN, bool(bias)),
             lambda call, x, *s: list(call(x, s if s else None)))


if __name__ == "__main__":
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"// Made by make_layer_cases.py with torch {torch.__version__.split('+')[0]}.")
    recurrent()
    cells()
