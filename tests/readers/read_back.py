#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorBoard, NumPy, PyTorch, safetensors and Pillow read what Spruce writes, and all values are
compared.

    tests/readers/read_back.py build/release/tests/readers/libspruce_written.so

The packages: pip install numpy torch safetensors tensorboard pillow. A virtual environment that has
them is named by SPRUCE_PEERS in the environment. Exits 77, with what is missing, without them.
"""
import base64
import csv
import ctypes
import gc
import io
import json
import os
import sys
import tempfile
import wave
import xml.etree.ElementTree

peers = os.environ.get("SPRUCE_PEERS")
if peers and os.path.realpath(sys.prefix) != os.path.realpath(peers):
    python = os.path.join(peers, "bin", "python")
    os.execv(python, [python] + sys.argv)

try:
    import numpy as np
    import PIL
    import PIL.Image
    import safetensors
    import safetensors.numpy
    import safetensors.torch
    import tensorboard
    import torch
    from tensorboard.backend.event_processing import event_accumulator
except ImportError as missing:
    print(f"skipped: {missing}; pip install numpy torch safetensors tensorboard pillow")
    sys.exit(77)

# As kDtypes and kShapes in written.cc.
DTYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bf16"]
SHAPES = [(3, 4, 5), (), (0, 3), (7,)]
NUMPY = {"bool": np.bool_, "f16": np.float16, "f32": np.float32, "f64": np.float64}
for bits in (8, 16, 32, 64):
    NUMPY[f"i{bits}"] = np.dtype(f"int{bits}").type
    NUMPY[f"u{bits}"] = np.dtype(f"uint{bits}").type
TORCH = {"bf16": torch.bfloat16}
for short, numpy_type in NUMPY.items():
    TORCH[short] = getattr(torch, np.dtype(numpy_type).name)

compared = 0


def same(what, got, want):
    """Two NumPy arrays, or two of anything else, are equal in every value."""
    global compared
    if isinstance(want, np.ndarray):
        if got.dtype != want.dtype or got.shape != want.shape or not np.array_equal(got, want):
            sys.exit(f"{what}: read\n{got!r}\nand not\n{want!r}")
        compared += want.size
    else:
        if got != want:
            sys.exit(f"{what}: read {got!r} and not {want!r}")
        compared += 1


def expected(dtype, shape):
    """values() of written.cc; bf16 as f32, which holds each of them."""
    k = (np.arange(int(np.prod(shape)), dtype=np.int64) * 37 % 101).reshape(shape)
    if dtype == "bool":
        return k % 2 == 1
    if "f" in dtype:
        return ((k - 50) / 8).astype(NUMPY.get(dtype, np.float32))
    return (k - 50 if dtype[0] == "i" else k).astype(NUMPY[dtype])


def same_tensor(what, tensor, dtype, shape):
    same(what, tensor.dtype, TORCH[dtype])
    same(what, (tensor.float() if dtype == "bf16" else tensor).numpy(), expected(dtype, shape))


def each(dtypes=DTYPES):
    for dtype in dtypes:
        for number, shape in enumerate(SHAPES):
            yield f"{dtype}_{number}", dtype, shape


def numpy_files(folder):
    loaded = np.load(f"{folder}/all.npz")
    for name, dtype, shape in each(NUMPY):
        same(f"{name} of the npz", loaded[name], expected(dtype, shape))
        same(f"{name}.npy", np.load(f"{folder}/{name}.npy"), expected(dtype, shape))
    same("names of the npz", sorted(loaded.files), sorted(n for n, _, _ in each(NUMPY)))


class Exported:
    """What numpy.from_dlpack and torch.from_dlpack take, around a struct of the library."""

    def __init__(self, library, dtype, shape, versioned):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        # The name has to live as long as the capsule.
        self.name = b"dltensor_versioned" if versioned else b"dltensor"
        self.capsule = new(library.spruce_dlpack(dtype, shape, int(versioned)), self.name, None)

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def dlpack(library):
    before = library.spruce_live_bytes()
    for i, dtype in enumerate(DTYPES):
        for j, shape in enumerate(SHAPES):
            for versioned in (False, True):
                what = f"{dtype}{list(shape)} by DLPack"
                if dtype != "bf16":
                    x = np.from_dlpack(Exported(library, i, j, versioned))
                    same(what + " to NumPy", x, expected(dtype, shape))
                    if versioned:
                        same(what + " is read only", x.flags.writeable, False)
                    del x
                y = torch.from_dlpack(Exported(library, i, j, versioned))
                same_tensor(what + " to PyTorch", y, dtype, shape)
                del y
    gc.collect()
    same("bytes that are kept", library.spruce_live_bytes(), before)


def torch_files(folder):
    tensors = torch.load(f"{folder}/all.pt", weights_only=True)
    same("names of the .pt", list(tensors), [n for n, _, _ in each()])
    for name, dtype, shape in each():
        same_tensor(f"{name} of the .pt", tensors[name], dtype, shape)
    layer = torch.nn.Linear(4, 3)
    layer.load_state_dict(torch.load(f"{folder}/linear.pt", weights_only=True), strict=True)
    same_tensor("weight of the layer", layer.weight.detach(), "f32", (3, 4))
    same_tensor("bias of the layer", layer.bias.detach(), "f32", (3,))


def safetensors_files(folder):
    tensors = safetensors.torch.load_file(f"{folder}/all.safetensors")
    arrays = safetensors.numpy.load_file(f"{folder}/checkpoints/step_000000000012.safetensors")
    same("names of the safetensors", sorted(tensors), sorted(n for n, _, _ in each()))
    for name, dtype, shape in each():
        same_tensor(f"{name} of the safetensors", tensors[name], dtype, shape)
    with safetensors.safe_open(f"{folder}/all.safetensors", "pt") as opened:
        same("metadata of the safetensors", opened.metadata().get("made by"), "spruce")
    same("weight of the checkpoint", arrays["weight"], expected("f32", (3, 4)))
    same("bias of the checkpoint", arrays["bias"], expected("f32", (3,)))


def pixels(data):
    """A picture by Pillow as an array."""
    with PIL.Image.open(data) as image:
        image.load()
        return np.asarray(image)


def pictures(folder):
    names = ["grey", "channels1", "channels2", "channels3", "channels4", "curves", "matrix", "grid"]
    for name in names:
        want = np.load(f"{folder}/{name}_pixels.npy")
        # Pillow has no axis for one channel.
        want = want[..., 0] if want.ndim == 3 and want.shape[2] == 1 else want
        same(f"{name}.png", pixels(f"{folder}/{name}.png"), want)
    same("grey.png", pixels(f"{folder}/grey.png"), expected("u8", (5, 7)))
    same("channels4.png", pixels(f"{folder}/channels4.png"), expected("u8", (5, 7, 4)))
    svg = "{http://www.w3.org/2000/svg}"
    curves = xml.etree.ElementTree.parse(f"{folder}/curves.svg").getroot()
    same("curves.svg", [t.text for t in curves.iter(svg + "text")][-1], "a < b")
    matrix = xml.etree.ElementTree.parse(f"{folder}/matrix.svg").getroot()
    same("matrix.svg", [t.text for t in matrix.iter(svg + "text")][-1], "8")
    grid = next(xml.etree.ElementTree.parse(f"{folder}/grid.svg").getroot().iter(svg + "image"))
    kind, data = grid.get("href").split(",")
    same("grid.svg", kind, "data:image/png;base64")
    shown = pixels(io.BytesIO(base64.b64decode(data, validate=True)))
    whole = np.load(f"{folder}/grid_pixels.npy")
    same("size of grid.svg", [int(grid.get(n)) for n in ("height", "width")], list(whole.shape[:2]))
    same("grid.svg", shown, whole)


def logs(folder):
    loss = [1 / (1 + step) for step in range(20)]
    rate = [1e-3 * step for step in range(20)]
    with open(f"{folder}/log.csv", newline="") as file:
        rows = list(csv.reader(file))
    same("log.csv", rows[0], ["step", "train/loss", "rate"])
    lines = [json.loads(line) for line in open(f"{folder}/log.jsonl")]
    same("lines of log.jsonl", len(lines), 20)
    for step in range(20):
        want = [step, loss[step], rate[step]]
        same("log.csv", [int(rows[step + 1][0])] + [float(x) for x in rows[step + 1][1:]], want)
        same("log.jsonl", [lines[step][k] for k in ("step", "train/loss", "rate")], want)

    kinds = (event_accumulator.SCALARS, event_accumulator.HISTOGRAMS, event_accumulator.IMAGES)
    board = event_accumulator.EventAccumulator(f"{folder}/events", dict.fromkeys(kinds, 0))
    board.Reload()
    tags = board.Tags()
    same("tags", [sorted(tags[kind]) for kind in kinds],
         [["rate", "train/loss"], ["weights"], ["picture"]])
    for tag, values in (("train/loss", loss), ("rate", rate)):
        events = board.Scalars(tag)
        same(f"steps of {tag}", [e.step for e in events], list(range(20)))
        same(tag, np.array([e.value for e in events], np.float32), np.array(values, np.float32))
    [event] = board.Histograms("weights")
    x = expected("f32", (3, 4, 5)).astype(np.float64).ravel()
    h = event.histogram_value
    same("histogram", (event.step, h.num, h.min, h.max, h.sum, h.sum_squares),
         (5, x.size, x.min(), x.max(), x.sum(), (x * x).sum()))
    # A value at a limit stands in the range that begins there, but for the last.
    counts, limits = np.histogram(x, 30)
    if not np.allclose(h.bucket_limit, limits[1:], rtol=1e-12):
        sys.exit(f"limits of the histogram: {h.bucket_limit} and not {limits[1:]}")
    same("counts of the histogram", list(h.bucket), [float(n) for n in counts])
    [event] = board.Images("picture")
    same("picture", (event.step, event.height, event.width), (6, 5, 7))
    same("picture", pixels(io.BytesIO(event.encoded_image_string)), expected("u8", (5, 7, 3)))


def sound(folder):
    with wave.open(f"{folder}/sound.wav") as file:
        same("sound.wav", file.getparams()[:4], (2, 2, 8000, 60))
        samples = np.frombuffer(file.readframes(60), "<i2").reshape(60, 2)
    same("sound.wav", samples, (expected("f32", (60, 2)) / 8 * 32768).astype(np.int16))


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.spruce_dlpack.restype = ctypes.c_void_p
    library.spruce_live_bytes.restype = ctypes.c_longlong
    with tempfile.TemporaryDirectory() as folder:
        if library.spruce_write(folder.encode()) != 0:
            sys.exit("the files could not be written")
        checks = [
            (f"NumPy {np.__version__}: npy, npz", lambda: numpy_files(folder)),
            (f"NumPy, PyTorch {torch.__version__}: DLPack", lambda: dlpack(library)),
            ("PyTorch: .pt", lambda: torch_files(folder)),
            (f"safetensors {safetensors.__version__}: safetensors, a checkpoint",
             lambda: safetensors_files(folder)),
            (f"Pillow {PIL.__version__}: PNG, SVG", lambda: pictures(folder)),
            (f"TensorBoard {tensorboard.__version__}: events; csv, json: logs",
             lambda: logs(folder)),
            ("wave: WAV", lambda: sound(folder)),
        ]
        for what, check in checks:
            before = compared
            check()
            print(f"{what}: {compared - before} values are equal")


if __name__ == "__main__":
    main()
