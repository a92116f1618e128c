# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of PyTorch for torch_file_test.cc, with an input and what PyTorch makes of it.

  python tests/nn/make_torch_files.py tests/nn/torch_files

Written with PyTorch 2.15.0 and safetensors 0.8.0, seed 0; versions and seed stand in the files.
"""
import sys

import torch
from safetensors.torch import save_file
from torch import nn


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(4)
        self.down = nn.Sequential(nn.Conv2d(3, 4, 1, bias=False), nn.BatchNorm2d(4))
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return self.fc(torch.relu(y + self.down(x)).mean((2, 3)))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(11, 8)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({
                "norm": nn.LayerNorm(8),
                "attn": nn.MultiheadAttention(8, 2, batch_first=True),
                "mlp": nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)),
            }) for _ in range(2))
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, x):
        h = self.tokens(x)
        mask = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        for b in self.blocks:
            y = b["norm"](h)
            h = h + b["attn"](y, y, y, attn_mask=mask, need_weights=False)[0]
            h = h + b["mlp"](h)
        return self.head(h)


def lenet():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(18, 6), nn.ReLU(), nn.Linear(6, 3))


def train(model, x):
    """Running statistics that are not those of a new module, and moments of an optimizer."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(2):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    model.eval()
    return optimizer


def main(folder):
    cases = {
        "lenet": (lenet, lambda: torch.randn(2, 1, 8, 8)),
        "residual": (Residual, lambda: torch.randn(2, 3, 5, 5)),
        "lstm": (Lstm, lambda: torch.randn(5, 2, 3)),
        "encoder": (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
                    lambda: torch.randn(2, 4, 8)),
        "gpt": (Gpt, lambda: torch.randint(0, 11, (2, 5))),
    }
    for name, (make, example) in cases.items():
        torch.manual_seed(0)
        model, x = make(), example()
        optimizer = train(model, x)
        with torch.no_grad():
            y = model(x)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 2,
                    "x": x, "y": y, "about": f"torch {torch.__version__} seed 0"},
                   f"{folder}/{name}.pt")
        tensors = {k: v.clone() for k, v in model.state_dict().items()}
        save_file({**tensors, "x": x, "y": y}, f"{folder}/{name}.safetensors",
                  {"about": f"torch {torch.__version__} seed 0"})
    torch.manual_seed(0)
    base = torch.arange(24).reshape(4, 6)
    torch.save({"t": base.t()[1:, ::2], "same": base, "again": base, "scalar": torch.tensor(2.5),
                "empty": torch.zeros(0, 3), "wide": torch.ones(1).expand(4),
                "list": [torch.ones(2, dtype=torch.float16), (torch.ones(2, dtype=torch.bfloat16),)],
                "parameter": nn.Parameter(torch.ones(2, dtype=torch.float64)),
                "bool": torch.tensor([True, False]), "u16": torch.tensor([1, 65535]).to(torch.uint16),
                "i8": torch.tensor([-3], dtype=torch.int8), 5: torch.ones(1),
                "size": torch.Size([2]), "device": torch.device("cpu"), "set": {1, 2},
                "text": b"ab", "big": 2**70, "none": None, "number": -1.5},
               f"{folder}/kinds.pt")
    torch.save(torch.tensor([1.0, 2.0]), f"{folder}/tensor_protocol4.pt", pickle_protocol=4)
    torch.save(nn.Linear(1, 1), f"{folder}/module.pt")
    torch.save({"a": torch.ones(1)}, f"{folder}/legacy.pt", _use_new_zipfile_serialization=False)
    torch.save({"z": torch.ones(1, dtype=torch.complex64)}, f"{folder}/complex.pt")


if __name__ == "__main__":
    main(sys.argv[1])
