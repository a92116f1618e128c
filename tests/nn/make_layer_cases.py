# SPDX-License-Identifier: Apache-2.0
"""Writes layer_cases.inc: values and gradients of torch.nn's layers, in f64.

    python tests/nn/make_layer_cases.py > tests/nn/layer_cases.inc     (torch 2.15.0, CPU)

One line a case: operation, options, inputs, result, gradients of sum(result * cos(0, 1, ...)) to each
input: first the arguments, then the parameters, sorted by PyTorch's name, each divided by 4. An input
is "shape@step": wave(shape, step), which the test computes as well. A list that begins with # does not
hold the numbers g themselves but the sums of g[i] cos(k i + k) for k = 1..4.
"""

import itertools
import math

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def text(values):
    flat = values.detach().reshape(-1)
    if flat.numel() > 8:
        i = torch.arange(flat.numel(), dtype=torch.float64)
        flat = torch.stack([(flat * torch.cos(k * i + k)).sum() for k in range(1, 5)])
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


PADDING = torch.tensor([[0, 0, 0, 1], [0, 1, 0, 0]], dtype=torch.bool)  # [n, s]
CAUSAL = torch.ones(4, 4, dtype=torch.bool).triu(1)


def masks_of(kind, t, s, heads):
    """Keyword arguments of MultiheadAttention; the test makes the same of the name."""
    out = {}
    if kind in ("padding", "both"):
        out["key_padding_mask"] = PADDING[:, :s]
    if kind in ("bool", "both"):
        out["attn_mask"] = torch.ones(t, s, dtype=torch.bool).triu(2)
    if kind == "float":
        out["attn_mask"] = wave(t, s)
    if kind == "heads":
        out["attn_mask"] = wave(2 * heads, t, s)
    return out


def multihead():
    heads, e, t, s = 2, 4, 3, 4
    for kdim, vdim, bias, kv, zero, first in ((4, 4, 1, 0, 0, 0), (3, 4, 1, 0, 0, 1), (3, 5, 0, 1, 0, 0),
                                              (4, 4, 1, 1, 1, 0), (4, 4, 0, 0, 1, 1), (4, 2, 1, 1, 1, 1)):
        for mask, weights in itertools.product(("none", "padding", "bool", "float", "heads", "both", "causal"),
                                               ("no", "mean", "all")):
            layer = nn.MultiheadAttention(e, heads, 0.0, bool(bias), bool(kv), bool(zero), kdim, vdim, bool(first))
            m = masks_of(mask, t, s, heads)
            if mask == "causal":
                m["attn_mask"] = torch.ones(t, s, dtype=torch.bool).triu(1)
            shapes = [(2, t, e), (2, s, kdim), (2, s, vdim)]
            if not first:
                shapes = [(a[1], a[0], a[2]) for a in shapes]

            def f(call, q, k, v):
                out = call(q, k, v, need_weights=weights != "no", average_attn_weights=weights == "mean", **m)
                return [out[0]] + [out[1]] * (weights != "no")

            o = {"kdim": kdim, "vdim": vdim, "bias": bias, "kv": kv, "zero": zero, "first": first,
                 "mask": mask, "weights": weights}
            emit("multihead_layer", o, shapes, layer, f)
    for weights in ("no", "mean", "all"):
        layer = nn.MultiheadAttention(e, heads, 0.0, add_bias_kv=True)
        emit("multihead_single", {"weights": weights}, [(t, e), (s, e), (s, e)], layer,
             lambda call, q, k, v: [a for a in call(q, k, v, need_weights=weights != "no",
                                                    average_attn_weights=weights == "mean",
                                                    key_padding_mask=PADDING[0]) if a is not None])


def grouped():
    for q, k, e, mask in (((2, 4, 3, 4), (2, 2, 5, 4), 3, "none"), ((4, 3, 4), (1, 3, 4), 4, "causal"),
                          ((1, 6, 2, 3), (1, 3, 4, 3), 3, "bool"), ((2, 3, 2, 3), (2, 3, 4, 3), 2, "float"),
                          ((2, 4, 3, 2), (2, 1, 4, 2), 2, "heads")):
        t, s = q[-2], k[-2]
        m = {"none": None, "causal": None, "bool": torch.ones(t, s, dtype=torch.bool).tril(),
             "float": wave(t, s), "heads": wave(*q[:-2], t, s)}[mask]
        emit("grouped_attention", {"mask": mask}, [q, k, k[:-1] + (e,)], None,
             lambda call, q, k, v: [torch.nn.functional.scaled_dot_product_attention(
                 q, k, v, m, 0.0, mask == "causal", enable_gqa=True)])


