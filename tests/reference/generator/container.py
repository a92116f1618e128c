# SPDX-License-Identifier: Apache-2.0
"""The cases and the small container that holds them; cases.cc reads what this writes.

file   = "SPRREF1\n" u32:header_bytes header(JSON) u32:cases case*
case   = text:op text:source u8:dtype text:params
         arrays:inputs arrays:outputs arrays:cotangents u8:n { u8:input array }*n   (gradients)
arrays = u8:n array*n
array  = u8:dtype u8:encoding u8:rank u16:dim*rank payload
text   = u16:bytes utf-8
Little-endian. Encoding 0 is the dtype itself, 1 is one signed byte (integers), 2 is one signed byte
in units of 1/32 (cotangents). Params are `name=value` joined by ';'; a list is `[1,2]`, None is
left out.
"""

import dataclasses
import json
import struct

import numpy as np

DTYPES = ["bool", "i32", "i64", "f32", "f64"]
NUMPY = {"bool": np.uint8, "i32": "<i4", "i64": "<i8", "f32": "<f4", "f64": "<f8"}


@dataclasses.dataclass
class Case:
    op: str
    source: str
    dtype: str  # the floating dtype that the case is run in
    params: dict
    inputs: list
    outputs: list
    cotangents: list  # one for each floating output, in order; empty: no gradient is checked
    gradients: dict  # input index -> array


def dtype_name(array):
    return {"b": "bool", "i": "i%d", "f": "f%d"}[array.dtype.kind].replace(
        "%d", str(array.itemsize * 8)
    )


def text(value):
    raw = value.encode()
    return struct.pack("<H", len(raw)) + raw


def param_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(param_text(v) for v in value) + "]"
    if isinstance(value, float):
        return repr(float(value))
    return str(value)


def array_bytes(array):
    array = np.asarray(array)
    name = dtype_name(array)
    assert array.size <= 400 and array.ndim < 8, (array.shape,)
    encoding, payload = 0, np.ascontiguousarray(array).astype(NUMPY[name]).tobytes()
    if array.size:
        if array.dtype.kind == "i" and np.abs(array).max() < 128:
            encoding, payload = 1, array.astype(np.int8).tobytes()
        elif array.dtype.kind == "f" and np.isfinite(array).all():
            scaled = array * 32
            if (
                np.abs(scaled).max() < 128
                and (scaled == np.round(scaled)).all()
                and not np.signbit(array[array == 0]).any()
            ):
                encoding, payload = 2, scaled.astype(np.int8).tobytes()
    head = struct.pack("<BBB", DTYPES.index(name), encoding, array.ndim)
    return head + struct.pack("<%dH" % array.ndim, *array.shape) + payload


def arrays_bytes(arrays):
    return struct.pack("<B", len(arrays)) + b"".join(array_bytes(a) for a in arrays)


def case_bytes(case):
    params = ";".join(
        f"{k}={param_text(v)}" for k, v in sorted(case.params.items()) if v is not None
    )
    gradients = struct.pack("<B", len(case.gradients)) + b"".join(
        struct.pack("<B", i) + array_bytes(g) for i, g in sorted(case.gradients.items())
    )
    return (
        text(case.op)
        + text(case.source)
        + struct.pack("<B", DTYPES.index(case.dtype))
        + text(params)
        + arrays_bytes(case.inputs)
        + arrays_bytes(case.outputs)
        + arrays_bytes(case.cotangents)
        + gradients
    )


def write(path, header, cases):
    head = json.dumps(header, sort_keys=True).encode()
    with open(path, "wb") as file:
        file.write(
            b"SPRREF1\n" + struct.pack("<I", len(head)) + head + struct.pack("<I", len(cases))
        )
        for case in cases:
            file.write(case_bytes(case))
