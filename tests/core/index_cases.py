#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes index_cases.inc: what NumPy says to indexing expressions on x = arange(size).reshape(shape).

    python3 tests/core/index_cases.py > tests/core/index_cases.inc      (made with NumPy 2.4.6)

A row holds the shape, the index, the shape of x[index], its values, and x after x[index] = v and after
np.add.at(x, index, v) with v = 100, 101, ... . An index is a list of tokens: i<integer>, s<start>,<stop>,<step> with _
for an open end, ... and new, a(<shape>)<integers>, m(<shape>)<bits>.
"""
import itertools
import random

import numpy as np

S = slice
N = None
E = Ellipsis


def a(values, shape=None):
    x = np.array(values, dtype=np.int64)
    return x if shape is None else x.reshape(shape)


def m(values):
    return np.array(values, dtype=bool)


def table():
    """Expressions chosen by hand, by shape."""
    one = (7,)
    for i in (0, 3, 6, -1, -7):
        yield one, (i,)
    ends = (N, 0, 2, 5, 7, 9, -1, -3, -7, -9)
    for start, stop in itertools.product(ends, ends):
        yield one, (S(start, stop),)
    for start, stop, step in itertools.product((N, 1, 6, -2, -9, 9), (N, 0, 4, -1, -9, 9), (2, 3, 7, 100, -1, -2, -5, -100)):
        yield one, (S(start, stop, step),)
    yield one, (E,)
    yield one, (N,)
    yield one, (E, N)
    yield one, (N, S(1, 3), N)
    yield one, ()
    for arr in ([], [0], [6, 0, -1], [[1, 2], [3, 4]], [[]], 2, -2, [2, 2, 2], [-7, 6]):
        yield one, (a(arr),)
    yield one, (m([1, 0, 1, 1, 0, 0, 1]),)
    yield one, (m([0] * 7),)
    yield one, (m(True),)
    yield one, (m(False),)
    yield one, (m(True), S(1, 3))
    yield one, (a([[1], [2]]), N)
    yield one, (N, a([1, 2, 1]))
    yield (), ()
    yield (), (E,)
    yield (), (N, N)
    yield (), (m(True),)
    yield (), (m(False),)
    two = (3, 4)
    for index in ((1,), (-1,), (1, 2), (-1, -4), (S(1, 3),), (S(N), 1), (E, 1), (1, E), (S(N), S(N, N, -1)),
                  (S(N, N, -1), S(N, N, -2)), (S(N, N, 2), 1), (N, 1), (1, N), (1, N, 2), (S(N), N, 2), (E, N, S(1, 3)),
                  (S(2, 2), S(1, 3)), (S(2, 1), 0), (S(0, 2), S(3, 0, -1)),
                  (a([0, 2]),), (a([0, 2]), a([1, 3])), (S(N), a([1, 3, 3])), (a([0, 2]), S(1, 3)), (a([0, 2]), 1),
                  (1, a([0, 3])), (a([[0], [2]]), a([1, 3])), (a([[0, 1], [1, 2]]), a([[3, 2], [1, 0]])),
                  (S(N, N, -1), a([1, 0])), (a([2, 0]), S(N, N, -2)), (a([1, 1]), N), (N, a([1, 1])),
                  (a([1, 1]), N, a([2, 3])), (a([]), a([])), (a([]), 0), (S(N), a([])), (S(1, 1), a([1, 2])),
                  (a(1), a([0, 1])), (a(1), a(2)), (a(-1),), (S(N), a(-1)), (a([[1]]), a(3)),
                  (m([1, 0, 1]),), (m([0, 0, 0]),), (S(N), m([1, 0, 0, 1])), (m([1, 0, 1]), 2), (m([1, 0, 1]), S(1, 3)),
                  (m([1, 0, 1]), a([0, 3])), (m([1, 0, 1]), a(1)), (m([1, 1, 0]), m([0, 1, 0, 1])), (1, m([0, 1, 1, 0])),
                  (m([[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]]),), (m(np.zeros((3, 4))),), (m(np.ones((3, 4))),),
                  (E, m([0, 1, 0, 0])), (N, m([1, 0, 1])), (m([1, 0, 1]), N), (m(True), 1), (m(True), m(False)),
                  (m(True), a([0, 1])), (0, m(True), S(1, 3))):
        yield two, index
    four = (2, 3, 2, 2)
    for index in ((1, E, 0), (E, 0, S(N)), (0, S(N), a([0, 1])), (a([0, 1]), S(N), a([0, 1])), (a([0, 1]), S(N), 0),
                  (S(N), a([0, 2]), a([1, 0])), (S(N), a([0, 2]), S(N), a([1, 0])), (E, a([0, 1]), a([1, 0])),
                  (a([0]), E, a([1])), (a([0, 1]), a([0, 1]), E, a([0, 0])), (S(N), a([[0, 2], [1, 1]]), S(0, 1)),
                  (S(N), N, a([0, 2]), 1), (S(N), a([0, 2]), N, 1), (0, a([0, 2]), 1, a([1, 0])),
                  (0, S(N), 1, a([1, 0])), (S(N), S(N, N, 2), a([0, 1]), S(N, N, -1)), (S(N, N, -1), a([2, 1]), S(N), 1),
                  (S(N), m([[1, 0], [0, 1], [1, 1]])), (S(N), m([[1, 0], [0, 1], [1, 1]]), 0),
                  (S(N), m([[1, 0], [0, 1], [1, 0]]), a([0, 1, 1])), (a([1]), m([[1, 0], [0, 1], [1, 1]])),
                  (m([1, 0]), S(N), m([0, 1])), (m([1, 1]), S(N), S(N), a([0, 1])), (S(N), 0, S(N), 1),
                  (a([0, 1, 1]), S(1, 3), a([0, 1, 0]), S(N))):
        yield four, index
    for shape, index in (((0,), (S(N),)), ((0,), (a([]),)), ((0,), (m([]),)), ((0, 3), (S(N), 1)), ((0, 3), (a([]),)),
                         ((0, 3), (S(N), a([0, 2]))), ((0, 3), (m([]),)), ((3, 0), (1,)), ((3, 0), (a([0, 2, 2]),)),
                         ((3, 0), (m([1, 0, 1]),)), ((3, 0), (S(N, N, -1), N)), ((2, 0, 3), (E, a([1, 1]))),
                         ((0,), (S(N, N, -1),)), ((3, 0), (m(np.zeros((3, 0))),)), ((1, 1), (0, 0)), ((1,), (a([0, 0, 0]),))):
        yield shape, index


def drawn(rng):
    """A random expression."""
    shape = tuple(rng.choice((1, 2, 3, 4)) for _ in range(rng.randint(1, 4)))
    common = tuple(rng.choice((1, 2, 3)) for _ in range(rng.randint(1, 2)))
    index, axis = [], 0
    gap = rng.random() < 0.3
    while axis < len(shape):
        n = shape[axis]
        kind = rng.random()
        if kind < 0.1 and len(index) < 5:
            index.append(N)
            continue
        if kind < 0.2 and gap:
            skip = rng.randint(0, len(shape) - axis)
            index.append(E)
            gap = False
            axis += skip
            rest = len(shape) - axis
            index += [rng.randrange(-shape[axis + k], shape[axis + k]) for k in range(rest)]
            break
        if kind < 0.4:
            index.append(rng.randrange(-n, n))
        elif kind < 0.7:
            end = lambda: rng.choice((N, rng.randint(-n - 1, n + 1)))
            index.append(S(end(), end(), rng.choice((N, 1, 2, -1, -2))))
        else:
            dims = tuple(rng.choice((d, 1)) for d in common)[rng.randint(0, len(common) - 1):]
            index.append(a([rng.randrange(-n, n) for _ in range(int(np.prod(dims)))], dims))
        axis += 1
        if rng.random() < 0.15:
            break
    return shape, tuple(index)


def numbers(x):
    return ",".join(str(int(v)) for v in np.asarray(x).reshape(-1))


def token(item):
    if item is N:
        return "new"
    if item is E:
        return "..."
    if isinstance(item, slice):
        return "s" + ",".join("_" if v is None else str(v) for v in (item.start, item.stop, item.step))
    if isinstance(item, np.ndarray):
        kind = "m" if item.dtype == bool else "a"
        return f"{kind}({','.join(map(str, item.shape))}){numbers(item)}"
    return f"i{item}"


def main():
    rng = random.Random(7)
    cases = list(table()) + [drawn(rng) for _ in range(250)]
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"// Made by index_cases.py with NumPy {np.__version__}.")
    seen = set()
    for shape, index in cases:
        text = " ".join(token(i) for i in index)
        if (shape, text) in seen:
            continue
        seen.add((shape, text))
        x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        got = x[index]
        v = 100 + np.arange(got.size).reshape(got.shape)
        put, added = x.copy(), x.copy()
        put[index] = v
        np.add.at(added, index, v)
        fields = (",".join(map(str, shape)), text, ",".join(map(str, got.shape)), numbers(got), numbers(put), numbers(added))
        print("{" + ", ".join(f'"{f}"' for f in fields) + "},")


main()