def transformers():
    """In training mode, where PyTorch takes no short cuts; without dropout."""
    d, heads, ff, t, s = 4, 2, 3, 3, 4
    cases = list(itertools.product((0, 1), ("relu", "gelu"), (0, 1)))
    turned = lambda shape, first: shape if first else (shape[1], shape[0], shape[2])
    for (norm_first, activation, first), (mask, bias) in zip(
            cases * 2, itertools.product(("none", "padding", "bool", "causal"), (1, 0, 1, 1))):
        o = {"norm_first": norm_first, "activation": activation, "first": first, "mask": mask, "bias": bias}
        options = dict(dim_feedforward=ff, dropout=0.0, activation=activation, layer_norm_eps=1e-3,
                       batch_first=bool(first), norm_first=bool(norm_first), bias=bool(bias))
        own = {}
        if mask == "padding":
            own = {"src_key_padding_mask": PADDING[:, :t]}
        if mask == "bool":
            own = {"src_mask": torch.ones(t, t, dtype=torch.bool).triu(2)}
        if mask == "causal":
            own = {"src_mask": nn.Transformer.generate_square_subsequent_mask(t), "is_causal": True}
        emit("encoder_layer", o, [turned((2, t, d), first)], nn.TransformerEncoderLayer(d, heads, **options),
             lambda call, x: [call(x, **own)])
        tgt = {k.replace("src", "tgt").replace("is_causal", "tgt_is_causal"): v for k, v in own.items()}
        memory = {"memory_key_padding_mask": PADDING} if mask in ("padding", "causal") else {}
        if mask == "bool":
            memory = {"memory_mask": torch.ones(t, s, dtype=torch.bool).triu(2)}
        shapes = [turned((2, t, d), first), turned((2, s, d), first)]
        emit("decoder_layer", o, shapes, nn.TransformerDecoderLayer(d, heads, **options),
             lambda call, x, m: [call(x, m, **tgt, **memory)])
        for norm in (0, 1):
            final = nn.LayerNorm(d, eps=1e-3) if norm else None
            own_stack = {k.replace("src_mask", "mask"): v for k, v in own.items()}
            emit("encoder", o | {"norm": norm}, shapes[:1], nn.TransformerEncoder(
                nn.TransformerEncoderLayer(d, heads, **options), 2, final), lambda call, x: [call(x, **own_stack)])
            emit("decoder", o | {"norm": norm}, shapes, nn.TransformerDecoder(
                nn.TransformerDecoderLayer(d, heads, **options), 2, final),
                lambda call, x, m: [call(x, m, **tgt, **memory)])
        both = {k: v for k, v in tgt.items()} | memory
        if mask == "padding":
            both["src_key_padding_mask"] = PADDING
        emit("transformer", o, [shapes[1], shapes[0]], nn.Transformer(
            d, heads, 2, 1, **options), lambda call, src, x: [call(src, x, **both)])
    for single in ((t, d),):
        emit("encoder_layer_single", {}, [single], nn.TransformerEncoderLayer(d, heads, ff, 0.0),
             lambda call, x: [call(x)])


