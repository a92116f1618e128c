# SPDX-License-Identifier: Apache-2.0
"""Products of arrays."""

import jax.numpy as jnp

from .draw import normal

EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 2)),
    ("ij->ji", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("ij->", (2, 3)),
    ("ij->j", (2, 3)),
    ("i,j->ij", (3,), (4,)),
    ("i,i", (4,), (4,)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    ("...ij,...jk->...ik", (2, 2, 3), (3, 2)),
    ("...i,i->...", (2, 3, 4), (4,)),
    ("ij,j,k->ik", (2, 3), (3,), (2,)),
    ("ijk,jil->kl", (2, 3, 2), (3, 2, 3)),
    ("ba,b->a", (2, 3), (2,)),
    ("i...->...", (3, 2)),
    ("ab,ab->ab", (2, 3), (2, 3)),
    ("bhqd,bhkd->bhqk", (1, 2, 3, 2), (1, 2, 2, 2)),
    ("iij->ij", (2, 2, 3)),
    ("ik,jk", (2, 3), (4, 3)),
    ("i,ij,j", (2,), (2, 3), (3,)),
    ("ij,kj,lj->ikl", (2, 3), (2, 3), (2, 3)),
    ("a...b,b...->a...", (2, 3, 4), (4, 3)),
]


def operations():
    n = normal
    yield "matmul", jnp.matmul, True, [
        ((n(*a), n(*b)), {})
        for a, b in (
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3, 4)),
            ((2, 2, 3), (3, 2)),
            ((2, 2, 3), (2, 3, 2)),
            ((2, 1, 2, 3), (3, 3, 2)),
            ((2, 3), (2, 3, 2)),
            ((0, 3), (3, 2)),
            ((2, 0), (0, 3)),
            ((5, 7), (7, 6)),
            ((2, 2, 3), (3,)),
        )
    ]
    yield "dot", jnp.dot, True, [
        ((n(*a), n(*b)), {})
        for a, b in (
            ((4,), (4,)),
            ((2, 3), (3,)),
            ((2, 3), (3, 2)),
            ((), (3,)),
            ((2, 3), (2, 3, 2)),
        )
    ]
    yield "outer", jnp.outer, True, [((n(3), n(4)), {}), ((n(1), n(2)), {}), ((n(0), n(2)), {})]
    yield "vdot", jnp.vdot, True, [((n(5), n(5)), {}), ((n(2, 3), n(2, 3)), {})]
    yield "inner", jnp.inner, True, [((n(2, 3), n(4, 3)), {}), ((n(3), n(3)), {})]
    yield "vecdot", jnp.vecdot, True, [((n(2, 3), n(2, 3)), {}), ((n(2, 3), n(3)), {})]
    yield "kron", jnp.kron, True, [((n(2, 3), n(2, 2)), {}), ((n(3), n(2)), {})]
    yield "cross", jnp.cross, True, [((n(3), n(3)), {}), ((n(2, 3), n(3)), {})]
    yield "diagonal", jnp.diagonal, True, [
        ((n(3, 4),), {"offset": 0}),
        ((n(3, 4),), {"offset": 2}),
        ((n(2, 3, 3),), {"offset": -1, "axis1": 1, "axis2": 2}),
    ]
    yield "tensordot", lambda a, b, axes: jnp.tensordot(a, b, axes), True, [
        ((n(2, 3), n(3, 4)), {"axes": 1}),
        ((n(2, 3), n(2, 3)), {"axes": 2}),
        ((n(2), n(3)), {"axes": 0}),
        ((n(2, 3, 2), n(3, 2, 2)), {"axes": 2}),
    ]
    yield "tensordot_axes", lambda a, b, first, second: jnp.tensordot(
        a, b, (first, second)
    ), True, [
        ((n(2, 3), n(4, 3)), {"first": [1], "second": [1]}),
        ((n(2, 3, 2), n(2, 2, 3)), {"first": [0, 1], "second": [0, 2]}),
        ((n(2, 3, 2), n(3, 2)), {"first": [-2], "second": [0]}),
    ]
    yield "einsum", lambda *arrays, equation: jnp.einsum(equation, *arrays), True, [
        (tuple(n(*s) for s in shapes), {"equation": equation}) for equation, *shapes in EINSUMS
    ]
