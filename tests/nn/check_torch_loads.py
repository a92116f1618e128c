# SPDX-License-Identifier: Apache-2.0
"""PyTorch loads what Spruce has saved: strictly by name, with the outputs of Spruce.

  python tests/nn/check_torch_loads.py build/release/tests/nn_tests

Needs PyTorch, NumPy and safetensors (written for 2.15.0, 2.4 and 0.8.0), and a built nn_tests, whose test
TorchLoads.FilesAreWritten writes the files.
"""
import os
import subprocess
import sys
import tempfile

import numpy
import torch
from safetensors.torch import load_file
from torch import nn

from make_torch_files import Gpt, Lstm, Residual, lenet

MODELS = {
    "lenet": lenet, "residual": Residual, "lstm": Lstm, "gpt": Gpt,
    "encoder": lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
}


def check(folder, name, make):
    example = numpy.load(f"{folder}/{name}_example.npz")
    x, y = torch.from_numpy(example["x"]), torch.from_numpy(example["y"])
    for ending in ("pt", "safetensors"):
        path = f"{folder}/{name}.{ending}"
        state = torch.load(path, weights_only=True) if ending == "pt" else load_file(path)
        model = make()
        model.load_state_dict(state, strict=True)
        own = model.state_dict()
        assert all(torch.equal(own[k], v) and own[k].dtype == v.dtype for k, v in state.items()), path
        model.eval()
        with torch.no_grad():
            got = model(x)
        torch.testing.assert_close(got, y, rtol=1e-5, atol=1e-5)
        print(f"{name}.{ending}: {len(state)} tensors, largest difference {(got - y).abs().max():.1e}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "--gtest_filter=TorchLoads.FilesAreWritten"], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, env={**os.environ, "SPRUCE_CHECKPOINTS": folder})
        for name, make in MODELS.items():
            check(folder, name, make)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
