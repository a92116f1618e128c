# SPDX-License-Identifier: Apache-2.0
"""The rows in PyTorch: nn modules and optimizers where they do, torch.func where a row transforms.

    [taskset -c 0] python benchmarks/peers/rows_torch.py [--compile] [--cuda] [row ...]
    needs: pip install torch numpy

--compile compiles the loss of a training step, or the whole function; --cuda runs on the first GPU,
where what is compiled is tuned for as long as it takes. Parameters and data are those
of JAX's keys, so values agree.
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, stack_module_state, vmap

import filters_torch  # noqa: F401  (enters its rows)
import gathers_torch  # noqa: F401
import joins_torch  # noqa: F401
import networks_torch  # noqa: F401
import optimizers_torch  # noqa: F401
import streams
from harness import ROWS, main, row
from layers_torch import adam, Block, cnn, fill, Gpt, lenet, mlp, sgd
from work_torch import COMPILED, applied, integers, normals, trained


# --- training steps ---------------------------------------------------------------------------


@row("tiny_mlp")
def tiny_mlp():
    net = mlp([2, 32, 32, 2], nn.Tanh)
    return trained(lambda x, y: F.cross_entropy(net(x), y), sgd(net.parameters(), 0.1),
                   normals(100, 2), integers(2, 100))


@row("mlp_adam")
def mlp_adam():
    net = mlp([784, 512, 512, 10], nn.ReLU)
    return trained(lambda x, y: F.cross_entropy(net(x), y), adam(net.parameters()),
                   normals(128, 784), integers(10, 128))


@row("lenet_bridge")
@row("lenet_by_hand")
@row("lenet")
def lenet_row():
    net = lenet()
    return trained(lambda x, y: F.cross_entropy(net(x), y), sgd(net.parameters(), 0.01),
                   normals(64, 1, 28, 28), integers(10, 64))


@row("cnn64_by_hand")
@row("cnn64")
def cnn64():
    net = cnn()
    return trained(lambda x, y: F.cross_entropy(net(x), y), adam(net.parameters()),
                   normals(32, 3, 32, 32), integers(10, 32))


@row("lstm_by_hand")
@row("lstm")
def lstm():
    net = nn.LSTM(64, 128)
    for half, key in zip(("ih", "hh"), streams.split(streams.key(0))):
        inputs = 64 if half == "ih" else 128
        like = fill(nn.Linear(inputs, 512), key)
        getattr(net, f"weight_{half}_l0").data.copy_(like.weight.data)
        getattr(net, f"bias_{half}_l0").data.copy_(like.bias.data)
    return trained(lambda x: net(x)[0].square().mean(), sgd(net.parameters(), 0.01),
                   normals(64, 32, 64))


@row("transformer_by_hand")
@row("transformer")
def transformer():
    net = Block(streams.key(0), 256, 8)
    return trained(lambda x: net(x).square().mean(), sgd(net.parameters(), 0.01),
                   normals(8, 128, 256))


@row("gpt_by_hand")
@row("gpt")
def gpt():
    net, text = Gpt(), integers(65, 16, 128)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-4, fused=True)
    return trained(lambda x, y: F.cross_entropy(net(x).flatten(0, 1), y.flatten()), optimizer,
                   text, text)


@row("adam_64mb")
def adam_64mb():
    leaves = [nn.Parameter(normals(4096, 2048)) for _ in range(2)]
    return trained(lambda: sum(leaf.square().mean() for leaf in leaves), adam(leaves))


# --- transforms of transforms -----------------------------------------------------------------


@row("maml")
def maml():
    net = mlp([1, 40, 40, 1], nn.ReLU)
    parameters = dict(net.named_parameters())

    def error(p, x, y):
        return F.mse_loss(functional_call(net, p, (x,)), y)

    def after_five_steps(p, x, y, x_test, y_test):
        for _ in range(5):
            slopes = grad(error)(p, x, y)
            p = {name: a - 0.01 * slopes[name] for name, a in p.items()}
        return error(p, x_test, y_test)

    def loss(*tasks):
        return vmap(after_five_steps, in_dims=(None, 0, 0, 0, 0))(parameters, *tasks).mean()

    return trained(loss, adam(net.parameters()), *[normals(25, 10, 1) for _ in range(4)])


@row("per_example_by_hand")
@row("per_example")
def per_example():
    net = lenet()
    parameters = {name: p.detach() for name, p in net.named_parameters()}

    def loss(p, x, y):
        return F.cross_entropy(functional_call(net, p, (x[None],)), y[None])

    return applied(vmap(grad(loss), in_dims=(None, 0, 0)), parameters, normals(64, 1, 28, 28),
                   integers(10, 64))


@row("hessian")
def hessian_row():
    net = mlp([4, 16, 16, 1], nn.Tanh)
    # JAX puts biases before weights; the mean over all entries is the same.
    leaves = dict(net.named_parameters())
    flat_parameters = torch.cat([p.detach().flatten() for p in leaves.values()])

    def loss(v, x, y):
        parts = v.split([p.numel() for p in leaves.values()])
        named = {n: part.view(p.shape) for (n, p), part in zip(leaves.items(), parts)}
        return F.mse_loss(functional_call(net, named, (x,)), y)

    return applied(hessian(loss), flat_parameters, normals(32, 4), normals(32, 1))


@row("pinn")
def pinn():
    net = mlp([2, 64, 64, 64, 1], nn.Tanh)
    parameters = dict(net.named_parameters())

    def laplacian(point):
        return torch.trace(hessian(lambda x: functional_call(net, parameters, (x,))[0])(point))

    return trained(lambda points: vmap(laplacian)(points).square().mean(), adam(net.parameters()),
                   normals(256, 2))


@row("ensemble")
def ensemble():
    nets = [mlp([20, 64, 64, 5], nn.ReLU, seed) for seed in range(10)]
    stacked, _ = stack_module_state(nets)

    def loss(x, y):
        one = vmap(lambda p: F.cross_entropy(functional_call(nets[0], p, (x,)), y))
        return one(stacked).sum()

    return trained(loss, adam(stacked.values()), normals(128, 20), integers(5, 128))


@row("lorenz_jac")
def lorenz_jac():
    def final_state(constants):
        sigma, rho, beta = constants

        def slope(s):
            x, y, z = s
            return torch.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

        s, h = torch.ones(3), 0.005
        for _ in range(60):
            k1 = slope(s)
            k2 = slope(s + h / 2 * k1)
            k3 = slope(s + h / 2 * k2)
            k4 = slope(s + h * k3)
            s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return s

    return applied(jacfwd(final_state), torch.tensor([10.0, 28.0, 8 / 3]))


# --- functions, products, calls ---------------------------------------------------------------

FUNCTIONS = {
    "exp": torch.exp,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "softmax": lambda x: F.softmax(x, dim=-1),
    "sum": torch.sum,
    "layer_norm": lambda x: F.layer_norm(x, (1024,)),
    "transpose": lambda x: x.t().contiguous(),
}
for name, function in FUNCTIONS.items():
    ROWS[f"{name}_1m"] = lambda f=function: applied(f, normals(1024, 1024))
for m, k, n in ((64, 64, 64), (128, 784, 512), (1024, 1024, 1024)):
    ROWS[f"matmul_{m}x{k}x{n}"] = lambda m=m, k=k, n=n: applied(
        torch.matmul, normals(m, k), normals(k, n))


@row("call10")
def call10():
    return applied(lambda ten: [a + 1 for a in ten], [normals(16) for _ in range(10)])


if not COMPILED:
    ROWS["eager_add10"] = lambda: applied(torch.add, normals(10), normals(10))

if __name__ == "__main__":
    main("torch.compile" if COMPILED else "torch", ["--compile", "--cuda"])