def positions():
    """By complex numbers, and by halves as transformers' rotate_half."""
    for shape, base, interleaved, offset in (((2, 5, 4), 1e4, 1, 0), ((2, 2, 3, 6), 100.0, 0, 0), ((3, 4), 1e4, 0, 7),
                                             ((1, 3, 2), 10.0, 1, 3)):
        t, d = shape[-2:]
        places = torch.arange(t, dtype=torch.float64) + offset
        angles = places[:, None] * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)

        def f(call, x):
            if interleaved:
                pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
                return [torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)]
            both = torch.cat([angles, angles], -1)
            turned = torch.cat([-x[..., d // 2:], x[..., : d // 2]], -1)
            return [x * both.cos() + turned * both.sin()]

        emit("rotary", {"base": base, "interleaved": interleaved, "offset": offset}, [shape], None, f)


def parametrized():
    import torch.nn.utils.parametrizations as P

    for shape, dim in (((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 1), ((4, 2), None), ((2, 2, 3), -1)):
        axis = None if dim is None else dim % len(shape)
        norms = tuple(n if i == axis else 1 for i, n in enumerate(shape))
        emit("weight_norm", {} if dim is None else {"dim": dim}, [norms, shape], None,
             lambda call, a, v: [v * (a / (v.norm() if dim is None else torch.norm_except_dim(v, 2, axis)))])
    for shape, dim, steps, training in (((3, 4), 0, 1, 1), ((4, 3, 2), 0, 2, 1), ((2, 3, 2, 2), 1, 3, 1), ((3, 4), 0, 1, 0)):
        def f(call, w):
            torch.manual_seed(0)
            p = P._SpectralNorm(w.detach(), steps, dim, 1e-12)
            rows = shape[dim]
            p._u = nn.functional.normalize(wave(rows, step=0.9), dim=0)
            p._v = nn.functional.normalize(wave(math.prod(shape) // rows, step=1.1), dim=0)
            p.train(bool(training))
            out = p(w)
            return [out, p._u, p._v]
        emit("spectral_norm", {"dim": dim, "steps": steps, "training": training}, [shape], None, f)
    for shape in ((3, 3), (5, 5), (4, 3), (2, 5), (1, 1), (4, 1), (3, 2)):
        for name in ("matrix_exp", "householder"):
            kinds = {"matrix_exp": P._OrthMaps.matrix_exp, "householder": P._OrthMaps.householder}
            def f(call, w):
                layer = nn.Linear(shape[1], shape[0], bias=False)
                p = P._Orthogonal(layer.weight, kinds[name], use_trivialization=False)
                if name == "householder":  # without the signs on the diagonal
                    w = w.tril(-1) if shape[0] >= shape[1] else w.triu(1)
                    w = w + torch.eye(*shape)
                return [p(w)]
            emit("orthogonal", {"map": name}, [shape], None, f)


def fused():
    for kind, norm, shape, make in (
        ("conv1d", nn.BatchNorm1d, (2, 2, 5), lambda b: nn.Conv1d(2, 3, 2, bias=b)),
        ("conv2d", nn.BatchNorm2d, (1, 4, 4, 5), lambda b: nn.Conv2d(4, 6, (2, 3), 2, 1, groups=2, bias=b)),
        ("conv_transpose2d", nn.BatchNorm2d, (1, 4, 3, 2), lambda b: nn.ConvTranspose2d(4, 6, 2, 2, groups=2, bias=b)),
        ("linear", nn.BatchNorm1d, (3, 4), lambda b: nn.Linear(4, 5, bias=b)),
    ):
        for bias, affine in ((1, 1), (0, 1), (1, 0)):
            layer, bn = make(bool(bias)), None
            bn = norm(layer.weight.shape[0] if kind != "conv_transpose2d" else 6, eps=1e-3, affine=bool(affine))
            bn.running_mean, bn.running_var = wave(len(bn.running_mean), step=0.8), wave(len(bn.running_mean), step=0.6) ** 2
            net = nn.Sequential(layer, bn).eval()
            emit("fused", {"kind": kind, "bias": bias, "affine": affine}, [shape], net, lambda call, x: [call(x)])


def steps():
    """Three calls in training mode and one in evaluation mode, then the buffers by their names; the arguments
    are the inputs of the four calls."""

    def emit_steps(op, options, shape, layer):
        def f(call, *xs):
            out = []
            for step, x in enumerate(xs):
                layer.train(step < 3)
                out.append(call(x))
            counts = "num_batches_tracked" if op == "instance_norm_steps" else "none"  # which never counts
            return out + [b.double() for name, b in sorted(layer.named_buffers()) if name != counts]
        emit(op, options, [shape] * 4, layer, f)

    batches = ((nn.BatchNorm1d, (4, 3)), (nn.BatchNorm1d, (2, 3, 4)), (nn.BatchNorm2d, (2, 3, 2, 3)),
               (nn.BatchNorm3d, (2, 2, 1, 3, 2)))
    for (make, shape), (momentum, track), affine in itertools.product(
            batches, ((0.1, 1), (None, 1), (0.4, 0)), (1, 0)):
        o = {"momentum": "none" if momentum is None else momentum, "affine": affine, "track": track}
        emit_steps("batch_norm_steps", o, shape, make(
            shape[1], eps=1e-3, momentum=momentum, affine=bool(affine), track_running_stats=bool(track)))
    instances = ((nn.InstanceNorm1d, (2, 3, 4), 1), (nn.InstanceNorm1d, (3, 4), 0), (nn.InstanceNorm2d, (2, 2, 2, 3), 1),
                 (nn.InstanceNorm2d, (2, 2, 3), 0), (nn.InstanceNorm3d, (1, 2, 2, 2, 2), 1))
    for (make, shape, axis), (momentum, track), affine in itertools.product(
            instances, ((0.1, 1), (0.4, 1), (0.1, 0)), (1, 0)):
        o = {"axes": make.__name__[-2], "momentum": momentum, "affine": affine, "track": track}
        emit_steps("instance_norm_steps", o, shape, make(
            shape[axis], eps=1e-3, momentum=momentum, affine=bool(affine), track_running_stats=bool(track)))
    weights = {"linear": (lambda: nn.Linear(4, 5), (3, 4), 0), "conv2d": (lambda: nn.Conv2d(2, 3, 2), (1, 2, 4, 3), 0),
               "conv_transpose2d": (lambda: nn.ConvTranspose2d(2, 3, 2), (1, 2, 3, 3), 1)}
    for (kind, (make, shape, dim)), count in itertools.product(weights.items(), (1, 2)):
        layer = nn.utils.parametrizations.spectral_norm(make(), n_power_iterations=count)
        p = layer.parametrizations.weight[0]
        p._u = nn.functional.normalize(wave(len(p._u), step=0.9), dim=0)
        p._v = nn.functional.normalize(wave(len(p._v), step=1.1), dim=0)
        emit_steps("spectral_norm_steps", {"kind": kind, "count": count, "dim": dim}, shape, layer)


if __name__ == "__main__":
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"// Made by make_layer_cases.py with torch {torch.__version__.split('+')[0]}.")
    recurrent()
    cells()
    multihead()
    grouped()
    transformers()
    positions()
    parametrized()
    fused()
    steps()
