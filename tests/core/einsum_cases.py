#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes einsum_cases.inc: what NumPy says to sums in Einstein's notation.

    python3 tests/core/einsum_cases.py > tests/core/einsum_cases.inc      (made with NumPy 2.4.6)

A row holds the equation, the shapes of the operands, the shape of the result and its values. Element i of operand j is
(7 i + 3 j) % 11 - 5, so all values are exact.
"""
import random
import sys

import numpy as np

CHOSEN = [
    ("i->", [(3,)]), ("i->i", [(3,)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("ij->j", [(2, 3)]), ("ji", [(2, 3)]),
    ("ba", [(2, 3)]), ("ii", [(3, 3)]), ("ii->i", [(3, 3)]), ("iij->ji", [(3, 3, 2)]), ("iii->i", [(2, 2, 2)]), ("iji->j", [(2, 3, 2)]),
    ("ijij->ij", [(2, 3, 2, 3)]), ("->", [()]), ("", [()]), (",->", [(), ()]), (",i->i", [(), (3,)]), ("i,i", [(4,), (4,)]),
    ("i,j->ij", [(2,), (3,)]), ("i,i->i", [(3,), (3,)]), ("ij,jk", [(2, 3), (3, 4)]), ("ij,jk->ki", [(2, 3), (3, 4)]),
    ("ij,kj->ik", [(2, 3), (4, 3)]), ("ji,jk->ik", [(3, 2), (3, 4)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
    ("bthd,bshd->bhts", [(2, 3, 2, 2), (2, 4, 2, 2)]), ("bhts,bshd->bthd", [(2, 2, 3, 4), (2, 4, 2, 2)]), ("ij,j->i", [(2, 3), (3,)]),
    ("i,ij", [(2,), (2, 3)]), ("ij,ij->", [(2, 3), (2, 3)]), ("ij,ij->i", [(2, 3), (2, 3)]), ("ij,ji->", [(2, 3), (3, 2)]),
    ("...ij,...jk", [(2, 1, 2, 3), (4, 3, 2)]), ("...ij,...jk->...ik", [(2, 2, 3), (3, 2)]), ("...i->...", [(2, 3, 2)]),
    ("i...->...", [(2, 3, 2)]), ("...,...", [(2, 3), (3,)]), ("...ii->...i", [(2, 3, 3)]), ("a...b->b...a", [(2, 3, 4)]),
    ("...->...", [(2, 3)]), ("i...,i...", [(2, 3), (2, 1)]), ("...a,...b->ab...", [(2, 3), (2, 2)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("ij,jk,kl,lm", [(2, 3), (3, 2), (2, 4), (4, 2)]), ("i,j,k->kji", [(2,), (3,), (2,)]),
    ("bn,anm,bm->ba", [(2, 3), (4, 3, 2), (2, 2)]), ("ij,ik,il->jkl", [(3, 2), (3, 2), (3, 2)]), ("ab,bc,ca->", [(2, 3), (3, 4), (4, 2)]),
    ("Ab,bC", [(2, 3), (3, 2)]), ("bA,Cb", [(2, 3), (4, 2)]), (" i j , j k -> i k ", [(2, 3), (3, 2)]), ("ij,jk->ik", [(0, 3), (3, 2)]),
    ("ij,jk->ik", [(2, 0), (0, 3)]), ("i->", [(0,)]), ("ij->j", [(0, 2)]), ("ii->", [(0, 0)]), ("i,i->i", [(1,), (3,)]),
    ("ij,jk->ik", [(2, 1), (3, 4)]), ("i,i->", [(3,), (1,)]), ("ab,ab,b->a", [(2, 1), (1, 3), (3,)]), ("ijk,ikj->ij", [(2, 3, 2), (2, 2, 3)]),
]


def operands(shapes):
    return [((7 * np.arange(np.prod(s, dtype=np.int64)) + 3 * j) % 11 - 5).reshape(s) for j, s in enumerate(shapes)]


def drawn(rng):
    sizes = {c: rng.randint(1, 4) for c in "abcdeZ"}
    terms = ["".join(rng.choice("abcdeZ") for _ in range(rng.randint(0, 4))) for _ in range(rng.randint(1, 4))]
    shapes = [tuple(sizes[c] for c in t) for t in terms]
    letters = sorted(set("".join(terms)))
    rng.shuffle(letters)
    result = "".join(letters[: rng.randint(0, len(letters))])
    return ",".join(terms) + ("" if rng.random() < 0.3 else "->" + result), shapes


def row(equation, shapes):
    y = np.einsum(equation, *operands(shapes))
    if y.size > 120:
        return None
    braces = lambda v: "{" + ", ".join(map(str, v)) + "}"
    return f'{{"{equation}", {braces(braces(s) for s in shapes)}, {braces(y.shape)}, {braces(y.reshape(-1).tolist())}}},'


rng = random.Random(1)
rows = [row(*c) for c in CHOSEN]
while len(rows) < 300:
    r = row(*drawn(rng))
    if r is not None:
        rows.append(r)
print("// SPDX-License-Identifier: Apache-2.0")
print(f"// Made by einsum_cases.py with NumPy {np.__version__}, Python {sys.version.split()[0]}, seed 1.")
print("\n".join(rows))
